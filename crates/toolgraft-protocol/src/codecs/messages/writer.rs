//! Writes an answer as content blocks, in events or whole.

use serde_json::{Value, json};

use crate::codecs::shape::{Writer, event};
use crate::codecs::vendor::THREAD_UNSUPPORTED;
use crate::fault::Fault;
use crate::ids::new_id;
use crate::out::{Finish, Out, model_of};
use toolgraft::message::{FinishReason, NativeCall, Usage};
use toolgraft::wire::set_member;

/// Writer of an answer in the format of Anthropic's Messages.
#[derive(Default)]
pub(super) struct MessageStream {
    model: String,
    prompt_tokens: u64,
    thinking: bool,
    /// Type of the content block that is being written; `None` between blocks.
    open: Option<&'static str>,
    /// Content blocks that were begun so far.
    content: Vec<Value>,
    index: u64,
    begun: bool,
}

impl MessageStream {
    pub(super) fn new(thinking: bool) -> Self {
        MessageStream { thinking, ..MessageStream::default() }
    }

    fn start(&mut self, to: &mut String) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let usage = json!({"input_tokens": self.prompt_tokens, "output_tokens": 0});
        let message = self.message(Value::Null, usage);
        event(to, "message_start", json!({"message": message}));
    }

    /// Returns the answer as a message object with the blocks so far, which are removed.
    pub(super) fn message(&mut self, stop_reason: Value, usage: Value) -> Value {
        json!({
            "id": new_id("msg_"), "type": "message", "role": "assistant", "model": self.model,
            "content": std::mem::take(&mut self.content), "stop_reason": stop_reason, "stop_sequence": null,
            "usage": usage,
        })
    }

    /// Returns the whole answer as a message object, with its stop reason and its usage.
    pub(super) fn ended(&mut self, finish: &Finish) -> Value {
        self.message(stop_reason(finish).into(), usage_of(finish.usage))
    }

    /// Begins a content block of this type, unless the current block has that type and its text can continue.
    pub(super) fn open(&mut self, kind: &'static str, block: Value, to: &mut String) {
        self.start(to);
        // Texts join; each call is a block of its own.
        if self.open == Some(kind) && kind != "tool_use" {
            return;
        }
        self.close(to);
        event(to, "content_block_start", json!({"index": self.index, "content_block": block}));
        self.content.push(block);
        self.open = Some(kind);
    }

    fn close(&mut self, to: &mut String) {
        if self.open.take().is_some() {
            event(to, "content_block_stop", json!({"index": self.index}));
            self.index += 1;
        }
    }

    pub(super) fn delta(&mut self, delta: Value, to: &mut String) {
        event(to, "content_block_delta", json!({"index": self.index, "delta": delta}));
        let Some(block) = self.content.last_mut() else { return };
        for field in ["text", "thinking"] {
            if let (Some(more), Some(Value::String(text))) = (delta[field].as_str(), block.get_mut(field)) {
                text.push_str(more);
            }
        }
        if let Some(input) = delta["partial_json"].as_str() {
            set_member(block, "input", serde_json::from_str(input).unwrap_or_else(|_| json!({})));
        }
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
            Out::Call(NativeCall { id, name, arguments }) => {
                let id = id.unwrap_or_default();
                self.open("tool_use", json!({"type": "tool_use", "id": id, "name": name, "input": {}}), to);
                self.delta(json!({"type": "input_json_delta", "partial_json": arguments}), to);
                self.close(to);
            }
            Out::Finish(finish) => {
                self.start(to);
                self.close(to);
                let delta = json!({"stop_reason": stop_reason(&finish), "stop_sequence": null});
                event(to, "message_delta", json!({"delta": delta, "usage": usage_of(finish.usage)}));
                event(to, "message_stop", json!({}));
            }
            Out::Failed(fault) => event(to, "error", error(&fault)),
            Out::Fields(fields) => self.model = model_of(&fields).unwrap_or(&self.model).to_owned(),
            Out::Reasoning(_) | Out::Reclassified(..) => {}
        }
    }

    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value {
        pieces.into_iter().for_each(|out| self.write(out, &mut String::new()));
        self.ended(&finish)
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
        // Anthropic counts cached tokens separately.
        "input_tokens": usage.prompt_tokens - cached, "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0, "output_tokens": usage.completion_tokens,
    })
}

/// Returns Anthropic's error object, the data of an error event, for a fault.
pub(super) fn error(fault: &Fault) -> Value {
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
    let mut error = json!({"type": kind, "message": fault.placed()});
    if fault.code == Some(THREAD_UNSUPPORTED) {
        // Clients know by this code alone that they have to send whole histories.
        error["details"] = json!({"error_code": THREAD_UNSUPPORTED, "unsupported": [fault.param]});
    }
    json!({"type": "error", "error": error})
}
