//! A server's standard output to messages.
//!
//! MCP wants one message a line (modelcontextprotocol.io/specification/2025-11-25/basic/transports).
//! Servers print banners between them, break JSON over lines, write bytes that are
//! no UTF-8, and answer without saying what. What can be read is read; what cannot
//! is kept for messages, and ends the request that it answers, if it says which.

use rmcp::model::RequestId;
use serde_json::Value;

use crate::route::mcp::message::{Heard, message, noise, unreadable};

/// Longest message. A longer one is dropped, and the request that it answers fails.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// Bytes of a dropped message in which its `id` is looked for, at either end.
const EDGE: usize = 256;

/// Bytes that have come, and where the reading stands.
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// So much of the buffer has no line break.
    scanned: usize,
    /// JSON that goes on in the next line.
    open: Option<Open>,
    /// The beginning and the end of a message that is too long.
    dropped: Option<(Vec<u8>, Vec<u8>)>,
    limit: usize,
}

/// JSON over several lines.
struct Open {
    text: String,
    depth: Depth,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Lines { buffer: Vec::new(), scanned: 0, open: None, dropped: None, limit }
    }

    /// Where bytes are to be added at the end.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// The next thing in the bytes so far; `None` where more are needed.
    pub(super) fn next(&mut self) -> Option<Heard> {
        loop {
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.scanned..]).map(|at| self.scanned + at) else {
                self.scanned = self.buffer.len();
                self.drop_excess();
                return None;
            };
            let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
            self.scanned = 0;
            if self.buffer.is_empty() {
                // What one long message needed is not kept for the short ones.
                self.buffer.shrink_to(64 * 1024);
            }
            if let Some((head, mut tail)) = self.dropped.take() {
                tail.append(&mut line);
                return Some(self.too_long(&head, &tail));
            }
            if line.len() > self.limit {
                return Some(self.too_long(&line[..EDGE.min(self.limit)], &line[line.len() - EDGE.min(self.limit)..]));
            }
            if let Some(heard) = self.line(&line) {
                return Some(heard);
            }
        }
    }

    /// What the last bytes were, where no more come.
    pub(super) fn last(&mut self) -> Option<Heard> {
        let rest = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        if self.dropped.is_some() {
            return None;
        }
        self.line(&rest).or_else(|| self.open.take().map(|open| noise(&open.text)))
    }

    fn drop_excess(&mut self) {
        if let Some((_, tail)) = &mut self.dropped {
            tail.append(&mut self.buffer);
            tail.drain(..tail.len().saturating_sub(EDGE));
        } else if self.buffer.len() > self.limit {
            let head = self.buffer[..EDGE.min(self.limit)].to_vec();
            let tail = self.buffer.split_off(self.buffer.len() - EDGE.min(self.limit));
            self.dropped = Some((head, tail));
            self.buffer = Vec::new();
        }
        if self.dropped.is_some() {
            self.scanned = self.buffer.len();
        }
    }

    fn too_long(&self, head: &[u8], tail: &[u8]) -> Heard {
        let what = format!("an answer of more than {} MiB, which was dropped", self.limit / 1024 / 1024);
        match id_at_the_edge(head, tail) {
            Some(id) => unreadable(RequestId::Number(id), what),
            None => Heard::Noise(what),
        }
    }

    fn line(&mut self, line: &[u8]) -> Option<Heard> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let text = text.trim_matches([' ', '\t', '\r', '\n', '\0']);
        if text.is_empty() {
            return None;
        }
        let Some(mut open) = self.open.take() else { return self.begins(text) };
        if text.starts_with("{\"jsonrpc\"") && serde_json::from_str::<Value>(text).is_ok() {
            // Whatever was open before, this is a message of its own.
            return self.begins(text);
        }
        open.text.push('\n');
        open.text.push_str(text);
        open.depth.walk(text);
        if open.depth.is_closed() {
            return Some(message(&open.text).unwrap_or_else(|_| noise(&open.text)));
        }
        if open.text.len() > self.limit {
            return Some(Heard::Noise(format!("an answer of more than {} MiB", self.limit / 1024 / 1024)));
        }
        self.open = Some(open);
        None
    }

    fn begins(&mut self, text: &str) -> Option<Heard> {
        match message(text) {
            Ok(heard) => Some(heard),
            Err(error) if error.is_eof() && text.starts_with('{') => {
                let mut depth = Depth::default();
                depth.walk(text);
                self.open = Some(Open { text: text.to_owned(), depth });
                None
            }
            Err(_) => Some(noise(text)),
        }
    }
}

/// The `id` of an answer of which only the edges are there: where servers write
/// it, right after `jsonrpc` or at the very end.
fn id_at_the_edge(head: &[u8], tail: &[u8]) -> Option<i64> {
    let compact = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<String>();
    let (head, tail) = (compact(head), compact(tail));
    let first = head.strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":").or_else(|| head.strip_prefix("{\"id\":"));
    let digits = match first {
        Some(rest) => rest.split(',').next()?,
        None => tail.strip_suffix('}')?.trim_end_matches(",\"jsonrpc\":\"2.0\"").rsplit_once("\"id\":")?.1,
    };
    digits.trim_matches('"').parse().ok()
}

/// How many brackets are open.
#[derive(Default)]
struct Depth {
    open: usize,
    in_string: bool,
    escaped: bool,
}

impl Depth {
    fn walk(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.open += 1,
                b'}' | b']' if !self.in_string => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is heard in a text, however it is cut.
    fn heard(text: &[u8]) -> Vec<String> {
        let of = |size: usize| {
            let mut lines = Lines::new(1000);
            let mut heard = Vec::new();
            for chunk in text.chunks(size) {
                lines.buffer().extend_from_slice(chunk);
                heard.extend(std::iter::from_fn(|| lines.next()));
            }
            heard.extend(lines.last());
            heard.into_iter().map(told).collect::<Vec<_>>()
        };
        let whole = of(text.len().max(1));
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(of(size), whole, "in pieces of {size}");
        }
        whole
    }

    fn told(heard: Heard) -> String {
        match heard {
            Heard::Message(message) => serde_json::to_string(&message).unwrap(),
            Heard::Senseless(id) => format!("refuse {id}"),
            Heard::Noise(what) | Heard::Complaint(_, what) => format!("noise {what}"),
        }
    }

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#;

    #[test]
    fn a_message_a_line_is_read_whatever_stands_around_it() {
        assert_eq!(heard(format!("{ANSWER}\n").as_bytes()), [ANSWER]);
        assert_eq!(heard(format!("\u{feff}  {ANSWER}\r\n\n\n{ANSWER}").as_bytes()), [ANSWER, ANSWER]);
        let banner = format!("*** Welcome ***\n[INFO] ready {{\n{ANSWER}\n");
        assert_eq!(heard(banner.as_bytes()), ["noise \"*** Welcome ***\"", "noise \"[INFO] ready {\"", ANSWER]);
    }

    #[test]
    fn json_over_several_lines_is_one_message() {
        let pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {\n    \"x\": \"}\\\"{\"\n  }\n}\n";
        let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"x":"}\"{"}}"#;
        assert_eq!(heard(format!("{pretty}{ANSWER}\n{pretty}").as_bytes()), [expected, ANSWER, expected]);
        // One that is never closed does not swallow what follows.
        assert_eq!(heard(format!("{{\n\"half\":\n{ANSWER}\n").as_bytes()), [ANSWER]);
        assert_eq!(heard(b"{\n \"half\": 1"), ["noise \"{ \\\"half\\\": 1\""]);
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_replaced() {
        let text = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"caf\xe9\"}}\n";
        assert_eq!(heard(text), ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"caf\u{fffd}\"}}"]);
    }

    #[test]
    fn an_answer_that_cannot_be_read_ends_its_request() {
        let odd = heard(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":\"no\"}\n");
        assert!(odd[0].contains("\"id\":7") && odd[0].contains("that is no JSON-RPC"), "{odd:?}");
        for text in ["{\"jsonrpc\":\"2.0\",\"result\":{}}", "{\"level\":\"info\"}", "12", "null"] {
            assert!(heard(text.as_bytes())[0].starts_with("noise "), "{text}");
        }
        let error = heard(br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}"#);
        assert_eq!(error, ["noise an error for no request: parse error"]);
        assert_eq!(heard(br#"{"id":4,"method":"sampling/createMessage","params":3}"#), ["refuse 4"]);
    }

    #[test]
    fn a_message_that_is_too_long_ends_its_request_and_the_next_is_read() {
        let long = "x".repeat(3000);
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"x":"{long}"}}}}"#),
            format!(r#"{{ "result": {{ "x": "{long}" }}, "jsonrpc": "2.0", "id": 5 }}"#),
            format!(r#"{{"result":{{"id":9,"x":"{long}"}},"id":"5","jsonrpc":"2.0"}}"#),
        ] {
            let heard = heard(format!("{text}\n{ANSWER}\n").as_bytes());
            assert!(heard[0].contains("\"id\":5") && heard[0].contains("more than 0 MiB"), "{heard:?}");
            assert_eq!(heard[1], ANSWER);
        }
        assert!(heard(format!("{long}\n{ANSWER}\n").as_bytes())[0].starts_with("noise an answer of more"));
    }
}
