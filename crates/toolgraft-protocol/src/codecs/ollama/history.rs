//! Converts messages of Ollama's interface to those of Chat Completions. There, images are in a
//! field of their own, and calls and results may lack identifiers.

use serde_json::{Value, json};

use crate::codecs::pending_calls::PendingCalls;
use crate::codecs::shape::{self, role_of};
use crate::fault::Fault;
use toolgraft::message::Image;
use toolgraft::wire::roles::join;
use toolgraft::wire::take_member;

/// Number of base64 characters that are decoded to recognize an image's format.
const HEAD: usize = 32;

/// Converts the messages of Ollama's API to messages of Chat Completions.
pub(super) fn messages(messages: Option<Value>) -> Result<Vec<Value>, Fault> {
    let Some(Value::Array(list)) = messages else {
        return Err(Fault::field("messages", "'messages' must be a list of messages"));
    };
    let mut waiting = PendingCalls::default();
    let converted = |(at, item)| message(&mut waiting, item, &format!("messages[{at}]"));
    list.into_iter().enumerate().map(converted).collect()
}

fn message(waiting: &mut PendingCalls, mut message: Value, place: &str) -> Result<Value, Fault> {
    let role = role_of(&message, &["system", "user", "assistant", "tool"], place)?;
    let images = message.get_mut("images").map(Value::take);
    let content = match take_member(&mut message, "content") {
        Value::Null => content(String::new(), images, &format!("{place}.images"))?,
        Value::String(text) => content(text, images, &format!("{place}.images"))?,
        // Some clients send the list of parts of OpenAI's interface.
        parts @ Value::Array(_) => join(parts, content(String::new(), images, &format!("{place}.images"))?),
        _ => return Err(Fault::field(format!("{place}.content"), "a content must be a text")),
    };
    // The model's own thinking (`thinking`) is not sent back to it.
    let mut told = json!({"role": role, "content": content});
    if role == "tool" {
        let name = ["tool_name", "name"].iter().find_map(|field| message[*field].as_str()).unwrap_or_default();
        let id = message["tool_call_id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        told["tool_call_id"] = waiting.result(id, name).into();
        if !name.is_empty() {
            told["name"] = name.into();
        }
    } else if let Some(Value::Array(calls)) = message.get_mut("tool_calls").map(Value::take)
        && !calls.is_empty()
    {
        let place = |at: usize| format!("{place}.tool_calls[{at}]");
        let calls = calls.into_iter().enumerate().map(|(at, call)| self::call(waiting, call, &place(at)));
        told["tool_calls"] = Value::Array(calls.collect::<Result<_, _>>()?);
    }
    Ok(told)
}

fn call(waiting: &mut PendingCalls, mut call: Value, place: &str) -> Result<Value, Fault> {
    let Some(name) = call["function"]["name"].as_str().map(str::to_owned) else {
        return Err(Fault::field(format!("{place}.function.name"), "a call must name a function"));
    };
    let arguments = take_member(&mut take_member(&mut call, "function"), "arguments");
    let id = call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    let id = waiting.call(id, &name);
    Ok(shape::call(id, name, arguments))
}

/// Returns the content of a message: a text alone, or parts with the text and then the base64 images.
pub(super) fn content(text: String, images: Option<Value>, place: &str) -> Result<Value, Fault> {
    let list = match images {
        Some(Value::Array(list)) if !list.is_empty() => list,
        None | Some(Value::Null | Value::Array(_)) => return Ok(Value::String(text)),
        Some(_) => return Err(Fault::field(place, "'images' must be a list")),
    };
    let text = (!text.is_empty()).then(|| Ok(json!({"type": "text", "text": text})));
    let part = |(at, image): (usize, Value)| {
        let data = image.as_str().unwrap_or_default();
        let url = match data.starts_with("data:image/") {
            true => Some(data.to_owned()),
            false => Image::from_base64(data.get(..HEAD).unwrap_or(data))
                .map(|head| format!("data:{};base64,{data}", head.media_type())),
        };
        let fault = || Fault::field(format!("{place}[{at}]"), "expected a PNG, JPEG, GIF or WebP in base64");
        Ok(json!({"type": "image_url", "image_url": {"url": url.ok_or_else(fault)?}}))
    };
    text.into_iter().chain(list.into_iter().enumerate().map(part)).collect()
}
