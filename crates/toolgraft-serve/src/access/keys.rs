//! The keys that clients send.

use axum::http::HeaderMap;
use toolgraft_protocol::GOOGLE_KEY;

/// The header in which clients of Azure's interface send theirs.
const AZURE_KEY: &str = "api-key";

/// Returns the key that a client sends, from any of the four headers.
pub(crate) fn client_key(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    let others = ["x-api-key", GOOGLE_KEY, AZURE_KEY].into_iter().filter_map(text);
    bearer.into_iter().chain(others).next().map(str::to_owned).filter(|key| !key.is_empty())
}
