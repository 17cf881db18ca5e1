//! Recordings of the last requests.

pub(crate) mod inspector;
pub(crate) mod passthrough;
