//! Converts the tools of a request to functions of Chat Completions.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::codecs::shape::DEFERRED;
use crate::fault::Fault;
use toolgraft::wire::set_member;

/// A tool that Anthropic defines, with a type of its own, and that the client runs. Its type ends in a date, so
/// `kind` is a prefix.
#[derive(Deserialize)]
struct ClientTool {
    kind: String,
    description: String,
    parameters: Value,
}

/// The tools that Anthropic defines and the client runs, from `own.json`. Sources:
/// platform.claude.com/docs/en/agents-and-tools/tool-use, bash-tool, text-editor-tool and memory-tool.
static OWN: LazyLock<Vec<ClientTool>> =
    LazyLock::new(|| serde_json::from_str(include_str!("own.json")).unwrap_or_default());

/// Returns Anthropic's tools as tools of Chat Completions, each with its place in the request: functions, and tools
/// that run at Anthropic's service, which have only a type and a name.
pub(super) fn tools_of(tools: Value) -> Result<(Vec<Value>, Vec<String>), Fault> {
    let Value::Array(list) = tools else { return Err(Fault::field("tools", "'tools' must be a list")) };
    let tools = list.into_iter().enumerate().map(|(at, tool)| {
        let kind = tool["type"].as_str().unwrap_or("custom");
        let own = OWN.iter().find(|own| kind.starts_with(&own.kind));
        let (description, parameters) = match (own, kind) {
            (_, "custom") => (tool["description"].clone(), tool["input_schema"].clone()),
            (Some(own), _) => (own.description.as_str().into(), own.parameters.clone()),
            (None, other) => {
                let name = tool["name"].as_str().unwrap_or(other);
                return (json!({"type": other, "name": name}), format!("tools[{at}]"));
            }
        };
        let function = json!({"name": tool["name"], "description": description, "parameters": parameters});
        let mut function = json!({"type": "function", "function": function});
        if tool[DEFERRED] == true {
            set_member(&mut function, DEFERRED, true);
        }
        (function, format!("tools[{at}]"))
    });
    Ok(tools.unzip())
}
