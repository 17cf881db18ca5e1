//! The events of a turn on a terminal, or readably in a pipe.

use std::io::{self, Write};

use crate::base::tokens;
use crate::phrases::Phrases;
use crate::screen::{BAD, BOLD, CALL, DIM, DRAFT, Frame, RESULT, Screen, full_name};
use toolgraft::agent::Finished;
use toolgraft::event::{Region, Rejected, RejectedKind};
use toolgraft::{AgentEvent, Call, Dialect, Message, Outcome};

/// Shows the events of a turn.
pub(super) struct Show<W> {
    screen: Screen<W>,
    say: Phrases,
    /// Calls so far.
    calls: usize,
    /// Whether a call was made in this round.
    called: bool,
    /// What the recorded model wrote behind its call in this round.
    behind_call: Option<String>,
}

impl<W: Write> Show<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize, say: Phrases) -> Self {
        Show { screen: Screen::new(out, frame, columns, say), say, calls: 0, called: false, behind_call: None }
    }

    /// What takes part, and the question.
    pub(super) fn opening(
        &mut self,
        model: &str,
        dialect: Dialect,
        server: &str,
        tools: &[String],
        question: &str,
    ) -> io::Result<()> {
        let say = self.say;
        self.screen.line(DIM, &say.demo_model(model, dialect))?;
        self.screen.line(DIM, &say.demo_tools(tools.join(", "), server))?;
        self.screen.line(BOLD, &format!("\n{}", say.user_line(question)))
    }

    /// A request went to the model, which wrote this behind its call, where it did.
    pub(super) fn round(&mut self, round: u32, messages: &[Message], behind_call: Option<String>) -> io::Result<()> {
        self.called = false;
        self.behind_call = behind_call;
        self.screen.begin();
        let bytes: usize = messages.iter().map(|m| m.content.len()).sum();
        let tokens: usize = messages.iter().map(|m| tokens::count(&m.content)).sum();
        let messages = self.say.messages(messages.len());
        self.screen.line(DIM, &format!("\n{}", self.say.demo_round(round, messages, bytes, tokens)))
    }

    /// What the model wrote behind its call in this round, where it was cut off.
    pub(super) fn invented(&self, event: &AgentEvent) -> Option<String> {
        let cut = matches!(event, AgentEvent::RoundFinished { finish: None, .. }) && self.called;
        cut.then(|| self.behind_call.as_ref().map(|text| self.say.demo_invented(text))).flatten()
    }

    /// Anything but a round's start and the turn's end.
    pub(super) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        let say = self.say;
        match event {
            AgentEvent::Text { text } => self.screen.text(Region::Content, text),
            AgentEvent::Reasoning { text } => self.screen.text(Region::Reasoning, text),
            AgentEvent::CallEnded { call, .. } => self.call(call),
            AgentEvent::CallRejected { rejected, .. } => self.rejected(rejected),
            AgentEvent::RoundFinished { finish: None, .. } if self.called => {
                let line = self.invented(event).unwrap_or_else(|| say.demo_wrote_on().to_owned());
                self.screen.line(DRAFT, &say.in_parentheses(line))
            }
            AgentEvent::CallRunning { id, server, tool, .. } => {
                let name = full_name(server.as_deref(), tool);
                self.screen.line(CALL, &say.demo_running(self.named(id), name))
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(id, outcome),
            AgentEvent::Correcting { message, .. } => self.screen.remark(BAD, &say.told_to_model(say.reason(message))),
            _ => Ok(()),
        }
    }

    /// The turn is over.
    pub(super) fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        let say = self.say;
        let rounds = say.rounds(usize::try_from(finished.rounds).unwrap_or_default());
        let calls = say.calls(usize::try_from(finished.calls).unwrap_or_default());
        match finished.reason.is_answer() {
            true => self.screen.line(DIM, &format!("\n{}", say.demo_answered(rounds, calls))),
            false => self.screen.line(BAD, &format!("\n{}", say.demo_stopped(&finished.reason, rounds, calls))),
        }
    }

    /// A remark at the end.
    pub(super) fn remark(&mut self, text: &str) -> io::Result<()> {
        self.screen.line(DIM, text)
    }

    /// A call as its box names it: `call_2` is call 2.
    fn named(&self, id: &str) -> String {
        id.strip_prefix("call_").map_or_else(|| id.to_owned(), |number| self.say.call_number(number))
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        self.called = true;
        self.calls += 1;
        let name = full_name(call.server.as_deref(), &call.tool);
        let title = self.say.headed(self.say.call_number(self.calls), name);
        self.screen.boxed(CALL, &title, &call.arguments.to_string())
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let style = if rejected.kind == RejectedKind::InReasoning { DRAFT } else { BAD };
        let tool = rejected.tool.as_deref().unwrap_or("?");
        let title = self.say.aside(self.say.headed(self.say.not_run(rejected.kind), tool), rejected.kind);
        let reason = self.say.reason(&rejected.message);
        self.screen.boxed(style, &title, &format!("{}\n\n{reason}", rejected.raw.trim()))
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> io::Result<()> {
        let style = if outcome.is_result() { RESULT } else { BAD };
        let status = self.say.status(outcome.status);
        let ms = outcome.took.map(|took| format!("{:.1}", took.as_secs_f64() * 1000.0));
        let status = ms.map_or(status.to_owned(), |ms| self.say.took(status, ms));
        let title = self.say.headed(self.named(id), status);
        self.screen.boxed(style, &title, &outcome.text)
    }
}
