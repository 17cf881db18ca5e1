//! What only the vendor of an API can serve: fields that name something kept at its service or that mean
//! something there alone, and tools that run there. These tables say what becomes of each here.
//! `docs/serve.md` lists the same rows.

use serde_json::{Map, Value};

use self::Fate::{LeftOut, Refused, Unsupported};
use super::fault::Fault;

/// What becomes of a field that asks for something.
#[derive(Clone, Copy)]
pub(super) enum Fate {
    /// The answer is the same without it.
    LeftOut,
    /// The request is refused with HTTP 400, and its client is told what to do instead.
    Refused(&'static str),
    /// The same, with the code by which the vendor's own clients go on without the field.
    Unsupported(&'static str, &'static str),
}

/// Fields of an API by their names.
pub(super) type Fields = [(&'static str, Fate)];

/// The code by which Anthropic's clients know that they have to send whole histories.
pub(super) const THREAD_UNSUPPORTED: &str = "thread_unsupported_request";

/// Anthropic's Messages.
pub(super) const MESSAGES: [(&str, Fate); 17] = [
    ("thread", Unsupported(THREAD_UNSUPPORTED, "nothing is kept between requests: send all messages and tools")),
    ("container", Refused("no code runs at a service: offer the tools that your program runs")),
    ("mcp_servers", Refused("the server has its own")),
    ("compaction", Refused("no service makes a history shorter: ask the model for a summary")),
    ("betas", LeftOut),
    ("billing_policy", LeftOut),
    ("cache_control", LeftOut),
    ("context_management", LeftOut),
    ("diagnostics", LeftOut),
    ("fallback_credit_token", LeftOut),
    ("fallbacks", LeftOut),
    ("inference_geo", LeftOut),
    ("metadata", LeftOut),
    ("service_tier", LeftOut),
    ("speed", LeftOut),
    ("user_profile_id", LeftOut),
    ("workspace_id", LeftOut),
];

/// OpenAI's Responses.
pub(super) const RESPONSES: [(&str, Fate); 16] = [
    ("previous_response_id", Refused("nothing is kept between requests: send the earlier items in 'input'")),
    ("conversation", Refused("nothing is kept between requests: send the conversation's items in 'input'")),
    ("prompt", Refused("nothing is kept between requests: send the prompt's text in 'instructions'")),
    ("background", Refused("nothing is kept between requests: send 'stream' and read the answer as it comes")),
    ("client_metadata", LeftOut),
    ("context_management", LeftOut),
    ("include", LeftOut),
    ("max_tool_calls", LeftOut),
    ("metadata", LeftOut),
    ("prompt_cache_key", LeftOut),
    ("prompt_cache_options", LeftOut),
    ("prompt_cache_retention", LeftOut),
    ("safety_identifier", LeftOut),
    ("service_tier", LeftOut),
    ("store", LeftOut),
    ("truncation", LeftOut),
];

/// Gemini's `generateContent`.
pub(super) const GEMINI: [(&str, Fate); 5] = [
    ("cachedContent", Refused("nothing is kept between requests: send the contents")),
    ("labels", LeftOut),
    ("safetySettings", LeftOut),
    ("serviceTier", LeftOut),
    ("store", LeftOut),
];

/// Ollama's `/api/generate`.
pub(super) const OLLAMA: [(&str, Fate); 5] = [
    ("context", Refused("send the messages so far to /api/chat")),
    ("raw", Refused("POST /v1/completions takes a prompt as it is")),
    ("suffix", Refused("POST /v1/completions takes a 'suffix' where the endpoint does")),
    ("template", Refused("the endpoint's own is used")),
    ("keep_alive", LeftOut),
];

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
    match fields.iter().find_map(|(name, fate)| fault(name, *fate).filter(|_| is_asked(name))) {
        Some(fault) => Err(fault),
        None => Ok(()),
    }
}

/// Takes the fields out of a request.
pub(super) fn leave_out(body: &mut Map<String, Value>, fields: &Fields) {
    for (name, _) in fields {
        body.shift_remove(*name);
        body.shift_remove(&snake(name));
    }
}

fn fault(name: &str, fate: Fate) -> Option<Fault> {
    let of = |remedy: &str| Fault::field(name, format!("'{name}' cannot be had here: {remedy}"));
    match fate {
        LeftOut => None,
        Refused(remedy) => Some(of(remedy)),
        Unsupported(code, remedy) => Some(of(remedy).with_code(code)),
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
        let apis: [(&str, &Fields); 4] =
            [("Messages", &MESSAGES), ("Responses", &RESPONSES), ("Gemini", &GEMINI), ("Ollama", &OLLAMA)];
        for (api, fields) in apis {
            let row = section.lines().find(|line| line.starts_with(&format!("| {api} |"))).unwrap();
            let named = |refused: bool| {
                let of = fields.iter().filter(|(_, fate)| !matches!(fate, LeftOut) == refused);
                of.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            };
            assert_eq!(row, format!("| {api} | {} | {} |", named(true), named(false)));
        }
    }
}
