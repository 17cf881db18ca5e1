//! The access token of requests to one server: stored, refreshed, fetched, or missing with the reason.
//!
//! A user's login is in the store. A program without a user logs in by itself: the client credentials grant
//! (RFC 6749, section 4.4), in the form of the extension `io.modelcontextprotocol/oauth-client-credentials`. Its tokens
//! are not stored in a file: the entry is enough to get another at any time.

use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError, ClientCredentialsConfig, CredentialStore, OAuthClientConfig};
use tokio::sync::Mutex;

use super::discovery::discover;
use super::error::{LoginError, shown};
use super::login::{has_authorization, scopes};
use super::resource::Resource;
use super::store::{Logins, StoredLogin};
use super::token::{EARLY, REFRESH, other_audience, time_left, token};
use crate::config::{GrantType, OAuthConfig, ServerConfig, ServerTrust, TransportConfig};
use crate::failure::{Failure, FailureKind};

/// The source of the access token for requests to one server.
pub(crate) struct Access {
    server: String,
    source: AccessSource,
}

enum AccessSource {
    /// The server's entry sets an `Authorization` header, so no OAuth token is added to requests.
    Header,
    /// Requests have no OAuth token: no store of logins was set, the URL is neither https nor on this machine, or the
    /// server is a child process.
    None,
    Tokens(Box<Tokens>),
}

struct Tokens {
    resource: Resource,
    oauth: OAuthConfig,
    trust: ServerTrust,
    /// Store that contains the user's login; `None` if the program logs in by itself (client credentials).
    logins: Option<Logins>,
    held: Mutex<Option<StoredLogin>>,
}

impl Tokens {
    fn load(&self) -> Result<Option<StoredLogin>, Failure> {
        let Some(logins) = &self.logins else { return Ok(None) };
        logins.load(&self.resource).map_err(|e| Failure::from(e.to_string()))
    }
}

impl Access {
    pub(crate) fn of(server: &ServerConfig, logins: Option<&Logins>) -> Self {
        let source = match &server.transport {
            Ok(TransportConfig::Http { headers, .. }) if has_authorization(headers) => AccessSource::Header,
            Ok(TransportConfig::Http { url, oauth, .. }) => {
                let logins = logins.filter(|_| oauth.grant_type == GrantType::AuthorizationCode).cloned();
                let has_source = logins.is_some() || oauth.grant_type == GrantType::ClientCredentials;
                let tokens = |resource| {
                    let (oauth, trust, held) = (oauth.clone(), server.server_trust(), Mutex::new(None));
                    AccessSource::Tokens(Box::new(Tokens { resource, oauth, trust, logins, held }))
                };
                Resource::of(url).ok().filter(|_| has_source).map_or(AccessSource::None, tokens)
            }
            _ => AccessSource::None,
        };
        Access { server: server.name.clone(), source }
    }

    /// Returns `true` if a user can obtain a token for this server by logging in.
    pub(crate) fn takes_logins(&self) -> bool {
        matches!(&self.source, AccessSource::Tokens(tokens) if tokens.logins.is_some())
    }

    /// Returns the access token for the next request, renewed first if it expires within [`EARLY`]; `None` if there is
    /// none to add.
    pub(crate) async fn token(&self) -> Result<Option<String>, Failure> {
        let AccessSource::Tokens(tokens) = &self.source else { return Ok(None) };
        let mut held = tokens.held.lock().await;
        if held.is_none() {
            *held = tokens.load()?;
        }
        let left = held.as_ref().and_then(time_left);
        // A login without a refresh token cannot be renewed: its token is sent to its end, and then refused.
        // Without a login the request goes without a token, unless the program logs in by itself.
        let is_good = match &*held {
            Some(kept) => left.is_none_or(|left| left >= EARLY) || self.takes_logins() && refresh_token(kept).is_none(),
            None => self.takes_logins(),
        };
        if !is_good {
            match self.renewed(tokens, held.clone(), None).await {
                Ok(kept) => *held = Some(kept),
                // The authorization server cannot be reached now, and the token is still valid for some
                // seconds.
                Err(denied) if denied.kind == FailureKind::Other && left.is_some_and(|left| !left.is_zero()) => {}
                Err(denied) => return Err(denied),
            }
        }
        Ok(held.as_ref().and_then(token))
    }

    /// Returns another access token after the server answered 401 to the token `refused`: one that was stored in the
    /// meantime, or else a renewed one. `challenge` is the `WWW-Authenticate` header of that response.
    pub(crate) async fn refused(&self, refused: Option<&str>, challenge: Option<&str>) -> Result<String, Failure> {
        let tokens = match &self.source {
            AccessSource::Tokens(tokens) => tokens,
            AccessSource::Header => {
                return Err(Failure::needs_auth(
                    "HTTP 401: the server rejects the \"Authorization\" under \"headers\"".to_owned(),
                ));
            }
            AccessSource::None => return Err(self.wanted("authorization is required")),
        };
        let mut held = tokens.held.lock().await;
        if tokens.logins.is_some() {
            *held = tokens.load()?;
            if held.is_none() {
                return Err(self.wanted("a login is required"));
            }
        }
        // Another process or task may have logged in or renewed the token in the meantime.
        if let Some(newer) = held.as_ref().and_then(token).filter(|token| Some(token.as_str()) != refused) {
            return Ok(newer);
        }
        let kept = self.renewed(tokens, held.clone(), challenge).await.map_err(|denied| {
            // If no refresh token helps, a wrong audience is reported first: another login would not mend it.
            let other = || self.for_another(refused, "the server rejects the login");
            let is_refused = denied.kind == FailureKind::NeedsAuth && tokens.logins.is_some();
            is_refused.then(other).flatten().unwrap_or(denied)
        })?;
        let token = token(&kept).ok_or_else(|| self.wanted("the login has expired"))?;
        *held = Some(kept);
        Ok(token)
    }

    /// Returns the error for an access token that the server refuses for the reason `why`. If the token is a readable
    /// JWT for another audience, the error names that audience.
    pub(crate) fn refuses(&self, token: Option<&str>, why: &str) -> Failure {
        self.for_another(token, why).unwrap_or_else(|| self.wanted(why))
    }

    fn for_another(&self, token: Option<&str>, why: &str) -> Option<Failure> {
        let AccessSource::Tokens(tokens) = &self.source else { return None };
        let audience = other_audience(token?, &tokens.resource)?;
        Some(Failure::needs_auth(format!(
            "HTTP 401: {why}: its token is for another audience ({}), not for {}: set \"scopes\" under \"oauth\" in its \
             entry to those that its authorization server has for this server, or ask whoever runs it",
            shown(&audience),
            tokens.resource.as_str()
        )))
    }

    /// Returns the error for a missing or refused login: the reason `why`, and the remedy that fits the source of the
    /// access token.
    pub(crate) fn wanted(&self, why: &str) -> Failure {
        let remedy = match &self.source {
            AccessSource::Tokens(tokens) => match &tokens.logins {
                Some(logins) => logins.words(&self.server),
                None => "check \"clientId\" and \"scopes\" under \"oauth\"".to_owned(),
            },
            AccessSource::Header | AccessSource::None => {
                "set a token under \"headers\", e.g. \"Authorization\": \"Bearer ${TOKEN}\"".to_owned()
            }
        };
        Failure::needs_auth(format!("HTTP 401: {why}: {remedy}"))
    }

    /// Returns another access token after the server answered 403 because these scopes are missing, if another login
    /// has been stored since. Otherwise it returns an error, and adds the scopes to the stored login, so that the next
    /// login requests them.
    pub(crate) async fn insufficient(&self, refused: Option<&str>, scopes: Option<&str>) -> Result<String, Failure> {
        let named = scopes.map(|scopes| format!(" ({})", shown(scopes))).unwrap_or_default();
        let AccessSource::Tokens(tokens) = &self.source else {
            return Err(Failure::needs_auth(format!("HTTP 403: the token under \"headers\" lacks rights{named}")));
        };
        let Some(logins) = &tokens.logins else {
            let remedy = "add them to \"scopes\" under \"oauth\"";
            return Err(Failure::needs_auth(format!("HTTP 403: its token lacks rights{named}: {remedy}")));
        };
        let mut held = tokens.held.lock().await;
        if let Ok(Some(mut kept)) = tokens.load() {
            let newer = token(&kept).filter(|token| Some(token.as_str()) != refused);
            if newer.is_none() {
                let wanted = scopes.into_iter().flat_map(str::split_whitespace).map(str::to_owned);
                let known = kept.wanted.clone();
                kept.wanted.extend(wanted.filter(|scope| !known.contains(scope)));
                // If this cannot be stored, the next login asks for fewer scopes than it could.
                drop(logins.save(&kept));
            }
            *held = Some(kept);
            if let Some(newer) = newer {
                return Ok(newer);
            }
        }
        let words = logins.words(&self.server);
        Err(Failure::needs_auth(format!("HTTP 403: the login lacks rights that the server requires{named}: {words}")))
    }

    /// Renews the access token, of a user's login or of a program without a user, within the time limit [`REFRESH`];
    /// returns the login with the new token.
    async fn renewed(
        &self,
        tokens: &Tokens,
        kept: Option<StoredLogin>,
        challenge: Option<&str>,
    ) -> Result<StoredLogin, Failure> {
        let renewed = async {
            match (&tokens.logins, kept) {
                (Some(logins), Some(kept)) => self.refreshed((tokens, logins), kept, challenge).await,
                _ => given(tokens, challenge).await,
            }
        };
        let late = |_| Failure::from(format!("its token could not be renewed within {} s", REFRESH.as_secs()));
        tokio::time::timeout(REFRESH, renewed).await.map_err(late)?
    }

    /// Refreshes the access token of a user's login with its refresh token, and stores the login.
    async fn refreshed(
        &self,
        (tokens, logins): (&Tokens, &Logins),
        kept: StoredLogin,
        challenge: Option<&str>,
    ) -> Result<StoredLogin, Failure> {
        let later = |error: LoginError| Failure::from(format!("its token could not be refreshed: {error}"));
        let _lock = logins.lock(&tokens.resource).await.map_err(later)?;
        let mut kept = match logins.load(&tokens.resource).map_err(later)? {
            // Another process has refreshed the token already.
            Some(now) if token(&now) != token(&kept) => return Ok(now),
            Some(now) => now,
            None => return Err(self.wanted("a login is required")),
        };
        if refresh_token(&kept).is_none() {
            return Err(self.wanted("the login has expired"));
        }
        let mut found = discover(&tokens.resource, challenge, (&tokens.oauth, &tokens.trust)).await.map_err(later)?;
        if found.metadata.issuer != kept.issuer {
            return Err(self.wanted("the server now uses another authorization server"));
        }
        let mut client = OAuthClientConfig::new(&kept.credentials.client_id, &kept.redirect_uri);
        client.client_secret = kept.secret(&tokens.oauth);
        let refreshed = async {
            found.manager.configure_client(client)?;
            found.given.save(kept.credentials.clone()).await?;
            found.manager.refresh_token().await?;
            found.given.load().await
        };
        match refreshed.await {
            Ok(credentials) => kept.credentials = credentials.unwrap_or(kept.credentials),
            Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => {
                return Err(self.wanted("the login has expired"));
            }
            Err(error) => return Err(later(error.into())),
        }
        // The token is valid for this process even if it cannot be stored.
        drop(logins.save(&kept));
        Ok(kept)
    }
}

/// Fetches an access token with the client credentials grant, for a program without a user.
async fn given(tokens: &Tokens, challenge: Option<&str>) -> Result<StoredLogin, Failure> {
    // A failed discovery may succeed later; a refusal of the authorization server is final.
    let later = |error: LoginError| Failure::from(format!("no token can be fetched: {error}"));
    let mut found = discover(&tokens.resource, challenge, (&tokens.oauth, &tokens.trust)).await.map_err(later)?;
    let (id, secret) = tokens.oauth.client_id.clone().zip(tokens.oauth.client_secret.clone()).unwrap_or_default();
    let config = ClientCredentialsConfig::ClientSecret {
        client_id: id,
        client_secret: secret,
        scopes: scopes(&found.manager, &tokens.oauth, None).await,
        resource: Some(tokens.resource.as_str().to_owned()),
    };
    let given = async {
        found.manager.validate_client_credentials_metadata(&config)?;
        found.manager.configure_client_credentials(&config)?;
        found.manager.exchange_client_credentials(&config).await?;
        found.given.load().await
    };
    let given = given.await.map_err(|error| {
        let head = "the authorization server gives no token for \"clientId\" and \"clientSecret\" under \"oauth\"";
        Failure::needs_auth(format!("{head}: {}", LoginError::from(error)))
    })?;
    let given = given.ok_or_else(|| Failure::needs_auth("no token was received".to_owned()))?;
    Ok(StoredLogin::new(&tokens.resource, found.metadata.issuer, given))
}

fn refresh_token(kept: &StoredLogin) -> Option<&str> {
    Some(kept.credentials.token_response.as_ref()?.refresh_token()?.secret())
}
