//! Keys in another case or style than the schema's: `fileName`, `file_name`,
//! `File-Name`.
//!
//! Which names a schema declares for an object no validation error says, so
//! here the schema is walked: along the object's place, through every branch
//! and reference. Too many names found only mean that fewer keys are renamed.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::tool::resolve;

/// Subschemas looked at for one object.
const MAX_SCHEMAS: usize = 2000;

/// The properties that a schema declares for the object at one place.
pub(super) struct Declared<'s> {
    names: HashSet<&'s str>,
    patterns: Vec<regex::Regex>,
}

impl<'s> Declared<'s> {
    /// The properties declared for the object at `place`, a JSON Pointer into
    /// the value, and the number of schemas and names that were looked at;
    /// `None` where a part of the schema cannot be followed.
    pub(super) fn at(root: &'s Value, place: &str) -> Option<(Self, usize)> {
        let mut walk = Walk { root, here: Vec::new(), seen: HashSet::new() };
        let mut work = 1;
        walk.enter(root)?;
        for segment in place.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let parents = std::mem::take(&mut walk.here);
            walk.seen.clear();
            work += parents.len();
            for parent in parents {
                walk.step(parent, &segment)?;
            }
        }
        let mut declared = Declared { names: HashSet::new(), patterns: Vec::new() };
        for schema in &walk.here {
            declared.names.extend(object(schema, "properties").map(|(name, _)| name.as_str()));
            for (pattern, _) in object(schema, "patternProperties") {
                declared.patterns.push(regex::Regex::new(pattern).ok()?);
            }
        }
        let work = work + walk.here.len() + declared.names.len();
        Some((declared, work))
    }

    /// Adds a name that the schema wants and does not describe.
    pub(super) fn add(&mut self, name: &'s str) {
        self.names.insert(name);
    }

    /// Keys of the object that are not declared, each with the declared name
    /// that it matches: the only one, which the object does not have and no
    /// other such key matches.
    pub(super) fn renames(&self, members: &Map<String, Value>) -> Vec<(String, String)> {
        let declared = |key: &str| self.names.contains(key) || self.patterns.iter().any(|p| p.is_match(key));
        let keys: Vec<(&String, String)> = members.keys().filter(|key| !declared(key)).map(|k| (k, plain(k))).collect();
        let mut alike: HashMap<&str, usize> = HashMap::new();
        for (_, form) in &keys {
            *alike.entry(form).or_default() += 1;
        }
        let mut names: HashMap<String, Vec<&str>> = HashMap::new();
        for name in &self.names {
            names.entry(plain(name)).or_default().push(name);
        }
        let mut renames = Vec::new();
        for (key, form) in &keys {
            if let Some([name]) = names.get(form).map(Vec::as_slice)
                && alike[form.as_str()] == 1
                && !form.is_empty()
                && !members.contains_key(*name)
            {
                renames.push(((*key).clone(), (*name).to_owned()));
            }
        }
        renames
    }
}

/// The object with keys renamed, in the old order.
pub(super) fn rename(members: &mut Map<String, Value>, renames: &[(String, String)]) {
    *members = std::mem::take(members)
        .into_iter()
        .map(|(key, value)| match renames.iter().find(|(old, _)| *old == key) {
            Some((_, new)) => (new.clone(), value),
            None => (key, value),
        })
        .collect();
}

/// A key without its case and style: letters in lower case and digits. What
/// parts two digits stays: `a_1_2` is not `a_12`.
fn plain(key: &str) -> String {
    let mut plain = String::with_capacity(key.len());
    let mut parted = false;
    for c in key.chars() {
        if !c.is_alphanumeric() {
            if !matches!(c, '_' | '-' | ' ' | '.') {
                plain.push(c);
            }
            parted = true;
            continue;
        }
        if parted && c.is_numeric() && plain.ends_with(char::is_numeric) {
            plain.push('_');
        }
        parted = false;
        plain.extend(c.to_lowercase());
    }
    plain
}

/// The subschemas that may apply to one place of a value.
struct Walk<'s> {
    root: &'s Value,
    here: Vec<&'s Value>,
    /// Their addresses.
    seen: HashSet<*const Value>,
}

impl<'s> Walk<'s> {
    /// Adds a schema and those that it applies to the same place.
    fn enter(&mut self, schema: &'s Value) -> Option<()> {
        let Value::Object(members) = schema else { return Some(()) };
        if !self.seen.insert(schema) {
            return Some(());
        }
        let foreign = members.contains_key("$dynamicRef")
            || members.contains_key("$recursiveRef")
            || (members.contains_key("$id") && !std::ptr::eq(schema, self.root));
        if foreign || self.here.len() == MAX_SCHEMAS {
            return None;
        }
        self.here.push(schema);
        if let Some(reference) = members.get("$ref") {
            self.enter(resolve(self.root, reference.as_str()?)?)?;
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            array(schema, key).try_for_each(|part| self.enter(part))?;
        }
        for key in ["if", "then", "else"] {
            members.get(key).map_or(Some(()), |part| self.enter(part))?;
        }
        for key in ["dependentSchemas", "dependencies"] {
            object(schema, key).try_for_each(|(_, part)| self.enter(part))?;
        }
        Some(())
    }

    /// Adds what a schema says of one member or item.
    fn step(&mut self, schema: &'s Value, segment: &str) -> Option<()> {
        let index = segment.parse::<usize>().ok();
        object(schema, "properties").filter(|(name, _)| *name == segment).try_for_each(|(_, s)| self.enter(s))?;
        object(schema, "patternProperties").try_for_each(|(_, s)| self.enter(s))?;
        for key in ["prefixItems", "items"] {
            index.and_then(|index| array(schema, key).nth(index)).map_or(Some(()), |s| self.enter(s))?;
        }
        let rest = [
            "additionalProperties",
            "unevaluatedProperties",
            "items",
            "additionalItems",
            "unevaluatedItems",
            "contains",
        ];
        rest.iter().filter_map(|key| schema.get(key)).try_for_each(|s| self.enter(s))
    }
}

fn array<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn object<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}
