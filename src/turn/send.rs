//! A round's request: which model, which messages.

use super::round_model::{RoundInfo, RoundModel};
use super::voice::VoiceError;
use super::{Action, AgentEvent, Draft, State, StopReason, Turn, TurnError};
use crate::conversation::Layout;
use crate::model::{CallResult, Request};

impl Turn {
    /// Begins the next round.
    pub(super) fn send(&mut self) -> Result<(), TurnError> {
        if self.suspending {
            return self.finish(StopReason::Suspended);
        }
        self.round += 1;
        self.state = State::Streaming;
        self.usage = None;
        self.answer.clear();
        self.choose_model();
        match self.request() {
            Ok(request) => {
                let model = request.model.clone();
                self.sent = self.count_sent(&request);
                self.actions.push_back(Action::Send(request));
                self.emit(AgentEvent::RoundStarted { round: self.round, model });
                Ok(())
            }
            Err(VoiceError(message)) => self.finish(StopReason::PromptFailed { message }),
        }
    }

    fn choose_model(&mut self) {
        let round = RoundInfo { round: self.round, calls: self.calls, corrections: self.corrections };
        let config = &self.setup.config;
        let chosen = config.round_model.as_ref().and_then(|choice| choice.of(round));
        let model = chosen.unwrap_or_else(|| RoundModel::own(config));
        if !model.reads_like(&self.model) {
            self.draft = Draft::new(self.setup.parser_for(&model));
        }
        self.model = model;
    }

    fn request(&self) -> Result<Request, VoiceError> {
        let voice = &self.setup.voice;
        let layout = Layout::new(voice.system(&self.choice), self.model.placement);
        let results = self.conversation.answered().into_iter().map(|a| CallResult {
            id: a.id.to_owned(),
            server: a.call.server.clone(),
            tool: a.call.tool.clone(),
            arguments: a.call.arguments.clone(),
            outcome: a.outcome.clone(),
        });
        let mut request = Request::new(self.conversation.render(&layout, |replies| voice.replies(replies))?);
        request.model.clone_from(&self.model.name);
        request.temperature = self.model.temperature;
        request.max_tokens = self.setup.config.max_tokens;
        request.results = results.collect();
        Ok(request)
    }
}
