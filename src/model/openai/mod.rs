//! A model behind an OpenAI-compatible endpoint.
//!
//! In: a [`Request`], of messages, tools and perhaps a structure. Out: [`ModelEvent`]s, in the
//! order of the stream, or one error that says where and what helps.
//!
//! ```text
//! Request ─▶ request   the body; form, hold: in which form it asks for a structure
//!             └▶ open  attempts, waits (retry), refusals (error)
//!                 └▶ guard ─▶ read ─▶ ModelEvent…   bytes, server-sent events, chunks (skeleton)
//! ```
//!
//! What an endpoint is and has is asked beside that: `list` (its models), `probe` and `info` (a
//! model's context, size and template), `server` (which program it is, and what it calls its
//! settings), `faults` (what its own tool calling fails at), `native` (whether it works, tried out). `trace` writes down what goes over the wire. Out of scope: what the text means,
//! and other interfaces' streams.

mod error;
mod faults;
mod form;
mod guard;
mod hold;
mod info;
mod list;
mod native;
pub(crate) mod open;
mod probe;
pub(crate) mod read;
pub(crate) mod request;
pub(crate) mod retry;
mod server;
mod skeleton;
mod terms;
mod trace;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::mpsc;
use futures::future::{BoxFuture, WeakShared};
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use self::terms::Terms;
use super::{ContextWindow, Model, ModelError, ModelEvent, Request};
use crate::cause::Cause;
use crate::http::Trust;
use crate::secrets::Secrets;
use crate::spans::Peer;

pub use error::ClientError;
pub use faults::ServerFault;
pub use guard::MAX_EVENT;
pub use info::ModelInfo;
pub use list::LIST_TIMEOUT;
pub use native::{NativeAnswer, NativeTrials, TRIAL_QUESTION, trial_tool};
pub use probe::PROBE_TIMEOUT;
pub use server::ServerKind;
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
/// An answer is held to the structure that the request demands, in the form that the endpoint
/// takes: that is known by its host and its list of models, and a refusal is remembered. The
/// request then goes out in the next form, at last in none, or fails where the structure is
/// required. docs/models.md has the forms.
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
    /// Fields of the chunks are handed on that no event tells of.
    fields: bool,
    /// Native calls are tried before they are relied on, and what was found is kept there.
    trials: Option<Arc<dyn NativeTrials>>,
    /// Shared by all clients of the endpoint.
    learned: Arc<Mutex<Learned>>,
}

/// What is known of an endpoint's models.
#[derive(Default)]
struct Learned {
    /// Whether requests may carry tools, as far as the endpoint says.
    tools: HashMap<String, Option<bool>>,
    /// What the endpoint says of its models.
    info: HashMap<String, ModelInfo>,
    /// Those that it is being asked about.
    asked: HashMap<String, WeakShared<BoxFuture<'static, Option<ModelInfo>>>>,
    /// Those whose native calls are being tried.
    trying: HashMap<String, WeakShared<BoxFuture<'static, Option<bool>>>>,
    /// The models as they were listed last; empty where there is no list.
    listed: Option<Vec<ModelInfo>>,
    /// Models that took a request with tools.
    took: HashSet<String>,
    /// What requests for its models must do without.
    terms: HashMap<String, Terms>,
    /// In which forms answers are held to a structure.
    forms: form::Forms,
}

impl Inner {
    fn learned(&self) -> MutexGuard<'_, Learned> {
        // Nothing is done under the lock that could panic half-way.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Options of an [`OpenAi`], in any order.
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
    trust: Trust,
    http: Option<reqwest::Client>,
    trials: Option<Arc<dyn NativeTrials>>,
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
            trust: Trust::default(),
            http: None,
            trials: None,
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

    /// The same client with all that goes over the wire written down from here on, without
    /// secrets; what it knows of the endpoint is shared.
    #[must_use]
    pub fn with_trace(&self, tracer: Tracer) -> Self {
        OpenAi { inner: Arc::new(Inner { trace: Some(tracer), ..(*self.inner).clone() }) }
    }

    /// The same endpoint for one request of somebody else's: its body, its headers, which go
    /// with all that is asked for it, and how often it is tried again. Fields that no event
    /// tells of are handed on.
    ///
    /// # Errors
    /// A header cannot be sent.
    pub fn for_body(
        &self,
        body: Map<String, Value>,
        headers: &[(String, String)],
        retries: u32,
    ) -> Result<Self, ClientError> {
        let mut inner = Inner { parameters: body, retries, fields: true, ..(*self.inner).clone() };
        insert(&mut inner.headers, headers)?;
        Ok(OpenAi { inner: Arc::new(inner) })
    }

    /// Where the chat goes.
    pub fn url(&self) -> &Url {
        &self.inner.chat
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

    /// The listed model of this name, or the only one that is listed; asked for once, in at most
    /// [`PROBE_TIMEOUT`].
    pub async fn listed_model(&self, model: &str) -> Option<ModelInfo> {
        self.inner.listed_model(model).await
    }

    /// The base URL with `/v1` behind it, where that lists models and the client's own has
    /// no `/v1`: for a program that corrects the address that a person gave.
    pub async fn missing_v1(&self) -> Option<String> {
        self.inner.with_v1().await
    }

    /// The version of what serves the model, where the endpoint was asked and says it.
    pub fn known_version(&self, model: &str) -> Option<String> {
        self.inner.learned().info.get(model)?.version.clone()
    }

    /// What requests for the model do without since the endpoint refused it: `system_role`,
    /// `stream_options`, `logprobs`.
    pub fn does_without(&self) -> Vec<&'static str> {
        self.inner.learned().terms.get(&self.inner.model).map(|terms| terms.names()).unwrap_or_default()
    }

    /// What the endpoint says of the model; `None` where nobody answers.
    ///
    /// Asked once per model, in at most [`PROBE_TIMEOUT`], without a token of the
    /// model's: the list of models (of those on this machine, llama.cpp's alone), then
    /// `/api/show` and `/api/ps` (Ollama), `/api/v0/models` (LM Studio) and `/props`
    /// (llama.cpp) beside `/v1`. Clients of [`with_model`](OpenAi::with_model) share what
    /// is known.
    pub async fn model_info(&self) -> Option<ModelInfo> {
        self.inner.model_info(&self.inner.model).await
    }
}

impl Model for OpenAi {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let inner = self.inner.clone();
        let (tell, told) = mpsc::unbounded();
        // In a box of its own, which goes once the answer has begun.
        let answer = stream::once(Box::pin(async move {
            match inner.open(&request, &tell).await {
                Ok(events) => events,
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        }));
        stream::select(told.map(|progress| Ok(ModelEvent::Progress(progress))), answer.flatten()).boxed()
    }

    /// As [`model_info`](OpenAi::model_info) says, and as [trials](OpenAiBuilder::native_trials) found. A
    /// refusal of tools is kept too.
    fn native_tools(&self, model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        let inner = self.inner.clone();
        let model = model.unwrap_or(&inner.model).to_owned();
        Box::pin(async move { inner.native_tools(&model).await })
    }

    fn constrains(&self) -> bool {
        true
    }

    fn peer(&self) -> Peer {
        let (url, model) = (&self.inner.chat, &self.inner.model);
        Peer {
            model: Some(model.clone()),
            provider: Some(match ServerKind::of_host(url) {
                Some(ServerKind::DeepSeek) => "deepseek",
                // As others do for what speaks that interface.
                _ => "openai",
            }),
            address: url.host_str().map(str::to_owned),
            port: url.port_or_known_default(),
        }
    }

    /// As [`model_info`](OpenAi::model_info) says.
    fn context_window(&self, model: Option<&str>) -> BoxFuture<'static, Option<ContextWindow>> {
        let inner = self.inner.clone();
        let model = model.unwrap_or(&inner.model).to_owned();
        Box::pin(async move {
            let info = inner.model_info(&model).await?;
            let tokens = usize::try_from(info.context?).ok()?;
            let remedy = info.server.map(|server| server.longer_context().to_owned());
            Some(ContextWindow { tokens, remedy })
        })
    }
}

impl OpenAiBuilder {
    /// Sets the API key, sent as a bearer token. It is shown in no message.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Adds a header to every request, or replaces one, the key's `Authorization` too. Its
    /// value is shown in no message. For one request see [`Request::with_header`].
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

    /// Sets the certificates that are trusted beside the system's.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets the HTTP client, for a program that shares one, or needs a proxy or a resolver of its own.
    /// Its own limits, redirects and certificates count then, and [`connect_timeout`](Self::connect_timeout)
    /// and [`trust`](Self::trust) do not; key and headers are sent all the same.
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.http = Some(client);
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

    /// Tries native calls before they are relied on ([`Model::native_tools`]): where the endpoint says that
    /// the model takes tools, and says its own version, one call is asked for and an answer by its result,
    /// two requests of at most 1,024 tokens each. What came of it is kept there; without this nothing is tried.
    pub fn native_trials(mut self, kept: Arc<dyn NativeTrials>) -> Self {
        self.trials = Some(kept);
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
        let http = match self.http {
            Some(client) => client,
            None => self
                .trust
                .client()
                .no_proxy()
                .connect_timeout(self.connect)
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .map_err(|e| ClientError::Http { message: Cause::chain(&e), source: Some(Cause::new(e)) })?,
        };
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
            fields: false,
            trials: self.trials,
            learned: Arc::default(),
        };
        Ok(OpenAi { inner: Arc::new(inner) })
    }

    fn header_map(&self) -> Result<HeaderMap, ClientError> {
        let mut map = HeaderMap::new();
        if let Some(key) = &self.api_key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.trim()));
            map.insert(AUTHORIZATION, sensitive(value.map_err(|e| ClientError::Key { source: Cause::new(e) })?));
        }
        insert(&mut map, &self.headers)?;
        Ok(map)
    }
}

/// Adds headers to those that are there; one of the same name is replaced.
fn insert(map: &mut HeaderMap, headers: &[(String, String)]) -> Result<(), ClientError> {
    for (name, value) in headers {
        let value = HeaderValue::from_str(value.trim())
            .map_err(|e| ClientError::HeaderValue { name: name.clone(), source: Cause::new(e) })?;
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|e| ClientError::HeaderName { name: name.clone(), source: Cause::new(e) })?;
        map.insert(name, sensitive(value));
    }
    Ok(())
}

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

/// The endpoint's URL without a slash at its end; that of `/chat/completions` is taken too.
fn base(text: &str) -> Result<Url, ClientError> {
    // `localhost:11434` would be a URL with the scheme `localhost`.
    let is_bare = !text.contains("://");
    let bad = |message: String, source| {
        let message = if is_bare { "no http:// or https:// stands in front".to_owned() } else { message };
        ClientError::Url { url: crate::secrets::shown_url(text), message, source }
    };
    let mut url = Url::parse(text.trim()).map_err(|e| bad(e.to_string(), Some(Cause::new(e))))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(bad(format!("{:?} is not a scheme for it", url.scheme()), None));
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

crate::message::opaque_debug!(OpenAi, self => url: crate::secrets::shown_url(self.inner.chat.as_str()), model: self.inner.model);

crate::message::opaque_debug!(OpenAiBuilder, self => url: crate::secrets::shown_url(&self.base_url), model: self.model);

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
    fn the_order_of_a_builders_options_changes_nothing() {
        type Set = fn(OpenAiBuilder) -> OpenAiBuilder;
        let sets: [Set; 7] = [
            |b| b.api_key("sk-12345678"),
            |b| b.header("Authorization", "Basic 1234"),
            |b| b.header("X-A", "1"),
            |b| b.parameter("top_p", 0.5),
            |b| b.http_client(crate::http::client().build().unwrap()),
            |b| b.connect_timeout(Duration::from_secs(1)),
            |b| b.idle_timeout(Duration::from_secs(2)).retries(7).backoff(Duration::ZERO),
        ];
        let built = |order: &mut dyn Iterator<Item = &Set>| {
            let client = order.fold(OpenAi::builder("http://h/v1", "m"), |builder, set| set(builder)).build().unwrap();
            let Inner { parameters, idle, retries, backoff, headers, secrets, .. } = (*client.inner).clone();
            (parameters, idle, retries, backoff, headers, secrets == Secrets::new(["sk-12345678", "Basic 1234", "1"]))
        };
        let first = built(&mut sets.iter());
        assert_eq!((&first.4[AUTHORIZATION], first.2, first.5), (&HeaderValue::from_static("Basic 1234"), 7, true));
        assert_eq!(first.4.len(), 2);
        for at in 0..sets.len() {
            let turned = || sets[at..].iter().chain(&sets[..at]);
            assert_eq!(built(&mut turned()), first);
            assert_eq!(built(&mut turned().rev()), first);
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
        for (wrong, named, secret) in [
            (builder.clone().api_key("sk-\n-x"), "key", "sk-"),
            (builder.clone().header("X-Other", "s3\0"), "X-Other", "s3"),
            (builder.header("X Other", "s3"), "X Other", "s3"),
        ] {
            let error = wrong.build().unwrap_err();
            let source = std::error::Error::source(&error).unwrap();
            assert!(error.to_string().contains(named), "{error}");
            assert!(!format!("{error} {error:?} {source} {source:?}").contains(secret), "{error:?}");
        }
    }
}
