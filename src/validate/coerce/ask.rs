//! What the schema says of a value: by its validator, or part by part where that
//! would do too much work.

use jsonschema::Validator;
use serde_json::Value;

use super::fault::Fault;
use super::{MAX_FAULTS, Run, Spot};
use crate::validate::compile::unbroken;
use crate::validate::explain;
use crate::validate::parts::visits;
use crate::validate::refusal::Refusal;
use crate::validate::work::nodes;

/// Subschemas that the validator may hold against values when it is asked
/// once; its errors take some hundred bytes for each.
const MAX_VISITS: usize = 20_000;

/// The same, for each value that it is asked about.
const VISITS_PER_VALUE: usize = 8;

impl<'a> Run<'a> {
    /// The validator of the subschema at a pointer, if it can be asked about a value.
    fn validator(&mut self, at: &str, value: &Value) -> Option<&'a Validator> {
        if self.judged {
            return None;
        }
        let compiled = self.compiled;
        let validator = if at.is_empty() { Some(&compiled.validator) } else { compiled.branch(self.schema, at) };
        let limit = MAX_VISITS.saturating_add(VISITS_PER_VALUE.saturating_mul(nodes(value)));
        let subschema = self.schema.pointer(at);
        match subschema.and_then(|subschema| visits(&self.judge.rules, subschema, value, limit)) {
            Some(visits) if validator.is_some() => {
                self.work.spend(visits);
                validator
            }
            _ => {
                self.work.spend(limit);
                self.judged = true;
                None
            }
        }
    }

    fn broke(&mut self) {
        self.work.broke();
        self.judged = true;
    }

    /// Whether the subschema at a pointer takes a value; `None` where that is
    /// too much work.
    pub(super) fn takes(&mut self, at: &str, value: &Value) -> Option<bool> {
        if let Some(validator) = self.validator(at, value) {
            match unbroken(|| validator.is_valid(value)) {
                None => self.broke(),
                valid => return valid,
            }
        }
        self.judge.takes(self.schema.pointer(at)?, value)
    }

    /// What the subschema at a spot has against a value; `None` where that is
    /// too much work.
    pub(super) fn faults(&mut self, spot: Spot<'_>, value: &Value) -> Option<Vec<Fault>> {
        if let Some(validator) = self.validator(spot.at, value) {
            let fault = |error| Fault::of(&error, spot.at);
            match unbroken(|| validator.iter_errors(value).take(MAX_FAULTS).map(fault).collect()) {
                None => self.broke(),
                faults => return faults,
            }
        }
        let refusals = self.judge.refusals(spot.at, value, 0, MAX_FAULTS)?;
        Some(refusals.into_iter().map(Fault::of_refusal).collect())
    }

    /// What the whole schema has against a value, for an explanation.
    pub(super) fn refusals<'v>(&mut self, value: &'v Value) -> Option<Vec<Refusal<'v>>> {
        if let Some(validator) = self.validator("", value) {
            let refusal = |error| Refusal::of(error, value, "", "");
            match unbroken(|| validator.iter_errors(value).take(explain::MAX_READ).map(refusal).collect()) {
                None => self.broke(),
                refusals => return refusals,
            }
        }
        self.judge.refusals("", value, explain::MAX_NESTING, explain::MAX_READ)
    }
}
