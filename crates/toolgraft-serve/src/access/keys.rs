//! The keys that clients send.

use axum::http::HeaderMap;
use toolgraft_protocol::GOOGLE_KEY;

/// HTTP header in which clients of Azure's API send their API key.
const AZURE_KEY: &str = "api-key";

/// Returns the API key that a client sends: a bearer token, or one of the headers `x-api-key`, `x-goog-api-key` and
/// `api-key`.
pub(crate) fn client_key(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    let others = ["x-api-key", GOOGLE_KEY, AZURE_KEY].into_iter().filter_map(text);
    bearer.into_iter().chain(others).next().map(str::to_owned).filter(|key| !key.is_empty())
}
