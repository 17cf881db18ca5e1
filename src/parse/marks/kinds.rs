//! The set of kinds of marks that may begin at an offset in the text.

use std::ops::{BitAnd, BitOr};

/// A set of what may begin at a `<` or a `[`, or at a line's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u32);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const ALL: Kinds = Kinds(!0);

    /// A think tag.
    pub(crate) const THINK: Kinds = Kinds(1);
    /// A fence's line.
    pub(crate) const FENCE: Kinds = Kinds(1 << 1);
    /// The tag that closes a fence.
    pub(crate) const FENCE_TAG: Kinds = Kinds(1 << 2);
    /// A block that quotes.
    pub(crate) const QUOTE: Kinds = Kinds(1 << 3);
    /// Another mark around reasoning.
    pub(crate) const REASONING: Kinds = Kinds(1 << 4);
    /// Closers of calls or of a group of them.
    pub(crate) const CLOSER: Kinds = Kinds(1 << 5);
    /// The opener of an element, in [`Tables::blocks`](crate::parse::tables::Tables::blocks).
    pub(crate) const ELEMENT: Kinds = Kinds(1 << 6);
    /// A tool's own tag.
    pub(crate) const TOOL_TAG: Kinds = Kinds(1 << 7);
    /// Announcers of objects: a marker, or a line.
    pub(crate) const MARKER: Kinds = Kinds(1 << 8);
    /// An opener that holds a name, or that of a group of such calls.
    pub(crate) const NAMED: Kinds = Kinds(1 << 9);
    /// A call that no marker announces: a list of calls in Python's syntax, or a line.
    pub(crate) const BARE: Kinds = Kinds(1 << 11);
    /// The header of a channel.
    pub(crate) const CHANNEL: Kinds = Kinds(1 << 12);
    /// A token of a chat template.
    pub(crate) const TOKEN: Kinds = Kinds(1 << 13);
    /// A tag that results are in.
    pub(crate) const RESULT: Kinds = Kinds(1 << 14);
    /// The first bytes of an opener, for whoever asks why it is none.
    pub(crate) const PARTIAL: Kinds = Kinds(1 << 15);
    /// A line of another's turn.
    pub(crate) const TURN: Kinds = Kinds(1 << 16);
    /// The number of a list's item with a fence after it.
    pub(crate) const NUMBER: Kinds = Kinds(1 << 17);

    /// Openers of calls.
    pub(crate) const OPENERS: Kinds = Kinds(Self::ELEMENT.0 | Self::TOOL_TAG.0 | Self::MARKER.0 | Self::NAMED.0);

    /// Kinds that count only as long as calls are looked for.
    pub(crate) const CALLS: Kinds = Kinds(Self::OPENERS.0 | Self::CLOSER.0 | Self::BARE.0 | Self::PARTIAL.0);

    /// Returns `true` if one of `others` is among them.
    #[inline]
    pub(crate) fn has(self, others: Kinds) -> bool {
        self.0 & others.0 != 0
    }

    /// These kinds but for `others`.
    #[inline]
    pub(crate) fn without(self, others: Kinds) -> Kinds {
        Kinds(self.0 & !others.0)
    }

    /// These kinds where `holds`, else none.
    #[inline]
    pub(crate) fn only_if(self, holds: bool) -> Kinds {
        if holds { self } else { Kinds::NONE }
    }
}

impl BitOr for Kinds {
    type Output = Kinds;

    #[inline]
    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl BitAnd for Kinds {
    type Output = Kinds;

    #[inline]
    fn bitand(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }
}
