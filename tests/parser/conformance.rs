//! `fixtures/conformance.jsonl`: every parser fixture in one file, with all that the parser says of
//! it, for whoever hands the parser on to another language. `UPDATE=1` writes it anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgraft::Parser;

use crate::common::laws;
use crate::{check, expected, fixture};

/// The texts of the parser fixtures, by their names.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            texts(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "txt") {
            found.push(entry);
        }
    }
}

/// A fixture as a line: its name, its text, how it is read, and what the parser finds.
fn line(root: &Path, path: &Path) -> Value {
    let name = path.strip_prefix(root).unwrap().with_extension("");
    let name: Vec<_> = name.iter().map(|part| part.to_str().unwrap()).collect();
    let stated = std::fs::read_to_string(path.with_extension("expect.json")).unwrap();
    let config = expected::read(&stated).unwrap().0.unwrap_or_default();
    let mut settings = serde_json::from_str::<Value>(&stated).unwrap()["config"].take();
    if let Some(tools) = fixture::tools(&config).unwrap() {
        settings["tools"] = tools;
    }
    let text = std::fs::read_to_string(path).unwrap();
    let input = fixture::input(config, text.clone()).unwrap();
    let found = laws::run(&mut Parser::new(input.config.clone()), &input, &[]).unwrap();
    json!({"name": name.join("/"), "text": text, "config": settings, "found": check::found(&found)})
}

#[test]
fn the_conformance_file_has_every_fixture_as_the_parser_reads_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (folder, file) = (root.join("parse"), root.join("conformance.jsonl"));
    let mut paths = Vec::new();
    texts(&folder, &mut paths);
    paths.sort();
    let mut lines = String::new();
    for path in &paths {
        writeln!(lines, "{}", line(&folder, path)).unwrap();
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &lines).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    let differs = lines.lines().zip(kept.lines()).find(|(now, kept)| now != kept);
    assert_eq!(differs, None, "UPDATE=1 cargo test --test parser conformance writes the file anew");
    assert_eq!(lines.lines().count(), kept.lines().count(), "UPDATE=1 writes the file anew");
}
