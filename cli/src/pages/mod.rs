//! Pages to look at in a browser: in files, and behind doors of the loopback.

pub(crate) mod doors;
pub(crate) mod file;
pub(crate) mod markdown;
pub(crate) mod text;
