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
    /// All decidable bytes were read; the call continues after them.
    More,
    /// One call of a series has ended, with its byte range; a further one may follow.
    Call(Range<u64>, Box<UnresolvedCall>),
    /// The calls up to this offset are final, whatever follows. If the text read after them is no call, the series ends
    /// at this offset and the rest is flushed as text.
    Kept(u64),
    /// A series ends at this offset, and one of its calls cannot be read, for this reason: none of them is a call.
    Broken(u64, NotACallReason),
    /// The call, or the last one of a series, ends at this offset.
    End(u64),
    /// The text is no call after all: its bytes up to this offset are text, for this reason.
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

/// Server and tool of a call, as far as they are known.
pub(crate) type CalledTool = (Option<String>, Option<String>);

/// Reader of an open call's text in one shape.
///
/// A shape that reports its call while it is open ([`CallOut::start`]) yields
/// [`Step::End`] and is [resolved](CallShape::resolve); one whose text may yet be
/// no call yields [`Step::Call`]s before.
pub(crate) trait CallShape: fmt::Debug + Send + Sync {
    /// Reads more of the call's text from the window, and returns the result of this step.
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step;

    /// Returns the last step if the stream ends with the window: `More` if the call was cut off, and `Text` if it was
    /// not yet certain to be one.
    fn ending(&mut self, _window: &Window<'_>, _tables: &Tables) -> Step {
        Step::More
    }

    /// Returns the state of a call that was cut off at the window's end, with the text that it lacks.
    fn missing(&self, _window: &Window<'_>, _tables: &Tables) -> CutCall {
        CutCall::default()
    }

    /// Ends the call at the window's end, since a stop string has taken its closer.
    fn take_closer(&mut self, _window: &Window<'_>, _tables: &Tables) {}

    /// Returns server and tool of a call that was cut off or is past the limit.
    fn called(&self, tables: &Tables) -> CalledTool;

    /// Returns the content of the call, which ends at `end`.
    fn resolve(self: Box<Self>, _window: &Window<'_>, _end: u64, tables: &Tables) -> UnresolvedCall {
        UnresolvedCall::of(self.called(tables))
    }

    /// Notes that the call is in a group of this dialect; `glued`: values in that are directly beside their tags.
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

    /// Returns the offset of the first byte that a call past the limit still needs: where it may turn out to have
    /// ended, or where reading continues.
    fn needed_from(&self) -> u64 {
        u64::MAX
    }

    /// Returns the value that is being read, if its text may be emitted unchanged as its preview.
    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        None
    }

    /// Decides about a call without a marker that is still open at the limit on its bytes.
    ///
    /// By default the call is text up to `at`, except for the calls that were [kept](Step::Kept) before.
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

    /// Returns `true` if a line begins at the call's end: a line that is not part of the call ended it, or nothing
    /// closes it.
    fn ended_by_line(&self) -> bool {
        false
    }
}

/// A value whose text is emitted as it arrives.
pub(crate) enum OpenValue<'v> {
    /// A JSON value, of which a part is emitted.
    Json(&'v mut CallJson),
    /// A verbatim text, with the offsets up to which it was read (`cursor`) and emitted (`previewed`).
    Verbatim { cursor: &'v mut u64, previewed: &'v mut u64 },
}
