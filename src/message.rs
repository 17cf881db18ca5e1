//! What goes to a model and how its answer arrives: messages, deltas, finish reasons.

pub(crate) mod chunk;

use serde::{Deserialize, Serialize};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions of the program.
    System,
    /// The person, or results of tools.
    User,
    /// The model.
    Assistant,
    /// A tool: the result of a native call. Only in requests that carry tools.
    Tool,
}

/// One message of a request.
///
/// A model without tool calling sees plain text, and `calls`, `call_id` and
/// `reasoning` are empty. In a request that carries tools the model's messages
/// hold their calls, and a message of the role `tool` answers each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
    /// Calls that an assistant message makes, each with an id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<NativeCall>,
    /// The call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What the model thought before its calls, for endpoints that want it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

impl Message {
    /// A message of plain text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Message { role, content: content.into(), calls: Vec::new(), call_id: None, reasoning: None }
    }

    /// A system message.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(Role::System, content)
    }

    /// A user message.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(Role::User, content)
    }

    /// An assistant message.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// The result of the call `id`.
    pub fn tool(id: impl Into<String>, content: impl Into<String>) -> Self {
        Message { call_id: Some(id.into()), ..Message::new(Role::Tool, content) }
    }

    /// Sets an assistant message's calls.
    #[must_use]
    pub fn with_calls(mut self, calls: Vec<NativeCall>) -> Self {
        self.calls = calls;
        self
    }
}

/// Channel on which a piece of a model's answer arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    /// The answer's text (`content`), which may hold think tags.
    Content,
    /// A separate reasoning field (`reasoning_content`, `reasoning`).
    Reasoning,
}

/// A piece of a model's streamed answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Channel.
    pub kind: DeltaKind,
    /// Text; any length, cut anywhere between characters.
    pub text: String,
}

/// A call that the endpoint reported in its own field (`tool_calls`, `tool_use`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NativeCall {
    /// The endpoint's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the tool, as the endpoint knows it.
    pub name: String,
    /// The arguments' JSON text.
    pub arguments: String,
}

/// Tokens of a request and its answer, as the endpoint counts them.
/// `prompt_tokens` of most endpoints include the cached ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: u64,
    /// Tokens of the reasoning, where somebody counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Tokens of the request that the endpoint had cached, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Request and answer are our own count: the endpoint reported none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// So are the tokens of the reasoning, or their share of the answer's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reasoning_estimated: bool,
}

impl Usage {
    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            completion_tokens: self.completion_tokens + other.completion_tokens,
            reasoning_tokens: either(self.reasoning_tokens, other.reasoning_tokens),
            cached_tokens: either(self.cached_tokens, other.cached_tokens),
            estimated: self.estimated || other.estimated,
            reasoning_estimated: self.reasoning_estimated || other.reasoning_estimated,
        }
    }
}

/// The sum of what is known.
fn either(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    if a.is_none() && b.is_none() { None } else { Some(a.unwrap_or(0) + b.unwrap_or(0)) }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// The output limit was hit.
    Length,
    /// It made native tool calls.
    ToolCalls,
    /// Something else, in the endpoint's own word.
    Other(String),
}

impl FinishReason {
    /// Whether the answer was ended by the model itself.
    pub fn is_normal(&self) -> bool {
        matches!(self, FinishReason::Stop | FinishReason::ToolCalls)
    }

    /// The word that OpenAI-compatible endpoints use.
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Other(word) => word,
        }
    }
}

impl From<&str> for FinishReason {
    fn from(word: &str) -> Self {
        match word {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "tool_calls" => FinishReason::ToolCalls,
            other => FinishReason::Other(other.to_owned()),
        }
    }
}

impl Serialize for FinishReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FinishReason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Ok(FinishReason::from(word.as_ref()))
    }
}
