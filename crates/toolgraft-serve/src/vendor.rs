//! What only the vendor of an API can serve: fields that name something kept at its service or that mean
//! something there alone, and tools that run there. `vendor.json` says what becomes of each field here, and
//! `docs/serve.md` lists the same.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fault::Fault;

/// Fields of each API that ask for something, as `vendor.json` has them.
#[derive(Default, Deserialize)]
pub(super) struct Vendors {
    /// Anthropic's Messages.
    pub(super) messages: Fields,
    /// OpenAI's Responses.
    pub(super) responses: Fields,
    /// Gemini's `generateContent`.
    pub(super) gemini: Fields,
    /// Ollama's `/api/generate`.
    pub(super) ollama: Fields,
}

/// What becomes of the fields of an API.
#[derive(Default, Deserialize)]
pub(super) struct Fields {
    /// A request with one of them is refused with HTTP 400, and its client is told what to do instead.
    refused: Vec<(String, String)>,
    /// The answer is the same without them.
    left_out: Vec<String>,
}

/// All of them. That the file can be read is a test.
pub(super) static FIELDS: LazyLock<Vendors> =
    LazyLock::new(|| serde_json::from_str(include_str!("vendor.json")).unwrap_or_default());

/// The code by which Anthropic's clients know that they have to send whole histories, without `thread`.
pub(super) const THREAD_UNSUPPORTED: &str = "thread_unsupported_request";

/// Tools of Anthropic's service, by the beginning of their type, and the block that tells the result of
/// one. A tool of another type has no such block.
pub(super) const MESSAGES_TOOLS: [(&str, &str); 4] = [
    ("web_search_", "web_search_tool_result"),
    ("web_fetch_", "web_fetch_tool_result"),
    ("code_execution_", "code_execution_tool_result"),
    ("tool_search_tool_", "tool_search_tool_result"),
];

/// Refuses a request that asks for what cannot be had here.
pub(super) fn refuse(body: &Map<String, Value>, fields: &Fields) -> Result<(), Fault> {
    let is_asked = |name: &str| [name, &snake(name)].iter().any(|name| body.get(*name).is_some_and(asks));
    let Some((name, remedy)) = fields.refused.iter().find(|(name, _)| is_asked(name)) else { return Ok(()) };
    let fault = Fault::field(name.as_str(), format!("'{name}' cannot be had here: {remedy}"));
    Err(if name == "thread" { fault.with_code(THREAD_UNSUPPORTED) } else { fault })
}

/// Takes the fields out of a request.
pub(super) fn leave_out(body: &mut Map<String, Value>, fields: &Fields) {
    for name in fields.refused.iter().map(|(name, _)| name).chain(&fields.left_out) {
        body.shift_remove(name);
        body.shift_remove(&snake(name));
    }
}

/// Whether a value asks for something. Clients also send fields that they do not use.
fn asks(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

/// `maxOutputTokens` as `max_output_tokens`.
pub(super) fn snake(field: &str) -> String {
    let mut snake = String::with_capacity(field.len() + 4);
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_field() {
        let page = include_str!("../docs/serve.md");
        let (_, section) = page.split_once("### What only the vendor can serve").unwrap();
        let apis: [(&str, &Fields); 4] = [
            ("Messages", &FIELDS.messages),
            ("Responses", &FIELDS.responses),
            ("Gemini", &FIELDS.gemini),
            ("Ollama", &FIELDS.ollama),
        ];
        for (api, fields) in apis {
            let row = section.lines().find(|line| line.starts_with(&format!("| {api} |"))).unwrap();
            assert!(!fields.refused.is_empty() && !fields.left_out.is_empty());
            let listed =
                |names: Vec<&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let refused = listed(fields.refused.iter().map(|(name, _)| name).collect());
            assert_eq!(row, format!("| {api} | {refused} | {} |", listed(fields.left_out.iter().collect())));
        }
    }
}
