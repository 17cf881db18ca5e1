//! `--dialect-file`: a call syntax of the user's own, taught and read.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;

use crate::process::{Run, TOOLGRAFT};
use assert_cmd::Command;
use serde_json::{Value, json};

const MOON: &str = r#"{"name": "moon", "calls": [{"header": "<moon:{name}>", "close": "</moon>"}]}"#;

fn run(file: &str, arguments: &[&str], input: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dialect.json");
    fs::write(&path, file).unwrap();
    let tools = folder.path().join("tools.json");
    fs::write(&tools, json!([{"name": "now", "inputSchema": {"type": "object", "properties": {}}}]).to_string())
        .unwrap();
    let given = |argument: &&str| match *argument {
        "FILE" => path.display().to_string(),
        "TOOLS" => tools.display().to_string(),
        other => other.to_owned(),
    };
    Run::of(Command::new(TOOLGRAFT).args(arguments.iter().map(given)).write_stdin(input))
}

#[test]
fn a_syntax_of_a_file_is_read_beside_all_others() {
    let text = "<moon:now>{}</moon>\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>";
    let record = json!({"id": 1, "text": text, "tools": [{"name": "now"}]}).to_string();
    let answer = run(MOON, &["extract", "--dialect-file", "FILE"], &record).quiet().lines().remove(0);
    let dialects: Vec<&Value> = answer["calls"].as_array().unwrap().iter().map(|call| &call["dialect"]).collect();
    assert_eq!(dialects, ["moon", "hermes"], "{answer}");
    let without = run(MOON, &["extract"], &record).quiet().lines().remove(0);
    assert_eq!(without["calls"].as_array().unwrap().len(), 1, "{without}");
}

#[test]
fn a_syntax_of_a_file_is_taught_by_an_example() {
    let prompt = run(MOON, &["prompt", "--dialect-file", "FILE", "--tool-file", "TOOLS"], "");
    assert!(prompt.out.contains("<moon:now>{}</moon>"), "{}", prompt.out);
}

#[test]
fn a_wrong_file_is_refused_with_the_place_in_it() {
    for (file, problem) in [
        (MOON.replace("</moon>", "}"), "`calls[0].close`"),
        (MOON.replace("moon\"", "hermes\""), "give this one another name"),
        ("{".to_owned(), "EOF"),
    ] {
        let refused = run(&file, &["extract", "--dialect-file", "FILE"], "{}");
        assert!(refused.code == Some(2) && refused.err.contains(problem), "{}", refused.err);
    }
}
