//! The plain form between the shapes: calls, results and definitions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cause::Cause;
use crate::message::NativeCall;
use crate::outcome::{Outcome, Status};

/// A tool as it is offered to a model that calls natively.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Name on the wire; see [`wire_name`](super::wire_name).
    pub name: String,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments; an object at its root.
    pub parameters: Value,
}

impl ToolDefinition {
    /// A tool under its name on the wire, with the schema of its arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        ToolDefinition { name: name.into(), description: description.into(), parameters }
    }
}

/// What became of a call, for a model that calls natively.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
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
        /// The error of the reader, where the text was read.
        source: Option<Cause>,
    },
}

impl WireError {
    pub(super) fn arguments(name: &str, error: serde_json::Error) -> Self {
        WireError::Arguments { name: name.to_owned(), message: error.to_string(), source: Some(Cause::new(error)) }
    }
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
        serde_json::from_str(&self.arguments).map_err(|e| WireError::arguments(&self.name, e))
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
pub(super) fn text_of(content: &Value) -> Result<String, &'static str> {
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
pub(super) fn id(text: String) -> Option<String> {
    Some(text).filter(|id| !id.is_empty())
}
