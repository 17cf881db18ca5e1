//! Who gives tokens for a server: its metadata (RFC 9728), then its authorization server's
//! (RFC 8414, OpenID Connect), looked at before anything secret is sent.

use reqwest::Url;
use reqwest::redirect::Policy;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata};

use super::error::{LoginError, no_pkce, shown};
use super::resource::{Resource, is_private_way};
use crate::config::{GrantType, ServerTrust, WayIn, is_this_machine, proxy_of};
use toolgraft::Cause;

/// rmcp's state machine for a resource, with checked metadata.
pub(super) struct Discovered {
    pub(super) manager: AuthorizationManager,
    /// Who gives the tokens; `None` where a server of 2025-03-26 publishes nothing, and its
    /// own origin gives them.
    pub(super) issuer: Option<String>,
    /// Whether clients may name the URL of a metadata document as themselves.
    pub(super) reads_documents: bool,
    pub(super) registers: bool,
    /// Where tokens are taken back, beside the place where they are given. Another origin is none:
    /// nobody has looked at it before.
    pub(super) revocation: Option<String>,
    /// Whether the server says anything of logins.
    pub(super) published: bool,
}

/// Asks the server, with the `WWW-Authenticate` of a refusal where there is one.
///
/// rmcp keeps to the addresses that the server's own class allows: no public server leads to
/// a private one.
pub(super) async fn discover(
    resource: &Resource,
    challenge: Option<&str>,
    (grant, trust): (GrantType, &ServerTrust),
) -> Result<Discovered, LoginError> {
    // Sets the process's provider of cryptography, which rmcp's own client needs.
    drop(toolgraft::http::client());
    let mut manager = AuthorizationManager::new(resource.as_str()).await.map_err(|e| LoginError::of(&e))?;
    // rmcp's own would ask the environment's proxy for this machine.
    let avoids_proxy = is_this_machine(resource.as_str()) && proxy_of(resource.as_str()).is_some();
    if trust.has_ca() || avoids_proxy {
        // It looks at no address: whoever trusts an authority for a server has a network of their own.
        let client =
            trust.client_builder(resource.as_str()).map_err(LoginError::Failed)?.redirect(Policy::none()).build();
        let client = client.map_err(|e| LoginError::Failed(format!("cannot set up HTTP: {}", Cause::chain(&e))))?;
        manager.with_client(client).map_err(|e| LoginError::of(&e))?;
    }
    let found = manager.resolve_metadata_from_challenge(challenge).await.map_err(|e| LoginError::of(&e))?;
    let published = found.source.is_discovered();
    let metadata = found.metadata;
    // Only a code that travels through a browser wants PKCE.
    check(&metadata, resource, published && grant == GrantType::AuthorizationCode)?;
    let reads_documents = metadata
        .additional_fields
        .get("client_id_metadata_document_supported")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false);
    let revocation = metadata.additional_fields.get("revocation_endpoint").and_then(serde_json::Value::as_str);
    let revocation = revocation.filter(|place| is_beside(place, &metadata.token_endpoint)).map(str::to_owned);
    let (issuer, registers) = (metadata.issuer.clone(), metadata.registration_endpoint.is_some());
    manager.set_metadata(metadata);
    Ok(Discovered { manager, issuer, reads_documents, registers, revocation, published })
}

fn is_beside(place: &str, other: &str) -> bool {
    let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
    origin(place).is_some() && origin(place) == origin(other)
}

fn check(metadata: &AuthorizationMetadata, resource: &Resource, wants_pkce: bool) -> Result<(), LoginError> {
    let methods = metadata.code_challenge_methods_supported.as_ref();
    if wants_pkce && !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(LoginError::Untrusted(no_pkce()));
    }
    let places = [Some(&metadata.authorization_endpoint), Some(&metadata.token_endpoint)];
    let places = places.into_iter().chain([metadata.registration_endpoint.as_ref(), metadata.issuer.as_ref()]);
    places.flatten().try_for_each(|place| may_lead_to(place, resource))
}

/// Whether a server may name this place: over https, and on this machine or in a private
/// network only where the server is there too.
pub(super) fn may_lead_to(place: &str, resource: &Resource) -> Result<(), LoginError> {
    let refused = |why: &str| LoginError::Untrusted(format!("it leads to {}, which {why}", shown(&named(place))));
    let url = Url::parse(place).map_err(|_| refused("is no URL"))?;
    match url.scheme() {
        "http" | "https" if !is_private_way(&url) => Err(refused("is not spoken to over https")),
        "http" | "https" if WayIn::to(&url) > resource.way_in() => Err(refused("is nearer than the server itself")),
        "http" | "https" => Ok(()),
        _ => Err(refused("is no web page")),
    }
}

fn named(place: &str) -> String {
    toolgraft::secrets::shown_url(place)
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
        // What a server of 2025-03-26 does not publish says nothing.
        assert!(check(&metadata(None), &resource, false).is_ok());
    }
}
