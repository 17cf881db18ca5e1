//! A round's request: which model, which messages.

use super::round_model::{RoundInfo, RoundModel};
use super::voice::{Remark, VoiceError};
use super::{Action, AgentEvent, Draft, State, StopReason, Turn, TurnError};
use crate::conversation::{Layout, Trim};
use crate::model::{CallResult, Request};

impl Turn {
    /// Begins the next round.
    pub(super) fn send(&mut self) -> Result<(), TurnError> {
        if self.suspending {
            return self.finish(StopReason::Suspended);
        }
        self.round += 1;
        self.choose_model();
        if self.must_probe() { Ok(()) } else { self.dispatch() }
    }

    /// Sends the round's request.
    pub(super) fn dispatch(&mut self) -> Result<(), TurnError> {
        self.state = State::Streaming;
        self.usage = None;
        self.answer.clear();
        self.cut_again = false;
        match self.fitting_request() {
            Ok((request, trim)) => {
                let model = request.model.clone();
                self.hand_over(request, &trim);
                self.emit(AgentEvent::RoundStarted { round: self.round, model });
                self.notice_trim(&trim);
                Ok(())
            }
            Err(reason) => self.finish(reason),
        }
    }

    /// Has the request sent, and remembers it.
    pub(super) fn hand_over(&mut self, request: Request, trim: &Trim) {
        self.sent = self.count_sent(&request);
        self.asked = (self.estimate(&request), trim.clone());
        self.actions.push_back(Action::Send(request));
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

    /// The request that shows the history but for what `trim` leaves out.
    pub(super) fn request(&self, trim: Trim) -> Result<Request, StopReason> {
        let voice = &self.setup.voice;
        let failed = |VoiceError(message)| StopReason::PromptFailed { message };
        let mut layout = Layout::new(self.system_text().map_err(failed)?, self.model.placement);
        if trim.rounds() + trim.questions() > 0 {
            layout.trim_note = voice.remark(Remark::LeftOut);
        }
        layout.trim = trim;
        let results = self.conversation.answered().into_iter().map(|a| CallResult {
            id: a.id.to_owned(),
            server: a.call.server.clone(),
            tool: a.call.tool.clone(),
            arguments: a.call.arguments.clone(),
            outcome: a.outcome.clone(),
        });
        let messages = self.messages(&layout);
        let mut request = Request::new(messages.map_err(failed)?);
        request.model.clone_from(&self.model.name);
        request.temperature = self.model.temperature;
        request.max_tokens = self.setup.config.max_tokens;
        request.results = results.collect();
        self.offer(&mut request);
        Ok(request)
    }
}
