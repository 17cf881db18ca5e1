//! The findings of a probe, for people and as JSON.

use anstyle::Style;
use serde::Serialize;

use super::cell::Cell;
use super::score::{Score, interval};
use crate::screen::boxes::aligned;

/// Column titles of the table of results.
const HEAD: [&str; 10] = [
    "way to offer tools", "accepted", "right tool", "fully right by itself", "when told to call", "two calls",
    "false calls", "result used", "tokens", "s/task",
];

/// A way to offer tools and its score.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReportRow {
    pub(crate) cell: Cell,
    #[serde(flatten)]
    pub(crate) score: Score,
    /// 95 % confidence interval of the share `fully_right / wanted`, from 0 to 1; `None` if nothing was wanted.
    pub(crate) fully_right_interval: Option<(f64, f64)>,
    /// 95 % confidence interval of the share `false_calls / unwanted`, from 0 to 1; `None` without such tasks.
    pub(crate) false_calls_interval: Option<(f64, f64)>,
    pub(crate) worth: f64,
}

impl ReportRow {
    pub(crate) fn new(cell: Cell, score: Score) -> Self {
        ReportRow {
            cell,
            score,
            fully_right_interval: interval(score.fully_right, score.wanted),
            false_calls_interval: interval(score.false_calls, score.unwanted),
            worth: score.worth(),
        }
    }
}

/// The best way to offer tools, which the probe offers to save as a profile.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Best {
    /// The score on the tasks that served neither to choose nor to set the threshold; if there was no time for these,
    /// on all tasks that were tried.
    #[serde(flatten)]
    pub(crate) row: ReportRow,
    /// `true` if the score is of tasks that served neither to choose nor to set the threshold.
    pub(crate) apart: bool,
    /// Minimum logarithm of the probability with which a message counts as a call, for the strategy `measured`.
    pub(crate) threshold: Option<f64>,
}

/// The report of a probe: the ways to offer tools, those with the most trials first, then from best to worst.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) endpoint: String,
    pub(crate) model: String,
    /// Number of tools that were offered in each task.
    pub(crate) tools: usize,
    /// `true` if the time limit ended the probe before its last round.
    pub(crate) cut: bool,
    pub(crate) rows: Vec<ReportRow>,
    /// The best way to offer tools; `None` if nothing was tried or no call was fully right.
    pub(crate) best: Option<Best>,
}

impl Report {
    /// Returns the results as a text table.
    pub(crate) fn table(&self) -> String {
        let all: Vec<_> = std::iter::once(HEAD.map(str::to_owned)).chain(self.rows.iter().map(cells)).collect();
        let style = |number: usize| if number == 0 { Style::new().bold() } else { Style::new() };
        let lines = aligned(&all, 1, "  ").into_iter().enumerate();
        lines.map(|(number, line)| format!("{style}{line}{style:#}\n", style = style(number))).collect()
    }
}

/// Returns `count/all` as text; `–` if `all` is 0.
pub(super) fn of(count: usize, all: usize) -> String {
    if all > 0 { format!("{count}/{all}") } else { "–".to_owned() }
}

/// Returns `count/all` as text, followed by its 95 % confidence interval in percent.
pub(super) fn within(count: usize, all: usize) -> String {
    match interval(count, all) {
        Some((least, most)) => format!("{count}/{all} ({:.0}–{:.0} %)", least * 100.0, most * 100.0),
        None => of(count, all),
    }
}

fn cells(ReportRow { cell, score: s, .. }: &ReportRow) -> [String; 10] {
    // Before corrections, and with them where they changed anything.
    let mut accepted: Vec<usize> = s.corrected.iter().map(|after| after.accepted).collect();
    accepted.dedup();
    let accepted: Vec<String> = accepted.iter().map(usize::to_string).collect();
    let tasks = s.tasks.max(1);
    [
        cell.to_string(),
        if s.wanted > 0 { format!("{}/{}", accepted.join("→"), s.wanted) } else { of(0, 0) },
        of(s.right_tool, s.wanted),
        if cell.decides() { within(s.fully_right, s.wanted) } else { of(0, 0) },
        if cell.decides() { of(0, 0) } else { within(s.fully_right, s.wanted) },
        of(s.several_right, s.several),
        within(s.false_calls, s.unwanted),
        of(s.used, s.results),
        (s.tokens / tasks as u64).to_string(),
        format!("{:.1}", s.seconds / tasks as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::score::Corrected;

    #[test]
    fn the_table_has_intervals_and_what_corrections_brought() {
        let corrected = [30, 33, 33].map(|accepted| Corrected { accepted, fully_right: 30 });
        let score = Score { tasks: 40, wanted: 40, accepted: 33, fully_right: 30, corrected, ..Score::default() };
        let rows = vec![ReportRow::new(Cell::all(None)[2], score)];
        let report = Report {
            endpoint: "http://x/v1".to_owned(),
            model: "m".to_owned(),
            tools: 3,
            cut: false,
            rows,
            best: None,
        };
        let table = report.table();
        assert!(table.contains("30/40 (60–86 %)") && table.contains("30→33/40"), "{table}");
        assert_eq!(table.lines().count(), 2, "{table}");
    }
}
