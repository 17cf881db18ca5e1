//! Decides what is requested while it is open whether a message is a call: requests that replace others, and features
//! that an endpoint does not support.

use super::Turn;
use super::decide::{self, Asking, MessageDecision};
use super::event::AgentEvent;
use super::io::{Action, TurnError};
use super::read::{EndedMessage, only_repeats_us};
use super::stop::StopReason;
use super::warning::CallerWarning;
use crate::constrain::{Constrained, Way};
use crate::conversation::HistoryEntry;
use crate::model::{ModelError, NativeFault, TokenChoice};
use crate::tools::ToolChoice;

impl Turn {
    /// Returns the purpose of the round's request. If it is the answer, this decision is reported to the caller.
    pub(super) fn decided(&mut self) -> Asking {
        let asking = self.ask.asking(&self.shared);
        if asking == Asking::Answer {
            self.shared.emit(AgentEvent::Decided { call: false, likely: None });
        }
        asking
    }

    /// Replaces the requested message, which streams or has ended, by the message of another request in the same round.
    fn ask_instead(&mut self, asking: Asking, streams: bool) -> Result<(), TurnError> {
        if streams {
            self.shared.actions.push_back(Action::CancelStream);
        }
        if self.suspending {
            return self.break_off(StopReason::Suspended);
        }
        let spoken = self.read.leave(&self.ask.model, &mut self.shared);
        self.shared.asking = asking;
        self.decide.begin(&self.shared.asking, &self.ask.model, self.shared.setup.openers());
        self.ask.send_instead(spoken, &mut self.shared).or_else(|reason| self.finish(reason))
    }

    /// Handles an endpoint that failed on a request that carried the tools: the tools are put into the prompt.
    pub(super) fn native_failed(&mut self, error: &ModelError) -> Result<(), TurnError> {
        self.ask.leave_native(Some(NativeFault::Failed), &mut self.shared);
        self.shared.warn(CallerWarning::NativeFailed { message: error.to_string() });
        self.ask_instead(self.ask.asking(&self.shared), false)
    }

    /// Handles the probabilities of tokens of the following text, which may decide whether the message must be a call.
    pub(super) fn tokens(&mut self, tokens: &[TokenChoice]) -> Result<(), TurnError> {
        let setup = &self.shared.setup;
        let is_held = self.is_held();
        match self.decide.tokens(tokens, setup.openers(), self.shared.call_threshold(), is_held) {
            Some(MessageDecision::Measured { call, begins, likely }) => {
                let likely = Some(likely).filter(|likely| likely.is_finite());
                self.shared.emit(AgentEvent::Decided { call, likely });
                match (call, begins) {
                    // The call that the model has begun is constrained already.
                    (true, true) if self.shared.held.is_some() => {
                        self.shared.asking = Asking::Held(self.shared.choice.clone());
                        Ok(())
                    }
                    (true, _) => self.ask_instead(Asking::Held(self.shared.choice.clone()), true),
                    // The call is too unlikely to be meant: the grammar demanded one.
                    (false, true) => self.ask_instead(Asking::Free, true),
                    (false, false) => {
                        self.shared.held = None;
                        Ok(())
                    }
                }
            }
            Some(MessageDecision::Masked) => {
                self.shared.setup.ways().learn(self.ask.model_name(&self.shared), |missing| missing.unmasked = true);
                self.ask_instead(Asking::Measured, true)
            }
            Some(MessageDecision::Untold) => self.untold(is_held),
            None => Ok(()),
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.shared.held == Some(Constrained::Calls)
    }

    /// Handles missing probabilities of tokens: a constrained message is requested again without constraint.
    pub(super) fn untold(&mut self, is_held: bool) -> Result<(), TurnError> {
        self.shared.setup.ways().learn(self.ask.model_name(&self.shared), |missing| missing.probabilities = true);
        // `Auto` works without probabilities and needs no warning.
        if self.shared.setup.config.way == Way::Measured {
            self.shared.warn(CallerWarning::NoProbabilities);
        }
        if is_held {
            return self.ask_instead(Asking::Free, true);
        }
        self.decide.ends();
        (self.shared.asking, self.shared.held) = (Asking::Free, None);
        Ok(())
    }

    /// Handles a message that is not constrained although the request demanded it.
    pub(super) fn unconstrained(&mut self) -> Result<(), TurnError> {
        match self.shared.asking {
            // The answer is what a free message would be.
            Asking::Held(_) | Asking::Step | Asking::Narrowed(_) => {
                self.holds_to_nothing();
                (self.shared.asking, self.shared.held) = (Asking::Free, None);
                Ok(())
            }
            // Its probabilities are read all the same.
            Asking::Measured => {
                self.shared.held = None;
                Ok(())
            }
            Asking::Free | Asking::Text { .. } | Asking::Answer => Ok(()),
        }
    }

    /// Records that the endpoint did not apply a requested constraint, and warns the caller.
    pub(super) fn holds_to_nothing(&mut self) {
        self.shared.setup.ways().learn(self.ask.model_name(&self.shared), |missing| missing.structure = true);
        self.shared.warn(CallerWarning::NoStructure);
    }

    /// Returns the request for a call if a message that might have been one only copies the answer of an example: the
    /// model has a tool in mind.
    pub(super) fn in_place_of_example(&self, message: &EndedMessage) -> Option<Asking> {
        // After a call the copied answer may be about its result.
        let copies = || self.shared.made().is_empty() && only_repeats_us(message, &self.shared);
        (self.shared.asking == Asking::Measured && copies()).then(|| Asking::Held(self.shared.choice.clone()))
    }

    /// Returns `true` if a message makes a call although the user only said hello.
    pub(super) fn is_at_a_greeting(&self, message: &EndedMessage) -> bool {
        let calls = message.good_calls().is_some_and(|calls| !calls.is_empty());
        let last = self.shared.conversation.entries().last();
        calls
            && self.shared.choice == ToolChoice::Auto
            && matches!(last, Some(HistoryEntry::User(user)) if decide::is_greeting(&user.text))
    }

    /// Discards a message with calls that were not asked for, and requests an unconstrained one.
    pub(super) fn answer_instead(&mut self, why: &str) -> Result<(), TurnError> {
        self.shared.corrects(why);
        self.shared.next_asking = Some(Asking::Free);
        self.send()
    }
}
