//! The traits that recognise the beginning of a shape's calls: `Opens` after a marker, `Markerless` without one.

use super::shape::CallShape;
use crate::dialect::Dialect;
use crate::json::window::{Match, No, Undecided, leading_space};
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::marks::fence::Fence;
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

/// An opener that was matched in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Index of the opener in a list of the shape's own; `form` is the index of its form.
    pub(crate) item: usize,
    pub(crate) form: usize,
    /// Length of the opener in bytes.
    pub(crate) length: usize,
}

/// The call, objects or group that an opener opens.
#[derive(Debug)]
pub(crate) enum Opened {
    Call(Dialect, Box<dyn CallShape>),
    /// JSON objects, each of which is a call.
    Objects(Marked),
    /// Delimiter around calls of a dialect, given by its index in [`Tables::named`]; `true` if it opens the group.
    Group(usize, bool),
}

/// Restricts `opener`, a match at the start of `text`, to openers after which `gate` matches the text that follows
/// white space; returns the opener's length.
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

/// Recognises calls of a shape without a marker: they begin with words or names at a line's start. Its data are in the
/// tables. The scanner decides whether a call may be at a position (`text/bare.rs`).
pub(crate) trait Markerless: Sync {
    /// Adds the beginnings of lines with such a call to the lexicon, and raises the number of bytes that are held back
    /// as far as the call needs it.
    fn add_leads(&self, tables: &mut Tables);

    /// Returns the positions at which calls of this shape may begin.
    fn stands(&self) -> Stands;

    /// Returns `true` if the shape's own words announce a call as surely as a marker does, so that it never becomes
    /// text again.
    fn is_announced(&self) -> bool {
        false
    }

    /// Checks whether `text`, a line after its indent, begins a call of this shape.
    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()>;

    /// Checks whether `text`, the beginning of a code fence's content, begins a call of this shape.
    fn ahead_in_fence(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        self.ahead(text, tables, more)
    }

    /// Checks whether text that begins like a call may be an entry of the prompt's list of tools instead; returns
    /// `true` if it certainly is one.
    fn is_listed(&self, _text: &str, _tables: &Tables, _more: bool) -> Match<bool> {
        Err(No)
    }

    /// Returns the dialect of a beginning of a call in `text` that is no call, its length in bytes, and the reason, for
    /// callers that collect such texts.
    fn failed(&self, _text: &str, _tables: &Tables) -> Option<(Dialect, usize, NotACallReason)> {
        None
    }

    /// Opens the call, or the calls, at the start of `text`, whose position is `place`; returns the dialect and the
    /// reader, or `None` if no call begins there.
    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)>;
}

/// Positions at which calls without a marker may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// The call may be at the message's start or after prose, on a line not indented as code; in a fence of only calls.
    Alone,
    /// The call may be on a line that is not indented as code is; in a fence that contains only calls.
    Line,
    /// The call may be on any line: words of the shape announce it, and prose precedes them as a rule.
    AnyLine,
}

/// Position of a call without a marker, and its surroundings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Offset of the call's first byte.
    pub(crate) at: u64,
    /// The code fence around the call; `None` if there is none.
    pub(crate) fence: Option<Fence>,
    /// `true` if prose precedes the call and no fence is around it.
    pub(crate) follows_prose: bool,
    /// `true` if the call's fence follows other fences with calls.
    pub(crate) after_calls: bool,
    /// `true` if a special token announces the call.
    pub(crate) announced: bool,
    /// `true` if the call begins a line.
    pub(crate) at_line_start: bool,
    /// `true` if the call is quoted at this position, so that the text after it does not belong to it.
    pub(crate) is_quoted: bool,
}
