//! The calls of a message: allowed, asked about, denied; run side by side.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use crate::conversation::Placed;
use crate::outcome::{Outcome, Status};
use crate::policy::{Decision, wants_approval};
use crate::route::Invocation;
use crate::tool::{ACCESS_RESOURCE, Annotations, ToolChoice};

use super::display::arguments;
use super::event::{AgentEvent, Approval, ApprovalRequest, AskReason};
use super::stop::StopReason;
use super::voice::Remark;
use super::words::met;
use super::{Action, Granted, State, Turn, TurnError};

/// Calls that wait for something.
#[derive(Debug)]
pub(super) struct Work {
    granted: Granted,
    running: BTreeSet<String>,
    /// Calls to ask about; the first one is asked about now if `asked`.
    questions: VecDeque<ApprovalRequest>,
    asked: bool,
    /// Which calls of the last message the ids stand for.
    pub(super) indices: BTreeMap<String, u32>,
}

impl Work {
    pub(super) fn new(granted: Granted) -> Self {
        Work { granted, running: BTreeSet::new(), questions: VecDeque::new(), asked: false, indices: BTreeMap::new() }
    }

    /// Whether a call runs.
    pub(super) fn runs(&self) -> bool {
        !self.running.is_empty()
    }

    /// Takes all questions back; the call of the one that is open.
    pub(super) fn withdraw(&mut self) -> Option<String> {
        let first = std::mem::take(&mut self.questions).into_iter().next();
        first.filter(|_| std::mem::take(&mut self.asked)).map(|request| request.id)
    }
}

impl Turn {
    /// Deals with the calls of the last message.
    pub(super) fn work(&mut self) -> Result<(), TurnError> {
        self.state = State::Working;
        if self.suspending {
            return self.rest();
        }
        let choice = self.choice.clone();
        let calls: Vec<Placed> = self.conversation.pending().cloned().collect();
        let (mut admitted, mut described) = (0, 0);
        for call in &calls {
            match self.refused(call, &choice, admitted + described) {
                Some(refusal) => self.deny(&call.id, refusal)?,
                None if self.setup.catalog.is_describe_tool(call.call.server.as_deref(), &call.call.tool) => {
                    described += 1;
                    self.describe(call)?;
                }
                None => {
                    admitted += 1;
                    self.admit(call)?;
                }
            }
        }
        if admitted > 0 {
            self.corrections = 0;
            self.choice = met(&choice);
        } else if described == 0 {
            self.corrections += 1;
        }
        self.ask_next()?;
        self.go_on()
    }

    /// Why a call must not run whatever the policy says, in words for the model.
    fn refused(&self, call: &Placed, choice: &ToolChoice, admitted: usize) -> Option<String> {
        let max = self.setup.config.max_calls;
        let admits = choice.admits(call.call.server.as_deref(), &call.call.tool);
        let remark = match choice {
            ToolChoice::None => Remark::CallsOff,
            ToolChoice::Named(tool) if !admits => Remark::OnlyTool(tool),
            _ => match max {
                Some(max) if admitted >= max => Remark::TooManyCalls(max),
                _ => return None,
            },
        };
        Some(self.setup.voice.remark(remark))
    }

    fn admit(&mut self, placed: &Placed) -> Result<(), TurnError> {
        let catalog = self.setup.catalog.clone();
        let mut request = request(placed);
        let found = catalog.find(request.server.as_deref(), &request.tool).ok();
        let annotations: Option<&Annotations> = found.and_then(|found| found.tool.annotations.as_ref());
        if found.is_none() && request.tool == ACCESS_RESOURCE {
            // Policy, question and toolbox must mean the same server.
            let uri = request.arguments.get("uri").and_then(Value::as_str).unwrap_or_default();
            if let Some(server) = catalog.resource_server(request.server.as_deref(), uri) {
                request.server.clone_from(&server.name);
            }
        }
        let (server, tool) = (request.server.as_deref(), &request.tool);
        let decision = match self.displays().shows(server, tool) {
            true => Decision::Allow,
            false => {
                let decision = self.setup.config.policy.decide(server, tool, annotations);
                if wants_approval(&request.arguments) { decision.max(Decision::Ask) } else { decision }
            }
        };
        request.reason = match decision {
            Decision::Deny => {
                let refusal = self.setup.voice.remark(Remark::NotAllowed);
                return self.deny(&placed.id, refusal);
            }
            _ if placed.untagged => AskReason::NoReasoningTag,
            _ if placed.promoted => AskReason::Promoted,
            Decision::Allow => return self.run(request),
            Decision::Ask => AskReason::Policy,
            Decision::AskOnce => AskReason::FirstUse,
        };
        self.work.questions.push_back(request);
        Ok(())
    }

    fn run(&mut self, request: ApprovalRequest) -> Result<(), TurnError> {
        if self.displays().shows(request.server.as_deref(), &request.tool) {
            return self.display(request);
        }
        let ApprovalRequest { id, server, tool, arguments, .. } = self.started(request);
        self.work.running.insert(id.clone());
        self.actions.push_back(Action::Call(Invocation { id, server, tool, arguments }));
        Ok(())
    }

    /// Counts a call that runs, and says so.
    fn started(&mut self, request: ApprovalRequest) -> ApprovalRequest {
        let ApprovalRequest { id, server, tool, arguments, .. } = request.clone();
        self.calls += 1;
        self.emit(AgentEvent::CallRunning { id, server, tool, arguments });
        request
    }

    /// Answers a call of the built-in tool, which only tells what the prompt left
    /// out: nobody is asked, and it is not the call that a choice demands.
    fn describe(&mut self, placed: &Placed) -> Result<(), TurnError> {
        let request = self.started(request(placed));
        let name = request.arguments.get("tool").and_then(Value::as_str).unwrap_or_default();
        let outcome = self.setup.voice.describe(&self.setup.catalog, name);
        self.answer(&request.id, outcome)
    }

    fn deny(&mut self, id: &str, text: String) -> Result<(), TurnError> {
        self.answer(id, Outcome::new(Status::Denied, text))
    }

    /// Asks about the first call that still needs it; runs those that do not.
    fn ask_next(&mut self) -> Result<(), TurnError> {
        while let Some(request) = self.work.questions.front_mut() {
            let granted = self.work.granted.get(&(request.server.clone(), request.tool.clone()));
            if let (AskReason::FirstUse, Some(before)) = (request.reason, granted) {
                request.changes = before.changes(&self.setup.definition(request.server.as_deref(), &request.tool));
                if request.changes.is_empty() {
                    let request = self.work.questions.pop_front().expect("there is a first one");
                    self.run(request)?;
                    continue;
                }
                request.reason = AskReason::Changed;
            }
            let request = request.clone();
            self.work.asked = true;
            self.emit(AgentEvent::ApprovalAsked(request.clone()));
            self.actions.push_back(Action::Ask(request));
            break;
        }
        Ok(())
    }

    pub(super) fn approval(&mut self, id: &str, approval: Approval) -> Result<(), TurnError> {
        let open = self.work.asked && self.work.questions.front().is_some_and(|request| request.id == id);
        let question = if open { self.work.questions.pop_front() } else { None };
        let request = question.ok_or_else(|| TurnError::NotAsked { id: id.to_owned() })?;
        self.work.asked = false;
        match approval {
            Approval::Approved => {
                if request.reason.grants() {
                    let definition = self.setup.definition(request.server.as_deref(), &request.tool);
                    self.work.granted.insert((request.server.clone(), request.tool.clone()), definition);
                }
                self.run(request)?;
            }
            Approval::Denied { reason } => {
                let text = reason.unwrap_or_else(|| self.setup.voice.remark(Remark::Declined));
                self.deny(id, text)?;
            }
        }
        self.ask_next()?;
        self.go_on()
    }

    pub(super) fn outcome(&mut self, id: &str, outcome: Outcome) -> Result<(), TurnError> {
        if !self.work.running.remove(id) {
            return Err(TurnError::NotRunning { id: id.to_owned() });
        }
        self.answer(id, outcome)?;
        self.go_on()
    }

    pub(super) fn answer(&mut self, id: &str, outcome: Outcome) -> Result<(), TurnError> {
        self.conversation.answer(id, outcome.clone())?;
        self.emit(AgentEvent::Outcome { id: id.to_owned(), outcome });
        Ok(())
    }

    /// Sends the results once all calls are answered. If nothing is to be told
    /// but that calls were shown, the message was an answer.
    fn go_on(&mut self) -> Result<(), TurnError> {
        let waits = self.conversation.pending().next().is_some();
        match waits {
            false if self.conversation.only_displayed() => self.finish(StopReason::Answered),
            false => self.send(),
            true if self.suspending => self.rest(),
            true => Ok(()),
        }
    }
}

/// A call as it is asked about and run.
fn request(placed: &Placed) -> ApprovalRequest {
    ApprovalRequest {
        id: placed.id.clone(),
        server: placed.call.server.clone(),
        tool: placed.call.tool.clone(),
        arguments: arguments(&placed.call),
        reason: AskReason::Policy,
        changes: Vec::new(),
    }
}
