//! Measures the nesting of a schema, with references followed.
//!
//! Compiling a schema and evaluating it recurse as deep as its parts are nested: a few hundred references in a row,
//! each of a few bytes, take more stack than a thread has, and the process would abort. So the depth is measured before
//! anything else is done.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::secrets::percent_decoded;

/// The parts of a schema that the references in it lead to.
struct Targets<'s> {
    /// Each part once, however its references are spelled. A reference that is not a plain pointer may lead to any part;
    /// it counts as one to the whole schema.
    parts: Vec<&'s Value>,
    /// The indices of the parts that the references in each part lead to.
    next: Vec<Vec<usize>>,
}

impl<'s> Targets<'s> {
    fn of(schema: &'s Value) -> Self {
        let (mut parts, mut places, mut numbers) = (Vec::new(), HashMap::new(), HashMap::new());
        for reference in references(schema) {
            let target = reference.strip_prefix('#').and_then(|at| schema.pointer(&percent_decoded(at)));
            let place = places.entry(target.map(std::ptr::from_ref).ok_or(reference)).or_insert(parts.len());
            if *place == parts.len() {
                parts.push(target.unwrap_or(schema));
            }
            numbers.insert(reference, *place);
        }
        let in_part = |part: &&Value| {
            let found = references(part).into_iter().filter_map(|reference| numbers.get(reference).copied());
            found.collect::<HashSet<usize>>().into_iter().collect()
        };
        Targets { next: parts.iter().map(in_part).collect(), parts }
    }
}

/// Returns the parts of a schema that the references in it lead to, each once.
pub(super) fn targets(schema: &Value) -> Vec<&Value> {
    Targets::of(schema).parts
}

/// Returns an upper bound on the levels of the longest path through a schema.
pub(super) fn levels(schema: &Value) -> usize {
    let Targets { parts, next } = Targets::of(schema);
    let parts: Vec<usize> = parts.into_iter().map(nesting).collect();
    let mut before = vec![Vec::new(); parts.len()];
    for (at, next) in next.iter().enumerate() {
        next.iter().for_each(|to| before[*to].push(at));
    }
    // Parts that lead to no circle, and the others that no circle leads to, are as deep as their longest path.
    let (below, above) = (longest(&parts, &next), longest(&parts, &before));
    let rest = || (0..parts.len()).filter(|at| below[*at].is_none());
    let most_below = below.iter().flatten().max().unwrap_or(&0);
    let most_above = rest().filter_map(|at| above[at]).max().unwrap_or(0);
    // A path passes each of the remaining parts at most once.
    let circles: usize = rest().filter(|at| above[*at].is_none()).map(|at| parts[at]).sum();
    nesting(schema) + most_below + most_above + circles
}

/// Returns the length of the longest path from each part; `None` if a path leads to a circle.
fn longest(parts: &[usize], next: &[Vec<usize>]) -> Vec<Option<usize>> {
    fn from(
        at: usize,
        parts: &[usize],
        next: &[Vec<usize>],
        known: &mut HashMap<usize, Option<usize>>,
    ) -> Option<usize> {
        if let Some(known) = known.get(&at) {
            return *known;
        }
        // A path that comes back before this one has ended is a circle.
        known.insert(at, None);
        let below = next[at].iter().try_fold(0, |most, to| Some(from(*to, parts, next, known)?.max(most)))?;
        known.insert(at, Some(parts[at] + below));
        Some(parts[at] + below)
    }
    let mut known = HashMap::new();
    (0..parts.len()).map(|at| from(at, parts, next, &mut known)).collect()
}

/// Returns the nesting depth of the arrays and objects of a value.
pub(super) fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(nesting).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the references in a schema, each once.
pub(super) fn references(schema: &Value) -> Vec<&str> {
    fn add<'s>(schema: &'s Value, found: &mut HashSet<&'s str>) {
        match schema {
            Value::Object(members) => {
                for (key, part) in members {
                    match part.as_str().filter(|_| key.ends_with("Ref") || key == "$ref") {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// So many references in a row.
    fn chain(links: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut parts: serde_json::Map<String, Value> =
            (0..links).map(|n| (format!("a{n}"), link(json!({"$ref": format!("#/$defs/a{}", n + 1)})))).collect();
        parts.insert(format!("a{links}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/a0", "$defs": parts})
    }

    #[test]
    fn a_way_through_references_is_as_deep_as_its_parts() {
        let flat = json!({"type": "object", "properties": {"x": {"type": "string"}}});
        assert_eq!(levels(&flat), 3);
        let depth = levels(&chain(50, |next| next));
        assert!((51..60).contains(&depth), "{depth}");
        // Many that are used side by side are not deep.
        let parts: serde_json::Map<String, Value> =
            (0..900).map(|n| (format!("a{n}"), json!({"properties": {"b": {"$ref": "#/$defs/b"}}}))).collect();
        let mut wide = json!({"anyOf": (0..900).map(|n| json!({"$ref": format!("#/$defs/a{n}")})).collect::<Vec<_>>(), "$defs": parts});
        wide["$defs"]["b"] = json!({"type": "array", "items": {"$ref": "#/$defs/c"}});
        wide["$defs"]["c"] = json!({"type": "object"});
        assert!(levels(&wide) < 20, "{}", levels(&wide));
        // Nor are those before and after a circle.
        wide["$defs"]["b"]["items"] = json!({"anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/c"}]});
        assert!(levels(&wide) < 20, "{}", levels(&wide));
    }

    #[test]
    fn a_circle_and_a_name_are_passed_once() {
        assert_eq!(levels(&json!({"type": "object", "properties": {"x": {"$ref": "#"}}})), 6);
        let spelt = json!({"anyOf": [{"$ref": "#/%24defs/n"}, {"$ref": "#/$defs/%6e"}]});
        let once = json!({"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]});
        let [spelt, once] = [spelt, once].map(|n| levels(&json!({"$defs": {"n": n}, "$ref": "#/$defs/n"})));
        assert_eq!(spelt, once, "a circle in two spellings is one");
        let parts: Vec<Value> =
            (0..600).map(|n| json!({"$anchor": format!("a{n}"), "$ref": format!("#a{}", n + 1)})).collect();
        assert!(levels(&json!({"$ref": "#a0", "allOf": parts})) > 1_000);
    }
}
