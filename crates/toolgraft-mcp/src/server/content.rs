//! Converts results of `tools/call` and `resources/read` into outcomes.
//!
//! They are read from plain JSON, so that an unknown kind of content becomes a note and not a
//! failure.

use serde_json::Value;

use super::elicit::is_question;
use crate::transport::answer::Answer;
use crate::transport::scan;
use toolgraft::Outcome;
use toolgraft::outcome::{MEDIA_EVENT, Status};

/// Kind of an outcome's event with the `_meta` of a tool result: data from the server for the client, not for the model
/// (modelcontextprotocol.io/specification/2025-11-25/basic, "_meta").
pub const META_EVENT: &str = "mcp_meta";

/// Kind of an outcome's event with the part of a tool result that is for the user alone: an object with its `text`; see
/// [`HubBuilder::by_audience`](crate::HubBuilder::by_audience).
pub const USER_EVENT: &str = "mcp_for_user";

/// Text that the model reads in place of a tool result that is for the user alone.
const FOR_USER: &str = "[the result is for the user, who sees it]";

/// Error message of a call whose server asks the user for input when there is no user.
pub(super) const ASKS: &str = "the server asks the user for input (elicitation), and no user is present";

/// Maximum number of characters of a response without a result that an error shows.
const SHOWN: usize = 2000;

/// Converts the result of `tools/call` into an outcome. A result without MCP content never becomes an empty success:
/// its text is shown, or it is an error.
pub(crate) fn tool_outcome(result: &Value, answer: &Answer<'_>) -> Outcome {
    if is_question(result) {
        return Outcome::error(ASKS);
    }
    if let Some(text) = bare(result) {
        return Outcome::result(text);
    }
    let failed = result.get("isError").is_some_and(is_true);
    let structured = result.get("structuredContent").filter(|v| !v.is_null()).cloned();
    let content = result.get("content");
    let mut parts = match content.map(|content| texts(content, block)) {
        Some(Some(parts)) => parts,
        // An error may have no text, and a structure no text beside it.
        None if failed || structured.is_some() => Vec::new(),
        Some(None) if structured.is_some() => Vec::new(),
        _ => return no_result("tools/call", "content", answer),
    };
    if let Some(value) = &structured
        && !repeats(value, &parts, content)
    {
        parts.retain(|part| !part.trim().is_empty());
        parts.push(answer.shown_member("structuredContent").unwrap_or_else(|| value.to_string()));
    }
    let mut text = joined(parts.into_iter());
    if text.is_empty() && failed {
        text = "the tool reported an error without a message".to_owned();
    }
    let status = if failed { Status::ToolError } else { Status::Result };
    let mut outcome = Outcome::new(status, text);
    outcome.structured = structured;
    match result.get("_meta").and_then(Value::as_object) {
        Some(meta) if !meta.is_empty() => outcome.with_event(META_EVENT, meta.clone()),
        _ => outcome,
    }
}

/// Returns `true` if a value of `isError` means an error: `true`, or a string or number of that meaning, which some
/// servers send.
fn is_true(flag: &Value) -> bool {
    match flag {
        Value::Bool(flag) => *flag,
        Value::String(flag) => matches!(flag.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes"),
        Value::Number(flag) => flag.as_f64() != Some(0.0),
        _ => false,
    }
}

/// Names of the single member in which SDKs wrap a structured result that is not an object.
const WRAPPERS: [&str; 4] = ["result", "content", "output", "text"];

/// Returns `true` if the structured content of a tool result adds nothing to its text blocks: one of them is or
/// contains the same JSON, or the structure only wraps their texts.
fn repeats(structure: &Value, parts: &[String], content: Option<&Value>) -> bool {
    if parts.iter().all(|part| part.trim().is_empty()) {
        return false;
    }
    let is_in = |value: &Value| parts.iter().any(|part| contains(part, value));
    let Value::Object(members) = structure else { return is_in(structure) };
    let wrapped = members.iter().next().filter(|(name, _)| members.len() == 1 && WRAPPERS.contains(&name.as_str()));
    let Some((_, wrapped)) = wrapped else { return members.is_empty() || is_in(structure) };
    let one_each = |values: &Vec<Value>| {
        values.len() == parts.len() && values.iter().zip(parts).all(|(value, part)| is_value(part, value))
    };
    // SDKs wrap a string, the texts of all blocks, the content itself, or a list with one value per
    // block.
    is_in(structure)
        || parts.iter().any(|part| is_value(part, wrapped))
        || is_value(&parts.join("\n"), wrapped)
        || content == Some(wrapped)
        || wrapped.as_array().is_some_and(one_each)
}

/// Returns `true` if a text is this JSON value: the same string, or its JSON.
fn is_value(text: &str, value: &Value) -> bool {
    value.as_str().is_some_and(|string| string.trim() == text.trim())
        || scan::value(text).is_ok_and(|parsed| is_same(&parsed, value))
}

/// Returns `true` if a text is the JSON of this value, or contains it after other text or in a fence.
fn contains(text: &str, value: &Value) -> bool {
    let bracket = match value {
        Value::Object(_) => '{',
        Value::Array(_) => '[',
        _ => return is_value(text, value),
    };
    let json = text.find(bracket).and_then(|at| scan::parts(&text[at..])).filter(|json| json.closed);
    json.is_some_and(|json| is_value(json.text, value))
}

/// Compares JSON values. Numbers are compared by value, since `21.0` becomes `21` in JavaScript.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        // Two integers are only compared exactly, since as floating-point numbers different ones
        // can be equal.
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Removes the blocks from a tool result whose `audience` is the user alone
/// (modelcontextprotocol.io/specification/2025-11-25/server/tools, "annotations"), and returns their text as the data
/// of an event; `None` if there are none.
pub(crate) fn for_user(result: &mut Value) -> Option<Value> {
    let has_structured = result.get("structuredContent").is_some_and(|structured| !structured.is_null());
    let blocks = result.get_mut("content")?.as_array_mut()?;
    let is_for_user = |block: &Value| {
        let audience = block.pointer("/annotations/audience").and_then(Value::as_array);
        audience.is_some_and(|all| all.iter().any(|who| who == "user") && all.iter().all(|who| who != "assistant"))
    };
    let (theirs, rest): (Vec<Value>, Vec<Value>) = std::mem::take(blocks).into_iter().partition(is_for_user);
    *blocks = rest;
    if theirs.is_empty() {
        return None;
    }
    // An empty result would tell the model that nothing was found. A structure becomes its text.
    if blocks.is_empty() && !has_structured {
        blocks.push(serde_json::json!({ "type": "text", "text": FOR_USER }));
    }
    Some(serde_json::json!({ "text": joined(theirs.iter().map(block)) }))
}

/// Converts the result of `resources/read` into an outcome.
pub(crate) fn resource_outcome(result: &Value, answer: &Answer<'_>) -> Outcome {
    if is_question(result) {
        return Outcome::error(ASKS);
    }
    match bare(result).or_else(|| Some(joined(texts(result.get("contents")?, contents_text)?.into_iter()))) {
        Some(text) => Outcome::result(text),
        None => no_result("resources/read", "contents", answer),
    }
}

/// Adds the images, audio and blobs of a result to its outcome as events; the outcome's text has only notes about them.
pub(crate) fn with_media(outcome: Outcome, result: &Value) -> Outcome {
    let entries = |key: &str| match result.get(key) {
        Some(Value::Array(entries)) => entries.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        _ => Vec::new(),
    };
    let blocks = entries("content").into_iter().map(|block| (block.get("type").and_then(Value::as_str), block));
    let media = blocks.filter_map(|(kind, block)| match kind? {
        kind @ ("image" | "audio") => medium(kind, block, "data"),
        "resource" => medium("resource", block.get("resource")?, "blob"),
        _ => None,
    });
    let contents = entries("contents").into_iter().filter_map(|contents| medium("resource", contents, "blob"));
    media.chain(contents).fold(outcome, |outcome, medium| outcome.with_event(MEDIA_EVENT, medium))
}

fn medium(kind: &str, from: &Value, data: &str) -> Option<Value> {
    let mut medium = serde_json::Map::new();
    medium.insert("kind".to_owned(), kind.into());
    for key in ["mimeType", "uri"] {
        medium.extend(from.get(key).filter(|value| value.is_string()).map(|value| (key.to_owned(), value.clone())));
    }
    medium.insert("data".to_owned(), from.get(data).filter(|value| value.is_string())?.clone());
    Some(medium.into())
}

/// Returns the text of a non-blank string, which some servers send where MCP requires an object or array; `None` for
/// another value.
fn bare(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// Returns the text of each entry of a result's `content` or `contents`. A single entry or text instead of the array is
/// accepted; `None` if there is none.
fn texts(entries: &Value, text: impl Fn(&Value) -> String) -> Option<Vec<String>> {
    match entries {
        Value::Array(entries) => Some(entries.iter().map(text).collect()),
        one @ Value::Object(_) => Some(vec![text(one)]),
        other => Some(vec![bare(other)?]),
    }
}

/// Returns the error outcome for a response that lacks the required array, with the beginning of the response.
fn no_result(method: &str, member: &str, answer: &Answer<'_>) -> Outcome {
    let shown = answer.shown();
    let end = shown.char_indices().nth(SHOWN).map_or(shown.len(), |(at, _)| at);
    let more = if end < shown.len() { "…" } else { "" };
    Outcome::error(format!("the server's answer to {method} has no array {member:?}: {}{more}", &shown[..end]))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("\n")
}

/// Returns the text of one content block of a tool result, or a note about a block that is not text.
pub(super) fn block(block: &Value) -> String {
    if let Value::String(text) = block {
        return text.clone();
    }
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    let length = || grouped(block.to_string().len() as u64);
    match field("type") {
        Some("text") => match block.get("text") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "[missing text]".to_owned(),
            Some(other) => other.to_string(),
        },
        Some(kind @ ("image" | "audio")) => note(kind, field("mimeType"), field("data").map(decoded_length), None),
        Some("resource") => block.get("resource").map_or_else(|| note("resource", None, None, None), contents_text),
        Some("resource_link") => {
            let words = [field("name"), field("description")];
            let words: Vec<_> = words.into_iter().flatten().filter(|w| !w.is_empty()).collect();
            let link = note("resource", field("mimeType"), block.get("size").and_then(Value::as_u64), field("uri"));
            if words.is_empty() { link } else { format!("{link} {}", words.join(": ")) }
        }
        Some(kind) => format!("[content of the unknown kind {kind:?}, {} bytes]", length()),
        None => format!("[content without a kind, {} bytes]", length()),
    }
}

/// Returns the URI of a content block that is an embedded resource.
pub(super) fn resource_uri(block: &Value) -> Option<&str> {
    block.get("resource").filter(|_| block["type"] == "resource")?.get("uri")?.as_str()
}

/// Returns the text of one entry of `contents` or of an embedded resource, or a note about one that is not text.
fn contents_text(contents: &Value) -> String {
    if let Value::String(text) = contents {
        return text.clone();
    }
    let field = |name: &str| contents.get(name).and_then(Value::as_str);
    match (field("text"), field("blob")) {
        (Some(text), _) => text.to_owned(),
        (None, Some(blob)) => note("resource", field("mimeType"), Some(decoded_length(blob)), field("uri")),
        (None, None) => note("resource", field("mimeType"), None, field("uri")),
    }
}

/// Returns a note about content that is not text, such as `[image image/png, 12,345 bytes]` or `[resource text/plain,
/// file:///a]`.
fn note(kind: &str, media: Option<&str>, bytes: Option<u64>, uri: Option<&str>) -> String {
    let head = [Some(kind), media].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let size = bytes.map(|b| format!("{} bytes", grouped(b)));
    let parts: Vec<String> = [Some(head), uri.map(str::to_owned), size].into_iter().flatten().collect();
    format!("[{}]", parts.join(", "))
}

/// Returns the number of bytes that a base64 text decodes to.
fn decoded_length(base64: &str) -> u64 {
    let digits = base64.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=').count() as u64;
    digits * 3 / 4
}

/// Formats a number with thousands separators, as in `12,345`.
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
    use rmcp::model::{CustomResult, ServerResult};
    use serde_json::json;

    use super::*;
    use toolgraft::secrets::Secrets;

    fn answered<T>(text: &str, outcome: impl Fn(&Value, &Answer<'_>) -> T) -> T {
        let (none, text) = (Secrets::default(), Value::from(text));
        let answer = Answer::new(ServerResult::CustomResult(CustomResult(text)), &none);
        outcome(&answer.value().unwrap(), &answer)
    }

    #[test]
    fn what_is_for_the_person_alone_is_taken_out() {
        let block = |text: &str, audience: Value| json!({ "type": "text", "text": text, "annotations": { "audience": audience } });
        let both = block("both", json!(["user", "assistant"]));
        let mut result =
            json!({ "content": [block("mine", json!(["user"])), both, block("its", json!(["assistant"]))] });
        assert_eq!(for_user(&mut result), Some(json!({ "text": "mine" })));
        assert_eq!(tool_outcome(&result).text, "both\nits");
        assert_eq!(for_user(&mut result), None);
        let mut result = json!({ "content": [block("mine", json!(["user"]))] });
        assert!(for_user(&mut result).is_some() && tool_outcome(&result).text == FOR_USER);
        result = json!({ "content": [block("mine", json!(["user"]))], "structuredContent": { "a": 1 } });
        assert!(for_user(&mut result).is_some() && tool_outcome(&result).text == "{\"a\":1}");
    }

    fn tool_outcome(result: &Value) -> Outcome {
        answered(&result.to_string(), super::tool_outcome)
    }

    fn resource_outcome(result: &Value) -> Outcome {
        answered(&result.to_string(), super::resource_outcome)
    }

    #[test]
    fn media_are_kept_as_they_came_where_they_are_wanted() {
        let result = json!({ "content": [
            { "type": "text", "text": "one" },
            { "type": "image", "mimeType": "image/png", "data": "QUJD" },
            { "type": "resource", "resource": { "uri": "x:1", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "x:2", "blob": "REVG" } },
            { "type": "image", "mimeType": "image/png" }
        ] });
        let kept = with_media(tool_outcome(&result), &result).events;
        let kept: Vec<_> = kept.into_iter().map(|event| (event.kind, event.data)).collect();
        let event = |data: Value| (MEDIA_EVENT.to_owned(), data);
        assert_eq!(
            kept,
            [
                event(json!({ "kind": "image", "mimeType": "image/png", "data": "QUJD" })),
                event(json!({ "kind": "resource", "uri": "x:2", "data": "REVG" })),
            ]
        );
        let result = json!({ "contents": [{ "uri": "x:3", "mimeType": "application/pdf", "blob": "QUJD" }] });
        assert_eq!(with_media(resource_outcome(&result), &result).events.len(), 1);
    }

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
    fn a_structured_result_is_the_text_where_there_is_none() {
        let outcome = tool_outcome(&json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!((outcome.text.as_str(), outcome.structured), (r#"{"a":1}"#, Some(json!({ "a": 1 }))));
        for content in [json!(null), json!(""), json!([{ "type": "text", "text": " " }])] {
            let outcome = tool_outcome(&json!({ "content": content, "structuredContent": {} }));
            assert_eq!((outcome.status, outcome.text.as_str()), (Status::Result, "{}"), "{content}");
        }
        assert_eq!(tool_outcome(&json!({ "isError": true, "structuredContent": [1] })), {
            Outcome::error("[1]").with_structured(json!([1]))
        });
    }

    /// Returns the outcome's text for a tool result with these text blocks and this structured content.
    fn text_of(blocks: &[&str], structure: &Value) -> String {
        let content: Vec<Value> = blocks.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        let outcome = tool_outcome(&json!({ "content": content, "structuredContent": structure }));
        assert_eq!(outcome.structured.as_ref(), Some(structure));
        outcome.text
    }

    #[test]
    fn a_structure_that_says_more_follows_the_text() {
        for (blocks, structure) in [
            (&["4 items"][..], json!({ "items": [{ "id": "z-1" }] })),
            (&["4 items", "in all"], json!(["z-1"])),
            (&["see {this}: []"], json!({ "a": 1 })),
            (&["{\"a\":1}"], json!({ "a": 1, "b": 2 })),
            (&["{\"a\":1,\"b\":2}"], json!({ "a": 1 })),
            (&["9007199254740992"], json!({ "result": 9_007_199_254_740_993_u64 })),
            (&["a.txt"], json!({ "deleted": "a.txt" })),
            (&["a"], json!({ "result": "a", "more": true })),
            (&["a"], json!({ "result": ["a", "b"] })),
            (&["none"], json!([])),
            (&["no"], json!(false)),
        ] {
            assert_eq!(text_of(blocks, &structure), format!("{}\n{structure}", blocks.join("\n")), "{structure}");
        }
        let content = json!([{ "type": "image", "mimeType": "image/png", "data": "QUJD" },
            { "type": "resource", "resource": { "uri": "a:1", "text": "inside" } }]);
        let outcome = tool_outcome(&json!({ "content": content, "structuredContent": { "kind": "chart" } }));
        assert_eq!(outcome.text, "[image image/png, 3 bytes]\ninside\n{\"kind\":\"chart\"}");
        let text = json!([{ "type": "text", "text": "NEEDS_HUMAN" }]);
        let outcome = tool_outcome(&json!({ "isError": true, "content": text, "structuredContent": { "hint": 1 } }));
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::ToolError, "NEEDS_HUMAN\n{\"hint\":1}"));
    }

    #[test]
    fn a_structure_that_repeats_the_text_is_left_out() {
        for (blocks, structure) in [
            (&["{ \"b\": [2],\n \"a\": 1 }"][..], json!({ "a": 1, "b": [2] })),
            (&["It is:\n```json\n{\"a\": \"}\"}\n```\nso"], json!({ "a": "}" })),
            (&["done", "[1, 2.0]"], json!([1, 2])),
            (&["one\ntwo\n"], json!({ "result": "one\ntwo" })),
            (&["21"], json!({ "result": 21.0 })),
            (&["[\"a\"]"], json!({ "result": ["a"] })),
            (&["a", "{\"b\":1}"], json!({ "result": ["a", { "b": 1 }] })),
            (&["a", "b"], json!({ "output": "a\nb" })),
            (&["a"], json!({ "content": [{ "type": "text", "text": "a" }] })),
            (&["done"], json!({})),
            (&["null"], json!({ "result": null })),
        ] {
            assert_eq!(text_of(blocks, &structure), blocks.join("\n"), "{structure}");
        }
        let content = json!([{ "type": "resource", "resource": { "uri": "a:1", "text": "{\"a\": 1}" } }]);
        let outcome = tool_outcome(&json!({ "content": content, "structuredContent": { "a": 1 } }));
        assert_eq!(outcome.text, "{\"a\": 1}");
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
        let flagged = |flag: Value| tool_outcome(&json!({ "isError": flag, "content": [] })).status;
        for flag in [json!("true"), json!("True"), json!(" TRUE "), json!("1"), json!(1), json!(1.0)] {
            assert_eq!(flagged(flag.clone()), Status::ToolError, "{flag}");
        }
        for flag in [json!("false"), json!(""), json!("0"), json!(0), json!(null), json!([])] {
            assert_eq!(flagged(flag.clone()), Status::Result, "{flag}");
        }
    }

    #[test]
    fn a_tool_that_asks_back_is_an_error() {
        let outcome = tool_outcome(&json!({ "resultType": "input_required", "inputRequests": {} }));
        assert!(outcome.status == Status::ToolError && outcome.text.contains("asks the user for input"), "{outcome:?}");
    }

    #[test]
    fn contents_of_a_resource_are_text_or_a_note() {
        let outcome = resource_outcome(&json!({ "contents": [
            { "uri": "a:1", "text": "hello" }, { "uri": "a:2", "blob": "QUJD", "mimeType": "image/png" }
        ] }));
        assert_eq!(outcome.text, "hello\n[resource image/png, a:2, 3 bytes]");
        assert_eq!(resource_outcome(&json!({})).status, Status::ToolError);
    }

    #[test]
    fn what_is_no_result_is_shown_or_an_error_and_never_an_empty_success() {
        for (result, text) in [
            (json!("all done"), "all done"),
            (json!({ "content": "all done" }), "all done"),
            (json!({ "content": ["one", "two"] }), "one\ntwo"),
            (json!({ "content": { "type": "text", "text": "one" } }), "one"),
            (json!({ "content": [{ "type": "text", "text": 5 }] }), "5"),
            (json!({ "content": [{ "type": "text" }] }), "[missing text]"),
        ] {
            assert_eq!(tool_outcome(&result), Outcome::result(text), "{result}");
        }
        for result in [
            json!(null),
            json!(""),
            json!(17),
            json!([{ "type": "text", "text": "x" }]),
            json!({}),
            json!({ "content": null }),
            json!({ "content": "" }),
            json!({ "content": 5 }),
            json!({ "toolResult": "old" }),
        ] {
            let outcome = tool_outcome(&result);
            assert_eq!(outcome.status, Status::ToolError, "{result}");
            assert!(outcome.text.contains(&format!("\"content\": {result}")), "{outcome:?}");
        }
        assert_eq!(tool_outcome(&json!({ "content": [] })), Outcome::result(""), "a tool may have nothing to say");
        assert_eq!(resource_outcome(&json!({ "contents": "hello" })), Outcome::result("hello"));
        assert_eq!(resource_outcome(&json!({ "contents": ["a", { "text": "b" }] })), Outcome::result("a\nb"));
        for result in [json!(null), json!({ "contents": null }), json!({ "contents": "" }), json!({ "content": [] })] {
            assert_eq!(resource_outcome(&result).status, Status::ToolError, "{result}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let numbers = "[0.1000000000000000055,12345678901234567890123,1E2,1.0,1e400]";
        let text = format!(r#"{{"content":[], "structuredContent" : {{ "n" : {numbers} }} }}"#);
        let outcome = answered(&text, super::tool_outcome);
        assert_eq!(outcome.text, format!(r#"{{"n":{numbers}}}"#));
        assert_eq!(outcome.structured.unwrap()["n"][4], "1e400", "no value holds it as a number");
        let shown = answered(&format!(r#"{{"sum": {numbers}}}"#), super::tool_outcome);
        assert!(shown.text.ends_with(&format!(r#"{{"sum":{numbers}}}"#)), "{shown:?}");
    }
}
