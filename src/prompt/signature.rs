//! Writes JSON Schemas as TypeScript-like signatures: `get(city: string, days?: integer = 3)`.

use serde_json::Value;

use crate::tools::Tool;
use crate::tools::schema::{Walk, list, properties, reference, required, tuple, types};

/// Maximum nesting depth of types that are written out; deeper types are `object` or `any[]`.
const MAX_DEPTH: usize = 4;

/// Maximum nesting depth of references and unions that are followed.
const MAX_LEVELS: usize = 64;

/// Maximum length in bytes of a parameter's type; a longer type is written out less deep.
const MAX_TYPE: usize = 300;

/// Maximum number of values of an `enum` that are written out.
const MAX_VALUES: usize = 30;

/// Maximum length in bytes of a default that is shown.
const MAX_DEFAULT: usize = 60;

/// Returns the parameters of a tool's signature, without parentheses: names, types, defaults.
pub(super) fn parameters(tool: &Tool) -> String {
    // Without a schema any arguments are accepted.
    let Some(root) = &tool.input_schema else { return "…".to_owned() };
    let parameters: Vec<String> = tool
        .parameters()
        .map(|p| {
            let mark = if p.required { "" } else { "?" };
            // A default of null is the same as none.
            let default = p.schema.get("default").filter(|d| !d.is_null()).map(Value::to_string);
            let default = default.filter(|d| d.len() <= MAX_DEFAULT).map(|d| format!(" = {d}")).unwrap_or_default();
            format!("{}{mark}: {}{default}", key(p.name), fitting(root, p.schema))
        })
        .collect();
    // Parameters that are not plain properties: unions of objects, references.
    if parameters.is_empty() && ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|k| root.get(k).is_some()) {
        return fitting(root, root);
    }
    parameters.join(", ")
}

/// Returns the type of a schema, written out as deep as it fits into [`MAX_TYPE`].
fn fitting(root: &Value, schema: &Value) -> String {
    let mut depth = MAX_DEPTH;
    loop {
        let mut spelling = SignatureWriter { walk: Walk::new(root), seen: Vec::new(), levels: 0 };
        let text = spelling.of(schema, depth);
        // The smallest depth is used even if the type is still too long.
        if depth == 0 || (text.len() <= MAX_TYPE && !spelling.walk.is_over()) {
            return text;
        }
        depth -= 1;
    }
}

/// Writes the type of one schema.
struct SignatureWriter<'a> {
    walk: Walk<'a>,
    /// References that are being followed, which are not followed again.
    seen: Vec<String>,
    /// Number of nested schemas that are currently being written.
    levels: usize,
}

impl SignatureWriter<'_> {
    fn of(&mut self, schema: &Value, depth: usize) -> String {
        // Every limit, on nesting and on the visited schemas, gives `any`.
        if !schema.is_object() || self.levels == MAX_LEVELS || !self.walk.enter() {
            return "any".to_owned();
        }
        self.levels += 1;
        let text = self.spelled(schema, depth);
        self.levels -= 1;
        text
    }

    fn spelled(&mut self, schema: &Value, depth: usize) -> String {
        if let Some(reference) = reference(schema) {
            return self.referred(schema, reference, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return literals(values);
        }
        for (union, between) in [("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")] {
            // Beside `properties` the object itself is written.
            if schema.get(union).is_some_and(Value::is_array) && schema.get("properties").is_none() {
                return join(list(schema, union).map(|branch| self.of(branch, depth)), between);
            }
        }
        if matches!(schema.get("type"), Some(Value::String(_) | Value::Array(_))) {
            return join(types(schema).map(|kind| self.plain(kind, schema, depth)), " | ");
        }
        match ["properties", "items"].map(|key| schema.get(key).is_some()) {
            [true, _] => self.plain("object", schema, depth),
            [_, true] => self.plain("array", schema, depth),
            _ => "any".to_owned(),
        }
    }

    fn referred(&mut self, schema: &Value, reference: &str, depth: usize) -> String {
        // A type that contains itself is written once.
        let target = self.walk.target(schema).filter(|_| !self.seen.iter().any(|s| s == reference));
        let Some(target) = target else { return "any".to_owned() };
        self.seen.push(reference.to_owned());
        let text = self.of(target, depth);
        self.seen.pop();
        text
    }

    fn plain(&mut self, kind: &str, schema: &Value, depth: usize) -> String {
        match kind {
            "array" => self.array(schema, depth),
            "object" => self.object(schema, depth),
            other => other.to_owned(),
        }
    }

    fn array(&mut self, schema: &Value, depth: usize) -> String {
        if depth == 0 {
            return "any[]".to_owned();
        }
        if let Some(tuple) = tuple(schema) {
            let items: Vec<_> = tuple.iter().map(|item| self.of(item, depth - 1)).collect();
            return format!("[{}]", items.join(", "));
        }
        let item = schema.get("items").map_or_else(|| "any".to_owned(), |items| self.of(items, depth - 1));
        // `(string | number)[]`, but `{a: string}[]` needs no brackets.
        if item.contains(' ') && !is_one_object(&item) { format!("({item})[]") } else { format!("{item}[]") }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> String {
        let has_properties = properties(schema).next().is_some();
        if !has_properties || depth == 0 {
            return match schema.get("additionalProperties").filter(|v| v.is_object() && depth > 0) {
                Some(values) => format!("{{[key]: {}}}", self.of(values, depth - 1)),
                None => "object".to_owned(),
            };
        }
        let fields: Vec<String> = properties(schema)
            .map(|(name, property)| {
                let mark = if required(schema).any(|required| required == name) { "" } else { "?" };
                format!("{}{mark}: {}", key(name), self.of(property, depth - 1))
            })
            .collect();
        format!("{{{}}}", fields.join(", "))
    }
}

/// Returns `true` if the brace at the start of a type is closed at its end, unlike in `{a: string} | null`.
fn is_one_object(text: &str) -> bool {
    let mut depth = 0_i32;
    let closed = text.bytes().position(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth == 0
    });
    text.starts_with('{') && closed == Some(text.len() - 1)
}

fn literals(values: &[Value]) -> String {
    let more = if values.len() > MAX_VALUES { " | …" } else { "" };
    let shown: Vec<String> = values.iter().take(MAX_VALUES).map(Value::to_string).collect();
    shown.join(" | ") + more
}

/// Joins types by a separator, without repetitions; `any` if there are none.
fn join(types: impl Iterator<Item = String>, separator: &str) -> String {
    let mut unique: Vec<String> = Vec::new();
    for text in types {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    if unique.is_empty() { "any".to_owned() } else { unique.join(separator) }
}

/// Returns a property's name, as a JSON string if it is not an identifier.
fn key(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.'));
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// A note on a parameter in the list of tools.
#[derive(Debug, PartialEq)]
pub(super) struct ParameterNote {
    /// Path of the parameter: `edits[].oldText`.
    pub(super) path: String,
    /// The description, not cleaned; empty if it adds nothing to the name.
    pub(super) description: String,
    /// Limits and format of the value: `1 to 10`, `date-time`.
    pub(super) limits: String,
}

/// Returns notes on the parameters, nested ones included, whose description or limits add information to name and type.
pub(super) fn notes(tool: &Tool) -> Vec<ParameterNote> {
    let Some(root) = &tool.input_schema else { return Vec::new() };
    let mut notes = NoteCollector { walk: Walk::new(root), context: &tool.name, found: Vec::new() };
    for parameter in tool.parameters() {
        notes.collect(parameter.name.to_owned(), parameter.schema, 0);
    }
    notes.found
}

struct NoteCollector<'a> {
    walk: Walk<'a>,
    /// The tool's name, which is compared with the descriptions.
    context: &'a str,
    found: Vec<ParameterNote>,
}

impl NoteCollector<'_> {
    fn collect(&mut self, path: String, schema: &Value, depth: usize) {
        if !self.walk.enter() {
            return;
        }
        let target = self.walk.target(schema);
        let text = |key: &str| schema.get(key).or_else(|| target?.get(key)).and_then(Value::as_str);
        let description = text("description").unwrap_or_default();
        let obvious = is_obvious(description, &format!("{path} {}", self.context));
        let schema = target.unwrap_or(schema);
        let note = ParameterNote {
            description: if obvious { String::new() } else { description.to_owned() },
            limits: Some(limits(schema)).filter(|limits| !is_said(description, limits)).unwrap_or_default(),
            path: path.clone(),
        };
        if !(note.description.is_empty() && note.limits.is_empty()) {
            self.found.push(note);
        }
        if depth >= 2 {
            return;
        }
        let (inner, path) = match schema.get("items") {
            Some(items) => (items, format!("{path}[]")),
            None => (schema, path),
        };
        for (name, property) in properties(self.walk.target(inner).unwrap_or(inner)) {
            self.collect(format!("{path}.{name}"), property, depth + 1);
        }
    }
}

/// Words without meaning, which are ignored in descriptions.
const EMPTY_WORDS: &[&str] = &["the", "a", "an", "of", "to", "for", "in", "on", "this", "that", "is", "be", "s"];

/// Returns `true` if a description only repeats words of the tool's and the parameter's names.
fn is_obvious(description: &str, names: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
    };
    // `fileList` is `file` and `list`.
    let apart: String = names.chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain([c])).collect();
    let known = words(&format!("{names} {apart}"));
    words(description).iter().all(|word| known.contains(word) || EMPTY_WORDS.contains(&word.as_str()))
}

/// Returns `true` if a description already contains the numbers of the limits.
fn is_said(description: &str, limits: &str) -> bool {
    let numbers = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()).map(str::to_owned).collect()
    };
    let (said, wanted) = (numbers(description), numbers(limits));
    !wanted.is_empty() && wanted.iter().all(|number| said.contains(number))
}

fn limits(schema: &Value) -> String {
    let mut parts: Vec<String> = Vec::new();
    let number = |key: &str| {
        // Code generators write the largest safe integers if there is no limit.
        schema.get(key).filter(|n| n.as_f64().is_some_and(|n| n.abs() < 9e15)).map(Value::to_string)
    };
    parts.extend(range(number("minimum"), number("maximum"), ""));
    parts.extend(number("exclusiveMinimum").map(|n| format!("> {n}")));
    parts.extend(number("exclusiveMaximum").map(|n| format!("< {n}")));
    parts.extend(number("multipleOf").map(|n| format!("multiple of {n}")));
    parts.extend(range(number("minLength").filter(|n| n != "0"), number("maxLength"), " characters"));
    parts.extend(range(number("minItems").filter(|n| n != "0"), number("maxItems"), " items"));
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    parts.extend(text("format").map(str::to_owned));
    parts.extend(text("pattern").filter(|p| p.len() <= 100).map(|p| format!("pattern {p}")));
    parts.join(", ")
}

fn range(low: Option<String>, high: Option<String>, unit: &str) -> Option<String> {
    match (low, high) {
        (Some(low), Some(high)) if low == high => Some(format!("{low}{unit}")),
        (Some(low), Some(high)) => Some(format!("{low} to {high}{unit}")),
        (Some(low), None) => Some(format!("≥ {low}{unit}")),
        (None, Some(high)) => Some(format!("≤ {high}{unit}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn of(properties: Value) -> String {
        parameters(&Tool::new("f").with_schema(json!({"properties": properties, "required": ["r"]})))
    }

    /// Checks that a type below many unions and references is written as `any` instead of overflowing the stack.
    #[test]
    fn a_type_that_stands_deep_is_any() {
        let chain = |links: usize| {
            let part = |n: usize| json!({"anyOf": [{"$ref": format!("#/$defs/a{}", n + 1)}]});
            let mut parts: Map<String, Value> = (0..links).map(|n| (format!("a{n}"), part(n))).collect();
            parts.insert(format!("a{links}"), json!({"type": "integer"}));
            json!({"properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": parts})
        };
        for (links, text) in [(3, "x?: integer"), (30, "x?: integer"), (1_900, "x?: any")] {
            assert_eq!(parameters(&Tool::new("f").with_schema(chain(links))), text, "{links}");
        }
    }

    #[test]
    fn types_read_like_typescript() {
        for (schema, text) in [
            (json!({"r": {"type": "string"}, "o": {"type": "integer"}}), "r: string, o?: integer"),
            (json!({"r": {"enum": ["a", 1, null]}}), r#"r: "a" | 1 | null"#),
            (json!({"r": {"const": true}}), "r: true"),
            (json!({"n": {"type": "integer", "default": 3}}), "n?: integer = 3"),
            (json!({"n": {"type": ["string", "null"], "default": null}}), "n?: string | null"),
            (json!({"n": {"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]}}), "n?: string | null"),
            (json!({"r": {"type": "array", "items": {"type": "string"}}}), "r: string[]"),
            (json!({"r": {"type": "array", "items": {"enum": ["a", "b"]}}}), r#"r: ("a" | "b")[]"#),
            (
                json!({"r": {"type": "array", "items": {"anyOf": [
                    {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}, {"type": "null"},
                ]}}}),
                "r: ({x?: number | null} | null)[]",
            ),
            (
                json!({"r": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "object",
                    "properties": {"y": {"enum": ["a", 1]}}}}}}}),
                r#"r: {x?: {y?: "a" | 1}}[]"#,
            ),
            (json!({"r": {"type": "array", "prefixItems": [{"type": "number"}, {}]}}), "r: [number, any]"),
            (json!({"r": {"type": "array"}}), "r: any[]"),
            (json!({"r": {"type": "object", "properties": {"x": {"type": "number"}}}}), "r: {x?: number}"),
            (json!({"r": {"type": "object", "additionalProperties": {"type": "number"}}}), "r: {[key]: number}"),
            (json!({"r": {"type": "object"}}), "r: object"),
            (json!({"odd name": true}), r#""odd name"?: any"#),
            (json!({"r": {"allOf": [{"type": "string"}]}}), "r: string"),
            (json!({}), ""),
        ] {
            assert_eq!(of(schema), text);
        }
        assert_eq!(parameters(&Tool::new("f")), "…");
    }

    #[test]
    fn references_are_followed_and_recursion_ends() {
        let schema = json!({
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "v": {"type": "string"}}}},
            "properties": {"node": {"$ref": "#/$defs/Node"}, "lost": {"$ref": "https://example.com/x.json"}},
        });
        let text = parameters(&Tool::new("f").with_schema(schema));
        assert_eq!(text, "node?: {next?: any, v?: string}, lost?: any");
    }

    #[test]
    fn a_schema_that_unfolds_to_millions_is_spelled_out_as_far_as_it_is_looked_at() {
        // Each level names the next one twice, under two names.
        let level = |n: usize| {
            let next = json!({"$ref": format!("#/$defs/{}", n + 1)});
            json!({"oneOf": [next, {"allOf": [next]}]})
        };
        let mut defs: Map<String, Value> = (0..40).map(|n| (n.to_string(), level(n))).collect();
        defs.insert("40".to_owned(), json!({"type": "integer"}));
        let schema = json!({"$defs": defs, "properties": {"a": {"$ref": "#/$defs/0"}}});
        assert!(parameters(&Tool::new("f").with_schema(schema)).contains("any"));
    }

    #[test]
    fn a_long_type_is_spelled_out_less_deep() {
        let wide: Map<String, Value> =
            (0..40).map(|n| (format!("field_{n}"), json!({"type": "object", "properties": {"x": {}}}))).collect();
        assert_eq!(of(json!({"r": {"type": "object", "properties": wide}})), "r: object");
    }

    #[test]
    fn notes_say_what_names_and_types_do_not() {
        let tool = Tool::new("list_files").with_schema(json!({"properties": {
            "path": {"description": "The path"},
            "fileList": {"description": "List of the files"},
            "count": {"description": "How many", "minimum": 1, "maximum": 10},
            "size": {"description": "Bytes (1-10)", "minimum": 1, "maximum": 10},
            "id": {"minimum": -9007199254740991_i64, "maximum": 9007199254740991_i64},
            "when": {"format": "date-time"},
            "edits": {"type": "array", "minItems": 1, "items": {"properties": {"old": {"description": "Must match exactly"}}}},
        }}));
        let found = notes(&tool);
        let shown: Vec<_> =
            found.iter().map(|n| (n.path.as_str(), n.description.as_str(), n.limits.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("count", "How many", "1 to 10"),
                ("size", "Bytes (1-10)", ""),
                ("when", "", "date-time"),
                ("edits", "", "≥ 1 items"),
                ("edits[].old", "Must match exactly", ""),
            ]
        );
    }
}
