//! Calls and tools in the formats of other programs' APIs.
//!
//! [`NativeCall`](crate::message::NativeCall) and [`ToolDefinition`] are independent of any API;
//! [`NativeCall::tool_call`](crate::message::NativeCall::tool_call) and [`ToolDefinition::function`] write them as Chat
//! Completions has them.
//!
//! The APIs name a tool by at most 64 letters, digits, underscores and hyphens and know no servers: [`wire_name`] makes
//! such a name, [`Names`] maps it back. A valid name without a server is kept as it is, so a client's own tools keep
//! their names.
//!
//! ```
//! use toolgraft::message::NativeCall;
//!
//! let call = NativeCall { id: Some("c1".into()), name: "weather__get".into(), arguments: r#"{"city":"Oslo"}"#.into() };
//! assert_eq!(call.tool_call()["function"]["name"], "weather__get");
//! assert_eq!(call.object()?["city"], "Oslo");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "agent")]
pub mod content;
mod member;
mod names;
mod open_api;
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
pub use open_api::json_schema;
pub use plain::ToolDefinition;
pub use schema::{MAX_DESCRIPTION, parameters};
#[cfg(feature = "prompt")]
pub(crate) use schema::{cut_description, whole_description};
pub use surrogates::mend_surrogates;

#[cfg(test)]
mod tests;
