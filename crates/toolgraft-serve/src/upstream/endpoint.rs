//! The endpoint: as a model, and for requests that are passed through.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use futures::stream;
use reqwest::Url;
use serde_json::Value;

use super::endpoint_facts::TrialResults;
use super::redaction;
use super::settings::UpstreamSettings;
use crate::access::keys::client_key;
use toolgraft::OpenAi;
use toolgraft::http::{certificate_fault, proxy_fault};
use toolgraft::model::endpoint::is_stale;
use toolgraft::model::{CONNECT_TIMEOUT, ClientError, PROBE_TIMEOUT};
use toolgraft::secrets::Secrets;
use toolgraft::spans::{self, Span};
use toolgraft_protocol::Fault;

/// Names of a client's headers that are forwarded to the endpoint.
const TO_ENDPOINT: [&str; 5] = ["traceparent", "tracestate", "x-request-id", "openai-organization", "openai-project"];

/// Names of the endpoint's headers that are forwarded to the client.
const TO_CLIENT: [HeaderName; 3] = [header::CONTENT_TYPE, header::RETRY_AFTER, HeaderName::from_static("x-request-id")];

/// Maximum number of idle connections to the endpoint.
const MAX_IDLE: usize = 64;

/// Maximum bytes of an answer that is read whole, such as a list of models or embeddings.
pub(crate) const MAX_ANSWER: usize = 32 << 20;

/// The endpoint: a client of its models, and an HTTP client for requests that are passed through.
pub(crate) struct Upstream {
    pub(crate) model: OpenAi,
    http: reqwest::Client,
    key: Option<HeaderValue>,
    /// The server's own keys, which are removed from everything that the endpoint sends to a client.
    pub(crate) secrets: Secrets,
    /// `true` if a client's key is forwarded to the endpoint.
    hands_on_key: bool,
    idle: Duration,
}

impl Upstream {
    pub(crate) fn new(
        settings: &UpstreamSettings,
        model: Option<&str>,
        secrets: Secrets,
        learned: &Arc<TrialResults>,
    ) -> Result<Self, ClientError> {
        let mut builder = OpenAi::builder(settings.base_url.clone(), model.unwrap_or_default());
        let mut http = settings
            .trust
            .client()
            .connect_timeout(CONNECT_TIMEOUT)
            // Each holds some tens of kilobytes, and bursts of requests rarely follow each other.
            .pool_max_idle_per_host(MAX_IDLE)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if let Some((url, except)) = &settings.https_proxy {
            // The error is not quoted, since the URL may hold a password.
            let bad = |_| ClientError::new("cannot set up HTTP: the proxy's URL cannot be used", None);
            let except = reqwest::NoProxy::from_string(except);
            http = http.proxy(reqwest::Proxy::https(url).map_err(bad)?.no_proxy(except));
        }
        let http = http
            .build()
            .map_err(|e| ClientError::new(format!("cannot set up HTTP: {e}"), Some(toolgraft::Cause::new(e))))?;
        builder = builder.http_client(http.clone()).idle_timeout(settings.idle_timeout);
        if let Some(key) = &settings.key {
            builder = builder.api_key(key.clone());
        }
        // If nobody stores the results, each start of the server would repeat the trials.
        if learned.tell.is_some() {
            builder = builder.native_trials(learned.clone());
        }
        let model = builder.build()?;
        let key = settings.key.as_ref().and_then(|key| HeaderValue::from_str(&format!("Bearer {}", key.trim())).ok());
        Ok(Upstream { model, http, key, secrets, hands_on_key: settings.hands_on_key, idle: settings.idle_timeout })
    }

    /// Returns the headers of a client's request that identify its tracing span (`traceparent`, `tracestate`).
    pub(crate) fn traced(&self, from: &HeaderMap) -> Vec<(String, String)> {
        self.headers(from).into_iter().filter(|(name, _)| name.starts_with("trace")).collect()
    }

    /// Returns the headers of a client's request that are forwarded to the endpoint, with the client's key unless the
    /// server withholds it.
    pub(crate) fn headers(&self, from: &HeaderMap) -> Vec<(String, String)> {
        let text = |name: &str| from.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut headers: Vec<_> =
            TO_ENDPOINT.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?))).collect();
        if self.hands_on_key
            && let Some(key) = client_key(from)
        {
            headers.push(("authorization".to_owned(), format!("Bearer {key}")));
        }
        headers
    }

    /// Sends a request to the endpoint unchanged and returns the endpoint's answer; both are traced in this span.
    pub(crate) async fn pass(
        &self,
        method: Method,
        path: &str,
        from: &HeaderMap,
        body: Bytes,
        span: Span,
    ) -> Result<Response, Fault> {
        let mut request = self.http.request(method.clone(), self.url(path));
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body.clone());
        }
        if let Some(accept) = from.get(header::ACCEPT) {
            request = request.header(header::ACCEPT, accept);
        }
        let ours = spans::headers(&span);
        // With a registered propagation our span is the parent of the endpoint's; without one the client's
        // headers pass.
        let theirs = self.headers(from).into_iter().filter(|(name, _)| ours.iter().all(|(own, _)| own != name));
        for (name, value) in theirs.chain(ours.iter().cloned()) {
            request = request.header(name, value);
        }
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key);
        }
        let again = request.try_clone();
        let mut sent = tokio::time::timeout(self.idle, request.send()).await;
        if let (Ok(Err(error)), Some(again)) = (&sent, again)
            && is_stale(error)
        {
            sent = tokio::time::timeout(self.idle, again.send()).await;
        }
        let silent = || format!("the endpoint sent no byte for {} seconds", self.idle.as_secs_f64());
        let silent = |_| Fault::upstream(504, silent()).with_code("upstream_silent");
        let sent = sent.map_err(silent).and_then(|sent| sent.map_err(|error| not_sent(&error)));
        let answer = sent.inspect_err(|fault| spans::failed(&span, fault.code.unwrap_or("upstream_failed")))?;
        // The base URL lacks `/v1`. It is corrected only once, so this does not repeat.
        if answer.status() == StatusCode::NOT_FOUND && self.model.add_v1().await.is_some() {
            return Box::pin(self.pass(method, path, from, body, span)).await;
        }
        if !answer.status().is_success() {
            spans::failed(&span, answer.status().as_str());
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = answer.status();
        for (name, value) in answer.headers() {
            if TO_CLIENT.contains(name) || name.as_str().starts_with("x-ratelimit-") {
                let shown = redaction::header(value, &self.secrets);
                shown.into_iter().for_each(|value| {
                    response.headers_mut().insert(name.clone(), value);
                });
            }
        }
        let idle = self.idle;
        let chunks = stream::unfold(Some((answer, span)), move |answer| async move {
            // The span ends with the answer.
            let (mut answer, span) = answer?;
            match tokio::time::timeout(idle, answer.chunk()).await {
                Ok(Ok(Some(bytes))) => Some((Ok(bytes), Some((answer, span)))),
                Ok(Ok(None)) => None,
                // The client's connection is cut off, as the endpoint's was.
                Ok(Err(error)) => Some((Err(std::io::Error::other(error.without_url())), None)),
                Err(_) => Some((Err(std::io::Error::from(std::io::ErrorKind::TimedOut)), None)),
            }
        });
        *response.body_mut() = redaction::body(Body::from_stream(chunks), self.secrets.clone());
        Ok(response)
    }

    /// Sends a request and parses its answer as JSON; `name` is the answer's name in errors.
    pub(crate) async fn json(
        &self,
        method: Method,
        path: &str,
        from: &HeaderMap,
        body: Bytes,
        name: &str,
    ) -> Result<(StatusCode, Value), Fault> {
        let response = self.pass(method, path, from, body, Span::none()).await?;
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), MAX_ANSWER).await;
        let body = body.map_err(|_| Fault::upstream(502, format!("the endpoint's {name} was cut off")))?;
        let json = serde_json::from_slice(&body);
        Ok((status, json.map_err(|_| Fault::upstream(502, format!("the endpoint's {name} is not JSON")))?))
    }

    /// Returns the answer of Ollama's own API at the endpoint, whose paths begin with `/api` beside `/v1`; `None` if
    /// the endpoint does not have it.
    pub(crate) async fn of_ollama(&self, method: Method, path: &str, from: &HeaderMap, body: Bytes) -> Option<Value> {
        if !self.model.url().path().ends_with("/v1/chat/completions") {
            return None;
        }
        let path = format!("../api/{path}");
        let asked = self.json(method, &path, from, body, "answer");
        let (status, said) = tokio::time::timeout(PROBE_TIMEOUT, asked).await.ok()?.ok()?;
        (status.is_success() && said.is_object()).then_some(said)
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.model.url();
        let base = url.path().trim_end_matches("/chat/completions").to_owned();
        url.set_path(&format!("{base}/{path}"));
        url
    }
}

fn not_sent(error: &reqwest::Error) -> Fault {
    let (cause, trust) =
        (toolgraft::Cause::chain(error), "SSL_CERT_FILE can name a file of those to trust, its own among them");
    let (why, code) = if let Some(fault) = certificate_fault(&cause, trust) {
        (fault, "upstream_untrusted")
    } else if let Some(fault) = proxy_fault(&cause) {
        (fault.to_owned(), "upstream_unreachable")
    } else if error.is_connect() {
        ("is the server running, and is this its port?".to_owned(), "upstream_unreachable")
    } else {
        return Fault::upstream(502, "the request to the endpoint failed").with_code("upstream_failed");
    };
    Fault::upstream(502, format!("cannot connect to the endpoint: {why}")).with_code(code)
}
