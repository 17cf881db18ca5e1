//! Gemini's `generateContent`: the objects under `functionCall` and `functionResponse` in a content's parts
//! (ai.google.dev/api/caching#FunctionCall). A part's `thoughtSignature` is next to the call, and whoever stores the
//! parts must keep it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plain::{ToolResult, WireError};
use crate::message::NativeCall;

/// A call: `functionCall` in a part of a model's content.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Identifier; optional, and missing from many answers. Results are then matched by name and order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// A result: `functionResponse` in a part of a user's content.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FunctionResponse {
    /// The call that it answers, if that had an identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The result as an object: the tool's own, or a text under `output`, for a failure under `error`.
    #[serde(default)]
    pub response: Map<String, Value>,
}

/// Keys of a text. `result` is written by the client libraries for a function that returns no object
/// (googleapis/python-genai `_extra_utils.py`).
const OUTPUT: &str = "output";
const RESULT: &str = "result";
const ERROR: &str = "error";

impl From<FunctionCall> for NativeCall {
    fn from(call: FunctionCall) -> Self {
        NativeCall { id: call.id, name: call.name, arguments: Value::Object(call.args).to_string() }
    }
}

impl TryFrom<NativeCall> for FunctionCall {
    type Error = WireError;

    fn try_from(call: NativeCall) -> Result<Self, WireError> {
        let args = call.object()?;
        Ok(FunctionCall { id: call.id, name: call.name, args })
    }
}

impl From<FunctionResponse> for ToolResult {
    fn from(response: FunctionResponse) -> Self {
        let FunctionResponse { id, name, response } = response;
        let is_error = response.contains_key(ERROR);
        let plain = [OUTPUT, RESULT, ERROR].iter().find_map(|key| response.get(*key)?.as_str());
        let result = ToolResult { id, name, is_error, ..ToolResult::default() };
        match plain {
            Some(text) if response.len() == 1 => ToolResult { text: text.to_owned(), ..result },
            _ => {
                let text = Value::Object(response.clone()).to_string();
                ToolResult { text, structured: Some(response), ..result }
            }
        }
    }
}
