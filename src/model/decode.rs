//! Converts the events of an endpoint's answer to a model's.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::skeleton::Skeleton;
use super::words::{context_exceeded, line, message};
use super::{ModelError, ModelEvent, Progress, TokenChoice, Usage};
use crate::message::chunk::{CallAssembler, Choice, Chunk};
use crate::message::{DeltaKind, FinishReason};

/// Maximum number of bytes of one event of a stream, and of an answer that is not streamed.
pub const MAX_EVENT: usize = 16 << 20;

/// An event of the model, or the error that ended the stream.
pub type Item = Result<ModelEvent, ModelError>;

/// Maximum number of bytes of an answer's native calls.
const MAX_CALLS: usize = MAX_EVENT;

/// Converts the stream events of an endpoint to [`ModelEvent`]s.
#[derive(Default)]
pub struct Decoder {
    url: String,
    queue: VecDeque<Item>,
    /// `true` if top-level fields of the chunks that no other event contains are reported ([`ModelEvent::Fields`]).
    fields: bool,
    /// `true` if the tokens of the text are reported with their alternatives ([`ModelEvent::Tokens`]).
    alternatives: bool,
    forwarded: Map<String, Value>,
    /// The index of the choice whose text is used: the first one that arrives.
    choice: Option<u64>,
    calls: CallAssembler,
    /// `true` if a piece of a native call has arrived.
    pub(super) called: bool,
    usage: Option<Usage>,
    /// `true` if a piece of the answer has arrived.
    begun: bool,
    /// The finish reason, held back until the usage after it has arrived.
    pub(super) finish: Option<FinishReason>,
    /// The text of a JSON value that ends too early: an error if more data follows, else a sign that the stream was cut
    /// off.
    torn: Option<String>,
    /// The text around the content of the last chunk that was parsed as JSON. `useless` is the number of consecutive
    /// skeletons that matched no further chunk.
    skeleton: Option<Skeleton>,
    useless: u32,
    pub(super) over: bool,
}

/// Maximum number of consecutive skeletons that match no further chunk; after that no skeleton is computed.
const MAX_USELESS: u32 = 16;

impl Decoder {
    /// Creates a decoder for one answer of the endpoint at `url`, which must contain no secret.
    pub fn new(url: String) -> Self {
        Decoder { url, ..Decoder::default() }
    }

    /// Sets whether top-level fields of the chunks that no other event contains are reported ([`ModelEvent::Fields`]).
    pub fn with_fields(mut self, fields: bool) -> Self {
        self.fields = fields;
        self
    }

    /// Sets whether the tokens of the text are reported, with their alternatives; without it there is no
    /// [`ModelEvent::Tokens`].
    pub fn with_alternatives(mut self, alternatives: bool) -> Self {
        self.alternatives = alternatives;
        self
    }

    /// Returns the events of an answer that arrived as a whole: a completion, an error, or chunks line by line.
    #[cfg(feature = "client")]
    pub(super) fn whole(mut self, bytes: &[u8]) -> Vec<Item> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}');
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match value {
                Ok(value) => self.value(value, false),
                Err(error) => {
                    self.not_json(&error, text);
                    break;
                }
            }
        }
        self.end();
        self.queue.into()
    }

    /// Removes and returns the next event of the model; `None` if no event is ready.
    pub fn pop(&mut self) -> Option<Item> {
        self.queue.pop_front()
    }

    /// Reads the data of one stream event: a chunk's JSON text, or `[DONE]`. `is_error`: the type of the event is
    /// `error`.
    pub fn data(&mut self, data: &str, is_error: bool) {
        let data = data.trim();
        if self.over || data.is_empty() {
            return;
        }
        // More data follows, so the stream was not cut off there.
        if let Some(torn) = self.torn.take() {
            return self.reported(&format!("it is not JSON: {torn}"));
        }
        if data == "[DONE]" {
            // An endpoint that sends `[DONE]` need not send a finish reason.
            self.finish.get_or_insert_default();
            return self.end();
        }
        // The type `error` is outside the data, which may look like a chunk.
        if let Some(delta) = self.skeleton.as_ref().filter(|_| !is_error).and_then(|skeleton| skeleton.read(data)) {
            self.useless = 0;
            if !delta.text.is_empty() {
                self.queue.push_back(Ok(ModelEvent::Delta(delta)));
            }
            return;
        }
        match serde_json::from_str(data) {
            Ok(value) => self.value(value, is_error),
            Err(error) => return self.not_json(&error, data),
        }
        // The fields of this chunk may have been new in it, but repeating them, as the next chunk does, changes
        // nothing.
        // Chunks before the first text and after the finish reason differ from those around them.
        let settled = !is_error && !self.over && self.begun && self.finish.is_none() && self.useless < MAX_USELESS;
        self.skeleton = settled.then(|| Skeleton::of(data, self.choice)).flatten();
        self.useless += u32::from(self.skeleton.is_some());
    }

    fn not_json(&mut self, error: &serde_json::Error, text: &str) {
        let text = line(text).chars().take(200).collect::<String>();
        if error.is_eof() { self.torn = Some(text) } else { self.reported(&text) }
    }

    /// Reads a parsed chunk, a whole completion, or an error.
    pub fn value(&mut self, value: Value, is_error: bool) {
        self.skeleton = None;
        if self.over {
            return;
        }
        if self.fields {
            self.forward(&value);
        }
        let error = value.get("error").filter(|e| !e.is_null());
        let foreign = value.get("choices").is_none() && value.get("usage").is_none();
        // Some endpoints report an error as a bare object with a message; a chunk has `choices` or `usage`.
        if error.is_some() || is_error || foreign && message(&value).is_some() {
            let words = message(error.unwrap_or(&value)).unwrap_or_else(|| line(&value.to_string()));
            return match context_exceeded(&self.url, &words, &value.to_string()) {
                Some(error) => self.fail(error),
                None => self.reported(&words),
            };
        }
        // llama.cpp sends this if the request has `return_progress` (tools/server/README.md).
        if let Some(progress) = value.get("prompt_progress").filter(|_| !self.begun) {
            let number = |key: &str| progress.get(key).and_then(Value::as_u64);
            if let (Some(processed), Some(total)) = (number("processed"), number("total")) {
                self.queue.push_back(Ok(ModelEvent::Progress(Progress::Prompt { processed, total })));
            }
        }
        match serde_json::from_value::<Chunk>(value) {
            Ok(chunk) => self.chunk(chunk),
            Err(error) => self.reported(&format!("a chunk that cannot be read ({error})")),
        }
    }

    fn forward(&mut self, value: &Value) {
        let Some(object) = value.as_object().filter(|object| object.contains_key("choices")) else { return };
        let is_known = |key: &str| matches!(key, "object" | "choices" | "usage" | "error");
        let fields = object.iter().filter(|(key, value)| !is_known(key) && !value.is_null());
        let fields: Map<String, Value> = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        if fields != self.forwarded {
            self.forwarded = fields.clone();
            self.queue.push_back(Ok(ModelEvent::Fields(fields)));
        }
    }

    fn chunk(&mut self, chunk: Chunk) {
        if let Some(usage) = chunk.usage.as_ref().and_then(usage)
            && self.usage != Some(usage)
        {
            self.usage = Some(usage);
            self.queue.push_back(Ok(ModelEvent::Usage(usage)));
        }
        for choice in chunk.choices.unwrap_or_default() {
            if *self.choice.get_or_insert(choice.index) == choice.index {
                self.take(choice);
            }
        }
    }

    fn take(&mut self, choice: Choice) {
        // The whole answer, which some endpoints repeat at the end of a stream.
        let message = choice.message.filter(|_| !self.begun);
        if let Some(mut fields) = choice.delta.or(message) {
            let calls = fields.take_calls();
            if !calls.is_empty() {
                self.begun = true;
                self.called = true;
                self.calls.extend(calls);
                if self.calls.bytes() > MAX_CALLS {
                    let message = format!("the endpoint sent calls of more than {MAX_CALLS} bytes");
                    return self.fail(ModelError::cut_off(message));
                }
                if self.calls.end_at_repeats() {
                    self.finish = Some(FinishReason::ToolCalls);
                    return self.end();
                }
            }
            let mut tokens = Some(tokens(&choice.logprobs)).filter(|tokens| self.alternatives && !tokens.is_empty());
            for delta in fields.into_deltas() {
                self.begun = true;
                if delta.kind == DeltaKind::Content
                    && let Some(tokens) = tokens.take()
                {
                    self.queue.push_back(Ok(ModelEvent::Tokens(beginning_with(&delta.text, tokens))));
                }
                self.queue.push_back(Ok(ModelEvent::Delta(delta)));
            }
        }
        if let Some(reason) = choice.finish_reason.filter(|r| !r.is_empty()) {
            // OpenRouter's word for an answer at which the provider failed.
            if reason == "error" {
                return self.reported("the finish reason of its answer is 'error'");
            }
            self.finish = Some(FinishReason::from(reason.as_str()));
        }
    }

    /// Ends the answer with an error that the endpoint reported.
    fn reported(&mut self, words: &str) {
        let error = if self.begun {
            ModelError::cut_off(format!("{} reported an error: {words}", self.url))
        } else {
            let message = format!("the endpoint reported an error: {words}");
            ModelError::BadAnswer { url: self.url.clone(), message, gave_up: true, source: None }
        };
        self.fail(error);
    }

    /// Ends the answer because its body was cut off; after a finish reason, no part of the answer is missing.
    #[cfg(feature = "client")]
    pub(super) fn broken(&mut self, error: ModelError) {
        if self.finish.is_some() { self.end() } else { self.fail(error) }
    }

    fn fail(&mut self, error: ModelError) {
        if !self.over {
            self.queue.push_back(Err(error));
            self.over = true;
        }
    }

    /// Ends the answer at the end of the stream: reports its native calls and the finish reason, or that it was cut
    /// off.
    pub fn end(&mut self) {
        let Some(reason) = self.finish.take() else { return self.fail(ModelError::BrokeOff) };
        if !self.over {
            let calls = std::mem::take(&mut self.calls).finish().into_iter();
            self.queue.extend(calls.map(|call| Ok(ModelEvent::Call(call))));
            self.queue.push_back(Ok(ModelEvent::Finish(reason)));
            self.over = true;
        }
    }
}

/// Returns the tokens of a chunk with their alternatives, from its `logprobs`.
fn tokens(logprobs: &Value) -> Vec<TokenChoice> {
    let of = |token: &Value| Some((token.get("token")?.as_str()?.to_owned(), token.get("logprob")?.as_f64()?));
    let all = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let token = |token: &Value| {
        let (text, logprob) = of(token)?;
        Some(TokenChoice { text, logprob, others: all(token, "top_logprobs").iter().filter_map(of).collect() })
    };
    all(logprobs, "content").iter().filter_map(token).collect()
}

/// Adds a token without alternatives before `tokens` for the beginning of the text that they do not cover: some
/// endpoints hold back text and report only its last tokens.
fn beginning_with(text: &str, mut tokens: Vec<TokenChoice>) -> Vec<TokenChoice> {
    let told: String = tokens.iter().map(|token| token.text.as_str()).collect();
    if let Some(missing) = text.strip_suffix(told.as_str()).filter(|missing| !missing.is_empty()) {
        tokens.insert(0, TokenChoice::new(missing, 0.0));
    }
    tokens
}

/// Fields in which some endpoints report cached tokens: DeepSeek's, Moonshot's, and Anthropic's as gateways pass it on.
const CACHED: [&str; 3] = ["prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"];

/// Maximum of a token count that an endpoint reports, more than any answer has; counts are added up and must not
/// overflow.
const MAX_TOKENS: u64 = 1 << 40;

/// Reads the usage that an endpoint reported; `None` if it has neither prompt nor completion tokens.
fn usage(value: &Value) -> Option<Usage> {
    let number = |value: &Value, key: &str| Some(value.get(key)?.as_u64()?.min(MAX_TOKENS));
    let (prompt, completion) = (number(value, "prompt_tokens"), number(value, "completion_tokens"));
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let details = value.get("completion_tokens_details");
    Some(Usage {
        prompt_tokens: prompt.unwrap_or(0),
        completion_tokens: completion.unwrap_or(0),
        reasoning_tokens: details.and_then(|d| number(d, "reasoning_tokens")),
        cached_tokens: value
            .get("prompt_tokens_details")
            .and_then(|d| number(d, "cached_tokens"))
            .or_else(|| CACHED.iter().find_map(|field| number(value, field))),
        cost: value.get("cost").and_then(Value::as_f64),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the events of these chunks, and the number of chunks that were read by a skeleton; with `always_json`
    /// every chunk is parsed as JSON.
    fn read(chunks: &[String], always_json: bool) -> (Vec<String>, usize) {
        let mut decoder = Decoder::new("http://h".to_owned()).with_fields(true);
        let mut common = 0;
        for chunk in chunks {
            if always_json {
                decoder.useless = MAX_USELESS;
            }
            common += usize::from(decoder.skeleton.as_ref().is_some_and(|skeleton| skeleton.read(chunk).is_some()));
            decoder.data(chunk, false);
        }
        decoder.end();
        (decoder.queue.iter().map(|event| format!("{event:?}")).collect(), common)
    }

    fn is_the_same(chunks: &[String]) -> usize {
        let ((events, common), (as_json, none)) = (read(chunks, false), read(chunks, true));
        assert_eq!(events, as_json, "{chunks:#?}");
        assert_eq!(none, 0);
        common
    }

    #[test]
    fn recorded_streams_are_read_the_same_in_both_ways() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/streams");
        let (mut files, mut common) = (0, 0);
        let folders = [folder.into(), std::path::Path::new(folder).join("smollm2")];
        for entry in folders.iter().flat_map(|folder: &std::path::PathBuf| std::fs::read_dir(folder).unwrap()) {
            let path = entry.unwrap().path();
            if !path.to_string_lossy().ends_with(".jsonl") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            common += is_the_same(&lines);
            // Recordings hold deltas; as chunks they are those of their endpoint.
            for line in &mut lines {
                let value: Value = serde_json::from_str(line).unwrap_or_default();
                if let Some(text) = value.get("text").or_else(|| value.get("content")).and_then(Value::as_str) {
                    *line = serde_json::json!({"id": "c", "choices": [{"delta": {"content": text}}]}).to_string();
                }
            }
            common += is_the_same(&lines);
            files += 1;
        }
        assert!(files > 5 && common > 500, "{files} files, {common} chunks");
    }

    /// Generates a chunk of an endpoint that writes the fields of its chunks in this order.
    fn chunk() -> impl Strategy<Value = String> {
        let text = prop_oneof![
            8 => Just("word ".to_owned()),
            2 => "[a-z\"\\\\ \n天🦀<]{0,6}",
            1 => Just(String::new()),
        ];
        let text = (text, 0..8_u8).prop_map(|(text, form)| match form {
            0 => "null".to_owned(),
            1 => r#""\ud83d\ude00 \/""#.to_owned(),
            2 => r#""\ud83d""#.to_owned(),
            3 => r#"[{"type":"text","text":"part"}]"#.to_owned(),
            _ => Value::from(text).to_string(),
        });
        let rest = prop_oneof![
            20 => Just(""),
            1 => Just(r#","reasoning_content":"so""#),
            1 => Just(r#","reasoning":"so""#),
            1 => Just(r#","tool_calls":[]"#),
            1 => Just(r#","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]"#),
            1 => Just(r#","content":"twice""#),
        ];
        let reason = prop_oneof![20 => Just("null"), 1 => Just("\"stop\""), 1 => Just("\"\"")];
        let end = prop_oneof![
            20 => Just(""),
            1 => Just(r#","usage":{"prompt_tokens":3,"completion_tokens":5}"#),
            1 => Just(r#","usage":null"#),
            1 => Just(r#","system_fingerprint":"fp""#),
            1 => Just(r#","error":{"message":"full"}"#),
            1 => Just(r#","prompt_progress":{"processed":1,"total":2}"#),
            1 => Just("}"),
        ];
        let name = prop_oneof![9 => Just("content"), 1 => Just("reasoning_content"), 1 => Just("reasoning")];
        let index = prop_oneof![15 => Just(0), 1 => Just(1)];
        (text, rest, reason, end, name, index).prop_map(|(text, rest, reason, end, name, index)| {
            format!(
                r#"{{"id":"c","choices":[{{"index":{index},"delta":{{"{name}":{text}{rest}}},"finish_reason":{reason}}}]{end}}}"#
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn chunks_are_read_the_same_in_both_ways(chunks in prop::collection::vec(chunk(), 1..24)) {
            is_the_same(&chunks);
        }
    }
}
