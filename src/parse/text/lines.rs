//! At a line's start: fence lines, marker lines and calls that no marker announces.

use super::blocks::OpenBlock;
use super::tags::Here;
use super::{OpenFence, Recognised, Scanner, recognised};
use crate::event::{MarkerKind, QuotedIn};
use crate::json::window::{Answer, Match, No, Undecided, Window, first_of, leading_space};
use crate::parse::call::Markerless;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::TOOL_CODE;
use crate::parse::marks::fence::{Fence, fence_chars, fence_end, fence_open};
use crate::parse::marks::head::unit;
use crate::parse::marks::kinds::Kinds;
use crate::parse::shape::MARKERLESS;
use crate::parse::shape::python::{Calls, ToolCode};
use crate::parse::shape::run::{line_prefix, marker_prefix};
use crate::parse::tables::Marked;

/// Maximum number of digits in the number of a list item.
const MAX_DIGITS: usize = 3;

impl Scanner {
    /// Runs the recognisers at a line's start; returns the result of the first one that matches.
    pub(super) fn line(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let (text, more) = window.candidate(self.at, self.tables.hold);
        let indent = text.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let text = &text[indent..];
        let kinds = self.tables.lexicon.line_leads(text.as_bytes(), self.stops());
        let line = Here { indent, text, more, kinds, window };
        if let Some(next) = self.line_of_state(line, sink).decided()? {
            return Ok(next);
        }
        if line.text.is_empty() && more {
            return Err(Undecided);
        }
        let is_lead = kinds != Kinds::NONE && !text.is_empty();
        let found = if is_lead { self.line_that_begins(line, sink) } else { Err(No) };
        self.line_start &= found != Err(No);
        found
    }

    /// Runs the recognisers of lines that depend on the scanner's state and not on the lexicon.
    #[inline(always)] // With each line.
    fn line_of_state(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let in_block = self.context.block.is_some();
        let waits = self.emitter.waits_for_fence();
        recognised!(self, line, sink:
            // A block's closer may be any word, between fences that wait each number counts, and Harmony's
            // recipient may begin the message: the lexicon knows none of these.
            in_block || (line.kinds.has(Kinds::QUOTE) && self.fence.is_none()) => block_line,
            waits || line.kinds.has(Kinds::NUMBER) => numbered_fence,
            self.at == 0 => recipient_first,
        )
    }

    /// Runs the recognisers of lines that the lexicon selects, in order of precedence.
    #[inline(always)] // With each line that may be more than text.
    fn line_that_begins(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        // The others report what came before, whatever they say.
        recognised!(self, line, sink:
            true => turn_line,
            line.kinds.has(Kinds::REASONING) => reasoning_line,
            line.kinds.has(Kinds::FENCE) => fence_line,
            !self.emitter.budget.is_spent() => marker_line,
            line.kinds.has(Kinds::BARE) => markerless_line,
        )
    }

    /// Recognises the closer of the open quoting block, or the opener of one, at a line's start.
    #[inline]
    fn block_line(&mut self, line: Here<'_>, _: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        let (found, is_open) = match self.context.block {
            Some(block) => (block.closed_by_line(text, more).map(|length| (block, length)), true),
            None => (OpenBlock::opened_by_line(text, more), false),
        };
        let (block, length) = found?;
        self.at += (indent + length) as u64;
        self.line_start = false;
        match is_open {
            true => self.context.block_closes(window, self.at),
            false => self.context.block = Some(block),
        }
        Ok(Recognised::Taken)
    }

    /// Recognises a code fence after the number of a list item.
    #[inline]
    fn numbered_fence(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let number = self.numbered(line.text, line.more)?;
        self.opening_line(Here { indent: line.indent + number, text: &line.text[number..], ..line }, sink)
    }

    /// Recognises the line that closes the open code fence, or one that opens a fence.
    fn fence_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        match self.fence {
            Some(_) => self.closing_line(line, sink),
            None if self.context.block.is_some() => Err(No),
            None => self.opening_line(line, sink),
        }
    }

    /// Recognises the closer of the open code fence.
    pub(super) fn closing_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        let fence = self.fence().ok_or(No)?;
        let length = fence_end(text, fence, self.reasoning.reads_think_tags(), more)?;
        self.emitter.text(window, self.at, sink);
        self.at += (indent + length) as u64;
        let is_unread = self.fence.take().is_some_and(|open| open.is_unread);
        // A closing tag may be followed by text on its line.
        self.line_start = !fence.is_tag() || text.as_bytes()[..length].ends_with(b"\n");
        self.context.fence_closes(self.at, !self.line_start);
        self.emitter.region.fence_is_clean = false;
        if self.emitter.waits_for_fence() {
            self.emitter.close_held_fence();
            self.emitter.marker(MarkerKind::Fence, false, window, self.at, sink);
        } else {
            self.emitter.fence_text(window, self.at, sink);
        }
        self.emitter.region.follows_unread = is_unread;
        Ok(Recognised::Taken)
    }

    fn opening_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        if text.starts_with('\'') {
            self.context.read(window, self.at);
            // It closes a text of several lines.
            if self.context.lines().triple.is_some() {
                return Err(No);
            }
        }
        if let Some((fence, length)) = self.fence_on_a_line(text, more).decided()? {
            self.hold_fence(indent + length, window, sink);
            self.fence = Some(OpenFence { fence, quotes: QuotedIn::Fence, is_unread: false });
            self.emitter.region.fence_is_clean = true;
            return Ok(self.open_markerless(&Calls, &text[length..], true, window, sink).unwrap_or(Recognised::Taken));
        }
        let (fence, length) = fence_open(text, more)?;
        let inner = length + leading_space(&text[length..]);
        self.context.read(window, self.at);
        let is_spent = self.emitter.budget.is_spent();
        let introduced = !is_spent && self.context.lines().introduces;
        // In these cases what follows the fence decides nothing, so that nothing is held.
        let may_be_calls = !(is_spent || introduced || self.emitter.region.only_drafts());
        // Elsewhere a call that is printed is code.
        let may_print = may_be_calls && text[fence.length..length].trim() == TOOL_CODE;
        let is_printed = may_print && ToolCode.ahead(&text[inner..], &self.tables, more).decided()?.is_some();
        let is_held = is_printed || may_be_calls && self.call_ahead(&text[inner..], more).decided()?.is_some();
        self.emitter.text(window, self.at, sink);
        self.emitter.region.passes_end();
        if is_held {
            self.hold_fence(indent + inner, window, sink);
        } else {
            // An ordinary fence: whatever was held before it is an example.
            self.at += (indent + length) as u64;
            self.emitter.fence_text(window, self.at, sink);
        }
        let quotes = if introduced { QuotedIn::OwnWords } else { QuotedIn::Fence };
        self.fence = Some(OpenFence { fence, quotes, is_unread: false });
        self.context.fence_opens();
        self.emitter.region.fence_is_clean = true;
        self.line_start = true;
        match is_printed {
            true => self.open_markerless(&ToolCode, &text[inner..], true, window, sink),
            false => Ok(if is_held { Recognised::Opened } else { Recognised::Taken }),
        }
    }

    /// Starts to hold a code fence that begins with calls, and emits its opening line of `length` bytes.
    fn hold_fence(&mut self, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) {
        self.emitter.text(window, self.at, sink);
        self.emitter.hold_fence();
        self.at += length as u64;
        self.emitter.marker(MarkerKind::Fence, false, window, self.at, sink);
    }

    /// Matches the number of a list item and the fence after it at the start of `text`; between fences with calls the
    /// fence may be on the next line. Returns the length up to the fence.
    fn numbered(&self, text: &str, more: bool) -> Match<usize> {
        let digits = text.bytes().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
        // Only the first item's number has a trigger, so that the result does not depend on the chunks.
        let is_told = &text[..digits] == "1" || self.emitter.waits_for_fence();
        if self.fence.is_some() || digits == 0 || !is_told {
            return Err(No);
        }
        let rest = &text[digits..];
        let space = match rest.strip_prefix(['.', ')']) {
            Some(rest) if self.emitter.waits_for_fence() => leading_space(rest),
            Some(rest) => rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count(),
            None if rest.is_empty() && more => return Err(Undecided),
            None => return Err(No),
        };
        match &rest[1 + space..] {
            "" if more => Err(Undecided),
            inner => fence_chars(inner, more).map(|_| digits + 1 + space),
        }
    }

    /// Matches a fence that a call in Python's syntax follows on its line at the start of `text`. Returns the fence,
    /// and its length with a language.
    fn fence_on_a_line(&self, text: &str, more: bool) -> Match<(Fence, usize)> {
        // What would be held here could not become a call.
        if self.tables.python.is_none() || self.emitter.region.only_drafts() || self.emitter.budget.is_spent() {
            return Err(No);
        }
        let fence = fence_chars(text, more)?;
        let info = &text[fence.length..];
        // Nearly every fence has its line to itself.
        if info.starts_with('\n') {
            return Err(No);
        }
        let word = info.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let space = |text: &str| text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        // Right after the fence a call's name begins, else a language and a space.
        let direct = self.python_ahead(&info[space(info)..], more).map(|()| (fence, fence.length + space(info)));
        let after = &info[word..];
        match (direct, space(after)) {
            (Err(No), gap) if word > 0 && gap > 0 => {
                let call = self.python_ahead(&after[gap..], more);
                call.map(|()| (fence, fence.length + word + gap))
            }
            (Err(No), _) if word > 0 && after.is_empty() && more => Err(Undecided),
            (direct, _) => direct,
        }
    }

    /// Checks whether `text`, the content of a fence, begins with a call: an opener with the text that must follow it,
    /// a marker line, or a call without a marker.
    fn call_ahead(&self, text: &str, more: bool) -> Match<()> {
        if text.is_empty() {
            return if more { Err(Undecided) } else { Err(No) };
        }
        // A further fence begins none.
        if text.starts_with(['`', '~']) {
            return Err(No);
        }
        let line = first_of(self.tables.lined.iter().map(|marked| unit(line_prefix(*marked, text, more))));
        let bare = || first_of(MARKERLESS.iter().map(|shape| shape.ahead_in_fence(text, &self.tables, more)));
        let bare = if self.channels.in_final { Err(No) } else { bare() };
        unit(self.opener(text, more)).either(bare).either(line)
    }

    /// Recognises marker lines, such as `TYPE: MCP` and `TYPE: ANSWER`, and words that announce calls.
    fn marker_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        for i in 0..self.tables.lined.len() {
            let marked = self.tables.lined[i];
            let Some(length) = marked.call_line(text, more).decided()? else { continue };
            match marker_prefix(text, length, more) {
                Err(Undecided) => return Err(Undecided),
                Ok(prefix) => {
                    self.emitter.text(window, self.at, sink);
                    self.marked_call();
                    let run = self.run_of(marked, prefix);
                    let kind = if marked.is_line() { MarkerKind::CallLine } else { MarkerKind::Wrapper };
                    return self.open_object(run, prefix.after(indent), kind, window, sink);
                }
                Err(No) => {
                    self.note_here(marked.dialect, indent, length, NotACallReason::NoJson);
                    // A line is looked at once more while another of its readings is undecided.
                    if self.no_object_at.replace(self.at) != Some(self.at) {
                        self.emitter.budget.takes_opening();
                    }
                }
            }
        }
        if self.fence.is_some() || self.tables.lined.is_empty() {
            return Err(No);
        }
        self.emitter.text(window, self.at, sink);
        let first = !self.emitter.region.is_seen;
        let length = first_of(self.tables.lined.iter().map(|marked| answer_line(*marked, text, first, more)))?;
        self.emitter.settle(Some(QuotedIn::Fence), window, sink);
        let start = self.at;
        self.at += (indent + length) as u64;
        self.emitter.marker(MarkerKind::AnswerLine, false, window, self.at, sink);
        self.context.new_line(window, start, self.at);
        Ok(Recognised::Taken)
    }
}

/// Matches an answer line, such as `TYPE: ANSWER`, at the start of `text`; returns its length. `first`: no visible text
/// precedes it, so that the answer may begin on the same line.
fn answer_line(marked: Marked, text: &str, first: bool, more: bool) -> Match<usize> {
    let length = marked.answer_line(text, more)?;
    let rest = &text[length..];
    let spaces = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
    match rest.as_bytes().get(spaces) {
        Some(b'\n') => Ok(length + spaces + 1),
        None if more => Err(Undecided),
        None => Ok(text.len()),
        // After visible text such a line is prose (`type_marker/more_on_the_line`).
        Some(_) if first && spaces > 0 => Ok(length + spaces),
        Some(_) => Err(No),
    }
}
