//! Failures of the transports over HTTP, as messages for the user.

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::words::{of_request, of_status};
use crate::auth::TokenError;
use crate::transport::scan::one_line;

/// A failure of a request over HTTP. The text is the message for the user.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct HttpError {
    pub(crate) message: String,
    pub(crate) kind: FailureKind,
}

/// The cause of a failure, as far as something else follows from it than its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The server wants an authorization.
    NeedsAuth,
    /// The connection could not be established.
    Unreachable,
    /// The server has forgotten the session.
    SessionLost,
    /// The server has no stream for its own messages.
    NoStream,
    Other,
}

impl HttpError {
    /// Returns the failure of a request that was answered with this status; `rest` is its phrase and the body.
    pub(super) fn of_status(code: u16, rest: &str) -> Self {
        let kind = if code == 401 { FailureKind::NeedsAuth } else { FailureKind::Other };
        HttpError { message: of_status(code, rest), kind }
    }

    pub(super) fn session_lost() -> Self {
        let message = "the server has forgotten the session: connect again".to_owned();
        HttpError { message, kind: FailureKind::SessionLost }
    }

    /// Returns the failure that a transport of rmcp has reported; `None` if it is not one of HTTP.
    pub(crate) fn of(error: &DynamicTransportError) -> Option<Self> {
        let first: &(dyn std::error::Error + 'static) = error.error.as_ref();
        std::iter::successors(Some(first), |error| error.source()).find_map(|error| {
            Some(match error.downcast_ref::<StreamableHttpError<HttpError>>() {
                Some(StreamableHttpError::Client(error)) => error.clone(),
                Some(StreamableHttpError::SessionExpired) => HttpError::session_lost(),
                Some(other) => one_line(&other.to_string()).into(),
                None => error.downcast_ref::<HttpError>()?.clone(),
            })
        })
    }
}

impl From<String> for HttpError {
    fn from(message: String) -> Self {
        HttpError { message, kind: FailureKind::Other }
    }
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        let kind = match error.status() {
            Some(status) if status == 401 => FailureKind::NeedsAuth,
            None if error.is_connect() => FailureKind::Unreachable,
            _ => FailureKind::Other,
        };
        HttpError { message: of_request(&error), kind }
    }
}

impl From<TokenError> for HttpError {
    fn from(denied: TokenError) -> Self {
        match denied {
            TokenError::Login(message) => HttpError { message, kind: FailureKind::NeedsAuth },
            TokenError::Later(message) => message.into(),
        }
    }
}

/// Converts a failure into the form on which rmcp acts.
impl From<HttpError> for StreamableHttpError<HttpError> {
    fn from(error: HttpError) -> Self {
        match error.kind {
            FailureKind::SessionLost => StreamableHttpError::SessionExpired,
            FailureKind::NoStream => StreamableHttpError::ServerDoesNotSupportSse,
            _ => StreamableHttpError::Client(error),
        }
    }
}
