//! The result of a step in a JSON text, of both lexers.

use std::ops::Range;

/// The result of one step of the strict or the tolerant JSON lexer. Numbers are offsets in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonStep {
    /// All bytes were read, and the value goes on.
    More,
    /// Range of a key of the outermost object, with its quotes.
    Key(Range<u64>),
    /// A value of the outermost object begins at this offset.
    ValueStart(u64),
    /// A value of the outermost object ends before this offset.
    ValueEnd(u64),
    /// The whole value ends before this offset: its brackets are balanced.
    End(u64),
    /// Offset of the first byte that is not JSON, from which the tolerant lexer goes on.
    Fault(u64),
    /// The closer begins at this offset, before the value is complete.
    Closed(u64),
    /// Reported at the first raw line break in a string: a whole closer on that line,
    /// inside the string, ended the call at this offset.
    Passed(u64),
}
