//! The outcomes of tasks, and their counts.

use serde::{Deserialize, Serialize};

use super::cell::Cell;

/// The outcome of one task of a probe.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Index of the task in the order of trial.
    pub(crate) task: usize,
    /// Kind of the task, by the calls that it needs.
    pub(crate) kind: TaskKind,
    /// `true` if the parser accepted a call, which would have run.
    pub(crate) accepted: bool,
    /// `true` if the accepted calls were all of expected tools.
    pub(crate) right_tool: bool,
    /// `true` if exactly the expected calls were made, with the right arguments; or none where none was expected.
    pub(crate) right: bool,
    /// Number of corrections that were requested before the first call was accepted.
    #[serde(default)]
    pub(crate) corrections: usize,
    /// `true` if the final answer contains the value from the call's result, in a task that requires that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) used: bool,
    /// Logarithm of the probability that the answer begins with a call, if it was measured; the call was then made
    /// whatever this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) likely: Option<f64>,
    /// Call threshold of the settings, if it decided whether the turn went on to a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) threshold: Option<f64>,
    /// Number of tokens of all requests and answers of the task.
    pub(crate) tokens: u64,
    /// Duration of the task in milliseconds.
    pub(crate) ms: u64,
}

/// Kind of a task, by the calls that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskKind {
    /// A question that needs one call.
    #[default]
    Call,
    /// A question that needs several calls in one message.
    Calls,
    /// A question that needs no call.
    None,
    /// A question that needs a call and an answer that uses its result.
    Result,
}

/// Maximum number of corrections of one answer.
pub(crate) const CORRECTIONS: usize = 2;

/// Numbers of tasks with an accepted call, and with the right one, after at most a certain number of corrections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Corrected {
    pub(crate) accepted: usize,
    pub(crate) fully_right: usize,
}

/// The counts over all trials of one way to offer tools.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Score {
    /// Number of tasks that were tried.
    pub(crate) tasks: usize,
    /// Number of tasks that want a call.
    pub(crate) wanted: usize,
    /// Number of tasks that want a call and in which one was accepted.
    pub(crate) accepted: usize,
    /// Number of tasks that want a call and in which only expected tools were called.
    pub(crate) right_tool: usize,
    /// Number of tasks that want a call and in which calls and arguments were right.
    pub(crate) fully_right: usize,
    /// Accepted and right calls after at most 0, 1 and 2 corrections.
    pub(crate) corrected: [Corrected; CORRECTIONS + 1],
    /// Number of tasks that want several calls in one message.
    pub(crate) several: usize,
    /// Number of tasks that want several calls and got exactly these.
    pub(crate) several_right: usize,
    /// Number of tasks that want no call.
    pub(crate) unwanted: usize,
    /// Number of tasks that want no call, but in which one was accepted.
    pub(crate) false_calls: usize,
    /// Number of tasks whose answer must contain a value from the result.
    pub(crate) results: usize,
    /// Number of tasks whose answer contains the required value from the result.
    pub(crate) used: usize,
    /// Sum of the tokens of all requests and answers.
    pub(crate) tokens: u64,
    /// Sum of the durations, in seconds.
    pub(crate) seconds: f64,
}

impl Score {
    pub(crate) fn of<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Score {
        let mut score = Score::default();
        for trial in trials {
            let count = |is: bool| usize::from(is);
            score.tasks += 1;
            score.tokens += trial.tokens;
            score.seconds += trial.ms as f64 / 1e3;
            if trial.kind == TaskKind::None {
                score.unwanted += 1;
                score.false_calls += count(trial.accepted);
                continue;
            }
            score.wanted += 1;
            score.accepted += count(trial.accepted);
            score.right_tool += count(trial.right_tool);
            score.fully_right += count(trial.right);
            for after in &mut score.corrected[trial.corrections.min(CORRECTIONS)..] {
                after.accepted += count(trial.accepted);
                after.fully_right += count(trial.right);
            }
            if trial.kind == TaskKind::Calls {
                score.several += 1;
                score.several_right += count(trial.right);
            }
            if trial.kind == TaskKind::Result {
                score.results += 1;
                score.used += count(trial.used);
            }
        }
        score
    }

    /// Returns the share of good outcomes, from 0 to 1: right calls, no call where none is wanted, and answers that use
    /// a result.
    pub(crate) fn worth(&self) -> f64 {
        let of = self.wanted + self.unwanted + self.results;
        let good = self.fully_right + (self.unwanted - self.false_calls) + self.used;
        if of == 0 { 0.0 } else { good as f64 / of as f64 }
    }
}

/// Returns the 95 % confidence interval of the share `count / of`, from 0 to 1, by Wilson's formula (J. Am. Stat.
/// Assoc. 22, 1927, 209). `None` if `of` is 0.
pub(crate) fn interval(count: usize, of: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.96;
    let all = of as f64;
    let part = count as f64 / all;
    let middle = part + Z * Z / (2.0 * all);
    let half = Z * (part * (1.0 - part) / all + Z * Z / (4.0 * all * all)).sqrt();
    let scale = 1.0 + Z * Z / all;
    (of > 0).then(|| (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0)))
}

/// Returns the ways to offer tools from the best to the worst: first those that decide by themselves, since only they
/// are of use in a chat; then by score; of equal ones the one with fewer tokens first.
pub(crate) fn ranked(mut scores: Vec<(Cell, Score)>) -> Vec<(Cell, Score)> {
    scores.sort_by(|(one, a), (other, b)| {
        let by_itself = other.decides().cmp(&one.decides());
        by_itself.then(b.worth().total_cmp(&a.worth())).then(a.tokens.cmp(&b.tokens))
    });
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_lies_within_an_interval() {
        let percent = |found: Option<(f64, f64)>| found.map(|(a, b)| ((a * 100.0).round(), (b * 100.0).round()));
        // The figures of public calculators.
        assert_eq!(percent(interval(14, 17)), Some((59.0, 94.0)));
        assert_eq!(percent(interval(0, 10)), Some((0.0, 28.0)));
        assert_eq!(percent(interval(10, 10)), Some((72.0, 100.0)));
        assert_eq!(interval(0, 0), None);
    }

    #[test]
    fn what_a_correction_brought_is_counted_apart() {
        let after = |corrections, right| Trial { accepted: true, right, corrections, ..Trial::default() };
        let several = Trial { kind: TaskKind::Calls, ..after(2, true) };
        let score = Score::of([&after(0, true), &after(1, false), &several]);
        let counts = score.corrected.map(|counted| (counted.accepted, counted.fully_right));
        assert_eq!(counts, [(1, 1), (2, 1), (3, 2)]);
        assert_eq!((score.several, score.several_right), (1, 1));
    }

    #[test]
    fn trials_are_counted_by_kind_and_ranked_by_worth_then_tokens() {
        let call = Trial { accepted: true, right_tool: true, right: true, tokens: 100, ms: 500, ..Trial::default() };
        let none = Trial { kind: TaskKind::None, accepted: true, tokens: 10, ..Trial::default() };
        let result = Trial { kind: TaskKind::Result, accepted: true, used: true, ..Trial::default() };
        let score = Score::of([&call, &none, &result]);
        assert_eq!((score.tasks, score.wanted, score.accepted, score.right_tool, score.fully_right), (3, 2, 2, 1, 1));
        assert_eq!((score.unwanted, score.false_calls, score.results, score.used), (1, 1, 1, 1));
        assert_eq!((score.tokens, score.seconds, score.worth()), (110, 0.5, 0.5));
        let cells = Cell::all(None);
        let cheap = Score { tokens: 1, ..score };
        let best = Score::of([&call]);
        let told = Cell::all(None).into_iter().find(|cell| !cell.decides()).unwrap();
        let order = ranked(vec![(told, best), (cells[1], score)]);
        assert_eq!(order[0].0, cells[1], "the other cannot be used where nobody tells it to call");
        let order = ranked(vec![(cells[0], score), (cells[1], cheap), (cells[2], best)]);
        assert_eq!(order.iter().map(|(cell, _)| *cell).collect::<Vec<_>>(), [cells[2], cells[1], cells[0]]);
        assert_eq!(Score::default().worth(), 0.0);
    }
}
