//! What a probe found as a page: the table, and the failures of the best ways side by side.

use std::path::Path;

use serde_json::{Value, json};

use super::cell::Cell;
use super::report::Report;
use super::store::Store;
use super::tasks::{Task, Tasks, Wanted};
use super::threshold;
use crate::base::Failure;
use crate::pages;
use crate::phrases::Phrases;

const TEMPLATE: &str = include_str!("../../pages/probe.html");

/// Ways that stand side by side.
const BESIDE: usize = 3;

/// Looks before the work whether the page can be written.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    pages::file::writable(path)
}

/// Writes the page.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(path: &Path, report: &Report, tasks: &Tasks, store: &Store, say: Phrases) -> Result<(), Failure> {
    let page = render(report, tasks, store, say).and_then(|page| pages::file::write(path, &page));
    page.map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
}

fn render(report: &Report, tasks: &Tasks, store: &Store, say: Phrases) -> std::io::Result<String> {
    let cells: Vec<Cell> = report.rows.iter().take(BESIDE).map(|row| row.cell).collect();
    let failed = tasks.tasks.iter().filter_map(|task| failed(task, &cells, store, say));
    let page = json!({
        "title": report.model,
        "words": say.for_probe(),
        "endpoint": report.endpoint,
        "tools": report.tools,
        "head": say.probe_head(),
        "rows": report.cells(),
        "tasks": failed.collect::<Vec<Value>>(),
    });
    pages::file::render(TEMPLATE, page)
}

/// A task that went wrong in one of these ways, with what came of it in each.
fn failed(task: &Task, cells: &[Cell], store: &Store, say: Phrases) -> Option<Value> {
    let of = |cell: &Cell| {
        let counted = threshold::counted(store.trials(*cell));
        counted.into_iter().find(|trial| trial.task == task.id).map(|trial| (*cell, trial))
    };
    let trials: Vec<_> = cells.iter().filter_map(of).collect();
    if trials.iter().all(|(_, trial)| trial.fault.is_none()) {
        return None;
    }
    let trials = trials.into_iter().map(|(cell, trial)| {
        let fault = trial.fault.as_deref().map(|fault| say.reason(fault));
        json!({"cell": cell, "fault": fault, "texts": trial.texts})
    });
    let wanted = match &task.wanted {
        Wanted::NoCall => say.no_call_wanted().to_owned(),
        Wanted::Call(call) => say.call_wanted(&call.tool, Value::Object(call.arguments.clone())),
        Wanted::Result(call, answer) => {
            let call = say.call_wanted(&call.tool, Value::Object(call.arguments.clone()));
            say.result_wanted(call, format!("{:?}", answer.value))
        }
    };
    Some(json!({
        "id": task.id, "question": task.question, "wanted": wanted, "trials": trials.collect::<Vec<Value>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::score::{Score, Trial};
    use super::*;

    #[test]
    fn failures_stand_side_by_side_and_markup_is_text() {
        let tasks = Tasks::built_in().unwrap();
        let cells = Cell::all(false);
        let mut store = Store::default();
        let wrong = Trial {
            fault: Some("no call <b>".to_owned()),
            texts: vec!["<script>alert(1)</script>".to_owned()],
            ..Trial::default()
        };
        store.add(cells[1], wrong).unwrap();
        store.add(cells[2], Trial { right: true, ..Trial::default() }).unwrap();
        store.add(cells[2], Trial { task: 1, right: true, ..Trial::default() }).unwrap();
        let scores = cells[1..3].iter().map(|cell| (*cell, Score::of(store.trials(*cell)))).collect();
        let report = Report::new("http://x/v1", "m", 3, false, scores);
        let page = render(&report, &tasks, &store, Phrases::of(toolgraft::dialect::Lang::En)).unwrap();
        assert!(page.starts_with("<!doctype html>\n"), "{page}");
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
        assert!(page.contains("id=\"task-0\"") && !page.contains("id=\"task-1\""), "{page}");
        assert!(page.contains("no call &lt;b&gt;") && page.contains(">right<"), "{page}");
    }
}
