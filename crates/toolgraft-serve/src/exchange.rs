//! One request on its way: what the client asked, what the model says, what the client sees.
//!
//! Sans-IO: in come the model's events and the outcomes of calls, out go requests for
//! the model and pieces of the answer, in no client's shape. A [`Turn`] reads, judges
//! and corrects; the client's history stands in front of every request as it was
//! rendered once, so the turn knows only what came since.
//!
//! ```text
//! Asked ─▶ Exchange ── Step::Send ──▶ model ── ModelEvent ──▶ Exchange ─▶ Step::Out
//!              ▲  └── Step::Run ──▶ toolbox ── Outcome ──────────┘
//! ```
//!
//! What was sent cannot be taken back. So a call is sent whole, once its message is over
//! and the call is accepted; the text of rounds that only correct is held until it is known
//! to be the answer; an answer that has to match a schema is held until it does.
//!
//! What goes to the model is made in `ask`, how an answer ends in `over`.

mod ask;
mod over;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::asked::Asked;
use super::cost::Costs;
use super::fault::Fault;
use super::kept::{Before, Kept};
use super::out::Out;
use super::prepared::Prepared;
use super::progress::Progress;
use toolgraft::agent::Approval;
use toolgraft::agent::{Events, TurnRecord};
use toolgraft::constrain::Constraint;
use toolgraft::event::{Rejected, RejectedKind};
use toolgraft::message::{DeltaKind, FinishReason, NativeCall};
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::outcome::Status;
use toolgraft::route::Invocation;
use toolgraft::spans::{self, Span};
use toolgraft::tools::{ToolChoice, ToolsMode};
use toolgraft::transcript::Recorder;
use toolgraft::turn::{Action, ClientPiece, ClientText, ClientTurn, Input, ModelNote, Turn, TurnError};
use toolgraft::validate::takes_long;
use toolgraft::wire::ToolDefinition;
use toolgraft::{AgentEvent, Conversation, Outcome};

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Step {
    /// Send this to the endpoint and report its answer.
    Send(Sent),
    /// Nothing more of that answer is wanted.
    Cancel,
    /// Run this call and report its outcome.
    Run(Invocation),
    /// Tell the client.
    Out(Out),
}

/// What the client is shown.
impl From<ClientPiece> for Step {
    fn from(piece: ClientPiece) -> Self {
        Step::Out(match piece {
            ClientPiece::Text(text) => Out::Text(text),
            ClientPiece::Reasoning(text) => Out::Reasoning(text),
            ClientPiece::Moved(to, bytes) => Out::Reclassified(to, bytes),
        })
    }
}

/// A request for the endpoint.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) body: Map<String, Value>,
    /// What the answer is held to, where the endpoint takes it; in no field of the body.
    pub(super) constraint: Option<Arc<Constraint>>,
    /// Whether the probabilities of its tokens are wanted.
    pub(super) alternatives: bool,
    /// The tools, where it carries them, and the choice among them; in no field of the body either.
    pub(super) tools: Vec<ToolDefinition>,
    pub(super) tool_choice: ToolChoice,
    /// The same may be asked by prompt.
    pub(super) by_prompt: bool,
}

/// Fields of some endpoints that hold an answer to a structure. What a client says there
/// counts alone.
const STRUCTURES: [&str; 9] = [
    "grammar", "json_schema", "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar",
    "ebnf", "regex",
];

/// Whether the client's own fields hold the answer to a structure.
fn is_held(body: &Map<String, Value>) -> bool {
    STRUCTURES.iter().any(|field| body.contains_key(*field))
}

/// Bytes of an answer from which on it is read away from the threads that serve.
const LONG: usize = 128 << 10;

/// A call of the toolbox that runs.
struct Own {
    id: String,
    /// What it brings may be anybody's words.
    untrusted: bool,
}

/// One request on its way; see the module.
pub(super) struct Exchange {
    prepared: Arc<Prepared>,
    asked: Asked,
    turn: Turn,
    steps: VecDeque<Step>,
    over: bool,
    /// Calls of the message that is over, for the client and for the toolbox.
    client_calls: Vec<Invocation>,
    own_calls: Vec<Invocation>,
    text: ClientText,
    rounds: u32,
    costs: Costs,
    /// What the model said in the round.
    spoken: String,
    /// The round's request is out.
    awaits: bool,
    /// The last request carried the tools.
    native: bool,
    /// Why the last message ended.
    finish: Option<FinishReason>,
    /// The model refused to answer.
    refused: bool,
    /// Times in a row that the model repeated a passage, where it was stopped for that.
    repeats: Option<u32>,
    /// Calls of the toolbox that were begun in this answer; those that run.
    own_begun: usize,
    running: Vec<Own>,
    /// Behind results that may be anybody's words.
    untrusted: bool,
    /// What came since the client's history, as of the last request.
    since: Vec<Value>,
    /// The client's calls, and what stood between its history and them.
    kept: Option<(Vec<String>, Before)>,
    /// What the model wrote as calls in this round and cannot run, by its index: some is told again
    /// at the message's end.
    rejected: BTreeMap<u32, Rejected>,
    /// Checking a call or the answer may take long.
    is_heavy: bool,
    /// Where all of it is written down.
    record: Option<TurnRecord>,
}

impl Exchange {
    /// In a box: it takes some kilobytes, which each function that it passes through would copy.
    pub(super) fn new(prepared: Arc<Prepared>, mut asked: Asked) -> Result<Box<Self>, Fault> {
        // The turn quotes it, and has no place for none.
        let question = &mut asked.history.question;
        if question.trim().is_empty() {
            "-".clone_into(question);
        }
        let conversation = Conversation::from_user(question.as_str());
        let mut client = ClientTurn::default();
        client.model = asked.body.get("model").and_then(Value::as_str).map(str::to_owned);
        client.said = std::mem::take(&mut asked.history.said);
        client.results = std::mem::take(&mut asked.history.results);
        client.rejected = std::mem::take(&mut asked.history.rejected);
        client.calls = std::mem::take(&mut asked.history.calls);
        // What the client demands of the answer leaves no place for a structure of ours.
        client.is_free = is_held(&asked.body);
        let (setup, output) = (prepared.setup.clone(), asked.output.clone());
        let turn = Turn::of_client(setup, conversation, output, client)?;
        let output = asked.output.as_deref();
        let mut exchange = Box::new(Exchange {
            is_heavy: prepared.is_heavy || output.is_some_and(|output| takes_long(output.schema())),
            prepared,
            turn,
            steps: VecDeque::new(),
            over: false,
            client_calls: Vec::new(),
            own_calls: Vec::new(),
            text: ClientText::new(asked.output.is_some()),
            rounds: 0,
            costs: Costs::new(asked.context),
            spoken: String::new(),
            awaits: false,
            native: false,
            finish: None,
            own_begun: 0,
            refused: false,
            repeats: None,
            running: Vec::new(),
            untrusted: asked.history.untrusted,
            since: Vec::new(),
            kept: None,
            rejected: BTreeMap::new(),
            record: None,
            asked,
        });
        exchange.run();
        Ok(exchange)
    }

    /// Writes down from here on what goes to the model, what comes, and what is made of it.
    pub(super) fn record(&mut self, recorder: Recorder) {
        self.record = Some(TurnRecord::new(recorder));
    }

    /// A request goes out, and its answer is handed on.
    pub(super) fn recorded(&mut self, request: &Request, answer: Events) -> Events {
        match &mut self.record {
            Some(record) => record.stream(self.prepared.setup.catalog(), request, answer),
            None => answer,
        }
    }

    /// Whether it is written down.
    pub(super) fn is_recorded(&self) -> bool {
        self.record.is_some()
    }

    /// The next thing to do; `None` until something was reported.
    pub(super) fn step(&mut self) -> Option<Step> {
        let mut step = self.steps.pop_front();
        if let Some(Step::Out(Out::Call(NativeCall { name, .. }))) = &mut step {
            *name = self.prepared.named.given(name).to_owned();
        }
        step
    }

    /// Whether the answer is over, once all steps are taken.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Listed tools whose description is cut, before anything was said, of how many.
    pub(super) fn cut(&self) -> (usize, usize) {
        self.prepared.cut
    }

    /// Schemas that are set aside, by the names of their tools.
    pub(super) fn set_aside(&self) -> Vec<String> {
        let form = self.asked.no_form.then(|| "response_format".to_owned());
        self.prepared.set_aside.iter().cloned().chain(form).collect()
    }

    /// Types of tools that the client's own service would run, and that are left out.
    pub(super) fn left_out(&self) -> &str {
        &self.prepared.left_out
    }

    /// How far it is.
    pub(super) fn progress(&self) -> Progress {
        let offers = self.prepared.setup.config().tools_mode != ToolsMode::Prompt;
        Progress {
            prompt_tokens: self.costs.sent_tokens as u64,
            rounds: self.rounds,
            own_calls: self.own_begun,
            way: self.turn.way(),
            tools_mode: offers.then_some(if self.native { ToolsMode::Native } else { ToolsMode::Prompt }),
            usage: self.costs.total,
            cut_prompt: self.costs.cut_prompt,
            repeats: self.repeats,
        }
    }

    /// What is kept of whoever asks.
    pub(super) fn kept(&self) -> &Kept {
        &self.asked.kept
    }

    /// Whether this answer is to be known later as one behind no words that may be anybody's.
    pub(super) fn is_clean(&self) -> bool {
        self.prepared.watches() && !self.untrusted
    }

    /// Whether taking this may take long: where a call is checked by a schema that is more than
    /// a few fields, or is long itself.
    pub(super) fn is_heavy(&self, event: Option<&Result<ModelEvent, ModelError>>) -> bool {
        let is_read =
            matches!(event, None | Some(Ok(ModelEvent::Delta(_) | ModelEvent::Call(_) | ModelEvent::Finish(_))));
        is_read && (self.is_heavy || self.spoken.len() > LONG)
    }

    /// The client's calls and what stood before them, where calls of the toolbox did.
    pub(super) fn take_kept(&mut self) -> Option<(Vec<String>, Before)> {
        self.kept.take()
    }

    /// Takes what the model said; `None` where its stream ended without a reason.
    pub(super) fn model(&mut self, event: Option<Result<ModelEvent, ModelError>>) {
        if self.over {
            return;
        }
        let input = match event {
            Some(Ok(ModelEvent::Fields(fields))) => return self.out(Out::Fields(fields)),
            // The client is told by comments that its answer is on its way.
            Some(Ok(ModelEvent::Progress(_) | ModelEvent::ConstraintRefused(_))) => return,
            Some(Ok(ModelEvent::Delta(delta))) => {
                self.spoken.push_str(&delta.text);
                if delta.kind == DeltaKind::Refusal {
                    // It ends the answer, whatever round this is.
                    self.out(Out::Refusal(delta.text.clone()));
                }
                // Whatever the endpoint makes of the limit, the client's holds.
                if self.spoken.len() > self.costs.allowed_bytes() { Input::Enough } else { Input::Delta(delta) }
            }
            // Not what the turn sent is too long, but the client's history before it. The turn would
            // measure the context by what it sent, for every request with the same tools.
            Some(Err(error @ ModelError::ContextExceeded { .. })) => Input::ModelFailed(error),
            Some(Err(error)) if !self.native => Input::ModelFailed(error),
            event => match Input::of_model(event) {
                Some(input) => input,
                None => return,
            },
        };
        self.handle(input);
    }

    /// Takes what became of a call of ours.
    pub(super) fn outcome(&mut self, id: String, outcome: Outcome) {
        if self.over {
            return;
        }
        if let Some(at) = self.running.iter().position(|running| running.id == id) {
            let untrusted = self.running.remove(at).untrusted;
            if untrusted {
                self.asked.kept.mark(Instant::now());
            }
            self.untrusted |= untrusted;
        }
        self.handle(Input::Outcome { id, outcome });
    }

    /// Ends the answer with this fault.
    pub(super) fn fail(&mut self, fault: Fault) {
        if !self.over {
            self.over = true;
            self.steps.push_back(Step::Cancel);
            self.steps.push_back(Step::Out(Out::Failed(fault)));
        }
    }

    fn out(&mut self, out: Out) {
        self.steps.push_back(Step::Out(out));
    }

    fn handle(&mut self, input: Input) {
        match self.turn.handle(input) {
            Ok(()) => self.run(),
            Err(error) => self.fail(error.into()),
        }
    }

    /// Does what the turn wants.
    fn run(&mut self) {
        loop {
            while let Some(action) = self.turn.action() {
                if let Err(error) = self.act(action) {
                    self.fail(error.into());
                }
                if self.over {
                    return;
                }
            }
            if !self.client_calls.is_empty() {
                return self.hand_out();
            }
            let calls = std::mem::take(&mut self.own_calls);
            if calls.is_empty() {
                return;
            }
            for call in calls {
                match self.refused(&call) {
                    Some(outcome) => {
                        if let Err(error) = self.turn.handle(Input::Outcome { id: call.id, outcome }) {
                            return self.fail(error.into());
                        }
                    }
                    None => {
                        self.own_begun += 1;
                        let untrusted = self.prepared.is_untrusted(call.server.as_deref());
                        self.running.push(Own { id: call.id.clone(), untrusted });
                        self.steps.push_back(Step::Run(call));
                    }
                }
            }
        }
    }

    fn act(&mut self, action: Action) -> Result<(), TurnError> {
        match action {
            Action::Emit(event) => self.event(event),
            Action::Send(request) => self.send(request),
            Action::CancelStream => self.steps.push_back(Step::Cancel),
            // The endpoint was asked before, so that the history is there in the right form.
            Action::Probe(_) => self.turn.handle(Input::Probed(Some(self.asked.native.is_some())))?,
            // What does not fit is for the client to leave out.
            Action::AskContext(_) => self.turn.handle(Input::ContextWindow(None))?,
            // Whether the client's call runs is for the client to decide. For a call of ours
            // nobody is there to be asked.
            Action::Ask(request) => {
                let approval = Approval::from(self.prepared.is_clients(request.server.as_deref(), &request.tool));
                self.turn.handle(Input::Approval { id: request.id, approval })?;
            }
            Action::Call(call) if self.prepared.is_clients(call.server.as_deref(), &call.tool) => {
                self.client_calls.push(call);
            }
            Action::Call(call) => self.own_calls.push(call),
            Action::Finish(finished) => self.finished(*finished),
            Action::Withdraw { .. } => {}
        }
        Ok(())
    }

    fn event(&mut self, event: AgentEvent) {
        if let Some(record) = &mut self.record {
            record.event(&event);
        }
        self.steps.extend(self.text.event(&event).map(Step::from));
        match event {
            AgentEvent::RoundStarted { round, .. } => {
                self.rounds = round;
                self.rejected.clear();
            }
            AgentEvent::CallRejected { index, rejected } if !rejected.stays_in_text() => {
                self.rejected.insert(index, *rejected);
            }
            AgentEvent::Reclassified { .. } => self.rejected.clear(),
            AgentEvent::Correcting { kind, .. } => {
                spans::correction(&Span::current(), kind.map(RejectedKind::as_str));
            }
            AgentEvent::RoundFinished { usage, finish, .. } => {
                self.costs.round_over(usage, finish.as_ref(), &std::mem::take(&mut self.spoken));
                self.finish = finish;
                self.awaits = false;
            }
            _ => {}
        }
    }

    /// What a call of ours is answered with that must not run.
    fn refused(&self, call: &Invocation) -> Option<Outcome> {
        let has_begun_all = self.own_begun >= self.prepared.config.max_calls;
        let last = has_begun_all.then_some(ModelNote::LastRound);
        let note = self.prepared.refusal(call, self.untrusted).or(last)?;
        Some(Outcome::new(Status::Denied, self.prepared.setup.wording().note(note)))
    }
}
