//! Prepares the bytes of a body for the parser of server-sent events.
//!
//! The parser refuses invalid UTF-8, drops an event without a blank line after it, drops non-standard fields, and
//! accepts events of any size. A stream should survive the first two, and be refused for the last. One non-standard
//! field matters: servers of llama.cpp before September 2025 report an error as `error: {…}`
//! (github.com/ggml-org/llama.cpp/pull/16109), and some end the stream with `[DONE]` after it, as if nothing had
//! happened.

use super::super::ModelError;

/// Limit on the bytes of an event of a stream, and of an answer that is not streamed.
pub const MAX_EVENT: usize = 16 << 20;

/// The non-standard field, and its standard replacement.
const ERROR_FIELD: &str = "error:";
const ERROR_EVENT: &str = "event: error\ndata:";

/// Decodes UTF-8 incrementally, with U+FFFD for invalid bytes, limits the size of events, and turns `error:` lines into
/// events.
#[derive(Default)]
pub(super) struct Guard {
    /// The bytes of an incomplete character.
    partial: Vec<u8>,
    started: bool,
    /// Bytes of the current event and of its last line; `cr` is `true` if that line ended in CR.
    event: usize,
    line: usize,
    cr: bool,
    /// `true` inside a line whose field is known.
    inside: bool,
    /// The beginning of a line that may become [`ERROR_FIELD`].
    held: String,
}

impl Guard {
    /// Takes bytes and returns the text that is complete now.
    pub(super) fn push(&mut self, bytes: Vec<u8>) -> Result<String, ModelError> {
        let mut text = self.decode(bytes);
        if !self.started && text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
            self.started = true;
        }
        self.started |= !text.is_empty();
        let foreign = self.count(text.as_bytes())?;
        // If no line begins like the non-standard field, the text stays as it is.
        if foreign || !self.held.is_empty() {
            return Ok(self.standard(&text));
        }
        if !text.is_empty() {
            self.inside = !text.ends_with(['\n', '\r']);
        }
        Ok(text)
    }

    /// Returns the rest of the text and the end of the last event, even if the endpoint did not send one.
    pub(super) fn finish(&mut self) -> String {
        let cut = !std::mem::take(&mut self.partial).is_empty();
        std::mem::take(&mut self.held) + if cut { "\u{fffd}\n\n" } else { "\n\n" }
    }

    /// Replaces the non-standard field by standard ones.
    fn standard(&mut self, mut text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        while !text.is_empty() {
            if self.inside {
                let end = text.find(['\n', '\r']).map_or(text.len(), |at| at + 1);
                self.inside = !text[..end].ends_with(['\n', '\r']);
                out.push_str(&text[..end]);
                text = &text[end..];
                continue;
            }
            let missing = &ERROR_FIELD[self.held.len()..];
            let same = text.bytes().zip(missing.bytes()).take_while(|(a, b)| a == b).count();
            self.held.push_str(&text[..same]);
            text = &text[same..];
            if self.held == ERROR_FIELD {
                self.held.clear();
                out.push_str(ERROR_EVENT);
                self.inside = true;
            } else if !text.is_empty() {
                // It is another field, or the line ends.
                out.push_str(&std::mem::take(&mut self.held));
                self.inside = true;
            }
        }
        out
    }

    fn decode(&mut self, bytes: Vec<u8>) -> String {
        let mut all = std::mem::take(&mut self.partial);
        let all = match all.is_empty() {
            true => bytes,
            false => {
                all.extend(bytes);
                all
            }
        };
        let all = match String::from_utf8(all) {
            Ok(text) => return text,
            Err(error) => error.into_bytes(),
        };
        let mut text = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            match std::str::from_utf8(chunk.invalid()) {
                Ok(_) => {}
                // The next bytes may complete the character.
                Err(error) if error.error_len().is_none() && chunks.peek().is_none() => {
                    self.partial = chunk.invalid().to_vec();
                }
                Err(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        text
    }

    /// Counts the bytes of events. Returns `true` if a line begins like the non-standard field.
    fn count(&mut self, bytes: &[u8]) -> Result<bool, ModelError> {
        let mut foreign = !self.inside && bytes.first() == ERROR_FIELD.as_bytes().first();
        let mut start = 0;
        loop {
            let end = memchr::memchr2(b'\n', b'\r', &bytes[start..]).map(|at| start + at);
            let length = end.unwrap_or(bytes.len()) - start;
            self.line += length;
            self.event += length;
            if self.event > MAX_EVENT {
                let message = format!("the endpoint sent an event of more than {MAX_EVENT} bytes");
                return Err(ModelError::cut_off(message));
            }
            if length > 0 {
                self.cr = false;
            }
            let Some(end) = end else { return Ok(foreign) };
            // LF after CR does not end another line.
            if !(bytes[end] == b'\n' && self.cr) {
                self.event = if self.line == 0 { 0 } else { self.event };
                self.line = 0;
            }
            self.cr = bytes[end] == b'\r';
            start = end + 1;
            foreign |= bytes.get(start) == ERROR_FIELD.as_bytes().first();
        }
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
            let text = guard.push(bytes[..cut].to_vec()).unwrap()
                + &guard.push(bytes[cut..].to_vec()).unwrap()
                + &guard.finish();
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
            let read = guard.push(one.to_vec()).unwrap() + &guard.push(two.to_vec()).unwrap() + &guard.finish();
            assert_eq!(read, format!("{expected}\n\n"), "cut at {cut}");
        }
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let mut guard = Guard::default();
        assert_eq!(guard.push(b"a\xffb\xe4\xbd".to_vec()).unwrap(), "a\u{fffd}b");
        assert_eq!(guard.push(b"x\xe4".to_vec()).unwrap(), "\u{fffd}x");
        assert_eq!(guard.finish(), "\u{fffd}\n\n");
    }

    #[test]
    fn an_event_may_be_as_large_as_the_limit_and_no_larger() {
        for ending in ["\n", "\r\n", "\r"] {
            let mut guard = Guard::default();
            for _ in 0..2 {
                let half = "x".repeat(MAX_EVENT / 2) + ending;
                guard.push(half.clone().into_bytes()).unwrap();
                guard.push(half.clone().into_bytes()).unwrap();
                guard.push(ending.into()).unwrap();
            }
            guard.push("x".repeat(MAX_EVENT).into_bytes()).unwrap();
            guard.push(ending.into()).unwrap();
            assert!(guard.push(b"x".to_vec()).is_err());
        }
    }
}
