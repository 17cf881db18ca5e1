//! Reads JSON Schemas: finds subschemas and resolves references.
//!
//! The input is a schema as a server sent it; the output is its parts, for the code that writes them (prompts,
//! requests, messages), shows an example, or must know whether a value may be text. Validation is not part of it:
//! `validate` uses a library for that.
//!
//! A schema is untrusted. Its references may form a circle, and a small one whose parts share references unfolds to
//! millions of parts. So every reader uses a [`Walk`], which counts the visited subschemas; the limits are defined only
//! here. Each writer decides how deep a type or an example is *written*.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Map, Value};

use crate::secrets::percent_decoded;

/// Limit on the references and unions of a schema that are followed one after another.
pub(crate) const MAX_HOPS: usize = 8;

/// Limit on the subschemas that one traversal of a schema visits.
pub(crate) const MAX_SCHEMAS: usize = 2000;

/// Keywords whose subschemas apply to the same value as the schema itself.
const UNIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords that contain one schema; those in `SEVERAL` contain a list of schemas, those in `NAMED` schemas by name.
#[cfg(feature = "validate")]
const ONE: &[&str] =
    &["items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"];
#[cfg(feature = "validate")]
const SEVERAL: &[&str] = &["allOf", "anyOf", "oneOf", "items", "prefixItems"];
#[cfg(feature = "validate")]
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Returns mutable references to the direct subschemas in a schema's keywords.
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

/// Traversal of a schema that limits the number of visited subschemas.
pub(crate) struct Walk<'s> {
    root: &'s Value,
    left: Cell<usize>,
}

impl<'s> Walk<'s> {
    /// Creates a traversal of the schema `root`, to which its references are relative.
    pub(crate) fn new(root: &'s Value) -> Self {
        Walk { root, left: Cell::new(MAX_SCHEMAS) }
    }

    /// Counts one more subschema. Returns `false` if the limit is reached, so that it must not be visited.
    pub(crate) fn enter(&self) -> bool {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns `true` if the limit of the traversal is reached, so that some subschemas may not have been visited.
    #[cfg(feature = "prompt")]
    pub(crate) fn is_over(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the target of a schema's `$ref`; `None` without one, and if it leads out of the schema.
    pub(crate) fn target(&self, schema: &Value) -> Option<&'s Value> {
        resolve(self.root, reference(schema)?)
    }

    /// Follows a schema's references, one after another; a schema without one is returned itself. `None` if one leads
    /// out of the schema.
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

    /// Merges the schema into one object: references are resolved; `allOf` and the first branch of `anyOf` and `oneOf`
    /// that is not only `null` are merged in. A schema that is such an object already is not copied.
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
                // Every branch of `allOf` applies, of the others the first that accepts more than null.
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

    /// Returns `true` if a schema may accept a string, or if that is uncertain.
    pub(crate) fn accepts_text(&self, schema: &Value) -> bool {
        self.may_be(true, schema, 0)
    }

    /// Returns `true` if a schema may accept a value other than a string, or if that is uncertain.
    pub(crate) fn accepts_other(&self, schema: &Value) -> bool {
        self.may_be(false, schema, 0)
    }

    /// Returns `true` if a schema may accept a string (`text`), or another value (not `text`).
    fn may_be(&self, text: bool, schema: &Value, hops: usize) -> bool {
        // Where it cannot be known, both kinds of values count as possible.
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
            // `properties` and `items` mean an object or an array without a `type`.
            None => !text || schema.get("properties").or_else(|| schema.get("items")).is_none(),
        }
    }
}

/// Subschemas that may apply to the value at one place inside a JSON value. They are found without that value, through
/// every branch and reference, so there may be too many.
#[cfg(feature = "validate")]
pub(crate) struct ApplicableSchemas<'s> {
    walk: Walk<'s>,
    here: Vec<&'s Value>,
    /// Addresses of the subschemas in `here`.
    seen: std::collections::HashSet<*const Value>,
}

#[cfg(feature = "validate")]
impl<'s> ApplicableSchemas<'s> {
    /// Returns the subschemas for the value at `place`, a JSON Pointer, or `None` if a part of the schema cannot be
    /// followed; and the number of subschemas that were visited.
    pub(crate) fn at(root: &'s Value, place: &str) -> (Option<Vec<&'s Value>>, usize) {
        let mut applying = ApplicableSchemas { walk: Walk::new(root), here: Vec::new(), seen: Default::default() };
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
            // The limit is for one place, not for the whole path.
            self.walk = Walk::new(root);
            *passed += parents.len();
            for parent in parents {
                self.step(parent, &segment)?;
            }
        }
        Some(())
    }

    /// Adds a schema and its subschemas that apply to the same value; `None` if one cannot be followed.
    fn enter(&mut self, schema: &'s Value) -> Option<()> {
        let Value::Object(members) = schema else { return Some(()) };
        // Two references may lead to one part.
        if !self.seen.insert(schema) {
            return Some(());
        }
        // The target of these references, and of any reference inside a schema with an `$id` of its own, depends on
        // more than `root`.
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

    /// Adds the subschemas of a schema that apply to the member or item `segment` of its value; `None` if one cannot be
    /// followed.
    fn step(&mut self, schema: &'s Value, segment: &str) -> Option<()> {
        let index = segment.parse::<usize>().ok();
        named(schema, "properties").filter(|(name, _)| *name == segment).try_for_each(|(_, s)| self.enter(s))?;
        // Patterns are not compared with the name here: too many subschemas do no harm.
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

/// Returns the target of a local reference (`#`, `#/$defs/Name`, with URL escapes); `None` if the schema has none.
pub(crate) fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?))
}

/// Returns the text of a schema's `$ref`, if it has one.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// Returns the names and schemas of an object schema's `properties`, in their order.
pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    named(schema, "properties")
}

/// Returns the schema of the property of this name.
pub(crate) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

/// Returns the names of the properties that an object must have.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    list(schema, "required").filter_map(Value::as_str)
}

/// Returns the names of the types in a schema's `type`.
pub(crate) fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let one = schema.get("type").and_then(Value::as_str);
    one.into_iter().chain(list(schema, "type").filter_map(Value::as_str))
}

/// Returns the name of a JSON value's type: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the schemas of an array's first items, one by one; before draft 2020-12 they are in `items`.
pub(crate) fn tuple(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("prefixItems").or_else(|| schema.get("items"))?.as_array()
}

/// Returns the items of a schema's keyword whose value is an array; none for any other value.
pub(crate) fn list<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the members of a schema's keyword whose value is an object; none for any other value.
pub(crate) fn named<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Adds the keywords that a schema lacks from another one that applies to the same value: properties and required names
/// one by one, other keywords as a whole.
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
            // `additionalProperties` of one schema would forbid the properties of the others; `title` describes only
            // that one schema.
            (None, _) if key == "additionalProperties" || key == "title" => {}
            (None, value) => drop(schema.insert(key.clone(), value.clone())),
        }
    }
}

/// Changes a schema so that it accepts null.
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
