//! Writes a turn's events as lines of a recording.

use crate::event::{Call, Region, Rejected};
use crate::model::{ModelEvents, Request};
use crate::tools::Catalog;
use crate::transcript::{RecordedCall, Recorder};
use crate::turn::AgentEvent;

/// Records the events of a turn. The calls of a message are written once the message is over, since until then they may
/// be revised.
pub struct TurnRecord {
    recorder: Recorder,
    /// Calls of the current message that are not written yet, in their order.
    waiting: Vec<PendingCall>,
}

struct PendingCall {
    call: RecordedCall,
    /// `true` if the call was written before a think tag turned its text into reasoning: unless promoted, it was a
    /// draft.
    doubtful: bool,
}

impl TurnRecord {
    /// Creates a record of a turn that writes to this recorder.
    pub fn new(recorder: Recorder) -> Self {
        TurnRecord { recorder, waiting: Vec::new() }
    }

    /// Records the request and returns the answer's events, recorded as they pass.
    pub fn stream(&mut self, catalog: &Catalog, request: &Request, answer: ModelEvents) -> ModelEvents {
        self.flush();
        self.recorder.tools(catalog);
        self.recorder.stream(request, answer)
    }

    /// Records an event of the turn; calls are written only once their message is over.
    pub fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::CallEnded { index, id, call } => self.wait(*index, Some(id), Ok((**call).clone())),
            AgentEvent::CallRejected { index, rejected } => self.wait(*index, None, Err((**rejected).clone())),
            AgentEvent::Reclassified { to: Region::Reasoning } => {
                self.waiting.iter_mut().for_each(|call| call.doubtful = true);
            }
            AgentEvent::Promoted { index, id, .. } => self.promote(*index, id),
            AgentEvent::Outcome { id, outcome } => {
                // The call was read while its message still streams, and its outcome follows it in the recording.
                self.flush();
                self.recorder.outcome(id, outcome);
            }
            AgentEvent::RoundFinished { .. } => self.flush(),
            AgentEvent::Notice { notice } => self.recorder.notice("warning", &notice.to_string()),
            AgentEvent::Correcting { message, .. } => self.recorder.notice("correction", message),
            AgentEvent::Finished(finished) => {
                self.flush();
                if !finished.reason.is_answer() {
                    self.recorder.notice("stopped", &finished.reason.to_string());
                }
            }
            _ => {}
        }
    }

    fn wait(&mut self, index: u32, id: Option<&String>, result: Result<Call, Rejected>) {
        // A call in an answer that was taken for reasoning is reported a second time, under the same index.
        self.waiting.retain(|waiting| waiting.call.index != index);
        let call = RecordedCall::new(index, result).with_id(id.cloned());
        self.waiting.push(PendingCall { call, doubtful: false });
    }

    /// Turns a rejected draft into a call: it was promoted.
    fn promote(&mut self, index: u32, id: &str) {
        let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.call.index == index) else { return };
        if let Err(rejected) = &mut waiting.call.result
            && let Some(call) = rejected.call.take()
        {
            waiting.call.result = Ok(*call);
        }
        (waiting.call.id, waiting.doubtful) = (Some(id.to_owned()), false);
    }

    /// Writes the calls of the current message that are not written yet.
    pub fn flush(&mut self) {
        for PendingCall { mut call, doubtful } in std::mem::take(&mut self.waiting) {
            if let Ok(draft) = &call.result
                && doubtful
            {
                let rejected = Rejected::draft(draft.clone(), draft.raw_arguments.as_str());
                call = RecordedCall::new(call.index, Err(rejected));
            }
            self.recorder.call(call);
        }
    }
}

impl Drop for TurnRecord {
    fn drop(&mut self) {
        self.flush();
    }
}
