//! What is asked of every token: what it is, how long it holds, why there is none.

use std::time::{Duration, SystemTime};

use oauth2::TokenResponse;
use rmcp::transport::auth::StoredCredentials;

/// A token with less time left is refreshed first.
pub(super) const EARLY: Duration = Duration::from_secs(30);

/// Limit of a refresh with all that is asked before it.
pub(super) const REFRESH: Duration = Duration::from_secs(60);

/// Why a request has no token.
#[derive(Debug)]
pub(crate) enum Denied {
    /// A person has to log in.
    Login(String),
    /// The token could not be refreshed, which may work later.
    Later(String),
}

/// The token itself.
pub(super) fn token(credentials: &StoredCredentials) -> Option<String> {
    Some(credentials.token_response.as_ref()?.access_token().secret().clone())
}

/// The time that the token is good for; `None` where nobody said.
pub(super) fn time_left(credentials: &StoredCredentials) -> Option<Duration> {
    let lasts = credentials.token_response.as_ref()?.expires_in()?;
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(credentials.token_received_at?) + lasts;
    Some(end.duration_since(SystemTime::now()).unwrap_or_default())
}
