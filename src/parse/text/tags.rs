//! At a `<` or a `[`: the recognisers in their order, and openers with their gates.

use super::blocks::OpenBlock;
use super::open::OpenCall;
use super::{CLOSES_WITHIN, Outer, Recognised, Scanner, recognised};
use crate::dialect::{Dialect, Doubt, NamedCall};
use crate::event::{MarkerKind, QuotedIn};
use crate::json::window::{Answer, Match, No, Undecided, Window, first_said};
use crate::parse::call::{CallShape, Opened, Opening, Opens};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::judge::Placement;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::sink::Sink;
use crate::parse::marks::channel::START;
use crate::parse::marks::head::{group_close, head};
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::prefixes::Fit;
use crate::parse::shape::OPENERS;
use crate::parse::shape::run::marker_prefix;
use crate::parse::tables::Tables;

/// A position where a delimiter may begin, at a `<` or a `[` or at a line's start, and the text there.
#[derive(Clone, Copy)]
pub(super) struct Here<'w> {
    /// Number of bytes of white space before the position, at a line's start.
    pub(super) indent: usize,
    pub(super) text: &'w str,
    /// `true` if the text may still grow.
    pub(super) more: bool,
    /// Kinds of the delimiters that may begin at this position, by its bytes.
    pub(super) kinds: Kinds,
    pub(super) window: &'w Window<'w>,
}

impl Scanner {
    /// Matches an opener of calls, with the text that must follow it, at the start of `text`. Of several that begin
    /// alike the first shape's counts, so that no later one is chosen too soon.
    pub(super) fn opener(&self, text: &str, more: bool) -> Match<(&'static dyn Opens, Opening)> {
        if self.emitter.budget.is_spent() {
            return Err(No);
        }
        let Fit { kinds, is_whole } = self.tables.lexicon.mark(text, Kinds::OPENERS);
        if !is_whole {
            // Each shape would say the same.
            return if more && kinds != Kinds::NONE { Err(Undecided) } else { Err(No) };
        }
        let shapes = OPENERS.iter().filter(|(kind, _)| kinds.has(*kind)).map(|(_, shape)| shape);
        first_said(shapes.map(|shape| shape.opener(&self.tables, text, more).map(|opening| (*shape, opening))))
    }

    /// Runs the recognisers at a `<` or a `[`, or where reasoning may be closed; returns the result of the first one
    /// that matches.
    pub(super) fn mark(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let (text, more) = window.candidate(self.at, self.tables.hold);
        if text.len() == 1 {
            return if more { Err(Undecided) } else { Err(No) };
        }
        // What came before counts in the decisions below.
        self.emitter.text(window, self.at, sink);
        let is_bracket = text.starts_with('[');
        let kinds = match text.starts_with('<') || is_bracket {
            true => self.tables.lexicon.mark(text, self.counts()).kinds,
            // All that begins with neither closes the reasoning, or is text.
            false => Kinds::REASONING,
        };
        let here = Here { indent: 0, text, more, kinds, window };
        let in_block = self.context.block.is_some();
        // In order of precedence.
        recognised!(self, here, sink:
            kinds.has(Kinds::THINK) => think,
            kinds.has(Kinds::FENCE_TAG) => closing_line,
            kinds.has(Kinds::QUOTE) || in_block => block_mark,
            kinds.has(Kinds::REASONING) => reasoning_tag,
            kinds.has(Kinds::CLOSER) || is_bracket => any_closer,
            kinds.has(Kinds::OPENERS) => call_opener,
            kinds.has(Kinds::BARE) => python_list,
            kinds.has(Kinds::CHANNEL) => channel,
            kinds.has(Kinds::TOKEN) => token,
            kinds.has(Kinds::NAMED) => broken_head,
            kinds.has(Kinds::RESULT) => result_tag,
            kinds.has(Kinds::OPENERS | Kinds::PARTIAL) => failed_opener,
        )
    }

    /// Recognises closers of calls that have nothing to close here, and the open group's closer. A `[` after a
    /// backslash is text, as it is escaped (`tool_calls/escaped`).
    fn any_closer(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        self.closer(text, more, window, sink).decided()?;
        if text.starts_with('[') {
            self.context.read(window, self.at);
            if self.context.last() == Some('\\') {
                return Ok(Recognised::Text);
            }
        }
        let open = self.group.filter(|group| group.is_open).ok_or(No)?;
        let length = group_close(self.tables.named[open.named].named, text, more)?;
        Ok(self.close_group(open.named, length, window, sink))
    }

    /// Recognises an opener of calls with the text that must follow it, and opens the call or the group.
    fn call_opener(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        let (shape, opening) = self.opener(text, more)?;
        self.marked_call();
        match shape.open(opening, self.at, text, &self.tables) {
            Opened::Call(dialect, shape) => {
                if dialect == Dialect::Harmony {
                    self.leave_for_call(text, window, sink);
                    if text.starts_with(START) {
                        // It begins a message of its own.
                        self.context.new_line(window, self.at, self.at);
                    }
                }
                let mut shape = shape;
                if let Some(group) = self.group.filter(|group| group.is_open) {
                    shape.enter_group(self.tables.named[group.named].named, group.glued);
                }
                self.open(self.call_of(dialect, shape), window, sink)
            }
            Opened::Group(named, true) => {
                self.outer = self.surroundings(self.at, window);
                Ok(self.open_group(named, opening.length, window, sink))
            }
            Opened::Group(named, false) => Ok(self.close_group(named, opening.length, window, sink)),
            Opened::Objects(marked) => {
                let Ok(prefix) = marker_prefix(text, opening.length, false) else { return Err(No) };
                let run = self.run_of(marked, prefix);
                self.open_object(run, prefix, MarkerKind::Wrapper, window, sink)
            }
        }
    }

    /// Recognises, at a `<` or a `[`, the closer of a damaged or an earlier call that has nothing to close here.
    fn closer(&mut self, text: &str, more: bool, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<()> {
        if self.closer_at == self.at {
            return Err(No);
        }
        let damage = self.emitter.region.known_damage();
        let (found, length) = damage.closer(damage.is_near, text, more)?;
        // In quotes it is only mentioned.
        if self.is_mention(&text[length..], more, window).decided()?.is_some() {
            return Err(No);
        }
        self.closer_at = self.at;
        self.emitter.found_closer(found, length, window, sink);
        Ok(())
    }

    /// Adds an opener of a known dialect, with text after it that belongs to no call, to the rejected candidates.
    fn failed_opener(&mut self, Here { text, window, .. }: Here<'_>, _: &mut Sink<'_>) -> Match<Recognised> {
        if text.starts_with('<') && self.not_calls.is_some() && !self.emitter.budget.is_spent() {
            self.context.read(window, self.at);
            // A mention in quotes is none that failed.
            if self.context.marks().direct.is_none() {
                self.note_mark(text, NotACallReason::Gate);
            }
        }
        Err(No)
    }

    /// Recognises an opener with a known tool's name after which no arguments begin: the text that follows may be what
    /// was to be the arguments.
    fn broken_head(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        let (dialect, call, length) = named_head(&self.tables, text).ok_or(No)?;
        if self.emitter.budget.is_spent() || self.is_example() {
            return Err(No);
        }
        let mention = match self.surroundings(self.at, window).quoted_in {
            Some(_) => Ok(()),
            None => self.is_mention(&text[length..], more, window),
        };
        if let Some(()) = mention.decided()? {
            return Err(No);
        }
        self.at += length as u64;
        self.emitter.text(window, self.at, sink);
        self.broken_call(dialect, call);
        Ok(Recognised::Taken)
    }

    /// Records the damage that the opener of a call without arguments begins.
    pub(super) fn broken_call(&mut self, dialect: Dialect, call: &'static NamedCall) {
        let closer = CallCloser { close: call.close.as_str().into(), brackets: true };
        let index = self.emitter.index();
        self.emitter.region.damage().given_back(closer.clone(), index);
        self.emitter.region.damage().begins(closer, dialect);
    }

    /// Creates the open call of this shape that begins at the current offset.
    pub(super) fn call_of(&self, dialect: Dialect, shape: Box<dyn CallShape>) -> OpenCall {
        OpenCall::new(dialect, self.at, shape, self.tables.config.limits.call_bytes)
    }

    pub(super) fn open(&mut self, mut call: OpenCall, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        self.emitter.budget.takes_opening();
        if self.fence.is_none() {
            // A call outside fences makes examples of the fenced ones before it.
            self.emitter.settle(Some(QuotedIn::Fence), window, sink);
        }
        let in_group = self.group.is_some_and(|group| group.is_open) && call.start == self.outer.end;
        let in_outer = self.run.is_some() || in_group;
        let Outer { quoted_in, marks, begins_line, .. } =
            if in_outer { self.in_outer(window) } else { self.surroundings(self.at, window) };
        // No group holds text: a call after some, and those after it, are in a line.
        self.outer.begins_line &= in_outer || begins_line;
        let at = Placement {
            quoted_in,
            in_element: self.context.in_element(),
            doubt: match self.fence {
                Some(_) => Doubt::None,
                None => self.emitter.doubt(|follows_call| self.context.lines().doubt(follows_call)),
            },
            is_fenced: self.fence.is_some(),
            begins_line: self.fence.is_some() || begins_line,
            ..Placement::default()
        };
        call.in_outer = in_outer;
        call.open(at, marks, self.reasoning.is_read(), &mut self.emitter);
        self.call = Some(call);
        Ok(Recognised::Opened)
    }

    /// Returns the surroundings of a call, or of a marker before some, that begins at `at`.
    pub(super) fn surroundings(&mut self, at: u64, window: &Window<'_>) -> Outer {
        if let Some(open) = self.fence {
            let quoted_in = self.is_example().then_some(open.quotes);
            return Outer { quoted_in, ..Outer::default() };
        }
        self.context.read(window, at);
        let in_group = self.run.is_some() || self.group.is_some_and(|group| group.is_open);
        let quoted_in = self.context.place(in_group);
        let marks = self.context.marks();
        Outer { quoted_in: quoted_in.or(marks.direct), marks, begins_line: self.context.begins_line(), end: at }
    }

    /// Returns the surroundings of a call in a group or a run: those of the group or the run, but for the call's line.
    fn in_outer(&mut self, window: &Window<'_>) -> Outer {
        self.context.read(window, self.at);
        let begins_line = self.outer.begins_line || self.context.begins_line();
        Outer { begins_line, ..self.outer }
    }

    /// Checks whether marks of quotation that were open before the open call, which ends at `at`, are closed after it;
    /// returns the kind.
    pub(super) fn closed_after(&self, at: u64, window: &Window<'_>) -> Match<QuotedIn> {
        let Some(call) = &self.call else { return Err(No) };
        // Too little is left of a call past the limit on bytes to make it text
        // (`limits/past_both_in_quotation_marks`, `limits/past_both_in_a_code_span`).
        if call.marks.is_empty() || call.at.quoted_in.is_some() || self.fence.is_some() || call.head.is_some() {
            return Err(No);
        }
        let marks = call.marks;
        let (text, more) = window.candidate(at, CLOSES_WITHIN);
        let begins_call = |rest: &str| self.tables.mark(rest).is_some_and(|(_, _, is_whole)| is_whole);
        match self.after_syntax(text, more) {
            Ok(length) => match marks.closed_in(&text[length..], more, begins_call) {
                // The line goes on with so much text that the call is in the midst of it.
                Err(No) if window.from(at).len() >= CLOSES_WITHIN => {
                    marks.go_on_in(&text[length..], begins_call).ok_or(No)
                }
                found => found,
            },
            _ => Err(Undecided),
        }
    }

    /// Checks whether the delimiter between the current offset and `after` is only mentioned: marks of quotation that
    /// are open before it are closed there.
    pub(super) fn is_mention(&mut self, after: &str, more: bool, window: &Window<'_>) -> Match<()> {
        self.context.read(window, self.at);
        let marks = self.context.marks();
        marks
            .encloses(after, more)
            .else_try(|| marks.without_apostrophes().closed_in(after, more, |_| false).map(|_| ()))
    }

    /// Recognises the closer of the open quoting block, or the opener of one, at a `<` or a `[`.
    fn block_mark(&mut self, here: Here<'_>, _: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        if let Some(block) = self.context.block {
            self.at += block.closed_by_mark(text, more)? as u64;
            self.context.block_closes(window, self.at);
            return Ok(Recognised::Taken);
        }
        self.context.read(window, self.at);
        // The last signs of a longer row are no heredoc: `<<<<<<< HEAD` marks a conflict.
        if text.starts_with("<<") && self.context.last() == Some('<') {
            return Err(No);
        }
        let begins_line = || self.context.begins_line();
        let is_name = |name: &str| self.tables.named_blocks.contains(&name);
        let (block, length) = OpenBlock::opened_by_mark(text, begins_line, is_name, more)?;
        if self.is_mention(&text[length..], more, window).decided()?.is_some() {
            return Err(No);
        }
        self.context.block = Some(block);
        self.at += length as u64;
        Ok(Recognised::Taken)
    }

    /// Returns `true` if a call at the current offset is in a code fence that is known to contain other text.
    pub(super) fn is_example(&self) -> bool {
        self.fence.is_some() && !self.emitter.waits_for_fence() && !self.emitter.region.only_drafts()
    }
}

/// Returns the dialect, the form and the length of the opener of a known tool's call with which `text` begins; `None`
/// without one.
pub(super) fn named_head(tables: &Tables, text: &str) -> Option<(Dialect, &'static NamedCall, usize)> {
    let catalog = tables.catalog()?;
    let calls = tables.named.iter().flat_map(|known| known.named.calls.iter().map(|call| (known.dialect, call)));
    calls.into_iter().find_map(|(dialect, call)| match head(&call.head, text, false) {
        Ok(head) if catalog.knows(head.name) => Some((dialect, call, head.length)),
        _ => None,
    })
}
