//! Describes values and schemas in a few words, for error messages.

use serde_json::Value;

use crate::outcome::shortened;
use crate::tools::schema::{Walk, list as listed, reference, types};

/// Limit on the characters of a value or name in a message.
pub(super) const MAX_SHOWN: usize = 40;

/// Limit on the values of an `enum`, or names, in a message.
const MAX_LISTED: usize = 10;

/// Limit on the depth of a description: references and items.
const MAX_DEPTH: usize = 6;

/// Returns the description of a value for a message: its type with the short value, its number of items or its keys.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => format!("boolean {b}"),
        Value::Number(n) => format!("number {n}"),
        Value::String(_) => format!("string {}", literal(value)),
        Value::Array(items) => format!("array of {} {}", items.len(), if items.len() == 1 { "item" } else { "items" }),
        Value::Object(members) if members.is_empty() => "empty object".to_owned(),
        Value::Object(members) => format!("object with {}", list(members.keys().map(|k| quoted(k)))),
    }
}

/// Returns a value as JSON, cut to [`MAX_SHOWN`] characters.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => shortened(other.to_string(), MAX_SHOWN),
    }
}

/// Returns a text in quotation marks, cut to [`MAX_SHOWN`] characters.
pub(super) fn quoted(text: &str) -> String {
    Value::from(shortened(text.to_owned(), MAX_SHOWN)).to_string()
}

/// Joins texts with commas, at most [`MAX_LISTED`] of them.
pub(super) fn list(texts: impl IntoIterator<Item = String>) -> String {
    let mut texts = texts.into_iter();
    let mut listed: Vec<String> = texts.by_ref().take(MAX_LISTED).collect();
    match texts.count() {
        0 => {}
        more => listed.push(format!("… ({more} more)")),
    }
    listed.join(", ")
}

/// Describes the values that a schema accepts: `integer`, `array of string`, `one of "a", "b"`.
pub(super) fn schema(schema: &Value, root: &Value) -> String {
    wanted(schema, &Walk::new(root), MAX_DEPTH).unwrap_or_else(|| "any value".to_owned())
}

fn wanted(schema: &Value, walk: &Walk<'_>, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1).filter(|_| walk.enter())?;
    if reference(schema).is_some() {
        return wanted(walk.target(schema)?, walk, depth);
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return Some(format!("one of {}", list(options.iter().map(literal))));
    }
    if let Some(only) = schema.get("const") {
        return Some(literal(only));
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => {
            let items = schema.get("items").and_then(|items| wanted(items, walk, depth));
            Some(items.map_or("array".to_owned(), |items| format!("array of {items}")))
        }
        Some(Value::String(_) | Value::Array(_)) => Some(types(schema).collect::<Vec<_>>().join(" or ")),
        _ => branches(schema, walk, depth),
    }
}

fn branches(schema: &Value, walk: &Walk<'_>, depth: usize) -> Option<String> {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(branches) = branches {
        let mut forms: Vec<String> = Vec::new();
        for branch in branches.iter().take(MAX_LISTED) {
            // If one branch accepts anything, so do all of them together.
            let form = wanted(branch, walk, depth)?;
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        return Some(forms.join(" or "));
    }
    listed(schema, "allOf").take(MAX_LISTED).find_map(|part| wanted(part, walk, depth))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_with_their_type_and_bounded() {
        for (found, expected) in [
            (json!(null), "null"),
            (json!(true), "boolean true"),
            (json!(2.5), "number 2.5"),
            (json!("a\"b\n"), "string \"a\\\"b\\n\""),
            (json!([1]), "array of 1 item"),
            (json!([]), "array of 0 items"),
            (json!({}), "empty object"),
            (json!({"a": 1, "b": 2}), "object with \"a\", \"b\""),
        ] {
            assert_eq!(value(&found), expected);
        }
        let long = value(&json!("長".repeat(5000)));
        assert_eq!(long, format!("string \"{}…\"", "長".repeat(MAX_SHOWN)));
        let many: serde_json::Map<String, Value> = (0..500).map(|n| (format!("k{n}"), json!(n))).collect();
        assert!(value(&Value::Object(many)).ends_with("\"k9\", … (490 more)"));
    }

    #[test]
    fn schemas_are_described_by_what_they_want() {
        let root = json!({"$defs": {
            "unit": {"enum": ["C", "F"]},
            "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            "loop": {"$ref": "#/$defs/loop"},
        }});
        for (found, expected) in [
            (json!({"type": "integer"}), "integer"),
            (json!({"type": ["string", "null"]}), "string or null"),
            (json!({"type": "array", "items": {"type": "string"}}), "array of string"),
            (json!({"type": "array"}), "array"),
            (json!({"$ref": "#/$defs/unit"}), "one of \"C\", \"F\""),
            (json!({"const": 5}), "5"),
            (json!({"anyOf": [{"type": "integer"}, {"type": "null"}, {"type": "integer"}]}), "integer or null"),
            (json!({"allOf": [{"description": "x"}, {"$ref": "#/$defs/unit"}]}), "one of \"C\", \"F\""),
            (json!({"$ref": "#/$defs/tree"}), "array of array of array"),
            (json!({"$ref": "#/$defs/loop"}), "any value"),
            (json!({"$ref": "https://example.com/x"}), "any value"),
            (json!({}), "any value"),
            (json!(true), "any value"),
        ] {
            assert_eq!(schema(&found, &root), expected, "{found}");
        }
    }
}
