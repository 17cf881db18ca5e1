//! The list of events and calls that wait for a decision.
//!
//! Fenced calls wait for the text after their fence: with other text beside it they are examples. Calls that no
//! marker announces come here once their series is over; in a fence they wait with it.

use std::ops::Range;

use crate::event::{MarkerKind, RejectedKind};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::judge::{Placement, judge};
use crate::parse::emit::verdict::Verdict;

/// A call that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The call as it was read, wherever it is.
    pub(crate) read: Verdict,
    /// Its placement.
    pub(crate) at: Placement,
    pub(crate) restated: bool,
    pub(crate) span: Range<u64>,
    /// Its own closer ends it, if it cannot be read.
    pub(crate) is_whole: bool,
    /// The closer of such a call.
    pub(crate) closer: CallCloser,
    /// The call's first bytes, if it is over the limit: the window no longer holds them.
    pub(crate) head: Option<String>,
}

impl Ended {
    /// Why it must not run, for all that is known.
    pub(crate) fn rejection(&self) -> Option<RejectedKind> {
        judge(&self.at, self.read.as_ref().err().map(|rejected| rejected.kind)).err()
    }
}

/// Events that are held, in order.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) start: u64,
    /// `true` if a fence is undecided; else a series of calls is handed on.
    pub(crate) waits_for_fence: bool,
    /// `true` if that fence is open.
    pub(crate) in_fence: bool,
    pub(crate) held: Vec<Held>,
    /// Calls that are over.
    pub(crate) ended: u32,
    /// Nothing came before it in the message but reasoning.
    pub(crate) begins_message: bool,
    /// A fence right before it holds a call that could not be read.
    pub(crate) after_unread: bool,
    /// Up to where what is held is the first fence, once that is closed.
    pub(crate) first_fence: Option<usize>,
}

#[derive(Debug)]
pub(crate) enum Held {
    /// White space, and whether it is inside the fence.
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
    /// Nothing yet, from `start` on. `begins_message`: a fence that the message begins with.
    pub(crate) fn new(start: u64, begins_message: bool) -> Self {
        Pending { start, begins_message, ..Pending::default() }
    }

    /// The open call among what is held.
    pub(crate) fn call(&mut self) -> Option<&mut HeldCall> {
        if !matches!(self.held.last(), Some(Held::Call(call)) if call.ended.is_none()) {
            self.held.push(Held::Call(Box::default()));
        }
        match self.held.last_mut() {
            Some(Held::Call(call)) => Some(call),
            _ => None,
        }
    }
}
