//! `--tool-file FILE`: tools read from a JSON file instead of from servers.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::{Failure, input};
use toolgraft::tools::Server;
use toolgraft::{Catalog, Tool};

/// Description of the accepted formats of a tool file, for help and errors.
pub(crate) const SHAPES: &str = "a `tools/list` answer, a list of tools (of MCP or OpenAI), a server with `tools`, or the output of `toolgraft mcp tools --json`";

#[derive(Deserialize)]
struct Servers {
    servers: Vec<Server>,
}

#[derive(Deserialize)]
struct ToolAnswer {
    result: Server,
}

/// Reads the servers and tools from a tool file; tools without a server's name are assigned to a server without a name.
pub(crate) fn read(path: &Path) -> Result<Vec<Server>, Failure> {
    parse(input::without_bom(&input::read_text(path)?), &input::shown(path))
}

/// Parses the servers and tools from the JSON text of a tool file; `shown` is the file's name in errors.
pub(crate) fn parse(text: &str, shown: &str) -> Result<Vec<Server>, Failure> {
    let value: Value = decode(text, shown)?;
    let has = |value: &Value, key: &str| value.get(key).is_some();
    let is_server = |value: &Value| ["tools", "resources", "resourceTemplates"].iter().any(|key| has(value, key));
    let listed = value.as_array().or_else(|| value.get("tools")?.as_array());
    // In OpenAI's form a tool is `{"type": "function", "function": {…}}`.
    if let Some(tools) = listed.filter(|tools| tools.iter().any(|tool| has(tool, "function"))) {
        let tools = serde_json::from_value::<Vec<Tool>>(tools.iter().map(as_of_mcp).collect());
        let tools = tools.map_err(|e| Failure::usage(format!("{shown}: {}", plainly(&e.to_string()))))?;
        return Ok(Catalog::from_tools(tools).servers().to_vec());
    }
    match &value {
        Value::Array(items) if items.iter().any(is_server) => decode(text, shown),
        Value::Array(_) => {
            let tools: Vec<Tool> = decode(text, shown)?;
            Ok(Catalog::from_tools(tools).servers().to_vec())
        }
        _ if has(&value, "servers") => Ok(decode::<Servers>(text, shown)?.servers),
        _ if value.get("result").is_some_and(is_server) => Ok(vec![decode::<ToolAnswer>(text, shown)?.result]),
        _ if is_server(&value) => Ok(vec![decode(text, shown)?]),
        _ => Err(Failure::usage(format!("{shown}: no tools in it: expected {SHAPES}"))),
    }
}

/// Converts a tool in OpenAI's format to that of MCP.
fn as_of_mcp(tool: &Value) -> Value {
    let Some(mut function) = tool.get("function").and_then(Value::as_object).cloned() else { return tool.clone() };
    let schema = function.remove("parameters");
    function.extend(schema.map(|schema| ("inputSchema".to_owned(), schema)));
    Value::Object(function)
}

/// Returns a deserialization error in words for users, without the names of Rust types.
fn plainly(message: &str) -> String {
    let mut message = message.to_owned();
    // Longer names come first: `struct Tool` is the beginning of `struct ToolAnnotations`.
    for (theirs, ours) in [
        ("missing field `name`", "a tool or resource here has no `name`"),
        ("missing field `uri`", "a resource here has no `uri`"),
        ("missing field `uriTemplate`", "a resource template here has no `uriTemplate`"),
        ("missing field `servers`", "there is no list of `servers`"),
        ("expected struct ToolAnnotations", "expected an object of annotations"),
        ("expected struct Annotations", "expected an object of annotations"),
        ("expected struct ResourceTemplate", "expected an object with `uriTemplate`"),
        ("expected struct Resource", "expected an object with `uri`"),
        ("expected struct Tool", "expected an object with the tool's `name`, `description` and `inputSchema`"),
        ("expected struct Server", "expected an object with the server's `name` and `tools`"),
        ("expected a sequence", "expected a list"),
        ("invalid type: sequence", "found a list"),
        ("invalid type: map", "found an object"),
        ("invalid type: ", "found the "),
        ("found the null", "found null"),
    ] {
        message = message.replace(theirs, ours);
    }
    message
}

/// Deserializes JSON; the error names the file, line and column.
fn decode<T: DeserializeOwned>(text: &str, shown: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|e| {
        let problem = plainly(&input::json_problem(&e));
        let remedy =
            if e.is_data() { format!("; the file may hold {SHAPES}") } else { ": fix the JSON there".to_owned() };
        Failure::usage(format!("{shown}:{problem}{remedy}"))
    })
}
