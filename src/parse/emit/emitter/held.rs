//! Held events: calls in a fence wait for the text after it.
//! `emit/pending.rs` is the list that they wait in.

use super::Emitter;
use crate::event::{MarkerKind, QuotedIn};
use crate::json::window::Window;
use crate::parse::emit::drafts::Unfenced;
use crate::parse::emit::pending::{HeldCall, HeldEvent, Pending, all_or_none, has_members};
use crate::parse::emit::sink::Sink;

impl Emitter {
    /// Holds all events from here, where a code fence opens, or continues to hold them.
    pub(crate) fn hold_fence(&mut self) {
        let start = self.reported;
        // Only the first fence of an answer that begins with it, and only where the configuration takes its
        // calls.
        let begins_message = self.drafts.takes_fenced
            && self.drafts.first_fence.is_none()
            && self.begins_region()
            && self.region.reads_answer();
        let pending = self.pending.get_or_insert_with(|| Pending::new(start, begins_message));
        pending.waits_for_fence = true;
        pending.in_fence = true;
        pending.after_unread |= self.region.follows_unread;
    }

    /// Notes that the closing line of the held fence comes next.
    pub(crate) fn close_held_fence(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.in_fence = false;
            // The closing line comes next.
            pending.first_fence.get_or_insert(pending.held.len() + 1);
        }
    }

    /// Returns `true` if calls without a marker wait for the decision about a fence: further ones join their series.
    pub(crate) fn holds_series(&self) -> bool {
        self.pending.as_ref().is_some_and(|p| p.waits_for_fence && has_members(&p.held))
    }

    /// Returns the offset of the first byte that is held for the decision about a fence; `None` if none is.
    pub(crate) fn fence_held_from(&self) -> Option<u64> {
        self.pending.as_ref().filter(|p| p.waits_for_fence).map(|p| p.start)
    }

    /// Holds the calls without a marker that come next, until their series is complete.
    pub(crate) fn hold_series(&mut self) {
        let start = self.reported;
        self.pending.get_or_insert_with(|| Pending::new(start, false));
    }

    /// Emits the held events. `quoted_in`: the construct that makes the held calls examples, such as a fence with other
    /// text beside it; without one they are calls.
    pub(crate) fn settle(&mut self, quoted_in: Option<QuotedIn>, window: &Window<'_>, sink: &mut Sink<'_>) {
        let as_quoted = quoted_in.is_some();
        let Some(mut pending) = self.pending.take() else { return };
        if !as_quoted {
            all_or_none(&mut pending.held, pending.after_unread);
        }
        let after = std::mem::replace(&mut self.reported, pending.start);
        let mut open = None;
        let first_fence = pending.first_fence.filter(|_| as_quoted && pending.begins_message).unwrap_or_default();
        let mut unfenced = Unfenced { calls: self.budget.index..self.budget.index, syntax: Vec::new() };
        for (place, held) in pending.held.into_iter().enumerate() {
            if place < first_fence {
                match &held {
                    HeldEvent::Space(range, _) | HeldEvent::Marker(_, range) => unfenced.syntax.push(range.clone()),
                    HeldEvent::Call(_) => unfenced.calls.end += 1,
                }
            }
            match held {
                // In the fence of a call white space is syntax, as the lines of the fence are.
                HeldEvent::Space(range, true) if !as_quoted => {
                    self.marker(MarkerKind::Fence, false, window, range.end, sink)
                }
                HeldEvent::Space(range, _) => self.plain(window, range.end, sink),
                HeldEvent::Marker(kind, range) => self.marker(kind, as_quoted, window, range.end, sink),
                HeldEvent::Call(mut call) => match call.ended.take() {
                    Some(mut ended) => {
                        // What quotes it by itself comes before its fence.
                        ended.at.quoted_in = ended.at.quoted_in.or(quoted_in);
                        self.report_held(*call, sink);
                        self.report_end(ended, window, sink);
                    }
                    None => open = Some(*call),
                },
            }
        }
        // Past the limit calls are not reported, and have no index.
        if !unfenced.calls.is_empty() && !self.budget.limit_reported {
            self.drafts.first_fence = Some(unfenced);
        }
        if as_quoted {
            self.region.see();
        }
        match open {
            Some(call) => self.report_held(call, sink),
            None => debug_assert_eq!(self.reported, after),
        }
    }

    pub(super) fn report_held(&mut self, call: HeldCall, sink: &mut Sink<'_>) {
        if let Some((at, server, tool)) = call.start {
            self.call_start(at, server.as_deref(), &tool, sink);
            if !call.deltas.is_empty() {
                self.delta(call.deltas_end, &call.deltas, sink);
            }
        }
    }

    /// Returns the held form of the open call; `None` if events are not held.
    pub(super) fn held_call(&mut self) -> Option<&mut HeldCall> {
        self.pending.as_mut()?.call()
    }
}
