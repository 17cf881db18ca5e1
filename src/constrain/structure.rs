//! Extracts the part of a JSON Schema that a grammar can enforce: types, members, items, alternatives.
//!
//! The input is an untrusted schema; the output is a [`Structure`] of bounded size. Keywords that only restrict a value
//! (patterns, ranges, formats, conditions) are left to validation, except the limits on items and characters, which
//! stop a model that repeats itself; a part that cannot be followed or is too deep becomes any JSON value. So a
//! structure accepts everything that its schema accepts, with four exceptions, each the narrower choice because a
//! model fills every gap:
//!
//! - members that a schema with `properties` neither lists nor opens (`additionalProperties`, `patternProperties`) are
//!   not written;
//! - a schema without a type, but with `properties` or `items`, means an object or an array;
//! - a tool whose list of `properties` is empty takes no arguments;
//! - of `anyOf` and `allOf` side by side in one schema the first is used.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::tools::schema::{self, Walk, list};

/// Nesting depth below which the parts of a schema become any JSON value. Published tools are up to 12 levels deep.
const MAX_DEPTH: usize = 24;

/// Maximum length limit of arrays that is enforced; a larger limit is ignored, as a grammar has a rule for each item.
const MAX_ITEMS: usize = 256;

/// Maximum number of values that are listed individually; more are replaced by their types: compilers of grammars take
/// seconds for so many, and each of them is examined for every token.
const MAX_VALUES: usize = 2_000;

/// Maximum length limit of texts that is enforced: llama.cpp accepts up to 2,000 repetitions in a rule, and only a
/// shorter limit stops a model that repeats itself.
const MAX_LENGTH: usize = 1_000;

/// The structure of a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Structure {
    /// Any JSON value.
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    /// A text whose length in characters is between these limits.
    Text {
        min: usize,
        max: Option<usize>,
    },
    /// A text that is the name of a time zone in the tz database.
    Zone,
    /// One of these literal values.
    Literals(Vec<Value>),
    Object {
        /// The members of the object, in the order in which they are written.
        members: Vec<StructureMember>,
        /// The structure of the values of further members; `None` if further members are forbidden.
        rest: Option<Box<Structure>>,
    },
    Array {
        /// The structures of the first items, one for each.
        first: Vec<Structure>,
        /// The structure of further items; `None` if further items are forbidden.
        rest: Option<Box<Structure>>,
        min: usize,
        max: Option<usize>,
    },
    OneOf(Vec<Structure>),
    /// Reference to a part, by its index in [`Structures::named`].
    Named(usize),
}

/// A member of an object: its name, its structure, and `true` if it is required.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StructureMember {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) value: Structure,
}

/// A structure and the named parts that it refers to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Structures {
    pub(super) root: Structure,
    pub(super) named: Vec<Structure>,
}

impl Structure {
    /// Returns the structure of an object with any members.
    fn object() -> Self {
        Structure::Object { members: Vec::new(), rest: Some(Box::new(Structure::Any)) }
    }

    /// Returns the indices of the named parts that the structure itself may be, directly or in a union.
    fn heads(&self) -> Vec<usize> {
        match self {
            Structure::Named(index) => vec![*index],
            Structure::OneOf(all) => all.iter().flat_map(Structure::heads).collect(),
            _ => Vec::new(),
        }
    }

    fn one_of(all: impl IntoIterator<Item = Structure>) -> Self {
        let mut different: Vec<Structure> = Vec::new();
        for one in all {
            match one {
                // A branch that accepts everything makes the others useless.
                Structure::Any => return Structure::Any,
                Structure::OneOf(inner) => different.extend(inner),
                one if different.contains(&one) => {}
                one => different.push(one),
            }
        }
        match different.len() {
            0 => Structure::Any,
            1 => different.remove(0),
            _ => Structure::OneOf(different),
        }
    }
}

impl Structures {
    /// Returns the structure of a JSON Schema.
    pub(super) fn of(schema: &Value) -> Self {
        let mut reader = StructureReader { walk: Walk::new(schema), waiting: Vec::new(), places: HashMap::new() };
        let root = reader.read(schema, 0);
        let mut named = Vec::new();
        // The parts are read one after another, so that a long chain of references takes no stack.
        while let Some(part) = reader.waiting.get(named.len()) {
            named.push(reader.read(part, 0));
        }
        let mut all = Structures { root, named };
        all.open_circles();
        all
    }

    /// Replaces each named part that refers to itself without consuming anything by any JSON value.
    fn open_circles(&mut self) {
        for index in 0..self.named.len() {
            let mut seen = vec![false; self.named.len()];
            let mut heads = self.named[index].heads();
            while let Some(head) = heads.pop() {
                if head == index {
                    self.named[index] = Structure::Any;
                    break;
                }
                if !std::mem::replace(&mut seen[head], true) {
                    heads.extend(self.named[head].heads());
                }
            }
        }
    }

    /// Returns the structure of a tool's arguments, which is an object whatever the schema demands; any object without
    /// one.
    pub(super) fn of_arguments(schema: Option<&Value>) -> Self {
        let Some(schema) = schema else { return Structures { root: Structure::object(), named: Vec::new() } };
        if takes_nothing(schema) {
            return Structures { root: Structure::Object { members: Vec::new(), rest: None }, named: Vec::new() };
        }
        let mut all = Structures::of(schema);
        all.root = all.object(&all.root, 0).unwrap_or_else(Structure::object);
        all
    }

    /// Returns the part of a structure that accepts objects; `None` if it accepts none.
    fn object(&self, structure: &Structure, hops: usize) -> Option<Structure> {
        match structure {
            Structure::Object { .. } => Some(structure.clone()),
            Structure::Literals(values) => {
                let objects: Vec<Value> = values.iter().filter(|v| v.is_object()).cloned().collect();
                (!objects.is_empty()).then_some(Structure::Literals(objects))
            }
            Structure::OneOf(all) => {
                let objects: Vec<_> = all.iter().filter_map(|one| self.object(one, hops)).collect();
                (!objects.is_empty()).then(|| Structure::one_of(objects))
            }
            Structure::Named(index) if hops < schema::MAX_HOPS => self.object(self.named.get(*index)?, hops + 1),
            _ => None,
        }
    }
}

struct StructureReader<'s> {
    walk: Walk<'s>,
    /// The schemas of the named parts, in the order of their indices.
    waiting: Vec<&'s Value>,
    /// Indices of the named parts, by the memory address of their schema.
    places: HashMap<*const Value, usize>,
}

impl StructureReader<'_> {
    fn read(&mut self, schema: &Value, depth: usize) -> Structure {
        let Value::Object(members) = schema else { return Structure::Any };
        if depth > MAX_DEPTH || !self.walk.enter() {
            return Structure::Any;
        }
        if let Some(value) = members.get("const") {
            return Structure::Literals(vec![value.clone()]);
        }
        if let Some(Value::Array(values)) = members.get("enum") {
            let fits =
                // A value of a type that `type` excludes can never match.
                |value: &&Value| schema::types(schema).count() == 0 || schema::types(schema).any(|name| is_of(value, name));
            let values = values.iter().filter(fits);
            return match values.clone().nth(MAX_VALUES) {
                // No value fits both keywords, which is for the validator to say.
                _ if values.clone().next().is_none() => Structure::Any,
                None => Structure::Literals(values.cloned().collect()),
                Some(_) => {
                    Structure::one_of(values.map(|value| self.typed(&Value::Null, schema::type_of(value), depth)))
                }
            };
        }
        if members.contains_key("$ref") {
            return self.reference(members, depth);
        }
        if list(schema, "allOf").next().is_some() {
            let whole = self.all_of(members);
            return self.read(&whole, depth + 1);
        }
        for union in ["anyOf", "oneOf"] {
            if list(schema, union).next().is_some() {
                return self.one_of(members, union, depth);
            }
        }
        let types: Vec<&str> = schema::types(schema).collect();
        match types[..] {
            [] => self.untyped(schema, depth),
            _ => {
                let all: Vec<_> = types.into_iter().map(|name| self.typed(schema, name, depth)).collect();
                Structure::one_of(all)
            }
        }
    }

    /// Returns the structure of a reference's target, merged with the keywords beside the reference.
    fn reference(&mut self, members: &Map<String, Value>, depth: usize) -> Structure {
        let shape = ["properties", "required", "allOf", "anyOf", "oneOf", "type", "items", "additionalProperties"];
        let Some(target) = self.walk.target(&Value::Object(members.clone())) else {
            return Structure::Any;
        };
        // Keywords beside the reference make another structure of the target, so it cannot be shared under
        // its name.
        if shape.iter().any(|key| members.contains_key(*key)) {
            let mut whole = members.clone();
            whole.shift_remove("$ref");
            if let Value::Object(target) = target {
                schema::merge(&mut whole, target);
            }
            return self.read(&Value::Object(whole), depth + 1);
        }
        let index = *self.places.entry(target).or_insert_with(|| {
            self.waiting.push(target);
            self.waiting.len() - 1
        });
        Structure::Named(index)
    }

    /// Returns the schema with the schemas of its `allOf` merged into it.
    fn all_of(&self, members: &Map<String, Value>) -> Value {
        let mut whole = members.clone();
        let parts = whole.shift_remove("allOf");
        for part in parts.iter().flat_map(Value::as_array).flatten() {
            let mut part = part.clone();
            for _ in 0..schema::MAX_HOPS {
                let Some(target) = self.walk.target(&part).and_then(Value::as_object) else { break };
                let Value::Object(own) = &mut part else { break };
                own.shift_remove("$ref");
                schema::merge(own, target);
            }
            if let Value::Object(part) = &part {
                schema::merge(&mut whole, part);
                // `merge` leaves this keyword out, since `false` would forbid the members of the other parts;
                // a schema describes further members.
                if let Some(closed) = part.get("additionalProperties").filter(|open| !open.is_boolean()) {
                    whole.entry("additionalProperties").or_insert_with(|| closed.clone());
                }
            }
        }
        Value::Object(whole)
    }

    /// Returns the structure of a union, with each branch merged with the keywords beside the union.
    fn one_of(&mut self, members: &Map<String, Value>, union: &str, depth: usize) -> Structure {
        let mut beside = members.clone();
        let branches = beside.shift_remove(union);
        beside.retain(|key, _| {
            // Texts say nothing about a branch, and of two unions side by side only the first is used.
            !matches!(key.as_str(), "anyOf" | "oneOf" | "title" | "description" | "default" | "$defs")
        });
        let branches = branches.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let all: Vec<_> = branches
            .iter()
            .map(|branch| match branch {
                Value::Object(branch) if !beside.is_empty() => {
                    let mut whole = branch.clone();
                    schema::merge(&mut whole, &beside);
                    if let Some(open) = beside.get("additionalProperties") {
                        whole.entry("additionalProperties").or_insert_with(|| open.clone());
                    }
                    self.read(&Value::Object(whole), depth + 1)
                }
                branch => self.read(branch, depth + 1),
            })
            .collect();
        Structure::one_of(all)
    }

    fn untyped(&mut self, schema: &Value, depth: usize) -> Structure {
        let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
        if has(&["properties", "additionalProperties", "patternProperties", "required"]) {
            self.typed(schema, "object", depth)
        } else if has(&["items", "prefixItems"]) {
            self.typed(schema, "array", depth)
        } else {
            Structure::Any
        }
    }

    fn typed(&mut self, schema: &Value, name: &str, depth: usize) -> Structure {
        match name {
            "null" => Structure::Null,
            "boolean" => Structure::Boolean,
            "integer" => Structure::Integer,
            "number" => Structure::Number,
            "string" if asks_for_zone(schema) => Structure::Zone,
            "string" => {
                let length = |key| count(schema, key).filter(|length| *length <= MAX_LENGTH);
                Structure::Text { min: length("minLength").unwrap_or(0), max: length("maxLength") }
            }
            "object" => self.members(schema, depth + 1),
            "array" => self.items(schema, depth + 1),
            _ => Structure::Any,
        }
    }

    fn members(&mut self, schema: &Value, depth: usize) -> Structure {
        let required: Vec<&str> = schema::required(schema).collect();
        let mut members: Vec<StructureMember> = Vec::new();
        // `false` forbids the member.
        for (name, value) in schema::properties(schema).filter(|(_, value)| **value != Value::Bool(false)) {
            let value = self.read(value, depth);
            members.push(StructureMember { name: name.clone(), required: required.contains(&name.as_str()), value });
        }
        let rest = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            // A schema that lists members is meant to list all of them; one that lists none accepts any.
            None => schema::properties(schema).next().is_none().then_some(Structure::Any),
            Some(open) => Some(self.read(open, depth)),
        };
        let patterns: Vec<_> =
            schema::named(schema, "patternProperties").map(|(_, open)| self.read(open, depth)).collect();
        let rest = match patterns.is_empty() {
            true => rest,
            false => Some(Structure::one_of(patterns.into_iter().chain(rest))),
        };
        // Members that are only in `required` have the structure of further members.
        for name in required {
            if !members.iter().any(|member| member.name == name) {
                let value = rest.clone().unwrap_or(Structure::Any);
                members.push(StructureMember { name: name.to_owned(), required: true, value });
            }
        }
        Structure::Object { members, rest: rest.map(Box::new) }
    }

    fn items(&mut self, schema: &Value, depth: usize) -> Structure {
        let first: Vec<Structure> =
            schema::tuple(schema).into_iter().flatten().take(MAX_ITEMS).map(|item| self.read(item, depth)).collect();
        let more = match schema.get("items") {
            Some(Value::Array(_)) => schema.get("additionalItems"),
            items => items,
        };
        let rest = match more {
            Some(Value::Bool(false)) => None,
            Some(items) => Some(Box::new(self.read(items, depth))),
            None => Some(Box::new(Structure::Any)),
        };
        let max = count(schema, "maxItems").filter(|max| *max <= MAX_ITEMS);
        let min = count(schema, "minItems").unwrap_or(0).min(MAX_ITEMS).min(max.unwrap_or(MAX_ITEMS));
        Structure::Array { first, rest, min, max }
    }
}

/// Regions with which the names of time zones begin (the tz database's `tzdata` files `africa` to `southamerica`).
pub(super) const REGIONS: [&str; 10] = [
    "Africa/", "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/",
    "Pacific/",
];

/// Returns `true` for a text that begins with a region of time zones. A small model writes only the city unless it is
/// constrained to begin with a region.
#[cfg(feature = "agent")]
pub(crate) fn is_zone(text: &str) -> bool {
    REGIONS.iter().any(|region| text.starts_with(region))
}

/// Returns `true` if a tool takes no arguments: its schema has `properties`, which is empty, and nothing that adds
/// members.
fn takes_nothing(schema: &Value) -> bool {
    let is_open = ["additionalProperties", "patternProperties", "$ref", "anyOf", "oneOf", "allOf"];
    let lists_none = schema.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty);
    // Another keyword may bring members.
    lists_none && schema::required(schema).next().is_none() && is_open.iter().all(|key| schema.get(key).is_none())
}

/// Returns `true` if the description of a text's schema asks for the name of a time zone.
fn asks_for_zone(schema: &Value) -> bool {
    let words = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    words.contains("IANA") && words.contains("zone")
}

/// Returns `true` if a value is of the type `name`, or if JSON Schema has no such type.
fn is_of(value: &Value, name: &str) -> bool {
    match (schema::type_of(value), name) {
        ("integer" | "number", "integer" | "number") => true,
        (_, "null" | "boolean" | "integer" | "number" | "string" | "array" | "object") => {
            schema::type_of(value) == name
        }
        _ => true,
    }
}

/// Returns the value of a keyword that is a number; `None` if it is missing or not a whole number.
fn count(schema: &Value, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_u64()?).ok()
}
