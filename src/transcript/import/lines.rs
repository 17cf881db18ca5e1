//! Imports objects with a `text`, one per line.

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value;

use super::error::{ImportError, at_line};
use crate::message::chunk::{CallAssembler, ToolDelta};
use crate::message::{DeltaKind, FinishReason};
use crate::tools::{Catalog, Tool};
use crate::transcript::{Finish, Note, Recording, Round, Session};

#[derive(Deserialize)]
struct TextLine {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    /// The text and the reasoning in the pieces in which they were streamed.
    #[serde(default)]
    chunks: Option<Vec<TextPiece>>,
    #[serde(default)]
    finish_reason: Option<FinishReason>,
    #[serde(default)]
    tools: Option<Vec<Tool>>,
    #[serde(default)]
    native_tool_calls: Option<Vec<ToolDelta>>,
    /// Number of chunks that contained native calls, if the calls were not kept.
    #[serde(default)]
    native_tool_chunks: u64,
}

#[derive(Deserialize)]
struct TextPiece {
    /// Content of the piece.
    #[serde(default, alias = "content")]
    c: Option<String>,
    /// Reasoning of the piece.
    #[serde(default, alias = "reasoning")]
    r: Option<String>,
}

pub(super) fn import(text: &str) -> Result<Vec<Recording>, ImportError> {
    // An object may take several lines.
    if let Ok(line) = serde_json::from_str::<TextLine>(text) {
        return Ok(vec![line.recording(1)?]);
    }
    let lines = text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(n, line)| {
            let parsed: TextLine = serde_json::from_str(line).map_err(|e| at_line(n + 1, e, 0))?;
            parsed.recording(n + 1)
        })
        .collect()
}

impl TextLine {
    fn recording(self, number: usize) -> Result<Recording, ImportError> {
        // All fields are optional, so any object would be read as an empty answer.
        if self.text.is_none() && self.reasoning.is_none() && self.chunks.is_none() {
            return Err(at_line(number, serde_json::Error::missing_field("text"), 0).into());
        }
        let title = match &self.id {
            Value::Null => None,
            Value::String(id) => Some(id.clone()),
            other => Some(other.to_string()),
        };
        let mut calls = CallAssembler::default();
        calls.extend(self.native_tool_calls.unwrap_or_default());
        let notes = match self.native_tool_chunks {
            0 => Vec::new(),
            n => vec![Note { line: number, text: format!("{n} chunks with native tool calls were not kept") }],
        };
        let mut round = Round {
            tools: self.tools.map(|tools| Catalog::from_tools(tools).servers().to_vec()),
            native_calls: calls.finish(),
            finish: Some(Finish { reason: self.finish_reason.unwrap_or_default(), ms: None }),
            ..Round::default()
        };
        for piece in self.chunks.unwrap_or_else(|| vec![TextPiece { c: self.text, r: self.reasoning }]) {
            round.say(DeltaKind::Reasoning, piece.r.unwrap_or_default());
            round.say(DeltaKind::Content, piece.c.unwrap_or_default());
        }
        let session = Session { title, model: self.model, ..Session::default() };
        Ok(Recording { session, rounds: vec![round], cut: None, notes })
    }
}
