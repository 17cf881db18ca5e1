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

/// The openers of a shape's calls that no marker announces: words or names at a line's start.
/// Its data are in the tables. Whether a call may be there is asked by the scanner
/// (`text/bare.rs`).
pub(crate) trait Markerless: Sync {
    /// Adds what lines begin with that begin such a call, and how long the rest is waited for.
    fn add_leads(&self, tables: &mut Tables);

    /// Returns the positions that such calls may have.
    fn stands(&self) -> Stands;

    /// Returns `true` if words of its own announce it as surely as a marker does, so that it never becomes text again.
    fn is_announced(&self) -> bool {
        false
    }

    /// Checks whether `text`, a line after its indent, begins such a call.
    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()>;

    /// The same where a fence begins.
    fn ahead_in_fence(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        self.ahead(text, tables, more)
    }

    /// Checks whether what begins like a call may be an entry of the prompt's list of tools instead;
    /// yields whether it is surely one.
    fn is_listed(&self, _text: &str, _tables: &Tables, _more: bool) -> Match<bool> {
        Err(No)
    }

    /// The first bytes of a call in `text` that is none, and why: for who asks.
    fn failed(&self, _text: &str, _tables: &Tables) -> Option<(Dialect, usize, NotACallReason)> {
        None
    }

    /// The call, or the calls, that `text` begins, which is at this place.
    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)>;
}

/// The positions that calls may have that no marker announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// At the message's start or after prose, on a line that is not indented as code is; in a fence that holds
    /// only calls.
    Alone,
    /// On a line that is not indented as code is; in a fence that holds only calls.
    Line,
    /// On any line: words of its own announce it, and prose is before them as a rule.
    AnyLine,
}

/// The position of a call that no marker announces, and its surroundings.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Offset of its first byte.
    pub(crate) at: u64,
    /// The fence around it.
    pub(crate) fence: Option<Fence>,
    /// Prose is before it, and no fence around it.
    pub(crate) follows_prose: bool,
    /// Other fences with calls are before that.
    pub(crate) after_calls: bool,
    /// A token announces it.
    pub(crate) announced: bool,
    /// It begins a line.
    pub(crate) at_line_start: bool,
    /// It is quoted at this place: what follows does not belong to it.
    pub(crate) is_quoted: bool,
}
