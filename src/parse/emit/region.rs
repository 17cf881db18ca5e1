//! The region of the message that the text is in, and what occurred there before.

use crate::event::Region;
use crate::message::{ReasoningCalls, ReasoningMode};
use crate::parse::config::Config;
use crate::parse::emit::damage::Damage;
use crate::parse::emit::prose::Prose;
use crate::parse::marks::turn::TextTurn;

/// State of the current region: its kind, its turn, and what has occurred in it.
#[derive(Debug, Default)]
pub(crate) struct RegionState {
    pub(crate) kind: Region,
    /// Role whose turn the text is in.
    pub(crate) turn: TextTurn,
    /// `true` if calls in the reasoning are drafts, as the configuration says.
    pub(crate) has_drafts: bool,
    /// `true` while the stream is assumed, without evidence, to start in the reasoning: it is read as an answer and
    /// reported as reasoning.
    pub(crate) is_undecided: bool,
    /// `true` if the user has seen something of the answer.
    pub(crate) is_seen: bool,
    /// Position of the last prose in this region: none, on the current line or above it.
    pub(crate) prose: Prose,
    /// `Some` if a special token announced the call that follows; `true` if that token begins its line.
    announced: Option<bool>,
    /// `true` if text other than white space came in this region.
    pub(crate) has_text: bool,
    /// `true` if a call came in this region.
    pub(crate) has_calls: bool,
    /// `true` if a call came in the answer.
    pub(crate) answer_has_calls: bool,
    /// `true` while a code fence is open in which only calls and white space came.
    pub(crate) fence_is_clean: bool,
    /// `true` if only white space has followed a code fence with a call that could not be read: one of a series
    /// (`series/first_fence_unreadable`).
    pub(crate) follows_unread: bool,
    /// State of the damage in the answer, and in the reasoning.
    damage: [Damage; 2],
    /// Index of the first call before the open reasoning that a stray closer in the reasoning may have closed; `None`
    /// without such a closer.
    pub(crate) in_doubt: Option<u32>,
}

impl RegionState {
    pub(crate) fn new(config: &Config) -> Self {
        let open = config.reasoning == ReasoningMode::Open;
        RegionState {
            kind: if open { Region::Reasoning } else { Region::Content },
            has_drafts: config.reasoning_calls != ReasoningCalls::Allow,
            is_undecided: open,
            ..RegionState::default()
        }
    }

    /// Changes the turn to `Over` if the model's turn has ended, since something other than a call followed.
    pub(crate) fn passes_end(&mut self) {
        if matches!(self.turn, TextTurn::Ended { .. }) {
            self.turn = TextTurn::Over;
        }
    }

    /// Returns `true` if calls in this region are reported as drafts.
    pub(super) fn drafts(&self) -> bool {
        self.kind == Region::Reasoning && self.has_drafts
    }

    /// Returns `true` if calls in this region are certainly drafts, so that nothing else about
    /// them matters.
    pub(crate) fn only_drafts(&self) -> bool {
        self.drafts() && !self.is_undecided
    }

    /// Returns `true` if text is read as the answer's, even if it is reported as reasoning.
    pub(crate) fn reads_answer(&self) -> bool {
        self.kind == Region::Content || self.is_undecided
    }

    /// Records that the text so far was not a part of the answer.
    pub(super) fn nothing_answered(&mut self) {
        self.is_seen = false;
        self.answer_has_calls = false;
    }

    /// Records that something visible to the user was emitted in this region.
    pub(super) fn see(&mut self) {
        self.is_seen |= self.reads_answer() && self.turn != TextTurn::Hidden;
    }

    /// Returns `true` if more text changes nothing in what is known about this region.
    pub(super) fn is_settled(&self) -> bool {
        let seen = self.is_seen || !self.reads_answer();
        // After an end, text changes the turn; what is hidden is a marker and no text.
        let is_told = matches!(self.turn, TextTurn::Own | TextTurn::Over | TextTurn::Spoken);
        // All that prose would change (`Emitter::text_piece`) has changed.
        seen && is_told && self.has_text && !self.fence_is_clean && !self.follows_unread
    }

    /// Changes to `region`. Damage in the answer lasts beyond a block of reasoning, which may be in the damaged text.
    pub(crate) fn go_to(&mut self, region: Region) {
        if region != self.kind {
            let [content, reasoning] = &mut self.damage;
            *reasoning = if region == Region::Reasoning { content.in_reasoning() } else { Damage::default() };
            self.in_doubt = None;
        }
        self.kind = region;
        self.has_text = false;
        self.has_calls = false;
        self.follows_unread = false;
        self.prose = Prose::None;
        self.announced = None;
    }

    /// Records that a token announces the following text, before which no prose counts. `begins_line`: no prose
    /// precedes the token on its line.
    pub(crate) fn announce(&mut self, begins_line: bool) {
        self.prose = Prose::None;
        self.announced = Some(begins_line);
    }

    /// Returns `true` if the token that announces the following text begins its line; `None` if no token announces it.
    pub(crate) fn announced(&self) -> Option<bool> {
        self.announced.filter(|_| self.prose == Prose::None)
    }

    /// Returns the damage state of this region, to be changed.
    pub(crate) fn damage(&mut self) -> &mut Damage {
        &mut self.damage[self.kind as usize]
    }

    /// Returns the first call to withdraw for a stray closer, which closed the call `first` or a later one. Calls
    /// before open reasoning are only in doubt, until that never ends.
    pub(super) fn certain_from(&mut self, first: u32) -> u32 {
        match self.kind {
            Region::Reasoning if first < self.damage[Region::Content as usize].last => {
                self.in_doubt.get_or_insert(first);
                self.damage[Region::Content as usize].last
            }
            _ => first,
        }
    }

    /// Returns the damage state of this region, to be read.
    #[inline]
    pub(crate) fn known_damage(&self) -> &Damage {
        &self.damage[self.kind as usize]
    }
}
