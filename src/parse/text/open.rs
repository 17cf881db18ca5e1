//! A call that is open, whatever its shape, and the limit on its bytes.
//!
//! The limit is a fixed offset, `start + call_bytes`: however the text was cut,
//! the call is first read up to there and no further. If it is not over then and
//! a byte follows, it is over the limit. Its text so far is kept as `head`,
//! nothing more of it is reported, and only its end is looked for, from the
//! cursor on; what came before is let go. A call that then turns out to have
//! ended at the limit or before it is judged by `head` as if there were no
//! limit; any other is `limit`.
//!
//! A call that no marker announces is the same call with a flag: what it says is
//! reported once all calls of its series are known to be calls. Over the limit it
//! is text.

use super::context::Marks;
use super::fast_value::{FastValue, ValueKind};
use crate::dialect::{Dialect, Doubt};
use crate::event::{MarkerKind, QuotedIn, Region};
use crate::json::window::{Window, leading_space};
use crate::parse::call::{CallOut, CallShape, CutCall, SeriesPart, Step};
use crate::parse::emit::command::decode_commands;
use crate::parse::emit::damage::{CallCloser, without_group};
use crate::parse::emit::emitter::Emitter;
use crate::parse::emit::judge::Placement;
use crate::parse::emit::pending::{Ended, unreadable};
use crate::parse::emit::sink::Sink;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::emit::verdict::{unwrap_element, verdict};
use crate::parse::tables::Tables;

/// Message for a truncated call.
const CUT: &str = "the output ended inside the call";

/// An open call, whatever its shape.
#[derive(Debug)]
pub(crate) struct OpenCall {
    pub(super) dialect: Dialect,
    pub(super) start: u64,
    pub(super) shape: Box<dyn CallShape>,
    /// `true` if no marker announces the call, though words of its own may: it may yet be text.
    pub(super) is_markerless: bool,
    /// `true` if the call follows a group's opener or a marker, and is quoted if that is.
    pub(super) in_outer: bool,
    /// Marks of quotation that are open before the call, and may be closed after it.
    pub(super) marks: Marks,
    /// Offset at which the call is over, while the text after it must decide whether it is quoted.
    pub(super) ended_at: Option<u64>,
    /// Code span around the call: the run of backticks that closes it on the call's first line ends the call.
    pub(super) span: Option<OpenSpan>,
    think_ends: bool,
    /// Placement of the call, as far as its opener shows it.
    pub(super) at: Placement,
    /// Offset of the limit on the call's bytes: a call that ends before it or at it is within the limit.
    limit_offset: u64,
    /// The call's text up to the limit, once it is over the limit.
    pub(super) head: Option<String>,
    /// The calls of the series so far, if no marker announces them.
    series: Vec<SeriesPart>,
}

/// A code span that contains a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenSpan {
    /// Number of backticks in the run that closes the span.
    run: usize,
    /// Offset from which the closing run is searched for.
    cursor: u64,
}

impl OpenCall {
    /// Creates a call that may have at most `call_bytes` bytes.
    pub(crate) fn new(dialect: Dialect, start: u64, shape: Box<dyn CallShape>, call_bytes: usize) -> Self {
        let limit_offset = start.saturating_add(call_bytes as u64);
        OpenCall {
            dialect,
            start,
            shape,
            is_markerless: false,
            in_outer: false,
            marks: Marks::default(),
            ended_at: None,
            span: None,
            think_ends: false,
            at: Placement::default(),
            limit_offset,
            head: None,
            series: Vec::new(),
        }
    }

    /// Opens the call at this placement, as far as its opener shows it. `reads_reasoning`: reasoning is separated from
    /// the answer.
    pub(super) fn open(&mut self, at: Placement, marks: Marks, reads_reasoning: bool, emitter: &mut Emitter) {
        self.marks = marks;
        if at.quoted_in == Some(QuotedIn::CodeSpan) && marks.run_before > 0 {
            self.span = Some(OpenSpan { run: marks.run_before, cursor: self.start });
        }
        let in_reasoning = emitter.region.kind == Region::Reasoning;
        self.think_ends = reads_reasoning && (in_reasoning || self.shape.ends_with_reasoning());
        let announced = emitter.region.announced();
        // What a token announces begins its line if the token does; in a fence each call does.
        let begins_line = announced.filter(|_| self.is_markerless && !at.is_fenced).unwrap_or(at.begins_line);
        let is_bare = self.at.is_bare && announced.is_none();
        let doubt = if announced.is_none() { at.doubt } else { Doubt::None };
        self.at = Placement { begins_line, is_bare, doubt, prose: emitter.region.prose, ..at };
    }

    /// Returns the offset of the first byte that the call still needs.
    pub(crate) fn keep_from(&self) -> u64 {
        match self.ended_at {
            Some(end) if self.head.is_some() => end,
            _ if self.head.is_some() => self.shape.needed_from(),
            _ => self.start,
        }
    }

    /// Returns the offset at which the code span around the call may end, after which nothing is read, and `true` if it
    /// does end there; `None` if it does not end in the window.
    #[inline]
    pub(super) fn span_end(&mut self, window: &Window<'_>) -> Option<(u64, bool)> {
        let span = self.span?;
        self.look_for_span_end(span, window)
    }

    fn look_for_span_end(&mut self, span: OpenSpan, window: &Window<'_>) -> Option<(u64, bool)> {
        let OpenSpan { run, mut cursor } = span;
        loop {
            let rest = window.from(cursor).as_bytes();
            let Some(found) = memchr::memchr2(b'`', b'\n', rest) else {
                self.span = Some(OpenSpan { run, cursor: window.end() });
                return None;
            };
            if rest[found] == b'\n' {
                self.span = None;
                return None;
            }
            let length = rest[found..].iter().take_while(|byte| **byte == b'`').count();
            let at = cursor + found as u64;
            // A run that ends with the chunk may go on, so that only the next byte tells its length.
            if found + length == rest.len() && window.more || length == run {
                self.span = Some(OpenSpan { run, cursor: at });
                return Some((at, found + length < rest.len() || !window.more));
            }
            cursor = at + length as u64;
        }
    }

    /// Returns the state of the value that is being read, if it is emitted as it arrives and was emitted up to `at`;
    /// else `None`.
    pub(crate) fn fast_value(&mut self, at: u64, index: u32, reasoning_channel: bool) -> Option<FastValue> {
        // Past the limit, after its end and in a code span each chunk decides something.
        if self.head.is_some() || self.ended_at.is_some() || self.span.is_some() {
            return None;
        }
        let kind = ValueKind::of(self.shape.open_value()?, at)?;
        Some(FastValue { at, limit_offset: self.limit_offset, index, kind, reasoning_channel })
    }

    /// Reads the call to the end of the window or of the call, and returns the last step.
    pub(crate) fn advance(
        &mut self,
        tables: &Tables,
        window: &Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> Step {
        loop {
            let before_limit;
            let readable = if self.head.is_some() || window.end() <= self.limit_offset {
                window
            } else {
                before_limit = window.until(self.limit_offset);
                &before_limit
            };
            match self.steps(tables, readable, emitter, sink) {
                Step::More if readable.end() == window.end() => {
                    if self.head.is_some() {
                        let to = self.shape.needed_from().min(window.end());
                        // Nothing reports the call at its end, and its bytes are kept no longer.
                        if emitter.budget.limit_reported {
                            emitter.marker(MarkerKind::Wrapper, self.at.quoted_in.is_some(), window, to, sink);
                        }
                    }
                    return Step::More;
                }
                Step::More if self.is_markerless => {
                    let at = self.over_limit(window);
                    return self.shape.at_limit(at);
                }
                Step::More => self.head = Some(readable.slice(self.start..readable.end()).to_owned()),
                step => return step,
            }
        }
    }

    /// Steps the shape until it needs more text or is over.
    fn steps(&mut self, tables: &Tables, window: &Window<'_>, emitter: &mut Emitter, sink: &mut Sink<'_>) -> Step {
        let head = self.head.as_deref().map(|text| Window { text, base: self.start, more: false });
        let (think_ends, series) = (self.think_ends, &mut self.series);
        let mut out = CallOut { emitter, sink, tables, head: head.as_ref(), think_ends, series };
        loop {
            match self.shape.step(window, &mut out) {
                Step::Next => {}
                Step::Kept(end) => out.series.push(SeriesPart::Kept(end)),
                Step::Call(span, call) => out.series.push(SeriesPart::Call(span, call)),
                step => return step,
            }
        }
    }

    /// Emits a series of calls that ends at `end`, and returns `end`. If calls were final there, those read after them
    /// are text.
    fn emit_series(
        mut self,
        end: u64,
        tables: &Tables,
        window: &Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> u64 {
        let is_quoted = self.at.quoted_in.is_some();
        let is_end = |part: &SeriesPart| matches!(part, SeriesPart::Kept(at) if *at == end);
        if let Some(last) = self.series.iter().rposition(is_end) {
            self.series.truncate(last + 1);
        }
        emitter.hold_series();
        let mut kept = None;
        for part in self.series {
            let (span, call) = match part {
                SeriesPart::Call(span, call) => (span, call),
                SeriesPart::Kept(at) => {
                    emitter.marker(MarkerKind::Wrapper, is_quoted, window, at, sink);
                    kept = Some(at);
                    continue;
                }
            };
            // After calls that are by themselves white space is text.
            if let Some(at) = kept {
                let space = leading_space(window.slice(at..span.start));
                emitter.text(window, at + space as u64, sink);
            }
            emitter.marker(MarkerKind::Wrapper, is_quoted, window, span.start, sink);
            let at = Placement { prose_follows: call.prose_follows, ..self.at };
            let read = verdict(tables, self.dialect, emitter.index(), *call, window.slice(span.clone()));
            if let Ok(call) = &read {
                emitter.call_start(span.start, call.server.as_deref(), &call.tool, sink);
                emitter.delta(span.start, &call.arguments.to_string(), sink);
            }
            let closer = CallCloser::BRACKETS;
            let ended = Ended { read, at, restated: false, span, is_whole: true, closer, head: None };
            emitter.call_end(ended, window, sink);
        }
        emitter.marker(MarkerKind::Wrapper, is_quoted, window, end, sink);
        if !emitter.waits_for_fence() {
            emitter.settle(self.at.quoted_in, window, sink);
        }
        end
    }

    /// Returns the offset up to which a call without a marker that is over the limit is text: after its first character
    /// at least.
    fn over_limit(&self, window: &Window<'_>) -> u64 {
        let first = window.from(self.start).chars().next().map_or(0, char::len_utf8);
        window.until(self.limit_offset).end().max(self.start + first as u64)
    }

    /// Returns the last step of the call if the stream ends with the window.
    pub(crate) fn ending(&mut self, in_group: bool, window: &Window<'_>, tables: &Tables, emitter: &Emitter) -> Step {
        if let Some(end) = self.ended_at {
            return Step::End(end);
        }
        // In a group that is open a second closer is due.
        let is_due = || !in_group && self.head.is_none() && self.shape.missing(window, tables).is_due;
        if emitter.is_stopped_by(&self.shape.closer(tables).close) && is_due() {
            self.shape.take_closer(window, tables);
            return Step::End(window.end());
        }
        self.shape.ending(window, tables)
    }

    /// Returns the fault of a call that the end of the stream, or of the reasoning, left open.
    fn cut_off(&self, window: &Window<'_>, tables: &Tables, emitter: &Emitter) -> Fault {
        if self.head.is_some() {
            return Fault::truncated(CUT);
        }
        let CutCall { inner, too_deep, .. } = self.shape.missing(window, tables);
        if too_deep {
            return Fault::too_deep(tables.config.limits.depth);
        }
        let closer = self.shape.closer(tables);
        let close = &*closer.close;
        // A call whose own closing tag came is no truncated one, but a damaged one.
        let is_closed = emitter.ended_normally && !close.is_empty() && !inner.is_empty();
        if is_closed && ends_with(window.slice(self.start..window.end()), close, tables) {
            return Fault::malformed(format!("`{inner}` is missing, or damaged, before `{close}`"));
        }
        match format!("{inner}{close}") {
            missing if missing.is_empty() => Fault::truncated(CUT),
            missing => Fault::truncated(format!("{CUT}: `{missing}` is missing")),
        }
    }

    /// Ends the call with the step `ending`, and emits its result; returns the offset at which it ends.
    pub(crate) fn end(
        self,
        ending: Step,
        tables: &Tables,
        window: &Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> u64 {
        match ending {
            Step::End(end) if self.is_markerless => return self.emit_series(end, tables, window, emitter, sink),
            Step::Text(..) => {
                emitter.given_back(self.start..window.end(), self.at.quoted_in.is_some(), window, sink);
                return window.end();
            }
            _ => {}
        }
        let end = if let Step::End(end) | Step::Broken(end, _) = ending { end } else { window.end() };
        let head = self.head.as_deref().map(|text| Window { text, base: self.start, more: false });
        let kept = head.as_ref().unwrap_or(window);
        let call_bytes = tables.config.limits.call_bytes;
        let (closer, mut goes_on) = (self.shape.closer(tables), self.shape.is_damaged());
        let fault = if end > self.limit_offset {
            Some(Fault::limit(format!("a call holds at most {call_bytes} bytes")))
        } else if let Step::More = ending {
            Some(self.cut_off(window, tables, emitter))
        } else if let Step::Broken(_, why) = ending {
            Some(Fault::malformed(unreadable(why)))
        } else {
            None
        };
        let mut call = match fault {
            Some(fault) => UnresolvedCall { fault: Some(fault), ..UnresolvedCall::of(self.shape.called(tables)) },
            None => self.shape.resolve(kept, end, tables),
        };
        let span = self.start..end;
        let raw = kept.slice(span.clone());
        // A call that its opener is all of may be past the limit as it begins.
        let raw = &raw[..raw.floor_char_boundary(call_bytes)];
        unwrap_element(&mut call, tables);
        decode_commands(&mut call);
        let (restated, is_unnamed) = (call.restated, call.tool.is_none());
        goes_on |= call.goes_on;
        let read = verdict(tables, self.dialect, emitter.index(), call, raw);
        let head = (self.head.is_some() || end > self.limit_offset).then(|| raw.to_owned());
        let text = window.slice(self.start.max(window.base).min(end)..end);
        let is_closed = read.is_err() && closer.ends(text);
        // What names no tool is no call that was damaged, and what closes nothing in it says of the
        // calls before it what it says in text (`mixed/closer_after_a_brace`).
        let damage = emitter.region.known_damage();
        // A part of a call past the limit is lost.
        let is_error = read.is_err() && self.at.quoted_in.is_none() && self.head.is_none();
        let stray = match is_error {
            true if is_unnamed => damage.stray_in(text),
            // One that ends with another call's closer may be text of that call
            // (`mixed/closer_after_a_tag`). A member of a series is over before it is known what the
            // series is.
            true if !self.is_markerless => damage.stray_at_end(text, &closer, tables),
            _ => None,
        };
        // Only what could not be read may go on: neither an example, nor what its own closer ended.
        let is_left = goes_on && read.is_err() && self.at.quoted_in.is_none() && !is_closed;
        let is_whole = is_closed || text.ends_with(['}', ']', ')']);
        let ended = Ended { read, at: self.at, restated, span, is_whole, closer: closer.clone(), head };
        emitter.call_end(ended, window, sink);
        if let Some(found) = stray {
            emitter.found_closer(found, 0, window, sink);
        }
        if is_error {
            emitter.region.damage().passes_call(text);
        }
        if is_left {
            emitter.region.damage().begins(closer, self.dialect);
        }
        end
    }
}

/// Returns `true` if `text` ends with the closer of a call, with nothing after it but closers of groups.
fn ends_with(text: &str, close: &str, tables: &Tables) -> bool {
    let mut left = Some(text.trim_end());
    while let Some(text) = left {
        if text.ends_with(close) {
            return true;
        }
        left = without_group(text, tables);
    }
    false
}
