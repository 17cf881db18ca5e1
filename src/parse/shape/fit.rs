//! Checks whether an object can only be a tool's arguments, where nothing else says so.

use serde_json::{Map, Value};

use crate::dialect::{CallKeys, IDLE};
use crate::parse::emit::unresolved::Fault;
use crate::tools::Tool;

/// Returns `true` if every key of `arguments` is a parameter of the tool, and no required parameter is missing.
pub(crate) fn fits(tool: &Tool, arguments: &Map<String, Value>) -> bool {
    arguments.keys().all(|key| tool.has_parameter(key))
        && tool.parameters().all(|parameter| !parameter.required || arguments.contains_key(parameter.name))
}

/// Returns `true` if `arguments` can only be arguments of the tool: an object, or its JSON text, that fits its
/// parameters. `false` without a tool.
pub(crate) fn takes(tool: Option<&Tool>, arguments: &Value) -> bool {
    let Some(tool) = tool else { return false };
    match arguments {
        Value::Object(arguments) => tool.input_schema.is_none() || fits(tool, arguments),
        Value::String(text) => serde_json::from_str(text).is_ok_and(|arguments| fits(tool, &arguments)),
        _ => false,
    }
}

/// Returns `true` if the first key of `object`, which may be incomplete, is a parameter of the tool: it can only be the
/// tool's arguments then.
pub(crate) fn begins_with_parameter(tool: &Tool, object: &str) -> bool {
    let inner = object.strip_prefix('{').unwrap_or_default().trim_start();
    let key = inner.strip_prefix('"').and_then(|key| key.split_once('"'));
    key.is_some_and(|(key, _)| tool.has_parameter(key))
}

/// Replaces the member `wrapper` of a call object, as OpenAI's API has it, by its value: an object's members, or the
/// tool's name under `tool_key`. Returns the fault if a member of the same key and another value is beside it.
pub(crate) fn unwrap_function(object: &mut Map<String, Value>, wrapper: &str, tool_key: &str) -> Option<Fault> {
    let inner = match object.shift_remove(wrapper)? {
        Value::Object(inner) => inner,
        name => Map::from_iter([(tool_key.to_owned(), name)]),
    };
    let mut fault = None;
    for (key, value) in inner {
        if object.get(&key).is_some_and(|beside| *beside != value) {
            fault.get_or_insert(Fault::disagree(wrapper, &key));
        }
        object.insert(key, value);
    }
    fault
}

/// Removes the arguments that are beside the tool's name from `object`, a call without that name, and returns them:
/// `{"name": "f", "a": 1}`. `None` unless each key is a parameter or one that a call may have beside them, and the
/// arguments fit. `tool` is only called where it matters.
pub(crate) fn take_flat<'t>(
    object: &mut Map<String, Value>,
    tool: impl FnOnce() -> Option<&'t Tool>,
    keys: &CallKeys,
) -> Option<Map<String, Value>> {
    let named = |list: &[String], key: &String| list.contains(key);
    // Under a key for the arguments an object is the arguments.
    if object.iter().any(|(key, value)| value.is_object() && named(&keys.arguments, key)) {
        return None;
    }
    let tool = tool()?;
    let is_flat =
        object.keys().all(|key| tool.has_parameter(key) || named(&keys.server, key) || IDLE.contains(&key.as_str()));
    let flat: Map<_, _> =
        object.iter().filter(|(key, _)| tool.has_parameter(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    if !is_flat || flat.is_empty() || !fits(tool, &flat) {
        return None;
    }
    object.retain(|key, _| !flat.contains_key(key));
    Some(flat)
}

/// Returns `true` if the value is a JSON Schema of parameters, which defines a tool and is no call of it.
///
/// `tool` is only called where it matters.
pub(crate) fn is_definition<'t>(value: &Value, tool: impl FnOnce() -> Option<&'t Tool>) -> bool {
    const BESIDE: &[&str] =
        &["type", "properties", "required", "additionalProperties", "$schema", "title", "description", "$defs"];
    let properties = value.as_object().and_then(|object| object.iter().find(|(key, _)| *key == "properties"));
    let Some((_, Value::Object(properties))) = properties else { return false };
    // It is an argument then (`json/parameter_called_properties`).
    if tool().is_some_and(|tool| tool.has_parameter("properties")) {
        return false;
    }
    if value.get("type").is_some_and(|kind| kind == "object") {
        return true;
    }
    // Many leave the type of the whole out.
    let is_schema = |member: &Value| {
        ["type", "enum", "anyOf", "oneOf", "$ref", "description"].iter().any(|key| member.get(*key).is_some())
    };
    let is_alone = value.as_object().is_some_and(|all| all.keys().all(|key| BESIDE.contains(&key.as_str())));
    is_alone && !properties.is_empty() && properties.values().all(is_schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool() -> Tool {
        let schema = json!({"type": "object", "required": ["a"],
            "properties": {"a": {"type": "integer"}, "input": {"type": "string"}, "id": {"type": "string"}}});
        Tool::new("f").with_schema(schema)
    }

    fn flat(object: Value) -> Option<Value> {
        let Value::Object(mut object) = object else { return None };
        let list = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        let keys =
            CallKeys { tool: list(&["name"]), arguments: list(&["arguments", "input"]), server: list(&["server"]) };
        let tool = tool();
        take_flat(&mut object, || Some(&tool), &keys).map(Value::Object)
    }

    #[test]
    fn what_stands_beside_the_name_is_the_arguments_if_all_of_it_fits() {
        assert_eq!(flat(json!({"a": 1})), Some(json!({"a": 1})));
        assert_eq!(
            flat(json!({"a": 1, "id": "x", "type": "function", "server": "s"})),
            Some(json!({"a": 1, "id": "x"}))
        );
        assert_eq!(flat(json!({"a": 1, "input": "x"})), Some(json!({"a": 1, "input": "x"})));
        for other in [json!({"a": 1, "input": {"b": 1}}), json!({"a": 1, "b": 2}), json!({"id": "x"}), json!({})] {
            assert_eq!(flat(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn a_schema_is_one_without_its_type_too() {
        let (tool, a) = (tool(), json!({"a": {"type": "integer"}}));
        for schema in [
            json!({"type": "object", "properties": {}}),
            json!({"properties": a, "required": ["a"]}),
            json!({"properties": {"a": {"description": "…"}}}),
        ] {
            assert!(is_definition(&schema, || Some(&tool)), "{schema}");
        }
        let properties = Tool::new("g").with_schema(json!({"properties": {"properties": {"type": "object"}}}));
        assert!(!is_definition(&json!({"properties": a}), || Some(&properties)));
        for other in [json!({"properties": {"a": 1}}), json!({"properties": a, "city": "Oslo"}), json!({"a": 1})] {
            assert!(!is_definition(&other, || None), "{other}");
        }
    }
}
