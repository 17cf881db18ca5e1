//! Why a text cannot be imported.

use crate::transcript::{ReadError, json};

/// Why a text cannot be imported. Lines and columns count from 1, columns in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Our own recording cannot be read.
    #[error(transparent)]
    Recording(#[from] ReadError),
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// A line is not the JSON that the format wants.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// What is wrong.
        message: String,
        /// The error behind it; it counts within its own piece of the text.
        source: serde_json::Error,
    },
    /// It is JSON of a kind that is not known.
    #[error(
        "JSON, but no recording: expected a `session` line, stream chunks with `choices`, objects with `text`, \
         or an array of messages with `role` and `content`; found {found}"
    )]
    Unknown {
        /// What stands there instead.
        found: String,
    },
}

/// A fault in terms of the whole text.
pub(super) fn at(error: serde_json::Error) -> ImportError {
    at_line(1, error)
}

/// A fault in one line of the text.
pub(super) fn at_line(line: usize, source: serde_json::Error) -> ImportError {
    // A line may be an object of several lines that stands alone in its file.
    let line = line + source.line().max(1) - 1;
    ImportError::Json { line, column: source.column().max(1), message: json::words(&source), source }
}
