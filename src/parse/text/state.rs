//! The state of the text so far, which the recognisers share.

use crate::dialect::ReasoningMark;
use crate::message::ReasoningMode;
use crate::parse::marks::turn::TextTurn;

/// State of the reasoning, and the delimiters that determine it.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    mode: ReasoningMode,
    /// `true` if the text comes from a separate reasoning field.
    pub(super) is_field: bool,
    /// `true` if a tag, a mark or a field that separates the reasoning occurred.
    pub(super) is_told: bool,
    /// Mark that opened the reasoning; `None` if that is a think tag, or no block is open.
    pub(super) mark: Option<&'static ReasoningMark>,
    /// `true` if no tag, mark or field separated reasoning before `mark`.
    pub(super) is_first_block: bool,
    /// `true` if a closing think tag closes the block of `mark`, too.
    pub(super) think_closes: bool,
    /// Turn in which the reasoning began.
    pub(super) turn_before: TextTurn,
}

impl Reasoning {
    pub(super) fn new(mode: ReasoningMode) -> Self {
        Reasoning { mode, ..Reasoning::default() }
    }

    /// Returns `true` if reasoning is separated from the answer.
    #[inline]
    pub(super) fn is_read(&self) -> bool {
        self.mode != ReasoningMode::Off
    }

    /// Returns `true` if `</think>` is significant anywhere.
    #[inline]
    pub(super) fn reads_think_tags(&self) -> bool {
        self.is_read() || self.is_field
    }

    /// Returns `true` if think tags count at the current offset: not in a block of another mark, unless they close it.
    #[inline]
    pub(super) fn takes_think_tags(&self) -> bool {
        self.reads_think_tags() && (self.mark.is_none() || self.think_closes)
    }

    /// Returns `true` if marks in the text may open or close reasoning: reasoning is separated, and the text is no
    /// reasoning field.
    #[inline]
    pub(super) fn reads_blocks(&self) -> bool {
        self.is_read() && !self.is_field
    }

    /// Returns `true` if headers of channels may open or close reasoning: marks may, and no block of one is open.
    #[inline]
    pub(super) fn reads_channels(&self) -> bool {
        self.reads_blocks() && self.mark.is_none()
    }

    /// Returns the closer of the open block of reasoning, if it begins with neither `<` nor `[` and the lexicon does
    /// not find it.
    #[inline]
    pub(super) fn odd_closer(&self) -> Option<&'static str> {
        self.mark.map(|mark| mark.close).filter(|close| !ReasoningMark::is_marker(close))
    }

    /// Returns `true` if the message ends in its first, unclosed block of reasoning, so that it may be an answer.
    #[inline]
    pub(super) fn is_unclosed(&self) -> bool {
        self.mark.is_some() && self.is_first_block && !self.is_field
    }

    /// Changes to the separate reasoning field, or from it to the text.
    #[inline]
    pub(super) fn goes_to_field(&mut self, is_field: bool) {
        self.is_told |= is_field;
        // The field has the reasoning, so that the text does not start in it (`reasoning/field_with_open`).
        if self.mode == ReasoningMode::Open {
            self.mode = ReasoningMode::Auto;
        }
        self.is_field = is_field;
    }
}

/// State of Harmony's channels in the text.
#[derive(Debug, Default)]
pub(super) struct Channels {
    /// `true` if the header of a channel occurred.
    pub(super) are_seen: bool,
    /// `true` if the channel of answers is open, in which text that no marker announces is content.
    pub(super) in_final: bool,
    /// `true` if the header of a channel opened the reasoning.
    pub(super) in_analysis: bool,
}

/// State of a group of calls: between its opener and closer, or after a call that a tag of a group may follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallGroup {
    /// Index of the dialect in [`Tables::named`](crate::parse::tables::Tables::named).
    pub(super) named: usize,
    /// `true` if the group's opener came, and its closer did not yet.
    pub(super) is_open: bool,
    /// `true` if values in the group are directly beside their tags.
    pub(super) glued: bool,
    /// `true` if only white space has followed the call or the opener.
    pub(super) is_near: bool,
}
