//! The outcomes of tasks, and their counts.

use serde::{Deserialize, Serialize};

use super::cell::Cell;

/// The outcome of one task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Number of the task.
    pub(crate) task: usize,
    /// Kind of the task.
    pub(crate) kind: TaskKind,
    /// A call was accepted: it would have run.
    pub(crate) accepted: bool,
    /// It was of the right tool.
    pub(crate) right_tool: bool,
    /// All was right: the call and nothing but it, or no call where none was wanted.
    pub(crate) right: bool,
    /// Corrections that the model was asked for before its call was accepted.
    #[serde(default)]
    pub(crate) corrections: usize,
    /// The answer holds the result's value; of tasks that want that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) used: bool,
    /// Logarithm of the probability that the answer begins with a call, where it was measured:
    /// the call was asked for whatever that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) likely: Option<f64>,
    /// The threshold that was given, where it decided what came next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) threshold: Option<f64>,
    /// Tokens of all requests and answers.
    pub(crate) tokens: u64,
    /// Milliseconds.
    pub(crate) ms: u64,
}

/// Kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskKind {
    /// One call is right.
    #[default]
    Call,
    /// Several calls in one message are.
    Calls,
    /// No call is.
    None,
    /// A call, and an answer that uses its result.
    Result,
}

/// Corrections of one answer at most.
pub(crate) const CORRECTIONS: usize = 2;

/// Wanted calls that were there after so many corrections at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Corrected {
    pub(crate) accepted: usize,
    pub(crate) fully_right: usize,
}

/// The trials of a cell, counted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Score {
    /// Tasks that were tried.
    pub(crate) tasks: usize,
    /// Tasks that want a call.
    pub(crate) wanted: usize,
    /// Of these, those with a call that was accepted.
    pub(crate) accepted: usize,
    /// Of these, those with a call of the right tool.
    pub(crate) right_tool: usize,
    /// Of these, those with the right call and right arguments.
    pub(crate) fully_right: usize,
    /// The same before any correction, after one, after two.
    pub(crate) corrected: [Corrected; CORRECTIONS + 1],
    /// Tasks that want several calls in one message.
    pub(crate) several: usize,
    /// Of these, those with exactly these calls.
    pub(crate) several_right: usize,
    /// Tasks that want no call.
    pub(crate) unwanted: usize,
    /// Of these, those with a call.
    pub(crate) false_calls: usize,
    /// Tasks whose answer must contain a value.
    pub(crate) results: usize,
    /// Of these, those whose answer contains it.
    pub(crate) used: usize,
    /// Tokens of all requests and answers.
    pub(crate) tokens: u64,
    /// Seconds.
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

    /// Returns the share of good outcomes, from 0 to 1: right calls, no false ones, and answers that use a result.
    pub(crate) fn worth(&self) -> f64 {
        let of = self.wanted + self.unwanted + self.results;
        let good = self.fully_right + (self.unwanted - self.false_calls) + self.used;
        if of == 0 { 0.0 } else { good as f64 / of as f64 }
    }
}

/// Between which parts of all tasks a count lies with 95 % certainty, had they been drawn at
/// random: Wilson's interval (J. Am. Stat. Assoc. 22, 1927, 209). `None` of no tasks.
pub(crate) fn interval(count: usize, of: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.96;
    let all = of as f64;
    let part = count as f64 / all;
    let middle = part + Z * Z / (2.0 * all);
    let half = Z * (part * (1.0 - part) / all + Z * Z / (4.0 * all * all)).sqrt();
    let scale = 1.0 + Z * Z / all;
    (of > 0).then(|| (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0)))
}

/// Returns the cells from the best to the worst: first those that decide by themselves, since only they
/// can be used where nobody knows whether a call is due; of equal ones the one with fewer tokens
/// first.
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
