//! Files named on the command line, read with errors that name the remedy.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use crate::base::{Failure, output};

/// Reads a text file, or standard input for `-`. An empty file is an error.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    decode(read_bytes(path)?, &shown(path))
}

/// Returns the name of a file for messages; `standard input` for `-`.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns a JSON text without the byte order mark that some editors write at its start.
pub(crate) fn without_bom(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Prints a note that standard input is being read, if that is a terminal.
pub(crate) fn tell_reading() {
    if io::stdin().is_terminal() {
        output::note("reading standard input; Ctrl-D at the start of a line ends it");
    }
}

/// Reads a file, or standard input for `-`. An empty file is an error.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = shown(path);
    let bytes = if path == Path::new("-") {
        tell_reading();
        read_all(io::stdin(), &shown)?
    } else {
        read_all(opened(path, &shown)?, &shown)?
    };
    if bytes.is_empty() {
        return Err(Failure::usage(format!("{shown} is empty")));
    }
    Ok(bytes)
}

/// Maximum number of bytes read from one file.
const MOST: u64 = 256 << 20;

/// Reads to the end; an error for more than [`MOST`] bytes.
pub(crate) fn read_all(from: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a longer file from one of exactly this size.
    from.take(MOST + 1).read_to_end(&mut bytes).map_err(|e| Failure::usage(format!("cannot read {name}: {e}")))?;
    match bytes.len() as u64 > MOST {
        true => Err(Failure::usage(format!("{name} has more than {} MiB: give a part of it", MOST >> 20))),
        false => Ok(bytes),
    }
}

/// Opens a file for reading. Directories, devices and named pipes, which may never end, are errors, except `/dev/stdin`
/// and the files of a shell's `<(COMMAND)`.
fn opened(path: &Path, shown: &str) -> Result<File, Failure> {
    let cannot = |e: io::Error| Failure::usage(format!("cannot read {shown}: {e}"));
    let kind = fs::metadata(path).map_err(cannot)?.file_type();
    if kind.is_dir() {
        return Err(Failure::usage(format!("{shown} is a directory: name a file in it")));
    }
    let is_open = ["/dev/stdin", "/dev/fd", "/proc/self/fd"].iter().any(|open| path.starts_with(open));
    if !kind.is_file() && !is_open {
        return Err(Failure::usage(format!("{shown} is a device or a named pipe, which may never end: name a file")));
    }
    File::open(path).map_err(cannot)
}

/// Returns a text given literally, or the content of the file given as `@FILE`.
pub(crate) fn text_or_file(value: &str) -> Result<String, Failure> {
    match value.strip_prefix('@') {
        Some(path) => read_text(Path::new(path)),
        None => Ok(value.to_owned()),
    }
}

/// Decodes UTF-8; the error names line and column (in bytes) of the first invalid byte.
pub(crate) fn decode(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|e| {
        if is_binary(e.as_bytes()) {
            return Failure::usage(format!("{name} is a binary file: name a text file"));
        }
        let at = e.utf8_error().valid_up_to();
        let (line, column) = place(e.as_bytes(), at);
        Failure::usage(format!(
            "{name}:{line}:{column}: byte 0x{:02x} is not valid UTF-8: convert the file to UTF-8 first",
            e.as_bytes()[at]
        ))
    })
}

/// Returns the line and column of a byte offset in a text, both from 1; the column is in bytes.
pub(crate) fn place(text: &[u8], at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    (line, before.len() - memchr::memrchr(b'\n', before).map_or(0, |n| n + 1) + 1)
}

/// Returns `true` if the bytes of a file are not text: the first 8 KiB contain a NUL byte.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    // The headers of PNG, JPEG and gzip have a NUL byte, too.
    bytes.iter().take(8 * 1024).any(|byte| *byte == 0)
}

/// Describes an error in a JSON text as `LINE:COLUMN: problem`, in words for users.
pub(crate) fn json_problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    let plain = plain_json(message);
    // A file ends after its last line break, where the parser may report column 0.
    format!("{}:{}: {plain}", error.line(), error.column().max(1))
}

/// Translates a message of the JSON parser into words for users.
pub(crate) fn plain_json(message: &str) -> &str {
    match message {
        "expected value" => "expected a JSON value",
        "expected ident" => "this word is not a JSON value",
        "EOF while parsing a value" => "the text ends where a value is expected",
        "EOF while parsing an object" => "the text ends inside an object",
        "EOF while parsing a list" => "the text ends inside a list",
        "EOF while parsing a string" => "the text ends inside a string",
        "trailing characters" => "unexpected text after the JSON",
        other => other,
    }
}

/// Parses a whole number above 0, as a value parser of clap.
pub(crate) fn above_zero<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a whole number above 0".to_owned())
}

/// Returns the error message for a word that is not among the allowed `words`.
pub(crate) fn expected_one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    format!("expected one of {}", words.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns the name of a JSON value's type, for an error message.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_limit() {
        let of = |bytes: u64| read_all(io::repeat(b'a').take(bytes), "x");
        assert_eq!(of(MOST).unwrap().len() as u64, MOST);
        assert_eq!(of(MOST + 1).unwrap_err().message(), "x has more than 256 MiB: give a part of it");
    }

    #[test]
    fn what_is_wrong_with_json_is_said_in_plain_words_with_its_place() {
        for (text, problem) in [
            ("", "1:1: the text ends where a value is expected"),
            ("{\"a\": 1\n", "2:1: the text ends inside an object"),
            ("{\"a\":\n", "2:1: the text ends where a value is expected"),
            ("[1", "1:2: the text ends inside a list"),
            ("\"a", "1:2: the text ends inside a string"),
            ("{\"a\": yes}", "1:7: expected a JSON value"),
            ("nope", "1:2: this word is not a JSON value"),
            ("{} x", "1:4: unexpected text after the JSON"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            assert_eq!(json_problem(&error), problem, "{text}");
        }
    }
}
