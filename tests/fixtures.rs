//! The parser over `fixtures/parse`: each text whole, by character, and at
//! every two-way split, against an expectation written by hand. The format is
//! described in `fixtures/README.md`.

mod common;

/// The command's own reader and comparer of expectations (`replay --check`).
#[path = "../cli/src/replay/check.rs"]
mod check;
#[path = "../cli/src/replay/expected.rs"]
mod expected;

use std::path::Path;

use common::laws::{self, Input};
use serde_json::Value;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};

/// Texts up to this size are cut at every character; longer ones at some
/// hundreds of places.
const EVERY_SPLIT: usize = 4096;

/// The text and how it is read. A list of tools that is only named stands beside the fixtures.
fn input(config: expected::Config, text: String) -> datatest_stable::Result<Input> {
    let tools: Option<Vec<Tool>> = match config.tools.clone() {
        None => None,
        Some(Value::String(name)) => {
            let path = format!("{}/fixtures/parse/tools/{name}.json", env!("CARGO_MANIFEST_DIR"));
            Some(serde_json::from_slice(&std::fs::read(path)?)?)
        }
        Some(listed) => Some(serde_json::from_value(listed)?),
    };
    let (dialects, limits) = (config.dialects()?, config.limits());
    let read = Config::default()
        .with_dialects(dialects)
        .with_catalog(tools.map(|tools| Catalog::from_tools(tools).into()))
        .with_reasoning(config.reasoning)
        .with_reasoning_calls(config.reasoning_calls)
        .with_reasoning_marks(config.reasoning_marks)
        .with_fenced_calls(config.fenced_calls)
        .with_limits(limits)
        .with_stop(config.stop);
    Ok(Input { reasoning_field: config.reasoning_field, text, reason: config.finish_reason, config: read })
}

/// Every two-way split of a short text; some hundred of a long one.
fn two_way_splits(text: &str) -> Vec<Vec<usize>> {
    let step = 1 + text.len() / EVERY_SPLIT * 16;
    text.char_indices().map(|(at, _)| at).step_by(step).map(|at| vec![at]).collect()
}

/// The expectation with all that a fixture must state, and its defaults written out: a call's
/// server is none and it was found plainly, a rejection stands for itself alone, the answer is
/// not in the reasoning.
fn in_full(mut expectation: Value) -> Result<Value, String> {
    let stated = |value: &Value, keys: &[&str], what: &str| match keys.iter().find(|key| value.get(**key).is_none()) {
        Some(key) => Err(format!("{what} states no `{key}`")),
        None => Ok(()),
    };
    let default = |value: &mut Value, key: &str, default: Value| {
        if value.get(key).is_none() {
            value[key] = default;
        }
    };
    stated(&expectation, &["about", "content", "reasoning", "calls", "rejected"], "the expectation")?;
    default(&mut expectation, "answer_in_reasoning", false.into());
    for call in expectation["calls"].as_array_mut().into_iter().flatten() {
        stated(call, &["tool", "arguments", "dialect", "repairs"], "a call")?;
        default(call, "server", Value::Null);
        default(call, "provenance", "plain".into());
    }
    for rejected in expectation["rejected"].as_array_mut().into_iter().flatten() {
        stated(rejected, &["kind", "raw"], "a rejection")?;
        default(rejected, "count", Value::Null);
    }
    Ok(expectation)
}

fn fixture(path: &Path, text: String) -> datatest_stable::Result<()> {
    let beside = path.with_extension("expect.json");
    let place = |error: &dyn std::fmt::Display| format!("{}: {error}", beside.display());
    let (config, mut rounds) = expected::read(&std::fs::read_to_string(&beside)?).map_err(|e| place(&e))?;
    let [expectation] = &mut rounds[..] else { return Err(place(&"expected one object").into()) };
    let expectation = in_full(expectation.take()).map_err(|e| place(&e))?;
    let splits = two_way_splits(&text);
    let input = input(config.unwrap_or_default(), text)?;
    // What it says comes first: a wrong answer is told before a broken law.
    let whole = laws::run(&mut toolgraft::Parser::new(input.config.clone()), &input, &[])?;
    let differences = check::differences(std::slice::from_ref(&expectation), &[check::found(&whole)]);
    if !differences.is_empty() {
        return Err(format!("{}\n{}", expectation["about"].as_str().unwrap_or_default(), differences.join("\n")).into());
    }
    laws::check(&input, &splits)?;
    if !laws::may_tell_reasoning(&input.text) && input.reasoning_field.is_empty() && input.reason.is_normal() {
        laws::is_answer_in_open(&input)?;
    }
    Ok(())
}

datatest_stable::harness! {
    { test = fixture, root = "fixtures/parse", pattern = r".*\.txt$" },
}
