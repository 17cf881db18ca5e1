//! Access tokens: their text, their remaining lifetime, and their audience as far as it can be read.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use oauth2::TokenResponse;
use serde_json::Value;

use super::resource::Resource;
use super::store::StoredLogin;

/// Minimum remaining lifetime of an access token; one with less is refreshed before it is used.
pub(super) const EARLY: Duration = Duration::from_secs(30);

/// Time limit for renewing an access token, including discovery of the authorization server.
pub(super) const REFRESH: Duration = Duration::from_secs(60);

/// Returns the access token of a login; `None` if it has no tokens.
pub(super) fn token(kept: &StoredLogin) -> Option<String> {
    Some(kept.credentials.token_response.as_ref()?.access_token().secret().clone())
}

/// Returns the remaining lifetime of a login's access token, zero if it has expired; `None` if the authorization server
/// named no lifetime.
pub(super) fn time_left(kept: &StoredLogin) -> Option<Duration> {
    let lasts = kept.credentials.token_response.as_ref()?.expires_in()?;
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(kept.credentials.token_received_at?) + lasts;
    Some(end.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Returns the audience (`aud`) of an access token that is a JWT; `None` if it includes the resource or cannot be read.
/// Nothing is verified: the audience only explains why a server has refused the token.
pub(super) fn other_audience(token: &str, resource: &Resource) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let named: Vec<&str> = match claims.get("aud")? {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    // The audience of a server may be its origin alone.
    let is_it = |audience: &&str| !audience.is_empty() && resource.as_str().starts_with(audience.trim_end_matches('/'));
    (!named.is_empty() && !named.iter().any(is_it)).then(|| named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_for_another_audience_is_told_from_one_that_says_nothing() {
        let resource = Resource::of("https://host.example/mcp").unwrap();
        let other = |claims: &str| {
            let token = format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims));
            other_audience(&token, &resource)
        };
        assert_eq!(other(r#"{"aud":"api://x"}"#).as_deref(), Some("api://x"));
        assert_eq!(other(r#"{"aud":["api://x","https://b.example"]}"#).as_deref(), Some("api://x, https://b.example"));
        for same in
            [r#"{"aud":["api://x","https://host.example/"]}"#, r#"{"aud":"https://host.example/mcp"}"#, "{}", "no"]
        {
            assert_eq!(other(same), None, "{same}");
        }
        assert_eq!(other_audience("opaque", &resource), None);
    }
}
