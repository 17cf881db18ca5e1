//! Finds the references in a schema, and the parts that they may lead to.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::secrets::percent_decoded;

/// The keywords that refer to a subschema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Limit on the number of different references in a schema, and of the parts that they may lead to. Calls are not
/// checked against a schema with more: the schemas of 2,800 public tools have at most 9.
pub const MAX_SCHEMA_REFERENCES: usize = 1_000;

/// Subschemas of a schema that the references in it may lead to.
pub(super) struct Targets<'s> {
    /// Targets of references, each once, however its references are spelled.
    pub(super) parts: Vec<&'s Value>,
    /// Indices of the targets that each reference may lead to.
    pub(super) of: HashMap<&'s str, Vec<usize>>,
}

impl<'s> Targets<'s> {
    /// Finds the targets of all references in a schema; `None` if there are more references or targets than
    /// [`MAX_SCHEMA_REFERENCES`].
    pub(super) fn in_schema(schema: &'s Value) -> Option<Self> {
        let references = references(schema);
        if references.len() > MAX_SCHEMA_REFERENCES {
            return None;
        }
        let (mut targets, mut places) = (Targets { parts: Vec::new(), of: HashMap::new() }, HashMap::new());
        let bases = bases(schema);
        for reference in references {
            let place = |part| {
                *places.entry(std::ptr::from_ref(part)).or_insert_with(|| {
                    targets.parts.push(part);
                    targets.parts.len() - 1
                })
            };
            let found = candidates(&bases, reference).into_iter().map(place).collect();
            targets.of.insert(reference, found);
            if targets.parts.len() > MAX_SCHEMA_REFERENCES {
                return None;
            }
        }
        Some(targets)
    }
}

/// Returns the references in a schema, each once.
pub(super) fn references(schema: &Value) -> Vec<&str> {
    fn add<'s>(schema: &'s Value, found: &mut HashSet<&'s str>) {
        match schema {
            Value::Object(members) => {
                for (key, part) in members {
                    match part.as_str().filter(|_| REFERENCES.contains(&key.as_str())) {
                        Some(reference) => drop(found.insert(reference)),
                        None => add(part, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|part| add(part, found)),
            _ => {}
        }
    }
    let mut found = HashSet::new();
    add(schema, &mut found);
    found.into_iter().collect()
}

/// Returns the subschemas that a reference can be relative to: those with a name or an identifier, and the whole
/// schema.
pub(super) fn bases(root: &Value) -> Vec<&Value> {
    let mut named = Vec::new();
    find_named(root, &mut named);
    // Without this check, two equal bases would count as two paths.
    if !named.iter().any(|schema| std::ptr::eq(*schema, root)) {
        named.push(root);
    }
    named
}

/// Returns all possible targets of a reference in the schema with these bases.
pub(super) fn candidates<'s>(bases: &[&'s Value], reference: &str) -> Vec<&'s Value> {
    let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
    let fragment = percent_decoded(fragment);
    match fragment.is_empty() || fragment.starts_with('/') {
        true => bases.iter().filter_map(|base| base.pointer(&fragment)).collect(),
        false => {
            let is_name = |schema: &&&Value| {
                ["$anchor", "$dynamicAnchor", "$id", "id"]
                    .iter()
                    .filter_map(|key| schema.get(*key)?.as_str())
                    .any(|name| name.trim_start_matches('#') == fragment)
            };
            bases.iter().filter(is_name).copied().collect()
        }
    }
}

/// Adds the subschemas that have a name or an identifier of their own, or seem to.
fn find_named<'s>(schema: &'s Value, named: &mut Vec<&'s Value>) {
    match schema {
        Value::Object(members) => {
            let keys = ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];
            if keys
                .iter()
                .filter_map(|key| members.get(*key))
                .any(|name| name.is_string() || name == &Value::Bool(true))
            {
                named.push(schema);
            }
            members.values().for_each(|part| find_named(part, named));
        }
        Value::Array(items) => items.iter().for_each(|part| find_named(part, named)),
        _ => {}
    }
}
