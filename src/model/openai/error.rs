//! Errors of an endpoint, with remedies and without secrets.

use std::io::ErrorKind;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use crate::cause::Cause;
use crate::model::words::{line, message};

/// The error of a model client that cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ClientError {
    /// Description of the problem and the remedy, without secrets.
    pub message: String,
    /// The underlying error, if there is one; without secrets.
    pub source: Option<Cause>,
}

impl ClientError {
    /// Creates an error from its message and the underlying error. Neither must contain a secret.
    pub fn new(message: impl Into<String>, source: Option<Cause>) -> Self {
        ClientError { message: message.into(), source }
    }
}

/// Returns the error message for an endpoint that has sent nothing for this time.
pub(super) fn silence(idle: Duration) -> String {
    format!("no data arrived for {} seconds", idle.as_secs_f64())
}

/// Returns the text of the cause of a failed request. reqwest's own message is not used, since its URL may contain a
/// secret.
pub(super) fn cause(error: &reqwest::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => Cause::chain(source),
        None if error.is_timeout() => "timed out".to_owned(),
        None => "the request failed".to_owned(),
    }
}

/// Returns the cause of a failed request like [`cause`], but worded for users, without the names of libraries.
pub(super) fn plain(error: &reqwest::Error) -> String {
    let sources = || std::iter::successors(std::error::Error::source(error), |error| error.source());
    let kind = sources().find_map(|error| error.downcast_ref::<std::io::Error>().map(std::io::Error::kind));
    let words = cause(error);
    let says = |any: &[&str]| any.iter().any(|part| words.contains(part));
    match () {
        () if error.is_timeout() => "it took too long".to_owned(),
        () if error.is_connect() && kind == Some(ErrorKind::ConnectionRefused) => "nothing listens there".to_owned(),
        () if says(&["dns error", "failed to lookup"]) => "no such host is known".to_owned(),
        () if says(&["error reading a body", "before message", "connection reset", "unexpected EOF"]) => {
            "it was closed before the end: the server's own log may say why".to_owned()
        }
        // The outer errors only name the layers of the client.
        () => sources().last().map_or(words, |innermost| line(&innermost.to_string())),
    }
}

/// Returns the message in the body of a refusal: from its JSON, from the title of a web page, or its text.
pub(super) fn body_words(body: &str) -> String {
    if let Ok(json) = serde_json::from_str::<Value>(body.trim())
        && let Some(message) = message(&json)
    {
        return message;
    }
    if is_page(body) {
        return format!("a web page, {:?}", line(&title(body)));
    }
    line(body)
}

pub(super) fn is_page(body: &str) -> bool {
    body.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Returns the title of a web page, or its text without tags if it has none.
pub(super) fn title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let inside = lower.find("<title").and_then(|at| {
        let start = at + lower[at..].find('>')? + 1;
        Some(&page[start..start + lower[start..].find("</title")?])
    });
    if let Some(title) = inside.map(str::trim).filter(|t| !t.is_empty()) {
        return title.to_owned();
    }
    page.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// Returns a hint how to solve the problem that an HTTP status indicates; empty for most statuses.
pub(super) fn remedy(status: StatusCode, has_key: bool) -> &'static str {
    match status.as_u16() {
        401 if has_key => "check the API key (the command takes it from OPENAI_API_KEY)",
        401 => "set the API key (the command takes it from OPENAI_API_KEY)",
        403 => "check what the API key may do",
        402 => "check the account's balance",
        404 | 405 => "check the model's name, and that the base URL is right (most end in /v1)",
        413 => "the conversation is too long for the endpoint",
        300..=399 => "it redirects: write the final URL",
        429 => "wait, or ask for a higher limit",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_named_by_its_title_or_its_text() {
        assert_eq!(body_words("<html><TITLE>502 Bad\nGateway</TITLE>x"), r#"a web page, "502 Bad Gateway""#);
        assert_eq!(body_words("\u{feff} <p>Sign in</p>"), r#"a web page, "Sign in""#);
        assert_eq!(body_words(" upstream gone\n"), "upstream gone");
    }
}
