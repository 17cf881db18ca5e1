//! Decides which calls are shown to the user instead of run.

use serde_json::{Map, Value};

use super::event::DisplayCall;
use super::rejected::{Reaction, reaction};
use super::setup::Setup;
use crate::conversation::{Conversation, HistoryEntry};
use crate::event::{Call, Provenance, Rejected};
use crate::tools::ToolChoice;

/// Checks whether calls of the streaming message are only shown, with the parts of the turn that decide it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Displays<'a> {
    pub(super) setup: &'a Setup,
    /// The tool choice of this round.
    pub(super) choice: &'a ToolChoice,
    /// The history without the streaming message; it provides the ids of the calls.
    pub(super) conversation: &'a Conversation,
}

impl Displays<'_> {
    /// Returns `true` if a call of the tool is shown instead of run. A display-only call that is not allowed is handled
    /// like any other: it is denied.
    pub(super) fn shows(&self, server: Option<&str>, tool: &str) -> bool {
        // A call that the choice or the policy forbids is denied like any other, so that the model is told
        // why.
        self.is_display_only(server, tool)
            && self.choice.admits(server, tool)
            && !self.setup.config.policy.denies(server, tool)
    }

    /// Returns `true` if a call needs approval because of its provenance. A display-only call may be inside a line of
    /// text or after any line, since nothing runs. A call that is passed to a client may be inside a line, and below
    /// prose if the model repeats it after it was asked whether it is a call.
    pub(super) fn doubts(&self, call: &Call) -> bool {
        let hands_out = self.setup.config.hands_out && call.server.is_none();
        match call.provenance {
            Provenance::Plain => false,
            Provenance::InALine => {
                // Templates of some families put a call directly after prose (DeepSeek, Kimi); without a
                // marker it may be any JSON.
                let is_handed_out = hands_out && call.dialect.has_marker();
                !is_handed_out && !self.shows(call.server.as_deref(), &call.tool)
            }
            Provenance::Hedged => !self.shows(call.server.as_deref(), &call.tool),
            Provenance::AfterProse => !(hands_out && self.is_made_again(call)),
            _ => true,
        }
    }

    /// Returns `true` if an earlier message had the same call, and the model was told that it may be an example.
    fn is_made_again(&self, call: &Call) -> bool {
        let is_same = |before: &Call| {
            before.tool == call.tool && before.arguments == call.arguments && before.provenance == call.provenance
        };
        let mut since =
            self.conversation.entries().iter().rev().take_while(|entry| !matches!(entry, HistoryEntry::User(_)));
        since.any(|entry| match entry {
            HistoryEntry::Assistant(message) => {
                message.feedback().any(|told| told.call.as_deref().is_some_and(is_same))
            }
            _ => false,
        })
    }

    /// Returns the reaction of the turn to a rejected call.
    pub(super) fn reaction(&self, rejected: &Rejected) -> Reaction {
        match reaction(rejected.kind) {
            Reaction::Correct if self.is_for_display(rejected) => Reaction::CorrectBeside,
            other => other,
        }
    }

    /// Returns `true` if the model meant the rejected call as a call that runs.
    pub(super) fn is_meant(&self, rejected: &Rejected) -> bool {
        self.reaction(rejected) == Reaction::Correct
    }

    /// Returns `true` if a rejected call is for a display-only tool.
    pub(super) fn is_for_display(&self, rejected: &Rejected) -> bool {
        let tool = rejected.tool.as_deref();
        // A rejected call has its tool's name as it was written.
        let means = |tool| self.setup.catalog.resolve(rejected.server.as_deref(), tool).ok();
        tool.and_then(means).is_some_and(|found| found.tool.display_only)
    }

    fn is_display_only(&self, server: Option<&str>, tool: &str) -> bool {
        self.setup.catalog.find(server, tool).is_ok_and(|found| found.tool.display_only)
    }
}

/// Creates the event for a call of a display-only tool.
pub(super) fn display_call(call: &Call, id: String, index: u32) -> DisplayCall {
    DisplayCall { id, index, server: call.server.clone(), tool: call.tool.clone(), arguments: arguments(call) }
}

/// Returns the arguments of a call that the validator has accepted.
pub(super) fn arguments(call: &Call) -> Map<String, Value> {
    match &call.arguments {
        Value::Object(arguments) => arguments.clone(),
        // The validator accepts only objects.
        _ => Map::new(),
    }
}
