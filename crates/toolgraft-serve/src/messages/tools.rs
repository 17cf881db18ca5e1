//! The tools of a request as functions of Chat Completions.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::fault::Fault;

/// A tool with a type of its own that the client runs. The type has a date behind it.
#[derive(Deserialize)]
struct Own {
    kind: String,
    description: String,
    parameters: Value,
}

/// Sources: platform.claude.com/docs/en/agents-and-tools/tool-use, bash-tool, text-editor-tool and
/// memory-tool.
static OWN: LazyLock<Vec<Own>> = LazyLock::new(|| serde_json::from_str(include_str!("own.json")).unwrap_or_default());

/// The functions that may be called, where each stands in the request, and what cannot be had here.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) functions: Vec<Value>,
    pub(super) places: Vec<String>,
    /// Types and names of those that run at Anthropic's service.
    pub(super) left_out: Vec<(String, String)>,
}

pub(super) fn tools_of(tools: Value) -> Result<Tools, Fault> {
    let Value::Array(list) = tools else { return Err(Fault::field("tools", "'tools' must be a list")) };
    let mut tools = Tools::default();
    for (at, tool) in list.into_iter().enumerate() {
        let kind = tool["type"].as_str().unwrap_or("custom");
        let own = OWN.iter().find(|own| kind.starts_with(&own.kind));
        let (description, parameters) = match (own, kind) {
            (_, "custom") => (tool["description"].clone(), tool["input_schema"].clone()),
            (Some(own), _) => (own.description.as_str().into(), own.parameters.clone()),
            (None, other) => {
                let name = tool["name"].as_str().unwrap_or(other);
                tools.left_out.push((other.to_owned(), name.to_owned()));
                continue;
            }
        };
        let function = json!({"name": tool["name"], "description": description, "parameters": parameters});
        tools.functions.push(json!({"type": "function", "function": function}));
        tools.places.push(format!("tools[{at}]"));
    }
    Ok(tools)
}
