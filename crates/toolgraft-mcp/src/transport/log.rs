//! The log of a server: its log messages, and its standard error.
//!
//! The latest lines are kept for the user. None of them reaches a model. They are kept over
//! restarts, because the lines before a crash matter most.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use toolgraft::secrets::Secrets;

/// Maximum number of lines of a server's log that are kept; the oldest are dropped.
pub const LOG_LINES: usize = 500;

/// Maximum number of bytes of a server's log that are kept; the oldest lines are dropped.
pub const LOG_BYTES: usize = 64 * 1024;

/// Maximum number of bytes of one line of a server's log that are kept; the rest is cut off.
const LINE_BYTES: usize = 4 * 1024;

/// A line of a server's log, without the secrets of the entry. The text is untrusted and may
/// contain anything, including escape sequences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogLine {
    /// Time of arrival of the line; serialized in milliseconds since 1970.
    #[serde(rename = "at_ms", serialize_with = "unix_millis", deserialize_with = "of_unix_millis")]
    pub at: SystemTime,
    /// The level of a log message, as the server wrote it; `None` for a line of standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The name of the server's logger; `None` if the log message names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The text of the line. A log message may contain line breaks.
    pub text: String,
}

impl LogLine {
    fn size(&self) -> usize {
        [&self.level, &self.logger].into_iter().flatten().chain([&self.text]).map(String::len).sum()
    }
}

/// The latest lines of a server's log.
#[derive(Default)]
pub(crate) struct Log {
    secrets: Secrets,
    kept: Mutex<LogBuffer>,
    /// Callback that is called with each line as it arrives.
    look: Option<Look>,
}

/// A callback for the lines of a server's log.
type Look = Box<dyn Fn(&LogLine) + Send + Sync>;

#[derive(Default)]
struct LogBuffer {
    lines: VecDeque<LogLine>,
    bytes: usize,
}

impl Log {
    /// Creates a log of a server that hides these secrets and calls `look` with each line as it arrives.
    pub(crate) fn new(secrets: Secrets, look: impl Fn(&LogLine) + Send + Sync + 'static) -> Self {
        Log { secrets, look: Some(Box::new(look)), kept: Mutex::default() }
    }

    /// Returns the kept lines of the log, the oldest first.
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.kept().lines.iter().cloned().collect()
    }

    /// Adds a log message with these parameters of `notifications/message`, and hides these further secrets in its
    /// text.
    pub(crate) fn message(&self, params: &Value, secrets: &Secrets) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(|text| short(text).to_owned());
        let said = match params.get("data").unwrap_or(&Value::Null) {
            Value::String(text) => text.clone(),
            data => data.to_string(),
        };
        // A message without a level must differ from a line of standard error.
        let level = Some(text("level").unwrap_or_default());
        self.add(level, text("logger"), &secrets.hide(&said));
    }

    fn add(&self, level: Option<String>, logger: Option<String>, text: &str) {
        // Hidden before the line is cut: the remainder of a secret would not be found.
        let text = self.secrets.hide(text);
        let line = LogLine { at: SystemTime::now(), level, logger, text: short(&text).to_owned() };
        if let Some(look) = &self.look {
            look(&line);
        }
        let mut kept = self.kept();
        kept.bytes += line.size();
        kept.lines.push_back(line);
        while kept.lines.len() > LOG_LINES || kept.bytes > LOG_BYTES {
            let Some(oldest) = kept.lines.pop_front() else { break };
            kept.bytes -= oldest.size();
        }
    }

    fn kept(&self) -> MutexGuard<'_, LogBuffer> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Splits standard error into the lines of a log.
#[derive(Debug, Default)]
pub(crate) struct ErrorLines {
    /// The bytes of the line that has not ended yet, up to twice the limit of a line.
    begun: Vec<u8>,
}

impl ErrorLines {
    /// Adds a piece of standard error; each line that it ends is added to the log.
    pub(crate) fn push(&mut self, mut piece: &[u8], log: &Log) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.keep(&piece[..end]);
            self.end(log);
            piece = &piece[end + 1..];
        }
        self.keep(piece);
    }

    /// Adds the line that has not ended yet to the log, if it is not blank.
    pub(crate) fn end(&mut self, log: &Log) {
        let line = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun.clear();
        let line = line.trim_end();
        if !line.is_empty() {
            log.add(None, None, line);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        // Twice the length that is kept, so that a secret at the limit is still found as a whole.
        let room = (2 * LINE_BYTES).saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

/// Returns at most [`LINE_BYTES`] bytes of the beginning of a text.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(LINE_BYTES)]
}

pub(super) fn unix_millis<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

pub(super) fn of_unix_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let since = Duration::from_millis(u64::deserialize(deserializer)?);
    SystemTime::UNIX_EPOCH.checked_add(since).ok_or_else(|| serde::de::Error::custom("a time that is too late"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(log: &Log) -> Vec<String> {
        log.lines().into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn standard_error_is_kept_line_by_line_however_it_comes() {
        let text = "one\r\n\ntwo \u{e4}\nno end".as_bytes();
        for at in 0..=text.len() {
            let (log, mut lines) = (Log::default(), ErrorLines::default());
            lines.push(&text[..at], &log);
            lines.push(&text[at..], &log);
            lines.end(&log);
            assert_eq!(texts(&log), ["one", "two \u{e4}", "no end"], "{at}");
        }
    }

    #[test]
    fn a_log_message_is_kept_with_its_level_and_without_secrets() {
        let log = Log::new(Secrets::new(["key-234567"]), |_| {});
        let token = Secrets::new(["tok-234567"]);
        log.message(&json!({ "level": "warning", "logger": "db", "data": "uses key-234567 and tok-234567" }), &token);
        log.message(&json!({ "level": "loud", "data": { "rows": 3 } }), &token);
        log.message(&json!({}), &token);
        let lines = log.lines();
        let shown: Vec<_> =
            lines.iter().map(|line| (line.level.as_deref(), line.logger.as_deref(), line.text.as_str())).collect();
        let hidden = "uses [redacted] and [redacted]";
        assert_eq!(
            shown,
            [(Some("warning"), Some("db"), hidden), (Some("loud"), None, "{\"rows\":3}"), (Some(""), None, "null")]
        );
    }

    #[test]
    fn the_last_lines_are_kept_and_the_beginning_of_each() {
        let log = Log::default();
        let mut lines = ErrorLines::default();
        for n in 0..=LOG_LINES {
            lines.push(format!("{n}\n").as_bytes(), &log);
        }
        assert_eq!((log.lines().len(), log.lines()[0].text.as_str()), (LOG_LINES, "1"));
        let long = "\u{e4}".repeat(LINE_BYTES);
        for _ in 0..100 {
            lines.push(long.as_bytes(), &log);
            lines.push(b"\n", &log);
        }
        let kept = texts(&log);
        assert!(kept.iter().map(String::len).sum::<usize>() <= LOG_BYTES && kept.len() == LOG_BYTES / LINE_BYTES);
        assert_eq!(kept[0], long[..LINE_BYTES]);
    }
}
