//! A turn that stops where it is, to go on in another process or on another day.
//!
//! Once suspended, nothing new begins: a message that streams is read to its
//! end, calls that run are waited for, an open question is withdrawn. Then the
//! turn ends, and the calls that did not begin stay pending in the conversation.
//! A turn that is made of such a conversation deals with them first.

use std::sync::Arc;

use crate::outcome::{Outcome, Status};

use super::stop::StopReason;
use super::{Action, State, Turn, TurnError};

impl Turn {
    pub(super) fn suspend(&mut self) -> Result<(), TurnError> {
        self.suspending = true;
        match self.state {
            State::Working => {
                if let Some(id) = self.work.withdraw() {
                    self.actions.push_back(Action::Withdraw { id });
                }
                self.rest()
            }
            State::Probing | State::Streaming | State::Over => Ok(()),
        }
    }

    /// Ends a suspended turn once nothing runs.
    pub(super) fn rest(&mut self) -> Result<(), TurnError> {
        if self.work.runs() { Ok(()) } else { self.finish(StopReason::Suspended) }
    }

    /// Whether a call that the choice demands was made before the turn was suspended.
    pub(super) fn has_called(&self) -> bool {
        self.conversation.answered().iter().any(|answered| {
            let (server, tool) = (answered.call.server.as_deref(), answered.call.tool.as_str());
            answered.outcome.status != Status::Cancelled
                && self.choice.admits(server, tool)
                && !self.setup.catalog.is_describe_tool(server, tool)
        })
    }

    /// Deals with the calls that a suspended turn left behind.
    pub(super) fn resume(&mut self) -> Result<(), TurnError> {
        let setup = Arc::clone(&self.setup);
        let calls: Vec<_> = self.conversation.pending().cloned().collect();
        for placed in calls {
            // The tools may have changed since the call was accepted.
            if let Err(rejected) = setup.validator.check(*placed.call, &placed.raw) {
                self.answer(&placed.id, Outcome::error(rejected.message))?;
            }
        }
        self.work()
    }
}

#[cfg(test)]
mod tests;
