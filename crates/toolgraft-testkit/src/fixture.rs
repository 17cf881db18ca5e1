//! What is expected of a parser fixture: how its text is read, and what is found in it.

use serde_json::Value;
use toolgraft::event::Assembled;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};

use crate::laws::Input;

/// The command's own reader and comparer of expectations (`replay --check`).
#[path = "../../../cli/src/replay/check.rs"]
mod check;
#[path = "../../../cli/src/replay/expected.rs"]
mod expected;

/// A file `NAME.expect.json`.
#[derive(Debug)]
pub struct Expectation {
    config: expected::Config,
    /// What is expected of each round.
    pub rounds: Vec<Value>,
}

impl Expectation {
    /// Reads the file's text.
    ///
    /// # Errors
    /// What is wrong, with the place in the file.
    pub fn read(text: &str) -> Result<Self, String> {
        let (config, rounds) = expected::read(text)?;
        Ok(Expectation { config: config.unwrap_or_default(), rounds })
    }

    /// The list of tools that it gives. One that is only named stands beside the fixtures.
    ///
    /// # Errors
    /// The named list is missing, or no JSON.
    pub fn tools(&self) -> Result<Option<Value>, Box<dyn std::error::Error>> {
        match &self.config.tools {
            Some(Value::String(name)) => {
                let path = crate::root().join(format!("fixtures/parse/tools/{name}.json"));
                Ok(Some(serde_json::from_slice(&std::fs::read(path)?)?))
            }
            listed => Ok(listed.clone()),
        }
    }

    /// The text and how it is read.
    ///
    /// # Errors
    /// A dialect or a list of tools that nobody knows.
    pub fn input(self, text: String) -> Result<Input, Box<dyn std::error::Error>> {
        let tools: Option<Vec<Tool>> = self.tools()?.map(serde_json::from_value).transpose()?;
        let config = self.config;
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
}

/// What a message says, as an expectation names it.
pub fn found(assembled: &Assembled) -> Value {
    check::found(assembled)
}

/// Where the rounds differ from what is expected, a text for each place: of an expectation only
/// the fields that it names count.
pub fn differences(expected: &[Value], found: &[Value]) -> Vec<String> {
    check::differences(expected, found)
}
