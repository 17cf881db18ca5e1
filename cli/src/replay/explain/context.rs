//! The stream, and how it was read.

use toolgraft::parse::Config;

/// What stands at a place of the stream.
pub(super) struct Context<'a> {
    /// The round's stream.
    pub(super) text: &'a str,
    /// How it was read.
    pub(super) config: &'a Config,
    /// Whether the answer ended normally.
    pub(super) ended: bool,
}

impl Context<'_> {
    /// How the answer ends.
    pub(super) fn ending(&self) -> &'static str {
        if self.ended { "the answer ends behind it" } else { "the answer was cut off behind it" }
    }
}
