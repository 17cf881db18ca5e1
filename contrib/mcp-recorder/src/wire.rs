//! The messages to and from an MCP server: shown line by line, and recorded.
//!
//! A line is a [`WireMessage`]: when, from whom, what. A record has one a line as JSON, without the
//! secrets of the server's entry; `mcp-recorder play` answers from it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use toolgraft_files as files;
use toolgraft_mcp::{HubBuilder, WireMessage, WireSide};

use crate::{Failure, clean};

/// The amount of a message that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WireForm {
    /// One line.
    Line,
    /// The whole of it, indented.
    Json,
}

/// The messages that are shown, and the record.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    form: Option<WireForm>,
    pending: Pending,
    record: Option<(File, PathBuf)>,
    /// Why the record is not complete.
    problem: Option<String>,
}

impl Wire {
    /// Shows messages, and records none.
    pub(crate) fn showing() -> Self {
        Wire(Arc::default())
    }

    /// Records to this file; if it exists, to one with the next number after its name, whose path is
    /// returned: a client may start its server at any time.
    pub(crate) fn recording(file: &Path) -> Result<(Self, PathBuf), Failure> {
        let mut path = file.to_owned();
        for n in 2.. {
            match files::create(&path, b"") {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => path = numbered(file, n),
                created => {
                    let opened = created.and_then(|()| files::append(&path));
                    let opened = opened.map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
                    let state = State { record: Some((opened, path.clone())), ..State::default() };
                    return Ok((Wire(Arc::new(Mutex::new(state))), path));
                }
            }
        }
        Err(Failure::Usage(format!("no name is free beside {}", file.display())))
    }

    /// A hub whose messages are shown and recorded.
    pub(crate) fn tap(&self, hub: HubBuilder) -> HubBuilder {
        let wire = self.clone();
        hub.wire(move |message| wire.pass(&message))
    }

    /// Shows and records a message.
    pub(crate) fn pass(&self, message: &WireMessage) {
        self.state().pass(message);
    }

    /// Shows messages in this form from now on, or none.
    pub(crate) fn show(&self, form: Option<WireForm>) {
        self.state().form = form;
    }

    /// The result of the command, given the result of the record.
    pub(crate) fn end(&self, done: Result<(), Failure>) -> Result<(), Failure> {
        match self.state().problem.take() {
            Some(problem) if done.is_ok() => Err(Failure::Failed(problem)),
            _ => done,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `r.jsonl` with a number: `r-2.jsonl`.
fn numbered(file: &Path, n: u32) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    file.with_file_name(format!("{stem}-{n}{extension}"))
}

impl State {
    fn pass(&mut self, message: &WireMessage) {
        if let Some((file, path)) = &mut self.record {
            let line = serde_json::to_string(message).map_err(std::io::Error::from);
            if let Err(error) = line.and_then(|line| writeln!(file, "{line}")) {
                self.problem = Some(format!("the record {} is not complete: {error}", path.display()));
                self.record = None;
            }
        }
        // An answer names its request by the id alone, so each request counts.
        if let Some(text) = self.pending.text(message, self.form) {
            eprint!("{text}");
        }
    }
}

/// Requests without an answer so far: by sender, server and id; their methods and times.
#[derive(Default)]
struct Pending(HashMap<(WireSide, String, String), (String, SystemTime)>);

impl Pending {
    /// The lines that show a message; `None` if it is not to be shown.
    fn text(&mut self, wire: &WireMessage, form: Option<WireForm>) -> Option<String> {
        let message: Value = serde_json::from_str(wire.message.get()).ok()?;
        let id = message.get("id").filter(|id| !id.is_null()).map(Value::to_string);
        let method = message.get("method").and_then(Value::as_str);
        let (from, server) = (wire.from, wire.server.clone());
        let (method, took) = match (method, &id) {
            (Some(method), Some(id)) => {
                self.0.insert((from, server, id.clone()), (method.to_owned(), wire.at));
                (method.to_owned(), None)
            }
            (Some(method), None) => (method.to_owned(), None),
            (None, id) => {
                let asker = if from == WireSide::Client { WireSide::Server } else { WireSide::Client };
                let request = id.as_ref().and_then(|id| self.0.remove(&(asker, server, id.clone())));
                let (method, at) = request.unwrap_or_else(|| ("?".to_owned(), wire.at));
                (method, wire.at.duration_since(at).ok())
            }
        };
        Some(shown(wire, &message, (method, id, took), form?))
    }
}

/// `10:52:31.107Z  time → tools/call #3  {"name":"get_current_time"}`.
fn shown(
    wire: &WireMessage,
    message: &Value,
    (method, id, took): (String, Option<String>, Option<Duration>),
    form: WireForm,
) -> String {
    let arrow = if wire.from == WireSide::Client { '→' } else { '←' };
    let text = match (message.get("params"), message.get("result"), message.get("error")) {
        (_, _, Some(error)) => format!("error {error}"),
        (_, Some(value), _) | (Some(value), _, _) => in_short(value),
        (None, None, None) => String::new(),
    };
    let id = id.map(|id| format!(" #{id}")).unwrap_or_default();
    let took = took.map(|took| format!("  {} ms", took.as_millis())).unwrap_or_default();
    let head = format!("{}Z  {} {arrow} {method}{id}{took}", time_of_day(wire.at), wire.server);
    let line = clean(&head).replace('\n', " ");
    match form {
        WireForm::Line => format!("{}\n", format!("{line}  {}", clean(&text)).trim_end()),
        WireForm::Json => {
            let pretty = serde_json::to_string_pretty(message).unwrap_or_default();
            format!("{line}\n  {}\n", clean(&pretty).replace('\n', "\n  "))
        }
    }
}

/// `10:52:31.107`, of the day in UTC.
fn time_of_day(at: SystemTime) -> String {
    let millis = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let (seconds, millis) = (millis / 1000, millis % 1000);
    format!("{:02}:{:02}:{:02}.{millis:03}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// Returns a part of a message as one line of JSON, without its `_meta`.
fn in_short(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.contains_key("_meta") => {
            let own = fields.iter().filter(|(name, _)| *name != "_meta");
            let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
            if own.is_empty() { String::new() } else { Value::Object(own).to_string() }
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn message(from: &str, at: u64, message: &str) -> WireMessage {
        let line = format!(r#"{{"at_ms":{at},"server":"s","from":"{from}","message":{message}}}"#);
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn a_line_says_when_from_whom_and_what_and_an_answer_what_it_answers() {
        let mut pending = Pending::default();
        let mut line = |from, at, json| pending.text(&message(from, at, json), Some(WireForm::Line)).unwrap();
        assert_eq!(
            line(
                "client",
                3_661_005,
                r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{"a":1},"name":"x"}}"#
            ),
            "01:01:01.005Z  s → tools/call #3  {\"name\":\"x\"}\n"
        );
        // Each side counts for itself.
        assert_eq!(
            line("server", 3_661_006, r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#),
            "01:01:01.006Z  s ← ping #3\n"
        );
        assert_eq!(
            line("client", 3_661_006, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
            "01:01:01.006Z  s → ping #3  0 ms  {}\n"
        );
        assert_eq!(
            line("server", 3_661_105, r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"a\u001b[2J"}}"#),
            "01:01:01.105Z  s ← tools/call #3  100 ms  error {\"code\":-32602,\"message\":\"a\\u001b[2J\"}\n"
        );
        assert_eq!(
            line("server", 3_661_105, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#),
            "01:01:01.105Z  s ← ? #9  0 ms  {}\n"
        );
    }

    #[test]
    fn a_request_that_was_not_shown_is_known_to_its_answer() {
        let mut pending = Pending::default();
        let ask = message("client", 0, r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#);
        assert_eq!(pending.text(&ask, None), None);
        let answer = message("server", 0, r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}"#);
        let text = pending.text(&answer, Some(WireForm::Json)).unwrap();
        assert!(text.starts_with("00:00:00.000Z  s ← tools/list #\"a\"  0 ms\n  {\n    \"jsonrpc\""), "{text}");
    }
}
