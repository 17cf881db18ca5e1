//! The profiles that `toolgraft probe` found best for an endpoint's models, as currently in its file.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use crate::base::{Failure, lock, output};
use crate::settings::saved_profiles::{self, SavedProfile};

/// Minimum time between two looks at the file.
const LOOK_EACH: Duration = Duration::from_secs(1);

/// The profiles of an endpoint's models. A probe that writes the file counts without a new start.
pub(super) struct Probed {
    url: String,
    state: Mutex<State>,
}

struct State {
    /// Profiles that were read and not yet returned.
    new: Option<Vec<SavedProfile>>,
    /// When the file was written that was read last.
    written: Option<SystemTime>,
    looked: Instant,
}

impl Probed {
    /// Reads them for the first time.
    ///
    /// # Errors
    /// The file cannot be read, or holds what it may not.
    pub(super) fn of(url: &str) -> Result<Self, Failure> {
        let written = saved_profiles::written();
        let state = State { new: Some(saved_profiles::all_at(url)?), written, looked: Instant::now() };
        Ok(Probed { url: url.to_owned(), state: Mutex::new(state) })
    }

    /// All profiles where they are others than the last time, and at the first. A file that cannot be
    /// read by now changes nothing.
    pub(super) fn changed(&self) -> Option<Vec<SavedProfile>> {
        let mut state = lock(&self.state);
        if state.new.is_none() && state.looked.elapsed() >= LOOK_EACH {
            state.looked = Instant::now();
            let written = saved_profiles::written();
            if written != state.written {
                state.written = written;
                match saved_profiles::all_at(&self.url) {
                    Ok(profiles) => state.new = Some(profiles),
                    Err(failure) => {
                        output::warn(&format!("{} (the previous profile is still used)", failure.message()))
                    }
                }
            }
        }
        state.new.take()
    }
}
