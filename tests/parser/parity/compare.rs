//! Parses a record and compares the result.

use serde_json::Value;
use toolgraft::dialect::DialectSet;
use toolgraft::event::Assembled;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Dialect};
use toolgraft_testkit::laws::{self, Input};
use toolgraft_testkit::oracle;
use toolgraft_testkit::same::same_value;

use super::families::family;
use super::record::{Call, Outcome, Partly, Record};

/// The parser's results for a record: with `auto`, and with the family's dialects.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) auto: Assembled,
    /// The result with the family's own dialects alone, if it differs.
    pub(crate) alone: Option<Assembled>,
    /// The digest of the events with `auto`.
    pub(crate) digest: u64,
}

/// Parses the record as a whole, in its chunks, and by character, and checks the laws.
///
/// # Errors
/// The first violated law.
pub(crate) fn run(record: &Record) -> Result<Ours, String> {
    let dialects = if record.split_only { DialectSet::NONE } else { DialectSet::AUTO };
    let input = input(record, dialects);
    oracle::reset();
    let auto = laws::check(&input, &[cuts(record)])?;
    let digest = oracle::digest();
    let own = family(&record.family).dialects.filter(|names| !names.is_empty() && !record.split_only);
    let known: Vec<Dialect> = own.into_iter().flatten().filter_map(|name| name.parse().ok()).collect();
    if known.is_empty() {
        return Ok(Ours { auto, alone: None, digest });
    }
    let own = known.into_iter().fold(DialectSet::NONE, DialectSet::with);
    let config = input.config.clone().with_dialects(own);
    let alone = laws::run(&mut laws::parser(&config), &Input { config, ..input }, &[])?;
    let same = outcome(&alone) == outcome(&auto);
    Ok(Ours { auto, digest, alone: (!same).then_some(alone) })
}

fn input(record: &Record, dialects: DialectSet) -> Input {
    let config = Config::default()
        .with_dialects(dialects)
        .with_catalog(record.tools.clone().map(|tools| Catalog::from_tools(tools).into()))
        .with_reasoning(record.mode.unwrap_or_default());
    let reason = record.finish.clone().unwrap_or_default();
    Input { text: record.text(), reason, config, ..Input::default() }
}

/// Returns the offsets at which the record's chunks end.
fn cuts(record: &Record) -> Vec<usize> {
    let mut at = 0;
    let ends = record.chunks.iter().map(|chunk| {
        at += chunk.len();
        at
    });
    ends.collect()
}

/// Returns the calls that may run, the content and the reasoning.
pub(crate) fn outcome(message: &Assembled) -> Outcome {
    let call = |call: &toolgraft::Call| Call { name: call.tool.clone(), arguments: call.arguments.clone() };
    Outcome {
        calls: Some(message.calls().map(call).collect()),
        content: Some(message.content.clone()),
        reasoning: Some(message.reasoning.clone()),
        partly: None,
    }
}

/// Returns the differences between `got` and the expectation of a record; members without an
/// expectation do not count.
pub(crate) fn differences(record: &Record, expected: &Outcome, got: &Outcome) -> Vec<&'static str> {
    let same = if family(&record.family).has_values_in_tags() { same_text_value } else { same_value };
    let calls = got.calls.as_deref().unwrap_or_default();
    let mut found = Vec::new();
    if expected.calls.as_ref().is_some_and(|expected| !same_calls(expected, calls, same))
        || expected.partly.as_ref().is_some_and(|expected| !fits(expected, calls, same))
    {
        found.push("calls");
    }
    if !same_text(&expected.content, &got.content) {
        found.push("content");
    }
    if !same_text(&expected.reasoning, &got.reasoning) {
        found.push("reasoning");
    }
    found
}

/// Engines trim content and reasoning in different places, so ends are not compared.
fn same_text(expected: &Option<String>, got: &Option<String>) -> bool {
    expected.as_deref().is_none_or(|expected| expected.trim() == got.as_deref().unwrap_or_default().trim())
}

/// Compares the expected value of an argument with ours.
type Same = fn(&Value, &Value) -> bool;

fn same_calls(expected: &[Call], got: &[Call], same: Same) -> bool {
    let same_call = |(e, g): (&Call, &Call)| e.name == g.name && same_arguments(&e.arguments, &g.arguments, same);
    expected.len() == got.len() && expected.iter().zip(got).all(same_call)
}

fn same_arguments(expected: &Value, got: &Value, same: Same) -> bool {
    match (expected, got) {
        (Value::Object(e), Value::Object(g)) => {
            e.len() == g.len() && e.iter().all(|(key, e)| g.get(key).is_some_and(|g| same(e, g)))
        }
        (e, g) => e == g,
    }
}

fn fits(expected: &Partly, got: &[Call], same: Same) -> bool {
    // A test with no call but a name counts something else.
    let count = expected.count.filter(|&n| n > 0 || expected.names.is_empty());
    count.is_none_or(|n| n == got.len())
        && expected.names.iter().all(|name| got.iter().any(|call| call.name == *name))
        && expected
            .arguments
            .iter()
            .all(|(key, value)| got.iter().any(|call| call.arguments.get(key).is_some_and(|got| same(value, got))))
}

/// Compares an argument between tags before coercion: engines convert the text by the tool's
/// schema, so our text may be their number, boolean, null, list or object, as written in JSON or
/// Python.
fn same_text_value(expected: &Value, got: &Value) -> bool {
    match got {
        Value::String(text) if !expected.is_string() => read(text).is_some_and(|read| same_value(expected, &read)),
        _ => same_value(expected, got),
    }
}

fn read(text: &str) -> Option<Value> {
    match text.trim() {
        "True" => Some(Value::Bool(true)),
        "False" => Some(Value::Bool(false)),
        "None" => Some(Value::Null),
        text => serde_json::from_str(text).ok(),
    }
}
