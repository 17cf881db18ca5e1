//! The events of a turn on a terminal, or readably in a pipe.

use std::io::{self, Write};

use crate::base::tokens;
use crate::labels;
use crate::screen::{BAD, BOLD, CALL, DIM, DRAFT, Frame, RESULT, Screen, full_name};
use crate::terminal::counted;
use toolgraft::agent::Finished;
use toolgraft::event::{Region, Rejected, RejectedKind};
use toolgraft::{AgentEvent, Call, Dialect, Message, Outcome};

/// Displays the events of the demonstration's turn.
pub(super) struct DemoShow<W> {
    screen: Screen<W>,
    /// Number of calls so far.
    calls: usize,
    /// `true` if a call was made in the current round.
    called: bool,
    /// Text that the recorded model wrote after its call in the current round; `None` if there is none.
    after_call: Option<String>,
}

impl<W: Write> DemoShow<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize) -> Self {
        DemoShow { screen: Screen::new(out, frame, columns), calls: 0, called: false, after_call: None }
    }

    /// Displays the model, the tools and the question.
    pub(super) fn opening(
        &mut self,
        model: &str,
        dialect: Dialect,
        server: &str,
        tools: &[String],
        question: &str,
    ) -> io::Result<()> {
        self.screen.line(DIM, &format!("model: {model}, recorded; it has no tool calling and is taught {dialect}"))?;
        self.screen.line(DIM, &format!("tools: {} of the MCP server {server}, over stdio", tools.join(", ")))?;
        self.screen.line(BOLD, &format!("\nuser: {question}"))
    }

    /// Displays that a request was sent to the model. `after_call` is the text that the recorded model wrote after its
    /// call, if any.
    pub(super) fn round(&mut self, round: u32, messages: &[Message], after_call: Option<String>) -> io::Result<()> {
        self.called = false;
        self.after_call = after_call;
        self.screen.begin();
        let bytes: usize = messages.iter().map(|m| m.content.len()).sum();
        let tokens: usize = messages.iter().map(|m| tokens::count(&m.content)).sum();
        let messages = counted(messages.len(), "message");
        self.screen.line(DIM, &format!("\nround {round}: prompt of {messages}, {bytes} bytes, {tokens} tokens (o200k)"))
    }

    /// Returns a note on the invented text that the model wrote after its call, if this event ends a round that was
    /// cancelled there.
    pub(super) fn invented(&self, event: &AgentEvent) -> Option<String> {
        // A round that was cancelled has no finish reason.
        let cut = matches!(event, AgentEvent::RoundFinished { finish: None, .. }) && self.called;
        let text = self.after_call.as_ref().filter(|_| cut)?;
        Some(format!(
            "after its call the model invented a result, “{text}”: its stream was cancelled there, and the result is \
             not shown"
        ))
    }

    /// Displays any event other than the start of a round and the end of the turn.
    pub(super) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::Text { text } => self.screen.text(Region::Content, text),
            AgentEvent::Reasoning { text } => self.screen.text(Region::Reasoning, text),
            AgentEvent::CallEnded { call, .. } => self.call(call),
            AgentEvent::CallRejected { rejected, .. } => self.rejected(rejected),
            AgentEvent::RoundFinished { finish: None, .. } if self.called => {
                let line = self.invented(event).unwrap_or_else(|| {
                    "the model continued to write after its call: its stream was cancelled".to_owned()
                });
                self.screen.line(DRAFT, &format!("({line})"))
            }
            AgentEvent::CallRunning { id, server, tool, .. } => {
                let name = full_name(server.as_deref(), tool);
                self.screen.line(CALL, &format!("running {}: {name}", self.named(id)))
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(id, outcome),
            AgentEvent::Correcting { message, .. } => self.screen.remark(BAD, &format!("the model is told: {message}")),
            _ => Ok(()),
        }
    }

    /// Displays the end of the turn.
    pub(super) fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        let rounds = counted(usize::try_from(finished.rounds).unwrap_or_default(), "round");
        let calls = counted(usize::try_from(finished.calls).unwrap_or_default(), "call");
        match finished.reason.is_answer() {
            true => self.screen.line(DIM, &format!("\nthe model answered: {rounds}, {calls}")),
            false => self.screen.line(BAD, &format!("\n{}: {rounds}, {calls}", finished.reason)),
        }
    }

    /// Displays a line at the end of the demonstration.
    pub(super) fn remark(&mut self, text: &str) -> io::Result<()> {
        self.screen.line(DIM, text)
    }

    /// Returns the displayed name of a call id: `call 2` for `call_2`.
    fn named(&self, id: &str) -> String {
        id.strip_prefix("call_").map_or_else(|| id.to_owned(), |number| format!("call {number}"))
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        self.called = true;
        self.calls += 1;
        let name = full_name(call.server.as_deref(), &call.tool);
        let title = format!("call {}: {name}", self.calls);
        self.screen.boxed(CALL, &title, &call.arguments.to_string())
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let style = if rejected.kind == RejectedKind::InReasoning { DRAFT } else { BAD };
        let tool = rejected.tool.as_deref().unwrap_or("?");
        let title = format!("{}: {tool} ({})", labels::not_run(rejected.kind), rejected.kind);
        let reason = &rejected.message;
        self.screen.boxed(style, &title, &format!("{}\n\n{reason}", rejected.raw.trim()))
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> io::Result<()> {
        let style = if outcome.is_result() { RESULT } else { BAD };
        let status = labels::status(outcome.status);
        let ms = outcome.took.map(|took| format!("{:.1}", took.as_secs_f64() * 1000.0));
        let status = ms.map_or(status.to_owned(), |ms| format!("{status} in {ms} ms"));
        self.screen.boxed(style, &format!("{}: {status}", self.named(id)), &outcome.text)
    }
}
