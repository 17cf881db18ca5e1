//! A replay as the user would have seen it.

use std::io::{self, Write};

use anstyle::Style;

use super::explain::GivenBack;
use super::play::{Played, Shown};
use super::settings::RoundSettings;
use super::view::{AGAINST, Answered, At, Totals, View, question};
use crate::labels;
use crate::screen::{BAD, BOLD, CALL, DIM, DRAFT, Frame, RESULT, Screen, arguments, excerpt, full_name, pretty};
use crate::terminal::counted;
use crate::view::region;
use toolgraft::Call;
use toolgraft::event::{Region, Rejected};
use toolgraft::message::{NativeCall, Role};
use toolgraft::transcript::{Recording, Round, import::Format};

/// Displays a replay on a terminal, or readably on a pipe.
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

    /// Displays a call in a box; `untagged` is `true` if no reasoning tag came in its answer.
    fn call(&mut self, number: usize, call: &Call, untagged: bool) -> io::Result<()> {
        let name = full_name(call.server.as_deref(), &call.tool);
        let found = labels::provenance(call.provenance, untagged).map(|found| format!(", {found}")).unwrap_or_default();
        let name = format!("call {number}: {name}");
        let title = format!("{name} ({}{found})", call.dialect);
        let mut body = arguments(&call.arguments, |_| None);
        body.extend(labels::repaired(call).map(|repaired| format!("\n{repaired}")));
        self.screen.boxed(CALL, &title, &body)
    }

    fn rejected(&mut self, rejected: &Rejected) -> io::Result<()> {
        let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
        let what = labels::not_run(rejected.kind);
        let title = name.map_or_else(|| what.to_owned(), |name| format!("{what}: {name}"));
        let title = format!("{title} ({})", rejected.kind);
        let reason = &rejected.message;
        let Some(region) = region(rejected) else {
            return self.screen.boxed(DRAFT, &title, &format!("{reason}\n\n{}", excerpt(&rejected.raw)));
        };
        // These bytes are part of the text.
        self.screen.text(region, &rejected.raw)?;
        self.screen.remark(DRAFT, &format!("[{title}: {reason}]"))
    }

    fn native(&mut self, number: usize, call: &NativeCall) -> io::Result<()> {
        let arguments = serde_json::from_str(&call.arguments).map_or_else(|_| call.arguments.clone(), |v| pretty(&v));
        self.screen.boxed(RESULT, &format!("native call {number}: {}", call.name), &arguments)
    }
}

impl<W: Write> View for Show<W> {
    fn recording(&mut self, at: At<'_>, of: usize, format: Format, recording: &Recording) -> io::Result<()> {
        let session = &recording.session;
        let which = if of > 1 { format!(" {}/{of}", at.recording) } else { String::new() };
        let rounds = counted(recording.rounds.len(), "round");
        let parts = [Some(format!("{}{which}", at.file)), Some([format.to_string(), rounds].join(", "))];
        let named = [session.model.clone(), session.title.clone()];
        let head: Vec<String> = parts.into_iter().chain(named).flatten().collect();
        self.line(BOLD, &format!("== {}", head.join(" | ")))?;
        recording.notes.iter().try_for_each(|note| self.screen.remark(DIM, &format!("note: {note}")))
    }

    fn round(&mut self, at: At<'_>, round: &Round, settings: &RoundSettings) -> io::Result<()> {
        self.screen.begin();
        let config = &settings.config;
        let tools = config.catalog.as_ref().map_or("no tools known".to_owned(), |c| counted(c.tools().count(), "tool"));
        let profile = settings.profile.map(|p| format!("profile {p}, ")).unwrap_or_default();
        let dialects = &config.dialects;
        self.line(
            DIM,
            &format!(
                "-- round {}: {profile}dialect {dialects}, reasoning {}, calls in it {}, {tools}",
                at.round, config.reasoning, config.reasoning_calls
            ),
        )?;
        // What the model said before was shown as it came.
        let repeated = at.round > 1 && round.messages.first().is_some_and(|m| m.role == Role::Assistant);
        for message in &round.messages[usize::from(repeated)..] {
            let text = excerpt(&message.content);
            match message.role {
                // It holds the prompt too.
                Role::User if at.round == 1 && question(&message.content).is_some() => {
                    self.line(DIM, &format!("system: {} characters", message.content.chars().count()))?;
                    self.line(BOLD, &format!("user: {}", question(&message.content).unwrap_or_default()))?;
                }
                Role::System => self.line(DIM, &format!("system: {} characters", message.content.chars().count()))?,
                Role::Tool => self.line(DIM, &format!("result: {text}"))?,
                Role::User => self.line(BOLD, &format!("user: {text}"))?,
                Role::Assistant => self.line(DIM, &format!("assistant, before: {text}"))?,
                _ => self.line(DIM, &format!("message: {text}"))?,
            }
            message.images.iter().try_for_each(|image| self.line(DIM, &image.to_string()))?;
        }
        Ok(())
    }

    fn events(&mut self, _: At<'_>, played: &Played) -> io::Result<()> {
        played.shown().try_for_each(|part| match part {
            Shown::Text(region, text) => self.screen.text(region, text),
            Shown::Call(number, call) => self.call(number, call, played.assembled.answer_in_reasoning),
            Shown::Rejected(rejected) => self.rejected(rejected),
        })
    }

    fn answered(&mut self, _: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        if let Some(unread) = played.unread() {
            self.line(DRAFT, "[after the call: a turn stops there, so this is not shown and nothing in it runs]")?;
            self.line(DIM, unread)?;
        }
        round.native_calls.iter().zip(&played.native_numbers).try_for_each(|(call, n)| self.native(*n, call))?;
        let reason = round.finish.as_ref().map_or("none recorded", |f| f.reason.as_str());
        let time = round.finish.as_ref().and_then(|f| f.ms).map(|ms| format!("{ms} ms"));
        let sizes = [Some(counted(round.deltas.len(), "delta")), Some(counted(played.stream.len(), "byte")), time];
        let sizes: Vec<String> = sizes.into_iter().flatten().collect();
        self.line(DIM, &format!("[finish: {reason}; {}]", sizes.join(", ")))?;
        if played.assembled.answer_in_reasoning {
            self.line(DIM, "[no </think> came: the apparent reasoning is the answer]")?;
        }
        self.screen.begin();
        Ok(())
    }

    fn given_back(&mut self, _: At<'_>, list: &[GivenBack]) -> io::Result<()> {
        if list.is_empty() {
            return self.line(DIM, "flushed as text: nothing");
        }
        self.line(BOLD, "flushed as text:")?;
        for entry in list {
            let rule = serde_json::to_value(entry.rule)?;
            let rule = rule.as_str().unwrap_or_default();
            let region = if entry.region == Region::Reasoning { "reasoning" } else { "answer" };
            let place = format!("byte {} ({}:{})", entry.offset, entry.line, entry.column);
            let found = entry.found.replace('\n', "\\n");
            self.line(Style::new(), &format!("  {place}, in the {region}: {found}"))?;
            self.line(Style::new(), &format!("    rule: {rule}: {}", entry.why))?;
            self.line(Style::new(), &format!("    remedy: {}", entry.remedy))?;
        }
        Ok(())
    }

    fn outcome(&mut self, _: At<'_>, answered: &Answered<'_>) -> io::Result<()> {
        let which = answered.number.map_or_else(|| answered.id.to_owned(), |number| format!("call {number}"));
        let which = answered.name.as_ref().map_or(which.clone(), |name| format!("{which}: {name}"));
        let status = labels::status(answered.outcome.status);
        let status =
            answered.outcome.took.map_or(status.to_owned(), |took| format!("{status} in {} ms", took.as_millis()));
        let style = if answered.outcome.is_result() { CALL } else { BAD };
        self.line(style, &format!("{which}: {status} (recorded)"))?;
        let text = excerpt(&answered.outcome.text);
        text.lines().try_for_each(|line| self.line(Style::new(), &format!("  {line}")))
    }

    fn recording_end(&mut self, _: At<'_>, recording: &Recording) -> io::Result<()> {
        match recording.cut {
            Some(cut) => self.line(DRAFT, &format!("[the recording is {cut}; this was all of it]")),
            None => Ok(()),
        }
    }

    fn checked(&mut self, file: &str, differences: &[String]) -> io::Result<()> {
        if differences.is_empty() {
            return self.line(CALL, &format!("{file}: as expected ({AGAINST})"));
        }
        self.line(BAD, &format!("{file}: not as expected ({AGAINST})"))?;
        differences.iter().try_for_each(|d| self.line(Style::new(), &format!("  {}", d.replace('\n', "\n  "))))
    }

    fn summary(&mut self, totals: &Totals) -> io::Result<()> {
        let rejected = totals.not_run().map_or("none rejected".to_owned(), |kinds| format!("not run: {kinds}"));
        let parts = [
            Some(counted(totals.files, "file")),
            Some(counted(totals.recordings, "recording")),
            (totals.cut_off > 0).then(|| format!("{} cut off", totals.cut_off)),
            Some(counted(totals.rounds, "round")),
            Some(counted(totals.calls, "call")),
            Some(rejected),
            (totals.native_calls > 0).then(|| counted(totals.native_calls, "native call")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        self.line(DIM, &format!("== {}", parts.join(", ")))
    }
}
