//! What waits for a fence's decision: with other text beside it, it is an example.

use std::ops::Range;

use super::{Emitter, Ended, Sink};
use crate::event::MarkerKind;
use crate::parse::verdict::quoted;
use crate::parse::window::Window;

/// Fenced calls whose fence is not yet known to hold nothing else.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) start: u64,
    /// Whether the fence is open.
    pub(super) in_fence: bool,
    pub(super) held: Vec<Held>,
    /// Calls among them that are over.
    pub(super) ended: u32,
    /// One of them is further past the limit on calls than the first.
    pub(super) is_past_limit: bool,
    /// Calls that are not reported.
    pub(super) unlisted: u64,
}

#[derive(Debug)]
pub(super) enum Held {
    /// White space, and whether it stands inside the fence.
    Space(Range<u64>, bool),
    Marker(MarkerKind, Range<u64>),
    Call(Box<HeldCall>),
}

#[derive(Debug, Default)]
pub(super) struct HeldCall {
    pub(super) start: Option<(u64, Option<String>, String)>,
    pub(super) deltas: String,
    pub(super) deltas_end: u64,
    pub(super) ended: Option<Ended>,
}

impl Emitter {
    /// Starts to hold everything from here, a fence that opens, or goes on holding.
    pub(in crate::parse) fn hold_fence(&mut self) {
        let start = self.reported;
        let pending = self.pending.get_or_insert_with(|| Pending {
            start,
            in_fence: true,
            held: Vec::new(),
            ended: 0,
            is_past_limit: false,
            unlisted: 0,
        });
        pending.in_fence = true;
    }

    /// The held fence's closing line comes next.
    pub(in crate::parse) fn close_held_fence(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.in_fence = false;
        }
    }

    /// Where what is held for a fence's decision began.
    pub(in crate::parse) fn held_from(&self) -> Option<u64> {
        self.pending.as_ref().map(|p| p.start)
    }

    /// Decides about held fences: with other text beside them they are
    /// examples (`as_quoted`), alone they are calls.
    pub(in crate::parse) fn settle(&mut self, window: &Window<'_>, as_quoted: bool, sink: &mut Sink<'_>) {
        let Some(pending) = self.pending.take() else { return };
        let after = self.reported;
        self.reported = pending.start;
        let mut open = None;
        self.leave_out(pending.unlisted, as_quoted);
        for held in pending.held {
            match held {
                Held::Space(range, true) if !as_quoted => {
                    self.marker(MarkerKind::Fence, false, window, range.end, sink)
                }
                Held::Space(range, _) => self.plain(window, range.end, sink),
                Held::Marker(kind, range) => self.marker(kind, as_quoted, window, range.end, sink),
                Held::Call(mut call) => match call.ended.take() {
                    Some(mut ended) => {
                        if as_quoted {
                            ended.verdict = quoted(ended.verdict);
                        }
                        self.report_held(*call, sink);
                        self.report_end(ended, as_quoted, window, sink);
                    }
                    None => open = Some(*call),
                },
            }
        }
        self.visible |= as_quoted && self.reads_answer();
        match open {
            Some(call) => self.report_held(call, sink),
            None => debug_assert_eq!(self.reported, after),
        }
    }

    fn report_held(&mut self, call: HeldCall, sink: &mut Sink<'_>) {
        if let Some((at, server, tool)) = call.start {
            self.call_start(at, server.as_deref(), &tool, sink);
            if !call.deltas.is_empty() {
                self.delta(call.deltas_end, &call.deltas, sink);
            }
        }
    }

    /// The held form of the open call, if calls are held.
    pub(super) fn held_call(&mut self) -> Option<&mut HeldCall> {
        let held = &mut self.pending.as_mut()?.held;
        if !matches!(held.last(), Some(Held::Call(call)) if call.ended.is_none()) {
            held.push(Held::Call(Box::default()));
        }
        match held.last_mut() {
            Some(Held::Call(call)) => Some(call),
            _ => None,
        }
    }
}
