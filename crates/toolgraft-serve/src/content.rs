//! Contents of Chat Completions' messages.

use serde_json::Value;

use toolgraft::message::TokenCounter;

/// Tokens of a message's content by our own count.
pub(super) fn tokens(content: &Value) -> usize {
    let counter = TokenCounter::estimate();
    let count = |text: &Value| text.as_str().map_or(0, |text| counter.count(text));
    match content {
        Value::Array(parts) => parts.iter().map(|part| count(&part["text"])).sum(),
        text => count(text),
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
