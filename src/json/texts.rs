//! The keys and texts of a value.

use serde_json::Value;

/// Returns the value with `change` applied to each of its keys and texts.
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
