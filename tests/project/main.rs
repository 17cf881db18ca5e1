//! The project itself: which room may use which, what the crates bring, what `make` sets up.

mod architecture;
mod documents;
mod licences;
#[cfg(unix)]
mod set_up;
mod versions;
