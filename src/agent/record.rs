//! A turn's events as lines of a recording.

use futures::stream::BoxStream;

use crate::event::{Call, Region, Rejected};
use crate::model::{ModelError, ModelEvent, Request};
use crate::tools::Catalog;
use crate::transcript::Recorder;
use crate::turn::AgentEvent;

/// What a model sends in a round.
pub type Events = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Writes what a turn makes of its answers: the calls of a message once it is over, since until
/// then they may be taken back.
pub struct TurnRecord {
    recorder: Recorder,
    /// Calls of the message, in their order.
    waiting: Vec<Waiting>,
}

struct Waiting {
    index: u32,
    id: Option<String>,
    result: Result<Call, Rejected>,
    /// All before a think tag became reasoning; what is not promoted was a draft.
    doubtful: bool,
}

impl TurnRecord {
    /// Nothing is written yet.
    pub fn new(recorder: Recorder) -> Self {
        TurnRecord { recorder, waiting: Vec::new() }
    }

    /// A request goes out, and its answer is handed on.
    pub fn stream(&mut self, catalog: &Catalog, request: &Request, answer: Events) -> Events {
        self.flush();
        self.recorder.tools(catalog);
        self.recorder.stream(request, answer)
    }

    /// Writes what the event says, or keeps it until the message is over.
    pub fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::CallEnded { index, id, call } => self.wait(*index, Some(id), Ok((**call).clone())),
            AgentEvent::CallRejected { index, rejected } => self.wait(*index, None, Err((**rejected).clone())),
            AgentEvent::Reclassified { to: Region::Reasoning } => {
                self.waiting.iter_mut().for_each(|call| call.doubtful = true);
            }
            AgentEvent::Promoted { index, id, .. } => self.promote(*index, id),
            AgentEvent::Outcome { id, outcome } => {
                // One that was shown is answered while the message goes on.
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
        // What stands in an answer that was taken for reasoning is told again.
        self.waiting.retain(|waiting| waiting.index != index);
        self.waiting.push(Waiting { index, id: id.cloned(), result, doubtful: false });
    }

    /// A draft is a call after all.
    fn promote(&mut self, index: u32, id: &str) {
        let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.index == index) else { return };
        if let Err(rejected) = &mut waiting.result
            && let Some(call) = rejected.call.take()
        {
            waiting.result = Ok(*call);
        }
        (waiting.id, waiting.doubtful) = (Some(id.to_owned()), false);
    }

    /// Writes the calls that wait.
    pub fn flush(&mut self) {
        for Waiting { index, id, result, doubtful } in std::mem::take(&mut self.waiting) {
            match result {
                Ok(call) if doubtful => self.recorder.rejected(index, None, &draft(&call)),
                Ok(call) => self.recorder.call(index, id.as_deref(), &call),
                Err(rejected) => self.recorder.rejected(index, None, &rejected),
            }
        }
    }
}

impl Drop for TurnRecord {
    fn drop(&mut self) {
        self.flush();
    }
}

fn draft(call: &Call) -> Rejected {
    Rejected::draft(call.clone(), call.raw_arguments.as_str())
}
