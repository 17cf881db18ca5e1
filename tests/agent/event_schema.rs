//! The JSON Schema and the TypeScript types of the events, for programs in other languages:
//! `docs/events.schema.json` and `docs/events.d.ts` must match the types. `UPDATE=1 cargo test
//! --test agent event_schema` writes them.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fmt::Write;
use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use toolgraft::AgentEvent;
use toolgraft::agent::{Approval, ApprovalRequest};
use toolgraft::event::OwnedEvent;

/// Returns the schema of an agent's event, with the definitions of everything in it, of the
/// parser's events, and of the answers of a user interface.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let root = generator.subschema_for::<AgentEvent>();
    generator.subschema_for::<OwnedEvent>();
    generator.subschema_for::<ApprovalRequest>();
    generator.subschema_for::<Approval>();
    let mut definitions: Vec<(String, Value)> = generator.take_definitions(true).into_iter().collect();
    definitions.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "AgentEvent",
        "description": "An event of a turn; OwnedEvent, one of the parser's, is among the definitions.",
        "$ref": root.get("$ref"),
        "$defs": Map::from_iter(definitions),
    });
    plain_words(&mut schema);
    schema
}

/// Removes rustdoc's links from descriptions; brackets in code are none.
fn plain_words(value: &mut Value) {
    let link = regex::Regex::new(r"(`[^`]*`)|\[([^\]]*)\](?:\([^)]*\))?").unwrap();
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain_words),
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => *text = link.replace_all(text, "$1$2").into_owned(),
                    value => plain_words(value),
                }
            }
        }
        _ => {}
    }
}

/// Returns every definition as a TypeScript type.
fn types(schema: &Value) -> String {
    let mut out =
        "// The events of toolgraft, in their JSON form. Made from events.schema.json by a test.\n".to_owned();
    out.push_str("// Members and variants may be added: ignore what you do not know.\n");
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        out.push('\n');
        comment(&mut out, definition, "");
        let definition = typed(definition, "");
        let space = if definition.starts_with('\n') { "" } else { " " };
        writeln!(out, "export type {name} ={space}{definition};").unwrap();
    }
    out
}

fn comment(out: &mut String, schema: &Value, indent: &str) {
    let Some(words) = schema["description"].as_str() else { return };
    let lines: Vec<&str> = words.lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [line] => writeln!(out, "{indent}/** {line} */").unwrap(),
        lines => {
            writeln!(out, "{indent}/**").unwrap();
            for line in lines {
                writeln!(out, "{}", format!("{indent} * {line}").trim_end()).unwrap();
            }
            writeln!(out, "{indent} */").unwrap();
        }
    }
}

/// Converts a schema to a type. An unknown keyword fails the test.
fn typed(schema: &Value, indent: &str) -> String {
    let Some(object) = schema.as_object() else { return "unknown".to_owned() };
    for key in object.keys() {
        let known = ["description", "type", "const", "enum", "oneOf", "anyOf", "allOf", "$ref", "items", "properties"];
        let ignored = ["required", "additionalProperties", "format", "minimum", "maximum", "default"];
        assert!(known.contains(&key.as_str()) || ignored.contains(&key.as_str()), "{key} in {schema}");
    }
    let mut parts = Vec::new();
    if let Some(reference) = object.get("$ref") {
        parts.push(reference.as_str().unwrap().trim_start_matches("#/$defs/").to_owned());
    }
    if let Some(value) = object.get("const") {
        parts.push(value.to_string());
    } else if let Some(values) = object.get("enum") {
        parts.push(union(values.as_array().unwrap().iter().map(Value::to_string)));
    } else if let Some(kind) = object.get("type") {
        let kinds = kind.as_array().cloned().unwrap_or_else(|| vec![kind.clone()]);
        parts.push(union(kinds.iter().map(|kind| of_kind(kind.as_str().unwrap(), object, indent))));
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(variants) = object.get(key) {
            let mut out = String::new();
            for variant in variants.as_array().unwrap() {
                out.push('\n');
                comment(&mut out, variant, &format!("{indent}  "));
                write!(out, "{indent}  | {}", typed(variant, &format!("{indent}    "))).unwrap();
            }
            parts.push(if parts.is_empty() { out } else { format!("({out})") });
        }
    }
    if let Some(all) = object.get("allOf") {
        parts.extend(all.as_array().unwrap().iter().map(|part| typed(part, indent)));
    }
    // Members of the variant itself are combined with those of the types that it refers to.
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(" & ") }
}

fn union(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" | ")
}

fn of_kind(kind: &str, schema: &Map<String, Value>, indent: &str) -> String {
    match kind {
        "string" | "boolean" | "null" => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => format!("Array<{}>", schema.get("items").map_or("unknown".into(), |items| typed(items, indent))),
        "object" => match schema.get("properties").and_then(Value::as_object) {
            None => "Record<string, unknown>".to_owned(),
            Some(properties) => {
                let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
                let inner = format!("{indent}  ");
                let mut out = "{\n".to_owned();
                for (name, property) in properties {
                    comment(&mut out, property, &inner);
                    let mark = if required.iter().any(|r| r == name) { "" } else { "?" };
                    writeln!(out, "{inner}{name}{mark}: {};", typed(property, &inner)).unwrap();
                }
                out + indent + "}"
            }
        },
        other => panic!("a schema of the type {other:?}"),
    }
}

#[test]
fn the_schema_and_the_types_are_those_of_today() {
    let schema = schema();
    let written = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    for (name, text) in [("events.schema.json", written), ("events.d.ts", types(&schema))] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(stored == text, "docs/{name} is not what the types say: UPDATE=1 cargo test --test agent event_schema");
    }
}

#[test]
fn the_documented_events_are_what_the_schema_says() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let docs = include_str!("../../docs/events.md");
    let events = docs.lines().filter(|line| line.starts_with("{\"type\":"));
    let mut count = 0;
    for line in events {
        let event: Value = serde_json::from_str(line).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&event).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
        count += 1;
    }
    assert!(count > 25, "only {count} events were found");
    for wrong in [json!({"type": "text"}), json!({"type": "text", "text": 1}), json!({"type": "no_event"})] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn a_parsers_events_are_what_the_schema_says() {
    let mut schema = schema();
    schema["$ref"] = "#/$defs/OwnedEvent".into();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let text = "<think>Hm.</think>Look: <tool_call>{\"name\": \"f\", \"arguments\": {'a': 1}}</tool_call> \
                <tool_call>{\"name\": </tool_call>";
    let mut parser = toolgraft::Parser::new(toolgraft::parse::Config::default());
    let mut events = Vec::new();
    parser.push(text, &mut |event| events.push(event.into_owned()));
    parser.finish(&toolgraft::message::FinishReason::Stop, &mut |event| events.push(event.into_owned()));
    assert!(events.len() > 8, "{events:?}");
    for event in events {
        let event = serde_json::to_value(event).unwrap();
        let errors: Vec<String> = validator.iter_errors(&event).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{event}: {errors:?}");
    }
}
