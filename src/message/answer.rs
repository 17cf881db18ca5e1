//! The answer of a model: deltas, usage and finish reason.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::setters;
use crate::json::text_type;

/// The field of the endpoint's stream from which a piece of a model's answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeltaKind {
    /// The answer's text (`content`), which may contain think tags.
    Content,
    /// A separate reasoning field (`reasoning_content`, `reasoning`).
    Reasoning,
    /// A separate field in which the model refuses to answer (`refusal`).
    Refusal,
}

/// A piece of a model's streamed answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delta {
    /// The field of the stream that the piece is from.
    pub kind: DeltaKind,
    /// Text of any length, which may be cut between any two characters.
    pub text: String,
}

impl Delta {
    /// Creates a piece of an answer that came in this field of the stream.
    pub fn new(kind: DeltaKind, text: impl Into<String>) -> Self {
        Delta { kind, text: text.into() }
    }

    /// Creates a piece of the answer's text.
    pub fn content(text: impl Into<String>) -> Self {
        Delta { kind: DeltaKind::Content, text: text.into() }
    }

    /// Creates a piece of a separate reasoning field.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Delta { kind: DeltaKind::Reasoning, text: text.into() }
    }

    /// Creates a piece of a separate refusal field.
    pub fn refusal(text: impl Into<String>) -> Self {
        Delta { kind: DeltaKind::Refusal, text: text.into() }
    }
}

/// Token usage of a request and its answer, as the endpoint counts it or as an estimate. Most endpoints include cached
/// tokens in `prompt_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Number of tokens of the request.
    pub prompt_tokens: u64,
    /// Number of tokens of the answer, including its reasoning.
    pub completion_tokens: u64,
    /// Number of tokens of the reasoning; `None` if they were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Number of tokens of the request that the endpoint had cached; `None` if it does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Price of the request in the endpoint's own unit (US dollars at OpenRouter); `None` if it reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// `true` if the numbers of tokens of request and answer are this program's own estimate, because the endpoint
    /// reported none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// `true` if the number of tokens of the reasoning is an estimate, by itself or as a share of the answer's tokens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reasoning_estimated: bool,
}

setters!(
    Usage,
    with_reasoning_tokens => reasoning_tokens: Option<u64>, with_cached_tokens => cached_tokens: Option<u64>,
    with_cost => cost: Option<f64>;
    with_prompt_tokens => prompt_tokens: u64, with_completion_tokens => completion_tokens: u64,
    with_estimated => estimated: bool, with_reasoning_estimated => reasoning_estimated: bool
);

impl Usage {
    /// Returns the sum of two usages; a count that only one of them has is copied.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            completion_tokens: self.completion_tokens + other.completion_tokens,
            reasoning_tokens: either(self.reasoning_tokens, other.reasoning_tokens),
            cached_tokens: either(self.cached_tokens, other.cached_tokens),
            cost: either(self.cost, other.cost),
            estimated: self.estimated || other.estimated,
            reasoning_estimated: self.reasoning_estimated || other.reasoning_estimated,
        }
    }
}

/// Returns the sum of two counts, or the only known one.
fn either<T: Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// The reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum FinishReason {
    /// The model finished its answer normally.
    #[default]
    Stop,
    /// The answer reached the limit on its length, and was cut off.
    Length,
    /// The model made native tool calls.
    ToolCalls,
    /// Another finish reason, in the endpoint's own word.
    Other(String),
}

impl FinishReason {
    /// Returns `true` if the model itself ended the answer.
    pub fn is_normal(&self) -> bool {
        matches!(self, FinishReason::Stop | FinishReason::ToolCalls)
    }

    /// Returns `true` if the endpoint withheld the answer or the rest of it.
    pub fn is_filtered(&self) -> bool {
        matches!(self, FinishReason::Other(word) if word == "content_filter")
    }

    /// Returns the finish reason in the word that OpenAI-compatible endpoints use.
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Other(word) => word,
        }
    }
}

/// The finish reasons that endpoints are known to send, compared without regard to case.
const WORDS: [(&str, FinishReason); 13] = [
    // platform.openai.com/docs/api-reference/chat/object; the last one belongs to `functions`.
    ("stop", FinishReason::Stop),
    ("length", FinishReason::Length),
    ("tool_calls", FinishReason::ToolCalls),
    ("function_call", FinishReason::ToolCalls),
    // huggingface/text-generation-inference, `FinishReason` of its router.
    ("eos_token", FinishReason::Stop),
    ("stop_sequence", FinishReason::Stop),
    // mistralai and others, as LiteLLM's table of finish reasons has them.
    ("eos", FinishReason::Stop),
    ("complete", FinishReason::Stop),
    ("completed", FinishReason::Stop),
    // platform.claude.com/docs/en/api/messages, through gateways.
    ("end_turn", FinishReason::Stop),
    ("max_tokens", FinishReason::Length),
    ("tool_use", FinishReason::ToolCalls),
    // docs.mistral.ai/api, where the context is full.
    ("model_length", FinishReason::Length),
];

impl From<&str> for FinishReason {
    fn from(word: &str) -> Self {
        let known = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        known.map_or_else(|| FinishReason::Other(word.to_owned()), |(_, reason)| reason.clone())
    }
}

text_type!(
    FinishReason,
    FinishReason::as_str,
    "Why a model stopped: `stop`, `length`, `tool_calls`, or a word of the endpoint's own."
);
