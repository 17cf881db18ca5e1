//! The stream, and how it was read.

use toolgraft::parse::Config;

/// The input of an explanation: a round's stream, and how it was read.
pub(super) struct Context<'a> {
    /// The round's stream.
    pub(super) text: &'a str,
    /// The configuration with which the stream was read.
    pub(super) config: &'a Config,
    /// `true` if the answer ended normally.
    pub(super) ended: bool,
}

impl Context<'_> {
    /// Describes how the answer ends.
    pub(super) fn ending(&self) -> &'static str {
        if self.ended { "the answer ends after it" } else { "the answer was cut off after it" }
    }
}
