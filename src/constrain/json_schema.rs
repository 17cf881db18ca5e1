//! Writes a structure as a JSON Schema that the compiler of every endpoint accepts.

use serde_json::{Map, Value, json};

use super::structure::{REGIONS, Structure, StructureMember, Structures};

/// Writes structures as JSON Schemas that share their definitions.
#[derive(Default)]
pub(super) struct SchemaWriter {
    definitions: Map<String, Value>,
}

impl SchemaWriter {
    /// Returns the schema of one structure, and adds the named parts that it refers to as definitions.
    pub(super) fn schema(&mut self, all: &Structures) -> Value {
        let first = self.definitions.len();
        // The parts are inserted before they are written, because they refer to each other.
        for index in 0..all.named.len() {
            self.definitions.insert(name(first + index), Value::Null);
        }
        for (index, part) in all.named.iter().enumerate() {
            let written = write(part, first);
            self.definitions.insert(name(first + index), written);
        }
        write(&all.root, first)
    }

    /// Returns the schema `root` with all definitions under `$defs`.
    pub(super) fn whole(self, mut root: Value) -> Value {
        if let (Value::Object(members), false) = (&mut root, self.definitions.is_empty()) {
            members.insert("$defs".to_owned(), Value::Object(self.definitions));
        }
        root
    }
}

fn name(index: usize) -> String {
    format!("d{index}")
}

fn write(structure: &Structure, first: usize) -> Value {
    let write = |structure: &Structure| write(structure, first);
    match structure {
        Structure::Any => json!({}),
        Structure::Null => json!({"type": "null"}),
        Structure::Boolean => json!({"type": "boolean"}),
        Structure::Integer => json!({"type": "integer"}),
        Structure::Number => json!({"type": "number"}),
        Structure::Zone => json!({"type": "string", "pattern": format!("^({}|UTC$)", REGIONS.join("|"))}),
        Structure::Text { min, max } => {
            let mut text = json!({"type": "string"});
            let limits = [("minLength", Some(*min).filter(|min| *min > 0)), ("maxLength", *max)];
            limits
                .into_iter()
                .filter_map(|(key, limit)| Some((key, limit?)))
                .for_each(|(key, limit)| text[key] = limit.into());
            text
        }
        Structure::Literals(values) => json!({"enum": values}),
        Structure::OneOf(all) => json!({"anyOf": all.iter().map(write).collect::<Vec<_>>()}),
        Structure::Named(index) => json!({"$ref": format!("#/$defs/{}", name(first + index))}),
        Structure::Object { members, rest } => object(members, rest.as_deref().map(write), first),
        Structure::Array { first: items, rest, min, max } => {
            let mut schema = Map::new();
            schema.insert("type".to_owned(), "array".into());
            if !items.is_empty() {
                schema.insert("prefixItems".to_owned(), items.iter().map(write).collect());
            }
            if let Some(rest) = rest {
                schema.insert("items".to_owned(), write(rest));
            }
            if *min > 0 {
                schema.insert("minItems".to_owned(), (*min).into());
            }
            // `items: false` would say the same, but some compilers refuse it.
            if let Some(max) = max.or(rest.is_none().then_some(items.len())) {
                schema.insert("maxItems".to_owned(), max.into());
            }
            Value::Object(schema)
        }
    }
}

fn object(members: &[StructureMember], rest: Option<Value>, first: usize) -> Value {
    let properties: Map<String, Value> = members.iter().map(|m| (m.name.clone(), write(&m.value, first))).collect();
    let required: Vec<&str> = members.iter().filter(|m| m.required).map(|m| m.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": rest.unwrap_or(Value::Bool(false)),
    })
}
