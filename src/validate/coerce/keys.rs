//! Keys in another case or style than the schema's: `fileName`, `file_name`,
//! `File-Name`.
//!
//! Which names a schema declares for an object no validation error says, so they
//! are looked up in the subschemas that may apply to the object's place. Too many
//! names found only mean that fewer keys are renamed.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::tools::schema::{Applying, named, properties};

/// The properties that a schema declares for the object at one place.
pub(super) struct Declared<'s> {
    names: HashSet<&'s str>,
    patterns: Vec<regex::Regex>,
}

impl<'s> Declared<'s> {
    /// The properties declared for the object at `place`, a JSON Pointer into
    /// the value; `None` where a part of the schema cannot be followed. The number is that of
    /// the schemas and names that were looked at.
    pub(super) fn at(root: &'s Value, place: &str) -> (Option<Self>, usize) {
        let (schemas, passed) = Applying::at(root, place);
        let declared = schemas.and_then(Declared::of);
        let names = declared.as_ref().map_or(0, |declared| declared.names.len());
        (declared, passed + names)
    }

    fn of(schemas: Vec<&'s Value>) -> Option<Self> {
        let mut declared = Declared { names: HashSet::new(), patterns: Vec::new() };
        for schema in schemas {
            declared.names.extend(properties(schema).map(|(name, _)| name.as_str()));
            for (pattern, _) in named(schema, "patternProperties") {
                declared.patterns.push(regex::Regex::new(pattern).ok()?);
            }
        }
        Some(declared)
    }

    /// Names and patterns that a key is compared with.
    pub(super) fn len(&self) -> usize {
        self.names.len() + self.patterns.len()
    }

    /// Returns the keys of the object that are neither declared nor another spelling of a declared name.
    pub(super) fn unknown<'m>(&self, members: &'m Map<String, Value>) -> Vec<&'m String> {
        let renames = self.renames(None, members);
        let is_known = |key: &str| self.declares(key) || renames.iter().any(|(old, _)| old == key);
        members.keys().filter(|key| !is_known(key)).collect()
    }

    fn declares(&self, key: &str) -> bool {
        self.names.contains(key) || self.patterns.iter().any(|pattern| pattern.is_match(key))
    }

    /// Keys of the object that are not declared, each with the declared name
    /// that it matches: the only one, which the object does not have and no
    /// other such key matches. `wanted` is a name that the schema wants and may not describe.
    pub(super) fn renames(&self, wanted: Option<&str>, members: &Map<String, Value>) -> Vec<(String, String)> {
        let declared = |key: &str| wanted == Some(key) || self.declares(key);
        let keys: Vec<(&String, String)> = members.keys().filter(|key| !declared(key)).map(|k| (k, plain(k))).collect();
        let mut alike: HashMap<&str, usize> = HashMap::new();
        for (_, form) in &keys {
            *alike.entry(form).or_default() += 1;
        }
        let mut names: HashMap<String, Vec<&str>> = HashMap::new();
        let further = wanted.filter(|wanted| !self.names.contains(wanted));
        for name in self.names.iter().copied().chain(further) {
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

impl Declared<'_> {
    /// The one key that is not declared, where one of it and the wanted name ends with the other's words, and no
    /// other absent name does: `path` for `file_path`, or the other way round.
    pub(super) fn ending(&self, wanted: &str, members: &Map<String, Value>) -> Option<(String, String)> {
        let mut unknown = members.keys().filter(|key| *key != wanted && !self.declares(key));
        let (Some(key), None) = (unknown.next(), unknown.next()) else { return None };
        let given = words(key);
        let is_like = |name: &str| {
            let name = words(name);
            name.len() != given.len() && (name.ends_with(&given) || given.ends_with(&name))
        };
        let others = self.names.iter().filter(|name| **name != wanted && !members.contains_key(**name));
        (!given.is_empty()
            && !words(wanted).is_empty()
            && is_like(wanted)
            && !others.into_iter().any(|name| is_like(name)))
        .then(|| (key.clone(), wanted.to_owned()))
    }
}

/// The words of a key, in lower case.
fn words(key: &str) -> Vec<String> {
    let mut words = Vec::<String>::new();
    let mut last = None;
    for c in key.chars() {
        let begins = last.is_none_or(|last: char| !last.is_alphanumeric() || (last.is_lowercase() && c.is_uppercase()));
        match words.last_mut().filter(|_| !begins) {
            _ if !c.is_alphanumeric() => {}
            Some(word) => word.extend(c.to_lowercase()),
            None => words.push(c.to_lowercase().collect()),
        }
        last = Some(c);
    }
    words
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
