//! Ends an answer: with calls for the client, with text or with an error. Also decides what becomes
//! of a call that the model did not correct.

use serde_json::Value;

use super::{Exchange, Step};
use crate::cost::Costs;
use crate::fault::Fault;
use crate::out::{Finish, Out};
use crate::store::{UnseenRounds, WrittenMessage};
use toolgraft::Call;
use toolgraft::agent::Finished;
use toolgraft::agent::StopReason;
use toolgraft::event::{Rejected, RejectedKind};
use toolgraft::message::{FinishReason, NativeCall};
use toolgraft::outcome::restore_tokens;
use toolgraft::turn::{Reaction, reaction};

impl Exchange {
    /// Hands the client its calls. Calls of the toolbox in the same message do not run; the model
    /// makes them again.
    pub(super) fn hand_out(&mut self) {
        self.steps.extend(self.text.settle().map(Step::from));
        if self.asked.output.is_some() && self.rounds == 1 {
            self.steps.extend(self.text.release().map(Step::from));
        }
        let written = self.turn.written();
        let made = self.client_calls.iter().map(|call| (call.tool.clone(), call.arguments.clone())).collect();
        let own = self.client_calls.iter().map(|call| of_endpoint(&call.id)).collect();
        let mut ids = Vec::new();
        for call in std::mem::take(&mut self.client_calls) {
            let (id, arguments) = (self.asked.kept.id(self.untrusted), Value::Object(call.arguments).to_string());
            ids.push(id.clone());
            self.out(Out::Call(NativeCall { id: Some(id), name: call.tool, arguments }));
        }
        // The model's text is only stored if it holds no calls of the toolbox, which the client did
        // not see.
        if let Some(text) = written.filter(|_| self.own_calls.is_empty()) {
            self.asked
                .kept
                .keep_written(&ids, WrittenMessage { calls: made, ids: own, text, withheld: self.turn.withheld() });
        }
        let searched = self.turn.searched();
        if self.own_begun > 0 || !searched.is_empty() {
            let messages = std::mem::take(&mut self.since);
            self.kept = Some((ids, UnseenRounds { messages, searched, untrusted: self.untrusted }));
        }
        self.end(FinishReason::ToolCalls);
    }

    pub(super) fn end(&mut self, reason: FinishReason) {
        self.over = true;
        let Costs { delivered: usage, total, .. } = self.costs;
        let finish = Finish { reason, usage, total, rounds: self.rounds, refused: self.refused };
        self.out(Out::Finish(finish));
    }

    pub(super) fn finished(&mut self, finished: Finished) {
        let cut_off = self.finish == Some(FinishReason::Length);
        if let StopReason::Repetition { times } = finished.reason {
            self.repeats = Some(times);
        }
        match finished.reason {
            StopReason::Answered
            | StopReason::OutputLimit
            | StopReason::Refused { .. }
            | StopReason::Filtered
            | StopReason::Repetition { .. }
            | StopReason::ContextFull { .. } => {
                let instead = finished.output.map(|value| value.to_string());
                self.steps.extend(self.text.end(instead).map(Step::from));
                let is_whole = matches!(finished.reason, StopReason::Answered | StopReason::Refused { .. });
                if let StopReason::Refused { message } = finished.reason {
                    self.refused = true;
                    self.out(Out::Refusal(message));
                }
                let reason = match self.finish.take() {
                    Some(FinishReason::Other(word)) => FinishReason::Other(word),
                    _ if is_whole => FinishReason::Stop,
                    _ => FinishReason::Length,
                };
                self.end(reason);
            }
            // A message that the limit cut off holds no call; its failure is not the model's
            // mistake.
            StopReason::CorrectionsUsedUp { .. } | StopReason::CallMissing | StopReason::MaxRounds { .. }
                if cut_off =>
            {
                self.end(FinishReason::Length);
            }
            StopReason::CorrectionsUsedUp { .. } | StopReason::MaxRounds { .. } if self.hands_out_unmended() => {}
            reason => {
                self.over = true;
                self.out(Out::Failed(Fault::from(&reason)));
            }
        }
    }

    /// Hands the client what the model did not correct and returns `true` if there was something:
    /// calls that were parsed and only violate their schemas, which the client's own check answers,
    /// or else the text.
    fn hands_out_unmended(&mut self) -> bool {
        let rejected = std::mem::take(&mut self.rejected).into_values();
        let rejected: Vec<Rejected> = rejected.filter(|wrong| reaction(wrong.kind) == Reaction::Correct).collect();
        if self.prepared.config.strict_calls || rejected.is_empty() {
            return false;
        }
        // A call that may be quoted text or an example is not handed out. If one of several cannot
        // be parsed, all stay text, so that nothing is lost.
        let calls: Option<Vec<Call>> = rejected.iter().map(|wrong| self.refused_by_its_schema(wrong)).collect();
        self.steps.extend(self.text.settle().map(Step::from));
        let Some(calls) = calls else {
            let texts: Vec<_> = rejected.iter().map(|rejected| restore_tokens(&rejected.raw)).collect();
            self.steps.extend(self.text.end(Some(texts.join("\n\n"))).map(Step::from));
            self.end(FinishReason::Stop);
            return true;
        };
        for Call { tool, arguments, .. } in calls {
            let (id, arguments) = (self.asked.kept.id(self.untrusted), arguments.to_string());
            self.out(Out::Call(NativeCall { id: Some(id), name: tool, arguments }));
        }
        self.end(FinishReason::ToolCalls);
        true
    }

    /// Returns the client's call if nothing but its arguments is wrong.
    fn refused_by_its_schema(&self, rejected: &Rejected) -> Option<Call> {
        let call = rejected.call.as_deref().filter(|_| rejected.kind == RejectedKind::InvalidArguments)?;
        let is_meant = call.provenance.is_plain() && call.arguments.is_object();
        let is_taken = self.prepared.is_clients(call.server.as_deref(), &call.tool)
            && self.prepared.choice.admits(call.server.as_deref(), &call.tool);
        (is_meant && is_taken).then(|| call.clone())
    }
}

/// Returns the identifier if the endpoint gave it; identifiers of the form `call_N` are the turn's
/// numbering of calls that came without one.
fn of_endpoint(id: &str) -> Option<String> {
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    Some(id).filter(|id| !id.strip_prefix("call_").is_some_and(is_number)).map(str::to_owned)
}
