//! Converts Gemini's `Schema`, a dialect of OpenAPI 3.0, to JSON Schema.

use serde_json::{Map, Value};

use crate::tools::allow_null;

/// Maximum nesting depth that is converted, equal to that of the parser of bodies; deeper schemas become empty.
const MAX_DEPTH: usize = 128;

/// Keywords whose values Gemini writes as strings, since they are 64-bit integers.
const NUMBERS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Converts a Gemini schema to JSON Schema: names of types become lower case, `nullable` becomes a type `null`. A JSON
/// Schema is unchanged.
pub fn json_schema(schema: &Value) -> Value {
    convert(schema, 0)
}

fn convert(schema: &Value, depth: usize) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    if depth > MAX_DEPTH {
        return Value::Object(Map::new());
    }
    let mut object = Map::new();
    let mut nullable = false;
    for (key, value) in schema {
        // Both spellings are accepted, as everywhere in Gemini's interface.
        let key = camel(key);
        let value = match (key.as_str(), value) {
            ("nullable", value) => {
                nullable = *value == true;
                continue;
            }
            // The order of properties and an example have no effect on what is accepted.
            ("propertyOrdering" | "example", _) => continue,
            ("type", Value::String(kind)) if kind == "TYPE_UNSPECIFIED" => continue,
            ("type", Value::String(kind)) => kind.to_ascii_lowercase().into(),
            ("type", Value::Array(kinds)) => {
                let small =
                    |kind: &Value| kind.as_str().map_or_else(|| kind.clone(), |kind| kind.to_ascii_lowercase().into());
                kinds.iter().map(small).collect()
            }
            // JSON Schema has no such formats.
            ("format", Value::String(format)) if matches!(format.as_str(), "enum" | "float" | "double") => continue,
            (limit, Value::String(number)) if NUMBERS.contains(&limit) => {
                number.parse::<u64>().map_or_else(|_| value.clone(), Value::from)
            }
            ("items" | "additionalProperties" | "not", value) => convert(value, depth + 1),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(branches)) => {
                branches.iter().map(|branch| convert(branch, depth + 1)).collect()
            }
            ("properties" | "defs" | "$defs" | "definitions", Value::Object(properties)) => Value::Object(
                properties.iter().map(|(name, schema)| (name.clone(), convert(schema, depth + 1))).collect(),
            ),
            _ => value.clone(),
        };
        object.insert(key, value);
    }
    if nullable {
        allow_null(&mut object);
    }
    Value::Object(object)
}

/// Converts a name in snake case to camel case (`any_of` to `anyOf`); an underscore at its start remains.
fn camel(key: &str) -> String {
    let mut camel = String::with_capacity(key.len());
    let mut upper = false;
    for c in key.chars() {
        match c {
            '_' if !camel.is_empty() => upper = true,
            c if upper => {
                camel.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => camel.push(c),
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_limits_and_null_are_those_of_json_schema() {
        let open = json!({"type": "OBJECT", "required": ["city"], "propertyOrdering": ["city"], "properties": {
            "city": {"type": "STRING", "format": "enum", "enum": ["Oslo"], "nullable": true},
            "days": {"type": "ARRAY", "min_items": "1", "items": {"type": "INTEGER", "format": "int32"}},
            "any_of": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": true},
        }});
        let schema = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": ["string", "null"], "enum": ["Oslo", null]},
            "days": {"type": "array", "minItems": 1, "items": {"type": "integer", "format": "int32"}},
            "any_of": {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "null"}]},
        }});
        assert_eq!(json_schema(&open), schema);
        assert_eq!(json_schema(&schema), schema, "what is JSON Schema stays");
    }
}
