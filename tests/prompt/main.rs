//! Everything that helps a model to write a call. The prompt: its text for the tools of real
//! servers, and its documentation. Grammars of calls: allowed texts are parsed, and written calls
//! are allowed.

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
#[cfg(feature = "prompt")]
mod told;
mod tongues;
