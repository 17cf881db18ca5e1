//! Records of the corpora, as stored in `fixtures/parity`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgraft::Tool;
use toolgraft::message::{FinishReason, ReasoningMode};

/// The files, each named after its corpus.
pub(crate) const CORPORA: [&str; 4] = ["dynamo_parity", "llamacpp", "smg", "reasoning"];

/// A text, and the results of the engines.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Record {
    pub(crate) id: String,
    /// Repository and path.
    pub(crate) source: String,
    pub(crate) licence: String,
    /// Name of a family in `families.rs`.
    pub(crate) family: String,
    /// The text, in the chunks that the record states.
    pub(crate) chunks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finish: Option<FinishReason>,
    /// `true` if the engines only separate the reasoning from the rest: calls are text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) split_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<ReasoningMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<Vec<Tool>>,
    /// The reason that nothing is comparable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skip: Option<String>,
    /// The result of each engine, or of `all`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) engines: BTreeMap<String, Outcome>,
}

/// The result for a text; `None` is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Outcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<Vec<Call>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partly: Option<Partly>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// The partial result in an engine's test that does not list the calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Partly {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
    pub(crate) names: Vec<String>,
    /// Arguments that some call must have.
    pub(crate) arguments: Map<String, Value>,
}

impl Record {
    /// Returns the whole text.
    pub(crate) fn text(&self) -> String {
        self.chunks.concat()
    }

    /// Returns the result on which the engines agree, ignoring white space at the ends.
    pub(crate) fn agreed(&self) -> Option<&Outcome> {
        let mut outcomes = self.engines.values();
        let first = outcomes.next()?;
        outcomes.all(|other| first.same_but_for_ends(other)).then_some(first)
    }
}

impl Outcome {
    fn same_but_for_ends(&self, other: &Outcome) -> bool {
        let ends = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().to_owned();
        self.calls == other.calls
            && self.partly == other.partly
            && ends(&self.content) == ends(&other.content)
            && ends(&self.reasoning) == ends(&other.reasoning)
    }
}

/// Returns the path of a file in `fixtures/parity`.
pub(crate) fn path(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "fixtures", "parity", file].iter().collect()
}

/// Reads all records of a corpus.
pub(crate) fn read(corpus: &str) -> Vec<Record> {
    let path = path(&format!("{corpus}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let record = |(n, line): (usize, &str)| {
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{}:{}: {e}", path.display(), n + 1))
    };
    text.lines().enumerate().map(record).collect()
}
