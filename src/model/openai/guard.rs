//! What stands between the bytes of a body and the parser of server-sent events.
//!
//! The parser refuses invalid UTF-8, drops an event without a blank line behind
//! it, and takes events of any size; a stream should survive the first two and
//! be refused for the third.

use super::super::ModelError;

/// Largest event of a stream, and largest answer that is not streamed, in bytes.
pub const MAX_EVENT: usize = 16 << 20;

/// Decodes UTF-8 piece by piece, with U+FFFD for what is none, and counts events' bytes.
#[derive(Default)]
pub(super) struct Guard {
    /// The beginning of a character whose rest is still to come.
    partial: Vec<u8>,
    started: bool,
    /// Bytes of the event, of its last line, and whether that ended in CR.
    event: usize,
    line: usize,
    cr: bool,
}

impl Guard {
    /// Text of the bytes so far that were not given yet.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<String, ModelError> {
        let text = self.decode(bytes);
        let bytes = match text.strip_prefix('\u{feff}') {
            Some(rest) if !self.started => rest,
            _ => &text,
        };
        self.started |= !text.is_empty();
        self.count(bytes.as_bytes())?;
        Ok(bytes.to_owned())
    }

    /// What ends the last event, whether or not the endpoint did.
    pub(super) fn finish(&mut self) -> &'static str {
        let cut = !std::mem::take(&mut self.partial).is_empty();
        if cut { "\u{fffd}\n\n" } else { "\n\n" }
    }

    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut rest = all.as_slice();
        while let Err(error) = std::str::from_utf8(rest) {
            let (good, bad) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(good));
            let Some(wrong) = error.error_len() else {
                self.partial = bad.to_vec();
                return text;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = &bad[wrong..];
        }
        text.push_str(&String::from_utf8_lossy(rest));
        text
    }

    fn count(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        for byte in bytes {
            match byte {
                b'\n' if self.cr => {}
                b'\n' | b'\r' => {
                    self.event = if self.line == 0 { 0 } else { self.event };
                    self.line = 0;
                }
                _ => {
                    self.line += 1;
                    self.event += 1;
                }
            }
            self.cr = *byte == b'\r';
            if self.event > MAX_EVENT {
                let message = format!("the endpoint sent an event of more than {MAX_EVENT} bytes");
                return Err(ModelError::CutOff { message });
            }
        }
        Ok(())
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
            let text = guard.push(&bytes[..cut]).unwrap() + &guard.push(&bytes[cut..]).unwrap() + guard.finish();
            assert_eq!(text, "data: 你好 🦀\r\n\r\n\n\n", "cut at {cut}");
        }
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let mut guard = Guard::default();
        assert_eq!(guard.push(b"a\xffb\xe4\xbd").unwrap(), "a\u{fffd}b");
        assert_eq!(guard.push(b"x\xe4").unwrap(), "\u{fffd}x");
        assert_eq!(guard.finish(), "\u{fffd}\n\n");
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
