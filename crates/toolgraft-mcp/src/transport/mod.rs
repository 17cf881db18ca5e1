//! A server's bytes to messages of MCP, and messages to bytes.
//!
//! In: a program to start or a URL, and messages to send. Out: a `Transport` of rmcp whose
//! messages are read leniently, and results as the JSON text that came. Not here: what is
//! asked and when (`server`).
//!
//! How a byte passes:
//!
//! ```text
//! stdio   stdout ─▶ pipe ─▶ lines ───────────┐
//!                                            ├─▶ message ─▶ rmcp ─▶ answer ─▶ server
//! http    body ─▶ events ─▶ sse, streamable ─┘      └ scan ─────────┘
//! ```
//!
//! - [`stdio`]: the child process, its pipes, its group, its end.
//! - [`http`]: streamable HTTP and legacy HTTP+SSE.
//! - [`message`]: a text to messages, or to what is wrong with them; [`scan`]: the parts of
//!   JSON that need not be right. No message is lost over one wrong value in it.
//! - [`log`]: what a server says beside its answers, the last of it.
//! - [`wire`]: a look at each message, in either direction.
//! - [`answer`]: a result, of which only what is wanted is read; [`server_info`]: the first one.

pub(super) mod answer;
pub(super) mod http;
pub(super) mod log;
pub(super) mod message;
pub(super) mod scan;
pub(super) mod server_info;
pub(super) mod stdio;
pub(super) mod wire;
