//! A turn's events as lines of a recording.

use std::collections::HashSet;

use futures::stream::BoxStream;
use serde_json::{Map, Value};

use crate::event::{Call, Region, Rejected};
use crate::model::{ModelError, ModelEvent, Request};
use crate::outcome::Outcome;
use crate::tools::Catalog;
use crate::transcript::Recorder;
use crate::turn::AgentEvent;

/// What a model sends in a round.
pub type Events = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Writes what a turn makes of its answers.
///
/// The format wants the calls with the ids under which they are answered; a
/// turn gives a call its id when it deals with it. So calls wait for theirs.
pub struct TurnRecord {
    recorder: Recorder,
    /// Calls of the message that have no id yet, in their order.
    waiting: Vec<Waiting>,
    /// Outcomes of calls that nothing was said about before: denied ones.
    unnamed: Vec<(String, Outcome)>,
    known: HashSet<String>,
}

struct Waiting {
    index: u32,
    result: Result<Call, Rejected>,
    /// All before a think tag became reasoning; what gets no id was a draft.
    doubtful: bool,
}

impl TurnRecord {
    /// Nothing is written yet.
    pub fn new(recorder: Recorder) -> Self {
        TurnRecord { recorder, waiting: Vec::new(), unnamed: Vec::new(), known: HashSet::new() }
    }

    /// A request goes out, and its answer is handed on.
    pub fn stream(&mut self, catalog: &Catalog, request: &Request, answer: Events) -> Events {
        self.flush();
        self.recorder.tools(catalog);
        self.recorder.stream(request, answer)
    }

    /// Writes what the event says, or keeps it until an id is known.
    pub fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::CallEnded { index, call } => self.wait(*index, Ok((**call).clone())),
            AgentEvent::CallRejected { index, rejected } => self.wait(*index, Err((**rejected).clone())),
            AgentEvent::Reclassified { to: Region::Reasoning } => {
                self.waiting.iter_mut().for_each(|call| call.doubtful = true);
            }
            AgentEvent::Promoted { index, .. } => self.promote(*index),
            AgentEvent::ApprovalAsked(request) => self.name(&request.id, &request.tool, &request.arguments),
            AgentEvent::CallRunning { id, tool, arguments, .. } => self.name(id, tool, arguments),
            AgentEvent::Outcome { id, outcome } if self.known.contains(id) => self.recorder.outcome(id, outcome),
            AgentEvent::Outcome { id, outcome } => {
                self.unnamed.push((id.clone(), outcome.clone()));
                self.pair();
            }
            AgentEvent::RoundFinished { .. } => self.rejected(),
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

    fn wait(&mut self, index: u32, result: Result<Call, Rejected>) {
        // What stands in an answer that was taken for reasoning is told again.
        self.waiting.retain(|waiting| waiting.index != index);
        self.waiting.push(Waiting { index, result, doubtful: false });
    }

    /// A draft is a call after all.
    fn promote(&mut self, index: u32) {
        if let Some(waiting) = self.waiting.iter_mut().find(|w| w.index == index)
            && let Err(rejected) = &mut waiting.result
            && let Some(call) = rejected.call.take()
        {
            waiting.result = Ok(*call);
        }
    }

    /// A call has its id: the first one that fits, for calls are dealt with in
    /// their order.
    fn name(&mut self, id: &str, tool: &str, arguments: &Map<String, Value>) {
        if !self.known.insert(id.to_owned()) {
            return;
        }
        let place = |fits: &dyn Fn(&Call) -> bool| self.waiting.iter().position(|w| w.result.as_ref().is_ok_and(fits));
        // A promoted call's arguments are checked after its event.
        let found = place(&|call| call.tool == tool && call.arguments.as_object() == Some(arguments))
            .or_else(|| place(&|call| call.tool == tool));
        if let Some(at) = found {
            let waiting = self.waiting.remove(at);
            self.write(&waiting, Some(id));
        }
        self.pair();
    }

    /// Once as many outcomes as calls have no partner, they belong together:
    /// denied calls are answered in their order.
    fn pair(&mut self) {
        let calls = self.waiting.iter().filter(|w| w.result.is_ok()).count();
        if calls > self.unnamed.len() {
            return;
        }
        for (id, outcome) in std::mem::take(&mut self.unnamed) {
            if let Some(at) = self.waiting.iter().position(|w| w.result.is_ok()) {
                let waiting = self.waiting.remove(at);
                self.write(&waiting, Some(&id));
            }
            self.known.insert(id.clone());
            self.recorder.outcome(&id, &outcome);
        }
    }

    /// The message is over: rejected calls stay without an id.
    fn rejected(&mut self) {
        let all = std::mem::take(&mut self.waiting).into_iter();
        let (rejected, calls): (Vec<_>, Vec<_>) = all.partition(|w| w.result.is_err());
        self.waiting = calls;
        rejected.iter().for_each(|waiting| self.write(waiting, None));
    }

    /// The round is over: what has no id gets none.
    pub fn flush(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            self.write(&waiting, None);
        }
        for (id, outcome) in std::mem::take(&mut self.unnamed) {
            self.recorder.outcome(&id, &outcome);
        }
    }

    fn write(&self, waiting: &Waiting, id: Option<&str>) {
        let Waiting { index, result, doubtful } = waiting;
        match result {
            Ok(call) if *doubtful && id.is_none() => self.recorder.rejected(*index, None, &draft(call)),
            Ok(call) => self.recorder.call(*index, id, call),
            Err(rejected) => self.recorder.rejected(*index, id, rejected),
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
