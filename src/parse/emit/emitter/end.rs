//! The stream is over: what an answer is that was told as reasoning, which drafts are promoted,
//! whether the first fence's calls count, and how many calls were not reported.

use super::Emitter;
use crate::event::{Event, Region};
use crate::parse::emit::drafts::Unfenced;
use crate::parse::emit::sink::Sink;

impl Emitter {
    /// The message is over in reasoning, if there is a doubt: what stands in it may be text of a call
    /// before, as the mark that opened it (`mixed/closer_in_reasoning_that_never_ends`).
    pub(crate) fn ends_in_reasoning(&mut self, sink: &mut Sink<'_>) {
        if let Some(first) = self.region.take_doubtful() {
            self.withdraw(first, sink);
        }
    }

    /// The stream is over: says what an answer is that was told as reasoning, or
    /// promotes drafts if nothing else is there. `is_unclosed`: all of the reasoning stands behind a
    /// mark that nothing closed.
    pub(crate) fn finish(&mut self, normal: bool, is_unclosed: bool, sink: &mut Sink<'_>) {
        let at = self.reported;
        let undecided = self.region.is_undecided();
        // Nobody looked for a call behind the last opening, so none can be said to be missing; and a
        // call that is not listed may have stood outside of the reasoning.
        let hidden = self.budget.hides_calls();
        let unfenced = self.drafts.take_fence(undecided).filter(|_| normal && !hidden);
        if normal && undecided && at > 0 {
            sink(Event::Reclassified { to: Region::Content, drafts: false, span: at..at });
            self.drafts.restore(at, sink);
            self.tell_unlisted(sink);
            return self.unfence(unfenced, sink);
        }
        self.decide();
        self.unfence(unfenced, sink);
        self.tell_unlisted(sink);
        let hidden = self.budget.hides_calls() || self.region.is_seen();
        let promoted = normal && self.drafts.promote(hidden, at, sink);
        if normal && is_unclosed && !promoted {
            // What was meant for the reader is not swallowed; drafts in it stay what they are.
            sink(Event::Reclassified { to: Region::Content, drafts: false, span: at..at });
        }
    }

    fn unfence(&self, unfenced: Option<Unfenced>, sink: &mut Sink<'_>) {
        if let Some(Unfenced { calls, syntax }) = unfenced {
            sink(Event::Unfenced { calls, syntax: &syntax, span: self.reported..self.reported });
        }
    }

    /// How many calls over the limit were not reported.
    fn tell_unlisted(&self, sink: &mut Sink<'_>) {
        let count = self.budget.unlisted;
        if count > 0 {
            sink(Event::Unlisted { index: self.budget.index - 1, count, span: self.reported..self.reported });
        }
    }
}
