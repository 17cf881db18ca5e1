//! Where a model's reasoning starts, and what becomes of calls inside it.

use serde::{Deserialize, Serialize};

use super::keyword::keyword_enum;

/// Where reasoning starts in a model's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningMode {
    /// Think tags decide. A `</think>` without an opener turns all text before
    /// it into reasoning, calls included.
    #[default]
    Auto,
    /// The stream starts inside the reasoning: the chat template wrote `<think>`.
    /// One that ends normally with neither a think tag nor a reasoning field was an
    /// answer, read as in `Auto`; its calls need approval unless it begins with one.
    Open,
    /// The model does not reason; think tags are text.
    Off,
}

/// What becomes of calls inside the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningCalls {
    /// Reported as rejected, never run.
    #[default]
    Ignore,
    /// As `Ignore`; but if the stream ended normally with no visible content
    /// and no call outside the reasoning, the last complete draft and the
    /// drafts adjacent to it are promoted to calls.
    LastResort,
    /// Calls like any other.
    Allow,
}

/// What becomes of a call in a code fence that the message begins with and that prose follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FencedCalls {
    /// An example, as any other fenced call with other text: reported as rejected, never run.
    #[default]
    Ignore,
    /// As `Ignore`; but if the stream ended normally and nothing else in the message is a call,
    /// the calls of its first fence are calls, provided that all of them are complete and their
    /// arguments accepted.
    LastResort,
}

/// How much of its reasoning a model is told again in the next round. Chat
/// templates of reasoning models drop it from the history, so a model otherwise
/// thinks anew from nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CarryReasoning {
    /// Nothing.
    #[default]
    None,
    /// That of the last message.
    Last,
    /// That of all messages since the person last spoke.
    Turn,
}

keyword_enum!(ReasoningMode, "where reasoning starts",
    "auto" => ReasoningMode::Auto, "open" => ReasoningMode::Open, "off" => ReasoningMode::Off);
keyword_enum!(ReasoningCalls, "a policy for calls in the reasoning",
    "ignore" => ReasoningCalls::Ignore, "last_resort" => ReasoningCalls::LastResort, "allow" => ReasoningCalls::Allow);
keyword_enum!(FencedCalls, "a policy for calls in the fence that a message begins with",
    "ignore" => FencedCalls::Ignore, "last_resort" => FencedCalls::LastResort);
keyword_enum!(CarryReasoning, "how much reasoning goes back",
    "none" => CarryReasoning::None, "last" => CarryReasoning::Last, "turn" => CarryReasoning::Turn);
