//! Detects schemas that obviously accept nothing. They are a client's mistake, such as `false` for "no arguments" or an
//! empty list of values.

use serde_json::Value;

/// Names of the types other than object; an unknown name is ignored.
const OTHER_TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "null"];

/// Returns `true` if no value matches this schema; with `objects`, if no object does. References are not followed.
pub fn fits_nothing(schema: &Value, objects: bool) -> bool {
    let Some(words) = schema.as_object() else { return *schema == Value::Bool(false) };
    let may_be = |value: &Value| !objects || value.is_object();
    let is_other = |word: &Value| word.as_str().is_some_and(|word| OTHER_TYPES.contains(&word.to_lowercase().as_str()));
    let no_type = match words.get("type") {
        // `all` holds for an empty list as well, which names no type.
        Some(Value::Array(types)) => objects && !types.is_empty() && types.iter().all(is_other),
        Some(word) => objects && is_other(word),
        None => false,
    };
    let none_of = |key: &str, is_none: &dyn Fn(&[Value]) -> bool| {
        words.get(key).and_then(Value::as_array).is_some_and(|list| is_none(list))
    };
    let required = words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut required = required.filter_map(|name| words.get("properties")?.get(name));
    // Each of these keywords alone can exclude every value.
    no_type
        || none_of("enum", &|values| !values.iter().any(may_be))
        || words.get("const").is_some_and(|value| !may_be(value))
        || words.get("not").is_some_and(|not| *not == Value::Bool(true) || *not == serde_json::json!({}))
        || none_of("allOf", &|all| all.iter().any(|one| fits_nothing(one, objects)))
        || none_of("anyOf", &|any| !any.is_empty() && any.iter().all(|one| fits_nothing(one, objects)))
        || none_of("oneOf", &|any| !any.is_empty() && any.iter().all(|one| fits_nothing(one, objects)))
        || required.any(|property| fits_nothing(property, false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_nothing_fits_is_known_by_its_words() {
        for (schema, nothing) in [
            (json!(false), true),
            (json!({"type": "string"}), true),
            (json!({"type": ["null", "ARRAY"]}), true),
            (json!({"not": {}}), true),
            (json!({"enum": ["a", 1]}), true),
            (json!({"const": 5}), true),
            (json!({"allOf": [{"type": "object"}, false]}), true),
            (json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), true),
            (json!({"properties": {"a": {"enum": []}}, "required": ["a"]}), true),
            (json!({"properties": {"a": false}, "required": ["a"]}), true),
            (json!(true), false),
            (json!({}), false),
            (json!({"type": "any"}), false),
            (json!({"type": ["object", "null"]}), false),
            (json!({"not": {"type": "string"}}), false),
            (json!({"anyOf": [{"type": "string"}, {"type": "object"}]}), false),
            (json!({"properties": {"a": {"enum": []}}}), false),
            (json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}), false),
        ] {
            assert_eq!(fits_nothing(&schema, true), nothing, "{schema}");
        }
        assert!(!fits_nothing(&json!({"type": "string"}), false));
    }
}
