//! Limits the work of one check.

use std::cell::Cell;

use serde_json::Value;

use super::depth::references;

/// Steps that every check may take. A step is one evaluation of a subschema for a value, or one visit of a value during
/// coercion.
const STEPS: usize = 2_000_000;

/// Additional steps for each value of the arguments, and for each four bytes of text in them, which may contain values.
const STEPS_PER_VALUE: usize = 32;

/// Returns the limit on the steps of checking a value. Ordinary arguments take a few steps for each value; a check that
/// would exceed the limit is given up.
pub fn max_steps(value: &Value) -> usize {
    STEPS.saturating_add(STEPS_PER_VALUE.saturating_mul(size(value)))
}

/// Returns the number of values in a value, including itself.
pub(super) fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Number of nodes of a schema above which a check may take long.
const LONG: usize = 500;

/// Returns `true` if checking a value against this schema may take long: it is large, or its parts refer to each other.
pub fn takes_long(schema: &Value) -> bool {
    nodes(schema) > LONG || !references(schema).is_empty()
}

fn size(value: &Value) -> usize {
    nodes(value) + text(value) / 4
}

fn text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text).sum(),
        Value::Object(members) => members.values().map(text).sum(),
        _ => 0,
    }
}

/// The steps of one check.
#[derive(Debug)]
pub(super) struct Work {
    limit: usize,
    done: Cell<usize>,
    /// The limit was reached, so the check is incomplete.
    stopped: Cell<bool>,
    /// The validator has panicked.
    broken: Cell<bool>,
    /// The validator has answered at least once.
    answered: Cell<bool>,
}

impl Work {
    pub(super) fn on(value: &Value) -> Self {
        Work {
            limit: max_steps(value),
            done: Cell::new(0),
            stopped: Cell::new(false),
            broken: Cell::new(false),
            answered: Cell::new(false),
        }
    }

    /// Counts more steps. Returns `false` if the check has been stopped or the limit would be exceeded.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let done = self.done.get().saturating_add(steps);
        if self.stopped.get() || done > self.limit {
            self.stop();
            return false;
        }
        self.done.set(done);
        true
    }

    /// Stops the check: no further question can be answered.
    pub(super) fn stop(&self) {
        self.stopped.set(true);
    }

    /// Stops the check because the validator panicked on this schema.
    pub(super) fn broke(&self) {
        self.broken.set(true);
        self.stop();
    }

    /// Records that the validator has judged the value, or another reading of it.
    pub(super) fn answer(&self) {
        self.answered.set(true);
    }

    /// Returns `true` if the value could not be checked because the first question was too much work.
    pub(super) fn is_unchecked(&self) -> bool {
        self.stopped.get() && !self.broken.get() && !self.answered.get()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    pub(super) fn done(&self) -> usize {
        self.done.get()
    }

    /// Returns the message to the model about an incomplete check.
    pub(super) fn message(&self) -> String {
        if self.broken.get() {
            return "this cannot be checked: the validator itself fails over the schema".to_owned();
        }
        format!(
            "checking this against the schema takes more work than is allowed ({} steps); \
             write it with less nesting or fewer values",
            self.limit
        )
    }
}
