//! Faults of a model's native calls.

use serde::{Deserialize, Serialize};

use crate::message::keyword_enum;

/// The reason why tools are put into the prompt instead of using a model's native calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NativeFault {
    /// The endpoint answered a request that carried tools with an error, and one with the tools in the prompt without.
    Failed,
    /// The endpoint answered such a request with an empty text, and one with the tools in the prompt normally.
    Empty,
    /// A required call was missing.
    Missing,
    /// The model made a call when the user only said hello.
    Unasked,
    /// No answer used the result of a call.
    Unanswered,
}

keyword_enum!(NativeFault, "a fault of native calls",
    "failed" => NativeFault::Failed,
    "empty" => NativeFault::Empty,
    "missing" => NativeFault::Missing,
    "unasked" => NativeFault::Unasked,
    "unanswered" => NativeFault::Unanswered);
