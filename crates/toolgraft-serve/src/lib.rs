//! A server for clients of OpenAI, Anthropic, Google and Ollama in front of any model: what a client
//! sends as `tools` is taught by the prompt where the endpoint does not take it, what the model
//! writes comes back as `tool_calls`.
//!
//! ```text
//! client ─▶ doors ─▶ request ─▶ history, prepared ─▶ exchange ◀─▶ turn
//!                                                     │  ▲
//!                                     request, call   ▼  │  model's events, outcomes
//!                                                    drive ◀─▶ endpoint, toolbox
//!                                                     │
//! client ◀───────────── chat ◀── pieces of the answer ┘
//! ```
//!
//! - `doors`: who may come in, with what.
//! - `request`, `history`: what is asked; calls and results of the client's history as text.
//! - `learned`: what is known of the endpoint beyond the end of the program.
//! - `native`: the same history for an endpoint that takes tools.
//! - `own_words`: what the person said, without what a client puts beside it.
//! - `told`: what messages of a history became, found again by their hash.
//! - `kept`: what rounds that a client did not see brought, until it comes back.
//! - `seal`: identifiers that carry whose they are and what they stand behind.
//! - `budgets`, `held`: what all requests may take together, and what each holds of it.
//! - `work`: what takes long, away from the threads that serve.
//! - `prepared`: prompt, parser and schemas of a list of tools, kept for a while.
//! - `exchange`: the request on its way, without I/O; corrects what the model got wrong.
//! - `cost`: what its rounds cost, and what is left for the next.
//! - `drive`, `upstream`: the endpoint, as a model and for what passes through.
//! - `hidden`: the server's keys out of what the endpoint says.
//! - `shape`: what a client's interface has to say; `chat`, `messages`, `responses`,
//!   `gemini`, `ollama`: those that there are.
//! - `waiting`: results of a history and the calls that they are of, without identifiers.
//! - `http`, `listen`: the routes, and a server of its own.
//! - `ready`: whether the endpoint answers.
//! - `repeated`: how much of a request the endpoint got before.
//! - `log`: what a log may say of a request.
//! - `inspect`, `passed`: the last requests as recordings, where they are to be looked at.
//!
//! A request without tools, without calls in its history and without a schema for its
//! answer passes through as it came, and so does its answer.
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
//! Nothing that cannot be taken back is sent: a call goes out whole once its message is over
//! and its arguments are accepted. One that is damaged is corrected with the model in rounds
//! that the client does not see.

#[cfg(feature = "testing")]
mod adapter;
mod answer;
mod asked;
mod budgets;
mod chat;
mod config;
mod cost;
mod doors;
mod drive;
mod elsewhere;
mod exchange;
mod fault;
mod functions;
mod gemini;
mod held;
mod held_open;
mod hidden;
mod history;
mod http;
mod ids;
mod inspect;
mod kept;
mod learned;
mod listen;
mod log;
mod messages;
mod metrics;
mod named;
mod native;
mod ollama;
mod origins;
mod out;
mod own_words;
mod page;
mod passed;
mod permissions;
mod prepared;
mod progress;
mod ready;
mod repeated;
mod request;
mod responses;
mod seal;
mod search;
mod settings;
mod shape;
mod shared;
mod told;
mod upstream;
mod vendor;
mod waiting;
mod way;
mod work;

#[cfg(feature = "testing")]
#[doc(hidden)]
pub use adapter::{Adapter, Piece, Refusal};
pub use answer::{LEFT_OUT_HEADER, ROUNDS_HEADER, USAGE_HEADER};
pub use budgets::Budgets;
pub use config::{Config, DRAIN, KEEP_ALIVE, MAX_BODY, MAX_OWN_CALLS, READ_TIMEOUT};
pub use http::router;
pub use inspect::{INSPECTED, INSPECTED_BYTES, Inspected, Inspector};
pub use kept::{KEPT_BYTES, KEPT_FOR};
pub use learned::{Learned, Taught};
pub use listen::{ServeError, Server};
pub use log::Served;
pub use prepared::CACHED_LISTS;
pub use repeated::PromptCost;
pub use search::SearchTool;
pub use settings::ModelSettings;

/// Settings of clients, interfaces, limits, and what is promised of each.
///
/// [models.md]: https://docs.rs/toolgraft/latest/toolgraft/guide/models/index.html
///
#[cfg(doc)]
#[doc = include_str!("../docs/serve.md")]
pub mod guide {}

/// The first page's program.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FirstPage;
