//! How much work one check may do.

use std::cell::Cell;

use serde_json::Value;

use super::depth::references;

/// Steps that every check may take. A step is one subschema held against one
/// value, or one value looked at while it is coerced.
const STEPS: usize = 2_000_000;

/// Further steps for each value of the arguments, and for each four bytes of
/// text in them, which may hold values.
const STEPS_PER_VALUE: usize = 32;

/// Steps that checking a value may take. Ordinary arguments take a few steps for
/// each value; a check that would take more than this is given up.
pub fn max_steps(value: &Value) -> usize {
    STEPS.saturating_add(STEPS_PER_VALUE.saturating_mul(size(value)))
}

/// Values in a value, itself included.
pub(super) fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Parts of a schema from which on checking a call by it may take long.
const LONG: usize = 500;

/// Whether checking a value by this schema may take long: it is large, or its parts refer to
/// each other.
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
    /// Something was left undone.
    stopped: Cell<bool>,
    /// The validator has failed.
    broken: Cell<bool>,
    /// The validator has said something.
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

    /// Whether so many more steps may be taken; they then count as taken.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let done = self.done.get().saturating_add(steps);
        if self.stopped.get() || done > self.limit {
            self.stop();
            return false;
        }
        self.done.set(done);
        true
    }

    /// Nothing more is done: what is asked next cannot be answered.
    pub(super) fn stop(&self) {
        self.stopped.set(true);
    }

    /// The validator is asked no more: it has failed over this schema.
    pub(super) fn broke(&self) {
        self.broken.set(true);
        self.stop();
    }

    /// The validator has said something of the value, or of another reading of it.
    pub(super) fn answer(&self) {
        self.answered.set(true);
    }

    /// Returns `true` if the value could not be checked, since the first question was too much work.
    pub(super) fn is_unchecked(&self) -> bool {
        self.stopped.get() && !self.broken.get() && !self.answered.get()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    pub(super) fn done(&self) -> usize {
        self.done.get()
    }

    /// What the model reads where the work was not done.
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
