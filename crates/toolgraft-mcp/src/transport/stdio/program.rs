//! The program of a server.

use std::collections::BTreeMap;

/// The program of a server, borrowed from its entry.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) cwd: Option<&'a str>,
}
