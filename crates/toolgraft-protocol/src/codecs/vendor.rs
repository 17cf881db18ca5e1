//! Features that only the vendor of an API can serve: fields that refer to something stored at its
//! service or that have a meaning only there, and tools that run there. `vendor.json` has the
//! treatment of each field, and `docs/serve.md` of `toolgraft-serve` lists the same.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::fault::Fault;

/// Fields of each client API that only the vendor's service can serve, as listed in `vendor.json`.
#[derive(Default, Deserialize)]
pub(crate) struct Vendors {
    /// Fields of Anthropic's Messages.
    pub(crate) messages: Fields,
    /// Fields of OpenAI's Responses.
    pub(crate) responses: Fields,
    /// Fields of Gemini's `generateContent`.
    pub(crate) gemini: Fields,
    /// Fields of Ollama's `/api/generate`.
    pub(crate) ollama: Fields,
}

/// Fields of one client API that only the vendor's service can serve: those that are refused, and those that are
/// removed.
#[derive(Default, Deserialize)]
pub(crate) struct Fields {
    /// Names of fields, each with its remedy. A request with one of them is refused with HTTP 400, and the message
    /// names the remedy.
    refused: Vec<(String, String)>,
    /// Names of fields that are removed, since the answer is the same without them.
    left_out: Vec<String>,
}

/// The parsed table `vendor.json`. A test checks that the file can be parsed.
pub(crate) static FIELDS: LazyLock<Vendors> =
    LazyLock::new(|| serde_json::from_str(include_str!("vendor.json")).unwrap_or_default());

/// Error code for Anthropic's clients, by which they know that they have to send whole histories, without `thread`.
pub(crate) const THREAD_UNSUPPORTED: &str = "thread_unsupported_request";

/// Tools of Anthropic's service by the prefix of their type, with the type of their result block. The service's other
/// tools have no result block.
pub(crate) const MESSAGES_TOOLS: [(&str, &str); 4] = [
    ("web_search_", "web_search_tool_result"),
    ("web_fetch_", "web_fetch_tool_result"),
    ("code_execution_", "code_execution_tool_result"),
    ("tool_search_tool_", "tool_search_tool_result"),
];

/// Refuses a request with a field that only the vendor's service can serve, if the answer would differ without it.
pub(crate) fn refuse(body: &Map<String, Value>, fields: &Fields) -> Result<(), Fault> {
    let is_asked = |name: &str| [name, &snake(name)].iter().any(|name| body.get(*name).is_some_and(asks));
    let Some((name, remedy)) = fields.refused.iter().find(|(name, _)| is_asked(name)) else { return Ok(()) };
    let fault = Fault::field(name.as_str(), format!("'{name}' is not supported here: {remedy}"));
    Err(if name == "thread" { fault.with_code(THREAD_UNSUPPORTED) } else { fault })
}

/// Removes the fields that only the vendor's service can serve from a request.
pub(crate) fn leave_out(body: &mut Map<String, Value>, fields: &Fields) {
    for name in fields.refused.iter().map(|(name, _)| name).chain(&fields.left_out) {
        body.shift_remove(name);
        body.shift_remove(&snake(name));
    }
}

/// Returns `true` if a field's value requests something. False, null, and empty texts and lists do not: clients also
/// send fields that they do not use.
pub(crate) fn asks(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

/// Converts a field's name from camel case to snake case, such as `maxOutputTokens` to `max_output_tokens`.
pub(crate) fn snake(field: &str) -> String {
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
        let page = include_str!("../../../toolgraft-serve/docs/serve.md");
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
