//! The reasoning, and the marks around it beside the think tags.

use super::context::Context;
use super::lines::Line;
use super::tags::Here;
use super::{Next, Scanner};
use crate::dialect::ReasoningMark;
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, first_of};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::turn::Turn;

impl Scanner {
    /// A mark around reasoning. All that begins with neither bracket is one, or text.
    pub(super) fn reasoning_tag(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Here { text, more, window, .. } = here;
        let is_other = if text.starts_with(['<', '[']) { Err(No) } else { Ok(Next::Text) };
        if !self.reads_marks() {
            return is_other;
        }
        self.context.read(window, self.at);
        let at_line_start = self.context.last().is_none();
        let Some((mark, close, length)) = self.reasoning_mark(text, at_line_start, more).decided()? else {
            return is_other;
        };
        let mention = if close { Err(No) } else { self.is_mention(&text[length..], more, window) };
        match mention.decided()? {
            Some(()) => is_other,
            None => self.take_mark(mark, close, length, window, sink),
        }
    }

    /// At a `<` or a `[`: a mark that opens the reasoning, or the one that closes it. Whether
    /// it closes, and its length.
    fn reasoning_mark(
        &self,
        text: &str,
        at_line_start: bool,
        more: bool,
    ) -> Match<(&'static ReasoningMark, bool, usize)> {
        if !self.reads_marks() {
            return Err(No);
        }
        if let Some(mark) = self.reasoning.mark {
            return begins(text, mark.close, more).map(|()| (mark, true, mark.close.len()));
        }
        let named = &self.tables.config.reasoning_marks;
        let is_named = |mark: &&&'static ReasoningMark| named.iter().any(|open| open == mark.open);
        // Of a model that is known to write a mark, the template may have written its opener.
        if self.emitter.region.is_undecided {
            let marks = self.tables.marks.iter().filter(is_named);
            let closed = marks.map(|mark| begins(text, mark.close, more).map(|()| (*mark, true, mark.close.len())));
            if let Some(next) = first_of(closed).decided()? {
                return Ok(next);
            }
        }
        // At the message's start or a line's.
        if !self.may_begin_block() || !(at_line_start || self.emitter.begins_region()) {
            return Err(No);
        }
        // After the first block those count that the model is known to write.
        let counts = |mark: &&&'static ReasoningMark| !self.reasoning.is_told || is_named(mark);
        let begins = self.emitter.begins_region();
        let first = text.as_bytes().first();
        let marks = self.tables.marks.iter().filter(|mark| first.is_none() || mark.open.as_bytes().first() == first);
        let marks = marks.filter(counts).filter(|mark| begins || !mark.is_phrase());
        first_of(marks.map(|mark| mark_open(mark, text, more).map(|length| (*mark, false, length))))
    }

    /// At a line's start: a mark that begins only there.
    pub(super) fn reasoning_line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Line { indent, text, more, window, .. } = line;
        if indent > 0 || self.reasoning.mark.is_some() || !self.reads_marks() {
            return Err(No);
        }
        self.emitter.text(window, self.at, sink);
        let (mark, close, length) = self.reasoning_mark(text, true, more)?;
        self.take_mark(mark, close, length, window, sink)
    }

    fn reads_marks(&self) -> bool {
        self.reasoning.reads_blocks() && self.fence.is_none()
    }

    /// Returns `true` if a block may begin here: in the answer, or, in a stream that is taken to start in
    /// the reasoning, right at its start.
    fn may_begin_block(&self) -> bool {
        self.emitter.region.reads_answer() || !self.emitter.region.has_text
    }

    fn take_mark(
        &mut self,
        mark: &'static ReasoningMark,
        close: bool,
        length: usize,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Next> {
        self.at += length as u64;
        self.line_start = true;
        self.context = Context::new(self.at);
        self.group = None;
        if close {
            self.leave_reasoning(window, sink);
        } else {
            // What a chat template may have opened a think tag closes all the same.
            let think_closes = self.emitter.region.is_undecided;
            self.reasoning.block_opens(mark, think_closes);
            self.enter_reasoning(window, sink);
        }
        Ok(Next::Taken)
    }

    /// Goes over to the reasoning with a mark up to `at`.
    pub(super) fn enter_reasoning(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        self.begin_reasoning();
        self.reasoning.is_told = true;
        self.emitter.think(MarkerKind::ThinkOpen, Region::Reasoning, window, self.at, sink);
    }

    /// The reasoning begins: what a token says in it holds in it alone.
    pub(super) fn begin_reasoning(&mut self) {
        if self.emitter.region.kind == Region::Content {
            let turn = self.reasoning.begins_in(self.emitter.region.turn);
            self.emitter.region.turn = turn;
        }
    }

    /// Goes over to the answer with a mark up to `at`.
    pub(super) fn leave_reasoning(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        let is_undecided = self.emitter.region.is_undecided;
        self.emitter.think(MarkerKind::ThinkClose, Region::Content, window, self.at, sink);
        self.reasoning.is_told = true;
        self.end_reasoning(is_undecided);
    }

    /// The reasoning is over. `untold`: no mark said that it began.
    pub(super) fn end_reasoning(&mut self, untold: bool) {
        let before = self.leave_blocks();
        self.emitter.region.turn = if untold { self.emitter.region.turn.after_reasoning() } else { before };
    }

    /// No block is open any more; yields whose turn it was before them.
    pub(super) fn leave_blocks(&mut self) -> Turn {
        self.context.leave_region();
        self.channels.in_analysis = false;
        self.reasoning.block_ends()
    }
}

/// Checks whether `text` begins with what opens a mark; yields its length with its label and the line
/// break after that (`reasoning/gemma_label`, `reasoning/gemma_no_label`).
fn mark_open(mark: &ReasoningMark, text: &str, more: bool) -> Match<usize> {
    begins(text, mark.open, more)?;
    let length = mark.open.len();
    let label = mark.label.map_or(Ok(0), |label| label_length(label, &text[length..], more));
    label.map(|label| length + label)
}

fn label_length(label: &str, text: &str, more: bool) -> Match<usize> {
    match begins(text, label, more) {
        Ok(()) => match text.as_bytes().get(label.len()) {
            Some(b'\n') => Ok(label.len() + 1),
            Some(b'<') => Ok(label.len()),
            Some(_) => Ok(0),
            None if more => Err(Undecided),
            None => Ok(label.len()),
        },
        Err(Undecided) => Err(Undecided),
        Err(No) => Ok(0),
    }
}
