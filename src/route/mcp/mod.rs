//! MCP servers as a toolbox: configuration, connections over stdio, streamable HTTP and legacy HTTP+SSE, calls.
//!
//! [`Config`] reads the `mcpServers` files of other clients; [`Hub::connect`]
//! starts all servers side by side and lists what they offer; the [`Hub`] is a
//! [`Toolbox`](super::Toolbox). A server that is missing, slow, broken or dead is
//! a [`ServerStatus`] with an error, and a call to it an outcome that says so.
//!
//! A server that has gone is started anew by the next call that needs it; one
//! whose lists have changed is asked again.
//!
//! Out of scope: OAuth, sampling, roots; of elicitation only a form's defaults can be
//! accepted ([`Elicitation`]).
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use toolgraft::route::mcp::{Config, Hub, Options};
//! use toolgraft::route::{Invocation, Toolbox};
//!
//! let text = std::fs::read_to_string(".mcp.json")?;
//! let config = Config::parse(&text, ".mcp.json", &|name| std::env::var(name).ok())?;
//! let options = Options { environment: std::env::vars_os().collect(), ..Options::default() };
//! let hub = Hub::connect(&config, options).await;
//! for tool in hub.catalog().tools() {
//!     println!("{} of {:?}", tool.name, tool.server);
//! }
//! let outcome = hub.call(Invocation::new("get_current_time")).await;
//! println!("{}", outcome.text);
//! hub.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod answer;
mod config;
mod connection;
mod content;
mod deadlines;
mod elicit;
mod events;
mod handshake;
mod http;
mod hub;
mod listen;
mod listing;
mod message;
mod prompts;
mod request;
mod scan;
mod server;
mod shake;
mod sse;
mod status;
mod stdio;
mod streamable;

pub use config::{Config, ConfigError, Environment, HttpTransport, ServerConfig, TransportConfig};
pub use connection::{MAX_CALL, MAX_CALLS};
pub use content::META_EVENT;
pub use elicit::Elicitation;
pub use hub::{DEFAULT_CALL_TIMEOUT, DEFAULT_CONNECT_TIMEOUT, Hub, Options};
pub use prompts::{McpPrompt, PromptArgument, PromptMessage};
pub use server::{Retry, Start};
pub use status::{ServerState, ServerStatus};
pub use stdio::STDERR_TAIL;
