//! Where the text stands, and what came there before.

use crate::event::Region;
use crate::json::window::{Match, Window};
use crate::message::{ReasoningCalls, ReasoningMode};
use crate::parse::config::Config;
use crate::parse::emit::damage::{Damage, Found};
use crate::parse::emit::prose::Prose;
use crate::parse::marks::turn::Turn;
use crate::parse::tables::Tables;

/// The region of the text, whose turn it is, and what came there.
#[derive(Debug, Default)]
pub(crate) struct RegionState {
    kind: Region,
    /// Whose turn the text stands in.
    turn: Turn,
    /// Calls of the reasoning are drafts.
    has_drafts: bool,
    /// The stream was taken to start in the reasoning, and nothing said yet that it
    /// does: it is read as an answer and told as reasoning.
    undecided: bool,
    /// The user has seen something.
    seen: bool,
    /// Where text other than white space came in this region.
    prose: Prose,
    /// A token announced the call that follows, and whether it begins its line.
    announced: Option<bool>,
    /// Text other than white space came in this region.
    has_text: bool,
    /// A call came in this region.
    has_calls: bool,
    /// A call came in the answer.
    answer_has_calls: bool,
    /// A fence is open in which nothing but calls and white space came.
    fence_is_clean: bool,
    /// The fence before holds a call that could not be read, and only white space came since:
    /// one of a series (`series/first_fence_unreadable`).
    behind_unread: bool,
    /// Calls of the answer, and of the reasoning, that may be text of a damaged one.
    damage: [Damage; 2],
    /// What stands in the open reasoning and closes nothing in it, closed a call before it: this
    /// one, or one behind it.
    in_doubt: Option<u32>,
}

impl RegionState {
    pub(crate) fn new(config: &Config) -> Self {
        let open = config.reasoning == ReasoningMode::Open;
        RegionState {
            kind: if open { Region::Reasoning } else { Region::Content },
            has_drafts: config.reasoning_calls != ReasoningCalls::Allow,
            undecided: open,
            ..RegionState::default()
        }
    }

    /// Which region it is.
    #[inline]
    pub(crate) fn kind(&self) -> Region {
        self.kind
    }

    /// Whose turn the text stands in.
    pub(crate) fn turn(&self) -> Turn {
        self.turn
    }

    /// What follows stands in this turn.
    pub(crate) fn set_turn(&mut self, turn: Turn) {
        self.turn = turn;
    }

    /// Something other than a call came behind the end of the model's turn, if it has ended.
    pub(super) fn passes_end(&mut self) {
        if matches!(self.turn, Turn::Ended { .. }) {
            self.turn = Turn::Over;
        }
    }

    /// Whether calls of the reasoning are drafts.
    pub(super) fn has_drafts(&self) -> bool {
        self.has_drafts
    }

    /// Whether calls that stand here are told as drafts.
    pub(super) fn drafts(&self) -> bool {
        self.kind == Region::Reasoning && self.has_drafts
    }

    /// Whether calls that stand here are drafts for certain, so that nothing else about
    /// them matters.
    pub(crate) fn only_drafts(&self) -> bool {
        self.drafts() && !self.undecided
    }

    /// Whether text is read as the answer's, however it is told.
    pub(crate) fn reads_answer(&self) -> bool {
        self.kind == Region::Content || self.undecided
    }

    /// The reasoning ends or begins here, and nothing said so before.
    pub(crate) fn is_undecided(&self) -> bool {
        self.undecided
    }

    /// Something said where the reasoning ends or begins. Whether nothing had said it before: what
    /// came is reasoning.
    pub(super) fn decide(&mut self) -> bool {
        let was_undecided = std::mem::take(&mut self.undecided);
        if was_undecided {
            self.nothing_answered();
        }
        was_undecided
    }

    /// What came was no part of the answer.
    pub(super) fn nothing_answered(&mut self) {
        self.seen = false;
        self.answer_has_calls = false;
    }

    /// Whether the user has seen something.
    pub(crate) fn is_seen(&self) -> bool {
        self.seen
    }

    /// Something is handed on that the user sees where it stands.
    pub(super) fn see(&mut self) {
        self.seen |= self.reads_answer() && self.turn != Turn::Hidden;
    }

    /// Whether text other than white space came in this region.
    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Such text, or what counts as it, comes.
    pub(super) fn text_comes(&mut self) {
        self.has_text = true;
    }

    /// Such text comes outside of syntax; all before `from` was handed on.
    pub(super) fn prose_comes(&mut self, window: &Window<'_>, from: u64, to: u64) {
        self.fence_is_clean = false;
        self.behind_unread = false;
        self.has_text = true;
        self.damage().text_came(window, from, to);
        self.see();
        self.passes_end();
    }

    /// Whether a call came in the answer.
    pub(crate) fn answer_has_calls(&self) -> bool {
        self.answer_has_calls
    }

    /// A call came.
    pub(super) fn call_comes(&mut self) {
        self.has_calls = true;
    }

    /// A call came that nothing quotes.
    pub(super) fn unquoted_call_comes(&mut self) {
        self.answer_has_calls |= self.reads_answer();
    }

    /// Whether nothing but white space and syntax came in this region, nor to
    /// the user before it.
    pub(super) fn begins(&self) -> bool {
        let seen = self.seen && self.reads_answer();
        !(seen || self.has_text || self.has_calls)
    }

    /// Whether text before said all that more text would say of this region.
    pub(super) fn is_settled(&self) -> bool {
        let seen = self.seen || !self.reads_answer();
        let is_told = matches!(self.turn, Turn::Own | Turn::Over | Turn::Spoken);
        seen && is_told && self.has_text && !self.fence_is_clean && !self.behind_unread
    }

    /// Goes over to a region. What is damaged in the answer stays so behind a block of reasoning,
    /// which may stand in the damaged text.
    pub(crate) fn go_to(&mut self, region: Region) {
        if region != self.kind {
            let [content, reasoning] = &mut self.damage;
            *reasoning = if region == Region::Reasoning { content.in_reasoning() } else { Damage::default() };
            self.in_doubt = None;
        }
        self.kind = region;
        self.has_text = false;
        self.has_calls = false;
        self.behind_unread = false;
        self.prose = Prose::None;
        self.announced = None;
    }

    /// Where prose stands before what comes next in this region.
    pub(crate) fn prose(&self) -> Prose {
        self.prose
    }

    /// The same behind `text`.
    pub(super) fn read_prose(&mut self, text: &str) {
        self.prose.read(text);
    }

    /// The same behind text that was read elsewhere.
    pub(super) fn set_prose(&mut self, prose: Prose) {
        self.prose = prose;
    }

    /// A token announces what follows: no prose stands before that. `begins_line`: none stands
    /// before the token on its line.
    pub(crate) fn announce(&mut self, begins_line: bool) {
        self.prose = Prose::None;
        self.announced = Some(begins_line);
    }

    /// Whether the token begins its line that announces what comes next, if one does.
    pub(crate) fn announced(&self) -> Option<bool> {
        self.announced.filter(|_| self.prose == Prose::None)
    }

    /// A fence opens.
    pub(crate) fn fence_opens(&mut self) {
        self.fence_is_clean = true;
    }

    /// Whether one is open in which nothing but calls and white space came.
    pub(crate) fn fence_is_clean(&self) -> bool {
        self.fence_is_clean
    }

    /// It ends.
    pub(crate) fn fence_ends(&mut self) {
        self.fence_is_clean = false;
    }

    /// It has ended; whether it holds a call that could not be read.
    pub(crate) fn comes_behind_fence(&mut self, is_unread: bool) {
        self.behind_unread = is_unread;
    }

    /// Whether only white space came since a fence with such a call.
    pub(super) fn behind_unread(&self) -> bool {
        self.behind_unread
    }

    /// What is known of damage in this region.
    pub(crate) fn damage(&mut self) -> &mut Damage {
        &mut self.damage[self.kind as usize]
    }

    /// What closes nothing here closed the call `first`, or one behind it: yields the first call of
    /// which that is certain. Of a call before open reasoning it is so once that never ends.
    pub(super) fn certain_from(&mut self, first: u32) -> u32 {
        match self.kind {
            Region::Reasoning if first < self.damage[Region::Content as usize].behind_last() => {
                self.in_doubt.get_or_insert(first);
                self.damage[Region::Content as usize].behind_last()
            }
            _ => first,
        }
    }

    /// The first call in doubt, where the message ends in the reasoning.
    pub(super) fn take_doubtful(&mut self) -> Option<u32> {
        self.in_doubt.take()
    }

    /// The same, to be read.
    #[inline]
    pub(crate) fn known_damage(&self) -> &Damage {
        &self.damage[self.kind as usize]
    }

    /// Whether brackets in the text say whether calls may be text of a damaged one.
    pub(crate) fn reads_brackets(&self) -> bool {
        self.known_damage().watches_brackets()
    }

    /// Whether each bracket and line matters, since only a bracket closes a damaged call.
    pub(crate) fn reads_every_bracket(&self) -> bool {
        let damage = self.known_damage();
        damage.is_open() && damage.watches_brackets()
    }

    /// Whether `text`, between calls, begins with what closes a damaged call or one before.
    pub(crate) fn closer(&self, text: &str, tables: &Tables, more: bool) -> Match<(Found, usize)> {
        self.known_damage().closer(text, tables, more)
    }
}
