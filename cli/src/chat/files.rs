//! The files that are written during a conversation: a recording, a trace.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::args::ChatArgs;
use super::endpoint::Endpoint;
use super::talk::described;
use crate::base::{Failure, failure::without_codes, media, output};
use toolgraft::model::Tracer;
use toolgraft::secrets::Secrets;
use toolgraft::transcript::Recorder;
use toolgraft_files as files;

/// The recording and the trace of a conversation, if requested.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) recorder: Option<Recorder>,
    pub(super) tracer: Option<Tracer>,
    /// Paths of the recording and of the trace, for messages.
    places: [String; 2],
    /// Problems that were already reported.
    said: Vec<String>,
}

impl Files {
    /// Opens the requested files for appending. [`check`] must have been called before.
    pub(super) fn begin(args: &ChatArgs, endpoint: &Endpoint, servers: &Secrets) -> Result<Self, Failure> {
        let described = described(&args.talk, endpoint);
        let record = args.files.record.as_deref().map(opened).transpose()?;
        let trace = args.files.trace.as_deref().map(opened).transpose()?;
        let secrets = endpoint.secrets().and(servers);
        let place = |file: &Option<PathBuf>| file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        Ok(Files {
            places: [place(&args.files.record), place(&args.files.trace)],
            recorder: record.map(|file| Recorder::with_secrets(file, &described, secrets.clone())),
            tracer: trace.map(|file| Tracer::new(file).with_secrets(secrets)),
            said: Vec::new(),
        })
    }

    /// Returns `true` if a recording or a trace is being written.
    pub(super) fn are_open(&self) -> bool {
        self.recorder.is_some() || self.tracer.is_some()
    }

    /// Returns the problems of writing the files that were not reported before.
    pub(super) fn news(&mut self) -> Vec<String> {
        let news: Vec<String> = self.problems().filter(|problem| !self.said.contains(problem)).collect();
        self.said.extend_from_slice(&news);
        news
    }

    /// Returns the command's result, which fails also if a file could not be written.
    pub(super) fn end(&self, done: Result<(), Failure>) -> Result<(), Failure> {
        let problems: Vec<String> = self.problems().collect();
        match done {
            Ok(()) if problems.is_empty() => Ok(()),
            Ok(()) => Err(Failure::jobs(problems)),
            Err(failure) => {
                problems.iter().for_each(|problem| output::warn(problem));
                Err(failure)
            }
        }
    }

    fn problems(&self) -> impl Iterator<Item = String> {
        let recording = self.recorder.as_ref().and_then(Recorder::error).map(|error| error.to_string());
        let trace = self.tracer.as_ref().and_then(Tracer::error);
        let [record, traced] = &self.places;
        let recording = recording.map(|error| format!("the recording {record} is incomplete: {error}"));
        [recording, trace.map(|error| format!("the trace {traced} is incomplete: {error}"))]
            .into_iter()
            .flatten()
            .map(without_codes)
    }
}

/// Fails if `--record` or `--trace` would overwrite a file, or if both name the same one.
pub(super) fn check(args: &ChatArgs) -> Result<(), Failure> {
    let (record, trace) = (args.files.record.as_deref(), args.files.trace.as_deref());
    for (flag, file) in [("--record", record), ("--trace", trace)] {
        file.map_or(Ok(()), |file| media::check_new(flag, file))?;
    }
    match record.is_some() && record == trace {
        true => Err(Failure::usage("--record and --trace name the same file: give each its own")),
        false => Ok(()),
    }
}

/// Opens a file for appending, so that anything written to it since the check is preserved.
fn opened(file: &Path) -> Result<File, Failure> {
    files::append(file).map_err(|e| Failure::usage(format!("cannot write {}: {e}", file.display())))
}
