//! Asks the validator about a value, within limits on its work.

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::fault::SchemaFault;
use super::{Coercion, MAX_FAULTS, ValuePosition};
use crate::validate::compile::unbroken;
use crate::validate::explain;
use crate::validate::work::nodes;

/// Limit on the subschemas that the validator may evaluate for one question; its errors take some hundred bytes for
/// each.
const MAX_VISITS: usize = 200_000;

/// Number of subschemas that the validator may evaluate in addition, for each node of the value.
const VISITS_PER_VALUE: usize = 8;

impl<'a> Coercion<'a> {
    /// Returns the answer of the subschema's validator about a value; `None` if there is no validator, if the answer is
    /// too much work, or if the validator panics.
    fn ask<T>(&self, at: &str, value: &Value, question: impl FnOnce(&'a Validator) -> T) -> Option<T> {
        if self.work.stopped.get() {
            return None;
        }
        let compiled = self.compiled;
        let validator = if at.is_empty() { &compiled.validator } else { compiled.branch(at)? };
        let limit = MAX_VISITS.saturating_add(VISITS_PER_VALUE.saturating_mul(nodes(value)));
        let visits = compiled.visits(compiled.schema.pointer(at)?, value, limit);
        // Too many visits stop the check for good.
        if !self.work.spend(visits.unwrap_or(usize::MAX)) {
            return None;
        }
        let said = unbroken(|| question(validator));
        match said {
            // From here on the value is refused rather than accepted unchecked.
            Some(_) => self.work.answered.set(true),
            None => self.work.broke(),
        }
        said
    }

    /// Returns `true` if the subschema at a JSON Pointer accepts a value; `None` if its validator cannot answer.
    pub(super) fn takes(&self, at: &str, value: &Value) -> Option<bool> {
        self.ask(at, value, |validator| validator.is_valid(value))
    }

    /// Returns the validation errors of a value for its subschema; `None` if the validator cannot answer.
    pub(super) fn faults(&self, spot: ValuePosition<'_>, value: &Value) -> Option<Vec<SchemaFault>> {
        let fault = |error| SchemaFault::of(error, spot.at);
        self.ask(spot.at, value, |validator| validator.iter_errors(value).take(MAX_FAULTS).map(fault).collect())
    }

    /// Returns the validation errors of a value for the whole schema, limited to those that an explanation reads.
    pub(super) fn refusals<'v>(&self, value: &'v Value) -> Option<Vec<ValidationError<'v>>>
    where
        'a: 'v,
    {
        self.ask("", value, |validator| validator.iter_errors(value).take(explain::MAX_READ).collect())
    }
}
