//! The region of the message that the text is in, and what occurred there before.

use crate::event::Region;
use crate::message::{ReasoningCalls, ReasoningMode};
use crate::parse::config::Config;
use crate::parse::emit::damage::Damage;
use crate::parse::emit::prose::Prose;
use crate::parse::marks::turn::TextTurn;

/// The region of the text, whose turn it is, and what came there.
#[derive(Debug, Default)]
pub(crate) struct RegionState {
    pub(crate) kind: Region,
    /// Whose turn the text is in.
    pub(crate) turn: TextTurn,
    /// Calls of the reasoning are drafts.
    pub(crate) has_drafts: bool,
    /// The stream is assumed to start in the reasoning, without evidence so far that it
    /// does: it is read as an answer and reported as reasoning.
    pub(crate) is_undecided: bool,
    /// The user has seen something.
    pub(crate) is_seen: bool,
    /// The last prose in this region: none, on this line or above.
    pub(crate) prose: Prose,
    /// A token announced the call that follows, and whether it begins its line.
    announced: Option<bool>,
    /// Text other than white space came in this region.
    pub(crate) has_text: bool,
    /// A call came in this region.
    pub(crate) has_calls: bool,
    /// A call came in the answer.
    pub(crate) answer_has_calls: bool,
    /// A fence is open in which nothing but calls and white space came.
    pub(crate) fence_is_clean: bool,
    /// The fence before holds a call that could not be read, and only white space came since:
    /// one of a series (`series/first_fence_unreadable`).
    pub(crate) follows_unread: bool,
    /// Calls of the answer, and of the reasoning, that may be text of a damaged one.
    damage: [Damage; 2],
    /// A closer in the open reasoning that closes nothing there closed a call before it: this
    /// one, or one after it.
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

    /// Something other than a call came after the end of the model's turn, if it has ended.
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

    /// Enters a region. What is damaged in the answer stays so after a block of reasoning,
    /// which may be in the damaged text.
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

    /// A token announces what follows: no prose is before that. `begins_line`: none is
    /// before the token on its line.
    pub(crate) fn announce(&mut self, begins_line: bool) {
        self.prose = Prose::None;
        self.announced = Some(begins_line);
    }

    /// Returns `true` if the token begins its line that announces what comes next, if one does.
    pub(crate) fn announced(&self) -> Option<bool> {
        self.announced.filter(|_| self.prose == Prose::None)
    }

    /// The damage of this region.
    pub(crate) fn damage(&mut self) -> &mut Damage {
        &mut self.damage[self.kind as usize]
    }

    /// A closer that closes nothing here closed the call `first` or a later one: returns the first call of
    /// which that is certain. Of a call before open reasoning it is so once that never ends.
    pub(super) fn certain_from(&mut self, first: u32) -> u32 {
        match self.kind {
            Region::Reasoning if first < self.damage[Region::Content as usize].last => {
                self.in_doubt.get_or_insert(first);
                self.damage[Region::Content as usize].last
            }
            _ => first,
        }
    }

    /// The same, to be read.
    #[inline]
    pub(crate) fn known_damage(&self) -> &Damage {
        &self.damage[self.kind as usize]
    }
}
