//! Whose turn the text is in.
//!
//! ```text
//!   own ──token that ends the text──▶ ended ──white space, a marked call──▶ own
//!    │ ▲                               │ └─anything else: over, text stays content
//!    │ └──Harmony's `<|start|>assistant` after `<|end|>`───┘
//!    ├──token of another's turn──▶ hidden: all that follows is `Marker`
//!    └──a result, a line `User:`──▶ spoken: text stays content
//! ```
//!
//! A call is `invented` in each state but `own`. The end of the reasoning brings back
//! the model's own turn, but for a token of another's: it stays one.

use super::tags::Here;
use super::{Recognised, Scanner};
use crate::dialect::{LineCounts, OTHERS_LINES, OthersLine, TokenClass, begins_line};
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, first_of};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::turn::{RoleToken, TextTurn};

impl Scanner {
    /// Notes that a call with a marker begins: right after the end of the model's turn it resumes that turn.
    pub(super) fn marked_call(&mut self) {
        if matches!(self.emitter.region.turn, TextTurn::Ended { .. }) && self.fence.is_none() {
            self.emitter.region.turn = TextTurn::Own;
        }
    }

    /// Returns `true` if a line or a tag at the current offset can begin another role's turn.
    fn hears_others(&self) -> bool {
        // In a fence or a block such a line is shown, and in the reasoning it is thought. Another's turn goes
        // on with it.
        self.fence.is_none()
            && self.context.block.is_none()
            && matches!(self.emitter.region.turn, TextTurn::Own | TextTurn::Ended { .. } | TextTurn::Over)
            && self.emitter.region.reads_answer()
    }

    /// Begins another role's turn whose text stays content, and emits an empty marker at its position.
    fn speak(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        self.emitter.text(window, self.at, sink);
        if !self.emitter.waits_for_fence() {
            self.emitter.begin_turn(sink);
        }
        self.emitter.region.turn = TextTurn::Spoken;
    }

    /// Recognises a line that begins another role's turn. That turn does not end: a line with the model's own name in
    /// it (`Assistant:`) is part of what was invented.
    pub(super) fn turn_line(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = line;
        // If blank lines come before it, the first of them begins it.
        let blank = text.bytes().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let inner = &text[blank..];
        let lines = OTHERS_LINES.at(inner);
        if lines.is_empty() || !self.hears_others() {
            return Err(No);
        }
        // What came before counts.
        self.emitter.text(window, self.at, sink);
        let (after_call, begins) = (self.emitter.region.answer_has_calls, self.emitter.begins_region());
        let counts = |counts: LineCounts| match counts {
            LineCounts::AfterCall => after_call,
            LineCounts::AtTheStart => after_call || begins,
            LineCounts::Everywhere => true,
        };
        // The user's, after text and a blank line, too; results are on the next line.
        let is_heard = |line: &&OthersLine| match (blank, line.is_user) {
            (0, _) => counts(line.counts),
            (_, true) => after_call || begins || self.emitter.region.is_seen,
            (_, false) => false,
        };
        let heard = match inner {
            // All of them begin so.
            "" if more && lines.iter().any(|line| is_heard(&line)) => Err(Undecided),
            "" => Err(No),
            _ => first_of(lines.iter().filter(is_heard).map(|line| begins_line(line.text, inner, more))),
        };
        heard?;
        self.speak(window, sink);
        Err(No)
    }

    /// Recognises a tag around a tool's result, at a `<` that opens no call: it begins another role's turn.
    pub(super) fn result_tag(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        if !self.hears_others() {
            return Err(No);
        }
        let tag = |tag: &&str| {
            begins(&text[1..], tag, more)?;
            match text.as_bytes().get(1 + tag.len()) {
                Some(b'>' | b' ') => Ok(()),
                None if more => Err(Undecided),
                _ => Err(No),
            }
        };
        let found = first_of(self.tables.result_tags.iter().map(tag));
        if found != Err(No) && !self.emitter.region.answer_has_calls {
            // Before a call, text in a line only mentions it.
            self.context.read(window, self.at);
            if !self.context.begins_line() {
                return Err(No);
            }
        }
        if found == Ok(()) {
            self.speak(window, sink);
        }
        found.decided()?;
        Err(No)
    }

    /// Consumes a chat template's token of this class, `length` bytes with its role, and changes the turn.
    pub(super) fn take_token(
        &mut self,
        class: TokenClass,
        role: Option<RoleToken>,
        length: usize,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) {
        let mut turn = self.emitter.region.turn.after(class, role);
        if turn == TextTurn::Hidden && !self.emitter.region.reads_answer() {
            // What is thought stays what it is.
            turn = if self.emitter.region.turn == TextTurn::Hidden { turn } else { TextTurn::Over };
        }
        let starts_hidden = turn == TextTurn::Hidden && self.emitter.region.turn != TextTurn::Hidden;
        if starts_hidden {
            // The message is over here: calls that are alone in their fences are calls.
            self.emitter.settle(None, window, sink);
        }
        let says = matches!(class, TokenClass::EndsText | TokenClass::EndsMessage | TokenClass::OpensOther)
            || matches!(turn, TextTurn::Hidden | TextTurn::Over);
        let kind = if says { MarkerKind::Turn } else { MarkerKind::Token };
        self.at += length as u64;
        // The token ends the reasoning of a channel's header alone: a think tag needs its own closer.
        let closes_channel = class == TokenClass::EndsMessage || class == TokenClass::EndsText;
        if closes_channel
            && std::mem::take(&mut self.channels.in_analysis)
            && self.emitter.region.kind == Region::Reasoning
        {
            self.leave_reasoning(window, sink);
        } else {
            self.emitter.marker(kind, false, window, self.at, sink);
        }
        self.emitter.region.turn = turn;
        self.line_start = true;
    }
}
