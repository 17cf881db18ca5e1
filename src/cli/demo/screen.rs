//! The events of a turn on a terminal, or readably in a pipe.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::super::replay::boxes::{self, Frame, clean};
use super::super::tokens;
use crate::agent::{AgentEvent, Finished};
use crate::call::{Call, Rejected, RejectedKind};
use crate::dialect::Dialect;
use crate::event::Region;
use crate::message::Message;
use crate::outcome::Outcome;

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const CALL: Style = AnsiColor::Green.on_default();
const DRAFT: Style = AnsiColor::Yellow.on_default();
const RESULT: Style = AnsiColor::Cyan.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Shows the events of a turn.
pub(super) struct Screen<W> {
    out: W,
    frame: Frame,
    columns: usize,
    /// Part of the message that the last text belongs to.
    region: Option<Region>,
    /// Whether the cursor stands at a line's start.
    fresh: bool,
    /// Line breaks that were held back: none is shown before a box or at the end.
    breaks: usize,
    /// Whether a call was made in this round.
    called: bool,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize) -> Self {
        Screen { out, frame, columns, region: None, fresh: true, breaks: 0, called: false }
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
        self.line(DIM, &format!("model: {model}, recorded; it has no tool calling and is taught {dialect}"))?;
        self.line(DIM, &format!("tools: {} of the MCP server {server}, over stdio", tools.join(", ")))?;
        self.line(BOLD, &format!("\nuser: {question}"))
    }

    /// A request went to the model.
    pub(super) fn round(&mut self, round: u32, messages: &[Message]) -> io::Result<()> {
        self.called = false;
        self.region = None;
        let bytes: usize = messages.iter().map(|m| m.content.len()).sum();
        let tokens: usize = messages.iter().map(|m| tokens::count(&m.content)).sum();
        let what = if messages.len() == 1 { "message" } else { "messages" };
        let count = messages.len();
        self.line(DIM, &format!("\nround {round}: prompt of {count} {what}, {bytes} bytes, {tokens} tokens (o200k)"))
    }

    /// Anything but a round's start and the turn's end.
    pub(super) fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::Text { text } => self.text(Region::Content, text),
            AgentEvent::Reasoning { text } => self.text(Region::Reasoning, text),
            AgentEvent::CallEnded { call, .. } => self.call(call),
            AgentEvent::CallRejected { rejected, .. } => self.rejected(rejected),
            AgentEvent::RoundFinished { finish: None, .. } if self.called => {
                self.line(DIM, "(the model wrote on after its call: its stream was cancelled)")
            }
            AgentEvent::CallRunning { id, server, tool, .. } => {
                let server = server.as_ref().map(|s| format!("{s}.")).unwrap_or_default();
                self.line(CALL, &format!("running {id}: {server}{tool}"))
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(id, outcome),
            AgentEvent::Correcting { message, .. } => self.line(BAD, &format!("the model is told: {message}")),
            _ => Ok(()),
        }
    }

    /// The turn is over.
    pub(super) fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        let style = if finished.reason.is_answer() { DIM } else { BAD };
        self.line(style, &format!("\n{}: {} rounds, {} calls", finished.reason, finished.rounds, finished.calls))
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        self.called = true;
        let server = call.server.as_ref().map(|s| format!("{s}.")).unwrap_or_default();
        self.boxed(CALL, &format!("call: {server}{}", call.tool), &call.arguments.to_string())
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let tool = rejected.tool.as_deref().unwrap_or("?");
        let (style, what) = match rejected.kind {
            RejectedKind::InReasoning => (DRAFT, "draft"),
            _ => (BAD, "rejected"),
        };
        let title = format!("{what}: {tool}, not run ({})", rejected.kind);
        self.boxed(style, &title, &format!("{}\n\n{}", rejected.raw.trim(), rejected.message))
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> io::Result<()> {
        let style = if outcome.is_result() { RESULT } else { BAD };
        let took = outcome.took.map(|t| format!(", {:.1} ms", t.as_secs_f64() * 1000.0)).unwrap_or_default();
        let structured = outcome.structured.as_ref().map(|s| format!("\n{s}")).unwrap_or_default();
        self.boxed(style, &format!("{id}: {}{took}", outcome.status.as_str()), &format!("{}{structured}", outcome.text))
    }

    /// Lines of our own words.
    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.end_line()?;
        for line in clean(text).lines() {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        self.out.flush()
    }

    fn boxed(&mut self, style: Style, title: &str, body: &str) -> io::Result<()> {
        self.end_line()?;
        for line in boxes::draw(title, body, self.frame, self.columns) {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        // The part goes on below the box, under a heading of its own.
        self.region = None;
        self.out.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.breaks = 0;
        if !self.fresh {
            writeln!(self.out)?;
            self.fresh = true;
        }
        Ok(())
    }

    /// A piece of the message.
    fn text(&mut self, region: Region, text: &str) -> io::Result<()> {
        if self.region != Some(region) {
            if text.trim().is_empty() {
                return Ok(());
            }
            self.line(DIM, if region == Region::Reasoning { "[reasoning]" } else { "[answer]" })?;
            self.region = Some(region);
        }
        let style = if region == Region::Reasoning { DIM } else { Style::new() };
        for piece in clean(text).split_inclusive('\n') {
            let words = piece.trim_end_matches('\n');
            if !words.is_empty() {
                self.held_breaks()?;
                write!(self.out, "{style}{words}{style:#}")?;
                self.fresh = false;
            }
            self.breaks += usize::from(words.len() < piece.len());
        }
        self.out.flush()
    }

    fn held_breaks(&mut self) -> io::Result<()> {
        // Of several empty lines one is shown; a part's own leading ones say nothing.
        let breaks = std::mem::take(&mut self.breaks).min(2);
        if !self.fresh {
            (0..breaks).try_for_each(|_| writeln!(self.out))?;
            self.fresh = breaks > 0;
        }
        Ok(())
    }
}
