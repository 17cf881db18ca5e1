//! Renders a client's history for an endpoint that takes tools: calls and results in the native
//! fields. Results without their call, which a client removed, are rendered as in the prompt.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::history::{Done, done, each_text, frame_files, plain, unmark};
use crate::prepared::Prepared;
use crate::store::{ClientStore, WrittenMessage};
use toolgraft::conversation::Replies;
use toolgraft::message::NativeCall;
use toolgraft::outcome::{break_tokens, told_apart};
use toolgraft::turn::Wording;
use toolgraft::wire::content::make_legible;
use toolgraft::wire::past::{PastCall, PastMessage};
use toolgraft::wire::roles::join;
use toolgraft::wire::wire_name;

/// Converts a history to messages of a request that carries the tools natively: calls in `tool_calls`, results with
/// the role `tool`.
///
/// # Errors
/// Fails if a result cannot be rendered.
pub(crate) fn history(entries: Vec<PastMessage>, prepared: &Prepared, kept: &ClientStore) -> Result<Vec<Value>, Fault> {
    let (mut told, mut taken) = (Vec::with_capacity(entries.len()), HashSet::new());
    for mut entry in entries {
        let is_users = entry.role() == "user";
        let written = entry.calls.first().and_then(|first| kept.written(&first.id));
        let ids = ids_of(&entry, written.as_deref(), &mut taken);
        if let Some(mut message) = entry.message.take() {
            if message.get("role").is_some_and(|role| role == "assistant") {
                message = plain(message);
            }
            if let Some(content) = message.get_mut("content").filter(|_| is_users) {
                frame_files(content);
                make_legible(content);
                each_text(content, &|text| told_apart(text));
            }
            unmark(&mut message);
            if let Some(first) = entry.calls.first() {
                let before = kept.find(&first.id, Instant::now());
                told.extend(before.iter().flat_map(|before| before.messages.iter().cloned()));
                let calls = entry.calls.iter().zip(&ids).map(|(call, id)| written_call(call, id));
                message.insert("tool_calls".to_owned(), calls.collect());
            }
            told.push(Value::Object(message));
        }
        results_after(entry, &ids, prepared, &mut told)?;
    }
    Ok(told)
}

/// Appends the results of a message's calls in their order, and after them results without a call.
fn results_after(entry: PastMessage, ids: &[String], prepared: &Prepared, told: &mut Vec<Value>) -> Result<(), Fault> {
    let PastMessage { calls, orphans, others, .. } = entry;
    let said = |wording: &dyn Wording, done: &[Done]| {
        let mut replies = Replies::default();
        replies.answered = done.iter().map(Done::answered).collect();
        // The request has the tools, so the text says nothing about a next call.
        replies.later = 1;
        wording.replies(&replies).map_err(|error| Fault::internal(error.to_string()))
    };
    for (call, id) in calls.into_iter().zip(ids) {
        let done = done(call, prepared);
        let text = said(prepared.setup.native_wording(), std::slice::from_ref(&done))?;
        told.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    let orphans: Vec<Done> = orphans.into_iter().map(|call| done(call, prepared)).collect();
    let orphans = if orphans.is_empty() { Value::Null } else { said(prepared.setup.wording(), &orphans)?.into() };
    // A message of the role `tool` holds text only, so the rest becomes a user's message.
    match join(orphans, others) {
        Value::Null => {}
        content => told.push(json!({"role": "user", "content": content})),
    }
    Ok(())
}

/// Converts a past call to an entry of `tool_calls` with this identifier.
fn written_call(call: &PastCall, id: &str) -> Value {
    let mut written = NativeCall::new(id, wire_name(None, &call.name), &call.arguments);
    written.arguments = break_tokens(&written.arguments).into_owned();
    written.tool_call()
}

/// Returns the identifiers of a message's calls: the endpoint's own if it gave one that no earlier
/// call has, else the client's. Calls in the older form have none and are numbered.
fn ids_of(entry: &PastMessage, written: Option<&WrittenMessage>, taken: &mut HashSet<String>) -> Vec<String> {
    let own = written.map_or(&[][..], |written| &written.ids);
    // If the client removed one of several calls, it is not known which identifier belongs to which call.
    let own = if own.len() == entry.calls.len() { own } else { &[] };
    let mut id = |(n, call): (usize, &PastCall)| match own.get(n) {
        Some(Some(own)) if taken.insert(own.clone()) => own.clone(),
        _ if call.id.is_empty() => format!("call_{}_{n}", entry.at),
        _ => break_tokens(&call.id).into_owned(),
    };
    entry.calls.iter().enumerate().map(&mut id).collect()
}
