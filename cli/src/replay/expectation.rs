//! `NAME.expect.json` beside a file: how it is read, and what is expected of it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Failure, input, tool_file};
use toolgraft::catalog::Catalog;
use toolgraft::catalog::Server;
use toolgraft::dialect::DialectSet;
use toolgraft::message::{DeltaKind, FinishReason};
use toolgraft::parse::Limits;
use toolgraft::reasoning::{ReasoningCalls, ReasoningMode};
use toolgraft::transcript::{Finish, Recording, Round, TimedDelta};

/// What is expected of a file.
#[derive(Debug)]
pub(super) struct Expectation {
    /// Where it stands.
    pub(super) source: String,
    /// One for each round, over all recordings of the file.
    pub(super) rounds: Vec<Value>,
    /// How the file is read.
    config: Option<Config>,
}

/// How a fixture is read; `fixtures/README.md` describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    dialect: Option<Names>,
    reasoning: ReasoningMode,
    reasoning_calls: ReasoningCalls,
    finish_reason: FinishReason,
    /// A list, or the name of one in a folder `tools` above the file.
    tools: Option<Value>,
    limits: SmallLimits,
    reasoning_field: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct SmallLimits {
    call_bytes: Option<usize>,
    depth: Option<usize>,
    calls: Option<usize>,
}

impl Expectation {
    /// The expectation beside a file, if there is one.
    pub(super) fn beside(file: &Path) -> Result<Option<Expectation>, Failure> {
        let path = place(file);
        if file == Path::new("-") || !path.is_file() {
            return Ok(None);
        }
        let source = path.display().to_string();
        let value: Value = serde_json::from_str(input::without_bom(&input::read_text(&path)?))
            .map_err(|e| Failure::usage(format!("{source}: not an expectation: {e}")))?;
        let config = match value.get("config") {
            None => None,
            Some(config) => {
                Some(Config::deserialize(config).map_err(|e| Failure::usage(format!("{source}: `config`: {e}")))?)
            }
        };
        let rounds = match value {
            Value::Array(rounds) => rounds,
            Value::Object(_) => vec![value],
            _ => return Err(Failure::usage(format!("{source}: expected an object, or an array with one per round"))),
        };
        Ok(Some(Expectation { source, rounds, config }))
    }

    /// What the recordings themselves say was found.
    pub(super) fn recorded(file: &Path, recordings: &[Recording]) -> Result<Expectation, Failure> {
        let rounds: Vec<Value> = recordings.iter().flat_map(|r| &r.rounds).map(recorded).collect();
        if rounds.iter().all(|r| r["calls"] == json!([]) && r["rejected"] == json!([])) {
            return Err(Failure::usage(format!(
                "{}: nothing to check against: expected {} beside it, or `call` lines in the recording",
                file.display(),
                place(file).display()
            )));
        }
        Ok(Expectation { source: "the recorded calls".to_owned(), rounds, config: None })
    }

    /// Limits of the parser that the file wants.
    pub(super) fn limits(&self) -> Limits {
        let defaults = Limits::default();
        let Some(SmallLimits { call_bytes, depth, calls }) = self.config.as_ref().map(|c| c.limits) else {
            return defaults;
        };
        Limits {
            call_bytes: call_bytes.unwrap_or(defaults.call_bytes),
            depth: depth.unwrap_or(defaults.depth),
            calls: calls.unwrap_or(defaults.calls),
        }
    }

    /// Writes the settings into a recording that has none of its own.
    pub(super) fn prepare(&self, file: &Path, recording: &mut Recording) -> Result<(), Failure> {
        let Some(config) = &self.config else { return Ok(()) };
        let dialect = match &config.dialect {
            None => DialectSet::AUTO,
            Some(Names::One(name)) => self.dialects(name)?,
            Some(Names::Several(names)) => self.dialects(&names.join(","))?,
        };
        recording.session.dialect.get_or_insert(dialect);
        recording.session.reasoning.get_or_insert(config.reasoning);
        recording.session.reasoning_calls.get_or_insert(config.reasoning_calls);
        let tools = self.tools(file, config)?;
        if let Some(round) = recording.rounds.first_mut() {
            round.tools = round.tools.take().or(tools);
            round.finish = Some(Finish { reason: config.finish_reason.clone(), ms: None });
            if !config.reasoning_field.is_empty() {
                let text = config.reasoning_field.clone();
                round.deltas.insert(0, TimedDelta { kind: DeltaKind::Reasoning, text, ms: None });
            }
        }
        Ok(())
    }

    fn dialects(&self, names: &str) -> Result<DialectSet, Failure> {
        names.parse().map_err(|e| Failure::usage(format!("{}: `config.dialect`: {e}", self.source)))
    }

    fn tools(&self, file: &Path, config: &Config) -> Result<Option<Vec<Server>>, Failure> {
        let listed = match &config.tools {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(name)) => {
                let name = Path::new("tools").join(name).with_extension("json");
                let found = file.ancestors().skip(1).map(|folder| folder.join(&name)).find(|path| path.is_file());
                let path = found.ok_or_else(|| {
                    let shown = name.display();
                    Failure::usage(format!("{}: `config.tools`: no {shown} in a folder above", self.source))
                })?;
                tool_file::read(&path)?
            }
            Some(list) => tool_file::parse(&list.to_string(), &format!("{}: `config.tools`", self.source))?,
        };
        Ok(Some(Catalog::new(listed).servers().to_vec()))
    }
}

fn place(file: &Path) -> PathBuf {
    file.with_extension("expect.json")
}

/// The calls and rejections of a recorded round.
fn recorded(round: &Round) -> Value {
    let calls = round.calls.iter().filter_map(|c| c.result.as_ref().ok());
    let calls: Vec<Value> =
        calls.map(|call| json!({ "server": call.server, "tool": call.tool, "arguments": call.arguments })).collect();
    let rejected = round.calls.iter().filter_map(|c| c.result.as_ref().err());
    let rejected: Vec<Value> = rejected.map(|rejected| json!({ "kind": rejected.kind })).collect();
    json!({ "calls": calls, "rejected": rejected })
}
