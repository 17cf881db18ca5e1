//! Records with our decisions about them and the parser's results.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use toolgraft::event::Assembled;

use super::compare::{self, differences, outcome};
use super::families::family;
use super::record::{CORPORA, Outcome, Record, path, read};

/// All records, parsed once for all tests.
pub(crate) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut decisions = decisions();
    let all = CORPORA.iter().flat_map(|corpus| read(corpus).into_iter().map(move |record| (*corpus, record)));
    let cases = all.map(|(corpus, record)| Case::new(corpus, decisions.remove(&record.id), record)).collect();
    assert!(decisions.is_empty(), "decisions about no record: {:?}", decisions.keys());
    cases
});

/// A decision to differ from the engines, or from some of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) id: String,
    /// The reason, by its name in the README.
    pub(crate) rule: String,
    /// The engine whose result is ours, if the engines disagree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) engine: Option<String>,
    /// The difference from that engine's result, or from the common one.
    #[serde(flatten)]
    pub(crate) ours: Outcome,
}

/// The table in which a record is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// No dialect parses the family.
    NotRead,
    /// Nothing is comparable.
    Skipped,
    /// The engines agree on a result that the design rules out (section 3).
    Contradicts,
    /// The engines agree, and so should we.
    Agreed,
    /// The engines disagree.
    Disagreed,
}

pub(crate) struct Case {
    pub(crate) corpus: &'static str,
    pub(crate) record: Record,
    pub(crate) class: Class,
    pub(crate) decision: Option<Decision>,
    /// The expected result, if it is known.
    pub(crate) expected: Option<Outcome>,
    /// The parser's result, or the violated law.
    pub(crate) ours: Result<compare::Ours, String>,
}

impl Case {
    fn new(corpus: &'static str, decision: Option<Decision>, record: Record) -> Case {
        let agreed = record.agreed();
        let class = if family(&record.family).dialects.is_none() {
            Class::NotRead
        } else if record.skip.is_some() || record.engines.is_empty() {
            Class::Skipped
        } else {
            match (&decision, agreed) {
                (Some(_), Some(_)) => Class::Contradicts,
                (None, Some(_)) => Class::Agreed,
                (_, None) => Class::Disagreed,
            }
        };
        let expected = match &decision {
            Some(decision) => Some(decision.expected(&record)),
            None => agreed.cloned(),
        };
        let ours = compare::run(&record);
        Case { corpus, record, class, decision, expected, ours }
    }

    /// Returns the parts that differ from the expectation; a violated law is everything.
    pub(crate) fn wrong(&self) -> Vec<&'static str> {
        let (Some(expected), Ok(ours)) = (&self.expected, &self.ours) else { return vec!["laws or decision"] };
        let mut found = differences(&self.record, expected, &outcome(&ours.auto));
        let differs = |alone: &Assembled| !differences(&self.record, expected, &outcome(alone)).is_empty();
        if ours.alone.as_ref().is_some_and(differs) {
            found.push("by its dialect alone");
        }
        found
    }

    /// Returns the id without the common prefix of its corpus.
    pub(crate) fn short_id(&self) -> &str {
        let id = self.record.id.split_once('/').map_or(self.record.id.as_str(), |(_, rest)| rest);
        id.trim_start_matches("test-chat.cpp:").trim_start_matches("tool_parser_").trim_start_matches("test_")
    }
}

impl Decision {
    fn expected(&self, record: &Record) -> Outcome {
        let base = match &self.engine {
            Some(name) => record.engines.get(name).unwrap_or_else(|| panic!("{}: no engine {name}", self.id)),
            None => record.agreed().unwrap_or(&self.ours),
        };
        Outcome {
            calls: self.ours.calls.clone().or_else(|| base.calls.clone()),
            content: self.ours.content.clone().or_else(|| base.content.clone()),
            reasoning: self.ours.reasoning.clone().or_else(|| base.reasoning.clone()),
            partly: if self.ours.calls.is_some() { None } else { base.partly.clone() },
        }
    }
}

fn decisions() -> BTreeMap<String, Decision> {
    let text = std::fs::read_to_string(path("decisions.jsonl")).expect("the decisions can be read");
    let decision = |(n, line): (usize, &str)| -> Decision {
        serde_json::from_str(line).unwrap_or_else(|e| panic!("decisions.jsonl:{}: {e}", n + 1))
    };
    let mut all = BTreeMap::new();
    for decision in text.lines().enumerate().map(decision) {
        let id = decision.id.clone();
        assert!(all.insert(id.clone(), decision).is_none(), "two decisions about {id}");
    }
    all
}
