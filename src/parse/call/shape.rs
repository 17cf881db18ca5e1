//! The `CallShape` trait, through which an open call reads its text.

use std::fmt;
use std::ops::Range;

use super::json::CallJson;
use super::out::CallOut;
use crate::dialect::Named;
use crate::json::window::Window;
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::tables::Tables;

/// The result of one step through an open call's text.
#[derive(Debug)]
pub(crate) enum Step {
    /// The state changed: there may be more to read.
    Next,
    /// All decidable bytes were read; the call goes on.
    More,
    /// One of several calls is here; a further one may follow.
    Call(Range<u64>, Box<UnresolvedCall>),
    /// The calls up to this offset are final, whatever follows. If the text read after them is no call, the series ends
    /// at this offset and the rest is flushed as text.
    Kept(u64),
    /// A call of several that end here cannot be read, and why: none of them is one.
    Broken(u64, NotACallReason),
    /// The call, or the last of several, ends here.
    End(u64),
    /// It is no call after all: its bytes up to here are text, and why.
    Text(u64, NotACallReason),
}

/// The state of a call that was cut off.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CutCall {
    /// The text that is missing before the call's own closing tag; for reports only.
    pub(crate) inner: String,
    /// Every value of the call is closed, and nothing follows them: only the closing tag is missing, which a stop string
    /// may have taken.
    pub(crate) is_due: bool,
    /// The call's JSON is nested past the limit.
    pub(crate) too_deep: bool,
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

    /// Returns the last step if the stream ends with the window: `More` if the call was cut off, and `Text` if it was
    /// not yet certain to be one.
    fn ending(&mut self, _window: &Window<'_>, _tables: &Tables) -> Step {
        Step::More
    }

    /// Returns what is missing at the window's end, where the call was cut off.
    fn missing(&self, _window: &Window<'_>, _tables: &Tables) -> CutCall {
        CutCall::default()
    }

    /// A stop string has taken it: the call ends with the window.
    fn take_closer(&mut self, _window: &Window<'_>, _tables: &Tables) {}

    /// Server and tool of a call that was cut off or is past the limit.
    fn called(&self, tables: &Tables) -> CalledTool;

    /// Returns the content of the call, which ends at `end`.
    fn resolve(self: Box<Self>, _window: &Window<'_>, _end: u64, tables: &Tables) -> UnresolvedCall {
        UnresolvedCall::of(self.called(tables))
    }

    /// It is in a group of this dialect; whether values in that are directly beside their tags.
    fn enter_group(&mut self, _named: &'static Named, _glued: bool) {}

    /// Returns the delimiter that closes the call.
    fn closer(&self, _tables: &Tables) -> CallCloser {
        CallCloser::BRACKETS
    }

    /// Returns `true` if the call's text could not be read to its end without a fault: it may continue after the offset
    /// at which it was ended.
    fn is_damaged(&self) -> bool {
        false
    }

    /// The first byte that a call past the limit still needs: where it may turn
    /// out to have ended, or where it goes on.
    fn needed_from(&self) -> u64 {
        u64::MAX
    }

    /// The value that contains the text, if its text may be its own preview.
    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        None
    }

    /// Decides about a call without a marker that is still open at the limit on its bytes.
    ///
    /// By default it is text up to `at`, except for the calls that were [kept](Step::Kept) before.
    fn at_limit(&mut self, at: u64) -> Step {
        Step::Text(at, NotACallReason::Limit)
    }

    /// Returns the offset at which the text was first known to be no call, if the text continues after it.
    fn failed_at(&self) -> Option<u64> {
        None
    }

    /// Returns `true` if `</think>` ends the call in the answer, too; otherwise it does so in the reasoning only.
    fn ends_with_reasoning(&self) -> bool {
        true
    }

    /// Returns `true` if a line begins at the call's end: one that is not part of it ended it, or nothing closes it.
    fn ended_by_line(&self) -> bool {
        false
    }
}

/// A value that is emitted as it comes.
pub(crate) enum OpenValue<'v> {
    /// JSON, of which a part is shown.
    Json(&'v mut CallJson),
    /// A text that is taken as it is, read and emitted up to these places.
    Verbatim { cursor: &'v mut u64, previewed: &'v mut u64 },
}
