//! Ollama's interface (docs.ollama.com/api): converts a request to one of Chat Completions, and
//! writes an answer as lines of JSON.
//!
//! Only known fields are forwarded: Ollama ignores unknown ones as well. Options of a loaded model
//! (`keep_alive`, `num_ctx`, `num_gpu`) concern the endpoint and are left out; fields without which
//! the answer would differ (`raw`, `suffix`, `template`, `context`) are refused.

mod history;
mod writer;

use serde_json::{Map, Value, json};

use self::history::{content, messages};
pub(crate) use self::writer::Ollama;
use self::writer::OllamaStream;
use super::shape::{NO_THINKING, Places, Read, Shape, given, set};
use super::vendor;
use crate::fault::Fault;
use crate::ids::utc_now;
use crate::store::ClientStore;

/// Ollama's options that are forwarded, each with its name in Chat Completions or at the servers that accept it there
/// (llama.cpp, vLLM).
const OPTIONS: [(&str, &str); 12] = [
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("min_p", "min_p"),
    ("typical_p", "typical_p"),
    ("seed", "seed"),
    ("stop", "stop"),
    ("num_predict", "max_tokens"),
    ("repeat_penalty", "repeat_penalty"),
    ("repeat_last_n", "repeat_last_n"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
];

/// Length in bytes from which on a request is not checked for being a load request of Ollama, which only names a
/// model and how long it stays loaded.
const LONGEST_LOAD: usize = 4_096;

impl Shape for Ollama {
    fn read(&self, mut body: Map<String, Value>, _: &ClientStore) -> Result<Read, Fault> {
        let messages = match self {
            Ollama::Chat => messages(body.shift_remove("messages"))?,
            Ollama::Generate => prompt(&mut body)?,
        };
        let mut chat = Map::from_iter([("messages".to_owned(), Value::Array(messages))]);
        // Ollama streams unless it is told not to.
        set(&mut chat, "stream", given(&mut body, "stream").or(Some(Value::Bool(true))));
        for field in ["model", "tools", "tool_choice", "logprobs", "top_logprobs"] {
            set(&mut chat, field, body.shift_remove(field));
        }
        match body.shift_remove("options") {
            None | Some(Value::Null) => {}
            Some(Value::Object(options)) => chat.extend(chosen(options)),
            Some(_) => return Err(Fault::field("options", "'options' must be an object")),
        }
        set(&mut chat, "response_format", format_of(body.shift_remove("format"))?);
        let think = body.shift_remove("think").unwrap_or_default();
        set(&mut chat, "reasoning_effort", if think == false { Some(NO_THINKING) } else { think.as_str() });
        let writer = OllamaStream::new(*self, think != false);
        Ok(Read { chat, places: Places::default(), writer: Box::new(writer) })
    }

    /// Returns Ollama's error object; also used for a failure in mid-stream.
    fn error(&self, fault: &Fault) -> Value {
        json!({"error": fault.placed()})
    }

    fn field(&self, field: &str) -> String {
        match field {
            "messages" if *self == Ollama::Generate => "prompt".to_owned(),
            "response_format.json_schema.schema" => "format".to_owned(),
            _ => match OPTIONS.iter().find(|(_, ours)| *ours == field) {
                Some((theirs, _)) => format!("options.{theirs}"),
                None => field.to_owned(),
            },
        }
    }

    /// Returns a space, which keeps a silent stream of JSON lines alive: clients would reject an empty line.
    fn busy(&self) -> &'static str {
        " "
    }

    fn stream_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    /// Answers a request without a prompt, which asks Ollama to load or unload a model; the endpoint manages its
    /// models itself.
    fn at_once(&self, body: &[u8]) -> Option<Value> {
        let body: Value = (body.len() < LONGEST_LOAD).then(|| serde_json::from_slice(body).ok())??;
        let (asked, said, nothing) = match self {
            Ollama::Chat => ("messages", "message", json!({"role": "assistant", "content": ""})),
            Ollama::Generate => ("prompt", "response", json!("")),
        };
        let is_empty = match &body[asked] {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        let has_model = body["model"].as_str().is_some_and(|model| !model.is_empty());
        let is_zero = |time: &str| time.trim_end_matches(char::is_alphabetic) == "0";
        // Ollama's client for Python sends 0.0.
        let kept = &body["keep_alive"];
        let unloads = kept.as_f64() == Some(0.0) || kept.as_str().is_some_and(is_zero);
        let reason = if unloads { "unload" } else { "load" };
        (is_empty && has_model).then(|| {
            json!({"model": body["model"], "created_at": utc_now(), said: nothing, "done": true, "done_reason": reason})
        })
    }
}

/// Returns Ollama's options that are forwarded, with their names there. A `num_predict` of 0 or less means no limit
/// to Ollama, so it is left out.
fn chosen(options: Map<String, Value>) -> impl Iterator<Item = (String, Value)> {
    let is_unlimited = |name: &str, value: &Value| name == "num_predict" && value.as_i64().is_some_and(|n| n <= 0);
    options.into_iter().filter_map(move |(name, value)| {
        let (_, ours) = OPTIONS.iter().find(|(theirs, _)| *theirs == name)?;
        (!value.is_null() && !is_unlimited(&name, &value)).then(|| ((*ours).to_owned(), value))
    })
}

/// Returns the `response_format` of Chat Completions for Ollama's `format`.
fn format_of(format: Option<Value>) -> Result<Option<Value>, Fault> {
    match format {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) if word.is_empty() => Ok(None),
        Some(Value::String(word)) if word == "json" => Ok(Some(json!({"type": "json_object"}))),
        Some(schema @ Value::Object(_)) => {
            Ok(Some(json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}})))
        }
        Some(_) => Err(Fault::field("format", "expected 'json' or a JSON Schema, which is an object")),
    }
}

/// Returns the messages of Chat Completions for a prompt of Ollama's `/api/generate`, with its system text and
/// images.
fn prompt(body: &mut Map<String, Value>) -> Result<Vec<Value>, Fault> {
    vendor::refuse(body, &vendor::FIELDS.ollama)?;
    let mut messages = Vec::new();
    if let Some(system) = body.shift_remove("system").filter(|system| !matches!(system.as_str(), None | Some(""))) {
        messages.push(json!({"role": "system", "content": system}));
    }
    let prompt = match body.shift_remove("prompt") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(prompt)) => prompt,
        Some(_) => return Err(Fault::field("prompt", "'prompt' must be a text")),
    };
    let content = content(prompt, body.shift_remove("images"), "images")?;
    messages.push(json!({"role": "user", "content": content}));
    Ok(messages)
}
