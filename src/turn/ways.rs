//! What a message is asked for, while it is decided whether it calls: what comes in the place of a request, and
//! what an endpoint does not give.

use super::Turn;
use super::decide::{self, Asking, Verdict};
use super::event::AgentEvent;
use super::io::{Action, TurnError};
use super::read::Message;
use super::stop::StopReason;
use super::warning::CallerWarning;
use crate::constrain::{Constrained, Way};
use crate::conversation::Entry;
use crate::model::{ModelError, NativeFault, TokenChoice};
use crate::tools::ToolChoice;

impl Turn {
    /// What the round's request is for; where nothing is left to do, the caller is told.
    pub(super) fn decided(&mut self) -> Asking {
        let asking = self.ask.asking(&self.shared);
        if asking == Asking::Answer {
            self.shared.emit(AgentEvent::Decided { call: false, likely: None });
        }
        asking
    }

    /// Leaves the message that is asked for, which streams or is over, for that of another request
    /// in the same round.
    fn ask_instead(&mut self, asking: Asking, streams: bool) -> Result<(), TurnError> {
        if streams {
            self.shared.actions.push_back(Action::CancelStream);
        }
        if self.suspending {
            return self.break_off(StopReason::Suspended);
        }
        let spoken = self.read.leave(self.ask.model(), &mut self.shared);
        self.shared.asking = asking;
        self.decide.begin(&self.shared.asking, self.ask.model(), self.shared.setup.openers());
        self.ask.send_instead(spoken, &mut self.shared).or_else(|reason| self.finish(reason))
    }

    /// The endpoint failed at a request that carried the tools: the same is asked by prompt.
    pub(super) fn native_failed(&mut self, error: &ModelError) -> Result<(), TurnError> {
        self.ask.leave_native(Some(NativeFault::Failed), &mut self.shared);
        self.shared.warn(CallerWarning::NativeFailed { message: error.to_string() });
        self.ask_instead(self.ask.asking(&self.shared), false)
    }

    /// Takes tokens of the text that comes next: what that is to be may be decided by them.
    pub(super) fn tokens(&mut self, tokens: &[TokenChoice]) -> Result<(), TurnError> {
        let setup = &self.shared.setup;
        let is_held = self.is_held();
        match self.decide.tokens(tokens, setup.openers(), self.shared.call_threshold(), is_held) {
            Some(Verdict::Measured { call, begins, likely }) => {
                let likely = Some(likely).filter(|likely| likely.is_finite());
                self.shared.emit(AgentEvent::Decided { call, likely });
                match (call, begins) {
                    // What the model begun is held to its structure.
                    (true, true) if self.shared.held.is_some() => {
                        self.shared.asking = Asking::Held(self.shared.choice.clone());
                        Ok(())
                    }
                    (true, _) => self.ask_instead(Asking::Held(self.shared.choice.clone()), true),
                    (false, true) => self.ask_instead(Asking::Free, true),
                    (false, false) => {
                        self.shared.held = None;
                        Ok(())
                    }
                }
            }
            Some(Verdict::Masked) => {
                self.shared.setup.ways().with_masked_probabilities(self.ask.model_name(&self.shared));
                self.ask_instead(Asking::Measured, true)
            }
            Some(Verdict::Untold) => self.untold(is_held),
            None => Ok(()),
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.shared.held == Some(Constrained::Calls)
    }

    /// The endpoint does not tell how likely a call is: a message that nothing held to a call is what it is.
    pub(super) fn untold(&mut self, is_held: bool) -> Result<(), TurnError> {
        self.shared.setup.ways().without_probabilities(self.ask.model_name(&self.shared));
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

    /// The message is held to nothing.
    pub(super) fn unconstrained(&mut self) -> Result<(), TurnError> {
        match self.shared.asking {
            // What comes is what a free message would be.
            Asking::Held(_) | Asking::Step | Asking::Narrowed(_) => {
                self.holds_to_nothing();
                (self.shared.asking, self.shared.held) = (Asking::Free, None);
                Ok(())
            }
            // It is read for its probabilities all the same.
            Asking::Measured => {
                self.shared.held = None;
                Ok(())
            }
            Asking::Free | Asking::Answer => Ok(()),
        }
    }

    /// The endpoint was asked for a structure and does not hold to it.
    pub(super) fn holds_to_nothing(&mut self) {
        self.shared.setup.ways().without_structure(self.ask.model_name(&self.shared));
        self.shared.warn(CallerWarning::NoStructure);
    }

    /// Whether a message calls where a person only said hello.
    pub(super) fn is_at_a_greeting(&self, message: &Message) -> bool {
        let calls = message.good_calls().is_some_and(|calls| !calls.is_empty());
        let last = self.shared.conversation.entries().last();
        calls
            && self.shared.choice == ToolChoice::Auto
            && matches!(last, Some(Entry::User(user)) if decide::is_greeting(&user.text))
    }

    /// Leaves a message whose calls nobody asked for, and asks for one as the model likes it.
    pub(super) fn answer_instead(&mut self, why: &str) -> Result<(), TurnError> {
        self.shared.corrects(why);
        self.shared.next_asking = Some(Asking::Free);
        self.send()
    }
}
