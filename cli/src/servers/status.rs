//! The status of servers, in lines for a person: state, how each is reached, tools, log.
//!
//! A [`StatusReport`] is made where the servers are, and shown here.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::screen::excerpt::bounded;
use crate::screen::visible::{clean, plain, quoted};
use crate::terminal::{counted, time_of_day};
use toolgraft::secrets::Secrecy;
use toolgraft_mcp::{Hub, LogLine, ServerState, ServerStatus, ToolState};

/// Maximum width in columns of a displayed name.
const NAME: usize = 40;

/// The status of a server, its address and its tools.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StatusReport {
    #[serde(flatten)]
    pub(crate) status: ServerStatus,
    /// The server's command or URL, without secrets.
    reached: String,
    /// All tools of the server, each with its state (enabled or disabled).
    tools: Vec<ToolState>,
}

/// Returns the status reports of all servers of a hub.
pub(crate) fn reports(hub: &Hub) -> Vec<StatusReport> {
    // There is no error for a name that is the hub's own.
    let report = |status: ServerStatus| StatusReport {
        reached: hub.entry(&status.name).map(|entry| reached(&entry.secrecy())).unwrap_or_default(),
        tools: hub.tools(&status.name).unwrap_or_default(),
        status,
    };
    hub.servers().into_iter().map(report).collect()
}

/// Returns the command line of a server, without its secrets.
pub(crate) fn command(secrecy: &Secrecy) -> String {
    secrecy.words.iter().map(|word| quoted(&word.shown)).collect::<Vec<_>>().join(" ")
}

/// Returns the URL of a server, or else its command line, without secrets.
fn reached(secrecy: &Secrecy) -> String {
    secrecy.url.as_ref().map_or_else(|| command(secrecy), |url| url.shown.clone())
}

/// Returns lines on the working directory, environment variables, headers and login settings that a server is started
/// or called with, without secrets.
pub(crate) fn gets(secrecy: &Secrecy, cwd: Option<&str>) -> impl Iterator<Item = String> {
    let named = |name: &str| bounded(&quoted(name), NAME);
    let cwd = cwd.map(|cwd| format!("works in {}", quoted(cwd)));
    let env = secrecy.env.iter().map(move |(name, value)| format!("sets {}={}", named(name), quoted(&value.shown)));
    let headers = secrecy.headers.iter();
    let headers = headers.map(move |(name, value)| format!("sends {}: {}", named(name), quoted(&value.shown)));
    let oauth = secrecy.oauth.iter();
    let oauth = oauth.map(move |(name, value)| format!("logs in with {} {}", named(name), quoted(&value.shown)));
    cwd.into_iter().chain(env).chain(headers).chain(oauth)
}

/// Returns the status reports as text, a few lines for each server.
pub(crate) fn text(reports: &[StatusReport]) -> String {
    if reports.is_empty() {
        return "the configuration has no servers\n".to_owned();
    }
    reports.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn block(report: &StatusReport) -> String {
    let status = &report.status;
    let mut text = head(status);
    let mut line = |said: String| {
        let _ = writeln!(text, "  {said}");
    };
    if !report.reached.is_empty() {
        line(plain(&report.reached));
    }
    let off: Vec<&str> = report.tools.iter().filter(|tool| !tool.on).map(|tool| tool.name.as_str()).collect();
    if !report.tools.is_empty() {
        let all = counted(report.tools.len(), "tool");
        line(if off.is_empty() { all } else { format!("{all}, off: {}", plain(&off.join(", "))) });
    }
    if status.restarts > 0 {
        line(format!("restarted {} times", status.restarts));
    }
    match (&status.error, &status.last_error) {
        (Some(error), _) => line(clean(error).replace('\n', "\n  ")),
        (None, Some(error)) => line(format!("last error: {}", clean(error).replace('\n', "\n  "))),
        (None, None) => {}
    }
    status.notes.iter().for_each(|note| line(format!("note: {}", plain(note))));
    text
}

/// Returns the entries of a server's log as text.
pub(crate) fn log_text(lines: &[LogLine]) -> String {
    lines.iter().map(|line| format!("{}\n", log_line(line))).collect()
}

/// Returns a log entry as text, such as `10:52:31Z  warning db: no rows`, with control characters made visible.
fn log_line(line: &LogLine) -> String {
    let dim = Style::new().dimmed();
    let who = match (&line.level, &line.logger) {
        (None, _) => "stderr".to_owned(),
        (Some(level), None) => plain(level),
        (Some(level), Some(logger)) => format!("{} {}:", plain(level), plain(logger)),
    };
    let text = clean(&line.text).replace('\n', "\n    ");
    let at = time_of_day(line.at);
    let second = at.split('.').next().unwrap_or_default();
    format!("{dim}{second}Z  {who}{dim:#}  {text}")
}

/// Returns the first line of a server's status, such as `time  ready in 0.4 s  mcp-time 1.2.0  MCP 2025-11-25`.
pub(crate) fn head(status: &ServerStatus) -> String {
    let (color, words) = state_in_color(status);
    let took = format!("{:.1} s", Duration::as_secs_f64(&status.connect_time));
    let words = match status.state {
        ServerState::Ready => format!("ready in {took}"),
        ServerState::Failed if !status.misconfigured => format!("failed after {took}"),
        ServerState::Backoff => "gone: the next call restarts it".to_owned(),
        _ => words.to_owned(),
    };
    let (bold, color) = (Style::new().bold(), color.on_default());
    let mut line = format!("{bold}{}{bold:#}  {color}{words}{color:#}", plain(&status.name));
    let server = [&status.server_name, &status.server_version].into_iter().flatten().map(|s| plain(s));
    let server = server.collect::<Vec<_>>().join(" ");
    if !server.is_empty() {
        let _ = write!(line, "  {server}");
    }
    if let Some(version) = &status.protocol_version {
        let _ = write!(line, "  MCP {}", plain(version));
    }
    line.push('\n');
    line
}

/// Returns a word or two for the state of a server.
pub(crate) fn state(status: &ServerStatus) -> &'static str {
    state_in_color(status).1
}

fn state_in_color(status: &ServerStatus) -> (AnsiColor, &'static str) {
    match status.state {
        ServerState::Ready => (AnsiColor::Green, "ready"),
        ServerState::Failed if status.misconfigured => (AnsiColor::Red, "misconfigured"),
        ServerState::NeedsAuth => (AnsiColor::Red, "needs authorization"),
        ServerState::Failed => (AnsiColor::Red, "failed"),
        ServerState::Backoff => (AnsiColor::Red, "gone"),
        ServerState::Connecting => (AnsiColor::Yellow, "connecting"),
        ServerState::Idle => (AnsiColor::Yellow, "not started"),
        ServerState::Disabled => (AnsiColor::Yellow, "disabled"),
        _ => (AnsiColor::Yellow, "in another state"),
    }
}
