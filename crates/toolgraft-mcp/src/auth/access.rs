//! The access token of requests to one server: loaded, refreshed, or missing with the reason.

use oauth2::TokenResponse;
use rmcp::transport::auth::{
    AuthError, CredentialStore, InMemoryCredentialStore, OAuthClientConfig, StoredCredentials,
};
use tokio::sync::Mutex;

use super::audience::other_audience;
use super::discovery::discover;
use super::error::{LoginError, shown};
use super::login::has_authorization;
use super::machine::MachineAccess;
use super::resource::Resource;
use super::store::{Logins, StoredLogin};
use super::token::{EARLY, REFRESH, TokenError, time_left, token};
use crate::config::{GrantType, ServerConfig, ServerTrust, TransportConfig};

/// The source of the access token for requests to one server.
pub(crate) struct Access {
    server: String,
    way: AccessSource,
}

enum AccessSource {
    /// The entry sets its own `Authorization` header, so no token is added.
    Header,
    /// There is no token: no store of logins was given, or a token may not be sent to this URL.
    None,
    Login(Box<LoginAccess>),
    /// The program has credentials of its own (client credentials grant).
    Machine(Box<MachineAccess>),
}

struct LoginAccess {
    logins: Logins,
    resource: Resource,
    /// The id and the secret of the client that the entry names, where it names both.
    client: Option<(String, String)>,
    trust: ServerTrust,
    held: Mutex<Option<StoredLogin>>,
}

impl Access {
    pub(crate) fn of(server: &ServerConfig, logins: Option<&Logins>) -> Self {
        let way = match (&server.transport, logins) {
            (Ok(TransportConfig::Http { headers, .. }), _) if has_authorization(headers) => AccessSource::Header,
            (Ok(TransportConfig::Http { url, oauth, .. }), _) if oauth.grant_type == GrantType::ClientCredentials => {
                MachineAccess::of(url, oauth, server.server_trust())
                    .map_or(AccessSource::None, |way| AccessSource::Machine(Box::new(way)))
            }
            (Ok(TransportConfig::Http { url, oauth, .. }), Some(logins)) => {
                Resource::of(url).map_or(AccessSource::None, |resource| {
                    let client = oauth.client_id.clone().zip(oauth.client_secret.clone());
                    let (logins, trust) = (logins.clone(), server.server_trust());
                    AccessSource::Login(Box::new(LoginAccess {
                        logins,
                        resource,
                        client,
                        trust,
                        held: Mutex::new(None),
                    }))
                })
            }
            _ => AccessSource::None,
        };
        Access { server: server.name.clone(), way }
    }

    /// Returns `true` if a user can obtain a token by logging in.
    pub(crate) fn takes_logins(&self) -> bool {
        matches!(self.way, AccessSource::Login(_))
    }

    /// Returns the token to send, refreshed first if it is about to expire; `None` if no login is stored.
    pub(crate) async fn token(&self) -> Result<Option<String>, TokenError> {
        let way = match &self.way {
            AccessSource::Login(way) => way,
            AccessSource::Machine(way) => return way.token(None, None).await.map(Some),
            AccessSource::Header | AccessSource::None => return Ok(None),
        };
        let mut held = way.held.lock().await;
        if held.is_none() {
            *held = way.logins.load(&way.resource).map_err(|e| TokenError::Later(e.to_string()))?;
        }
        let Some(kept) = held.as_ref() else { return Ok(None) };
        let left = time_left(&kept.credentials);
        if left.is_none_or(|left| left >= EARLY) || refresh_token(&kept.credentials).is_none() {
            return Ok(token(&kept.credentials));
        }
        match self.refreshed(way, kept.clone(), None).await {
            Ok(kept) => {
                let token = token(&kept.credentials);
                *held = Some(kept);
                Ok(token)
            }
            Err(TokenError::Later(_)) if left.is_some_and(|left| !left.is_zero()) => Ok(token(&kept.credentials)),
            Err(denied) => Err(denied),
        }
    }

    /// Returns another token after the server answered 401 to this one. `challenge` is the `WWW-Authenticate`
    /// header of that answer.
    pub(crate) async fn refused(&self, refused: Option<&str>, challenge: Option<&str>) -> Result<String, TokenError> {
        let way = match &self.way {
            AccessSource::Login(way) => way,
            AccessSource::Machine(way) => return way.token(refused, challenge).await,
            AccessSource::Header => {
                return Err(TokenError::Login(
                    "HTTP 401: the server rejects the \"Authorization\" under \"headers\"".to_owned(),
                ));
            }
            AccessSource::None => return Err(self.wanted("authorization is required")),
        };
        let mut held = way.held.lock().await;
        let kept = way.logins.load(&way.resource).map_err(|e| TokenError::Later(e.to_string()))?;
        let Some(kept) = kept else {
            *held = None;
            return Err(self.wanted("a login is required"));
        };
        // Another process may have logged in or refreshed the token in the meantime.
        let newer = token(&kept.credentials).filter(|token| Some(token.as_str()) != refused);
        if let Some(newer) = newer {
            *held = Some(kept);
            return Ok(newer);
        }
        // If no refresh token helps, a wrong audience is reported first: another login would not mend it.
        let refreshed = self.refreshed(way, kept, challenge).await;
        let kept = refreshed.map_err(|denied| match denied {
            TokenError::Login(_) if is_for_another(way, refused) => {
                self.refuses(refused, "the server rejects the login")
            }
            denied => denied,
        })?;
        let token = token(&kept.credentials).ok_or_else(|| self.wanted("the login has expired"))?;
        *held = Some(kept);
        Ok(token)
    }

    /// Returns the error for a refused token. If the token is readable and made for another audience, that is
    /// the cause given; otherwise `why` is.
    pub(crate) fn refuses(&self, token: Option<&str>, why: &str) -> TokenError {
        let resource = match &self.way {
            AccessSource::Login(way) => &way.resource,
            AccessSource::Machine(way) => way.resource(),
            AccessSource::Header | AccessSource::None => return self.wanted(why),
        };
        let Some(audience) = token.and_then(|token| other_audience(token, resource)) else { return self.wanted(why) };
        TokenError::Login(format!(
            "HTTP 401: {why}: its token is for another audience ({}), not for {}: set \"scopes\" under \"oauth\" in its \
             entry to those that its authorization server has for this server, or ask whoever runs it",
            shown(&audience),
            resource.as_str()
        ))
    }

    /// Returns the error for a missing or refused login: the reason `why`, and the remedy that fits the
    /// source of the token.
    pub(crate) fn wanted(&self, why: &str) -> TokenError {
        TokenError::Login(match &self.way {
            AccessSource::Login(way) => format!("HTTP 401: {why}: {}", way.logins.words(&self.server)),
            AccessSource::Machine(_) => format!("HTTP 401: {why}: check \"clientId\" and \"scopes\" under \"oauth\""),
            AccessSource::Header | AccessSource::None => {
                format!("HTTP 401: {why}: set a token under \"headers\", e.g. \"Authorization\": \"Bearer ${{TOKEN}}\"")
            }
        })
    }

    /// Returns another token after the server answered 403 because these scopes are missing, if somebody has
    /// logged in since. Otherwise the scopes are stored, so that the next login asks for them.
    pub(crate) async fn insufficient(&self, refused: Option<&str>, scopes: Option<&str>) -> Result<String, TokenError> {
        let named = scopes.map(|scopes| format!(" ({})", shown(scopes))).unwrap_or_default();
        let way = match &self.way {
            AccessSource::Login(way) => way,
            AccessSource::Machine(_) => {
                let remedy = "add them to \"scopes\" under \"oauth\"";
                return Err(TokenError::Login(format!("HTTP 403: its token lacks rights{named}: {remedy}")));
            }
            AccessSource::Header | AccessSource::None => {
                return Err(TokenError::Login(format!("HTTP 403: the token under \"headers\" lacks rights{named}")));
            }
        };
        let mut held = way.held.lock().await;
        if let Ok(Some(mut kept)) = way.logins.load(&way.resource) {
            let newer = token(&kept.credentials).filter(|token| Some(token.as_str()) != refused);
            if newer.is_none() {
                let wanted = scopes.into_iter().flat_map(str::split_whitespace).map(str::to_owned);
                let known = kept.wanted.clone();
                kept.wanted.extend(wanted.filter(|scope| !known.contains(scope)));
                // If this cannot be stored, the next login asks for fewer scopes than it could.
                drop(way.logins.save(&kept));
            }
            *held = Some(kept);
            if let Some(newer) = newer {
                return Ok(newer);
            }
        }
        let words = way.logins.words(&self.server);
        Err(TokenError::Login(format!("HTTP 403: the login lacks rights that the server requires{named}: {words}")))
    }

    /// Refreshes the login within [`REFRESH`], stores it, and returns it.
    async fn refreshed(
        &self,
        way: &LoginAccess,
        kept: StoredLogin,
        challenge: Option<&str>,
    ) -> Result<StoredLogin, TokenError> {
        let refreshed = tokio::time::timeout(REFRESH, self.refresh(way, kept, challenge)).await;
        let late = |_| TokenError::Later(format!("its token could not be refreshed within {} s", REFRESH.as_secs()));
        refreshed.map_err(late)?
    }

    async fn refresh(
        &self,
        way: &LoginAccess,
        kept: StoredLogin,
        challenge: Option<&str>,
    ) -> Result<StoredLogin, TokenError> {
        let later = |error: LoginError| TokenError::Later(format!("its token could not be refreshed: {error}"));
        let _lock = way.logins.lock(&way.resource).await.map_err(later)?;
        let now = way.logins.load(&way.resource).map_err(later)?;
        let mut kept = match now {
            // Another process has refreshed the token already.
            Some(now) if token(&now.credentials) != token(&kept.credentials) => return Ok(now),
            Some(now) => now,
            None => return Err(self.wanted("a login is required")),
        };
        if refresh_token(&kept.credentials).is_none() {
            return Err(self.wanted("the login has expired"));
        }
        let by = (GrantType::AuthorizationCode, &way.trust);
        let mut found = discover(&way.resource, challenge, by).await.map_err(later)?;
        if found.issuer != kept.issuer {
            return Err(self.wanted("the server now uses another authorization server"));
        }
        let mut client = OAuthClientConfig::new(&kept.credentials.client_id, &kept.redirect_uri);
        // The entry may name another client by now; its secret fits only the client of this login.
        let named = way.client.as_ref().filter(|(id, _)| *id == kept.credentials.client_id);
        client.client_secret = kept.client_secret.clone().or_else(|| named.map(|(_, secret)| secret.clone()));
        found.manager.configure_client(client).map_err(|e| later(LoginError::of(&e)))?;
        let given = InMemoryCredentialStore::new();
        found.manager.set_credential_store(given.clone());
        given.save(kept.credentials.clone()).await.map_err(|e| later(LoginError::of(&e)))?;
        match found.manager.refresh_token().await {
            Ok(_) => {}
            Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => {
                return Err(self.wanted("the login has expired"));
            }
            Err(error) => return Err(later(LoginError::of(&error))),
        }
        if let Some(credentials) = given.load().await.map_err(|e| later(LoginError::of(&e)))? {
            kept.credentials = credentials;
        }
        // The token is valid for this process even if it cannot be stored.
        drop(way.logins.save(&kept));
        Ok(kept)
    }
}

fn is_for_another(way: &LoginAccess, token: Option<&str>) -> bool {
    token.is_some_and(|token| other_audience(token, &way.resource).is_some())
}

fn refresh_token(credentials: &StoredCredentials) -> Option<&str> {
    Some(credentials.token_response.as_ref()?.refresh_token()?.secret())
}
