//! The result of a step in a JSON text, of both lexers.

use std::ops::Range;

/// The result of a step in a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonStep {
    /// All bytes were read; the value goes on.
    More,
    /// A key of the outermost object, with its quotes.
    Key(Range<u64>),
    /// A value of the outermost object begins here.
    ValueStart(u64),
    /// It ends here.
    ValueEnd(u64),
    /// The whole value ends here: its brackets are balanced.
    End(u64),
    /// The first fault: this byte is not JSON. The tolerant lexer goes on.
    Fault(u64),
    /// The closer begins here and the value is not over.
    Closed(u64),
    /// At the first raw line break in a string: the string had passed a whole
    /// closer on that line, which ended the call here.
    Passed(u64),
}
