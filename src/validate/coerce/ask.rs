//! Asks the validator about a value, within limits on its work.

use jsonschema::Validator;
use serde_json::Value;

use super::fault::SchemaFault;
use super::{Coercion, MAX_FAULTS, ValuePosition};
use crate::validate::compile::unbroken;
use crate::validate::explain;
use crate::validate::refusal::Refusal;
use crate::validate::work::nodes;

/// Limit on the subschemas that the validator may evaluate for one question; its errors take some hundred bytes for
/// each.
const MAX_VISITS: usize = 200_000;

/// As [`MAX_VISITS`], for each node of the value.
const VISITS_PER_VALUE: usize = 8;

impl<'a> Coercion<'a> {
    /// Returns the validator of the subschema at a pointer, unless there is none or the question would be too much
    /// work.
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

    /// Asks the validator of the subschema at a pointer about a value; `None` if that is too much work, or if the
    /// validator panics.
    fn ask<T>(&self, at: &str, value: &Value, question: impl FnOnce(&'a Validator) -> T) -> Option<T> {
        let validator = self.validator(at, value)?;
        let said = unbroken(|| question(validator));
        match said {
            Some(_) => self.work.answer(),
            None => self.work.broke(),
        }
        said
    }

    /// Returns `true` if the subschema at a pointer accepts a value; `None` if it cannot be asked.
    pub(super) fn takes(&self, at: &str, value: &Value) -> Option<bool> {
        self.ask(at, value, |validator| validator.is_valid(value))
    }

    /// Returns the faults of a value for its subschema.
    pub(super) fn faults(&self, spot: ValuePosition<'_>, value: &Value) -> Option<Vec<SchemaFault>> {
        let fault = |error| SchemaFault::of(&error, spot.at);
        self.ask(spot.at, value, |validator| validator.iter_errors(value).take(MAX_FAULTS).map(fault).collect())
    }

    /// Returns all errors of a value for the whole schema, for an explanation.
    pub(super) fn refusals<'v>(&self, value: &'v Value) -> Option<Vec<Refusal<'v>>> {
        let refusal = |error| Refusal::of(error, value);
        self.ask("", value, |validator| validator.iter_errors(value).take(explain::MAX_READ).map(refusal).collect())
    }
}
