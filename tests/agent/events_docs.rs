//! `docs/events.md` describes the events: its examples can be read back, it has every event and
//! every name, and the turn in it is a real one.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;

use futures::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolgraft::agent::CallerWarning;
use toolgraft::agent::{ApprovalRequest, AskReason, StopReason};
use toolgraft::event::{Region, RejectedKind};
use toolgraft::outcome::Status;
use toolgraft::tools::Decision;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::{Agent, AgentEvent, Functions, Policy, Tool};

const DOC: &str = include_str!("../../docs/events.md");

/// Returns the sections of the page: title and text.
fn sections() -> Vec<(&'static str, &'static str)> {
    let headed = DOC.split("\n## ").skip(1);
    headed.map(|section| section.split_once('\n').unwrap()).collect()
}

fn section(title: &str) -> &'static str {
    let found = sections().into_iter().find(|(t, _)| *t == title);
    found.unwrap_or_else(|| panic!("the page has no section {title:?}")).1
}

/// Returns the lines of a section's JSON block.
fn lines(section: &str) -> Vec<&str> {
    let (_, block) = section.split_once("```jsonl\n").unwrap_or_else(|| panic!("no example: {section}"));
    block.split_once("```").unwrap().0.lines().collect()
}

/// Returns the names that serde accepts, which its error for a wrong one lists.
fn words<T: DeserializeOwned>(wrong: &Value) -> BTreeSet<String> {
    let Err(error) = serde_json::from_value::<T>(wrong.clone()) else { panic!("{wrong} is accepted") };
    let error = error.to_string();
    let (_, expected) = error.split_once(", expected ").unwrap_or_else(|| panic!("{error}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Reads a line and writes it again, so that it has every member that is always written, and no
/// unknown one.
fn read_back<T: DeserializeOwned + Serialize>(line: &str) -> T {
    let value: T = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let shown: Value = serde_json::from_str(line).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), shown, "{line}");
    value
}

/// Returns the first column of a section's table.
fn rows(section: &str) -> BTreeSet<String> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn every_event_has_a_section_with_an_example_that_is_read_back() {
    let events = words::<AgentEvent>(&json!({"type": "?"}));
    let documented: BTreeSet<String> = sections()
        .iter()
        .filter_map(|(title, _)| Some(title.strip_prefix('`')?.strip_suffix('`')?.to_owned()))
        .collect();
    assert_eq!(documented, events);
    for event in events {
        for line in lines(section(&format!("`{event}`"))) {
            read_back::<AgentEvent>(line);
            assert!(line.starts_with(&format!("{{\"type\":\"{event}\"")), "{line}");
        }
    }
}

#[test]
fn every_member_of_an_example_stands_in_its_table() {
    for (title, text) in sections().into_iter().filter(|(title, _)| title.starts_with('`')) {
        let mut shown = BTreeSet::new();
        for line in lines(text) {
            let Value::Object(members) = serde_json::from_str(line).unwrap() else { panic!("{line}") };
            shown.extend(members.into_iter().map(|(name, _)| name).filter(|name| name != "type"));
        }
        assert_eq!(rows(text), shown, "{title}");
    }
}

#[test]
fn no_word_is_missing() {
    assert_eq!(rows(section("Reasons to stop")), words::<StopReason>(&json!({"kind": "?"})));
    assert_eq!(rows(section("Notices")), words::<CallerWarning>(&json!({"kind": "?"})));
    assert_eq!(rows(section("Statuses of an outcome")), words::<Status>(&json!("?")));
    assert_eq!(rows(section("Kinds of rejection")), words::<RejectedKind>(&json!("?")));
    for word in words::<AskReason>(&json!("?")) {
        assert!(section("`approval_asked`").contains(&format!("`{word}`")), "{word}");
    }
    for word in words::<Region>(&json!("?")) {
        assert!(section("`reclassified`").contains(&format!("`{word}`")), "{word}");
    }
    for line in lines(section("Reasons to stop")) {
        read_back::<StopReason>(line);
    }
    for line in lines(section("Notices")) {
        read_back::<CallerWarning>(line);
    }
}

/// Runs the turn that the page shows.
async fn played() -> Vec<AgentEvent> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = Functions::new("weather").with(
        Tool::new("get_weather").with_description("Weather of a city").with_schema(schema),
        |_: Map<String, Value>| async { Ok::<_, String>("21 °C, clear") },
    );
    let call = "<use_mcp_tool><server_name>weather</server_name><tool_name>get_weather</tool_name>\
                <arguments>{\"city\": \"Oslo\"}</arguments></use_mcp_tool>";
    let model = Recorded::new([
        Round::text(format!("<think>The tool knows.</think>{call}")),
        Round::text("It is 21 °C and clear in Oslo."),
    ]);
    let approver = |_: ApprovalRequest| async { true };
    let agent = Agent::builder(model, tools).policy(Policy::new(Decision::AskOnce)).approver(approver).build();
    agent.run("What is the weather in Oslo?").unwrap().collect().await
}

#[tokio::test]
async fn the_turn_of_the_page_is_one_that_happened() {
    // Only the duration of the call differs each time.
    let same_time =
        |text: String| regex::Regex::new("\"took\":[0-9.]+").unwrap().replace_all(&text, "\"took\":0.5").into_owned();
    let written: Vec<String> =
        played().await.iter().map(|event| same_time(serde_json::to_string(event).unwrap())).collect();
    assert_eq!(lines(section("A turn")), written, "the page's turn should be\n{}", written.join("\n"));
}
