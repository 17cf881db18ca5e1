//! Pages to look at in a browser, in files.

pub(crate) mod file;
pub(crate) mod text;
