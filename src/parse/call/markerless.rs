//! The `Markerless` trait: recognises the calls of a shape that no marker announces.

use super::shape::CallShape;
use crate::dialect::Dialect;
use crate::json::window::{Match, No};
use crate::parse::emit::not_a_call::Reason;
use crate::parse::marks::fence::Fence;
use crate::parse::tables::Tables;

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
    fn failed(&self, _text: &str, _tables: &Tables) -> Option<(Dialect, usize, Reason)> {
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
    /// It is quoted where it stands: what follows does not belong to it.
    pub(crate) is_quoted: bool,
}
