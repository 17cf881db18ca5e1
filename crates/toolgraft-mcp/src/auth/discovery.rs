//! Discovers the authorization server of an MCP server: the server's metadata (RFC 9728), then the
//! authorization server's (RFC 8414, OpenID Connect), checked before anything secret is sent.

use reqwest::Url;
use reqwest::redirect::Policy;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata, InMemoryCredentialStore};

use super::error::{LoginError, NO_PKCE, shown};
use super::resource::{Resource, is_private_way};
use crate::config::{GrantType, HostReach, OAuthConfig, ServerTrust, is_this_machine, proxy_of};
use toolgraft::Cause;

/// The result of the discovery for a resource: rmcp's authorization manager, and the checked metadata of the
/// authorization server.
pub(super) struct Discovered {
    pub(super) manager: AuthorizationManager,
    /// In-memory store that rmcp writes the received tokens to.
    pub(super) given: InMemoryCredentialStore,
    /// The metadata of the authorization server. The issuer is `None` for a server of MCP 2025-03-26 that publishes no
    /// metadata, where its own origin issues tokens.
    pub(super) metadata: AuthorizationMetadata,
    /// `true` if the metadata was published; `false` if rmcp derived it from the URL of a server that publishes none.
    pub(super) published: bool,
}

/// Discovers the authorization server of a resource. `challenge` is the `WWW-Authenticate` header of the server's 401
/// response, if there was one.
///
/// rmcp restricts the addresses by the class of the server's own address: no public server can lead to a
/// private one.
pub(super) async fn discover(
    resource: &Resource,
    challenge: Option<&str>,
    (oauth, trust): (&OAuthConfig, &ServerTrust),
) -> Result<Discovered, LoginError> {
    // Installs the process-wide provider of cryptography that rmcp's own client needs.
    drop(toolgraft::http::client());
    let mut manager = AuthorizationManager::new(resource.as_str()).await?;
    let given = InMemoryCredentialStore::new();
    manager.set_credential_store(given.clone());
    // rmcp's own client would send requests to this machine through the environment's proxy.
    let avoids_proxy = is_this_machine(resource.as_str()) && proxy_of(resource.as_str()).is_some();
    if trust.has_ca() || avoids_proxy {
        // This client does not check addresses: a user who trusts a private authority has a private network.
        let client =
            trust.client_builder(resource.as_str()).map_err(LoginError::Failed)?.redirect(Policy::none()).build();
        let client = client.map_err(|e| LoginError::Failed(format!("cannot set up HTTP: {}", Cause::chain(&e))))?;
        manager.with_client(client)?;
    }
    let found = manager.resolve_metadata_from_challenge(challenge).await?;
    let published = found.source.is_discovered();
    let metadata = found.metadata;
    // Only a code that travels through a browser needs PKCE.
    check(&metadata, resource, published && oauth.grant_type == GrantType::AuthorizationCode)?;
    manager.set_metadata(metadata.clone());
    Ok(Discovered { manager, given, metadata, published })
}

fn check(metadata: &AuthorizationMetadata, resource: &Resource, wants_pkce: bool) -> Result<(), LoginError> {
    let methods = metadata.code_challenge_methods_supported.as_ref();
    // A server that names no methods does not take PKCE (RFC 8414, section 2).
    if wants_pkce && !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(LoginError::Untrusted(NO_PKCE.to_owned()));
    }
    let places = [Some(&metadata.authorization_endpoint), Some(&metadata.token_endpoint)];
    let places = places.into_iter().chain([metadata.registration_endpoint.as_ref(), metadata.issuer.as_ref()]);
    places.flatten().try_for_each(|place| may_lead_to(place, resource))
}

/// Checks a URL that a server's metadata names: it must use https or be on this machine, and must not be nearer (this
/// machine, then private network, then public) than the server itself.
pub(super) fn may_lead_to(place: &str, resource: &Resource) -> Result<(), LoginError> {
    let named = toolgraft::secrets::shown_url(place);
    let refused = |why: &str| LoginError::Untrusted(format!("it leads to {}, which {why}", shown(&named)));
    let url = Url::parse(place).map_err(|_| refused("is not a URL"))?;
    match url.scheme() {
        "http" | "https" if !is_private_way(&url) => Err(refused("does not use https")),
        "http" | "https" if HostReach::to(&url) > resource.way_in() => {
            Err(refused("is less public than the server itself"))
        }
        "http" | "https" => Ok(()),
        _ => Err(refused("is not a web page")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_leads_over_https_and_to_this_machine_only_from_it() {
        let (public, local) = (Resource::of("https://h/mcp").unwrap(), Resource::of("http://127.0.0.1:1/mcp").unwrap());
        assert!(may_lead_to("https://as.example/authorize", &public).is_ok());
        assert!(may_lead_to("http://127.0.0.1:2/authorize", &local).is_ok());
        for (place, resource) in [
            ("http://as.example/authorize", &public),
            ("http://as.example/authorize", &local),
            ("https://127.0.0.1/authorize", &public),
            ("https://192.168.0.1/authorize", &public),
            ("https://169.254.169.254/latest", &public),
            ("https://[fd00::1]/authorize", &public),
            ("https://[::ffff:192.168.0.1]/authorize", &public),
            ("https://[::ffff:127.0.0.1]/authorize", &public),
            ("http://localhost:2/authorize", &public),
            ("file:///etc/passwd", &local),
            ("javascript:alert(1)", &public),
            ("calc.exe", &public),
        ] {
            assert!(matches!(may_lead_to(place, resource), Err(LoginError::Untrusted(_))), "{place}");
        }
    }

    #[test]
    fn a_server_that_does_not_name_s256_is_refused() {
        let resource = Resource::of("https://h/mcp").unwrap();
        let metadata = |methods: Option<&[&str]>| {
            let mut metadata = AuthorizationMetadata::default();
            metadata.authorization_endpoint = "https://as.example/authorize".to_owned();
            metadata.token_endpoint = "https://as.example/token".to_owned();
            metadata.code_challenge_methods_supported =
                methods.map(|methods| methods.iter().map(|&method| method.to_owned()).collect());
            metadata
        };
        assert!(check(&metadata(Some(&["plain", "S256"])), &resource, true).is_ok());
        assert!(check(&metadata(Some(&["plain"])), &resource, true).is_err());
        assert!(check(&metadata(None), &resource, true).is_err());
        // A server of 2025-03-26 publishes nothing, so nothing follows from a missing method.
        assert!(check(&metadata(None), &resource, false).is_ok());
    }
}
