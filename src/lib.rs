//! Tool calling for language models that have none: prompt, parser, agent, MCP.
//!
//! A template teaches the model a call syntax and lists the tools; an incremental parser finds the calls in the
//! streamed text, reasoning sections included; they run on MCP servers or in functions of the program; the results go
//! back to the model, round after round, until it answers.
//!
#![cfg_attr(feature = "client", doc = "```no_run")]
#![cfg_attr(not(feature = "client"), doc = "```ignore")]
//! use std::io::Write;
//!
//! use futures::StreamExt;
//! use serde_json::{Map, Value};
//! use toolgraft::{Agent, AgentEvent, Functions, OpenAi, Policy, Tool};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = OpenAi::new("http://localhost:11434/v1", "qwen3:4b")?;
//! let clock = Functions::new("clock").with(
//!     Tool::new("now").with_description("The seconds since 1970."),
//!     |_: Map<String, Value>| async {
//!         let since = std::time::SystemTime::UNIX_EPOCH.elapsed()?;
//!         Ok::<_, std::time::SystemTimeError>(Value::from(since.as_secs()))
//!     },
//! );
//! let agent = Agent::builder(model, clock).policy(Policy::default().allow("clock.*")).build();
//!
//! let mut run = agent.run("What time is it?")?;
//! while let Some(event) = run.next().await {
//!     if let AgentEvent::Text { text } = event {
//!         print!("{text}");
//!         std::io::stdout().flush()?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A program that only has to find the calls in a model's text needs no feature:
//!
//! ```
//! use toolgraft::event::Collector;
//! use toolgraft::message::FinishReason;
//! use toolgraft::{Event, Parser, parse};
//!
//! let mut parser = Parser::new(parse::Config::default());
//! let mut message = Collector::new();
//! for chunk in ["Let me look. <tool_", "call>{\"name\": \"search\", \"argu", "ments\": {\"query\": \"rust\"}}</tool_call>"] {
//!     parser.push(chunk, &mut |event| {
//!         if let Event::Text { text, .. } = &event {
//!             print!("{text}");
//!         }
//!         message.push(event);
//!     });
//! }
//! parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
//! let message = message.finish();
//! assert_eq!(message.calls().next().unwrap().arguments["query"], "rust");
//! ```
//!
//! # Where to start
//!
//! | to | use |
//! |---|---|
//! | find the calls in a model's text | [`Parser`], [`event::Collector`] |
//! | describe tools | [`Tool`], [`Catalog`] |
//! | run the whole loop | `Agent`, with a `Model` (`OpenAi`, `transcript::Recorded`) and a `route::Toolbox` (`Functions`, or the `Hub` of `toolgraft-mcp`) |
//! | decide which calls may run | `Policy` |
//! | keep and show a conversation | [`Conversation`] |
//! | write the system prompt | `prompt::Prompt` |
//! | check arguments | `validate::Validator` |
//! | read and write calls as OpenAI, Anthropic and Gemini do | [`wire`] |
//! | hold a model's answer to the form of a call | [`constrain`] |
//! | give a model tool calling for any client | the crate `toolgraft-serve`; without I/O `toolgraft-protocol` |
//! | record and replay a model | [`transcript`] |
//!
//! The guides are in `guide`: the agent, its events, the parser, models, the prompt, recordings.
//!
//! # How the data flows
//!
//! ```text
//! catalog → prompt → model stream → parse → validate → route → outcome → conversation → model …
//! ```
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | none | vocabulary, catalog, dialects, parser, conversation, recordings |
//! | `prompt` | system prompt and results message (minijinja) |
//! | `validate` | arguments against JSON Schema (jsonschema) |
//! | `agent` | turn, agent, in-process functions (tokio); brings the two above |
//! | `typed` | functions whose arguments are a struct, JSON Schemas of the events (schemars); brings `agent` |
//! | `client` | models at OpenAI-compatible endpoints (reqwest); brings `agent` |
//!
//! No feature is on by default. MCP servers are in `toolgraft-mcp`, the server for clients of
//! OpenAI, Anthropic, Google and Ollama in `toolgraft-serve`; the program `toolgraft` is the package
//! `toolgraft-cli`.
//!
//! # What it changes in your program
//!
//! This crate turns on two features of `serde_json`, and Cargo turns them on for every
//! crate of a program that has it:
//!
//! - `preserve_order`: a [`serde_json::Map`] keeps its keys in the order in which they came,
//!   where it would sort them otherwise. Two maps are still equal in any order of keys; `remove`
//!   moves the last key into the gap, `shift_remove` does not.
//! - `float_roundtrip`: a number with a fraction is read as exactly the nearest `f64`,
//!   at about half the speed.
//!
//! # Three kinds of failure
//!
//! The caller's mistake is an `Err`. The model's mistake is data: an event,
//! then text that helps the model to mend it. A tool's failure is an
//! [`Outcome`] that the model reads. [`Error`] takes every error of this crate.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "agent")]
pub mod budget;
mod cause;
pub mod constrain;
pub mod conversation;
pub mod dialect;
mod error;
pub mod event;
#[cfg(doc)]
pub mod guide;
#[cfg(feature = "client")]
pub mod http;
mod json;
pub mod message;
#[cfg(feature = "agent")]
pub mod model;
pub mod outcome;
pub mod parse;
#[cfg(feature = "prompt")]
pub mod prompt;
#[cfg(feature = "agent")]
pub mod route;
pub mod secrets;
#[cfg(feature = "agent")]
pub mod spans;
mod template;
pub mod tools;
pub mod transcript;
#[cfg(feature = "agent")]
pub mod turn;
#[cfg(feature = "validate")]
pub mod validate;
pub mod wire;

pub use cause::Cause;

// The names that a first program uses. Each has exactly one path here; the modules have the rest.
#[cfg(feature = "agent")]
pub use agent::handle::Agent;
pub use conversation::history::Conversation;
pub use dialect::known::Dialect;
pub use error::Error;
pub use event::call::Call;
pub use event::stream::Event;
pub use message::chat::Message;
#[cfg(feature = "agent")]
pub use model::interface::Model;
#[cfg(feature = "client")]
pub use model::openai::OpenAi;
pub use outcome::answer::Outcome;
pub use parse::parser::Parser;
#[cfg(feature = "agent")]
pub use route::functions::Functions;
pub use tools::catalog::Catalog;
#[cfg(feature = "agent")]
pub use tools::policy::Policy;
pub use tools::tool::Tool;
#[cfg(feature = "agent")]
pub use turn::event::AgentEvent;

/// The READMEs' programs, compiled and run as documentation tests.
#[cfg(all(doctest, feature = "agent"))]
mod readme {
    #[doc = include_str!("../README.md")]
    struct English;
    #[doc = include_str!("../README.zh-CN.md")]
    struct Chinese;
}
