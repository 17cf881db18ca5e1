//! Fields in both of their spellings.

use serde_json::{Map, Value};

use crate::vendor::snake;

/// What a field says in either spelling, if it says something.
pub(super) fn take(object: &mut Map<String, Value>, field: &str) -> Option<Value> {
    let spellings = [object.shift_remove(field), object.shift_remove(&snake(field))];
    spellings.into_iter().flatten().find(|value| !value.is_null())
}

/// The same of a value that may be no object.
pub(super) fn part(value: &mut Value, field: &str) -> Option<Value> {
    take(value.as_object_mut()?, field)
}
