//! Files to recordings, with errors in the form `file:line:column: what`.

use std::path::Path;

use crate::base::{Failure, input};
use crate::sessions::saved::Saved;
use toolgraft::transcript::import::{Format, ImportError, import};
use toolgraft::transcript::{ReadError, Recording};

/// Reads a recording from a file of any known format; `format` is that of the option, if given. A conversation saved by
/// `chat` counts as a recording.
pub(super) fn load(path: &Path, format: Option<Format>) -> Result<(Format, Vec<Recording>), Failure> {
    let name = input::shown(path);
    let bytes = input::read_bytes(path)?;
    let text = match whole_characters(&bytes) {
        Some(prefix) => prefix.to_owned(),
        None if input::is_binary(&bytes) => {
            return Err(Failure::usage(format!(
                "{name} is a binary file, not a recording: name a file that `toolgraft chat --record` wrote, a saved \
                 stream, or a model's text"
            )));
        }
        None => input::decode(bytes, &name)?,
    };
    let format = format.map_or_else(|| Format::detect(&text, &name), Ok);
    match format.and_then(|format| Ok((format, import(&text, format)?))) {
        Ok(imported) => Ok(imported),
        Err(error) => match Saved::parse(input::without_bom(&text), &name) {
            Ok(saved) => Ok((Format::Recording, vec![saved.recording()])),
            // What is neither is told of as a recording, whose error has the place.
            Err(_) => Err(Failure::usage(describe(&name, &error))),
        },
    }
}

/// Returns the text without an incomplete last character, as in a recording that was cut off during a write. `None` for
/// any other invalid UTF-8.
fn whole_characters(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        // Of the files that are read only those of JSON lines are cut so; in another text a bad byte is
        // a fault.
        Err(error) if error.error_len().is_none() && bytes.first() == Some(&b'{') => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

fn describe(name: &str, error: &ImportError) -> String {
    match error {
        ImportError::Recording(ReadError::Json { line, column, message, .. }) => {
            let plain = input::plain_json(message);
            format!("{name}:{line}:{column}: {plain}: fix the JSON there")
        }
        ImportError::Recording(ReadError::Empty) => format!("{name} is empty"),
        ImportError::Unknown { .. } => {
            format!("{name}: {error}; if it is a model's text, add `--format text`")
        }
        ImportError::Recording(ReadError::Version { .. }) => {
            format!("{name}: {error}; use the version of toolgraft that wrote it, or a newer one")
        }
        other => format!("{name}: {other}"),
    }
}
