//! The subschemas of a schema, and the values that each is held against.
//!
//! The validator that checks calls does not say how much it will do, and where
//! references share a subschema it may do it again and again: each level of a
//! recursive `anyOf` doubles the work. What is read here lets the work be
//! counted before it is done ([`visits`]), and be done once where it is too
//! much (`judge`).

use std::cell::OnceCell;
use std::ops::ControlFlow;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::work::nodes;
use crate::tools::schema::{subschemas, unescaped};

/// Schemas inside schemas that are followed for one value, references included:
/// as deep as the deepest JSON goes through several of them each level, and the
/// stack allows it.
pub(super) const MAX_LEVELS: usize = 800;

/// What a reference to a schema of JSON Schema itself may cost for each value.
const FOREIGN: usize = 200;

/// A schema as its draft reads it.
#[derive(Debug)]
pub(super) struct Rules<'s> {
    pub(super) root: &'s Value,
    pub(super) draft: Draft,
    /// No reference of the schema is more than a pointer from its root.
    plain: bool,
    /// Subschemas that have a name or are documents of their own.
    named: OnceCell<Vec<&'s Value>>,
}

/// Where a subschema stands in its schema, or a value in the one around it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A subschema for a member or an item.
pub(super) struct Member<'s, 'v> {
    pub(super) schema: &'s Value,
    pub(super) value: &'v Value,
    /// Place of the value.
    pub(super) step: Step<'v>,
    /// Place of the subschema: a keyword, and what stands below it.
    pub(super) keyword: &'static str,
    pub(super) name: Option<Step<'s>>,
}

type Flow = ControlFlow<()>;

impl<'s> Rules<'s> {
    pub(super) fn new(root: &'s Value, draft: Draft, plain: bool) -> Self {
        Rules { root, draft, plain, named: OnceCell::new() }
    }

    /// Whether a schema is more than pointers, keywords and values: what it says
    /// then depends on the way by which it was reached, or on what other
    /// keywords left over.
    pub(super) fn is_beyond(&self, schema: &Map<String, Value>) -> bool {
        const BEYOND: &[&str] = &["$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems"];
        BEYOND.iter().any(|key| schema.contains_key(*key))
    }

    /// The subschema that a reference means, with its pointer; `None` where that
    /// takes more than following a pointer.
    pub(super) fn target(&self, reference: &str) -> Option<(String, &'s Value)> {
        let pointer = unescaped(reference.strip_prefix('#')?);
        self.plain.then(|| Some((pointer.clone().into_owned(), self.root.pointer(&pointer)?)))?
    }

    /// All subschemas that keywords hold, in one order.
    pub(super) fn parts(&self) -> Vec<&'s Map<String, Value>> {
        let (mut parts, mut waiting) = (Vec::new(), vec![self.root]);
        while let Some(schema) = waiting.pop() {
            let Some(keywords) = schema.as_object() else { continue };
            parts.push(keywords);
            waiting.extend(subschemas(keywords));
        }
        parts
    }

    /// Whether keywords beside `$ref` count.
    pub(super) fn reads_beside_ref(&self) -> bool {
        self.is_modern()
    }

    pub(super) fn is_modern(&self) -> bool {
        matches!(self.draft, Draft::Draft201909 | Draft::Draft202012)
    }

    /// Whether the draft knows `contains` and `propertyNames`.
    pub(super) fn knows_contains(&self) -> bool {
        self.draft != Draft::Draft4
    }

    /// Whether the draft knows `if`.
    pub(super) fn knows_if(&self) -> bool {
        self.is_modern() || self.draft == Draft::Draft7
    }

    /// The schemas that apply because a member is there.
    pub(super) fn dependent(
        &self,
        schema: &'s Map<String, Value>,
        value: &Value,
    ) -> impl Iterator<Item = (&'static str, &'s str, &'s Value)> {
        let there = |name: &str| value.get(name).is_some();
        let keywords: &[&'static str] =
            if self.is_modern() { &["dependentSchemas", "dependencies"] } else { &["dependencies"] };
        let found: Vec<_> = match value {
            Value::Object(_) => keywords
                .iter()
                .flat_map(|keyword| object(schema, keyword).map(move |(name, part)| (*keyword, name.as_str(), part)))
                .filter(|(_, name, part)| !part.is_array() && there(name))
                .collect(),
            _ => Vec::new(),
        };
        found.into_iter()
    }

    /// The subschemas for a value's members or items. `matches` says whether a
    /// pattern matches a key; where it does not know, what may apply is named.
    pub(super) fn members<'v>(
        &self,
        schema: &'s Map<String, Value>,
        value: &'v Value,
        matches: &mut dyn FnMut(&'s str, &str) -> Option<bool>,
        each: &mut dyn FnMut(Member<'s, 'v>) -> Flow,
    ) -> Flow {
        match value {
            Value::Object(members) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let patterns = schema.get("patternProperties").and_then(Value::as_object);
                let rest = schema.get("additionalProperties").filter(|rest| !rest.is_boolean());
                if properties.is_none() && patterns.is_none() && rest.is_none() {
                    return Flow::Continue(());
                }
                for (key, value) in members {
                    let step = Step::Key(key);
                    let declared = properties.and_then(|all| all.get_key_value(key.as_str()));
                    if let Some((name, schema)) = declared {
                        let name = Some(Step::Key(name));
                        each(Member { schema, value, step, keyword: "properties", name })?;
                    }
                    let mut is_rest = declared.is_none();
                    for (pattern, schema) in patterns.into_iter().flatten() {
                        let matched = matches(pattern, key);
                        if matched != Some(false) {
                            let name = Some(Step::Key(pattern));
                            each(Member { schema, value, step, keyword: "patternProperties", name })?;
                        }
                        is_rest &= matched != Some(true);
                    }
                    if let (Some(schema), true) = (rest, is_rest) {
                        each(Member { schema, value, step, keyword: "additionalProperties", name: None })?;
                    }
                }
            }
            Value::Array(items) => {
                let (first, rest) = match self.draft {
                    Draft::Draft202012 => ("prefixItems", "items"),
                    _ => ("items", "additionalItems"),
                };
                let positional = schema.get(first).and_then(Value::as_array);
                let rest = match (positional, schema.get("items")) {
                    // `items` for all of them; `additionalItems` says nothing then.
                    (None, Some(all)) => Some(("items", all)),
                    (None, None) => None,
                    (Some(_), _) => schema.get(rest).map(|schema| (rest, schema)),
                };
                if positional.is_none() && rest.is_none() {
                    return Flow::Continue(());
                }
                for (index, value) in items.iter().enumerate() {
                    let step = Step::Index(index);
                    match (positional.and_then(|all| all.get(index)), rest) {
                        (Some(schema), _) => {
                            each(Member { schema, value, step, keyword: first, name: Some(Step::Index(index)) })?
                        }
                        (None, Some((keyword, schema))) => each(Member { schema, value, step, keyword, name: None })?,
                        (None, None) => break,
                    }
                }
            }
            _ => {}
        }
        Flow::Continue(())
    }

    /// Everything that a reference may mean; `None` for what is no part of the schema.
    fn candidates(&self, reference: &str) -> Option<Vec<&'s Value>> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if self.plain && document.is_empty() {
            return Some(self.root.pointer(&unescaped(fragment)).into_iter().collect());
        }
        let named = self.named.get_or_init(|| {
            let mut named = Vec::new();
            find_named(self.root, &mut named);
            // Two bases that are one would count as two ways.
            if !named.iter().any(|schema| std::ptr::eq(*schema, self.root)) {
                named.push(self.root);
            }
            named
        });
        let fragment = unescaped(fragment);
        let found: Vec<&Value> = match fragment.is_empty() || fragment.starts_with('/') {
            true => named.iter().filter_map(|base| base.pointer(&fragment)).collect(),
            false => {
                let is_name = |schema: &&&Value| {
                    ["$anchor", "$dynamicAnchor", "$id", "id"]
                        .iter()
                        .filter_map(|key| schema.get(*key)?.as_str())
                        .any(|name| name.trim_start_matches('#') == fragment)
                };
                named.iter().filter(is_name).copied().collect()
            }
        };
        (!found.is_empty()).then_some(found)
    }

    /// All subschemas, each with a value that it may be held against.
    fn each(
        &self,
        schema: &'s Map<String, Value>,
        value: &Value,
        each: &mut dyn FnMut(Option<&'s Value>, &Value) -> Flow,
    ) -> Flow {
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = schema.get(key).and_then(Value::as_str) else { continue };
            match self.candidates(reference) {
                Some(found) => found.into_iter().try_for_each(|target| each(Some(target), value))?,
                None => each(None, value)?,
            }
            if key == "$ref" && !self.reads_beside_ref() {
                return Flow::Continue(());
            }
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            array(schema, key).try_for_each(|part| each(Some(part), value))?;
        }
        for key in ["not", "if", "then", "else"] {
            schema.get(key).map_or(Flow::Continue(()), |part| each(Some(part), value))?;
        }
        self.dependent(schema, value).try_for_each(|(.., part)| each(Some(part), value))?;
        if let (Some(part), Value::Object(members)) = (schema.get("propertyNames"), value) {
            members.keys().try_for_each(|key| each(Some(part), &Value::from(key.as_str())))?;
        }
        for key in ["contains", "unevaluatedProperties", "unevaluatedItems"] {
            if let Some(part) = schema.get(key) {
                inner(value).try_for_each(|value| each(Some(part), value))?;
            }
        }
        self.members(schema, value, &mut |_, _| None, &mut |member| each(Some(member.schema), member.value))
    }
}

/// How often some subschema is held against some value where all are, or `None`
/// where it is more often than `limit`, deeper than [`MAX_LEVELS`], or where
/// references lead from a subschema and a value back to both: the validator
/// passes such a circle as often as it has ways into it, at each level again.
pub(super) fn visits<'s>(rules: &Rules<'s>, schema: &'s Value, value: &Value, limit: usize) -> Option<usize> {
    let mut visits = Visits { rules, left: limit, chain: Vec::new(), levels: MAX_LEVELS };
    visits.count(schema, value).is_continue().then(|| limit - visits.left)
}

struct Visits<'r, 's> {
    rules: &'r Rules<'s>,
    left: usize,
    /// References that are being followed, each with its value.
    chain: Vec<(*const Value, *const Value)>,
    levels: usize,
}

impl<'s> Visits<'_, 's> {
    fn count(&mut self, schema: &'s Value, value: &Value) -> Flow {
        self.spend(1)?;
        let Value::Object(keywords) = schema else { return Flow::Continue(()) };
        let refers = ["$ref", "$dynamicRef", "$recursiveRef"].iter().any(|key| keywords.contains_key(*key));
        let at = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if self.levels == 0 || (refers && self.chain.contains(&at)) {
            return Flow::Break(());
        }
        self.levels -= 1;
        if refers {
            self.chain.push(at);
        }
        let rules = self.rules;
        // What was left over is found by holding the parts against the value again.
        let again = keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems");
        for _ in 0..if again { 4 } else { 1 } {
            rules.each(keywords, value, &mut |schema, value| match schema {
                Some(schema) => self.count(schema, value),
                None => self.spend(FOREIGN.saturating_mul(nodes(value))),
            })?;
        }
        if refers {
            self.chain.pop();
        }
        self.levels += 1;
        Flow::Continue(())
    }

    fn spend(&mut self, steps: usize) -> Flow {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Flow::Continue(())
            }
            None => Flow::Break(()),
        }
    }
}

/// Whether every reference of a schema is a pointer from its root.
pub(super) fn is_plain(root: &Value) -> bool {
    let mut named = Vec::new();
    find_named(root, &mut named);
    named.iter().all(|schema| std::ptr::eq(*schema, root) && schema.get("$anchor").is_none())
}

/// Adds the subschemas that have a name or are documents of their own, and what
/// looks like one.
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

/// Members or items of a value.
fn inner(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}

pub(super) fn array<'s>(schema: &'s Map<String, Value>, key: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn object<'s>(schema: &'s Map<String, Value>, key: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}
