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
//! The path of a request:
//!
//! ```text
//! client ─▶ admission ─▶ request ─▶ history, prepared ─▶ exchange ◀─▶ turn
//!                                                         │  ▲
//!                                         request, call   ▼  │  model's events, outcomes
//!                                                        drive ◀─▶ endpoint, toolbox
//!                                                         │
//! client ◀───────────────── chat ◀── pieces of the answer ┘
//! ```
//!
//! - `admission`: checks a request's host, origin, key, type and body.
//! - `request`, `history`: the client's request; calls and results of its history as text.
//! - `endpoint_facts`: facts about the endpoint that outlast the program's run.
//! - `native`: the same history for an endpoint that takes tools.
//! - `own_words`: the user's own words, without what a client adds.
//! - `text_cache`: rendered messages of histories, found again by their hash.
//! - `store`: messages of rounds that a client did not see, until it sends its results.
//! - `seal`: signed identifiers, which carry their client and a mark for text of third parties.
//! - `budgets`, `reservation`: limits for all requests together, and each request's share.
//! - `prepared`: prompt, parser and schemas for a list of tools, cached for a while.
//! - `exchange`: a request in progress, without I/O; corrects the model's mistakes.
//! - `cost`: token accounting of an answer's rounds.
//! - `adapter`: an exchange for programs that send the requests themselves: the packages for Python and Node.
//! - `drive`, `upstream`: the endpoint, as a model and for requests that are passed through.
//! - `redaction`: removes the server's keys from the endpoint's answers.
//! - `shape`: the trait of client interfaces; `chat`, `messages`, `responses`, `gemini`, `ollama`:
//!   its implementations.
//! - `pending_calls`: matches results of a history to calls without identifiers.
//! - `http`, `listen`: the routes, and a server that listens.
//! - `ready`: checks that the endpoint answers.
//! - `prompt_cost`: measures how much of a request the endpoint was sent before.
//! - `log`: the log entry of a request.
//! - `inspect`, `passthrough`: recordings of the last requests.

mod adapter;
mod admission;
mod answer;
mod ask_settings;
mod budgets;
mod chat;
mod config;
mod cost;
mod drive;
mod endpoint_facts;
mod exchange;
mod fault;
mod functions;
mod gemini;
mod history;
mod http;
mod ids;
mod inspect;
mod keep_open;
mod listen;
mod log;
mod messages;
mod metrics;
mod missing_routes;
mod native;
mod ollama;
mod origins;
mod out;
mod own_words;
mod page;
mod passthrough;
mod pending_calls;
mod permissions;
mod prepared;
mod progress;
mod prompt_cost;
mod ready;
mod redaction;
mod request;
mod reservation;
mod responses;
mod seal;
mod search;
mod settings;
mod shape;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod text_cache;
mod tool_names;
mod upstream;
mod vendor;

#[doc(hidden)]
pub use adapter::{Adapter, Embedded, Refusal};
pub use answer::{LEFT_OUT_HEADER, ROUNDS_HEADER, USAGE_HEADER};
pub use budgets::Budgets;
pub use config::{Config, DRAIN, KEEP_ALIVE, MAX_BODY, MAX_OWN_CALLS, READ_TIMEOUT};
pub use endpoint_facts::{Learned, Taught};
pub use http::router;
pub use inspect::{INSPECTED, INSPECTED_BYTES, Inspected, Inspector};
pub use listen::{ServeError, Server};
pub use log::Served;
pub use prepared::CACHED_LISTS;
pub use prompt_cost::PromptCost;
pub use search::SearchTool;
pub use settings::ModelSettings;
pub use store::{KEPT_BYTES, KEPT_FOR};

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
