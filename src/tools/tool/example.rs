//! A small, plausible argument object from a tool's schema, to show how it is called.

use serde_json::{Map, Number, Value};

use super::Tool;
use crate::tools::schema::{Walk, list, properties, required, tuple, types};

/// Objects and arrays nested deeper than this are left empty.
const MAX_DEPTH: usize = 5;

impl Tool {
    /// Arguments that the tool's schema accepts, as an example: the required
    /// parameters, or the first parameter where none is required.
    ///
    /// Values come from `const`, `examples`, `default` and `enum`, those of a text also from
    /// its description ("such as EUR"), else from type, format, limits and name. They are a sketch, not a promise: a
    /// schema may ask for more (a `pattern`, a condition) than is looked at.
    pub fn example_arguments(&self) -> Map<String, Value> {
        self.sample(Pick::First)
    }

    /// The same with other values, where the schema leaves a choice and another is known.
    #[cfg(feature = "prompt")]
    pub(crate) fn further_example_arguments(&self) -> Map<String, Value> {
        self.sample(Pick::Second)
    }

    /// Whether it deals with files, by the words of its name and its description.
    fn is_of_files(&self) -> bool {
        let mut own = words(&self.name).into_iter().chain(words(self.description.as_deref().unwrap_or_default()));
        own.any(|word| OF_FILES.contains(&word.as_str()))
    }

    fn sample(&self, pick: Pick) -> Map<String, Value> {
        let Some(root) = &self.input_schema else { return Map::new() };
        let sampler = Sampler { walk: Walk::new(root), pick, is_of_files: self.is_of_files() };
        let schema = sampler.walk.flatten(root);
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
    let sampler = Sampler { walk: Walk::new(root), pick: Pick::First, is_of_files: false };
    let schema = sampler.walk.flatten(root);
    match sampler.value("", root, 0) {
        Value::Object(object) if object.is_empty() => {
            properties(&schema).map(|(name, schema)| (name.clone(), sampler.value(name, schema, 1))).collect()
        }
        value => value,
    }
}

/// Which of the values that are known for a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    First,
    #[cfg_attr(not(feature = "prompt"), expect(dead_code, reason = "only prompts show two examples"))]
    Second,
}

impl Pick {
    fn of<T>(self, [first, second]: [T; 2]) -> T {
        match self {
            Pick::First => first,
            Pick::Second => second,
        }
    }
}

struct Sampler<'a> {
    walk: Walk<'a>,
    pick: Pick,
    /// The tool deals with files.
    is_of_files: bool,
}

impl Sampler<'_> {
    fn object(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let required: Vec<&str> = required(schema).collect();
        let known: Map<String, Value> = properties(schema)
            .filter(|(name, _)| required.contains(&name.as_str()))
            .map(|(name, schema)| (name.clone(), self.value(name, schema, depth + 1)))
            .collect();
        let unlisted = required.iter().filter(|name| !known.contains_key(**name));
        let unlisted: Vec<_> =
            unlisted.map(|name| ((*name).to_owned(), self.string(name, &Value::Null).into())).collect();
        known.into_iter().chain(unlisted).collect()
    }

    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if !self.walk.enter() {
            return Value::Null;
        }
        let schema = self.walk.flatten(schema);
        if let Some(given) = self.given(&schema) {
            return given;
        }
        match kind(&schema) {
            "integer" => integer(&schema, self.number(name).unwrap_or(self.pick.of([1, 5]))).into(),
            "number" => number(&schema, self.number(name)),
            "boolean" => self.pick.of([true, false]).into(),
            "null" => Value::Null,
            "object" if depth < MAX_DEPTH => self.object(&schema, depth).into(),
            "object" => Map::new().into(),
            "array" => self.array(name, &schema, depth),
            _ => self.string(name, &schema).into(),
        }
    }

    /// A value that the schema's author named.
    fn given(&self, schema: &Value) -> Option<Value> {
        let first = |key: &str| list(schema, key).next();
        let last = |key: &str| list(schema, key).last();
        let named = match self.pick {
            Pick::First => [first("examples"), schema.get("example"), schema.get("default"), first("enum")],
            Pick::Second => [last("examples"), schema.get("example"), schema.get("default"), last("enum")],
        };
        let mut candidates = [schema.get("const")].into_iter().chain(named).flatten();
        candidates.find(|value| !value.is_null()).cloned()
    }

    fn string(&self, name: &str, schema: &Value) -> String {
        let described = schema.get("description").and_then(Value::as_str);
        let value = described.and_then(described_value).map(|value| self.alike(value));
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let value = value.or_else(|| by_format(format).map(|value| self.alike(value)));
        let value = value.or_else(|| self.by_name(name, described.unwrap_or_default()));
        fitted(value.unwrap_or(self.pick.of(["example", "sample"])).to_owned(), schema)
    }

    /// The value, or another of its kind.
    fn alike<'v>(&self, value: &'v str) -> &'v str {
        let other = || ALIKE.iter().find(|(one, _)| *one == value).map(|(_, other)| *other);
        match self.pick {
            Pick::First => value,
            Pick::Second => other().unwrap_or(value),
        }
    }

    fn by_name(&self, name: &str, description: &str) -> Option<&'static str> {
        let own = words(name);
        let is_address = || words(description).iter().any(|word| word == "address" || word == "email");
        if own.iter().any(|word| ADDRESSED.contains(&word.as_str())) && is_address() {
            return Some(self.pick.of(["kim@example.com", "lee@example.org"]));
        }
        // Of what stands at either end only its description says what it is.
        let is_one_of = |names: &[&str]| names.iter().any(|name| own == [*name]);
        let is_end = is_one_of(ENDS);
        if (is_end || is_one_of(BEGINNINGS))
            && let Some((_, [first, second])) = row(BY_KIND, &words(description))
        {
            return Some(self.pick.of(if is_end { [second, first] } else { [first, second] }));
        }
        let of_files = OF_FILES_BY_NAME.iter().find(|(names, _)| self.is_of_files && is_one_of(names));
        of_files.or_else(|| row(BY_NAME, &own)).map(|(_, values)| self.pick.of(*values))
    }

    fn number(&self, name: &str) -> Option<i64> {
        row(NUMBER_BY_NAME, &words(name)).map(|(_, values)| self.pick.of(*values))
    }

    fn array(&self, name: &str, schema: &Value, depth: usize) -> Value {
        if depth >= MAX_DEPTH {
            return Value::Array(Vec::new());
        }
        if let Some(tuple) = tuple(schema) {
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

fn integer(schema: &Value, usual: i64) -> i64 {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let low = bound("minimum").map(f64::ceil).or(bound("exclusiveMinimum").map(|n| n.floor() + 1.0));
    let high = bound("maximum").map(f64::floor).or(bound("exclusiveMaximum").map(|n| n.ceil() - 1.0));
    let step = bound("multipleOf").filter(|n| *n > 0.0).unwrap_or(1.0);
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let usual = if step == 1.0 { usual as f64 } else { 1.0 };
    let value = low.unwrap_or(1.0).max(usual).min(high.unwrap_or(f64::MAX)).max(low.unwrap_or(f64::MIN));
    #[expect(clippy::cast_possible_truncation, reason = "saturates; an example")]
    let value = ((value / step).ceil() * step) as i64;
    value
}

fn number(schema: &Value, usual: Option<i64>) -> Value {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let low = bound("minimum").or(bound("exclusiveMinimum"));
    let high = bound("maximum").or(bound("exclusiveMaximum"));
    if let (Some(usual), None, None) = (usual, low, high) {
        return usual.into();
    }
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

/// The text with what the schema asks for beyond it.
fn fitted(mut text: String, schema: &Value) -> String {
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

/// Words of a description with an example behind them.
const EXAMPLE_FOLLOWS: &[&str] = &["such as ", "e.g. ", "e.g., ", "for example ", "for example, ", "例如", "比如"];

/// Longest example of a description, in characters.
const MAX_DESCRIBED: usize = 40;

/// The first value that a description names as an example: in quotation marks, or a word that
/// only a value looks like. A model copies values, so these are better than any that suit the name.
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
    // "such as names" is no example.
    let is_value = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || ['/', '@', '_', ':'].contains(&c);
    let is_whole = !word.contains(['(', '[', '{', '<', '"', '\'', '`']);
    (is_whole && word.contains(is_value) && word.chars().count() <= MAX_DESCRIBED).then_some(word)
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

/// Parameters that hold an address where their description says so.
const ADDRESSED: &[&str] = &["to", "from", "cc", "bcc", "recipient", "receiver", "sender"];

/// Names of what stands at either end of something: of where it begins, and of where it ends.
const BEGINNINGS: &[&str] = &["from", "source", "origin", "base", "start"];
const ENDS: &[&str] = &["to", "target", "destination", "end"];

/// Words of a description and two values of that kind.
const BY_KIND: &[(&[&str], [&str; 2])] = &[
    (&["currency"], ["EUR", "GBP"]),
    (&["language"], ["German", "Italian"]),
    (&["unit"], ["km", "miles"]),
    (&["city", "station"], ["Vienna", "Munich"]),
    (&["airport"], ["VIE", "LIS"]),
    (&["place"], ["Vienna", "Munich"]),
];

/// A value and another of its kind.
const ALIKE: &[(&str, &str)] = &[
    ("EUR", "GBP"),
    ("USD", "CAD"),
    ("IBM", "TSLA"),
    ("AAPL", "TSLA"),
    ("Europe/Berlin", "America/Lima"),
    ("America/New_York", "Asia/Tokyo"),
    ("2025-06-01", "2026-09-17"),
    ("2025-06-01T09:30:00Z", "2026-09-17T14:45:00Z"),
    ("09:30:00Z", "14:45:00Z"),
    ("PT1H", "PT20M"),
    ("user@example.com", "lee@example.org"),
    ("https://example.com", "https://example.org/news"),
    ("/example", "/sample"),
    ("example.com", "example.org"),
    ("192.0.2.1", "198.51.100.7"),
    ("2001:db8::1", "2001:db8::7"),
    ("3f2b8c1e-7d4a-4e6f-9b1a-2c3d4e5f6a7b", "8a1d5e2c-0b3f-4c7d-a6e9-5f4b3a2d1c0e"),
];

/// Words in a parameter's name and two numbers that suit them.
const NUMBER_BY_NAME: &[(&[&str], [i64; 2])] = &[
    (&["people", "guests"], [3, 5]),
    (&["quantity"], [3, 4]),
    (&["minutes", "seconds", "minute"], [20, 35]),
    (&["percent"], [60, 80]),
    (&["amount", "price"], [40, 75]),
    (&["year"], [2025, 2026]),
    (&["page"], [1, 2]),
    (&["offset"], [1, 20]),
    (&["a"], [12, 7]),
    (&["b"], [40, 8]),
];

/// Words of tools that deal with files.
const OF_FILES: &[&str] = &["file", "files", "folder", "folders", "directory", "directories"];

/// As [`BY_NAME`], for those, where the name is one of these words alone.
const OF_FILES_BY_NAME: &[(&[&str], [&str; 2])] = &[
    (&["source"], ["notes.txt", "list.csv"]),
    (&["destination", "target"], ["notes-old.txt", "list-new.csv"]),
    (&["name"], ["notes.txt", "list.csv"]),
];

/// Words in a parameter's name and two values that suit them; the first that fits wins. Several
/// words where a value has several as a rule: a small model copies what it sees, its length too.
const BY_NAME: &[(&[&str], [&str; 2])] = &[
    (&["timezone", "tz"], ["Europe/Berlin", "America/Lima"]),
    (&["datetime", "timestamp"], ["2025-06-01T09:30:00Z", "2026-09-17T14:45:00Z"]),
    (&["date"], ["2025-06-01", "2026-09-17"]),
    (&["time"], ["09:30", "14:45"]),
    (&["city", "location", "place"], ["Berlin", "New York"]),
    (&["country"], ["DE", "PE"]),
    (&["room"], ["dining room", "bathroom"]),
    (&["address"], ["5 Park Road", "9 Lake View"]),
    (&["restaurant"], ["Golden Lion", "Green Garden"]),
    (&["ingredient"], ["carrots", "rice"]),
    (&["dish"], ["tomato soup", "fried rice"]),
    (&["song", "track"], ["Blue Moon", "Purple Rain"]),
    (&["artist"], ["Frank Sinatra", "Elvis Presley"]),
    (&["url", "uri"], ["https://example.com", "https://example.org/news"]),
    (&["email"], ["user@example.com", "lee@example.org"]),
    (&["directory", "dir", "folder"], ["docs/notes", "music/old"]),
    (&["repo"], [".", "docs"]),
    (&["path"], ["docs/notes.txt", "music/list.csv"]),
    (&["file", "filename"], ["notes.txt", "list.csv"]),
    (&["origin", "departure"], ["Vienna", "Lisbon"]),
    (&["destination", "arrival"], ["Munich", "New York"]),
    (&["branch"], ["main", "fix-login"]),
    (&["query", "search"], ["coffee", "used cars"]),
    (&["keyword"], ["coffee", "cars"]),
    (&["word"], ["curious", "gentle"]),
    (&["pattern"], ["*.txt", "*.csv"]),
    (&["symbol", "ticker"], ["ACME", "TSLA"]),
    (&["currency"], ["EUR", "GBP"]),
    (&["language"], ["German", "Italian"]),
    (&["lang"], ["de", "it"]),
    (&["command", "cmd"], ["ls", "pwd"]),
    (&["id"], ["42", "57"]),
    (&["message"], ["Hello", "See you tomorrow."]),
    (&["content"], ["We have moved.", "Ask for the blue one."]),
    (&["body"], ["We have moved.", "I will be away until Monday."]),
    (&["text"], ["see you tomorrow", "how are you"]),
    (&["subject"], ["New address", "Holiday plans"]),
    (&["title"], ["Music lesson", "Holiday plans"]),
    (&["label"], ["tea", "pasta"]),
    (&["item", "task", "todo"], ["water the plants", "call my sister"]),
    (&["contact"], ["Kim Lee", "Sara"]),
    (&["relation"], ["knows", "likes"]),
    (&["from"], ["Alice", "Sara"]),
    (&["to"], ["Bob", "Kim Lee"]),
    (&["name", "entity"], ["Alice", "Sara"]),
];

/// The first row of a table that one of these words stands for.
fn row<'t, T>(table: &'t [(&[&str], T)], words: &[String]) -> Option<&'t (&'t [&'t str], T)> {
    table.iter().find(|(known, _)| words.iter().any(|word| known.contains(&word.as_str())))
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
        let schema = json!({"properties": {
            "from": {"type": "string", "description": "Currency, such as EUR"},
            "code": {"type": "string", "description": "such as EUR", "pattern": "^[a-z]{3}$"},
            "days": {"type": "integer", "description": "such as 7"},
            "unit": {"enum": ["c", "f"], "description": "such as F"},
        }, "required": ["from", "code", "days", "unit"]});
        assert_eq!(example(schema), json!({"from": "EUR", "code": "abc", "days": 1, "unit": "c"}));
    }

    #[cfg(feature = "prompt")]
    #[test]
    fn a_second_example_has_other_values_where_the_schema_leaves_a_choice() {
        let tool = Tool::new("t").with_schema(json!({"properties": {
            "city": {"type": "string"}, "people": {"type": "integer"}, "days": {"type": "integer", "maximum": 2},
            "unit": {"enum": ["c", "f"]}, "currency": {"type": "string", "description": "such as USD"},
            "day": {"type": "string", "format": "date"}, "size": {"default": 3}, "kind": {"const": "k"},
            "to": {"type": "string", "description": "Address of the receiver"}, "thing": {"type": "string"},
        }, "required": ["city", "people", "days", "unit", "currency", "day", "size", "kind", "to", "thing"]}));
        assert_eq!(
            Value::from(tool.example_arguments()),
            json!({"city": "Berlin", "people": 3, "days": 1, "unit": "c", "currency": "USD", "day": "2025-06-01",
                   "size": 3, "kind": "k", "to": "kim@example.com", "thing": "example"})
        );
        assert_eq!(
            Value::from(tool.further_example_arguments()),
            json!({"city": "New York", "people": 5, "days": 2, "unit": "f", "currency": "CAD", "day": "2026-09-17",
                   "size": 3, "kind": "k", "to": "lee@example.org", "thing": "sample"})
        );
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
        assert_eq!(example(endless), json!({"a": "example"}));
    }
}
