//! The project itself: imports between modules, dependencies, and the set-up by `make`.

mod architecture;
mod documents;
mod licences;
#[cfg(unix)]
mod set_up;
mod versions;
