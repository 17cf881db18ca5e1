use super::*;

/// Messages without a call, each with the kind of action that it announces or reports.
const TEXTS: &str = include_str!("texts.jsonl");

#[test]
fn what_a_message_tells_of_is_known_from_its_last_sentences() {
    let mut counts = [0; 3];
    for line in TEXTS.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let (act, at) = match row["act"].as_str() {
            Some("ahead") => (Some(Announced::Ahead), 0),
            Some("done") => (Some(Announced::Done), 1),
            _ => (None, 2),
        };
        counts[at] += 1;
        assert_eq!(announced(row["text"].as_str().unwrap()), act, "{line}");
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

#[test]
fn the_end_of_a_long_message_decides() {
    let long = "The file holds three settings. ".repeat(10_000);
    assert_eq!(announced(&format!("{long}\n\nNow let me read the second one:")), Some(Announced::Ahead));
    assert_eq!(announced(&format!("Let me read it:\n\n{long}")), None);
    assert_eq!(announced(&format!("I've saved it.\n\n{long}")), None);
    assert_eq!(announced(&"天".repeat(10_000)), None);
}

#[test]
fn every_list_of_the_table_is_asked_for_and_every_pattern_finds_its_lists() {
    let (code, table) = (include_str!("../announced.rs"), include_str!("../announced.txt"));
    let in_table: Vec<&str> = table.split("\n[").skip(1).filter_map(|rest| Some(rest.split_once(']')?.0)).collect();
    let is_asked = |name: &&&str| {
        let in_pattern = format!("{{{name}}}");
        code.contains(&format!("\"{name}\"")) || code.contains(&in_pattern) || table.contains(&in_pattern)
    };
    assert_eq!(in_table.iter().find(|name| !is_asked(name)), None);
    let mut in_patterns = table.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let is_there = |name: &&str| matches!(*name, "act" | "changed" | "any" | "list") || in_table.contains(name);
    assert_eq!(in_patterns.find(|name| !is_there(name)), None);
}
