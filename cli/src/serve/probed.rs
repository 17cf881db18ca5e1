//! The profiles that `toolgraft probe` found best for an endpoint's models, as currently in its file.

use std::sync::Mutex;
use std::time::SystemTime;

use crate::base::{Failure, lock, output};
use crate::settings::saved_profiles::{self, SavedProfile};

/// The profiles that `probe` saved for an endpoint's models, reread when their file changes.
pub(super) struct Probed {
    url: String,
    /// Profiles that were read and not yet returned, and the modification time of their file when it was read.
    state: Mutex<(Option<Vec<SavedProfile>>, Option<SystemTime>)>,
}

impl Probed {
    /// Reads the saved profiles of the endpoint with this URL.
    ///
    /// # Errors
    /// The file cannot be read, or its content is not valid.
    pub(super) fn of(url: &str) -> Result<Self, Failure> {
        let written = saved_profiles::written();
        let state = Mutex::new((Some(saved_profiles::all_at(url)?), written));
        Ok(Probed { url: url.to_owned(), state })
    }

    /// Returns all profiles at the first call and after each change of the file; otherwise `None`. If the file can no
    /// longer be read, the previous profiles remain.
    pub(super) fn changed(&self) -> Option<Vec<SavedProfile>> {
        let (new, read) = &mut *lock(&self.state);
        let written = saved_profiles::written();
        // Profiles that nobody has asked for yet are handed out before the file is looked at again.
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
