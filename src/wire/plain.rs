//! Messages, calls and definitions, and their form in Chat Completions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[cfg(feature = "prompt")]
use crate::message::TokenCounter;
use crate::message::chunk::REASONING_CONTENT;
use crate::message::{Audio, Image, Message, NativeCall};

/// The definition of a tool for a model with native tool calling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Name of the tool in requests; see [`wire_name`](super::wire_name).
    pub name: String,
    /// Description of the tool; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments; an object at its root.
    pub parameters: Value,
}

impl ToolDefinition {
    /// Returns the definition as an item of `tools` in a request.
    pub fn function(&self) -> Value {
        json!({"type": "function", "function": self})
    }

    /// Returns the definition's JSON in a request, which most chat templates show to the model unchanged.
    #[cfg(feature = "prompt")]
    pub(crate) fn text(&self) -> String {
        self.function().to_string()
    }

    /// Returns the number of tokens of the definition in a request.
    #[cfg(feature = "prompt")]
    pub(crate) fn tokens(&self, counter: &TokenCounter) -> usize {
        counter.count(&self.text())
    }
}

impl Message {
    /// Returns the message as an item of `messages` in a request, with the reasoning before its calls if `reasoning`.
    /// The content of a message without text is an empty string, since some endpoints refuse `null`.
    pub fn chat(&self, reasoning: bool) -> Value {
        let mut object = Map::new();
        object.insert("role".to_owned(), self.role.as_str().into());
        if let Some(id) = &self.call_id {
            object.insert("tool_call_id".to_owned(), id.as_str().into());
        }
        object.insert("content".to_owned(), self.chat_content());
        if let Some(thought) = self.reasoning.as_deref().filter(|_| reasoning) {
            object.insert(REASONING_CONTENT.to_owned(), thought.into());
        }
        if !self.calls.is_empty() {
            object.insert("tool_calls".to_owned(), self.calls.iter().map(NativeCall::tool_call).collect());
        }
        Value::Object(object)
    }

    /// Returns the content of the message for a request: its text, or a list of parts if it has images or audio.
    pub fn chat_content(&self) -> Value {
        if self.images.is_empty() && self.audio.is_empty() {
            return self.content.as_str().into();
        }
        let text = (!self.content.is_empty()).then(|| json!({"type": "text", "text": self.content}));
        let image = |image: &Image| json!({"type": "image_url", "image_url": {"url": image.data_url()}});
        let audio = |audio: &Audio| json!({"type": "input_audio", "input_audio": {"data": audio.base64(), "format": audio.format()}});
        text.into_iter().chain(self.images.iter().map(image)).chain(self.audio.iter().map(audio)).collect()
    }
}

impl NativeCall {
    /// Creates a native call of a tool, by its name in requests.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Map<String, Value>) -> Self {
        let arguments = serde_json::to_string(arguments).expect("a map with string keys serialises");
        NativeCall { id: Some(id.into()), name: name.into(), arguments }
    }

    /// Returns the arguments as an object; empty text counts as no arguments.
    ///
    /// # Errors
    /// The arguments are not a JSON object.
    pub fn object(&self) -> serde_json::Result<Map<String, Value>> {
        if self.arguments.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(&self.arguments)
    }

    /// Returns the call as an item of `tool_calls` in a message.
    pub fn tool_call(&self) -> Value {
        let function = json!({"name": self.name, "arguments": self.arguments});
        json!({"id": self.id.as_deref().unwrap_or_default(), "type": "function", "function": function})
    }
}
