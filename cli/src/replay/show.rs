//! A replay as the user would have seen it.

use std::io::{self, Write};

use anstyle::Style;

use super::explain::GivenBack;
use super::play::Played;
use super::settings::Settings;
use super::view::{Answered, At, Totals, View, question};
use crate::phrases::Phrases;
use crate::screen::{BAD, BOLD, CALL, DIM, DRAFT, Frame, RESULT, Screen, arguments, excerpt, full_name, pretty};
use toolgraft::Call;
use toolgraft::event::{Entry, OwnedEvent, Piece, Provenance, Region, Rejected, RejectedKind};
use toolgraft::message::{NativeCall, Role};
use toolgraft::transcript::{Recording, Round, import::Format};
use toolgraft::turn;

/// Shows a replay on a terminal, or readably in a pipe.
pub(super) struct Show<W> {
    screen: Screen<W>,
    say: Phrases,
    /// What is read of a message while it comes.
    live: Live,
}

/// A message that is shown while it comes.
#[derive(Default)]
struct Live {
    /// Calls of it so far.
    calls: usize,
    /// A call has ended, so that text ends the message.
    called: bool,
    /// What came behind the call, in case that was a draft.
    held: Vec<OwnedEvent>,
}

impl<W: Write> Show<W> {
    pub(super) fn new(out: W, frame: Frame, columns: usize, say: Phrases) -> Self {
        Show { screen: Screen::new(out, frame, columns, say), say, live: Live::default() }
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.screen.line(style, text)
    }

    /// A call in its box; `untagged`: no reasoning tag came in its answer.
    fn call(&mut self, number: usize, call: &Call, untagged: bool) -> io::Result<()> {
        let say = self.say;
        let name = full_name(call.server.as_deref(), &call.tool);
        let found = say.provenance(call.provenance, untagged).map(|found| format!(", {found}")).unwrap_or_default();
        let name = say.headed(say.call_number(number), name);
        let title = say.aside(name, format!("{}{found}", call.dialect));
        let mut body = arguments(&call.arguments, |_| None, say);
        if !call.repairs.is_empty() {
            let repairs: Vec<_> = call.repairs.iter().map(ToString::to_string).collect();
            body.push_str(&format!("\n{}", say.repaired(repairs.join(", "))));
        }
        self.screen.boxed(CALL, &title, &body)
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let say = self.say;
        let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
        let what = say.not_run(rejected.kind);
        let title = name.map_or_else(|| what.to_owned(), |name| say.headed(what, name));
        let title = say.aside(title, rejected.kind);
        let reason = say.reason(&rejected.message);
        let region = match rejected.kind {
            RejectedKind::InReasoning => Region::Reasoning,
            _ if rejected.stays_in_text() => Region::Content,
            _ => return self.screen.boxed(DRAFT, &title, &format!("{reason}\n\n{}", excerpt(&rejected.raw, self.say))),
        };
        // These bytes are part of the text.
        self.screen.text(region, &rejected.raw)?;
        self.screen.remark(DRAFT, &format!("[{}]", say.headed(title, reason)))
    }

    fn native(&mut self, number: usize, call: &NativeCall) -> io::Result<()> {
        let arguments = serde_json::from_str(&call.arguments).map_or_else(|_| call.arguments.clone(), |v| pretty(&v));
        self.screen.boxed(RESULT, &self.say.headed(self.say.native_call_number(number), &call.name), &arguments)
    }

    /// Shows an event that is part of what a turn reads.
    fn read(&mut self, at: At<'_>, event: &OwnedEvent) -> io::Result<()> {
        let say = self.say;
        match event {
            OwnedEvent::Text { text, .. } => self.screen.text(Region::Content, text),
            OwnedEvent::Reasoning { text, .. } => self.screen.text(Region::Reasoning, text),
            OwnedEvent::CallEnd { call: Some(call), .. } => {
                self.live.calls += 1;
                self.call(at.calls + self.live.calls, call, false)
            }
            OwnedEvent::CallEnd { rejected: Some(rejected), .. } => self.rejected(rejected),
            OwnedEvent::Reclassified { to: Region::Reasoning, .. } => self.line(DIM, say.all_was_reasoning()),
            OwnedEvent::Reclassified { to: Region::Content, .. } => self.line(DIM, say.all_was_answer()),
            // Only while the answer comes: afterwards all is shown as it turned out.
            OwnedEvent::Restored { reason: None, .. } => self.line(DIM, say.restored()),
            OwnedEvent::Restored { reason: Some(reason), .. } => {
                self.screen.remark(BAD, &say.restored_wrong(reason.kind, say.reason(&reason.message)))
            }
            OwnedEvent::Unfenced { .. } => self.line(DRAFT, say.first_fence()),
            // A promoted call is shown once its arguments were checked, at the answer's end.
            OwnedEvent::Promoted { .. } => Ok(()),
            _ => Ok(()),
        }
    }
}

/// Whether an event is a call that was meant, behind which text ends the message.
fn is_call(event: &OwnedEvent) -> bool {
    let OwnedEvent::CallEnd { call, rejected, .. } = event else { return false };
    call.is_some() || rejected.as_ref().is_some_and(|rejected| turn::row(rejected.kind).meant)
}

impl<W: Write> View for Show<W> {
    fn phrases(&self) -> Phrases {
        self.say
    }

    fn recording(&mut self, at: At<'_>, of: usize, format: Format, recording: &Recording) -> io::Result<()> {
        let (session, say) = (&recording.session, self.say);
        let which = if of > 1 { format!(" {}/{of}", at.recording) } else { String::new() };
        let rounds = say.rounds(recording.rounds.len());
        let parts = [Some(format!("{}{which}", at.file)), Some(say.listed(&[format.to_string(), rounds]))];
        let named = [session.model.clone(), session.title.clone()];
        let head: Vec<String> = parts.into_iter().chain(named).flatten().collect();
        self.line(BOLD, &format!("== {}", head.join(" | ")))?;
        recording.notes.iter().try_for_each(|note| self.screen.remark(DIM, &say.note_line(note)))
    }

    fn round(&mut self, at: At<'_>, round: &Round, settings: &Settings) -> io::Result<()> {
        self.screen.begin();
        self.live = Live::default();
        let (config, say) = (&settings.config, self.say);
        let tools = config.catalog.as_ref().map_or(say.no_tools_known().to_owned(), |c| say.tools(c.tools().count()));
        let profile = settings.profile.map(|p| say.profile_named(p)).unwrap_or_default();
        let dialects = &config.dialects;
        self.line(DIM, &say.settings(at.round, profile, dialects, config.reasoning, config.reasoning_calls, tools))?;
        // What the model said before was shown as it came.
        let repeated = at.round > 1 && round.messages.first().is_some_and(|m| m.role == Role::Assistant);
        for message in &round.messages[usize::from(repeated)..] {
            let text = excerpt(&message.content, self.say);
            match message.role {
                // It holds the prompt too.
                Role::User if at.round == 1 && question(&message.content).is_some() => {
                    self.line(DIM, &say.system_line(message.content.chars().count()))?;
                    self.line(BOLD, &say.user_line(question(&message.content).unwrap_or_default()))?;
                }
                Role::System => self.line(DIM, &say.system_line(message.content.chars().count()))?,
                Role::Tool => self.line(DIM, &say.result_line(text))?,
                Role::User => self.line(BOLD, &say.user_line(text))?,
                Role::Assistant => self.line(DIM, &say.assistant_line(text))?,
                _ => self.line(DIM, &say.message_line(text))?,
            }
            message.images.iter().try_for_each(|image| self.line(DIM, &image.to_string()))?;
        }
        Ok(())
    }

    fn event(&mut self, at: At<'_>, event: &OwnedEvent) -> io::Result<()> {
        if let OwnedEvent::Reclassified { .. } = event {
            // What seemed to be a call was a draft: nothing stands behind one.
            self.live.called = false;
            for held in std::mem::take(&mut self.live.held) {
                self.read(at, &held)?;
            }
        }
        let text = match event {
            OwnedEvent::Text { text, .. } | OwnedEvent::Reasoning { text, .. } => text.trim(),
            _ => "",
        };
        if self.live.called && (!self.live.held.is_empty() || !text.is_empty()) {
            self.live.held.push(event.clone());
            return Ok(());
        }
        self.live.called |= is_call(event);
        self.read(at, event)
    }

    fn events(&mut self, _: At<'_>, played: &Played) -> io::Result<()> {
        let read = played.stop.map_or(played.pieces.len(), |stop| stop.pieces);
        for piece in &played.pieces[..read] {
            match piece {
                Piece::Text { region, text, .. } => self.screen.text(*region, text)?,
                Piece::Syntax { text, .. } => self.screen.text(Region::Reasoning, text)?,
                Piece::Marker { .. } => {}
                Piece::Call { index, .. } => match played.call_at_its_place(*index) {
                    Some(Ok(call)) => self.call(played.numbers[index], &call, false)?,
                    Some(Err(rejected)) => self.rejected(&rejected)?,
                    None => {}
                },
            }
        }
        Ok(())
    }

    fn answered(&mut self, at: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        let say = self.say;
        let held = std::mem::take(&mut self.live.held);
        if let Some(unread) = played.unread() {
            self.line(DRAFT, say.behind_call_line())?;
            self.line(DIM, unread)?;
        } else {
            held.iter().try_for_each(|event| self.read(at, event))?;
        }
        let untagged = played.assembled.answer_in_reasoning;
        let promoted = |entry: &&Entry| entry.provenance() == Provenance::Promoted;
        for entry in played.assembled.entries.iter().filter(promoted) {
            match (&entry.result, played.numbers.get(&entry.index)) {
                (Ok(call), Some(number)) => self.call(*number, call, untagged)?,
                (Ok(_), None) => {}
                (Err(rejected), _) => self.rejected(rejected)?,
            }
        }
        round.native_calls.iter().zip(&played.native_numbers).try_for_each(|(call, n)| self.native(*n, call))?;
        let reason = round.finish.as_ref().map_or(say.no_finish(), |f| f.reason.as_str());
        let time = round.finish.as_ref().and_then(|f| f.ms).map(|ms| format!("{ms} ms"));
        let sizes = [Some(say.deltas(round.deltas.len())), Some(say.bytes(played.stream.len())), time];
        let sizes: Vec<String> = sizes.into_iter().flatten().collect();
        self.line(DIM, &say.finish_line(reason, say.listed(&sizes)))?;
        if played.assembled.answer_in_reasoning {
            self.line(DIM, &format!("[{}]", say.answer_in_reasoning()))?;
        }
        self.screen.begin();
        Ok(())
    }

    fn given_back(&mut self, _: At<'_>, list: &[GivenBack]) -> io::Result<()> {
        let say = self.say;
        if list.is_empty() {
            return self.line(DIM, say.nothing_given_back());
        }
        self.line(BOLD, say.given_back_head())?;
        for entry in list {
            let rule = serde_json::to_value(entry.rule)?;
            let rule = rule.as_str().unwrap_or_default();
            let region = if entry.region == Region::Reasoning { say.reasoning() } else { say.answer() };
            let place = say.place(entry.offset, entry.line, entry.column);
            let found = entry.found.replace('\n', "\\n");
            self.line(Style::new(), &format!("  {}", say.in_region(place, region, found)))?;
            self.line(Style::new(), &format!("    {}", say.rule(rule, &entry.why)))?;
            self.line(Style::new(), &format!("    {}", say.remedy(&entry.remedy)))?;
        }
        Ok(())
    }

    fn outcome(&mut self, _: At<'_>, answered: &Answered<'_>) -> io::Result<()> {
        let say = self.say;
        let which = answered.number.map_or_else(|| answered.id.to_owned(), |number| say.call_number(number));
        let which = answered.name.as_ref().map_or(which.clone(), |name| say.headed(which, name));
        let status = say.status(answered.outcome.status);
        let status = answered.outcome.took.map_or(status.to_owned(), |took| say.took(status, took.as_millis()));
        let status = if answered.now { status } else { say.aside(status, say.recorded()) };
        let style = if answered.outcome.is_result() { CALL } else { BAD };
        self.line(style, &say.headed(which, status))?;
        let text = excerpt(&answered.outcome.text, self.say);
        text.lines().try_for_each(|line| self.line(Style::new(), &format!("  {line}")))
    }

    fn recording_end(&mut self, _: At<'_>, recording: &Recording) -> io::Result<()> {
        match recording.cut {
            Some(cut) => self.line(DRAFT, &self.say.recording_cut(cut)),
            None => Ok(()),
        }
    }

    fn checked(&mut self, file: &str, against: &str, differences: &[String]) -> io::Result<()> {
        if differences.is_empty() {
            return self.line(CALL, &self.say.file_as_expected(file, against));
        }
        self.line(BAD, &self.say.file_not_as_expected(file, against))?;
        differences.iter().try_for_each(|d| self.line(Style::new(), &format!("  {}", d.replace('\n', "\n  "))))
    }

    fn summary(&mut self, totals: &Totals) -> io::Result<()> {
        let say = self.say;
        let rejected: Vec<String> = totals.rejected.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let rejected =
            if rejected.is_empty() { say.none_rejected().to_owned() } else { say.rejected_calls(rejected.join(", ")) };
        let parts = [
            Some(say.files(totals.files)),
            Some(say.recordings(totals.recordings)),
            (totals.cut_off > 0).then(|| say.cut_recordings(totals.cut_off)),
            Some(say.rounds(totals.rounds)),
            Some(say.calls(totals.calls)),
            Some(rejected),
            (totals.native_calls > 0).then(|| say.native_calls(totals.native_calls)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        self.line(DIM, &format!("== {}", say.listed(&parts)))
    }
}
