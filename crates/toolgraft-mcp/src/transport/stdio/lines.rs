//! Splits a server's standard output into messages.
//!
//! MCP requires one message per line
//! (modelcontextprotocol.io/specification/2025-11-25/basic/transports). Servers print banners
//! between them, break JSON over lines, write invalid UTF-8, and answer without an id. Everything
//! readable is read; the rest is kept for error messages, and ends the request that it answers if
//! its id is known. rmcp's reader drops all of that, a last line without an end, and a message of more than 16 MiB, and the
//! call waits for its time-out.

use std::collections::VecDeque;

use serde::de::IgnoredAny;

use crate::transport::message::{
    LongMessage, ParsedMessage, Unfinished, broken_off, failed, noise, read, read_whole, too_long, unreadable,
};
use crate::transport::scan::{one_line, parts};

/// Maximum length in bytes of a message on a server's standard output. A longer one is dropped, and the request to
/// which it responds fails.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// Maximum number of bytes of the last, incomplete line that an error message shows.
const SHOWN: usize = 256;

/// Parser of a server's standard output: the received bytes, and the state between them.
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Length in bytes of the start of the buffer that is known to have no line break.
    scanned: usize,
    /// The JSON that continues in the next line; `None` if there is none.
    open: Option<OpenJson>,
    /// The message that is being dropped because it is too long; `None` if there is none.
    dropped: Option<LongMessage>,
    /// Messages that were read and not yet returned: a line may hold several.
    heard: VecDeque<ParsedMessage>,
    limit: usize,
}

/// The beginning of JSON that is written over several lines.
struct OpenJson {
    text: String,
    depth: Depth,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Lines { buffer: Vec::new(), scanned: 0, open: None, dropped: None, heard: VecDeque::new(), limit }
    }

    /// Returns the buffer of received bytes, for appending more.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Returns the beginning of an incomplete message in one line; `None` if there is none.
    pub(super) fn unfinished(&self) -> Option<String> {
        let open = self.open.as_ref().map(|open| open.text.as_str()).unwrap_or_default();
        let begun = format!("{open}{}", String::from_utf8_lossy(&self.buffer[..self.buffer.len().min(SHOWN)]));
        Some(one_line(&begun)).filter(|begun| !begun.is_empty())
    }

    /// Returns the next message or noise of the received bytes; `None` if more bytes are needed.
    pub(super) fn next(&mut self) -> Option<ParsedMessage> {
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Some(heard);
            }
            let Some(end) = memchr::memchr(b'\n', &self.buffer[self.scanned..]).map(|at| self.scanned + at) else {
                if self.dropped.is_some() || self.buffer.len() > self.limit {
                    self.dropped.get_or_insert_default().push(&mut self.buffer);
                    self.buffer = Vec::new();
                }
                self.scanned = self.buffer.len();
                return None;
            };
            let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
            self.scanned = 0;
            if self.buffer.is_empty() {
                // Frees the memory of a long message.
                self.buffer.shrink_to(64 * 1024);
            }
            if self.dropped.is_some() || line.len() > self.limit {
                let mut message = self.dropped.take().unwrap_or_default();
                message.push(&mut line);
                return Some(self.too_long(&message));
            }
            self.line(&line);
        }
    }

    /// Returns the next message or noise of the rest of the output after its end; `None` after the last.
    pub(super) fn last(&mut self) -> Option<ParsedMessage> {
        let rest = std::mem::take(&mut self.buffer);
        self.scanned = 0;
        if self.dropped.is_none() {
            self.line(&rest);
            if let Some(open) = self.open.take() {
                read_whole(&open.text, &mut self.heard);
            }
        }
        self.heard.pop_front()
    }

    fn too_long(&self, message: &LongMessage) -> ParsedMessage {
        let what = too_long(self.limit);
        match message.id() {
            Some(id) => unreadable(id, what).into(),
            None => ParsedMessage::Noise(what),
        }
    }

    fn line(&mut self, line: &[u8]) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let text = text.trim_matches([' ', '\t', '\r', '\n', '\0']);
        if text.is_empty() {
            return;
        }
        let Some(mut open) = self.open.take() else { return self.begins(text) };
        // In a batch with one message per line, a message is the next element and not a new text.
        let is_next = open.text.starts_with('[') && open.text.ends_with(',') && open.depth.open == 1;
        let is_whole = || parts(text).is_some_and(|parts| parts.closed && parts.rest.is_empty());
        if !is_next && text.starts_with("{\"jsonrpc\"") && is_whole() {
            // A complete message on a line of its own ends any incomplete JSON before it.
            broken_off(&open.text, &mut self.heard);
            return self.begins(text);
        }
        open.text.push('\n');
        open.text.push_str(text);
        open.depth.walk(text);
        if open.depth.is_closed() {
            read_whole(&open.text, &mut self.heard);
        } else if open.text.len() > self.limit {
            let what = || too_long(self.limit);
            self.heard.push_back(failed(&open.text, what).map_or_else(|| ParsedMessage::Noise(what()), Into::into));
        } else {
            self.open = Some(open);
        }
    }

    fn begins(&mut self, text: &str) {
        if read(text, &mut self.heard) != Err(Unfinished) {
            return;
        }
        // A log line may look like the beginning of JSON, and must not absorb the messages after
        // it.
        let is_begun = |error: serde_json::Error| error.is_eof() || text.contains("\"jsonrpc\"");
        if serde_json::from_str::<IgnoredAny>(text).is_err_and(is_begun) {
            let mut depth = Depth::default();
            depth.walk(text);
            self.open = Some(OpenJson { text: text.to_owned(), depth });
        } else {
            self.heard.push_back(noise(text));
        }
    }
}

/// Counter of open brackets outside of strings, to find the end of JSON.
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
    use rmcp::model::{CustomResult, JsonRpcMessage, ServerResult};
    use serde_json::Value;

    use super::*;

    /// Returns the messages and noise of a text, and checks that they do not depend on how it is split.
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

    fn told(heard: ParsedMessage) -> String {
        match heard {
            ParsedMessage::Message(message) => match *message {
                JsonRpcMessage::Response(answer) => {
                    let ServerResult::CustomResult(CustomResult(Value::String(result))) = answer.result else {
                        panic!()
                    };
                    let result = result.replace(['\n', ' '], "");
                    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, answer.id)
                }
                other => serde_json::to_string(&other).unwrap(),
            },
            ParsedMessage::Noise(what) => format!("noise {what}"),
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
        // JSON that is never closed does not absorb the following messages.
        assert_eq!(heard(format!("{{\n\"half\":\n{ANSWER}\n").as_bytes()), [ANSWER]);
        assert_eq!(heard(b"{\n \"half\": 1"), ["noise \"{ \\\"half\\\": 1\""]);
    }

    #[test]
    fn a_message_that_is_no_json_is_one_message_over_several_lines_too() {
        let nan = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":NaN,\n\"y\":1}}\n";
        let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"x":NaN,"y":1}}"#;
        assert_eq!(heard(format!("{nan}{ANSWER}\n").as_bytes()), [expected, ANSWER]);
        for first in [ANSWER.to_owned(), ANSWER.replace(',', ",\n")] {
            let batch = format!("[\n{first},\n{expected}\n]\n{ANSWER}");
            assert_eq!(heard(batch.as_bytes()), [ANSWER, expected, ANSWER]);
        }
        assert_eq!(heard(format!("[{ANSWER},{expected}]\n").as_bytes()), [ANSWER, expected]);
        assert_eq!(heard(format!("{{\n\"half\":\n{expected}\n").as_bytes()), [expected]);
        let stray = format!("[\n{ANSWER},\n{expected}\n{ANSWER}\n");
        assert_eq!(heard(stray.as_bytes()), [ANSWER, expected, ANSWER], "a batch that is never closed");
        // A truncated answer ends its request when the next message arrives.
        let half = heard(format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{{\n{ANSWER}\n").as_bytes());
        assert!(half.len() == 2 && half[0].contains("\"id\":9") && half[0].contains("a truncated answer"), "{half:?}");
        // A log line that looks like JSON absorbs nothing.
        let log = heard(format!("[info: listening\n{{ ready\n{ANSWER}\n").as_bytes());
        assert!(log.len() == 3 && log[2] == ANSWER, "{log:?}");
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_replaced() {
        let text = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"caf\xe9\"}}\n";
        assert_eq!(heard(text), ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"caf\u{fffd}\"}}"]);
    }

    #[test]
    fn an_answer_that_cannot_be_read_ends_its_request() {
        let odd = heard(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":\"no\"}\n");
        assert!(odd[0].contains("\"id\":7") && odd[0].contains("that is not JSON-RPC"), "{odd:?}");
        for text in ["{\"jsonrpc\":\"2.0\",\"result\":{}}", "{\"level\":\"info\"}", "12", "null"] {
            assert!(heard(text.as_bytes())[0].starts_with("noise "), "{text}");
        }
        let error = heard(br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}"#);
        assert!(error.len() == 1 && error[0].contains("\"message\":\"parse error\""), "{error:?}");
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
