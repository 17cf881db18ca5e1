//! Messages about a transport's errors.

use rmcp::transport::DynamicTransportError;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::sse::SseError;
use super::words::{of_request, of_status};
use crate::transport::scan::one_line;

/// Returns a message about a transport error for the user; `None` if it is not an HTTP error.
pub(crate) fn explain(error: &DynamicTransportError) -> Option<String> {
    of_http(error).map(http_error).or_else(|| error.error.downcast_ref::<SseError>().map(SseError::to_string))
}

/// Returns `true` if the connection could not be established.
pub(crate) fn is_unreachable(error: &DynamicTransportError) -> bool {
    matches!(of_http(error), Some(StreamableHttpError::Client(error)) if error.is_connect())
}

/// Returns `true` if the server refused because it wants an authorization.
pub(crate) fn wants_auth(error: &DynamicTransportError) -> bool {
    match of_http(error) {
        Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::Auth(AuthError::AuthorizationFailed(_))) => {
            true
        }
        Some(StreamableHttpError::HttpStatus(error)) => error.status == 401,
        Some(StreamableHttpError::Client(error)) => error.status().is_some_and(|status| status.as_u16() == 401),
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => text.starts_with("HTTP 401"),
        _ => error.error.downcast_ref::<SseError>().is_some_and(|error| error.needs_auth),
    }
}

fn of_http(error: &DynamicTransportError) -> Option<&StreamableHttpError<reqwest::Error>> {
    let first: &(dyn std::error::Error + 'static) = error.error.as_ref();
    std::iter::successors(Some(first), |error| error.source()).find_map(|error| error.downcast_ref())
}

fn http_error(error: &StreamableHttpError<reqwest::Error>) -> String {
    match error {
        StreamableHttpError::Client(error) => of_request(error),
        StreamableHttpError::Auth(AuthError::AuthorizationFailed(why) | AuthError::TokenRefreshFailed(why)) => {
            why.clone()
        }
        StreamableHttpError::AuthRequired(_) => of_status(401, ""),
        StreamableHttpError::InsufficientScope(_) => of_status(403, ""),
        StreamableHttpError::HttpStatus(error) => {
            let after = error.retry_after.as_deref().filter(|after| after.parse::<u32>().is_ok());
            of_status(error.status, "") + &after.map(|after| format!(" (it says in {after} s)")).unwrap_or_default()
        }
        StreamableHttpError::SessionExpired => "the server has forgotten the session: connect again".to_owned(),
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            format!("its answer has more than {} MiB and was dropped", max_size / 1024 / 1024)
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("could not parse") => {
            let body = text.split_once(": ").map_or(&**text, |(_, body)| body);
            format!("its answer is not MCP, or is truncated: {}: check the URL's path", one_line(body))
        }
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let parts = text.strip_prefix("HTTP ").and_then(|t| t.split_at_checked(3));
            let code = parts.and_then(|(code, rest)| Some((code.parse().ok()?, rest)));
            code.map_or_else(|| format!("unexpected answer: {}", one_line(text)), |(code, rest)| of_status(code, rest))
        }
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().unwrap_or("none");
            format!("the answer is not MCP (content type {}): check the URL's path", one_line(kind))
        }
        other => one_line(&other.to_string()),
    }
}
