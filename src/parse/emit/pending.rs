//! The list of events and calls that wait for a decision.
//!
//! Two things are held here, in one list. Fenced calls wait for what follows
//! their fence: with other text beside it they are examples. Calls that no marker
//! announces wait for their own end: what was held since they began is dropped if
//! they turn out to be text. They may be in a fence that waits, too.
//!
//! ```text
//!   fence opens ── held … held ── calls without a marker ─┬─ are calls: stay held for the fence
//!                                 │ held … held           └─ are text: dropped from here on
//!                                 └ without a fence: handed on as soon as they are calls
//! ```

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
    /// `true` if a fence is undecided; else only calls without a marker are.
    pub(crate) waits_for_fence: bool,
    /// `true` if that fence is open.
    pub(crate) in_fence: bool,
    pub(crate) held: Vec<Held>,
    /// Calls that are over.
    pub(crate) ended: u32,
    /// Nothing came before it in the message but reasoning.
    pub(crate) begins_message: bool,
    /// A fence right before it holds a call that could not be read.
    pub(crate) behind_unread: bool,
    /// Up to where what is held is the first fence, once that is closed.
    pub(crate) first_fence: Option<usize>,
    /// The position where the open calls without a marker began.
    markerless: Option<Mark>,
    /// After those of them that are calls, whatever follows.
    kept: Option<Mark>,
}

/// A place in what is held.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: u64,
    held: usize,
    /// The position where the last marker before it ended.
    marker_end: Option<u64>,
    ended: u32,
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

    /// Calls without a marker begin at `at`.
    pub(crate) fn begin_markerless(&mut self, at: u64) {
        self.markerless = Some(self.mark(at));
        self.kept = None;
    }

    fn mark(&self, at: u64) -> Mark {
        let marker_end = match self.held.last() {
            Some(Held::Marker(_, span)) => Some(span.end),
            _ => None,
        };
        Mark { at, held: self.held.len(), marker_end, ended: self.ended }
    }

    /// Those of them that end at `at` or before it are calls, whatever follows.
    pub(crate) fn keep_so_far(&mut self, at: u64) {
        self.kept = Some(self.mark(at));
    }

    /// Drops what was held after those; yields where.
    pub(crate) fn back_to_kept(&mut self) -> Option<u64> {
        let mark = self.kept.take()?;
        self.back_to(mark);
        Some(mark.at)
    }

    fn back_to(&mut self, mark: Mark) {
        self.held.truncate(mark.held);
        if let (Some(Held::Marker(_, span)), Some(end)) = (self.held.last_mut(), mark.marker_end) {
            span.end = end;
        }
        self.ended = mark.ended;
    }

    /// They are calls.
    pub(crate) fn keep_markerless(&mut self) {
        self.markerless = None;
        self.kept = None;
    }

    /// They are text: yields where they began.
    pub(crate) fn drop_markerless(&mut self) -> Option<u64> {
        let mark = self.markerless.take()?;
        self.kept = None;
        self.back_to(mark);
        Some(mark.at)
    }

    /// Takes apart what waits for the fence alone; yields that, and the calls
    /// without a marker that are open after it.
    pub(crate) fn split(mut self) -> (Pending, Option<Pending>) {
        let Some(mark) = self.markerless.take() else { return (self, None) };
        let mut open = Pending::new(mark.at, false);
        open.begin_markerless(mark.at);
        open.kept =
            self.kept.take().map(|kept| Mark { held: kept.held - mark.held, ended: kept.ended - mark.ended, ..kept });
        open.held = self.held.split_off(mark.held);
        open.ended = self.ended - mark.ended;
        self.ended = mark.ended;
        (self, Some(open))
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
