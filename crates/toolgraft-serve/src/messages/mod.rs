//! Anthropic's Messages (docs.claude.com/en/api/messages): a request made into one of Chat
//! Completions, and an answer as content blocks.
//!
//! What only Anthropic's service has is refused by name where the answer would be another
//! without it (`mcp_servers`), and left out where it would not (`metadata`, `cache_control`, thinking
//! blocks of the history). Tools that run there are left out by name; those that the client runs are
//! taught with the parameters that Anthropic publishes. A block that no model here can read becomes a
//! line of text: a history is never refused for it.

mod blocks;
mod tools;

use serde_json::{Map, Value, json};

use self::blocks::{line, part};
use self::tools::{Tools, tools_of};
use super::fault::Fault;
use super::ids::new_id;
use super::out::{Collected, Finish, Out, Part};
use super::shape::{Messages as History, Places, Read, Shape, Writer, content_of, event, given, set};
use toolgraft::message::{FinishReason, NativeCall, Usage};

/// What Claude Code's first block of the system text begins with. It says nothing to a model and is
/// another in each request, so that an endpoint would read the whole prompt anew
/// (github.com/ollama/ollama/issues/14918).
const BILLING: &str = "x-anthropic-billing-header:";

/// Fields that mean something to Anthropic's service alone.
const THEIRS: [&str; 7] =
    ["thinking", "metadata", "service_tier", "container", "context_management", "betas", "inference_geo"];

/// Anthropic's Messages.
pub(super) struct Messages;

impl Shape for Messages {
    fn read(&self, mut body: Map<String, Value>) -> Result<Read, Fault> {
        let is_on = |thinking: &Value| matches!(thinking["type"].as_str(), Some("enabled" | "adaptive"));
        let thinking = body.get("thinking").is_some_and(is_on);
        if body.get("mcp_servers").is_some_and(|servers| servers.as_array().is_none_or(|list| !list.is_empty())) {
            return Err(Fault::field("mcp_servers", "'mcp_servers' cannot be had here: the server has its own"));
        }
        body.shift_remove("mcp_servers");
        let mut messages = History::default();
        if let Some(system) = given(&mut body, "system") {
            messages.push("system", json!({"role": "system", "content": text(&system, "system")?}));
        }
        match body.shift_remove("messages") {
            Some(Value::Array(list)) => {
                for (at, message) in list.into_iter().enumerate() {
                    take(message, &format!("messages[{at}]"), &mut messages)?;
                }
            }
            _ => return Err(Fault::field("messages", "'messages' must be a list of messages")),
        }
        let (mut messages, mut places) = messages.into_parts();
        let mut tools = Tools::default();
        if let Some(list) = given(&mut body, "tools") {
            tools = tools_of(list)?;
            body.insert("tools".to_owned(), Value::Array(std::mem::take(&mut tools.functions)));
        }
        if body.get("tool_choice").is_some_and(|choice| tools.left_out_names.contains(&choice["name"])) {
            // A request for a search alone, such as Claude Code's: the model is to say that there is none.
            body.shift_remove("tool_choice");
            let names: Vec<&str> = tools.left_out_names.iter().filter_map(Value::as_str).collect();
            let said = format!("There is no {} here. Say so, and make no results up.", names.join(", "));
            messages.insert(0, json!({"role": "system", "content": said}));
            places.insert(0, "tool_choice".to_owned());
        }
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
        body.retain(|field, _| !THEIRS.contains(&field.as_str()));
        body.insert("messages".to_owned(), Value::Array(messages));
        let places = Places { messages: places, tools: tools.places, left_out: tools.left_out };
        Ok(Read { chat: body, places, writer: Box::new(MessageStream::new(thinking)) })
    }

    /// For an answer in mid-stream, too.
    fn error(&self, fault: &Fault) -> Value {
        let kind = match fault.status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            503 | 529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": fault.placed()}})
    }

    fn field(&self, field: &str) -> String {
        if field == "response_format.json_schema.schema" {
            return "output_config.format.schema".to_owned();
        }
        field.replace(".function.parameters", ".input_schema").replace(".function", "")
    }
}

/// A text, or the text of a list of blocks.
fn text(content: &Value, place: &str) -> Result<String, Fault> {
    match content {
        Value::String(text) => Ok(text.clone()),
        Value::Array(blocks) => {
            let stays = |block: &&Value| !block["text"].as_str().is_some_and(|text| text.starts_with(BILLING));
            let texts = blocks.iter().filter(stays).map(|block| block["text"].as_str().ok_or(()));
            let texts = texts.collect::<Result<Vec<_>, ()>>();
            Ok(texts.map_err(|()| Fault::field(place, "expected blocks of text"))?.join("\n\n"))
        }
        _ => Err(Fault::field(place, "expected a text or a list of blocks")),
    }
}

/// A message as those of Chat Completions: results first, which have messages of their own.
fn take(mut message: Value, place: &str, messages: &mut History) -> Result<(), Fault> {
    let role = match message["role"].as_str() {
        Some(role @ ("user" | "assistant" | "system")) => role.to_owned(),
        Some(other) => {
            return Err(Fault::field(
                format!("{place}.role"),
                format!("'{other}' is no role here: 'user' or 'assistant'"),
            ));
        }
        None => return Err(Fault::field(format!("{place}.role"), "a message needs a 'role'")),
    };
    let content = message.get_mut("content").map(Value::take).unwrap_or_default();
    let blocks = match content {
        Value::String(text) => {
            messages.push(place, json!({"role": role, "content": text}));
            return Ok(());
        }
        Value::Array(blocks) => blocks,
        _ => return Err(Fault::field(format!("{place}.content"), "expected a text or a list of blocks")),
    };
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for (at, block) in blocks.into_iter().enumerate() {
        let within = format!("{place}.content[{at}]");
        match block["type"].as_str() {
            Some("tool_result") if role == "user" => messages.push(place, result(&block, &within)?),
            Some("tool_use") if role == "assistant" => calls.push(json!({
                "id": block["id"], "type": "function",
                "function": {"name": block["name"], "arguments": block["input"].to_string()},
            })),
            // The model's own thinking does not go back to it.
            Some("thinking" | "redacted_thinking") => {}
            // What the service's own tools did: a call there, and its result.
            Some("server_tool_use" | "mcp_tool_use") => parts.push(line(&block)),
            _ => parts.push(part(block, &within)?),
        }
    }
    if parts.is_empty() && calls.is_empty() {
        return Ok(());
    }
    // Most endpoints take a text where there is nothing else.
    let content = content_of(parts, role == "user", "\n\n");
    let mut message = json!({"role": role, "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    messages.push(place, message);
    Ok(())
}

fn result(block: &Value, place: &str) -> Result<Value, Fault> {
    let content = match &block["content"] {
        Value::Null => Value::String(String::new()),
        Value::Array(blocks) => {
            let parts =
                blocks.iter().enumerate().map(|(at, block)| part(block.clone(), &format!("{place}.content[{at}]")));
            Value::Array(parts.collect::<Result<_, _>>()?)
        }
        text => text.clone(),
    };
    Ok(
        json!({"role": "tool", "tool_call_id": block["tool_use_id"], "content": content, "is_error": block["is_error"] == true}),
    )
}

/// The form of the answer's text: `output_config.format`, or `output_format` of older clients
/// (platform.claude.com/docs/en/build-with-claude/structured-outputs). The rest of
/// `output_config` is for Anthropic's models.
fn format_of(body: &mut Map<String, Value>) -> Result<Option<Value>, Fault> {
    let older = body.shift_remove("output_format").filter(|format| !format.is_null());
    let mut format = older.map(|format| ("output_format", format));
    match body.shift_remove("output_config") {
        None | Some(Value::Null) => {}
        Some(Value::Object(mut config)) => {
            if let Some(given) = config.shift_remove("format").filter(|format| !format.is_null()) {
                format = Some(("output_config.format", given));
            }
        }
        Some(_) => return Err(Fault::field("output_config", "'output_config' must be an object")),
    }
    let Some((place, mut format)) = format else { return Ok(None) };
    match format["type"].as_str() {
        Some("json_schema") if format["schema"].is_object() => {
            let schema = format["schema"].take();
            Ok(Some(json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}})))
        }
        Some("json_schema") => {
            Err(Fault::field(format!("{place}.schema"), "expected a JSON Schema, which is an object"))
        }
        _ => Err(Fault::field(format!("{place}.type"), "expected 'json_schema'")),
    }
}

/// The choice among the tools, and whether several calls may come at once.
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

/// An answer in events.
pub(super) struct MessageStream {
    model: String,
    prompt_tokens: u64,
    thinking: bool,
    /// The type of the block that is open.
    open: Option<&'static str>,
    index: u64,
    begun: bool,
}

impl MessageStream {
    fn new(thinking: bool) -> Self {
        MessageStream { model: String::new(), prompt_tokens: 0, thinking, open: None, index: 0, begun: false }
    }

    fn start(&mut self, to: &mut String) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let usage = json!({"input_tokens": self.prompt_tokens, "output_tokens": 0});
        let message = json!({
            "id": new_id("msg_"), "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        event(to, "message_start", json!({"message": message}));
    }

    /// Makes a block of this type the open one.
    fn open(&mut self, kind: &'static str, block: Value, to: &mut String) {
        self.start(to);
        if self.open == Some(kind) && kind != "tool_use" {
            return;
        }
        self.close(to);
        event(to, "content_block_start", json!({"index": self.index, "content_block": block}));
        self.open = Some(kind);
    }

    fn close(&mut self, to: &mut String) {
        if self.open.take().is_some() {
            event(to, "content_block_stop", json!({"index": self.index}));
            self.index += 1;
        }
    }

    fn delta(&self, delta: Value, to: &mut String) {
        event(to, "content_block_delta", json!({"index": self.index, "delta": delta}));
    }
}

impl Writer for MessageStream {
    fn begin(&mut self, model: &str, prompt_tokens: u64) {
        model.clone_into(&mut self.model);
        self.prompt_tokens = prompt_tokens;
    }

    fn write(&mut self, out: Out, to: &mut String) {
        match out {
            Out::Reasoning(text) if self.thinking => {
                self.open("thinking", json!({"type": "thinking", "thinking": "", "signature": ""}), to);
                self.delta(json!({"type": "thinking_delta", "thinking": text}), to);
            }
            Out::Text(text) | Out::Refusal(text) => {
                self.open("text", json!({"type": "text", "text": ""}), to);
                self.delta(json!({"type": "text_delta", "text": text}), to);
            }
            Out::Call(call) => Part::all(call).into_iter().for_each(|part| self.write(Out::Part(part), to)),
            Out::Part(Part::Begin { id, name }) => {
                self.open("tool_use", json!({"type": "tool_use", "id": id, "name": name, "input": {}}), to);
            }
            Out::Part(Part::Arguments(text)) => {
                self.delta(json!({"type": "input_json_delta", "partial_json": text}), to);
            }
            Out::Part(Part::End) => self.close(to),
            Out::Finish(finish) => {
                self.start(to);
                self.close(to);
                let delta = json!({"stop_reason": stop_reason(&finish), "stop_sequence": null});
                event(to, "message_delta", json!({"delta": delta, "usage": usage_of(finish.usage)}));
                event(to, "message_stop", json!({}));
            }
            Out::Failed(fault) => event(to, "error", Messages.error(&fault)),
            Out::Fields(_) | Out::Reasoning(_) | Out::Reclassified(..) => {}
        }
    }

    fn whole(&mut self, answer: Collected) -> Value {
        let Collected { fields, reasoning, mut text, refusal, calls, finish, .. } = answer;
        // That interface has a reason for it, and no field.
        text.push_str(&refusal);
        let mut content = Vec::new();
        if self.thinking && !reasoning.is_empty() {
            content.push(json!({"type": "thinking", "thinking": reasoning, "signature": ""}));
        }
        if !text.is_empty() {
            content.push(json!({"type": "text", "text": text}));
        }
        content.extend(calls.into_iter().map(|NativeCall { id, name, arguments }| {
            let input: Value = serde_json::from_str(&arguments).unwrap_or_else(|_| json!({}));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }));
        let model = fields.get("model").and_then(Value::as_str).unwrap_or(&self.model);
        let (reason, usage) =
            finish.map_or((Value::Null, Value::Null), |finish| (json!(stop_reason(&finish)), usage_of(finish.usage)));
        json!({
            "id": new_id("msg_"), "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": usage,
        })
    }
}

fn stop_reason(finish: &Finish) -> &'static str {
    match &finish.reason {
        _ if finish.refused => "refusal",
        FinishReason::Length => "max_tokens",
        FinishReason::ToolCalls => "tool_use",
        reason if reason.is_filtered() => "refusal",
        _ => "end_turn",
    }
}

fn usage_of(usage: Usage) -> Value {
    let cached = usage.cached_tokens.unwrap_or(0).min(usage.prompt_tokens);
    json!({
        // There the cached ones stand apart.
        "input_tokens": usage.prompt_tokens - cached, "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0, "output_tokens": usage.completion_tokens,
    })
}
