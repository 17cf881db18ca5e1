//! What a schema has against a value, found part by part.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::{Found, Judge};
use crate::validate::parts::{Step, array};
use crate::validate::refusal::{Refusal, Why};

impl<'s> Judge<'s, '_> {
    /// Adds what a subschema has against a value.
    pub(super) fn refuse<'e>(
        &mut self,
        schema: &'s Value,
        value: &'e Value,
        place: &str,
        at: &str,
        nesting: usize,
        found: &mut Found<'e>,
    ) -> Option<()> {
        let new = found.seen.insert((std::ptr::from_ref(schema), std::ptr::from_ref(value)));
        if !new || found.refusals.len() >= found.limit || self.valid(schema, value)? {
            return Some(());
        }
        let Value::Object(keywords) = schema else {
            found.refusals.push(Refusal::new(place, at.to_owned(), Cow::Borrowed(value), Why::Never));
            return Some(());
        };
        self.enter(keywords, value)?;
        let refused = self.refuse_by(keywords, value, place, at, nesting, found);
        self.levels += 1;
        refused
    }

    fn refuse_by<'e>(
        &mut self,
        keywords: &'s Map<String, Value>,
        value: &'e Value,
        place: &str,
        at: &str,
        nesting: usize,
        found: &mut Found<'e>,
    ) -> Option<()> {
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let (_, target, schema) = self.referenced(reference, value)?;
            self.refuse(schema, value, place, &target, nesting, found)?;
            if !self.rules.reads_beside_ref() {
                return Some(());
            }
        }
        if let Some(alone) = self.alone(keywords)? {
            let errors = alone.iter_errors(value).take(found.limit);
            found.refusals.extend(errors.map(|error| Refusal::of(error, value, place, at)));
        }
        for (index, part) in array(keywords, "allOf").enumerate() {
            self.refuse(part, value, place, &format!("{at}/allOf/{index}"), nesting, found)?;
        }
        let said = |keyword: &str, why| Refusal::new(place, format!("{at}/{keyword}"), Cow::Borrowed(value), why);
        for (keyword, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            if !keywords.contains_key(keyword) {
                continue;
            }
            match self.fitting(array(keywords, keyword), value, 2)? {
                0 => {
                    let branches = self.branches(keywords, keyword, value, place, at, nesting, found.limit)?;
                    let count = array(keywords, keyword).count();
                    found.refusals.push(said(keyword, Why::NoBranch(count, branches)));
                }
                fitting if fitting > most => found.refusals.push(said(keyword, Why::Several)),
                _ => {}
            }
        }
        if let Some(part) = keywords.get("not")
            && self.valid(part, value)?
        {
            found.refusals.push(said("not", Why::Excluded));
        }
        if let Some((keyword, part)) = self.conditional(keywords, value)? {
            self.refuse(part, value, place, &format!("{at}/{keyword}"), nesting, found)?;
        }
        let dependent: Vec<_> = self.rules.dependent(keywords, value).collect();
        for (keyword, name, part) in dependent {
            self.refuse(part, value, place, &below(at, keyword, Some(Step::Key(name))), nesting, found)?;
        }
        if let (Some(key), Some(part)) = (self.wrong_name(keywords, value)?, keywords.get("propertyNames")) {
            let name: Box<[Value]> = [Value::from(key)].into();
            let mut inner = Found::up_to(1);
            self.refuse(part, name.first()?, place, &format!("{at}/propertyNames"), 0, &mut inner)?;
            let inner = inner.refusals.into_iter().next().map(Refusal::into_owned);
            self.names.push(name);
            found.refusals.extend(inner.map(|inner| said("propertyNames", Why::Name(Box::new(inner)))));
        }
        if let Some(why) = self.wrong_count(keywords, value)? {
            found.refusals.push(said("contains", why));
        }
        let mut refused = Some(());
        let _ = self.members(keywords, value, &mut |judge, member| {
            let here = joined(place, member.step);
            let at = below(at, member.keyword, member.name);
            refused = judge.refuse(member.schema, member.value, &here, &at, nesting, found);
            if refused.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        refused.filter(|()| !self.work.is_stopped())
    }

    /// What each branch has against a value.
    #[expect(clippy::too_many_arguments, reason = "the surroundings of one value")]
    fn branches<'e>(
        &mut self,
        keywords: &'s Map<String, Value>,
        keyword: &str,
        value: &'e Value,
        place: &str,
        at: &str,
        nesting: usize,
        limit: usize,
    ) -> Option<Vec<Vec<Refusal<'e>>>> {
        let Some(nesting) = nesting.checked_sub(1) else { return Some(Vec::new()) };
        let mut branches = Vec::new();
        for (index, part) in array(keywords, keyword).enumerate() {
            let mut found = Found::up_to(limit);
            self.refuse(part, value, place, &format!("{at}/{keyword}/{index}"), nesting, &mut found)?;
            branches.push(found.refusals);
        }
        Some(branches)
    }
}

fn below(at: &str, keyword: &str, name: Option<Step<'_>>) -> String {
    let at = format!("{at}/{keyword}");
    name.map_or(at.clone(), |name| joined(&at, name))
}

/// A pointer one step further.
fn joined(pointer: &str, step: Step<'_>) -> String {
    match step {
        Step::Key(key) => format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Index(index) => format!("{pointer}/{index}"),
    }
}
