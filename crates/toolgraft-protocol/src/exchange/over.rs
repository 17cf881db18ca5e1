//! Ends an answer: with calls for the client, with text or with an error.

use std::time::Instant;

use serde_json::Value;

use super::{Exchange, Step};
use crate::cost::Costs;
use crate::fault::Fault;
use crate::out::{Finish, Out};
use crate::store::{UnseenRounds, WrittenMessage};
use toolgraft::Call;
use toolgraft::agent::Finished;
use toolgraft::agent::StopReason;
use toolgraft::message::{FinishReason, NativeCall};
use toolgraft::route::Invocation;
use toolgraft::turn::ClientEnd;

impl Exchange {
    /// Ends the answer with the client's calls. Calls of the toolbox in the same message do not run; the model makes
    /// them again.
    pub(super) fn hand_out(&mut self) {
        self.steps.extend(self.text.settle().map(Step::from));
        // With a schema all text is held. Beside a call that of the first round is the text before it; that
        // of a later round may only correct an earlier one.
        if self.asked.output.is_some() && self.progress.rounds == 1 {
            self.steps.extend(self.text.release().map(Step::from));
        }
        let written = self.turn.written();
        let made = self.client_calls.iter().map(|call| (call.tool.clone(), call.arguments.clone())).collect();
        let own = self.client_calls.iter().map(|call| of_endpoint(&call.id)).collect();
        let calls = std::mem::take(&mut self.client_calls);
        let ids: Vec<String> = calls.into_iter().map(|call| self.call(call)).collect();
        // The model's text is only stored if it holds no calls of the toolbox, which the client did
        // not see.
        if let Some(text) = written.filter(|_| self.own_calls.is_empty()) {
            self.asked
                .kept
                .keep_written(&ids, WrittenMessage { calls: made, ids: own, text, withheld: self.turn.withheld() });
        }
        let searched = self.turn.searched();
        // Only then has the client missed something that its next request needs.
        if self.progress.own_calls > 0 || !searched.is_empty() {
            let messages = std::mem::take(&mut self.since);
            let before = UnseenRounds { messages, searched, untrusted: self.untrusted };
            self.asked.kept.keep(ids, before, Instant::now());
        }
        self.end(FinishReason::ToolCalls);
    }

    pub(super) fn end(&mut self, reason: FinishReason) {
        self.over = true;
        let Costs { delivered: usage, total, .. } = self.costs;
        let finish = Finish { reason, usage, total, rounds: self.progress.rounds, refused: self.refused };
        self.out(Out::Finish(finish));
    }

    pub(super) fn finished(&mut self, finished: Finished) {
        self.problem = (!finished.reason.is_answer()).then(|| finished.reason.to_string());
        if let StopReason::Repetition { times } = finished.reason {
            self.progress.repeats = Some(times);
        }
        let prepared = &self.prepared;
        let is_clients = |call: &Call| {
            let server = call.server.as_deref();
            prepared.is_clients(server, &call.tool) && prepared.choice.admits(server, &call.tool)
        };
        let (pieces, end) = self.text.finish(finished, prepared.settings.strict_calls, is_clients);
        self.steps.extend(pieces.into_iter().map(Step::from));
        match end {
            ClientEnd::Over { reason, refusal } => {
                self.refused = refusal.is_some();
                self.steps.extend(refusal.map(|text| Step::Out(Out::Refusal(text))));
                self.end(reason);
            }
            ClientEnd::Calls(calls) => {
                for call in calls {
                    self.call(call);
                }
                self.end(FinishReason::ToolCalls);
            }
            ClientEnd::Failed(reason) => {
                self.over = true;
                self.out(Out::Failed(Fault::from(&reason)));
            }
        }
    }

    /// Queues a call for the client under a new signed identifier, which is returned.
    fn call(&mut self, call: Invocation) -> String {
        let (id, arguments) = (self.asked.kept.id(self.untrusted), Value::Object(call.arguments).to_string());
        self.out(Out::Call(NativeCall { id: Some(id.clone()), name: call.tool, arguments }));
        id
    }
}

/// Returns the identifier of a call if the endpoint assigned it, else `None`: an identifier of the form `call_N` is
/// the number that the turn assigned to a call without one.
fn of_endpoint(id: &str) -> Option<String> {
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    Some(id).filter(|id| !id.strip_prefix("call_").is_some_and(is_number)).map(str::to_owned)
}
