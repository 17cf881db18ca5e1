//! Comparison of a parsed value with the expected one.

use serde_json::Value;

/// Returns `true` if two JSON values are equal; numbers are compared by value, so 1 equals 1.0.
pub fn same_value(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(e), Value::Object(g)) => {
            e.len() == g.len() && e.iter().all(|(key, e)| g.get(key).is_some_and(|g| same_value(e, g)))
        }
        (Value::Array(e), Value::Array(g)) => e.len() == g.len() && e.iter().zip(g).all(|(e, g)| same_value(e, g)),
        (Value::Number(e), Value::Number(g)) => e == g || e.as_f64() == g.as_f64(),
        (e, g) => e == g,
    }
}
