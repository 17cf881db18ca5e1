//! The form of `NAME.expect.json`, as `fixtures/README.md` describes it. The library's own
//! fixtures are read by this file as well.

use serde::Deserialize;
use serde_json::Value;

use toolgraft::dialect::{DialectSet, UnknownDialect};
use toolgraft::message::{FencedCalls, FinishReason, ReasoningCalls, ReasoningMode};
use toolgraft::parse::Limits;

/// The fields of a message that an expectation may name.
pub(super) const FIELDS: [&str; 7] =
    ["content", "reasoning", "calls", "rejected", "promoted", "deltas", "answer_in_reasoning"];

/// The settings for reading a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    dialect: Option<Names>,
    pub(super) reasoning: ReasoningMode,
    pub(super) reasoning_calls: ReasoningCalls,
    /// Openers of marks that the model is known to write around its reasoning.
    pub(super) reasoning_marks: Vec<String>,
    pub(super) fenced_calls: FencedCalls,
    pub(super) stop: Vec<String>,
    pub(super) finish_reason: FinishReason,
    /// A list, or the name of one in a folder `tools` above the file.
    pub(super) tools: Option<Value>,
    limits: SmallLimits,
    /// Text that came in the field for reasoning, before the text.
    pub(super) reasoning_field: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SmallLimits {
    call_bytes: Option<usize>,
    depth: Option<usize>,
    calls: Option<usize>,
}

impl Config {
    /// Dialects that are read; all where none is named.
    pub(super) fn dialects(&self) -> Result<DialectSet, UnknownDialect> {
        match &self.dialect {
            None => Ok(DialectSet::AUTO),
            Some(Names::One(name)) => name.parse(),
            Some(Names::Several(names)) => names.join(",").parse(),
        }
    }

    /// Returns the limits, each the default where it is not named.
    pub(super) fn limits(&self) -> Limits {
        let (defaults, SmallLimits { call_bytes, depth, calls }) = (Limits::default(), self.limits);
        Limits::default()
            .with_call_bytes(call_bytes.unwrap_or(defaults.call_bytes))
            .with_depth(depth.unwrap_or(defaults.depth))
            .with_calls(calls.unwrap_or(defaults.calls))
    }
}

/// Reads the settings of a file, and the expectation of each round.
///
/// # Errors
/// Returns the problem, with its place in the file.
pub(super) fn read(text: &str) -> Result<(Option<Config>, Vec<Value>), String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("not an expectation: {e}"))?;
    let config = match value.get("config") {
        None => None,
        Some(config) => Some(Config::deserialize(config).map_err(|e| format!("`config`: {e}"))?),
    };
    let rounds = match value {
        Value::Array(rounds) => rounds,
        Value::Object(_) => vec![value],
        _ => return Err("expected an object, or an array with one per round".to_owned()),
    };
    // How a recording is read stands in the recording.
    let known = |key: &str| FIELDS.contains(&key) || key == "about" || (key == "config" && config.is_some());
    for (n, round) in rounds.iter().enumerate() {
        let place = if rounds.len() == 1 { String::new() } else { format!("round {}: ", n + 1) };
        let Value::Object(round) = round else { return Err(format!("{place}expected an object")) };
        if let Some(key) = round.keys().find(|key| !known(key)) {
            return Err(format!("{place}nothing is called `{key}`; what may be expected: {}", FIELDS.join(", ")));
        }
    }
    Ok((config, rounds))
}
