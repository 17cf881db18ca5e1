//! `fixtures/conformance.jsonl`: every parser fixture in one file, with the full result of the
//! parser, for ports to other languages. `UPDATE=1` writes it.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use toolgraft_testkit::fixture::{Expectation, found};
use toolgraft_testkit::laws;

use crate::fixtures::{FIXTURES, Fixture};

/// Returns a fixture as a line: its name, its text, its settings, and the parser's result.
fn line(fixture: &Fixture) -> Value {
    let Fixture { name, input, stated } = fixture;
    let mut settings = serde_json::from_str::<Value>(stated).unwrap()["config"].take();
    if let Some(tools) = Expectation::read(stated).unwrap().tools().unwrap() {
        settings["tools"] = tools;
    }
    let assembled = laws::run(&mut laws::parser(&input.config), input, &[]).unwrap();
    json!({"name": name, "text": input.text, "config": settings, "found": found(&assembled)})
}

#[test]
fn the_conformance_file_has_every_fixture_as_the_parser_reads_it() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance.jsonl");
    let mut lines = String::new();
    for fixture in FIXTURES.iter() {
        writeln!(lines, "{}", line(fixture)).unwrap();
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &lines).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    let differs = lines.lines().zip(kept.lines()).find(|(now, kept)| now != kept);
    assert_eq!(differs, None, "UPDATE=1 cargo test --test parser conformance writes the file anew");
    assert_eq!(lines.lines().count(), kept.lines().count(), "UPDATE=1 writes the file anew");
}
