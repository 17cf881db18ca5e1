//! The server-sent events of a body, for HTTP+SSE and streamable HTTP.
//!
//! rmcp's events end the stream, and with it every answer on it, at invalid UTF-8 and at an event of more than its limit.

use futures::stream::{BoxStream, StreamExt, unfold};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, header::HeaderMap};
use rmcp::model::RequestId;
use sse_stream::{Sse, SseByteStream};

use crate::transport::message::{LongMessage, Message, messages, too_long, unreadable};

/// Maximum length of a server-sent event in bytes; a longer one is dropped.
const MAX_EVENT: usize = 64 * 1024 * 1024;

/// Type of the events that replace server-sent events which were too long; the last line of their data is the `id` of
/// the response, if it is known.
const DROPPED: &str = "toolgraft/dropped";

/// Returns `true` if the content type in the headers is this media type, in any letter case.
pub(super) fn is_of(headers: &HeaderMap, kind: &str) -> bool {
    let said = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes()).unwrap_or_default();
    said.trim_ascii_start().get(..kind.len()).is_some_and(|said| said.eq_ignore_ascii_case(kind.as_bytes()))
}

/// Returns the MCP messages of a server-sent event: none if it is empty, which keeps the connection open. A response
/// that was too long and was dropped becomes an error for its id, if that is known, or else for the request `asked`.
pub(super) fn messages_of(event: &Sse, asked: Option<&RequestId>) -> Vec<Message> {
    let data = event.data.as_deref().unwrap_or_default().trim();
    match event.event.as_deref() {
        Some(DROPPED) => {
            let id = data.lines().last().and_then(|id| id.parse().ok()).map(RequestId::Number);
            id.as_ref().or(asked).map(|id| unreadable(id.clone(), too_long(MAX_EVENT))).into_iter().collect()
        }
        None | Some("" | "message") => messages(data).collect(),
        _ => Vec::new(),
    }
}

/// Returns the server-sent events of a response body until it ends or breaks.
pub(super) fn events(response: Response) -> BoxStream<'static, Sse> {
    let lines = unfold(Some((response, EventBytes::new(MAX_EVENT))), |state| async move {
        let (mut response, mut body) = state?;
        match response.chunk().await {
            Ok(Some(chunk)) => {
                Some((Ok::<_, std::io::Error>(std::io::Cursor::new(body.push(&chunk))), Some((response, body))))
            }
            // The last event counts even without a blank line after it.
            Ok(None) | Err(_) => Some((Ok(std::io::Cursor::new(body.last())), None)),
        }
    });
    SseByteStream::new(lines.boxed()).filter_map(|event| async move { event.ok() }).boxed()
}

/// Converts the bytes of server-sent events to text in whole lines: invalid UTF-8 becomes U+FFFD, and an event that is
/// too long is replaced by one of type [`DROPPED`].
struct EventBytes {
    line: Vec<u8>,
    event: usize,
    limit: usize,
    /// The rest of the current event after it exceeded the limit; `None` if it has not.
    dropped: Option<LongMessage>,
    /// `true` if the beginning of the current line was dropped because its event is too long.
    cut: bool,
}

impl EventBytes {
    fn new(limit: usize) -> Self {
        EventBytes { line: Vec::new(), event: 0, limit, dropped: None, cut: false }
    }

    /// Adds received bytes, and returns the text of the lines that are complete.
    fn push(&mut self, bytes: &[u8]) -> String {
        let mut text = String::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            self.event += piece.len();
            let ends = piece.ends_with(b"\n");
            // The rest of a line whose beginning was dropped may look blank, but ends no event.
            let blank = ends && !self.cut && self.line.iter().all(u8::is_ascii_whitespace);
            if blank {
                text.push_str(&self.blank());
                self.event = 0;
            } else if self.event > self.limit {
                self.dropped.get_or_insert_default().push(&mut self.line);
                self.cut = true;
            } else if ends {
                text.push_str(&String::from_utf8_lossy(&self.line));
            }
            if ends {
                self.line.clear();
                self.cut = false;
            }
        }
        text
    }

    /// Returns the text that ends an event: a blank line, or the replacement of a dropped event.
    fn blank(&mut self) -> String {
        let Some(message) = self.dropped.take() else { return "\n".to_owned() };
        let id = message.id().map(|id| id.to_string()).unwrap_or_default();
        format!("event: {DROPPED}\ndata: {id}\n\n")
    }

    fn last(&mut self) -> String {
        let line = match &self.dropped {
            Some(_) => String::new(),
            None => String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned(),
        };
        format!("{line}\n{}", self.blank())
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;
    use rmcp::model::JsonRpcMessage;

    use super::*;

    #[test]
    fn lines_are_whole_and_their_bytes_are_text() {
        let mut body = EventBytes::new(100);
        assert_eq!(body.push(b"data: caf"), "");
        assert_eq!(body.push(b"\xe9\n\ndata: \xc3"), "data: caf\u{fffd}\n\n");
        assert_eq!(body.push(b"\xa9\n"), "data: \u{e9}\n");
        assert_eq!(body.push(b"id: 1"), "");
        assert_eq!(body.last(), "id: 1\n\n");
    }

    #[test]
    fn an_event_that_is_too_long_is_named_and_the_next_is_read() {
        let long = "x".repeat(500);
        let dropped = |id: &str| format!("event: toolgraft/dropped\ndata: {id}\n\n");
        for (event, id) in [
            (format!("data: {{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":\"{long}\"}}\n"), "5"),
            (format!("data: {{\"result\":\"{long}\",\"id\":6,\"jsonrpc\":\"2.0\"}}\n"), "6"),
            (format!("data: {long}\n"), ""),
        ] {
            for size in [1, 7, 1000] {
                let mut body = EventBytes::new(300);
                let text = format!("{event}\ndata: next\n\n{event}");
                let heard: String = text.as_bytes().chunks(size).map(|chunk| body.push(chunk)).collect();
                assert_eq!(heard, format!("{}data: next\n\n", dropped(id)), "in pieces of {size}");
                assert_eq!(body.last(), format!("\n{}", dropped(id)));
            }
        }
        let event = Sse::default().event(DROPPED).data("begun\n7");
        for (asked, id) in [(None, 7), (Some(RequestId::Number(8)), 7)] {
            let heard = messages_of(&event, asked.as_ref());
            assert!(matches!(&heard[..], [JsonRpcMessage::Error(error)] if error.id == Some(RequestId::Number(id))));
        }
    }

    #[test]
    fn a_media_type_is_known_in_any_case() {
        let of = |said: &'static str| HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(said))]);
        for said in ["application/json", "Application/JSON; charset=utf-8", " APPLICATION/JSON"] {
            assert!(is_of(&of(said), "application/json"), "{said}");
        }
        assert!(!is_of(&of("text/html"), "application/json") && !is_of(&HeaderMap::new(), "application/json"));
    }
}
