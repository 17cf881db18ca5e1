//! What to start.

use std::collections::BTreeMap;

/// A server's program, as its entry has it.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) cwd: Option<&'a str>,
}
