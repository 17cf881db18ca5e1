//! Streamed text in; text, reasoning and calls out.
//!
//! A [`Parser`] takes a model's text in pieces of any size and emits every byte in exactly one [`Event`](crate::Event),
//! as soon as it is known what the byte is. Chunk boundaries never matter, a call that the stream cut off never is a
//! call, and time is linear in the input. It authorises nothing: whoever runs a call decides about it first.
//!
//! Out of scope: checking arguments against a schema, and running calls.
//!
//! The path of a chunk through the modules:
//!
//! ```text
//!   push(chunk)
//!     │  nothing may begin or end in it: one event (`text/fast_path`)
//!     ▼
//!   text/  between calls ── `<`, `[`, line start ──▶ marks/   what may begin there?
//!     │                                              tables/  what does this configuration know?
//!     │ an opener, and what must follow it
//!     ▼
//!   text/open  the open call: limit, fast path, policy
//!     │  asks for the next step
//!     ▼
//!   shape/  how the text of one dialect family looks ──▶ call/  what shapes share: steps, JSON
//!     │  a call, an end, or text
//!     ▼
//!   emit/ what waits for a decision, the verdict, events in order ──▶ sink(Event)
//! ```
//!
//! Imports go one way: `marks` < `tables` < `emit` < `call` < `shape` < `text`. What a
//! text looks like is data in [`dialect`](crate::dialect); a further dialect of a known
//! shape changes nothing here (see `CONTRIBUTING.md`), a further shape is a file in
//! `shape/` and a line in its list. The laws that all of this keeps are in
//! `docs/parser.md`; each file of `shape/` and `text/` draws its states.
//!
//! ```
//! use toolgraft::Parser;
//! use toolgraft::event::Collector;
//! use toolgraft::message::FinishReason;
//! use toolgraft::parse::Config;
//!
//! let mut parser = Parser::new(Config::default());
//! let mut message = Collector::new();
//! for chunk in [
//!     "Let me look.\n<use_mcp",
//!     "_tool><server_name>web</server_name><tool_name>search</tool_",
//!     "name><arguments>{\"query\": \"rust\"}</arguments></use_mcp_tool>",
//! ] {
//!     parser.push(chunk, &mut |event| message.push(event));
//! }
//! parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
//!
//! let message = message.finish();
//! assert_eq!(message.content, "Let me look.\n");
//! let call = message.calls().next().unwrap();
//! assert_eq!((call.tool.as_str(), &call.arguments["query"]), ("search", &"rust".into()));
//! ```

mod call;
mod config;
mod emit;
mod marks;
mod near;
pub(crate) mod parser;
mod shape;
mod tables;
mod text;
mod values;

pub use config::{Config, HOLD_SLACK, Limits, MAX_CALL_BYTES, MAX_CALLS, MAX_DEPTH, MIN_HOLD, OPENINGS_PER_CALL};
pub use emit::not_a_call::{NotACall, NotACallReason};
pub(crate) use marks::names::KnownNames;
pub(crate) use parser::Parser;
pub(crate) use tables::openers::{KnownMarks, without_marks};
pub use tables::openers::{Opener, OpenerKind};
#[cfg(feature = "agent")]
pub(crate) use values::read_value;
pub use values::{FoundValue, FoundValues, NoValue, find_values};

use crate::event::Assembled;

/// Parses a whole text, through the same path as a stream. For many texts, [`Parser::parse`] sets up the configuration
/// only once.
pub fn parse(text: &str, config: Config) -> Assembled {
    Parser::new(config).whole(text)
}
