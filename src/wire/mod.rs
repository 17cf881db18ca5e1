//! Calls and tools in the formats of other programs' APIs.
//!
//! All formats convert to and from a plain form: [`NativeCall`](crate::message::NativeCall), [`ToolResult`] and
//! [`ToolDefinition`]. [`openai`] and [`gemini`] have the JSON objects of their APIs; `From` and `TryFrom` read and
//! write them, as far as an endpoint or a server needs it. Gemini's arguments are an object: other text is an error.
//!
//! The APIs name a tool by at most 64 letters, digits, underscores and hyphens and know no servers: [`wire_name`] makes
//! such a name, [`Names`] maps it back. A valid name without a server is kept as it is, so a client's own tools keep
//! their names.
//!
//! ```
//! use toolgraft::message::NativeCall;
//! use toolgraft::wire::{gemini::FunctionCall, openai::ToolCall};
//!
//! let call: ToolCall = serde_json::from_value(serde_json::json!({
//!     "id": "c1", "type": "function", "function": {"name": "weather__get", "arguments": "{\"city\":\"Oslo\"}"}
//! }))?;
//! let call = FunctionCall::try_from(NativeCall::from(call))?;
//! assert_eq!(serde_json::to_string(&call)?, r#"{"id":"c1","name":"weather__get","args":{"city":"Oslo"}}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "agent")]
pub mod content;
pub mod gemini;
mod member;
mod names;
pub mod openai;
#[cfg(feature = "agent")]
pub mod past;
mod plain;
#[cfg(feature = "agent")]
pub mod roles;
mod schema;
mod surrogates;

pub use crate::tools::wire_name::{MAX_NAME, wire_name};
pub use member::{set_member, take_member};
pub use names::Names;
pub use plain::{ToolDefinition, ToolResult, WireError};
pub use schema::{MAX_DESCRIPTION, parameters};
#[cfg(feature = "prompt")]
pub(crate) use schema::{cut_description, whole_description};
pub use surrogates::mend_surrogates;

#[cfg(test)]
mod tests;
