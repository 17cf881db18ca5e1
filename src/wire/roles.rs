//! Messages of Chat Completions, put together.

use serde_json::{Value, json};

/// Puts the system text that comes first in front of the first user message, for a model that
/// knows no such role; whether there was one.
pub fn system_to_user(messages: &mut Vec<Value>) -> bool {
    if messages.first().is_none_or(|first| first["role"] != "system") {
        return false;
    }
    let system = messages.remove(0)["content"].take();
    match messages.first_mut().filter(|first| first["role"] == "user") {
        Some(first) => first["content"] = join(system, first["content"].take()),
        None => messages.insert(0, json!({"role": "user", "content": system})),
    }
    true
}

/// Two contents as one: texts with a blank line between, or a list of parts.
pub fn join(one: Value, two: Value) -> Value {
    let parts = |content: Value| match content {
        Value::Array(parts) => parts,
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Null => Vec::new(),
        text => vec![json!({"type": "text", "text": text})],
    };
    match (one, two) {
        (Value::Null, other) | (other, Value::Null) => other,
        (Value::String(one), Value::String(two)) if one.is_empty() || two.is_empty() => Value::String(one + &two),
        (Value::String(one), Value::String(two)) => Value::String(format!("{one}\n\n{two}")),
        (one, two) => Value::Array(parts(one).into_iter().chain(parts(two)).collect()),
    }
}
