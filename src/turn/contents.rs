//! The calls in untrusted texts that a model may copy.

use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Tools and arguments of the calls in them.
    pub(super) calls: Vec<(String, Value)>,
    /// The letters of all of them as they read, and of their other readings.
    pub(super) letters: [String; 2],
    /// A text was not read, or not all calls in it.
    pub(super) is_incomplete: bool,
}
