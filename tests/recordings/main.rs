//! Recordings: the format, what is written while an agent works, and those of other programs.

#[cfg(feature = "agent")]
#[path = "../common/files.rs"]
mod files;

mod import;
#[cfg(feature = "agent")]
mod recorder;
mod recording;
