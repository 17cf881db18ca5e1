//! Converts the items of a request to messages of Chat Completions.

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::tools::{ACTIONS, full_name, input};
use crate::codecs::shape::{self, content_of, role_of};
use crate::fault::Fault;
use crate::store::ClientStore;
use toolgraft::wire::take_member;

/// Converter of the input items of Responses; collects their messages.
pub(super) struct ItemsReader {
    kept: ClientStore,
    pub(super) messages: Vec<Value>,
    /// Tools that searches of the client found: each list, preceded by the place of its item in the request.
    found: Vec<(String, Value)>,
}

impl ItemsReader {
    pub(super) fn new(kept: ClientStore) -> Self {
        ItemsReader { kept, messages: Vec::new(), found: Vec::new() }
    }

    pub(super) fn instructions(&mut self, text: String) {
        self.messages.push(json!({"role": "system", "content": text}));
    }

    /// Converts and adds the `input` of a Responses request: a text, or a list of items.
    pub(super) fn input(&mut self, input: Option<Value>) -> Result<(), Fault> {
        match input {
            Some(Value::String(text)) => self.messages.push(json!({"role": "user", "content": text})),
            Some(Value::Array(items)) if !items.is_empty() => {
                for (at, item) in items.into_iter().enumerate() {
                    self.item(item, &format!("input[{at}]"))?;
                }
            }
            Some(Value::Array(_)) => return Err(Fault::field("input", "'input' is empty")),
            _ => return Err(Fault::field("input", "'input' must be a text or a list of items")),
        }
        Ok(())
    }

    /// Returns the lists of tools that searches of the client found, each preceded by the place of its item in the
    /// request.
    pub(super) fn found(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.found.iter().map(|(place, tools)| (place.as_str(), tools))
    }

    fn item(&mut self, mut item: Value, place: &str) -> Result<(), Fault> {
        if !item.is_object() {
            return Err(Fault::field(place, "an item must be an object"));
        }
        // OpenAI's interface allows a reference without a type.
        let is_named = item["type"] == "item_reference" || item.as_object().is_some_and(|item| item.keys().eq(["id"]));
        if is_named {
            item = self.kept.item(item["id"].as_str().unwrap_or_default(), Instant::now()).ok_or_else(|| {
                let why = "no item of this id was sent to this client in the last ten minutes: send the item itself, \
                           as clients do with 'store': false";
                Fault::field(format!("{place}.id"), why)
            })?;
        }
        let kind = item["type"].as_str().unwrap_or("message").to_owned();
        match kind.as_str() {
            "message" => return self.message(&mut item, place),
            "function_call" => {
                let Some(name) = item["name"].as_str() else {
                    return Err(Fault::field(format!("{place}.name"), "a call must name a function"));
                };
                let name = full_name(item["namespace"].as_str(), name);
                self.call(&item, &name, item["arguments"].clone());
            }
            "custom_tool_call" => {
                let name = full_name(item["namespace"].as_str(), item["name"].as_str().unwrap_or_default());
                self.call(&item, &name, input(&item["input"]));
            }
            // The model's own reasoning is not sent back to it, and only OpenAI's service can call the tools that it
            // has listed.
            "reasoning" | "mcp_list_tools" => {}
            "tool_search_output" => {
                let tools = take_member(&mut item, "tools");
                let names = tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
                let text = format!("Found: {}", names.collect::<Vec<_>>().join(", "));
                self.result(&item, text.into());
                self.found.push((place.to_owned(), tools));
            }
            kind if kind.ends_with("_output") => {
                let output = output(take_member(&mut item, "output"), &format!("{place}.output"))?;
                self.result(&item, output);
            }
            kind => match ACTIONS.iter().find(|action| action.item == kind && id_of(&item).is_string()) {
                Some(action) => self.call(&item, &action.name, item[&action.field].clone()),
                // A part may be sent as an item. Actions of OpenAI's service in an earlier answer and unknown items
                // become a line of text.
                None => {
                    // `web_search_call`, `output_text` and `refusal` are the model's, all others the user's.
                    let is_models = kind.ends_with("_call") || kind.starts_with("output_") || kind == "refusal";
                    let role = if is_models { "assistant" } else { "user" };
                    return self.message(&mut json!({"role": role, "content": [item]}), place);
                }
            },
        }
        Ok(())
    }

    fn result(&mut self, item: &Value, output: Value) {
        let mut message = json!({"role": "tool", "tool_call_id": id_of(item), "content": output});
        // Only an item of this type says whether the tool failed.
        if item["type"] == "apply_patch_call_output" {
            message["is_error"] = (item["status"] == "failed").into();
        }
        self.messages.push(message);
    }

    fn message(&mut self, item: &mut Value, place: &str) -> Result<(), Fault> {
        let role = role_of(item, &["user", "assistant", "system", "developer"], place)?;
        let content = content(take_member(item, "content"), role == "user", &format!("{place}.content"))?;
        self.messages.push(json!({"role": role, "content": content}));
        Ok(())
    }

    /// Adds a call to the last message if that is the model's, else to a new message.
    fn call(&mut self, item: &Value, name: &str, arguments: Value) {
        let call = shape::call(id_of(item).clone(), name, arguments);
        match self.messages.last_mut().filter(|last| last["role"] == "assistant").and_then(Value::as_object_mut) {
            Some(last) => match last.get_mut("tool_calls").and_then(Value::as_array_mut) {
                Some(calls) => calls.push(call),
                None => {
                    last.insert("tool_calls".to_owned(), json!([call]));
                }
            },
            None => self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        }
    }
}

/// Returns the `call_id` of an item, or the item's own `id` if it has none, as calls of a shell may.
fn id_of(item: &Value) -> &Value {
    item.get("call_id").filter(|id| !id.is_null()).unwrap_or(&item["id"])
}

/// Converts the output of a tool to the content of a message: a text, parts, or the output of each command of a
/// shell.
fn output(output: Value, place: &str) -> Result<Value, Fault> {
    let commands = output.as_array().filter(|list| list.iter().any(|command| command.get("outcome").is_some()));
    let Some(commands) = commands else {
        return match output {
            Value::Null | Value::String(_) | Value::Array(_) => content(output, false, place),
            other => Ok(other.to_string().into()),
        };
    };
    let told = commands.iter().map(|command| {
        let text = |field: &str| command[field].as_str().unwrap_or_default();
        let end = match command["outcome"]["exit_code"].as_i64() {
            Some(code) => format!("exit code {code}"),
            None => command["outcome"]["type"].as_str().unwrap_or_default().to_owned(),
        };
        let parts = [text("stdout"), text("stderr"), &end].map(str::trim_end);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    });
    Ok(told.collect::<Vec<_>>().join("\n\n").into())
}

/// Converts the content of a message of Responses: a text, a list of parts, or null. Parts of text alone become one
/// text, which is the form that most endpoints accept.
fn content(content: Value, is_user: bool, place: &str) -> Result<Value, Fault> {
    match content {
        Value::Null => Ok(Value::String(String::new())),
        Value::String(text) => Ok(Value::String(text)),
        Value::Array(parts) => Ok(content_of(parts.into_iter().map(part).collect(), is_user, "\n\n")),
        _ => Err(Fault::field(place, "expected a text or a list of parts")),
    }
}

/// Converts a part of a content of Responses to one of Chat Completions. A part that cannot be read becomes a line of
/// text later.
fn part(mut part: Value) -> Value {
    match part["type"].as_str() {
        Some("input_text" | "output_text" | "text") if part["text"].is_string() => {
            json!({"type": "text", "text": take_member(&mut part, "text")})
        }
        Some("refusal") if part["refusal"].is_string() => {
            json!({"type": "text", "text": take_member(&mut part, "refusal")})
        }
        Some("input_image") if part["image_url"].is_string() => {
            let mut image = Map::from_iter([("url".to_owned(), take_member(&mut part, "image_url"))]);
            if part["detail"].is_string() {
                image.insert("detail".to_owned(), take_member(&mut part, "detail"));
            }
            json!({"type": "image_url", "image_url": image})
        }
        Some("input_file") if part["file_data"].is_string() => json!({
            "type": "file", "file": {"filename": take_member(&mut part, "filename"), "file_data": take_member(&mut part, "file_data")},
        }),
        Some("input_audio") => json!({"type": "input_audio", "input_audio": take_member(&mut part, "input_audio")}),
        // For example a file stored at OpenAI's service.
        _ => part,
    }
}
