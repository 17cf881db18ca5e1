//! Configuration of a parser: what it reads and how it decides, as data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dialect::DialectSet;
use crate::message::{FencedCalls, ReasoningCalls, ReasoningMode, setters};
use crate::tools::Catalog;

/// Largest call, in bytes from its first byte to its end, and the most that a
/// rejection's `raw` holds, unless [`Limits::call_bytes`] says otherwise.
pub const MAX_CALL_BYTES: usize = 8 << 20;

/// Deepest nesting of arrays and objects in a call's JSON.
pub const MAX_DEPTH: usize = 120;

/// Most calls in one message, rejected ones included.
pub const MAX_CALLS: usize = 64;

/// Beginnings of calls that are looked at in one message, for each call that it may hold ([`Limits::calls`]): those of
/// calls, and of text that turned out to be none. After the last of them openers are text.
pub const OPENINGS_PER_CALL: usize = 16;

/// Plain text is held back at most this many bytes while it may still become a marker (or the longest known marker, an
/// opener and the child after it, plus [`HOLD_SLACK`], if that is more).
pub const MIN_HOLD: usize = 64;

/// Room beside the longest known marker for quotes, spaces and line breaks.
pub const HOLD_SLACK: usize = 16;

/// Configuration of a [`Parser`](super::Parser).
///
/// Its stored form has all but the catalog; missing fields take their defaults.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Config {
    /// Dialects to read, all at once.
    pub dialects: DialectSet,
    /// Known tools. Without them any name is accepted, and the dialects that read
    /// known names only are off: `tool_tag`, `python`, `json` and `react`.
    #[serde(skip)]
    pub catalog: Option<Arc<Catalog>>,
    /// Defines where reasoning starts.
    pub reasoning: ReasoningMode,
    /// Defines how calls in the reasoning are treated.
    pub reasoning_calls: ReasoningCalls,
    /// Openers of the marks that the model is known to write around its reasoning, such as
    /// `[THINK]`, as [`Profile::reasoning_marks`](crate::dialect::Profile::reasoning_marks) names
    /// them: each of its blocks counts. Of other marks the first block of a message does; one that
    /// no table has says nothing.
    pub reasoning_marks: Vec<String>,
    /// Defines how calls are treated in a code fence that the message begins with and that prose follows.
    pub fenced_calls: FencedCalls,
    /// Stop strings that were sent to the endpoint. If the message ended by `stop` and one of
    /// them equals or begins the one closing tag that is due, it took that tag.
    pub stop: Vec<String>,
    /// Limits on one message.
    pub limits: Limits,
}

setters!(
    Config,
    with_dialects => dialects: DialectSet, with_catalog => catalog: Option<Arc<Catalog>>,
    with_reasoning => reasoning: ReasoningMode, with_reasoning_calls => reasoning_calls: ReasoningCalls,
    with_reasoning_marks => reasoning_marks: Vec<String>, with_fenced_calls => fenced_calls: FencedCalls,
    with_stop => stop: Vec<String>, with_limits => limits: Limits
);

/// Limits on one message. A call past a limit is rejected as `limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one call, and of a rejection's `raw`; default [`MAX_CALL_BYTES`].
    pub call_bytes: usize,
    /// Nesting of a call's JSON; default [`MAX_DEPTH`], which is also the most.
    pub depth: usize,
    /// Calls in one message; default [`MAX_CALLS`].
    pub calls: usize,
}

setters!(
    Limits;
    with_call_bytes => call_bytes: usize, with_depth => depth: usize, with_calls => calls: usize
);

impl Limits {
    /// Beginnings of calls that are looked at.
    pub(crate) fn openings(&self) -> usize {
        self.calls.max(1).saturating_mul(OPENINGS_PER_CALL)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { call_bytes: MAX_CALL_BYTES, depth: MAX_DEPTH, calls: MAX_CALLS }
    }
}
