//! What a shape is to the open call.

use std::fmt;
use std::ops::Range;

use super::json::CallJson;
use super::out::CallOut;
use crate::dialect::Named;
use crate::json::window::Window;
use crate::parse::config::MIN_HOLD;
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::not_a_call::Reason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::tables::Tables;

/// What an open call's text came to.
#[derive(Debug)]
pub(crate) enum Step {
    /// The state changed: there may be more to read.
    Next,
    /// All decidable bytes were read; the call goes on.
    More,
    /// One of several calls stands here; a further one may follow.
    Call(Range<u64>, Box<UnresolvedCall>),
    /// The calls up to here are calls, whatever follows: what is read behind them and turns
    /// out to be none is given back from here on, by an end here.
    Kept(u64),
    /// A call of several that end here cannot be read, and why: none of them is one.
    Broken(u64, Reason),
    /// The call, or the last of several, ends here.
    End(u64),
    /// It is no call after all: its bytes up to here are text, and why.
    Text(u64, Reason),
}

/// What an open call is where the stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All that it needs has come: it ends here.
    Complete(u64),
    /// It was cut off.
    Cut,
    /// It ends here, and one of several calls cannot be read: none of them is one.
    Broken(u64, Reason),
    /// It was not yet certain to be a call.
    Text,
}

/// What is missing where a call was cut off.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Before the call's own closing tag.
    pub(crate) inner: String,
    /// That tag; empty where none ends the call.
    pub(crate) close: String,
}

/// Server and tool, as far as they are known.
pub(crate) type CalledTool = (Option<String>, Option<String>);

/// The open call's text, in one shape.
///
/// A shape that reports its call while it is open ([`CallOut::start`]) yields
/// [`Step::End`] and is [resolved](CallShape::resolve); one whose text may yet be
/// no call yields [`Step::Call`]s before.
pub(crate) trait CallShape: fmt::Debug + Send + Sync {
    /// Reads on.
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step;

    /// What it is if the stream ends with the window.
    fn ending(&mut self, _window: &Window<'_>, _tables: &Tables) -> Ending {
        Ending::Cut
    }

    /// The one closing tag that is missing at the window's end, if every value of the call is
    /// closed and nothing stands behind them: a stop string may have taken it.
    fn due(&self, _window: &Window<'_>, _tables: &Tables) -> Option<String> {
        None
    }

    /// What is missing at the window's end, where the call was cut off; for who is told of it.
    fn missing(&self, _window: &Window<'_>, _tables: &Tables) -> Missing {
        Missing::default()
    }

    /// A stop string has taken it: the call ends with the window.
    fn take_closer(&mut self, _window: &Window<'_>, _tables: &Tables) {}

    /// Server and tool of a call that was cut off or is past the limit.
    fn called(&self, tables: &Tables) -> CalledTool;

    /// What the call says, which ends at `end`.
    fn resolve(self: Box<Self>, _window: &Window<'_>, _end: u64, tables: &Tables) -> UnresolvedCall {
        UnresolvedCall::of(self.called(tables))
    }

    /// It is in a group of this dialect; whether values in that are glued to their tags.
    fn enter_group(&mut self, _named: &'static Named, _glued: bool) {}

    /// What closes it.
    fn closer(&self) -> CallCloser {
        CallCloser::BRACKETS
    }

    /// Whether its text is not read to its end without a fault, so that it may go on behind where
    /// it was ended.
    fn is_damaged(&self) -> bool {
        false
    }

    /// The first byte that a call past the limit still needs: where it may turn
    /// out to have ended, or where it goes on.
    fn needed_from(&self) -> u64 {
        u64::MAX
    }

    /// The value in which the text stands, if its text may be its own preview.
    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        None
    }

    /// Whether its JSON was nested past the limit.
    fn is_too_deep(&self) -> bool {
        false
    }

    /// What a call without a marker is that is not over at the limit on its bytes. It is
    /// text up to `at`, but for what was [kept](Step::Kept) before.
    fn at_limit(&mut self, at: u64) -> Step {
        Step::Text(at, Reason::Limit)
    }

    /// Where it was first known to be none, if its text goes on behind that.
    fn failed_at(&self) -> Option<u64> {
        None
    }

    /// Whether `</think>` ends it in the answer, too; else only in the reasoning.
    fn ends_with_reasoning(&self) -> bool {
        true
    }

    /// Whether a line that is not the call's ended it.
    fn ended_by_line(&self) -> bool {
        false
    }
}

/// A value that is handed on as it comes.
pub(crate) enum OpenValue<'v> {
    /// JSON, of which a part is shown.
    Json(&'v mut CallJson),
    /// A text that is taken as it stands, read and handed on up to these places.
    Verbatim { cursor: &'v mut u64, previewed: &'v mut u64 },
}

/// Where a call ends that was complete at `complete_at`, and behind which all up to `cursor`
/// was read. Over the limit little is kept: what was read further than that is the call's
/// (`limits/white_space_past`).
pub(crate) fn kept_end(complete_at: u64, cursor: u64, over_limit: bool) -> u64 {
    if over_limit && cursor - complete_at > MIN_HOLD as u64 { cursor } else { complete_at }
}
