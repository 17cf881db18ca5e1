//! When a value that was read is the one that was expected.

use serde_json::Value;

/// Whether two values are the same, numbers by what they amount to.
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
