//! What is known of a model's native calls.

use serde::{Deserialize, Serialize};

use crate::message::keyword_enum;

/// Why a model's native calls are left for the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NativeFault {
    /// The endpoint answered a request that carried tools with an error, and one by prompt not.
    Failed,
    /// Such a request got an empty answer, and one by prompt not.
    Empty,
    /// No call came where one was due.
    Missing,
    /// A call came where a person only said hello.
    Unasked,
    /// No answer came that used the result of a call.
    Unanswered,
}

keyword_enum!(NativeFault, "a fault of native calls",
    "failed" => NativeFault::Failed,
    "empty" => NativeFault::Empty,
    "missing" => NativeFault::Missing,
    "unasked" => NativeFault::Unasked,
    "unanswered" => NativeFault::Unanswered);
