//! JSON inside a call: what is around it, where it ends, what of it is
//! emitted, and what it says.
//!
//! ```text
//!   lead ──fence, <![CDATA[──▶ lead     its own closer came instead: no arguments
//!    │
//!    ▼ the value begins
//!   next: strict ──first fault──▶ tolerant ──closer outside a string──▶ Closed
//!    │                                     ──brackets balanced────────▶ End
//!    └──brackets balanced──▶ End ──▶ unwrap: the fence's end, ]]>
//!                                    peek_trailing: does what follows belong inside?
//! ```
//!
//! The strict lexer's text is a JSON prefix and may be shown as it comes; after
//! the first fault nothing more is shown, and the tolerant lexer only looks for
//! the end. A closing tag inside a string is data, but it is shown only once the
//! string is over: if it never ends, the call may have ended there.

use std::borrow::Cow;

use super::out::CallOut;
use super::sections::{CDATA_CLOSE, CDATA_OPEN, joined_cdata};
use crate::event::Repair;
use crate::json::window::{Answer, Match, No, Undecided, Window, begins};
use crate::json::{Closer, JsonStep, Lexer, Loose, Trailing, common_prefix, read, unclosed};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::{fence_chars, fence_run, think_close};
use crate::parse::marks::head::ends;

/// Message for a value whose text continues after its last bracket.
const GOES_ON: &str = "a closing bracket comes too early: what follows the last one belongs inside";

/// Message for a call in which a further object follows the arguments.
pub(crate) const TWO_OBJECTS: &str = "a further object follows the arguments: one object holds them all";

/// Message for a value in which a comma is missing and a bracket is surplus, so that its members are ambiguous.
const SURPLUS: &str = "a comma is missing, and a bracket too many follows: which members belong where is not certain";

/// Delimiters that may be around the JSON of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Around {
    #[default]
    Nothing,
    /// One code fence, up to its closing characters; if it is `expected`, it counts as no repair.
    Fence { expected: bool },
    /// Code fences and CDATA sections, also nested, as models write them into XML.
    Layers,
}

/// A delimiter that was matched before a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonLead {
    /// An opening delimiter around the value, with its length in bytes.
    Around(usize),
    /// The call's own closer, with its length in bytes: there is no value.
    Closer(usize),
}

/// Reader of a JSON value in an open call.
#[derive(Debug, Default)]
pub(crate) struct CallJson {
    pub(crate) start: u64,
    pub(crate) cursor: u64,
    reader: JsonReader,
    /// Closer of the call, which comes right after the JSON; empty if nothing closes the call.
    pub(crate) closer: Cow<'static, str>,
    max_depth: usize,
    around: Around,
    /// Name of the delimiter around the value that was opened and not closed.
    pub(crate) opened: Option<&'static str>,
    has_fence: bool,
    has_cdata: bool,
    /// Offset at which the strict lexer stopped: the text before it is a prefix of valid JSON.
    pub(crate) fault: Option<u64>,
    /// `true` if a string contains a raw line break.
    has_broken_string: bool,
    /// `true` if the value is nested deeper than the limit.
    pub(crate) too_deep: bool,
    /// Offset of the value's end, once a lexer has read it: its brackets are balanced.
    pub(crate) end: Option<u64>,
    /// Start of the text that is emitted as a preview, and its end once that is known.
    pub(crate) shown: Option<(u64, Option<u64>)>,
    /// Offset up to which the text was emitted as a preview.
    previewed: u64,
    /// Offset of a closing tag, or of what may become one, in the string that is being read: if the string never ends,
    /// the call may have ended there.
    guard: Option<u64>,
    /// Offset up to which strings were searched for closing tags.
    guarded: u64,
    /// Classification of the text that follows the value.
    pub(crate) trailing: Trailing,
}

#[derive(Debug)]
enum JsonReader {
    Strict(Lexer),
    Loose(Loose),
}

impl Default for JsonReader {
    fn default() -> Self {
        JsonReader::Strict(Lexer::default())
    }
}

impl CallJson {
    /// Creates a reader of arguments that are emitted as they arrive, in a call that `closer` ends. Delimiters around
    /// them may begin at `at`.
    pub(crate) fn arguments(at: u64, max_depth: usize, around: Around, closer: impl Into<Cow<'static, str>>) -> Self {
        CallJson { around, closer: closer.into(), ..CallJson::with(Lexer::new(max_depth), at, max_depth) }
    }

    /// Creates a reader of an object whose outermost members matter; it does not count in the nesting depth of the
    /// arguments among them. Nothing is emitted before its `shown` part is set.
    pub(crate) fn members(at: u64, max_depth: usize, closer: &'static str) -> Self {
        CallJson { closer: closer.into(), ..CallJson::with(Lexer::of_members(max_depth + 1), at, max_depth) }
    }

    fn with(lexer: Lexer, at: u64, max_depth: usize) -> Self {
        let reader = JsonReader::Strict(lexer);
        CallJson { start: at, cursor: at, reader, max_depth, previewed: at, guarded: at, ..CallJson::default() }
    }

    /// Matches a delimiter around the value at the start of `rest`, or the call's closer, whose match is `own`. `No`:
    /// the value begins.
    pub(crate) fn lead(
        &mut self,
        rest: &str,
        more: bool,
        own: Match<usize>,
        call: &mut UnresolvedCall,
    ) -> Match<JsonLead> {
        let cdata = if self.around == Around::Layers { begins(rest, CDATA_OPEN, more) } else { Err(No) };
        let fence = match self.around {
            Around::Layers => fence_run(rest, more),
            Around::Fence { .. } if !self.has_fence => fence_run(rest, more),
            Around::Nothing | Around::Fence { .. } => Err(No),
        };
        match (own, cdata, fence) {
            (Ok(length), ..) => {
                // What they were to be is missing (`deepseek/fence_open_and_empty`).
                if let Some(what) = self.opened {
                    let message = format!("the arguments are missing: the {what} is open and empty");
                    call.fault.get_or_insert(Fault::malformed(message));
                }
                Ok(JsonLead::Closer(length))
            }
            (_, Ok(()), _) => {
                self.has_cdata = true;
                self.opened = Some("CDATA section");
                call.note(Repair::Cdata);
                Ok(JsonLead::Around(CDATA_OPEN.len()))
            }
            (_, _, Ok(length)) => {
                self.has_fence = true;
                // A second fence line closes the first.
                self.opened = if self.opened.is_none() { Some("code fence") } else { None };
                if self.around != (Around::Fence { expected: true }) {
                    call.note(Repair::Fence);
                }
                Ok(JsonLead::Around(length))
            }
            (Err(No), Err(No), Err(No)) => Err(No),
            _ => Err(Undecided),
        }
    }

    /// Starts to read the value at offset `at`; all of it is emitted as a preview.
    pub(crate) fn begin(&mut self, at: u64) {
        (self.start, self.cursor, self.previewed, self.guarded) = (at, at, at, at);
        self.shown = Some((at, None));
    }

    /// Matches the closing delimiter around the value at the start of `rest`, after the value; returns its length.
    pub(crate) fn unwrap(&mut self, rest: &str, more: bool) -> Match<usize> {
        match self.around {
            Around::Nothing => Err(No),
            Around::Fence { .. } if !self.is_fence_open() => Err(No),
            Around::Fence { .. } => fence_chars(rest, more).map(|fence| {
                self.opened = None;
                fence.length
            }),
            Around::Layers => {
                let cdata = if self.has_cdata { begins(rest, CDATA_CLOSE, more) } else { Err(No) };
                let fence = || if self.has_fence { fence_run(rest, more) } else { Err(No) };
                cdata.map(|()| CDATA_CLOSE.len()).else_try(fence)
            }
        }
    }

    /// Returns the closing quotes and brackets that the value lacks at the window's end; empty if it has ended.
    pub(crate) fn missing(&self, window: &Window<'_>) -> String {
        let is_begun = self.end.is_none() && self.start >= window.base;
        if is_begun { unclosed(window.from(self.start)) } else { String::new() }
    }

    /// Returns `true` if the single code fence around the value is open.
    pub(crate) fn is_fence_open(&self) -> bool {
        self.has_fence && self.opened.is_some() && self.around != Around::Layers
    }

    /// Emits the text of the shown part that is certain to be valid, and was not emitted yet.
    pub(crate) fn preview(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
        let Some((start, end)) = self.shown else { return };
        let (from, safe) = (self.previewed.max(start), self.safe());
        let to = end.or(self.end).map_or(safe, |end| end.min(safe));
        if to > from && !out.is_over_limit() {
            out.delta(to, window.slice(from..to));
            self.previewed = to;
        }
    }

    /// Returns the offset up to which the text may be emitted as a preview.
    fn safe(&self) -> u64 {
        match &self.reader {
            JsonReader::Strict(lexer) => lexer.safe(self.cursor).min(self.guard.unwrap_or(u64::MAX)),
            JsonReader::Loose(_) => self.fault.unwrap_or(self.start),
        }
    }

    /// Returns `true` if all bytes up to `at` were read and emitted, and the following ones may be emitted on arrival.
    pub(crate) fn is_settled(&self, at: u64) -> bool {
        let is_shown = self.previewed == at && matches!(self.shown, Some((_, None)));
        // After a fault, before a comma's next token and in what may be a closing tag, text must not be
        // emitted as it comes.
        is_shown && matches!(&self.reader, JsonReader::Strict(_)) && self.cursor == at && self.safe() == at
    }

    /// Reads a chunk at offset `at`, in which no closing tag begins, if all of it may be emitted and nothing in it is
    /// to be reported. Returns `true` if it ends inside a string; `None` if nothing was read.
    pub(crate) fn lex_chunk(&mut self, at: u64, chunk: &[u8]) -> Option<bool> {
        let JsonReader::Strict(lexer) = &mut self.reader else { return None };
        let (mut ahead, mut cursor) = (lexer.clone(), at);
        if ahead.next(chunk, &mut cursor) != JsonStep::More || ahead.safe(cursor) != cursor {
            return None;
        }
        *lexer = ahead;
        self.cursor = cursor;
        Some(self.in_string())
    }

    /// Returns `true` if the cursor is inside a string and outside escapes.
    pub(crate) fn in_string(&self) -> bool {
        matches!(&self.reader, JsonReader::Strict(lexer) if lexer.in_plain_string())
    }

    /// Advances to `at`, past text that was emitted and in which no closing tag begins.
    pub(crate) fn skip_to(&mut self, at: u64) {
        self.previewed = at;
        self.cursor = at;
        self.guarded = at;
        self.guard = None;
    }

    /// Returns `true` if the tolerant lexer stopped at a line's start.
    pub(crate) fn at_line_start(&self) -> bool {
        matches!(&self.reader, JsonReader::Loose(loose) if loose.line_start)
    }

    /// Reads the value's next step, and emits its preview once the tool of `call` is known. A value that a closer cut
    /// short is read into `call` as far as possible, so that its fault is known at once.
    pub(crate) fn next_argument(
        &mut self,
        window: &Window<'_>,
        closer: &dyn Closer,
        call: &mut UnresolvedCall,
        out: &mut CallOut<'_, '_>,
    ) -> JsonStep {
        loop {
            let step = self.next(window, closer, out);
            // One piece for what came at once, so not at every key and value.
            let is_over = matches!(step, JsonStep::More | JsonStep::End(_) | JsonStep::Passed(_));
            if call.tool.is_some() && (is_over || matches!(step, JsonStep::Fault(_))) {
                self.preview(window, out);
            }
            match step {
                // By quotation marks the lexer may have misjudged where strings end.
                JsonStep::Closed(at) => self.read(out.head.unwrap_or(window), at, call),
                JsonStep::Passed(at) => self.read(window, at, call),
                _ if is_over => {}
                _ => continue,
            }
            return step;
        }
    }

    /// Reads the value's next step, with the strict lexer or, after a fault, the tolerant one.
    pub(crate) fn next(&mut self, window: &Window<'_>, closer: &dyn Closer, out: &CallOut<'_, '_>) -> JsonStep {
        let step = match &mut self.reader {
            JsonReader::Strict(lexer) => lexer.next(window.from(self.cursor).as_bytes(), &mut self.cursor),
            JsonReader::Loose(loose) => {
                // The closer, and the end of the reasoning where that ends the call.
                let ends = |text: &str, line_start: bool, more: bool| {
                    let think = if out.think_ends { think_close(text, more) } else { Err(No) };
                    think.map(|_| ()).either(closer.closes(text, line_start, more))
                };
                loose.next(window, &mut self.cursor, &ends)
            }
        };
        match step {
            JsonStep::More if out.is_over_limit() => {}
            JsonStep::More => self.watch(window),
            JsonStep::Fault(at) => return self.faulted(at, window, closer, out.is_over_limit()),
            _ => self.guard = None,
        }
        if let JsonStep::End(at) = step {
            self.end = Some(at);
        }
        step
    }

    /// Changes to the tolerant lexer, after the strict one stopped at offset `at`; returns the step.
    fn faulted(&mut self, at: u64, window: &Window<'_>, closer: &dyn Closer, is_over_limit: bool) -> JsonStep {
        let JsonReader::Strict(lexer) = &self.reader else { return JsonStep::Fault(at) };
        let string_start = lexer.string_start;
        // The guard is of an earlier string.
        if self.guarded < string_start {
            self.guard = None;
        }
        let line_break = lexer.in_string() && window.from(at).starts_with('\n');
        self.fault = Some(lexer.safe(at));
        self.too_deep = lexer.too_deep;
        self.reader = JsonReader::Loose(lexer.loosen());
        // The string may have swallowed the call's end: a whole closer on the broken line was it
        // (`hermes/missing_quote`). Over the limit the line is no longer at hand
        // (`limits/line_break_past`).
        if line_break && !is_over_limit {
            // A closer in a string before it was data; all of them were emitted.
            let text = window.slice(string_start..at);
            let line = &text[memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |n| n + 1)..];
            if let Some(passed) = closer.last_passed(line) {
                self.guarded = self.guarded.max(string_start);
                self.watch_from(window, at);
                self.fault = self.guard.or(self.fault);
                self.cursor = at - line.len() as u64 + passed as u64;
                return JsonStep::Passed(self.cursor);
            }
        }
        self.has_broken_string = line_break;
        self.guard = None;
        JsonStep::Fault(at)
    }

    /// Searches the string that is being read for a closing tag, and sets the guard to it.
    fn watch(&mut self, window: &Window<'_>) {
        let JsonReader::Strict(lexer) = &self.reader else { return };
        if !lexer.in_string() {
            self.guard = None;
            return;
        }
        if self.guarded < lexer.string_start {
            self.guarded = lexer.string_start;
            self.guard = None;
        }
        self.watch_from(window, self.cursor);
    }

    fn watch_from(&mut self, window: &Window<'_>, to: u64) {
        let Some(first) = self.closer.bytes().next() else { return };
        // A guard that was found stays; one that was undecided is looked at again.
        if self.guard.is_some_and(|at| at < self.guarded) {
            return;
        }
        self.guard = None;
        let text = window.slice(self.guarded..to);
        let base = self.guarded.max(window.base);
        self.guarded = to;
        for i in memchr::memchr_iter(first, text.as_bytes()) {
            let at = base + i as u64;
            match ends(&self.closer, window.from(at), window.more) {
                Err(No) => {}
                Ok(_) => {
                    self.guard = Some(at);
                    return;
                }
                Err(Undecided) => {
                    self.guard = Some(at);
                    self.guarded = at;
                    return;
                }
            }
        }
    }

    /// Returns `true` if the value has certainly ended: a lexer read its end, and no fault before that. If only
    /// brackets close the call (`closes`), faults do not matter except for a line break in a string, which leaves it
    /// open where strings end.
    pub(crate) fn is_whole(&self, closes: bool) -> bool {
        self.end.is_some() && (self.fault.is_none() || closes && !self.has_broken_string)
    }

    /// Classifies `rest`, the text at offset `at` after the value; returns `false` if more text is needed for that.
    pub(crate) fn peek_trailing(&mut self, at: u64, rest: &str, more: bool) -> bool {
        let Ok(trailing) = Trailing::of(rest, more) else { return false };
        let is_near = at == self.cursor;
        let Trailing { glued, digits, .. } = trailing;
        self.trailing = Trailing { glued: glued && is_near, digits: digits && is_near, ..trailing };
        true
    }

    /// Returns `true` if the text after the value belongs inside it:
    fn belongs_inside(&self, source: &str, is_comma_dropped: bool) -> bool {
        let Trailing { glued, digits, member, .. } = self.trailing;
        let last = source.trim_end_matches(['}', ']', ' ', '\t', '\r', '\n']);
        let number = last.ends_with(|c: char| c.is_ascii_digit());
        member || (glued && is_comma_dropped) || (digits && number)
    }

    /// Reads the value into `call`, if it has ended and the call has no fault yet.
    pub(crate) fn resolve(&self, window: &Window<'_>, call: &mut UnresolvedCall) {
        if let Some(end) = self.end.filter(|_| call.fault.is_none()) {
            self.read(window, end, call);
        }
    }

    /// Reads the value, which ends at `end`, into `call`: its arguments and repairs, or its fault.
    pub(crate) fn read(&self, window: &Window<'_>, end: u64, call: &mut UnresolvedCall) {
        let written = window.slice(self.start..end);
        call.raw_arguments = written.to_owned();
        // Where a section is split, its text is what XML makes of the pieces.
        let joined = if self.has_cdata { joined_cdata(written) } else { None };
        let source = joined.as_deref().unwrap_or(written);
        if self.too_deep {
            call.fault = Some(Fault::too_deep(self.max_depth));
            return;
        }
        match read(source) {
            Ok(found) if self.belongs_inside(source, found.commas.is_dropped) => {
                call.goes_on = true;
                call.fault = Some(Fault::malformed(GOES_ON));
            }
            // `{"a": {"b": 1}, "c": 2}` with one bracket more: `{"a": {}"b": 1}, "c": 2}`.
            Ok(found) if self.trailing.surplus && found.commas.is_supplied => {
                call.goes_on = true;
                call.fault = Some(Fault::malformed(SURPLUS));
            }
            Ok(found) => {
                let unchanged = if joined.is_some() { common_prefix(source, written) } else { written.len() };
                let previewed = self.fault.map_or(written.len(), |at| (at - self.start) as usize);
                call.restated |= found.unchanged.min(unchanged) < previewed;
                call.arguments = found.value;
                call.repairs.extend(found.repairs);
            }
            Err(error) => call.fault = Some(Fault::not_json(&error)),
        }
    }
}
