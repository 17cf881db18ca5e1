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

/// Scanner of the text between calls; it owns the open call and all that is known of the text so far.
pub(crate) struct Scanner {
    pub(crate) tables: Arc<Tables>,
    emitter: Emitter,
    call: Option<OpenCall>,
    /// Offset up to which text was scanned.
    at: u64,
    /// `true` if only spaces are between the last line break and `at`.
    line_start: bool,
    /// Offset of the last delimiter that the lexicon found whole: while more of it arrives, it is not searched again.
    mark_at: u64,
    pub(crate) context: Context,
    fence: Option<OpenFence>,
    /// The run of objects after a marker that is open; `None` outside one.
    run: Option<ObjectRun>,
    /// The group of calls that is open, or whose closer may follow a call; `None` without one.
    group: Option<CallGroup>,
    /// Surroundings of the marker of the open run or group.
    outer: Outer,
    reasoning: Reasoning,
    channels: Channels,
    /// Offset of the last closer that was found between calls, which is not to be handled twice.
    closer_at: u64,
    /// Offset of the last line that announces calls and that no call follows.
    no_object_at: Option<u64>,
    /// `true` if `<s>` occurred, so that `</s>` is HTML.
    saw_strike: bool,
    /// Kinds of delimiters that count in text that is emitted on the fast path.
    fast_counts: Kinds,
    /// Stop strings of the message's request.
    pub(crate) stop: Vec<String>,
    /// Candidates for calls that were rejected; `None` if the caller has not asked for them.
    pub(crate) not_calls: Option<Vec<NotACall>>,
}

/// The open code fence.
#[derive(Debug, Clone, Copy)]
struct OpenFence {
    fence: Fence,
    /// Kind of quotation for calls in the fence, if it contains other text, too.
    quotes: QuotedIn,
    /// `true` if the fence begins with a call that cannot be read.
    is_unread: bool,
}

/// The surroundings of the marker before a run or a group of calls, and so of its calls.
#[derive(Debug, Clone, Copy, Default)]
struct Outer {
    quoted_in: Option<QuotedIn>,
    marks: Marks,
    /// `true` if only calls, white space and tokens precede the marker on its line.
    begins_line: bool,
    /// Offset after the last syntax or call of the run or group: a call that begins there is in it.
    end: u64,
}

/// Offset that no text reaches, for none.
const NOWHERE: u64 = u64::MAX;

/// Number of bytes after a call within which a quotation around it must be closed.
const CLOSES_WITHIN: usize = 64;

/// Result of a recogniser at a position where a delimiter may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recognised {
    /// The bytes are text, whatever they look like.
    Text,
    /// A delimiter was consumed; scanning continues after it.
    Taken,
    /// A call or a held fence was opened, which changes how far may be read.
    Opened,
}

/// Runs recognisers in order, each if the condition before it holds; returns the first result that is not `Err(No)`, or
/// `Err(No)` if none matches.
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

    /// Returns `true` if no further call is searched for.
    pub(crate) fn is_spent(&self) -> bool {
        self.emitter.budget.is_spent()
    }

    #[inline]
    fn fence(&self) -> Option<Fence> {
        self.fence.map(|open| open.fence)
    }

    /// Returns the kinds of delimiters at which plain text ends: all, or all but those of calls once no further call is
    /// searched for.
    fn stops(&self) -> Kinds {
        Kinds::ALL.without(Kinds::CALLS.only_if(self.emitter.budget.is_spent()))
    }

    /// Returns the kinds of delimiters that count at this position: the recognisers of all others match nothing here.
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

    /// Advances to `at` in a call whose text up to there was emitted without the scanner.
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

    /// Changes to the reasoning field if `reasoning`, else to the answer; everything before was decided about.
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

    /// Reads the window to its end; returns the offset of the first byte that is still needed.
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

    /// Reads more of the open call; returns `false` if more text is needed.
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

    /// Reads text, or a held fence, until it changes how far may be read; returns `false` if more text is needed.
    ///
    /// Held fences may contain as many bytes as one call. That limit is a fixed offset, too: everything is read up to
    /// there first, however the text was cut, and if a byte follows while they are undecided, they are examples.
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

    /// Handles the result of a step in the open call; returns `false` if more text is needed.
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

    /// Turns the open call back into text up to `at`, after which scanning continues as usual.
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

    /// Adds a rejected candidate to the list, if the caller asked for it, unless it is there already.
    fn note(&mut self, dialect: Dialect, span: Range<u64>, reason: NotACallReason) {
        let Some(list) = &mut self.not_calls else { return };
        let note = NotACall { dialect, span, reason };
        // A line is looked at once more while another of its readings is undecided.
        if !list.iter().rev().take(4).any(|known| *known == note) {
            list.push(note);
        }
    }

    /// Adds a rejected candidate, known by `length` bytes that follow the current offset and `indent`, to the list.
    fn note_here(&mut self, dialect: Dialect, indent: usize, length: usize, reason: NotACallReason) {
        let start = self.at + indent as u64;
        self.note(dialect, start..start + length as u64, reason);
    }

    /// Adds the opener with which `text` begins, if there is one, to the list of rejected candidates.
    fn note_mark(&mut self, text: &str, reason: NotACallReason) {
        if self.not_calls.is_none() {
            return;
        }
        if let Some((dialect, length, is_whole)) = self.tables.mark(text) {
            self.note_here(dialect, 0, length, if is_whole { reason } else { NotACallReason::PartialOpener });
        }
    }

    /// Ends the open call, fence, run and group: no more text follows in this channel.
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

    /// Notes why the stream ends: with `Stop`, one of the stop strings may have taken text that was due.
    pub(crate) fn ends_by(&mut self, reason: &FinishReason) {
        let stop = if *reason == FinishReason::Stop { std::mem::take(&mut self.stop) } else { Vec::new() };
        (self.emitter.ended_normally, self.emitter.stop) = (reason.is_normal(), stop);
    }

    /// Emits the final events, after the stream has ended and everything was closed.
    pub(crate) fn finish(&mut self, sink: &mut Sink<'_>) {
        // Where the message is over in reasoning, what is in it may be text of a call before it, as the mark that
        // opened it (`mixed/closer_in_reasoning_that_never_ends`).
        if let Some(first) = self.emitter.region.in_doubt.take().filter(|_| !self.reasoning.is_field) {
            self.emitter.withdraw(first, sink);
        }
        self.emitter.finish(self.reasoning.is_unclosed(), sink);
    }

    /// Ends the open call at `at`; returns `false` if the text after it must be known first.
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

    /// Ends the open call with the step `ending`; if the call was cut off, at the window's end.
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

    /// Scans text; returns `true` if a call or a held fence was opened, `false` if more text is needed.
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

    /// Recognises what is next: in a run or a group of calls, at a line's start, in plain text, or at a delimiter.
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

    /// Advances past plain text, to where a delimiter may begin: `Taken` at a line's start or after a block's closer,
    /// `No` at any other delimiter.
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

    /// Returns the offset in `text` at which the closer of the open reasoning may begin, if the lexicon does not find
    /// that closer.
    fn odd_closer(&self, text: &str) -> Option<usize> {
        text.find(self.reasoning.odd_closer()?.chars().next()?)
    }
}
