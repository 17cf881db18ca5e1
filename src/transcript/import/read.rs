//! Detects the format of a text and reads the recordings in it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::{ImportError, at_line};
use super::{chunks, cline, lines};
use crate::message::keyword_enum;
use crate::transcript::{Note, ReadError, Recording, Round, parse};
use crate::wire::mend_surrogates;

/// The format of a recorded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// A recording in this crate's format.
    Recording,
    /// Chunks of an OpenAI-compatible stream.
    Chunks,
    /// JSON objects with a member `text`, one per line.
    Lines,
    /// Cline's `api_conversation_history.json`.
    Cline,
    /// Plain text, which is one answer.
    Text,
}

keyword_enum!(Format, "a format",
    "recording" => Format::Recording, "chunks" => Format::Chunks, "lines" => Format::Lines,
    "cline" => Format::Cline, "text" => Format::Text);

impl Format {
    /// Detects the format of a text by its beginning and by the file's name `name`.
    ///
    /// The content of a file named `.json` or `.jsonl` must be JSON; otherwise it is an error. The content of a file
    /// named `.txt` or `.md` is a model's text, which may be JSON of any kind.
    ///
    /// # Errors
    /// [`ImportError`] if the text is JSON, or should be, and of no known kind.
    pub fn detect(text: &str, name: &str) -> Result<Format, ImportError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some(first) = text.lines().map(str::trim).find(|line| !line.is_empty()) else {
            return if text.is_empty() { Err(ReadError::Empty.into()) } else { Ok(Format::Text) };
        };
        if chunks::is_sse(text) {
            return Ok(Format::Chunks);
        }
        let found = match first.as_bytes()[0] {
            b'{' => object(text, first),
            b'[' => array(text),
            _ => Err(at_line(1, parse_error(text), 0).into()),
        };
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match (found, ending.as_deref().unwrap_or_default()) {
            (Err(error), "json" | "jsonl" | "ndjson") => Err(error),
            // A model's text may begin with a bracket and be no JSON.
            (Err(_), "txt" | "md") | (Err(ImportError::Recording(_)), _) => Ok(Format::Text),
            (found, _) => found,
        }
    }
}

/// Imports a text of this format. Returns the sessions in it; exactly one for all formats but `lines`.
///
/// # Errors
/// [`ImportError`], which names line and column.
pub fn import(text: &str, format: Format) -> Result<Vec<Recording>, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.is_empty() {
        return Err(ReadError::Empty.into());
    }
    let mended = match format {
        // Recordings handle surrogates themselves, and in plain text `\ud83d` is just text.
        Format::Recording | Format::Text => Cow::Borrowed(text),
        _ => mend_surrogates(text),
    };
    let mut recordings = match format {
        Format::Recording => vec![parse(text)?],
        Format::Chunks => vec![chunks::import(&mended)?],
        Format::Lines => lines::import(&mended)?,
        Format::Cline => vec![cline::import(&mended)?],
        Format::Text => vec![Recording { rounds: vec![Round::text(text)], ..Recording::default() }],
    };
    if let (Cow::Owned(_), Some(first)) = (mended, recordings.first_mut()) {
        let text = "half a surrogate pair (`\\ud…`) is not a character: replaced by U+FFFD".to_owned();
        first.notes.push(Note { line: 0, text });
    }
    Ok(recordings)
}

/// Detects the format of a text whose first line begins with `{`, by the keys of its first object.
fn object(text: &str, first: &str) -> Result<Format, ImportError> {
    let head: Map<String, Value> = match serde_json::from_str(&mend_surrogates(first)) {
        Ok(head) => head,
        // It is one object on several lines.
        Err(_) => serde_json::from_str(&mend_surrogates(text)).map_err(|_| at_line(1, parse_error(text), 0))?,
    };
    let has = |key: &str| head.contains_key(key);
    if has("toolgraft") || head.get("type").is_some_and(|kind| kind == "session") {
        Ok(Format::Recording)
    } else if has("choices") {
        Ok(Format::Chunks)
    } else if has("text") || has("chunks") {
        Ok(Format::Lines)
    } else {
        let keys: Vec<&str> = head.keys().take(6).map(String::as_str).collect();
        let found = match keys.is_empty() {
            true => "an empty object".to_owned(),
            false => format!("an object with `{}`", keys.join("`, `")),
        };
        Err(ImportError::Unknown { found })
    }
}

/// Detects the format of a text that begins with `[`, by the first item of the array.
fn array(text: &str) -> Result<Format, ImportError> {
    let items: Vec<Value> =
        serde_json::from_str(&mend_surrogates(text)).map_err(|_| at_line(1, parse_error(text), 0))?;
    let found = match items.first() {
        Some(item) if item.get("role").is_some() && item.get("content").is_some() => return Ok(Format::Cline),
        Some(Value::Object(_)) => "an array of other objects",
        Some(_) => "an array of other values",
        None => "an empty array",
    };
    Err(ImportError::Unknown { found: found.to_owned() })
}

/// Returns the first error in a text that should be one JSON value or one on each line.
fn parse_error(text: &str) -> serde_json::Error {
    let mended = mend_surrogates(text);
    let mut values = serde_json::Deserializer::from_str(&mended).into_iter::<serde::de::IgnoredAny>();
    match values.find_map(Result::err) {
        Some(error) => error,
        None => serde::de::Error::custom("expected one JSON object"),
    }
}
