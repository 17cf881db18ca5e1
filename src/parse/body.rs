//! What the shapes of calls have in common while a call is open.

use std::ops::Range;

use super::emit::{Emitter, Sink};
use super::json::{Behind, Closer, Lexed, Lexer, Loose, LooseStep, read};
use super::tables::THINK_TAGS;
use super::verdict::{Fault, Parts};
use super::window::{Match, Window, begins, begins_tag};
use crate::call::Repair;

/// What a call's text came to.
#[derive(Debug)]
pub(super) enum Step {
    /// All decidable bytes were read; the call goes on.
    More,
    /// The call ends here.
    End(u64),
    /// It is no call after all: its bytes up to here are text.
    Text(u64),
}

/// Where an open call reports its name and its arguments.
pub(super) struct CallOut<'a, 's> {
    pub(super) emitter: &'a mut Emitter,
    pub(super) sink: &'a mut Sink<'s>,
    /// The call's text up to the limit, once it is past it.
    pub(super) head: Option<&'a Window<'a>>,
    /// `</think>` outside a JSON string ends the call.
    pub(super) think_ends: bool,
}

impl CallOut<'_, '_> {
    /// Whether the call is past the limit: only its end is looked for, and no
    /// byte before the cursor is at hand.
    pub(super) fn is_past(&self) -> bool {
        self.head.is_some()
    }

    pub(super) fn start(&mut self, at: u64, server: Option<&str>, tool: &str) {
        self.emitter.call_start(at, server, tool, self.sink);
    }

    /// More of the arguments' JSON text, made from bytes up to `at`.
    pub(super) fn delta(&mut self, at: u64, text: &str) {
        if !self.is_past() && !text.is_empty() {
            self.emitter.delta(at, text, self.sink);
        }
    }
}

/// Whether `text` begins with a closing think tag.
pub(super) fn think_close(text: &str, more: bool) -> Match<usize> {
    THINK_TAGS.iter().map(|tag| begins_tag(text, tag, true, more)).fold(Match::No, Match::or)
}

pub(super) const COMMENT_OPEN: &str = "<!--";
pub(super) const COMMENT_CLOSE: &str = "-->";

/// Where a comment between tags stands.
pub(super) enum Comment {
    /// It ends here.
    Over(usize),
    /// It goes on; all up to here was read.
    Open(usize),
}

/// Reads on in a comment. `think_ends`: `</think>` ends it too, being where the
/// call ends.
pub(super) fn comment(rest: &str, think_ends: bool, more: bool) -> Comment {
    for i in memchr::memchr2_iter(b'-', b'<', rest.as_bytes()) {
        let close = begins(&rest[i..], COMMENT_CLOSE, more);
        let think = if think_ends { think_close(&rest[i..], more) } else { Match::No };
        match (close, think) {
            (Match::Yes(()), _) => return Comment::Over(i + COMMENT_CLOSE.len()),
            (_, Match::Yes(_)) => return Comment::Over(i),
            (Match::No, Match::No) => {}
            _ => return Comment::Open(i),
        }
    }
    Comment::Open(rest.len())
}

/// Why a value is none that goes on behind its last bracket.
const GOES_ON: &str = "a closing bracket stands too early: what follows the last one belongs inside";

/// A JSON text inside a call: strict as long as it can be, then tolerant.
#[derive(Debug)]
pub(super) struct JsonText {
    pub(super) start: u64,
    pub(super) cursor: u64,
    reader: Reader,
    /// Where the strict lexer stopped: its text up to here is a JSON prefix.
    fault: Option<u64>,
    too_deep: bool,
    /// A lexer saw the value's end: its brackets are balanced.
    balanced: bool,
    /// A closing tag inside the string that is being read, or what may become
    /// one: if the string never ends, the call may have ended there.
    guard: Option<u64>,
    /// Strings were searched for the guard up to here.
    guarded: u64,
    /// What follows the value.
    behind: Behind,
}

#[derive(Debug)]
enum Reader {
    Strict(Lexer),
    Loose(Loose),
}

/// What a JSON text came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonStep {
    More,
    Key(Range<u64>),
    ValueStart(u64),
    ValueEnd(u64),
    /// The value ends here.
    End(u64),
    /// The first fault; the tolerant lexer goes on.
    Fault,
    /// The closer begins here and the value is not over.
    Closed(u64),
    /// At the first raw line break in a string: the string had passed a whole
    /// closer on that line, which ended the call here.
    Passed(u64),
}

impl JsonText {
    /// A text whose outermost members matter.
    pub(super) fn of_members(start: u64, max_depth: usize) -> Self {
        JsonText { reader: Reader::Strict(Lexer::of_members(max_depth)), ..JsonText::new(start, max_depth) }
    }

    /// A text that matters as a whole: no key and no value is reported.
    pub(super) fn new(start: u64, max_depth: usize) -> Self {
        JsonText {
            start,
            cursor: start,
            reader: Reader::Strict(Lexer::new(max_depth)),
            fault: None,
            too_deep: false,
            balanced: false,
            guard: None,
            guarded: start,
            behind: Behind::default(),
        }
    }

    /// Up to where the text may be handed on as a preview.
    pub(super) fn safe(&self) -> u64 {
        match &self.reader {
            Reader::Strict(lexer) => lexer.safe(self.cursor).min(self.guard.unwrap_or(u64::MAX)),
            Reader::Loose(_) => self.fault.unwrap_or(self.start),
        }
    }

    /// Whether all up to `at` was read without fault and may be handed on.
    pub(super) fn is_calm_at(&self, at: u64) -> bool {
        matches!(&self.reader, Reader::Strict(_)) && self.cursor == at && self.safe() == at
    }

    /// Reads a chunk at `at` in which no closing tag begins, if all of it may be handed on
    /// and nothing in it is to be reported: whether it ends inside a string. Otherwise nothing
    /// was read.
    pub(super) fn read_on(&mut self, at: u64, chunk: &[u8]) -> Option<bool> {
        let Reader::Strict(lexer) = &mut self.reader else { return None };
        let (mut ahead, mut cursor) = (lexer.clone(), at);
        if ahead.next(chunk, &mut cursor) != Lexed::More || ahead.safe(cursor) != cursor {
            return None;
        }
        *lexer = ahead;
        self.cursor = cursor;
        Some(self.in_string())
    }

    /// Whether the text stands inside a string and outside escapes.
    pub(super) fn in_string(&self) -> bool {
        matches!(&self.reader, Reader::Strict(lexer) if lexer.in_plain_string())
    }

    /// Goes on behind text up to `at`, in which no closing tag begins.
    pub(super) fn go_on(&mut self, at: u64) {
        self.cursor = at;
        self.guarded = at;
        self.guard = None;
    }

    /// Whether a damaged text was left at a line's start.
    pub(super) fn at_line_start(&self) -> bool {
        matches!(&self.reader, Reader::Loose(loose) if loose.at_line_start())
    }

    /// Reads on. `past`: the call is past the limit, see [`CallOut::is_past`].
    pub(super) fn next(&mut self, window: &Window<'_>, past: bool, closer: &dyn JsonCloser) -> JsonStep {
        let lexer = match &mut self.reader {
            Reader::Strict(lexer) => lexer,
            Reader::Loose(loose) => {
                return match loose.next(window, &mut self.cursor, &AsCloser(closer)) {
                    LooseStep::More => JsonStep::More,
                    LooseStep::Balanced(at) => {
                        self.balanced = true;
                        JsonStep::End(at)
                    }
                    LooseStep::Closed(at) => JsonStep::Closed(at),
                };
            }
        };
        let step = lexer.next(window.from(self.cursor).as_bytes(), &mut self.cursor);
        if !matches!(step, Lexed::More | Lexed::Fault(_)) {
            self.guard = None;
        }
        match step {
            Lexed::More => {
                if !past {
                    self.watch(window, closer);
                }
                JsonStep::More
            }
            Lexed::Key(range) => JsonStep::Key(range),
            Lexed::ValueStart(at) => JsonStep::ValueStart(at),
            Lexed::ValueEnd(at) => JsonStep::ValueEnd(at),
            Lexed::End(at) => {
                self.balanced = true;
                JsonStep::End(at)
            }
            Lexed::Fault(at) => {
                let string_start = lexer.string_start();
                if self.guarded < string_start {
                    self.guard = None;
                }
                let line_break = lexer.in_string() && window.from(at).starts_with('\n');
                self.fault = Some(lexer.safe(at));
                self.too_deep = lexer.too_deep();
                self.reader = Reader::Loose(lexer.loosen());
                // Past the limit the line is no longer at hand.
                if line_break && !past {
                    // A closer in a string before it was data; all of them were handed on.
                    let text = window.slice(string_start..at);
                    let line = &text[memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |n| n + 1)..];
                    if let Some(passed) = closer.last_passed(line) {
                        self.guarded = self.guarded.max(string_start);
                        self.watch_from(window, closer, at);
                        self.fault = self.guard.or(self.fault);
                        self.cursor = at - line.len() as u64 + passed as u64;
                        return JsonStep::Passed(self.cursor);
                    }
                }
                self.guard = None;
                JsonStep::Fault
            }
        }
    }

    /// Looks for a closing tag in the string that is being read.
    fn watch(&mut self, window: &Window<'_>, closer: &dyn JsonCloser) {
        let Reader::Strict(lexer) = &self.reader else { return };
        if !lexer.in_string() {
            self.guard = None;
            return;
        }
        if self.guarded < lexer.string_start() {
            self.guarded = lexer.string_start();
            self.guard = None;
        }
        self.watch_from(window, closer, self.cursor);
    }

    fn watch_from(&mut self, window: &Window<'_>, closer: &dyn JsonCloser, to: u64) {
        let Some(first) = closer.inner_first() else { return };
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
            match closer.inner(window.from(at), window.more) {
                Match::No => {}
                Match::Yes(()) => {
                    self.guard = Some(at);
                    return;
                }
                Match::Undecided => {
                    self.guard = Some(at);
                    self.guarded = at;
                    return;
                }
            }
        }
    }

    /// Whether the text has a fault, so that what was read of it may be read otherwise in the end.
    pub(super) fn is_damaged(&self) -> bool {
        self.fault.is_some()
    }

    /// Looks at what follows the value, which ends at the cursor: `rest`, at `at`. Whether that
    /// could be decided.
    pub(super) fn look_behind(&mut self, at: u64, rest: &str, more: bool) -> bool {
        let Match::Yes(behind) = Behind::of(rest, more) else { return false };
        let is_near = at == self.cursor;
        self.behind = Behind { glued: behind.glued && is_near, digits: behind.digits && is_near, ..behind };
        true
    }

    /// Whether a bracket that nothing opened was seen behind the value.
    pub(super) fn is_closed_twice(&self) -> bool {
        self.behind.surplus
    }

    /// Why the text is refused before its end, if it is.
    pub(super) fn limit_fault(&self, max_depth: usize) -> Option<Fault> {
        self.too_deep.then(|| Fault::too_deep(max_depth))
    }

    /// Whether what follows the text belongs inside: a member, the rest of its last number or
    /// word, or what may be left of a key.
    fn goes_on(&self, source: &str, repairs: &[Repair]) -> bool {
        let Behind { glued, digits, member, .. } = self.behind;
        let number = source.trim_end_matches(['}', ']', ' ', '\t', '\r', '\n']).ends_with(|c: char| c.is_ascii_digit());
        let word = repairs.iter().any(|r| matches!(r, Repair::TrailingComma | Repair::UnquotedValues));
        member || glued && word || digits && number
    }

    /// What the text says, read from `self.start..end`.
    pub(super) fn read(&self, window: &Window<'_>, end: u64, max_depth: usize, parts: &mut Parts) {
        let source = window.slice(self.start..end);
        parts.raw_arguments = source.to_owned();
        if let Some(fault) = self.limit_fault(max_depth) {
            parts.fault = Some(fault);
            return;
        }
        match read(source, self.balanced) {
            Ok(found) if self.goes_on(source, &found.repairs) => parts.fault = Some(Fault::malformed(GOES_ON)),
            // `{"a": {"b": 1}, "c": 2}` with one bracket more: `{"a": {}"b": 1}, "c": 2}`.
            Ok(found) if self.behind.surplus && found.repairs.contains(&Repair::MissingComma) => {
                let message =
                    "a comma is missing, and a bracket too many follows: which members belong where is not certain";
                parts.fault = Some(Fault::malformed(message));
            }
            Ok(found) => {
                let previewed = self.fault.map_or(source, |at| window.slice(self.start..at));
                parts.restated |= !found.text.starts_with(previewed);
                parts.arguments = found.value;
                parts.repairs.extend(found.repairs);
            }
            Err(error) => parts.fault = Some(Fault::malformed(format!("the arguments are not valid JSON: {error}"))),
        }
    }
}

/// What ends a damaged JSON text of a dialect from outside.
pub(super) trait JsonCloser {
    /// Whether `text` begins with a closer.
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()>;

    /// First byte of the closer that comes right after the JSON, if the dialect has one.
    fn inner_first(&self) -> Option<u8> {
        None
    }

    /// Whether `text` begins with that closer.
    fn inner(&self, _text: &str, _more: bool) -> Match<()> {
        Match::No
    }

    /// Where the call ended if the last whole closer (all closing tags of the
    /// call) in a line closed it.
    fn last_passed(&self, _line: &str) -> Option<usize> {
        None
    }
}

struct AsCloser<'c>(&'c dyn JsonCloser);

impl Closer for AsCloser<'_> {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        self.0.closes(text, line_start, more)
    }
}
