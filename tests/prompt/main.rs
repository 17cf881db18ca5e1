//! What helps a model to write a call. The prompt: what it says of the tools of real servers, and
//! what its page says of it. Grammars of calls: what they allow is read, and what is written is
//! allowed.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod describe_tool;
#[cfg(feature = "prompt")]
mod examples;
#[cfg(feature = "agent")]
mod find_tool;
#[cfg(feature = "prompt")]
mod frames;
mod gbnf;
mod grammar;
#[cfg(feature = "prompt")]
mod prompt;
#[cfg(feature = "client")]
mod prompt_docs;
#[cfg(feature = "agent")]
mod read_result;
#[cfg(feature = "prompt")]
mod repeated;
mod schemas;
#[cfg(feature = "agent")]
mod search;
#[cfg(feature = "agent")]
mod templates;
mod tongues;
