//! Tools and calls from and to the shapes, without the plain form between.
//!
//! A shape knows no server: a tool or call that is read from one has none, and its name is
//! the one on the wire. [`Names::read`](super::Names::read) finds server and tool of a call.

use serde_json::Value;

use super::plain::{ToolDefinition, WireError};
use super::{anthropic, gemini, openai};
use crate::dialect::Dialect;
use crate::event::Call;
use crate::message::NativeCall;
use crate::tools::Tool;

impl From<ToolDefinition> for Tool {
    fn from(definition: ToolDefinition) -> Self {
        let ToolDefinition { name, description, parameters } = definition;
        let description = Some(description).filter(|text| !text.is_empty());
        Tool { description, input_schema: Some(parameters), ..Tool::new(name) }
    }
}

/// No text was read, so the call counts as written in the prompt's default syntax, without
/// a mistake; empty arguments stand for none.
impl TryFrom<NativeCall> for Call {
    type Error = WireError;

    fn try_from(native: NativeCall) -> Result<Self, WireError> {
        let text = if native.arguments.trim().is_empty() { "{}" } else { &native.arguments };
        let arguments: Value = serde_json::from_str(text).map_err(|error| WireError::arguments(&native.name, error))?;
        let mut call = Call::new(Dialect::UseMcpTool, native.name, arguments);
        call.raw_arguments = native.arguments;
        Ok(call)
    }
}

macro_rules! shapes {
    ($($tool:ty, $call:ty;)+) => {$(
        impl From<$tool> for Tool {
            fn from(tool: $tool) -> Self {
                ToolDefinition::from(tool).into()
            }
        }

        impl From<&Tool> for $tool {
            fn from(tool: &Tool) -> Self {
                ToolDefinition::from(tool).into()
            }
        }

        impl TryFrom<$call> for Call {
            type Error = WireError;

            fn try_from(call: $call) -> Result<Self, WireError> {
                NativeCall::from(call).try_into()
            }
        }
    )+};
}

shapes! {
    openai::Tool, openai::ToolCall;
    anthropic::Tool, anthropic::ToolUse;
    gemini::FunctionDeclaration, gemini::FunctionCall;
}

impl From<&Call> for openai::ToolCall {
    fn from(call: &Call) -> Self {
        NativeCall::from(call).into()
    }
}

impl TryFrom<&Call> for anthropic::ToolUse {
    type Error = WireError;

    fn try_from(call: &Call) -> Result<Self, WireError> {
        NativeCall::from(call).try_into()
    }
}

impl TryFrom<&Call> for gemini::FunctionCall {
    type Error = WireError;

    fn try_from(call: &Call) -> Result<Self, WireError> {
        NativeCall::from(call).try_into()
    }
}
