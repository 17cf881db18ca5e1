//! Fields in both of their spellings.

use serde_json::{Map, Value};

/// What a field says in either spelling, if it says something.
pub(super) fn take(object: &mut Map<String, Value>, field: &str) -> Option<Value> {
    let spellings = [object.shift_remove(field), object.shift_remove(&snake(field))];
    spellings.into_iter().flatten().find(|value| !value.is_null())
}

/// The same of a value that may be no object.
pub(super) fn part(value: &mut Value, field: &str) -> Option<Value> {
    take(value.as_object_mut()?, field)
}

/// `maxOutputTokens` as `max_output_tokens`.
pub(super) fn snake(field: &str) -> String {
    let mut snake = String::with_capacity(field.len() + 4);
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
