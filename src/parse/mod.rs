//! Streamed text in; text, reasoning and calls out.
//!
//! A [`Parser`] takes a model's text in pieces of any size and hands every
//! byte on in exactly one [`Event`], as soon as it is known what the byte is.
//! How the text was cut never matters, a call that the stream cut off never is
//! a call, and time is linear in the input. It authorises nothing: whoever
//! runs a call decides about it first.
//!
//! Out of scope: checking arguments against a schema, and running calls.
//!
//! ```
//! use toolgraft::assemble::Collector;
//! use toolgraft::message::FinishReason;
//! use toolgraft::parse::{Config, Parser};
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

mod arguments;
mod bare;
mod body;
mod bytes;
mod calm;
mod config;
mod element;
mod emit;
mod envelope;
mod given_back;
mod head;
mod json;
mod line;
mod named;
mod names;
mod objects;
mod open;
mod python;
mod react;
mod scan;
mod signs;
mod tables;
mod tentative;
mod tool_tag;
mod values;
mod verdict;
mod window;

use std::fmt;
use std::sync::Arc;

pub use config::{Config, HOLD_SLACK, Limits, MAX_CALL_BYTES, MAX_CALLS, MAX_DEPTH, MIN_HOLD};
pub use given_back::{GivenBack, NoCall};
pub use values::{FoundValue, FoundValues, NoValue, find_values};

use crate::assemble::{Assembled, Collector};
use crate::event::Event;
use crate::message::FinishReason;
use calm::Calm;
use scan::Scanner;
use signs::Plain;
use tables::Tables;
use window::{Window, ceil_boundary};

/// While bytes are held, a large chunk is taken in pieces of this size, so that
/// only what is needed for a decision is copied.
const PIECE: usize = 256;

/// The same in a call, which holds all of its bytes: what follows it is not copied.
const CALL_PIECE: usize = 64 << 10;

/// A buffer that a call made larger than this is given back behind it: the text
/// that follows may go on for days.
const MOST_KEPT: usize = 16 << 10;

/// An incremental parser of one message of a model; see the module.
pub struct Parser {
    scanner: Scanner,
    /// Bytes that are not yet decided about, or that an open call still needs.
    held: String,
    /// Offset of the first byte of `held`.
    base: u64,
    /// Set while text is handed on without the scanner.
    calm: Option<Calm>,
    /// Where text is escaped that is handed on so.
    scratch: String,
}

impl Parser {
    /// A parser at the start of a message.
    pub fn new(config: Config) -> Self {
        Parser::of(Arc::new(Tables::new(config)))
    }

    /// A further parser of the same configuration, at the start of a message.
    /// Cheaper than [`new`](Self::new) where many tools are known.
    #[must_use]
    pub fn fork(&self) -> Self {
        Parser::of(self.scanner.tables().clone())
    }

    fn of(tables: Arc<Tables>) -> Self {
        Parser { scanner: Scanner::new(tables), held: String::new(), base: 0, calm: None, scratch: String::new() }
    }

    /// Parses a whole text that ended normally, through the same path as a stream and
    /// whatever this parser is in the middle of. What the configuration knows is set up
    /// already, which is most of the work where many tools are known.
    ///
    /// ```
    /// use toolgraft::parse::{Config, Parser};
    ///
    /// let parser = Parser::new(Config::default());
    /// let answer = parser.parse("Sure. <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>");
    /// assert_eq!((answer.content.as_str(), answer.calls().count()), ("Sure. ", 1));
    /// ```
    pub fn parse(&self, text: &str) -> Assembled {
        self.fork().whole(text)
    }

    fn whole(mut self, text: &str) -> Assembled {
        let mut collector = Collector::new();
        self.push(text, &mut |event| collector.push(event));
        self.finish(&FinishReason::Stop, &mut |event| collector.push(event));
        collector.finish()
    }

    /// Takes the next piece of the answer's text.
    #[inline]
    pub fn push(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        self.take(false, chunk, sink);
    }

    /// Takes the next piece of a separate reasoning field (`reasoning_content`,
    /// `reasoning`). What is open in the other channel ends here.
    pub fn push_reasoning(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        self.take(true, chunk, sink);
    }

    #[inline]
    fn take(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        match &mut self.calm {
            Some(Calm::Text(text)) if text.reasoning_channel == reasoning && text.is_plain(chunk) => {
                text.hand_on(chunk, sink);
            }
            _ => self.look_at(reasoning, chunk, sink),
        }
    }

    /// Takes a chunk that is more than plain text, or may be.
    fn look_at(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        if chunk.is_empty() {
            return;
        }
        let plain = match &mut self.calm {
            Some(Calm::Text(text)) if text.reasoning_channel == reasoning => {
                match text.pass(chunk, &self.scanner.tables().signs, sink) {
                    Ok(()) => return,
                    Err(found) => Some(found),
                }
            }
            Some(Calm::Value(value)) if value.reasoning_channel == reasoning => {
                let passes = value.passes(chunk, |at| self.scanner.read_on_in_call(at, chunk));
                if passes {
                    value.hand_on(chunk, &mut self.scratch, sink);
                    return self.held.push_str(chunk);
                }
                None
            }
            _ => None,
        };
        self.read(reasoning, chunk, plain, sink);
    }

    /// Ends the message. Afterwards only [`reset`](Self::reset) makes sense.
    pub fn finish(&mut self, reason: &FinishReason, sink: &mut impl FnMut(Event<'_>)) {
        self.drain(sink);
        self.scanner.finish(reason.is_normal(), sink);
    }

    /// Back to the start of a new message; configuration and buffers are kept.
    pub fn reset(&mut self) {
        let given_back = self.scanner.given_back.take();
        self.scanner = Scanner::new(self.scanner.tables().clone());
        self.scanner.given_back = given_back.map(|_| Vec::new());
        self.let_go(self.held.len());
        self.base = 0;
        self.calm = None;
    }

    /// Keeps from now on what is [given back](Self::given_back), which grows with the message.
    pub fn keep_given_back(&mut self) {
        self.scanner.given_back.get_or_insert_default();
    }

    /// What was held in this message as calls without a marker and is text after
    /// all, in order, and why; nothing unless it is [kept](Self::keep_given_back).
    pub fn given_back(&self) -> &[GivenBack] {
        self.scanner.given_back.as_deref().unwrap_or_default()
    }

    /// Takes a chunk in which something may begin behind `plain`, or that comes
    /// while it matters what came before.
    fn read(&mut self, reasoning: bool, chunk: &str, plain: Option<Plain>, sink: &mut dyn FnMut(Event<'_>)) {
        self.wake(plain);
        if self.scanner.channel_changes(reasoning) {
            self.drain(sink);
            self.scanner.change_channel(reasoning);
        }
        self.feed(chunk, sink);
        // `wake` left nothing; mostly that stays so.
        if let Some(calm) = self.scanner.calm(self.base + self.held.len() as u64) {
            self.calm = Some(calm);
        }
    }

    /// Tells the scanner what was handed on without it, and what was looked at.
    fn wake(&mut self, plain: Option<Plain>) {
        match self.calm.take() {
            Some(Calm::Text(text)) => {
                self.base = text.at;
                self.scanner.go_on(text, plain.unwrap_or(Plain { length: 0, line_start: text.line_start }));
            }
            Some(Calm::Value(value)) => self.scanner.go_on_in_call(value.at),
            None => {}
        }
    }

    /// Decides about everything that is held: nothing more follows it.
    fn drain(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        self.wake(None);
        let window = Window { text: &self.held, base: self.base, more: false };
        self.scanner.run(&window, sink);
        self.scanner.close(&window, sink);
        self.base = window.end();
        self.let_go(self.held.len());
    }

    /// Drops bytes that are no longer needed from the front of what is held.
    fn let_go(&mut self, bytes: usize) {
        match bytes == self.held.len() {
            true => self.held.clear(),
            false => drop(self.held.drain(..bytes)),
        }
        if self.held.capacity() > MOST_KEPT && self.held.len() < MOST_KEPT {
            self.held.shrink_to(MOST_KEPT);
        }
    }

    fn feed(&mut self, mut chunk: &str, sink: &mut dyn FnMut(Event<'_>)) {
        while !chunk.is_empty() {
            // While nothing is held, the chunk is read where it is.
            let in_place = self.held.is_empty();
            let piece = match in_place {
                true => chunk.len(),
                false => ceil_boundary(chunk, if self.scanner.in_call() { CALL_PIECE } else { PIECE }),
            };
            let (text, rest) = chunk.split_at(piece);
            chunk = rest;
            if !in_place {
                self.held.push_str(text);
            }
            let window = Window { text: if in_place { text } else { &self.held }, base: self.base, more: true };
            let keep_from = self.scanner.run(&window, sink);
            let used = (keep_from - self.base) as usize;
            self.base = keep_from;
            if in_place {
                self.held.push_str(&text[used..]);
            } else if used > 0 {
                self.let_go(used);
            }
        }
    }
}

impl fmt::Debug for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = self.calm.map_or(self.base, |calm| calm.at());
        f.debug_struct("Parser").field("offset", &offset).field("held", &self.held.len()).finish_non_exhaustive()
    }
}

/// Parses a whole text, through the same path as a stream. For many texts
/// [`Parser::parse`] sets the configuration up once.
pub fn parse(text: &str, config: Config) -> Assembled {
    Parser::new(config).whole(text)
}

#[cfg(test)]
mod tests;
