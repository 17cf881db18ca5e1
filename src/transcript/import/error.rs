//! The errors of importing a text.

use crate::transcript::ReadError;
use crate::transcript::read::words;

/// The reason why a text cannot be imported. Lines and columns count from 1, columns in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The text is empty, or is not the JSON that its format requires.
    #[error(transparent)]
    Recording(#[from] ReadError),
    /// The text is JSON of an unknown kind.
    #[error(
        "JSON, but not a recording: expected a `session` line, stream chunks with `choices`, objects with `text`, or \
         an array of messages with `role` and `content`; found {found}"
    )]
    Unknown {
        /// A description of the JSON that was found instead.
        found: String,
    },
}

/// Converts a JSON error in a part of the text that begins at line `line`, after `before` bytes of that line.
pub(super) fn at_line(line: usize, source: serde_json::Error, before: usize) -> ReadError {
    // An object on several lines may be the only one in its file.
    let line = line + source.line().max(1) - 1;
    ReadError::Json { line, column: before + source.column().max(1), message: words(&source), source }
}
