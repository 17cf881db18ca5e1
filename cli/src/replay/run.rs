//! File after file, round after round.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::args::ReplayArgs;
use super::check::{Calls, differences};
use super::explain::explain;
use super::play::{Played, finish_reason, play};
use super::settings::RoundSettings;
use super::source;
use super::view::{Answered, At, Totals, View};
use crate::base::{Failure, input, output::written};
use crate::reading::Problems;
use crate::screen::full_name;
use toolgraft::transcript::{Recording, Round, import::Format};
use toolgraft::{Call, Catalog};

/// A replay of several files with one view.
pub(super) struct Replay<'a, V> {
    args: &'a ReplayArgs,
    tools: Option<&'a Arc<Catalog>>,
    view: V,
    totals: Totals,
    problems: Problems,
}

impl<'a, V: View> Replay<'a, V> {
    pub(super) fn new(args: &'a ReplayArgs, tools: Option<&'a Arc<Catalog>>, view: V) -> Self {
        let totals =
            Totals { given_back: args.explain.then_some(0), different: args.check.then_some(0), ..Totals::default() };
        Replay { args, tools, view, totals, problems: Problems::default() }
    }

    pub(super) fn files(mut self) -> Result<(), Failure> {
        let args = self.args;
        for path in &args.files {
            match self.file(path) {
                Ok(()) => self.totals.files += 1,
                // A reader that has gone, as `head` does, is no failure.
                Err(Failure::ReaderGone) => return Ok(()),
                // A single bad file is the command's failure.
                Err(failure) if args.files.len() == 1 => return Err(failure),
                Err(failure) => {
                    failure.report();
                    self.totals.unreadable += 1;
                }
            }
        }
        match written(self.view.summary(&self.totals)) {
            Err(Failure::ReaderGone) => return Ok(()),
            shown => shown?,
        }
        match self.totals.unreadable {
            0 if self.totals.different.is_some_and(|n| n > 0) => Err(Failure::Reported),
            0 => Ok(()),
            n => Err(Failure::usage(format!("{n} of {} files could not be replayed", args.files.len()))),
        }
    }

    /// Replays one recording in memory and returns the view.
    pub(super) fn one(mut self, name: &str, recording: &Recording) -> io::Result<V> {
        let at = At { file: name, recording: 1, round: 0 };
        self.view.recording(at, 1, Format::Recording, recording)?;
        let read = self.recording(at, Format::Recording, recording, &mut Vec::new());
        read.map_err(|failure| io::Error::other(failure.message().to_owned()))?;
        self.view.recording_end(at, recording)?;
        Ok(self.view)
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let (format, recordings) = source::load(path, self.args.format)?;
        let name = input::shown(path);
        let recorded: Vec<Calls> = recordings.iter().flat_map(|r| &r.rounds).map(Calls::recorded).collect();
        if self.args.check && recorded.iter().all(|calls| *calls == Calls::default()) {
            return Err(Failure::usage(format!("{name}: nothing to check against: it has no `call` lines")));
        }
        let mut results = Vec::new();
        for (n, recording) in recordings.iter().enumerate() {
            let at = At { file: &name, recording: n + 1, round: 0 };
            written(self.view.recording(at, recordings.len(), format, recording))?;
            self.recording(at, format, recording, &mut results)?;
            written(self.view.recording_end(at, recording))?;
            self.totals.recordings += 1;
            self.totals.cut_off += usize::from(recording.cut.is_some());
        }
        if self.args.check {
            let differences = differences(&recorded, &results);
            written(self.view.checked(&name, &differences))?;
            if !differences.is_empty() {
                *self.totals.different.get_or_insert_default() += 1;
            }
        }
        Ok(())
    }

    fn recording(
        &mut self,
        at: At<'_>,
        format: Format,
        recording: &Recording,
        results: &mut Vec<Calls>,
    ) -> Result<(), Failure> {
        let mut calls = 0;
        for (n, round) in recording.rounds.iter().enumerate() {
            let at = At { round: n + 1, ..at };
            let catalog = self.tools.cloned().or_else(|| recording.catalog(n).map(Arc::new));
            let mut settings = RoundSettings::new(&self.args.reading, &recording.session, format, catalog);
            // Stop strings of the command line override those of the request.
            if let Some(sent) = round.sent.as_ref().filter(|_| settings.config.stop.is_empty()) {
                settings.config.stop.clone_from(&sent.stop);
            }
            written(self.view.round(at, &recording.shown(n), &settings))?;
            let mut played = play(round, &settings);
            played.number(round, &mut calls);
            written(self.view.events(at, &played))?;
            written(self.view.answered(at, round, &played))?;
            self.problems.report(&settings.validator, &played.assembled);
            if self.args.explain {
                let list = explain(&played, &settings.config, finish_reason(round).is_normal());
                written(self.view.given_back(at, &list))?;
                *self.totals.given_back.get_or_insert_default() += list.len();
            }
            written(self.outcomes(at, round, &played))?;
            self.totals.count(round, &played);
            results.push(Calls::found(&played.assembled));
        }
        Ok(())
    }

    fn outcomes(&mut self, at: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        let mut unnamed = played.calls();
        round.outcomes.iter().try_for_each(|outcome| {
            let recorded = round.calls.iter().find(|c| c.id.as_deref() == Some(&outcome.id));
            let native = round.native_calls.iter().position(|c| c.id.as_deref() == Some(&outcome.id));
            let named = |call: &Call| Some(full_name(call.server.as_deref(), &call.tool));
            let (name, number) = match (recorded.and_then(|c| Some((c.index, c.result.as_ref().ok()?))), native) {
                (Some((index, call)), _) => (named(call), played.numbers.get(&index)),
                (None, Some(at)) => (Some(round.native_calls[at].name.clone()), played.native_numbers.get(at)),
                // Without `call` lines the outcomes follow the calls' order.
                (None, None) if round.calls.is_empty() => {
                    unnamed.next().map_or((None, None), |(index, call)| (named(call), played.numbers.get(&index)))
                }
                (None, None) => (None, None),
            };
            let number = number.copied();
            self.view.outcome(at, &Answered { id: &outcome.id, number, name, outcome: &outcome.outcome })
        })
    }
}
