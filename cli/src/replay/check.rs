//! Compares the result of a replay with its expectation. The library's own fixtures are compared by this file as well.

use serde_json::{Value, json};

use super::expected::FIELDS;
use toolgraft::event::{Assembled, Provenance};
use toolgraft::wire::set_member;

/// Returns a message in the form that `extract` writes.
pub(super) fn result(assembled: &Assembled) -> Value {
    let calls: Vec<Value> = assembled
        .calls()
        .map(|call| {
            json!({
                "server": call.server, "tool": call.tool, "arguments": call.arguments,
                "dialect": call.dialect.name(), "repairs": call.repairs, "provenance": call.provenance,
            })
        })
        .collect();
    let rejected: Vec<Value> = assembled
        .rejected()
        .map(|rejected| json!({ "kind": rejected.kind, "raw": rejected.raw, "message": rejected.message }))
        .collect();
    json!({
        "content": assembled.content, "reasoning": assembled.reasoning, "calls": calls, "rejected": rejected,
    })
}

/// Returns a [`result`] with what an expectation may name beside it.
pub(super) fn found(assembled: &Assembled) -> Value {
    let mut found = result(assembled);
    let promoted = assembled.entries.iter().filter(|e| e.provenance() == Provenance::Promoted).map(|e| e.index);
    let deltas = assembled.entries.iter().map(|e| e.deltas.as_str());
    set_member(&mut found, "promoted", promoted.collect::<Value>());
    set_member(&mut found, "deltas", deltas.collect::<Value>());
    set_member(&mut found, "answer_in_reasoning", assembled.answer_in_reasoning);
    found
}

/// Returns the differences between the rounds and the expected ones. Of each expected object only the fields that it
/// names are compared.
pub(super) fn differences(expected: &[Value], found: &[Value]) -> Vec<String> {
    let mut differences = Vec::new();
    if expected.len() != found.len() {
        differences.push(format!("expected {} rounds, found {}", expected.len(), found.len()));
    }
    for (n, (wanted, found)) in expected.iter().zip(found).enumerate() {
        let place = if expected.len() == 1 { String::new() } else { format!("round {}: ", n + 1) };
        for field in FIELDS {
            if let Some(wanted) = wanted.get(field).filter(|value| !value.is_null()) {
                compare(&format!("{place}{field}"), wanted, &found[field], &mut differences);
            }
        }
    }
    differences
}

/// Adds a line for each place where `found` does not hold what is expected.
/// Of objects only the expected fields count, except within `arguments`.
fn compare(place: &str, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(fields), Value::Object(_)) if !place.ends_with(".arguments") => {
            for (key, value) in fields {
                if let ("message_contains", Some(part)) = (key.as_str(), value.as_str()) {
                    let message = found["message"].as_str().unwrap_or_default();
                    if !message.contains(part) {
                        differences
                            .push(format!("{place}.message: expected some text with {part:?}, found {message:?}"));
                    }
                    continue;
                }
                compare(&format!("{place}.{key}"), value, &found[key], differences);
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            if expected.len() != found.len() {
                differences.push(format!("{place}: expected {}, found {}", expected.len(), found.len()));
            }
            for (n, pair) in expected.iter().zip(found).enumerate() {
                compare(&format!("{place}[{n}]"), pair.0, pair.1, differences);
            }
            for (n, extra) in found.iter().enumerate().skip(expected.len()) {
                differences.push(format!("{place}[{n}] is not expected: {extra}"));
            }
            for (n, missing) in expected.iter().enumerate().skip(found.len()) {
                differences.push(format!("{place}[{n}] is missing: {missing}"));
            }
        }
        (Value::String(e), Value::String(f)) if e != f => differences.push(text_difference(place, e, f)),
        _ if expected != found => {
            differences.push(format!("{place}:\n  expected {expected}\n  found    {found}"));
        }
        _ => {}
    }
}

/// Two texts from where they part, with a little before it.
fn text_difference(place: &str, expected: &str, found: &str) -> String {
    let same = expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(20);
    let part = |text: &str| {
        let shown: String = text.chars().skip(from).take(100).collect();
        let before = if from > 0 { "…" } else { "" };
        let after = if text.chars().count() > from + 100 { "…" } else { "" };
        format!("{before}{}{after}", Value::String(shown))
    };
    format!("{place}: different from character {same} on\n  expected {}\n  found    {}", part(expected), part(found))
}
