//! Prepares the bytes of a body for the parser of server-sent events.
//!
//! The parser refuses invalid UTF-8, drops an event without a blank line after it, drops non-standard fields, and
//! accepts events of any size. A stream should survive the first two, and be refused for the last. One non-standard
//! field matters: servers of llama.cpp before September 2025 report an error as `error: {…}`
//! (github.com/ggml-org/llama.cpp/pull/16109), and some end the stream with `[DONE]` after it, as if nothing had
//! happened.

use crate::model::ModelError;
use crate::model::decode::MAX_EVENT;

/// The non-standard field name `error:`. `ERROR_EVENT` is its standard replacement.
const ERROR_FIELD: &str = "error:";
const ERROR_EVENT: &str = "event: error\ndata:";

/// Passes on whole lines of an event stream: replaces invalid UTF-8 by U+FFFD, limits the size of events, and turns
/// `error:` lines into events.
#[derive(Default)]
pub(super) struct Guard {
    /// The bytes of the current line, which is incomplete.
    line: Vec<u8>,
    started: bool,
    /// Number of bytes of the current event.
    event: usize,
    /// `true` if the last line ended in a carriage return.
    cr: bool,
}

impl Guard {
    /// Adds bytes and returns the lines that are complete now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<String, ModelError> {
        let mut text = String::with_capacity(self.line.len() + bytes.len());
        let mut rest = bytes;
        loop {
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let (more, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            self.line.extend_from_slice(more);
            self.event += more.len() - usize::from(end.is_some());
            if self.event > MAX_EVENT {
                let message = format!("the endpoint sent an event of more than {MAX_EVENT} bytes");
                return Err(ModelError::cut_off(message));
            }
            if end.is_none() {
                return Ok(text);
            }
            // LF after CR does not end another line.
            if self.line.len() == 1 && !(self.cr && self.line == b"\n") {
                self.event = 0;
            }
            self.cr = self.line.ends_with(b"\r");
            self.end_line(&mut text);
            rest = after;
        }
    }

    /// Returns the last line and the blank line that ends the last event, even if the endpoint did not send them.
    pub(super) fn finish(&mut self) -> String {
        let mut text = String::new();
        self.end_line(&mut text);
        text + "\n\n"
    }

    /// Appends the buffered line to `text`. An `error:` field is replaced by standard fields, and a byte-order mark
    /// dropped.
    fn end_line(&mut self, text: &mut String) {
        let line = String::from_utf8_lossy(&self.line);
        let mark = if std::mem::replace(&mut self.started, true) { None } else { line.strip_prefix('\u{feff}') };
        let line = mark.unwrap_or(&line);
        match line.strip_prefix(ERROR_FIELD) {
            Some(said) => {
                text.push_str(ERROR_EVENT);
                text.push_str(said);
            }
            None => text.push_str(line),
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_may_be_cut_anywhere_and_a_mark_is_dropped() {
        let bytes = "\u{feff}data: 你好 🦀\r\n\r\n".as_bytes();
        for cut in 0..bytes.len() {
            let mut guard = Guard::default();
            let text = guard.push(&bytes[..cut]).unwrap() + &guard.push(&bytes[cut..]).unwrap() + &guard.finish();
            assert_eq!(text, "data: 你好 🦀\r\n\r\n\n\n", "cut at {cut}");
        }
    }

    #[test]
    fn lines_of_errors_become_events_wherever_they_are_cut() {
        let text = "data: error: a\r\n\r\nerror: {\"message\": \"error: b\"}\n\nerr\nerrors: c\n\rerror:\n\n\nerro";
        let expected =
            text.replace("\nerror: {", "\nevent: error\ndata: {").replace("error:\n", "event: error\ndata:\n");
        for cut in 0..=text.len() {
            let mut guard = Guard::default();
            let (one, two) = text.as_bytes().split_at(cut);
            let read = guard.push(one).unwrap() + &guard.push(two).unwrap() + &guard.finish();
            assert_eq!(read, format!("{expected}\n\n"), "cut at {cut}");
        }
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let mut guard = Guard::default();
        let text = guard.push(b"a\xffb\xe4\xbd").unwrap() + &guard.push(b"x\xe4").unwrap() + &guard.finish();
        assert_eq!(text, "a\u{fffd}b\u{fffd}x\u{fffd}\n\n");
    }

    #[test]
    fn an_event_may_be_as_large_as_the_limit_and_no_larger() {
        for ending in ["\n", "\r\n", "\r"] {
            let mut guard = Guard::default();
            for _ in 0..2 {
                let half = "x".repeat(MAX_EVENT / 2) + ending;
                guard.push(half.as_bytes()).unwrap();
                guard.push(half.as_bytes()).unwrap();
                guard.push(ending.as_bytes()).unwrap();
            }
            guard.push("x".repeat(MAX_EVENT).as_bytes()).unwrap();
            guard.push(ending.as_bytes()).unwrap();
            assert!(guard.push(b"x").is_err());
        }
    }
}
