//! Writes an answer as lines of JSON, or as one object.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::codecs::shape::{Shape, Writer, json_text};
use crate::ids::utc_now;
use crate::out::{Finish, Out, model_of};
use toolgraft::message::{FinishReason, NativeCall};
use toolgraft::wire::set_member;

/// The two client APIs of Ollama for answers.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ollama {
    /// API of the path `/api/chat`.
    Chat,
    /// API of the path `/api/generate`.
    Generate,
}

/// Writer of an answer as lines of JSON; the last has the finish reason, the usage and the times.
pub(super) struct OllamaStream {
    shape: Ollama,
    model: String,
    /// `true` if the client wants the reasoning.
    thoughts: bool,
    /// Calls of the answer that are not written yet. They are sent in one line, since clients number the calls of
    /// each line from 0 (litellm, `ollama_chat`).
    calls: Vec<Value>,
    began: Instant,
    /// Time of the first piece of the answer, until which the endpoint read the prompt.
    first: Option<Instant>,
}

impl OllamaStream {
    pub(super) fn new(shape: Ollama, thoughts: bool) -> Self {
        let model = String::new();
        OllamaStream { shape, model, thoughts, calls: Vec::new(), began: Instant::now(), first: None }
    }

    /// Returns the field and the text for a piece of the answer; `None` for reasoning that the client does not want,
    /// and for pieces without text, such as calls. A refusal is text, since Ollama's interface has no field for it.
    fn said(&mut self, out: Out) -> Option<(&'static str, String)> {
        match (out, self.shape) {
            (Out::Call(made), _) => {
                self.calls.push(call(self.calls.len(), made));
                None
            }
            (Out::Fields(fields), _) => {
                self.model = model_of(&fields).unwrap_or(&self.model).to_owned();
                None
            }
            (Out::Reasoning(text), _) if self.thoughts => Some(("thinking", text)),
            (Out::Text(text) | Out::Refusal(text), Ollama::Chat) => Some(("content", text)),
            (Out::Text(text) | Out::Refusal(text), Ollama::Generate) => Some(("response", text)),
            _ => None,
        }
    }

    /// Returns a line of a stream, or a whole answer without its end, with these texts and the calls that are not
    /// written yet.
    fn line(&mut self, texts: impl IntoIterator<Item = (&'static str, String)>) -> Value {
        let mut said = match self.shape {
            Ollama::Chat => json!({"role": "assistant", "content": ""}),
            Ollama::Generate => json!({"model": self.model, "created_at": utc_now(), "response": ""}),
        };
        for (field, text) in texts {
            let text = said[field].as_str().unwrap_or_default().to_owned() + &text;
            set_member(&mut said, field, text);
        }
        if !self.calls.is_empty() {
            set_member(&mut said, "tool_calls", std::mem::take(&mut self.calls));
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
        self.first.get_or_insert_with(Instant::now);
        match out {
            Out::Finish(finish) => {
                if !self.calls.is_empty() {
                    push_line(to, &self.line([]));
                }
                let mut line = self.line([]);
                self.end(&mut line, &finish);
                push_line(to, &line);
            }
            Out::Failed(fault) => push_line(to, &self.shape.error(&fault)),
            out => {
                if let Some(said) = self.said(out) {
                    push_line(to, &self.line([said]));
                }
            }
        }
    }

    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value {
        let texts: Vec<_> = pieces.into_iter().filter_map(|out| self.said(out)).collect();
        let mut whole = self.line(texts);
        self.end(&mut whole, &finish);
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
