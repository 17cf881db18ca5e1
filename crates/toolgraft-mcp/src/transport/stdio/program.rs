//! The program of a server.

use std::collections::BTreeMap;

/// The command, arguments, environment variables and folder of a server's program, borrowed from its entry.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) cwd: Option<&'a str>,
}
