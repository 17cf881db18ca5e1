//! Tokens for a program that logs in by itself: the client credentials grant (RFC 6749, section 4.4), in the
//! form of the extension `io.modelcontextprotocol/oauth-client-credentials`.
//!
//! Tokens are not stored in a file: the entry is enough to get another at any time.

use rmcp::transport::auth::{
    AuthError, ClientCredentialsConfig, CredentialStore, InMemoryCredentialStore, StoredCredentials,
};
use tokio::sync::Mutex;

use super::discovery::discover;
use super::error::LoginError;
use super::login::scopes;
use super::resource::Resource;
use super::token::{EARLY, REFRESH, TokenError, time_left, token};
use crate::config::{GrantType, OAuthConfig, ServerTrust};

/// The source of tokens for a program without a user.
pub(super) struct MachineAccess {
    resource: Resource,
    oauth: OAuthConfig,
    trust: ServerTrust,
    held: Mutex<Option<StoredCredentials>>,
}

impl MachineAccess {
    /// # Errors
    /// A token may not be sent to this URL.
    pub(super) fn of(url: &str, oauth: &OAuthConfig, trust: ServerTrust) -> Result<Self, LoginError> {
        Ok(MachineAccess { resource: Resource::of(url)?, oauth: oauth.clone(), trust, held: Mutex::new(None) })
    }

    /// Returns the resource that the tokens are valid for.
    pub(super) fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Returns the token to send: the current one, unless it is about to expire or is the one that the server
    /// `refused`, else a new one.
    pub(super) async fn token(&self, refused: Option<&str>, challenge: Option<&str>) -> Result<String, TokenError> {
        let mut held = self.held.lock().await;
        let good = held.as_ref().filter(|held| time_left(held).is_none_or(|left| left >= EARLY)).and_then(token);
        if let Some(good) = good.filter(|good| Some(good.as_str()) != refused) {
            return Ok(good);
        }
        let given = tokio::time::timeout(REFRESH, self.given(challenge)).await;
        let late = |_| TokenError::Later(format!("no token was received within {} s", REFRESH.as_secs()));
        let given = given.map_err(late)??;
        let token = token(&given).ok_or_else(|| TokenError::Login("no token was received".to_owned()))?;
        *held = Some(given);
        Ok(token)
    }

    async fn given(&self, challenge: Option<&str>) -> Result<StoredCredentials, TokenError> {
        // A failed discovery may succeed later; a refusal of the authorization server is final.
        let later = |error: LoginError| TokenError::Later(format!("no token can be fetched: {error}"));
        let mut found =
            discover(&self.resource, challenge, (GrantType::ClientCredentials, &self.trust)).await.map_err(later)?;
        let (id, secret) = self.oauth.client_id.clone().zip(self.oauth.client_secret.clone()).unwrap_or_default();
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: id,
            client_secret: secret,
            scopes: scopes(&found.manager, &self.oauth, None).await,
            resource: Some(self.resource.as_str().to_owned()),
        };
        let refused = |error: AuthError| {
            let head = "the authorization server gives no token for \"clientId\" and \"clientSecret\" under \"oauth\"";
            TokenError::Login(format!("{head}: {}", LoginError::of(&error)))
        };
        found.manager.validate_client_credentials_metadata(&config).map_err(refused)?;
        found.manager.configure_client_credentials(&config).map_err(refused)?;
        let given = InMemoryCredentialStore::new();
        found.manager.set_credential_store(given.clone());
        found.manager.exchange_client_credentials(&config).await.map_err(refused)?;
        let given = given.load().await.map_err(refused)?;
        given.ok_or_else(|| TokenError::Login("no token was received".to_owned()))
    }
}
