//! Tool calling for language models that have none.
//!
//! A template teaches the model a call syntax and lists the tools of its MCP
//! servers; an incremental parser pulls the calls out of the streamed text,
//! reasoning sections included; a router sends them to MCP servers or to
//! functions; the results go back to the model, round after round, until it
//! answers.
//!
//! ```text
//! catalog → prompt → model stream → parse → validate → route → outcome → conversation → model …
//! ```
//!
//! # Where to start
//!
//! | to | use |
//! |---|---|
//! | find the calls in a model's text | [`parse::Parser`], [`assemble::Collector`] |
//! | describe tools | [`tool::Tool`], [`catalog::Catalog`] |
//! | write the system prompt | `prompt::Prompt` |
//! | check arguments | `validate::Validator` |
//! | run the whole loop | `agent::Agent` |
//! | talk to a model | `model::OpenAi`, or any other `model::Model` |
//! | connect to MCP servers | `route::mcp::Hub` |
//! | read and write calls as OpenAI, Anthropic and Gemini do | [`wire`] |
//! | record and replay a model | [`transcript`] |
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | none | vocabulary, catalog, dialects, parser, conversation, recordings |
//! | `prompt` | system prompt and results message (minijinja) |
//! | `validate` | arguments against JSON Schema (jsonschema) |
//! | `agent` | turn, agent, in-process functions (tokio); brings the two above |
//! | `client` | models behind OpenAI-compatible endpoints (reqwest); brings `agent` |
//! | `mcp` | MCP over stdio and streamable HTTP (rmcp, reqwest); brings `agent` |
//!
//! No feature is on by default. The program `toolgraft` is the package `toolgraft-cli`.
//!
//! # Three kinds of failure
//!
//! The caller's mistake is an `Err`. The model's mistake is data: an event,
//! then text that helps the model to mend it. A tool's failure is an
//! [`Outcome`](outcome::Outcome) that the model reads.

#[cfg(feature = "agent")]
pub mod agent;
pub mod assemble;
pub mod call;
pub mod catalog;
pub mod conversation;
pub mod dialect;
pub mod error;
pub mod event;
pub mod message;
#[cfg(feature = "agent")]
pub mod model;
pub mod outcome;
pub mod parse;
#[cfg(feature = "agent")]
pub mod policy;
pub mod profile;
#[cfg(feature = "prompt")]
pub mod prompt;
pub mod reasoning;
#[cfg(feature = "agent")]
pub mod route;
pub mod secrets;
pub mod tokens;
pub mod tool;
pub mod transcript;
#[cfg(feature = "agent")]
pub mod turn;
#[cfg(feature = "validate")]
pub mod validate;
pub mod wire;

pub use error::Error;

/// The READMEs' programs, compiled and run as documentation tests.
#[cfg(all(doctest, feature = "agent"))]
mod readme {
    #[doc = include_str!("../README.md")]
    struct English;
    #[doc = include_str!("../README.zh-CN.md")]
    struct Chinese;
}
