//! The chat APIs of OpenAI, Anthropic, Google and Ollama in front of any model, without I/O: tools that a client sends
//! are described in the prompt where the endpoint does not take them, and calls that the model writes are returned in
//! the client's own form. `toolgraft-serve` is the server made of it; this crate is for programs that send the requests
//! to the endpoint themselves.
//!
//! ```
//! use serde_json::json;
//! use toolgraft_protocol::{Adapter, Settings};
//!
//! let weather = json!({"type": "function", "function": {"name": "weather"}});
//! let messages = json!([{"role": "user", "content": "Weather in Oslo?"}]);
//! let asked = json!({"model": "gemma3:12b", "messages": messages, "tools": [weather]});
//! let mut adapter = Adapter::new(&Settings::default(), asked)?;
//! // The body for the endpoint has the tool in its prompt.
//! let body = adapter.request().unwrap_or_default();
//! assert!(body.get("tools").is_none() && body["messages"][0]["content"].as_str().unwrap().contains("weather"));
//! # Ok::<(), toolgraft_protocol::Refusal>(())
//! ```
//!
//! Nothing is sent that may have to be taken back: a call is sent whole once its message is over
//! and its arguments are accepted. A damaged call is corrected with the model in rounds that the
//! client does not see.
//!
//! The path of a request:
//!
//! ```text
//! body ─▶ codec ─▶ request ─▶ history, prepared ─▶ exchange ◀─▶ turn
//!                                                   │  ▲
//!                                   request, call   ▼  │  model's events, outcomes
//!                                             the caller ◀─▶ endpoint, toolbox
//!                                                   │
//! client ◀───────────── codec's writer ◀── pieces of the answer
//! ```
//!
//! - `codecs`: the client interfaces. `shape` is their trait, `interfaces` their table.
//! - `body`: the text of a request's body.
//! - `request`, `history`: the client's request; calls and results of its history as text.
//! - `native`: the same history for an endpoint that takes tools.
//! - `own_words`: the user's own words, without what a client adds.
//! - `text_cache`: rendered messages of histories, found again by their hash.
//! - `store`: messages of rounds that a client did not see, until it sends its results.
//! - `seal`: signed identifiers, which carry their client and a mark for text of third parties.
//! - `settings`, `ask_settings`: the settings of a server, and those with which one model is asked.
//! - `permissions`: which calls of the toolbox may run.
//! - `prepared`: prompt, parser and schemas for a list of tools, cached for a while.
//! - `exchange`: a request in progress; corrects the model's mistakes.
//! - `out`, `fault`: pieces of an answer and the reasons for none, in no client's form.
//! - `cost`, `progress`: token accounting of an answer's rounds, and how far it is.
//! - `adapter`: an exchange with its codec, for programs that send the requests themselves.

mod adapter;
mod ask_settings;
mod body;
mod codecs;
mod cost;
mod exchange;
mod fault;
mod history;
mod ids;
mod native;
mod out;
mod own_words;
mod permissions;
mod prepared;
mod progress;
mod request;
mod seal;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod text_cache;
mod tool_names;

pub use adapter::{Adapter, Embedded, Refusal};
pub use ask_settings::{AskSettings, ModelFacts, ServedModel};
pub use body::parse;
pub use codecs::{
    GOOGLE_KEY, Hosted, INTERFACES, Interface, Link, OLLAMA_PATHS, Places, Read, Results, Shape, Writer, is_doubled,
    shape_of, usage_text,
};
pub use exchange::{Exchange, RenderedRequest, Step};
pub use fault::Fault;
pub use ids::{new_id, utc};
pub use out::{Collected, Finish, Out};
pub use permissions::Permissions;
pub use prepared::{CACHED_LISTS, Cache, Offered, PREPARED_BYTES, Prepared};
pub use progress::Progress;
pub use request::{ChatRequest, LARGE_BODY};
pub use settings::{MAX_OWN_CALLS, ModelSettings, ModelTable, Settings, WITH_TOOLS, without_tools};
pub use store::{ClientStore, KEPT_BYTES, KEPT_FOR, Store};
pub use text_cache::TextCache;

/// Runs the code examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FirstPage;
