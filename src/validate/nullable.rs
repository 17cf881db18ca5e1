//! Converts OpenAPI's `nullable`, which many servers put into schemas, to JSON Schema.
//!
//! <https://spec.openapis.org/oas/v3.0.3#schema-object>: `true` allows the value `null` in addition to the types in
//! `type`.

use serde_json::Value;

use crate::tools::allow_null;
use crate::tools::schema::subschemas_mut;

/// Limit on the nesting of subschemas in which `nullable` is converted.
const MAX_DEPTH: usize = 64;

/// Returns the schema with `null` as an additional type wherever it has `nullable`; `None` if it has that nowhere.
pub(super) fn nullable(schema: &Value) -> Option<Value> {
    let mut read = schema.clone();
    allow(&mut read, 0).then_some(read)
}

/// Converts `nullable` in a schema and its subschemas in place. Returns `true` if anything changed.
fn allow(schema: &mut Value, depth: usize) -> bool {
    let Some(keywords) = schema.as_object_mut().filter(|_| depth < MAX_DEPTH) else { return false };
    let mut is_changed = false;
    for part in subschemas_mut(keywords) {
        is_changed |= allow(part, depth + 1);
    }
    if keywords.get("nullable") == Some(&Value::Bool(true)) {
        allow_null(keywords);
        is_changed = true;
    }
    is_changed
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
