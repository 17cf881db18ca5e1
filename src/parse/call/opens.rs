//! The `Opens` trait: recognises the beginning of a shape's calls.

use super::shape::CallShape;
use crate::dialect::Dialect;
use crate::json::window::{Match, No, Undecided, leading_space};
use crate::parse::tables::{Marked, Tables};

/// Recognises the beginning of a shape's calls at a `<` or a `[`.
///
/// The openers are data: in the tables, or in the dialects of the configuration.
pub(crate) trait Opens: Sync {
    /// Matches an opener, and the text that must follow it, at the start of `text`, which begins with one of its marks.
    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening>;

    /// Opens the call or group whose opener is at `at`, where `text` begins.
    fn open(&self, opening: Opening, at: u64, text: &str, tables: &Tables) -> Opened;
}

/// An opener that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Which one of the shape's, by an index of its own, and in which form.
    pub(crate) item: usize,
    pub(crate) form: usize,
    /// Its bytes.
    pub(crate) length: usize,
}

/// The call, objects or group that an opener opens.
#[derive(Debug)]
pub(crate) enum Opened {
    Call(Dialect, Box<dyn CallShape>),
    /// Objects, which are calls.
    Objects(Marked),
    /// Delimiter around calls of a dialect, given by its index in [`Tables::named`]; `true` if it opens the group.
    Group(usize, bool),
}

/// An opener of this length at the start of `text`, where the `gate` lets what
/// follows it and white space pass.
pub(crate) fn gated(
    opener: Match<usize>,
    text: &str,
    more: bool,
    gate: impl FnOnce(&str) -> Match<()>,
) -> Match<usize> {
    let Ok(length) = opener else { return opener };
    let inner = &text[length..];
    match &inner[leading_space(inner)..] {
        "" if more => Err(Undecided),
        "" => Err(No),
        inner => gate(inner).map(|()| length),
    }
}
