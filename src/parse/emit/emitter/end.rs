//! The stream is over: what an answer is that was told as reasoning, which drafts are promoted,
//! and whether the first fence's calls count.

use super::Emitter;
use crate::event::{Destination, Event};
use crate::parse::emit::sink::Sink;

impl Emitter {
    /// The stream is over: says what an answer is that was told as reasoning, or
    /// promotes drafts if nothing else is there. `is_unclosed`: all of the reasoning follows a
    /// mark that nothing closed.
    pub(crate) fn finish(&mut self, is_unclosed: bool, sink: &mut Sink<'_>) {
        let (at, normal) = (self.reported, self.ended_normally);
        self.drafts.line_is_over(at, sink);
        let undecided = self.region.is_undecided;
        // Nobody looked for a call past the limits, so none can be said to be missing.
        let hidden = self.budget.is_spent();
        let unfenced = self.drafts.take_fence(undecided).filter(|_| normal && !hidden);
        let is_answer = normal && undecided && at > 0;
        if is_answer {
            self.moved(Destination::Content, sink);
            self.drafts.restore(at, sink);
        } else {
            self.decide();
        }
        if let Some(unfenced) = unfenced {
            self.drafts.unfence(unfenced, at, sink);
        }
        if is_answer {
            return;
        }
        let hidden = self.budget.is_spent() || self.region.is_seen;
        let promoted = normal && self.drafts.promote(hidden, at, sink);
        if normal && is_unclosed && !promoted {
            // What was meant for the reader is not swallowed; drafts in it stay what they are.
            self.moved(Destination::Content, sink);
        }
    }

    /// Reports that all so far belongs elsewhere.
    pub(super) fn moved(&self, to: Destination, sink: &mut Sink<'_>) {
        let at = self.reported;
        sink(Event::Moved { spans: std::slice::from_ref(&(0..at)), to, span: at..at });
    }
}
