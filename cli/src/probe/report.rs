//! What a probe found, for people and as JSON.

use anstyle::Style;
use serde::Serialize;

use super::cell::Cell;
use super::score::Score;
use crate::phrases::Phrases;
use crate::screen::boxes::width;

/// A cell and what it scored.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) cell: Cell,
    #[serde(flatten)]
    pub(crate) score: Score,
    pub(crate) worth: f64,
}

/// What a probe found: the cells from the best to the worst.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) endpoint: String,
    pub(crate) model: String,
    /// Tools that a task offered.
    pub(crate) tools: usize,
    /// The time was over before all rounds were.
    pub(crate) cut: bool,
    pub(crate) rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new(endpoint: &str, model: &str, tools: usize, cut: bool, ranked: Vec<(Cell, Score)>) -> Self {
        let rows = ranked.into_iter().filter(|(_, score)| score.tasks > 0);
        Report {
            endpoint: endpoint.to_owned(),
            model: model.to_owned(),
            tools,
            cut,
            rows: rows.map(|(cell, score)| Row { cell, score, worth: score.worth() }).collect(),
        }
    }

    /// The best of those that were tried most and decide by themselves. `None` where nothing was
    /// tried or nothing worked.
    pub(crate) fn best(&self) -> Option<&Row> {
        let own = || self.rows.iter().filter(|row| row.cell.decides());
        let most = own().map(|row| row.score.tasks).max()?;
        own().filter(|row| row.score.tasks == most).find(|row| row.score.fully_right > 0)
    }

    /// The table's cells, row by row, under its head.
    pub(super) fn cells(&self) -> Vec<[String; 9]> {
        let of = |count: usize, all: usize| if all > 0 { format!("{count}/{all}") } else { "–".to_owned() };
        let rows = self.rows.iter().map(|Row { cell, score: s, .. }| {
            [
                cell.to_string(),
                of(s.accepted, s.wanted),
                of(s.right_tool, s.wanted),
                of(s.fully_right, if cell.decides() { s.wanted } else { 0 }),
                of(s.fully_right, if cell.decides() { 0 } else { s.wanted }),
                of(s.false_calls, s.unwanted),
                of(s.used, s.results),
                (s.tokens / s.tasks.max(1) as u64).to_string(),
                format!("{:.1}", s.seconds / s.tasks.max(1) as f64),
            ]
        });
        rows.collect()
    }

    /// The table.
    pub(crate) fn table(&self, say: Phrases) -> String {
        let all: Vec<[String; 9]> = std::iter::once(say.probe_head().map(str::to_owned)).chain(self.cells()).collect();
        let widths: Vec<usize> =
            (0..all[0].len()).map(|at| all.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect();
        let bold = Style::new().bold();
        let mut text = String::new();
        for (number, row) in all.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, wide))| match at {
                0 => format!("{cell}{}", " ".repeat(wide - width(cell))),
                _ => format!("{}{cell}", " ".repeat(wide - width(cell))),
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            match number {
                0 => text.push_str(&format!("{bold}{line}{bold:#}\n")),
                _ => text.push_str(&format!("{line}\n")),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_one_of_those_that_were_tried_most() {
        let cells = Cell::all(false);
        let score = |tasks, fully_right| Score { tasks, wanted: tasks, fully_right, ..Score::default() };
        let ranked = vec![(cells[1], score(8, 8)), (cells[2], score(40, 30)), (cells[3], Score::default())];
        let report = Report::new("http://x/v1", "m", 3, false, ranked);
        assert_eq!(report.rows.len(), 2);
        assert_eq!(report.best().unwrap().cell, cells[2]);
        let table = report.table(Phrases::of(toolgraft::dialect::Lang::En));
        assert!(table.contains("30/40") && table.lines().count() == 3, "{table}");
        let nothing = Report::new("http://x/v1", "m", 3, false, vec![(cells[1], score(8, 0))]);
        assert!(nothing.best().is_none());
    }
}
