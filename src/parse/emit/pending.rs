//! The list of events and calls that wait for a decision.
//!
//! Fenced calls wait for the text after their fence: with other text beside it they are examples. Calls that no
//! marker announces come here once their series is over; in a fence they wait with it. Those that are next to each
//! other are read all or none: one shape reads those of one place (`shape/python`, `shape/message`); those of several
//! fences meet here.

use std::ops::Range;

use super::not_a_call::NotACallReason;
use crate::dialect::Shape;
use crate::event::{MarkerKind, Rejected, RejectedKind};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::judge::{Placement, judge};
use crate::parse::emit::verdict::CallResult;

/// A call that has ended, before its verdict is reported.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The result of reading the call, without regard to its placement.
    pub(crate) read: CallResult,
    /// Placement of the call in the text.
    pub(crate) at: Placement,
    pub(crate) restated: bool,
    pub(crate) span: Range<u64>,
    /// `true` if the call's own closer ended it; used only if the call cannot be read.
    pub(crate) is_whole: bool,
    /// Closer of the call.
    pub(crate) closer: CallCloser,
    /// First bytes of a call that is over the limit, which the window no longer contains; `None` for other calls.
    pub(crate) head: Option<String>,
}

impl Ended {
    /// Returns the kind of the call's rejection, as far as it is known; `None` if the call may run.
    pub(crate) fn rejection(&self) -> Option<RejectedKind> {
        judge(&self.at, self.read.as_ref().err().map(|rejected| rejected.kind)).err()
    }
}

/// Events that are held back until they are decided about, in order.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) start: u64,
    /// `true` if the events wait for the decision about a code fence, `false` if for the end of a series of calls.
    pub(crate) waits_for_fence: bool,
    /// `true` while the code fence that the events wait for is open.
    pub(crate) in_fence: bool,
    pub(crate) held: Vec<HeldEvent>,
    /// Number of held calls that have ended.
    pub(crate) ended: u32,
    /// `true` if only reasoning precedes the held events in the message.
    pub(crate) begins_message: bool,
    /// `true` if a code fence right before the held events contains a call that could not be read.
    pub(crate) after_unread: bool,
    /// Number of held events that are the message's first fence; `None` until that is closed.
    pub(crate) first_fence: Option<usize>,
}

#[derive(Debug)]
pub(crate) enum HeldEvent {
    /// White space, and `true` if it is inside the fence.
    Space(Range<u64>, bool),
    Marker(MarkerKind, Range<u64>),
    Call(Box<HeldCall>),
}

#[derive(Debug, Default)]
pub(crate) struct HeldCall {
    pub(crate) start: Option<(u64, Option<String>, String)>,
    pub(crate) deltas: String,
    pub(crate) deltas_end: u64,
    pub(crate) ended: Option<Ended>,
}

impl Pending {
    /// Creates an empty list of events that are held from offset `start` on. `begins_message`: they are of a fence that
    /// the message begins with.
    pub(crate) fn new(start: u64, begins_message: bool) -> Self {
        Pending { start, begins_message, ..Pending::default() }
    }

    /// Returns the open call among the held events; adds one if none is open.
    pub(crate) fn call(&mut self) -> Option<&mut HeldCall> {
        if !matches!(self.held.last(), Some(HeldEvent::Call(call)) if call.ended.is_none()) {
            self.held.push(HeldEvent::Call(Box::default()));
        }
        match self.held.last_mut() {
            Some(HeldEvent::Call(call)) => Some(call),
            _ => None,
        }
    }
}

/// Returns the error message for a series with a call that cannot be read.
pub(crate) fn unreadable(why: NotACallReason) -> String {
    let why = match why {
        NotACallReason::NoLiteral => {
            "a value is not a literal (a text is in quotes; names, expressions and calls have no value)"
        }
        NotACallReason::NoKeyword => "a value has no keyword, and its tool has several parameters",
        NotACallReason::Limit => "it is nested too deep, or follows more calls than are read",
        NotACallReason::Damaged => "its JSON is malformed",
        _ => "it is not complete",
    };
    format!("the calls are next to each other and one cannot be read, so none is run: {why}")
}

/// Rejects all held calls without a marker if one of them cannot be read or is cut off, or if one in a fence before
/// them could not be read (`unread`).
pub(crate) fn all_or_none(held: &mut [HeldEvent], unread: bool) {
    let fails = |kind: RejectedKind| matches!(kind, RejectedKind::Truncated | RejectedKind::Malformed);
    let kinds = members(held).filter_map(|ended| ended.rejection());
    let before = unread.then_some(RejectedKind::Malformed);
    // The first in order of precedence: a series that is cut off anywhere is `truncated`.
    let Some(kind) = kinds.filter(|kind| fails(*kind)).chain(before).min() else { return };
    let message = match kind {
        RejectedKind::Truncated => "another call of the series is cut off, so none is run",
        _ => "another call of the series cannot be read, so none is run",
    };
    for ended in members(held).filter(|ended| ended.rejection().is_none_or(|known| known > kind)) {
        fail(&mut ended.read, kind, message);
    }
}

/// Returns the held calls that have ended and have no marker.
fn members(held: &mut [HeldEvent]) -> impl Iterator<Item = &mut Ended> {
    held.iter_mut().filter_map(|held| match held {
        HeldEvent::Call(call) => call.ended.as_mut().filter(|ended| is_markerless(ended)),
        _ => None,
    })
}

/// Returns `true` if the held events include a finished call that no marker announces.
pub(crate) fn has_members(held: &[HeldEvent]) -> bool {
    held.iter().any(|held| matches!(held, HeldEvent::Call(call) if call.ended.as_ref().is_some_and(is_markerless)))
}

fn is_markerless(ended: &Ended) -> bool {
    let dialect = match &ended.read {
        Ok(call) => call.dialect,
        Err(rejected) => rejected.dialect,
    };
    matches!(dialect.spec().shape, Shape::Python | Shape::Json(_) | Shape::React(_))
}

fn fail(verdict: &mut CallResult, kind: RejectedKind, message: &str) {
    let (dialect, server, tool) = match verdict {
        Ok(call) => (call.dialect, call.server.take(), Some(std::mem::take(&mut call.tool))),
        Err(rejected) => (rejected.dialect, rejected.server.take(), rejected.tool.take()),
    };
    *verdict = Err(Rejected { server, tool, ..Rejected::new(kind, dialect, "", message) });
}
