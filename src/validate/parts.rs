//! Counts in advance how often the validator evaluates subschemas.
//!
//! If references share a subschema, it may be evaluated again and again: each level of a recursive `anyOf` multiplies
//! the work. So the visits are counted before the validator is asked.

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::references::{REFERENCES, bases, candidates};
use super::work::nodes;

/// Limit on the nesting of subschemas that are followed for one value, references included: as much as the stack of a
/// server's thread allows.
const MAX_LEVELS: usize = 100;

/// Number of steps that a reference to a metaschema of JSON Schema counts for each value.
const FOREIGN: usize = 200;

/// Result of counting steps; `None` if the limit is exceeded, or if the schema is too deep.
type Flow = Option<()>;

/// Returns an upper bound on the number of times that the validator evaluates some subschema for some value. `None` if
/// it may exceed `limit`, if the nesting may exceed [`MAX_LEVELS`], or if references lead from a subschema and a value
/// back to both: the validator follows such a circle once for each path into it, on each level again.
pub(super) fn visits(root: &Value, draft: Draft, schema: &Value, value: &Value, limit: usize) -> Option<usize> {
    let modern = matches!(draft, Draft::Draft201909 | Draft::Draft202012);
    let mut visits = Visits { root, modern, left: limit, bases: None, chain: Vec::new(), levels: MAX_LEVELS };
    visits.count(schema, value).map(|()| limit - visits.left)
}

struct Visits<'s> {
    root: &'s Value,
    /// `true` if keywords beside `$ref` apply, as in drafts from 2019-09 on.
    modern: bool,
    left: usize,
    /// Subschemas that references can be relative to; collected when a reference is first looked up.
    bases: Option<Vec<&'s Value>>,
    /// References that are being followed, each with its value.
    chain: Vec<(*const Value, *const Value)>,
    levels: usize,
}

impl<'s> Visits<'s> {
    fn count(&mut self, schema: &'s Value, value: &Value) -> Flow {
        self.spend(1)?;
        let Value::Object(keywords) = schema else { return Some(()) };
        let refers = REFERENCES.iter().any(|key| keywords.contains_key(*key));
        let at = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        // The same schema for the same value again would be an endless circle.
        if self.levels == 0 || (refers && self.chain.contains(&at)) {
            return None;
        }
        self.levels -= 1;
        if refers {
            self.chain.push(at);
        }
        // The validator finds the unevaluated parts by evaluating the others again.
        let again = keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems");
        for _ in 0..if again { 4 } else { 1 } {
            self.each(keywords, value)?;
        }
        if refers {
            self.chain.pop();
        }
        self.levels += 1;
        Some(())
    }

    /// Counts all subschemas, each with the values that it may be evaluated for. A condition that depends on the value
    /// is assumed to apply.
    fn each(&mut self, schema: &'s Map<String, Value>, value: &Value) -> Flow {
        for key in REFERENCES {
            let Some(reference) = schema.get(key).and_then(Value::as_str) else { continue };
            let root = self.root;
            let found = candidates(self.bases.get_or_insert_with(|| bases(root)), reference);
            // A target outside the schema can only be a metaschema, since nothing is fetched.
            if found.is_empty() {
                self.spend(FOREIGN.saturating_mul(nodes(value)))?;
            }
            found.into_iter().try_for_each(|target| self.count(target, value))?;
            // Up to draft 7 a reference replaces all keywords beside it.
            if key == "$ref" && !self.modern {
                return Some(());
            }
        }
        let here = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|key| listed(schema.get(key)));
        here.chain(["not", "if", "then", "else"].into_iter().filter_map(|key| schema.get(key)))
            .try_for_each(|part| self.count(part, value))?;
        for key in ["contains", "unevaluatedProperties", "unevaluatedItems", "additionalItems"] {
            if let Some(part) = schema.get(key) {
                inner(value).try_for_each(|value| self.count(part, value))?;
            }
        }
        match value {
            Value::Object(members) => self.members(schema, members, value),
            Value::Array(items) => {
                let first = ["prefixItems", "items"].into_iter().flat_map(|key| listed(schema.get(key)));
                first.zip(items).try_for_each(|(part, item)| self.count(part, item))?;
                let all = schema.get("items").filter(|part| !part.is_array());
                all.map_or(Some(()), |part| items.iter().try_for_each(|item| self.count(part, item)))
            }
            _ => Some(()),
        }
    }

    /// Counts the subschemas for an object and its members.
    fn members(&mut self, schema: &'s Map<String, Value>, members: &Map<String, Value>, value: &Value) -> Flow {
        for key in ["dependentSchemas", "dependencies"] {
            let there = schema.get(key).and_then(Value::as_object).into_iter().flatten();
            there
                .filter(|(name, part)| !part.is_array() && members.contains_key(name.as_str()))
                .try_for_each(|(_, part)| self.count(part, value))?;
        }
        if let Some(part) = schema.get("propertyNames") {
            members.keys().try_for_each(|key| self.count(part, &Value::from(key.as_str())))?;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let rest = schema.get("additionalProperties").filter(|rest| !rest.is_boolean());
        for (key, value) in members {
            let declared = properties.and_then(|all| all.get(key));
            declared
                .into_iter()
                .chain(patterns.into_iter().flat_map(Map::values))
                .chain(rest.filter(|_| declared.is_none()))
                .try_for_each(|part| self.count(part, value))?;
        }
        Some(())
    }

    fn spend(&mut self, steps: usize) -> Flow {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }
}

/// Returns the direct members or items of a value.
fn inner(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}

fn listed(parts: Option<&Value>) -> impl Iterator<Item = &Value> {
    parts.and_then(Value::as_array).into_iter().flatten()
}
