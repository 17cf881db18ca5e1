//! JSON Schemas as this crate reads them: where subschemas stand, where references lead.
//!
//! In comes a schema as a server sent it; out go its parts, for whoever writes them out
//! (prompts, requests, messages), shows an example, or has to know whether a value may be
//! text. Whether a value fits is not said here: `validate` has a library for that.
//!
//! Nobody vouches for a schema. Its references may run in a circle, and a small one whose
//! parts share references unfolds to millions. So every reader goes through a [`Walk`], which
//! counts what is looked at, and the limits stand here and nowhere else. How deep a type or an
//! example is *written* is each writer's own taste.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Map, Value};

/// References and unions that are followed one after another at most.
pub(crate) const MAX_HOPS: usize = 8;

/// Subschemas that are looked at for one question at most.
pub(crate) const MAX_SCHEMAS: usize = 2000;

/// Keywords whose subschemas apply to the same value as the schema itself.
const UNIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords that hold a schema, a list of schemas, or schemas by name.
#[cfg(feature = "validate")]
const ONE: &[&str] =
    &["items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"];
#[cfg(feature = "validate")]
const SEVERAL: &[&str] = &["allOf", "anyOf", "oneOf", "items", "prefixItems"];
#[cfg(feature = "validate")]
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// The subschemas that a schema's keywords hold, to be changed.
#[cfg(feature = "validate")]
pub(crate) fn subschemas_mut(keywords: &mut Map<String, Value>) -> Vec<&mut Value> {
    let mut found = Vec::new();
    for (keyword, part) in keywords {
        match part {
            part @ Value::Object(_) if ONE.contains(&keyword.as_str()) => found.push(part),
            Value::Array(parts) if SEVERAL.contains(&keyword.as_str()) => found.extend(parts),
            Value::Object(parts) if NAMED.contains(&keyword.as_str()) => found.extend(parts.values_mut()),
            _ => {}
        }
    }
    found
}

/// One way through a schema, for one question.
pub(crate) struct Walk<'s> {
    root: &'s Value,
    left: Cell<usize>,
}

impl<'s> Walk<'s> {
    /// A walk through the schema `root`, which its references are relative to.
    pub(crate) fn new(root: &'s Value) -> Self {
        Walk { root, left: Cell::new(MAX_SCHEMAS) }
    }

    /// Counts one more subschema. No further one is looked at where there is no place left.
    pub(crate) fn enter(&self) -> bool {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether all places are taken, so that something may not have been looked at.
    #[cfg(feature = "prompt")]
    pub(crate) fn is_over(&self) -> bool {
        self.left.get() == 0
    }

    /// What a schema's `$ref` leads to; none without one, and where it leads out of the schema.
    pub(crate) fn target(&self, schema: &Value) -> Option<&'s Value> {
        resolve(self.root, reference(schema)?)
    }

    /// What stands behind a schema's references, one after another; itself without one.
    /// None where one leads out of the schema.
    pub(crate) fn follow(&self, schema: &'s Value) -> Option<&'s Value> {
        let mut found = schema;
        for _ in 0..=MAX_HOPS {
            match reference(found) {
                Some(reference) => found = resolve(self.root, reference)?,
                None => break,
            }
        }
        Some(found)
    }

    /// The schema as one object: references resolved, `allOf` and the first branch of `anyOf`
    /// and `oneOf` that is more than `null` merged in. One that is such an object is not copied.
    pub(crate) fn flatten<'v>(&self, schema: &'v Value) -> Cow<'v, Value> {
        let is_flat = |members: &Map<String, Value>| {
            !members.contains_key("$ref") && UNIONS.iter().all(|union| !members.contains_key(*union))
        };
        if schema.as_object().is_some_and(is_flat) {
            return Cow::Borrowed(schema);
        }
        let mut flat = schema.as_object().cloned().unwrap_or_default();
        for _ in 0..MAX_HOPS {
            let mut parts: Vec<Cow<'_, Value>> = Vec::new();
            if let Some(Value::String(reference)) = flat.shift_remove("$ref") {
                parts.extend(resolve(self.root, &reference).map(Cow::Borrowed));
            }
            for union in UNIONS {
                let Some(Value::Array(mut branches)) = flat.shift_remove(union) else { continue };
                if union != "allOf" {
                    let useful = branches.iter().position(|branch| branch.get("type").is_none_or(|t| t != "null"));
                    branches = branches.into_iter().skip(useful.unwrap_or(0)).take(1).collect();
                }
                parts.extend(branches.into_iter().map(Cow::Owned));
            }
            if parts.is_empty() {
                break;
            }
            parts.iter().filter_map(|part| part.as_object()).for_each(|part| merge(&mut flat, part));
        }
        Cow::Owned(Value::Object(flat))
    }

    /// Whether a schema may accept a string. In doubt it does.
    pub(crate) fn accepts_text(&self, schema: &Value) -> bool {
        self.may_be(true, schema, 0)
    }

    /// Whether a schema may accept something other than a string. In doubt it does.
    pub(crate) fn accepts_other(&self, schema: &Value) -> bool {
        self.may_be(false, schema, 0)
    }

    /// Whether it may accept a string, if `text`, else something other.
    fn may_be(&self, text: bool, schema: &Value, hops: usize) -> bool {
        if hops > MAX_HOPS || !self.enter() {
            return true;
        }
        if reference(schema).is_some() {
            return self.target(schema).is_none_or(|target| self.may_be(text, target, hops + 1));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.iter().any(|value| value.is_string() == text);
        }
        if let Some(value) = schema.get("const") {
            return value.is_string() == text;
        }
        if matches!(schema.get("type"), Some(Value::String(_) | Value::Array(_))) {
            return types(schema).any(|name| (name == "string") == text);
        }
        match ["anyOf", "oneOf"].into_iter().find(|union| schema.get(*union).is_some()) {
            Some(union) => list(schema, union).any(|branch| self.may_be(text, branch, hops + 1)),
            // An object or an array without a `type`.
            None => !text || schema.get("properties").or_else(|| schema.get("items")).is_none(),
        }
    }
}

/// The subschemas that may apply to one place of a value, found without the value: through
/// every branch and reference, so that there may be too many.
#[cfg(feature = "validate")]
pub(crate) struct Applying<'s> {
    walk: Walk<'s>,
    here: Vec<&'s Value>,
    /// Their addresses.
    seen: std::collections::HashSet<*const Value>,
}

#[cfg(feature = "validate")]
impl<'s> Applying<'s> {
    /// The subschemas for the value at `place`, a JSON Pointer; `None` where a part of the schema
    /// cannot be followed. The number is that of the subschemas that were passed on the way.
    pub(crate) fn at(root: &'s Value, place: &str) -> (Option<Vec<&'s Value>>, usize) {
        let mut applying = Applying { walk: Walk::new(root), here: Vec::new(), seen: Default::default() };
        let mut passed = 1;
        let found = applying.follow(root, place, &mut passed);
        passed += applying.here.len();
        (found.map(|()| applying.here), passed)
    }

    fn follow(&mut self, root: &'s Value, place: &str, passed: &mut usize) -> Option<()> {
        self.enter(root)?;
        for segment in place.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let parents = std::mem::take(&mut self.here);
            self.seen.clear();
            self.walk = Walk::new(root);
            *passed += parents.len();
            for parent in parents {
                self.step(parent, &segment)?;
            }
        }
        Some(())
    }

    /// Adds a schema and those that it applies to the same place.
    fn enter(&mut self, schema: &'s Value) -> Option<()> {
        let Value::Object(members) = schema else { return Some(()) };
        if !self.seen.insert(schema) {
            return Some(());
        }
        let foreign = members.contains_key("$dynamicRef")
            || members.contains_key("$recursiveRef")
            || (members.contains_key("$id") && !std::ptr::eq(schema, self.walk.root));
        if foreign || !self.walk.enter() {
            return None;
        }
        self.here.push(schema);
        if members.contains_key("$ref") {
            self.enter(self.walk.target(schema)?)?;
        }
        for key in UNIONS {
            list(schema, key).try_for_each(|part| self.enter(part))?;
        }
        for key in ["if", "then", "else"] {
            members.get(key).map_or(Some(()), |part| self.enter(part))?;
        }
        for key in ["dependentSchemas", "dependencies"] {
            named(schema, key).try_for_each(|(_, part)| self.enter(part))?;
        }
        Some(())
    }

    /// Adds what a schema says of one member or item.
    fn step(&mut self, schema: &'s Value, segment: &str) -> Option<()> {
        let index = segment.parse::<usize>().ok();
        named(schema, "properties").filter(|(name, _)| *name == segment).try_for_each(|(_, s)| self.enter(s))?;
        named(schema, "patternProperties").try_for_each(|(_, s)| self.enter(s))?;
        for key in ["prefixItems", "items"] {
            index.and_then(|index| list(schema, key).nth(index)).map_or(Some(()), |s| self.enter(s))?;
        }
        let rest = [
            "additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems", "contains",
        ];
        rest.iter().filter_map(|key| schema.get(key)).try_for_each(|s| self.enter(s))
    }
}

/// What a local reference (`#`, `#/$defs/Name`, the escapes of URLs included) points to.
pub(crate) fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(&unescaped(reference.strip_prefix('#')?))
}

/// A schema's `$ref`.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// The properties of an object's schema, in its order.
pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    named(schema, "properties")
}

/// The property of this name.
pub(crate) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

/// The properties that an object must have.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    list(schema, "required").filter_map(Value::as_str)
}

/// The names of the types that a schema allows, as far as it says so by `type`.
pub(crate) fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let one = schema.get("type").and_then(Value::as_str);
    one.into_iter().chain(list(schema, "type").filter_map(Value::as_str))
}

/// The schemas of an array's first items, one by one; `items` had them before draft 2020-12.
pub(crate) fn tuple(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("prefixItems").or_else(|| schema.get("items"))?.as_array()
}

/// What a keyword lists.
pub(crate) fn list<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// What a keyword names.
pub(crate) fn named<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Adds to a schema what it lacks of another that applies beside it: properties and required
/// names one by one, other keywords whole.
pub(crate) fn merge(schema: &mut Map<String, Value>, beside: &Map<String, Value>) {
    for (key, value) in beside {
        match (schema.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "properties" => {
                for (name, schema) in new {
                    old.entry(name).or_insert_with(|| schema.clone());
                }
            }
            (Some(Value::Array(old)), Value::Array(new)) if key == "required" => {
                let new: Vec<_> = new.iter().filter(|name| !old.contains(name)).cloned().collect();
                old.extend(new);
            }
            (Some(_), _) => {}
            // What closes one would close the whole to the others, and is named for itself.
            (None, _) if key == "additionalProperties" || key == "title" => {}
            (None, value) => drop(schema.insert(key.clone(), value.clone())),
        }
    }
}

/// A pointer without the escapes of URLs.
pub(crate) fn unescaped(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Lets a schema accept null.
pub fn allow_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match object.get_mut("type") {
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "null") => {}
        Some(Value::Array(kinds)) => kinds.push("null".into()),
        Some(kind) => *kind = Value::Array(vec![kind.take(), "null".into()]),
        None => {
            if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
                branches.push(serde_json::json!({"type": "null"}));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_may_accept_a_string_is_one_that_takes_text() {
        let root = json!({"$defs": {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}});
        for (schema, expected) in [
            (json!({"type": "string"}), true),
            (json!({"type": ["string", "null"]}), true),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), true),
            (json!({"enum": ["a", "b"]}), true),
            (json!({}), true),
            (json!({"$ref": "https://example.com/x"}), true),
            (json!({"$ref": "#/$defs/loop"}), true),
            (json!({"type": "integer"}), false),
            (json!({"type": "array", "items": {"type": "string"}}), false),
            (json!({"$ref": "#/$defs/n"}), false),
            (json!({"enum": [1, 2]}), false),
            (json!({"properties": {"a": {}}}), false),
        ] {
            assert_eq!(Walk::new(&root).accepts_text(&schema), expected, "{schema}");
        }
        for (schema, expected) in [
            (json!({"type": "string"}), false),
            (json!({"enum": ["a", "b"]}), false),
            (json!({"const": "a"}), false),
            (json!({"type": ["string", "null"]}), true),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), true),
            (json!({}), true),
            (json!({"$ref": "#/$defs/n"}), true),
            (json!({"properties": {"a": {}}}), true),
        ] {
            assert_eq!(Walk::new(&root).accepts_other(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn references_lead_to_what_they_name_and_not_out_of_the_schema() {
        let root = json!({"$defs": {"a b": {"const": 1}, "on": {"$ref": "#/$defs/a%20b"}, "x~y/z": {"const": 2}}});
        let walk = Walk::new(&root);
        for (reference, expected) in [
            ("#/$defs/a%20b", Some(json!({"const": 1}))),
            ("#/$defs/a b", Some(json!({"const": 1}))),
            ("#/$defs/on", Some(json!({"const": 1}))),
            ("#/$defs/x~0y~1z", Some(json!({"const": 2}))),
            ("#", Some(root.clone())),
            ("#/$defs/none", None),
            ("other.json", None),
        ] {
            let schema = json!({"$ref": reference});
            let found = walk.target(&schema).and_then(|target| walk.follow(target));
            assert_eq!(found, expected.as_ref(), "{reference}");
        }
    }

    #[test]
    fn a_small_schema_that_unfolds_to_millions_takes_bounded_work() {
        // Each level refers to the next one ten times.
        let level = |n: usize| json!({"anyOf": vec![json!({"$ref": format!("#/$defs/{}", n + 1)}); 10]});
        let mut defs: Map<String, Value> = (0..8).map(|n| (n.to_string(), level(n))).collect();
        defs.insert("8".to_owned(), json!({"type": "integer"}));
        let root = json!({"$defs": defs});
        let walk = Walk::new(&root);
        let mut looked_at = 0;
        fn unfold(walk: &Walk<'_>, schema: &Value, looked_at: &mut usize) {
            if walk.enter() {
                *looked_at += 1;
                let branches = list(schema, "anyOf").chain(walk.target(schema));
                branches.for_each(|branch| unfold(walk, branch, looked_at));
            }
        }
        unfold(&walk, &root["$defs"]["0"], &mut looked_at);
        assert_eq!(looked_at, MAX_SCHEMAS);
        // In doubt it is text.
        assert!(Walk::new(&root).accepts_text(&root["$defs"]["0"]));
    }

    #[test]
    fn what_applies_beside_a_schema_adds_what_it_lacks() {
        let mut schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"], "title": "one"});
        let beside = json!({"properties": {"a": {}, "b": {}}, "required": ["b", "a"], "description": "d",
                            "additionalProperties": false});
        let (Value::Object(into), Value::Object(beside)) = (&mut schema, beside) else { unreachable!() };
        merge(into, &beside);
        let merged = json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"], "title": "one",
                            "description": "d"});
        assert_eq!(schema, merged);
    }
}
