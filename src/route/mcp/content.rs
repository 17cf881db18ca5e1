//! Results of `tools/call` and `resources/read` as outcomes.
//!
//! They are read from plain JSON, so that a kind of content that nobody knew
//! when this was written becomes a note and not a failure.

use serde_json::Value;

use crate::outcome::{Outcome, Status};

/// Kind of the interface event that carries a result's `_meta`: data of the
/// server for the client, which is not for the model
/// (modelcontextprotocol.io/specification/2025-11-25/basic, "_meta").
pub const META_EVENT: &str = "mcp_meta";

/// The answer of `tools/call`.
pub(super) fn tool_outcome(result: &Value) -> Outcome {
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return Outcome::error("the tool asks for input from a person (elicitation), which is not supported");
    }
    let failed = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let structured = result.get("structuredContent").filter(|v| !v.is_null()).cloned();
    let content = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = joined(content.iter().map(block));
    if text.is_empty() {
        text = match &structured {
            Some(value) => value.to_string(),
            None if failed => "the tool reported an error and said nothing about it".to_owned(),
            None => String::new(),
        };
    }
    let status = if failed { Status::ToolError } else { Status::Result };
    let outcome = Outcome { structured, ..Outcome::new(status, text) };
    match result.get("_meta").and_then(Value::as_object) {
        Some(meta) if !meta.is_empty() => outcome.with_event(META_EVENT, meta.clone()),
        _ => outcome,
    }
}

/// The answer of `resources/read`.
pub(super) fn resource_outcome(result: &Value) -> Outcome {
    match result.get("contents").and_then(Value::as_array) {
        Some(contents) => Outcome::result(joined(contents.iter().map(contents_text))),
        None => Outcome::error("the server's answer to resources/read has no \"contents\""),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("\n")
}

/// One content block.
pub(super) fn block(block: &Value) -> String {
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    match field("type") {
        Some("text") => field("text").unwrap_or_default().to_owned(),
        Some(kind @ ("image" | "audio")) => note(kind, field("mimeType"), field("data").map(decoded_length), None),
        Some("resource") => block.get("resource").map_or_else(|| note("resource", None, None, None), contents_text),
        Some("resource_link") => {
            let words = [field("name"), field("description")];
            let words: Vec<_> = words.into_iter().flatten().filter(|w| !w.is_empty()).collect();
            let link = note("resource", field("mimeType"), block.get("size").and_then(Value::as_u64), field("uri"));
            if words.is_empty() { link } else { format!("{link} {}", words.join(": ")) }
        }
        Some(kind) => format!("[content of the unknown kind {kind:?}, {} bytes]", grouped(length(block))),
        None => format!("[content without a kind, {} bytes]", grouped(length(block))),
    }
}

/// One entry of `contents`, or an embedded resource.
fn contents_text(contents: &Value) -> String {
    let field = |name: &str| contents.get(name).and_then(Value::as_str);
    match (field("text"), field("blob")) {
        (Some(text), _) => text.to_owned(),
        (None, Some(blob)) => note("resource", field("mimeType"), Some(decoded_length(blob)), field("uri")),
        (None, None) => note("resource", field("mimeType"), None, field("uri")),
    }
}

/// `[image image/png, 12,345 bytes]`, `[resource text/plain, file:///a]`.
fn note(kind: &str, media: Option<&str>, bytes: Option<u64>, uri: Option<&str>) -> String {
    let head = [Some(kind), media].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let size = bytes.map(|b| format!("{} bytes", grouped(b)));
    let parts: Vec<String> = [Some(head), uri.map(str::to_owned), size].into_iter().flatten().collect();
    format!("[{}]", parts.join(", "))
}

/// Bytes that a base64 text stands for.
fn decoded_length(base64: &str) -> u64 {
    let digits = base64.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=').count() as u64;
    digits * 3 / 4
}

fn length(value: &Value) -> u64 {
    value.to_string().len() as u64
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_content_is_rendered() {
        let outcome = tool_outcome(&json!({ "content": [
            { "type": "text", "text": "one\ntwo" },
            { "type": "image", "mimeType": "image/png", "data": "QUJDRA==" },
            { "type": "audio", "mimeType": "audio/wav", "data": "A".repeat(16_460) },
            { "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain", "description": "notes" },
            { "type": "resource", "resource": { "uri": "x:1", "mimeType": "text/plain", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "x:2", "mimeType": "application/pdf", "blob": "QUJD" } },
            { "type": "hologram", "data": "…" }
        ] }));
        assert_eq!(outcome.status, Status::Result);
        assert_eq!(
            outcome.text,
            "one\ntwo\n[image image/png, 4 bytes]\n[audio audio/wav, 12,345 bytes]\n\
             [resource text/plain, file:///a] a: notes\ninside\n[resource application/pdf, x:2, 3 bytes]\n\
             [content of the unknown kind \"hologram\", 32 bytes]"
        );
    }

    #[test]
    fn a_structured_result_is_kept_and_is_the_text_where_there_is_none() {
        let outcome = tool_outcome(&json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!((outcome.text.as_str(), outcome.structured), (r#"{"a":1}"#, Some(json!({ "a": 1 }))));
        let outcome = tool_outcome(&json!({ "content": [{ "type": "text", "text": "t" }], "structuredContent": [1] }));
        assert_eq!((outcome.text.as_str(), outcome.structured), ("t", Some(json!([1]))));
    }

    #[test]
    fn meta_is_an_event_for_the_interface_and_no_text() {
        let outcome = tool_outcome(&json!({ "content": [{ "type": "text", "text": "t" }], "_meta": { "ui": "x" } }));
        assert_eq!(outcome, Outcome::result("t").with_event(META_EVENT, json!({ "ui": "x" })));
        assert!(tool_outcome(&json!({ "content": [], "_meta": {} })).events.is_empty());
    }

    #[test]
    fn an_error_of_the_tool_is_a_tool_error() {
        let outcome = tool_outcome(&json!({ "isError": true, "content": [{ "type": "text", "text": "no" }] }));
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::ToolError, "no"));
        assert!(!tool_outcome(&json!({ "isError": true })).text.is_empty());
    }

    #[test]
    fn a_tool_that_asks_back_is_an_error() {
        let outcome = tool_outcome(&json!({ "resultType": "input_required", "inputRequests": {} }));
        assert!(outcome.status == Status::ToolError && outcome.text.contains("asks for input"), "{outcome:?}");
    }

    #[test]
    fn contents_of_a_resource_are_text_or_a_note() {
        let outcome = resource_outcome(&json!({ "contents": [
            { "uri": "a:1", "text": "hello" }, { "uri": "a:2", "blob": "QUJD", "mimeType": "image/png" }
        ] }));
        assert_eq!(outcome.text, "hello\n[resource image/png, a:2, 3 bytes]");
        assert_eq!(resource_outcome(&json!({})).status, Status::ToolError);
    }
}
