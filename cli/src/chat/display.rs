//! The events of a turn as somebody at a terminal, or on a pipe, sees them.

mod thoughts;

use std::io::{self, IsTerminal, Write, stderr, stdout};

use anstyle::Style;
use serde_json::Value;

use super::args::OutputArgs;
use super::live::{Live, Place};
use super::summary::{Summary, time};
use crate::screen::{BAD, CALL, DIM, DRAFT, Frame, RESULT, Screen, excerpt, full_name, pretty};
use crate::settings::ReasoningDisplay;
use crate::terminal::{self, counted, grouped};
use crate::tokens;
use thoughts::Thoughts;
use toolgraft::agent::{CallerWarning, Finished, StopReason};
use toolgraft::event::{Provenance, Region, Rejected, RejectedKind};
use toolgraft::model::{ModelError, Progress};
use toolgraft::outcome::{RESULT_BYTES, Status};
use toolgraft::{AgentEvent, Call, Conversation, Outcome};

/// Most characters of a call's arguments that are shown. They are what is
/// approved, so much more is shown than of a result.
const ARGUMENTS: usize = 20_000;

/// Most characters of a result that are shown.
const RESULT_EXCERPT: usize = 600;

/// Shows turns.
pub(super) struct Display {
    screen: Screen<Box<dyn Write + Send>>,
    live: Live,
    /// Standard output is a pipe and gets the answer alone.
    piped: bool,
    quiet: bool,
    reasoning: ReasoningDisplay,
    /// Where somebody can ask for it later.
    in_conversation: bool,
    thoughts: Thoughts,
    /// Text of this round that may be the answer.
    held: String,
    /// What seemed to be reasoning in this round was the answer.
    untagged: bool,
    /// Calls that run: id and name.
    running: Vec<(String, String)>,
    /// The call that is asked about, id and name; what happens meanwhile is shown later.
    asked: Option<(String, String)>,
    later: Vec<AgentEvent>,
    /// A server asks for input, and all else is shown later.
    paused: bool,
    /// Ids of the calls, by the numbers that they are shown with, from 1.
    calls: Vec<String>,
    /// What a server last reported of its calls.
    progress: Option<(String, String)>,
    summary: Summary,
}

impl Display {
    pub(super) fn new(args: &OutputArgs, in_conversation: bool) -> Self {
        let piped = !stdout().is_terminal();
        let (columns, _) = size();
        let (out, frame, place): (Box<dyn Write + Send>, _, _) = match piped {
            false => (Box::new(anstream::stdout()), Frame::Drawn, Place::Stdout),
            true if stderr().is_terminal() => (Box::new(anstream::stderr()), Frame::Drawn, Place::Stderr),
            true => (Box::new(anstream::stderr()), Frame::Plain, Place::Nowhere),
        };
        let choice = match place {
            Place::Stdout => anstream::AutoStream::choice(&stdout()),
            _ => anstream::AutoStream::choice(&stderr()),
        };
        let styled = choice != anstream::ColorChoice::Never;
        let screen = Screen::new(out, frame, columns);
        // Rows can be taken back where it is known how many there are.
        let screen = match size() {
            (_, Some(rows)) if styled && frame == Frame::Drawn => screen.with_moves(rows, !piped && !args.plain),
            _ => screen,
        };
        Display {
            screen,
            live: Live::new(place, columns, styled),
            piped,
            quiet: args.quiet,
            reasoning: if args.quiet {
                ReasoningDisplay::Hidden
            } else {
                args.reasoning_display.unwrap_or(ReasoningDisplay::Folded)
            },
            in_conversation,
            thoughts: Thoughts::default(),
            held: String::new(),
            untagged: false,
            running: Vec::new(),
            asked: None,
            later: Vec::new(),
            paused: false,
            calls: Vec::new(),
            progress: None,
            summary: Summary::new(),
        }
    }

    /// A turn begins.
    pub(super) fn begin(&mut self, conversation: &Conversation) {
        self.know(conversation);
        self.summary = Summary::new();
        self.thoughts.begin_turn();
        self.screen.begin();
        self.fit();
    }

    /// Numbers the calls of a conversation that have no number yet.
    pub(super) fn know(&mut self, conversation: &Conversation) {
        let ids = conversation.messages().flat_map(|message| message.calls()).map(|call| call.id.as_str());
        ids.for_each(|id| {
            number(&mut self.calls, id);
        });
    }

    /// The call with a number.
    pub(super) fn call_of(&self, number: usize) -> Option<&str> {
        self.calls.get(number.checked_sub(1)?).map(String::as_str)
    }

    /// A server reports how far its call is.
    pub(super) fn progress(
        &mut self,
        server: &str,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> io::Result<()> {
        let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
        let message = message.map(|message| format!(", {message}")).unwrap_or_default();
        self.progress = Some((server.to_owned(), format!("{progress}{total}{message}")));
        if self.paused || self.asked.is_some() { Ok(()) } else { self.spin() }
    }

    /// The terminal may have another size now.
    fn fit(&mut self) {
        let (columns, rows) = size();
        self.screen.resize(columns, rows.unwrap_or_default());
        self.live.resize(columns);
    }

    /// The reasoning of the last turn.
    pub(super) fn thoughts(&self) -> &str {
        self.thoughts.of_turn()
    }

    /// A line of our own.
    pub(super) fn note(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.live.clear();
        self.screen.line(style, text)
    }

    /// Anything but the turn's end.
    pub(super) fn event(&mut self, event: AgentEvent) -> io::Result<()> {
        self.summary.take(&event);
        self.fit();
        self.show_or_keep(event)
    }

    /// Makes room for the question of a server.
    pub(super) fn pause(&mut self) -> io::Result<()> {
        self.paused = true;
        self.live.clear();
        self.screen.end_line()
    }

    /// The question is over.
    pub(super) fn go_on(&mut self) -> io::Result<()> {
        self.paused = false;
        if self.asked.is_some() {
            return Ok(());
        }
        self.spin()?;
        self.answered()
    }

    fn show_or_keep(&mut self, event: AgentEvent) -> io::Result<()> {
        if let Some((id, _)) = &self.asked {
            let answered = match &event {
                AgentEvent::CallRunning { id: other, .. } | AgentEvent::Outcome { id: other, .. } => other == id,
                _ => false,
            };
            self.later.push(event);
            return match (answered, self.paused) {
                (true, false) => self.answered(),
                (true, true) => {
                    self.running.extend(self.asked.take());
                    Ok(())
                }
                (false, _) => Ok(()),
            };
        }
        if self.paused {
            self.later.push(event);
            return Ok(());
        }
        self.show(event)
    }

    /// Shows what happened while a question was open.
    fn answered(&mut self) -> io::Result<()> {
        // Whether it runs or is denied, what comes next names it.
        self.running.extend(self.asked.take());
        std::mem::take(&mut self.later).into_iter().try_for_each(|event| self.show_or_keep(event))
    }

    fn show(&mut self, event: AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::RoundStarted { .. } => {
                self.screen.begin();
                self.held.clear();
                self.untagged = false;
                self.thoughts.begin_round();
                self.wait("waiting for the model")
            }
            AgentEvent::Progress { progress: Progress::Loading } => {
                self.line(DRAFT, "the server still loads its model: waiting for it")?;
                self.wait("the server loads its model")
            }
            AgentEvent::Progress { progress: Progress::Prompt { processed, total } } => {
                self.wait(&format!("the model reads the prompt: {processed} of {total} tokens"))
            }
            AgentEvent::Text { text } => self.text(&text),
            AgentEvent::Reasoning { text } => self.think(&text),
            AgentEvent::Reclassified { to } => self.reclassify(to),
            AgentEvent::CallStarted { server, tool, .. } => {
                // Reasoning is folded when it turns out that this is no draft within it.
                self.thoughts.pause();
                self.release()?;
                self.wait(&format!("the model writes a call of {}", full_name(server.as_deref(), &tool)))
            }
            AgentEvent::CallEnded { call, .. } => self.call(&call),
            AgentEvent::CallRejected { rejected, .. } => self.rejected(&rejected),
            AgentEvent::Display(call) => {
                self.fold()?;
                self.release()?;
                let name = full_name(call.server.as_deref(), &call.tool);
                self.boxed(RESULT, &format!("shown by {name}"), &shortened(&pretty(&Value::Object(call.arguments))))
            }
            AgentEvent::Promoted { .. } if self.untagged => {
                self.line(DRAFT, "(no reasoning tag came: the call may only be a draft)")
            }
            AgentEvent::Promoted { provenance: Provenance::FencedFirst, .. } => {
                self.line(DRAFT, "(nothing else is a call: the one in the first fence may be meant)")
            }
            AgentEvent::Promoted { .. } => self.line(DRAFT, "(a call that was drafted in the reasoning)"),
            AgentEvent::RoundFinished { .. } => {
                self.fold()?;
                self.live.clear();
                Ok(())
            }
            AgentEvent::Correcting { message, .. } => self.line(DRAFT, &format!("the model is told: {message}")),
            AgentEvent::ApprovalAsked(request) => {
                self.live.clear();
                if self.quiet {
                    // The question is about these arguments, which were not shown yet.
                    let body = shortened(&pretty(&Value::Object(request.arguments)));
                    self.screen.boxed(CALL, "call", &body)?;
                }
                self.asked = Some((request.id, full_name(request.server.as_deref(), &request.tool)));
                Ok(())
            }
            AgentEvent::CallRunning { id, server, tool, .. } => {
                if !self.running.iter().any(|(other, _)| *other == id) {
                    self.running.push((id, full_name(server.as_deref(), &tool)));
                }
                self.spin()
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(&id, &outcome),
            AgentEvent::Notice { notice } => self.note(DRAFT, &format!("note: {}", noticed(&notice))),
            _ => Ok(()),
        }
    }

    /// The turn is over; its answer goes to a pipe now.
    pub(super) fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        self.fit();
        self.live.clear();
        self.paused = false;
        self.answered()?;
        self.live.clear();
        self.running.clear();
        self.screen.end_line()?;
        let answer = finished.output.as_ref().map_or_else(|| finished.answer.clone(), Value::to_string);
        if self.piped && !answer.is_empty() {
            let mut out = stdout().lock();
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
        let stopped = match &finished.reason {
            StopReason::Answered => None,
            reason => Some((if *reason == StopReason::Cancelled { DRAFT } else { BAD }, stopped(reason))),
        };
        if let Some((style, text)) = stopped.filter(|_| self.in_conversation) {
            self.screen.line(style, &text)?;
        }
        let summary = self.summary.text(finished);
        if !summary.is_empty() {
            self.line(DIM, &summary)?;
        }
        // The next prompt stands apart.
        if self.in_conversation { self.screen.empty_line() } else { Ok(()) }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.piped {
            self.held.push_str(text);
        }
        if text.trim().is_empty() && self.thoughts.is_open() {
            return Ok(());
        }
        self.fold()?;
        if self.piped {
            return self.wait("the model answers");
        }
        self.live.clear();
        self.screen.text(Region::Content, text)
    }

    /// Shows held text, which is not the answer after all: a call follows it.
    fn release(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        if held.trim().is_empty() || self.quiet {
            return Ok(());
        }
        self.live.clear();
        self.screen.text(Region::Content, &held)
    }

    fn think(&mut self, text: &str) -> io::Result<()> {
        self.thoughts.add(text);
        if self.reasoning == ReasoningDisplay::Full {
            self.live.clear();
            return self.screen.text(Region::Reasoning, text);
        }
        if !text.trim().is_empty() && self.thoughts.measure() {
            self.live.clear();
            self.wait("thinking")?;
        }
        if self.reasoning == ReasoningDisplay::Folded {
            self.live.tail(self.thoughts.of_round());
        }
        Ok(())
    }

    /// Reasoning has ended: one line is left of it.
    fn fold(&mut self) -> io::Result<()> {
        let Some(took) = self.thoughts.fold() else { return Ok(()) };
        self.live.clear();
        if self.reasoning == ReasoningDisplay::Hidden {
            return Ok(());
        }
        let how = if self.in_conversation { "/think" } else { "--reasoning-display full" };
        let size = counted(tokens::count(self.thoughts.of_round()), "token");
        self.line(DIM, &format!("thought for {}, {size} · {how} shows it", time(took)))
    }

    /// What was shown so far was something else.
    fn reclassify(&mut self, to: Region) -> io::Result<()> {
        match to {
            Region::Reasoning if self.piped => {
                self.thoughts.was_said(std::mem::take(&mut self.held));
                Ok(())
            }
            Region::Reasoning => self.line(DIM, "(all of this was reasoning: </think> came without an opening tag)"),
            Region::Content => {
                self.untagged = true;
                let thought = self.thoughts.was_answer();
                self.live.clear();
                match thought {
                    None => self.line(DIM, "(this was the answer: no </think> came)"),
                    Some(thought) => self.text(&thought),
                }
            }
        }
    }

    fn call(&mut self, call: &Call) -> io::Result<()> {
        self.fold()?;
        self.release()?;
        let mut body = shortened(&pretty(&call.arguments));
        if !call.repairs.is_empty() {
            let repairs: Vec<_> = call.repairs.iter().map(ToString::to_string).collect();
            body.push_str(&format!("\n(mended: {})", repairs.join(", ")));
        }
        let name = full_name(call.server.as_deref(), &call.tool);
        self.boxed(CALL, &format!("call {name}"), &body)
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
        let name = name.unwrap_or_else(|| "a tool".to_owned());
        match rejected.kind {
            RejectedKind::InReasoning => {
                // Its bytes are part of the reasoning, which goes on.
                self.thoughts.resume();
                self.think(&rejected.raw)?;
                self.thoughts.was_draft(&rejected.raw);
                if self.thoughts.is_open() {
                    self.wait("thinking")?;
                }
                match self.reasoning {
                    ReasoningDisplay::Full => self.line(DRAFT, &format!("(drafted, not run: {name})")),
                    _ => Ok(()),
                }
            }
            // These bytes are part of the answer.
            RejectedKind::Invented if rejected.in_text => {
                self.text(&rejected.raw)?;
                self.line(DRAFT, &format!("(in an invented turn, not run: {name})"))
            }
            RejectedKind::Quoted => {
                self.text(&rejected.raw)?;
                self.line(DRAFT, &format!("(an example, not run: {name})"))
            }
            kind => {
                self.fold()?;
                self.release()?;
                let body = format!("{}\n\n{}", rejected.message, excerpt(&rejected.raw));
                self.boxed(BAD, &format!("rejected call of {name} ({kind})"), &body)
            }
        }
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> io::Result<()> {
        let at = self.running.iter().position(|(other, _)| other == id);
        // A call that was never asked about and never ran has no name here.
        let name = at.map_or_else(|| id.to_owned(), |at| self.running.remove(at).1);
        let took = outcome.took.map(|took| format!(", {}", time(took))).unwrap_or_default();
        let (style, what) = match outcome.status {
            Status::Result => (RESULT, "result of"),
            Status::Displayed => (RESULT, "shown:"),
            Status::Denied => (DRAFT, "denied:"),
            Status::Cancelled => (DIM, "cancelled:"),
            Status::ToolError => (BAD, "error of"),
            Status::TimedOut => (BAD, "no answer of"),
            _ => (DRAFT, "outcome of"),
        };
        let number = number(&mut self.calls, id);
        let body = self.shown_of(&outcome.said(), number);
        self.boxed(style, &format!("#{number} {what} {name}{took}"), &body)?;
        self.progress = None;
        self.spin()
    }

    /// The beginning of a result, and what the model got of it.
    fn shown_of(&self, text: &str, number: usize) -> String {
        let text = text.trim();
        let short: String = text.chars().take(RESULT_EXCERPT).collect();
        if short.len() == text.len() {
            return short;
        }
        let (characters, lines) = (grouped(text.chars().count() as u64), counted(text.lines().count(), "line"));
        let got = match toolgraft::outcome::cut(text, RESULT_BYTES) {
            None => "the model got all of it".to_owned(),
            Some(cut) => format!("the model got all but {} bytes in the middle", grouped(cut.missing as u64)),
        };
        let how = if self.in_conversation { format!(" · /result {number} shows it") } else { String::new() };
        format!("{short}…\n({characters} characters, {lines}; {got}{how})")
    }

    /// Turns while calls run.
    fn spin(&mut self) -> io::Result<()> {
        let names: Vec<&str> = self.running.iter().map(|(_, name)| name.as_str()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let progress = self
            .progress
            .as_ref()
            .filter(|(server, _)| names.iter().any(|name| name.starts_with(&format!("{server}."))));
        let progress = progress.map(|(_, text)| format!(": {text}")).unwrap_or_default();
        self.wait(&format!("running {}{progress}", names.join(", ")))
    }

    /// Turns until something is shown.
    fn wait(&mut self, what: &str) -> io::Result<()> {
        // A spinner has the line for itself.
        self.screen.end_line()?;
        self.live.show(what);
        Ok(())
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        self.note(style, text)
    }

    fn boxed(&mut self, style: Style, title: &str, body: &str) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        self.live.clear();
        self.screen.boxed(style, title, body)
    }
}

/// Columns that output may take, and the terminal's rows where it says them: only then is
/// it known that no row is longer than one of the terminal's.
fn size() -> (usize, Option<usize>) {
    let columns = terminal::columns();
    match terminal::size() {
        Some((own, rows)) => (columns.min(own), Some(rows)),
        None => (columns, None),
    }
}

/// Why there is no answer, and what may help.
pub(super) fn stopped(reason: &StopReason) -> String {
    match reason {
        StopReason::OutputLimit => format!("{reason}: raise --max-tokens"),
        StopReason::ContextFull { .. } => format!("{reason} (--tool-budget; /clear)"),
        StopReason::Repetition { .. } => {
            format!("{reason}: ask in other words, raise the temperature, or raise --max-repeats")
        }
        StopReason::SameCalls { .. } => format!("{reason}: ask in other words, or take another model"),
        StopReason::MaxRounds { .. } => format!("{reason}: raise --max-rounds, or ask for less at once"),
        StopReason::ContextTooSmall { .. } => {
            format!("{reason} (--tool-budget, --max-tokens)")
        }
        StopReason::ContextExceeded { .. } => format!("{reason} (--tool-budget, --max-tokens)"),
        StopReason::ModelFailed(failure) if failure.source.as_deref().is_some_and(ModelError::refuses_tools) => {
            format!("{reason} (--tools-mode prompt)")
        }
        reason => reason.to_string(),
    }
}

/// A notice, and the options that help.
fn noticed(notice: &CallerWarning) -> String {
    match notice {
        CallerWarning::PromptCut { .. } => format!("{notice} (--tool-budget)"),
        CallerWarning::ToolsRefused { .. } => format!("{notice}; --tools-mode prompt does so from the start"),
        CallerWarning::ConstraintRefused { .. } => format!("{notice} (--constrain off)"),
        CallerWarning::HistoryLeftOut { .. } => format!("{notice} (--tool-budget)"),
        _ => notice.to_string(),
    }
}

/// The number of a call, which it is given when it is first seen.
fn number(calls: &mut Vec<String>, id: &str) -> usize {
    let at = calls.iter().position(|other| other == id).unwrap_or_else(|| {
        calls.push(id.to_owned());
        calls.len() - 1
    });
    at + 1
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(ARGUMENTS).collect();
    if short.len() == text.len() {
        return short;
    }
    format!("{short}\n… {} characters more", text.chars().count() - ARGUMENTS)
}
