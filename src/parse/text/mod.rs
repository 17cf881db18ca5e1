//! The text between calls: think tags, fences, marker lines, openers, and what surrounds them.
//!
//! ```text
//!            ┌──────────── end of call ────────────┐
//!            ▼                                     │
//!   text ──opener and gate──▶ call (element, tool tag, name and JSON, object)
//!    │ │
//!    │ └─known tool's name, first key──▶ held until it is known to be calls or text
//!    │ ▲
//!    │ └─fence line, think tag, marker line: changes what the next opener means
//!    └─fence line and opener alone in it: held until what follows decides
//! ```

mod bare;
mod blocks;
mod channels;
mod context;
mod elements;
pub(crate) mod fast_path;
mod fast_value;
mod lines;
mod named;
mod objects;
pub(crate) mod open;
mod reasoning;
mod state;
mod tags;
mod tokens;
mod turns;

use std::ops::Range;
use std::sync::Arc;

use crate::dialect::Dialect;
use crate::event::{QuotedIn, Region};
use crate::json::window::{Match, No, Undecided, Window, leading_space};
use crate::message::FinishReason;
use crate::parse::call::{OpenValue, Step};
use crate::parse::emit::emitter::Emitter;
use crate::parse::emit::not_a_call::{NotACall, NotACallReason};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::Fence;
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::lexicon::Plain;
use crate::parse::shape::run::ObjectRun;
use crate::parse::tables::Tables;
use crate::parse::text::blocks::Ends;
use crate::parse::text::context::{Context, Marks};
use crate::parse::text::open::OpenCall;
use crate::parse::text::state::{CallGroup, Channels, Reasoning};

/// The position of the text between calls.
pub(crate) struct Scanner {
    pub(crate) tables: Arc<Tables>,
    emitter: Emitter,
    call: Option<OpenCall>,
    /// Text was scanned up to here.
    at: u64,
    /// Only spaces are between the last line break and `at`.
    line_start: bool,
    /// The position where the last mark begins that the lexicon knows, if any came: while more of it comes,
    /// they are not asked again.
    mark_at: u64,
    pub(crate) context: Context,
    fence: Option<OpenFence>,
    /// A run of objects after a marker.
    run: Option<ObjectRun>,
    /// The group that may be around calls here.
    group: Option<CallGroup>,
    /// The surroundings of the run, or of the group.
    outer: Outer,
    reasoning: Reasoning,
    channels: Channels,
    /// A closer that was found between calls is here.
    closer_at: u64,
    /// The last line that announces calls and has none after it begins here.
    no_object_at: Option<u64>,
    /// `<s>` was seen, so `</s>` is HTML.
    saw_strike: bool,
    /// The kinds of marks that count in text that is emitted on the fast path.
    fast_counts: Kinds,
    /// Stop strings of the message's request.
    pub(crate) stop: Vec<String>,
    /// The candidates that were rejected, if somebody asked for them.
    pub(crate) not_calls: Option<Vec<NotACall>>,
}

/// The fence that the text is in.
#[derive(Debug, Clone, Copy)]
struct OpenFence {
    fence: Fence,
    /// The kind of quotation for calls in it, if it holds other text, too.
    quotes: QuotedIn,
    /// It begins with a call that cannot be read.
    is_unread: bool,
}

/// The surroundings of the marker before a run or a group of calls, and so of its calls.
#[derive(Debug, Clone, Copy, Default)]
struct Outer {
    quoted_in: Option<QuotedIn>,
    marks: Marks,
    /// Nothing but calls, white space and tokens is before it on its line.
    begins_line: bool,
    /// After what of the group came last: what is there is in it.
    end: u64,
}

/// An offset that no text has.
const NOWHERE: u64 = u64::MAX;

/// Bytes after a call in which what quotes it must be closed.
const CLOSES_WITHIN: usize = 64;

/// The result at a position where something may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recognised {
    /// It is text, whatever it looks like.
    Text,
    /// It was taken; go on after it.
    Taken,
    /// A call or a held fence is open: how far may be read has changed.
    Opened,
}

/// Asks recognisers in order, each where the condition before it holds: it tells what begins here, or
/// `Err(No)` where it knows of nothing.
macro_rules! recognised {
    ($scanner:ident, $here:ident, $sink:ident: $($condition:expr => $recogniser:ident),+ $(,)?) => {{
        $(if $condition {
            match $scanner.$recogniser($here, $sink) {
                Err(No) => {}
                found => return found,
            }
        })+
        Err(No)
    }};
}
use recognised;

impl Scanner {
    pub(crate) fn new(tables: Arc<Tables>) -> Self {
        let mode = tables.config.reasoning;
        Scanner {
            emitter: Emitter::new(&tables.config),
            stop: tables.config.stop.clone(),
            tables,
            call: None,
            at: 0,
            line_start: true,
            mark_at: NOWHERE,
            context: Context::new(0),
            fence: None,
            run: None,
            group: None,
            outer: Outer::default(),
            reasoning: Reasoning::new(mode),
            channels: Channels::default(),
            saw_strike: false,
            no_object_at: None,
            closer_at: NOWHERE,
            fast_counts: Kinds::ALL,
            not_calls: None,
        }
    }

    /// Returns `true` if no call is looked for any more.
    pub(crate) fn is_spent(&self) -> bool {
        self.emitter.budget.is_spent()
    }

    #[inline]
    fn fence(&self) -> Option<Fence> {
        self.fence.map(|open| open.fence)
    }

    /// Returns the kinds at which plain text ends: all but calls, once none is looked for any more.
    fn stops(&self) -> Kinds {
        Kinds::ALL.without(Kinds::CALLS.only_if(self.emitter.budget.is_spent()))
    }

    /// Returns the kinds that count at this position: the recognisers of all others know of nothing here.
    fn counts(&self) -> Kinds {
        let in_fence = self.fence.is_some();
        let has_closers = self.group.is_some() || self.emitter.region.known_damage().knows_closers();
        let is_tag = self.fence().is_some_and(Fence::is_tag);
        let reads_tokens = self.tables.tokens || self.channels.are_seen;
        let in_text = Kinds::REASONING | Kinds::QUOTE | Kinds::CHANNEL | Kinds::RESULT;
        let none = Kinds::PARTIAL.only_if(self.not_calls.is_none())
            | Kinds::CLOSER.only_if(!has_closers)
            | Kinds::FENCE_TAG.only_if(!is_tag)
            | in_text.only_if(in_fence)
            | Kinds::THINK.only_if(in_fence || !self.reasoning.takes_think_tags())
            | Kinds::TOKEN.only_if(in_fence || !reads_tokens);
        self.stops().without(none)
    }

    /// Reads a chunk of JSON in the open call, at `at`; see [`CallJson::lex_chunk`](crate::parse::call::json::CallJson::lex_chunk).
    pub(crate) fn lex_chunk(&mut self, at: u64, chunk: &str) -> Option<bool> {
        match self.call.as_mut()?.shape.open_value()? {
            OpenValue::Json(json) => json.lex_chunk(at, chunk.as_bytes()),
            OpenValue::Verbatim { .. } => None,
        }
    }

    /// Goes on in a call whose text up to `at` was reported without the scanner.
    pub(crate) fn skip_in_call(&mut self, at: u64) {
        self.emitter.reported = at;
        match self.call.as_mut().and_then(|call| call.shape.open_value()) {
            Some(OpenValue::Json(json)) => json.skip_to(at),
            Some(OpenValue::Verbatim { cursor, previewed }) => (*cursor, *previewed) = (at, at),
            None => {}
        }
    }

    /// Returns `true` if a call is open, or calls are held.
    pub(crate) fn in_call(&self) -> bool {
        self.call.is_some() || self.emitter.waits_for_fence()
    }

    pub(crate) fn channel_changes(&self, reasoning: bool) -> bool {
        self.reasoning.is_field != reasoning
    }

    /// Goes over to the other channel; everything before was decided about.
    pub(crate) fn change_channel(&mut self, reasoning: bool) {
        self.reasoning.goes_to_field(reasoning);
        self.emitter.decide();
        if reasoning {
            self.begin_reasoning();
            self.leave_blocks();
        } else {
            self.end_reasoning(false);
        }
        self.emitter.region.go_to(if reasoning { Region::Reasoning } else { Region::Content });
        self.line_start = true;
        self.context = Context::new(self.at);
    }

    /// Reads the window to its end; yields the first byte that is still needed.
    #[inline(always)] // With each chunk in a call.
    pub(crate) fn run(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> u64 {
        let mut goes_on = true;
        while goes_on {
            goes_on = match &mut self.call {
                Some(call) if !self.emitter.waits_for_fence() => match call.ended_at {
                    None => self.advance(window, sink),
                    Some(at) => self.call_ended(at, window, sink),
                },
                _ => self.read(window, sink),
            };
        }
        let keep_from = match &self.call {
            // Where a fence waits, all of it is needed, not only the call.
            Some(call) if !self.emitter.waits_for_fence() => call.keep_from(),
            _ => self.emitter.keep_from(),
        };
        if keep_from > window.base {
            self.context.read(window, keep_from.min(self.at));
        }
        keep_from
    }

    /// Reads on in the open call; `false` if more is needed.
    #[inline(always)] // With each chunk in a call.
    fn advance(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        let Some(call) = &mut self.call else { return false };
        let Some((end, is_end)) = call.span_end(window) else {
            let step = call.advance(&self.tables, window, &mut self.emitter, sink);
            return self.stepped(step, window, sink);
        };
        // What quotes the call ends here, and so does the call.
        let span = window.until(end);
        match call.advance(&self.tables, &span, &mut self.emitter, sink) {
            Step::More if is_end => {
                // No stop string ends it, as where a second closer is due.
                let ending = call.ending(true, &span, &self.tables, &self.emitter);
                self.end_call(ending, &span, sink);
                true
            }
            step => self.stepped(step, &span, sink),
        }
    }

    /// Reads text, or what is held, up to the next change of what may be read; `false` if
    /// more is needed.
    ///
    /// Held fences may hold as much as one call. That limit is a fixed offset,
    /// too: everything is read up to there first, however the text was cut, and
    /// if a byte follows while they are undecided, they are examples.
    #[inline(never)] // What is read in a call needs none of its registers.
    fn read(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        let Some(held_from) = self.emitter.fence_held_from() else { return self.text(window, sink) };
        let readable = window.until(held_from.saturating_add(self.tables.config.limits.call_bytes as u64));
        if readable.end() >= self.at {
            let goes_on = match &mut self.call {
                Some(call) => {
                    let step = call.advance(&self.tables, &readable, &mut self.emitter, sink);
                    self.stepped(step, &readable, sink)
                }
                None => self.text(&readable, sink),
            };
            if goes_on {
                return true;
            }
        }
        if readable.end() == window.end() {
            return false;
        }
        if self.emitter.waits_for_fence() {
            if let Some(call) = &mut self.call {
                call.at.quoted_in = Some(QuotedIn::Fence);
            }
            self.emitter.settle(Some(QuotedIn::Fence), window, sink);
        }
        true
    }

    /// Goes on after a step in the open call; `false` if more is needed.
    #[inline]
    fn stepped(&mut self, step: Step, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        match step {
            Step::End(at) => return self.call_ended(at, window, sink),
            Step::Text(at, why) => self.give_back(at, why, window, sink),
            Step::Broken(at, why) => self.end_call(Step::Broken(at, why), window, sink),
            _ => return false,
        }
        true
    }

    /// Gives the open call back as text: its bytes are text, and what follows
    /// `at` is read as ever.
    fn give_back(&mut self, at: u64, why: NotACallReason, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Some(call) = self.call.take() else { return };
        let is_unread = matches!(
            why,
            NotACallReason::NoLiteral | NotACallReason::NoKeyword | NotACallReason::Damaged | NotACallReason::Limit
        );
        if let Some(open) = &mut self.fence {
            open.is_unread |= is_unread && self.emitter.region.fence_is_clean;
        }
        self.note(call.dialect, call.start..call.shape.failed_at().unwrap_or(at), why);
        let text = window.slice(call.start..at);
        let line = memchr::memrchr(b'\n', text.as_bytes()).map(|end| &text[end + 1..]);
        self.line_start = line.is_some_and(|line| line.trim_start_matches([' ', '\t']).is_empty());
        self.at = at;
        // The rest of such a call may follow, with other calls in its values.
        let is_cut_short = matches!(why, NotACallReason::Damaged | NotACallReason::Unclosed | NotACallReason::Limit);
        if call.at.quoted_in.is_none() && !self.is_example() {
            self.emitter.given_back(call.start..at, false, window, sink);
            let index = self.emitter.index();
            self.emitter.region.damage().given_back(call.shape.closer(&self.tables), index);
            if is_cut_short || call.shape.is_damaged() {
                self.emitter.region.damage().begins(call.shape.closer(&self.tables), call.dialect);
            }
        }
    }

    /// Keeps what is no call, if somebody asked for it.
    fn note(&mut self, dialect: Dialect, span: Range<u64>, reason: NotACallReason) {
        let Some(list) = &mut self.not_calls else { return };
        let note = NotACall { dialect, span, reason };
        // A line is looked at once more while another of its readings is undecided.
        if !list.iter().rev().take(4).any(|known| *known == note) {
            list.push(note);
        }
    }

    /// The same of what is known to be none at its first `length` bytes, here.
    fn note_here(&mut self, dialect: Dialect, indent: usize, length: usize, reason: NotACallReason) {
        let start = self.at + indent as u64;
        self.note(dialect, start..start + length as u64, reason);
    }

    /// The same of an opener that `text` begins with, if it does.
    fn note_mark(&mut self, text: &str, reason: NotACallReason) {
        if self.not_calls.is_none() {
            return;
        }
        if let Some((dialect, length, is_whole)) = self.tables.mark(text) {
            self.note_here(dialect, 0, length, if is_whole { reason } else { NotACallReason::PartialOpener });
        }
    }

    /// Ends what is open: nothing follows in this channel.
    pub(crate) fn close(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        let in_group = self.group.is_some_and(|group| group.is_open);
        if let Some(call) = &mut self.call {
            match call.ending(in_group, window, &self.tables, &self.emitter) {
                Step::End(at) => drop(self.call_ended(at, window, sink)),
                ending => self.end_call(ending, window, sink),
            }
            // A call that was complete without its closing tags leaves text after it.
            self.run(window, sink);
            if self.call.is_some() {
                self.close(window, sink);
            }
        }
        self.emitter.text(window, window.end(), sink);
        self.emitter.settle(None, window, sink);
        self.fence = None;
        self.emitter.region.fence_is_clean = false;
        self.run = None;
        self.group = None;
    }

    /// The stream ends, for this reason: what a stop string took does not follow.
    pub(crate) fn ends_by(&mut self, reason: &FinishReason) {
        let stop = if *reason == FinishReason::Stop { std::mem::take(&mut self.stop) } else { Vec::new() };
        (self.emitter.ended_normally, self.emitter.stop) = (reason.is_normal(), stop);
    }

    /// The stream is over and everything was closed.
    pub(crate) fn finish(&mut self, sink: &mut Sink<'_>) {
        // Where the message is over in reasoning, what is in it may be text of a call before it, as the mark that
        // opened it (`mixed/closer_in_reasoning_that_never_ends`).
        if let Some(first) = self.emitter.region.in_doubt.take().filter(|_| !self.reasoning.is_field) {
            self.emitter.withdraw(first, sink);
        }
        self.emitter.finish(self.reasoning.is_unclosed(), sink);
    }

    /// Ends the open call at `at`; `false` if what follows it must be known first.
    fn call_ended(&mut self, at: u64, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        match self.closed_after(at, window) {
            Err(Undecided) => {
                if let Some(call) = &mut self.call {
                    call.ended_at = Some(at);
                }
                return false;
            }
            Err(No) => {}
            Ok(quoted_in) => {
                if let Some(call) = &mut self.call {
                    call.at.quoted_in = Some(quoted_in);
                }
            }
        }
        self.end_call(Step::End(at), window, sink);
        true
    }

    /// Ends what is open; where it was cut off, at the window's end.
    fn end_call(&mut self, ending: Step, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Some(call) = self.call.take() else { return };
        let is_text = matches!(ending, Step::Text(..));
        if is_text {
            self.note(call.dialect, call.start..window.end(), NotACallReason::CutOff);
        }
        // The code span that the group is in ended with its line: it ends no further call.
        if call.in_outer && call.span.is_none() {
            self.outer.marks.run_before = 0;
        }
        let (start, dialect, ended_by_line) = (call.start, call.dialect, call.shape.ended_by_line());
        let marks = match call.at.quoted_in {
            Some(QuotedIn::CodeSpan | QuotedIn::Quotation) => call.marks,
            _ => Marks::default(),
        };
        self.after_call(dialect);
        self.at = call.end(ending, &self.tables, window, &mut self.emitter, sink);
        if !is_text {
            self.context.after(window, start, self.at);
            self.context.carry(marks);
            self.outer.end = self.at;
            // By another reading it was none.
            self.not_calls.iter_mut().for_each(|list| list.retain(|note| note.span.end <= start));
        }
        self.emitter.region.passes_end();
        // Right after a call its fence may be closed (`fences/closed_right_after_a_call`), and the
        // line that ended a damaged one may be a marker's (`type_marker/marker_line_in_a_damaged_object`).
        self.line_start = self.fence.is_some() || ended_by_line;
    }

    /// Scans text; `true` if a call or a held fence was opened, `false` if more is needed.
    fn text(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        // Past the limit on calls a list that is open is read to its end (`limits/one_array_past`).
        if self.emitter.budget.openings == 0 {
            (self.run, self.group) = (None, None);
        }
        loop {
            match self.next(window, sink) {
                Err(Undecided) => {
                    self.emitter.text(window, self.at, sink);
                    return false;
                }
                Ok(Recognised::Opened) => return true,
                Ok(Recognised::Taken) => {}
                Err(No) | Ok(Recognised::Text) => {
                    self.at += window.from(self.at).chars().next().map_or(1, char::len_utf8) as u64
                }
            }
        }
    }

    /// Returns what is next: in a run or a group of calls, at a line's start, in plain text, at a mark.
    #[inline(always)] // With each chunk that is read here.
    fn next(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        if let Some(run) = self.run {
            match self.between_objects(run, window, sink) {
                Err(No) | Ok(Recognised::Text) => self.run = None,
                found => return found,
            }
        }
        if self.group.is_some() {
            match self.around_calls(window, sink) {
                Err(No) | Ok(Recognised::Text) => {}
                found => return found,
            }
        }
        if self.line_start {
            match self.line(window, sink) {
                Err(No) | Ok(Recognised::Text) => {}
                found => return found,
            }
        }
        if self.mark_at != self.at {
            match self.plain(window) {
                Err(No) | Ok(Recognised::Text) => {}
                found => return found,
            }
        }
        self.mark(window, sink)
    }

    /// Goes on to where something may begin: `Text` at a mark.
    #[inline(always)] // With each chunk that is read here.
    fn plain(&mut self, window: &Window<'_>) -> Match<Recognised> {
        let rest = window.from(self.at);
        if rest.is_empty() {
            return Err(Undecided);
        }
        // Between fences that wait, numbers begin lines, too, which the lexicon does not tell.
        if self.emitter.waits_for_fence()
            && let Some(line_break) = memchr::memchr(b'\n', &rest.as_bytes()[..leading_space(rest)])
        {
            self.at += line_break as u64 + 1;
            self.line_start = true;
            return Ok(Recognised::Taken);
        }
        let mut plain = self.tables.lexicon.plain_by_leads(rest.as_bytes(), self.stops());
        if let Some(at) = self.odd_closer(&rest[..plain.length]) {
            plain = Plain { length: at, ..Plain::none(false) };
        }
        if let Some(block) = self.context.block {
            match block.ends_in(&rest[..plain.length], plain.length == rest.len() && window.more) {
                Ends::No => {}
                Ends::At(length) => {
                    self.at += length as u64;
                    self.context.block_closes(window, self.at);
                    return Ok(Recognised::Taken);
                }
                Ends::Perhaps(length) => {
                    self.at += length as u64;
                    self.line_start = rest[..length].ends_with('\n');
                    return if self.line_start { Ok(Recognised::Taken) } else { Err(Undecided) };
                }
            }
        }
        self.at += plain.length as u64;
        self.line_start = plain.line_start;
        if plain.length == rest.len() {
            return Err(Undecided);
        }
        if plain.fit.is_whole {
            self.mark_at = self.at;
        }
        if self.line_start { Ok(Recognised::Taken) } else { Err(No) }
    }

    /// Returns the position where the closer of the open reasoning may begin, if the lexicon does not find it.
    fn odd_closer(&self, text: &str) -> Option<usize> {
        text.find(self.reasoning.odd_closer()?.chars().next()?)
    }
}
