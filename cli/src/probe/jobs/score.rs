//! The outcomes of jobs, and the counts for each way.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::cell::Cell;
use super::super::report::{of, within};
use super::super::score::interval;
use super::super::store::StoredTrial;
use super::job::{Half, Job, JobKind, Wanted};
use crate::screen::boxes;

/// The outcome of one job of a probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct JobTrial {
    /// Id of the job that was run.
    pub(in super::super) job: String,
    pub(super) kind: JobKind,
    /// Call threshold that was used, as a logarithm of a probability; `None` if the strategy was not `measured`.
    pub(in super::super) threshold: Option<f64>,
    /// Logarithm of the probability that the first message is a call; only with the strategy `measured`.
    #[serde(default)]
    pub(super) likely: Option<f64>,
    /// Number of expected calls; the next field counts those of them that were made.
    pub(super) wanted: usize,
    pub(super) right: usize,
    /// Number of calls that ran; the next field counts those that repeat an earlier call with equal arguments.
    pub(super) calls: usize,
    pub(super) repeats: usize,
    /// Number of requests that reached the endpoint.
    pub(super) requests: usize,
    /// `true` if the answer contains the expected texts, and the model made a call where one was expected.
    pub(super) answered: bool,
    /// `true` if the simulated world (files, repository, tables) is in the expected end state.
    pub(super) state: bool,
    pub(super) tokens: u64,
    /// Duration of the job in milliseconds.
    pub(super) ms: u64,
    /// The calls that ran, each as `TOOL ARGUMENTS`.
    pub(super) ran: Vec<String>,
    /// The beginning of the model's answer, or a note that the time limit was exceeded.
    pub(super) answer: String,
}

impl StoredTrial for JobTrial {
    fn is_of(&self, other: &Self) -> bool {
        self.job == other.job
    }
}

impl JobTrial {
    /// Returns `true` if the whole job succeeded: each expected call was made, the world is in its expected end state
    /// and the answer contains the expected texts; where no call is expected, none was made.
    pub(super) fn is_done(&self) -> bool {
        self.right == self.wanted && self.state && self.answered && (self.wanted > 0 || self.calls == 0)
    }
}

/// Returns the numbers of expected calls, of expected calls that were made, and of repeated calls.
pub(super) fn counted(job: &Job, calls: &[(String, Map<String, Value>)]) -> (usize, usize, usize) {
    let mut seen = HashSet::new();
    let is_first = |(tool, arguments): &&(String, Map<String, Value>)| {
        seen.insert(format!("{tool} {}", Value::Object(arguments.clone())))
    };
    let first: Vec<_> = calls.iter().filter(is_first).collect();
    let right = |wanted: &[Wanted]| {
        let mut open: Vec<&Wanted> = wanted.iter().collect();
        for (tool, arguments) in &first {
            if let Some(at) = open.iter().position(|wanted| wanted.is(tool, arguments)) {
                open.remove(at);
            }
        }
        wanted.len() - open.len()
    };
    // If several lists are accepted, the one that was nearly made counts.
    let lists = job.wanted.iter().map(|list| (list.len(), right(list)));
    let (wanted, right) = lists.min_by_key(|(wanted, right)| wanted - right).unwrap_or_default();
    (wanted, right, calls.len() - first.len())
}

/// Sums over the jobs of one kind, or over all jobs, for one way to offer tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct JobScore {
    /// Kind of the counted jobs; `None` for all kinds.
    pub(super) kind: Option<JobKind>,
    /// Number of jobs that were run.
    pub(super) jobs: usize,
    /// Number of jobs that succeeded entirely.
    pub(super) done: usize,
    /// 95 % confidence interval of the share `done / jobs`, from 0 to 1; `None` without jobs.
    pub(super) done_interval: Option<(f64, f64)>,
    pub(super) wanted: usize,
    pub(super) right: usize,
    pub(super) calls: usize,
    pub(super) repeats: usize,
    pub(super) requests: usize,
    pub(super) answered: usize,
    pub(super) state: usize,
    pub(super) tokens: u64,
    pub(super) seconds: f64,
}

impl JobScore {
    pub(super) fn of(kind: Option<JobKind>, trials: &[JobTrial]) -> JobScore {
        let trials: Vec<&JobTrial> = trials.iter().filter(|trial| kind.is_none_or(|kind| trial.kind == kind)).collect();
        let sum = |value: fn(&JobTrial) -> usize| trials.iter().map(|trial| value(trial)).sum::<usize>();
        let done = sum(|trial| usize::from(trial.is_done()));
        JobScore {
            kind,
            jobs: trials.len(),
            done,
            done_interval: interval(done, trials.len()),
            wanted: sum(|trial| trial.wanted),
            right: sum(|trial| trial.right),
            calls: sum(|trial| trial.calls),
            repeats: sum(|trial| trial.repeats),
            requests: sum(|trial| trial.requests),
            answered: sum(|trial| usize::from(trial.answered)),
            state: sum(|trial| usize::from(trial.state)),
            tokens: trials.iter().map(|trial| trial.tokens).sum(),
            seconds: trials.iter().map(|trial| trial.ms as f64 / 1e3).sum(),
        }
    }
}

/// The job results of one way to offer tools.
#[derive(Debug, Serialize)]
pub(in super::super) struct JobRow {
    pub(super) cell: Cell,
    /// The counts of all jobs, then of each kind that has jobs.
    pub(super) scores: Vec<JobScore>,
    pub(super) trials: Vec<JobTrial>,
}

impl JobRow {
    pub(in super::super) fn new(cell: Cell, trials: &[JobTrial]) -> JobRow {
        let kinds = [JobKind::One, JobKind::Two, JobKind::Dependent, JobKind::None].map(Some);
        let scores = [None].into_iter().chain(kinds).map(|kind| JobScore::of(kind, trials));
        JobRow { cell, scores: scores.filter(|score| score.jobs > 0).collect(), trials: trials.to_vec() }
    }
}

/// The report of `probe --jobs`: the results of each way to offer tools.
#[derive(Debug, Serialize)]
pub(in super::super) struct JobsReport {
    pub(in super::super) endpoint: String,
    pub(in super::super) model: String,
    pub(in super::super) half: Half,
    /// `true` if the time limit ended the probe before all jobs were run.
    pub(in super::super) cut: bool,
    pub(in super::super) rows: Vec<JobRow>,
}

const HEAD: [&str; 10] =
    ["jobs", "done", "wanted calls made", "calls", "repeats", "requests", "answers", "state", "tokens", "s/job"];

impl JobsReport {
    /// Returns the report as text: a table for each way to offer tools.
    pub(in super::super) fn table(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let lines = std::iter::once(HEAD.map(str::to_owned)).chain(row.scores.iter().map(cells));
            text.push_str(&format!("{}\n", row.cell));
            text.extend(
                boxes::aligned(&lines.collect::<Vec<_>>(), 1, "  ").into_iter().map(|line| format!("  {line}\n")),
            );
        }
        text
    }
}

fn cells(score: &JobScore) -> [String; 10] {
    let name = match score.kind {
        None => "all",
        Some(JobKind::One) => "one call",
        Some(JobKind::Two) => "two calls",
        Some(JobKind::Dependent) => "dependent steps",
        Some(JobKind::None) => "no tool",
    };
    let jobs = score.jobs.max(1) as f64;
    [
        name.to_owned(),
        within(score.done, score.jobs),
        of(score.right, score.wanted),
        score.calls.to_string(),
        score.repeats.to_string(),
        format!("{:.1}", score.requests as f64 / jobs),
        of(score.answered, score.jobs),
        of(score.state, score.jobs),
        format!("{:.0}", score.tokens as f64 / jobs),
        format!("{:.1}", score.seconds / jobs),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::job::Jobs;
    use super::*;

    fn calls(calls: &[(&str, Value)]) -> Vec<(String, Map<String, Value>)> {
        calls.iter().map(|(tool, args)| ((*tool).to_owned(), args.as_object().cloned().unwrap())).collect()
    }

    #[test]
    fn repeated_calls_are_counted_apart_and_the_nearest_list_counts() {
        let jobs = [Half::Tune, Half::Report].map(|half| Jobs::of(half).unwrap().jobs).concat();
        let job = jobs.iter().find(|job| job.wanted.len() == 2 && job.wanted[0].len() == 2).unwrap();
        let (door, wifi) = (json!({"path": "/home/kim/notes/door.txt"}), json!({"path": "/home/kim/notes/wifi.txt"}));
        let both = json!({"paths": [door["path"], wifi["path"]]});
        let door = ("read_text_file", door);
        let count = |made: &[(&str, Value)]| counted(job, &calls(made));
        assert_eq!(count(&[]), (1, 0, 0));
        assert_eq!(count(&[door.clone(), door.clone(), ("read_file", wifi)]), (2, 2, 1));
        assert_eq!(count(&[door.clone(), ("read_multiple_files", both)]), (1, 1, 0));
        assert_eq!(count(&[door.clone(), door]), (2, 1, 1));
    }

    #[test]
    fn a_job_is_done_with_its_calls_its_answer_and_its_state() {
        let whole = JobTrial {
            job: "a".to_owned(),
            kind: JobKind::One,
            likely: None,
            threshold: None,
            wanted: 1,
            right: 1,
            calls: 2,
            repeats: 1,
            requests: 3,
            answered: true,
            state: true,
            tokens: 10,
            ms: 500,
            ran: Vec::new(),
            answer: String::new(),
        };
        let none = JobTrial { kind: JobKind::None, wanted: 0, right: 0, ..whole.clone() };
        assert!(whole.is_done() && !none.is_done() && JobTrial { calls: 0, ..none.clone() }.is_done());
        let unfinished = [
            JobTrial { right: 0, ..whole.clone() },
            JobTrial { answered: false, ..whole.clone() },
            JobTrial { state: false, ..whole.clone() },
        ];
        assert!(unfinished.iter().all(|trial| !trial.is_done()));
        let row = JobRow::new(Cell::Native, &[whole, none]);
        let counts: Vec<_> = row.scores.iter().map(|score| (score.kind, score.jobs, score.done, score.calls)).collect();
        assert_eq!(counts, [(None, 2, 1, 4), (Some(JobKind::One), 1, 1, 2), (Some(JobKind::None), 1, 0, 2)]);
    }
}
