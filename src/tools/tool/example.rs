//! Generates a small, plausible object of arguments from a tool's schema, as an example.

use serde_json::{Map, Number, Value};

use super::Tool;
use crate::tools::schema::{Walk, list, properties, required, tuple, types};

/// Depth of an example from which on nested objects and arrays are left empty.
const MAX_DEPTH: usize = 5;

impl Tool {
    /// Returns arguments that the tool's schema accepts, as an example: the required parameters, or the first parameter
    /// if none is required.
    ///
    /// Values come from `const`, `examples`, `default` and `enum`, those of a text also from its description ("such as
    /// EUR"), otherwise from type, format and limits. A text without any of these is its parameter's name with a
    /// number, `city-1`, which cannot be mistaken for a real value. The schema may still refuse the arguments: not
    /// every rule (a `pattern`, a condition) is considered.
    pub fn example_arguments(&self) -> Map<String, Value> {
        let Some(root) = &self.input_schema else { return Map::new() };
        let sampler = Sampler { walk: Walk::new(root) };
        let schema = sampler.walk.flatten(root);
        let mut arguments = sampler.object(&schema, 0);
        // A call without any argument would not show how one is written.
        if arguments.is_empty()
            && let Some((name, schema)) = properties(&schema).next()
        {
            arguments.insert(name.clone(), sampler.value(name, schema, 1));
        }
        arguments
    }
}

/// Returns a value that a schema accepts, as an example: an object with its required members, or with all if none is
/// required. As with [`example_arguments`](Tool::example_arguments), the schema may still refuse it.
#[cfg(feature = "validate")]
pub(crate) fn example_value(root: &Value) -> Value {
    let sampler = Sampler { walk: Walk::new(root) };
    let schema = sampler.walk.flatten(root);
    match sampler.value("", root, 0) {
        Value::Object(object) if object.is_empty() => {
            properties(&schema).map(|(name, schema)| (name.clone(), sampler.value(name, schema, 1))).collect()
        }
        value => value,
    }
}

struct Sampler<'a> {
    walk: Walk<'a>,
}

impl Sampler<'_> {
    fn object(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let required: Vec<&str> = required(schema).collect();
        let known: Map<String, Value> = properties(schema)
            .filter(|(name, _)| required.contains(&name.as_str()))
            .map(|(name, schema)| (name.clone(), self.value(name, schema, depth + 1)))
            .collect();
        // `required` may name members that `properties` lacks.
        let unlisted = required.iter().filter(|name| !known.contains_key(**name));
        let unlisted: Vec<_> = unlisted.map(|name| ((*name).to_owned(), string(name, &Value::Null).into())).collect();
        known.into_iter().chain(unlisted).collect()
    }

    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if !self.walk.enter() {
            return Value::Null;
        }
        let schema = self.walk.flatten(schema);
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

    fn array(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Array(Vec::new());
        }
        if let Some(tuple) = tuple(schema) {
            return tuple.iter().map(|item| self.value(name, item, depth + 1)).collect();
        }
        let limit = |key| schema.get(key).and_then(Value::as_u64);
        // One item shows the form; more than eight would make the example long.
        let count = limit("minItems").unwrap_or(0).max(1).min(limit("maxItems").unwrap_or(u64::MAX)).min(8);
        let any = Value::Bool(true);
        let items = schema.get("items").unwrap_or(&any);
        let choices = items.get("enum").and_then(Value::as_array);
        // An item of `cities` is one of them, at least roughly: `citie-1`.
        let singular = name.strip_suffix('s').unwrap_or(name);
        (0..usize::try_from(count).unwrap_or(1))
            .map(|n| match choices.and_then(|c| c.get(n)) {
                Some(choice) => choice.clone(),
                None => vary(self.value(singular, items, depth + 1), n),
            })
            .collect()
    }
}

/// Returns a value that the schema contains: its `const`, an example, its `default` or its first `enum` value.
fn given(schema: &Value) -> Option<Value> {
    let first = |key: &str| list(schema, key).next();
    let named = [first("examples"), schema.get("example"), schema.get("default"), first("enum")];
    // An author's examples come before a default, and before the first of several choices.
    [schema.get("const")].into_iter().chain(named).flatten().find(|value| !value.is_null()).cloned()
}

fn string(name: &str, schema: &Value) -> String {
    let described = schema.get("description").and_then(Value::as_str);
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let value = described
        .and_then(described_value)
        .or_else(|| by_format(format))
        .or_else(|| described.and_then(by_written_format));
    let neutral = || if name.is_empty() { "example".to_owned() } else { format!("{name}-1") };
    fitted(value.map_or_else(neutral, str::to_owned), schema)
}

fn kind(schema: &Value) -> &str {
    if matches!(schema.get("type"), Some(Value::String(_) | Value::Array(_))) {
        return types(schema).find(|name| *name != "null").unwrap_or("null");
    }
    let has = |key| schema.get(key).is_some();
    match has("properties") {
        true => "object",
        false if has("items") || has("prefixItems") => "array",
        false => "string",
    }
}

fn integer(schema: &Value) -> i64 {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let low = bound("minimum").map(f64::ceil).or(bound("exclusiveMinimum").map(|n| n.floor() + 1.0));
    let high = bound("maximum").map(f64::floor).or(bound("exclusiveMaximum").map(|n| n.ceil() - 1.0));
    let step = bound("multipleOf").filter(|n| *n > 0.0).unwrap_or(1.0);
    let value = low.unwrap_or(1.0).max(1.0).min(high.unwrap_or(f64::MAX)).max(low.unwrap_or(f64::MIN));
    #[expect(clippy::cast_possible_truncation, reason = "saturates; an example")]
    let value = ((value / step).ceil() * step) as i64;
    value
}

fn number(schema: &Value) -> Value {
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

/// Changes a value for the element with index `n` of an array, so that later elements differ from the first.
fn vary(value: Value, n: usize) -> Value {
    match value {
        _ if n == 0 => value,
        Value::String(text) => format!("{text}-{}", n + 1).into(),
        Value::Number(number) => number.as_i64().map_or(Value::Number(number), |i| (i + n as i64).into()),
        other => other,
    }
}

/// Adapts an example text to the pattern and the lengths of its schema.
fn fitted(mut text: String, schema: &Value) -> String {
    if let Some(Ok(pattern)) = schema.get("pattern").and_then(Value::as_str).map(regex::Regex::new)
        // The text stays as it is if it matches the pattern, or if no prepared text does.
        && !pattern.is_match(&text)
        && let Some((fit, _)) = values().find(|(value, _)| pattern.is_match(value))
    {
        text = fit.to_owned();
    }
    let limit = |key| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let low = limit("minLength").unwrap_or(0).min(200);
    if let missing @ 1.. = low.saturating_sub(text.chars().count()) {
        text += &"x".repeat(missing);
    }
    text.chars().take(limit("maxLength").unwrap_or(usize::MAX)).collect()
}

/// Words in a parameter's description that introduce an example.
const EXAMPLE_FOLLOWS: &[&str] = &["such as ", "e.g. ", "e.g., ", "for example ", "for example, ", "例如", "比如"];

/// Maximum length of an example in a parameter's description, in characters.
const MAX_DESCRIBED: usize = 40;

/// Returns the first value that a parameter's description gives as an example: text in quotation marks, or a word that
/// can only be a value. A model copies values, so these are better than any that are generated from the name.
fn described_value(description: &str) -> Option<&str> {
    let (at, words) = EXAMPLE_FOLLOWS.iter().filter_map(|words| Some((description.find(words)?, *words))).min()?;
    let rest = description[at + words.len()..].trim_start();
    let quote = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’')];
    if let Some((open, close)) = quote.into_iter().find(|(open, _)| rest.starts_with(*open)) {
        let (value, _) = rest[open.len_utf8()..].split_once(close)?;
        return Some(value).filter(|value| !value.trim().is_empty() && value.chars().count() <= MAX_DESCRIBED);
    }
    let ends = |c: char| c.is_whitespace() || [',', ';', ')', '，', '；', '、', '）', '。'].contains(&c);
    let word = rest.split(ends).next()?.trim_end_matches(['.', ':', '!', '?']);
    // "such as names" is not an example.
    let is_value = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || ['/', '@', '_', ':'].contains(&c);
    let is_whole = !word.contains(['(', '[', '{', '<', '"', '\'', '`']);
    (is_whole && word.contains(is_value) && word.chars().count() <= MAX_DESCRIBED).then_some(word)
}

/// Returns the example values for strings of `examples.txt`, each with the names of its formats.
fn values() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("examples.txt").lines().filter(|line| !line.starts_with("# "));
    lines.map(|line| line.split_once(' ').unwrap_or((line, "")))
}

fn by_format(wanted: &str) -> Option<&'static str> {
    let (value, _) = values().find(|(_, formats)| formats.split(' ').any(|format| format == wanted))?;
    Some(value).filter(|_| !wanted.is_empty())
}

/// Returns the example value whose format a description writes out, such as `YYYY-MM-DD`; of several formats, the
/// longest.
fn by_written_format(description: &str) -> Option<&'static str> {
    let description = description.to_ascii_lowercase();
    let is_written = |format: &&str| format.contains("mm") && description.contains(*format);
    let length = |formats: &str| formats.split(' ').filter(is_written).map(str::len).max();
    values().filter_map(|(value, formats)| Some((length(formats)?, value))).max().map(|(_, value)| value)
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
        assert_eq!(example(json!({"properties": properties})), json!({"city": "city-1"}));
        assert_eq!(example(json!({"type": "object"})), json!({}));
        assert_eq!(Tool::new("t").example_arguments(), Map::new());
    }

    #[test]
    fn the_authors_own_values_come_first() {
        let schema = json!({"properties": {
            "a": {"const": 7}, "b": {"enum": ["x", "y"]}, "c": {"default": 3, "type": "integer"},
            "d": {"examples": ["e.g."], "default": "no"}, "e": {"type": ["string", "null"], "default": null},
        }, "required": ["a", "b", "c", "d", "e"]});
        assert_eq!(example(schema), json!({"a": 7, "b": "x", "c": 3, "d": "e.g.", "e": "e-1"}));
    }

    #[test]
    fn a_value_that_a_description_names_is_taken() {
        for (description, value) in [
            ("Currency code, such as EUR", Some("EUR")),
            ("Time zone (e.g., 'America/New_York', 'Europe/London')", Some("America/New_York")),
            ("A day, for example 2027-01-31.", Some("2027-01-31")),
            ("货币代码，例如“USD”", Some("USD")),
            ("Things such as names of people", None),
            ("For all, e.g. (none)", None),
            ("One of many, e.g. \"\"", None),
            ("Name of the city", None),
        ] {
            assert_eq!(described_value(description), value, "{description}");
        }
        for (description, value) in [
            ("Day of departure, in the format yyyy-MM-dd", Some("2025-06-01")),
            ("日期（YYYY-MM-DD）", Some("2025-06-01")),
            ("Start, YYYY-MM-DDTHH:mm:ssZ or YYYY-MM-DD", Some("2025-06-01T09:30:00Z")),
            ("The date of the comma", None),
        ] {
            assert_eq!(by_written_format(description), value, "{description}");
        }
        let schema = json!({"properties": {
            "date": {"type": "string", "description": "Date (yyyy-MM-dd)", "minLength": 10},
            "on": {"type": "string", "description": "YYYY-MM-DD, such as 2027-01-31"},
        }, "required": ["date", "on"]});
        assert_eq!(example(schema), json!({"date": "2025-06-01", "on": "2027-01-31"}));
        let schema = json!({"properties": {
            "from": {"type": "string", "description": "Currency, such as EUR"},
            "code": {"type": "string", "description": "such as EUR", "pattern": "^[a-z]{3}$"},
            "days": {"type": "integer", "description": "such as 7"},
            "unit": {"enum": ["c", "f"], "description": "such as F"},
        }, "required": ["from", "code", "days", "unit"]});
        assert_eq!(example(schema), json!({"from": "EUR", "code": "abc", "days": 1, "unit": "c"}));
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
            json!({"n": 12, "m": -5, "f": 0.5, "s": "s-1xxxxxx", "when": "2025-06-01T09:30:00Z", "code": "ABC",
                   "list": ["list-1", "list-1-2"]})
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
    fn a_schema_that_unfolds_to_millions_is_filled_in_part() {
        let names: Vec<String> = (0..40).map(|n| format!("p{n}")).collect();
        let properties: Map<String, Value> = names.iter().map(|n| (n.clone(), json!({"$ref": "#/$defs/A"}))).collect();
        let node = json!({"properties": properties, "required": names});
        let example = example(json!({"$defs": {"A": node}, "$ref": "#/$defs/A"}));
        assert!(example.to_string().len() < 100_000, "{}", example.to_string().len());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"properties": {"self": {"$ref": "#"}}, "required": ["self"], "$ref": "#"});
        assert!(example(schema).to_string().len() < 200);
        let endless = json!({"$defs": {"A": {"$ref": "#/$defs/A"}}, "properties": {"a": {"$ref": "#/$defs/A"}}});
        assert_eq!(example(endless), json!({"a": "a-1"}));
    }
}
