//! A server for clients of OpenAI, Anthropic, Google and Ollama in front of any model: tools that a
//! client sends are described in the prompt where the endpoint does not take them, and calls that
//! the model writes are returned as `tool_calls`.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use toolgraft_serve::{Config, Server};
//!
//! let config = Config::new("http://localhost:11434/v1")?.with_model("gemma3:12b");
//! let server = Server::bind(config, "127.0.0.1:8787").await?;
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! A request without tools, without calls in its history and without a schema for its answer passes
//! through unchanged, and so does its answer.
//!
//! Nothing is sent that may have to be taken back: a call is sent whole once its message is over
//! and its arguments are accepted. A damaged call is corrected with the model in rounds that the
//! client does not see.
//!
//! [toolgraft_protocol] reads requests, writes answers and has the exchange between; this crate moves the bytes:
//!
//! ```text
//! client ─▶ access ─▶ routes ─▶ ChatRequest ─▶ Exchange
//!                                               │  ▲
//!                               request, call   ▼  │  model's events, outcomes
//!                                              drive ◀─▶ upstream, toolbox
//!                                               │
//! client ◀─────────────── routes ◀── Writer ◀── pieces of the answer
//! ```
//!
//! - `access`: checks a request's host, origin, key, type and body, and the budgets for all requests together.
//! - `routes`: the routes, a server that listens, and `drive`, which connects an exchange with the endpoint.
//! - `upstream`: the endpoint, facts about it that outlast the program's run, and answers without the server's keys.
//! - `inspection`: recordings of the last requests.
//! - `metrics`: counters, the log entry of a request, and how much of a prompt the endpoint was sent before.

mod access;
mod config;
mod inspection;
mod metrics;
mod routes;
mod upstream;

pub use access::budgets::Budgets;
pub use access::settings::{MAX_BODY, READ_TIMEOUT};
pub use config::{Config, DRAIN, KEEP_ALIVE};
pub use inspection::inspector::{INSPECTED, INSPECTED_BYTES, Inspected, Inspector};
pub use metrics::log::Served;
pub use metrics::prompt_cost::PromptCost;
pub use routes::{LEFT_OUT_HEADER, ROUNDS_HEADER, SearchTool, ServeError, Server, USAGE_HEADER, router};
pub use toolgraft_protocol::{CACHED_LISTS, KEPT_BYTES, KEPT_FOR, MAX_OWN_CALLS, ModelSettings};
pub use upstream::endpoint_facts::{Learned, Taught};

/// Settings of clients, interfaces, limits, and what is guaranteed for each.
///
/// [models.md]: https://docs.rs/toolgraft/latest/toolgraft/guide/models/index.html
///
#[cfg(doc)]
#[doc = include_str!("../docs/serve.md")]
pub mod guide {}

/// Runs the code examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FirstPage;
