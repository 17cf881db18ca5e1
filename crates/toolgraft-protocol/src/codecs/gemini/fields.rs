//! Reads fields in both of their spellings.

use serde_json::{Map, Value};

use crate::codecs::vendor::snake;

/// Removes a field in either spelling, such as `topP` or `top_p`, and returns its value if it is
/// not null.
pub(super) fn take(object: &mut Map<String, Value>, field: &str) -> Option<Value> {
    let spellings = [object.shift_remove(field), object.shift_remove(&snake(field))];
    spellings.into_iter().flatten().find(|value| !value.is_null())
}

/// Removes a field in either spelling from a JSON value, and returns its value; `None` if it is null or missing, or
/// if the JSON value is no object.
pub(super) fn part(value: &mut Value, field: &str) -> Option<Value> {
    take(value.as_object_mut()?, field)
}
