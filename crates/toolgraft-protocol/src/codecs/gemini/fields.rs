//! Reads fields in both of their spellings.

use serde_json::{Map, Value};

use crate::codecs::vendor::snake;

/// Removes a field in either spelling, such as `topP` or `top_p`, and returns its value if it is
/// not null.
pub(super) fn take(object: &mut Map<String, Value>, field: &str) -> Option<Value> {
    let spellings = [object.shift_remove(field), object.shift_remove(&snake(field))];
    spellings.into_iter().flatten().find(|value| !value.is_null())
}

/// Does the same for a value, which may not be an object.
pub(super) fn part(value: &mut Value, field: &str) -> Option<Value> {
    take(value.as_object_mut()?, field)
}
