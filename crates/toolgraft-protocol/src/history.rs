//! Renders a client's history for a model without tool calling: calls in the dialect, results in
//! the form of the prompt. Messages without calls or results, and parts that are not text, stay
//! unchanged.

use std::borrow::Cow;
use std::convert::Infallible;
use std::hash::Hash;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::codecs::vendor::asks;
use crate::fault::Fault;
use crate::own_words::own_words;
use crate::prepared::Prepared;
use crate::store::{ClientStore, WrittenMessage};
use toolgraft::conversation::shape::push;
use toolgraft::conversation::{Answered, Replies, User};
use toolgraft::outcome::{
    RESULT, Status, break_tokens, foreign_in_frames, foreign_in_message, restore_tokens, told_apart,
};
use toolgraft::tools::Said;
use toolgraft::turn::{ForeignResult, ModelNote, TurnStart, Withheld};
use toolgraft::wire::content::{make_legible, text_of};
use toolgraft::wire::past::{self, PastCall, PastMessage};
use toolgraft::wire::roles::join;
use toolgraft::wire::{set_member, take_member};
use toolgraft::{Call, Outcome, Tool};

/// A call of the history with its outcome.
pub(crate) struct Done {
    pub(crate) id: String,
    pub(crate) call: Call,
    outcome: Outcome,
}

impl Done {
    pub(crate) fn answered(&self) -> Answered<'_> {
        Answered::new(&self.id, &self.call, &self.outcome)
    }

    /// Returns the texts of the call and of its outcome that the prompt may contain, from which a cache key is made.
    fn told(&self) -> [Cow<'_, str>; 5] {
        let Done { id, call, outcome } = self;
        // Serialized, since the hash of a JSON object would ignore the order of its keys.
        let arguments = call.arguments.to_string();
        let status = outcome.status.as_str();
        [id.into(), call.tool.as_str().into(), arguments.into(), status.into(), outcome.text.as_str().into()]
    }
}

/// A client's history as messages without native calls, with facts about it for the turn.
#[derive(Default)]
pub(crate) struct Rendered {
    /// Messages without native calls; equal in every later request that holds the same history.
    pub(crate) messages: Vec<Value>,
    /// The last message, if it holds results, with additions for this request alone: earlier calls, and what to do
    /// next. `None` if the last message holds no results.
    pub(crate) newest: Option<Value>,
    /// Text of the user's last message, without text that a client added.
    pub(crate) question: String,
    /// The facts of the history that the turn needs.
    pub(crate) start: TurnStart,
    /// `true` if rounds that the client did not see brought text of third parties.
    pub(crate) untrusted: bool,
}

/// Reads the messages of a request, with the tools renamed to the names that the prompt shows.
///
/// # Errors
/// Fails if a message is malformed or a call names no function. A history that a client shortened
/// is accepted: a result without its call is rendered as a result, a call without its result as
/// stopped.
pub(crate) fn read(mut messages: Vec<Value>, prepared: &Prepared) -> Result<Vec<PastMessage>, Fault> {
    // A user's files are framed only once the user's own words are read.
    let others = messages.iter_mut().filter(|message| message["role"] != "user");
    others.filter_map(|message| message.get_mut("content")).for_each(frame_files);
    let outcome = |result: &Value, text: String| {
        let stated = result["status"].as_str().and_then(|status| status.parse().ok());
        let is_error = result["is_error"] == true;
        let status = stated.unwrap_or(if is_error { Status::ToolError } else { Status::Result });
        Ok::<_, Infallible>(Outcome::new(status, text))
    };
    let mut entries = past::read(messages, outcome).map_err(|bad| Fault::field(bad.place, bad.message))?;
    for call in entries.iter_mut().flat_map(|entry| &mut entry.calls) {
        call.name = prepared.offered.named.shown(&call.name).to_owned();
    }
    Ok(entries)
}

/// Renders a history as messages without native calls.
///
/// # Errors
/// Fails if a result cannot be rendered.
pub(crate) fn render(entries: Vec<PastMessage>, prepared: &Prepared, kept: &ClientStore) -> Result<Rendered, Fault> {
    let told = Rendered { messages: Vec::with_capacity(entries.len()), ..Rendered::default() };
    let mut history = History { prepared, kept, told, done: Vec::new(), before: [0; 2], after_results: false };
    entries.into_iter().try_for_each(|entry| history.entry(entry))?;
    history.told.start.calls = history.done.into_iter().map(|Done { call, outcome, .. }| (call, outcome)).collect();
    Ok(history.told)
}

struct History<'a> {
    prepared: &'a Prepared,
    kept: &'a ClientStore,
    /// The history rendered so far; its list of calls since the user's last message is in `done` until the end.
    told: Rendered,
    done: Vec<Done>,
    /// Hash of the user's last message and all calls since.
    before: [u64; 2],
    /// `true` if the last rendered message holds results of calls.
    after_results: bool,
}

impl History<'_> {
    fn entry(&mut self, mut entry: PastMessage) -> Result<(), Fault> {
        let Some(message) = entry.message.take() else { return self.results(entry, &Withheld::default()) };
        match message.get("role").and_then(Value::as_str) {
            Some("assistant") => match entry.calls.first().map(|call| call.id.clone()) {
                Some(first) => return self.calls(message, entry, &first),
                None => self.push(plain(message)),
            },
            Some("user") => self.user(message),
            // A later system message becomes a user's message in `shape`, as the results are one.
            _ if self.after_results => self.beside_results(message),
            _ => self.push(message),
        }
        Ok(())
    }

    fn push(&mut self, mut message: Map<String, Value>) {
        unmark(&mut message);
        self.told.messages.push(Value::Object(message));
        (self.after_results, self.told.newest) = (false, None);
    }

    fn user(&mut self, mut message: Map<String, Value>) {
        let content = message.entry("content").or_insert(Value::Null);
        let (own, text) = (own_words(content), text_of(content));
        frame_files(content);
        // A text alone has no files.
        let framed = content.is_array().then(|| text_of(content));
        let foreign = foreign_in_message(framed.as_deref().unwrap_or(&text));
        let foreign = foreign.map(|(name, text)| ForeignResult::of_file(name, text));
        self.told.start.results.extend(foreign);
        match own {
            // Text that a client adds by itself is no new request of the user.
            None if !self.told.question.is_empty() => {}
            words => {
                // A first message that holds only a client's additions is the question nevertheless.
                self.told.question = words.unwrap_or(text);
                self.told.start.said.push(Said::Question(self.told.question.clone()));
                self.done.clear();
                self.told.start.rejected.clear();
                self.told.start.postponed = None;
                self.before = self.prepared.settings.told.hash(&self.told.question);
                self.told.newest = None;
            }
        }
        make_legible(content);
        each_text(content, &|text| told_apart(text));
        match self.after_results {
            true => self.beside_results(message),
            false => self.push(message),
        }
    }

    /// Appends the content of a message to the last message, which holds results: that is a user message as well, and
    /// some endpoints require roles to alternate.
    fn beside_results(&mut self, mut message: Map<String, Value>) {
        let Some(last) = self.told.messages.last_mut() else { return };
        let told = take_member(last, "content");
        unmark(&mut message);
        let said = message.shift_remove("content").unwrap_or_default();
        if let Some(newest) = &mut self.told.newest {
            let content = join_before(&told, take_member(newest, "content"), said.clone());
            set_member(newest, "content", content);
        }
        set_member(last, "content", join(told, said));
    }

    /// Appends the stored messages of rounds that the client did not see, which came before the call with this
    /// identifier.
    fn unseen(&mut self, first: &str) {
        let Some(before) = self.kept.find(first, Instant::now()) else { return };
        self.told.untrusted |= before.untrusted;
        self.told.start.said.extend(before.searched.iter().cloned().map(Said::Searched));
        for text in before.messages.iter().map(|message| text_of(&message["content"])) {
            let framed = foreign_in_frames(RESULT, &text);
            self.told.start.results.extend(framed.map(|text| ForeignResult::new("", restore_tokens(text))));
        }
        before.messages.iter().cloned().for_each(|message| push(&mut self.told.messages, message));
    }

    /// Adds a message with calls, and the user message with their results.
    fn calls(&mut self, message: Map<String, Value>, entry: PastMessage, first: &str) -> Result<(), Fault> {
        self.unseen(first);
        let prepared = self.prepared;
        let found = entry.calls.iter().filter_map(|call| prepared.setup.catalog().find(None, &call.name).ok());
        let called = |tool: &Tool| Said::Called { server: tool.server.clone(), tool: tool.name.clone() };
        self.told.start.said.extend(found.map(|found| called(found.tool)));
        let written = self.kept.written(first);
        if let Some(written) = written.filter(|written| is_unchanged(&message, &entry.calls, written)) {
            let mut message = plain(message);
            // Control tokens in the stored text are escaped already, except those of the calls' own
            // syntax.
            message.insert("content".to_owned(), written.text.as_str().into());
            self.told.messages.push(Value::Object(message));
            return self.results(entry, &written.withheld);
        }
        let catalog = prepared.setup.catalog();
        let write = |call: &PastCall| call.written(prepared.dialect, catalog);
        let written: Vec<String> = entry.calls.iter().map(write).collect();
        let mut message = plain(message);
        let content = message.get_mut("content").map(Value::take).unwrap_or_default();
        message.insert("content".to_owned(), join(content, Value::String(written.join("\n"))));
        self.push(message);
        self.results(entry, &Withheld::default())
    }

    /// Adds the user message with the results of calls in their order, notes about their message,
    /// and results without a call at the end.
    fn results(&mut self, entry: PastMessage, withheld: &Withheld) -> Result<(), Fault> {
        let prepared = self.prepared;
        let PastMessage { calls, orphans, others, without_status, is_newest, .. } = entry;
        let done = |call: PastCall| done(with_inferred_status(call), prepared);
        let answered: Vec<Done> = calls.into_iter().map(done).collect();
        let orphans: Vec<Done> = orphans.into_iter().map(done).collect();
        // A stopped call has no result: its text is our own note.
        for done in answered.iter().filter(|done| done.outcome.status != Status::Cancelled) {
            // A failed call shows no file.
            let call = (done.outcome.status == Status::Result).then(|| done.call.clone());
            self.told.start.results.push(ForeignResult::new(&*done.id, &*done.outcome.text).with_call(call));
        }
        self.told.start.results.extend(orphans.iter().map(|done| ForeignResult::new(&*done.id, &*done.outcome.text)));
        self.told.start.rejected.extend(withheld.rejected.iter().cloned());
        self.told.start.postponed.clone_from(&withheld.postponed);
        let before = self.done.len();
        let denied = withheld.denied.iter().cloned().map(|(id, call, outcome)| Done { id, call, outcome });
        self.done.extend(answered.into_iter().chain(denied).chain(orphans));
        let (earlier, last) = self.done.split_at(before);
        let rejected: Vec<_> = withheld.rejected.iter().map(|rejected| (&rejected.raw, &rejected.message)).collect();
        let told = last.iter().map(Done::told).collect::<Vec<_>>();
        let key = self.key((without_status, told, rejected, &withheld.notes));
        let replies = |later: usize| {
            let mut replies = Replies::default();
            replies.answered = last.iter().map(Done::answered).collect();
            replies.rejected = withheld.rejected.iter().collect();
            replies.notes = withheld.notes.iter().map(String::as_str).collect();
            replies.earlier = earlier.iter().map(Done::answered).collect();
            replies.request = Some(self.told.question.as_str()).filter(|text| !text.trim().is_empty());
            (replies.later, replies.without_status) = (later, without_status);
            prepared.setup.wording().replies(&replies).map_err(|error| Fault::internal(error.to_string()))
        };
        let message = |text: &str| json!({"role": "user", "content": join(text.into(), others.clone())});
        let told = message(&prepared.settings.told.text(key, || replies(1))?);
        let newest = if is_newest { Some(message(&replies(0)?)) } else { None };
        (self.told.newest, self.after_results, self.before) = (newest, true, key);
        self.told.messages.push(told);
        Ok(())
    }

    /// Returns the cache key of a rendered message: a hash of the value it is made from, the prepared tools and the
    /// messages before it.
    fn key(&self, of: impl Hash) -> [u64; 2] {
        self.prepared.settings.told.hash((self.prepared.identity, self.before, of))
    }
}

/// Converts a past call and its result to a call of the dialect with its outcome; a call without a result counts as
/// cancelled.
pub(crate) fn done(call: PastCall, prepared: &Prepared) -> Done {
    let stopped = || Outcome::new(Status::Cancelled, prepared.setup.wording().note(ModelNote::Cancelled));
    let PastCall { id, name, arguments, outcome, .. } = call;
    let call = Call::new(prepared.dialect, name, Value::Object(arguments));
    Done { id, call, outcome: outcome.unwrap_or_else(stopped) }
}

/// Maximum length, in bytes, of a result that is recognized as an error. A longer one usually has content of its own:
/// a log, a page, data with one member `error` among others.
const MAX_ERROR: usize = 400;

/// Prefixes of the error texts that tools of common clients and frameworks return as results.
const ERRORS: [&str; 6] =
    ["Error:", "Error executing", "Error calling", "MCP error", "Traceback (most recent call last)", "错误："];

/// Marks a result as failed if its text is an error and the client sent no status: after an error that counts as
/// success, the model would make its answer up.
fn with_inferred_status(mut call: PastCall) -> PastCall {
    let failed = call.outcome.as_mut().filter(|outcome| !call.has_status && is_error(&outcome.text));
    if let Some(outcome) = failed {
        outcome.status = Status::ToolError;
    }
    call
}

/// Returns `true` if the text of a result is an error message and nothing else.
fn is_error(text: &str) -> bool {
    let text = text.trim();
    let says_so = |object: Map<String, Value>| {
        object.get("error").is_some_and(asks) || object.get("isError").is_some_and(|is_error| *is_error == true)
    };
    let is_object = || text.starts_with('{') && serde_json::from_str(text).is_ok_and(says_so);
    text.len() <= MAX_ERROR && (ERRORS.iter().any(|words| text.starts_with(words)) || is_object())
}

/// Inserts `more` after the prefix `told` of `newest`, so that the additions for this request stay
/// last.
fn join_before(told: &Value, newest: Value, more: Value) -> Value {
    match (told.as_str(), newest.as_str(), more.as_str()) {
        (Some(told), Some(text), Some(more)) if text.starts_with(told) => {
            format!("{told}\n\n{more}{}", &text[told.len()..]).into()
        }
        _ => join(newest, more),
    }
}

/// Puts the text of each file in a message's content into a frame, since the user did not write it.
pub(crate) fn frame_files(content: &mut Value) {
    for part in content.as_array_mut().into_iter().flatten() {
        if let Some(text) = part["file"]["text"].as_str() {
            let name = part["file"]["filename"].as_str().unwrap_or("file");
            let about = part["file"]["about"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let framed = about.fold(User::default(), User::with_words).with_file(name, text);
            *part = json!({"type": "text", "text": framed.text});
        }
    }
}

/// Returns `true` if a message of the history still has the text and the calls that the model wrote.
fn is_unchanged(message: &Map<String, Value>, calls: &[PastCall], written: &WrittenMessage) -> bool {
    let text = message.get("content").map(text_of).unwrap_or_default();
    // Clients trim the text before the calls, and may have edited it or removed one of several
    // calls.
    written.text.trim_start().starts_with(&*break_tokens(text.trim()))
        && calls.len() == written.calls.len()
        && calls
            .iter()
            .zip(&written.calls)
            .all(|(made, (name, arguments))| made.name == *name && made.arguments == *arguments)
}

/// Escapes control tokens in everything that a client has written in a message. The parts of a
/// content are brought into a form that endpoints accept. Calls are left out, since they are
/// rendered separately.
pub(crate) fn unmark(message: &mut Map<String, Value>) {
    if let Some(content) = message.get_mut("content") {
        make_legible(content);
    }
    for (_, value) in message.iter_mut().filter(|(key, _)| *key != "tool_calls") {
        *value = unmarked(value.take());
    }
}

/// Members of a content part whose strings are data or a URL: no model reads them as text, so control tokens in them
/// stay.
const DATA: [&str; 4] = ["url", "image_url", "data", "file_data"];

/// Escapes control tokens in all strings of a value, for example names of files.
fn unmarked(value: Value) -> Value {
    match value {
        Value::String(text) => match break_tokens(&text) {
            Cow::Owned(broken) => broken.into(),
            Cow::Borrowed(_) => text.into(),
        },
        Value::Array(parts) => parts.into_iter().map(unmarked).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| {
                let is_data = value.is_string() && DATA.contains(&key.as_str());
                let value = if is_data { value } else { unmarked(value) };
                (key, value)
            })
            .collect(),
        other => other,
    }
}

/// Applies a function to all texts in the content of a message.
pub(crate) fn each_text(content: &mut Value, change: &dyn Fn(&str) -> Cow<'_, str>) {
    match content {
        Value::String(text) => {
            let changed = match change(text) {
                Cow::Owned(changed) => Some(changed),
                Cow::Borrowed(_) => None,
            };
            if let Some(changed) = changed {
                *text = changed;
            }
        }
        Value::Array(parts) => {
            parts.iter_mut().filter_map(|part| part.get_mut("text")).for_each(|text| each_text(text, change));
        }
        _ => {}
    }
}

/// Returns an assistant's message without null members such as `refusal: null`, and with a
/// `content`.
pub(crate) fn plain(mut message: Map<String, Value>) -> Map<String, Value> {
    message.retain(|key, value| key == "content" || !value.is_null());
    if message.get("content").is_none_or(Value::is_null) {
        message.insert("content".to_owned(), "".into());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_that_is_only_an_error_is_one() {
        let traceback = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'b'";
        for text in [
            "Error: no such file",
            "\n Error executing tool read: timeout",
            "Error calling read",
            traceback,
            "MCP error -32602: Invalid arguments",
            "错误：没有这个文件",
            r#"{"error": "not found"}"#,
            r#"{"error": {"code": 404}, "data": null}"#,
            r#"{"isError": true, "content": []}"#,
        ] {
            assert!(is_error(text), "{text}");
        }
        let long = format!("Error: {}", "x".repeat(MAX_ERROR - "Error: ".len()));
        assert!(is_error(&long) && !is_error(&format!("{long}x")));
        for text in [
            "",
            "No error",
            "Errors: 0",
            "Error",
            r#"{"error": null, "data": 1}"#,
            r#"{"error": ""}"#,
            r#"{"error": false}"#,
            r#"{"isError": false}"#,
            r#"{"isError": "true"}"#,
            r#"[{"error": "x"}]"#,
            r#"{"last": {"error": "x"}}"#,
        ] {
            assert!(!is_error(text), "{text}");
        }
    }
}
