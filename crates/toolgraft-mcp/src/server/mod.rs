//! One configured server over its whole life: started, listed, called, watched, restarted.
//!
//! In: a [`ServerConfig`](super::ServerConfig) and the hub's settings. Out: the server's
//! [offer](shared::Offer), [connections](connection::Connection) that take calls, a
//! [`ServerStatus`], and [`ServerEvent`]s. Not here: bytes (`transport`), and the choice of the
//! server for a call (`hub`).
//!
//! ```text
//!            ┌────────── a call, after the wait ──────────┐
//!            ▼                                            │
//! Idle ─▶ Connecting ──lists read──▶ Ready ──gone──▶ Backoff ──gone too often──▶ Failed
//!            │                        │ ▲                                           │
//!            │                        └─┘ list_changed: lists read anew             │
//!            └──could not be reached──▶ Failed or NeedsAuth ◀───────────────────────┘
//! ```
//! A program may switch a server off in any state (Disabled), and on again (Connecting).
//!
//! One [actor] per server owns the connection, and is the only one that changes the state. Calls
//! read the state through a [handle], ask the actor to start the server if it is not running, and
//! then use the connection themselves. A call that may have reached the server is never sent again.
//!
//! | | |
//! |---|---|
//! | [settings], [status], [states], [error] | what a program sets, and what it is told |
//! | [switches] | which of its tools are on |
//! | [handle], [actor], [shared], [count] | the two sides of a server, what they share, and who waits |
//! | [connect], [handshake] | from an entry to a server that has answered, in either era of MCP |
//! | [connection], [request], [deadlines] | requests that always end |
//! | [listing], [listen], [notices], [notice_transport], [prompts] | what it offers, and that this has changed |
//! | [calls], [elicit], [content], [scale] | calls, questions in between, results as outcomes |

mod actor;
mod calls;
mod connect;
mod connection;
mod content;
mod count;
mod deadline;
mod deadlines;
mod elicit;
mod error;
mod error_data;
mod handle;
mod handshake;
mod listen;
mod listing;
mod notice_transport;
mod notices;
mod prompts;
mod request;
mod scale;
mod settings;
mod shared;
mod states;
mod status;
mod switches;
mod tasks;

pub(crate) use connection::Connection;
pub(crate) use content::{for_user, resource_outcome, tool_outcome, with_media};
pub(crate) use elicit::Answers;
pub(crate) use handle::ServerHandle;
pub(crate) use request::seconds;
pub(crate) use scale::{has_large, scaled};
pub(crate) use settings::Settings;

pub use content::{META_EVENT, USER_EVENT};
pub use elicit::{Elicitor, FieldChoice, FieldError, FieldKind, Form, FormField, InputAnswer, InputKind, InputRequest};
pub use error::McpError;
pub use prompts::{McpPrompt, PromptArgument, PromptMessage};
pub use request::RequestError;
pub use settings::{DEFAULT_CALL_TIMEOUT, DEFAULT_CONNECT_TIMEOUT, MAX_CALL, MAX_CALLS, MAX_START, Retry, Start};
pub use states::{ServerEvent, ServerEventKind};
pub use status::{ServerState, ServerStatus};
pub use switches::ToolState;
pub use toolgraft::outcome::MEDIA_EVENT;
