//! A client's history for a model whose endpoint takes tools: calls and results in the fields that
//! the interface has for them. What a client cut out of it is told as it is by prompt.

use std::time::Instant;

use serde_json::{Value, json};

use super::fault::Fault;
use super::history::{Done, done, each_text, plain, unmark};
use super::kept::Kept;
use super::prepared::Prepared;
use toolgraft::conversation::Replies;
use toolgraft::outcome::{break_tokens, told_apart};
use toolgraft::turn::Wording;
use toolgraft::wire::content::make_legible;
use toolgraft::wire::past::{Entry, PastCall};
use toolgraft::wire::roles::join;
use toolgraft::wire::wire_name;

/// The history in messages of a request that carries the tools.
///
/// # Errors
/// A result cannot be told.
pub(super) fn history(entries: Vec<Entry>, prepared: &Prepared, kept: &Kept) -> Result<Vec<Value>, Fault> {
    let mut told = Vec::with_capacity(entries.len());
    for mut entry in entries {
        let is_users = entry.role() == "user";
        if let Some(mut message) = entry.message.take() {
            if message.get("role").is_some_and(|role| role == "assistant") {
                message = plain(message);
            }
            if let Some(content) = message.get_mut("content").filter(|_| is_users) {
                make_legible(content);
                each_text(content, &|text| told_apart(text));
            }
            unmark(&mut message);
            if let Some(Value::String(thought)) = message.get_mut("reasoning_content") {
                *thought = break_tokens(thought).into_owned();
            }
            if let Some(first) = entry.calls.first() {
                let before = kept.find(&first.id, Instant::now());
                told.extend(before.iter().flat_map(|before| before.messages.iter().cloned()));
                let calls = entry.calls.iter().enumerate().map(|(n, call)| written(call, entry.at, n));
                message.insert("tool_calls".to_owned(), calls.collect());
            }
            told.push(Value::Object(message));
        }
        results_after(entry, prepared, &mut told)?;
    }
    Ok(told)
}

/// Appends what answers the calls of a message, in their order; behind it what answers none.
fn results_after(entry: Entry, prepared: &Prepared, told: &mut Vec<Value>) -> Result<(), Fault> {
    let Entry { at, calls, orphans, others, .. } = entry;
    let said = |wording: &dyn Wording, done: &[Done]| {
        let mut replies = Replies::default();
        replies.answered = done.iter().map(Done::answered).collect();
        wording.replies(&replies).map_err(|error| Fault::internal(error.to_string()))
    };
    for (n, call) in calls.into_iter().enumerate() {
        let done = done(call, prepared);
        let text = said(prepared.setup.native_wording(), std::slice::from_ref(&done))?;
        told.push(json!({"role": "tool", "tool_call_id": id(&done.id, at, n), "content": text}));
    }
    let orphans: Vec<Done> = orphans.into_iter().map(|call| done(call, prepared)).collect();
    let orphans = if orphans.is_empty() { Value::Null } else { said(prepared.setup.wording(), &orphans)?.into() };
    // A message of the role `tool` takes text alone.
    match join(orphans, others) {
        Value::Null => {}
        content => told.push(json!({"role": "user", "content": content})),
    }
    Ok(())
}

/// A call as the interface has it.
fn written(call: &PastCall, at: usize, n: usize) -> Value {
    let arguments = Value::Object(call.arguments.clone()).to_string();
    let function = json!({"name": wire_name(None, &call.name), "arguments": break_tokens(&arguments)});
    json!({"id": id(&call.id, at, n), "type": "function", "function": function})
}

/// A call's identifier; the interface's older form has none.
fn id(own: &str, at: usize, n: usize) -> String {
    if own.is_empty() { format!("call_{at}_{n}") } else { break_tokens(own).into_owned() }
}
