//! OpenAPI's `nullable`, which many servers put into schemas, as JSON Schema says it.
//!
//! <https://spec.openapis.org/oas/v3.0.3#schema-object>: `true` lets the value be `null` beside what
//! `type` says.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::tools::allow_null;

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 64;

/// Keywords that hold a schema, a list of schemas, or schemas by name.
const ONE: &[&str] = &["items", "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// The schema with `null` among the types where it says `nullable`; `None` where it says that nowhere.
pub(super) fn nullable(schema: &Value) -> Option<Value> {
    match read(schema, 0) {
        Cow::Owned(schema) => Some(schema),
        Cow::Borrowed(_) => None,
    }
}

fn read(schema: &Value, depth: usize) -> Cow<'_, Value> {
    let Some(keywords) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return Cow::Borrowed(schema) };
    let mut changed: Vec<(&str, Value)> = Vec::new();
    for (keyword, part) in keywords {
        let read = match part {
            Value::Object(_) if ONE.contains(&keyword.as_str()) => owned(read(part, depth + 1)),
            Value::Object(parts) if NAMED.contains(&keyword.as_str()) => members(parts, depth + 1),
            Value::Array(parts) if LISTS.contains(&keyword.as_str()) => items(parts, depth + 1),
            _ => None,
        };
        changed.extend(read.map(|part| (keyword.as_str(), part)));
    }
    let is_nullable = keywords.get("nullable") == Some(&Value::Bool(true));
    if changed.is_empty() && !is_nullable {
        return Cow::Borrowed(schema);
    }
    let mut keywords = keywords.clone();
    for (keyword, part) in changed {
        keywords.insert(keyword.to_owned(), part);
    }
    if is_nullable {
        allow_null(&mut keywords);
    }
    Cow::Owned(Value::Object(keywords))
}

fn owned(schema: Cow<'_, Value>) -> Option<Value> {
    match schema {
        Cow::Owned(schema) => Some(schema),
        Cow::Borrowed(_) => None,
    }
}

fn members(parts: &Map<String, Value>, depth: usize) -> Option<Value> {
    let read: Vec<_> = parts.iter().map(|(name, part)| (name, read(part, depth))).collect();
    let is_changed = read.iter().any(|(_, part)| matches!(part, Cow::Owned(_)));
    is_changed.then(|| read.into_iter().map(|(name, part)| (name.clone(), part.into_owned())).collect())
}

fn items(parts: &[Value], depth: usize) -> Option<Value> {
    let read: Vec<_> = parts.iter().map(|part| read(part, depth)).collect();
    let is_changed = read.iter().any(|part| matches!(part, Cow::Owned(_)));
    is_changed.then(|| read.into_iter().map(Cow::into_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::nullable;

    #[test]
    fn null_is_a_type_where_a_schema_says_nullable() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "string", "nullable": true},
            "nullable": {"type": "boolean"},
            "b": {"type": "array", "items": {"enum": ["x"], "nullable": true}},
            "c": {"anyOf": [{"type": "integer"}, {"type": "number", "nullable": true}]},
        }});
        let read = nullable(&schema).unwrap();
        assert_eq!(read.pointer("/properties/a/type"), Some(&json!(["string", "null"])));
        assert_eq!(read.pointer("/properties/b/items/enum"), Some(&json!(["x", null])));
        assert_eq!(read.pointer("/properties/c/anyOf/1/type"), Some(&json!(["number", "null"])));
        assert_eq!(nullable(&json!({"properties": {"nullable": {"type": "string"}}})), None);
        assert_eq!(nullable(&json!({"type": "string", "nullable": false})), None);
    }
}
