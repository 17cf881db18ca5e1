//! The keys and texts of a value.

use serde_json::Value;

/// Returns the value with each key and text put through `change`.
pub(crate) fn map_texts(value: Value, change: &mut impl FnMut(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.into_iter().map(|item| map_texts(item, change)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, value)| (change(key), map_texts(value, change))).collect()
        }
        other => other,
    }
}
