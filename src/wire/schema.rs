//! Adapts a tool's description and schema to the demands of endpoints.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::plain::ToolDefinition;
use crate::json::map_texts;
use crate::outcome::{break_tokens, strip_invisible};
use crate::tools::ACCESS_RESOURCE;
use crate::tools::schema::{Walk, merge, required};

/// Maximum length in characters of a tool's description; OpenAI refuses a longer one.
pub const MAX_DESCRIPTION: usize = 1024;

/// Returns a tool's schema in a form that endpoints accept, and otherwise unchanged.
///
/// - The root is an object with `properties` (OpenAI: "schema must be a JSON Schema of 'type: \"object\"'", "object
///   schema missing properties").
/// - `oneOf`, `anyOf` and `allOf` at the root are refused by OpenAI and Anthropic ("input_schema does not support
///   oneOf, allOf, or anyOf at the top level"): the root gets the branches' properties instead, and requires what all
///   branches require (for `allOf`: what any requires). `enum` and `not` there are left out, as are `$schema` and
///   `$id`, which Gemini refuses.
///
/// Calls are still checked against the tool's own schema.
pub fn parameters(schema: Option<&Value>) -> Value {
    let empty = Value::Null;
    let root = schema.unwrap_or(&empty);
    let walk = Walk::new(root);
    let mut object = root.as_object().cloned().unwrap_or_default();
    if object.shift_remove("$ref").is_some()
        && let Some(target) = walk.follow(root).and_then(Value::as_object)
    {
        merge(&mut object, target);
        object.shift_remove("$ref");
    }
    for key in ["$schema", "$id", "enum", "not"] {
        object.shift_remove(key);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = object.shift_remove(key) {
            // A branch whose reference has no target requires nothing.
            let nothing = Value::Object(Map::new());
            let followed = |branch| walk.follow(branch).filter(|found| found.is_object()).unwrap_or(&nothing);
            let branches: Vec<_> = branches.iter().filter(|branch| branch.is_object()).map(followed).collect();
            take_in(&mut object, &branches, key == "allOf");
        }
    }
    object.insert("type".to_owned(), "object".into());
    if !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    Value::Object(object)
}

/// Adds to `object` the properties of `branches` that it lacks, and their required names: if `all`, each name that any
/// branch requires, otherwise only names that every branch requires.
fn take_in(object: &mut Map<String, Value>, branches: &[&Value], all: bool) {
    let own = object.shift_remove("required").unwrap_or_default();
    let own = own.as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut needed: Vec<String> = own.map(str::to_owned).collect();
    for name in branches.iter().flat_map(|branch| required(branch)) {
        let everywhere = all || branches.iter().all(|branch| required(branch).any(|other| other == name));
        if everywhere && !needed.iter().any(|other| other == name) {
            needed.push(name.to_owned());
        }
    }
    for branch in branches.iter().filter_map(|branch| branch.as_object()) {
        merge(object, branch);
    }
    object.shift_remove("required");
    if !needed.is_empty() {
        object.insert("required".to_owned(), needed.into());
    }
}

/// Returns a description without invisible characters and with control tokens escaped, in full length.
pub(crate) fn whole_description(text: Option<&str>) -> String {
    let text = strip_invisible(text.unwrap_or_default());
    break_tokens(text.trim()).into_owned()
}

/// Returns a description without invisible characters and with control tokens escaped, cut to [`MAX_DESCRIPTION`].
pub(super) fn description(text: Option<&str>) -> String {
    cut_description(whole_description(text), MAX_DESCRIPTION)
}

/// Returns a description cut to `most` characters, with `…` at the end if it was cut.
pub(crate) fn cut_description(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => {
            let head: String = text.chars().take(most.saturating_sub(1)).collect();
            format!("{}…", head.trim_end())
        }
    }
}

/// Escapes control tokens of chat templates in the texts and keys of a schema, since many templates print them; a model
/// writes them back in the escaped form.
pub(super) fn unmarked(schema: Value) -> Value {
    map_texts(schema, &mut |text| match break_tokens(&text) {
        Cow::Owned(broken) => broken,
        Cow::Borrowed(_) => text,
    })
}

/// Returns the definition of the function `access_mcp_resource`, which reads a resource of any server.
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
