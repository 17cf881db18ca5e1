//! A small, plausible argument object from a tool's schema, to show how it is called.

use serde_json::{Map, Number, Value};

use super::Tool;

/// Objects and arrays nested deeper than this are left empty.
const MAX_DEPTH: usize = 5;

/// References and unions followed one after another at most.
const MAX_HOPS: usize = 8;

impl Tool {
    /// Arguments that the tool's schema accepts, as an example: the required
    /// parameters, or the first parameter where none is required.
    ///
    /// Values come from `const`, `examples`, `default` and `enum`, else from
    /// type, format, limits and name. They are a sketch, not a promise: a
    /// schema may ask for more (a `pattern`, a condition) than is looked at.
    pub fn example_arguments(&self) -> Map<String, Value> {
        let Some(root) = &self.input_schema else { return Map::new() };
        let sampler = Sampler { root };
        let schema = sampler.flatten(root);
        let mut arguments = sampler.object(&schema, 0);
        if arguments.is_empty()
            && let Some((name, schema)) = properties(&schema).next()
        {
            arguments.insert(name.clone(), sampler.value(name, schema, 1));
        }
        arguments
    }
}

/// A value that a schema accepts, as an example: of an object its required
/// members, or all where none is required. A sketch, as
/// [`example_arguments`](Tool::example_arguments) is.
#[cfg(feature = "validate")]
pub(crate) fn example_value(root: &Value) -> Value {
    let sampler = Sampler { root };
    let schema = sampler.flatten(root);
    match sampler.value("", root, 0) {
        Value::Object(object) if object.is_empty() => {
            properties(&schema).map(|(name, schema)| (name.clone(), sampler.value(name, schema, 1))).collect()
        }
        value => value,
    }
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

struct Sampler<'a> {
    root: &'a Value,
}

impl Sampler<'_> {
    /// The schema as one map: references resolved, `allOf` and the first
    /// useful branch of `anyOf` and `oneOf` merged in.
    fn flatten(&self, schema: &Value) -> Map<String, Value> {
        let mut flat = schema.as_object().cloned().unwrap_or_default();
        for _ in 0..MAX_HOPS {
            let mut parts: Vec<Value> = Vec::new();
            if let Some(Value::String(reference)) = flat.shift_remove("$ref") {
                parts.extend(resolve(self.root, &reference).cloned());
            }
            if let Some(Value::Array(all)) = flat.shift_remove("allOf") {
                parts.extend(all);
            }
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = flat.shift_remove(key) {
                    let useful = branches.iter().find(|b| b.get("type").is_none_or(|t| t != "null"));
                    parts.extend(useful.or(branches.first()).cloned());
                }
            }
            if parts.is_empty() {
                break;
            }
            parts.into_iter().for_each(|part| merge(&mut flat, part));
        }
        flat
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let known: Map<String, Value> = properties(schema)
            .filter(|(name, _)| required.contains(&name.as_str()))
            .map(|(name, schema)| (name.clone(), self.value(name, schema, depth + 1)))
            .collect();
        let unlisted = required.iter().filter(|name| !known.contains_key(**name));
        let unlisted: Vec<_> = unlisted.map(|name| ((*name).to_owned(), string(name, &Map::new()).into())).collect();
        known.into_iter().chain(unlisted).collect()
    }

    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let schema = self.flatten(schema);
        if let Some(given) = given(&schema) {
            return given;
        }
        match kind(&schema) {
            "integer" => integer(&schema).into(),
            "number" => number(&schema),
            "boolean" => true.into(),
            "null" => Value::Null,
            "object" if depth < MAX_DEPTH => self.object(&schema, depth).into(),
            "object" => Map::new().into(),
            "array" => self.array(name, &schema, depth),
            _ => string(name, &schema).into(),
        }
    }

    fn array(&self, name: &str, schema: &Map<String, Value>, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Array(Vec::new());
        }
        if let Some(tuple) = schema.get("prefixItems").or(schema.get("items")).and_then(Value::as_array) {
            return tuple.iter().map(|item| self.value(name, item, depth + 1)).collect();
        }
        let limit = |key| schema.get(key).and_then(Value::as_u64);
        let count = limit("minItems").unwrap_or(0).max(1).min(limit("maxItems").unwrap_or(u64::MAX)).min(8);
        let any = Value::Bool(true);
        let items = schema.get("items").unwrap_or(&any);
        let choices = items.get("enum").and_then(Value::as_array);
        let singular = name.strip_suffix('s').unwrap_or(name);
        (0..usize::try_from(count).unwrap_or(1))
            .map(|n| match choices.and_then(|c| c.get(n)) {
                Some(choice) => choice.clone(),
                None => vary(self.value(singular, items, depth + 1), n),
            })
            .collect()
    }
}

/// What a local reference (`#`, `#/$defs/Name`) points to.
pub(crate) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

fn merge(into: &mut Map<String, Value>, part: Value) {
    let Value::Object(part) = part else { return };
    for (key, value) in part {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "properties" => old.extend(new),
            (Some(Value::Array(old)), Value::Array(new)) if key == "required" => old.extend(new),
            (Some(_), _) => {}
            (None, value) => drop(into.insert(key, value)),
        }
    }
}

/// A value that the schema's author named.
fn given(schema: &Map<String, Value>) -> Option<Value> {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|values| values.first());
    let candidates =
        [schema.get("const"), first("examples"), schema.get("example"), schema.get("default"), first("enum")];
    candidates.into_iter().flatten().find(|value| !value.is_null()).cloned()
}

fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|k| *k != "null").unwrap_or("null"),
        _ if schema.contains_key("properties") => "object",
        _ if schema.contains_key("items") || schema.contains_key("prefixItems") => "array",
        _ => "string",
    }
}

fn integer(schema: &Map<String, Value>) -> i64 {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let low = bound("minimum").map(f64::ceil).or(bound("exclusiveMinimum").map(|n| n.floor() + 1.0));
    let high = bound("maximum").map(f64::floor).or(bound("exclusiveMaximum").map(|n| n.ceil() - 1.0));
    let step = bound("multipleOf").filter(|n| *n > 0.0).unwrap_or(1.0);
    let value = low.unwrap_or(1.0).max(1.0).min(high.unwrap_or(f64::MAX)).max(low.unwrap_or(f64::MIN));
    #[expect(clippy::cast_possible_truncation, reason = "saturates; an example")]
    let value = ((value / step).ceil() * step) as i64;
    value
}

fn number(schema: &Map<String, Value>) -> Value {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let low = bound("minimum").or(bound("exclusiveMinimum"));
    let high = bound("maximum").or(bound("exclusiveMaximum"));
    let value = match (low, high) {
        (Some(low), Some(high)) => f64::midpoint(low, high),
        (Some(low), None) if low >= 1.5 => low + 1.0,
        (None, Some(high)) if high <= 1.5 => high - 1.0,
        _ => 1.5,
    };
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// Later elements of an array differ from the first.
fn vary(value: Value, n: usize) -> Value {
    match value {
        _ if n == 0 => value,
        Value::String(text) => format!("{text}{}", n + 1).into(),
        Value::Number(number) => number.as_i64().map_or(Value::Number(number), |i| (i + n as i64).into()),
        other => other,
    }
}

fn string(name: &str, schema: &Map<String, Value>) -> String {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let mut text = by_format(format).or_else(|| by_name(name)).unwrap_or("example").to_owned();
    if let Some(Ok(pattern)) = schema.get("pattern").and_then(Value::as_str).map(regex::Regex::new)
        && !pattern.is_match(&text)
        && let Some(fit) = PATTERN_TRIES.iter().find(|t| pattern.is_match(t))
    {
        text = (*fit).to_owned();
    }
    let limit = |key| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let low = limit("minLength").unwrap_or(0).min(200);
    if let missing @ 1.. = low.saturating_sub(text.chars().count()) {
        text += &"x".repeat(missing);
    }
    text.chars().take(limit("maxLength").unwrap_or(usize::MAX)).collect()
}

/// Texts that fit common patterns.
const PATTERN_TRIES: &[&str] = &[
    "2025-06-01",
    "2025-06-01T09:30:00Z",
    "09:30",
    "1",
    "42",
    "a",
    "A",
    "abc",
    "ABC",
    "abc-123",
    "ABC-123",
    "abc_123",
    "#336699",
    "1.0.0",
    "/example",
    "https://example.com",
    "user@example.com",
    "+4930123456",
    "0x1a2b",
    "3f2b8c1e-7d4a-4e6f-9b1a-2c3d4e5f6a7b",
    "owner/name",
    "example.txt",
];

fn by_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2025-06-01",
        "date-time" => "2025-06-01T09:30:00Z",
        "time" => "09:30:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "user@example.com",
        "uri" | "url" | "iri" => "https://example.com",
        "uri-reference" => "/example",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uuid" => "3f2b8c1e-7d4a-4e6f-9b1a-2c3d4e5f6a7b",
        _ => return None,
    })
}

/// A word in a parameter's name and a value that suits it; the first that fits wins.
const BY_NAME: &[(&str, &str)] = &[
    ("timezone", "Europe/Berlin"),
    ("tz", "Europe/Berlin"),
    ("datetime", "2025-06-01T09:30:00Z"),
    ("timestamp", "2025-06-01T09:30:00Z"),
    ("date", "2025-06-01"),
    ("time", "09:30"),
    ("city", "Berlin"),
    ("location", "Berlin"),
    ("place", "Berlin"),
    ("country", "DE"),
    ("url", "https://example.com"),
    ("uri", "https://example.com"),
    ("email", "user@example.com"),
    ("directory", "notes"),
    ("dir", "notes"),
    ("folder", "notes"),
    ("repo", "."),
    ("path", "notes.txt"),
    ("file", "notes.txt"),
    ("filename", "notes.txt"),
    ("source", "notes.txt"),
    ("destination", "notes-old.txt"),
    ("branch", "main"),
    ("query", "coffee"),
    ("search", "coffee"),
    ("keyword", "coffee"),
    ("pattern", "*.txt"),
    ("symbol", "ACME"),
    ("ticker", "ACME"),
    ("currency", "EUR"),
    ("language", "en"),
    ("lang", "en"),
    ("command", "ls"),
    ("cmd", "ls"),
    ("id", "42"),
    ("message", "Hello"),
    ("content", "Hello"),
    ("text", "Hello"),
    ("body", "Hello"),
    ("title", "Hello"),
    ("relation", "knows"),
    ("from", "Alice"),
    ("to", "Bob"),
    ("name", "Alice"),
    ("entity", "Alice"),
];

fn by_name(name: &str) -> Option<&'static str> {
    let words = words(name);
    BY_NAME.iter().find(|(word, _)| words.iter().any(|w| w == word)).map(|(_, value)| *value)
}

/// The words of `snake_case`, `kebab-case` and `camelCase`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn example(schema: Value) -> Value {
        Tool::new("t").with_schema(schema).example_arguments().into()
    }

    #[test]
    fn only_required_parameters_are_shown_and_else_the_first() {
        let properties = json!({"city": {"type": "string"}, "days": {"type": "integer"}});
        assert_eq!(example(json!({"properties": properties, "required": ["days"]})), json!({"days": 1}));
        assert_eq!(example(json!({"properties": properties})), json!({"city": "Berlin"}));
        assert_eq!(example(json!({"type": "object"})), json!({}));
        assert_eq!(Tool::new("t").example_arguments(), Map::new());
    }

    #[test]
    fn the_authors_own_values_come_first() {
        let schema = json!({"properties": {
            "a": {"const": 7}, "b": {"enum": ["x", "y"]}, "c": {"default": 3, "type": "integer"},
            "d": {"examples": ["e.g."], "default": "no"}, "e": {"type": ["string", "null"], "default": null},
        }, "required": ["a", "b", "c", "d", "e"]});
        assert_eq!(example(schema), json!({"a": 7, "b": "x", "c": 3, "d": "e.g.", "e": "example"}));
    }

    #[test]
    fn limits_and_formats_are_kept() {
        let schema = json!({"properties": {
            "n": {"type": "integer", "minimum": 10, "multipleOf": 4}, "m": {"type": "integer", "maximum": -5},
            "f": {"type": "number", "minimum": 0, "maximum": 1}, "s": {"type": "string", "minLength": 9, "maxLength": 9},
            "when": {"type": "string", "format": "date-time"}, "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "list": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true},
        }, "required": ["n", "m", "f", "s", "when", "code", "list"]});
        assert_eq!(
            example(schema),
            json!({"n": 12, "m": -5, "f": 0.5, "s": "examplexx", "when": "2025-06-01T09:30:00Z", "code": "ABC",
                   "list": ["example", "example2"]})
        );
    }

    #[test]
    fn references_unions_and_nesting_are_followed() {
        let schema = json!({
            "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}, "next": {"$ref": "#/$defs/Point"}},
                                "required": ["x"]}},
            "properties": {
                "at": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Point"}]},
                "all": {"allOf": [{"$ref": "#/$defs/Point"}, {"properties": {"y": {"type": "boolean"}}, "required": ["y"]}]},
            },
            "required": ["at", "all"],
        });
        assert_eq!(example(schema), json!({"at": {"x": 1}, "all": {"x": 1, "y": true}}));
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"properties": {"self": {"$ref": "#"}}, "required": ["self"], "$ref": "#"});
        assert!(example(schema).to_string().len() < 200);
        let endless = json!({"$defs": {"A": {"$ref": "#/$defs/A"}}, "properties": {"a": {"$ref": "#/$defs/A"}}});
        assert_eq!(example(endless), json!({"a": "example"}));
    }
}
