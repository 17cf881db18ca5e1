//! The set of kinds of marks that may begin at an offset in the text.

use std::ops::{BitAnd, BitOr};

/// Set of the kinds of delimiters that may begin at a `<`, at a `[` or at a line's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u32);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const ALL: Kinds = Kinds(!0);

    /// Opening or closing think tag.
    pub(crate) const THINK: Kinds = Kinds(1);
    /// Line that begins with the characters or the opening tag of a code fence.
    pub(crate) const FENCE: Kinds = Kinds(1 << 1);
    /// HTML tag that closes a code fence: `</pre>` or `</code>`.
    pub(crate) const FENCE_TAG: Kinds = Kinds(1 << 2);
    /// Opener of a block in which calls are only examples, such as a comment or a heredoc.
    pub(crate) const QUOTE: Kinds = Kinds(1 << 3);
    /// Delimiter of reasoning other than a think tag, such as `[THINK]`.
    pub(crate) const REASONING: Kinds = Kinds(1 << 4);
    /// Closing delimiters of calls or of groups of calls.
    pub(crate) const CLOSER: Kinds = Kinds(1 << 5);
    /// Opening tag of a call that is an XML element, in [`Tables::blocks`](crate::parse::tables::Tables::blocks).
    pub(crate) const ELEMENT: Kinds = Kinds(1 << 6);
    /// Opening tag whose name is that of a tool, which begins a call of it.
    pub(crate) const TOOL_TAG: Kinds = Kinds(1 << 7);
    /// Marker or marker line that announces a call in the form of a JSON object.
    pub(crate) const MARKER: Kinds = Kinds(1 << 8);
    /// Opener of a call that contains the tool's name, or opener of a group of such calls.
    pub(crate) const NAMED: Kinds = Kinds(1 << 9);
    /// Call without a marker: a list of calls in Python's syntax, or a call at a line's start.
    pub(crate) const BARE: Kinds = Kinds(1 << 11);
    /// Header of a Harmony channel.
    pub(crate) const CHANNEL: Kinds = Kinds(1 << 12);
    /// Special token of a chat template, such as `<|im_end|>`.
    pub(crate) const TOKEN: Kinds = Kinds(1 << 13);
    /// Opening tag that encloses a tool's result.
    pub(crate) const RESULT: Kinds = Kinds(1 << 14);
    /// First two bytes of an element's opening tag, so that an incomplete tag can be reported as a rejected candidate.
    pub(crate) const PARTIAL: Kinds = Kinds(1 << 15);
    /// Line that begins another role's turn, such as `User:`.
    pub(crate) const TURN: Kinds = Kinds(1 << 16);
    /// Number of a list item that a code fence follows on the line.
    pub(crate) const NUMBER: Kinds = Kinds(1 << 17);

    /// All kinds that are openers of calls: elements, tool tags, markers and named openers.
    pub(crate) const OPENERS: Kinds = Kinds(Self::ELEMENT.0 | Self::TOOL_TAG.0 | Self::MARKER.0 | Self::NAMED.0);

    /// Kinds that are recognised only while the text is searched for calls.
    pub(crate) const CALLS: Kinds = Kinds(Self::OPENERS.0 | Self::CLOSER.0 | Self::BARE.0 | Self::PARTIAL.0);

    /// Returns `true` if this set has a kind in common with `others`.
    #[inline]
    pub(crate) fn has(self, others: Kinds) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns this set without the kinds in `others`.
    #[inline]
    pub(crate) fn without(self, others: Kinds) -> Kinds {
        Kinds(self.0 & !others.0)
    }

    /// Returns this set if `holds`, else the empty set.
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
