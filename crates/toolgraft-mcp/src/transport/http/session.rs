//! Recognises refusals because a server no longer knows the session.
//!
//! The specification prescribes 404, the only one that rmcp knows. Servers that were restarted also answer 400, 401 or 410, or a
//! JSON-RPC error with any status (-32000, -32001, -32600), with various messages.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use reqwest::StatusCode;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};

use crate::transport::message::messages;

/// Phrases, separated by `|`, that occur together with "session" in a message if the session is lost.
const LOST: &str = "not found|not find|no valid|not valid|invalid|unknown|unrecognized|expired|not exist|n't exist|\
    no longer|missing|required|terminated|closed|initialized|no such|lost|no active|not active|no session|no transport";

/// All words that occur in JSON-RPC errors about the session of the protocol. An error with another word may be about a
/// tool's own session, such as "Browser session not found".
const PROTOCOL: &str = "a active already an and any bad been before by cannot client closed complete connection could \
    current does doesn't error exist exists expired find first for found given has have header http id in \
    initialization initialize initialized invalid is it longer lost mcp missing must no not or please provided received \
    request required send server session sessionid sessions such terminated the this transport unauthorized \
    uninitialized unknown unrecognized valid was with yet your";

/// Returns `true` if the body of a response with this error status says that the session is lost.
pub(super) fn is_refused(status: StatusCode, text: &str) -> bool {
    match status {
        // These are about rights and load, whatever their text says of sessions.
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => false,
        // A request that was refused with a client error did not run, so a loose check is enough.
        status if status.is_client_error() => says_so(&text.to_lowercase()),
        _ => {
            is_lost(text)
                || messages(text)
                    .any(|message| matches!(message, JsonRpcMessage::Error(error) if is_error(&error.error)))
        }
    }
}

/// Returns `true` if a JSON-RPC error says that the session is lost. Errors with the codes for wrong arguments and for
/// failures inside a tool do not count.
pub(super) fn is_error(error: &ErrorData) -> bool {
    matches!(error.code.0, -32600 | -32099..=-32000) && is_lost(&error.message)
}

/// Returns `true` if an error message says that the session is lost, and has no word about anything else.
pub(super) fn is_lost(message: &str) -> bool {
    let message = message.to_lowercase();
    // A session id follows a colon, is quoted, or contains digits.
    let about = match message.rsplit_once(": ") {
        Some((about, id)) if !id.contains(' ') => about,
        _ => &message,
    };
    let words = about.split([' ', ':', ',', '.', ';', '-', '(', ')', '/', '!']).filter(|word| !word.is_empty());
    let is_id = |word: &str| word.contains(|c: char| c.is_ascii_digit()) || word.starts_with(['"', '\'', '`']);
    let is_known = |word: &str| PROTOCOL.split_ascii_whitespace().any(|known| known == word);
    words.into_iter().all(|word| is_id(word) || is_known(word)) && says_so(&message)
}

fn says_so(text: &str) -> bool {
    let has_any = |words: &str| words.split('|').any(|words| text.contains(words));
    // Servers also report a lost session as a missing `initialize`: "server not initialized".
    text.contains("initializ") && has_any("not |n't |before|uninit|must|first")
        || text.contains("session") && has_any(LOST)
}

/// The record of requests that found the session lost: each may renew the session once, and none before there was a
/// session.
#[derive(Debug, Default)]
pub(super) struct Renewals(Mutex<(bool, HashSet<RequestId>)>);

impl Renewals {
    /// Returns `true` if a request that finds the session lost may be sent again in a new one.
    pub(super) fn may_renew(&self, id: &RequestId) -> bool {
        self.state(|(begun, renewed)| *begun && !renewed.contains(id))
    }

    /// Records whether the request `id` found the session lost, and whether it has begun a session.
    pub(super) fn note(&self, id: RequestId, is_lost: bool, has_begun: bool) {
        self.state(|(begun, renewed)| {
            *begun |= has_begun;
            if is_lost { renewed.insert(id) } else { renewed.remove(&id) }
        });
    }

    fn state<T>(&self, act: impl FnOnce(&mut (bool, HashSet<RequestId>)) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    #[test]
    fn a_lost_session_is_known_by_what_the_server_says() {
        for message in [
            "Bad Request: No valid session ID provided",
            "Session not found",
            "Session not found: 8f14e45f-ceea-4c7b-9f1e",
            "Session 'abc' has expired",
            "Session not found: abcdef",
            "Unauthorized: Session not found",
            "Invalid session ID",
            "Unknown session id",
            "The session has been terminated",
            "session does not exist",
            "Could not find session",
            "Bad Request: Mcp-Session-Id header is required",
            "Missing sessionId",
            "Server not initialized",
            "Bad Request: Server not initialized",
            "Received request before initialization was complete",
            "Session not initialized, please send initialize first",
            "No active session",
        ] {
            assert!(is_lost(message), "{message}");
            assert!(is_refused(StatusCode::BAD_REQUEST, &format!("{{\"error\":\"{message}\"}}")), "{message}");
        }
        for message in [
            "Browser session not found",
            "Your session has expired: log in again",
            "Database not initialized",
            "Invalid request",
            "missing parameter",
            "Method not found",
            "session started",
        ] {
            assert!(!is_lost(message), "{message}");
        }
        let error = |code| is_error(&ErrorData::new(ErrorCode(code), "Session not found", None));
        assert_eq!([-32000, -32001, -32600, -32602, -32603, 1].map(error), [true, true, true, false, false, false]);
        let bad = |text| is_refused(StatusCode::BAD_REQUEST, text);
        assert!(bad("no transport found for sessionId abc") && bad("<h1>Session ID is gone: unknown to worker</h1>"));
        assert!(!bad("what is that?") && !bad("Invalid JSON"));
        assert!(!is_refused(StatusCode::FORBIDDEN, "Session not found"));
        assert!(!is_refused(StatusCode::INTERNAL_SERVER_ERROR, "browser session not found"));
        assert!(is_refused(StatusCode::INTERNAL_SERVER_ERROR, "Session not found"));
        let failed = |message: &str| {
            let body = format!(r#"{{"jsonrpc":"2.0","error":{{"code":-32000,"message":"{message}"}},"id":null}}"#);
            is_refused(StatusCode::INTERNAL_SERVER_ERROR, &body)
        };
        assert!(failed("Session not found") && !failed("Browser session not found"));
    }

    #[test]
    fn a_request_renews_a_session_once() {
        let (renewals, id) = (Renewals::default(), RequestId::Number(7));
        assert!(!renewals.may_renew(&id), "none has begun");
        renewals.note(RequestId::Number(0), false, true);
        assert!(renewals.may_renew(&id));
        renewals.note(id.clone(), true, false);
        assert!(!renewals.may_renew(&id) && renewals.may_renew(&RequestId::Number(8)));
        renewals.note(id.clone(), false, false);
        assert!(renewals.may_renew(&id));
    }
}
