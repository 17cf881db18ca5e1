//! The plain form between the shapes: calls, results and definitions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cause::Cause;
use crate::message::NativeCall;
#[cfg(feature = "prompt")]
use crate::message::TokenCounter;

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

    /// The JSON in a request, which most chat templates show the model as it is.
    #[cfg(feature = "prompt")]
    pub(crate) fn text(&self) -> String {
        serde_json::json!({ "type": "function", "function": self }).to_string()
    }

    /// Tokens that it takes in a request.
    #[cfg(feature = "prompt")]
    pub(crate) fn tokens(&self, counter: &TokenCounter) -> usize {
        counter.count(&self.text())
    }
}

/// What became of a call, for a model that calls natively.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call's identifier.
    pub id: Option<String>,
    /// The tool's name on the wire; empty where the shape does not say it.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed or did not run.
    pub is_error: bool,
    /// The result as JSON, where there is one beside the text.
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

/// `None` for a text that says nothing.
pub(super) fn id(text: String) -> Option<String> {
    Some(text).filter(|id| !id.is_empty())
}
