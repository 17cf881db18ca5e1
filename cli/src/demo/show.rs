//! The events of a turn on a terminal, or readably in a pipe.

use std::io::{self, Write};

use super::super::screen::{BAD, BOLD, CALL, DIM, DRAFT, Frame, RESULT, Screen, full_name};
use super::super::tokens;
use toolgraft::agent::Finished;
use toolgraft::event::{Region, Rejected, RejectedKind};
use toolgraft::{AgentEvent, Call, Dialect, Message, Outcome};

/// Shows the events of a turn.
pub(super) struct Show<W> {
    screen: Screen<W>,
    /// Whether a call was made in this round.
    called: bool,
}

impl<W: Write> Show<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize) -> Self {
        Show { screen: Screen::new(out, frame, columns), called: false }
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
        self.screen.line(DIM, &format!("model: {model}, recorded; it has no tool calling and is taught {dialect}"))?;
        self.screen.line(DIM, &format!("tools: {} of the MCP server {server}, over stdio", tools.join(", ")))?;
        self.screen.line(BOLD, &format!("\nuser: {question}"))
    }

    /// A request went to the model.
    pub(super) fn round(&mut self, round: u32, messages: &[Message]) -> io::Result<()> {
        self.called = false;
        self.screen.begin();
        let bytes: usize = messages.iter().map(|m| m.content.len()).sum();
        let tokens: usize = messages.iter().map(|m| tokens::count(&m.content)).sum();
        let what = if messages.len() == 1 { "message" } else { "messages" };
        let count = messages.len();
        self.screen
            .line(DIM, &format!("\nround {round}: prompt of {count} {what}, {bytes} bytes, {tokens} tokens (o200k)"))
    }

    /// Anything but a round's start and the turn's end.
    pub(super) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::Text { text } => self.screen.text(Region::Content, text),
            AgentEvent::Reasoning { text } => self.screen.text(Region::Reasoning, text),
            AgentEvent::CallEnded { call, .. } => self.call(call),
            AgentEvent::CallRejected { rejected, .. } => self.rejected(rejected),
            AgentEvent::RoundFinished { finish: None, .. } if self.called => {
                self.screen.line(DIM, "(the model wrote on after its call: its stream was cancelled)")
            }
            AgentEvent::CallRunning { id, server, tool, .. } => {
                self.screen.line(CALL, &format!("running {id}: {}", full_name(server.as_deref(), tool)))
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(id, outcome),
            AgentEvent::Correcting { message, .. } => self.screen.line(BAD, &format!("the model is told: {message}")),
            _ => Ok(()),
        }
    }

    /// The turn is over.
    pub(super) fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        let style = if finished.reason.is_answer() { DIM } else { BAD };
        self.screen.line(style, &format!("\n{}: {} rounds, {} calls", finished.reason, finished.rounds, finished.calls))
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        self.called = true;
        let name = full_name(call.server.as_deref(), &call.tool);
        self.screen.boxed(CALL, &format!("call: {name}"), &call.arguments.to_string())
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let tool = rejected.tool.as_deref().unwrap_or("?");
        let (style, what) = match rejected.kind {
            RejectedKind::InReasoning => (DRAFT, "draft"),
            _ => (BAD, "rejected"),
        };
        let title = format!("{what}: {tool}, not run ({})", rejected.kind);
        self.screen.boxed(style, &title, &format!("{}\n\n{}", rejected.raw.trim(), rejected.message))
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> io::Result<()> {
        let style = if outcome.is_result() { RESULT } else { BAD };
        let took = outcome.took.map(|t| format!(", {:.1} ms", t.as_secs_f64() * 1000.0)).unwrap_or_default();
        let structured = outcome.structured.as_ref().map(|s| format!("\n{s}")).unwrap_or_default();
        self.screen.boxed(
            style,
            &format!("{id}: {}{took}", outcome.status.as_str()),
            &format!("{}{structured}", outcome.text),
        )
    }
}
