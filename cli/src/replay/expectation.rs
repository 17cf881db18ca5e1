//! `NAME.expect.json` beside a file: how it is read, and what is expected of it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::settings::Settings;
use crate::{Failure, input, tool_file};
use toolgraft::Catalog;
use toolgraft::dialect::DialectSet;
use toolgraft::message::{DeltaKind, FencedCalls, FinishReason, ReasoningCalls, ReasoningMode};
use toolgraft::parse::Limits;
use toolgraft::tools::Server;
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
    reasoning_marks: Vec<String>,
    fenced_calls: FencedCalls,
    stop: Vec<String>,
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

/// What a file wants of the parser beside what a recording says.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    limits: Limits,
    reasoning_marks: Vec<String>,
    fenced_calls: FencedCalls,
    stop: Vec<String>,
}

impl Reading {
    /// Writes it into the settings of a round, where the command line says nothing else.
    pub(super) fn apply(&self, round: &Round, settings: &mut Settings) {
        let config = &mut settings.config;
        config.limits = self.limits;
        if config.reasoning_marks.is_empty() {
            config.reasoning_marks.clone_from(&self.reasoning_marks);
        }
        if config.fenced_calls == FencedCalls::Ignore {
            config.fenced_calls = self.fenced_calls;
        }
        if config.stop.is_empty() {
            let recorded = round.sent.as_ref().map(|sent| sent.stop.clone()).filter(|stop| !stop.is_empty());
            config.stop = recorded.unwrap_or_else(|| self.stop.clone());
        }
    }
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

    /// What the file wants of the parser beside what a recording says.
    pub(super) fn reading(&self) -> Reading {
        let Some(config) = &self.config else { return Reading::default() };
        let (defaults, SmallLimits { call_bytes, depth, calls }) = (Limits::default(), config.limits);
        let limits = Limits {
            call_bytes: call_bytes.unwrap_or(defaults.call_bytes),
            depth: depth.unwrap_or(defaults.depth),
            calls: calls.unwrap_or(defaults.calls),
        };
        let reasoning_marks = config.reasoning_marks.clone();
        Reading { limits, reasoning_marks, fenced_calls: config.fenced_calls, stop: config.stop.clone() }
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
