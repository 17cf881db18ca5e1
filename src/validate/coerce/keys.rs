//! Matches keys in another case or style than the schema's: `fileName`, `file_name`, `File-Name`.
//!
//! Validation errors do not contain the names that a schema declares for an object, so they are looked up in the
//! subschemas that may apply to the object's place. If too many names are found, only fewer keys are renamed.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::tools::schema::{ApplicableSchemas, named, properties};
use crate::tools::words::{is_of, name_words};

/// The properties that a schema declares for the object at one place.
pub(super) struct DeclaredProperties<'s> {
    names: HashSet<&'s str>,
    patterns: Vec<regex::Regex>,
}

impl<'s> DeclaredProperties<'s> {
    /// Returns the properties declared for the object at `place`, a JSON Pointer into the value, or `None` if a part of
    /// the schema cannot be followed; and the number of schemas and names that were visited.
    pub(super) fn at(root: &'s Value, place: &str) -> (Option<Self>, usize) {
        let (schemas, passed) = ApplicableSchemas::at(root, place);
        let declared = schemas.and_then(DeclaredProperties::of);
        let names = declared.as_ref().map_or(0, |declared| declared.names.len());
        (declared, passed + names)
    }

    fn of(schemas: Vec<&'s Value>) -> Option<Self> {
        let mut declared = DeclaredProperties { names: HashSet::new(), patterns: Vec::new() };
        for schema in schemas {
            declared.names.extend(properties(schema).map(|(name, _)| name.as_str()));
            for (pattern, _) in named(schema, "patternProperties") {
                // A pattern that this engine cannot read might declare any key.
                declared.patterns.push(regex::Regex::new(pattern).ok()?);
            }
        }
        Some(declared)
    }

    /// Returns the number of names and patterns that a key is compared with.
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

    /// Returns the keys of the object that are not declared, each with the declared name that it matches. The match
    /// must be unique: the object does not have the name, and no other such key matches it. `wanted` is a name that the
    /// schema requires but may not describe.
    pub(super) fn renames(&self, wanted: Option<&str>, members: &Map<String, Value>) -> Vec<(String, String)> {
        let declared = |key: &str| wanted == Some(key) || self.declares(key);
        let keys: Vec<(&String, String)> = members.keys().filter(|key| !declared(key)).map(|k| (k, plain(k))).collect();
        let mut alike: HashMap<&str, usize> = HashMap::new();
        for (_, form) in &keys {
            *alike.entry(form).or_default() += 1;
        }
        let mut names: HashMap<String, Vec<&str>> = HashMap::new();
        // `required` may name a member that `properties` lacks.
        let further = wanted.filter(|wanted| !self.names.contains(wanted));
        for name in self.names.iter().copied().chain(further) {
            names.entry(plain(name)).or_default().push(name);
        }
        let mut renames = Vec::new();
        for (key, form) in &keys {
            // A rename must be unambiguous and must not overwrite a member.
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

    /// Returns the only undeclared key if the wanted name ends with its words, and no other absent name does: `path` for
    /// `file_path`. The reverse holds for a key whose further words say nothing: `exclude_path` is no `path`.
    pub(super) fn ending(&self, wanted: &str, members: &Map<String, Value>) -> Option<(String, String)> {
        let mut unknown = members.keys().filter(|key| *key != wanted && !self.declares(key));
        let (Some(key), None) = (unknown.next(), unknown.next()) else { return None };
        let given = words(key);
        let is_like = |name: &str| {
            let name = words(name);
            let is_longer =
                || given.strip_suffix(&*name).is_some_and(|rest| rest.iter().all(|word| is_of("vague", word)));
            // With as many words it would be another spelling, which `renames` has found.
            name.len() != given.len() && (name.ends_with(&given) || is_longer())
        };
        let others = self.names.iter().filter(|name| **name != wanted && !members.contains_key(**name));
        // A key without words ends every name, and an absent name that fits as well makes the match ambiguous.
        (!given.is_empty()
            && !words(wanted).is_empty()
            && is_like(wanted)
            && !others.into_iter().any(|name| is_like(name)))
        .then(|| (key.clone(), wanted.to_owned()))
    }
}

/// Returns the words of a key, in lower case.
fn words(key: &str) -> Vec<String> {
    name_words(key).into_iter().map(|word| word.to_lowercase()).collect()
}

/// Renames keys of the object and keeps their order.
pub(super) fn rename(members: &mut Map<String, Value>, renames: &[(String, String)]) {
    *members = std::mem::take(members)
        .into_iter()
        .map(|(key, value)| match renames.iter().find(|(old, _)| *old == key) {
            Some((_, new)) => (new.clone(), value),
            None => (key, value),
        })
        .collect();
}

/// Returns a key without its case and style: letters in lower case and digits. A separator between two digits stays:
/// `a_1_2` is not `a_12`.
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
