//! Anthropic's Messages (docs.claude.com/en/api/messages): converts a request to one of Chat
//! Completions, and writes an answer as content blocks.
//!
//! Features that only Anthropic's service has are refused by name where the answer would differ
//! without them (`mcp_servers`), and left out where it would not (`metadata`, `cache_control`,
//! thinking blocks of the history). Tools that run there are left out by name; those that the
//! client runs are described with the parameters that Anthropic publishes. A block that no model
//! here can read becomes a line of text: a history is never refused for it.

mod blocks;
mod hosted;
mod tools;
mod writer;

use serde_json::{Map, Value, json};

use self::blocks::part;
use self::tools::tools_of;
use self::writer::MessageStream;
use super::shape::{Hosted, NO_THINKING, Places, Read, Results, Shape, call, given, role_of, said, set};
use super::vendor;
use crate::fault::Fault;
use crate::store::ClientStore;
use toolgraft::wire::content::line;
use toolgraft::wire::take_member;

/// Prefix of the first block of Claude Code's system text. It is meaningless to a model and differs
/// in each request, so that an endpoint would have to read the whole prompt again
/// (github.com/ollama/ollama/issues/14918).
const BILLING: &str = "x-anthropic-billing-header:";

/// Anthropic's Messages API.
pub(crate) struct Messages;

impl Shape for Messages {
    fn read(&self, mut body: Map<String, Value>, _: &ClientStore) -> Result<Read, Fault> {
        let is_on = |thinking: &Value| matches!(thinking["type"].as_str(), Some("enabled" | "adaptive"));
        let thinking = body.get("thinking").is_some_and(is_on);
        let is_off = given(&mut body, "thinking").is_some_and(|thinking| thinking["type"] == "disabled");
        set(&mut body, "reasoning_effort", is_off.then_some(NO_THINKING));
        vendor::refuse(&body, &vendor::FIELDS.messages)?;
        vendor::leave_out(&mut body, &vendor::FIELDS.messages);
        let mut messages = Vec::new();
        if let Some(system) = given(&mut body, "system") {
            messages.push(json!({"role": "system", "content": text(&system, "system")?}));
        }
        match body.shift_remove("messages") {
            Some(Value::Array(list)) => {
                for (at, message) in list.into_iter().enumerate() {
                    take(message, &format!("messages[{at}]"), &mut messages)?;
                }
            }
            _ => return Err(Fault::field("messages", "'messages' must be a list of messages")),
        }
        body.insert("messages".to_owned(), messages.into());
        let tools = given(&mut body, "tools").map(tools_of).transpose()?;
        let (tools, places) = tools.unwrap_or_default();
        set(&mut body, "tools", Some(tools).filter(|tools| !tools.is_empty()));
        if let Some(choice) = body.shift_remove("tool_choice") {
            let (choice, is_parallel) = choice_of(&choice)?;
            body.insert("tool_choice".to_owned(), choice);
            if !is_parallel {
                body.insert("parallel_tool_calls".to_owned(), false.into());
            }
        }
        let stop = body.shift_remove("stop_sequences");
        set(&mut body, "stop", stop);
        let format = format_of(&mut body)?;
        set(&mut body, "response_format", format);
        Ok(Read { chat: body, places: Places(places), writer: Box::new(MessageStream::new(thinking)) })
    }

    /// Returns Anthropic's error object; also used for a failure in mid-stream.
    fn error(&self, fault: &Fault) -> Value {
        writer::error(fault)
    }

    fn takes_results(&self) -> bool {
        true
    }

    /// Returns a `ping` event, which keeps a silent stream alive: clients give up if there are none.
    fn busy(&self) -> &'static str {
        "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    }

    fn hosted(&self, hosted: &Hosted, results: Option<Result<Results, String>>) -> Result<String, Fault> {
        hosted::answer(hosted, results)
    }

    /// Returns a model in the form of Anthropic's list (docs.claude.com/en/api/models-list). Its creation date is not
    /// known, so it is that of 1970.
    fn model(&self, name: &str) -> Option<Value> {
        Some(json!({"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}))
    }

    fn models(&self, models: Vec<Value>) -> Value {
        let [first, last] = [models.first(), models.last()].map(|model| model.map(|model| &model["id"]));
        json!({"data": models, "has_more": false, "first_id": first, "last_id": last})
    }

    fn field(&self, field: &str) -> String {
        if field == "response_format.json_schema.schema" {
            return "output_config.format.schema".to_owned();
        }
        field.replace(".function.parameters", ".input_schema").replace(".function", "")
    }
}

/// Returns the text of a content: a text, or the joined texts of a list of blocks without Claude Code's billing line.
fn text(content: &Value, place: &str) -> Result<String, Fault> {
    match content {
        Value::String(text) => Ok(text.clone()),
        Value::Array(blocks) => {
            let stays = |block: &&Value| !block["text"].as_str().is_some_and(|text| text.starts_with(BILLING));
            Ok(blocks.iter().filter(stays).map(line).collect::<Vec<_>>().join("\n\n"))
        }
        _ => Err(Fault::field(place, "expected a text or a list of blocks")),
    }
}

/// Converts a message of Anthropic's API and appends it: first each tool result as a message of its own, then the
/// rest.
fn take(mut message: Value, place: &str, messages: &mut Vec<Value>) -> Result<(), Fault> {
    let role = role_of(&message, &["user", "assistant", "system"], place)?;
    let content = message.get_mut("content").map(Value::take).unwrap_or_default();
    let blocks = match content {
        Value::String(text) => {
            messages.push(json!({"role": role, "content": text}));
            return Ok(());
        }
        Value::Array(blocks) => blocks,
        Value::Null => Vec::new(),
        _ => return Err(Fault::field(format!("{place}.content"), "expected a text or a list of blocks")),
    };
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for (at, mut block) in blocks.into_iter().enumerate() {
        match block["type"].as_str() {
            Some("tool_result") if role == "user" => messages.push(result(&block)),
            Some("tool_use") if role == "assistant" => {
                let [id, name, input] = ["id", "name", "input"].map(|field| take_member(&mut block, field));
                if !name.is_string() {
                    let place = format!("{place}.content[{at}].name");
                    return Err(Fault::field(place, "a call must name a function"));
                }
                calls.push(call(id, name, input));
            }
            // The model's own thinking is not sent back to it.
            Some("thinking" | "redacted_thinking") => {}
            _ => parts.push(part(block)),
        }
    }
    // Text alone becomes a string, which is the form that most endpoints accept.
    messages.extend(said(role, parts, calls, "\n\n"));
    Ok(())
}

fn result(block: &Value) -> Value {
    let content = match &block["content"] {
        Value::Null => Value::String(String::new()),
        Value::Array(blocks) => blocks.iter().cloned().map(part).collect(),
        text => text.clone(),
    };
    // Without `is_error` the API assumes success, but clients leave it out of errors, too.
    let is_error = block["is_error"].as_bool();
    json!({"role": "tool", "tool_call_id": block["tool_use_id"], "content": content, "is_error": is_error})
}

/// Removes `output_config` from a request: sets `reasoning_effort` for its `effort`, and returns the
/// `response_format` of Chat Completions for its `format`, or for the older `output_format`
/// (platform.claude.com/docs/en/build-with-claude/structured-outputs).
fn format_of(body: &mut Map<String, Value>) -> Result<Option<Value>, Fault> {
    let older = body.shift_remove("output_format").filter(|format| !format.is_null());
    let mut format = older.map(|format| ("output_format", format));
    match body.shift_remove("output_config") {
        None | Some(Value::Null) => {}
        Some(Value::Object(mut config)) => {
            set(body, "reasoning_effort", config.shift_remove("effort").filter(Value::is_string));
            if let Some(given) = config.shift_remove("format").filter(|format| !format.is_null()) {
                format = Some(("output_config.format", given));
            }
        }
        Some(_) => return Err(Fault::field("output_config", "'output_config' must be an object")),
    }
    let Some((place, mut format)) = format else { return Ok(None) };
    match format["type"].as_str() {
        Some("json_schema") if format["schema"].is_object() => {
            let schema = take_member(&mut format, "schema");
            Ok(Some(json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}})))
        }
        Some("json_schema") => {
            Err(Fault::field(format!("{place}.schema"), "expected a JSON Schema, which is an object"))
        }
        _ => Err(Fault::field(format!("{place}.type"), "expected 'json_schema'")),
    }
}

/// Converts Anthropic's tool choice to that of Chat Completions; the flag is `true` if one message may hold several
/// calls.
fn choice_of(choice: &Value) -> Result<(Value, bool), Fault> {
    let is_parallel = choice["disable_parallel_tool_use"] != true;
    let choice = match choice["type"].as_str() {
        Some("auto") => json!("auto"),
        Some("none") => json!("none"),
        Some("any") => json!("required"),
        Some("tool") => json!({"type": "function", "function": {"name": choice["name"]}}),
        _ => return Err(Fault::field("tool_choice.type", "expected 'auto', 'any', 'tool' or 'none'")),
    };
    Ok((choice, is_parallel))
}
