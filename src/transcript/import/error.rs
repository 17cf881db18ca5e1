//! The errors of importing a text.

use crate::transcript::{ReadError, json};

/// The reason why a text cannot be imported. Lines and columns count from 1, columns in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A recording in this crate's format cannot be read.
    #[error(transparent)]
    Recording(#[from] ReadError),
    /// The text is empty.
    #[error("the file is empty")]
    Empty,
    /// A line is not the JSON that the format requires.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// The problem.
        message: String,
        /// The underlying error; its position is relative to its own piece of the text.
        source: serde_json::Error,
    },
    /// It is JSON of an unknown kind.
    #[error(
        "JSON, but not a recording: expected a `session` line, stream chunks with `choices`, objects with `text`, or \
         an array of messages with `role` and `content`; found {found}"
    )]
    Unknown {
        /// The content that was found instead.
        found: String,
    },
}

/// Converts an error to a position in the whole text.
pub(super) fn at(error: serde_json::Error) -> ImportError {
    at_line(1, error)
}

/// Converts an error in one line of the text.
pub(super) fn at_line(line: usize, source: serde_json::Error) -> ImportError {
    // An object on several lines may be the only one in its file.
    let line = line + source.line().max(1) - 1;
    ImportError::Json { line, column: source.column().max(1), message: json::words(&source), source }
}
