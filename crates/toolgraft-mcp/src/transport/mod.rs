//! Converts a server's bytes into MCP messages, and messages into bytes.
//!
//! In: a program to start or a URL, and messages to send. Out: a `Transport` of rmcp whose messages
//! are read leniently, and results as JSON text. Not here: the choice and time of requests
//! (`server`).
//!
//! The path of a byte:
//!
//! ```text
//! stdio   stdout ─▶ pipe ─▶ lines ───────────┐
//!                                            ├─▶ message ─▶ rmcp ─▶ answer ─▶ server
//! http    body ─▶ events ─▶ sse, streamable ─┘      └ scan ─────────┘
//! ```
//!
//! rmcp correlates requests and answers, and keeps the sessions of streamable HTTP. Bytes are read here: rmcp 3.11 drops
//! what is not exactly one valid message, and its caller waits for the time-out. Each module names the measured limit or
//! the fault for which rmcp's part does not do.
//!
//! - [`stdio`]: the child process, its pipes, its group, its end.
//! - [`http`]: streamable HTTP and legacy HTTP+SSE.
//! - [`message`]: text to messages, or to descriptions of faults; [`scan`]: the parts of JSON that
//!   may be invalid. A wrong value does not cost the message that contains it.
//! - [`log`]: the latest log messages and lines of standard error.
//! - [`wire`]: reports each message, in either direction.
//! - [`answer`]: a result, parsed on demand; [`server_info`]: the first one.

pub(super) mod answer;
pub(super) mod http;
pub(super) mod log;
pub(super) mod message;
pub(super) mod scan;
pub(super) mod server_info;
pub(super) mod stdio;
pub(super) mod wire;
