//! From a request to the beginning of its answer: attempts, refusals, what kind of answer it is.

use std::time::{Duration, SystemTime};

use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, StatusCode, Url};

use super::error::{body_words, cause, context_exceeded, line, remedy, shown, silence, title};
use super::list::ModelInfo;
use super::read::{Source, events, whole};
use super::retry::{jittered, random, retry_after};
use super::trace::Response;
use super::{Inner, MAX_EVENT, MAX_RETRY_AFTER};
use crate::model::{ModelError, ModelEvent, Request};
use crate::secrets::Secrets;

/// Most bytes of a refusal that are read, and the time for that.
const MAX_REFUSAL: usize = 64 << 10;
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Most models that an error names.
const MAX_NAMES: usize = 10;

type Events = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// A failed attempt, and when to try again.
struct Failed {
    error: ModelError,
    again: Option<Again>,
}

enum Again {
    /// After the usual wait.
    Later,
    /// After this time, as the endpoint said.
    After(Duration),
}

impl Inner {
    /// Sends the request until it is answered or refused for good.
    pub(super) async fn open(&self, request: &Request) -> Result<Events, ModelError> {
        let model = request.model.as_deref().unwrap_or(&self.model);
        let has_tools = !request.tools.is_empty();
        let body = |reasoning| super::request::body(model, request, &self.parameters, reasoning).to_string();
        let mut with_reasoning = self.learned().reasoning.contains(model);
        let mut text = body(with_reasoning);
        let mut wait = self.backoff;
        let mut left = self.retries;
        loop {
            let failed = match self.attempt(&text).await {
                Ok(response) => {
                    if has_tools {
                        self.took_tools(model);
                    }
                    return self.read(response).await;
                }
                Err(failed) => failed,
            };
            if !with_reasoning && wants_reasoning(request, &failed.error) {
                self.learned().reasoning.insert(model.to_owned());
                with_reasoning = true;
                text = body(true);
                continue;
            }
            if has_tools && failed.error.refuses_tools() {
                self.refused_tools(model);
                return Err(failed.error);
            }
            let pause = match failed.again {
                Some(Again::Later) if left > 0 => jittered(wait, random()),
                Some(Again::After(time)) if left > 0 && time <= MAX_RETRY_AFTER => time,
                _ => return Err(failed.error),
            };
            left -= 1;
            wait = wait.saturating_mul(2);
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, body: &str) -> Result<Response, Failed> {
        let request = self
            .http
            .post(self.chat.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body.to_owned());
        let sent = tokio::time::timeout(self.idle, self.send(request)).await;
        let silent = || ModelError::BadAnswer { url: shown(&self.chat), message: silence(self.idle) };
        let response = match sent {
            Err(_) => return Err(Failed { error: silent(), again: None }),
            Ok(Err(error)) => {
                let again = error.is_connect().then_some(Again::Later);
                return Err(Failed { error: self.not_sent(&self.chat, &error), again });
            }
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    /// Sends a request, traced where that is wanted.
    pub(super) async fn send(&self, request: RequestBuilder) -> reqwest::Result<Response> {
        let request = request.build()?;
        let mut exchange = self.trace.as_ref().map(|trace| trace.exchange(&request, &self.headers, &self.secrets));
        let sent = self.http.execute(request).await;
        if let (Err(error), Some(exchange)) = (&sent, &mut exchange) {
            exchange.failed(error);
        }
        Ok(Response::new(sent?, exchange))
    }

    pub(super) fn not_sent(&self, url: &Url, error: &reqwest::Error) -> ModelError {
        let (local, url, cause) = (is_local(url), shown(url), self.hide(cause(error)));
        if !error.is_connect() {
            return ModelError::BadAnswer { url, message: format!("the request failed: {cause}") };
        }
        let help = if local {
            "is the server running (LM Studio, Ollama, llama.cpp), and is this its port?"
        } else {
            "check the base URL and the network"
        };
        ModelError::Unreachable { url, message: format!("{cause}: {help}") }
    }

    async fn refused(&self, response: Response) -> Failed {
        let (status, after) = (response.status(), retry_after(response.headers(), SystemTime::now()));
        let mut source = Source::new(response, self.idle);
        let body = tokio::time::timeout(REFUSAL_TIME, source.collect(MAX_REFUSAL)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        let mut message = self.hide(body_words(&body));
        if !matches!(status.as_u16(), 401..=404 | 429)
            && let Some(error) = context_exceeded(&shown(&self.chat), &message, &body)
        {
            return Failed { error, again: None };
        }
        if message.is_empty() {
            message = status.canonical_reason().unwrap_or("no message").to_owned();
        }
        let temporary = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        let again = temporary.then(|| after.map_or(Again::Later, Again::After));
        if let Some(time) = after.filter(|_| temporary) {
            message = format!("{message} (Retry-After: {} s)", time.as_secs_f64().ceil());
        }
        let help = remedy(status, !self.secrets.is_empty());
        if !help.is_empty() {
            message = format!("{message}: {help}");
        }
        if status == StatusCode::NOT_FOUND
            && let Ok(Ok(models)) = tokio::time::timeout(REFUSAL_TIME, self.list_models()).await
        {
            message = format!("{message}; {}", known(&models));
        }
        Failed { error: ModelError::Refused { url: shown(&self.chat), status: status.as_u16(), message }, again }
    }

    /// The answer, streamed or whole, judged by its first byte: endpoints and
    /// what stands before them mislabel theirs.
    async fn read(&self, response: Response) -> Result<Events, ModelError> {
        let mut source = Source::new(response, self.idle);
        let url = shown(&self.chat);
        match source.first().await? {
            Some(b'<') => {
                let page = source.collect(MAX_REFUSAL).await.unwrap_or_default();
                let title = self.hide(line(&title(&String::from_utf8_lossy(&page))));
                let message = format!("a web page came instead of an answer, {title:?}: check the base URL");
                Err(ModelError::BadAnswer { url, message })
            }
            Some(b'{' | b'[') => {
                let text = source.collect(MAX_EVENT + 1).await?;
                if text.len() > MAX_EVENT {
                    let message = format!("the endpoint sent an answer of more than {MAX_EVENT} bytes");
                    return Err(ModelError::BadAnswer { url, message });
                }
                Ok(stream::iter(self.hidden(whole(&text, &url))).boxed())
            }
            _ => {
                let secrets = self.secrets.clone();
                Ok(events(source, url).map(move |event| event.map_err(|e| hide_in(&secrets, e))).boxed())
            }
        }
    }

    fn hidden(&self, events: Vec<Result<ModelEvent, ModelError>>) -> Vec<Result<ModelEvent, ModelError>> {
        events.into_iter().map(|event| event.map_err(|e| hide_in(&self.secrets, e))).collect()
    }

    pub(super) fn hide(&self, text: String) -> String {
        self.secrets.hide(&text).into_owned()
    }
}

/// Whether the endpoint misses the reasoning before calls that it is reminded of.
/// DeepSeek's does in thinking mode: "Missing `reasoning_content` field in the
/// assistant message"; others refuse that field.
fn wants_reasoning(request: &Request, error: &ModelError) -> bool {
    let named = |error: &ModelError| match error {
        ModelError::Refused { status: 400, message, .. } => message.contains("reasoning_content"),
        _ => false,
    };
    request.messages.iter().any(|message| message.reasoning.is_some()) && named(error)
}

fn known(models: &[ModelInfo]) -> String {
    let shown = models.iter().take(MAX_NAMES).map(|m| m.id.as_str()).collect::<Vec<_>>().join(", ");
    match models.len() {
        0 => "the endpoint has no model".to_owned(),
        more if more > MAX_NAMES => format!("the endpoint has {shown} and {} more", more - MAX_NAMES),
        _ => format!("the endpoint has {shown}"),
    }
}

/// Whether the URL is this machine's own.
pub(super) fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0"))
}

fn hide_in(secrets: &Secrets, error: ModelError) -> ModelError {
    match error {
        ModelError::CutOff { message } => ModelError::CutOff { message: secrets.hide(&message).into_owned() },
        ModelError::BadAnswer { url, message } => {
            ModelError::BadAnswer { url, message: secrets.hide(&message).into_owned() }
        }
        ModelError::ContextExceeded { url, prompt, context, message } => {
            ModelError::ContextExceeded { url, prompt, context, message: secrets.hide(&message).into_owned() }
        }
        other => other,
    }
}
