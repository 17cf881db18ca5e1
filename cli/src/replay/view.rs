//! The events of a replay, for the views that show it.

use std::io;

use super::explain::GivenBack;
use super::play::Played;
use super::settings::RoundSettings;
use crate::screen::boxes::width;
use crate::sessions::said::words;
use toolgraft::Outcome;
use toolgraft::transcript::{Recording, Round, import::Format};

/// The position of a replay.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    /// File, as named on the command line.
    pub(super) file: &'a str,
    /// Number of the recording in the file, from 1.
    pub(super) recording: usize,
    /// Number of the round in the recording, from 1.
    pub(super) round: usize,
}

/// A user's message that is longer than this is taken to hold the prompt too; its last
/// paragraph is the question then. In columns: Chinese says as much in fewer characters.
const LONG_QUESTION: usize = 2000;

/// Returns the question after the prompt in one message of the user; `None` if its words contain no prompt.
pub(super) fn question(message: &str) -> Option<String> {
    let words = words(message);
    (width(&words) > LONG_QUESTION).then(|| words.rsplit("\n\n").next().unwrap_or_default().to_owned())
}

/// An outcome and its call.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    /// The call's identifier.
    pub(super) id: &'a str,
    /// Number of the call in the session; `None` if it is unknown.
    pub(super) number: Option<usize>,
    /// Full name of the called tool; `None` if it is unknown.
    pub(super) name: Option<String>,
    /// Its outcome.
    pub(super) outcome: &'a Outcome,
}

/// The calls that `--check` compares with.
pub(super) const AGAINST: &str = "the recorded calls";

/// Shows a replay, in this order of calls.
pub(super) trait View {
    /// Begins a recording, one of `of` in its file.
    fn recording(&mut self, at: At<'_>, of: usize, format: Format, recording: &Recording) -> io::Result<()>;
    /// Begins a round.
    fn round(&mut self, at: At<'_>, round: &Round, settings: &RoundSettings) -> io::Result<()>;
    /// Shows everything that the model wrote in a round.
    fn events(&mut self, at: At<'_>, played: &Played) -> io::Result<()>;
    /// Ends the answer of a round, after its events.
    fn answered(&mut self, at: At<'_>, round: &Round, played: &Played) -> io::Result<()>;
    /// Shows the candidates for calls that were flushed as text.
    fn given_back(&mut self, at: At<'_>, list: &[GivenBack]) -> io::Result<()>;
    /// Shows the outcome of a call.
    fn outcome(&mut self, at: At<'_>, answered: &Answered<'_>) -> io::Result<()>;
    /// Ends the recording, and shows if it was cut off.
    fn recording_end(&mut self, at: At<'_>, recording: &Recording) -> io::Result<()>;
    /// Shows the differences between the calls read from a file and the recorded ones; none if all are equal.
    fn checked(&mut self, file: &str, differences: &[String]) -> io::Result<()>;
    /// Ends the replay, after all files.
    fn summary(&mut self, totals: &Totals) -> io::Result<()>;
}

/// Sums over all files.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub(super) struct Totals {
    /// Files that were replayed.
    pub(super) files: usize,
    /// Files that could not be read.
    pub(super) unreadable: usize,
    /// Recordings.
    pub(super) recordings: usize,
    /// Recordings that were cut off.
    pub(super) cut_off: usize,
    /// Rounds.
    pub(super) rounds: usize,
    /// Calls that may run.
    pub(super) calls: usize,
    /// Native calls.
    pub(super) native_calls: usize,
    /// Rejected calls by kind.
    pub(super) rejected: std::collections::BTreeMap<&'static str, usize>,
    /// Places that were flushed as text; counted with `--explain` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) given_back: Option<usize>,
    /// Files that differ from the recorded calls; counted with `--check` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) different: Option<usize>,
}

impl Totals {
    /// Returns the numbers of calls that did not run, by their kinds; `None` if all did.
    pub(super) fn not_run(&self) -> Option<String> {
        let kinds: Vec<String> = self.rejected.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        (!kinds.is_empty()).then(|| kinds.join(", "))
    }

    /// Counts a round's calls.
    pub(super) fn count(&mut self, round: &Round, played: &Played) {
        self.rounds += 1;
        self.native_calls += round.native_calls.len();
        self.calls += played.calls().count();
        for rejected in played.assembled.rejected() {
            *self.rejected.entry(rejected.kind.as_str()).or_default() += 1;
        }
    }
}
