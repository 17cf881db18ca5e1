//! Imports recordings of other programs as [`Recording`](super::Recording)s.
//!
//! | [`Format`] | |
//! |---|---|
//! | `recording` | our own, see [`transcript`](super) |
//! | `chunks` | chunks of an OpenAI-compatible stream, one a line, with or without `data: `; also whole completions |
//! | `lines` | objects with `text` (and `reasoning`, `chunks`, `finish_reason`, `tools`, `model`, `id`), one a line: the input of `extract` |
//! | `cline` | Cline's `api_conversation_history.json`: an array of messages; each one of the assistant is a round |
//! | `text` | the text of one answer |
//!
//! A file of another kind is refused, without guessing.

mod chunks;
mod cline;
mod error;
mod lines;
mod read;

pub use error::ImportError;
pub use read::{Format, import};
