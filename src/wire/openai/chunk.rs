//! A streamed Chat Completion, chunk by chunk (platform.openai.com/docs/api-reference/chat-streaming), and the whole
//! one.
//!
//! Unknown fields are kept in `other` and written again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Kind, ToolCall};

/// The value of a chunk's `object`.
const CHUNK: &str = "chat.completion.chunk";

/// A chunk of a streamed answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// The answer's identifier, the same in all its chunks.
    #[serde(default)]
    pub id: String,
    /// Always `chat.completion.chunk`.
    #[serde(default = "chunk")]
    pub object: String,
    /// Time at which the answer began, in seconds since 1970.
    #[serde(default)]
    pub created: u64,
    /// The model that answers.
    #[serde(default)]
    pub model: String,
    /// One piece of each choice that continues; empty in the chunk with the usage.
    #[serde(default)]
    pub choices: Vec<ChunkChoice>,
    /// The usage of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// Further fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A piece of a choice.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChunkChoice {
    /// Index of the choice.
    #[serde(default)]
    pub index: u64,
    /// The new content.
    #[serde(default)]
    pub delta: ChunkDelta,
    /// The reason why the answer ended; `null` before its last piece.
    #[serde(default)]
    pub finish_reason: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The new content of a choice.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChunkDelta {
    /// The author; only in the first chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Text of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Text of a refusal to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Text of the reasoning, as DeepSeek, vLLM and llama.cpp name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// Pieces of calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallDelta>,
    /// Further fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A piece of a call. The first has `id`, `type` and the whole name, later ones have arguments.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolCallDelta {
    /// Index of the call in the message, from 0.
    #[serde(default)]
    pub index: u64,
    /// The call's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Always `function`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The function's name, or more of its arguments.
    #[serde(default)]
    pub function: FunctionDelta,
}

/// The new content of a [`ToolCallDelta`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FunctionDelta {
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A piece of the arguments' JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

fn chunk() -> String {
    CHUNK.to_owned()
}

impl Default for Chunk {
    fn default() -> Self {
        Chunk {
            id: String::new(),
            object: chunk(),
            created: 0,
            model: String::new(),
            choices: Vec::new(),
            usage: None,
            other: Map::new(),
        }
    }
}

impl ToolCallDelta {
    /// Creates a single piece with the whole call.
    pub fn whole(index: u64, call: ToolCall) -> Self {
        let function = FunctionDelta { name: Some(call.function.name), arguments: Some(call.function.arguments) };
        ToolCallDelta { index, id: Some(call.id), kind: Some(call.kind), function }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_of_a_chunk_are_kept() {
        let text = r#"{"id":"c1","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi","audio":1},"finish_reason":null,"logprobs":{"content":[]}}],"system_fingerprint":"fp","timings":{"n":2}}"#;
        let chunk: Chunk = serde_json::from_str(text).unwrap();
        assert_eq!(chunk.other["system_fingerprint"], "fp");
        assert_eq!(serde_json::to_string(&chunk).unwrap(), text);
    }

    #[test]
    fn a_call_in_one_piece_has_all_that_clients_ask_for() {
        let call = ToolCall {
            id: "c1".into(),
            kind: Kind::Function,
            function: super::super::FunctionCall { name: "f".into(), arguments: "{}".into() },
        };
        let written = serde_json::to_value(ToolCallDelta::whole(0, call)).unwrap();
        let expected = serde_json::json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        assert_eq!(written, expected);
    }
}
