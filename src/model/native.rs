//! Faults of a model's native calls.

use serde::{Deserialize, Serialize};

use crate::message::keyword_enum;

/// The reason why tools are described in the prompt although the model supports native calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NativeFault {
    /// The endpoint answered a request that carried tools with an error, and one with the tools in the prompt without
    /// one.
    Failed,
    /// The endpoint answered a request that carried tools with an empty text, and one with the tools in the prompt
    /// normally.
    Empty,
    /// The model made no native call although one was required.
    Missing,
    /// The model made a native call when the user only said hello.
    Unasked,
    /// The model's answers did not use the result of a native call.
    Unanswered,
}

keyword_enum!(NativeFault, "a fault of native calls",
    "failed" => NativeFault::Failed,
    "empty" => NativeFault::Empty,
    "missing" => NativeFault::Missing,
    "unasked" => NativeFault::Unasked,
    "unanswered" => NativeFault::Unanswered);
