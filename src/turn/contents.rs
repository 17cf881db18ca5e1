//! The calls in untrusted texts that a model may copy.

use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Tools and arguments of the calls that occur in the untrusted texts.
    pub(super) calls: Vec<(String, Value)>,
    /// Letters and digits of all untrusted texts as they are displayed, and of their other readings.
    pub(super) letters: [String; 2],
    /// `true` if a text, or some of the calls in it, was not read.
    pub(super) is_incomplete: bool,
}
