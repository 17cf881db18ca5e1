//! A replay as the user would have seen it.

use std::io::{self, Write};

use anstyle::Style;

use super::explain::GivenBack;
use super::play::Played;
use super::settings::Settings;
use super::view::{Answered, At, Totals, View};
use crate::screen::{BAD, BOLD, CALL, DIM, DRAFT, Frame, RESULT, Screen, excerpt, full_name, pretty};
use crate::terminal::counted;
use toolgraft::Call;
use toolgraft::event::{Entry, OwnedEvent, Piece, Provenance, Region, Rejected, RejectedKind};
use toolgraft::message::{NativeCall, Role};
use toolgraft::transcript::import::Format;
use toolgraft::transcript::{Recording, Round};

/// Shows a replay on a terminal, or readably in a pipe.
pub(super) struct Show<W> {
    screen: Screen<W>,
}

impl<W: Write> Show<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize) -> Self {
        Show { screen: Screen::new(out, frame, columns) }
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.screen.line(style, text)
    }

    /// A call in its box; `untagged`: no reasoning tag came in its answer.
    fn call(&mut self, index: u32, call: &Call, untagged: bool) -> io::Result<()> {
        let name = full_name(call.server.as_deref(), &call.tool);
        let found = match call.provenance {
            Provenance::Plain => "",
            Provenance::FencedFirst => ", in a fence that prose follows: needs approval",
            Provenance::BehindProse => ", behind prose: needs approval",
            _ if untagged => ", no reasoning tag came: needs approval",
            _ => ", promoted from the reasoning: needs approval",
        };
        let title = format!("call {}: {name} ({}{found})", index + 1, call.dialect);
        let mut body = pretty(&call.arguments);
        if !call.repairs.is_empty() {
            let repairs: Vec<_> = call.repairs.iter().map(ToString::to_string).collect();
            body.push_str(&format!("\nrepaired: {}", repairs.join(", ")));
        }
        self.screen.boxed(CALL, &title, &body)
    }

    fn rejected(&mut self, index: u32, rejected: &Rejected) -> io::Result<()> {
        let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
        let name = name.map(|n| format!(" {n}")).unwrap_or_default();
        let region = match rejected.kind {
            RejectedKind::InReasoning => Region::Reasoning,
            _ if rejected.stays_in_text() => Region::Content,
            _ => {
                let title = format!("rejected {}:{name} ({})", index + 1, rejected.kind);
                let body = format!("{}\n\n{}", rejected.message, excerpt(&rejected.raw));
                return self.screen.boxed(DRAFT, &title, &body);
            }
        };
        // These bytes are part of the text.
        self.screen.text(region, &rejected.raw)?;
        self.line(DRAFT, &format!("[not run:{name} ({}): {}]", rejected.kind, rejected.message))
    }

    fn native(&mut self, call: &NativeCall) -> io::Result<()> {
        let arguments = serde_json::from_str(&call.arguments).map_or_else(|_| call.arguments.clone(), |v| pretty(&v));
        self.screen.boxed(RESULT, &format!("native call: {}", call.name), &arguments)
    }
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
        self.screen.begin();
        let config = &settings.config;
        let tools = config.catalog.as_ref().map_or("no tools known".to_owned(), |c| counted(c.tools().count(), "tool"));
        let profile = settings.profile.map(|p| format!("profile {p}, ")).unwrap_or_default();
        let read = format!(
            "-- round {}: {profile}dialect {}, reasoning {}, calls in it {}, {tools}",
            at.round, config.dialects, config.reasoning, config.reasoning_calls
        );
        self.line(DIM, &read)?;
        // What the model said before was shown as it came.
        let repeated = at.round > 1 && round.messages.first().is_some_and(|m| m.role == Role::Assistant);
        for message in &round.messages[usize::from(repeated)..] {
            match message.role {
                Role::System => {
                    self.line(DIM, &format!("system: {} characters", message.content.chars().count()))?;
                }
                Role::Tool => self.line(DIM, &format!("result: {}", excerpt(&message.content)))?,
                Role::User => self.line(BOLD, &format!("user: {}", excerpt(&message.content)))?,
                Role::Assistant => self.line(DIM, &format!("assistant, before: {}", excerpt(&message.content)))?,
                _ => self.line(DIM, &format!("message: {}", excerpt(&message.content)))?,
            }
        }
        Ok(())
    }

    fn event(&mut self, _: At<'_>, event: &OwnedEvent) -> io::Result<()> {
        match event {
            OwnedEvent::Text { text, .. } => self.screen.text(Region::Content, text),
            OwnedEvent::Reasoning { text, .. } => self.screen.text(Region::Reasoning, text),
            OwnedEvent::CallEnd { index, call: Some(call), .. } => self.call(*index, call, false),
            OwnedEvent::CallEnd { index, rejected: Some(rejected), .. } => self.rejected(*index, rejected),
            OwnedEvent::Reclassified { to: Region::Reasoning, .. } => {
                self.line(DIM, "[all of the answer so far was reasoning: </think> came without an opening tag]")
            }
            OwnedEvent::Reclassified { to: Region::Content, .. } => {
                self.line(DIM, "[what looked like reasoning was the answer: no </think> came]")
            }
            // Only while the answer comes: afterwards all is shown as it turned out.
            OwnedEvent::Restored { index, reason: None, .. } => {
                self.line(DIM, &format!("[call {} stands in the answer]", index + 1))
            }
            OwnedEvent::Restored { index, reason: Some(reason), .. } => {
                let (number, kind) = (index + 1, reason.kind);
                self.line(BAD, &format!("[call {number} stands in the answer: {kind}: {}]", reason.message))
            }
            OwnedEvent::Unfenced { calls, .. } => {
                let numbers: Vec<String> = calls.clone().map(|index| (index + 1).to_string()).collect();
                self.line(
                    DRAFT,
                    &format!("[nothing else is a call: {} of the first fence needs approval]", numbers.join(", ")),
                )
            }
            // A promoted call is shown once its arguments were checked, at the answer's end.
            OwnedEvent::Promoted { .. } => Ok(()),
            OwnedEvent::Unlisted { count, .. } => {
                self.line(DRAFT, &format!("[calls past the limit that are not listed: {count}]"))
            }
            _ => Ok(()),
        }
    }

    fn events(&mut self, _: At<'_>, played: &Played) -> io::Result<()> {
        for piece in &played.pieces {
            match piece {
                Piece::Text { region, text, .. } => self.screen.text(*region, text)?,
                Piece::Syntax { text, .. } => self.screen.text(Region::Reasoning, text)?,
                Piece::Marker { .. } => {}
                Piece::Call { index, .. } => match played.call_at_its_place(*index) {
                    Some(Ok(call)) => self.call(*index, &call, false)?,
                    Some(Err(rejected)) => self.rejected(*index, &rejected)?,
                    None => {}
                },
            }
        }
        match played.unlisted() {
            0 => Ok(()),
            count => self.line(DRAFT, &format!("[calls past the limit that are not listed: {count}]")),
        }
    }

    fn answered(&mut self, _: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        let untagged = played.assembled.answer_in_reasoning;
        let promoted = |entry: &&Entry| entry.provenance() == Provenance::Promoted;
        for entry in played.assembled.entries.iter().filter(promoted) {
            match &entry.result {
                Ok(call) => self.call(entry.index, call, untagged)?,
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
        self.screen.begin();
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
            Some(cut) => self.line(DRAFT, &format!("[the recording is {cut}; this was all of it]")),
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
