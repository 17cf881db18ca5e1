//! Writes an answer as a candidate with parts, in pieces or whole.

use serde_json::{Value, json};

use crate::codecs::shape::{Hosted, Link, Results, Writer, data};
use crate::fault::Fault;
use crate::ids::new_id;
use crate::out::{Finish, Out, model_of};
use toolgraft::message::{FinishReason, NativeCall, Usage};
use toolgraft::wire::set_member;

/// Writer of an answer in Gemini's format; the last piece has the finish reason and the usage.
pub(super) struct GeminiStream {
    id: String,
    model: String,
    /// `true` if the client wants the reasoning.
    thoughts: bool,
}

impl GeminiStream {
    pub(super) fn new(thoughts: bool) -> Self {
        GeminiStream { id: new_id(""), model: String::new(), thoughts }
    }

    /// Returns Gemini's part for a piece of the answer; `None` for reasoning that the client does not want, and for
    /// pieces without content. A refusal is text, since Gemini has no field for it.
    fn part(&mut self, out: Out) -> Option<Value> {
        match out {
            Out::Fields(fields) => {
                self.model = model_of(&fields).unwrap_or(&self.model).to_owned();
                None
            }
            Out::Reasoning(text) if self.thoughts => Some(json!({"text": text, "thought": true})),
            Out::Text(text) | Out::Refusal(text) => Some(text_part(text)),
            Out::Call(made) => Some(call(made)),
            _ => None,
        }
    }

    /// Returns a response object of Gemini with these parts; with `finish` it is the last one of the answer.
    fn piece(&self, parts: Vec<Value>, finish: Option<Finish>) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        let mut piece = json!({"candidates": [], "modelVersion": self.model, "responseId": self.id});
        if let Some(finish) = finish {
            candidate["finishReason"] = reason(&finish).into();
            piece["usageMetadata"] = usage(finish.usage);
        }
        piece["candidates"] = json!([candidate]);
        piece
    }
}

fn text_part(text: String) -> Value {
    json!({"text": text})
}

fn call(call: NativeCall) -> Value {
    // The arguments were accepted by their schema, so they are an object.
    let args = call.object().unwrap_or_default();
    json!({"functionCall": {"id": call.id, "name": call.name, "args": args}})
}

impl Writer for GeminiStream {
    fn begin(&mut self, model: &str, _: u64) {
        model.clone_into(&mut self.model);
    }

    fn write(&mut self, out: Out, to: &mut String) {
        match out {
            // Google's clients ignore a content without parts.
            Out::Finish(finish) => data(to, &self.piece(vec![text_part(String::new())], Some(finish))),
            Out::Failed(fault) => data(to, &error(&fault)),
            out => self.part(out).into_iter().for_each(|part| data(to, &self.piece(vec![part], None))),
        }
    }

    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value {
        let mut parts: Vec<Value> = pieces.into_iter().filter_map(|out| self.part(out)).collect();
        if parts.is_empty() {
            parts.push(text_part(String::new()));
        }
        self.piece(parts, Some(finish))
    }
}

/// Returns the result of a web search as the body of an answer that names its sources.
pub(super) fn found(hosted: &Hosted, results: &Results) -> String {
    let chunk = |link: &Link| json!({"web": {"uri": link.url, "title": link.title}});
    let chunks: Value = results.links.iter().map(chunk).collect();
    let grounding = json!({"webSearchQueries": [hosted.query], "groundingChunks": chunks, "groundingSupports": []});
    let writer = GeminiStream { model: hosted.model.clone(), ..GeminiStream::new(false) };
    let mut answer = writer.piece(vec![text_part(results.text.clone())], Some(Finish::default()));
    if let Some(candidate) = answer.pointer_mut("/candidates/0") {
        set_member(candidate, "groundingMetadata", grounding);
    }
    if !hosted.stream {
        return answer.to_string();
    }
    let mut body = String::new();
    data(&mut body, &answer);
    body
}

fn reason(finish: &Finish) -> &'static str {
    match &finish.reason {
        _ if finish.refused => "SAFETY",
        FinishReason::Length => "MAX_TOKENS",
        reason if reason.is_filtered() => "SAFETY",
        _ => "STOP",
    }
}

fn usage(usage: Usage) -> Value {
    let thoughts = usage.reasoning_tokens.unwrap_or(0).min(usage.completion_tokens);
    json!({
        "promptTokenCount": usage.prompt_tokens, "cachedContentTokenCount": usage.cached_tokens.unwrap_or(0),
        // Gemini counts reasoning separately from the answer's tokens.
        "candidatesTokenCount": usage.completion_tokens - thoughts, "thoughtsTokenCount": thoughts,
        "totalTokenCount": usage.prompt_tokens + usage.completion_tokens,
    })
}

/// Returns Gemini's error object for a fault.
pub(super) fn error(fault: &Fault) -> Value {
    let status = match fault.status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    json!({"error": {"code": fault.status, "message": fault.placed(), "status": status}})
}
