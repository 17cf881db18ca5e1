//! The tools that a turn answers itself: they show what the prompt or a result left out.

use serde_json::{Value, json};

use super::Tool;

/// Name of the built-in tool that describes listed tools, unless another tool has this name; see
/// [`BuiltIn::Describe`].
pub const DESCRIBE_TOOL: &str = "describe_tool";

/// Name of the built-in tool that finds tools which the prompt does not list, unless another tool has this name; see
/// [`BuiltIn::Find`].
pub const FIND_TOOL: &str = "find_tool";

/// Name of the built-in tool that reads on in a long result, unless another tool has this name; see
/// [`BuiltIn::Read`].
pub const READ_RESULT: &str = "read_result";

/// A kind of built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuiltIn {
    /// Gives the parameters and the whole description of a listed tool.
    Describe,
    /// Finds tools that are not listed.
    Find,
    /// Shows the parts that were left out of a long result.
    Read,
}

impl BuiltIn {
    /// Returns the usual name of the built-in tool, and the name that it has if another tool has the usual one.
    pub(super) fn names(self) -> [&'static str; 2] {
        match self {
            BuiltIn::Describe => [DESCRIBE_TOOL, "describe_listed_tool"],
            BuiltIn::Find => [FIND_TOOL, "find_further_tool"],
            BuiltIn::Read => [READ_RESULT, "read_long_result"],
        }
    }

    /// Returns the definition of the built-in tool under this name.
    pub(super) fn named(self, name: String) -> Tool {
        let text = |about: &str| json!({ "type": "string", "description": about });
        let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
        let (description, schema) = match self {
            BuiltIn::Describe => (
                "Gives the parameters and the whole description of a listed tool.",
                object(
                    json!({ "tool": text("The tool's name, as listed, or words for what it has to do.") }),
                    &["tool"],
                ),
            ),
            BuiltIn::Find => (
                "Finds tools that are not listed, and gives their parameters and descriptions.",
                object(json!({ "query": text("What the tool has to do, in a few words.") }), &["query"]),
            ),
            BuiltIn::Read => {
                let properties = json!({
                    "result": text("The result's id; without it the last long one."),
                    "from": { "type": "integer", "minimum": 0, "description": "The byte at which to begin." },
                    "find": text("A text: its places in the result are returned instead."),
                });
                ("Shows what was left out of a long result.", object(properties, &[]))
            }
        };
        Tool::new(name).with_description(description).with_schema(schema)
    }
}
