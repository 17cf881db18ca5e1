//! The exchange of one request, from the client's request over the model's answers to the output
//! for the client.
//!
//! Sans-IO: the model's events and the outcomes of calls come in; requests for the model and pieces
//! of the answer, in no client's format, go out. A [`Turn`] reads, judges and corrects. The
//! client's history is rendered once and put in front of every request, so the turn knows only what
//! came after it.
//!
//! ```text
//! RenderedRequest ─▶ Exchange ── Step::Send ──▶ model ── ModelEvent ──▶ Exchange ─▶ Step::Out
//!                        ▲  └── Step::Run ──▶ toolbox ── Outcome ──────────┘
//! ```
//!
//! Output that was sent cannot be taken back. So a call is sent whole, once its message is over and
//! the call is accepted; the text of rounds that only correct is held until it is known to be the
//! answer; an answer with a schema is held until it matches.
//!
//! The submodule `ask` makes the requests for the model, `over` ends an answer.

mod ask;
mod over;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::cost::Costs;
use crate::fault::Fault;
use crate::history::Rendered;
use crate::out::Out;
use crate::prepared::Prepared;
use crate::progress::Progress;
use crate::store::ClientStore;
use toolgraft::agent::{Approval, TurnRecord};
use toolgraft::event::RejectedKind;
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::outcome::Status;
use toolgraft::route::Invocation;
use toolgraft::spans::{self, Span};
use toolgraft::tools::ToolsMode;
use toolgraft::turn::{Action, ClientPiece, ClientText, Input, ModelNote, Turn, TurnError};
use toolgraft::validate::{OutputSchema, takes_long};
use toolgraft::{AgentEvent, Conversation, Outcome};

/// A client's request in the shape of Chat Completions, with its history rendered.
pub struct RenderedRequest {
    /// Fields of the request that are forwarded to the endpoint, without messages, tools and the fields that this
    /// server consumes.
    pub(crate) body: Map<String, Value>,
    /// The client's history with its calls and results rendered in the dialect. Its `untrusted` is
    /// also set where the server cannot rule out that the history holds text of third parties.
    pub(crate) history: Rendered,
    /// The client's history with calls and results in their native fields; present where requests may carry the tools
    /// natively.
    pub(crate) native: Option<Vec<Value>>,
    /// Name and value of the request field that limits the tokens of the answer, over all rounds.
    pub(crate) max_tokens: Option<(&'static str, u64)>,
    /// The JSON Schema that the answer must match, if the client requests one.
    pub(crate) output: Option<Arc<OutputSchema>>,
    /// `true` if the requested response format is ignored because no answer can satisfy its schema.
    pub no_form: bool,
    /// Size of the model's context in tokens; known only if the list of tools is long, for which it is queried.
    pub(crate) context: Option<usize>,
    /// View of the store for the client that sent the request.
    pub(crate) kept: ClientStore,
}

impl RenderedRequest {
    /// Returns the text of the user's last message in the history.
    pub fn question(&self) -> &str {
        &self.history.question
    }
}

/// The next action that an exchange requires of its caller.
#[derive(Debug)]
pub enum Step {
    /// Send this body to the endpoint, and report the model's events. The `Request` holds what the body lacks: the
    /// structure that constrains the answer, and tools that are carried natively.
    Send(Map<String, Value>, Request),
    /// Cancel the endpoint's answer that is being streamed.
    Cancel,
    /// Run this call in the toolbox, and report its outcome.
    Run(Invocation),
    /// Send this piece of the answer to the client.
    Out(Out),
}

impl From<ClientPiece> for Step {
    fn from(piece: ClientPiece) -> Self {
        Step::Out(match piece {
            ClientPiece::Text(text) => Out::Text(text),
            ClientPiece::Reasoning(text) => Out::Reasoning(text),
            ClientPiece::Moved(to, bytes) => Out::Reclassified(to, bytes),
        })
    }
}

/// Request fields by which some endpoints constrain an answer. If the client sets one, this server adds no structure
/// of its own.
const STRUCTURES: [&str; 9] = [
    "grammar", "json_schema", "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar",
    "ebnf", "regex",
];

/// Returns `true` if the client's own request fields constrain the answer to a structure.
fn is_held(body: &Map<String, Value>) -> bool {
    STRUCTURES.iter().any(|field| body.contains_key(*field))
}

/// Size in bytes of an answer, or of results, above which an event is processed on a separate thread, apart from
/// those that serve requests.
const LONG: usize = 128 << 10;

/// A call of the toolbox whose outcome was not reported yet.
struct OwnCall {
    id: String,
    /// `true` if the call's result may contain text of third parties.
    untrusted: bool,
}

/// One request of a client in progress: it receives the model's events and the outcomes of calls, and returns the
/// steps that its caller has to perform.
pub struct Exchange {
    /// Prompt, parser and schemas, which requests with the same tools share.
    pub prepared: Arc<Prepared>,
    asked: RenderedRequest,
    turn: Turn,
    steps: VecDeque<Step>,
    /// `true` if the answer ends with the steps that are queued; later input is ignored.
    pub over: bool,
    /// Calls of the model's finished message that the client runs; `own_calls` are those that the toolbox runs.
    client_calls: Vec<Invocation>,
    own_calls: Vec<Invocation>,
    text: ClientText,
    /// Text that was sent to the client, collected so that the answer can be recognized in a later history. `None` if
    /// that is not needed.
    said: Option<String>,
    /// Counters of the answer so far, without its token usage.
    progress: Progress,
    costs: Costs,
    /// Text that the model has sent in this round.
    spoken: String,
    /// `true` while the round's request has not been answered completely.
    awaits: bool,
    /// `true` if the last request carried the tools natively.
    native: bool,
    /// `true` if the model refused to answer.
    refused: bool,
    /// A message for the user if the answer is not what was requested.
    pub(crate) problem: Option<String>,
    /// Calls of the toolbox that are running.
    running: Vec<OwnCall>,
    /// `true` once a result with possible text of third parties is in the conversation.
    untrusted: bool,
    /// Messages of the turn that follow the client's history, as of the last request to the endpoint.
    since: Vec<Value>,
    /// `true` if checking a call or the answer may take long.
    is_heavy: bool,
    /// The record of the requests, the model's events and the results for the inspector.
    pub record: Option<TurnRecord>,
}

impl Exchange {
    /// Makes the exchange for a request, and begins its turn. It is boxed, since it has some kilobytes, which each
    /// function that passes it on would copy.
    pub fn new(prepared: Arc<Prepared>, mut asked: RenderedRequest) -> Result<Box<Self>, Fault> {
        // The turn quotes the question, which must not be empty.
        let question = &mut asked.history.question;
        if question.trim().is_empty() {
            "-".clone_into(question);
        }
        let conversation = Conversation::from_user(question.as_str());
        let mut start = std::mem::take(&mut asked.history.start);
        start.model = asked.body.get("model").and_then(Value::as_str).map(str::to_owned);
        let results: usize = start.results.iter().map(|result| result.text.len()).sum();
        // If the client's own fields constrain the answer, no structure of ours is added.
        start.is_free = is_held(&asked.body);
        let (setup, output) = (prepared.setup.clone(), asked.output.clone());
        let turn = Turn::begin(setup, conversation, output, start)?;
        let output = asked.output.as_deref();
        let mut exchange = Box::new(Exchange {
            // Arguments are checked by the tools' schemas and looked up in all results, and an answer is
            // checked by its schema.
            is_heavy: prepared.is_heavy || results > LONG || output.is_some_and(|output| takes_long(output.schema())),
            turn,
            steps: VecDeque::new(),
            over: false,
            client_calls: Vec::new(),
            own_calls: Vec::new(),
            text: ClientText::new(asked.output.is_some()),
            // After text of third parties no answer can be recorded as one without such text.
            said: (prepared.watches() && !asked.history.untrusted).then(String::new),
            progress: Progress::default(),
            costs: Costs::default(),
            spoken: String::new(),
            awaits: false,
            native: false,
            refused: false,
            problem: None,
            running: Vec::new(),
            untrusted: asked.history.untrusted,
            since: Vec::new(),
            record: None,
            prepared,
            asked,
        });
        exchange.costs.context = exchange.asked.context;
        exchange.run();
        Ok(exchange)
    }

    /// Returns the next step for the caller; `None` if the caller first has to report an event or an outcome.
    pub fn step(&mut self) -> Option<Step> {
        let mut step = self.steps.pop_front()?;
        if let Step::Out(out) = &mut step {
            self.given(out);
        }
        Some(step)
    }

    /// Prepares an output for the client, and remembers an answer that must be recognized later as one that
    /// follows no text of third parties.
    fn given(&mut self, out: &mut Out) {
        match out {
            Out::Call(call) => call.name = self.prepared.offered.named.given(&call.name).to_owned(),
            Out::Text(text) | Out::Refusal(text) => self.said.iter_mut().for_each(|said| said.push_str(text)),
            // The client may show reclassified text in any form, so it can no longer be recognized.
            Out::Reclassified(..) => self.said = None,
            Out::Finish(_) if self.prepared.watches() && !self.untrusted => {
                self.said.take().iter().for_each(|said| self.asked.kept.keep_clean(said));
            }
            _ => {}
        }
    }

    /// Returns the progress of the answer: its rounds, calls and token usage so far.
    pub fn progress(&self) -> Progress {
        let offers = self.prepared.setup.config().tools_mode != ToolsMode::Prompt;
        Progress {
            prompt_tokens: self.costs.sent_tokens as u64,
            way: self.turn.way(),
            tools_mode: offers.then_some(if self.native { ToolsMode::Native } else { ToolsMode::Prompt }),
            usage: self.costs.total,
            cut_prompt: self.costs.cut_prompt,
            ..self.progress
        }
    }

    /// Returns `true` if processing this event may take long: a call with a large schema is
    /// checked or compared with long results, or the text is long.
    pub fn is_heavy(&self, event: Option<&Result<ModelEvent, ModelError>>) -> bool {
        let is_read =
            matches!(event, None | Some(Ok(ModelEvent::Delta(_) | ModelEvent::Call(_) | ModelEvent::Finish(_))));
        // Other events, such as progress, are never checked by a schema.
        is_read && (self.is_heavy || self.spoken.len() > LONG)
    }

    /// Processes an event of the model; `None` means that its stream ended without a finish reason.
    pub fn model(&mut self, event: Option<Result<ModelEvent, ModelError>>) {
        if self.over {
            return;
        }
        let input = match event {
            Some(Ok(ModelEvent::Fields(fields))) => return self.out(Out::Fields(fields)),
            // Progress is not forwarded: comments tell the client that its answer is being made.
            Some(Ok(ModelEvent::Progress(_) | ModelEvent::ConstraintRefused(_))) => return,
            Some(Ok(ModelEvent::Delta(delta))) => {
                self.spoken.push_str(&delta.text);
                // An endpoint may ignore the token limit; the client's limit holds nevertheless.
                match self.spoken.len() > self.costs.allowed_bytes() {
                    true => Input::Enough,
                    false => Input::Model(ModelEvent::Delta(delta)),
                }
            }
            // The context is exceeded by the client's history, not by the turn's messages. The turn
            // would take its own messages for the measure of the context, for every later request
            // with the same tools.
            Some(Err(error @ ModelError::ContextExceeded { .. })) => Input::ModelFailed(error),
            // A request by prompt has no tools that the endpoint could refuse (`Input::ToolsRefused`).
            Some(Err(error)) if !self.native => Input::ModelFailed(error),
            event => Input::of_model(event),
        };
        self.handle(input);
    }

    /// Processes the outcome of a toolbox call.
    pub fn outcome(&mut self, id: String, outcome: Outcome) {
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
        self.is_heavy |= outcome.said().len() > LONG;
        self.handle(Input::Outcome { id, outcome });
    }

    /// Ends the answer with a fault: cancels the endpoint's stream and reports the fault to the client.
    pub fn fail(&mut self, fault: Fault) {
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

    /// Executes the actions that the turn requests.
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
            // The client's calls end the answer, so those of the toolbox beside them do not run.
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
                        self.progress.own_calls += 1;
                        let untrusted = self.prepared.is_untrusted(call.server.as_deref());
                        self.running.push(OwnCall { id: call.id.clone(), untrusted });
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
            // The endpoint was asked before the history was rendered, so the answer is known.
            Action::Probe(_) => self.turn.handle(Input::Probed(Some(self.asked.native.is_some())))?,
            // The client, not this server, shortens a history that does not fit.
            Action::AskContext(_) => self.turn.handle(Input::ContextWindow(None))?,
            // The client decides itself about its calls. For a call of the toolbox nobody can be
            // asked, so it is denied.
            Action::Ask(request) => {
                let approval = Approval::from(self.prepared.is_clients(request.server.as_deref(), &request.tool));
                self.turn.handle(Input::Approval { id: request.id, approval })?;
            }
            Action::Call(call) if self.prepared.is_clients(call.server.as_deref(), &call.tool) => {
                self.client_calls.push(call);
            }
            Action::Call(call) => self.own_calls.push(call),
            Action::Finish(finished) => self.finished(*finished),
            // No question stays open: `Ask` is answered at once.
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
            AgentEvent::RoundStarted { round, .. } => self.progress.rounds = round,
            AgentEvent::Correcting { kind, .. } => {
                spans::correction(&Span::current(), kind.map(RejectedKind::as_str));
            }
            AgentEvent::RoundFinished { usage, finish, .. } => {
                self.costs.round_over(usage, finish.as_ref(), &std::mem::take(&mut self.spoken));
                self.awaits = false;
            }
            _ => {}
        }
    }

    /// Returns the outcome for a toolbox call that must not run; `None` if it may run.
    fn refused(&self, call: &Invocation) -> Option<Outcome> {
        let has_begun_all = self.progress.own_calls >= self.prepared.settings.max_calls;
        let last = has_begun_all.then_some(ModelNote::LastRound);
        let note = self.prepared.refusal(call, self.untrusted).or(last)?;
        Some(Outcome::new(Status::Denied, self.prepared.setup.wording().note(note)))
    }
}
