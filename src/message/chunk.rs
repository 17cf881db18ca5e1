//! Chunks of an OpenAI-compatible stream, as endpoints send them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Delta, DeltaKind, NativeCall};

#[derive(Deserialize)]
pub(crate) struct Chunk {
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) choices: Option<Vec<Choice>>,
    #[cfg(feature = "agent")]
    pub(crate) usage: Option<Value>,
    pub(crate) error: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default)]
    pub(crate) index: u64,
    pub(crate) delta: Option<Fields>,
    /// The message of a completion that was not streamed; some endpoints also repeat the whole answer in this field of
    /// the last chunk.
    pub(crate) message: Option<Fields>,
    pub(crate) finish_reason: Option<String>,
    /// Tokens with their probabilities, `{"content": [{"token": "…", "logprob": -0.1, "top_logprobs": [{"token": "…",
    /// "logprob": -0.1}]}]}` (OpenAI's API; llama.cpp, vLLM and SGLang send the same).
    #[cfg(feature = "agent")]
    #[serde(default)]
    pub(crate) logprobs: Value,
}

/// Fields of a message in which endpoints send the model's reasoning.
#[cfg(feature = "agent")]
pub(crate) const REASONING_FIELDS: [&str; 4] = [REASONING_CONTENT, "reasoning", "thinking", "reasoning_details"];

/// The first of [`REASONING_FIELDS`], in which some endpoints require the reasoning before calls in the history.
pub(crate) const REASONING_CONTENT: &str = "reasoning_content";

/// The fields of a message or a delta. Reasoning is in one of [`REASONING_FIELDS`].
#[derive(Deserialize)]
pub(crate) struct Fields {
    /// The answer's text, or a list of parts.
    #[serde(default)]
    content: Value,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    /// Reasoning in Ollama's API and on some hosts; other hosts send values here that are not reasoning.
    #[serde(default)]
    thinking: Value,
    /// Reasoning as a list of parts, as OpenRouter sends it (openrouter.ai/docs, reasoning tokens).
    #[serde(default)]
    reasoning_details: Value,
    /// The reason why the model refuses to answer, in place of the content.
    refusal: Option<String>,
    tool_calls: Option<Vec<ToolDelta>>,
    /// The only call, in the API's older form, which has no identifier.
    function_call: Option<Function>,
}

impl Fields {
    /// Removes the pieces of calls from the fields and returns them.
    pub(crate) fn take_calls(&mut self) -> Vec<ToolDelta> {
        let older = self.function_call.take();
        let calls = self.tool_calls.take().filter(|calls| !calls.is_empty());
        let older =
            || older.map(|function| ToolDelta { index: Value::Null, id: Value::Null, function: Some(function) });
        calls.unwrap_or_else(|| older().into_iter().collect())
    }

    /// Returns the non-empty pieces of text, those of the reasoning first.
    pub(crate) fn into_deltas(self) -> impl Iterator<Item = Delta> {
        let thinking = if let Value::String(text) = self.thinking { Some(text) } else { None };
        let named = [self.reasoning_content, self.reasoning, thinking];
        // Some endpoints send the same reasoning in several fields, so only the first counts.
        let reasoning = named.into_iter().flatten().find(|text| !text.is_empty()).or_else(|| {
            let parts = self.reasoning_details.as_array().into_iter().flatten();
            let texts = parts.filter_map(|part| part["text"].as_str().or(part["summary"].as_str()));
            Some(texts.collect::<String>())
        });
        let mut deltas = vec![Delta { kind: DeltaKind::Reasoning, text: reasoning.unwrap_or_default() }];
        match self.content {
            Value::String(text) => deltas.push(Delta { kind: DeltaKind::Content, text }),
            Value::Array(parts) => deltas.extend(parts.iter().filter_map(part)),
            _ => {}
        }
        deltas.extend(self.refusal.map(Delta::refusal));
        deltas.into_iter().filter(|delta| !delta.text.is_empty())
    }
}

/// Converts a part of a `content` list, which is text, or reasoning (`thinking`), which may itself be a list; else
/// `None`.
fn part(part: &Value) -> Option<Delta> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(thinking) = part.get("thinking") {
        let parts = thinking.as_array().into_iter().flatten();
        let joined = text(thinking).unwrap_or_else(|| parts.filter_map(|p| text(p.get("text")?)).collect());
        return Some(Delta { kind: DeltaKind::Reasoning, text: joined });
    }
    Some(Delta { kind: DeltaKind::Content, text: part.get("text").and_then(text)? })
}

/// A piece of a native call. A field that is missing, empty or of another type counts as absent.
#[derive(Deserialize)]
pub(crate) struct ToolDelta {
    #[serde(default)]
    index: Value,
    #[serde(default)]
    id: Value,
    function: Option<Function>,
}

#[derive(Deserialize, Default)]
struct Function {
    name: Option<String>,
    /// The arguments as JSON text; some endpoints send the object itself.
    #[serde(default)]
    arguments: Value,
}

/// Assembles native calls from their pieces.
///
/// By the protocol each piece has its call's `index`, and the first one `id` and name. Endpoints leave out one or the
/// other, give all calls one index, give every piece an id of its own, or repeat the name; the content of a piece then
/// decides whether it begins a call.
#[derive(Default)]
pub(crate) struct CallAssembler(Vec<(Option<u64>, NativeCall)>, usize);

/// Maximum number of equal calls in one message. The next one ends the message.
#[cfg(feature = "agent")]
pub const MAX_EQUAL_CALLS: usize = 5;

/// Number of bytes that a call counts towards the limit in addition to its arguments, since each piece is compared with
/// all calls.
const CALL: usize = 2 << 10;

impl CallAssembler {
    /// Adds the pieces of calls of one chunk.
    pub(crate) fn extend(&mut self, list: Vec<ToolDelta>) {
        let several = list.len() > 1;
        for (place, delta) in list.into_iter().enumerate() {
            // Pieces in the same list belong to different calls.
            let index = delta.index.as_u64().or_else(|| several.then_some(place as u64));
            self.push(index, delta);
        }
    }

    /// Returns the number of bytes that count towards the limit on the calls of an answer.
    #[cfg(feature = "agent")]
    pub(crate) fn bytes(&self) -> usize {
        self.1
    }

    /// Returns `true` if a call was made more often than [`MAX_EQUAL_CALLS`] allows, and then drops the call that began
    /// after it, so that the answer can be ended.
    #[cfg(feature = "agent")]
    pub(crate) fn end_at_repeats(&mut self) -> bool {
        let Some((_, [earlier @ .., (_, newest)])) = self.0.split_last() else { return false };
        // Where pieces of several calls alternate, the newest call may not be complete yet.
        let is_whole = || serde_json::from_str::<IgnoredAny>(&newest.arguments).is_ok();
        let is_equal = |call: &&NativeCall| call.name == newest.name && call.arguments == newest.arguments;
        let repeats = earlier.iter().map(|(_, call)| call).filter(is_equal).count() >= MAX_EQUAL_CALLS && is_whole();
        if repeats {
            self.0.pop();
        }
        repeats
    }

    fn push(&mut self, index: Option<u64>, delta: ToolDelta) {
        let function = delta.function.unwrap_or_default();
        let arguments = match function.arguments {
            Value::Null => String::new(),
            Value::String(text) => text,
            object => object.to_string(),
        };
        let id = match delta.id {
            Value::String(id) if !id.is_empty() => Some(id),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        };
        let piece = NativeCall { id, name: function.name.unwrap_or_default(), arguments };
        self.1 += piece.arguments.len();
        match self.place(index, &piece).map(|place| &mut self.0[place].1) {
            Some(call) if is_repeated(call, &piece) => {}
            Some(call) if !begins_another(call, &piece) => {
                call.id = call.id.take().or(piece.id);
                if call.name.is_empty() {
                    call.name = piece.name;
                }
                call.arguments.push_str(&piece.arguments);
            }
            _ => {
                self.1 += CALL;
                self.0.push((index, piece));
            }
        }
    }

    /// Returns the position in the list of the call that the piece belongs to, `None` if it begins another one.
    fn place(&self, index: Option<u64>, piece: &NativeCall) -> Option<usize> {
        let by_id = || {
            let same = |(i, call): &(Option<u64>, NativeCall)| {
                // If both have an index, the index decides: some endpoints give all calls one id.
                piece.id.is_some() && call.id == piece.id && (i.is_none() || index.is_none())
            };
            self.0.iter().rposition(same)
        };
        match index {
            Some(_) => self.0.iter().rposition(|(i, _)| *i == index).or_else(by_id),
            None => by_id().or_else(|| self.0.len().checked_sub(1)),
        }
    }

    /// Returns the calls in the order in which they began; a call without arguments gets `{}`.
    pub(crate) fn finish(self) -> Vec<NativeCall> {
        let calls = self.0.into_iter().map(|(_, call)| call);
        // A piece without name and arguments began no call.
        let calls = calls.filter(|call| !(call.name.is_empty() && call.arguments.trim().is_empty()));
        calls
            .map(
                |call| {
                    if call.arguments.trim().is_empty() { NativeCall { arguments: "{}".into(), ..call } } else { call }
                },
            )
            .collect()
    }
}

/// Returns `true` if the piece repeats the whole call, as some endpoints do at the end of a stream.
fn is_repeated(call: &NativeCall, piece: &NativeCall) -> bool {
    // Without an id a call that equals the one before is a second one.
    call.id.is_some() && call == piece && is_whole(&call.arguments)
}

/// Returns `true` if the piece begins a new call rather than continuing `call`, whose index or id it has.
fn begins_another(call: &NativeCall, piece: &NativeCall) -> bool {
    let other_id = call.id.is_some() && piece.id.is_some() && call.id != piece.id;
    let whole = || is_whole(&call.arguments);
    if piece.name.is_empty() {
        // Some endpoints give every piece an id of its own.
        return other_id && whole();
    }
    let other_name = !call.name.is_empty() && call.name != piece.name;
    let opens = piece.arguments.trim_start().starts_with('{');
    // Besides another name, two signs begin a call: an object after complete arguments, and a new id that no arguments
    // wait for.
    other_name || opens && whole() || other_id && (call.arguments.trim().is_empty() || whole())
}

/// Returns `true` if the arguments are complete JSON, so that nothing can follow them.
fn is_whole(arguments: &str) -> bool {
    // Most pieces are rejected by their last byte, without parsing all the arguments.
    arguments.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}
