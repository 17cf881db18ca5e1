//! The words of an endpoint about an error.

use serde_json::Value;

use super::ModelError;
use super::overflow::{overflow, remedy as longer_context};

/// Maximum number of characters of an endpoint's message in an error.
const MAX_WORDS: usize = 500;

/// Returns [`ModelError::ContextExceeded`] if the endpoint says that the prompt is too long, in its message `words` or
/// elsewhere in its body: a gateway may repeat the message of the server that runs the model. Else `None`.
pub(super) fn context_exceeded(url: &str, words: &str, body: &str) -> Option<ModelError> {
    let json = serde_json::from_str(body.trim()).ok();
    let sizes = overflow(words, json.as_ref()).or_else(|| overflow(body, None))?;
    let message = format!("{words}: {}", longer_context(body, url));
    Some(ModelError::ContextExceeded { url: url.to_owned(), prompt: sizes.prompt, context: sizes.context, message })
}

/// Returns the first 500 characters of a text on one line, without control characters.
pub(super) fn line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(MAX_WORDS).collect()
}

/// Returns the endpoint's message in an error object or in a body that contains one; `None` if it has none.
pub(super) fn message(value: &Value) -> Option<String> {
    let inner = ["error", "errors", "message", "detail", "msg"].iter().find_map(|key| value.get(key));
    let words = match value {
        Value::String(text) => return Some(line(text)).filter(|t| !t.is_empty()),
        Value::Array(items) => return items.iter().find_map(message),
        _ => message(inner?)?,
    };
    // FastAPI names the field beside the message: `{"loc": ["body", "stream_options"], "msg": …}`.
    let field = value.get("loc").and_then(Value::as_array).and_then(|loc| loc.last()?.as_str());
    let words = match field.filter(|field| !words.contains(field)) {
        Some(field) => line(&format!("{field}: {words}")),
        None => words,
    };
    // The code is next to the message, as a word or a number.
    let code = ["code", "type"].iter().find_map(|key| match value.get(key)? {
        Value::String(code) if !code.is_empty() => Some(code.clone()),
        Value::Number(code) => Some(code.to_string()),
        _ => None,
    });
    Some(match code {
        Some(code) if !words.contains(&code) => format!("{words} ({})", line(&code)),
        _ => words,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_endpoints_message_is_found_in_all_shapes() {
        for (value, words) in [
            (json!({"error": {"message": "no", "code": "bad_model"}}), "no (bad_model)"),
            (json!({"error": {"message": "no", "type": "invalid", "code": null}}), "no (invalid)"),
            (json!({"error": {"message": "HTTP 503", "code": 503}}), "HTTP 503"),
            (json!({"error": "model \"x\" not\nfound"}), "model \"x\" not found"),
            (json!({"object": "error", "message": "no", "code": 40}), "no (40)"),
            (json!({"detail": [{"msg": "field required"}]}), "field required"),
            (json!("plain"), "plain"),
        ] {
            assert_eq!(message(&value).as_deref(), Some(words), "{value}");
        }
        assert_eq!(message(&json!({"choices": []})), None);
    }
}
