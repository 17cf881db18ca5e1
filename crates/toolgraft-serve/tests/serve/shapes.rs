//! The interfaces of clients, with the differences in their requests, answers and errors.

use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Served, read};

/// An interface of clients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Chat,
    Messages,
    Responses,
    Gemini,
    Ollama,
}

pub(crate) use Shape::{Chat, Gemini, Messages, Ollama, Responses};

pub(crate) const SHAPES: [Shape; 5] = [Chat, Messages, Responses, Gemini, Ollama];

impl Shape {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Chat => "/v1/chat/completions",
            Messages => "/v1/messages",
            Responses => "/v1/responses",
            Gemini => "/v1beta/models/m:generateContent",
            Ollama => "/api/chat",
        }
    }

    /// Returns the path for an answer as a stream.
    pub(crate) fn stream_path(self) -> &'static str {
        match self {
            Gemini => "/v1beta/models/m:streamGenerateContent?alt=sse",
            _ => self.path(),
        }
    }

    /// Returns a request with these messages and tools.
    pub(crate) fn request(self, messages: Value, tools: Value) -> Value {
        match self {
            Chat => json!({"model": "m", "messages": messages, "tools": tools}),
            Messages => json!({"model": "m", "max_tokens": 1_000, "messages": messages, "tools": tools}),
            Responses => json!({"model": "m", "input": messages, "tools": tools}),
            Gemini => json!({"contents": messages, "tools": [{"functionDeclarations": tools}]}),
            Ollama => json!({"model": "m", "stream": false, "messages": messages, "tools": tools}),
        }
    }

    pub(crate) fn tool(self, name: &str, schema: Option<Value>) -> Value {
        match (self, schema) {
            (Chat | Ollama, Some(schema)) => {
                json!({"type": "function", "function": {"name": name, "parameters": schema}})
            }
            (Chat | Ollama, None) => json!({"type": "function", "function": {"name": name}}),
            (Messages, Some(schema)) => json!({"name": name, "input_schema": schema}),
            (Responses, Some(schema)) => json!({"type": "function", "name": name, "parameters": schema}),
            (Responses, None) => json!({"type": "function", "name": name}),
            (Gemini, Some(schema)) => json!({"name": name, "parametersJsonSchema": schema}),
            (Messages | Gemini, None) => json!({"name": name}),
        }
    }

    pub(crate) fn tools(self, names: &[&str]) -> Value {
        names.iter().map(|name| self.tool(name, Some(json!({"type": "object"})))).collect()
    }

    /// Returns a message of the role `user` or `assistant` with a text.
    pub(crate) fn says(self, role: &str, text: &str) -> Value {
        match self {
            Chat | Messages | Responses | Ollama => json!({"role": role, "content": text}),
            Gemini => json!({"role": if role == "user" { "user" } else { "model" }, "parts": [{"text": text}]}),
        }
    }

    /// Returns a call of the tool `f`.
    pub(crate) fn call(self) -> Value {
        match self {
            Chat => json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
            Messages => {
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]})
            }
            Responses => json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}),
            Gemini => json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}),
            Ollama => {
                json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]})
            }
        }
    }

    pub(crate) fn result(self) -> Value {
        match self {
            Chat => json!({"role": "tool", "tool_call_id": "c1", "content": "1"}),
            Messages => {
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}]})
            }
            Responses => json!({"type": "function_call_output", "call_id": "c1", "output": "1"}),
            Gemini => json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}),
            Ollama => json!({"role": "tool", "tool_name": "f", "content": "1"}),
        }
    }

    /// Requires a call of the tool with this name. Ollama's API has no field for it, but some of its clients send that
    /// of Chat Completions.
    pub(crate) fn chooses(self, request: &mut Value, name: &str) {
        match self {
            Chat | Ollama => request["tool_choice"] = json!({"type": "function", "function": {"name": name}}),
            Messages => request["tool_choice"] = json!({"type": "tool", "name": name}),
            Responses => request["tool_choice"] = json!({"type": "function", "name": name}),
            Gemini => {
                let config = json!({"mode": "ANY", "allowedFunctionNames": [name]});
                request["toolConfig"] = json!({"functionCallingConfig": config});
            }
        }
    }

    /// Forbids calls.
    pub(crate) fn forbids(self, request: &mut Value) {
        match self {
            Chat | Ollama | Responses => request["tool_choice"] = json!("none"),
            Messages => request["tool_choice"] = json!({"type": "none"}),
            Gemini => request["toolConfig"] = json!({"functionCallingConfig": {"mode": "NONE"}}),
        }
    }

    /// Returns message and place of an error, and asserts that it has this interface's form.
    #[track_caller]
    pub(crate) fn error(self, status: u16, body: &Value) -> (String, String) {
        let error = &body["error"];
        if self == Ollama {
            return placed(error.as_str().unwrap_or_else(|| panic!("{body:#}")));
        }
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{self:?} {body:#}")).to_owned();
        match self {
            Chat | Responses => {
                assert!(error["type"].is_string() && error.get("code").is_some(), "{body:#}");
                (message, error["param"].as_str().unwrap_or_default().to_owned())
            }
            Messages => {
                assert!(body["type"] == "error" && error["type"].is_string(), "{body:#}");
                placed(&message)
            }
            Gemini => {
                assert!(error["code"] == status && error["status"].is_string(), "{body:#}");
                placed(&message)
            }
            Ollama => unreachable!("answered above"),
        }
    }
}

/// Splits a message that begins with its place, for interfaces without a field for that.
fn placed(message: &str) -> (String, String) {
    let place = message.split_once(": ").map(|(place, _)| place).filter(|place| !place.contains(' '));
    (message.to_owned(), place.unwrap_or_default().to_owned())
}

/// Returns the server's answer to a body; fails if there is none within the time limit.
pub(crate) async fn ask(served: &Served, shape: Shape, body: String) -> (u16, Value) {
    let sent = served.client.post(format!("{}{}", served.url, shape.path())).header("content-type", "application/json");
    let answered =
        tokio::time::timeout(Duration::from_secs(60), async { read(sent.body(body).send().await.unwrap()).await });
    let (status, body) = answered.await.unwrap_or_else(|_| panic!("{shape:?} hangs"));
    (status.as_u16(), body)
}
