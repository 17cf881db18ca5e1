//! Limits that a change of the parser must not violate: how many correct calls of the recordings
//! are `plain`, and how seldom prose is read as a call. They are in `tests/counts/limits.json`.

// The counts are printed (`--nocapture`), so that a limit can be tightened.
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use toolgraft::event::{Assembled, Provenance, RejectedKind};
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};
use toolgraft_testkit::laws::{self, Input};

use super::parity::right_calls;

/// The limits that these tests check.
#[derive(Debug, Deserialize)]
struct Kept {
    /// Least number of correct calls in the parity records whose provenance is `plain`.
    right_plain_calls_at_least: usize,
    /// Largest percentage of prose texts in which a call or a near call is found.
    false_calls_in_prose_percent: usize,
}

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn kept() -> Kept {
    let limits: Value = serde_json::from_str(&file("tests/counts/limits.json")).unwrap();
    Kept::deserialize(&limits["kept"]).unwrap()
}

#[test]
fn right_calls_of_the_recordings_stay_plain() {
    let (plain, right) = right_calls(|call| call.provenance == Provenance::Plain);
    let least = kept().right_plain_calls_at_least;
    println!("{plain} of {right} right calls are plain, at least {least} must be");
    assert!(plain >= least, "{plain} of {right} right calls are plain: at least {least} must be");
}

/// Returns tools whose names and parameters are words of prose.
fn catalog() -> Arc<Catalog> {
    let tool = |server: &str, name: &str, parameters: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        Tool::new(name).with_server(server).with_schema(json!({"type": "object", "properties": properties}))
    };
    Arc::new(Catalog::from_tools([
        tool("files", "read_file", &["path", "limit"]),
        tool("files", "write_file", &["path", "content"]),
        tool("files", "search", &["query", "path"]),
        tool("weather", "get_weather", &["city", "days"]),
        tool("shell", "run_command", &["command", "timeout"]),
        tool("notes", "note", &["text", "tags"]),
    ]))
}

/// Returns texts without calls: the sections of the documentation that show no syntax of calls, and
/// texts about tools that were written for this.
fn prose() -> Vec<(String, String)> {
    let pages = [
        "README", "CHANGELOG", "CONTRIBUTING", "docs/install", "docs/deploy", "docs/models", "docs/security",
        "docs/performance",
    ];
    let sections = pages.iter().flat_map(|page| {
        let text = file(&format!("{page}.md"));
        let sections = text.split("\n## ").map(str::to_owned).collect::<Vec<_>>();
        sections.into_iter().enumerate().map(move |(at, section)| (format!("{page} {at}"), section))
    });
    let written = file("fixtures/prose/texts.jsonl");
    let written = written
        .lines()
        .enumerate()
        .map(|(at, line)| (format!("texts.jsonl:{}", at + 1), serde_json::from_str::<String>(line).unwrap()));
    sections.chain(written.collect::<Vec<_>>()).collect()
}

fn read(text: &str) -> Assembled {
    let config = Config::default().with_catalog(catalog());
    let input = Input { text: text.to_owned(), config, ..Input::default() };
    laws::run(&mut laws::parser(&input.config), &input, &[]).unwrap()
}

#[test]
fn prose_is_seldom_taken_for_a_call() {
    let texts = prose();
    let is_call = |message: &Assembled| {
        message.calls().next().is_some() || message.rejected().any(|rejected| rejected.kind == RejectedKind::NearCall)
    };
    let mistaken: Vec<&str> =
        texts.iter().filter(|(_, text)| is_call(&read(text))).map(|(name, _)| name.as_str()).collect();
    let most = kept().false_calls_in_prose_percent;
    println!("{} of {} texts: {mistaken:?}, at most {most} %", mistaken.len(), texts.len());
    assert!(texts.len() >= 96, "only {} texts were found", texts.len());
    assert!(mistaken.len() * 100 <= texts.len() * most, "{} of {}: {mistaken:?}", mistaken.len(), texts.len());
}
