//! Finds the JSON objects in results.

use serde_json::{Map, Value};

use crate::parse::find_values;

/// Limit on the nesting that is searched.
const MAX_DEPTH: usize = 16;

/// Returns the JSON values in a text.
pub(super) fn values_in(text: &str) -> impl Iterator<Item = Value> {
    find_values(text).values.into_iter().map(|found| found.value)
}

/// Returns the objects in a value, each before those inside it.
pub(super) fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    add(value, MAX_DEPTH, &mut found);
    found
}

fn add<'v>(value: &'v Value, depth: usize, found: &mut Vec<&'v Map<String, Value>>) {
    match value {
        Value::Array(items) if depth > 0 => items.iter().for_each(|item| add(item, depth - 1, found)),
        Value::Object(members) if depth > 0 => {
            found.push(members);
            members.values().for_each(|value| add(value, depth - 1, found));
        }
        _ => {}
    }
}
