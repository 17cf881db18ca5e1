//! An MCP server that needs a login, its authorization server, and a foreign server, each on a port
//! of its own. Their requests are recorded.
//!
//! The MCP server has the tools `hello`, for all logged-in users, `mirror`, which returns the token
//! of the request, and `admin`, which needs the scope `admin`. The authorization server registers
//! clients, redirects at once, and checks the redirect URI, PKCE with S256, and the resource.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// The behaviour of the MCP server and its authorization server.
#[derive(Clone)]
pub struct Ways {
    /// Value of `code_challenge_methods_supported` in the authorization server's metadata; `None` leaves it out.
    pub challenges: Option<Vec<&'static str>>,
    /// `true` if only OpenID Connect's metadata document exists, not that of RFC 8414.
    pub openid: bool,
    /// `true` if the metadata is only at its well-known URL, and no header names it.
    pub quiet: bool,
    /// Issuer in the metadata, instead of the true one.
    pub issuer: Option<String>,
    /// Parameter `iss` of the redirect after a login; `None` leaves it out.
    pub iss: Option<String>,
    /// Error in the redirect after a login, instead of a code.
    pub error: Option<&'static str>,
    /// `true` if the authorization server registers clients.
    pub registers: bool,
    /// `true` if the authorization server refuses to register clients, with 403.
    pub forbids: bool,
    /// `true` if the redirect after a login has no `state`.
    pub stateless: bool,
    /// `true` if tokens are for the audience `api://other`, so that the MCP server refuses them.
    pub other_audience: bool,
    /// Lifetime of an access token in seconds.
    pub expires: u64,
    /// `true` if refresh tokens are accepted.
    pub refreshes: bool,
    /// `true` if the token endpoint redirects to the foreign server.
    pub tokens_elsewhere: bool,
    /// `true` if the MCP server redirects to the foreign server.
    pub mcp_elsewhere: bool,
    /// `true` if the URL of the MCP server's metadata redirects to the foreign server.
    pub metadata_elsewhere: bool,
    /// `true` if the MCP server needs no login and publishes nothing about logins.
    pub open: bool,
    /// `true` if the MCP server only supports the transport HTTP+SSE of 2024-11-05.
    pub legacy: bool,
    /// Server of the token revocation endpoint that the metadata names.
    pub revokes: Revokes,
    /// Resource in the MCP server's metadata, instead of the true one.
    pub resource: Option<String>,
}

/// The server of the token revocation endpoint that the metadata names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Revokes {
    /// The metadata names no revocation endpoint.
    Nowhere,
    /// The revocation endpoint is at the authorization server.
    Here,
    /// The revocation endpoint is at the foreign server, which did not issue the tokens.
    AtTheStranger,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
            challenges: Some(vec!["S256"]),
            openid: false,
            quiet: false,
            issuer: None,
            iss: None,
            error: None,
            registers: true,
            forbids: false,
            stateless: false,
            other_audience: false,
            expires: 3600,
            refreshes: true,
            tokens_elsewhere: false,
            mcp_elsewhere: false,
            metadata_elsewhere: false,
            open: false,
            legacy: false,
            revokes: Revokes::Nowhere,
            resource: None,
        }
    }
}

/// A request that one of the servers received.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// Name of the server that received the request: `mcp`, `as` (authorization) or `stranger`.
    pub who: &'static str,
    /// HTTP method of the request, such as `POST`.
    pub method: String,
    /// URL path of the request, without the query.
    pub path: String,
    /// URL query of the request, without its question mark; empty if there is none.
    pub query: String,
    /// Value of the request's `Authorization` header.
    pub authorization: Option<String>,
    /// Body of the request as text.
    pub body: String,
}

struct Grant {
    challenge: String,
    redirect: String,
    client: String,
    scope: String,
}

#[derive(Default)]
struct Inner {
    ways: Ways,
    seen: Vec<SeenRequest>,
    ports: [u16; 3],
    /// Grants that were not exchanged for a token yet, by their authorization code.
    grants: HashMap<String, Grant>,
    /// Valid access tokens, each with its scope.
    tokens: HashMap<String, String>,
    refresh: HashMap<String, (String, String)>,
    /// Sender for the open event stream of an MCP server that only supports HTTP+SSE.
    events: Option<mpsc::UnboundedSender<String>>,
    count: u32,
}

type SharedInner = Arc<Mutex<Inner>>;

/// The MCP server, its authorization server and the foreign server. They end when this is dropped.
pub struct OAuthMcp {
    shared: SharedInner,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Base64 of the token claims `{"aud":"api://other"}`.
const OTHER_AUDIENCE: &str = "eyJhdWQiOiJhcGk6Ly9vdGhlciJ9";

const WHO: [&str; 3] = ["mcp", "as", "stranger"];

impl OAuthMcp {
    /// Starts the three servers on free ports of the loopback interface.
    pub fn start(ways: Ways) -> Self {
        let shared: SharedInner = Arc::new(Mutex::new(Inner { ways, ..Inner::default() }));
        let listeners = WHO.map(|who| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            (who, listener)
        });
        shared.lock().unwrap().ports = [0, 1, 2].map(|n| listeners[n].1.local_addr().unwrap().port());
        let (stop, stopped) = oneshot::channel::<()>();
        let state = shared.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                for (who, listener) in listeners {
                    let router = axum::Router::new().fallback(heard).with_state((who, state.clone()));
                    let listener = TcpListener::from_std(listener).unwrap();
                    tokio::spawn(async move { axum::serve(listener, router).await });
                }
                let _ = stopped.await;
            });
        });
        OAuthMcp { shared, stop: Some(stop), thread: Some(thread) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.lock().unwrap()
    }

    /// Returns the URL of the MCP server.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.inner().ports[0])
    }

    /// Returns the URL of the authorization server.
    pub fn issuer(&self) -> String {
        self.inner().issuer()
    }

    /// Returns the URL of the foreign server.
    pub fn stranger(&self) -> String {
        format!("http://127.0.0.1:{}/", self.inner().ports[2])
    }

    /// Changes the behaviour of the servers from now on.
    pub fn change(&self, change: impl FnOnce(&mut Ways)) {
        change(&mut self.inner().ways);
    }

    /// Invalidates all access tokens.
    pub fn forget_tokens(&self) {
        self.inner().tokens.clear();
    }

    /// Ends the event stream of an MCP server that only supports HTTP+SSE.
    pub fn ends_stream(&self) {
        self.inner().events = None;
    }

    /// Returns the recorded requests to one of the servers with this method, and a path that begins with `path`.
    pub fn seen(&self, who: &str, method: &str, path: &str) -> Vec<SeenRequest> {
        let inner = self.inner();
        let fits = |seen: &&SeenRequest| seen.who == who && seen.method == method && seen.path.starts_with(path);
        inner.seen.iter().filter(fits).cloned().collect()
    }

    /// Returns all valid access and refresh tokens, which must not leak.
    pub fn secrets(&self) -> Vec<String> {
        let inner = self.inner();
        inner.tokens.keys().chain(inner.refresh.keys()).cloned().collect()
    }
}

impl Drop for OAuthMcp {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Opens a web page and follows redirects like a browser. Returns the HTTP status and the text of the final page.
pub async fn browse(url: &str) -> (u16, String) {
    let answer = toolgraft::http::client().no_proxy().build().unwrap().get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn heard(State((who, shared)): State<(&'static str, SharedInner)>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let seen = SeenRequest {
        who,
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        authorization: head.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned()),
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    let mut inner = shared.lock().unwrap();
    inner.seen.push(seen.clone());
    match who {
        "mcp" => inner.mcp(&seen),
        "as" => inner.authorization(&seen),
        _ => json_of(404, &json!({})),
    }
}

impl Inner {
    fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    fn resource(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.ports[0])
    }

    fn mcp(&mut self, seen: &SeenRequest) -> Response {
        let metadata = "/.well-known/oauth-protected-resource/mcp";
        if seen.path == metadata && self.ways.metadata_elsewhere {
            return redirect(302, &format!("http://127.0.0.1:{}/", self.ports[2]));
        }
        if seen.path == metadata && !self.ways.open {
            let resource = self.ways.resource.clone().unwrap_or_else(|| self.resource());
            let issuers = [self.issuer()];
            return json_of(
                200,
                &json!({ "resource": resource, "authorization_servers": issuers, "scopes_supported": ["basic"] }),
            );
        }
        // Only a legacy server has a second URL for messages.
        if seen.path != "/mcp" && !(self.ways.legacy && seen.path == "/messages") {
            return json_of(404, &json!({}));
        }
        if self.ways.mcp_elsewhere {
            return redirect(307, &format!("http://127.0.0.1:{}/mcp", self.ports[2]));
        }
        let token = seen.authorization.as_deref().and_then(|value| value.strip_prefix("Bearer "));
        let known = token.and_then(|token| self.tokens.get(token)).cloned();
        let known = known.filter(|_| !self.ways.other_audience);
        let Some(scope) = known.or_else(|| self.ways.open.then(String::new)) else {
            let place = format!("http://127.0.0.1:{}{metadata}", self.ports[0]);
            let place = if self.ways.quiet { String::new() } else { format!(" resource_metadata=\"{place}\"") };
            return refused(401, &format!("Bearer{place}"));
        };
        if self.ways.legacy {
            return self.legacy(seen, &scope);
        }
        if seen.method != "POST" {
            return json_of(405, &json!({}));
        }
        self.answer(seen, &scope).map_or_else(
            |refusal| refusal,
            |answer| match answer {
                Value::Null => json_of(202, &answer),
                _ => json_of(200, &answer),
            },
        )
    }

    /// Answers a request in the transport HTTP+SSE: opens the event stream, or handles a message whose answer is sent
    /// there.
    fn legacy(&mut self, seen: &SeenRequest, scope: &str) -> Response {
        match (seen.method.as_str(), seen.path.as_str()) {
            ("GET", "/mcp") => {
                let (events, sent) = mpsc::unbounded_channel();
                events.send("event: endpoint\ndata: /messages\n\n".to_owned()).unwrap();
                self.events = Some(events);
                let next = |mut sent: mpsc::UnboundedReceiver<String>| async move {
                    sent.recv().await.map(|event| (Ok::<_, Infallible>(event), sent))
                };
                let stream = Body::from_stream(futures::stream::unfold(sent, next));
                Response::builder().header("content-type", "text/event-stream").body(stream).unwrap()
            }
            ("POST", "/messages") => match (self.answer(seen, scope), &self.events) {
                (Err(refusal), _) => refusal,
                (Ok(Value::Null), _) | (_, None) => json_of(202, &Value::Null),
                (Ok(answer), Some(events)) => {
                    let _ = events.send(format!("event: message\ndata: {answer}\n\n"));
                    json_of(202, &Value::Null)
                }
            },
            _ => json_of(405, &json!({})),
        }
    }

    /// Returns the answer to an MCP message, null for a notification; or a refusal for a missing scope.
    fn answer(&self, seen: &SeenRequest, scope: &str) -> Result<Value, Response> {
        let message: Value = serde_json::from_str(&seen.body).unwrap();
        let named = |tool: &str| message["params"]["name"] == tool;
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                                    "serverInfo": { "name": "guarded", "version": "1" } }),
            "tools/list" => {
                let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
                json!({ "tools": [tool("hello"), tool("admin"), tool("mirror")] })
            }
            "tools/call" if named("admin") && !scope.split(' ').any(|scope| scope == "admin") => {
                return Err(refused(403, "Bearer error=\"insufficient_scope\", scope=\"admin\""));
            }
            "tools/call" if named("mirror") => json!({ "content": [{ "type": "text", "text": seen.authorization }] }),
            "tools/call" => json!({ "content": [{ "type": "text", "text": "hello, you are in" }] }),
            _ if message["id"].is_null() => return Ok(Value::Null),
            _ => {
                let error = json!({ "code": -32601, "message": "no such method" });
                return Ok(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
            }
        };
        Ok(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
    }

    fn authorization(&mut self, seen: &SeenRequest) -> Response {
        let at = |path: &str| format!("{}{path}", self.issuer());
        let known = if self.ways.openid { "openid-configuration" } else { "oauth-authorization-server" };
        match seen.path.as_str() {
            path if path == format!("/.well-known/{known}") => {
                let mut metadata = json!({
                    "issuer": self.ways.issuer.clone().unwrap_or_else(|| self.issuer()),
                    "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
                    "response_types_supported": ["code"], "authorization_response_iss_parameter_supported": self.ways.iss.is_some(),
                });
                if let Some(methods) = &self.ways.challenges {
                    metadata["code_challenge_methods_supported"] = json!(methods);
                }
                match self.ways.revokes {
                    Revokes::Nowhere => {}
                    Revokes::Here => metadata["revocation_endpoint"] = json!(at("/revoke")),
                    Revokes::AtTheStranger => {
                        metadata["revocation_endpoint"] = json!(format!("http://127.0.0.1:{}/revoke", self.ports[2]));
                    }
                }
                if self.ways.registers {
                    metadata["registration_endpoint"] = json!(at("/register"));
                }
                json_of(200, &metadata)
            }
            "/register" if self.ways.forbids => json_of(
                403,
                &json!({ "error": "access_denied", "error_description": "clients are registered by hand" }),
            ),
            "/register" => {
                let asked: Value = serde_json::from_str(&seen.body).unwrap();
                json_of(201, &json!({ "client_id": "registered-client", "redirect_uris": asked["redirect_uris"] }))
            }
            "/authorize" => self.authorize(&parameters(&seen.query)),
            "/token" if self.ways.tokens_elsewhere => {
                redirect(307, &format!("http://127.0.0.1:{}/token", self.ports[2]))
            }
            "/token" => self.token(&parameters(&seen.body)),
            "/revoke" => {
                let asked = parameters(&seen.body);
                assert_eq!(asked["client_id"], "registered-client");
                let known = match asked["token_type_hint"].as_str() {
                    "refresh_token" => self.refresh.remove(&asked["token"]).is_some(),
                    _ => self.tokens.remove(&asked["token"]).is_some(),
                };
                assert!(known, "{asked:?}");
                json_of(200, &Value::Null)
            }
            _ => json_of(404, &json!({})),
        }
    }

    fn authorize(&mut self, asked: &HashMap<String, String>) -> Response {
        assert_eq!((asked["response_type"].as_str(), asked["code_challenge_method"].as_str()), ("code", "S256"));
        assert_eq!(asked["resource"], self.resource());
        self.count += 1;
        let code = format!("code-{}", self.count);
        let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
        if !self.ways.stateless {
            back.query_pairs_mut().append_pair("state", &asked["state"]);
        }
        match self.ways.error {
            Some(error) => back.query_pairs_mut().append_pair("error", error),
            None => back.query_pairs_mut().append_pair("code", &code),
        };
        if let Some(iss) = &self.ways.iss {
            back.query_pairs_mut().append_pair("iss", iss);
        }
        let grant = Grant {
            challenge: asked["code_challenge"].clone(),
            redirect: asked["redirect_uri"].clone(),
            client: asked["client_id"].clone(),
            scope: asked.get("scope").cloned().unwrap_or_default(),
        };
        self.grants.insert(code, grant);
        redirect(302, back.as_str())
    }

    fn token(&mut self, asked: &HashMap<String, String>) -> Response {
        if asked.get("resource") != Some(&self.resource()) {
            return json_of(400, &json!({ "error": "invalid_target" }));
        }
        let scope = match asked["grant_type"].as_str() {
            "authorization_code" => {
                let grant = self.grants.remove(&asked["code"]).filter(|grant| {
                    let verifier = PkceCodeVerifier::new(asked["code_verifier"].clone());
                    PkceCodeChallenge::from_code_verifier_sha256(&verifier).as_str() == grant.challenge
                        && grant.redirect == asked["redirect_uri"]
                        && asked.get("client_id").is_none_or(|client| *client == grant.client)
                });
                match grant {
                    Some(grant) => grant.scope,
                    None => return json_of(400, &json!({ "error": "invalid_grant" })),
                }
            }
            "refresh_token" => match self.refresh.remove(&asked["refresh_token"]) {
                // A refresh token is valid for one use.
                Some((_, scope)) if self.ways.refreshes => scope,
                _ => return json_of(400, &json!({ "error": "invalid_grant" })),
            },
            "client_credentials" if asked["client_secret"] == "s3cret-of-ci" => {
                asked.get("scope").cloned().unwrap_or_default()
            }
            "client_credentials" => return json_of(401, &json!({ "error": "invalid_client" })),
            other => panic!("{other}"),
        };
        self.count += 1;
        let (token, refresh) = (format!("access-token-{}", self.count), format!("refresh-token-{}", self.count));
        let token = if self.ways.other_audience { format!("e30.{OTHER_AUDIENCE}.{token}") } else { token };
        self.tokens.insert(token.clone(), scope.clone());
        self.refresh.insert(refresh.clone(), (token.clone(), scope.clone()));
        json_of(
            200,
            &json!({ "access_token": token, "token_type": "Bearer", "expires_in": self.ways.expires,
                     "refresh_token": refresh, "scope": scope }),
        )
    }
}

fn parameters(text: &str) -> HashMap<String, String> {
    let url = Url::parse(&format!("http://h/?{text}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn json_of(status: u16, body: &Value) -> Response {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = Response::builder().status(StatusCode::from_u16(status).unwrap());
    answer.header("content-type", "application/json").body(Body::from(body)).unwrap()
}

fn redirect(status: u16, to: &str) -> Response {
    Response::builder().status(status).header("location", to).body(Body::empty()).unwrap()
}

fn refused(status: u16, challenge: &str) -> Response {
    Response::builder().status(status).header("www-authenticate", challenge).body(Body::empty()).unwrap()
}
