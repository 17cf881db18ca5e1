//! What goes over the wire between this program and MCP servers: shown line by line, and recorded.
//!
//! A line is a [`WireMessage`]: when, which way, what. A record has one a line as JSON, without the
//! secrets of the servers' entries; `toolgraft mcp play` answers from it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value};

use crate::base::{Failure, lock, media};
use crate::screen::live::Place;
use crate::screen::visible::{clean, plain};
use crate::terminal::{columns, lasted, shortened, time_of_day};
use toolgraft_mcp::{HubBuilder, WireMessage, WireSide, files};

/// Whether to look at what goes over the wire.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "MCP servers")]
pub(crate) struct WireArgs {
    /// Show on stderr each message that goes to a server or comes from it, without secrets
    ///
    /// `line` shows each in one line and leaves its `_meta` out, `json` the whole of it below that line.
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "line")]
    wire: Option<WireForm>,

    /// Write these messages to a new file, one as JSON a line; `toolgraft mcp play` answers from it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// How much is shown of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WireForm {
    /// One line.
    Line,
    /// The whole of it, indented.
    Json,
}

/// Where lines are shown while somebody types at a prompt.
pub(crate) type Printer = Box<dyn FnMut(String) + Send>;

/// The look at the wire, and the record.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Mutex<Looker>>);

#[derive(Default)]
struct Looker {
    form: Option<WireForm>,
    printer: Option<Printer>,
    asked: Asked,
    record: Option<(File, PathBuf)>,
    /// Why the record is not complete.
    problem: Option<String>,
}

impl WireArgs {
    /// Begins the record, if one is wanted.
    pub(crate) fn begin(&self) -> Result<Wire, Failure> {
        let opened = |file: &PathBuf| {
            media::check_place("--record", file)?;
            let opened = files::append(file);
            let opened = opened.map_err(|e| Failure::usage(format!("cannot write {}: {e}", file.display())))?;
            Ok((opened, file.clone()))
        };
        let record = self.record.as_ref().map(opened).transpose()?;
        Ok(Wire(Arc::new(Mutex::new(Looker { form: self.wire, record, ..Looker::default() }))))
    }
}

impl Wire {
    /// Records to this file; where something is there, to one with the next number behind its name,
    /// whose path comes with it: a client may start its server at any time.
    pub(crate) fn recording(file: &Path) -> Result<(Wire, PathBuf), Failure> {
        let mut path = file.to_owned();
        for n in 2.. {
            match files::create(&path, b"") {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => path = media::numbered(file, n),
                created => {
                    let opened = created.and_then(|()| files::append(&path));
                    let opened = opened.map_err(|e| Failure::usage(format!("cannot write {}: {e}", path.display())))?;
                    let record = Some((opened, path.clone()));
                    return Ok((Wire(Arc::new(Mutex::new(Looker { record, ..Looker::default() }))), path));
                }
            }
        }
        Err(Failure::usage(format!("no name is free beside {}", file.display())))
    }

    /// A hub that is looked at, where anything is to be shown or recorded.
    pub(crate) fn tap(&self, hub: HubBuilder) -> HubBuilder {
        let is_idle = {
            let looker = self.looker();
            looker.form.is_none() && looker.record.is_none()
        };
        if is_idle { hub } else { self.tap_for_later(hub) }
    }

    /// A hub that is looked at, though nothing may be shown yet.
    pub(crate) fn tap_for_later(&self, hub: HubBuilder) -> HubBuilder {
        let wire = self.clone();
        hub.wire(move |message| wire.looker().pass(&message))
    }

    /// Shows messages in this form from now on, or none.
    pub(crate) fn show(&self, form: Option<WireForm>) {
        self.looker().form = form;
    }

    /// Shows lines by this printer from now on.
    pub(crate) fn show_by(&self, printer: Option<Printer>) {
        self.looker().printer = printer;
    }

    /// Where a command may show that it goes on: nowhere between lines of the wire.
    pub(crate) fn place(&self) -> Place {
        if self.looker().form.is_some() { Place::Nowhere } else { Place::here() }
    }

    /// What became of the command, given what became of the record.
    pub(crate) fn end<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        let problem = self.looker().problem.take();
        match (done, problem) {
            (Ok(_), Some(problem)) => Err(Failure::job(problem)),
            (done, _) => done,
        }
    }

    fn looker(&self) -> MutexGuard<'_, Looker> {
        lock(&self.0)
    }
}

impl Looker {
    fn pass(&mut self, message: &WireMessage) {
        if let Some((file, path)) = &mut self.record {
            let line = serde_json::to_string(message).map_err(std::io::Error::from);
            if let Err(error) = line.and_then(|line| writeln!(file, "{line}")) {
                self.problem = Some(format!("the record {} is not complete: {error}", path.display()));
                self.record = None;
            }
        }
        // What is asked for is known by its id alone, so each request counts.
        let text = self.asked.text(message, self.form);
        let Some(text) = text else { return };
        match &mut self.printer {
            Some(print) => print(text),
            None => anstream::eprint!("{text}"),
        }
    }
}

/// What was asked and is not answered yet: by whom of which server, with which id; what, when.
#[derive(Default)]
struct Asked(HashMap<(WireSide, String, String), (String, SystemTime)>);

impl Asked {
    /// The lines that show a message; `None` where it is not to be shown.
    fn text(&mut self, wire: &WireMessage, form: Option<WireForm>) -> Option<String> {
        let message: Value = serde_json::from_str(wire.message.get()).ok()?;
        let id = message.get("id").filter(|id| !id.is_null()).map(Value::to_string);
        let method = message.get("method").and_then(Value::as_str);
        let (from, server) = (wire.from, wire.server.clone());
        let (what, took) = match (method, &id) {
            (Some(method), Some(id)) => {
                self.0.insert((from, server, id.clone()), (method.to_owned(), wire.at));
                (method.to_owned(), None)
            }
            (Some(method), None) => (method.to_owned(), None),
            (None, id) => {
                let asker = if from == WireSide::Client { WireSide::Server } else { WireSide::Client };
                let asked = id.as_ref().and_then(|id| self.0.remove(&(asker, server, id.clone())));
                let (method, at) = asked.unwrap_or_else(|| ("?".to_owned(), wire.at));
                (method, wire.at.duration_since(at).ok())
            }
        };
        let form = form?;
        Some(shown(wire, &message, (what, id, took), form))
    }
}

/// `10:52:31.107Z  time → tools/call #3  {"name":"get_current_time"}`. What a server wrote steers no
/// terminal.
fn shown(
    wire: &WireMessage,
    message: &Value,
    (what, id, took): (String, Option<String>, Option<Duration>),
    form: WireForm,
) -> String {
    let (arrow, color) = match wire.from {
        WireSide::Client => ("→", AnsiColor::Cyan),
        WireSide::Server => ("←", AnsiColor::Green),
    };
    let (color, text) = match (message.get("params"), message.get("result"), message.get("error")) {
        (_, _, Some(error)) => (AnsiColor::Red, format!("error {error}")),
        (_, Some(value), _) | (Some(value), _, _) => (color, in_short(value)),
        (None, None, None) => (color, String::new()),
    };
    let id = id.map(|id| format!(" #{}", plain(&id))).unwrap_or_default();
    let took = took.map(|took| format!("  {}", lasted(took))).unwrap_or_default();
    let head = format!("{}Z  {} {arrow} {}{id}{took}", time_of_day(wire.at), plain(&wire.server), plain(&what));
    let dim = Style::new().dimmed();
    let color = color.on_default();
    match form {
        WireForm::Line => {
            let columns = if stderr().is_terminal() { columns() } else { usize::MAX };
            let line = shortened(format!("{head}  {}", plain(&text)).trim_end(), columns);
            let cut = head.len().min(line.len());
            let (head, rest) = line.split_at(if line.is_char_boundary(cut) { cut } else { line.len() });
            format!("{color}{head}{color:#}{dim}{rest}{dim:#}\n")
        }
        WireForm::Json => {
            let pretty = serde_json::to_string_pretty(message).unwrap_or_default();
            let pretty = clean(&pretty).replace('\n', "\n  ");
            format!("{color}{head}{color:#}\n  {pretty}\n")
        }
    }
}

/// What a message says, without what stands beside it.
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
    use anstream::adapter::strip_str;

    use super::*;

    fn message(from: &str, at: u64, message: &str) -> WireMessage {
        let line = format!(r#"{{"at_ms":{at},"server":"s","from":"{from}","message":{message}}}"#);
        serde_json::from_str(&line).unwrap()
    }

    #[test]
    fn a_line_says_when_which_way_and_what_and_an_answer_what_it_answers() {
        let mut asked = Asked::default();
        let mut line = |from, at, json| {
            let text = asked.text(&message(from, at, json), Some(WireForm::Line)).unwrap();
            strip_str(&text).to_string()
        };
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
    fn what_was_asked_while_nothing_was_shown_is_known_all_the_same() {
        let mut asked = Asked::default();
        let ask = message("client", 0, r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#);
        assert_eq!(asked.text(&ask, None), None);
        let answer = message("server", 0, r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}"#);
        let text = strip_str(&asked.text(&answer, Some(WireForm::Json)).unwrap()).to_string();
        assert!(text.starts_with("00:00:00.000Z  s ← tools/list #\"a\"  0 ms\n  {\n    \"jsonrpc\""), "{text}");
    }
}
