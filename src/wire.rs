//! Calls, results and tools in the shapes of other programs' interfaces.
//!
//! Between the shapes stands a plain form: [`NativeCall`], [`ToolResult`] and
//! [`ToolDefinition`]. [`openai`], [`anthropic`] and [`gemini`] hold the JSON
//! objects of their interfaces; `From` and `TryFrom` read and write them.
//!
//! | | call | result | tool |
//! |---|---|---|---|
//! | OpenAI | [`openai::ToolCall`] | [`openai::ToolMessage`] | [`openai::Tool`] |
//! | Anthropic | [`anthropic::ToolUse`] | [`anthropic::ToolResultBlock`] | [`anthropic::Tool`] |
//! | Gemini | [`gemini::FunctionCall`] | [`gemini::FunctionResponse`] | [`gemini::FunctionDeclaration`] |
//!
//! What a shape has no place for is lost on the way through it, and only that:
//!
//! | | OpenAI | Anthropic | Gemini |
//! |---|---|---|---|
//! | arguments | text, any | an object: other text is an error | an object: other text is an error |
//! | a missing id | empty | empty | missing |
//! | a result's tool | lost | lost | kept |
//! | whether a result is an error | lost | kept | kept |
//! | structured content of a result | lost | lost | in place of the text |
//!
//! Interfaces name a tool in at most 64 letters, digits, underscores and hyphens
//! and know no servers: [`wire_name`] makes such a name, [`Names`] reads it back.
//!
//! ```
//! use toolgraft::message::NativeCall;
//! use toolgraft::wire::{anthropic::ToolUse, openai::ToolCall};
//!
//! let call: ToolCall = serde_json::from_value(serde_json::json!({
//!     "id": "c1", "type": "function", "function": {"name": "weather__get", "arguments": "{\"city\":\"Oslo\"}"}
//! }))?;
//! let call = ToolUse::try_from(NativeCall::from(call))?;
//! assert_eq!(serde_json::to_string(&call)?, r#"{"type":"tool_use","id":"c1","name":"weather__get","input":{"city":"Oslo"}}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod anthropic;
pub mod gemini;
mod names;
pub mod openai;
mod schema;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::conversation::Placed;
use crate::message::NativeCall;
use crate::outcome::{Outcome, Status};

pub use names::{MAX_NAME, Names, wire_name};
pub use schema::{MAX_DESCRIPTION, parameters};

/// A tool as it is offered to a model that calls natively.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Name on the wire; see [`wire_name`].
    pub name: String,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments; an object at its root.
    pub parameters: Value,
}

/// What became of a call, for a model that calls natively.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name on the wire; empty where the shape does not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the model reads.
    #[serde(default)]
    pub text: String,
    /// Whether the call failed or did not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The result as JSON, where there is one beside the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Map<String, Value>>,
}

/// A call does not fit into a shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The arguments' text is not a JSON object.
    #[error("the arguments of the call of {name:?} are not a JSON object: {message}")]
    Arguments {
        /// The tool's name on the wire.
        name: String,
        /// What is wrong, and where in the text.
        message: String,
    },
}

impl NativeCall {
    /// The call of a tool, by its name on the wire.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Map<String, Value>) -> Self {
        let arguments = serde_json::to_string(arguments).expect("a map with string keys serialises");
        NativeCall { id: Some(id.into()), name: name.into(), arguments }
    }

    /// The arguments as an object; empty text stands for none.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn object(&self) -> Result<Map<String, Value>, WireError> {
        if self.arguments.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(&self.arguments)
            .map_err(|e| WireError::Arguments { name: self.name.clone(), message: e.to_string() })
    }
}

/// A call of the history, under its [`wire_name`].
impl From<&Placed> for NativeCall {
    fn from(placed: &Placed) -> Self {
        let call = &placed.call;
        NativeCall {
            id: Some(placed.id.clone()),
            name: wire_name(call.server.as_deref(), &call.tool),
            arguments: call.arguments.to_string(),
        }
    }
}

impl ToolResult {
    /// The result of `call`, in the words of its outcome.
    pub fn new(call: &NativeCall, outcome: &Outcome) -> Self {
        ToolResult {
            id: call.id.clone(),
            name: call.name.clone(),
            text: outcome.text.clone(),
            is_error: !matches!(outcome.status, Status::Result | Status::Displayed),
            structured: outcome.structured.as_ref().and_then(Value::as_object).cloned(),
        }
    }
}

/// The text of a `content`: a string, or a list of parts of which only the text is read.
fn text_of(content: &Value) -> Result<String, &'static str> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            Ok(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => Err("expected a text or a list of parts"),
    }
}

/// `None` for a text that says nothing.
fn id(text: String) -> Option<String> {
    Some(text).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests;
