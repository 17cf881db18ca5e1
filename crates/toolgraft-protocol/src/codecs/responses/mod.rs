//! OpenAI's Responses (platform.openai.com/docs/api-reference/responses): converts a request to one
//! of Chat Completions, and writes an answer as a list of items.
//!
//! Items that were sent are stored for ten minutes, so that a client may refer to one
//! (`item_reference`). Nothing else is stored between requests: `store` is answered with false, and
//! fields that would need it (`previous_response_id`, `conversation`, `background`, stored prompts)
//! are refused with the remedy. Tools that run at OpenAI's service are left out by name. Fields
//! without an effect here (`metadata`, `truncation`, `include`) are left out; the answer repeats
//! them.

mod items;
mod tools;
mod writer;

use serde_json::{Map, Value, json};

use self::items::ItemsReader;
use self::tools::{Tools, full_name};
use self::writer::ResponseStream;
use super::shape::{Places, Read, Shape, given, set};
use super::vendor;
use crate::fault::Fault;
use crate::store::ClientStore;
use toolgraft::wire::take_member;

/// OpenAI's Responses API.
pub(crate) struct Responses;

/// Fields of a Responses request that are converted, and therefore not forwarded under their own names.
const READ: [&str; 5] = ["input", "instructions", "max_output_tokens", "reasoning", "stream_options"];

/// Fields of a Responses answer whose values do not come from the request's field of that name.
const OF_THE_SERVER: [&str; 4] = ["background", "previous_response_id", "store", "reasoning"];

/// Entry of `include` in a Responses request by which a client asks for the probabilities of tokens.
const LOGPROBS: &str = "message.output_text.logprobs";

impl Shape for Responses {
    fn read(&self, mut body: Map<String, Value>, kept: &ClientStore) -> Result<Read, Fault> {
        vendor::refuse(&body, &vendor::FIELDS.responses)?;
        // Before fields are left out: the answer repeats those, too.
        let head = head(&body);
        let included = body.get("include").and_then(Value::as_array);
        let logprobs = included.is_some_and(|list| list.iter().any(|field| field == LOGPROBS));
        vendor::leave_out(&mut body, &vendor::FIELDS.responses);
        let reasoning = body.get("reasoning").cloned().unwrap_or_default();
        let summary = ["summary", "generate_summary"].iter().any(|field| reasoning[*field].is_string());
        let mut history = ItemsReader::new(kept.clone());
        if let Some(text) = given(&mut body, "instructions") {
            let Value::String(text) = text else {
                return Err(Fault::field("instructions", "'instructions' must be a text"));
            };
            history.instructions(text);
        }
        history.input(given(&mut body, "input"))?;
        let mut tools = Tools::default();
        if let Some(list) = given(&mut body, "tools") {
            tools.read(list)?;
        }
        for (place, found) in history.found() {
            tools.found(found, place)?;
        }
        let Tools { functions, places, forms } = tools;
        let mut chat = Map::new();
        chat.insert("messages".to_owned(), history.messages.into());
        set(&mut chat, "tools", Some(functions).filter(|tools| !tools.is_empty()));
        set(&mut chat, "tool_choice", choice_of(given(&mut body, "tool_choice"))?);
        set(&mut chat, "logprobs", logprobs.then_some(true));
        set(&mut chat, "max_tokens", given(&mut body, "max_output_tokens"));
        set(&mut chat, "reasoning_effort", reasoning["effort"].as_str());
        set(&mut chat, "response_format", format_of(given(&mut body, "text"))?);
        body.retain(|field, _| !READ.contains(&field.as_str()));
        body.extend(chat);
        Ok(Read {
            chat: body,
            places: Places(places),
            writer: Box::new(ResponseStream::new(head, summary, forms, kept.clone())),
        })
    }

    fn field(&self, field: &str) -> String {
        match field {
            "messages" => "input".to_owned(),
            "max_tokens" => "max_output_tokens".to_owned(),
            "logprobs" => "include".to_owned(),
            _ => field.replace(".function", "").replace("response_format.json_schema", "text.format"),
        }
    }
}

/// Returns the fields of a Responses answer that repeat the request's values, with defaults for those that the
/// request lacks.
fn head(body: &Map<String, Value>) -> Map<String, Value> {
    let reasoning = body.get("reasoning").unwrap_or(&Value::Null);
    let head = json!({
        "instructions": null, "max_output_tokens": null, "max_tool_calls": null, "metadata": {},
        "parallel_tool_calls": true, "temperature": null, "text": {"format": {"type": "text"}},
        "tool_choice": "auto", "tools": [], "top_p": null, "truncation": "disabled", "user": null,
        "background": false, "previous_response_id": null, "store": false,
        "reasoning": {"effort": reasoning["effort"], "summary": reasoning["summary"]},
    });
    let Value::Object(mut head) = head else { return Map::new() };
    for (field, value) in head.iter_mut().filter(|(field, _)| !OF_THE_SERVER.contains(&field.as_str())) {
        if let Some(given) = body.get(field).filter(|given| !given.is_null()) {
            value.clone_from(given);
        }
    }
    head
}

/// Converts the tool choice of Responses to that of Chat Completions, with the full names of functions.
fn choice_of(choice: Option<Value>) -> Result<Option<Value>, Fault> {
    let Some(choice) = choice else { return Ok(None) };
    match choice["type"].as_str() {
        None => Ok(Some(choice)),
        Some("allowed_tools") => {
            // Some clients nest the list, as Chat Completions does.
            let choice = choice.get("allowed_tools").unwrap_or(&choice);
            // Tools that run at OpenAI's service are left out already.
            let name = |tool: &Value| match tool["type"].as_str() {
                Some("namespace") => tool["name"].as_str().map(str::to_owned),
                _ => named(tool),
            };
            let named = |tool: &Value| Some(json!({"name": name(tool)?}));
            let allowed = choice["tools"].as_array().map(|tools| tools.iter().filter_map(named).collect::<Value>());
            Ok(Some(json!({"type": "allowed_tools", "mode": choice["mode"], "tools": allowed})))
        }
        Some(kind) => match named(&choice) {
            Some(name) => Ok(Some(json!({"type": "function", "function": {"name": name}}))),
            None => {
                let message = format!("'tool_choice' asks for '{kind}', which is not supported here");
                Err(Fault::field("tool_choice.type", message))
            }
        },
    }
}

/// Returns the name of the function that a choice of one tool names; `None` for a tool that runs at OpenAI's service.
fn named(choice: &Value) -> Option<String> {
    match choice["type"].as_str()? {
        "function" | "custom" => {
            let name = choice["name"].as_str().or(choice["function"]["name"].as_str());
            Some(full_name(choice["namespace"].as_str(), name.unwrap_or_default()))
        }
        kind => tools::ACTIONS.iter().find(|action| action.name == kind).map(|action| action.name.clone()),
    }
}

/// Returns the `response_format` of Chat Completions for the field `text` of Responses.
fn format_of(text: Option<Value>) -> Result<Option<Value>, Fault> {
    let Some(format) = text.map(|mut text| take_member(&mut text, "format")).filter(|format| !format.is_null()) else {
        return Ok(None);
    };
    match format["type"].as_str() {
        Some("text" | "json_object") => Ok(Some(format)),
        Some("json_schema") => {
            let mut schema = format;
            if let Some(schema) = schema.as_object_mut() {
                schema.shift_remove("type");
            }
            Ok(Some(json!({"type": "json_schema", "json_schema": schema})))
        }
        _ => Err(Fault::field("text.format.type", "expected 'text', 'json_object' or 'json_schema'")),
    }
}
