//! A model on an OpenAI-compatible endpoint.
//!
//! The input is a [`Request`] with messages, tools and possibly a structure. The output is [`ModelEvent`]s in the order
//! of the stream, or one error that says where it occurred and what helps.
//!
//! ```text
//! Request ─▶ request   the body; form, hold: in which form it asks for a structure
//!             └▶ open  attempts, waits (retry), refusals (error)
//!                 └▶ guard ─▶ read ─▶ ModelEvent…   bytes, server-sent events, chunks (skeleton)
//! ```
//!
//! Further modules find out the properties of an endpoint: `list` (its models), `probe` and `info` (a model's context,
//! size and template), `server` (the program, and the names of its settings), `faults` (known faults of its own tool
//! calling), `native` (a trial of native calls). `trace` records the traffic. Out of scope: the meaning of the text,
//! and other APIs' streams.

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
mod terms;
mod trace;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::mpsc;
use futures::future::{BoxFuture, WeakShared};
use futures::stream::{self, StreamExt};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use self::terms::Terms;
use super::{ContextWindow, Model, ModelError, ModelEvent, ModelEvents, Request};
use crate::cause::Cause;
use crate::http::Trust;
use crate::message::{Delta, FinishReason, Usage};
use crate::secrets::Secrets;
use crate::spans::Peer;

pub use error::ClientError;
pub use faults::ServerFault;
pub use info::ModelInfo;
pub use list::LIST_TIMEOUT;
pub use native::{NativeAnswer, NativeTrials, TRIAL_QUESTION, trial_tool};
pub use probe::PROBE_TIMEOUT;
pub use server::ServerKind;
pub use trace::Tracer;

/// Time limit of a TCP and TLS connection attempt, unless configured otherwise.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time without data from the endpoint, unless configured otherwise. A local server may load a model and read a
/// long prompt before its first byte.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// Number of attempts after the first, unless configured otherwise.
pub const RETRIES: u32 = 2;

/// Maximum wait before the second attempt, unless configured otherwise or the endpoint sends `Retry-After`; it doubles
/// with each further attempt. The actual wait is random, between half of the maximum and all of it.
pub const BACKOFF: Duration = Duration::from_millis(500);

/// Maximum `Retry-After` (seconds or a date) that is waited for; a longer one is reported as an error at once.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// A model on an endpoint with `/chat/completions`: LM Studio, Ollama, llama.cpp, vLLM, DeepSeek's API and others.
/// Cheap to clone.
///
/// Answers are streamed. Temporary refusals (HTTP 429 and 5xx) and failed connections are retried before the answer has
/// begun, never after. There is no limit on the time of an answer, only on silence. Dropping the stream closes the
/// connection, and the endpoint stops.
///
/// An answer is constrained to the structure in the request, in a form that the endpoint supports. The forms are known
/// from its host and its list of models, and a refusal is remembered: the request is then sent in the next form, and
/// finally without a constraint; if the constraint is required, it fails instead. docs/models.md has the forms.
///
/// Tools are sent if the request has them. Calls that an endpoint puts into `tool_calls`, requested or not, become
/// [`ModelEvent::Call`].
///
/// Redirects are not followed, and no proxy is taken from the environment. It needs a tokio runtime with time and I/O.
#[derive(Clone)]
pub struct OpenAi {
    inner: Arc<EndpointInner>,
}

#[derive(Clone)]
struct EndpointInner {
    http: reqwest::Client,
    chat: Url,
    models: Url,
    model: String,
    parameters: Map<String, Value>,
    idle: Duration,
    retries: u32,
    backoff: Duration,
    /// Headers that are sent with every request.
    headers: HeaderMap,
    /// Values that must not appear in an error message or a trace.
    secrets: Secrets,
    trace: Option<Tracer>,
    /// `true` if top-level fields of the chunks that no other event contains are reported ([`ModelEvent::Fields`]).
    fields: bool,
    /// The store of trial results; `None` if native calls are not tried before they are used.
    trials: Option<Arc<dyn NativeTrials>>,
    /// Knowledge about the endpoint, shared by all clients of it.
    learned: Arc<Mutex<EndpointKnowledge>>,
}

/// Properties of an endpoint and its models that were requested from it or learned from its refusals.
#[derive(Default)]
struct EndpointKnowledge {
    /// `true` if requests may carry tools, `false` if not, `None` if that is unknown; by model.
    tools: HashMap<String, Option<bool>>,
    /// The properties that the endpoint reports for its models, by model.
    info: HashMap<String, ModelInfo>,
    /// Running requests for the properties of models, by model.
    asked: HashMap<String, WeakShared<BoxFuture<'static, Option<ModelInfo>>>>,
    /// Running trials of native calls, by model.
    trying: HashMap<String, WeakShared<BoxFuture<'static, Option<bool>>>>,
    /// The corrected URL of chat requests, if the base URL lacked the endpoint's `/v1`.
    chat: Option<Url>,
    /// The last list of models; empty if the endpoint has no list, `None` if it was not requested.
    listed: Option<Vec<ModelInfo>>,
    /// Models that accepted a request with tools.
    took: HashSet<String>,
    /// The restrictions that the endpoint has for requests, by model.
    terms: HashMap<String, Terms>,
    /// The forms of constraints that the endpoint accepts or refuses.
    forms: form::Forms,
}

impl EndpointInner {
    /// Returns the URL of chat requests, corrected if the base URL lacked `/v1`.
    fn chat(&self) -> Url {
        self.learned().chat.clone().unwrap_or_else(|| self.chat.clone())
    }

    fn learned(&self) -> MutexGuard<'_, EndpointKnowledge> {
        // No code under the lock can panic half-way.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builder of an [`OpenAi`] client; its options may be set in any order.
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
    /// Creates a client for the model `model` of the endpoint at `base_url`, such as `http://localhost:11434/v1`,
    /// without a key and with all defaults.
    ///
    /// # Errors
    /// The URL is not an HTTP URL.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Result<Self, ClientError> {
        OpenAi::builder(base_url, model).build()
    }

    /// Returns a builder of a client for the model `model` of the endpoint at `base_url`.
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

    /// Returns the name of the client's model.
    pub fn model(&self) -> &str {
        &self.inner.model
    }

    /// Returns a client for another model of the same endpoint; connections are shared.
    #[must_use]
    pub fn with_model(&self, model: impl Into<String>) -> Self {
        OpenAi { inner: Arc::new(EndpointInner { model: model.into(), ..(*self.inner).clone() }) }
    }

    /// Returns a client that records all its traffic from here on, without secrets; knowledge about the endpoint is
    /// shared.
    #[must_use]
    pub fn with_trace(&self, tracer: Tracer) -> Self {
        OpenAi { inner: Arc::new(EndpointInner { trace: Some(tracer), ..(*self.inner).clone() }) }
    }

    /// Returns a client that sends one request on behalf of another program: with that program's body, headers (for
    /// every HTTP request that it needs) and number of retries. It reports [`ModelEvent::Fields`].
    ///
    /// # Errors
    /// A header cannot be sent.
    pub fn for_body(
        &self,
        body: Map<String, Value>,
        headers: &[(String, String)],
        retries: u32,
    ) -> Result<Self, ClientError> {
        let mut inner = EndpointInner { parameters: body, retries, fields: true, ..(*self.inner).clone() };
        insert(&mut inner.headers, headers)?;
        Ok(OpenAi { inner: Arc::new(inner) })
    }

    /// Returns the URL that chat requests are sent to.
    pub fn url(&self) -> Url {
        self.inner.chat()
    }

    /// Requests the endpoint's models, listed under `/models`. To choose a model before there is one, build a client
    /// with an empty name, then use [`with_model`](OpenAi::with_model).
    ///
    /// # Errors
    /// As for an answer, and if the endpoint has no list. Nothing is retried, and an endpoint that is silent for
    /// [`LIST_TIMEOUT`] counts as failed.
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.inner.list_models().await
    }

    /// Returns the listed model of this name, or the only one in the list, else `None`. The list is requested once, in
    /// at most [`PROBE_TIMEOUT`].
    pub async fn listed_model(&self, model: &str) -> Option<ModelInfo> {
        self.inner.listed_model(model).await
    }

    /// Corrects the URL of requests if the base URL lacks `/v1` and models are listed there. Returns the corrected base
    /// URL, with its secrets; `None` if nothing was corrected. A chat response with status 404 corrects it, too.
    pub async fn add_v1(&self) -> Option<String> {
        self.inner.add_v1().await.map(Url::into)
    }

    /// Returns the version of the server that runs the model, if it was requested before and reported.
    pub fn known_version(&self, model: &str) -> Option<String> {
        self.inner.learned().info.get(model)?.version.clone()
    }

    /// Returns the features that requests to the model omit because the endpoint refused them: `system_role`,
    /// `stream_options`, `logprobs`.
    pub fn does_without(&self) -> Vec<&'static str> {
        self.inner.learned().terms.get(&self.inner.model).map(|terms| terms.names()).unwrap_or_default()
    }

    /// Returns the properties that the endpoint reports for the model; `None` if there is no answer.
    ///
    /// They are requested once per model, in at most [`PROBE_TIMEOUT`], without generating a token: the list of models
    /// (for servers on this machine, only llama.cpp's), then `/api/show` and `/api/ps` (Ollama), `/api/v0/models` (LM
    /// Studio) and `/props` (llama.cpp) next to `/v1`. Clients of [`with_model`](OpenAi::with_model) share the result.
    pub async fn model_info(&self) -> Option<ModelInfo> {
        self.inner.model_info(&self.inner.model).await
    }
}

impl Model for OpenAi {
    fn stream(&self, request: Request) -> ModelEvents {
        // A structure with a single answer needs no model.
        if let Some(only) = request.only_answer() {
            let usage = ModelEvent::Usage(Usage::default());
            let answer = [ModelEvent::Delta(Delta::content(only)), usage, ModelEvent::Finish(FinishReason::Stop)];
            return stream::iter(answer.map(Ok)).boxed();
        }
        let inner = self.inner.clone();
        let (tell, told) = mpsc::unbounded();
        // In a box of its own, which is freed once the answer has begun.
        let answer = stream::once(Box::pin(async move {
            match inner.open(&request, &tell).await {
                Ok(events) => events,
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        }));
        stream::select(told.map(|progress| Ok(ModelEvent::Progress(progress))), answer.flatten()).boxed()
    }

    /// Returns what [`model_info`](OpenAi::model_info) reports and [trials](OpenAiBuilder::native_trials) found. A
    /// refusal of tools is remembered, too.
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
                // Other instrumentations use this name for every server with this API.
                _ => "openai",
            }),
            address: url.host_str().map(str::to_owned),
            port: url.port_or_known_default(),
        }
    }

    /// Returns the context that [`model_info`](OpenAi::model_info) reports, with a remedy for the server.
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
    /// Sets the API key, which is sent as a bearer token. It appears in no error message and no trace.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Adds a header to every request, or replaces one, even the key's `Authorization`. Its value appears in no error
    /// message and no trace. For a single request see [`Request::with_header`].
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a field to the request's body, or replaces one; the value `null` removes a field, such as `stream_options`
    /// for an endpoint that refuses it.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the certificates that are trusted in addition to the system's.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Sets the HTTP client, for a program that shares one, or needs a proxy or a resolver of its own. Its own limits,
    /// redirects and certificates apply, and [`connect_timeout`](Self::connect_timeout) and [`trust`](Self::trust) are
    /// ignored; key and headers are still sent.
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.http = Some(client);
        self
    }

    /// Sets the time limit of a connection attempt. Default [`CONNECT_TIMEOUT`].
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets the maximum time without data from the endpoint, before and within an answer. Default [`IDLE_TIMEOUT`].
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sets the number of retries of a request before its answer has begun. Default [`RETRIES`].
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the maximum wait before the second attempt. Default [`BACKOFF`].
    pub fn backoff(mut self, wait: Duration) -> Self {
        self.backoff = wait;
        self
    }

    /// Tries native calls before they are used ([`Model::native_tools`]). If the endpoint reports that the model
    /// accepts tools, and reports its own version, a trial requests one call and an answer that uses its result: two
    /// requests of at most 1,024 tokens each. The result is stored in `kept`. Without this option nothing is tried.
    pub fn native_trials(mut self, kept: Arc<dyn NativeTrials>) -> Self {
        self.trials = Some(kept);
        self
    }

    /// Records all HTTP traffic with `tracer`, without secrets.
    pub fn trace(mut self, tracer: Tracer) -> Self {
        self.trace = Some(tracer);
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    /// The URL is not an HTTP URL, or the key or a header cannot be sent.
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
                .map_err(|e| bad(format!("cannot set up HTTP: {}", Cause::chain(&e)), e))?,
        };
        let secrets = self.api_key.into_iter().chain(self.headers.into_iter().map(|(_, value)| value));
        let secrets = Secrets::new(secrets.chain(trace::secrets_of(&base)));
        let inner = EndpointInner {
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
            let value = value.map_err(|e| bad("the API key has a character that a header cannot hold", e))?;
            map.insert(AUTHORIZATION, sensitive(value));
        }
        insert(&mut map, &self.headers)?;
        Ok(map)
    }
}

fn bad(message: impl Into<String>, source: impl std::error::Error + Send + Sync + 'static) -> ClientError {
    ClientError::new(message, Some(Cause::new(source)))
}

/// Adds headers to a map, replacing those with the same name; an error if a name or value is not valid in HTTP.
fn insert(map: &mut HeaderMap, headers: &[(String, String)]) -> Result<(), ClientError> {
    for (name, value) in headers {
        let value = HeaderValue::from_str(value.trim()).map_err(|e| {
            bad(format!("the header {name:?} has a character in its value that a header cannot hold"), e)
        })?;
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|e| bad(format!("{name:?} is not a header's name: letters, digits and hyphens only"), e))?;
        map.insert(name, sensitive(value));
    }
    Ok(())
}

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

/// Parses the endpoint's base URL and removes a slash at its end. The URL of `/chat/completions` is accepted, too.
fn base(text: &str) -> Result<Url, ClientError> {
    // `localhost:11434` would be a URL with the scheme `localhost`.
    let is_bare = !text.contains("://");
    let bad = |message: String, source| {
        let message = if is_bare { "it has no http:// or https:// in front".to_owned() } else { message };
        let url = crate::secrets::shown_url(text);
        let remedy = "write http://HOST:PORT/v1, such as http://localhost:11434/v1";
        ClientError::new(format!("{url:?} is not an endpoint's URL ({message}): {remedy}"), source)
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
            let EndpointInner { parameters, idle, retries, backoff, headers, secrets, .. } = (*client.inner).clone();
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
