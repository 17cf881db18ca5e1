//! The calls of a message: allowed, asked about, denied, shown; run in their [`Order`].

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::order::Order;
use crate::conversation::HistoryCall;
use crate::event::Call;
use crate::outcome::{Outcome, Status, noted};
use crate::route::Invocation;
use crate::tools::{ACCESS_RESOURCE, Annotations, BuiltIn, Decision, ToolChoice, wants_approval};
use crate::turn::displays::arguments;
use crate::turn::event::{AgentEvent, Approval, ApprovalRequest, AskReason, DisplayCall};
use crate::turn::io::{Action, Granted, TurnError};
use crate::turn::shared::Shared;
use crate::turn::warning::CallerWarning;
use crate::turn::wording::{ModelNote, Wanted};
use crate::validate::{OutputSchema, takes_long};

/// Ids of long results that are told at most.
const LONG_TOLD: usize = 8;

/// Calls that wait for something.
#[derive(Debug)]
pub(in crate::turn) struct Act {
    /// Tools that were approved once.
    granted: Granted,
    order: Order,
    /// Calls to ask about; the first one is asked about now if `asked`.
    questions: VecDeque<ApprovalRequest>,
    asked: bool,
    /// Which calls of the last message the ids stand for.
    indices: BTreeMap<String, u32>,
}

impl Act {
    pub(in crate::turn) fn new(granted: Granted) -> Self {
        Act { granted, order: Order::default(), questions: VecDeque::new(), asked: false, indices: BTreeMap::new() }
    }

    /// Whether a call runs.
    pub(in crate::turn) fn runs(&self) -> bool {
        self.order.runs()
    }

    /// Whether this call runs.
    pub(in crate::turn) fn is_running(&self, id: &str) -> bool {
        self.order.is_running(id)
    }

    /// Takes all questions back; nothing more begins.
    pub(in crate::turn) fn withdraw(&mut self, shared: &mut Shared) {
        self.order.withdraw();
        let first = std::mem::take(&mut self.questions).into_iter().next();
        if let Some(request) = first.filter(|_| std::mem::take(&mut self.asked)) {
            shared.actions.push_back(Action::Withdraw { id: request.id });
        }
    }

    /// Takes the ids of a message's calls, and answers those that were shown.
    pub(in crate::turn) fn place(
        &mut self,
        calls: Vec<(String, u32)>,
        shown: &[u32],
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        if !shown.is_empty() {
            shared.choice = shared.choice.after_first_call();
        }
        for (id, _) in calls.iter().filter(|(_, index)| shown.contains(index)) {
            shared.answer_with(id, Status::Displayed, ModelNote::Displayed)?;
        }
        self.indices = calls.into_iter().collect();
        Ok(())
    }

    /// Deals with the calls of the last message.
    pub(in crate::turn) fn begin(&mut self, shared: &mut Shared) -> Result<(), TurnError> {
        let choice = shared.choice.clone();
        let calls: Vec<HistoryCall> = shared.conversation.pending().cloned().collect();
        let (mut admitted, mut described, mut repeated) = (0, 0, 0);
        for call in &calls {
            match refused(call, &choice, admitted + described, shared) {
                Some(refusal) => shared.answer_with(&call.id, Status::Denied, refusal)?,
                None if let Some(result) = result_given_twice(call, shared) => {
                    repeated += 1;
                    let note = shared.setup.wording().note(ModelNote::NotRunAgain);
                    shared.answer(&call.id, Outcome::new(Status::Denied, format!("{note}\n{result}")))?;
                }
                None if let Some(own) =
                    shared.setup.catalog.as_built_in(call.call.server.as_deref(), &call.call.tool) =>
                {
                    described += 1;
                    answer_own(own, call, shared)?;
                }
                None => {
                    admitted += 1;
                    self.admit(call, shared)?;
                }
            }
        }
        if admitted > 0 {
            shared.corrections = 0;
            shared.choice = choice.after_first_call();
        } else if described == 0 {
            shared.corrections += 1;
            shared.closing = repeated > 0 && shared.corrections >= shared.setup.config.max_corrections;
        }
        self.ask_next(shared)
    }

    /// Takes the answer to the open question.
    pub(in crate::turn) fn approval(
        &mut self,
        id: &str,
        approval: Approval,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        let open = self.asked && self.questions.front().is_some_and(|request| request.id == id);
        let question = if open { self.questions.pop_front() } else { None };
        let request = question.ok_or_else(|| TurnError::NotAsked { id: id.to_owned() })?;
        self.asked = false;
        match approval {
            Approval::Approved => {
                if request.reason.grants() {
                    let definition = shared.setup.definition(request.server.as_deref(), &request.tool);
                    self.granted.insert((request.server.clone(), request.tool.clone()), definition);
                }
                self.run(request, shared)?;
            }
            Approval::Denied { reason } => {
                self.order.leave(id);
                match reason {
                    Some(text) => shared.answer(id, Outcome::new(Status::Denied, text))?,
                    None => shared.answer_with(id, Status::Denied, ModelNote::Declined)?,
                }
                self.start(shared);
            }
        }
        self.ask_next(shared)
    }

    /// A call that ran is over.
    pub(in crate::turn) fn outcome(
        &mut self,
        id: &str,
        outcome: Outcome,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        if !self.order.end(id) {
            return Err(TurnError::NotRunning { id: id.to_owned() });
        }
        let broken = broken_promise(id, &outcome, shared);
        shared.answer(id, outcome)?;
        if let Some(notice) = broken {
            shared.warn(notice);
        }
        if gave_the_same_before(id, shared) {
            let note = shared.setup.wording().note(ModelNote::SameResult);
            shared.conversation.push_note(note)?;
        }
        self.start(shared);
        Ok(())
    }

    fn admit(&mut self, call: &HistoryCall, shared: &mut Shared) -> Result<(), TurnError> {
        let catalog = shared.setup.catalog.clone();
        let mut request = request(call);
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
        let decision = match shared.displays().shows(server, tool) {
            true => Decision::Allow,
            false => {
                let decision = shared.setup.config.policy.in_catalog(&catalog).decide(server, tool, annotations);
                if wants_approval(&request.arguments) { decision.max(Decision::Ask) } else { decision }
            }
        };
        let doubted = !shared.displays().shows(server, tool) && is_led(server, tool, annotations, shared);
        request.reason = match decision {
            Decision::Deny => return shared.answer_with(&call.id, Status::Denied, ModelNote::NotAllowed),
            _ if doubted => AskReason::Untrusted,
            _ if call.untagged => AskReason::NoReasoningTag,
            _ if shared.displays().doubts(&call.call) => AskReason::of(call.call.provenance),
            Decision::Allow => return self.run(request, shared),
            Decision::Ask => AskReason::Policy,
            Decision::AskOnce => AskReason::FirstUse,
        };
        self.order.ask(&request, &catalog);
        self.questions.push_back(request);
        Ok(())
    }

    /// Runs a call that is allowed, as soon as those before it let it.
    fn run(&mut self, request: ApprovalRequest, shared: &mut Shared) -> Result<(), TurnError> {
        if shared.displays().shows(request.server.as_deref(), &request.tool) {
            self.order.leave(&request.id);
            self.display(request, shared)?;
        } else {
            self.order.allow(request, &shared.setup.catalog);
        }
        self.start(shared);
        Ok(())
    }

    /// Begins all calls whose turn it is.
    fn start(&mut self, shared: &mut Shared) {
        while let Some(request) = self.order.next() {
            started(&request, shared);
            let ApprovalRequest { id, server, tool, arguments, .. } = request;
            shared.actions.push_back(Action::Call(Invocation { id, server, tool, arguments }));
        }
    }

    /// Shows a call that was approved.
    fn display(&mut self, request: ApprovalRequest, shared: &mut Shared) -> Result<(), TurnError> {
        let ApprovalRequest { id, server, tool, arguments, .. } = request;
        let index = self.indices.get(&id).copied().unwrap_or_default();
        shared.emit(AgentEvent::Display(DisplayCall { id: id.clone(), index, server, tool, arguments }));
        shared.answer_with(&id, Status::Displayed, ModelNote::Displayed)
    }

    /// Asks about the first call that still needs it; runs those that do not.
    fn ask_next(&mut self, shared: &mut Shared) -> Result<(), TurnError> {
        while let Some(request) = self.questions.front_mut() {
            let granted = self.granted.get(&(request.server.clone(), request.tool.clone()));
            if let (AskReason::FirstUse, Some(before)) = (request.reason, granted) {
                request.changes = before.changes(&shared.setup.definition(request.server.as_deref(), &request.tool));
                if request.changes.is_empty() {
                    let request = self.questions.pop_front().expect("there is a first one");
                    self.run(request, shared)?;
                    continue;
                }
                request.reason = AskReason::Changed;
            }
            let request = request.clone();
            self.asked = true;
            shared.emit(AgentEvent::ApprovalAsked(request.clone()));
            shared.actions.push_back(Action::Ask(request));
            break;
        }
        Ok(())
    }
}

/// Why a call must not run whatever the policy says; the model is told so.
fn refused<'c>(call: &HistoryCall, choice: &'c ToolChoice, admitted: usize, shared: &Shared) -> Option<ModelNote<'c>> {
    let admits = choice.admits(call.call.server.as_deref(), &call.call.tool);
    match choice {
        ToolChoice::None => Some(ModelNote::CallsOff),
        ToolChoice::Named(tool) if !admits => Some(ModelNote::OnlyTool(tool)),
        _ => shared.setup.config.max_calls.filter(|max| admitted >= *max).map(ModelNote::TooManyCalls),
    }
}

/// Whether words that may be anybody's may have led the model to this call, and the tool is none
/// that may be called all the same.
fn is_led(server: Option<&str>, tool: &str, annotations: Option<&Annotations>, shared: &Shared) -> bool {
    let config = &shared.setup.config;
    let is_untrusted = |server: Option<&str>| server.is_some_and(|name| config.untrusted.iter().any(|own| own == name));
    if config.untrusted.is_empty() || !config.policy.can_be_led(server, tool, annotations, &config.untrusted) {
        return false;
    }
    let is_open = |call: &HistoryCall| shared.conversation.pending().any(|pending| pending.id == call.id);
    let mut calls = shared.conversation.messages().flat_map(|message| message.calls());
    calls.any(|call| is_untrusted(call.call.server.as_deref()) && !is_open(call))
}

/// What equal calls of this turn gave two times in a row; nothing for one that is shown,
/// which gives nothing.
fn result_given_twice(call: &HistoryCall, shared: &Shared) -> Option<String> {
    let outcomes = outcomes_of(&call.call, shared);
    outcomes.windows(2).find(|pair| is_same(pair[0], pair[1])).map(|pair| pair[1].said().into_owned())
}

/// Whether the last equal call before this one gave the same result.
fn gave_the_same_before(id: &str, shared: &Shared) -> bool {
    let answered = shared.conversation.answered();
    let Some(own) = answered.iter().find(|a| a.id == id) else { return false };
    matches!(outcomes_of(own.call, shared)[..], [.., before, last] if is_same(before, last))
}

/// The outcomes of this turn's calls that equal this one, the oldest first.
fn outcomes_of<'s>(call: &Call, shared: &'s Shared) -> Vec<&'s Outcome> {
    let same =
        |other: &Call| (&other.server, &other.tool, &other.arguments) == (&call.server, &call.tool, &call.arguments);
    let answered = shared.conversation.answered().into_iter();
    let told = |status| !matches!(status, Status::Displayed | Status::Cancelled);
    answered.filter(|a| same(a.call) && told(a.outcome.status)).map(|a| a.outcome).collect()
}

fn is_same(a: &Outcome, b: &Outcome) -> bool {
    (a.status, &a.text, &a.structured) == (b.status, &b.text, &b.structured)
}

/// What is wrong with a result whose tool has an output schema. One that takes long to check
/// is not checked: no call waits for that.
fn broken_promise(id: &str, outcome: &Outcome, shared: &Shared) -> Option<CallerWarning> {
    let call = &shared.conversation.pending().find(|call| call.id == id)?.call;
    let tool = shared.setup.catalog.find(call.server.as_deref(), &call.tool).ok()?.tool;
    let schema = tool.output_schema.as_ref().filter(|schema| outcome.is_result() && !takes_long(schema))?;
    let schema = OutputSchema::new(schema.clone()).ok()?;
    let message = match &outcome.structured {
        None => "there is no structured content".to_owned(),
        Some(value) => match schema.check(value, "") {
            Ok((_, repairs)) if repairs.is_empty() => return None,
            Ok((_, repairs)) => {
                let mended: Vec<String> = repairs.iter().map(ToString::to_string).collect();
                format!("it would have to be mended: {}", mended.join(", "))
            }
            Err(mismatch) => mismatch.to_string(),
        },
    };
    Some(CallerWarning::ResultMismatch { server: tool.server.clone(), tool: tool.name.clone(), message })
}

/// Answers a call of a built-in tool, which only tells what the prompt or a result left
/// out: nobody is asked, and it is not the call that a choice demands.
fn answer_own(kind: BuiltIn, call: &HistoryCall, shared: &mut Shared) -> Result<(), TurnError> {
    let request = request(call);
    started(&request, shared);
    let given = |key: &str| request.arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let (wording, catalog) = (shared.setup.wording(), &shared.setup.catalog);
    let outcome = match kind {
        BuiltIn::Find => wording.find(catalog, given("query")),
        BuiltIn::Describe => wording.describe(catalog, given("tool")),
        BuiltIn::Read => read_on(&request, shared),
    };
    shared.answer(&request.id, outcome)
}

/// What the model wants to read on of a result that was too long to be shown whole.
fn read_on(request: &ApprovalRequest, shared: &Shared) -> Outcome {
    let given = |key: &str| request.arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let wording = shared.setup.wording();
    let mut long = shared.results().filter(|(_, text)| text.len() > wording.shown_of_results());
    let meant = match given("result") {
        Some(wanted) => shared.results().find(|(id, _)| *id == wanted),
        None => long.next(),
    };
    let Some((_, text)) = meant else {
        let long: Vec<&str> = long.map(|(id, _)| id).take(LONG_TOLD).collect();
        return Outcome::error(noted(&wording.note(ModelNote::NoSuchResult(&long.join(", ")))));
    };
    let from = request.arguments.get("from").and_then(Value::as_u64).unwrap_or_default();
    let wanted = given("find").map_or(Wanted::From(usize::try_from(from).unwrap_or(usize::MAX)), Wanted::Find);
    wording.read(&text, wanted)
}

/// Counts a call that runs, and says so.
fn started(request: &ApprovalRequest, shared: &mut Shared) {
    let ApprovalRequest { id, server, tool, arguments, .. } = request.clone();
    shared.calls += 1;
    shared.emit(AgentEvent::CallRunning { id, server, tool, arguments });
}

/// A call as it is asked about and run.
fn request(call: &HistoryCall) -> ApprovalRequest {
    ApprovalRequest {
        id: call.id.clone(),
        server: call.call.server.clone(),
        tool: call.call.tool.clone(),
        arguments: arguments(&call.call),
        reason: AskReason::Policy,
        changes: Vec::new(),
    }
}
