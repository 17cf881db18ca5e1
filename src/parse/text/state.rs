//! The state of the text so far, which the recognisers share.

use crate::dialect::ReasoningMark;
use crate::message::ReasoningMode;
use crate::parse::marks::turn::TextTurn;

/// The state of the reasoning, and what said so.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    mode: ReasoningMode,
    /// The text comes from a separate field.
    pub(super) is_field: bool,
    /// A tag, a mark or a field occurred, which separates the reasoning.
    pub(super) is_told: bool,
    /// The mark that opened it, if that is not a think tag.
    pub(super) mark: Option<&'static ReasoningMark>,
    /// `true` if no tag, mark or field separated reasoning before `mark`.
    pub(super) is_first_block: bool,
    /// A think tag closes what that mark opened, too.
    pub(super) think_closes: bool,
    /// Whose turn it was where the reasoning began.
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

    /// Returns `true` if a think tag counts in what is open.
    #[inline]
    pub(super) fn takes_think_tags(&self) -> bool {
        self.reads_think_tags() && (self.mark.is_none() || self.think_closes)
    }

    /// Returns `true` if marks in the text tell of reasoning.
    #[inline]
    pub(super) fn reads_blocks(&self) -> bool {
        self.is_read() && !self.is_field
    }

    /// Returns `true` if headers of channels do.
    #[inline]
    pub(super) fn reads_channels(&self) -> bool {
        self.reads_blocks() && self.mark.is_none()
    }

    /// The closer of the open block, if no trigger tells of it.
    #[inline]
    pub(super) fn odd_closer(&self) -> Option<&'static str> {
        self.mark.map(|mark| mark.close).filter(|close| !ReasoningMark::is_marker(close))
    }

    /// Returns `true` if the message is over in its first block, which may have been anything.
    #[inline]
    pub(super) fn is_unclosed(&self) -> bool {
        self.mark.is_some() && self.is_first_block && !self.is_field
    }

    /// Goes over to the field, or from it to the text.
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

/// Which of Harmony's channels the text is in.
#[derive(Debug, Default)]
pub(super) struct Channels {
    /// A header of one came.
    pub(super) are_seen: bool,
    /// The channel of answers is open: what no marker announces is content.
    pub(super) in_final: bool,
    /// The reasoning is the channel of a header.
    pub(super) in_analysis: bool,
}

/// The state of a group of calls, whose tags or tokens may be after a call, and between the group's opener and its
/// closer.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallGroup {
    /// Index of the dialect in [`Tables::named`](crate::parse::tables::Tables::named).
    pub(super) named: usize,
    /// The group's opener came, and its closer did not yet.
    pub(super) is_open: bool,
    /// Values in it are directly beside their tags.
    pub(super) glued: bool,
    /// Only white space came since the call or the opener.
    pub(super) is_near: bool,
}
