//! Access tokens: their text, their remaining lifetime, and the reason for a missing one.

use std::time::{Duration, SystemTime};

use oauth2::TokenResponse;
use rmcp::transport::auth::StoredCredentials;

/// A token with a shorter remaining lifetime is refreshed before it is used.
pub(super) const EARLY: Duration = Duration::from_secs(30);

/// Time limit of a refresh, including discovery.
pub(super) const REFRESH: Duration = Duration::from_secs(60);

/// The reason that a request has no token. The text is the message for the user.
#[derive(Debug)]
pub(crate) enum TokenError {
    /// A user has to log in or to change the configuration.
    Login(String),
    /// The token could not be refreshed now; a later attempt may succeed.
    Later(String),
}

/// Returns the access token of these credentials.
pub(super) fn token(credentials: &StoredCredentials) -> Option<String> {
    Some(credentials.token_response.as_ref()?.access_token().secret().clone())
}

/// Returns the remaining lifetime of the token, zero if it has expired; `None` if the server named
/// no lifetime.
pub(super) fn time_left(credentials: &StoredCredentials) -> Option<Duration> {
    let lasts = credentials.token_response.as_ref()?.expires_in()?;
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(credentials.token_received_at?) + lasts;
    Some(end.duration_since(SystemTime::now()).unwrap_or_default())
}
