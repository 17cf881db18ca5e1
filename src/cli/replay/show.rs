//! A replay as the user would have seen it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::boxes::{self, Frame, clean};
use super::explain::GivenBack;
use super::play::Played;
use super::reorder;
use super::settings::Settings;
use super::view::{Answered, At, Totals, View, full_name};
use crate::call::{Call, Rejected, RejectedKind};
use crate::cli::terminal::counted;
use crate::event::{OwnedEvent, Region};
use crate::message::Role;
use crate::transcript::import::Format;
use crate::transcript::{NativeCall, Recording, Round};

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const CALL: Style = AnsiColor::Green.on_default();
const NATIVE: Style = AnsiColor::Cyan.on_default();
const REJECTED: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Most characters of a message, a result or a rejected call that are shown.
const EXCERPT: usize = 600;

/// Shows a replay on a terminal, or readably in a pipe.
pub(super) struct Show<W> {
    out: W,
    frame: Frame,
    columns: usize,
    /// Part of the message that the last text belongs to.
    region: Option<Region>,
    /// Whether the cursor stands at a line's start.
    fresh: bool,
    /// Line breaks that were held back: none is shown before a box or at the end.
    breaks: usize,
}

impl<W: Write> Show<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize) -> Self {
        Show { out, frame, columns, region: None, fresh: true, breaks: 0 }
    }

    /// A line of our own words.
    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.end_line()?;
        for line in clean(text).lines() {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
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
            if clean(text).trim_matches('\n').is_empty() {
                return Ok(());
            }
            self.end_line()?;
            self.region = Some(region);
            if self.frame == Frame::Plain {
                self.line(DIM, if region == Region::Reasoning { "[reasoning]" } else { "[answer]" })?;
            }
        }
        for piece in clean(text).split_inclusive('\n') {
            let words = piece.trim_end_matches('\n');
            if !words.is_empty() {
                self.held_breaks()?;
                self.words(region, words)?;
            }
            self.breaks += usize::from(words.len() < piece.len());
        }
        self.out.flush()
    }

    fn held_breaks(&mut self) -> io::Result<()> {
        // Of several empty lines one is shown.
        let breaks = std::mem::take(&mut self.breaks).min(2);
        if self.fresh {
            // A part's own leading breaks say nothing.
            return Ok(());
        }
        (0..breaks).try_for_each(|_| writeln!(self.out))?;
        self.fresh = breaks > 0;
        Ok(())
    }

    fn words(&mut self, region: Region, words: &str) -> io::Result<()> {
        match (region, self.frame) {
            (Region::Reasoning, Frame::Drawn) => {
                let gutter = if self.fresh { "┆ " } else { "" };
                write!(self.out, "{DIM}{gutter}{words}{DIM:#}")?;
            }
            (Region::Reasoning, Frame::Plain) => write!(self.out, "{DIM}{words}{DIM:#}")?,
            (Region::Content, _) => write!(self.out, "{words}")?,
        }
        self.fresh = false;
        Ok(())
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

    fn call(&mut self, index: u32, call: &Call, promoted: bool) -> io::Result<()> {
        let promoted = if promoted { ", promoted from the reasoning: needs approval" } else { "" };
        let name = full_name(call.server.as_deref(), &call.tool);
        let title = format!("call {}: {name} ({}{promoted})", index + 1, call.dialect);
        let mut body = pretty(&call.arguments);
        if !call.repairs.is_empty() {
            let repairs: Vec<_> = call.repairs.iter().map(ToString::to_string).collect();
            body.push_str(&format!("\nrepaired: {}", repairs.join(", ")));
        }
        self.boxed(CALL, &title, &body)
    }

    fn rejected(&mut self, index: u32, rejected: &Rejected) -> io::Result<()> {
        let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
        let name = name.map(|n| format!(" {n}")).unwrap_or_default();
        let region = match rejected.kind {
            RejectedKind::InReasoning => Region::Reasoning,
            RejectedKind::Quoted => Region::Content,
            _ => {
                let title = format!("rejected {}:{name} ({})", index + 1, rejected.kind);
                let body = format!("{}\n\n{}", rejected.message, excerpt(&rejected.raw));
                return self.boxed(REJECTED, &title, &body);
            }
        };
        // These bytes are part of the text.
        self.text(region, &rejected.raw)?;
        self.line(REJECTED, &format!("[not run:{name} ({}): {}]", rejected.kind, rejected.message))
    }

    fn native(&mut self, call: &NativeCall) -> io::Result<()> {
        let arguments = serde_json::from_str(&call.arguments).map_or_else(|_| call.arguments.clone(), |v| pretty(&v));
        self.boxed(NATIVE, &format!("native call: {}", call.name), &arguments)
    }
}

fn pretty(value: &serde_json::Value) -> String {
    let line = value.to_string();
    if line.len() <= 60 { line } else { serde_json::to_string_pretty(value).unwrap_or(line) }
}

fn excerpt(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(EXCERPT).collect();
    if short.len() == text.len() {
        return short;
    }
    format!("{short}… ({} characters in all)", text.chars().count())
}

impl<W: Write> View for Show<W> {
    fn recording(&mut self, at: At<'_>, of: usize, format: Format, recording: &Recording) -> io::Result<()> {
        let session = &recording.session;
        let which = if of > 1 { format!(" {}/{of}", at.recording) } else { String::new() };
        let rounds = counted(recording.rounds.len(), "round");
        let parts = [Some(format!("{}{which}", at.file)), Some(format!("{format}, {rounds}"))];
        let named = [session.model.clone(), session.title.clone()];
        let head: Vec<String> = parts.into_iter().chain(named).flatten().collect();
        self.line(BOLD, &format!("== {}", head.join(" | ")))?;
        recording.notes.iter().try_for_each(|note| self.line(DIM, &format!("note: {note}")))
    }

    fn round(&mut self, at: At<'_>, round: &Round, settings: &Settings) -> io::Result<()> {
        self.region = None;
        let config = &settings.config;
        let tools = config.catalog.as_ref().map_or("no tools known".to_owned(), |c| counted(c.tools().count(), "tool"));
        let profile = settings.profile.map(|p| format!("profile {p}, ")).unwrap_or_default();
        let read = format!(
            "-- round {}: {profile}dialect {}, reasoning {}, calls in it {}, {tools}",
            at.round, config.dialects, config.reasoning, config.reasoning_calls
        );
        self.line(DIM, &read)?;
        for message in &round.messages {
            match message.role {
                Role::System => {
                    self.line(DIM, &format!("system: {} characters", message.content.chars().count()))?;
                }
                Role::Tool => self.line(DIM, &format!("result: {}", excerpt(&message.content)))?,
                Role::User => self.line(BOLD, &format!("user: {}", excerpt(&message.content)))?,
                Role::Assistant => self.line(DIM, &format!("assistant, before: {}", excerpt(&message.content)))?,
            }
        }
        Ok(())
    }

    fn event(&mut self, _: At<'_>, event: &OwnedEvent) -> io::Result<()> {
        match event {
            OwnedEvent::Text { text, .. } => self.text(Region::Content, text),
            OwnedEvent::Reasoning { text, .. } => self.text(Region::Reasoning, text),
            OwnedEvent::CallEnd { index, call: Some(call), .. } => self.call(*index, call, false),
            OwnedEvent::CallEnd { index, rejected: Some(rejected), .. } => self.rejected(*index, rejected),
            OwnedEvent::Reclassified { to: Region::Reasoning, .. } => {
                self.line(DIM, "[all of the answer so far was reasoning: </think> came without an opening tag]")
            }
            OwnedEvent::Reclassified { to: Region::Content, .. } => {
                self.line(DIM, "[what looked like reasoning was the answer: no </think> came]")
            }
            // A promoted call is shown once its arguments were checked, at the answer's end.
            OwnedEvent::Promoted { .. } => Ok(()),
            OwnedEvent::CallStart { .. } | OwnedEvent::ArgsDelta { .. } => Ok(()),
            OwnedEvent::CallEnd { .. } | OwnedEvent::Marker { .. } => Ok(()),
        }
    }

    fn events(&mut self, at: At<'_>, events: &[OwnedEvent]) -> io::Result<()> {
        reorder::settled(events).iter().try_for_each(|event| self.event(at, event))
    }

    fn answered(&mut self, _: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        for entry in played.assembled.entries.iter().filter(|entry| entry.promoted) {
            match &entry.result {
                Ok(call) => self.call(entry.index, call, true)?,
                Err(rejected) => self.rejected(entry.index, rejected)?,
            }
        }
        round.native_calls.iter().try_for_each(|call| self.native(call))?;
        let reason = round.finish.as_ref().map_or("none recorded", |f| f.reason.as_str());
        let time = round.finish.as_ref().and_then(|f| f.ms).map(|ms| format!(", {ms} ms")).unwrap_or_default();
        let size = format!("{}, {}{time}", counted(round.deltas.len(), "delta"), counted(played.stream.len(), "byte"));
        self.line(DIM, &format!("[finish: {reason}; {size}]"))?;
        if played.assembled.answer_in_reasoning {
            self.line(DIM, "[no </think> came: what looked like reasoning is taken as the answer]")?;
        }
        self.region = None;
        Ok(())
    }

    fn given_back(&mut self, _: At<'_>, list: &[GivenBack]) -> io::Result<()> {
        if list.is_empty() {
            return self.line(DIM, "given back as text: nothing");
        }
        self.line(BOLD, "given back as text:")?;
        for entry in list {
            let rule = serde_json::to_value(entry.rule)?;
            let rule = rule.as_str().unwrap_or_default();
            let region = if entry.region == Region::Reasoning { "reasoning" } else { "content" };
            let place = format!("byte {} ({}:{})", entry.offset, entry.line, entry.column);
            self.line(Style::new(), &format!("  {place}, in the {region}: {}", entry.found.replace('\n', "\\n")))?;
            self.line(Style::new(), &format!("    rule: {rule}: {}", entry.why))?;
            self.line(Style::new(), &format!("    remedy: {}", entry.remedy))?;
        }
        Ok(())
    }

    fn outcome(&mut self, _: At<'_>, answered: &Answered<'_>) -> io::Result<()> {
        let name = answered.name.as_ref().map(|n| format!(" {n}")).unwrap_or_default();
        let took = answered.outcome.took.map(|t| format!(" in {} ms", t.as_millis())).unwrap_or_default();
        let when = if answered.now { "" } else { " (recorded)" };
        let status = serde_json::to_value(answered.outcome.status)?;
        let status = status.as_str().unwrap_or_default();
        let style = if answered.outcome.is_result() { CALL } else { BAD };
        self.line(style, &format!("{}{name}: {status}{took}{when}", answered.id))?;
        let text = excerpt(&answered.outcome.text);
        text.lines().try_for_each(|line| self.line(Style::new(), &format!("  {line}")))
    }

    fn recording_end(&mut self, _: At<'_>, recording: &Recording) -> io::Result<()> {
        match recording.cut {
            Some(cut) => self.line(REJECTED, &format!("[the recording is {cut}; this was all of it]")),
            None => Ok(()),
        }
    }

    fn checked(&mut self, file: &str, against: &str, differences: &[String]) -> io::Result<()> {
        if differences.is_empty() {
            return self.line(CALL, &format!("{file}: as expected ({against})"));
        }
        self.line(BAD, &format!("{file}: not as expected ({against})"))?;
        differences.iter().try_for_each(|d| self.line(Style::new(), &format!("  {}", d.replace('\n', "\n  "))))
    }

    fn summary(&mut self, totals: &Totals) -> io::Result<()> {
        let rejected: Vec<String> = totals.rejected.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let rejected =
            if rejected.is_empty() { "none rejected".to_owned() } else { format!("rejected: {}", rejected.join(", ")) };
        let native = if totals.native_calls > 0 {
            format!(", {}", counted(totals.native_calls, "native call"))
        } else {
            String::new()
        };
        let cut = if totals.cut_off > 0 { format!(", {} cut off", totals.cut_off) } else { String::new() };
        self.line(
            DIM,
            &format!(
                "== {}, {}{cut}, {}, {}, {rejected}{native}",
                counted(totals.files, "file"),
                counted(totals.recordings, "recording"),
                counted(totals.rounds, "round"),
                counted(totals.calls, "call")
            ),
        )
    }
}
