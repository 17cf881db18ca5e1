//! The events of a turn as somebody at a terminal, or on a pipe, sees them.

mod numbers;
mod piped;
mod shelf;
mod thoughts;

use std::io::{self, IsTerminal, Write, stderr, stdout};

use anstyle::Style;
use serde_json::Value;
use tokio::time::Instant;

use super::NAME;
use super::summary::Summary;
use crate::base::{Failure, stderr::Stderr, tokens};
use crate::labels;
use crate::screen::boxes::clean;
use crate::screen::excerpt::{bounded, remark};
use crate::screen::live::{Live, ScreenPlace};
use crate::screen::{
    BAD, CALL, DIM, DRAFT, Frame, RESULT, Screen, as_fits_screen, beginning, full_name, pictures::Protocol,
};
use crate::servers::existing::Existing;
use crate::settings::{CallDisplay, ReasoningDisplay, Settings, variable};
use crate::terminal::{self, counted, grouped, lasted, shortened};
use crate::view::{self, Step};
use numbers::Numbers;
use piped::Piped;
pub(crate) use shelf::Shelf;
use thoughts::Thoughts;
use toolgraft::agent::{Finished, StopReason};
use toolgraft::event::{Provenance, Region, Rejected, RejectedKind};
use toolgraft::model::Progress;
use toolgraft::outcome::{RESULT_BYTES, Status};
use toolgraft::{AgentEvent, Call, Conversation, Outcome};
use toolgraft_mcp::USER_EVENT;

/// Maximum number of characters shown of a call's arguments on a pipe; a terminal shows as many as fit the screen
/// together with a question about them.
const ARGUMENTS: usize = 20_000;

/// Maximum number of characters shown of a result.
const RESULT_EXCERPT: usize = 600;

/// A call as shown in a box.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShownCall {
    pub(super) name: String,
    /// The text of the box, possibly shortened to fit the screen.
    pub(super) body: String,
}

/// Displays the turns of a conversation on a terminal or a pipe.
pub(crate) struct Display {
    screen: Screen<Box<dyn Write + Send>>,
    /// Directories of the local servers, to show how a call changes a file in them.
    existing: Existing,
    /// The box of a call that was drawn last, and the screen's count of output at that time.
    drawn: Option<(ShownCall, u64)>,
    /// The box of a call that is at the end of the screen, if one is, for a question about that call.
    above: Option<ShownCall>,
    frame: Frame,
    live: Live,
    /// The protocol by which the terminal displays pictures; `None` if it is not known to have one.
    pictures: Option<Protocol>,
    /// The directory for pictures that the terminal cannot display; `None` if nothing may be saved.
    shelf: Option<Shelf>,
    /// Writer of the answer to standard output; `None` if that is a terminal.
    piped: Option<Piped>,
    quiet: bool,
    reasoning: ReasoningDisplay,
    calls_as: CallDisplay,
    /// `true` in a conversation, where `/think` and `/result` can show more later.
    in_conversation: bool,
    thoughts: Thoughts,
    /// `true` if text of this round that was shown as reasoning turned out to be the answer.
    untagged: bool,
    /// Numbers of the calls that are running.
    running: Vec<usize>,
    /// Description of a running job that is not a turn, for the spinner.
    job: Option<String>,
    /// Number of the call that awaits approval; later events are queued until the answer.
    asked: Option<usize>,
    later: Vec<AgentEvent>,
    /// `true` while a server's request for input is shown; events are queued until it is answered.
    paused: bool,
    /// The numbers under which calls are shown.
    calls: Numbers,
    /// The name of a server, and the last progress that it reported on a call.
    progress: Option<(String, String)>,
    summary: Summary,
}

/// Returns `true` if the environment variable `NO_COLOR` is set, and the terminal could show colours.
fn wants_no_colours() -> bool {
    let is_set = |name: &str| variable(name).filter(|value| !value.is_empty());
    is_set("NO_COLOR").is_some() && is_set("TERM").is_some_and(|terminal| terminal != "dumb")
}

impl Display {
    /// Applies the display settings for reasoning and calls.
    pub(crate) fn show_as(&mut self, settings: &Settings) {
        self.reasoning = match self.quiet {
            true => ReasoningDisplay::Hidden,
            false => settings.reasoning_display.unwrap_or(ReasoningDisplay::Folded),
        };
        self.calls_as = settings.call_display.unwrap_or(CallDisplay::Box);
    }

    pub(crate) fn new(
        (quiet, has_schema): (bool, bool),
        settings: &Settings,
        (in_conversation, shelf): (bool, Option<Shelf>),
        existing: Existing,
    ) -> Self {
        let piped = !stdout().is_terminal();
        let (columns, _) = size();
        let is_uncoloured = !piped && wants_no_colours();
        let (out, frame, place): (Box<dyn Write + Send>, _, _) = match piped {
            false if is_uncoloured => (Box::new(stdout()), Frame::Drawn, ScreenPlace::Stdout),
            false => (Box::new(anstream::stdout()), Frame::Drawn, ScreenPlace::Stdout),
            true if stderr().is_terminal() => (Box::new(Stderr::new()), Frame::Drawn, ScreenPlace::Stderr),
            true => (Box::new(Stderr::new()), Frame::Plain, ScreenPlace::Nowhere),
        };
        let choice = match place {
            ScreenPlace::Stdout => anstream::AutoStream::choice(&stdout()),
            _ => anstream::AutoStream::choice(&stderr()),
        };
        let styled = choice != anstream::ColorChoice::Never;
        let screen = Screen::new(out, frame, columns);
        let screen = if is_uncoloured { screen.uncoloured() } else { screen };
        // Rows can be taken back where it is known how many there are.
        let screen = match size() {
            (_, Some(rows)) if (styled || is_uncoloured) && frame == Frame::Drawn => screen.with_moves(rows, !piped),
            _ => screen,
        };
        let mut display = Display {
            screen,
            existing,
            drawn: None,
            above: None,
            frame,
            live: Live::new(place, columns, styled),
            shelf,
            pictures: Protocol::of(variable).filter(|_| styled && frame == Frame::Drawn),
            piped: piped.then(|| Piped::new(has_schema)),
            quiet,
            reasoning: ReasoningDisplay::Folded,
            calls_as: CallDisplay::Box,
            in_conversation,
            thoughts: Thoughts::default(),
            untagged: false,
            running: Vec::new(),
            job: None,
            asked: None,
            later: Vec::new(),
            paused: false,
            calls: Numbers::default(),
            progress: None,
            summary: Summary::new(),
        };
        display.show_as(settings);
        display
    }

    /// Starts the display of a turn, with tools or without.
    pub(crate) fn begin(&mut self, conversation: &Conversation, with_tools: bool) {
        self.know(conversation);
        if let Some(piped) = &mut self.piped {
            piped.begin_turn(with_tools);
        }
        self.summary = Summary::new();
        self.thoughts.begin_turn();
        self.screen.begin();
        self.fit();
    }

    /// Assigns numbers to the calls of a conversation that have none yet.
    pub(crate) fn know(&mut self, conversation: &Conversation) {
        let ids = conversation.messages().flat_map(|message| message.calls()).map(|call| call.id.as_str());
        for id in ids {
            self.calls.of(id);
        }
    }

    /// Returns the id of the call with this number.
    pub(crate) fn call_of(&self, number: usize) -> Option<&str> {
        self.calls.id_of(number)
    }

    /// Shows the progress that a server reports on a call.
    pub(crate) fn progress(
        &mut self,
        server: &str,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> io::Result<()> {
        let so_far = labels::progress(progress, total, message.as_deref());
        self.progress = Some((server.to_owned(), so_far));
        // A spinner would write over the open question.
        if self.paused || self.asked.is_some() { Ok(()) } else { self.spin() }
    }

    /// Shows a spinner for a job that is not a turn.
    pub(super) fn work(&mut self, job: String) -> io::Result<()> {
        self.job = Some(job);
        self.spin()
    }

    /// Ends the display of running calls or of a job.
    pub(super) fn stop(&mut self) {
        (self.job, self.progress) = (None, None);
        self.running.clear();
        self.live.clear();
    }

    /// Returns `true` if this box is the last output on the screen, so that a question can refer to it.
    pub(super) fn ends_with(&self, shown: &ShownCall) -> bool {
        self.above.as_ref() == Some(shown)
    }

    /// Adapts the display to the present size of the terminal.
    fn fit(&mut self) {
        let (columns, rows) = size();
        self.screen.resize(columns, rows.unwrap_or_default());
        self.live.resize(columns);
    }

    /// Returns the reasoning of the last turn.
    pub(crate) fn thoughts(&self) -> String {
        self.thoughts.of_turn()
    }

    /// Shows a line of the program itself.
    pub(crate) fn note(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.live.clear();
        self.fit();
        self.screen.line(style, text)
    }

    /// Shows any event except the end of the turn.
    pub(super) fn event(&mut self, event: AgentEvent) -> io::Result<()> {
        self.summary.take(&event);
        self.fit();
        self.show_or_keep(event)
    }

    /// Pauses the display while a server's request for input is shown.
    pub(super) fn pause(&mut self) -> io::Result<()> {
        self.paused = true;
        self.live.clear();
        self.screen.end_line()
    }

    /// Resumes the display after a server's request for input, and shows the queued events.
    pub(super) fn go_on(&mut self) -> io::Result<()> {
        self.paused = false;
        // The approval that was asked for before the server's question is still open.
        if self.asked.is_some() {
            return Ok(());
        }
        self.spin()?;
        self.answered()
    }

    fn show_or_keep(&mut self, event: AgentEvent) -> io::Result<()> {
        if self.asked.is_none() && !self.paused {
            return self.show(event);
        }
        let answered = match &event {
            AgentEvent::CallRunning { id, .. } | AgentEvent::Outcome { id, .. } => {
                self.asked.and_then(|number| self.calls.id_of(number)) == Some(id)
            }
            _ => false,
        };
        self.later.push(event);
        match self.paused {
            false if answered => return self.answered(),
            // The approval has its answer, but the server's question is open: the events wait for
            // `go_on`.
            true if answered => self.running.extend(self.asked.take()),
            _ => {}
        }
        Ok(())
    }

    /// Shows the events that were queued while a question was shown.
    fn answered(&mut self) -> io::Result<()> {
        // Whether it runs or is denied, what comes next names it.
        self.running.extend(self.asked.take());
        std::mem::take(&mut self.later).into_iter().try_for_each(|event| self.show_or_keep(event))
    }

    fn show(&mut self, event: AgentEvent) -> io::Result<()> {
        let step = Step::of(&event).filter(|_| !(self.quiet && matches!(event, AgentEvent::Correcting { .. })));
        self.take(event)?;
        step.map_or(Ok(()), |step| self.draw(step))
    }

    /// Draws a step of a turn that has the same text on the terminal and on the page.
    fn draw(&mut self, step: Step) -> io::Result<()> {
        match step {
            Step::Wait { text } => self.wait(&text),
            Step::Note { text } => self.note(DRAFT, &remark(&text)),
            Step::Call { name, body, .. } => {
                self.fold()?;
                self.release()?;
                self.boxed(RESULT, &format!("shown by {name}"), &self.shortened(&body))
            }
            Step::Rejected { title, text } => {
                self.fold()?;
                self.release()?;
                self.boxed(BAD, &title, &text)
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, event: AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::RoundStarted { .. } => {
                self.screen.begin();
                if let Some(piped) = &mut self.piped {
                    piped.begin()?;
                }
                self.untagged = false;
                self.thoughts.begin_round();
                Ok(())
            }
            AgentEvent::Progress { progress: Progress::Loading } => {
                self.line(DRAFT, "the server is still loading its model: waiting for it")
            }
            AgentEvent::Text { text } => self.text(&text),
            AgentEvent::Reasoning { text } => self.think(&text),
            AgentEvent::Reclassified { to } => self.reclassify(to),
            AgentEvent::CallStarted { .. } => {
                // Reasoning is folded when it turns out that this is no draft within it.
                self.thoughts.pause();
                self.release()
            }
            AgentEvent::CallEnded { id, call, .. } => self.call(&id, &call),
            AgentEvent::CallRejected { rejected, .. } => self.rejected(&rejected),
            AgentEvent::Promoted { .. } if self.untagged => {
                self.line(DRAFT, "(no reasoning tag came: the call may only be a draft)")
            }
            AgentEvent::Promoted { provenance: Provenance::FencedFirst, .. } => {
                self.line(DRAFT, "(no other call was found: the one in the first fence may be meant)")
            }
            AgentEvent::Promoted { .. } => self.line(DRAFT, "(a call that was drafted in the reasoning)"),
            AgentEvent::RoundFinished { .. } => {
                self.fold()?;
                self.live.clear();
                Ok(())
            }
            AgentEvent::ApprovalAsked(request) => {
                self.live.clear();
                let name = full_name(request.server.as_deref(), &request.tool);
                self.asked = Some(self.calls.name(&request.id, &name));
                self.screen.end_line()?;
                let last = self.drawn.take().filter(|(_, shown)| *shown == self.screen.shown());
                self.above = last.map(|(call, _)| call);
                Ok(())
            }
            AgentEvent::CallRunning { id, server, tool, .. } => {
                let number = self.calls.name(&id, &full_name(server.as_deref(), &tool));
                if !self.running.contains(&number) {
                    self.running.push(number);
                }
                self.spin()
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(&id, &outcome),
            _ => Ok(()),
        }
    }

    /// Shows the end of the turn; a pipe gets its answer now. If there is no answer, the reason is shown, unless the
    /// signal that cancelled it is reported elsewhere.
    pub(super) fn finished(&mut self, finished: &Finished) -> io::Result<()> {
        self.fit();
        self.live.clear();
        self.paused = false;
        self.answered()?;
        self.stop();
        self.screen.end_line()?;
        if let Some(piped) = &mut self.piped {
            // Without a value that matches the schema there is nothing that a program could read.
            piped.finish(finished.output.as_ref().map(Value::to_string), &finished.answer)?;
        }
        match &finished.reason {
            StopReason::Answered => {}
            reason if self.in_conversation => {
                let style = if *reason == StopReason::Cancelled { DRAFT } else { BAD };
                self.screen.line(style, &remark(&labels::stopped(reason)))?;
            }
            // The signal that did it is told.
            StopReason::Cancelled => {}
            // The cost is printed after the error.
            reason => drop(Failure::job(labels::stopped(reason)).report()),
        }
        let summary = self.summary.text(finished);
        if !summary.is_empty() {
            self.line(DIM, &summary)?;
        }
        // An empty line separates the next prompt.
        if self.in_conversation { self.screen.empty_line() } else { Ok(()) }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        // Line breaks between reasoning and a call are no answer, so they end no reasoning.
        if text.trim().is_empty() && self.thoughts.is_open() {
            return Ok(());
        }
        self.fold()?;
        if let Some(piped) = &mut self.piped {
            return match piped.text(text)? {
                // Both may be shown on one terminal (`| tee`).
                true => {
                    self.live.clear();
                    Ok(())
                }
                false => self.wait("the model answers"),
            };
        }
        self.live.clear();
        self.screen.text(Region::Content, text)
    }

    /// Ends the text before a call. Text that a pipe has delayed is not an answer, and is shown on stderr.
    fn release(&mut self) -> io::Result<()> {
        let Some(piped) = &mut self.piped else { return Ok(()) };
        let words = piped.end_line()?.unwrap_or_default();
        if words.trim().is_empty() || self.quiet {
            return Ok(());
        }
        self.live.clear();
        self.screen.text(Region::Content, &words)
    }

    /// Returns the time at which text delayed for a possible call is due to be written; `None` if there is none.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.piped.as_ref().and_then(Piped::due)
    }

    /// Writes the text that was delayed for a possible call.
    pub(crate) fn send_words(&mut self) -> io::Result<()> {
        self.live.clear();
        self.piped.as_mut().map_or(Ok(()), Piped::send)
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

    /// Replaces the reasoning by one line, after it has ended.
    fn fold(&mut self) -> io::Result<()> {
        let Some(took) = self.thoughts.fold() else { return Ok(()) };
        self.live.clear();
        if self.reasoning == ReasoningDisplay::Hidden {
            return Ok(());
        }
        let how = if self.in_conversation { "/think" } else { "--set reasoning_display=full" };
        let size = counted(tokens::count(self.thoughts.of_round()), "token");
        self.line(DIM, &format!("thought for {}, {size} · {how} shows it", lasted(took)))
    }

    /// Shows that the text so far was reasoning instead of answer, or the reverse.
    fn reclassify(&mut self, to: Region) -> io::Result<()> {
        match to {
            Region::Reasoning => {
                if let Some(piped) = &mut self.piped {
                    let said = piped.take()?;
                    self.thoughts.was_said(said);
                }
                self.line(DIM, "(all of this was reasoning: </think> came without an opening tag)")
            }
            Region::Content => {
                self.untagged = true;
                let thought = self.thoughts.was_answer();
                self.live.clear();
                match thought {
                    None => self.line(DIM, "(this was the answer: no </think> came)"),
                    Some(thought) => match &mut self.piped {
                        Some(piped) => {
                            piped.was_said(&thought);
                            Ok(())
                        }
                        None => self.text(&thought),
                    },
                }
            }
        }
    }

    fn call(&mut self, id: &str, call: &Call) -> io::Result<()> {
        self.fold()?;
        self.release()?;
        let mut body = self.shortened(&self.existing.arguments(call.server.as_deref(), &call.arguments));
        let arguments = body.clone();
        body.extend(labels::repaired(call).map(|repaired| format!("\n({repaired})")));
        let name = full_name(call.server.as_deref(), &call.tool);
        let number = self.calls.name(id, &name);
        let title = format!("#{number} call {name}");
        match self.is_lines() {
            true => self.one_line(CALL, &title, &call.arguments.to_string()),
            false => {
                self.boxed(CALL, &title, &body)?;
                let call = ShownCall { name: bounded(&name, NAME), body: arguments };
                self.drawn = (!self.quiet).then(|| (call, self.screen.shown()));
                Ok(())
            }
        }
    }

    /// Shows a call with its number and all of its arguments.
    pub(crate) fn open_call(&mut self, number: usize, call: &Call) -> io::Result<()> {
        let name = full_name(call.server.as_deref(), &call.tool);
        let body = self.existing.arguments(call.server.as_deref(), &call.arguments);
        self.live.clear();
        self.screen.boxed(CALL, &format!("#{number} call {name}"), &body)
    }

    /// Returns `true` if calls and their results are shown in one line each.
    fn is_lines(&self) -> bool {
        self.calls_as == CallDisplay::Line && self.frame == Frame::Drawn
    }

    /// Shows a title, and the beginning of a text, in one row.
    fn one_line(&mut self, style: Style, title: &str, text: &str) -> io::Result<()> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (columns, _) = size();
        self.line(style, &shortened(&clean(&format!("{title}  {text}")), columns.saturating_sub(1)))
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let name = view::tool_of(rejected);
        match view::region(rejected) {
            Some(Region::Reasoning) => {
                // Its bytes are part of the reasoning, which goes on.
                self.thoughts.resume();
                self.think(&rejected.raw)?;
                self.thoughts.was_draft(&rejected.raw);
                if self.thoughts.is_open() {
                    self.wait("thinking")?;
                }
                match self.reasoning {
                    ReasoningDisplay::Full => {
                        self.line(DRAFT, &format!("({}: {name})", labels::not_run(rejected.kind)))
                    }
                    _ => Ok(()),
                }
            }
            // These bytes are part of the answer.
            Some(Region::Content) => {
                self.text(&rejected.raw)?;
                self.line(DRAFT, &format!("({}: {name})", labels::not_run(rejected.kind)))
            }
            None if rejected.kind == RejectedKind::Invented => {
                self.fold()?;
                self.release()?;
                self.line(DRAFT, &format!("(not run: {name}; {})", rejected.message))
            }
            None => self.draw(Step::rejected(rejected)),
        }
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> io::Result<()> {
        let number = self.calls.of(id);
        self.running.retain(|running| *running != number);
        let name = self.calls.tool_of(number).unwrap_or(id);
        let style = match outcome.status {
            Status::Result | Status::Displayed => RESULT,
            Status::Cancelled => DIM,
            Status::ToolError | Status::TimedOut => BAD,
            _ => DRAFT,
        };
        let took = outcome.took.map(lasted);
        let mut body = self.shown_of(outcome.said().trim_end(), number);
        for event in outcome.events.iter().filter(|event| event.kind == USER_EVENT) {
            let text = event.data.get("text").and_then(Value::as_str).unwrap_or_default();
            body = format!("{body}\nfor you, not for the model:\n{}", text.trim());
        }
        let title = outcome_title(number, outcome.status, name, took.as_deref());
        match style == RESULT && self.is_lines() {
            true => self.one_line(style, &title, &outcome.said())?,
            false => self.boxed(style, &title, &body)?,
        }
        self.pictures(outcome, number)?;
        self.progress = None;
        self.spin()
    }

    /// Shows the pictures of a result: drawn if the terminal supports that, else saved to files.
    fn pictures(&mut self, outcome: &Outcome, number: usize) -> io::Result<()> {
        if self.quiet || self.frame != Frame::Drawn {
            return Ok(());
        }
        let mut lost = None;
        for picture in outcome.images() {
            if let Some(drawn) = self.pictures.and_then(|protocol| protocol.drawn(&picture)) {
                self.screen.picture(&drawn)?;
                continue;
            }
            match self.shelf.as_ref().map(|shelf| shelf.put(&picture)) {
                Some(Ok((file, bytes))) => {
                    let bytes = grouped(bytes as u64);
                    self.line(DIM, &format!("{}, {bytes} bytes, is in {}", picture.media_type(), file.display()))?;
                }
                Some(Err(error)) => lost = Some(format!("the picture was not saved to a file ({error}); ")),
                None => lost = Some(String::new()),
            }
        }
        match lost.filter(|_| self.in_conversation) {
            Some(why) => self.line(DIM, &format!("{why}/result {number} FILE saves the picture")),
            None => Ok(()),
        }
    }

    /// Returns the beginning of a result, with its size and the amount that the model received.
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
        let size = match self.in_conversation {
            true => format!("({characters} characters, {lines}; {got} · /result {number} shows it)"),
            false => format!("({characters} characters, {lines}; {got})"),
        };
        format!("{short}…\n{size}")
    }

    /// Shows the spinner while calls or a job run.
    fn spin(&mut self) -> io::Result<()> {
        let names: Vec<&str> = self.running.iter().filter_map(|number| self.calls.tool_of(*number)).collect();
        let what = match &self.job {
            Some(job) => job.clone(),
            None if names.is_empty() => return Ok(()),
            None => format!("running {}", names.join(", ")),
        };
        // A server reports progress without the call: it is shown while one of its calls runs.
        let progress = self.progress.as_ref().filter(|(server, _)| {
            self.job.is_some() || names.iter().any(|name| name.starts_with(&format!("{server}.")))
        });
        self.wait(&progress.map_or(what.clone(), |(_, text)| format!("{what}: {text}")))
    }

    /// Shows the spinner with this text until other output follows.
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

    /// Returns arguments shortened to the screen, or on a pipe to the maximum length.
    fn shortened(&self, text: &str) -> String {
        if self.frame == Frame::Drawn {
            return as_fits_screen(text);
        }
        beginning(text, ARGUMENTS)
    }

    fn boxed(&mut self, style: Style, title: &str, body: &str) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        self.live.clear();
        self.screen.boxed(style, title, body)
    }
}

/// Returns the width for output, and the terminal's number of rows; `None` if that is not known, and rows wider than
/// the terminal are then possible.
fn size() -> (usize, Option<usize>) {
    let columns = terminal::columns();
    terminal::size().map_or((columns, None), |(own, rows)| (columns.min(own), Some(rows)))
}

/// Returns the title of an outcome's box: the call's number, its status, the tool's name and the duration.
fn outcome_title(number: usize, status: Status, name: &str, took: Option<&str>) -> String {
    let what = match status {
        Status::Result => "result of",
        Status::Displayed => "shown:",
        // By a person, by a rule, or since it was made before.
        Status::Denied => "not run:",
        Status::Cancelled => "cancelled:",
        Status::ToolError => "error of",
        Status::TimedOut => "no answer of",
        _ => "outcome of",
    };
    format!("#{number} {what} {name}{}", took.map(|took| format!(", {took}")).unwrap_or_default())
}
