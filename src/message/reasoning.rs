//! Options for reading a model's reasoning and the calls inside it.

use serde::{Deserialize, Serialize};

use super::keyword::keyword_enum;

/// The rule that finds the start of reasoning in a model's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningMode {
    /// Think tags decide. A `</think>` without an opener turns all text before
    /// it into reasoning, calls included.
    #[default]
    Auto,
    /// The stream starts inside the reasoning, because the chat template wrote `<think>`. If the stream ends normally
    /// with neither a think tag nor a reasoning field, it was an answer and is read as in `Auto`; its calls need
    /// approval unless the answer begins with one.
    Open,
    /// The model does not reason; think tags are text.
    Off,
}

/// The treatment of calls inside the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningCalls {
    /// Calls in the reasoning are reported as rejected and never run.
    #[default]
    Ignore,
    /// Like `Ignore`; but if the stream ended normally with no visible content and no call outside the reasoning, the
    /// last complete draft and the drafts adjacent to it are promoted to calls.
    LastResort,
    /// Calls in the reasoning are calls like any other.
    Allow,
}

/// The treatment of calls in a code fence that begins the message and is followed by prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FencedCalls {
    /// The calls are examples, like any other fenced call with other text: reported as rejected, never run.
    #[default]
    Ignore,
    /// Like `Ignore`; but if the stream ended normally and nothing else in the message is a call, the calls of the
    /// first fence run, provided that all of them are complete and their arguments are accepted.
    LastResort,
}

/// The part of its reasoning that a model is shown again in the next round. Chat templates of reasoning models drop
/// reasoning from the history, so without it the model starts to think anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CarryReasoning {
    /// No reasoning is shown again.
    #[default]
    None,
    /// The reasoning of the last message.
    Last,
    /// The reasoning of all messages since the last message of the user.
    Turn,
}

keyword_enum!(ReasoningMode, "a start of the reasoning",
    "auto" => ReasoningMode::Auto, "open" => ReasoningMode::Open, "off" => ReasoningMode::Off);
keyword_enum!(ReasoningCalls, "a policy for calls in the reasoning",
    "ignore" => ReasoningCalls::Ignore, "last_resort" => ReasoningCalls::LastResort, "allow" => ReasoningCalls::Allow);
keyword_enum!(FencedCalls, "a policy for calls in the fence that a message begins with",
    "ignore" => FencedCalls::Ignore, "last_resort" => FencedCalls::LastResort);
keyword_enum!(CarryReasoning, "an amount of reasoning to send back",
    "none" => CarryReasoning::None, "last" => CarryReasoning::Last, "turn" => CarryReasoning::Turn);
