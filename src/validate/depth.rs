//! Measures the nesting of a schema, with references followed.
//!
//! Compiling a schema and evaluating it recurse as deep as its parts are nested: a few hundred references in a row,
//! each of a few bytes, take more stack than a thread has, and the process would abort. So the depth is measured before
//! anything else is done.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::secrets::percent_decoded;

/// The subschemas that the references in a schema refer to, directly or through others.
pub(super) struct Targets<'s> {
    pub(super) all: Vec<Target<'s>>,
    /// The target of each reference. Several spellings of a reference with the same target count once.
    numbers: HashMap<&'s str, usize>,
}

pub(super) struct Target<'s> {
    /// `None` for a reference that is not a plain pointer: its target may be any part, the schema itself included.
    pub(super) schema: Option<&'s Value>,
    /// The targets of the references in it, and of one that is not known itself.
    pub(super) next: Vec<usize>,
}

impl<'s> Targets<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        let mut targets = Targets { all: Vec::new(), numbers: HashMap::new() };
        let mut places: HashMap<*const Value, usize> = HashMap::new();
        let mut waiting = references(schema);
        while let Some(reference) = waiting.pop() {
            if targets.numbers.contains_key(reference) {
                continue;
            }
            let target = reference.strip_prefix('#').and_then(|at| schema.pointer(&percent_decoded(at)));
            let number = targets.all.len();
            let known = target.map_or(number, |target| *places.entry(std::ptr::from_ref(target)).or_insert(number));
            targets.numbers.insert(reference, known);
            if known == number {
                waiting.extend(target.map(references).into_iter().flatten());
                targets.all.push(Target { schema: target, next: Vec::new() });
            }
        }
        for at in 0..targets.all.len() {
            targets.all[at].next = targets.all[at].schema.map_or_else(|| vec![at], |target| targets.in_part(target));
        }
        targets
    }

    /// Returns the targets of the references in a part of the schema, each once.
    pub(super) fn in_part(&self, part: &Value) -> Vec<usize> {
        let mut found: Vec<usize> =
            references(part).into_iter().filter_map(|name| self.numbers.get(name).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Returns an upper bound on the levels of the longest path through a schema.
pub(super) fn levels(schema: &Value) -> usize {
    let own = nesting(schema);
    let targets = Targets::of(schema).all;
    let parts: Vec<usize> = targets.iter().map(|target| target.schema.map_or(own, nesting)).collect();
    let next: Vec<Vec<usize>> = targets.into_iter().map(|target| target.next).collect();
    let mut before = vec![Vec::new(); parts.len()];
    for (at, next) in next.iter().enumerate() {
        next.iter().for_each(|to| before[*to].push(at));
    }
    // Parts that lead to no circle, and parts that no circle leads to, are as deep as their longest path.
    let mut is_done = vec![false; parts.len()];
    let below = longest(&parts, &next, &before, &mut is_done);
    let above = longest(&parts, &before, &next, &mut is_done);
    // A path passes each of the remaining parts at most once.
    let circles: usize = parts.iter().zip(&is_done).filter(|(_, done)| !**done).map(|(levels, _)| levels).sum();
    own.saturating_add(below).saturating_add(above).saturating_add(circles)
}

/// Returns the longest path through the parts from which none leads to a circle, and marks these as done.
fn longest(parts: &[usize], next: &[Vec<usize>], before: &[Vec<usize>], is_done: &mut [bool]) -> usize {
    let mut open: Vec<usize> = next.iter().map(|next| next.iter().filter(|to| !is_done[**to]).count()).collect();
    let mut ready: Vec<usize> = (0..parts.len()).filter(|at| !is_done[*at] && open[*at] == 0).collect();
    let mut levels = vec![0_usize; parts.len()];
    let mut most = 0;
    while let Some(at) = ready.pop() {
        is_done[at] = true;
        levels[at] += parts[at];
        most = most.max(levels[at]);
        for from in before[at].iter().filter(|from| !is_done[**from]) {
            levels[*from] = levels[*from].max(levels[at]);
            open[*from] -= 1;
            if open[*from] == 0 {
                ready.push(*from);
            }
        }
    }
    most
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
