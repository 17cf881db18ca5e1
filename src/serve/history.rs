//! A client's history for a model without tool calling: calls written in the dialect,
//! results as the prompt tells them. Messages that have nothing to do with calls, and
//! parts that are no text, stay as they are.

use std::borrow::Cow;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::content::{join, push, text_of};
use super::fault::Fault;
use super::kept::Kept;
use super::prepared::Prepared;
use crate::Call;
use crate::conversation::{Answered, Replies};
use crate::dialect::{write_call, write_tool_call};
use crate::outcome::{Outcome, break_tokens, foreign_in_frames, restore_tokens};
use crate::parse::find_values;

/// A call of the history, as the client says it.
struct Made {
    id: String,
    name: String,
    arguments: Map<String, Value>,
}

/// A call of the history that was answered.
struct Done {
    id: String,
    call: Call,
    outcome: Outcome,
}

impl Done {
    fn answered(&self) -> Answered<'_> {
        Answered { id: &self.id, call: &self.call, outcome: &self.outcome }
    }
}

/// The history.
pub(super) struct Rendered {
    /// In messages without calls; the same in every later request that holds them.
    pub(super) messages: Vec<Value>,
    /// The last of them with what is said for now (what was called so far, what to do), where
    /// it tells results.
    pub(super) last: Option<Value>,
    /// What the client's tools and those of the toolbox said, the oldest first.
    pub(super) results: Vec<String>,
    /// What the person said last.
    pub(super) question: String,
    /// The last call, where its result is what was said last: the client's tool and arguments.
    pub(super) answered: Option<(String, Map<String, Value>)>,
    /// What rounds brought that the client did not see may be anybody's words.
    pub(super) untrusted: bool,
}

/// The history in messages without calls.
///
/// # Errors
/// A message is none, or calls and answers do not belong together.
pub(super) fn render(messages: Vec<Value>, prepared: &Prepared, kept: &Kept) -> Result<Rendered, Fault> {
    let mut untrusted = false;
    let mut history = History {
        prepared,
        rendered: Vec::with_capacity(messages.len()),
        question: String::new(),
        done: Vec::new(),
        last: None,
        results: Vec::new(),
    };
    let mut messages = messages.into_iter().enumerate().peekable();
    while let Some((at, message)) = messages.next() {
        let place = format!("messages[{at}]");
        let Value::Object(mut message) = message else {
            return Err(Fault::field(place, "a message is an object with 'role' and 'content'"));
        };
        match message.get("role").and_then(Value::as_str) {
            Some("assistant") => {
                let calls = calls(&mut message, &place)?;
                if calls.is_empty() {
                    history.push(plain(message));
                    continue;
                }
                if let Some(before) = kept.find(&calls[0].id, Instant::now()) {
                    untrusted |= before.untrusted;
                    let texts = before.messages.iter().filter_map(|message| message["content"].as_str());
                    let framed = texts.flat_map(|text| foreign_in_frames("tool_result", text));
                    history.results.extend(framed.map(|text| restore_tokens(text).into_owned()));
                    before.messages.iter().cloned().for_each(|message| push(&mut history.rendered, message));
                }
                let mut results = Vec::new();
                while let Some((at, result)) = messages.next_if(|(_, next)| next["role"] == "tool") {
                    results.push((format!("messages[{at}]"), result));
                }
                history.calls(message, calls, results, (&place, messages.peek().is_none()))?;
            }
            Some("tool") => {
                let message = "a message of the role 'tool' must answer a call of the message before it";
                return Err(Fault::field(place, message));
            }
            Some("developer") => {
                // Chat templates of models without tool calling know no such role.
                message.insert("role".to_owned(), "system".into());
                history.push(message);
            }
            Some("user") => history.user(message),
            Some(_) => history.push(message),
            None => return Err(Fault::field(format!("{place}.role"), "a message needs a 'role'")),
        }
    }
    let History { rendered, question, last, results, mut done, .. } = history;
    let answered = done.pop().filter(|done| last.is_some() && done.call.server.is_none()).and_then(|done| {
        let Call { tool, arguments, .. } = done.call;
        if let Value::Object(arguments) = arguments { Some((tool, arguments)) } else { None }
    });
    Ok(Rendered { messages: rendered, last, results, question, answered, untrusted })
}

struct History<'a> {
    prepared: &'a Prepared,
    rendered: Vec<Value>,
    question: String,
    /// Calls since the person last spoke.
    done: Vec<Done>,
    /// The last message, if it holds results, with what is said for now.
    last: Option<Value>,
    results: Vec<String>,
}

impl History<'_> {
    fn push(&mut self, mut message: Map<String, Value>) {
        if let Some(content) = message.get_mut("content") {
            *content = unmarked(content.take());
        }
        self.rendered.push(Value::Object(message));
        self.last = None;
    }

    fn user(&mut self, mut message: Map<String, Value>) {
        self.question = message.get("content").map(text_of).unwrap_or_default();
        self.done.clear();
        let after_results = self.last.take().is_some();
        match self.rendered.last_mut().filter(|_| after_results) {
            // Results are a user message too, and some endpoints want roles to alternate.
            Some(last) => {
                let content = message.get_mut("content").map(Value::take).unwrap_or_default();
                last["content"] = join(last["content"].take(), unmarked(content));
            }
            None => self.push(message),
        }
    }

    /// A message with calls, and the user message with their results behind it.
    fn calls(
        &mut self,
        message: Map<String, Value>,
        calls: Vec<Made>,
        results: Vec<(String, Value)>,
        (place, is_last): (&str, bool),
    ) -> Result<(), Fault> {
        let prepared = self.prepared;
        let catalog = prepared.setup.catalog();
        let written: Vec<String> = calls
            .iter()
            .map(|Made { name, arguments, .. }| match catalog.find(None, name) {
                Ok(found) => write_tool_call(prepared.dialect, catalog, found.tool, arguments),
                Err(_) => write_call(prepared.dialect, None, name, arguments),
            })
            .collect();
        let mut message = plain(message);
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        message.insert("content".to_owned(), join(content, Value::String(written.join("\n"))));
        self.push(message);
        // Two of the interfaces have no field that says whether a tool failed.
        let without_status = results.iter().any(|(_, result)| result.get("is_error").is_none());

        let mut outcomes: Vec<Option<Outcome>> = vec![None; calls.len()];
        let mut others = Vec::new();
        for (place, mut result) in results {
            let id = result["tool_call_id"].as_str().unwrap_or_default();
            let open = calls.iter().zip(&outcomes).position(|(call, outcome)| call.id == id && outcome.is_none());
            let Some(at) = open else {
                let message = format!("no call of the message before waits for a result with the id '{id}'");
                return Err(Fault::field(format!("{place}.tool_call_id"), message));
            };
            let content = result["content"].take();
            let text = text_of(&content);
            self.results.push(text.clone());
            if let Value::Array(parts) = content {
                others.extend(parts.into_iter().filter(|part| part.get("text").is_none()));
            }
            let failed = result["is_error"] == true;
            outcomes[at] = Some(if failed { Outcome::error(text) } else { Outcome::result(text) });
        }
        let before = self.done.len();
        for (Made { id, name, arguments }, outcome) in calls.into_iter().zip(outcomes) {
            let Some(outcome) = outcome else {
                let message = format!("the call '{id}' has no message of the role 'tool' that answers it");
                return Err(Fault::field(format!("{place}.tool_calls"), message));
            };
            let call = Call::new(prepared.dialect, name, Value::Object(arguments));
            self.done.push(Done { id, call, outcome });
        }
        let (earlier, last) = self.done.split_at(before);
        let mut replies = Replies {
            answered: last.iter().map(Done::answered).collect(),
            earlier: earlier.iter().map(Done::answered).collect(),
            request: Some(self.question.as_str()).filter(|text| !text.trim().is_empty()),
            later: 1,
            without_status,
            ..Replies::default()
        };
        let others = if others.is_empty() { Value::Null } else { Value::Array(others) };
        let message = |replies: &Replies<'_>| {
            let text = prepared.setup.wording().replies(replies).map_err(|error| Fault::internal(error.to_string()))?;
            Ok::<_, Fault>(json!({"role": "user", "content": join(Value::String(text), others.clone())}))
        };
        let told = message(&replies)?;
        replies.later = 0;
        self.last = Some(if is_last { message(&replies)? } else { Value::Null });
        self.rendered.push(told);
        Ok(())
    }
}

/// The calls of a message: identifier, name, arguments.
fn calls(message: &mut Map<String, Value>, place: &str) -> Result<Vec<Made>, Fault> {
    let list = match message.shift_remove("tool_calls") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Fault::field(format!("{place}.tool_calls"), "'tool_calls' must be a list")),
    };
    list.into_iter()
        .enumerate()
        .map(|(at, call)| {
            let Some(name) = call["function"]["name"].as_str() else {
                return Err(Fault::field(format!("{place}.tool_calls[{at}].function.name"), "a call names a function"));
            };
            Ok(Made {
                id: call["id"].as_str().unwrap_or_default().to_owned(),
                name: name.to_owned(),
                arguments: arguments(&call["function"]["arguments"]),
            })
        })
        .collect()
}

/// The arguments of a call that was made: an object, mended where the client or another model
/// wrote it badly, since nobody can mend it now.
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

/// A content without control tokens in its texts, which are a client's.
fn unmarked(content: Value) -> Value {
    match content {
        Value::String(text) => match break_tokens(&text) {
            Cow::Owned(broken) => Value::String(broken),
            Cow::Borrowed(_) => Value::String(text),
        },
        Value::Array(mut parts) => {
            for part in &mut parts {
                if let Some(text) = part.get_mut("text") {
                    *text = unmarked(text.take());
                }
            }
            Value::Array(parts)
        }
        other => other,
    }
}

/// An assistant's message without what only the client's own type has, such as `refusal: null`.
fn plain(mut message: Map<String, Value>) -> Map<String, Value> {
    message.retain(|key, value| key == "content" || !value.is_null());
    if message.get("content").is_none_or(Value::is_null) {
        message.insert("content".to_owned(), "".into());
    }
    message
}
