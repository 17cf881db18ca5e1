//! Reads the events of a stream of server-sent events (HTML Living Standard, section 9.2.6).

use super::super::ModelError;

/// Limit on the bytes of an event of a stream, and of an answer that is not streamed.
pub const MAX_EVENT: usize = 16 << 20;

/// Finds the events in the bytes of a body. Invalid bytes become U+FFFD. The non-standard field `error`, which some
/// endpoints send, is the data of an event of this type.
#[derive(Default)]
pub(super) struct EventReader {
    /// The bytes of an incomplete line.
    line: Vec<u8>,
    started: bool,
    /// `true` if the last line ended in CR, so that a LF continues its end.
    cr: bool,
    /// Bytes of the current event.
    size: usize,
    data: Option<String>,
    is_error: bool,
}

impl EventReader {
    /// Takes bytes. Each event that is complete goes to `event`: its data, and `true` if its type is `error`.
    pub(super) fn push(&mut self, bytes: &[u8], event: &mut dyn FnMut(&str, bool)) -> Result<(), ModelError> {
        let mut rest = bytes;
        loop {
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let (more, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.line.extend_from_slice(more);
            self.size += more.len();
            if self.size > MAX_EVENT {
                let message = format!("the endpoint sent an event of more than {MAX_EVENT} bytes");
                return Err(ModelError::cut_off(message));
            }
            let Some((ending, after)) = after.split_first() else { return Ok(()) };
            let continues = std::mem::replace(&mut self.cr, *ending == b'\r') && *ending == b'\n';
            if !(continues && self.line.is_empty()) {
                self.end_line(event);
            }
            rest = after;
        }
    }

    /// Ends the last event, even if the endpoint did not.
    pub(super) fn finish(&mut self, event: &mut dyn FnMut(&str, bool)) {
        self.end_line(event);
        self.end_event(event);
    }

    fn end_line(&mut self, event: &mut dyn FnMut(&str, bool)) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let mark = if std::mem::replace(&mut self.started, true) { None } else { line.strip_prefix('\u{feff}') };
        let line = mark.unwrap_or(&line);
        if line.is_empty() {
            return self.end_event(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.is_error = value == "error",
            "data" | "error" => {
                self.is_error |= field == "error";
                match &mut self.data {
                    Some(data) => data.extend(["\n", value]),
                    None => self.data = Some(value.to_owned()),
                }
            }
            _ => {}
        }
    }

    fn end_event(&mut self, event: &mut dyn FnMut(&str, bool)) {
        self.size = 0;
        let is_error = std::mem::take(&mut self.is_error);
        if let Some(data) = self.data.take() {
            event(&data, is_error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the events of a text that arrives in these pieces.
    fn read(pieces: &[&[u8]]) -> Vec<(String, bool)> {
        let (mut reader, mut events) = (EventReader::default(), Vec::new());
        let mut keep = |data: &str, is_error| events.push((data.to_owned(), is_error));
        for piece in pieces {
            reader.push(piece, &mut keep).unwrap();
        }
        reader.finish(&mut keep);
        events
    }

    #[test]
    fn characters_may_be_cut_anywhere_and_a_mark_is_dropped() {
        let bytes = "\u{feff}data: 你好 🦀\r\n\r\n".as_bytes();
        for cut in 0..bytes.len() {
            let (one, two) = bytes.split_at(cut);
            assert_eq!(read(&[one, two]), [("你好 🦀".to_owned(), false)], "cut at {cut}");
        }
    }

    #[test]
    fn fields_are_read_wherever_they_are_cut() {
        let text = "data: error: a\r\n\r\nerror: {\"message\": \"error: b\"}\n\nerr\nerrors: c\n\rerror:\n\n: x\nid: 7\n\
                    data:  d\r\nretry: 1\ndata\ndata:e\n\nevent: error\ndata: f\n\nevent: error\n\ndata: g\ndata: h\nerro";
        let expected = [
            ("error: a", false),
            ("{\"message\": \"error: b\"}", true),
            ("", true),
            (" d\n\ne", false),
            ("f", true),
            ("g\nh", false),
        ];
        for cut in 0..=text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            assert_eq!(read(&[one, two]), expected.map(|(data, is_error)| (data.to_owned(), is_error)), "cut at {cut}");
        }
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let events = read(&[b"data:a\xffb\xe4\xbd", b"x\xe4"]);
        assert_eq!(events, [("a\u{fffd}b\u{fffd}x\u{fffd}".to_owned(), false)]);
    }

    #[test]
    fn an_event_may_be_as_large_as_the_limit_and_no_larger() {
        for ending in ["\n", "\r\n", "\r"] {
            let mut reader = EventReader::default();
            let mut push = |text: &str| reader.push(text.as_bytes(), &mut |_, _| {});
            for _ in 0..2 {
                let half = "x".repeat(MAX_EVENT / 2) + ending;
                push(&half).unwrap();
                push(&half).unwrap();
                push(ending).unwrap();
            }
            push(&"x".repeat(MAX_EVENT)).unwrap();
            push(ending).unwrap();
            assert!(push("x").is_err());
        }
    }
}
