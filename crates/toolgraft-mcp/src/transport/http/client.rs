//! The HTTP client of all transports over HTTP, and its authorization: rmcp's client does not send a request again with
//! another token.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::transport::auth::WWWAuthenticateParams;

use super::session;
use crate::auth::{Access, bearer_challenge};
use crate::config::{ServerTrust, header_map};
use crate::failure::Failure;
use toolgraft::Cause;

/// Time limit of a TCP and TLS connection attempt to a server.
const CONNECT: Duration = Duration::from_secs(10);

/// Idle time of a connection after which TCP checks whether the peer still responds.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Maximum number of redirects that are followed, all within one origin.
const MAX_REDIRECTS: usize = 5;

/// Maximum length in bytes of the body that is read of a response with an error status.
pub(super) const MAX_REFUSAL: usize = 64 * 1024;

/// The URL of a server, with the headers, certificates and token source that its requests need.
#[derive(Clone, Copy)]
pub(crate) struct HttpPlace<'a> {
    pub(crate) url: &'a str,
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) trust: &'a ServerTrust,
    pub(crate) access: &'a Arc<Access>,
}

/// The HTTP client for one server. It sends the headers of the server's entry with every request.
#[derive(Clone)]
pub(super) struct HttpClient {
    pub(super) client: reqwest::Client,
    access: Arc<Access>,
}

impl HttpClient {
    pub(super) fn new(place: HttpPlace<'_>) -> Result<Self, String> {
        let client = place
            .trust
            .client_builder(place.url)?
            .default_headers(header_map(place.headers).map_err(|e| e.to_string())?)
            .connect_timeout(CONNECT)
            .tcp_keepalive(KEEPALIVE)
            .redirect(same_origin())
            .build()
            .map_err(|e| format!("cannot set up HTTP: {}", Cause::chain(&e)))?;
        Ok(HttpClient { client, access: place.access.clone() })
    }

    /// Sends a request with the current access token. If the server refuses the token, the request is sent once more
    /// with another: it was not carried out. Returns the response and the token that was sent last.
    pub(super) async fn send(
        &self,
        has_session: bool,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<(Response, Option<String>), Failure> {
        let mut token = self.access.token().await?;
        let mut response = with_token(request(), token.as_deref()).send().await?;
        if response.status() == StatusCode::UNAUTHORIZED {
            let challenge = bearer_challenge(response.headers());
            // Servers with early versions of rmcp answer 401 without a challenge if they do not
            // know the session.
            if challenge.is_none() && has_session && session::is_lost(&refusal_text(response).await) {
                return Err(Failure::session_lost());
            }
            token = Some(self.access.refused(token.as_deref(), challenge.as_deref()).await?);
            response = with_token(request(), token.as_deref()).send().await?;
        }
        if let Some(scopes) = lacking(&response) {
            token = Some(self.access.insufficient(token.as_deref(), scopes.as_deref()).await?);
            response = with_token(request(), token.as_deref()).send().await?;
        }
        match response.status() {
            StatusCode::UNAUTHORIZED => Err(self.access.refuses(token.as_deref(), "the server rejects a new token")),
            _ => Ok((response, token)),
        }
    }

    /// Sends a request once, with the current access token; a refused token is not replaced.
    pub(super) async fn send_once(&self, request: RequestBuilder) -> Result<Response, Failure> {
        Ok(with_token(request, self.access.token().await?.as_deref()).send().await?)
    }
}

pub(super) fn with_token(request: RequestBuilder, token: Option<&str>) -> RequestBuilder {
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

/// Returns the scopes that the access token lacks, according to a response of status 403 (`None` inside if they are not
/// named); `None` if the response has another reason.
fn lacking(response: &Response) -> Option<Option<String>> {
    let challenge = bearer_challenge(response.headers()).filter(|_| response.status() == StatusCode::FORBIDDEN)?;
    let challenge = WWWAuthenticateParams::parse(&challenge, response.url());
    challenge.is_insufficient_scope().then_some(challenge.scope)
}

/// Reads a response body of at most `limit` bytes; `None` if it is longer.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > limit - body.len() {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Returns the body of a response with an error status as text; empty if it cannot be read or is too long.
pub(super) async fn refusal_text(response: Response) -> String {
    let text = body(response, MAX_REFUSAL).await.ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the policy that follows redirects within one origin only, so that no header reaches another host.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let first = attempt.previous().first();
        let stays = first.is_some_and(|first| first.origin() == attempt.url().origin());
        match stays && attempt.previous().len() <= MAX_REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}
