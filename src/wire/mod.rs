//! Calls, results and tools in the shapes of other programs' interfaces.
//!
//! Between the shapes stands a plain form: [`NativeCall`](crate::message::NativeCall),
//! [`ToolResult`] and [`ToolDefinition`]. [`openai`], [`anthropic`] and [`gemini`] hold the
//! JSON objects of their interfaces; `From` and `TryFrom` read and write them, from and to the
//! plain form and from and to [`Tool`](crate::Tool) and [`Call`](crate::Call).
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
//! and know no servers: [`wire_name`] makes such a name, [`Names`] reads it back. A name
//! without a server that fits is kept as it is, so a client's own tools go by their own names.
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
mod direct;
pub mod gemini;
mod names;
pub mod openai;
mod plain;
#[cfg(feature = "client")]
pub mod roles;
mod schema;

pub use crate::tools::wire_name::{MAX_NAME, wire_name};
pub use names::Names;
pub use plain::{ToolDefinition, ToolResult, WireError};
pub use schema::whole_description;
pub use schema::{MAX_DESCRIPTION, parameters};

#[cfg(test)]
mod tests;
