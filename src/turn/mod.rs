//! A turn: from what the person said to the model's answer, as a pure machine.
//!
//! A [`Turn`] joins the stages (prompt, parser, validator, policy, history) and
//! does no I/O: it is told what happened ([`Input`]) and says what to do
//! ([`Action`]). Whoever drives it sends the requests, runs the calls and asks
//! the person; [`agent`](crate::agent) does that with tokio.
//!
//! ```text
//!            Send              message over: calls
//!  start ──────────▶ streaming ─────────────────────▶ working ─┐
//!                     ▲  │  ▲                          (Call,  │
//!                     │  │  └─ message over: a mistake   Ask)  │
//!                     │  │                                     │
//!                     │  ▼ message over: an answer             │
//!                     │ over ◀── cancel, failure, limits       │
//!                     └────────────── all calls answered ──────┘
//! ```
//!
//! - Nothing runs before the message has ended or its stream was cancelled.
//! - After a call the message goes on while further calls follow; the first
//!   other text cancels the stream ([`AfterCall`]). That never happens while a
//!   think tag could still make reasoning of the call.
//! - What a rejected call does to the turn is a table: [`TABLE`].
//! - Text after the last call never enters the history.
//! - Every call is answered once: by its outcome, or as denied or cancelled.
//!   Only a suspended turn leaves calls for the next one.
//!
//! Out of scope: time. Time-outs belong to whoever runs a call.

mod carry;
mod close;
mod config;
mod context;
mod display;
mod draft;
mod event;
mod ids;
mod io;
mod judge;
mod measured;
mod mode;
mod native;
mod notice;
mod output;
mod rejected;
mod round_model;
mod send;
mod setup;
mod stop;
mod suspend;
mod usage;
mod voice;
mod words;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::conversation::{Conversation, Trim};
use crate::message::{Delta, FinishReason};
use crate::model::Usage;
use crate::outcome::{Outcome, Status};
use crate::tool::ToolChoice;
use crate::validate::OutputSchema;

pub use config::{AfterCall, CARRY_TOKENS, MAX_CORRECTIONS, MAX_ROUNDS, TurnConfig};
pub use event::{AgentEvent, Approval, ApprovalRequest, AskReason, DecodeError, DisplayCall, Finished, OutputError};
pub use io::{Action, Granted, Input, TurnError};
pub use notice::Notice;
pub use rejected::{Reaction, Row, TABLE, display_row, row};
pub use round_model::{ModelChoice, RoundInfo, RoundModel};
pub use setup::Setup;
pub use stop::StopReason;
pub use voice::{Remark, Voice, VoiceError};
pub use words::PromptVoice;

use display::Displays;
use draft::{Draft, Reader};
use judge::{Judge, Next};
use mode::Modes;
use output::Output;
use usage::Sent;
use words::met;
use work::Work;

/// A turn; see the module.
pub struct Turn {
    setup: Arc<Setup>,
    conversation: Conversation,
    state: State,
    /// The model that speaks in this round.
    model: RoundModel,
    modes: Modes,
    draft: Draft,
    work: Work,
    actions: VecDeque<Action>,
    /// What is due: the configured choice until it is met.
    choice: ToolChoice,
    round: u32,
    /// Rounds in a row that only correct a mistake.
    corrections: u32,
    quoted_told: bool,
    calls: u32,
    /// The last request, where tokens are counted.
    sent: Option<Sent>,
    /// Its tokens by our own count, and what was left out of it.
    asked: (usize, Trim),
    /// The round's request was sent once more, with less in it.
    cut_again: bool,
    /// The caller was told that the endpoint cuts prompts.
    cut_told: bool,
    /// What the caller was told is left out of the requests.
    trim_told: Trim,
    usage: Option<Usage>,
    total: Option<Usage>,
    answer: String,
    /// Nothing new begins any more.
    suspending: bool,
    /// The answer that stands if the next message only mends what it was to show.
    standing: String,
    /// The schema that the answer has to match.
    output: Option<Arc<OutputSchema>>,
    found: Option<Output>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The endpoint is asked whether requests may carry tools.
    Probing,
    Streaming,
    Working,
    Over,
}

impl Turn {
    /// A turn that answers what the conversation ends with; calls that wait for
    /// their outcomes, because a turn was suspended, are dealt with first. Tools
    /// in `granted` count as approved where the policy asks once.
    ///
    /// # Errors
    /// [`TurnError::NothingToAnswer`].
    pub fn new(setup: Arc<Setup>, conversation: Conversation, granted: Granted) -> Result<Self, TurnError> {
        Turn::with_output(setup, conversation, granted, None)
    }

    /// As [`new`](Turn::new), with a schema that the answer has to match.
    ///
    /// # Errors
    /// [`TurnError::NothingToAnswer`].
    pub fn with_output(
        setup: Arc<Setup>,
        conversation: Conversation,
        granted: Granted,
        output: Option<Arc<OutputSchema>>,
    ) -> Result<Self, TurnError> {
        let resumed = conversation.pending().next().is_some();
        if !resumed && !conversation.awaits_model() {
            return Err(TurnError::NothingToAnswer);
        }
        let mut turn = Turn {
            model: RoundModel::own(&setup.config),
            modes: Modes::default(),
            draft: Draft::new(setup.parser.fork()),
            choice: setup.config.tool_choice.clone(),
            setup,
            conversation,
            state: State::Streaming,
            work: Work::new(granted),
            actions: VecDeque::new(),
            round: 0,
            corrections: 0,
            quoted_told: false,
            calls: 0,
            sent: None,
            asked: Default::default(),
            cut_again: false,
            cut_told: false,
            trim_told: Trim::default(),
            usage: None,
            total: None,
            answer: String::new(),
            suspending: false,
            standing: String::new(),
            output,
            found: None,
        };
        if turn.has_called() {
            turn.choice = met(&turn.choice);
        }
        if resumed {
            turn.resume()?
        } else {
            turn.send()?
        }
        Ok(turn)
    }

    /// What the turn shares with others.
    pub fn setup(&self) -> Arc<Setup> {
        self.setup.clone()
    }

    /// The next thing to do; `None` until further input.
    pub fn action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Takes what happened.
    ///
    /// # Errors
    /// Input that does not fit what the turn asked for; the turn is unchanged.
    pub fn handle(&mut self, input: Input) -> Result<(), TurnError> {
        match (self.state, input) {
            (State::Over, _) => Err(TurnError::Over),
            (State::Streaming, Input::Cancel) => {
                self.actions.push_back(Action::CancelStream);
                self.break_off(StopReason::Cancelled)
            }
            (State::Probing, Input::Cancel) => {
                self.round -= 1;
                self.finish(StopReason::Cancelled)
            }
            (State::Working, Input::Cancel) => self.finish(StopReason::Cancelled),
            (_, Input::Suspend) => self.suspend(),
            (State::Streaming, Input::Delta(delta)) => self.delta(&delta),
            (State::Streaming, Input::Call(call)) => {
                self.draft.call(native::read(&self.setup, call));
                Ok(())
            }
            (State::Streaming, Input::Usage(usage)) => {
                self.usage = Some(usage);
                Ok(())
            }
            (State::Streaming, Input::ModelFinished(reason)) => self.message_over(Some(reason)),
            (State::Probing, Input::Probed(said)) => self.probed(said),
            (State::Streaming, Input::ToolsRefused(message)) => self.tools_refused(message),
            (State::Streaming, Input::ContextExceeded { prompt, context, message }) => {
                self.context_exceeded(prompt, context, message)
            }
            (State::Streaming, Input::ModelFailed(message)) => self.break_off(StopReason::ModelFailed { message }),
            (State::Working, Input::Outcome { id, outcome }) => self.outcome(&id, outcome),
            (State::Working, Input::Approval { id, approval }) => self.approval(&id, approval),
            (State::Probing, _) => {
                Err(TurnError::OutOfOrder { input: "piece of a message", expected: "what the endpoint says of tools" })
            }
            (State::Streaming, Input::Probed(_)) => {
                Err(TurnError::OutOfOrder { input: "answer to a probe", expected: "the model speaks" })
            }
            (State::Streaming, Input::Outcome { .. } | Input::Approval { .. }) => {
                Err(TurnError::OutOfOrder { input: "news of a call", expected: "the model speaks" })
            }
            (State::Working, _) => {
                Err(TurnError::OutOfOrder { input: "piece of a message", expected: "calls wait for their outcomes" })
            }
        }
    }

    fn emit(&mut self, event: AgentEvent) {
        self.actions.push_back(Action::Emit(event));
    }

    fn delta(&mut self, delta: &Delta) -> Result<(), TurnError> {
        let (setup, correcting) = (self.setup.clone(), self.is_correcting());
        let displays = Displays { setup: &setup, choice: &self.choice, conversation: &self.conversation };
        let (config, validator) = (&setup.config, &setup.validator);
        let reader = Reader { config, model: &self.model, validator, correcting, displays };
        let actions = &mut self.actions;
        if self.draft.push(delta, &reader, &mut |event| actions.push_back(Action::Emit(event))) {
            self.actions.push_back(Action::CancelStream);
            return self.message_over(None);
        }
        Ok(())
    }

    /// Whether a mistake in the message that streams will be corrected.
    fn is_correcting(&self) -> bool {
        self.choice != ToolChoice::None && self.judge(&FinishReason::Stop, false, &[]).may_correct()
    }

    fn judge<'a>(&'a self, finish: &'a FinishReason, blank: bool, shown: &'a [u32]) -> Judge<'a> {
        Judge {
            displays: self.displays(),
            shown,
            finish,
            blank,
            quoted_told: self.quoted_told,
            round: self.round,
            max_rounds: self.setup.config.max_rounds,
            corrections: self.corrections,
            max_corrections: self.setup.config.max_corrections,
        }
    }

    fn displays(&self) -> Displays<'_> {
        Displays { setup: &self.setup, choice: &self.choice, conversation: &self.conversation }
    }

    fn follow(&mut self, next: Next) -> Result<(), TurnError> {
        let remark = match next {
            Next::Run => return self.work(),
            Next::Finish(reason) => return self.finish(reason),
            Next::Correct => None,
            Next::Empty => Some(Remark::EmptyAnswer),
            Next::CallMissing => Some(match &self.choice {
                ToolChoice::Named(tool) => Remark::ToolRequired(tool),
                _ => Remark::CallRequired,
            }),
        };
        if let Some(remark) = remark {
            let note = self.remark(remark);
            self.emit(AgentEvent::Correcting { kind: None, message: note.clone() });
            self.conversation.push_note(note)?;
        }
        self.corrections += 1;
        self.send()
    }

    /// The message ended before the model was done. What was said is kept; its
    /// calls do not run.
    fn break_off(&mut self, reason: StopReason) -> Result<(), TurnError> {
        let message = self.close(None, &FinishReason::Other("broken off".to_owned()), true);
        if !message.is_blank() || !message.entries.is_empty() {
            self.keep(message, &[], true)?;
        }
        self.finish(reason)
    }

    fn finish(&mut self, reason: StopReason) -> Result<(), TurnError> {
        let remark = match reason {
            StopReason::MaxRounds { .. } | StopReason::CorrectionsUsedUp { .. } => Remark::NoRoundLeft,
            _ => Remark::Cancelled,
        };
        let suspended = reason == StopReason::Suspended;
        let left: Vec<String> = self.conversation.pending().map(|call| call.id.clone()).collect();
        for id in left.into_iter().filter(|_| !suspended) {
            self.answer(&id, Outcome::new(Status::Cancelled, self.setup.voice.remark(remark)))?;
        }
        self.state = State::Over;
        let (output, repairs) = self.found.take().map_or((None, Vec::new()), |(value, found)| (Some(value), found));
        let finished = Finished {
            reason,
            answer: std::mem::take(&mut self.answer),
            output,
            repairs,
            rounds: self.round,
            calls: self.calls,
            usage: self.total,
            conversation: std::mem::take(&mut self.conversation),
        };
        self.actions.push_back(Action::Finish(Box::new(finished)));
        Ok(())
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("state", &self.state).field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests;
