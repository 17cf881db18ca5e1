//! The plain form of calls, results and definitions, between the APIs' formats.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cause::Cause;
use crate::message::NativeCall;
#[cfg(feature = "prompt")]
use crate::message::TokenCounter;

/// A tool as it is offered to a model with native tool calling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Name in requests; see [`wire_name`](super::wire_name).
    pub name: String,
    /// Description of the tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments; an object at its root.
    pub parameters: Value,
}

impl ToolDefinition {
    /// Creates a tool with its name in requests and the schema of its arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        ToolDefinition { name: name.into(), description: description.into(), parameters }
    }

    /// Returns the JSON in a request, which most chat templates show to the model unchanged.
    #[cfg(feature = "prompt")]
    pub(crate) fn text(&self) -> String {
        serde_json::json!({ "type": "function", "function": self }).to_string()
    }

    /// Returns the number of tokens that it takes in a request.
    #[cfg(feature = "prompt")]
    pub(crate) fn tokens(&self, counter: &TokenCounter) -> usize {
        counter.count(&self.text())
    }
}

/// The outcome of a call, for a model with native tool calling.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolResult {
    /// The call's identifier.
    pub id: Option<String>,
    /// The tool's name in requests; empty if the format does not have it.
    pub name: String,
    /// The text for the model.
    pub text: String,
    /// `true` if the call failed or did not run.
    pub is_error: bool,
    /// The result as JSON, if there is one besides the text.
    pub structured: Option<Map<String, Value>>,
}

/// A call cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The arguments' text is not a JSON object.
    #[error("the arguments of the call of {name:?} are not a JSON object: {message}")]
    Arguments {
        /// The tool's name in requests.
        name: String,
        /// The problem, and its place in the text.
        message: String,
        /// The error of the JSON reader, if the text was read.
        source: Option<Cause>,
    },
}

impl WireError {
    pub(super) fn arguments(name: &str, error: serde_json::Error) -> Self {
        WireError::Arguments { name: name.to_owned(), message: error.to_string(), source: Some(Cause::new(error)) }
    }
}

impl NativeCall {
    /// Creates the call of a tool, by its name in requests.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Map<String, Value>) -> Self {
        let arguments = serde_json::to_string(arguments).expect("a map with string keys serialises");
        NativeCall { id: Some(id.into()), name: name.into(), arguments }
    }

    /// Returns the arguments as an object; empty text counts as no arguments.
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

/// Returns the id, or `None` if it is empty.
pub(super) fn id(text: String) -> Option<String> {
    Some(text).filter(|id| !id.is_empty())
}
