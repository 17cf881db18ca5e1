//! Limits the work of one check.

use std::cell::Cell;

use serde_json::Value;

use super::references::references;

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

/// Returns the number of JSON values in a value, including itself.
pub(super) fn nodes(value: &Value) -> usize {
    sum(value, &|_| 1)
}

/// Returns the sum of a measure over a value and all values in it.
pub(super) fn sum(value: &Value, of: &impl Fn(&Value) -> usize) -> usize {
    let inner: usize = match value {
        Value::Array(items) => items.iter().map(|item| sum(item, of)).sum(),
        Value::Object(members) => members.values().map(|member| sum(member, of)).sum(),
        _ => 0,
    };
    of(value) + inner
}

/// Number of nodes of a schema above which a check may take long.
const LONG: usize = 500;

/// Returns `true` if checking a value against this schema may take long: it is large, or its parts refer to each other.
pub fn takes_long(schema: &Value) -> bool {
    nodes(schema) > LONG || !references(schema).is_empty()
}

fn size(value: &Value) -> usize {
    nodes(value) + sum(value, &|value| value.as_str().map_or(0, str::len)) / 4
}

/// Counter of the steps of one check, with its limit.
#[derive(Debug, Default)]
pub(super) struct Work {
    limit: usize,
    done: Cell<usize>,
    /// `true` if the limit was reached or the validator panicked, so the check is incomplete.
    pub(super) stopped: Cell<bool>,
    /// `true` if the validator has panicked.
    broken: Cell<bool>,
    /// `true` if the validator has judged the value, or another reading of it.
    pub(super) answered: Cell<bool>,
}

impl Work {
    pub(super) fn on(value: &Value) -> Self {
        Work { limit: max_steps(value), ..Work::default() }
    }

    /// Counts more steps. Returns `false` if the check has been stopped or the limit would be exceeded.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let done = self.done.get().saturating_add(steps);
        // A stopped check stays stopped, or a later small question would be answered after an incomplete one.
        if self.stopped.get() || done > self.limit {
            self.stopped.set(true);
            return false;
        }
        self.done.set(done);
        true
    }

    /// Stops the check because the validator panicked on this schema.
    pub(super) fn broke(&self) {
        self.broken.set(true);
        self.stopped.set(true);
    }

    /// Returns `true` if the value was not checked at all, because its first evaluation would have exceeded the limit.
    pub(super) fn is_unchecked(&self) -> bool {
        self.stopped.get() && !self.broken.get() && !self.answered.get()
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
