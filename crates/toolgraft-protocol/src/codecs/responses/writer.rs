//! Writes an answer as a list of items, in events or whole. Each item is opened, filled and closed
//! before the next; the last event holds the whole answer.

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::tools::Forms;
use crate::codecs::shape::{Writer, error_type, event};
use crate::fault::Fault;
use crate::ids::{new_id, now};
use crate::out::{Finish, Out, model_of};
use crate::store::ClientStore;
use toolgraft::message::{FinishReason, NativeCall, Usage};
use toolgraft::wire::set_member;

/// Writer of an answer in the format of OpenAI's Responses.
pub(super) struct ResponseStream {
    id: String,
    created: u64,
    model: String,
    /// Fields of the request that the answer repeats, with their values.
    head: Map<String, Value>,
    /// `true` if the client requests a summary of the reasoning: reasoning is sent as a summary, else as the model's
    /// text.
    summary: bool,
    /// Number of events written so far.
    events: u64,
    /// Items of the answer that are complete.
    output: Vec<Value>,
    open: Option<OpenItem>,
    /// The form in which the client expects the calls of each tool.
    forms: Forms,
    kept: ClientStore,
}

/// The item of the answer that is being written.
struct OpenItem {
    kind: Kind,
    id: String,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Message,
    /// An item that is a message in which the model refuses to answer.
    Refusal,
    Reasoning,
}

impl ResponseStream {
    pub(super) fn new(head: Map<String, Value>, summary: bool, forms: Forms, kept: ClientStore) -> Self {
        let (model, output, open) = Default::default();
        let (id, created) = (new_id("resp_"), now());
        ResponseStream { id, created, model, head, summary, events: 0, output, open, forms, kept }
    }

    /// Returns the answer as a `response` object with the complete items so far.
    fn response(&self, status: &str, usage: Value, more: Value) -> Value {
        let mut response = json!({
            "id": self.id, "object": "response", "created_at": self.created, "status": status, "model": self.model,
            "output": self.output, "error": null, "incomplete_details": null, "usage": usage,
        });
        if let (Value::Object(response), Value::Object(more)) = (&mut response, more) {
            response.extend(self.head.clone());
            response.extend(more);
        }
        response
    }

    fn event(&mut self, name: &str, mut data: Value, to: &mut String) {
        set_member(&mut data, "sequence_number", self.events);
        self.events += 1;
        event(to, name, data);
    }

    fn start(&mut self, to: &mut String) {
        if self.events > 0 {
            return;
        }
        let response = self.response("in_progress", Value::Null, json!({}));
        self.event("response.created", json!({"response": response}), to);
        self.event("response.in_progress", json!({"response": response}), to);
    }

    /// Returns the index of the current item in the answer's `output`.
    fn index(&self) -> usize {
        self.output.len()
    }

    fn text(&mut self, kind: Kind, text: &str, to: &mut String) {
        self.start(to);
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close("completed", to);
            self.open(kind, to);
        }
        let Some(open) = &mut self.open else { return };
        open.text.push_str(text);
        let id = open.id.clone();
        self.of_part(&format!("{}.delta", self.delta_of(kind).1), (kind, &id), ("delta", text.into()), to);
    }

    /// Appends an event about the only part of an item.
    fn of_part(&mut self, name: &str, (kind, id): (Kind, &str), (field, value): (&str, Value), to: &mut String) {
        let mut data = json!({"item_id": id, "output_index": self.index(), field: value});
        set_member(&mut data, self.delta_of(kind).0, 0);
        // The probabilities of a part are in the part itself.
        if kind == Kind::Message && field != "part" {
            data["logprobs"] = json!([]);
        }
        self.event(&format!("response.{name}"), data, to);
    }

    /// Returns the name of the field that numbers the parts of an item of this kind, and the name of the events with
    /// its text.
    fn delta_of(&self, kind: Kind) -> (&'static str, &'static str) {
        match kind {
            Kind::Message => ("content_index", "output_text"),
            Kind::Refusal => ("content_index", "refusal"),
            Kind::Reasoning if self.summary => ("summary_index", "reasoning_summary_text"),
            Kind::Reasoning => ("content_index", "reasoning_text"),
        }
    }

    /// Returns the name of the events about the parts of an item of this kind.
    fn part_of(&self, kind: Kind) -> &'static str {
        if kind == Kind::Reasoning && self.summary { "reasoning_summary_part" } else { "content_part" }
    }

    fn open(&mut self, kind: Kind, to: &mut String) {
        let id = new_id(if kind == Kind::Reasoning { "rs_" } else { "msg_" });
        let item = self.item(kind, &id, None, "in_progress");
        let index = self.index();
        self.event("response.output_item.added", json!({"output_index": index, "item": item}), to);
        self.of_part(&format!("{}.added", self.part_of(kind)), (kind, &id), ("part", self.part(kind, "")), to);
        self.open = Some(OpenItem { kind, id, text: String::new() });
    }

    fn close(&mut self, status: &str, to: &mut String) {
        let Some(OpenItem { kind, id, text }) = self.open.take() else { return };
        let field = if kind == Kind::Refusal { "refusal" } else { "text" };
        self.of_part(&format!("{}.done", self.delta_of(kind).1), (kind, &id), (field, text.as_str().into()), to);
        self.of_part(&format!("{}.done", self.part_of(kind)), (kind, &id), ("part", self.part(kind, &text)), to);
        let item = self.item(kind, &id, Some(&text), status);
        self.item_done(item, to);
    }

    fn item_done(&mut self, item: Value, to: &mut String) {
        let index = self.index();
        self.event("response.output_item.done", json!({"output_index": index, "item": item}), to);
        self.kept.keep_item(&item, Instant::now());
        self.output.push(item);
    }

    fn part(&self, kind: Kind, text: &str) -> Value {
        match kind {
            Kind::Message => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
            Kind::Refusal => json!({"type": "refusal", "refusal": text}),
            Kind::Reasoning if self.summary => json!({"type": "summary_text", "text": text}),
            Kind::Reasoning => json!({"type": "reasoning_text", "text": text}),
        }
    }

    /// Returns the JSON object of an item; `text` is `None` in the event that begins the item.
    fn item(&self, kind: Kind, id: &str, text: Option<&str>, status: &str) -> Value {
        let parts: Vec<Value> = text.iter().map(|text| self.part(kind, text)).collect();
        match kind {
            Kind::Message | Kind::Refusal => {
                json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": parts})
            }
            Kind::Reasoning if self.summary => {
                json!({"id": id, "type": "reasoning", "status": status, "summary": parts})
            }
            Kind::Reasoning => {
                json!({"id": id, "type": "reasoning", "status": status, "summary": [], "content": parts})
            }
        }
    }

    fn call(&mut self, call: NativeCall, to: &mut String) {
        self.start(to);
        self.close("completed", to);
        let text = self.forms.text_of(&call.name);
        let begun = self.forms.item(NativeCall { arguments: String::new(), ..call.clone() }, "in_progress");
        let id = begun["id"].clone();
        let index = self.index();
        self.event("response.output_item.added", json!({"output_index": index, "item": begun}), to);
        let mut item = self.forms.item(call, "completed");
        set_member(&mut item, "id", id.clone());
        if let Some((name, field)) = text {
            let delta = json!({"item_id": id, "output_index": index, "delta": item[field]});
            self.event(&format!("response.{name}.delta"), delta, to);
            let mut done = json!({"item_id": id, "output_index": index});
            if field == "arguments" {
                set_member(&mut done, "name", item["name"].clone());
            }
            set_member(&mut done, field, item[field].clone());
            self.event(&format!("response.{name}.done"), done, to);
        }
        self.item_done(item, to);
    }

    /// Completes the current item, and returns the answer's status and the answer as a `response` object.
    fn end(&mut self, finish: &Finish, to: &mut String) -> (&'static str, Value) {
        self.start(to);
        let (status, details) = status(&finish.reason);
        self.close(status, to);
        (status, self.response(status, usage(finish.usage), details))
    }

    fn failed(&mut self, fault: &Fault, to: &mut String) {
        self.start(to);
        self.close("incomplete", to);
        let kind = error_type(fault.status);
        // Clients look for the error's members in the event itself, or in an object `error`.
        let error = json!({"type": kind, "code": fault.code, "message": fault.message, "param": fault.param});
        let data = json!({"code": fault.code, "message": fault.message, "param": fault.param, "error": error});
        self.event("error", data, to);
        let code = if fault.status == 429 { "rate_limit_exceeded" } else { fault.code.unwrap_or("server_error") };
        let error = json!({"error": {"code": code, "message": fault.message}});
        let response = self.response("failed", Value::Null, error);
        self.event("response.failed", json!({"response": response}), to);
    }
}

impl Writer for ResponseStream {
    fn begin(&mut self, model: &str, _: u64) {
        model.clone_into(&mut self.model);
    }

    fn write(&mut self, out: Out, to: &mut String) {
        match out {
            Out::Reasoning(text) => self.text(Kind::Reasoning, &text, to),
            Out::Text(text) => self.text(Kind::Message, &text, to),
            Out::Refusal(text) => self.text(Kind::Refusal, &text, to),
            Out::Call(call) => self.call(call, to),
            Out::Finish(finish) => {
                let (status, response) = self.end(&finish, to);
                self.event(&format!("response.{status}"), json!({"response": response}), to);
            }
            Out::Failed(fault) => self.failed(&fault, to),
            Out::Fields(fields) => self.model = model_of(&fields).unwrap_or(&self.model).to_owned(),
            Out::Reclassified(..) => {}
        }
    }

    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value {
        pieces.into_iter().for_each(|out| self.write(out, &mut String::new()));
        self.end(&finish, &mut String::new()).1
    }
}

/// Returns the status of a Responses answer for a finish reason, and its details if the answer is incomplete.
fn status(reason: &FinishReason) -> (&'static str, Value) {
    let incomplete = |reason: &str| ("incomplete", json!({"incomplete_details": {"reason": reason}}));
    match reason {
        FinishReason::Length => incomplete("max_output_tokens"),
        reason if reason.is_filtered() => incomplete("content_filter"),
        _ => ("completed", json!({})),
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens.unwrap_or(0), "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens.unwrap_or(0)},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    })
}
