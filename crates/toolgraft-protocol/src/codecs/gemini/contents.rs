//! Converts the `contents` of a request to messages of Chat Completions. Their calls may lack
//! identifiers.

use serde_json::{Map, Value, json};

use super::fields::part;
use crate::codecs::pending_calls::PendingCalls;
use crate::codecs::shape::{self, role_of, said};
use crate::codecs::vendor::asks;
use crate::fault::Fault;
use toolgraft::wire::content::line;

/// Converter of Gemini's contents; collects their messages.
#[derive(Default)]
pub(super) struct ContentsReader {
    pub(super) messages: Vec<Value>,
    waiting: PendingCalls,
}

impl ContentsReader {
    /// Adds the `systemInstruction`, a content or a text, as a system message.
    pub(super) fn system(&mut self, mut system: Value) {
        let parts = match part(&mut system, "parts") {
            Some(Value::Array(parts)) => parts,
            Some(one) => vec![one],
            None => vec![system],
        };
        let texts: Vec<String> = parts.into_iter().filter_map(plain).map(|part| line(&part)).collect();
        self.messages.push(json!({"role": "system", "content": texts.join("\n\n")}));
    }

    /// Converts and adds the `contents` of a Gemini request.
    pub(super) fn contents(&mut self, contents: Option<Value>) -> Result<(), Fault> {
        let list = match contents {
            Some(Value::Array(list)) if !list.is_empty() => list,
            Some(Value::Array(_)) => return Err(Fault::field("contents", "there is no content")),
            _ => return Err(Fault::field("contents", "'contents' must be a list of contents")),
        };
        for (at, content) in list.into_iter().enumerate() {
            self.content(content, &format!("contents[{at}]"))?;
        }
        Ok(())
    }

    fn content(&mut self, mut content: Value, place: &str) -> Result<(), Fault> {
        let role = match content.get("role").is_none_or(Value::is_null) {
            true => "user",
            false => role_of(&content, &["user", "model", "function"], place)?,
        };
        let role = if role == "model" { "assistant" } else { "user" };
        let list = match part(&mut content, "parts") {
            Some(Value::Array(list)) => list,
            // An answer that was cut off early has none.
            None if content.is_object() => Vec::new(),
            _ => return Err(Fault::field(format!("{place}.parts"), "a content must have a list of parts")),
        };
        let (mut parts, mut calls) = (Vec::new(), Vec::new());
        for (at, mut item) in list.into_iter().enumerate() {
            let place = format!("{place}.parts[{at}]");
            if let Some(call) = part(&mut item, "functionCall") {
                calls.push(self.call(call, &place)?);
            } else if let Some(response) = part(&mut item, "functionResponse") {
                let message = self.result(response);
                self.messages.push(message);
            } else if item["thought"] != true {
                // The model's own thoughts are not sent back to it.
                parts.extend(plain(item));
            }
        }
        // Gemini's clients send one text as several parts if it was streamed, so they are joined
        // without a separator.
        self.messages.extend(said(role, parts, calls, ""));
        Ok(())
    }

    fn call(&mut self, mut call: Value, place: &str) -> Result<Value, Fault> {
        let Some(name) = call["name"].as_str().map(str::to_owned) else {
            return Err(Fault::field(format!("{place}.functionCall.name"), "a call must name a function"));
        };
        let id = self.waiting.call(call["id"].as_str().map(str::to_owned), &name);
        Ok(shape::call(id, name, part(&mut call, "args").unwrap_or_default()))
    }

    fn result(&mut self, mut response: Value) -> Value {
        let media = part(&mut response, "parts").and_then(|mut parts| parts.as_array_mut().map(std::mem::take));
        let media: Vec<Value> = media.into_iter().flatten().filter_map(plain).collect();
        let name = response["name"].as_str().unwrap_or_default().to_owned();
        let id = self.waiting.result(response["id"].as_str().map(str::to_owned), &name);
        let (text, is_error) = result_text(part(&mut response, "response"));
        let content = match media.is_empty() {
            true => Value::String(text),
            false => Value::Array([vec![json!({"type": "text", "text": text})], media].concat()),
        };
        // Without the member `error` a response may be one nevertheless.
        let is_error = is_error.then_some(true);
        json!({"role": "tool", "tool_call_id": id, "name": name, "content": content, "is_error": is_error})
    }
}

/// Returns the text of a function's response, and `true` if it is an error. The text is the member `output`, `result`
/// or `error` if that is the only one, else the whole object as JSON.
fn result_text(response: Option<Value>) -> (String, bool) {
    let mut response = match response {
        Some(Value::Object(response)) => response,
        Some(other) => Map::from_iter([("output".to_owned(), other)]),
        None => Map::new(),
    };
    // An error without content says that there was none.
    response.retain(|key, value| key != "error" || asks(value));
    let plain = ["output", "result", "error"].iter().find_map(|key| response.get(*key)?.as_str());
    let plain = plain.filter(|_| response.len() == 1).map(str::to_owned);
    let is_error = response.contains_key("error");
    (plain.unwrap_or_else(|| Value::Object(response).to_string()), is_error)
}

/// Converts a part of Gemini's content to one of Chat Completions; `None` for a part without content. A part that
/// cannot be read becomes a line of text later.
fn plain(mut item: Value) -> Option<Value> {
    if let Some(text) = part(&mut item, "text") {
        return Some(json!({"type": "text", "text": text}));
    }
    if let Some(mut data) = part(&mut item, "inlineData") {
        let (kind, data) = (part(&mut data, "mimeType"), part(&mut data, "data"));
        return Some(match (kind.iter().find_map(Value::as_str), data.iter().find_map(Value::as_str)) {
            (Some(kind), Some(data)) => media(kind, &standard(data)),
            _ => json!({"type": "inlineData"}),
        });
    }
    if let Some(mut file) = part(&mut item, "fileData") {
        let (kind, uri) = (part(&mut file, "mimeType"), part(&mut file, "fileUri"));
        let is_image = kind.iter().find_map(Value::as_str).is_none_or(|kind| kind.starts_with("image/"));
        return Some(match uri.as_ref().and_then(Value::as_str) {
            Some(uri) if is_image => json!({"type": "image_url", "image_url": {"url": uri}}),
            uri => json!({"type": "fileData", "fileUri": uri}),
        });
    }
    // A part without known content may hold only the signature of a thought or metadata, which are
    // not needed.
    let harmless = ["thoughtSignature", "thought_signature", "thought", "videoMetadata", "mediaResolution"];
    let Some(members) = item.as_object() else { return Some(item) };
    let (name, said) = members.iter().find(|(key, v)| !v.is_null() && !harmless.contains(&key.as_str()))?;
    Some(json!({"type": name, name.as_str(): said}))
}

fn media(kind: &str, data: &str) -> Value {
    let url = format!("data:{kind};base64,{data}");
    match kind.split_once('/') {
        Some(("image", _)) => json!({"type": "image_url", "image_url": {"url": url}}),
        Some(("audio", format)) => json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}),
        _ => {
            let file = Map::from_iter([("file_data".to_owned(), Value::String(url))]);
            json!({"type": "file", "file": file})
        }
    }
}

/// Converts base64 to the standard alphabet: Google's clients write the URL-safe one.
fn standard(data: &str) -> String {
    data.replace('-', "+").replace('_', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_text_that_stands_alone_or_the_object() {
        for (response, text, is_error) in [
            (json!({"error": "no such city"}), "no such city", true),
            (json!({"result": "3"}), "3", false),
            (json!("3"), "3", false),
            (json!({"output": "3", "error": null}), "3", false),
            (json!({"output": "3", "error": ""}), "3", false),
            (json!({"output": "3", "error": "old"}), "{\"output\":\"3\",\"error\":\"old\"}", true),
            (json!({"degrees": 3}), "{\"degrees\":3}", false),
            (json!([3]), "{\"output\":[3]}", false),
        ] {
            assert_eq!(result_text(Some(response)), (text.to_owned(), is_error));
        }
        assert_eq!(result_text(None), ("{}".to_owned(), false));
    }
}
