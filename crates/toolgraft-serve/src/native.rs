//! A client's history for a model whose endpoint takes tools: calls and results in the fields that
//! the interface has for them. What a client cut out of it is told as it is by prompt.

use std::collections::VecDeque;
use std::time::Instant;

use serde_json::{Value, json};

use super::fault::Fault;
use super::history::{Done, Matched, bad_call, each_text, matched, plain, unmark};
use super::kept::Kept;
use super::prepared::Prepared;
use toolgraft::conversation::Replies;
use toolgraft::outcome::{break_tokens, told_apart};
use toolgraft::turn::Wording;
use toolgraft::wire::content::make_legible;
use toolgraft::wire::past::{PastCall, take_calls, take_results};
use toolgraft::wire::roles::{is_result, join};
use toolgraft::wire::wire_name;

/// The history in messages of a request that carries the tools.
///
/// # Errors
/// A call names no function.
pub(super) fn history(messages: Vec<(usize, Value)>, prepared: &Prepared, kept: &Kept) -> Result<Vec<Value>, Fault> {
    let mut messages = VecDeque::from(messages);
    let mut told = Vec::with_capacity(messages.len());
    while let Some((at, message)) = messages.pop_front() {
        if is_result(&message) {
            let mut results = vec![message];
            while messages.front().is_some_and(|(_, next)| is_result(next)) {
                results.extend(messages.pop_front().map(|(_, result)| result));
            }
            results_after(Vec::new(), results, at, prepared, &mut told)?;
            continue;
        }
        let (is_users, is_models) = (message["role"] == "user", message["role"] == "assistant");
        let Value::Object(mut message) = message else { continue };
        let mut calls = match is_models {
            true => take_calls(&mut message).map_err(|bad| bad_call(at, &bad))?,
            false => Vec::new(),
        };
        if is_models {
            message = plain(message);
        }
        if let Some(content) = message.get_mut("content").filter(|_| is_users) {
            make_legible(content);
            each_text(content, &|text| told_apart(text));
        }
        unmark(&mut message);
        if calls.is_empty() {
            told.push(Value::Object(message));
            continue;
        }
        if let Some(before) = kept.find(&calls[0].id, Instant::now()) {
            told.extend(before.messages.iter().cloned());
        }
        for call in &mut calls {
            call.name = prepared.named.shown(&call.name).to_owned();
        }
        let results = take_results(&calls, &mut messages);
        let written = calls.iter().enumerate().map(|(n, call)| written(call, at, n));
        message.insert("tool_calls".to_owned(), written.collect());
        told.push(Value::Object(message));
        results_after(calls, results, at, prepared, &mut told)?;
    }
    Ok(told)
}

/// Appends what answers the calls of the message at `at`, in their order; behind it what answers none.
fn results_after(
    calls: Vec<PastCall>,
    results: Vec<Value>,
    at: usize,
    prepared: &Prepared,
    told: &mut Vec<Value>,
) -> Result<(), Fault> {
    let Matched { answered, orphans, others, .. } = matched(calls, results, prepared);
    let said = |wording: &dyn Wording, done: &[Done]| {
        let mut replies = Replies::default();
        replies.answered = done.iter().map(Done::answered).collect();
        wording.replies(&replies).map_err(|error| Fault::internal(error.to_string()))
    };
    for (n, done) in answered.iter().enumerate() {
        let text = said(prepared.setup.native_wording(), std::slice::from_ref(done))?;
        told.push(json!({"role": "tool", "tool_call_id": id(&done.id, at, n), "content": text}));
    }
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
