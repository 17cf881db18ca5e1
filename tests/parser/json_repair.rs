//! Damaged JSON as a call's arguments: the cases of three repair libraries, and the parser's
//! results. `fixtures/parity/json_repair.md` lists known differences, and cases that our rules
//! forbid.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use toolgraft::parse::Config;
use toolgraft_testkit::laws;
use toolgraft_testkit::same::same_value;

#[derive(Deserialize)]
struct Record {
    id: String,
    text: String,
    expected: Value,
}

/// The result of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Right,
    Refused,
    /// Accepted with another value than expected.
    Wrong,
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parity").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the arguments of a call that contains the text.
fn arguments(text: &str) -> Option<Value> {
    let call = "<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name>";
    let message = laws::read(&format!("{call}<arguments>{text}</arguments></use_mcp_tool>"), &Config::default());
    let calls: Vec<_> = message.calls().collect();
    match calls.as_slice() {
        [call] => Some(call.arguments.clone()),
        _ => None,
    }
}

fn outcome(record: &Record) -> Outcome {
    match arguments(&record.text) {
        None => Outcome::Refused,
        Some(value) if same_value(&record.expected, &value) => Outcome::Right,
        Some(_) => Outcome::Wrong,
    }
}

/// Returns the lists of the document: the heading's first word, and the records below it.
fn lists(document: &str) -> BTreeMap<String, Vec<String>> {
    let mut lists = BTreeMap::new();
    for section in document.split("\n## ").skip(1) {
        let name = section.split_whitespace().next().unwrap_or_default().to_lowercase();
        let ids = section.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next());
        lists.insert(name, ids.map(str::to_owned).collect());
    }
    lists
}

/// Returns the number before a word, in the document's line of numbers with this beginning.
fn number(document: &str, begin: &str, word: &str) -> usize {
    let line = document.lines().find(|line| line.starts_with(begin)).expect("a line of numbers");
    let before = line.split(word).next().expect("the word");
    before.split_whitespace().next_back().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no number of {word}"))
}

#[test]
fn damaged_json_is_read_right_or_refused_and_every_exception_is_listed() {
    let document = read("json_repair.md");
    let mut lists = lists(&document);
    let known = lists.remove("read").expect("a list of those that are read otherwise");
    let records: Vec<Record> =
        read("json_repair.jsonl").lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    let mut left = 0;
    for record in &records {
        let outcome = outcome(record);
        let rule = lists.iter().find(|(_, ids)| ids.contains(&record.id)).map(|(rule, _)| rule.as_str());
        let Some(rule) = rule else {
            *counts.entry(outcome).or_insert(0_usize) += 1;
            if outcome == Outcome::Wrong {
                wrong.push(record.id.clone());
            }
            continue;
        };
        left += 1;
        let forbidden = matches!(rule, "cut" | "brackets" | "dropped" | "invented");
        assert!(!forbidden || outcome == Outcome::Refused, "{} ({rule}): {outcome:?}, {:?}", record.id, record.text);
    }
    let listed: usize = lists.values().map(Vec::len).sum();
    assert_eq!(left, listed, "a record is listed twice or does not exist");
    assert_eq!(wrong, known, "read otherwise, against those that are listed");
    let all = records.iter().map(outcome).fold(BTreeMap::new(), |mut counts, outcome| {
        *counts.entry(outcome).or_insert(0_usize) += 1;
        counts
    });
    for (begin, cases, counts) in [("Of all", records.len(), all), ("Of the", records.len() - left, counts)] {
        let count = |outcome| counts.get(&outcome).copied().unwrap_or_default();
        let got = [cases, count(Outcome::Right), count(Outcome::Refused), count(Outcome::Wrong)];
        let words = [" cases", " are right", " are refused", " are read otherwise"];
        assert_eq!(got, words.map(|word| number(&document, begin, word)), "{begin}: cases, right, refused, otherwise");
    }
}
