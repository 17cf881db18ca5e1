//! Handles the calls of a message: they are allowed, asked about, denied or shown, and run in their [`Order`].

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::order::Order;
use crate::conversation::{HistoryCall, Part};
use crate::outcome::{Outcome, Status, noted};
use crate::route::Invocation;
use crate::tools::{
    ACCESS_RESOURCE, Annotations, BuiltIn, Catalog, Decision, ToolChoice, is_destructive, wants_approval,
};
use crate::turn::displays::arguments;
use crate::turn::event::{AgentEvent, Approval, ApprovalRequest, AskReason, DisplayCall};
use crate::turn::failures::{Failures, Lane};
use crate::turn::guard::Verdict;
use crate::turn::io::{Action, Granted, TurnError};
use crate::turn::shared::Shared;
use crate::turn::warning::CallerWarning;
use crate::turn::wording::{ModelNote, Wanted};
use crate::validate::{OutputSchema, takes_long};

/// Limit on the ids of long results that a note to the model lists.
const LONG_TOLD: usize = 8;

/// Result of beginning a call.
enum Admission {
    Admitted,
    /// A built-in tool answered the call.
    Described,
    /// The guard against loops refused the call.
    Repeated,
    Refused,
}

/// Calls of the last message that wait for an approval or an outcome.
#[derive(Debug)]
pub(in crate::turn) struct Act {
    /// Tools whose approval by the user also applies to later calls.
    granted: Granted,
    pub(in crate::turn) order: Order,
    /// Requests for approval; if `asked`, the first one was sent to the driver and is not answered.
    questions: VecDeque<ApprovalRequest>,
    asked: bool,
    /// Maps the ids of the last message's calls to their indices.
    indices: BTreeMap<String, u32>,
}

impl Act {
    pub(in crate::turn) fn new(granted: Granted) -> Self {
        Act { granted, order: Order::default(), questions: VecDeque::new(), asked: false, indices: BTreeMap::new() }
    }

    /// Withdraws all requests for approval; no further call begins.
    pub(in crate::turn) fn withdraw(&mut self, shared: &mut Shared) {
        self.order.withdraw();
        let first = std::mem::take(&mut self.questions).into_iter().next();
        if let Some(request) = first.filter(|_| std::mem::take(&mut self.asked)) {
            shared.actions.push_back(Action::Withdraw { id: request.id });
        }
    }

    /// Records the ids of a message's calls, and sets the outcomes of those that were shown.
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

    /// Begins the calls of the last message.
    pub(in crate::turn) fn begin(&mut self, shared: &mut Shared) -> Result<(), TurnError> {
        let choice = shared.choice.clone();
        let (mut admitted, mut described, mut repeated) = (0, 0, None);
        let mut failures = Failures::default();
        for part in last_parts(shared) {
            let Some(call) = left_open(&part, &mut failures, shared) else { continue };
            let refusal = refused(call, &choice, admitted + described, shared);
            match self.begin_call(call, refusal, &mut failures, shared)? {
                Admission::Admitted => admitted += 1,
                Admission::Described => described += 1,
                Admission::Repeated => repeated = Some(call.call.tool.clone()),
                Admission::Refused => {}
            }
        }
        if admitted > 0 {
            shared.corrections = 0;
            shared.choice = choice.after_first_call();
        // A message whose only calls are of built-in tools is neither a mistake nor a step.
        } else if described == 0 {
            shared.corrections += 1;
            // A model that makes only calls that are not run again is asked for its answer, as in the last
            // round.
            shared.closing = repeated.filter(|_| shared.corrections >= shared.setup.config.max_corrections);
        }
        self.ask_next(shared)
    }

    /// Begins one call, or refuses it with `refusal` if it must not be made.
    fn begin_call(
        &mut self,
        call: &HistoryCall,
        refusal: Option<ModelNote<'_>>,
        failures: &mut Failures,
        shared: &mut Shared,
    ) -> Result<Admission, TurnError> {
        let catalog = shared.setup.catalog.clone();
        let request = request(call, &catalog);
        let lane = Lane::of(request.server.as_deref(), &request.tool, &catalog);
        if let Some(refusal) = refusal {
            failures.add(lane, &request.tool);
            return shared.answer_with(&call.id, Status::Denied, refusal).map(|()| Admission::Refused);
        }
        let shows = shared.displays().shows(request.server.as_deref(), &request.tool);
        // A display-only call changes nothing, so no failure stops it.
        if let Some(failed) = failures.stopping(&lane).filter(|_| !shows) {
            return shared
                .answer_with(&call.id, Status::Denied, ModelNote::NotRunAfter(failed))
                .map(|()| Admission::Refused);
        }
        let verdict = shared.verdict(call);
        if let Verdict::Refuse { times } = verdict {
            return shared
                .answer_with(&call.id, Status::Denied, ModelNote::NotRunAgain(times))
                .map(|()| Admission::Repeated);
        }
        if let Some(own) = catalog.as_built_in(request.server.as_deref(), &request.tool) {
            return answer_own(own, &request, shared).map(|()| Admission::Described);
        }
        let tool = request.tool.clone();
        if !self.admit(call, request, lane.clone(), verdict, shared)? {
            failures.add(lane, &tool);
        }
        Ok(Admission::Admitted)
    }

    /// Handles the answer to the pending request for approval.
    pub(in crate::turn) fn approval(
        &mut self,
        id: &str,
        approval: Approval,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        // The answer may come after its question was withdrawn.
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
                self.run_approved(request, shared)?;
            }
            Approval::Denied { reason } => {
                match reason {
                    Some(text) => shared.answer(id, Outcome::new(Status::Denied, text))?,
                    None => shared.answer_with(id, Status::Denied, ModelNote::Declined)?,
                }
                // The order still has the call here: `stop_after` looks for those after it.
                self.stop_after(id, &request.tool, shared)?;
                self.order.leave(id);
                self.start(shared);
            }
        }
        self.ask_next(shared)
    }

    /// Handles the outcome of a call that ran.
    pub(in crate::turn) fn outcome(
        &mut self,
        id: &str,
        outcome: Outcome,
        shared: &mut Shared,
    ) -> Result<(), TurnError> {
        if !self.order.is_running(id) {
            return Err(TurnError::NotRunning { id: id.to_owned() });
        }
        let tool = shared.conversation.pending().find(|call| call.id == id).map(|call| call.call.tool.clone());
        let (broken, failed) = (broken_promise(id, &outcome, shared), !outcome.is_result());
        shared.answer(id, outcome)?;
        if let Some(notice) = broken {
            shared.warn(notice);
        }
        let tool = tool.unwrap_or_default();
        // From the second equal result on the model is told at once, since it would repeat the call up to the
        // limit.
        if shared.same_results(id) > 1 {
            let note = shared.setup.wording().note(ModelNote::SameResult(&tool));
            shared.conversation.push_note(note)?;
        }
        let withdrawn = failed && self.stop_after(id, &tool, shared)?;
        self.order.leave(id);
        self.start(shared);
        if withdrawn { self.ask_next(shared) } else { Ok(()) }
    }

    /// Denies the calls that cannot run because this one failed. Returns `true` if the pending request for approval was
    /// about one of them; it is then withdrawn.
    fn stop_after(&mut self, id: &str, tool: &str, shared: &mut Shared) -> Result<bool, TurnError> {
        let stopped = self.order.stop_after(id);
        for id in &stopped {
            shared.answer_with(id, Status::Denied, ModelNote::NotRunAfter(tool))?;
        }
        let is_open = self.asked && self.questions.front().is_some_and(|request| stopped.contains(&request.id));
        if is_open && let Some(request) = self.questions.front() {
            shared.actions.push_back(Action::Withdraw { id: request.id.clone() });
            self.asked = false;
        }
        self.questions.retain(|request| !stopped.contains(&request.id));
        Ok(is_open)
    }

    /// Runs a call or asks about it, as the guard and the policy decide. Returns `false` if it is denied.
    fn admit(
        &mut self,
        call: &HistoryCall,
        mut request: ApprovalRequest,
        lane: Lane,
        verdict: Verdict,
        shared: &mut Shared,
    ) -> Result<bool, TurnError> {
        let catalog = shared.setup.catalog.clone();
        let found = catalog.find(request.server.as_deref(), &request.tool).ok();
        let annotations: Option<&Annotations> = found.and_then(|found| found.tool.annotations.as_ref());
        let (server, tool) = (request.server.as_deref(), &request.tool);
        // Nothing runs for a display-only call, so it needs no approval.
        let shows = shared.displays().shows(server, tool);
        let judged = shared.setup.config.policy.judge(
            server,
            tool,
            found.as_ref().map(|found| found.tool),
            Some(&request.arguments),
        );
        let decision = match shows {
            true => Decision::Allow,
            // A model may ask for approval, but not wave it: the policy's decision is the least.
            false if wants_approval(&request.arguments) => judged.decision.max(Decision::Ask),
            false => judged.decision,
        };
        let doubted = !shows && is_led(&request, annotations, shared);
        request.reason = match decision {
            Decision::Deny => {
                shared.answer_with(&call.id, Status::Denied, ModelNote::NotAllowed)?;
                return Ok(false);
            }
            // The reasons up to `Repeated` are about this call, so they hold for an allowed tool, too.
            _ if doubted => AskReason::Untrusted,
            _ if call.untagged => AskReason::NoReasoningTag,
            _ if shared.displays().doubts(&call.call) => AskReason::of(call.call.provenance),
            _ if !shows && destroys_unnamed(call, shared) => AskReason::Ungrounded,
            // If there is no approver, the repeated call runs or not as it would without this rule.
            _ if verdict == Verdict::Approve && !shared.unattended && !shows => AskReason::Repeated,
            Decision::Allow => return self.run(request, lane, shared).map(|()| true),
            Decision::Ask if !judged.changes.is_empty() => {
                request.changes = judged.changes;
                AskReason::Changed
            }
            Decision::Ask => AskReason::Policy,
            Decision::AskOnce => AskReason::FirstUse,
        };
        self.order.ask(&request, lane);
        self.questions.push_back(request);
        Ok(true)
    }

    /// Queues an allowed call, which runs as soon as the calls before it permit.
    fn run(&mut self, request: ApprovalRequest, lane: Lane, shared: &mut Shared) -> Result<(), TurnError> {
        if shared.displays().shows(request.server.as_deref(), &request.tool) {
            self.order.leave(&request.id);
            self.display(request, shared)?;
        } else {
            self.order.allow(request, lane);
        }
        self.start(shared);
        Ok(())
    }

    fn run_approved(&mut self, request: ApprovalRequest, shared: &mut Shared) -> Result<(), TurnError> {
        let lane = Lane::of(request.server.as_deref(), &request.tool, &shared.setup.catalog);
        self.run(request, lane, shared)
    }

    /// Begins all calls that may run now.
    fn start(&mut self, shared: &mut Shared) {
        while let Some(request) = self.order.next() {
            started(&request, shared);
            let ApprovalRequest { id, server, tool, arguments, .. } = request;
            shared.actions.push_back(Action::Call(Invocation { id, server, tool, arguments }));
        }
    }

    /// Reports a display-only call that is allowed.
    fn display(&mut self, request: ApprovalRequest, shared: &mut Shared) -> Result<(), TurnError> {
        let ApprovalRequest { id, server, tool, arguments, .. } = request;
        let index = self.indices.get(&id).copied().unwrap_or_default();
        shared.emit(AgentEvent::Display(DisplayCall { id: id.clone(), index, server, tool, arguments }));
        shared.answer_with(&id, Status::Displayed, ModelNote::Displayed)
    }

    /// Asks about the first call that still needs approval; those that no longer need it run.
    fn ask_next(&mut self, shared: &mut Shared) -> Result<(), TurnError> {
        while let Some(request) = self.questions.front_mut() {
            let granted = self.granted.get(&(request.server.clone(), request.tool.clone()));
            // An earlier question of the same message may have granted the tool.
            if let (AskReason::FirstUse, Some(before)) = (request.reason, granted) {
                request.changes = before.changes(&shared.setup.definition(request.server.as_deref(), &request.tool));
                if request.changes.is_empty() {
                    let request = self.questions.pop_front().expect("there is a first one");
                    self.run_approved(request, shared)?;
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

/// Returns the parts of the last message, in the order written.
fn last_parts(shared: &Shared) -> Vec<Part> {
    shared.conversation.messages().last().map(|message| message.parts.clone()).unwrap_or_default()
}

/// Returns the call of a part if it has no outcome yet. A call that was rejected or has failed before is added to the
/// failures.
fn left_open<'p>(part: &'p Part, failures: &mut Failures, shared: &Shared) -> Option<&'p HistoryCall> {
    let call = match part {
        Part::Call(call) => call,
        Part::Rejected { rejected, feedback, native } => {
            failures.add_rejected(rejected, *feedback, native.is_some(), &shared.displays());
            return None;
        }
        Part::Text { .. } | Part::Marker { .. } => return None,
    };
    let answered = shared.conversation.answered();
    let Some(outcome) = answered.iter().find(|a| a.id == call.id).map(|a| a.outcome) else { return Some(call) };
    // A resumed turn has outcomes from before its suspension.
    if !matches!(outcome.status, Status::Result | Status::Displayed) {
        let (server, tool) = (call.call.server.as_deref(), &call.call.tool);
        failures.add(Lane::of(server, tool, &shared.setup.catalog), tool);
    }
    None
}

/// Returns the reason why a call must not run whatever the policy says, as a note to the model.
fn refused<'c>(call: &HistoryCall, choice: &'c ToolChoice, admitted: usize, shared: &Shared) -> Option<ModelNote<'c>> {
    let admits = choice.admits(call.call.server.as_deref(), &call.call.tool);
    match choice {
        ToolChoice::None => Some(ModelNote::CallsOff),
        ToolChoice::Named(tool) if !admits => Some(ModelNote::OnlyTool(tool)),
        _ => shared.setup.config.max_calls.filter(|max| admitted >= *max).map(ModelNote::TooManyCalls),
    }
}

/// Returns `true` if text from an untrusted server may have led the model to this call, and the policy does not exempt
/// the call.
fn is_led(request: &ApprovalRequest, annotations: Option<&Annotations>, shared: &Shared) -> bool {
    let (server, arguments) = (request.server.as_deref(), Some(&request.arguments));
    let config = &shared.setup.config;
    let is_untrusted = |server: Option<&str>| server.is_some_and(|name| config.untrusted.iter().any(|own| own == name));
    // `can_be_led` leaves out what the policy allows by name, and reads of other servers.
    if config.untrusted.is_empty()
        || !config.policy.can_be_led(server, &request.tool, annotations, arguments, &config.untrusted)
    {
        return false;
    }
    // The prompt has the server's own words, even before its first result.
    if shared.setup.catalog.servers().iter().any(|server| is_untrusted(server.name.as_deref()) && server.has_words()) {
        return true;
    }
    let is_open = |call: &HistoryCall| shared.conversation.pending().any(|pending| pending.id == call.id);
    let mut calls = shared.conversation.messages().flat_map(|message| message.calls());
    // A call without an outcome has put no text into the conversation.
    calls.any(|call| is_untrusted(call.call.server.as_deref()) && !is_open(call))
}

/// Returns `true` if a call may destroy something that neither the user nor a result mentioned.
fn destroys_unnamed(call: &HistoryCall, shared: &Shared) -> bool {
    let tool = shared.tool(&call.call).filter(|tool| is_destructive(tool));
    tool.is_some_and(|tool| shared.said_things().is_unnamed(&call.call.arguments, tool))
}

/// Returns a warning if a result does not match its tool's output schema. A schema that takes long to check is skipped,
/// since calls must not wait for it.
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
                format!("it would have to be repaired: {}", mended.join(", "))
            }
            Err(mismatch) => mismatch.to_string(),
        },
    };
    Some(CallerWarning::ResultMismatch { server: tool.server.clone(), tool: tool.name.clone(), message })
}

/// Answers a call of a built-in tool, which only returns what the prompt or a result left out. It needs no approval,
/// and does not count as the call that a tool choice requires.
fn answer_own(kind: BuiltIn, request: &ApprovalRequest, shared: &mut Shared) -> Result<(), TurnError> {
    started(request, shared);
    let given = |key: &str| request.arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let (wording, catalog) = (shared.setup.wording(), &shared.setup.catalog);
    let outcome = match kind {
        // If requests carry the tools, the next one offers those that were found.
        BuiltIn::Find if shared.native => shared.setup.native_wording().find(catalog, given("query")),
        BuiltIn::Find => wording.find(catalog, given("query")),
        BuiltIn::Describe => wording.describe(catalog, given("tool")),
        BuiltIn::Read => read_on(request, shared),
    };
    shared.answer(&request.id, outcome)
}

/// Returns the part of a long result that the model asks for.
fn read_on(request: &ApprovalRequest, shared: &Shared) -> Outcome {
    let given = |key: &str| request.arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let wording = shared.setup.wording();
    // `result` may be left out: then the newest long one is meant, since results come newest first.
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

/// Counts a call that runs and reports it.
fn started(request: &ApprovalRequest, shared: &mut Shared) {
    let ApprovalRequest { id, server, tool, arguments, .. } = request.clone();
    shared.calls += 1;
    shared.emit(AgentEvent::CallRunning { id, server, tool, arguments });
}

/// Converts a call into the form that is asked about and run, so that policy, question and toolbox use the same server.
fn request(call: &HistoryCall, catalog: &Catalog) -> ApprovalRequest {
    let (tool, arguments) = (call.call.tool.clone(), arguments(&call.call));
    let mut server = call.call.server.clone();
    // A tool of this name that a server offers is its own.
    if tool == ACCESS_RESOURCE && catalog.find(server.as_deref(), &tool).is_err() {
        let uri = arguments.get("uri").and_then(Value::as_str).unwrap_or_default();
        if let Some(found) = catalog.resource_server(server.as_deref(), uri) {
            server.clone_from(&found.name);
        }
    }
    let (id, reason) = (call.id.clone(), AskReason::Policy);
    ApprovalRequest { id, server, tool, arguments, reason, changes: Vec::new() }
}
