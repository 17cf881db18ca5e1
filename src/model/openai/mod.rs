//! A model behind an OpenAI-compatible endpoint.

mod error;
mod guard;
mod list;
mod open;
mod probe;
mod read;
mod request;
mod retry;
mod trace;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::{Model, ModelError, ModelEvent, Request};
use crate::secrets::Secrets;

pub use error::{ClientError, shown_url};
pub use guard::MAX_EVENT;
pub use list::{LIST_TIMEOUT, ModelInfo};
pub use probe::PROBE_TIMEOUT;
pub use trace::Tracer;

/// Limit of a TCP and TLS connection attempt, unless configured otherwise.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest silence of the endpoint, unless configured otherwise. A local server
/// may load a model and read a long prompt before its first byte.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// Further attempts after the first, unless configured otherwise.
pub const RETRIES: u32 = 2;

/// Longest wait before the second attempt, unless configured otherwise or the
/// endpoint says `Retry-After`; each further one is twice the one before. By
/// chance, a wait is between half of that and all of it.
pub const BACKOFF: Duration = Duration::from_millis(500);

/// Longest `Retry-After` (seconds or a date) that is waited for; a longer one is reported at once.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// A model behind an endpoint with `/chat/completions`: LM Studio, Ollama,
/// llama.cpp, vLLM, DeepSeek's API and others. Cheap to clone.
///
/// Answers are streamed. Refusals for the moment (HTTP 429 and 5xx) and failed
/// connections are tried again before the answer has begun, never after. There
/// is no limit to the time of an answer, only to silence. Dropping the stream
/// closes the connection, and the endpoint stops.
///
/// Tools are sent where the request holds them. Calls that an endpoint puts into
/// `tool_calls`, asked for or not, come as [`ModelEvent::Call`].
///
/// Redirects are not followed, and no proxy is taken from the environment.
/// Needs a tokio runtime with time and I/O.
#[derive(Clone)]
pub struct OpenAi {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    http: reqwest::Client,
    chat: Url,
    models: Url,
    model: String,
    parameters: Map<String, Value>,
    idle: Duration,
    retries: u32,
    backoff: Duration,
    /// Headers of every request.
    headers: HeaderMap,
    /// What must not stand in a message or a trace.
    secrets: Secrets,
    trace: Option<Tracer>,
    /// Shared by all clients of the endpoint.
    learned: Arc<Mutex<Learned>>,
}

/// What is known of an endpoint's models.
#[derive(Default)]
struct Learned {
    /// Whether requests may carry tools, as far as the endpoint says.
    tools: HashMap<String, Option<bool>>,
    /// Models that took a request with tools.
    took: HashSet<String>,
    /// Models whose calls must be sent back with the reasoning before them.
    reasoning: HashSet<String>,
}

impl Inner {
    fn learned(&self) -> MutexGuard<'_, Learned> {
        // Nothing is done under the lock that could panic half-way.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Options of an [`OpenAi`].
#[derive(Clone)]
#[must_use]
pub struct OpenAiBuilder {
    base_url: String,
    model: String,
    api_key: Option<String>,
    headers: Vec<(String, String)>,
    parameters: Map<String, Value>,
    connect: Duration,
    idle: Duration,
    retries: u32,
    backoff: Duration,
    trace: Option<Tracer>,
}

impl OpenAi {
    /// The model `model` of the endpoint at `base_url`, such as
    /// `http://localhost:11434/v1`, without a key and with all defaults.
    ///
    /// # Errors
    /// The URL is none of HTTP.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Result<Self, ClientError> {
        OpenAi::builder(base_url, model).build()
    }

    /// Options of a client for the model `model` of the endpoint at `base_url`.
    pub fn builder(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiBuilder {
        OpenAiBuilder {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            headers: Vec::new(),
            parameters: Map::new(),
            connect: CONNECT_TIMEOUT,
            idle: IDLE_TIMEOUT,
            retries: RETRIES,
            backoff: BACKOFF,
            trace: None,
        }
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.inner.model
    }

    /// The same endpoint with another model; connections are shared.
    #[must_use]
    pub fn with_model(&self, model: impl Into<String>) -> Self {
        OpenAi { inner: Arc::new(Inner { model: model.into(), ..(*self.inner).clone() }) }
    }

    /// The endpoint's models, as it lists them under `/models`. To choose one
    /// before there is any, build a client with an empty name, then use
    /// [`with_model`](OpenAi::with_model).
    ///
    /// # Errors
    /// As for an answer, and where the endpoint has no list; nothing is tried
    /// again, and an endpoint that says nothing for [`LIST_TIMEOUT`] counts as failed.
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.inner.list_models().await
    }
}

impl Model for OpenAi {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let inner = self.inner.clone();
        stream::once(async move {
            match inner.open(&request).await {
                Ok(events) => events,
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        })
        .flatten()
        .boxed()
    }

    /// Asks the endpoint once per model, in at most [`PROBE_TIMEOUT`], without a
    /// token of the model's: its list of models (unless it is on this machine), then `/api/show` (Ollama),
    /// `/api/v0/models` (LM Studio) and `/props` (llama.cpp) beside `/v1`. A
    /// refusal of tools is kept too. Clients of [`with_model`](OpenAi::with_model)
    /// share what is known.
    fn native_tools(&self, model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        let inner = self.inner.clone();
        let model = model.unwrap_or(&inner.model).to_owned();
        Box::pin(async move { inner.native_tools(&model).await })
    }
}

impl OpenAiBuilder {
    /// Sets the API key, sent as a bearer token. It is shown in no message.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Adds a header to every request. Its value is shown in no message.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a field to the request's body, or replaces one; `null` takes one
    /// away, such as `stream_options` for an endpoint that refuses it.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the limit of a connection attempt. Default [`CONNECT_TIMEOUT`].
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets the longest silence of the endpoint, before and within an answer.
    /// Default [`IDLE_TIMEOUT`].
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sets how often a request is tried again before its answer has begun.
    /// Default [`RETRIES`].
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the longest wait before the second attempt. Default [`BACKOFF`].
    pub fn backoff(mut self, wait: Duration) -> Self {
        self.backoff = wait;
        self
    }

    /// Writes all that goes over the wire, without secrets.
    pub fn trace(mut self, tracer: Tracer) -> Self {
        self.trace = Some(tracer);
        self
    }

    /// The client.
    ///
    /// # Errors
    /// The URL is none of HTTP, or the key or a header cannot be sent.
    pub fn build(self) -> Result<OpenAi, ClientError> {
        let base = base(&self.base_url)?;
        let headers = self.header_map()?;
        let http = reqwest::Client::builder()
            .default_headers(headers.clone())
            .connect_timeout(self.connect)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("toolgraft/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| ClientError::Http { message: error::chain(&e) })?;
        let secrets = self.api_key.into_iter().chain(self.headers.into_iter().map(|(_, value)| value));
        let secrets = Secrets::new(secrets.chain(trace::secrets_of(&base)));
        let inner = Inner {
            http,
            chat: with_path(&base, "chat/completions"),
            models: with_path(&base, "models"),
            model: self.model,
            parameters: self.parameters,
            idle: self.idle,
            retries: self.retries,
            backoff: self.backoff,
            headers,
            secrets,
            trace: self.trace,
            learned: Arc::default(),
        };
        Ok(OpenAi { inner: Arc::new(inner) })
    }

    fn header_map(&self) -> Result<HeaderMap, ClientError> {
        let mut map = HeaderMap::new();
        if let Some(key) = &self.api_key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.trim()));
            map.insert(AUTHORIZATION, sensitive(value.map_err(|_| ClientError::Key)?));
        }
        for (name, value) in &self.headers {
            let value =
                HeaderValue::from_str(value.trim()).map_err(|_| ClientError::HeaderValue { name: name.clone() })?;
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| ClientError::HeaderName { name: name.clone() })?;
            map.insert(name, sensitive(value));
        }
        Ok(map)
    }
}

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

/// The endpoint's URL without a slash at its end; that of `/chat/completions` is taken too.
fn base(text: &str) -> Result<Url, ClientError> {
    let bad = |message: String| ClientError::Url { url: error::shown_url(text), message };
    let mut url = Url::parse(text.trim()).map_err(|e| bad(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(bad(format!("{:?} is not a scheme for it", url.scheme())));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path).to_owned();
    url.set_path(&path);
    Ok(url)
}

fn with_path(base: &Url, more: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{more}", base.path().trim_end_matches('/')));
    url
}

impl std::fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = error::shown(&self.inner.chat);
        f.debug_struct("OpenAi").field("url", &url).field("model", &self.inner.model).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OpenAiBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = error::shown_url(&self.base_url);
        f.debug_struct("OpenAiBuilder").field("url", &url).field("model", &self.model).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_url_may_end_in_a_slash_or_in_the_path_itself() {
        for text in ["http://host:1/v1", "http://host:1/v1/", "http://host:1/v1/chat/completions"] {
            let base = base(text).unwrap();
            assert_eq!(with_path(&base, "models").as_str(), "http://host:1/v1/models", "{text}");
        }
        let azure = base("https://host/openai?api-version=1").unwrap();
        assert_eq!(with_path(&azure, "models").as_str(), "https://host/openai/models?api-version=1");
        for text in ["localhost:1234", "file:///v1", "", "host"] {
            let error = base(text).unwrap_err().to_string();
            assert!(error.contains("http://localhost:11434/v1"), "{error}");
        }
    }

    #[test]
    fn secrets_stand_neither_in_debug_nor_in_errors() {
        let builder = OpenAi::builder("http://user:pass-word@host/v1?key=s3cret", "m").api_key("sk-12345678");
        let builder = builder.header("X-Key", "s3cret-header");
        let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
        for secret in ["pass-word", "s3cret", "sk-1234"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        let error = builder.clone().api_key("sk-\n-x").build().unwrap_err().to_string();
        assert!(error.contains("key") && !error.contains("sk-"), "{error}");
        let error = builder.header("X-Other", "s3\0").build().unwrap_err().to_string();
        assert!(error.contains("X-Other") && !error.contains("s3"), "{error}");
    }
}
