//! Writes Chat Completions in the form that clients were observed to require: `role` in the first
//! chunk; `id`, `object`, `created` and `model` in every chunk; each call whole in one chunk, with
//! dense indices from 0; the finish reason in a chunk of its own, and `tool_calls` never without
//! calls; a failure in mid-stream as an `error` object.

use serde_json::{Map, Value, json};

use super::functions;
use super::shape::{Places, Read, Shape, Writer, data, flag, json_text};
use crate::fault::Fault;
use crate::ids::{new_id, now};
use crate::out::{Finish, Out};
use crate::store::ClientStore;
use toolgraft::message::Usage;
use toolgraft::wire::set_member;

/// The JSON text of an empty list of choices, as a serialized chunk without choices has it.
const NO_CHOICES: &str = "\"choices\":[]";

/// OpenAI's Chat Completions API.
pub(crate) struct Chat;

impl Shape for Chat {
    fn read(&self, mut body: Map<String, Value>, _: &ClientStore) -> Result<Read, Fault> {
        let older = functions::take(&mut body);
        let writer = Box::new(ChatStream { older, ..ChatStream::of(&body)? });
        Ok(Read { chat: body, places: Places::default(), writer })
    }

    fn passes_to(&self) -> Option<&'static str> {
        Some("chat/completions")
    }
}

/// Writer of an answer in the format of Chat Completions.
pub(crate) struct ChatStream {
    /// A chunk without choices: the identifier, time, model and further fields that every chunk has.
    head: Value,
    /// JSON text of a chunk before and after its choices; made when it is first needed.
    around: Option<(String, String)>,
    include_usage: bool,
    begun: bool,
    calls: u64,
    /// `true` if calls are written in the older form that [`functions`] describes.
    older: bool,
}

impl ChatStream {
    /// Makes the writer of the answer to a request with this body.
    pub(crate) fn of(body: &Map<String, Value>) -> Result<Self, Fault> {
        let include_usage = match body.get("stream_options") {
            Some(Value::Object(options)) => flag(options, "include_usage")?.unwrap_or(false),
            _ => false,
        };
        let head = json!({
            "id": new_id("chatcmpl-"), "object": "chat.completion.chunk", "created": now(), "model": "", "choices": [],
        });
        Ok(ChatStream { head, around: None, include_usage, begun: false, calls: 0, older: false })
    }

    /// Returns the chunks for one piece of the answer; none for a piece without text or call, such as a fault.
    pub(crate) fn chunks(&mut self, out: Out) -> Vec<Value> {
        let delta = match out {
            Out::Fields(fields) => {
                self.take(fields);
                return Vec::new();
            }
            Out::Reasoning(text) => ("reasoning_content", text.into()),
            Out::Refusal(text) => ("refusal", text.into()),
            Out::Text(text) => ("content", text.into()),
            Out::Call(call) => {
                let mut call = call.tool_call();
                set_member(&mut call, "index", self.calls);
                self.calls += 1;
                ("tool_calls", json!([call]))
            }
            Out::Finish(finish) => return self.end(finish),
            Out::Reclassified(..) | Out::Failed(_) => return Vec::new(),
        };
        vec![self.chunk(Some(delta), None)]
    }

    /// Copies fields of the endpoint's chunks into every further chunk, except `id` and `created`: an answer of
    /// several rounds has one identifier and one time, made here.
    fn take(&mut self, fields: Map<String, Value>) {
        self.around = None;
        for (name, value) in fields {
            match (name.as_str(), &value) {
                ("id" | "created", _) => {}
                ("model", value) if !value.is_string() => {}
                _ => set_member(&mut self.head, &name, value),
            }
        }
    }

    fn chunk(&mut self, said: Option<(&str, Value)>, finish_reason: Option<&str>) -> Value {
        let mut delta = json!({});
        if !std::mem::replace(&mut self.begun, true) {
            set_member(&mut delta, "role", "assistant");
            // OpenAI's first chunk has an empty text beside the role, unless it has calls (its reference, "Streaming").
            if !matches!(said, Some(("content" | "tool_calls", _))) {
                set_member(&mut delta, "content", "");
            }
        }
        if let Some((field, value)) = said {
            set_member(&mut delta, field, value);
        }
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        self.head_with("choices", json!([choice]))
    }

    fn head_with(&self, field: &str, value: Value) -> Value {
        let mut chunk = self.head.clone();
        set_member(&mut chunk, field, value);
        chunk
    }

    /// Appends a chunk, not the first, that adds only text to the field. Writes the same as [`chunk`](Self::chunk),
    /// but copies the JSON around the choices instead of serializing it again.
    fn write_text(&mut self, field: &str, text: &str, to: &mut String) {
        let (before, after) = self.around.get_or_insert_with(|| {
            let head = json_text(&self.head);
            // Quotation marks inside a string are escaped, so this match is the field itself.
            let (before, after) = head.split_once(NO_CHOICES).unwrap_or((&head, ""));
            (before.to_owned(), after.to_owned())
        });
        to.push_str("data: ");
        to.push_str(before);
        to.push_str("\"choices\":[{\"index\":0,\"delta\":{\"");
        to.push_str(field);
        to.push_str("\":");
        to.push_str(&json_text(text));
        to.push_str("},\"finish_reason\":null}]");
        to.push_str(after);
        to.push_str("\n\n");
    }

    fn end(&mut self, finish: Finish) -> Vec<Value> {
        let mut chunks = vec![self.chunk(None, Some(finish.reason.as_str()))];
        if self.include_usage {
            chunks.push(self.head_with("usage", usage(finish.usage)));
        }
        chunks
    }
}

impl Writer for ChatStream {
    fn begin(&mut self, model: &str, _: u64) {
        set_member(&mut self.head, "model", model);
        self.around = None;
    }

    fn write(&mut self, out: Out, to: &mut String) {
        match &out {
            Out::Failed(fault) => return data(to, &Chat.error(fault)),
            // The first chunk has a role as well, so it takes the long way.
            Out::Text(text) if self.begun => return self.write_text("content", text, to),
            Out::Reasoning(text) if self.begun => return self.write_text("reasoning_content", text, to),
            _ => {}
        }
        let rounds = if let Out::Finish(finish) = &out { Some((finish.rounds, finish.total)) } else { None };
        for chunk in self.chunks(out) {
            match self.older {
                true => data(to, &functions::told(chunk)),
                false => data(to, &chunk),
            }
        }
        if let Some((rounds, total)) = rounds {
            to.push_str(&format!(": rounds {rounds}\n: usage {}\n\ndata: [DONE]\n\n", usage_text(total)));
        }
    }

    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value {
        let (mut message, mut calls) = (Map::new(), Vec::new());
        for mut chunk in pieces.into_iter().chain([Out::Finish(finish.clone())]).flat_map(|out| self.chunks(out)) {
            let Some(Value::Object(mut delta)) = chunk.pointer_mut("/choices/0/delta").map(Value::take) else {
                continue;
            };
            if let Some(Value::Array(more)) = delta.shift_remove("tool_calls") {
                calls.extend(more);
            }
            message.extend(delta);
        }
        // An empty answer without a call or a refusal keeps its empty text: some clients require
        // one.
        if message.get("content").is_none_or(|text| text == "")
            && (!calls.is_empty() || message.contains_key("refusal"))
        {
            message.insert("content".to_owned(), Value::Null);
        }
        if !calls.is_empty() {
            // Only the calls of a stream have an index.
            calls.iter_mut().filter_map(Value::as_object_mut).for_each(|call| drop(call.shift_remove("index")));
            message.insert("tool_calls".to_owned(), calls.into());
        }
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish.reason.as_str()});
        let mut object = self.head_with("choices", json!([choice]));
        set_member(&mut object, "object", "chat.completion");
        set_member(&mut object, "usage", usage(finish.usage));
        if self.older { functions::told(object) } else { object }
    }
}

/// Formats the token usage of several rounds as text, for headers and comments.
pub fn usage_text(usage: Usage) -> String {
    format!("prompt_tokens={}, completion_tokens={}", usage.prompt_tokens, usage.completion_tokens)
}

fn usage(usage: Usage) -> Value {
    let mut object = json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    });
    if let Some(tokens) = usage.reasoning_tokens {
        object["completion_tokens_details"] = json!({"reasoning_tokens": tokens});
    }
    if let Some(tokens) = usage.cached_tokens {
        object["prompt_tokens_details"] = json!({"cached_tokens": tokens});
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_written_as_the_chunk_that_it_is() {
        let head = json!({"model": "m \"choices\":[] 天", "system_fingerprint": "fp", "x": {"choices": []}});
        let Value::Object(head) = head else { unreachable!() };
        let mut stream = ChatStream::of(&Map::new()).unwrap();
        let mut other = ChatStream { head: stream.head.clone(), ..ChatStream::of(&Map::new()).unwrap() };
        let outs = [
            Out::Fields(head.clone()),
            Out::Text("first".to_owned()),
            Out::Text("a \"b\" \\ \n \u{1} 天".to_owned()),
            Out::Reasoning("so".to_owned()),
            Out::Fields(Map::from_iter([("service_tier".to_owned(), json!(1.5))])),
            Out::Text("more".to_owned()),
        ];
        for out in outs {
            let (mut written, mut expected) = (String::new(), String::new());
            stream.write(out.clone(), &mut written);
            other.chunks(out).iter().for_each(|chunk| expected += &format!("data: {}\n\n", json!(chunk)));
            assert_eq!(written, expected);
        }
        assert!(stream.around.is_some_and(|(_, after)| after.contains("service_tier")));
    }
}
