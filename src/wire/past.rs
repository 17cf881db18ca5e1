//! Reads histories in the form of Chat Completions: messages, their calls, and the results of the calls.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::content::{line, make_legible, text_of};
use super::roles::{is_result, join, join_turns};
use super::take_member;
use crate::dialect::{Dialect, write_call, write_tool_call};
use crate::outcome::Outcome;
use crate::tools::Catalog;

/// Name that is used for the tool of a result whose call is not in the history.
const UNKNOWN_TOOL: &str = "unknown";

/// A message of a history with its calls and their results; or results whose calls are not in the history.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PastMessage {
    /// Index in the request's messages of the first one that the entry was made of.
    pub at: usize,
    /// The message without its calls; `None` for results whose calls are not in the history.
    pub message: Option<Map<String, Value>>,
    /// The calls of the message; a call without an outcome was stopped.
    pub calls: Vec<PastCall>,
    /// Results whose calls are not in the history, because a client cut it.
    pub orphans: Vec<PastCall>,
    /// Content parts of the results that are not text; `null` if there are none.
    pub others: Value,
    /// `true` if a result does not state whether its tool failed (`is_error`, `status`).
    pub without_status: bool,
    /// `true` if no later entry is a message of the model.
    pub is_newest: bool,
}

/// A call in a history, as the client sent it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PastCall {
    /// Identifier of the call; empty in the API's older form (`function_call`).
    pub id: String,
    /// Name of the called tool.
    pub name: String,
    /// The arguments: a JSON object; empty for `null` and empty text. Any other text becomes the member `arguments`.
    pub arguments: Map<String, Value>,
    /// The result of the call; `None` if it is missing.
    pub outcome: Option<Outcome>,
    /// `true` if the client stated with the result whether the tool failed.
    pub has_status: bool,
}

/// The error of a message in a history that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
#[non_exhaustive]
pub struct BadMessage {
    /// The field of the request that has the error, such as `messages[2].role`.
    pub place: String,
    /// The description of the error.
    pub message: Cow<'static, str>,
}

/// Reads the messages of a request. Consecutive messages of one turn become one entry; a result is put into the entry
/// of its call, even if other messages are between the two. `outcome` converts a result's message and its text.
///
/// # Errors
/// A message is not an object, has a role that the API does not know, or has a call without a function's name; or
/// `outcome` returned an error.
///
/// ```
/// use serde_json::json;
/// use toolgraft::{Outcome, wire::past::read};
///
/// let call = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
/// let entries = read(
///     vec![
///         json!({"role": "user", "content": "Hi"}),
///         json!({"role": "assistant", "tool_calls": [call]}),
///         json!({"role": "tool", "tool_call_id": "c1", "content": "1"}),
///     ],
///     |_, text| Ok::<_, String>(Outcome::result(text)),
/// )?;
/// assert_eq!((entries.len(), &entries[1].calls[0].outcome), (2, &Some(Outcome::result("1"))));
/// # Ok::<(), toolgraft::wire::past::BadMessage>(())
/// ```
pub fn read<E: ToString>(
    messages: Vec<Value>,
    mut outcome: impl FnMut(&Value, String) -> Result<Outcome, E>,
) -> Result<Vec<PastMessage>, BadMessage> {
    let mut messages = VecDeque::from(join_turns(messages));
    let mut entries = Vec::with_capacity(messages.len());
    while let Some((at, message)) = messages.pop_front() {
        let mut entry = PastMessage { at, ..PastMessage::default() };
        let mut results = Vec::new();
        if is_result(&message) {
            results.push((at, message));
            results.extend(std::iter::from_fn(|| messages.pop_front_if(|(_, next)| is_result(next))));
        } else {
            let mut message = checked(at, message)?;
            if message.get("role").is_some_and(|role| role == "assistant") {
                join_said(&mut message);
                entry.calls = take_calls(at, &mut message)?;
                results = take_results(&entry.calls, &mut messages);
            }
            entry.message = Some(message);
        }
        for (at, result) in results {
            entry.answer(result, &mut outcome).map_err(|wrong| bad(at, "", wrong.to_string()))?;
        }
        entries.push(entry);
    }
    // Before the first message of the model everything is new.
    let newest = entries.iter().rposition(|entry: &PastMessage| entry.role() == "assistant").unwrap_or(0);
    entries.iter_mut().skip(newest).for_each(|entry| entry.is_newest = true);
    Ok(entries)
}

fn bad(at: usize, place: &str, message: impl Into<Cow<'static, str>>) -> BadMessage {
    BadMessage { place: format!("messages[{at}]{place}"), message: message.into() }
}

/// Returns a message that is not a result if it is an object with a known role, else an error.
fn checked(at: usize, message: Value) -> Result<Map<String, Value>, BadMessage> {
    let Value::Object(message) = message else {
        return Err(bad(at, "", "a message must be an object with 'role' and 'content'"));
    };
    match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer" | "user" | "assistant") => Ok(message),
        Some(_) => Err(bad(at, ".role", "expected 'system', 'developer', 'user', 'assistant' or 'tool'")),
        None => Err(bad(at, ".role", "a message needs a 'role'")),
    }
}

/// Moves a model's refusal and audio, which are in fields of their own, into the content of its message.
fn join_said(message: &mut Map<String, Value>) {
    let refusal = message.shift_remove("refusal").filter(Value::is_string);
    let audio = message.shift_remove("audio").filter(Value::is_object);
    let audio = audio.map(|audio| line(&json!({"type": "audio", "audio": audio})).into());
    for said in refusal.into_iter().chain(audio) {
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        message.insert("content".to_owned(), join(content, said));
    }
}

impl PastMessage {
    /// Returns the role of the message; empty for results whose calls are not in the history.
    pub fn role(&self) -> &str {
        self.message.as_ref().and_then(|message| message.get("role")?.as_str()).unwrap_or_default()
    }

    /// Adds a result to the call that it belongs to, or to the orphans if that call is not in the history.
    fn answer<E>(
        &mut self,
        mut result: Value,
        outcome: &mut impl FnMut(&Value, String) -> Result<Outcome, E>,
    ) -> Result<(), E> {
        let mut content = take_member(&mut result, "content");
        make_legible(&mut content);
        let outcome = Some(outcome(&result, text_of(&content))?);
        if let Value::Array(mut parts) = content {
            parts.retain(|part| part.get("text").is_none());
            if !parts.is_empty() {
                self.others = join(self.others.take(), Value::Array(parts));
            }
        }
        self.without_status |= result.get("is_error").or(result.get("status")).is_none();
        let has_status = !result["is_error"].is_null() || !result["status"].is_null();
        match self.calls.iter_mut().find(|call| call.outcome.is_none() && call.is_answered_by(&result)) {
            Some(call) => (call.outcome, call.has_status) = (outcome, has_status),
            None => {
                let text = |key: &str| result[key].as_str().map(str::to_owned);
                let (id, name) = (text("tool_call_id").unwrap_or_default(), text("name"));
                let name = name.unwrap_or_else(|| UNKNOWN_TOOL.to_owned());
                self.orphans.push(PastCall { id, name, arguments: Map::new(), outcome, has_status });
            }
        }
        Ok(())
    }
}

impl PastCall {
    /// Returns the call as the model would have written it in this dialect.
    pub fn written(&self, dialect: Dialect, catalog: &Catalog) -> String {
        match catalog.find(None, &self.name) {
            Ok(found) => write_tool_call(dialect, catalog, found.tool, &self.arguments),
            Err(_) => write_call(dialect, None, &self.name, &self.arguments),
        }
    }

    /// Returns `true` if this result belongs to the call, by its identifier or, in the older form, by its tool.
    fn is_answered_by(&self, result: &Value) -> bool {
        match result["role"].as_str() {
            Some("tool") => result["tool_call_id"].as_str().unwrap_or_default() == self.id,
            Some("function") => self.id.is_empty() && result["name"] == self.name,
            _ => false,
        }
    }
}

/// Removes the calls from a message and returns them.
fn take_calls(at: usize, message: &mut Map<String, Value>) -> Result<Vec<PastCall>, BadMessage> {
    let made = |name: &str, id: &Value, given: &Value| PastCall {
        id: id.as_str().unwrap_or_default().to_owned(),
        name: name.to_owned(),
        arguments: arguments(given),
        outcome: None,
        has_status: false,
    };
    // The API had a single call without an identifier before it had a list.
    let older = message.shift_remove("function_call").filter(Value::is_object);
    let older = older.map(|call| made(call["name"].as_str().unwrap_or(UNKNOWN_TOOL), &Value::Null, &call["arguments"]));
    let list = match message.shift_remove("tool_calls") {
        None | Some(Value::Null) => return Ok(older.into_iter().collect()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(bad(at, ".tool_calls", "'tool_calls' must be a list")),
    };
    let read = list.into_iter().enumerate().map(|(number, call)| {
        // A tool of the type `custom` takes a text.
        let custom =
            || Some(made(call["custom"]["name"].as_str()?, &call["id"], &json!({"input": call["custom"]["input"]})));
        let function = |name| made(name, &call["id"], &call["function"]["arguments"]);
        let read = call["function"]["name"].as_str().map(function).or_else(custom);
        read.ok_or_else(|| bad(at, &format!(".tool_calls[{number}].function.name"), "a call must name a function"))
    });
    read.collect()
}

fn arguments(value: &Value) -> Map<String, Value> {
    let text = match value {
        Value::Object(object) => return object.clone(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // Neither is an object, and both say that there are no arguments.
    if matches!(text.trim(), "" | "null") {
        return Map::new();
    }
    if let Ok(Value::Object(object)) = serde_json::from_str(&text) {
        return object;
    }
    Map::from_iter([("arguments".to_owned(), Value::String(text))])
}

/// Removes and returns the results that come before the next assistant message and belong to one of `calls`, even if
/// other messages are between them, and those directly after the calls that belong to none.
fn take_results(calls: &[PastCall], messages: &mut VecDeque<(usize, Value)>) -> Vec<(usize, Value)> {
    if calls.is_empty() {
        return Vec::new();
    }
    let until = messages.iter().position(|(_, message)| message["role"] == "assistant").unwrap_or(messages.len());
    let mut results = Vec::new();
    let mut others = Vec::new();
    for (at, message) in messages.drain(..until) {
        let answers = calls.iter().any(|call| call.is_answered_by(&message));
        // A result that belongs to no call is taken only directly after the calls; later ones may belong to others.
        match is_result(&message) && (answers || others.is_empty()) {
            true => results.push((at, message)),
            false => others.push((at, message)),
        }
    }
    others.into_iter().rev().for_each(|other| messages.push_front(other));
    results
}
