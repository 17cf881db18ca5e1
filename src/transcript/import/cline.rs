//! Imports Cline's `api_conversation_history.json`: messages in the form of Anthropic's API.

use serde::Deserialize;
use serde_json::Value;

use super::error::{ImportError, at_line};
use crate::message::{DeltaKind, FinishReason, Message, Role};
use crate::outcome::Outcome;
use crate::transcript::{CutPlace, CutReason, Finish, NativeCall, Note, RecordedOutcome, Recording, Round};

#[derive(Deserialize)]
struct ClineMessage {
    role: Role,
    content: Content,
    #[serde(default, rename = "modelInfo")]
    model: Option<ModelUsage>,
}

#[derive(Deserialize)]
struct ModelUsage {
    #[serde(default, rename = "modelId")]
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Value>),
}

pub(super) fn import(text: &str) -> Result<Recording, ImportError> {
    let entries: Vec<ClineMessage> = serde_json::from_str(text).map_err(|error| at_line(1, error, 0))?;
    let mut recording = Recording::default();
    let mut next = Round::default();
    for (n, entry) in entries.into_iter().enumerate() {
        if entry.role != Role::Assistant {
            let outcomes = results(&entry.content);
            if let Some(last) = recording.rounds.last_mut() {
                last.outcomes.extend(outcomes);
            }
            next.messages.push(Message::new(entry.role, shown(&entry.content)));
            continue;
        }
        if recording.session.model.is_none() {
            recording.session.model = entry.model.and_then(|m| m.id);
        }
        let mut round = std::mem::take(&mut next);
        answer(entry.content, &mut round, |what| {
            recording.notes.push(Note { line: 0, text: format!("message {}: {what}", n + 1) });
        });
        recording.rounds.push(round);
    }
    if !next.messages.is_empty() || recording.rounds.is_empty() {
        // The last message is the user's, or the file has no answers.
        let line = text.lines().count();
        recording.cut = Some(CutPlace { line, reason: CutReason::NoAnswer });
        recording.rounds.push(next);
    }
    Ok(recording)
}

/// Adds an assistant message to a round as the model's answer. `note` receives remarks about skipped blocks.
fn answer(content: Content, round: &mut Round, mut note: impl FnMut(String)) {
    let blocks = match content {
        Content::Text(text) => vec![serde_json::json!({ "type": "text", "text": text })],
        Content::Blocks(blocks) => blocks,
    };
    for block in blocks {
        let field = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match field("type").as_str() {
            "text" => round.say(DeltaKind::Content, field("text")),
            "thinking" => round.say(DeltaKind::Reasoning, field("thinking")),
            "tool_use" => round.native_calls.push(NativeCall {
                id: Some(field("id")).filter(|id| !id.is_empty()),
                name: field("name"),
                arguments: block.get("input").map_or_else(|| "{}".to_owned(), Value::to_string),
            }),
            other => note(format!("a block of type {other:?} was skipped")),
        }
    }
    let reason = if round.native_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    round.finish = Some(Finish { reason, ms: None });
}

/// Returns the results of native calls in a user message.
fn results(content: &Content) -> Vec<RecordedOutcome> {
    let Content::Blocks(blocks) = content else { return Vec::new() };
    let results = blocks.iter().filter(|b| b.get("type").is_some_and(|t| t == "tool_result"));
    results
        .filter_map(|block| {
            let id = block.get("tool_use_id")?.as_str()?.to_owned();
            let text = text_of(block);
            let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
            let outcome = if failed { Outcome::error(text) } else { Outcome::result(text) };
            Some(RecordedOutcome { id, outcome, at: None })
        })
        .collect()
}

/// Returns the text of a message: its blocks joined by line breaks.
fn shown(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => blocks.iter().map(text_of).collect::<Vec<_>>().join("\n"),
    }
}

/// Returns the text of a block; `[image]` or another type name for a block without text.
fn text_of(block: &Value) -> String {
    if let Some(text) = block.as_str().or_else(|| block.get("text")?.as_str()) {
        return text.to_owned();
    }
    match block.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => blocks.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        _ => format!("[{}]", block.get("type").and_then(Value::as_str).unwrap_or("unknown")),
    }
}
