//! Login of a user: a page to open in a browser, and the redirect from it.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use rmcp::transport::auth::{AuthorizationManager, CredentialStore, OAuthClientConfig, StoredCredentials};
use tokio::time::timeout;

use super::discovery::{Discovered, discover, may_lead_to};
use super::error::{LoginError, plain, shown};
use super::listener::{Callback, Listener};
use super::resource::Resource;
use super::store::{Logins, StoredLogin};
use crate::config::{GrantType, OAuthConfig, ServerConfig, ServerTrust, TransportConfig, header_map};
use toolgraft::Cause;

/// Time limit of the request that checks whether a server needs a login.
const PROBE: Duration = Duration::from_secs(30);

/// Client name under which this program registers at an authorization server.
pub(super) const CLIENT_NAME: &str = "toolgraft";

/// An OAuth login at an MCP server that waits for the user at a browser.
///
/// ```no_run
/// # async fn log_in(server: &toolgraft_mcp::ServerConfig) -> Result<(), toolgraft_mcp::LoginError> {
/// use std::time::Duration;
/// use toolgraft_mcp::{Login, Logins};
///
/// let logins = Logins::new("/home/ada/.local/state/app/logins");
/// let login = Login::begin(server, &logins).await?;
/// println!("open {}", login.url());
/// login.finish(Duration::from_secs(300)).await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nobody is logged in before it is finished"]
pub struct Login {
    found: Discovered,
    listener: Listener,
    logins: Logins,
    url: String,
    state: String,
    /// The login that will be stored, still without tokens.
    kept: StoredLogin,
}

impl std::fmt::Debug for Login {
    /// Formats the login without its URL, which contains the secret `state`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("resource", &self.kept.resource).finish_non_exhaustive()
    }
}

impl Login {
    /// Begins a login: discovers the authorization server, registers a client there if the server's entry names none,
    /// and listens for the browser's redirect on 127.0.0.1.
    ///
    /// # Errors
    /// The server needs no login, its authorization server does not fulfil the requirements of OAuth 2.1, or
    /// it could not be reached.
    pub async fn begin(server: &ServerConfig, logins: &Logins) -> Result<Login, LoginError> {
        let (url, headers, oauth) = over_http(server)?;
        let trust = server.server_trust();
        let resource = Resource::of(url)?;
        let (is_open, challenge) = challenge(url, headers, &trust).await?;
        let mut found = discover(&resource, challenge.as_deref(), (oauth, &trust)).await?;
        // A server may answer a `ping` without a login, and require one for its tools.
        if is_open && !found.published {
            return Err(LoginError::NotForLogins(
                "the server answers without a login, and names no authorization server".to_owned(),
            ));
        }
        let listener = Listener::bind(oauth.callback_port).await?;
        let redirect_uri = listener.redirect_uri();
        // The scopes of another issuer mean nothing to this one.
        let earlier = logins.load(&resource)?.filter(|kept| kept.issuer == found.metadata.issuer);
        let scopes = scopes(&found.manager, oauth, earlier.as_ref()).await;
        let client = client(&mut found, oauth, &redirect_uri, &scopes).await?;
        let credentials = StoredCredentials::new(client.client_id.clone(), None, Vec::new(), None);
        let mut kept = StoredLogin::new(&resource, found.metadata.issuer.clone(), credentials);
        // A secret of the configuration is not stored a second time.
        kept.client_secret = client.client_secret.clone().filter(|_| oauth.client_secret.is_none());
        kept.redirect_uri = redirect_uri;
        found.manager.configure_client(client)?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let url = found.manager.get_authorization_url(&scopes).await?;
        // The user opens it, so it is checked like the addresses of the metadata that it is made of.
        may_lead_to(&url, &resource)?;
        let parsed = Url::parse(&url).ok();
        let state = parsed
            .and_then(|url| url.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned()));
        let state = state.ok_or_else(|| LoginError::Failed("the URL of the login page has no \"state\"".to_owned()))?;
        Ok(Login { found, listener, logins: logins.clone(), url, state, kept })
    }

    /// Returns the URL of the login page that the user opens in a browser; it uses https or is on this machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits at most `within` until the browser is redirected back, fetches the tokens and stores them. The browser
    /// shows the result.
    ///
    /// # Errors
    /// The browser was not redirected back in time, the login was refused, the answer is from another issuer, or the
    /// tokens cannot be fetched or stored.
    pub async fn finish(self, within: Duration) -> Result<(), LoginError> {
        self.finish_or_pasted(within, async |_| std::future::pending().await).await
    }

    /// Does the same as [`finish`](Self::finish), and also works for a browser on another machine: it is redirected to
    /// an address that it cannot open there, and the user copies that address. `paste` returns the copied text. It is
    /// called again, with the reason, if the text is not the redirect address of this login.
    ///
    /// # Errors
    /// Those of [`finish`](Self::finish).
    pub async fn finish_or_pasted(
        self,
        within: Duration,
        mut paste: impl AsyncFnMut(Option<LoginError>) -> String,
    ) -> Result<(), LoginError> {
        let pasted = async {
            let mut wrong = None;
            loop {
                match Callback::pasted(&paste(wrong.take()).await, &self.state) {
                    Ok(callback) => return callback,
                    Err(why) => wrong = Some(why),
                }
            }
        };
        let come = async {
            tokio::select! {
                callback = self.listener.wait(&self.state) => callback,
                callback = pasted => callback,
            }
        };
        let callback = timeout(within, come).await.map_err(|_| self.listener.none_came(within))?;
        let done = self.exchange(&callback).await.and_then(|kept| self.logins.save(&kept));
        callback.answer(&done).await;
        done
    }

    /// Exchanges the authorization code of the redirect for tokens, and returns the login with them.
    async fn exchange(&self, callback: &Callback) -> Result<StoredLogin, LoginError> {
        if let Some(error) = callback.get("error") {
            // The message of an issuer other than the expected one is untrusted and not shown.
            let from_other = callback.get("iss").is_some_and(|iss| Some(iss) != self.kept.issuer.as_deref());
            if from_other {
                return Err(LoginError::Untrusted(
                    "the answer is from another issuer than the one that was asked".to_owned(),
                ));
            }
            let more = callback.get("error_description").map(|text| format!(": {text}")).unwrap_or_default();
            return Err(LoginError::Refused(shown(&format!("{error}{more}"))));
        }
        let code = callback.get("code").ok_or_else(|| LoginError::Failed("the answer has no \"code\"".to_owned()))?;
        let Discovered { manager, given, .. } = &self.found;
        manager.exchange_code_for_token_with_issuer(code, &self.state, callback.get("iss")).await?;
        let credentials = given.load().await?;
        let credentials = credentials.ok_or_else(|| LoginError::Failed("no token was received".to_owned()))?;
        let mut kept = self.kept.clone();
        kept.credentials = credentials;
        Ok(kept)
    }
}

/// A server over HTTP: its URL, its headers, and the OAuth settings of its entry.
type OverHttp<'a> = (&'a str, &'a BTreeMap<String, String>, &'a OAuthConfig);

fn over_http(server: &ServerConfig) -> Result<OverHttp<'_>, LoginError> {
    let none = |why: String| LoginError::NotForLogins(why);
    match &server.transport {
        Ok(TransportConfig::Http { headers, .. }) if has_authorization(headers) => Err(none(
            "its entry has an \"Authorization\" header, which is sent instead of any login's token".to_owned(),
        )),
        Ok(TransportConfig::Http { oauth, .. }) if oauth.grant_type == GrantType::ClientCredentials => Err(none(
            "the program logs in automatically (\"grantType\": \"client_credentials\"), so no login is needed"
                .to_owned(),
        )),
        Ok(TransportConfig::Http { url, headers, oauth, .. }) => Ok((url, headers, oauth)),
        Ok(TransportConfig::Stdio { .. }) => Err(none("a server over stdio has no login".to_owned())),
        Err(problem) => Err(none(problem.to_string())),
    }
}

pub(super) fn has_authorization(headers: &BTreeMap<String, String>) -> bool {
    headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// Sends a `ping` without a token. Returns `true` if its response has a success status, and the `WWW-Authenticate`
/// header of a 401.
async fn challenge(
    url: &str,
    headers: &BTreeMap<String, String>,
    trust: &ServerTrust,
) -> Result<(bool, Option<String>), LoginError> {
    let failed = |e: String| LoginError::Failed(shown(&e));
    let headers = header_map(headers).map_err(|e| failed(e.to_string()))?;
    let client = trust.client_builder(url).map_err(LoginError::Failed)?;
    let client = client.default_headers(headers).redirect(Policy::none()).timeout(PROBE).build();
    let client = client.map_err(|e| failed(format!("cannot set up HTTP: {}", Cause::chain(&e))))?;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = client.post(url).header(ACCEPT, "application/json, text/event-stream");
    let request = request.header(CONTENT_TYPE, "application/json").body(ping);
    let response = request.send().await.map_err(|e| failed(plain(&Cause::chain(&e.without_url()))))?;
    let challenge = (response.status() == 401).then(|| bearer_challenge(response.headers())).flatten();
    Ok((response.status().is_success(), challenge))
}

/// Returns the first `WWW-Authenticate` header with the scheme `Bearer`, or else the first one of any scheme.
pub(crate) fn bearer_challenge(headers: &HeaderMap) -> Option<String> {
    let all: Vec<String> = headers
        .get_all(WWW_AUTHENTICATE)
        .iter()
        .map(|challenge| String::from_utf8_lossy(challenge.as_bytes()).into_owned())
        .collect();
    let bearer = |challenge: &&String| challenge.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    all.iter().find(bearer).or(all.first()).cloned()
}

/// Returns the scopes to request at a login: those of the server's entry, or else those that the server names, and all
/// scopes of the earlier login if requests were refused for lack of scopes since.
pub(super) async fn scopes(
    manager: &AuthorizationManager,
    oauth: &OAuthConfig,
    earlier: Option<&StoredLogin>,
) -> Vec<String> {
    let mut scopes = match oauth.scopes.is_empty() {
        true => manager.select_initial_scopes(&[]).await,
        false => oauth.scopes.clone(),
    };
    if let Some(earlier) = earlier.filter(|earlier| !earlier.wanted.is_empty()) {
        for scope in earlier.credentials.granted_scopes.iter().chain(&earlier.wanted) {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
    }
    scopes
}

/// Returns the OAuth client that the server's entry names, or registers a new one. An id that is an https URL counts
/// only if the authorization server reads client metadata documents.
async fn client(
    found: &mut Discovered,
    oauth: &OAuthConfig,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<OAuthClientConfig, LoginError> {
    let reads_documents = found.metadata.additional_fields.get("client_id_metadata_document_supported");
    let counts = |id: &&str| reads_documents.is_some_and(|reads| reads == true) || !id.starts_with("https://");
    if let Some(id) = oauth.client_id.as_deref().filter(counts) {
        let mut client = OAuthClientConfig::new(id, redirect_uri).with_scopes(scopes.to_vec());
        client.client_secret.clone_from(&oauth.client_secret);
        return Ok(client);
    }
    if found.metadata.registration_endpoint.is_none() {
        let why = "its authorization server registers no clients: set \"clientId\" under \"oauth\" in its entry";
        return Err(LoginError::NotForLogins(why.to_owned()));
    }
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    Ok(found.manager.register_client(CLIENT_NAME, redirect_uri, &scopes).await?)
}
