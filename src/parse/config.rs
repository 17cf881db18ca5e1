//! Configuration of a parser: what it reads and how it decides, as data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dialect::DialectSet;
use crate::message::{FencedCalls, ReasoningCalls, ReasoningMode, setters};
use crate::tools::Catalog;

/// Default maximum length in bytes of a call, from its first byte to its end, and of a rejection's `raw`; see
/// [`Limits::call_bytes`].
pub const MAX_CALL_BYTES: usize = 8 << 20;

/// Default maximum nesting depth of arrays and objects in a call's JSON; see [`Limits::depth`].
pub const MAX_DEPTH: usize = 120;

/// Default maximum number of calls in one message, rejected ones included; see [`Limits::calls`].
pub const MAX_CALLS: usize = 64;

/// Number of beginnings of calls that are examined in one message, for each call that it may contain
/// ([`Limits::calls`]): those of calls, and of text that is none. After the last of them openers are text.
pub const OPENINGS_PER_CALL: usize = 16;

/// Maximum number of bytes of plain text that are held back while they may still become a marker; it is larger if the
/// longest known marker (an opener and the child after it), plus [`HOLD_SLACK`], is longer.
pub const MIN_HOLD: usize = 64;

/// Number of bytes that are held back beside the longest known marker, for quotes, spaces and line breaks.
pub const HOLD_SLACK: usize = 16;

/// Configuration of a [`Parser`](super::Parser).
///
/// Its serialized form contains all fields except the catalog; missing fields take their defaults.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Config {
    /// Dialects that are read, all at once.
    pub dialects: DialectSet,
    /// Known tools. Without them any name is accepted, and the dialects that read
    /// known names only are off: `tool_tag`, `python`, `json` and `react`.
    #[serde(skip)]
    pub catalog: Option<Arc<Catalog>>,
    /// Defines whether reasoning is separated from the answer, and whether the stream starts inside it.
    pub reasoning: ReasoningMode,
    /// Defines how calls in the reasoning are treated.
    pub reasoning_calls: ReasoningCalls,
    /// Openers of the marks that the model is known to write around its reasoning, such as `[THINK]`, as
    /// [`Profile::reasoning_marks`](crate::dialect::Profile::reasoning_marks) names them: each of their blocks counts.
    /// Of other marks only the first block of a message counts; an opener that is not known has no effect.
    pub reasoning_marks: Vec<String>,
    /// Defines how calls are treated in a code fence that the message begins with and that prose follows.
    pub fenced_calls: FencedCalls,
    /// Stop strings that were sent to the endpoint. If the message ended by `stop`, and one of them equals or begins
    /// the only closing tag that is missing, that stop string has removed the tag.
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
    /// Maximum length in bytes of one call, and of a rejection's `raw`; default [`MAX_CALL_BYTES`].
    pub call_bytes: usize,
    /// Maximum nesting depth of a call's JSON; default [`MAX_DEPTH`]. JSON is never read deeper than 127 levels.
    pub depth: usize,
    /// Maximum number of calls in one message; default [`MAX_CALLS`].
    pub calls: usize,
}

setters!(
    Limits;
    with_call_bytes => call_bytes: usize, with_depth => depth: usize, with_calls => calls: usize
);

impl Limits {
    /// Returns the maximum number of beginnings of calls that are examined in one message.
    pub(crate) fn openings(&self) -> usize {
        self.calls.max(1).saturating_mul(OPENINGS_PER_CALL)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { call_bytes: MAX_CALL_BYTES, depth: MAX_DEPTH, calls: MAX_CALLS }
    }
}
