//! The items of a request as messages of Chat Completions.

use serde_json::{Map, Value, json};

use crate::serve::fault::Fault;
use crate::wire::roles::join;

/// Messages, each with the place of the item that it began with.
#[derive(Default)]
pub(super) struct History {
    messages: Vec<Value>,
    places: Vec<String>,
}

impl History {
    pub(super) fn instructions(&mut self, text: String) {
        self.push("instructions", json!({"role": "system", "content": text}));
    }

    /// Takes the `input`: a text, or a list of items.
    pub(super) fn input(&mut self, input: Option<Value>) -> Result<(), Fault> {
        match input {
            Some(Value::String(text)) => self.push("input", json!({"role": "user", "content": text})),
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

    pub(super) fn into_parts(self) -> (Vec<Value>, Vec<String>) {
        (self.messages, self.places)
    }

    fn push(&mut self, place: &str, message: Value) {
        self.messages.push(message);
        self.places.push(place.to_owned());
    }

    fn item(&mut self, mut item: Value, place: &str) -> Result<(), Fault> {
        if !item.is_object() {
            return Err(Fault::field(place, "an item is an object"));
        }
        match item["type"].as_str().unwrap_or("message") {
            "message" => self.message(&mut item, place),
            "function_call" => {
                let function = json!({"name": item["name"], "arguments": item["arguments"]});
                if !function["name"].is_string() {
                    return Err(Fault::field(format!("{place}.name"), "a call names a function"));
                }
                let call = json!({"id": item["call_id"], "type": "function", "function": function});
                self.call(call, place);
                Ok(())
            }
            "function_call_output" => {
                let output = content(item["output"].take(), false, &format!("{place}.output"))?;
                self.push(place, json!({"role": "tool", "tool_call_id": item["call_id"], "content": output}));
                Ok(())
            }
            // The model's own reasoning does not go back to it.
            "reasoning" => Ok(()),
            "item_reference" => {
                let message = "nothing is kept between requests here: send the item itself";
                Err(Fault::field(format!("{place}.type"), message))
            }
            other => {
                Err(Fault::field(format!("{place}.type"), format!("items of the type '{other}' are not known here")))
            }
        }
    }

    fn message(&mut self, item: &mut Value, place: &str) -> Result<(), Fault> {
        let role = match item["role"].as_str() {
            Some(role @ ("user" | "assistant" | "system" | "developer")) => role.to_owned(),
            Some(other) => return Err(Fault::field(format!("{place}.role"), format!("'{other}' is no role here"))),
            None => return Err(Fault::field(format!("{place}.role"), "a message needs a 'role'")),
        };
        let content = content(item["content"].take(), role == "user", &format!("{place}.content"))?;
        match self.last_with_calls().filter(|_| role == "assistant") {
            // What the model said behind its calls stands before their results.
            Some(last) => last["content"] = join(last["content"].take(), content),
            None => self.push(place, json!({"role": role, "content": content})),
        }
        Ok(())
    }

    /// The model's last message, if its calls wait for their results.
    fn last_with_calls(&mut self) -> Option<&mut Value> {
        self.messages.last_mut().filter(|last| last.get("tool_calls").is_some())
    }

    /// A call belongs to the message before it, where the model said one.
    fn call(&mut self, call: Value, place: &str) {
        match self.messages.last_mut().filter(|last| last["role"] == "assistant").and_then(Value::as_object_mut) {
            Some(last) => match last.get_mut("tool_calls").and_then(Value::as_array_mut) {
                Some(calls) => calls.push(call),
                None => {
                    last.insert("tool_calls".to_owned(), json!([call]));
                }
            },
            None => self.push(place, json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        }
    }
}

/// A text, or a list of parts; of text alone it becomes one text, which most endpoints take.
fn content(content: Value, is_user: bool, place: &str) -> Result<Value, Fault> {
    let parts = match content {
        Value::String(text) => return Ok(Value::String(text)),
        Value::Array(parts) => parts,
        _ => return Err(Fault::field(place, "expected a text or a list of parts")),
    };
    let parts = parts.into_iter().enumerate().map(|(at, item)| part(item, &format!("{place}[{at}]")));
    let parts = parts.collect::<Result<Vec<Value>, Fault>>()?;
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    Ok(match texts {
        Some(texts) if texts.len() == 1 || !is_user => Value::String(texts.join("\n\n")),
        // Which of several are the person's own words is still to be told.
        _ => Value::Array(parts),
    })
}

/// A part as one of Chat Completions.
fn part(mut part: Value, place: &str) -> Result<Value, Fault> {
    let missing = |field: &str, remedy: &str| Err(Fault::field(format!("{place}.{field}"), remedy.to_owned()));
    match part["type"].as_str() {
        Some("input_text" | "output_text" | "text") if part["text"].is_string() => {
            Ok(json!({"type": "text", "text": part["text"].take()}))
        }
        Some("refusal") if part["refusal"].is_string() => Ok(json!({"type": "text", "text": part["refusal"].take()})),
        Some("input_image") if part["image_url"].is_string() => {
            let mut image = Map::from_iter([("url".to_owned(), part["image_url"].take())]);
            if part["detail"].is_string() {
                image.insert("detail".to_owned(), part["detail"].take());
            }
            Ok(json!({"type": "image_url", "image_url": image}))
        }
        Some("input_image") => missing("image_url", "no files are kept here: send the image as 'image_url'"),
        Some("input_file") if part["file_data"].is_string() => Ok(json!({
            "type": "file", "file": {"filename": part["filename"].take(), "file_data": part["file_data"].take()},
        })),
        Some("input_file") => missing("file_data", "no files are kept or fetched here: send the file as 'file_data'"),
        Some("input_audio") => Ok(json!({"type": "input_audio", "input_audio": part["input_audio"].take()})),
        Some(other) => missing("type", &format!("parts of the type '{other}' are not known here, or lack their text")),
        None => Err(Fault::field(place, "a part is an object with a 'type'")),
    }
}
