//! OpenAI's Chat Completions: `tools`, `tool_calls` and the chunks of a stream
//! (platform.openai.com/docs/api-reference/chat/create). Ollama, LM Studio, llama.cpp, vLLM, DeepSeek and others use
//! the same format.

mod chunk;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use chunk::{Chunk, ChunkChoice, ChunkDelta, FunctionDelta, ToolCallDelta};

use super::plain::{ToolDefinition, id};
use crate::message::NativeCall;

/// The keyword `function`, the only kind of tool here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A function.
    #[default]
    Function,
}

/// A call: an item of an assistant message's `tool_calls`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identifier; empty if the endpoint gives none.
    #[serde(default)]
    pub id: String,
    /// Always `function`; some endpoints leave it out.
    #[serde(default, rename = "type")]
    pub kind: Kind,
    /// The called function.
    pub function: FunctionCall,
}

/// The function of a [`ToolCall`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The tool's name.
    pub name: String,
    /// The arguments' JSON text. Some endpoints send the object itself, which is converted to its text.
    #[serde(default, deserialize_with = "text_of_arguments")]
    pub arguments: String,
}

/// A tool: an item of a request's `tools`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tool {
    /// Always `function`.
    #[serde(default, rename = "type")]
    pub kind: Kind,
    /// The function.
    pub function: Function,
}

/// The function of a [`Tool`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Function {
    /// Name: letters, digits, underscores and hyphens, at most 64.
    pub name: String,
    /// Description of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments; without one the function takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
}

fn text_of_arguments<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => String::new(),
        Value::String(text) => text,
        value => value.to_string(),
    })
}

impl From<ToolCall> for NativeCall {
    fn from(call: ToolCall) -> Self {
        NativeCall { id: id(call.id), name: call.function.name, arguments: call.function.arguments }
    }
}

impl From<NativeCall> for ToolCall {
    fn from(call: NativeCall) -> Self {
        let function = FunctionCall { name: call.name, arguments: call.arguments };
        ToolCall { id: call.id.unwrap_or_default(), kind: Kind::Function, function }
    }
}

impl From<Tool> for ToolDefinition {
    fn from(tool: Tool) -> Self {
        let Function { name, description, parameters } = tool.function;
        let parameters = parameters.unwrap_or_else(|| super::schema::parameters(None));
        ToolDefinition { name, description: description.unwrap_or_default(), parameters }
    }
}

impl From<ToolDefinition> for Tool {
    fn from(tool: ToolDefinition) -> Self {
        let ToolDefinition { name, description, parameters } = tool;
        let function = Function { name, description: id(description), parameters: Some(parameters) };
        Tool { kind: Kind::Function, function }
    }
}
