//! The findings of a probe as a page: the table, and the failures of the best ways side by side.

use std::path::Path;

use serde_json::{Value, json};

use super::cell::{Cell, How};
use super::report::Report;
use super::store::Store;
use super::tasks::{Task, Tasks};
use super::threshold;
use crate::base::Failure;
use crate::pages;

const TEMPLATE: &str = include_str!("../../pages/probe.html");

/// Ways that stand side by side.
const BESIDE: usize = 3;

/// Writes the page.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(path: &Path, report: &Report, tried: &Tried<'_>) -> Result<(), Failure> {
    let page = render(report, tried).and_then(|page| pages::file::write(path, &page));
    page.map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
}

/// The trials of a probe, and the threshold by which they are counted.
pub(super) struct Tried<'a> {
    pub(super) tasks: &'a Tasks,
    pub(super) store: &'a Store,
    /// A threshold that was given.
    pub(super) given: Option<f64>,
}

fn render(report: &Report, tried: &Tried<'_>) -> std::io::Result<String> {
    let cells: Vec<Cell> = report.rows.iter().take(BESIDE).map(|row| row.cell).collect();
    let failed = tried.tasks.tasks.iter().filter_map(|task| failed(task, &cells, tried));
    let measured = report.rows.iter().filter(|row| row.cell.how() == How::Measured).take(BESIDE);
    let curves = measured.map(|row| curve(row.cell, report, tried.store));
    let page = json!({
        "title": report.model,
        "endpoint": report.endpoint,
        "tools": report.tools,
        "head": super::report::HEAD,
        "rows": report.cells(),
        "curves": curves.collect::<Vec<Value>>(),
        "tasks": failed.collect::<Vec<Value>>(),
    });
    pages::file::render(TEMPLATE, page)
}

/// Most thresholds of one curve that are shown: those between which the most tasks lie.
const POINTS: usize = 24;

/// Computes the results of a measured way at other thresholds.
fn curve(cell: Cell, report: &Report, store: &Store) -> Value {
    let points = threshold::curve(store.trials(cell).iter());
    let each = points.len().div_ceil(POINTS).max(1);
    let best = report.best.as_ref().filter(|best| best.row.cell == cell).and_then(|best| best.threshold);
    let shown = points.iter().step_by(each).map(|point| {
        let part = |count: usize, of: usize| (100 * count).checked_div(of).unwrap_or(0);
        json!({
            "threshold": format!("{:.1}", point.threshold),
            "right": part(point.right, point.wanted), "right_of": format!("{}/{}", point.right, point.wanted),
            "false": part(point.false_calls, point.unwanted),
            "false_of": format!("{}/{}", point.false_calls, point.unwanted),
        })
    });
    json!({"cell": cell, "kept": best.map(|best| format!("{best:.2}")), "points": shown.collect::<Vec<Value>>()})
}

/// Returns a task that went wrong in one of these ways, with what came of it in each.
fn failed(task: &Task, cells: &[Cell], tried: &Tried<'_>) -> Option<Value> {
    let of = |cell: &Cell| {
        let counted = threshold::counted(tried.store.trials(*cell), tried.given);
        counted.into_iter().find(|trial| trial.task == task.id).map(|trial| (*cell, trial))
    };
    let trials: Vec<_> = cells.iter().filter_map(of).collect();
    if trials.iter().all(|(_, trial)| trial.fault.is_none()) {
        return None;
    }
    let trials =
        trials.into_iter().map(|(cell, trial)| json!({"cell": cell, "fault": trial.fault, "texts": trial.texts}));
    let calls = task.wanted.iter().map(|call| format!("{} {}", call.tool, Value::Object(call.arguments.clone())));
    let calls = calls.collect::<Vec<String>>().join(" + ");
    let wanted = match &task.answer {
        _ if calls.is_empty() => "no call".to_owned(),
        Some(answer) => format!("{calls}, then {:?}", answer.value),
        None => calls,
    };
    Some(json!({
        "id": task.id, "question": task.question, "wanted": wanted, "trials": trials.collect::<Vec<Value>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::report::{Best, Row};
    use super::super::score::{Score, Trial};
    use super::super::store::Run;
    use super::*;

    fn report(rows: Vec<Row>, best: Option<Best>) -> Report {
        let (endpoint, model) = ("http://x/v1".to_owned(), "m".to_owned());
        Report { endpoint, model, tools: 3, cut: false, rows, best }
    }

    fn page(report: &Report, store: &Store) -> String {
        let tasks = Tasks::built_in().unwrap();
        let tried = Tried { tasks: &tasks, store, given: None };
        render(report, &tried).unwrap()
    }

    #[test]
    fn failures_stand_side_by_side_and_markup_is_text() {
        let cells = Cell::all(None);
        let mut store = Store::default();
        let wrong = Trial {
            fault: Some("no call <b>".to_owned()),
            texts: vec!["<script>alert(1)</script>".to_owned()],
            ..Trial::default()
        };
        store.add(Run::First, cells[1], wrong).unwrap();
        store.add(Run::First, cells[2], Trial { right: true, ..Trial::default() }).unwrap();
        store.add(Run::First, cells[2], Trial { task: 1, right: true, ..Trial::default() }).unwrap();
        let rows = cells[1..3].iter().map(|cell| Row::new(*cell, Score::of(store.trials(*cell)))).collect();
        let page = page(&report(rows, None), &store);
        assert!(page.starts_with("<!doctype html>\n"), "{page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
        assert!(page.contains("id=\"task-0\"") && !page.contains("id=\"task-1\""), "{page}");
        assert!(page.contains("no call &lt;b&gt;") && page.contains(">right<"), "{page}");
        assert!(!page.contains("another threshold"), "{page}");
    }

    #[test]
    fn a_measured_way_shows_what_other_thresholds_would_do() {
        let cell = Cell::all(None).into_iter().find(|cell| cell.how() == How::Measured).unwrap();
        let mut store = Store::default();
        for (task, likely) in [(0, -1.0), (1, -5.0)] {
            let trial = Trial { task, likely: Some(likely), right: true, accepted: true, ..Trial::default() };
            store.add(Run::First, cell, trial).unwrap();
        }
        let row = || Row::new(cell, Score::of(store.trials(cell)));
        let best = Best { row: row(), apart: false, threshold: Some(-6.0), twice: 0, same: 0 };
        let page = page(&report(vec![row()], Some(best)), &store);
        assert!(page.contains("What another threshold would make of it") && page.contains("-6.00"), "{page}");
        assert!(page.contains("<td>-3.0</td>") && page.contains("1&#x2f;2") && page.contains("2&#x2f;2"), "{page}");
    }
}
