//! The project itself: imports between modules, dependencies, messages, and the set-up by `make`.

mod architecture;
mod documents;
mod licences;
mod messages;
mod publication;
#[cfg(unix)]
mod set_up;
mod versions;
