//! Reads the lines of a recording.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::recording::{Cut, CutReason, Note, READABLE, RecordedCall, Recording, Round, Session};
use crate::event::{Call, Rejected};
use crate::tools::Server;
use crate::wire::mend_surrogates;

/// The reason why a text cannot be read as a recording. Lines and columns count from 1, columns in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The underlying reader failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// The recording has no lines.
    #[error("the recording is empty")]
    Empty,
    /// The first line is not a `session` line.
    #[error("line {line}: not a recording: expected a `session` line with the format's version, found {found}")]
    NoSession {
        /// Line.
        line: usize,
        /// The content that was found instead.
        found: String,
    },
    /// The format's version is not supported.
    #[error("line {line}: recordings of version {found} cannot be read here; readable: version {}", readable())]
    Version {
        /// Line.
        line: usize,
        /// The version, as written.
        found: String,
    },
    /// A second `session` line.
    #[error("line {line}: a second `session` line: split the file, one session each")]
    SecondSession {
        /// Line.
        line: usize,
    },
    /// A line is not UTF-8.
    #[error("line {line}, column {column}: not valid UTF-8: convert the file to UTF-8 first")]
    Utf8 {
        /// Line.
        line: usize,
        /// Column of the first bad byte.
        column: usize,
        /// The underlying error; its position is relative to the line.
        source: std::str::Utf8Error,
    },
    /// A line is not the JSON that its type requires.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// The problem.
        message: String,
        /// The underlying error; its position is relative to the line.
        source: serde_json::Error,
    },
}

fn readable() -> String {
    READABLE.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Reads a recording. Blank lines, a byte-order mark and `\r\n` are tolerated.
///
/// A cut-off recording is not an error: it is read up to the cut.
///
/// # Errors
/// [`ReadError`], which names line and column.
pub fn read(mut from: impl BufRead) -> Result<Recording, ReadError> {
    let mut reader = RecordingReader::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if from.read_until(b'\n', &mut bytes)? == 0 {
            return reader.finish();
        }
        reader.take(&bytes)?;
    }
}

/// Reads a recording from a text; see [`read`].
///
/// # Errors
/// [`ReadError`], which names line and column.
pub fn parse(text: &str) -> Result<Recording, ReadError> {
    read(text.as_bytes())
}

#[derive(Default)]
struct RecordingReader {
    /// Number of lines so far.
    line: usize,
    /// `true` once the `session` line was read.
    started: bool,
    recording: Recording,
}

/// Fields of each line type, without `type`.
const FIELDS: &[(&str, &[&str])] = &[
    ("session", &["toolgraft", "title", "model", "profile", "dialect", "reasoning", "reasoning_calls"]),
    ("request", &["at", "model", "kept", "dropped", "temperature", "max_tokens", "stop", "native"]),
    ("tools", &["servers"]),
    ("message", &["role", "content", "images", "audio", "calls", "call_id", "reasoning"]),
    ("delta", &["kind", "text", "ms"]),
    ("native_call", &["id", "name", "arguments"]),
    (
        "usage",
        &[
            "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "cost", "estimated",
            "reasoning_estimated",
        ],
    ),
    ("finish", &["reason", "ms"]),
    ("call", &["id", "index", "call"]),
    ("rejected", &["id", "index", "rejected"]),
    ("outcome", &["id", "outcome", "at"]),
    ("notice", &["kind", "text", "at"]),
];

impl RecordingReader {
    /// Reads a line with its line break, if it has one.
    fn take(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.line += 1;
        let result = self.line(bytes);
        match result {
            // An invalid line without a line break was cut off.
            Err(ReadError::Utf8 { .. } | ReadError::Json { .. }) if self.started && !bytes.ends_with(b"\n") => {
                self.recording.cut = Some(Cut { line: self.line, reason: CutReason::IncompleteLine });
                Ok(())
            }
            result => result,
        }
    }

    fn line(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        let line = self.line;
        let text = std::str::from_utf8(bytes).map_err(|source| ReadError::Utf8 {
            line,
            column: source.valid_up_to() + 1,
            source,
        })?;
        let text = if line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        let text = text.trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return Ok(());
        }
        let mended = mend_surrogates(text);
        if matches!(mended, std::borrow::Cow::Owned(_)) {
            self.note("half a surrogate pair (`\\ud…`) is not a character: replaced by U+FFFD");
        }
        self.object(&mended)
    }

    fn object(&mut self, text: &str) -> Result<(), ReadError> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "type")]
            kind: Option<String>,
        }
        let keys: BTreeMap<String, IgnoredAny> = match serde_json::from_str(text) {
            Ok(keys) => keys,
            Err(_) if !self.started => return Err(self.no_session("something other than a JSON object")),
            Err(error) => return Err(self.json(error)),
        };
        let Head { kind } = self.parse(text)?;
        let Some(kind) = kind.as_deref() else {
            if !self.started {
                return Err(self.no_session("an object without `type`"));
            }
            self.note("an object without `type` was skipped");
            return Ok(());
        };
        if kind == "session" {
            self.session(text)?;
        } else if !self.started {
            return Err(self.no_session(&format!("a `{kind}` line")));
        }
        let Some((_, fields)) = FIELDS.iter().find(|(name, _)| *name == kind) else {
            self.note(&format!("unknown line type `{kind}` was skipped"));
            return Ok(());
        };
        for key in keys.keys().filter(|key| *key != "type" && !fields.contains(&key.as_str())) {
            self.note(&format!("unknown field `{key}` of a `{kind}` line was skipped"));
        }
        self.body(kind, text)
    }

    fn session(&mut self, text: &str) -> Result<(), ReadError> {
        #[derive(Deserialize)]
        struct Version {
            toolgraft: serde_json::Value,
        }
        let line = self.line;
        if self.started {
            return Err(ReadError::SecondSession { line });
        }
        let Version { toolgraft } = self.parse(text)?;
        if !toolgraft.as_u64().is_some_and(|v| READABLE.contains(&v)) {
            return Err(ReadError::Version { line, found: toolgraft.to_string() });
        }
        self.recording.session = self.parse::<Session>(text)?;
        self.started = true;
        Ok(())
    }

    /// Reads a line of a known type other than `session`.
    fn body(&mut self, kind: &str, text: &str) -> Result<(), ReadError> {
        match kind {
            "request" => self.request().sent = Some(self.parse(text)?),
            "tools" => {
                let ToolsLine { servers } = self.parse(text)?;
                self.request().tools = Some(servers);
            }
            "message" => {
                let message = self.parse(text)?;
                self.request().messages.push(message);
            }
            "delta" => {
                let delta = self.parse(text)?;
                self.answer().deltas.push(delta);
            }
            "native_call" => {
                let call = self.parse(text)?;
                self.answer().native_calls.push(call);
            }
            "usage" => self.answer().usage = Some(self.parse(text)?),
            "finish" => self.answer().finish = Some(self.parse(text)?),
            "call" => {
                let CallLine { id, index, call } = self.parse(text)?;
                self.last().calls.push(RecordedCall { index, id, result: Ok(call) });
            }
            "rejected" => {
                let RejectedLine { id, index, rejected } = self.parse(text)?;
                self.last().calls.push(RecordedCall { index, id, result: Err(rejected) });
            }
            "outcome" => {
                let outcome = self.parse(text)?;
                self.last().outcomes.push(outcome);
            }
            "notice" => {
                let notice = self.parse(text)?;
                self.last().notices.push(notice);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the round that a request's line belongs to: a new one once an answer has begun.
    fn request(&mut self) -> &mut Round {
        if self.recording.rounds.last().is_some_and(|r| r.answered() || !r.calls.is_empty()) {
            self.next_round();
        }
        self.last()
    }

    /// Returns the round that an answer's line belongs to: a new one once the last answer has ended.
    fn answer(&mut self) -> &mut Round {
        if self.recording.rounds.last().is_some_and(|r| r.finish.is_some() || !r.calls.is_empty()) {
            self.next_round();
        }
        self.last()
    }

    fn last(&mut self) -> &mut Round {
        self.recording.last_round()
    }

    fn next_round(&mut self) {
        if self.last().finish.is_none() {
            self.note("a new round begins, but the answer before has no `finish` line");
        }
        self.recording.rounds.push(Round::default());
    }

    fn finish(mut self) -> Result<Recording, ReadError> {
        if !self.started {
            return Err(ReadError::Empty);
        }
        let reason = self.recording.rounds.last().map_or(Some(CutReason::NoAnswer), Round::cut_reason);
        if let Some(reason) = reason.filter(|_| self.recording.cut.is_none()) {
            self.recording.cut = Some(Cut { line: self.line, reason });
        }
        Ok(self.recording)
    }

    fn note(&mut self, text: &str) {
        self.recording.notes.push(Note { line: self.line, text: text.to_owned() });
    }

    fn no_session(&self, found: &str) -> ReadError {
        ReadError::NoSession { line: self.line, found: found.to_owned() }
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, text: &str) -> Result<T, ReadError> {
        serde_json::from_str(text).map_err(|e| self.json(e))
    }

    fn json(&self, source: serde_json::Error) -> ReadError {
        ReadError::Json { line: self.line, column: source.column().max(1), message: words(&source), source }
    }
}

/// Returns the message of a serde error without its position, which is reported relative to the file.
pub(super) fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), str::to_owned)
}

#[derive(Deserialize)]
struct ToolsLine {
    servers: Vec<Server>,
}

#[derive(Deserialize)]
struct CallLine {
    #[serde(default)]
    id: Option<String>,
    index: u32,
    call: Call,
}

#[derive(Deserialize)]
struct RejectedLine {
    #[serde(default)]
    id: Option<String>,
    index: u32,
    rejected: Rejected,
}
