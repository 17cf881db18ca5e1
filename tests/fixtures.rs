//! The parser on `fixtures/parse`: each text as a whole, by character, and at every two-way split,
//! compared with an expectation written by hand. The format is described in `fixtures/README.md`.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use toolgraft_testkit::fixture::{Expectation, differences, found};
use toolgraft_testkit::{laws, oracle};

/// Largest text, in bytes, that is split at every character; longer ones are split at some hundred
/// offsets.
const EVERY_SPLIT: usize = 4096;

/// Returns every two-way split of a short text, and some hundred of a long one.
fn two_way_splits(text: &str) -> Vec<Vec<usize>> {
    let step = 1 + text.len() / EVERY_SPLIT * 16;
    text.char_indices().map(|(at, _)| at).step_by(step).map(|at| vec![at]).collect()
}

/// Checks that the expectation has all required members, and adds the defaults: a call has no
/// server and plain provenance, a rejection no further members, and the answer is not in the
/// reasoning.
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

fn fixture(name: &str, path: &Path, text: String) -> Result<(), Box<dyn std::error::Error>> {
    let beside = path.with_extension("expect.json");
    let place = |error: &dyn std::fmt::Display| format!("{}: {error}", beside.display());
    let mut stated = Expectation::read(&std::fs::read_to_string(&beside)?).map_err(|e| place(&e))?;
    let [expectation] = &mut stated.rounds[..] else { return Err(place(&"expected one object").into()) };
    let expectation = in_full(expectation.take()).map_err(|e| place(&e))?;
    let splits = two_way_splits(&text);
    let input = stated.input(text)?;
    // A wrong message is reported before a violated law.
    let whole = laws::run(&mut laws::parser(&input.config), &input, &[])?;
    let differences = differences(std::slice::from_ref(&expectation), &[found(&whole)]);
    if !differences.is_empty() {
        return Err(format!("{}\n{}", expectation["about"].as_str().unwrap_or_default(), differences.join("\n")).into());
    }
    oracle::reset();
    laws::check(&input, &splits)?;
    oracle::compare("fixtures", name, oracle::digest())?;
    // With a delimiter of reasoning, a reasoning field or a truncated answer, the modes differ on
    // purpose.
    if !laws::may_tell_reasoning(&input.text) && input.reasoning_field.is_empty() && input.reason.is_normal() {
        laws::is_answer_in_open(&input)?;
    }
    Ok(())
}

/// Returns the texts below a folder.
fn texts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { texts(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect()
}

/// Creates a test for each text, named by its path.
fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parse");
    let trial = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().display().to_string().replace('\\', "/");
        let of = name.clone();
        Trial::test(format!("fixture::{name}"), move || {
            fixture(&of, &path, std::fs::read_to_string(&path)?).map_err(|error| Failed::from(error.to_string()))
        })
    };
    let mut trials: Vec<Trial> = texts(&root).into_iter().map(trial).collect();
    assert!(trials.len() > 100, "only {} texts were found", trials.len());
    let names = trials.iter().map(|trial| trial.name().trim_start_matches("fixture::").to_owned()).collect();
    trials.push(Trial::test("oracle::rows", move || match oracle::stale("fixtures", &names)[..] {
        [] => Ok(()),
        ref stale => Err(Failed::from(format!("recorded, and no fixture: {stale:?}"))),
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
