//! A turn: from the user's message to the model's answer, as a pure state machine.
//!
//! A [`Turn`] connects the stages (prompt, parser, validator, policy, history) and does no I/O: it takes events
//! ([`Input`]) and returns actions ([`Action`]). Its driver sends the requests, runs the calls and asks the user;
//! [`agent`](crate::agent) does that with tokio.
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
//! - After a call the message continues while further calls follow; the first other text cancels the stream
//!   ([`AfterCall`]). That never happens while a think tag could still turn the call into reasoning.
//! - The turn's reactions to rejected calls are a table: [`reaction`].
//! - Text after the last call never enters the history.
//! - A read that returned the same result many times in a row is not run again (`guard`). A model that makes only such
//!   calls is asked for its answer, as in the last round.
//! - After a call that did not succeed, later calls of its message that may depend on it do not run (`failures`).
//! - A message that repeats itself is stopped. One that begins with a result that no tool gave, or that announces an
//!   action and makes no call, is corrected once.
//! - Every call is answered once: by its outcome, or as denied or cancelled. Only a suspended turn leaves calls for the
//!   next one.
//!
//! Inside, three stages own their part of the state and share the history:
//!
//! ```text
//!            ┌────────┐  request   ┌────────┐  Next: run  ┌────────┐
//!        ┌──▶│  ask   │──▶ model ─▶│  read  │────────────▶│  act   │──┐ all answered
//!        │   └────────┘   stream   └────────┘             └────────┘  │
//!        │        ▲        message, │ history, corrections            │
//!        │        └─────────────────┘ Next: correct                   │
//!        └────────────────────────────────────────────────────────────┘
//! ```
//!
//! - `ask`: the model, the texts, the part of the history that fits.
//! - `decide`: whether the message must be a call, before it is written.
//! - `held`: what is requested instead of a call that was only written because it had to be one.
//! - `read`: the message while it streams, its consequences, the part that is kept.
//! - `act`: running calls and open questions.
//! - `shared`: the history, the progress of the turn, the next actions.
//!
//! A suspended turn ends once nothing runs. Calls that did not begin stay pending in the conversation, and the turn
//! that is created from it deals with them first. Its serialized form is the conversation alone.
//!
//! Out of scope: time. The driver of a call sets its time limit.

mod act;
mod ask;
mod client_text;
mod config;
mod contents;
mod decide;
mod displays;
pub(crate) mod event;
mod failures;
mod guard;
mod held;
mod io;
mod left;
mod measured;
mod native;
mod origin;
mod read;
mod rejected;
mod setup;
mod shared;
pub(crate) mod stop;
pub(crate) mod warning;
mod ways;
mod wording;

use std::sync::Arc;

use crate::conversation::Conversation;
use crate::message::{Delta, DeltaKind, FinishReason};
use crate::model::ModelEvent;
use crate::outcome::{Outcome, Status, unnoted};
use crate::tools::ToolChoice;
use crate::validate::OutputSchema;

pub use crate::message::chunk::MAX_EQUAL_CALLS;
pub use crate::model::NativeFault;
pub use ask::{PromptWording, cut_to};
pub use client_text::{ClientEnd, ClientPiece, ClientText};
pub use config::{
    AfterCall, CALL_THRESHOLD, CARRY_TOKENS, MAX_CORRECTIONS, MAX_REPEATS, MAX_ROUNDS, ModelChoice, REPEATED_BYTES,
    REPEATED_BYTES_IN_CALL, RoundInfo, RoundModel, TurnConfig,
};
pub use decide::{KnownWays, call_margin};
pub(crate) use event::{AgentEvent, Finished};
pub use guard::MAX_SAME_RESULTS;
pub use io::{Action, Granted, Input, TurnError};
pub use origin::ForeignResult;
pub use read::may_be_meant;
pub use rejected::{Reaction, reaction};
pub use setup::Setup;
pub use shared::{TurnStart, Withheld};
pub(crate) use stop::StopReason;
pub use wording::{Closing, Expected, ModelNote, Wanted, Wording, WordingError};

use act::Act;
use ask::Ask;
use decide::Decide;
use origin::Origins;
use read::{EndedMessage, Kept, Next, Read};
use shared::{Mending, Shared};
use warning::CallerWarning;

/// State machine of a turn, from the user's message to the model's answer; see the [module](self).
pub struct Turn {
    shared: Shared,
    ask: Ask,
    decide: Decide,
    read: Read,
    act: Act,
    state: TurnState,
    /// `true` if the turn is being suspended: no new request or call begins.
    suspending: bool,
    /// `true` if the tools have changed since the last request.
    retooled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnState {
    /// The endpoint is asked whether requests may carry tools.
    Probing,
    /// The endpoint is asked for the length of the model's context.
    Measuring,
    Streaming,
    Working,
    Over,
}

impl Turn {
    /// Creates a turn that answers the last message of the conversation. Calls that are still pending because an
    /// earlier turn was suspended are dealt with first. Tools in `granted` count as approved where the policy asks
    /// once.
    ///
    /// # Errors
    /// [`TurnError::NothingToAnswer`] if the conversation does not wait for the model and has no pending call.
    pub fn new(setup: Arc<Setup>, conversation: Conversation, granted: Granted) -> Result<Self, TurnError> {
        Turn::begin(setup, conversation, None, TurnStart { granted, ..TurnStart::default() })
    }

    /// Creates a turn like [`new`](Turn::new), with a schema for the answer and for a client with a history of its own.
    ///
    /// # Errors
    /// [`TurnError::NothingToAnswer`] if the conversation does not wait for the model and has no pending call.
    pub fn begin(
        setup: Arc<Setup>,
        conversation: Conversation,
        output: Option<Arc<OutputSchema>>,
        mut start: TurnStart,
    ) -> Result<Self, TurnError> {
        let resumed = conversation.pending().next().is_some();
        // A suspended turn's calls are pending, whatever the conversation ends with.
        if !resumed && !conversation.awaits_model() {
            return Err(TurnError::NothingToAnswer);
        }
        let ask = Ask::new(&setup.config);
        let mut turn = Turn {
            read: Read::new(setup.parser_for(&ask.model), &ask.model),
            ask,
            decide: Decide::new(),
            act: Act::new(std::mem::take(&mut start.granted)),
            shared: Shared {
                origins: Origins::of(std::mem::take(&mut start.results), std::mem::take(&mut start.rejected)),
                client: start,
                ..Shared::new(setup, conversation, output)
            },
            state: TurnState::Streaming,
            suspending: false,
            retooled: false,
        };
        if turn.shared.has_called() {
            turn.shared.choice = turn.shared.choice.after_first_call();
        }
        if resumed {
            turn.resume()?
        } else {
            turn.send()?
        }
        Ok(turn)
    }

    /// Returns the number of messages of a request that are examples, between the system text and the conversation.
    pub fn examples(&self) -> usize {
        self.ask.examples(&self.shared).map_or(0, |(_, messages)| messages.len())
    }

    /// Declares that there is no approver, as [`TurnConfig::unattended`] does for all turns of a setup.
    pub fn set_unattended(&mut self) {
        self.shared.unattended = true;
    }

    /// Returns the model's last message as it wrote it, with its calls.
    pub fn written(&self) -> Option<String> {
        self.shared.conversation.messages().last().map(|message| message.written())
    }

    /// Returns the feedback on the model's last message, in addition to the results of the calls that run.
    pub fn withheld(&self) -> Withheld {
        self.shared.withheld()
    }

    /// Returns the model's searches with the built-in tool that finds tools, if requests carry the tools: the tools
    /// that were found are offered from then on ([`Said::Searched`](crate::tools::Said::Searched)).
    pub fn searched(&self) -> Vec<String> {
        self.shared.searched().filter(|_| self.shared.native).map(str::to_owned).collect()
    }

    /// Returns the text of a client's last message of results with its last line set to what the model must write next;
    /// `None` if the text stays as it is.
    pub fn closed(&self, text: &str) -> Option<String> {
        self.ask.closed(text, &self.shared)
    }

    /// Returns `true` if the request is for the answer or a text alone: its messages are sent without the history,
    /// except the history's own system text.
    pub fn is_alone(&self) -> bool {
        self.ask.alone(&self.shared.asking, &self.shared).is_some()
    }

    /// Returns the conversation as the messages of a request with the tools in the prompt, without a system text.
    pub fn by_prompt(&self) -> Vec<crate::message::Message> {
        self.ask.by_prompt(&self.shared)
    }

    /// Returns the strategy for deciding whether to call that is actually used, if one other than the free one is
    /// configured: it depends on the features that the endpoint is known not to support.
    pub fn way(&self) -> Option<crate::constrain::Way> {
        let setup = &self.shared.setup;
        let way = if self.shared.client.is_free { crate::constrain::Way::Free } else { setup.config.way };
        decide::taken(way, setup.ways().missing(self.ask.model_name(&self.shared)))
    }

    /// Returns the setup that the turn shares with others.
    pub fn setup(&self) -> Arc<Setup> {
        self.shared.setup.clone()
    }

    /// Uses other tools from the next request on, since a server may change its tools while they run.
    pub fn retool(&mut self, setup: Arc<Setup>) {
        self.retooled |= !Arc::ptr_eq(&self.shared.setup, &setup);
        self.shared.setup = setup;
    }

    /// Removes and returns the next action for the driver; `None` until further input.
    pub fn action(&mut self) -> Option<Action> {
        self.shared.actions.pop_front()
    }

    /// Handles an input from the driver.
    ///
    /// # Errors
    /// The input does not fit the turn's state; the turn is unchanged.
    pub fn handle(&mut self, input: Input) -> Result<(), TurnError> {
        let has_begun = self.read.has_begun();
        match (self.state, input) {
            (TurnState::Over, _) => Err(TurnError::Over),
            (TurnState::Streaming, Input::Cancel) => {
                self.shared.actions.push_back(Action::CancelStream);
                self.break_off(StopReason::Cancelled)
            }
            (TurnState::Probing | TurnState::Measuring, Input::Cancel) => {
                self.shared.round -= 1;
                self.finish(StopReason::Cancelled)
            }
            (TurnState::Working, Input::Cancel) => self.finish(StopReason::Cancelled),
            (_, Input::Suspend) => self.suspend(),
            (TurnState::Streaming, Input::Model(event)) => self.model_event(event),
            (TurnState::Streaming, Input::Enough) => self.enough(),
            (TurnState::Probing, Input::Probed(said)) => {
                self.ask.probed(said, &mut self.shared);
                self.told()
            }
            (TurnState::Measuring, Input::ContextWindow(window)) => {
                self.shared.setup.measured.said(&self.ask.model.name, window);
                self.told()
            }
            (TurnState::Streaming, Input::ToolsRefused(error)) => {
                let sent = self.ask.send_without_tools(error, has_begun, &mut self.shared);
                sent.or_else(|reason| self.break_off(reason))
            }
            (TurnState::Streaming, Input::ContextExceeded { prompt, context, message }) => {
                let sent = self.ask.send_less((prompt, context), message, has_begun, &mut self.shared);
                sent.or_else(|reason| self.break_off(reason))
            }
            (TurnState::Streaming, Input::ModelFailed(error))
                if error.may_be_of_native_calls() && self.ask.may_leave_native(&self.shared) =>
            {
                self.native_failed(&error)
            }
            (TurnState::Streaming, Input::ModelFailed(error)) => self.break_off(self.ask.failed(error)),
            (TurnState::Working, Input::Outcome { id, outcome }) => {
                self.act.outcome(&id, outcome, &mut self.shared)?;
                self.proceed()
            }
            (TurnState::Working, Input::Approval { id, approval }) => {
                self.act.approval(&id, approval, &mut self.shared)?;
                self.proceed()
            }
            (TurnState::Probing, _) => {
                Err(TurnError::OutOfOrder { input: "piece of a message", expected: "what the endpoint says of tools" })
            }
            (TurnState::Measuring, _) => Err(TurnError::OutOfOrder {
                input: "piece of a message",
                expected: "what the endpoint says of its context",
            }),
            (TurnState::Streaming, Input::Probed(_) | Input::ContextWindow(_)) => {
                Err(TurnError::OutOfOrder { input: "answer to a probe", expected: "the model speaks" })
            }
            (TurnState::Streaming, Input::Outcome { .. } | Input::Approval { .. }) => {
                Err(TurnError::OutOfOrder { input: "news of a call", expected: "the model speaks" })
            }
            (TurnState::Working, _) => {
                Err(TurnError::OutOfOrder { input: "piece of a message", expected: "calls wait for their outcomes" })
            }
        }
    }

    /// Handles an event of the model's stream.
    fn model_event(&mut self, event: ModelEvent) -> Result<(), TurnError> {
        match event {
            ModelEvent::ConstraintRefused(message) => self.shared.warn(CallerWarning::ConstraintRefused { message }),
            ModelEvent::Unconstrained => return self.unconstrained(),
            ModelEvent::Tokens(tokens) => return self.tokens(&tokens),
            ModelEvent::Delta(delta) => return self.delta(&delta),
            ModelEvent::Call(call) => self.read.call(call, &self.shared),
            ModelEvent::Usage(usage) => self.ask.cost.reported = Some(usage),
            ModelEvent::Progress(progress) => self.shared.emit(AgentEvent::Progress { progress }),
            ModelEvent::Finish(reason) => return self.message_over(Some(reason)),
            ModelEvent::Fields(_) => {}
        }
        Ok(())
    }

    /// Handles a delta of the streaming message.
    fn delta(&mut self, delta: &Delta) -> Result<(), TurnError> {
        match delta.kind {
            DeltaKind::Reasoning => self.decide.reasons_apart(),
            DeltaKind::Content if self.decide.is_untold() && !delta.text.trim().is_empty() => {
                // Text without probabilities that looks like a call was only written because the grammar
                // demands one.
                if self.is_held() && self.shared.setup.openers().fits(delta.text.trim_start()).call {
                    return self.untold(true);
                }
                self.untold(false)?;
            }
            _ => {}
        }
        if self.read.would_be_too_long(delta) {
            return self.enough();
        }
        if self.read.delta(delta, &self.ask.model, &mut self.shared) {
            self.shared.actions.push_back(Action::CancelStream);
            return self.message_over(None);
        }
        Ok(())
    }

    /// Begins the next round.
    fn send(&mut self) -> Result<(), TurnError> {
        if self.suspending {
            return self.finish(StopReason::Suspended);
        }
        self.shared.round += 1;
        let parser = self.ask.choose_model(&self.shared);
        let retooled = std::mem::take(&mut self.retooled);
        let parser = parser.or_else(|| retooled.then(|| self.shared.setup.parser_for(&self.ask.model)));
        self.read.begin(&self.ask.model, parser);
        if self.ask.must_probe(&mut self.shared) {
            self.state = TurnState::Probing;
            return Ok(());
        }
        self.dispatch()
    }

    /// Continues after the endpoint has answered a question that precedes the round's request.
    fn told(&mut self) -> Result<(), TurnError> {
        if self.suspending {
            self.shared.round -= 1;
            return self.finish(StopReason::Suspended);
        }
        self.dispatch()
    }

    /// Sends the round's request, or, if it may not fit, first asks the endpoint for the length of its
    /// context.
    fn dispatch(&mut self) -> Result<(), TurnError> {
        self.read.sent();
        let asking = self.shared.next_asking.take();
        self.shared.asking = match asking {
            Some(asking) => asking,
            None => self.decided(),
        };
        self.decide.begin(&self.shared.asking, &self.ask.model, self.shared.setup.openers());
        match self.ask.send(&mut self.shared) {
            Ok(true) => self.state = TurnState::Streaming,
            Ok(false) => self.state = TurnState::Measuring,
            Err(reason) => return self.finish(reason),
        }
        Ok(())
    }

    /// Handles the end of the message, which ended by itself, or (`None`) whose stream was cancelled after a call.
    fn message_over(&mut self, finish: Option<FinishReason>) -> Result<(), TurnError> {
        let reason = finish.clone().unwrap_or_default();
        let mut message = self.close(finish, &reason, false);
        if let Some(asking) = self.with_text(&message, &reason) {
            self.shared.next_asking = Some(asking);
            return self.send();
        }
        // A constrained message cannot be text, so the endpoint ignored the constraint.
        if self.shared.asking.is_held() && message.is_text_alone() {
            self.holds_to_nothing();
        }
        if let Some(asking) = self.in_place_of_example(&message).or_else(|| self.in_its_place(&mut message)) {
            self.shared.next_asking = Some(asking);
            return self.send();
        }
        // Before the message is kept: the history must not have an empty answer.
        if message.is_swallowed(&reason) && self.ask.leave_native(Some(NativeFault::Empty), &mut self.shared) {
            self.shared.corrects("the answer to native tools is empty: the prompt describes them from now on");
            return self.send();
        }
        // An empty message does not show that the prompt works better.
        if message.has_calls() || !message.is_blank() {
            self.ask.came(&self.shared);
        }
        // If the endpoint extracted a call from the model's text and corrupted it, the text itself may have been
        // intact.
        let is_broken = reason != FinishReason::Length && message.has_broken_native();
        if self.is_at_a_greeting(&message) && self.ask.leave_native(Some(NativeFault::Unasked), &mut self.shared) {
            return self.answer_instead("the model calls at a greeting: the prompt describes the tools from now on");
        }
        let (next, kept) = self.read.judge_and_keep(message, &reason, &mut self.shared)?;
        self.place(kept)?;
        let next = self.read.check_output(next, &reason, &mut self.shared);
        // One broken call is no proof against native calls, so they are left for this turn alone.
        if is_broken && matches!(next, Next::Correct) {
            self.ask.leave_native(None, &mut self.shared);
        }
        self.follow(next)
    }

    /// Cancels the stream of a message that is too long, and ends the message there.
    fn enough(&mut self) -> Result<(), TurnError> {
        self.shared.actions.push_back(Action::CancelStream);
        self.read.cut_short();
        self.message_over(Some(FinishReason::Length))
    }

    /// Handles a message that ended before the model was done. Its text is kept; its calls do not run.
    fn break_off(&mut self, reason: StopReason) -> Result<(), TurnError> {
        let message = self.close(None, &FinishReason::Other("broken off".to_owned()), true);
        let kept = self.read.keep_broken_off(message, &mut self.shared)?;
        self.place(kept)?;
        self.finish(reason)
    }

    /// Ends the streaming message and counts its usage.
    fn close(&mut self, finish: Option<FinishReason>, reason: &FinishReason, broke_off: bool) -> EndedMessage {
        let message = self.read.end(reason, broke_off, &self.ask.model, &mut self.shared);
        self.ask.finish_round(finish, || message.spoken(), &mut self.shared);
        message
    }

    fn place(&mut self, Kept { calls, shown }: Kept) -> Result<(), TurnError> {
        self.act.place(calls, &shown, &mut self.shared)
    }

    /// Continues after a message: runs its calls, requests a correction or ends the turn.
    fn follow(&mut self, next: Next) -> Result<(), TurnError> {
        let mending = match &next {
            Next::Correct if self.shared.calls_are_mended() => Some(Mending::Calls),
            Next::OutputMismatch(_) => Some(Mending::Output),
            _ => None,
        };
        if matches!(next, Next::CallMissing) && self.ask.leave_native(Some(NativeFault::Missing), &mut self.shared) {
            self.shared.corrects("no native call came where one is needed: the prompt describes the tools from now on");
        }
        let note = match &next {
            Next::Run => return self.work(),
            Next::Finish(reason) => return self.finish(reason.clone()),
            Next::Correct => None,
            Next::Empty if self.shared.may_call() => Some(ModelNote::EmptyAnswer),
            Next::Empty => Some(ModelNote::EmptyText),
            Next::Forged => Some(ModelNote::ForgedResult),
            Next::Announced => Some(ModelNote::ActWithoutCall),
            Next::CallMissing => Some(match &self.shared.choice {
                ToolChoice::Named(tool) => ModelNote::ToolRequired(tool),
                _ => ModelNote::CallRequired,
            }),
            Next::OutputMismatch(problem) => Some(ModelNote::OutputMismatch(problem)),
        };
        if let Some(note) = note.map(|note| self.ask.wording(&self.shared).note(note)) {
            self.shared.corrects(if let Next::OutputMismatch(problem) = next { problem } else { unnoted(&note) });
            self.shared.conversation.push_note(note)?;
        }
        self.shared.corrections += 1;
        self.shared.mending = mending;
        self.send()
    }

    /// Begins the calls of the last message.
    fn work(&mut self) -> Result<(), TurnError> {
        self.state = TurnState::Working;
        if self.suspending {
            return self.rest();
        }
        self.act.begin(&mut self.shared)?;
        self.proceed()
    }

    /// Sends the results once all calls are answered. If the only news is that calls were shown, the message was an
    /// answer.
    fn proceed(&mut self) -> Result<(), TurnError> {
        // Results follow, so the next round does not only correct.
        self.shared.mending = None;
        let waits = self.shared.conversation.pending().next().is_some();
        match waits {
            false if self.shared.conversation.only_displayed() => self.finish(StopReason::Answered),
            false => self.send(),
            true if self.suspending => self.rest(),
            true => Ok(()),
        }
    }

    /// Suspends the turn: a streaming message is read to its end, running calls are waited for, and an open question is
    /// withdrawn.
    fn suspend(&mut self) -> Result<(), TurnError> {
        self.suspending = true;
        match self.state {
            TurnState::Working => {
                self.act.withdraw(&mut self.shared);
                self.rest()
            }
            TurnState::Probing | TurnState::Measuring | TurnState::Streaming | TurnState::Over => Ok(()),
        }
    }

    /// Ends a suspended turn once nothing runs.
    fn rest(&mut self) -> Result<(), TurnError> {
        if self.act.order.runs() { Ok(()) } else { self.finish(StopReason::Suspended) }
    }

    /// Continues with the calls that a suspended turn left pending; calls that are no longer valid are denied.
    fn resume(&mut self) -> Result<(), TurnError> {
        let setup = self.setup();
        let calls: Vec<_> = self.shared.conversation.pending().cloned().collect();
        for left in calls {
            // The tools may have changed since the call was accepted.
            if let Err(rejected) = setup.validator.check(*left.call, &left.raw) {
                self.shared.answer(&left.id, Outcome::new(Status::Denied, rejected.message))?;
            }
        }
        self.work()
    }

    fn finish(&mut self, reason: StopReason) -> Result<(), TurnError> {
        let note = match reason {
            // A call beside an answer, where none may be made.
            _ if self.shared.choice == ToolChoice::None => ModelNote::CallsOff,
            StopReason::MaxRounds { .. } | StopReason::CorrectionsUsedUp { .. } | StopReason::SameCalls { .. } => {
                ModelNote::NoRoundLeft
            }
            _ => ModelNote::Cancelled,
        };
        let suspended = reason == StopReason::Suspended;
        let left: Vec<String> = self.shared.conversation.pending().map(|call| call.id.clone()).collect();
        for id in left.into_iter().filter(|_| !suspended) {
            let note = match note {
                // The model must know whether a call may have had an effect.
                ModelNote::Cancelled if !self.act.order.is_running(&id) => ModelNote::NotBegun,
                note => note,
            };
            let status = if note == ModelNote::CallsOff { Status::Denied } else { Status::Cancelled };
            self.shared.answer_with(&id, status, note)?;
        }
        self.state = TurnState::Over;
        let (answer, found) = self.read.take_answer();
        let (output, repairs) = found.map_or((None, Vec::new()), |(value, found)| (Some(value), found));
        let finished = Finished {
            reason,
            answer,
            output,
            repairs,
            rounds: self.shared.round,
            calls: self.shared.calls,
            usage: self.ask.cost.total,
            conversation: std::mem::take(&mut self.shared.conversation),
        };
        self.shared.actions.push_back(Action::Finish(Box::new(finished)));
        Ok(())
    }
}

crate::message::opaque_debug!(Turn, self => state: self.state, round: self.shared.round);

#[cfg(test)]
pub(crate) mod tests;
