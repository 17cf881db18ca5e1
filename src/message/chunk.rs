//! Chunks of an OpenAI-compatible stream, as endpoints send them.

use serde::Deserialize;
use serde_json::Value;

use super::{Delta, DeltaKind, NativeCall};

#[derive(Deserialize)]
pub(crate) struct Chunk {
    #[serde(default)]
    pub(crate) id: Option<String>,
    #[serde(default)]
    pub(crate) model: Option<String>,
    #[serde(default)]
    pub(crate) choices: Option<Vec<Choice>>,
    #[cfg(feature = "client")]
    #[serde(default)]
    pub(crate) usage: Option<Value>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default)]
    pub(crate) index: u64,
    #[serde(default)]
    pub(crate) delta: Option<Fields>,
    /// In a completion that was not streamed; some endpoints repeat the whole
    /// answer here in the last chunk.
    #[serde(default)]
    pub(crate) message: Option<Fields>,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Fields {
    /// Text, or a list of parts.
    #[serde(default)]
    content: Value,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    pub(crate) tool_calls: Option<Vec<ToolDelta>>,
}

impl Fields {
    /// The pieces of text that are not empty, reasoning first.
    pub(crate) fn into_deltas(self) -> impl Iterator<Item = Delta> {
        let reasoning = self.reasoning_content.filter(|r| !r.is_empty()).or(self.reasoning);
        let mut deltas = vec![Delta { kind: DeltaKind::Reasoning, text: reasoning.unwrap_or_default() }];
        match self.content {
            Value::String(text) => deltas.push(Delta { kind: DeltaKind::Content, text }),
            Value::Array(parts) => deltas.extend(parts.iter().filter_map(part)),
            _ => {}
        }
        deltas.into_iter().filter(|delta| !delta.text.is_empty())
    }
}

/// A part of a `content` list: text, or thinking, which may be a list again.
fn part(part: &Value) -> Option<Delta> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(thinking) = part.get("thinking") {
        let parts = thinking.as_array().into_iter().flatten();
        let joined = text(thinking).unwrap_or_else(|| parts.filter_map(|p| text(p.get("text")?)).collect());
        return Some(Delta { kind: DeltaKind::Reasoning, text: joined });
    }
    Some(Delta { kind: DeltaKind::Content, text: part.get("text").and_then(text)? })
}

/// A piece of a native call.
#[derive(Deserialize)]
pub(crate) struct ToolDelta {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Function,
}

#[derive(Deserialize, Default)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    /// JSON text; some endpoints send the object itself.
    #[serde(default)]
    arguments: Value,
}

/// Native calls, put together from their pieces.
#[derive(Default)]
pub(crate) struct Calls(Vec<(Option<u64>, NativeCall)>);

impl Calls {
    pub(crate) fn push(&mut self, delta: ToolDelta) {
        let id = delta.id.filter(|id| !id.is_empty());
        let known = match (delta.index, &id) {
            (Some(index), _) => self.0.iter().position(|(i, _)| *i == Some(index)),
            (None, Some(id)) => self.0.iter().position(|(_, call)| call.id.as_ref() == Some(id)),
            (None, None) => self.0.len().checked_sub(1),
        };
        let place = known.unwrap_or_else(|| {
            self.0.push((delta.index, NativeCall::default()));
            self.0.len() - 1
        });
        let call = &mut self.0[place].1;
        call.id = call.id.take().or(id);
        if call.name.is_empty() {
            // Some endpoints repeat the name, some send an empty one.
            call.name = delta.function.name.unwrap_or_default();
        }
        match delta.function.arguments {
            Value::Null => {}
            Value::String(text) => call.arguments.push_str(&text),
            object => call.arguments.push_str(&object.to_string()),
        }
    }

    pub(crate) fn finish(self) -> Vec<NativeCall> {
        self.0.into_iter().map(|(_, call)| call).collect()
    }
}
