//! The parser over `fixtures/parse`: each text whole, by character, and at
//! every two-way split, against an expectation written by hand. The format is
//! described in `fixtures/README.md`.

mod common;

use std::path::Path;

use common::laws::{self, Input};
use serde::Deserialize;
use serde_json::Value;
use toolgraft::dialect::DialectSet;
use toolgraft::event::{Assembled, Provenance, RejectedKind};
use toolgraft::message::{FencedCalls, FinishReason, ReasoningCalls, ReasoningMode};
use toolgraft::parse::{Config, Limits};
use toolgraft::{Catalog, Tool};

/// Texts up to this size are cut at every character; longer ones at some
/// hundreds of places.
const EVERY_SPLIT: usize = 4096;

/// A fixture's `NAME.expect.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    about: String,
    #[serde(default)]
    config: Settings,
    content: String,
    reasoning: String,
    calls: Vec<ExpectedCall>,
    rejected: Vec<ExpectedRejection>,
    deltas: Option<Vec<String>>,
    #[serde(default)]
    answer_in_reasoning: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    dialect: Option<Names>,
    reasoning: ReasoningMode,
    reasoning_calls: ReasoningCalls,
    reasoning_marks: Vec<String>,
    fenced_calls: FencedCalls,
    stop: Vec<String>,
    finish_reason: FinishReason,
    tools: Option<Tools>,
    limits: SmallLimits,
    reasoning_field: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tools {
    Shared(String),
    Listed(Vec<Tool>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SmallLimits {
    call_bytes: Option<usize>,
    depth: Option<usize>,
    calls: Option<usize>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedCall {
    server: Option<String>,
    tool: String,
    arguments: Value,
    dialect: String,
    repairs: Vec<String>,
    /// How it was found; plain if absent.
    #[serde(default)]
    provenance: Provenance,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedRejection {
    kind: RejectedKind,
    raw: String,
    message_contains: Option<String>,
    /// How many calls more are not listed.
    #[serde(default)]
    count: u64,
}

impl Settings {
    fn input(self, text: String) -> datatest_stable::Result<Input> {
        let dialects: DialectSet = match self.dialect {
            None => DialectSet::AUTO,
            Some(Names::One(name)) => name.parse()?,
            Some(Names::Several(names)) => names.join(",").parse()?,
        };
        let tools = match self.tools {
            None => None,
            Some(Tools::Listed(tools)) => Some(tools),
            Some(Tools::Shared(name)) => {
                let path = format!("{}/fixtures/parse/tools/{name}.json", env!("CARGO_MANIFEST_DIR"));
                Some(serde_json::from_slice(&std::fs::read(path)?)?)
            }
        };
        let defaults = Limits::default();
        let config = Config {
            dialects,
            catalog: tools.map(|tools| Catalog::from_tools(tools).into()),
            reasoning: self.reasoning,
            reasoning_calls: self.reasoning_calls,
            reasoning_marks: self.reasoning_marks,
            fenced_calls: self.fenced_calls,
            stop: self.stop,
            limits: Limits {
                call_bytes: self.limits.call_bytes.unwrap_or(defaults.call_bytes),
                depth: self.limits.depth.unwrap_or(defaults.depth),
                calls: self.limits.calls.unwrap_or(defaults.calls),
            },
        };
        Ok(Input { reasoning_field: self.reasoning_field, text, reason: self.finish_reason, config })
    }
}

/// Every two-way split of a short text; some hundred of a long one.
fn two_way_splits(text: &str) -> Vec<Vec<usize>> {
    let step = 1 + text.len() / EVERY_SPLIT * 16;
    text.char_indices().map(|(at, _)| at).step_by(step).map(|at| vec![at]).collect()
}

fn differences(expected: &Expectation, got: &Assembled) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, expected: &str, got: &str| {
        if expected != got {
            found.push(format!("{what}\n  expected {expected}\n  got      {got}"));
        }
    };
    compare("content", &format!("{:?}", expected.content), &format!("{:?}", got.content));
    compare("reasoning", &format!("{:?}", expected.reasoning), &format!("{:?}", got.reasoning));
    let calls: Vec<_> = got
        .calls()
        .map(|call| ExpectedCall {
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            dialect: call.dialect.name().to_owned(),
            repairs: call.repairs.iter().map(ToString::to_string).collect(),
            provenance: call.provenance,
        })
        .collect();
    compare("calls", &format!("{:#?}", expected.calls), &format!("{calls:#?}"));
    let rejected = |kind: RejectedKind, raw: &str, count: u64| format!("{kind} {raw:?} and {count} more");
    let wanted: Vec<_> = expected.rejected.iter().map(|r| rejected(r.kind, &r.raw, r.count)).collect();
    let given: Vec<_> = got.rejected().map(|r| rejected(r.kind, &r.raw, r.count)).collect();
    compare("rejected", &format!("{wanted:#?}"), &format!("{given:#?}"));
    for (wanted, given) in expected.rejected.iter().zip(got.rejected()) {
        if let Some(part) = &wanted.message_contains
            && !given.message.contains(part.as_str())
        {
            compare("message", &format!("some text with {part:?}"), &format!("{:?}", given.message));
        }
    }
    if let Some(deltas) = &expected.deltas {
        let given: Vec<_> = got.entries.iter().map(|e| &e.deltas).collect();
        compare("deltas", &format!("{deltas:?}"), &format!("{given:?}"));
    }
    let flags = (expected.answer_in_reasoning, got.answer_in_reasoning);
    compare("answer_in_reasoning", &flags.0.to_string(), &flags.1.to_string());
    found
}

fn fixture(path: &Path, text: String) -> datatest_stable::Result<()> {
    let beside = path.with_extension("expect.json");
    let mut expectation: Expectation =
        serde_json::from_slice(&std::fs::read(&beside)?).map_err(|error| format!("{}: {error}", beside.display()))?;
    let splits = two_way_splits(&text);
    let input = std::mem::take(&mut expectation.config).input(text)?;
    // What it says comes first: a wrong answer is told before a broken law.
    let whole = laws::run(&mut toolgraft::Parser::new(input.config.clone()), &input, &[])?;
    let differences = differences(&expectation, &whole);
    if !differences.is_empty() {
        return Err(format!("{}\n{}", expectation.about, differences.join("\n")).into());
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
