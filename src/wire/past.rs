//! Calls of a history in the form of Chat Completions, and the results that answer them.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::content::{make_legible, text_of};
use super::roles::is_result;
use super::take_member;
use crate::outcome::Outcome;
use crate::parse::find_values;

/// The name of a tool whose result is in a history without its call.
pub const UNKNOWN_TOOL: &str = "unknown";

/// A call of a history, as the client says it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PastCall {
    /// Identifier; empty in the older form.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments: an object, mended where the client or another model wrote it badly, since nobody
    /// can mend it now; text that cannot be mended is the member `arguments`.
    pub arguments: Map<String, Value>,
}

/// A call of a history that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
#[non_exhaustive]
pub struct BadCall {
    /// The field of the message.
    pub place: String,
    /// What is wrong with it.
    pub message: &'static str,
}

/// The calls of a message with what answers them.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Matched {
    /// In the order of the calls; one without an outcome was stopped.
    pub answered: Vec<(PastCall, Option<Outcome>)>,
    /// Results whose calls are gone: a client cut its history.
    pub orphans: Vec<(PastCall, Outcome)>,
    /// Parts of the results that are no text; null for none.
    pub others: Value,
}

impl PastCall {
    /// Whether this result names the call, by its identifier or, in the older form, by its tool.
    fn is_answered_by(&self, result: &Value) -> bool {
        match result["role"].as_str() {
            Some("tool") => result["tool_call_id"].as_str().unwrap_or_default() == self.id,
            Some("function") => self.id.is_empty() && result["name"] == self.name,
            _ => false,
        }
    }
}

/// Takes the calls out of a message.
///
/// # Errors
/// A call names no function.
pub fn take_calls(message: &mut Map<String, Value>) -> Result<Vec<PastCall>, BadCall> {
    let made = |name: &str, id: &Value, given: &Value| PastCall {
        id: id.as_str().unwrap_or_default().to_owned(),
        name: name.to_owned(),
        arguments: arguments(given),
    };
    // The interface had one call without an identifier before it had many.
    let older = message.shift_remove("function_call").filter(Value::is_object);
    let older = older.map(|call| made(call["name"].as_str().unwrap_or(UNKNOWN_TOOL), &Value::Null, &call["arguments"]));
    let list = match message.shift_remove("tool_calls") {
        None | Some(Value::Null) => return Ok(older.into_iter().collect()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(BadCall { place: "tool_calls".to_owned(), message: "'tool_calls' must be a list" }),
    };
    let read = list.into_iter().enumerate().map(|(at, call)| match call["function"]["name"].as_str() {
        Some(name) => Ok(made(name, &call["id"], &call["function"]["arguments"])),
        None => Err(BadCall { place: format!("tool_calls[{at}].function.name"), message: "a call names a function" }),
    });
    read.collect()
}

fn arguments(value: &Value) -> Map<String, Value> {
    let text = match value {
        Value::Object(object) => return object.clone(),
        Value::String(text) if !matches!(text.trim(), "" | "null") => text,
        _ => return Map::new(),
    };
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        return object;
    }
    match find_values(text).values.into_iter().next().map(|found| found.value) {
        Some(Value::Object(object)) => object,
        _ => Map::from_iter([("arguments".to_owned(), Value::String(text.clone()))]),
    }
}

/// Takes out the results up to the next answer, wherever they are among other words, that answer
/// one of `calls`, and those directly after the calls that answer none.
pub fn take_results(calls: &[PastCall], messages: &mut VecDeque<(usize, Value)>) -> Vec<Value> {
    let until = messages.iter().position(|(_, message)| message["role"] == "assistant").unwrap_or(messages.len());
    let mut results = Vec::new();
    let mut others = Vec::new();
    for (at, message) in messages.drain(..until) {
        let answers = calls.iter().any(|call| call.is_answered_by(&message));
        match is_result(&message) && (answers || others.is_empty()) {
            true => results.push(message),
            false => others.push((at, message)),
        }
    }
    others.into_iter().rev().for_each(|other| messages.push_front(other));
    results
}

/// Finds the results of a message's calls. `outcome` makes one of a result's message and its text.
pub fn matched(
    calls: Vec<PastCall>,
    results: Vec<Value>,
    mut outcome: impl FnMut(&Value, String) -> Outcome,
) -> Matched {
    let mut answered: Vec<_> = calls.into_iter().map(|call| (call, None)).collect();
    let (mut others, mut orphans) = (Vec::new(), Vec::new());
    for mut result in results {
        let mut content = take_member(&mut result, "content");
        make_legible(&mut content);
        let text = text_of(&content);
        if let Value::Array(parts) = content {
            others.extend(parts.into_iter().filter(|part| part.get("text").is_none()));
        }
        let outcome = outcome(&result, text);
        match answered.iter_mut().find(|(call, known)| known.is_none() && call.is_answered_by(&result)) {
            Some((_, known)) => *known = Some(outcome),
            None => {
                let text = |key: &str| result[key].as_str().map(str::to_owned);
                let call = PastCall {
                    id: text("tool_call_id").unwrap_or_default(),
                    name: text("name").unwrap_or_else(|| UNKNOWN_TOOL.to_owned()),
                    arguments: Map::new(),
                };
                orphans.push((call, outcome));
            }
        }
    }
    let others = if others.is_empty() { Value::Null } else { Value::Array(others) };
    Matched { answered, orphans, others }
}
