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
mod config;
mod context;
mod display;
mod draft;
mod event;
mod ids;
mod io;
mod judge;
mod mode;
mod native;
mod notice;
mod output;
mod rejected;
mod round_model;
mod send;
mod setup;
mod suspend;
mod usage;
mod voice;
mod words;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::assemble::Entry;
use crate::call::RejectedKind;
use crate::conversation::{Conversation, Trim};
use crate::message::{Delta, FinishReason};
use crate::model::Usage;
use crate::outcome::{Outcome, Status};
use crate::tool::ToolChoice;
use crate::validate::OutputSchema;

pub use config::{AfterCall, CARRY_TOKENS, MAX_CORRECTIONS, MAX_ROUNDS, TurnConfig};
pub use event::{
    AgentEvent, Approval, ApprovalRequest, AskReason, DecodeError, DisplayCall, Finished, OutputError, StopReason,
};
pub use io::{Action, Granted, Input, TurnError};
pub use notice::Notice;
pub use rejected::{Reaction, Row, TABLE, display_row, row};
pub use round_model::{ModelChoice, RoundInfo, RoundModel};
pub use setup::Setup;
pub use voice::{Remark, Voice, VoiceError};
pub use words::PromptVoice;

use display::Displays;
use draft::{Draft, Message, Place, Reader};
use ids::next_id;
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

    /// Ends the draft; what it cost is counted.
    fn close(&mut self, finish: Option<FinishReason>, reason: &FinishReason, broke_off: bool) -> Message {
        let (setup, correcting) = (self.setup.clone(), self.is_correcting());
        let displays = Displays { setup: &setup, choice: &self.choice, conversation: &self.conversation };
        let (config, validator) = (&setup.config, &setup.validator);
        let reader = Reader { config, model: &self.model, validator, correcting, displays };
        let actions = &mut self.actions;
        let mut emit = |event| actions.push_back(Action::Emit(event));
        let message = self.draft.finish(reason, broke_off, &reader, &mut emit);
        let usage = self.cost(&message);
        self.emit(AgentEvent::RoundFinished { round: self.round, finish, usage });
        if let Some(notice) = self.notice_cut(usage) {
            self.emit(AgentEvent::Notice { notice });
        }
        message
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

    /// The message is over: by itself, or (`None`) because its stream was
    /// cancelled behind a call.
    fn message_over(&mut self, finish: Option<FinishReason>) -> Result<(), TurnError> {
        let reason = finish.clone().unwrap_or_default();
        let mut message = self.close(finish, &reason, false);
        if reason == FinishReason::Length {
            message.entries.iter_mut().for_each(say_output_limit);
        }
        let blank = message.is_blank() && self.standing.is_empty();
        let judge = self.judge(&reason, blank, &message.shown);
        let next = judge.next(&message.entries);
        let feedback = matches!(next, Next::Run | Next::Correct);
        let told: Vec<u32> = message
            .entries
            .iter()
            .filter(|e| feedback && judge.corrects(e, &message.entries))
            .map(|e| e.index)
            .collect();
        let mends_display = next == Next::Correct && self.only_displays(&message, &told);
        self.keep(message, &told, reason == FinishReason::Length)?;
        self.standing = if mends_display { self.answer.clone() } else { String::new() };
        self.conclude(next, &reason)
    }

    /// Whether all that the model is told of is calls of display-only tools.
    fn only_displays(&self, message: &Message, told: &[u32]) -> bool {
        let displays = self.displays();
        let told = message.entries.iter().filter(|e| told.contains(&e.index));
        told.filter_map(|e| e.result.as_ref().err()).all(|rejected| displays.is_for_display(rejected))
    }

    /// Appends the message to the history.
    fn keep(&mut self, mut message: Message, told: &[u32], cut_off: bool) -> Result<(), TurnError> {
        self.cut(&mut message, told);
        let shown = std::mem::take(&mut message.shown);
        let mut placed = Vec::new();
        let mut corrections = Vec::new();
        let (conversation, mut given) = (&self.conversation, Vec::new());
        let mut assistant = message.into_assistant(|entry, native| match &entry.result {
            Ok(_) => {
                let id = next_id(conversation, &mut given, native.and_then(|call| call.id.as_deref()));
                placed.push((id.clone(), entry.index));
                Place::Call(id)
            }
            Err(rejected) => {
                let feedback = told.contains(&entry.index);
                if feedback {
                    corrections
                        .push(AgentEvent::Correcting { kind: Some(rejected.kind), message: rejected.message.clone() });
                    self.quoted_told |= rejected.kind == RejectedKind::Quoted;
                }
                Place::Rejected(feedback)
            }
        });
        assistant.cut_off = cut_off;
        self.answer = assistant.content().trim().to_owned();
        if self.answer.is_empty() {
            self.answer = std::mem::take(&mut self.standing);
        }
        self.conversation.push_assistant(assistant)?;
        corrections.into_iter().for_each(|event| self.emit(event));
        self.placed(placed, &shown)
    }

    /// Drops the text behind the last call. Text behind one that was shown is
    /// answer, unless a call before it waits for a result.
    fn cut(&self, message: &mut Message, told: &[u32]) {
        let displays = self.displays();
        let shown = message.shown.clone();
        let waits = |e: &Entry| match &e.result {
            Ok(_) => !shown.contains(&e.index),
            Err(rejected) => displays.row(rejected).meant && told.contains(&e.index),
        };
        let first = message.entries.iter().find(|e| waits(e)).map(|e| e.index);
        message.cut_after(|e| waits(e) || (shown.contains(&e.index) && first.is_some_and(|first| first < e.index)));
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

/// Says in a call that was cut off that the output limit did it.
fn say_output_limit(entry: &mut Entry) {
    if let Err(rejected) = &mut entry.result
        && rejected.kind == RejectedKind::Truncated
    {
        rejected.message = format!("the output limit was hit before the call was complete: {}", rejected.message);
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("state", &self.state).field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests;
