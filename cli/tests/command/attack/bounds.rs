//! Memory and time as ratios: what four times as much takes beside once as much. A ratio is the
//! same on a slow machine; the limits are generous. Only with `ATTACK=all` (`make e2e SUITES=attack`).

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use crate::process::Place;
use crate::serve::Serving;

pub(super) fn wanted() -> bool {
    std::env::var("ATTACK").is_ok_and(|how| how == "all")
}

fn answering() -> Endpoint {
    Endpoint::answer(|_, _| Reply::text("Well."))
}

/// The most memory that a process had, in KiB.
pub(super) fn peak(serving: &Serving) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", serving.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A request with tools that no other request has.
fn with_tools(number: usize, tools: usize) -> Value {
    let tool = |n: usize| {
        let values: Vec<String> = (0..40).map(|value| format!("value {number} {n} {value}")).collect();
        let field = json!({ "type": "string", "enum": values, "description": format!("field of list {number}") });
        json!({ "type": "function", "function": { "name": format!("tool_{number}_{n}"), "parameters":
            { "type": "object", "properties": { "a": field, "b": { "type": "array", "items": field } } } } })
    };
    json!({ "model": "m", "tools": (0..tools).map(tool).collect::<Vec<_>>(),
        "messages": [{ "role": "user", "content": "Hello" }] })
}

/// What is kept of a list of tools is bounded: four times as many lists take no four times as
/// much memory.
#[tokio::test]
async fn memory_does_not_grow_with_the_number_of_tool_lists() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
    let mut number = 0;
    let mut ask = async |lists: usize| {
        for _ in 0..lists {
            number += 1;
            let (status, answer) = serving.chat(&with_tools(number, 300), None).await;
            assert_eq!(status, 200, "{answer:.500}");
        }
        peak(&serving)
    };
    let few = ask(24).await;
    let many = ask(72).await;
    assert!(many < 2 * few, "{few} KiB after 24 lists of tools, {many} KiB after 96");
}

/// A request whose one tool takes one of so many words: what it becomes takes ten times the memory
/// of its text. It is copied nowhere, and leaves nothing. With one arena, the allocator keeps as
/// much on every machine.
#[tokio::test]
async fn a_list_of_very_many_values_is_in_memory_once() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let variables = [("MALLOC_ARENA_MAX", "1")];
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &variables);
    let ask = async |number: usize, words: usize| {
        let values: Vec<String> = (0..words).map(|word| format!("word {number} {word}")).collect();
        let parameters = json!({ "type": "object", "properties": { "word": { "type": "string", "enum": values } } });
        let tool = json!({ "type": "function", "function": { "name": "say", "parameters": parameters } });
        let body = json!({ "model": "m", "tools": [tool], "messages": [{ "role": "user", "content": "Hello" }] });
        let (status, answer) = serving.chat(&body, None).await;
        assert_eq!(status, 200, "{answer:.500}");
        (peak(&serving), body.to_string().len() as u64 / 1024)
    };
    let (before, _) = ask(0, 3).await;
    let (mut most, mut text) = (0, 0);
    for number in 1..5 {
        (most, text) = ask(number, 300_000).await;
    }
    let times = (most - before) / text;
    assert!(times < 16, "{before} KiB, then {most} KiB for {text} KiB of text: {times} times as much");
}

/// A conversation with so many results, none of which is easy to read.
fn with_results(results: usize) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": "Go" })];
    for n in 0..results {
        let id = format!("call_{n}");
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function",
            "function": { "name": "note", "arguments": format!("{{\"text\": \"{n}\"}}") } }] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": "[{<".repeat(1_500) }));
    }
    json!({ "model": "m", "messages": messages, "tools": [{ "type": "function", "function": { "name": "note",
        "parameters": { "type": "object", "properties": { "text": { "type": "string" } } } } }] })
}

/// The shortest of a few requests: what else the machine does only adds.
async fn takes(serving: &Serving, body: &Value, expected: u16) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let (status, answer) = serving.chat(body, None).await;
        assert_eq!(status, expected, "{answer:.500}");
        best = best.min(start.elapsed());
    }
    best
}

#[tokio::test]
async fn the_time_of_a_request_grows_as_its_results_do() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
    let few = takes(&serving, &with_results(50), 200).await;
    let many = takes(&serving, &with_results(200), 200).await;
    assert!(many < 12 * few, "{few:?} for 50 results, {many:?} for 200");
}

/// A tool with so many branches, and a call that fits none of them.
fn with_branches(branches: usize) -> (Value, String) {
    let branch = |n: usize| {
        json!({ "type": "object", "properties": { "kind": { "const": format!("k{n}") },
        "a": { "type": "integer" } }, "required": ["kind", format!("r{n}")] })
    };
    let any: Vec<Value> = (0..branches).map(branch).collect();
    let tool = json!({ "type": "function", "function": { "name": "act", "parameters":
        { "type": "object", "properties": { "x": { "anyOf": any } }, "required": ["x"] } } });
    let body = json!({ "model": "m", "tools": [tool], "messages": [{ "role": "user", "content": "Go" }] });
    let arguments = json!({ "x": { "kind": "no", "a": "5", "other": branches } });
    (body, mcp_call("client", "act", &arguments))
}

#[tokio::test]
async fn the_time_of_a_check_grows_as_the_branches_of_its_schema_do() {
    if !wanted() {
        return;
    }
    let mut times = Vec::new();
    for branches in [400, 1_600] {
        let (body, call) = with_branches(branches);
        let endpoint = Endpoint::answer(move |_, _| Reply::text(&call));
        let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m", "--set", "strict_calls=true"], &[]);
        // It is corrected, and stays wrong.
        times.push(takes(&serving, &body, 502).await);
    }
    assert!(times[1] < 12 * times[0], "{:?} for 400 branches, {:?} for 1,600", times[0], times[1]);
}
