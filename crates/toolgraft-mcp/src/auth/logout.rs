//! Logout of a user: the tokens are revoked at the authorization server (RFC 7009) and removed here.

use std::time::Duration;

use oauth2::TokenResponse;
use reqwest::Url;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use tokio::time::timeout;

use super::discovery::{discover, may_lead_to};
use super::error::{LoginError, shown};
use super::resource::Resource;
use super::store::{Logins, StoredLogin};
use crate::config::{OAuthConfig, ServerConfig, ServerTrust, TransportConfig};
use toolgraft::Cause;

/// Time limit of all requests that revoke tokens; after it they are only removed from the store.
const PATIENCE: Duration = Duration::from_secs(30);

/// The result of a logout from a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggedOut {
    /// No login at the server was stored.
    Nobody,
    /// The authorization server has revoked the tokens, and they are removed from the store.
    Revoked,
    /// The tokens are only removed from the store; the text is the reason that they could not be revoked.
    Removed(String),
}

impl Logins {
    /// Revokes the tokens of a server at its authorization server, if that has a revocation endpoint at the origin of
    /// its token endpoint, and removes them from the store in any case.
    ///
    /// # Errors
    /// The server is not reached over HTTP, or a file cannot be removed.
    pub async fn log_out(&self, server: &ServerConfig) -> Result<LoggedOut, LoginError> {
        let Ok(TransportConfig::Http { url, oauth, .. }) = &server.transport else {
            return Err(LoginError::NotForLogins("a server over stdio has no login".to_owned()));
        };
        let resource = Resource::of(url)?;
        let Some(kept) = self.load(&resource)? else { return Ok(LoggedOut::Nobody) };
        let revoked = timeout(PATIENCE, revoke(&resource, &kept, (oauth, &server.server_trust()))).await;
        self.remove(url)?;
        Ok(match revoked {
            Ok(Ok(())) => LoggedOut::Revoked,
            Ok(Err(why)) => LoggedOut::Removed(why.to_string()),
            Err(_) => LoggedOut::Removed(format!("no answer came within {} s", PATIENCE.as_secs())),
        })
    }
}

/// Revokes the refresh token and the access token of a login. The issuer must be the one that issued them, and the
/// revocation endpoint must have the origin of the token endpoint: nobody else may see a token.
async fn revoke(
    resource: &Resource,
    kept: &StoredLogin,
    (oauth, trust): (&OAuthConfig, &ServerTrust),
) -> Result<(), LoginError> {
    let failed = |why: String| LoginError::Failed(shown(&why));
    let found = discover(resource, None, (oauth, trust)).await?;
    if found.metadata.issuer != kept.issuer {
        return Err(LoginError::Untrusted("its authorization server is another one now".to_owned()));
    }
    // An endpoint at another origin than the token endpoint is ignored, because its address was never checked.
    let url = |place: &str| Url::parse(place).ok();
    let place = found.metadata.additional_fields.get("revocation_endpoint").and_then(|place| url(place.as_str()?));
    let token_endpoint = url(&found.metadata.token_endpoint);
    let is_beside = |place: &Url| token_endpoint.is_some_and(|endpoint| endpoint.origin() == place.origin());
    let Some(place) = place.filter(is_beside) else {
        return Err(LoginError::Untrusted("its authorization server does not revoke tokens".to_owned()));
    };
    may_lead_to(place.as_str(), resource)?;
    let Some(tokens) = &kept.credentials.token_response else { return Ok(()) };
    // The refresh token first, since it could bring new access tokens.
    let refresh = tokens.refresh_token().map(|token| (token.secret(), "refresh_token"));
    let client = trust.client_builder(place.as_str()).map_err(failed)?.redirect(Policy::none()).build();
    let client = client.map_err(|e| failed(Cause::chain(&e)))?;
    for (token, hint) in refresh.into_iter().chain([(tokens.access_token().secret(), "access_token")]) {
        let id = kept.credentials.client_id.as_str();
        let request = client.post(place.clone());
        let mut form = vec![("token", token.as_str()), ("token_type_hint", hint)];
        let request = match &kept.secret(oauth) {
            Some(secret) => request.basic_auth(encoded(&[(id, "")]), Some(encoded(&[(secret, "")]))),
            None => {
                form.push(("client_id", id));
                request
            }
        };
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(encoded(&form));
        let response = request.send().await.map_err(|e| failed(Cause::chain(&e.without_url())))?;
        if !response.status().is_success() {
            return Err(failed(format!("its authorization server answered HTTP {}", response.status().as_u16())));
        }
    }
    Ok(())
}

/// Encodes names and values as a form; a name without a value is encoded alone, as HTTP Basic authentication
/// of a client needs it (RFC 6749, section 2.3.1).
fn encoded(pairs: &[(&str, &str)]) -> String {
    let Ok(mut url) = Url::parse("http://h/") else { return String::new() };
    for (name, value) in pairs {
        match value.is_empty() {
            true => url.query_pairs_mut().append_key_only(name),
            false => url.query_pairs_mut().append_pair(name, value),
        };
    }
    url.query().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_written_as_a_form_writes_them() {
        assert_eq!(encoded(&[("a b:c", "")]), "a+b%3Ac");
        assert_eq!(encoded(&[("token", "x&y"), ("client_id", "c")]), "token=x%26y&client_id=c");
    }
}
