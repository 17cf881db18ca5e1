//! The stream is over: what an answer is that was told as reasoning, which drafts are promoted,
//! whether the first fence's calls count, and how many calls were not reported.

use super::{Emitter, Logged, Never, Sink, Unfenced};
use crate::event::{Event, Region};
use crate::message::ReasoningCalls;

impl Emitter {
    /// The stream is over: says what an answer is that was told as reasoning, or
    /// promotes drafts if nothing else is there. `is_unclosed`: all of the reasoning stands behind a
    /// mark that nothing closed.
    pub(crate) fn finish(&mut self, normal: bool, is_unclosed: bool, sink: &mut Sink<'_>) {
        let unfenced = self.first_fence.take().filter(|first| normal && self.admits(first));
        if normal && self.undecided && self.reported > 0 {
            self.restore(sink);
            return self.unfence(unfenced, sink);
        }
        self.decide();
        self.unfence(unfenced, sink);
        self.tell_unlisted(sink);
        let promoted = normal && self.promote(sink);
        if normal && is_unclosed && !promoted {
            // What was meant for the reader is not swallowed; drafts in it stay what they are.
            let span = self.reported..self.reported;
            sink(Event::Reclassified { to: Region::Content, drafts: false, span });
        }
    }

    /// Promotes the last complete draft and those next to it, where the policy says so and nothing
    /// else is there; whether there are any.
    fn promote(&self, sink: &mut Sink<'_>) -> bool {
        // Nobody looked for a call behind the last opening, so none can be said to be missing; and a
        // call that is not listed may have stood outside of the reasoning.
        let outside = self.is_spent() || self.unlisted_outside || self.log.iter().any(|c| !c.in_reasoning && !c.quoted);
        if self.policy != ReasoningCalls::LastResort || self.visible || outside {
            return false;
        }
        // A later draft that was cut off is the one that was meant.
        let last = self.log.iter().rfind(|c| c.in_reasoning && (c.complete || c.never == Some(Never::CutOff)));
        if last.is_some_and(|last| last.never == Some(Never::CutOff)) {
            return false;
        }
        let draft = |c: &&Logged| c.complete && c.in_reasoning && c.never.is_none();
        let Some(run) = self.log.iter().rfind(draft).map(|c| c.run) else { return false };
        for call in self.log.iter().filter(draft).filter(|c| c.run == run) {
            sink(Event::Promoted { index: call.index, span: self.reported..self.reported });
        }
        true
    }

    /// Whether the calls of a fence are whole, and nothing else in the message is a call.
    fn admits(&self, Unfenced { calls, .. }: &Unfenced) -> bool {
        let drafts = |call: &Logged| call.in_reasoning && !self.undecided;
        !self.unlisted_outside
            && !self.is_spent()
            && self.log.iter().all(|call| match calls.contains(&call.index) {
                true => call.complete && call.quoted && !drafts(call),
                false => call.quoted || drafts(call),
            })
    }

    fn unfence(&self, unfenced: Option<Unfenced>, sink: &mut Sink<'_>) {
        if let Some(Unfenced { calls, syntax }) = unfenced {
            sink(Event::Unfenced { calls, syntax: &syntax, span: self.reported..self.reported });
        }
    }

    /// What was told as reasoning is the answer. Its calls are calls for certain only
    /// if it begins with one, which no reasoning does; any other needs approval.
    fn restore(&mut self, sink: &mut Sink<'_>) {
        let at = self.reported..self.reported;
        sink(Event::Reclassified { to: Region::Content, drafts: false, span: at.clone() });
        for call in self.log.drain(..).filter(|c| c.in_reasoning) {
            let (index, span) = (call.index, at.clone());
            match call.reason {
                None if !self.begins_with_call => sink(Event::Promoted { index, span }),
                reason => sink(Event::Restored { index, reason: reason.as_deref(), span }),
            }
        }
        self.tell_unlisted(sink);
    }

    /// How many calls over the limit were not reported.
    fn tell_unlisted(&self, sink: &mut Sink<'_>) {
        if self.unlisted > 0 {
            let span = self.reported..self.reported;
            sink(Event::Unlisted { index: self.index - 1, count: self.unlisted, span });
        }
    }
}
