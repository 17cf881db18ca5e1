//! `NAME.expect.json` beside a file: how it is read, and what is expected of it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::expected::{self, Config};
use super::settings::Settings;
use crate::base::{Failure, input};
use crate::servers::tool_file;
use toolgraft::Catalog;
use toolgraft::message::{DeltaKind, FencedCalls};
use toolgraft::parse::Limits;
use toolgraft::tools::Server;
use toolgraft::transcript::{Finish, Recording, Round, TimedDelta};

/// The expected result of a file.
#[derive(Debug)]
pub(super) struct Expectation {
    /// The file that it was read from, or "the recorded calls".
    pub(super) source: String,
    /// One for each round, over all recordings of the file.
    pub(super) rounds: Vec<Value>,
    /// The settings for reading the file.
    config: Option<Config>,
}

/// The parser settings of an expectation that a recording does not contain.
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
    /// Returns the expectation beside a file, if there is one.
    pub(super) fn beside(file: &Path) -> Result<Option<Expectation>, Failure> {
        let path = place(file);
        if file == Path::new("-") || !path.is_file() {
            return Ok(None);
        }
        let source = path.display().to_string();
        let (config, rounds) = expected::read(input::without_bom(&input::read_text(&path)?))
            .map_err(|e| Failure::usage(format!("{source}: {e}")))?;
        Ok(Some(Expectation { source, rounds, config }))
    }

    /// Builds the expectation from the `call` lines of the recordings themselves.
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

    /// Returns the parser settings that the recording does not contain.
    pub(super) fn reading(&self) -> Reading {
        let Some(config) = &self.config else { return Reading::default() };
        Reading {
            limits: config.limits(),
            reasoning_marks: config.reasoning_marks.clone(),
            fenced_calls: config.fenced_calls,
            stop: config.stop.clone(),
        }
    }

    /// Writes the settings into a recording that has none of its own.
    pub(super) fn prepare(&self, file: &Path, recording: &mut Recording) -> Result<(), Failure> {
        let Some(config) = &self.config else { return Ok(()) };
        let dialect =
            config.dialects().map_err(|e| Failure::usage(format!("{}: `config.dialect`: {e}", self.source)))?;
        recording.session.dialect.get_or_insert(dialect);
        recording.session.reasoning.get_or_insert(config.reasoning);
        recording.session.reasoning_calls.get_or_insert(config.reasoning_calls);
        let tools = self.tools(file, config)?;
        if let Some(round) = recording.rounds.first_mut() {
            round.tools = round.tools.take().or(tools);
            round.finish = Some(Finish::new(config.finish_reason.clone()));
            if !config.reasoning_field.is_empty() {
                let text = config.reasoning_field.clone();
                round.deltas.insert(0, TimedDelta::new(DeltaKind::Reasoning, text));
            }
        }
        Ok(())
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

/// Returns the calls and rejections of a recorded round.
fn recorded(round: &Round) -> Value {
    let calls = round.calls.iter().filter_map(|c| c.result.as_ref().ok());
    let calls: Vec<Value> =
        calls.map(|call| json!({ "server": call.server, "tool": call.tool, "arguments": call.arguments })).collect();
    let rejected = round.calls.iter().filter_map(|c| c.result.as_ref().err());
    let rejected: Vec<Value> = rejected.map(|rejected| json!({ "kind": rejected.kind })).collect();
    json!({ "calls": calls, "rejected": rejected })
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use serde_json::{Value, json};

    fn differences(expected: Value, found: Value) -> Vec<String> {
        check::differences(&[expected], &[found])
    }

    #[test]
    fn only_named_fields_count_but_arguments_count_whole() {
        let found =
            json!({ "content": "a", "calls": [{ "tool": "f", "arguments": { "x": 1, "y": 2 }, "repairs": [] }] });
        assert!(differences(json!({ "calls": [{ "tool": "f" }] }), found.clone()).is_empty());
        let list = differences(json!({ "calls": [{ "arguments": { "x": 1 } }] }), found);
        assert_eq!(list, ["calls[0].arguments:\n  expected {\"x\":1}\n  found    {\"x\":1,\"y\":2}"]);
    }

    #[test]
    fn missing_and_extra_entries_are_named() {
        let list = differences(json!({ "calls": [{ "tool": "f" }] }), json!({ "calls": [] }));
        assert_eq!(list, ["calls: expected 1, found 0", "calls[0] is missing: {\"tool\":\"f\"}"]);
        let list = differences(json!({ "rejected": [] }), json!({ "rejected": [{ "kind": "limit" }] }));
        assert_eq!(list, ["rejected: expected 0, found 1", "rejected[0] is not expected: {\"kind\":\"limit\"}"]);
    }

    #[test]
    fn texts_are_shown_from_where_they_part() {
        let list = differences(json!({ "content": "武汉下雨" }), json!({ "content": "武汉晴" }));
        assert_eq!(list, ["content: different from character 2 on\n  expected \"武汉下雨\"\n  found    \"武汉晴\""]);
    }
}
