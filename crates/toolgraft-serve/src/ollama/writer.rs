//! Writes an answer as lines of JSON, or as one object.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::ids::utc_now;
use crate::out::{Collected, Finish, Out, model_of};
use crate::shape::{Writer, json_text};
use toolgraft::message::{FinishReason, NativeCall};
use toolgraft::wire::set_member;

/// The shapes of Ollama's interface.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ollama {
    /// The shape of `/api/chat`.
    Chat,
    /// The shape of `/api/generate`.
    Generate,
}

/// Writes an answer as lines; the last has the finish reason, the usage and the times.
pub(super) struct OllamaStream {
    shape: Ollama,
    model: String,
    /// `true` if the client wants the reasoning.
    thoughts: bool,
    /// Calls of a stream so far. They are sent in one line, since clients number the calls of each
    /// line from 0 (litellm, `ollama_chat`).
    calls: Vec<Value>,
    began: Instant,
    /// Time of the first piece: the endpoint read the prompt until then.
    first: Option<Instant>,
}

impl OllamaStream {
    pub(super) fn new(shape: Ollama, thoughts: bool) -> Self {
        let model = String::new();
        OllamaStream { shape, model, thoughts, calls: Vec::new(), began: Instant::now(), first: None }
    }

    /// Returns a line of a stream, or the whole answer without its end.
    fn answer(&self, text: String, thinking: String, calls: Vec<Value>) -> Value {
        let mut said = match self.shape {
            Ollama::Chat => json!({"role": "assistant", "content": text}),
            Ollama::Generate => json!({"model": self.model, "created_at": utc_now(), "response": text}),
        };
        if !thinking.is_empty() {
            set_member(&mut said, "thinking", thinking);
        }
        if !calls.is_empty() {
            set_member(&mut said, "tool_calls", calls);
        }
        let mut line = match self.shape {
            Ollama::Chat => json!({"model": self.model, "created_at": utc_now(), "message": said}),
            Ollama::Generate => said,
        };
        set_member(&mut line, "done", false);
        line
    }

    fn end(&self, line: &mut Value, finish: &Finish) {
        let reason = match &finish.reason {
            FinishReason::Length => "length",
            // Ollama has no word for this.
            reason if reason.is_filtered() => reason.as_str(),
            _ => "stop",
        };
        let total = self.began.elapsed();
        // For an answer that came whole, the time of its first piece is not known.
        let prompt = self.first.map_or(Duration::ZERO, |first| first - self.began);
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        set_member(line, "done", true);
        set_member(line, "done_reason", reason);
        set_member(line, "total_duration", nanoseconds(total));
        // The endpoint does not report whether it loaded the model.
        set_member(line, "load_duration", 0);
        set_member(line, "prompt_eval_count", finish.usage.prompt_tokens);
        set_member(line, "prompt_eval_duration", nanoseconds(prompt));
        set_member(line, "eval_count", finish.usage.completion_tokens);
        // At least 1, since clients divide by it.
        set_member(line, "eval_duration", nanoseconds(total.saturating_sub(prompt)).max(1));
    }
}

impl Writer for OllamaStream {
    fn begin(&mut self, model: &str, _: u64) {
        model.clone_into(&mut self.model);
    }

    fn write(&mut self, out: Out, to: &mut String) {
        let none = String::new;
        self.first.get_or_insert_with(Instant::now);
        let line = match out {
            Out::Reasoning(text) if self.thoughts => self.answer(none(), text, Vec::new()),
            Out::Text(text) | Out::Refusal(text) => self.answer(text, none(), Vec::new()),
            Out::Call(made) => return self.calls.push(call(self.calls.len(), made)),
            Out::Finish(finish) => {
                if !self.calls.is_empty() {
                    let calls = std::mem::take(&mut self.calls);
                    push_line(to, &self.answer(none(), none(), calls));
                }
                let mut line = self.answer(none(), none(), Vec::new());
                self.end(&mut line, &finish);
                line
            }
            Out::Failed(fault) => error(&fault),
            Out::Fields(fields) => {
                self.model = model_of(&fields).unwrap_or(&self.model).to_owned();
                return;
            }
            Out::Reasoning(_) | Out::Reclassified(..) => return,
        };
        push_line(to, &line);
    }

    fn whole(&mut self, answer: Collected) -> Value {
        let Collected { fields, reasoning, mut text, refusal, calls, finish } = answer;
        self.model = model_of(&fields).unwrap_or(&self.model).to_owned();
        // Ollama's interface has no field for a refusal.
        text.push_str(&refusal);
        let thinking = if self.thoughts { reasoning } else { String::new() };
        let calls = calls.into_iter().enumerate().map(|(index, made)| call(index, made)).collect();
        let mut whole = self.answer(text, thinking, calls);
        self.end(&mut whole, &finish.unwrap_or_default());
        whole
    }
}

fn push_line(to: &mut String, line: &Value) {
    to.push_str(&json_text(line));
    to.push('\n');
}

fn call(index: usize, call: NativeCall) -> Value {
    // The arguments were accepted by their schema, so they are an object.
    let arguments = call.object().unwrap_or_default();
    json!({"id": call.id, "function": {"index": index, "name": call.name, "arguments": arguments}})
}

/// Returns the error object for a fault.
pub(super) fn error(fault: &Fault) -> Value {
    json!({"error": fault.placed()})
}
