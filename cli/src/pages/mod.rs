//! Pages for a browser: written to files, or served on the loopback with access control.

pub(crate) mod block;
pub(crate) mod doors;
pub(crate) mod file;
pub(crate) mod markdown;
pub(crate) mod text;
