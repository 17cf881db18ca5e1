//! What the schema says of a value, where its validator may be asked.

use jsonschema::Validator;
use serde_json::Value;

use super::fault::Fault;
use super::{MAX_FAULTS, Run, Spot};
use crate::validate::compile::unbroken;
use crate::validate::explain;
use crate::validate::refusal::Refusal;
use crate::validate::work::nodes;

/// Subschemas that the validator may hold against values when it is asked once; its errors take
/// some hundred bytes for each.
const MAX_VISITS: usize = 200_000;

/// The same, for each value that it is asked about.
const VISITS_PER_VALUE: usize = 8;

impl<'a> Run<'a> {
    /// The validator of the subschema at a pointer, if there is one and it can be asked about a value.
    fn validator(&self, at: &str, value: &Value) -> Option<&'a Validator> {
        if self.work.is_stopped() {
            return None;
        }
        let compiled = self.compiled;
        let validator = if at.is_empty() { &compiled.validator } else { compiled.branch(self.schema, at)? };
        let limit = MAX_VISITS.saturating_add(VISITS_PER_VALUE.saturating_mul(nodes(value)));
        let part = self.schema.pointer(at)?;
        match compiled.visits(self.schema, part, value, limit) {
            Some(visits) => self.work.spend(visits).then_some(validator),
            None => {
                self.work.stop();
                None
            }
        }
    }

    /// What the validator of the subschema at a pointer says of a value; `None` where that is too
    /// much work, or it fails over the schema.
    fn ask<T>(&self, at: &str, value: &Value, question: impl FnOnce(&'a Validator) -> T) -> Option<T> {
        let validator = self.validator(at, value)?;
        let said = unbroken(|| question(validator));
        match said {
            Some(_) => self.work.answer(),
            None => self.work.broke(),
        }
        said
    }

    /// Whether the subschema at a pointer takes a value.
    pub(super) fn takes(&self, at: &str, value: &Value) -> Option<bool> {
        self.ask(at, value, |validator| validator.is_valid(value))
    }

    /// What the subschema at a spot has against a value.
    pub(super) fn faults(&self, spot: Spot<'_>, value: &Value) -> Option<Vec<Fault>> {
        let fault = |error| Fault::of(&error, spot.at);
        self.ask(spot.at, value, |validator| validator.iter_errors(value).take(MAX_FAULTS).map(fault).collect())
    }

    /// What the whole schema has against a value, for an explanation.
    pub(super) fn refusals<'v>(&self, value: &'v Value) -> Option<Vec<Refusal<'v>>> {
        let refusal = |error| Refusal::of(error, value, "", "");
        self.ask("", value, |validator| validator.iter_errors(value).take(explain::MAX_READ).map(refusal).collect())
    }
}
