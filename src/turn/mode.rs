//! Whether a request carries the tools, or the prompt describes them.

use std::collections::HashMap;

use super::voice::{Remark, VoiceError};
use super::{Action, AgentEvent, Notice, State, StopReason, Turn, TurnError};
use crate::conversation::{Layout, Replies};
use crate::message::Message;
use crate::model::Request;
use crate::tool::{ToolChoice, ToolsMode};
use crate::wire::wire_name;

/// What is known of the models of a turn.
#[derive(Debug, Default)]
pub(super) struct Modes {
    /// Whether requests carry the tools, by the model's name.
    known: HashMap<Option<String>, bool>,
    /// Whether the next request does.
    native: bool,
}

impl Turn {
    /// Decides how the next request offers the tools; says whether the endpoint
    /// has to be asked first.
    pub(super) fn must_probe(&mut self) -> bool {
        let decided = match self.setup.config.tools_mode {
            _ if self.setup.natives.definitions.is_empty() => Some(false),
            ToolsMode::Prompt => Some(false),
            ToolsMode::Native => Some(true),
            ToolsMode::Auto if self.model.native_tools == Some(false) => Some(false),
            ToolsMode::Auto => self.modes.known.get(&self.model.name).copied(),
        };
        self.modes.native = decided == Some(true);
        if decided.is_none() {
            self.state = State::Probing;
            self.actions.push_back(Action::Probe(self.model.name.clone()));
        }
        decided.is_none()
    }

    /// Takes what the endpoint says; where it says nothing, the profile decides.
    pub(super) fn probed(&mut self, said: Option<bool>) -> Result<(), TurnError> {
        let native = said.unwrap_or(self.model.native_tools == Some(true));
        self.modes.known.insert(self.model.name.clone(), native);
        self.modes.native = native;
        if self.suspending {
            self.round -= 1;
            return self.finish(StopReason::Suspended);
        }
        self.dispatch()
    }

    /// Sends the request again, with the tools in the prompt; nothing came of it yet.
    pub(super) fn tools_refused(&mut self, message: String) -> Result<(), TurnError> {
        let may_fall_back = self.setup.config.tools_mode == ToolsMode::Auto && self.is_native();
        if !may_fall_back || self.draft.has_begun() {
            let help = if self.is_native() { "; --tools-mode prompt describes the tools in the prompt" } else { "" };
            return self.break_off(StopReason::ModelFailed { message: format!("{message}{help}") });
        }
        self.modes.known.insert(self.model.name.clone(), false);
        self.modes.native = false;
        self.emit(AgentEvent::Notice { notice: Notice::ToolsRefused { message } });
        match self.fitting_request() {
            Ok((request, trim)) => {
                self.hand_over(request, &trim);
                self.notice_trim(&trim);
                Ok(())
            }
            Err(reason) => self.break_off(reason),
        }
    }

    /// Whether the request carries the tools.
    pub(super) fn is_native(&self) -> bool {
        self.modes.native
    }

    /// The system text of the request.
    pub(super) fn system(&self) -> String {
        let voice = &self.setup.voice;
        if self.is_native() { voice.native_system(&self.choice) } else { voice.system(&self.choice) }
    }

    pub(super) fn messages(&self, layout: &Layout) -> Result<Vec<Message>, VoiceError> {
        let voice = &self.setup.voice;
        if self.is_native() {
            self.conversation.render_native(layout, |reply| voice.native_reply(reply))
        } else {
            let thoughts = self.thoughts();
            self.conversation.render(layout, |replies| {
                let thought = thoughts.get(replies.later).map(String::as_str);
                // Where results have to be shortened, nothing beside them is told.
                let thought = thought.filter(|text| !text.is_empty() && replies.result_bytes.is_none());
                self.replies(&Replies { thought, ..replies.clone() })
            })
        }
    }

    /// Adds the tools to a request that carries them.
    pub(super) fn offer(&self, request: &mut Request) {
        if !self.is_native() {
            return;
        }
        request.tools.clone_from(&self.setup.natives.definitions);
        request.tool_choice = match &self.choice {
            ToolChoice::Named(_) => {
                let admits = |server: Option<&str>, tool: &str| self.choice.admits(server, tool);
                let tool = self.setup.catalog.offered().find(|tool| admits(tool.server.as_deref(), &tool.name));
                // The voice has refused a name that no tool has.
                tool.map_or(ToolChoice::Required, |t| ToolChoice::Named(wire_name(t.server.as_deref(), &t.name)))
            }
            choice => choice.clone(),
        };
    }

    /// A remark on the model's last message.
    pub(super) fn remark(&self, remark: Remark<'_>) -> String {
        let voice = &self.setup.voice;
        if self.is_native() { voice.native_remark(remark) } else { voice.remark(remark) }
    }
}
