//! Imports chunks of an OpenAI-compatible stream.

use serde_json::Value;

use super::error::{ImportError, at_line};
use crate::message::FinishReason;
use crate::message::chunk::{CallAssembler, Choice, Chunk};
use crate::transcript::{CutPlace, CutReason, Finish, Note, Recording, Round, Sent};

/// Fields of server-sent events other than `data`; a line that begins with `:` is a comment.
const FIELDS: &[&str] = &["event:", "id:", "retry:", ":"];

/// Returns `true` if a text begins like a stream of server-sent events with JSON.
pub(super) fn is_sse(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut rest = lines.skip_while(|line| FIELDS.iter().any(|field| line.starts_with(field)));
    let data = rest.next().and_then(|line| line.strip_prefix("data:")).map(str::trim_start);
    data.is_some_and(|data| data.starts_with('{') || data == "[DONE]")
}

pub(super) fn import(text: &str) -> Result<Recording, ImportError> {
    let mut stream = ChunkReader::default();
    if serde_json::from_str::<Chunk>(text).is_ok() {
        // One object, possibly on several lines: a completion, or a single chunk.
        stream.line(1, text.trim())?;
        return stream.finish(1);
    }
    let mut last = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        last = n + 1;
        match stream.line(last, line.trim()) {
            // A first line that cannot be read is no recording that was cut off, but another file.
            Err(_) if n > 0 && !line.ends_with('\n') => {
                stream.recording.cut = Some(CutPlace { line: last, reason: CutReason::IncompleteLine });
            }
            result => result?,
        }
    }
    stream.finish(last)
}

#[derive(Default)]
struct ChunkReader {
    recording: Recording,
    /// The `id` of the chunks of the current answer.
    id: Option<String>,
    /// `true` if `[DONE]` has arrived.
    done: bool,
    /// The index of the choice that is imported; other choices are skipped.
    choice: Option<u64>,
    calls: CallAssembler,
}

impl ChunkReader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), ImportError> {
        let data = match line.strip_prefix("data:") {
            Some(data) => data.trim_start(),
            None if FIELDS.iter().any(|field| line.starts_with(field)) => return Ok(()),
            None => line,
        };
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|e| at_line(number, e, line.len() - data.len()))?;
        self.chunk(number, chunk);
        Ok(())
    }

    fn chunk(&mut self, number: usize, chunk: Chunk) {
        if let Some(error) = chunk.error.filter(|e| !e.is_null()) {
            let words = error.get("message").and_then(Value::as_str).map_or(error.to_string(), str::to_owned);
            self.note(number, format!("the endpoint reported an error: {words}"));
            self.recording.last_round().finish =
                Some(Finish { reason: FinishReason::Other("error".to_owned()), ms: None });
        }
        let choices = chunk.choices.unwrap_or_default();
        if choices.is_empty() {
            // This chunk has the usage.
            return;
        }
        self.begin(chunk.id);
        if self.recording.session.model.is_none() {
            self.recording.session.model = chunk.model.filter(|m| !m.is_empty());
        }
        for choice in choices {
            if *self.choice.get_or_insert(choice.index) == choice.index {
                self.take(choice);
            } else if !self.recording.notes.iter().any(|n| n.text.starts_with("several choices")) {
                let first = self.choice.unwrap_or_default();
                self.note(number, format!("several choices: only that with index {first} is taken"));
            }
        }
    }

    /// Begins a new round if the last answer has ended and a chunk of another one arrives.
    fn begin(&mut self, id: Option<String>) {
        let ended = self.recording.rounds.last().is_some_and(|r| r.finish.is_some());
        // An answer with another `id` begins a round only after the last one ended: some endpoints change the `id`
        // within one.
        if self.recording.rounds.is_empty() || self.done || ended && self.id != id {
            self.end_answer();
            // An answer without content is not a round.
            if self.recording.rounds.last().is_none_or(Round::answered) {
                // A request separates it from an answer that has no end.
                let sent = self.recording.rounds.last().filter(|_| !ended).map(|_| Sent::default());
                self.recording.rounds.push(Round { sent, ..Round::default() });
            }
            self.done = false;
            self.choice = None;
        }
        self.id = id;
    }

    fn take(&mut self, choice: Choice) {
        if let Some(mut fields) = choice.delta.or(choice.message) {
            self.calls.extend(fields.take_calls());
            fields.into_deltas().for_each(|delta| self.recording.last_round().say(delta.kind, delta.text));
        }
        if let Some(reason) = choice.finish_reason.filter(|r| !r.is_empty()) {
            self.recording.last_round().finish = Some(Finish { reason: FinishReason::from(reason.as_str()), ms: None });
        }
    }

    fn end_answer(&mut self) {
        let calls = std::mem::take(&mut self.calls).finish();
        if !calls.is_empty() {
            self.recording.last_round().native_calls = calls;
        }
    }

    fn note(&mut self, line: usize, text: String) {
        self.recording.notes.push(Note { line, text });
    }

    fn finish(mut self, last: usize) -> Result<Recording, ImportError> {
        self.end_answer();
        let Some(round) = self.recording.rounds.last() else {
            return Err(ImportError::Unknown { found: "stream events without `choices`".to_owned() });
        };
        let reason = round.cut_reason();
        if reason == Some(CutReason::NoAnswer) {
            self.recording.rounds.pop();
        }
        if let Some(reason) = reason.filter(|_| self.recording.cut.is_none()) {
            self.recording.cut = Some(CutPlace { line: last, reason });
        }
        Ok(self.recording)
    }
}
