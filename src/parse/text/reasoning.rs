//! The reasoning, and the marks around it: think tags, and those of the table.

use super::context::Context;
use super::tags::Here;
use super::{Recognised, Scanner};
use crate::dialect::{ReasoningMark, THINK_TAGS};
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, begins_tag_any_case, first_of};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::think_close;
use crate::parse::marks::turn::TextTurn;

impl Scanner {
    /// Recognises a think tag; a mention of one is text.
    pub(super) fn think(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        let open =
            || THINK_TAGS.iter().map(|tag| begins_tag_any_case(text, tag, false, more)).fold(Err(No), Answer::either);
        let close = think_close(text, more).decided()?;
        let length = close.map_or_else(open, Ok)?;
        if self.is_mention(&text[length..], more, window).decided()?.is_some() {
            return Ok(Recognised::Text);
        }
        // They do not nest, so that an opening one inside the reasoning is a mention, but for one that opens it once
        // more at its very start.
        if close.is_none() && self.emitter.region.kind == Region::Reasoning && self.emitter.region.has_text {
            self.emitter.decide();
            return Err(No);
        }
        self.take_mark(close.is_some(), length, window, sink)
    }

    /// Recognises a delimiter of reasoning other than a think tag. Text that begins with neither `<` nor `[` is a
    /// closer of reasoning, or plain text.
    pub(super) fn reasoning_tag(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        let is_other = if text.starts_with(['<', '[']) { Err(No) } else { Ok(Recognised::Text) };
        if !self.reads_marks() {
            return is_other;
        }
        self.context.read(window, self.at);
        let at_line_start = self.context.last().is_none();
        let Some((mark, close, length)) = self.reasoning_mark(text, at_line_start, more).decided()? else {
            return is_other;
        };
        let mention = if close { Err(No) } else { self.is_mention(&text[length..], more, window) };
        if mention.decided()?.is_some() {
            return is_other;
        }
        self.opens_block(mark, close);
        self.take_mark(close, length, window, sink)
    }

    /// Matches a delimiter that opens the reasoning, or the one that closes it, at the start of `text`. Returns it,
    /// `true` if it closes, and its length.
    fn reasoning_mark(
        &self,
        text: &str,
        at_line_start: bool,
        more: bool,
    ) -> Match<(&'static ReasoningMark, bool, usize)> {
        if let Some(mark) = self.reasoning.mark {
            return begins(text, mark.close, more).map(|()| (mark, true, mark.close.len()));
        }
        let named = &self.tables.config.reasoning_marks;
        let is_named = |mark: &&&'static ReasoningMark| named.iter().any(|open| open == mark.open);
        // If the model is known to write a mark, the template may have written its opener.
        if self.emitter.region.is_undecided {
            let marks = self.tables.marks.iter().filter(is_named);
            let closed = marks.map(|mark| begins(text, mark.close, more).map(|()| (*mark, true, mark.close.len())));
            if let Some(next) = first_of(closed).decided()? {
                return Ok(next);
            }
        }
        // A block begins at the message's start or a line's: in the answer, or, in a stream that is taken to start in
        // the reasoning, right at its start.
        let may_begin = self.emitter.region.reads_answer() || !self.emitter.region.has_text;
        if !may_begin || !(at_line_start || self.emitter.begins_region()) {
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

    /// Recognises a delimiter of reasoning that begins only at a line's start.
    pub(super) fn reasoning_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        if indent > 0 || self.reasoning.mark.is_some() || !self.reads_marks() {
            return Err(No);
        }
        self.emitter.text(window, self.at, sink);
        let (mark, close, length) = self.reasoning_mark(text, true, more)?;
        self.opens_block(mark, close);
        self.take_mark(close, length, window, sink)
    }

    fn reads_marks(&self) -> bool {
        self.reasoning.reads_blocks() && self.fence.is_none()
    }

    /// Notes that a block of reasoning begins with `mark`, unless `close` says that the mark closes one.
    fn opens_block(&mut self, mark: &'static ReasoningMark, close: bool) {
        if !close {
            // What a chat template may have opened a think tag closes all the same.
            self.reasoning.think_closes = self.emitter.region.is_undecided;
            self.reasoning.is_first_block = !self.reasoning.is_told;
            self.reasoning.mark = Some(mark);
        }
    }

    fn take_mark(&mut self, close: bool, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        self.at += length as u64;
        self.line_start = true;
        self.group = None;
        match close {
            true => self.leave_reasoning(window, sink),
            false => self.enter_reasoning(window, sink),
        }
        self.context = Context::new(self.at);
        Ok(Recognised::Taken)
    }

    /// Emits the opening delimiter of reasoning up to the current offset, and changes to the reasoning.
    pub(super) fn enter_reasoning(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        self.begin_reasoning();
        self.reasoning.is_told = true;
        self.emitter.think(MarkerKind::ThinkOpen, Region::Reasoning, window, self.at, sink);
    }

    /// Saves the turn in which the reasoning begins: the effect of tokens in the reasoning ends with it.
    pub(super) fn begin_reasoning(&mut self) {
        if self.emitter.region.kind == Region::Content {
            self.emitter.region.passes_end();
            self.reasoning.turn_before = self.emitter.region.turn;
        }
    }

    /// Emits the closing delimiter of reasoning up to the current offset, and changes to the answer, unless the text is
    /// from a separate reasoning field.
    pub(super) fn leave_reasoning(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        let in_answer = self.emitter.region.kind == Region::Content;
        // After a closed block or a reasoning field a further closer says nothing of what
        // is before it: those calls are settled (`reasoning/call_after_a_block_then_closer`).
        let is_orphan = in_answer && !self.reasoning.is_told;
        let is_undecided = self.emitter.region.is_undecided;
        self.reasoning.is_told = true;
        let region = if self.reasoning.is_field { Region::Reasoning } else { Region::Content };
        self.emitter.think(MarkerKind::ThinkClose, region, window, self.at, sink);
        // A further closer in the answer ends nothing, and a field ends by itself.
        if is_orphan || !in_answer && !self.reasoning.is_field {
            self.end_reasoning(is_orphan || is_undecided);
        }
        if is_orphan {
            self.emitter.all_was_reasoning(sink);
        }
    }

    /// Ends the reasoning, and restores the turn before it. `untold`: no delimiter showed that it began, so that its
    /// turn remains.
    pub(super) fn end_reasoning(&mut self, untold: bool) {
        let before = self.leave_blocks();
        self.emitter.region.turn = if untold { self.emitter.region.turn.after_reasoning() } else { before };
    }

    /// Closes all blocks of reasoning; returns the turn before them.
    pub(super) fn leave_blocks(&mut self) -> TextTurn {
        self.context.leave_region();
        self.channels.in_analysis = false;
        self.reasoning.mark = None;
        self.reasoning.turn_before
    }
}

/// Matches the opener of `mark` at the start of `text`; returns its length with its label and the line break after that
/// (`reasoning/gemma_label`, `reasoning/gemma_no_label`).
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
            // The block contains nothing but the label: its closer follows.
            Some(b'<') => Ok(label.len()),
            Some(_) => Ok(0),
            None if more => Err(Undecided),
            None => Ok(label.len()),
        },
        Err(Undecided) => Err(Undecided),
        Err(No) => Ok(0),
    }
}
