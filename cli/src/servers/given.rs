//! Arguments of a tool, as a command line gives them.

use serde_json::{Map, Value};
use toolgraft::Tool;

use crate::base::{Failure, input, words};

/// The arguments of a tool as given on the command line: a JSON object, or `NAME=VALUE` words.
pub(crate) enum Given {
    Object(Map<String, Value>),
    Words(Vec<String>),
}

impl Given {
    /// Reads `NAME=VALUE` words, or a JSON object given as text, as `@FILE`, or as `-` for standard input.
    pub(crate) fn read(arguments: &[String]) -> Result<Self, Failure> {
        match arguments {
            // What begins as JSON is read as JSON, so that its error names the place; `=` may be in it.
            [one] if one == "-" || one.trim_start().starts_with(['{', '[', '"', '@', '\u{feff}']) => {
                object(one).map(Given::Object)
            }
            [one] if !one.contains('=') => {
                let example = format!(
                    "if it is a value, name its parameter (NAME={one}); if it is a parameter, give it a value \
                     ({one}=VALUE); or write an object such as '{{\"city\": \"Oslo\"}}'"
                );
                Err(Failure::usage(format!("{one:?} is neither NAME=VALUE nor a JSON object: {example}")))
            }
            words => Ok(Given::Words(words.to_vec())),
        }
    }

    /// Converts the command-line arguments to those of a tool; words are converted by its input schema.
    pub(crate) fn of_tool(self, tool: &Tool) -> Result<Map<String, Value>, Failure> {
        match self {
            Given::Object(arguments) => Ok(arguments),
            Given::Words(words) => words::of_tool(&words, tool.input_schema.as_ref())
                .map_err(|problem| Failure::usage(format!("{}: {problem}", tool.name))),
        }
    }
}

/// Parses a JSON object from text, `@FILE` or standard input; errors name line and column.
fn object(argument: &str) -> Result<Map<String, Value>, Failure> {
    let (text, source) = super::argument_text(argument)?;
    let text = text.trim_start_matches('\u{feff}');
    let example = "write city=Oslo, or an object such as '{\"city\": \"Oslo\"}'";
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => {
            Err(Failure::usage(format!("{source}: expected a JSON object, found {}: {example}", input::kind(&other))))
        }
        Err(e) => Err(Failure::usage(format!("{source}:{}: {example}", input::json_problem(&e)))),
    }
}
