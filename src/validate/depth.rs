//! Measures the nesting of a schema, with references followed.
//!
//! Compiling a schema and evaluating it recurse as deep as its parts are nested: a few hundred references in a row,
//! each of a few bytes, take more stack than a thread has, and the process would abort. So the depth is measured before
//! anything else is done.

use std::collections::HashSet;

use serde_json::Value;

use super::references::{Targets, references};

/// Returns an upper bound on the levels of the longest path through a schema with its references followed; `None` if
/// its references, or their targets, are more than `MAX_SCHEMA_REFERENCES`.
pub(super) fn levels(schema: &Value) -> Option<usize> {
    let Targets { parts, of } = Targets::in_schema(schema)?;
    let in_part = |part: &&Value| -> HashSet<usize> {
        references(part).into_iter().filter_map(|reference| of.get(reference)).flatten().copied().collect()
    };
    let next: Vec<Vec<usize>> = parts.iter().map(|part| in_part(part).into_iter().collect()).collect();
    let parts: Vec<usize> = parts.into_iter().map(nesting).collect();
    let mut before = vec![Vec::new(); parts.len()];
    for (at, next) in next.iter().enumerate() {
        next.iter().for_each(|to| before[*to].push(at));
    }
    // Parts that lead to no circle, and the others that no circle leads to, are as deep as their longest path.
    let (below, above) = (longest(&parts, &next, &before), longest(&parts, &before, &next));
    let rest = || (0..parts.len()).filter(|at| below[*at].is_none());
    let most_below = below.iter().flatten().max().unwrap_or(&0);
    let most_above = rest().filter_map(|at| above[at]).max().unwrap_or(0);
    // A path passes each of the remaining parts at most once.
    let circles: usize = rest().filter(|at| above[*at].is_none()).map(|at| parts[at]).sum();
    Some(nesting(schema) + most_below + most_above + circles)
}

/// Returns the number of levels of the longest path from each part of a schema; `None` if a path leads to a circle.
fn longest(parts: &[usize], next: &[Vec<usize>], before: &[Vec<usize>]) -> Vec<Option<usize>> {
    let (mut most, mut found) = (vec![0; parts.len()], vec![None; parts.len()]);
    let mut open: Vec<usize> = next.iter().map(Vec::len).collect();
    let mut ended: Vec<usize> = (0..parts.len()).filter(|at| open[*at] == 0).collect();
    while let Some(at) = ended.pop() {
        let length = parts[at] + most[at];
        found[at] = Some(length);
        for from in &before[at] {
            most[*from] = length.max(most[*from]);
            open[*from] -= 1;
            if open[*from] == 0 {
                ended.push(*from);
            }
        }
    }
    found
}

/// Returns the nesting depth of the arrays and objects of a value.
pub(super) fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(nesting).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn levels(schema: &Value) -> usize {
        super::levels(schema).expect("few references")
    }

    /// Returns a schema with this number of references in a row.
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
        assert_eq!(levels(&json!({"$ref": "#a0", "allOf": parts})), 3 + 600);
        // What is only named like a reference, and an anchor, are no circle through all parts.
        for b in [json!({"examples": [{"gitRef": "main"}]}), json!({"$dynamicRef": "#c"}), json!({"$ref": "#/$defs/c"})]
        {
            let mut defs: serde_json::Map<String, Value> =
                (0..30).map(|n| (format!("a{n}"), json!({"properties": {"b": {"$ref": "#/$defs/b"}}}))).collect();
            defs.extend([("b".to_owned(), b), ("c".to_owned(), json!({"$dynamicAnchor": "c"}))]);
            let all: Vec<Value> = (0..30).map(|n| json!({"$ref": format!("#/$defs/a{n}")})).collect();
            let depth = levels(&json!({"anyOf": all, "$defs": defs}));
            assert!(depth < 20, "{depth}");
        }
        // A reference relative to where it is may lead on each time.
        let relative: Vec<Value> =
            (1..600).map(|n| json!({"$id": format!("http://a/{}", "n/".repeat(n)), "$ref": "n/"})).collect();
        assert!(levels(&json!({"$id": "http://a/", "$ref": "n/", "allOf": relative})) > 600);
        // Too many parts of the same name.
        let alike = vec![json!({"$anchor": "a"}); 1_001];
        assert_eq!(super::levels(&json!({"$ref": "#a", "allOf": alike})), None);
    }
}
