//! Reads the lines of a recording.

use std::io::{self, BufRead};

use serde::Deserialize;

use super::recording::{CutPlace, CutReason, Note, Recording, Round, Session, VERSION};
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
        /// Number of the line, from 1.
        line: usize,
        /// A description of the line that was found instead.
        found: String,
    },
    /// The format's version is not supported.
    #[error("line {line}: recordings of version {found} cannot be read here; readable: version {VERSION}")]
    Version {
        /// Number of the line, from 1.
        line: usize,
        /// The version as the line has it.
        found: String,
    },
    /// The recording has a second `session` line.
    #[error("line {line}: a second `session` line: split the file, one session each")]
    SecondSession {
        /// Number of the line, from 1.
        line: usize,
    },
    /// A line is not UTF-8.
    #[error("line {line}, column {column}: not valid UTF-8: convert the file to UTF-8 first")]
    Utf8 {
        /// Number of the line, from 1.
        line: usize,
        /// Column of the first invalid byte, in bytes from 1.
        column: usize,
        /// The underlying error; its position is relative to the line.
        source: std::str::Utf8Error,
    },
    /// A line is not the JSON that its type requires.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Number of the line, from 1.
        line: usize,
        /// Column of the error, in bytes from 1.
        column: usize,
        /// The message of the JSON parser, without the position.
        message: String,
        /// The underlying error; its position is relative to the line.
        source: serde_json::Error,
    },
}

/// Reads a recording line by line. Blank lines, a byte-order mark and `\r\n` are accepted.
///
/// A cut-off recording is not an error: it is read up to the cut.
///
/// # Errors
/// [`ReadError`], which names the line and column.
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
/// [`ReadError`], which names the line and column.
pub fn parse(text: &str) -> Result<Recording, ReadError> {
    read(text.as_bytes())
}

#[derive(Default)]
struct RecordingReader {
    /// Number of lines that were read.
    line: usize,
    /// `true` once the `session` line was read.
    started: bool,
    recording: Recording,
}

impl RecordingReader {
    /// Reads one line, with its line break if it has one.
    fn take(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.line += 1;
        let result = self.line(bytes);
        match result {
            // An invalid line without a line break was cut off.
            Err(ReadError::Utf8 { .. } | ReadError::Json { .. }) if self.started && !bytes.ends_with(b"\n") => {
                self.recording.cut = Some(CutPlace { line: self.line, reason: CutReason::IncompleteLine });
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
        struct TypedLine {
            #[serde(rename = "type")]
            kind: Option<String>,
        }
        let head: Result<TypedLine, ReadError> = self.parse(text);
        // serde takes a list for a struct as well: `["session"]`.
        if !self.started && (head.is_err() || !text.trim_start().starts_with('{')) {
            return Err(self.no_session(match serde_json::from_str(text) {
                Ok(serde_json::Value::Object(_)) => "an object without a valid `type`",
                _ => "something other than a JSON object",
            }));
        }
        match head?.kind.as_deref() {
            Some("session") => self.session(text),
            Some(kind) if self.started => self.body(kind, text),
            Some(kind) => Err(self.no_session(&format!("a `{kind}` line"))),
            None if self.started => {
                self.note("an object without `type` was skipped");
                Ok(())
            }
            None => Err(self.no_session("an object without `type`")),
        }
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
        if toolgraft.as_u64() != Some(VERSION) {
            return Err(ReadError::Version { line, found: toolgraft.to_string() });
        }
        self.recording.session = self.parse::<Session>(text)?;
        self.started = true;
        Ok(())
    }

    /// Reads a line of any type but `session`; a line of an unknown type is skipped with a note.
    fn body(&mut self, kind: &str, text: &str) -> Result<(), ReadError> {
        match kind {
            "request" => self.request().sent = Some(self.parse(text)?),
            "tools" => self.parse(text).map(|ToolsLine { servers }| self.request().tools = Some(servers))?,
            "message" => self.parse(text).map(|message| self.request().messages.push(message))?,
            "delta" => self.parse(text).map(|delta| self.answer().deltas.push(delta))?,
            "native_call" => self.parse(text).map(|call| self.answer().native_calls.push(call))?,
            "usage" => self.answer().usage = Some(self.parse(text)?),
            "finish" => self.answer().finish = Some(self.parse(text)?),
            "call" | "rejected" => self.parse(text).map(|call| self.last().calls.push(call))?,
            "outcome" => self.parse(text).map(|outcome| self.last().outcomes.push(outcome))?,
            "notice" => self.parse(text).map(|notice| self.last().notices.push(notice))?,
            _ => self.note(&format!("unknown line type `{kind}` was skipped")),
        }
        Ok(())
    }

    /// Returns the round that a line of a request belongs to: a new one if the last round has an answer.
    fn request(&mut self) -> &mut Round {
        if self.recording.rounds.last().is_some_and(|r| r.answered() || !r.calls.is_empty()) {
            self.next_round();
        }
        self.last()
    }

    /// Returns the round that a line of an answer belongs to: a new one if the answer of the last round has ended.
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
            self.recording.cut = Some(CutPlace { line: self.line, reason });
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
