//! The stream, and how it was read.

use toolgraft::parse::Config;

/// The input of an explanation: the text of a round, the parser's configuration, and whether the answer ended normally.
pub(super) struct Context<'a> {
    pub(super) text: &'a str,
    pub(super) config: &'a Config,
    pub(super) ended: bool,
}
