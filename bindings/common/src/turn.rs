//! One request of a client with tools to a model without tool calling: the requests to send, and
//! the answer.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolgraft::agent::{Approval, Finished};
use toolgraft::constrain::Constrain;
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::event::Region;
use toolgraft::message::{Delta, FinishReason};
use toolgraft::model::{ModelEvent, Request};
use toolgraft::route::Invocation;
use toolgraft::tools::{Decision, ToolChoice};
use toolgraft::turn::{Action, ClientEnd, ClientPiece, ClientText, Input, PromptWording, Setup, TurnConfig, TurnStart};
use toolgraft::validate::OutputSchema;
use toolgraft::{AgentEvent, Policy};

use crate::{Mistake, ToolSet, history, settings};

/// The finish reason of a turn without an answer.
const FAILED: &str = "error";

/// A piece of the answer for the client: [`TEXT`] or [`REASONING`], and more of it.
pub type AnswerPiece = (&'static str, String);

/// The name of a piece of text for the user.
pub const TEXT: &str = "text";

/// The name of a piece of the model's reasoning.
pub const REASONING: &str = "reasoning";

/// A model without tool calling, used as if it had it: requests with tools in, text and calls out.
///
/// [`request`](Self::request) returns the messages for the model, without tools;
/// [`push`](Self::push), [`push_reasoning`](Self::push_reasoning) and [`finish`](Self::finish) take
/// its answer. A mistake of the model is corrected by a further request. At the end there are calls
/// or a content.
#[derive(Debug)]
pub struct Turn {
    turn: toolgraft::turn::Turn,
    request: Option<Request>,
    /// `true` while an answer is awaited.
    streams: bool,
    text: ClientText,
    /// The text for the client, of all rounds.
    told: String,
    thought: String,
    out: Vec<AnswerPiece>,
    calls: Vec<Invocation>,
    choice: ToolChoice,
    /// The finish reason of Chat Completions, once the turn is over without a call or with one that is not corrected.
    end: Option<String>,
    problem: Option<String>,
}

impl Turn {
    fn handle(&mut self, input: Input) -> Result<(), Mistake> {
        self.turn.handle(input).map_err(Mistake::state)?;
        self.act()
    }

    /// Performs the actions of the turn.
    fn act(&mut self) -> Result<(), Mistake> {
        while let Some(action) = self.turn.action() {
            match action {
                Action::Emit(event) => self.event(&event),
                Action::Send(request) => (self.request, self.streams) = (Some(request), true),
                Action::CancelStream => self.streams = false,
                Action::Probe(_) => self.handle(Input::Probed(Some(false)))?,
                Action::AskContext(_) => self.handle(Input::ContextWindow(None))?,
                // The client decides whether a call runs.
                Action::Ask(asked) => self.handle(Input::Approval { id: asked.id, approval: Approval::Approved })?,
                Action::Call(call) => {
                    self.streams = false;
                    self.calls.push(call);
                }
                Action::Finish(finished) => self.finished(*finished),
                // Each question was answered at once.
                Action::Withdraw { .. } => {}
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &AgentEvent) {
        let pieces = self.text.event(event);
        self.tell(pieces);
        self.streams &= !matches!(event, AgentEvent::RoundFinished { .. });
    }

    fn tell(&mut self, pieces: impl Iterator<Item = ClientPiece>) {
        for piece in pieces {
            let (kind, all, text) = match piece {
                ClientPiece::Text(text) => (TEXT, &mut self.told, text),
                ClientPiece::Reasoning(text) => (REASONING, &mut self.thought, text),
                ClientPiece::Moved(Region::Reasoning, bytes) => {
                    let moved = self.told.split_off(self.told.len().saturating_sub(bytes));
                    self.thought.push_str(&moved);
                    continue;
                }
                ClientPiece::Moved(_, bytes) => {
                    self.thought.truncate(self.thought.len().saturating_sub(bytes));
                    continue;
                }
            };
            all.push_str(&text);
            self.out.push((kind, text));
        }
    }

    fn finished(&mut self, finished: Finished) {
        self.streams = false;
        self.problem = (!finished.reason.is_answer()).then(|| finished.reason.to_string());
        let choice = &self.choice;
        let (pieces, end) = self.text.finish(finished, false, |call| choice.admits(None, &call.tool));
        self.tell(pieces.into_iter());
        self.end = Some(match end {
            ClientEnd::Over { reason, refusal } => {
                self.tell(refusal.map(ClientPiece::Text).into_iter());
                reason.as_str().to_owned()
            }
            ClientEnd::Calls(calls) => {
                self.calls = calls;
                FinishReason::ToolCalls.as_str().to_owned()
            }
            ClientEnd::Failed(_) => {
                let rest = self.text.end(None);
                self.tell(rest);
                FAILED.to_owned()
            }
        });
    }

    fn take(&mut self, input: Input) -> Result<Vec<AnswerPiece>, Mistake> {
        if !self.is_streaming() {
            return Err(Mistake::state("no answer is expected: send `request` first, unless the turn is over"));
        }
        self.handle(input)?;
        Ok(std::mem::take(&mut self.out))
    }
}

impl Turn {
    /// Creates a turn from these messages, in the form of Chat Completions. `settings` are those of
    /// [`options`](crate::options) except `system`. `output` is a JSON Schema that the answer has
    /// to match. `max_corrections` is the largest number of consecutive requests that only correct
    /// a mistake.
    ///
    /// # Errors
    ///
    /// A message, a schema or a setting cannot be read.
    pub fn new(
        known: &ToolSet,
        messages: Vec<Value>,
        output: Option<Value>,
        max_corrections: Option<u32>,
        settings: &Map<String, Value>,
    ) -> Result<Self, Mistake> {
        let mut options = settings::options(settings)?;
        if options.system.is_some() {
            let words = "the system text is not a setting: put it first in `messages`";
            return Err(Mistake::Setting(words.to_owned()));
        }
        let (system, conversation) = history::read(messages, options.dialect, options.lang, &known.catalog)?;
        options.system = system;
        let output = output.map(|schema| OutputSchema::new(schema).map(Arc::new)).transpose().map_err(Mistake::tool)?;
        let profile = settings::model(settings)?.as_deref().map(Profile::for_model);
        let mut config = profile.map_or_else(TurnConfig::default, TurnConfig::for_profile);
        config.tool_choice = options.tool_choice.clone();
        config.max_calls = options.max_calls;
        config.max_corrections = max_corrections.unwrap_or(config.max_corrections);
        (config.constrain, config.policy) = (Constrain::Off, Policy::new(Decision::Allow));
        (config.unattended, config.hands_out) = (true, true);
        // Without tools there are no calls, so text in their syntax stays text.
        if known.catalog.is_empty() {
            config.dialects = DialectSet::NONE;
        }
        let wording = PromptWording::new(Arc::clone(&known.catalog), &options, &config).map_err(Mistake::prompt)?;
        let has_output = output.is_some();
        let setup = Arc::new(Setup::new(config, Arc::clone(&known.validator), Arc::new(wording)));
        let turn = toolgraft::turn::Turn::begin(setup, conversation, output, TurnStart::default());
        let mut turn = Turn {
            turn: turn.map_err(Mistake::state)?,
            request: None,
            streams: false,
            text: ClientText::new(has_output),
            told: String::new(),
            thought: String::new(),
            out: Vec::new(),
            calls: Vec::new(),
            choice: options.tool_choice,
            end: None,
            problem: None,
        };
        turn.act()?;
        Ok(turn)
    }

    /// Returns the messages to send now, in the form of Chat Completions, once. `None` if there is
    /// nothing to send: the turn is over, or an answer is awaited.
    pub fn request(&mut self) -> Option<Vec<Value>> {
        self.request.take().map(|request| request.messages.iter().map(|message| message.chat(false)).collect())
    }

    /// Takes the next chunk of the answer's text, and returns the pieces for the client.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] if no answer is awaited.
    pub fn push(&mut self, chunk: &str) -> Result<Vec<AnswerPiece>, Mistake> {
        self.take(Input::Model(ModelEvent::Delta(Delta::content(chunk))))
    }

    /// Takes the next chunk of a separate reasoning field, and returns the pieces for the client.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] if no answer is awaited.
    pub fn push_reasoning(&mut self, chunk: &str) -> Result<Vec<AnswerPiece>, Mistake> {
        self.take(Input::Model(ModelEvent::Delta(Delta::reasoning(chunk))))
    }

    /// Finishes the answer with the endpoint's finish reason.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] if no answer is awaited.
    pub fn finish(&mut self, reason: &str) -> Result<Vec<AnswerPiece>, Mistake> {
        self.take(Input::Model(ModelEvent::Finish(FinishReason::from(reason))))
    }

    /// Returns `true` while more of the model's answer is wanted. After that the stream can be
    /// closed.
    pub fn is_streaming(&self) -> bool {
        self.streams && self.request.is_none()
    }

    /// Returns the calls that the client has to run.
    pub fn calls(&self) -> &[Invocation] {
        &self.calls
    }

    /// Returns the text of the answer so far.
    pub fn content(&self) -> &str {
        &self.told
    }

    /// Returns the model's reasoning so far.
    pub fn reasoning(&self) -> &str {
        &self.thought
    }

    /// Returns `true` if there is an answer, or there are calls.
    pub fn is_over(&self) -> bool {
        !self.calls.is_empty() || self.end.is_some()
    }

    /// Returns the finish reason of Chat Completions, or `error` if there is no answer; `None` before the end.
    pub fn finish_reason(&self) -> Option<&str> {
        if self.calls.is_empty() { self.end.as_deref() } else { Some("tool_calls") }
    }

    /// Returns a message for the user if the answer is not what was requested; otherwise `None`.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}
