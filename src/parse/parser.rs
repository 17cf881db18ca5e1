//! The parser: what is held between two chunks, and the way past the scanner.

use std::fmt;
use std::sync::Arc;

use super::config::Config;
use super::emit::not_a_call::NotACall;
use super::marks::lexicon::{Plain, has_no_trigger, has_no_trigger_or_bracket};
use super::near::near_call;
use super::tables::Tables;
use super::tables::openers::Opener;
use super::text::Scanner;
use super::text::fast_path::ChunkWay;
use crate::event::{Assembled, Collector, Entry, Event, RejectedKind};
use crate::json::window::Window;
use crate::message::FinishReason;

/// Length in bytes of the pieces in which a large chunk is read while bytes are held, so that only what is needed for a
/// decision is copied.
const PIECE: usize = 256;

/// Length in bytes of the pieces in which a chunk is read inside a call, all bytes of which are held: the text after it
/// is not copied.
const CALL_PIECE: usize = 64 << 10;

/// Capacity in bytes to which the buffer shrinks after a call made it larger: the text that follows may be long.
const MOST_KEPT: usize = 16 << 10;

/// An incremental parser of one message of a model; see [`parse`](crate::parse).
pub struct Parser {
    scanner: Scanner,
    /// Bytes that are not decided about yet, or that an open call still needs.
    held: String,
    /// Offset in the message of the first byte that is held.
    base: u64,
    /// Path that the next chunk takes: the scanner or a fast path.
    way: ChunkWay,
    /// Buffer in which a verbatim argument is escaped for JSON.
    scratch: String,
}

impl Parser {
    /// Creates a parser at the start of a message.
    pub fn new(config: Config) -> Self {
        let mut tables = Tables::new(config);
        super::shape::add_marks(&mut tables);
        tables.lexicon.seal();
        Parser::of(Arc::new(tables))
    }

    /// Creates a further parser of the same configuration, at the start of a message. Cheaper than [`new`](Self::new)
    /// if many tools are known.
    #[must_use]
    pub fn fork(&self) -> Self {
        Parser::of(self.scanner.tables.clone())
    }

    fn of(tables: Arc<Tables>) -> Self {
        Parser {
            scanner: Scanner::new(tables),
            held: String::new(),
            base: 0,
            way: ChunkWay::Scanner,
            scratch: String::new(),
        }
    }

    /// Parses a whole text that ended normally, through the same path as a stream. The message that this parser is in
    /// the middle of is not affected. The configuration is set up already, which saves time if many tools are known.
    ///
    /// ```
    /// use toolgraft::Parser;
    /// use toolgraft::parse::Config;
    ///
    /// let parser = Parser::new(Config::default());
    /// let answer = parser.parse("Sure. <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>");
    /// assert_eq!((answer.content.as_str(), answer.calls().count()), ("Sure. ", 1));
    /// ```
    pub fn parse(&self, text: &str) -> Assembled {
        self.fork().whole(text)
    }

    pub(super) fn whole(mut self, text: &str) -> Assembled {
        let mut collector = Collector::new();
        self.push(text, &mut |event| collector.push(event));
        self.finish(&FinishReason::Stop, &mut |event| collector.push(event));
        if let Some(near) = self.near_call(&collector) {
            collector.push(near);
        }
        collector.finish()
    }

    /// Parses the next chunk of the answer's text, and passes its events to `sink`.
    #[inline]
    pub fn push(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        self.take(false, chunk, sink);
    }

    /// Parses the next chunk of a separate reasoning field (`reasoning_content`, `reasoning`), and passes its events to
    /// `sink`. A call or a fence that is open in the answer's text ends here.
    pub fn push_reasoning(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        self.take(true, chunk, sink);
    }

    #[inline]
    fn take(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        if self.way.is_on_a_line(reasoning) && has_no_trigger(chunk) {
            return self.push_plain(chunk, sink);
        }
        let is_bracketed = matches!(self.way, ChunkWay::Bracketed) && !self.scanner.channel_changes(reasoning);
        if is_bracketed && has_no_trigger_or_bracket(chunk) {
            return self.push_plain(chunk, sink);
        }
        self.push_slow(reasoning, chunk, sink);
    }

    /// Emits a chunk of plain text inside a line.
    #[inline(always)] // With each chunk.
    fn push_plain(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        if !self.scanner.context.takes(chunk) {
            return self.push_long(chunk, sink);
        }
        self.scanner.emit_plain(chunk, sink);
    }

    /// Emits a chunk of plain text that is long, or comes while the line's buffer is full. It is a function of its own
    /// so that short text does not pay for the registers that this needs.
    #[inline(never)]
    fn push_long(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        self.scanner.context.pass(chunk);
        self.scanner.emit_plain(chunk, sink);
    }

    /// Handles a chunk that is more than plain text, or may be. It is a function of its own so that plain text does not
    /// pay for the registers that this needs.
    #[inline(never)]
    fn push_slow(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        match self.way {
            _ if chunk.is_empty() => {}
            ChunkWay::Value(_) => self.push_value(reasoning, chunk, sink),
            _ if self.scanner.channel_changes(reasoning) => self.read(reasoning, chunk, None, sink),
            ChunkWay::Answer | ChunkWay::Reasoning | ChunkWay::Line | ChunkWay::Bracketed => {
                self.push_text(reasoning, chunk, sink)
            }
            // A longer chunk is taken in pieces.
            ChunkWay::Held if chunk.len() <= PIECE => self.push_held(reasoning, chunk, sink),
            ChunkWay::Held | ChunkWay::Scanner => self.read(reasoning, chunk, None, sink),
        }
    }

    /// Handles a chunk of text while no bytes are held.
    #[inline(never)]
    fn push_text(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        match self.scanner.pass_text(chunk, sink) {
            Ok("") => self.way = self.scanner.way_of_text(),
            Ok(tail) => {
                self.way = ChunkWay::Held;
                self.held.push_str(tail);
            }
            Err(plain) => self.read(reasoning, chunk, Some(plain), sink),
        }
    }

    /// Handles a chunk of a value in the open call.
    #[inline(never)]
    fn push_value(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        if let ChunkWay::Value(value) = &mut self.way
            && value.reasoning_channel == reasoning
            && value.passes(chunk, |at| self.scanner.lex_chunk(at, chunk))
        {
            value.emit(chunk, &mut self.scratch, sink);
            return self.held.push_str(chunk);
        }
        self.read(reasoning, chunk, None, sink);
    }

    /// Handles a chunk after bytes that are held since a delimiter may begin with them.
    #[inline(never)]
    fn push_held(&mut self, reasoning: bool, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        let before = held.len();
        held.push_str(chunk);
        match self.scanner.pass_text(&held, sink) {
            Ok(tail) => {
                self.way = if tail.is_empty() { self.scanner.way_of_text() } else { ChunkWay::Held };
                let passed = held.len() - tail.len();
                held.drain(..passed);
                self.held = held;
            }
            Err(plain) => {
                held.truncate(before);
                self.held = held;
                self.read(reasoning, chunk, Some(plain), sink);
            }
        }
    }

    /// Sets the stop strings of the request that this message answers, for this message, in place of the configured
    /// [`stop`](super::Config::stop).
    pub fn set_stop(&mut self, stop: &[String]) {
        stop.clone_into(&mut self.scanner.stop);
    }

    /// Ends the message for this reason, and passes the last events to `sink`. Afterwards only [`reset`](Self::reset)
    /// makes sense.
    pub fn finish(&mut self, reason: &FinishReason, sink: &mut impl FnMut(Event<'_>)) {
        self.scanner.ends_by(reason);
        self.drain(sink);
        self.scanner.finish(sink);
    }

    /// Searches a message that was [finished](Self::finish) for text that is meant as a call and fits no syntax of
    /// calls. Returns the first such text as a rejection of the kind [`NearCall`](RejectedKind::NearCall), which is the
    /// message's last event; `None` without one. The event has no bytes of its own: its text stays where it is. Only
    /// calls of known tools can be distinguished from prose, so that the result is `None` without a catalog.
    ///
    /// ```
    /// use toolgraft::event::{Collector, RejectedKind};
    /// use toolgraft::message::FinishReason;
    /// use toolgraft::parse::Config;
    /// use toolgraft::{Catalog, Parser, Tool};
    ///
    /// let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
    /// let catalog = Catalog::from_tools([Tool::new("get_forecast").with_schema(schema)]);
    /// let mut parser = Parser::new(Config::default().with_catalog(Some(catalog.into())));
    /// let mut message = Collector::new();
    /// let text = "<tol_call>{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>";
    /// parser.push(text, &mut |event| message.push(event));
    /// parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
    /// let near = parser.near_call(&message).unwrap();
    /// message.push(near);
    /// assert_eq!(message.finish().rejected().next().unwrap().kind, RejectedKind::NearCall);
    /// ```
    pub fn near_call(&self, message: &Collector) -> Option<Event<'static>> {
        // The model is told of those as they are; what is left of them is no other call.
        let is_told = |entry: &Entry| {
            let kind = entry.result.as_ref().err().map(|rejected| rejected.kind);
            kind.is_some_and(|kind| kind >= RejectedKind::Limit)
        };
        // Past the limits no call is looked for.
        let is_full = message.entries().len() >= self.scanner.tables.config.limits.calls;
        if is_full || self.scanner.is_spent() || message.entries().iter().any(is_told) {
            return None;
        }
        let has_calls = message.entries().iter().any(|entry| entry.result.is_ok());
        let rejected = near_call(&self.scanner.tables, &message.beside_calls(), has_calls)?;
        let (index, at) = message.next();
        Some(Event::CallEnd { index, result: Box::new(Err(rejected)), raw: "", restated: false, span: at..at })
    }

    /// Resets the parser to the start of a new message; configuration and buffers stay.
    pub fn reset(&mut self) {
        let not_calls = self.scanner.not_calls.take();
        self.scanner = Scanner::new(self.scanner.tables.clone());
        self.scanner.not_calls = not_calls.map(|_| Vec::new());
        self.let_go(self.held.len());
        self.base = 0;
        self.way = ChunkWay::Scanner;
    }

    /// Collects from now on the rejected candidates that [`not_calls`](Self::not_calls) returns; their number grows.
    pub fn keep_not_calls(&mut self) {
        self.scanner.not_calls.get_or_insert_default();
    }

    /// Returns the texts of this message that looked like calls and are none, in order, with the reasons: calls without
    /// a marker that were held, and openers that other text follows. Empty unless they are
    /// [collected](Self::keep_not_calls).
    pub fn not_calls(&self) -> &[NotACall] {
        self.scanner.not_calls.as_deref().unwrap_or_default()
    }

    /// Returns the positions in `text` where calls may begin, whatever is around them: with a marker for the dialects
    /// that are read, without one for all dialects.
    pub fn openers(&self, text: &str) -> Vec<Opener> {
        self.scanner.tables.openers(text)
    }

    /// Handles a chunk in the scanner: a delimiter may begin in it after `plain`, or the text before it matters.
    fn read(&mut self, reasoning: bool, chunk: &str, plain: Option<Plain>, sink: &mut dyn FnMut(Event<'_>)) {
        self.leave_fast_path(plain);
        if self.scanner.channel_changes(reasoning) {
            self.drain(sink);
            self.scanner.change_channel(reasoning);
        }
        self.feed(chunk, sink);
        self.way = self.scanner.way(self.base + self.held.len() as u64);
    }

    /// Advances the scanner past the text that was emitted without it, and past `plain`, which was examined.
    fn leave_fast_path(&mut self, plain: Option<Plain>) {
        match std::mem::replace(&mut self.way, ChunkWay::Scanner) {
            ChunkWay::Scanner => {}
            ChunkWay::Value(value) => self.scanner.skip_in_call(value.at),
            _ => self.base = self.scanner.leave_text(plain),
        }
    }

    /// Decides about all bytes that are held, as no text follows them in this channel.
    fn drain(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        self.leave_fast_path(None);
        let window = Window { text: &self.held, base: self.base, more: false };
        self.scanner.run(&window, sink);
        self.scanner.close(&window, sink);
        self.base = window.end();
        self.let_go(self.held.len());
    }

    /// Drops the first `bytes` bytes that are held, and shrinks a large buffer.
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
                false => chunk.ceil_char_boundary(if self.scanner.in_call() { CALL_PIECE } else { PIECE }),
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
        f.debug_struct("Parser").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
