//! The tools of a request as functions of Chat Completions.

use serde_json::{Value, json};

use crate::fault::Fault;
use toolgraft::wire::set_member;

/// A tool with a type of its own that the client runs. The type has a date behind it.
struct Own {
    kind: &'static str,
    description: &'static str,
    parameters: fn() -> Value,
}

/// Sources: platform.claude.com/docs/en/agents-and-tools/tool-use, bash-tool, text-editor-tool and
/// memory-tool.
const OWN: [Own; 3] = [
    Own {
        kind: "bash_",
        description: "Runs a command in a shell that goes on between calls, and returns its output.",
        parameters: || {
            json!({"type": "object", "properties": {
                "command": {"type": "string", "description": "The command; not needed with restart."},
                "restart": {"type": "boolean", "description": "Start the shell anew."},
            }})
        },
    },
    Own {
        kind: "text_editor_",
        description: "Shows, creates and edits files. view: path, view_range. str_replace: path, old_str (must \
                      stand in the file exactly once), new_str. create: path, file_text. insert: path, insert_line \
                      (0 is the beginning), insert_text.",
        parameters: || {
            let mut parameters = of_files(&["view", "str_replace", "create", "insert", "undo_edit"]);
            set_member(&mut parameters, "required", json!(["command", "path"]));
            parameters
        },
    },
    Own {
        kind: "memory_",
        description: "Keeps notes as files below /memories. view: path, view_range. create: path, file_text. \
                      str_replace: path, old_str, new_str. insert: path, insert_line, insert_text. delete: path. \
                      rename: old_path, new_path.",
        parameters: || {
            let mut parameters = of_files(&["view", "create", "str_replace", "insert", "delete", "rename"]);
            if let Some(properties) = parameters.get_mut("properties") {
                set_member(properties, "old_path", json!({"type": "string"}));
                set_member(properties, "new_path", json!({"type": "string"}));
            }
            parameters
        },
    },
];

/// Parameters of a tool that shows and changes files by these commands.
fn of_files(commands: &[&str]) -> Value {
    json!({"type": "object", "required": ["command"], "properties": {
        "command": {"type": "string", "enum": commands},
        "path": {"type": "string"},
        "view_range": {"type": "array", "items": {"type": "integer"}},
        "old_str": {"type": "string"},
        "new_str": {"type": "string"},
        "file_text": {"type": "string"},
        "insert_line": {"type": "integer"},
        "insert_text": {"type": "string"},
    }})
}

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
        let own = OWN.iter().find(|own| kind.starts_with(own.kind));
        let (description, parameters) = match (own, kind) {
            (_, "custom") => (tool["description"].clone(), tool["input_schema"].clone()),
            (Some(own), _) => (own.description.into(), (own.parameters)()),
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
