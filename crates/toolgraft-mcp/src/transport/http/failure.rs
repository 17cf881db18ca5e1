//! Failures of the transports over HTTP, as messages for the user.

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::words::{of_request, of_status};
use crate::failure::{Failure, FailureKind};
use crate::transport::scan::one_line;

impl Failure {
    /// Returns the failure of a request with this HTTP status in the response; `rest` is the status phrase and the
    /// body.
    pub(super) fn of_status(code: u16, rest: &str) -> Self {
        let kind = if code == 401 { FailureKind::NeedsAuth } else { FailureKind::Other };
        Failure { message: of_status(code, rest), kind }
    }

    /// Returns the failure that a transport of rmcp has reported; `None` if it is not a failure of HTTP.
    pub(crate) fn of(error: &DynamicTransportError) -> Option<Self> {
        let first: &(dyn std::error::Error + 'static) = error.error.as_ref();
        std::iter::successors(Some(first), |error| error.source()).find_map(|error| {
            Some(match error.downcast_ref::<StreamableHttpError<Failure>>() {
                Some(StreamableHttpError::Client(error)) => error.clone(),
                Some(StreamableHttpError::SessionExpired) => Failure::session_lost(),
                Some(other) => one_line(&other.to_string()).into(),
                None => error.downcast_ref::<Failure>()?.clone(),
            })
        })
    }
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        let kind = match error.status() {
            Some(status) if status == 401 => FailureKind::NeedsAuth,
            None if error.is_connect() => FailureKind::Unreachable,
            _ => FailureKind::Other,
        };
        Failure { message: of_request(&error), kind }
    }
}

/// Converts a failure into the error of rmcp that makes it start a new session, or go on without a stream, where that
/// helps.
impl From<Failure> for StreamableHttpError<Failure> {
    fn from(error: Failure) -> Self {
        match error.kind {
            FailureKind::SessionLost => StreamableHttpError::SessionExpired,
            FailureKind::NoStream => StreamableHttpError::ServerDoesNotSupportSse,
            _ => StreamableHttpError::Client(error),
        }
    }
}
