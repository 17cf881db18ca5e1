//! What endpoints demand of a tool's description and schema.

use serde_json::{Map, Value, json};

use super::ToolDefinition;
use crate::outcome::strip_invisible;
use crate::tool::{ACCESS_RESOURCE, resolve};

/// Most characters of a tool's description; OpenAI refuses more.
pub const MAX_DESCRIPTION: usize = 1024;

/// References followed one after another at most.
const MAX_HOPS: usize = 8;

/// A tool's schema as endpoints take it, otherwise verbatim.
///
/// - The root is an object with `properties` (OpenAI: "schema must be a JSON
///   Schema of 'type: \"object\"'", "object schema missing properties").
/// - `oneOf`, `anyOf` and `allOf` at the root are refused by OpenAI and Anthropic
///   ("input_schema does not support oneOf, allOf, or anyOf at the top level"):
///   the root gets the branches' properties instead, and requires what all
///   branches require (for `allOf`: what any requires). `enum` and `not` there
///   are left out, as are `$schema` and `$id`, which Gemini refuses.
///
/// A call is checked against the tool's own schema all the same.
pub fn parameters(schema: Option<&Value>) -> Value {
    let empty = Value::Null;
    let root = schema.unwrap_or(&empty);
    let mut object = root.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(reference)) = object.shift_remove("$ref") {
        add(&mut object, &target(root, &reference));
    }
    for key in ["$schema", "$id", "enum", "not"] {
        object.shift_remove(key);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = object.shift_remove(key) {
            let branches: Vec<_> = branches.iter().filter_map(|b| branch(root, b)).collect();
            take_in(&mut object, &branches, key == "allOf");
        }
    }
    object.insert("type".to_owned(), "object".into());
    if !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    Value::Object(object)
}

/// A branch of a union as an object schema, its references followed.
fn branch(root: &Value, schema: &Value) -> Option<Map<String, Value>> {
    let schema = schema.as_object()?;
    match schema.get("$ref") {
        Some(Value::String(reference)) => Some(target(root, reference)),
        _ => Some(schema.clone()),
    }
}

/// The object schema that a reference leads to; empty for none.
fn target(root: &Value, reference: &str) -> Map<String, Value> {
    let mut found = resolve(root, reference);
    for _ in 0..MAX_HOPS {
        let next = found.and_then(|schema| schema.get("$ref")).and_then(Value::as_str);
        let Some(next) = next else { break };
        found = resolve(root, next);
    }
    found.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Gives `object` the properties of `branches` that it has not itself.
fn take_in(object: &mut Map<String, Value>, branches: &[Map<String, Value>], all: bool) {
    let required = |schema: &Map<String, Value>| -> Vec<String> {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let mut needed = required(object);
    for name in branches.iter().flat_map(required) {
        let everywhere = all || branches.iter().all(|branch| required(branch).contains(&name));
        if everywhere && !needed.contains(&name) {
            needed.push(name);
        }
    }
    for branch in branches {
        add(object, branch);
    }
    object.shift_remove("required");
    if !needed.is_empty() {
        object.insert("required".to_owned(), needed.into());
    }
}

/// Adds what `object` lacks: properties one by one, other keys whole.
fn add(object: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (key, value) in more {
        match (object.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "properties" => {
                for (name, schema) in new {
                    old.entry(name).or_insert_with(|| schema.clone());
                }
            }
            (Some(_), _) => {}
            // What closes a branch would close the root to the other branches.
            (None, _) if key == "additionalProperties" || key == "title" => {}
            (None, value) => drop(object.insert(key.clone(), value.clone())),
        }
    }
}

/// A description without invisible characters, at most [`MAX_DESCRIPTION`] long.
pub(super) fn description(text: Option<&str>) -> String {
    let text = strip_invisible(text.unwrap_or_default());
    let text = text.trim();
    if text.chars().count() <= MAX_DESCRIPTION {
        return text.to_owned();
    }
    let head: String = text.chars().take(MAX_DESCRIPTION - 1).collect();
    format!("{}…", head.trim_end())
}

/// The function that reads a resource of any server.
pub(super) fn resource_access() -> ToolDefinition {
    ToolDefinition {
        name: ACCESS_RESOURCE.to_owned(),
        description: "Reads a resource of a server by its URI.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "server_name": {"type": "string", "description": "Name of the server; may be left out if the URI is listed."},
                "uri": {"type": "string", "description": "URI of the resource."},
            },
            "required": ["uri"],
        }),
    }
}
