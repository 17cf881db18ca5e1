//! File after file, round after round; calls for real where asked for.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::args::Args;
use super::check::{differences, found};
use super::expectation::{Expectation, Reading};
use super::explain::explain;
use super::play::{Played, Speed, finish_reason, play};
use super::settings::Settings;
use super::source;
use super::view::{Answered, At, Totals, View};
use crate::base::{
    Failure, input,
    output::{self, unwritten, written},
};
use crate::screen::full_name;
use toolgraft::event::{Provenance, Rejected, RejectedKind};
use toolgraft::outcome::Status;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::transcript::{Recording, Round, import::Format};
use toolgraft::{Call, Catalog, Outcome};
use toolgraft_mcp::Hub;

/// Runs calls from a thread of its own, so that a signal can end the program meanwhile.
#[derive(Clone)]
pub(super) struct Caller {
    hub: Arc<Hub>,
    runtime: Handle,
}

/// Runs `job` on a thread with a caller for the hub's tools.
pub(super) async fn with_tools<F>(job: F, hub: Arc<Hub>) -> Result<(), Failure>
where
    F: FnOnce(Caller) -> Result<(), Failure> + Send + 'static,
{
    let caller = Caller { hub, runtime: Handle::current() };
    let (done, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(job(caller)));
    ended.await.unwrap_or_else(|_| Err(Failure::job("the replay ended early")))
}

/// A replay of several files.
pub(super) struct Replay<'a, V> {
    args: &'a Args,
    tools: Option<&'a Arc<Catalog>>,
    caller: Option<Caller>,
    view: V,
    totals: Totals,
    /// The parser settings in the expectation beside the file.
    reading: Reading,
    /// `true` if the current file is compared with an expectation beside it.
    beside: bool,
    /// Schemas that were reported.
    schemas_reported: HashSet<String>,
    /// `true` if a call that was run for real failed.
    call_failed: bool,
}

impl<'a, V: View> Replay<'a, V> {
    pub(super) fn new(args: &'a Args, tools: Option<&'a Arc<Catalog>>, caller: Option<Caller>, view: V) -> Self {
        let totals =
            Totals { given_back: args.explain.then_some(0), different: args.check.then_some(0), ..Totals::default() };
        Replay {
            args,
            tools,
            caller,
            view,
            totals,
            reading: Reading::default(),
            beside: false,
            schemas_reported: HashSet::new(),
            call_failed: false,
        }
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
            0 if self.totals.different.is_some_and(|n| n > 0) || self.call_failed => Err(Failure::Reported),
            0 => Ok(()),
            n => Err(Failure::usage(format!("{n} of {} files could not be replayed", args.files.len()))),
        }
    }

    /// Replays one recording that is no file; what was shown of it.
    pub(super) fn one(mut self, name: &str, recording: &Recording) -> io::Result<V> {
        let at = At { file: name, recording: 1, round: 0, calls: 0 };
        self.view.recording(at, 1, Format::Recording, recording)?;
        let read = self.recording(at, Format::Recording, recording, &mut Vec::new());
        read.map_err(|failure| io::Error::other(failure.message().to_owned()))?;
        self.view.recording_end(at, recording)?;
        Ok(self.view)
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let (format, mut recordings) = source::load(path, self.args.format)?;
        let mut expectation = Expectation::beside(path)?;
        self.reading = expectation.as_ref().map(Expectation::reading).unwrap_or_default();
        if let (Some(expectation), [recording]) = (&expectation, recordings.as_mut_slice()) {
            expectation.prepare(path, recording)?;
        }
        self.beside = self.args.check && expectation.is_some();
        if self.args.check && expectation.is_none() {
            expectation = Some(Expectation::recorded(path, &recordings)?);
        }
        let name = input::shown(path);
        let mut results = Vec::new();
        let mut deltas = recordings.iter().flat_map(|r| &r.rounds).flat_map(|r| &r.deltas);
        if self.args.speed != Speed::Max && deltas.all(|d| d.ms.is_none()) {
            output::warn(&format!("{name}: no times were recorded: --speed has no effect"));
        }
        for (n, recording) in recordings.iter().enumerate() {
            let at = At { file: &name, recording: n + 1, round: 0, calls: 0 };
            written(self.view.recording(at, recordings.len(), format, recording))?;
            self.recording(at, format, recording, &mut results)?;
            written(self.view.recording_end(at, recording))?;
            self.totals.recordings += 1;
            self.totals.cut_off += usize::from(recording.cut.is_some());
        }
        if let Some(expectation) = expectation.filter(|_| self.args.check) {
            let differences = differences(&expectation.rounds, &results);
            written(self.view.checked(&name, &expectation.source, &differences))?;
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
        results: &mut Vec<Value>,
    ) -> Result<(), Failure> {
        let mut calls = 0;
        for (n, round) in recording.rounds.iter().enumerate() {
            let at = At { round: n + 1, calls, ..at };
            let catalog = self.catalog(recording, n);
            let mut settings =
                Settings::new((&self.args.overrides, self.args.usual), &recording.session, format, catalog);
            self.reading.apply(round, &mut settings);
            // Expectations beside a file are of what the parser finds: arguments as they
            // are written. Recorded calls are those that were checked and run.
            if self.beside {
                settings.validator = None;
            }
            written(self.view.round(at, &recording.shown(n), &settings))?;
            let played = self.play(at, round, &settings, &mut calls).map_err(unwritten)?;
            written(self.view.answered(at, round, &played))?;
            self.report_schemas(&settings, &played);
            if self.args.explain {
                let list = explain(&played, &settings.config, finish_reason(round).is_normal());
                written(self.view.given_back(at, &list))?;
                *self.totals.given_back.get_or_insert_default() += list.len();
            }
            match self.caller.clone() {
                Some(caller) => written(self.call(at, &caller, round, &played))?,
                None => written(self.recorded_outcomes(at, round, &played))?,
            }
            self.totals.count(round, &played);
            results.push(found(&played.assembled));
        }
        Ok(())
    }

    /// Says of each called tool once that its schema cannot be used.
    fn report_schemas(&mut self, settings: &Settings, played: &Played) {
        let Some(validator) = &settings.validator else { return };
        for call in played.assembled.calls() {
            if let Some(problem) = validator.problem(call.server.as_deref(), &call.tool)
                && self.schemas_reported.insert(problem.to_string())
            {
                output::warn(&problem.to_string());
            }
        }
    }

    /// Returns the tools that are known in a round: those of the command line, of the
    /// servers, or of the recording.
    fn catalog(&self, recording: &Recording, round: usize) -> Option<Arc<Catalog>> {
        let of_servers = || self.caller.as_ref().map(|caller| caller.hub.catalog());
        self.tools.cloned().or_else(of_servers).or_else(|| recording.catalog(round).map(Arc::new))
    }

    /// Plays a round; `calls` is the number of the last call before it, and then of its last.
    fn play(&mut self, at: At<'_>, round: &Round, settings: &Settings, calls: &mut usize) -> io::Result<Played> {
        let live = self.args.speed != Speed::Max;
        let mut shown = Ok(());
        let view = &mut self.view;
        let mut played = play(round, settings, self.args.chunk, self.args.speed, |event| {
            if live && shown.is_ok() {
                shown = view.event(at, event);
            }
        });
        shown?;
        played.number(round, calls);
        if !live {
            self.view.events(at, &played)?;
        }
        Ok(played)
    }

    fn recorded_outcomes(&mut self, at: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
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
            self.view.outcome(at, &Answered { id: &outcome.id, number, name, outcome: &outcome.outcome, now: false })
        })
    }

    /// Runs a round's calls side by side and shows the outcomes in order. Native
    /// calls come last. A call of a tool that no server has is a failure.
    fn call(&mut self, at: At<'_>, caller: &Caller, round: &Round, played: &Played) -> io::Result<()> {
        let found = played.calls().map(|(_, call)| {
            let arguments = match call.provenance {
                doubt if doubt.is_plain() => Ok(call.arguments.clone()),
                Provenance::Promoted => Err(denied("a draft of the reasoning")),
                _ => Err(denied("an example")),
            };
            (called(&call.tool, call.server.as_deref()), arguments)
        });
        let unknown = |rejected: &Rejected| rejected.kind == RejectedKind::UnknownTool;
        self.call_failed |= played.assembled.rejected().any(unknown);
        let catalog = caller.hub.catalog();
        let native = round.native_calls.iter().map(|call| match catalog.find(None, &call.name) {
            Ok(found) => {
                let arguments = native_arguments(&call.arguments);
                (called(&found.tool.name, found.tool.server.as_deref()), Ok(arguments))
            }
            Err(error) => (Invocation::new(&call.name), Err(Outcome::error(format!("not run: {error}")))),
        });
        let mut pending: Vec<Pending> = found.chain(native).collect();
        let written = played.calls().filter_map(|(index, _)| played.numbers.get(&index));
        let numbers: Vec<usize> = written.chain(&played.native_numbers).copied().collect();
        for ((invocation, _), number) in pending.iter_mut().zip(&numbers) {
            invocation.id = format!("call_{number}");
        }
        let running = pending.iter().map(|call| run(&caller.hub, call));
        let outcomes = caller.runtime.block_on(futures::future::join_all(running));
        for (((invocation, _), outcome), number) in pending.iter().zip(&outcomes).zip(numbers) {
            self.call_failed |= !matches!(outcome.status, Status::Result | Status::Denied);
            let name = Some(full_name(invocation.server.as_deref(), &invocation.tool));
            self.view.outcome(at, &Answered { id: &invocation.id, number: Some(number), name, outcome, now: true })?;
        }
        Ok(())
    }
}

/// Returns a call of a tool, of a server where that is known.
fn called(tool: &str, server: Option<&str>) -> Invocation {
    let invocation = Invocation::new(tool);
    match server {
        Some(server) => invocation.with_server(server),
        None => invocation,
    }
}

/// Arguments of a native call; endpoints send nothing at all for none.
fn native_arguments(text: &str) -> Value {
    if text.trim().is_empty() { json!({}) } else { serde_json::from_str(text).unwrap_or_default() }
}

/// A call that is about to be run, with its arguments, or what becomes of it without.
type Pending = (Invocation, Result<Value, Outcome>);

async fn run(hub: &Hub, (invocation, arguments): &Pending) -> Outcome {
    match arguments {
        Ok(Value::Object(arguments)) => hub.call(invocation.clone().with_arguments(arguments.clone())).await,
        Ok(_) => Outcome::error("the arguments are not a JSON object"),
        Err(outcome) => outcome.clone(),
    }
}

fn denied(what: &str) -> Outcome {
    let message = format!("the call may only be {what} and needs approval, which a replay cannot ask for");
    Outcome::new(Status::Denied, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_call_without_arguments_gets_an_empty_object() {
        assert_eq!(native_arguments(" "), json!({}));
        assert_eq!(native_arguments("{\"a\":1}"), json!({"a": 1}));
        assert_eq!(native_arguments("{\"a\":"), Value::Null);
    }
}
