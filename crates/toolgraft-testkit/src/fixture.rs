//! The expectation of a parser fixture: the settings for its text, and the expected message.

use serde_json::Value;
use toolgraft::event::Assembled;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};

use crate::laws::Input;

mod compare;
mod expected;

/// The contents of a file `NAME.expect.json`: what the parser is expected to find in a fixture.
#[derive(Debug)]
pub struct Expectation {
    config: expected::Config,
    /// Expected message of each round, in JSON.
    pub rounds: Vec<Value>,
}

impl Expectation {
    /// Parses the text of an expectation file.
    ///
    /// # Errors
    /// Returns a description of the fault, with its place in the file.
    pub fn read(text: &str) -> Result<Self, String> {
        let (config, rounds) = expected::read(text)?;
        Ok(Expectation { config: config.unwrap_or_default(), rounds })
    }

    /// Returns the list of tools in the expectation, if it has one. A list that is only named is read from the
    /// fixtures.
    ///
    /// # Errors
    /// Fails if the named list is missing, or is not JSON.
    pub fn tools(&self) -> Result<Option<Value>, Box<dyn std::error::Error>> {
        match &self.config.tools {
            Some(Value::String(name)) => {
                let path = crate::root().join(format!("fixtures/parse/tools/{name}.json"));
                Ok(Some(serde_json::from_slice(&std::fs::read(path)?)?))
            }
            listed => Ok(listed.clone()),
        }
    }

    /// Returns the text of the fixture with the parser settings of the expectation.
    ///
    /// # Errors
    /// Fails if a dialect or a list of tools is unknown.
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

/// Converts a parsed message to the JSON form that expectations have.
pub fn found(assembled: &Assembled) -> Value {
    compare::found(assembled)
}

/// Returns the differences between the expected and the found rounds, one text for each place. Only the fields that
/// an expectation names are compared.
pub fn differences(expected: &[Value], found: &[Value]) -> Vec<String> {
    compare::differences(expected, found)
}
