//! MCP servers as a toolbox for [toolgraft]: configuration, connections over stdio, streamable HTTP
//! and legacy HTTP+SSE, and calls.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use toolgraft::route::{Invocation, Toolbox};
//! use toolgraft_mcp::{Config, Hub};
//!
//! let text = std::fs::read_to_string(".mcp.json")?;
//! let config = Config::parse(&text, ".mcp.json", &|name| std::env::var(name).ok())?;
//! let hub = Hub::builder().config(config).inherit_env().connect().await?;
//! for tool in hub.catalog().tools() {
//!     println!("{} of {:?}", tool.name, tool.server);
//! }
//! let outcome = hub.call(Invocation::new("get_current_time")).await;
//! println!("{}", outcome.text);
//! hub.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! In: a [`Config`], read from the `mcpServers` files of other clients, and calls. Out: one catalog
//! of all servers, outcomes, and the status of each server. [`Hub::builder`] configures a [`Hub`],
//! which is a [`Toolbox`](toolgraft::route::Toolbox); connecting starts all servers concurrently
//! and lists their tools, resources and prompts. A server that is missing, slow, broken or dead has
//! a [`ServerStatus`] with an error, and a call to it has an outcome that says so.
//!
//! A server that has exited is started again by the next call that needs it; one whose lists have
//! changed is listed again. [`Hub::states`] reports both. [`Hub::switch`] and [`Hub::switch_tools`]
//! switch servers and tools off for a while; [`Hub::log`] has the latest lines of a server's log.
//! [`HubBuilder::wire`] shows the messages in both directions.
//!
//! The path of a call:
//!
//! ```text
//! Invocation ─▶ hub: which server has the tool?
//!                └▶ server: is it there? else its actor starts it
//!                    └▶ connection: a permit, a request with a deadline
//!                        └▶ transport: bytes out, bytes in, messages
//! Outcome ◀─ content ◀─ answer ◀──────┘
//! ```
//!
//! `config` is below all three; hub, server and transport each know only the layers below them.
//!
//! A server that asks the user for input while a tool runs (elicitation) is answered by the
//! program's [`Elicitor`]. Without one, servers are told that nobody can be asked. Out of scope: sampling, roots.
//!
//! If a server over HTTP needs a login, the hub uses one that is stored in [`Logins`]; [`Login`]
//! makes one with a user at a browser (OAuth 2.1).

#[macro_use]
mod setters;

mod auth;
mod config;
mod environment;
mod failure;
mod hub;
mod server;
mod transport;

pub use auth::{LoggedOut, Login, LoginError, Logins};
pub use config::{
    Config, ConfigError, EntryError, Environment, GrantType, HttpTransport, OAuthConfig, ServerConfig, TransportConfig,
};
pub use hub::{Hub, HubBuilder};
pub use server::{
    DEFAULT_CALL_TIMEOUT, DEFAULT_CONNECT_TIMEOUT, Elicitor, FieldChoice, FieldError, FieldKind, Form, FormField,
    InputAnswer, InputKind, InputRequest, MAX_CALL, MAX_CALLS, MAX_START, MEDIA_EVENT, META_EVENT, McpError, McpPrompt,
    PromptArgument, PromptMessage, RequestError, Retry, ServerEvent, ServerEventKind, ServerState, ServerStatus, Start,
    ToolState, USER_EVENT,
};
pub use transport::log::{LOG_BYTES, LOG_LINES, LogLine};
pub use transport::stdio::{ProcessMark, STDERR_TAIL, is_inherited};
pub use transport::wire::{WireMessage, WireSide};

/// Configuration, states and logins of servers, and the handling of each fault.
///
/// [performance.md#the-mcp-hub]: https://github.com/toolgraft/toolgraft/blob/main/docs/performance.md#the-mcp-hub
///
#[cfg(doc)]
#[doc = include_str!("../docs/mcp.md")]
pub mod guide {
    /// Running an agent inside a program.
    ///
    /// [agent.md]: https://docs.rs/toolgraft/latest/toolgraft/guide/agent/index.html
    /// [events.md]: https://docs.rs/toolgraft/latest/toolgraft/guide/events/index.html
    /// [mcp.md#a-program-that-answers]: crate::guide#a-program-that-answers
    /// [models.md]: https://docs.rs/toolgraft/latest/toolgraft/guide/models/index.html
    ///
    #[doc = include_str!("../docs/embedding.md")]
    pub mod embedding {}
}

/// Compiles the example program of the README as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FirstPage;
