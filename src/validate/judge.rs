//! Whether a schema takes a value, each subschema being held against each place
//! once: what the validator would do again and again where references share a
//! subschema.
//!
//! The keywords that look at one value alone stay the validator's, and so do
//! its words; here is only what joins subschemas.

mod refuse;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::compile::{Compiled, alone_at, options};
use super::parts::{MAX_LEVELS, Member, Rules, array};
use super::refusal::{Refusal, Why};
use super::work::Work;

/// Steps that compiling the keywords of one subschema counts for: it takes a millisecond and tens
/// of kilobytes.
const COMPILING: usize = 2_000;

/// The same where all are compiled together.
const COMPILING_TOGETHER: usize = 40;

/// So many are compiled one by one before all are together.
const ONE_BY_ONE: usize = 24;

/// Keywords that join subschemas, or say nothing about a value.
const JOINING: &[&str] = &[
    "$ref", "$schema", "$id", "id", "$anchor", "$defs", "definitions", "$comment", "title", "description", "default",
    "examples", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies",
    "propertyNames", "contains", "minContains", "maxContains", "items", "prefixItems", "additionalItems",
];

/// Judges values by one schema. All answers are `None` where the work is not
/// done: there is too much of it, or the schema cannot be read in parts.
#[derive(Debug)]
pub(super) struct Judge<'s, 'w> {
    compiled: &'s Compiled,
    pub(super) rules: Rules<'s>,
    work: &'w Work,
    /// What each subschema says about one value alone; nothing, for many.
    alone: HashMap<*const Map<String, Value>, Option<Alone<'s>>>,
    /// How many were compiled one by one.
    one_by_one: usize,
    /// The subschemas by their numbers, once they were compiled together.
    numbers: Option<HashMap<*const Map<String, Value>, usize>>,
    patterns: HashMap<&'s str, Option<Validator>>,
    /// What referenced subschemas said of places; `None` while one is being asked.
    said: HashMap<(*const Value, *const Value), Option<bool>>,
    /// Keys as values; kept while their addresses count.
    names: Vec<Box<[Value]>>,
    levels: usize,
}

/// What a subschema says about one value alone.
#[derive(Debug)]
enum Alone<'s> {
    Own(Box<Validator>),
    Shared(&'s Validator),
}

impl Alone<'_> {
    fn validator(&self) -> &Validator {
        match self {
            Alone::Own(validator) => validator,
            Alone::Shared(validator) => validator,
        }
    }
}

/// What [`Judge::refusals`] collects.
pub(super) struct Found<'e> {
    pub(super) refusals: Vec<Refusal<'e>>,
    limit: usize,
    seen: HashSet<(*const Value, *const Value)>,
}

impl Found<'_> {
    pub(super) fn up_to(limit: usize) -> Self {
        Found { refusals: Vec::new(), limit, seen: HashSet::new() }
    }
}

impl<'s, 'w> Judge<'s, 'w> {
    pub(super) fn new(compiled: &'s Compiled, schema: &'s Value, work: &'w Work) -> Self {
        Judge {
            compiled,
            rules: compiled.rules(schema),
            work,
            alone: HashMap::new(),
            one_by_one: 0,
            numbers: None,
            patterns: HashMap::new(),
            said: HashMap::new(),
            names: Vec::new(),
            levels: MAX_LEVELS,
        }
    }

    /// Whether a subschema takes a value.
    pub(super) fn takes(&mut self, schema: &'s Value, value: &Value) -> Option<bool> {
        self.begin();
        self.valid(schema, value)
    }

    /// What the subschema at the pointer `at` has against a value. Branches are
    /// asked what they have against it `nesting` deep.
    pub(super) fn refusals<'e>(
        &mut self,
        at: &str,
        value: &'e Value,
        nesting: usize,
        limit: usize,
    ) -> Option<Vec<Refusal<'e>>> {
        self.begin();
        let mut found = Found::up_to(limit);
        let schema = self.rules.root.pointer(at)?;
        self.refuse(schema, value, "", at, nesting, &mut found)?;
        Some(found.refusals)
    }

    /// Forgets what was said of values that may have changed since.
    fn begin(&mut self) {
        self.said.clear();
        self.names.clear();
        self.levels = MAX_LEVELS;
    }

    fn valid(&mut self, schema: &'s Value, value: &Value) -> Option<bool> {
        let Value::Object(keywords) = schema else {
            return self.spend(1).map(|()| schema != &Value::Bool(false));
        };
        self.enter(keywords, value)?;
        let valid = self.valid_by(keywords, value);
        self.levels += 1;
        valid
    }

    fn valid_by(&mut self, keywords: &'s Map<String, Value>, value: &Value) -> Option<bool> {
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            if !self.referenced(reference, value)?.0 {
                return Some(false);
            }
            if !self.rules.reads_beside_ref() {
                return Some(true);
            }
        }
        if self.alone(keywords)?.is_some_and(|alone| !alone.is_valid(value)) {
            return Some(false);
        }
        for part in array(keywords, "allOf") {
            if !self.valid(part, value)? {
                return Some(false);
            }
        }
        // One branch is enough for `anyOf`, a second one too many for `oneOf`.
        for (keyword, enough) in [("anyOf", 1), ("oneOf", 2)] {
            if keywords.contains_key(keyword) && self.fitting(array(keywords, keyword), value, enough)? != 1 {
                return Some(false);
            }
        }
        if let Some(part) = keywords.get("not")
            && self.valid(part, value)?
        {
            return Some(false);
        }
        if let Some((_, part)) = self.conditional(keywords, value)?
            && !self.valid(part, value)?
        {
            return Some(false);
        }
        let dependent: Vec<_> = self.rules.dependent(keywords, value).map(|(.., part)| part).collect();
        for part in dependent {
            if !self.valid(part, value)? {
                return Some(false);
            }
        }
        if self.wrong_name(keywords, value)?.is_some() || self.wrong_count(keywords, value)?.is_some() {
            return Some(false);
        }
        let mut valid = Some(true);
        let _ = self.members(keywords, value, &mut |judge, member| {
            valid = judge.valid(member.schema, member.value);
            if valid == Some(true) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        valid.filter(|_| !self.work.is_stopped())
    }

    /// What the subschema says that a reference means, and that subschema.
    fn referenced(&mut self, reference: &str, value: &Value) -> Option<(bool, String, &'s Value)> {
        let Some((at, target)) = self.rules.target(reference) else {
            self.work.stop();
            return None;
        };
        let key = (std::ptr::from_ref(target), std::ptr::from_ref(value));
        let valid = match self.said.get(&key) {
            // A circle says nothing about a value.
            Some(said) => said.unwrap_or(true),
            None => {
                self.said.insert(key, None);
                let valid = self.valid(target, value)?;
                self.said.insert(key, Some(valid));
                valid
            }
        };
        Some((valid, at, target))
    }

    /// How many branches take the value, counted up to `enough`.
    fn fitting(&mut self, branches: impl Iterator<Item = &'s Value>, value: &Value, enough: usize) -> Option<usize> {
        let mut fitting = 0;
        for branch in branches {
            fitting += usize::from(self.valid(branch, value)?);
            if fitting == enough {
                break;
            }
        }
        Some(fitting)
    }

    /// The one of `then` and `else` that applies.
    fn conditional(
        &mut self,
        keywords: &'s Map<String, Value>,
        value: &Value,
    ) -> Option<Option<(&'static str, &'s Value)>> {
        let Some(part) = keywords.get("if").filter(|_| self.rules.knows_if()) else { return Some(None) };
        let keyword = if self.valid(part, value)? { "then" } else { "else" };
        Some(keywords.get(keyword).map(|part| (keyword, part)))
    }

    /// The first key that `propertyNames` refuses.
    fn wrong_name<'k>(&mut self, keywords: &'s Map<String, Value>, value: &'k Value) -> Option<Option<&'k str>> {
        let part = keywords.get("propertyNames").filter(|_| self.rules.knows_contains());
        if let (Some(part), Value::Object(members)) = (part, value) {
            for key in members.keys() {
                let name = [Value::from(key.as_str())].into();
                let valid = self.valid_name(part, name);
                if !valid? {
                    return Some(Some(key));
                }
            }
        }
        Some(None)
    }

    fn valid_name(&mut self, schema: &'s Value, name: Box<[Value]>) -> Option<bool> {
        let valid = self.valid(schema, name.first()?);
        self.names.push(name);
        valid
    }

    /// What is wrong with the number of items that `contains` names.
    fn wrong_count(&mut self, keywords: &'s Map<String, Value>, value: &Value) -> Option<Option<Why<'static>>> {
        let part = keywords.get("contains").filter(|_| self.rules.knows_contains());
        let (Some(part), Value::Array(items)) = (part, value) else { return Some(None) };
        let bound = |key: &str| keywords.get(key).filter(|_| self.rules.is_modern()).and_then(Value::as_f64);
        let (least, most) = (bound("minContains").unwrap_or(1.0), bound("maxContains"));
        let mut count = 0.0;
        for item in items {
            count += f64::from(u8::from(self.valid(part, item)?));
        }
        Some(match most {
            _ if count < least => Some(Why::NoItem),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of items")]
            Some(most) if count > most => Some(Why::ManyItems(most as u64)),
            _ => None,
        })
    }

    fn members<'v>(
        &mut self,
        keywords: &'s Map<String, Value>,
        value: &'v Value,
        each: &mut dyn FnMut(&mut Self, Member<'s, 'v>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Both callbacks would borrow the judge: the patterns are matched first.
        let mut matched: HashMap<(&str, &str), bool> = HashMap::new();
        if let (Some(Value::Object(patterns)), Value::Object(members)) = (keywords.get("patternProperties"), value) {
            for (pattern, key) in patterns.keys().flat_map(|pattern| members.keys().map(move |key| (pattern, key))) {
                if self.spend(1).is_none() {
                    return ControlFlow::Break(());
                }
                let matches = self.matches(pattern, key);
                matched.insert((pattern, key), matches);
            }
        }
        let mut parts = Vec::new();
        let _ = self.rules.members(
            keywords,
            value,
            &mut |pattern, key| matched.get(&(pattern, key)).copied(),
            &mut |member| {
                parts.push(member);
                ControlFlow::Continue(())
            },
        );
        parts.into_iter().try_for_each(|member| each(self, member))
    }

    fn matches(&mut self, pattern: &'s str, key: &str) -> bool {
        let draft = self.rules.draft;
        let compiled =
            self.patterns.entry(pattern).or_insert_with(|| options(draft).build(&json!({"pattern": pattern})).ok());
        compiled.as_ref().is_some_and(|pattern| pattern.is_valid(&Value::from(key)))
    }

    /// The keywords of a schema that look at one value alone; `None` inside
    /// where there are none.
    fn alone(&mut self, keywords: &'s Map<String, Value>) -> Option<Option<&Validator>> {
        let key = std::ptr::from_ref(keywords);
        if !self.alone.contains_key(&key) {
            let alone = alone(keywords);
            let mut compiled = None;
            if !alone.is_empty() {
                compiled = match self.together(keywords)? {
                    Some(validator) => Some(Alone::Shared(validator)),
                    None => {
                        self.spend(COMPILING)?;
                        self.one_by_one += 1;
                        options(self.rules.draft).build(&Value::Object(alone)).ok().map(|own| Alone::Own(Box::new(own)))
                    }
                };
                if compiled.is_none() {
                    self.work.stop();
                    return None;
                }
            }
            self.alone.insert(key, compiled);
        }
        Some(self.alone[&key].as_ref().map(Alone::validator))
    }

    /// The keywords of a subschema that look at one value alone, of those that were compiled
    /// together: once many are asked. `None` inside where they are to be compiled by themselves.
    fn together(&mut self, keywords: &'s Map<String, Value>) -> Option<Option<&'s Validator>> {
        let compiled = self.compiled;
        if self.numbers.is_none() {
            if self.one_by_one < ONE_BY_ONE && !compiled.has_alone() {
                return Some(None);
            }
            let parts = self.rules.parts();
            if !compiled.has_alone() {
                self.spend(COMPILING_TOGETHER.saturating_mul(parts.len()))?;
            }
            compiled.alone(|| parts.iter().map(|part| Value::Object(alone(part))).collect());
            let numbers = parts.into_iter().enumerate().map(|(number, part)| (std::ptr::from_ref(part), number));
            self.numbers = Some(numbers.collect());
        }
        let number = self.numbers.as_ref().and_then(|numbers| numbers.get(&std::ptr::from_ref(keywords)));
        let map = compiled.alone(Vec::new);
        Some(number.zip(map).and_then(|(number, map)| map.get(&alone_at(*number))))
    }

    fn enter(&mut self, keywords: &Map<String, Value>, value: &Value) -> Option<()> {
        self.spend(1 + value.as_object().map_or_else(|| value.as_array().map_or(0, Vec::len), Map::len))?;
        if self.levels == 0 || self.rules.is_beyond(keywords) {
            self.work.stop();
            return None;
        }
        self.levels -= 1;
        Some(())
    }

    fn spend(&self, steps: usize) -> Option<()> {
        self.work.spend(steps).then_some(())
    }
}

/// The keywords that look at one value alone. The names of properties stay,
/// which `additionalProperties` looks at.
pub(super) fn alone(keywords: &Map<String, Value>) -> Map<String, Value> {
    let closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    let mut alone = Map::new();
    for (keyword, value) in keywords.iter().filter(|(keyword, _)| !JOINING.contains(&keyword.as_str())) {
        let value = match (keyword.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(parts)) if closed => {
                parts.keys().map(|name| (name.clone(), json!({}))).collect::<Map<_, _>>().into()
            }
            ("properties" | "patternProperties", _) => continue,
            ("additionalProperties", _) if !closed => continue,
            (_, value) => value.clone(),
        };
        alone.insert(keyword.clone(), value);
    }
    if let Some(Value::Object(parts)) = keywords.get("dependencies") {
        let keys: Map<_, _> =
            parts.iter().filter(|(_, part)| part.is_array()).map(|(k, v)| (k.clone(), v.clone())).collect();
        if !keys.is_empty() {
            alone.insert("dependencies".to_owned(), keys.into());
        }
    }
    alone
}
