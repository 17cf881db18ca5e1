//! All fixtures of the parser.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};
use toolgraft_testkit::fixture::{self, Expectation};
use toolgraft_testkit::laws::Input;

/// A fixture: its text and settings, and its expectation.
pub(crate) struct Fixture {
    /// Path below `fixtures/parse`, without the extension.
    pub(crate) name: String,
    pub(crate) input: Input,
    /// The text of the expectation.
    pub(crate) stated: String,
}

/// All fixtures, by their paths.
pub(crate) static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parse");
    let mut paths = Vec::new();
    texts(&root, &mut paths);
    paths.sort();
    assert!(paths.len() > 1_000, "{}", paths.len());
    paths.iter().map(|path| read(&root, path)).collect()
});

fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            texts(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "txt") {
            found.push(entry);
        }
    }
}

fn read(root: &Path, path: &Path) -> Fixture {
    let name = path.strip_prefix(root).unwrap().with_extension("");
    let name: Vec<_> = name.iter().map(|part| part.to_str().unwrap()).collect();
    let stated = std::fs::read_to_string(path.with_extension("expect.json")).unwrap();
    let expectation = Expectation::read(&stated).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    Fixture { name: name.join("/"), input: expectation.input(text).unwrap(), stated }
}

/// Returns the differences between an expected and a found message.
fn differences(expected: Value, found: Value) -> Vec<String> {
    fixture::differences(&[expected], &[found])
}

#[test]
fn only_named_fields_count_but_arguments_count_whole() {
    let found = json!({ "content": "a", "calls": [{ "tool": "f", "arguments": { "x": 1, "y": 2 }, "repairs": [] }] });
    assert!(differences(json!({ "calls": [{ "tool": "f" }] }), found.clone()).is_empty());
    let list = differences(json!({ "calls": [{ "arguments": { "x": 1 } }] }), found);
    assert_eq!(list, ["calls[0].arguments:\n  expected {\"x\":1}\n  found    {\"x\":1,\"y\":2}"]);
}

#[test]
fn missing_and_extra_entries_are_named() {
    let list = differences(json!({ "calls": [{ "tool": "f" }] }), json!({ "calls": [] }));
    assert_eq!(list, ["calls: expected 1, found 0", "calls[0] is missing: {\"tool\":\"f\"}"]);
    let list = differences(json!({ "rejected": [] }), json!({ "rejected": [{ "kind": "limit" }] }));
    assert_eq!(list, ["rejected: expected 0, found 1", "rejected[0] is not expected: {\"kind\":\"limit\"}"]);
}

#[test]
fn texts_are_shown_from_where_they_part() {
    let list = differences(json!({ "content": "武汉下雨" }), json!({ "content": "武汉晴" }));
    assert_eq!(list, ["content: different from character 2 on\n  expected \"武汉下雨\"\n  found    \"武汉晴\""]);
}
