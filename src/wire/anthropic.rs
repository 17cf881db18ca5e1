//! Anthropic's Messages: `tools`, and content blocks of the types `tool_use` and
//! `tool_result` (docs.claude.com/en/api/messages).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plain::{ToolDefinition, ToolResult, WireError, id, text_of};
use crate::message::NativeCall;

/// A call: a block of an assistant message's content.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// Always `tool_use`.
    #[serde(default, rename = "type")]
    pub kind: ToolUseKind,
    /// Identifier.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub input: Map<String, Value>,
}

/// The word `tool_use`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolUseKind {
    /// A call.
    #[default]
    ToolUse,
}

/// A result: a block of a user message's content. All results of a message come
/// in one user message, before any text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResultBlock {
    /// Always `tool_result`.
    #[serde(default, rename = "type")]
    pub kind: ToolResultKind,
    /// The call that it answers.
    pub tool_use_id: String,
    /// What the model reads. A list of blocks is read as its text.
    #[serde(default, deserialize_with = "text_of_blocks")]
    pub content: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// The word `tool_result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResultKind {
    /// Result of a call.
    #[default]
    ToolResult,
}

/// A tool: an item of a request's `tools`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tool {
    /// Name: letters, digits, underscores and hyphens.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments; an object at its root.
    pub input_schema: Value,
}

fn text_of_blocks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    text_of(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

impl From<ToolUse> for NativeCall {
    fn from(call: ToolUse) -> Self {
        NativeCall { id: id(call.id), name: call.name, arguments: Value::Object(call.input).to_string() }
    }
}

impl TryFrom<NativeCall> for ToolUse {
    type Error = WireError;

    fn try_from(call: NativeCall) -> Result<Self, WireError> {
        let input = call.object()?;
        Ok(ToolUse { kind: ToolUseKind::ToolUse, id: call.id.unwrap_or_default(), name: call.name, input })
    }
}

impl From<ToolResultBlock> for ToolResult {
    fn from(block: ToolResultBlock) -> Self {
        let ToolResultBlock { tool_use_id, content, is_error, .. } = block;
        ToolResult { id: id(tool_use_id), text: content, is_error, ..ToolResult::default() }
    }
}

impl From<ToolResult> for ToolResultBlock {
    fn from(result: ToolResult) -> Self {
        let ToolResult { id, text, is_error, .. } = result;
        ToolResultBlock {
            kind: ToolResultKind::ToolResult,
            tool_use_id: id.unwrap_or_default(),
            content: text,
            is_error,
        }
    }
}

impl From<Tool> for ToolDefinition {
    fn from(tool: Tool) -> Self {
        let Tool { name, description, input_schema } = tool;
        ToolDefinition { name, description: description.unwrap_or_default(), parameters: input_schema }
    }
}

impl From<ToolDefinition> for Tool {
    fn from(tool: ToolDefinition) -> Self {
        let ToolDefinition { name, description, parameters } = tool;
        Tool { name, description: id(description), input_schema: parameters }
    }
}
