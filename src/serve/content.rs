//! Messages of Chat Completions put together: contents joined, the system text in its place.

use serde_json::{Value, json};

use crate::dialect::SystemPlacement;
use crate::message::TokenCounter;

/// Tokens of a message's content by our own count.
pub(super) fn tokens(content: &Value) -> usize {
    let counter = TokenCounter::estimate();
    let count = |text: &Value| text.as_str().map_or(0, |text| counter.count(text));
    match content {
        Value::Array(parts) => parts.iter().map(|part| count(&part["text"])).sum(),
        text => count(text),
    }
}

/// Puts the system text where the model reads it: behind the client's own, in a system
/// message or, for a model that wants none, in front of the first user message.
pub(super) fn place(messages: &mut Vec<Value>, system: String, placement: SystemPlacement) {
    let is = |message: &Value, role: &str| message["role"] == role;
    match placement {
        SystemPlacement::User => {
            let own = messages.iter().take_while(|message| is(message, "system")).count();
            let mut texts: Vec<Value> = messages.drain(..own).map(|mut m| m["content"].take()).collect();
            texts.push(Value::String(system));
            let at = match messages.iter().position(|message| is(message, "user")) {
                Some(at) => at,
                None => {
                    messages.insert(0, json!({"role": "user", "content": ""}));
                    0
                }
            };
            texts.push(messages[at]["content"].take());
            messages[at]["content"] = texts.into_iter().fold(Value::Null, join);
        }
        _ => match messages.first_mut().filter(|message| is(message, "system")) {
            Some(first) => first["content"] = join(first["content"].take(), Value::String(system)),
            None => messages.insert(0, json!({"role": "system", "content": system})),
        },
    }
}

/// Two contents as one: texts with a blank line between, or a list of parts.
pub(super) fn join(one: Value, two: Value) -> Value {
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

/// Appends what came since; neighbours of one role are one message, since some endpoints
/// want roles to alternate.
pub(super) fn push(messages: &mut Vec<Value>, mut message: Value) {
    match messages.last_mut().filter(|last| last["role"] == message["role"]) {
        Some(last) => last["content"] = join(last["content"].take(), message["content"].take()),
        None => messages.push(message),
    }
}

/// The text of a content; of a list, that of its parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
