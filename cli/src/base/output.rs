//! Standard output, and warnings. What goes to a terminal cannot steer it, whoever wrote it: escape
//! sequences clear the screen, change its title or fill the clipboard. What goes to a
//! pipe or a file is data, and stays as it is.

use std::io::{self, ErrorKind, IsTerminal, Write, stdout};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use serde::Serialize;

pub(crate) use crate::base::stderr::{emit_stderr, headed, tell_stderr};

use crate::base::{Failure, failure::without_codes};
use crate::screen::wrap::{in_rows, wrapped};
use crate::screen::{excerpt::remark, visible::clean};
use toolgraft::outcome::is_invisible;

/// Writes a text to standard output, with control characters made visible on a terminal. A closed pipe is not an error.
pub(crate) fn emit(text: &str) -> Result<(), Failure> {
    match stdout().is_terminal() {
        true => write(clean(text).as_bytes()),
        false => write(text.as_bytes()),
    }
}

/// Writes a sentence of the program to standard output, on a terminal wrapped between words.
pub(crate) fn tell(sentence: &str) -> Result<(), Failure> {
    match stdout().is_terminal() {
        true => write(format!("{}\n", in_rows(&clean(sentence))).as_bytes()),
        false => write(format!("{sentence}\n").as_bytes()),
    }
}

/// Writes a text with styles of the program to standard output; all untrusted text in it must be [clean]. The styles
/// are removed if standard output does not support them.
pub(crate) fn emit_styled(text: &str) -> Result<(), Failure> {
    match AutoStream::choice(&stdout()) {
        ColorChoice::Never => write(strip_str(text).to_string().as_bytes()),
        _ => write(text.as_bytes()),
    }
}

/// Writes a value to standard output as one line of JSON.
pub(crate) fn emit_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut line = Vec::new();
    let mut out = JsonLines { out: &mut line, safe: stdout().is_terminal() };
    let written = serde_json::to_writer(&mut out, value).map_err(io::Error::from);
    written.and_then(|()| out.write_all(b"\n")).map_err(Failure::job)?;
    write(&line)
}

/// Writes a value to standard output: as JSON if `as_json`, else as styled text with the same content.
pub(crate) fn emit_either(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
    if as_json { emit_json(value) } else { emit_styled(&text()) }
}

/// Writes a remark to stderr, wrapped on a terminal.
pub(crate) fn note(message: &str) {
    tell_stderr(wrapped(&remark(message)));
}

/// Writes a warning to stderr, wrapped on a terminal.
pub(crate) fn warn(message: &str) {
    // A part of the message may come from a server or a file.
    let message = remark(&without_codes(message.to_owned()));
    tell_stderr(headed((WARNING, "warning:"), &message, wrapped));
}

const WARNING: Style = anstyle::AnsiColor::Yellow.on_default().bold();

/// Returns a writer to standard output for lines of JSON.
pub(crate) fn json_lines() -> JsonLines<io::StdoutLock<'static>> {
    JsonLines { out: stdout().lock(), safe: stdout().is_terminal() }
}

fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::job(format!("cannot write to stdout: {e}"))),
        _ => Ok(()),
    }
}

/// Converts the result of a write to standard output. A closed pipe becomes the failure that ends the program silently.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(unwritten)
}

/// Converts the error of a write to standard output into a failure.
pub(crate) fn unwritten(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::job(format!("cannot write the output: {error}")),
    }
}

/// A writer for JSON. On a terminal, characters in strings that are invisible or could control the terminal are written
/// as `\u` escapes.
pub(crate) struct JsonLines<W> {
    out: W,
    safe: bool,
}

impl<W: Write> Write for JsonLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.safe {
            // Whoever writes JSON writes whole characters.
            true => String::from_utf8_lossy(bytes).chars().try_for_each(|c| match is_invisible(c) {
                true => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(self.out, "\\u{unit:04x}")),
                false => write!(self.out, "{c}"),
            })?,
            false => self.out.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_says_the_same_without_what_could_steer_it() {
        let text = "a\u{7f}b\u{9b}2J\u{80}\u{a0}é€ \u{202a}\u{202e}\u{202f}\u{2066}\u{2069}\u{206a}\u{200b}\u{e0041}\u{1b}]52;c\u{7}天";
        let json = serde_json::to_string(text).unwrap();
        for at in (0..=json.len()).filter(|at| json.is_char_boundary(*at)) {
            let mut out = JsonLines { out: Vec::new(), safe: true };
            out.write_all(&json.as_bytes()[..at]).unwrap();
            out.write_all(&json.as_bytes()[at..]).unwrap();
            let shown = String::from_utf8(out.out).unwrap();
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
            assert_eq!(clean(&shown), shown);
        }
    }

    #[test]
    fn json_on_a_pipe_stays_as_it_is() {
        let mut out = JsonLines { out: Vec::new(), safe: false };
        out.write_all("\u{9b}\u{7f}".as_bytes()).unwrap();
        assert_eq!(out.out, "\u{9b}\u{7f}".as_bytes());
    }
}
