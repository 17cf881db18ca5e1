//! The profiles that `toolgraft probe` found best for an endpoint's models, as currently in its file.

use std::sync::Mutex;
use std::time::SystemTime;

use crate::base::{Failure, lock, output};
use crate::settings::saved_profiles::{self, SavedProfile};

/// The profiles of an endpoint's models. A probe that writes the file counts without a new start.
pub(super) struct Probed {
    url: String,
    /// Profiles that were read and not yet returned, and when their file was written.
    state: Mutex<(Option<Vec<SavedProfile>>, Option<SystemTime>)>,
}

impl Probed {
    /// Reads them for the first time.
    ///
    /// # Errors
    /// The file cannot be read, or holds what it may not.
    pub(super) fn of(url: &str) -> Result<Self, Failure> {
        let written = saved_profiles::written();
        let state = Mutex::new((Some(saved_profiles::all_at(url)?), written));
        Ok(Probed { url: url.to_owned(), state })
    }

    /// Returns all profiles where they are others than the last time, and at the first. A file that cannot be
    /// read by now changes nothing.
    pub(super) fn changed(&self) -> Option<Vec<SavedProfile>> {
        let (new, read) = &mut *lock(&self.state);
        let written = saved_profiles::written();
        if new.is_none() && written != *read {
            *read = written;
            match saved_profiles::all_at(&self.url) {
                Ok(profiles) => *new = Some(profiles),
                Err(failure) => output::warn(&format!("{} (the previous profile is still used)", failure.message())),
            }
        }
        new.take()
    }
}
