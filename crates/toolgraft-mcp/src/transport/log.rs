//! What a server says beside its answers: its log messages, and its standard error.
//!
//! The last of it is kept, for a person who asks. Nothing of it reaches a model. It is kept
//! over starts: what a server said before it died is what somebody looks for.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use toolgraft::secrets::Secrets;

/// Lines of a server's log that are kept: the last ones.
pub const LOG_LINES: usize = 500;

/// Bytes of a server's log that are kept: the last ones.
pub const LOG_BYTES: usize = 64 * 1024;

/// Bytes of one line that are kept: the first ones.
const LINE_BYTES: usize = 4 * 1024;

/// Something that a server said beside its answers, without the secrets of its entry. The
/// words are the server's and may hold anything, escape sequences too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LogLine {
    /// When it came; in milliseconds since 1970.
    #[serde(rename = "at_ms", serialize_with = "unix_millis", deserialize_with = "of_unix_millis")]
    pub at: SystemTime,
    /// The level of a log message, in the server's word; `None` for a line of standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Who of the server says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What it says. A log message may have line breaks.
    pub text: String,
}

impl LogLine {
    fn size(&self) -> usize {
        [&self.level, &self.logger].into_iter().flatten().chain([&self.text]).map(String::len).sum()
    }
}

/// The last that a server said beside its answers.
#[derive(Default)]
pub(crate) struct Log {
    secrets: Secrets,
    kept: Mutex<Kept>,
    /// Who is shown each line as it comes, if anybody.
    look: Option<Look>,
}

/// Somebody who is shown lines.
type Look = Box<dyn Fn(&LogLine) + Send + Sync>;

#[derive(Default)]
struct Kept {
    lines: VecDeque<LogLine>,
    bytes: usize,
}

impl Log {
    /// A log in which these secrets do not stand.
    pub(crate) fn new(secrets: Secrets) -> Self {
        Log { secrets, ..Log::default() }
    }

    /// The same log, each line of which is shown as it comes.
    pub(crate) fn shown(self, look: impl Fn(&LogLine) + Send + Sync + 'static) -> Self {
        Log { look: Some(Box::new(look)), ..self }
    }

    /// What is kept, the oldest first.
    pub(crate) fn lines(&self) -> Vec<LogLine> {
        self.kept().lines.iter().cloned().collect()
    }

    /// Takes the parameters of a `notifications/message`, without these further secrets.
    pub(crate) fn message(&self, params: &Value, secrets: &Secrets) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(|text| short(text).to_owned());
        let said = match params.get("data").unwrap_or(&Value::Null) {
            Value::String(text) => text.clone(),
            data => data.to_string(),
        };
        // A message without a level is one all the same.
        let level = Some(text("level").unwrap_or_default());
        self.add(level, text("logger"), &secrets.hide(&said));
    }

    fn add(&self, level: Option<String>, logger: Option<String>, text: &str) {
        // What a cut would leave of a secret could not be found any more.
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

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Standard error on its way into a log: the pieces in which it comes to lines.
#[derive(Debug, Default)]
pub(crate) struct ErrorLines {
    /// What has begun, as far as it is kept.
    begun: Vec<u8>,
}

impl ErrorLines {
    /// Takes a piece.
    pub(crate) fn push(&mut self, mut piece: &[u8], log: &Log) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.keep(&piece[..end]);
            self.end(log);
            piece = &piece[end + 1..];
        }
        self.keep(piece);
    }

    /// Takes what has begun for a line, if anything has.
    pub(crate) fn end(&mut self, log: &Log) {
        let line = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun.clear();
        let line = line.trim_end();
        if !line.is_empty() {
            log.add(None, None, line);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        // Twice as much: a secret at the place of the cut is still found as a whole.
        let room = (2 * LINE_BYTES).saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

/// The beginning of a text that is longer than a line may be.
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
        let log = Log::new(Secrets::new(["key-234567"]));
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
