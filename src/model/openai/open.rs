//! Sends a request until its answer begins: attempts, refusals, and the kind of the answer.

use std::borrow::Cow;
use std::time::{Duration, Instant, SystemTime};

use futures::channel::mpsc;
use futures::stream::{self, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{RequestBuilder, StatusCode, Url};

use super::error::{body_words, cause, plain, remedy, silence, title};
use super::faults::ServerFault;
use super::form::{Form, may_be_of_form};
use super::info::ModelInfo;
use super::read::{Source, events};
use super::retry::{jittered, random, retry_after, told};
use super::server::ServerKind;
use super::terms::Terms;
use super::trace::Response;
use super::{EndpointInner, MAX_RETRY_AFTER};
use crate::cause::Cause;
use crate::constrain::Constrained;
use crate::http::{certificate_fault, proxy_fault};
use crate::model::decode::{Decoder, MAX_EVENT};
use crate::model::span::error_type;
use crate::model::words::{context_exceeded, line};
use crate::model::{ALTERNATIVES, ModelError, ModelEvent, ModelEvents, Progress, Request};
use crate::secrets::Secrets;
use crate::secrets::shown_url;
use crate::spans;

/// Maximum number of bytes of a refusal that are read; `REFUSAL_TIME` is the maximum time for that.
const MAX_REFUSAL: usize = 64 << 10;
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Maximum number of models that an error message lists.
const MAX_NAMES: usize = 10;

/// Pause between two requests to a server that loads its model.
const LOADING_PAUSE: Duration = Duration::from_millis(500);

/// Number of alternative tokens that are requested from llama.cpp, which has no limit. Each alternative costs some
/// sixty bytes for each token of the answer.
const MANY_ALTERNATIVES: u32 = 100;

/// Number of alternative tokens that are requested from llama.cpp if its grammar constrains the answer to calls: the
/// likeliest token that can begin a call is listed in any case, and all tokens of the call get as many alternatives.
const HELD_ALTERNATIVES: u32 = 8;

/// Channel that receives the progress before the answer.
pub(super) type Tell = mpsc::UnboundedSender<Progress>;

/// Forms of the constraint that the endpoint refused, and its message about the first one.
#[derive(Default)]
struct RefusedForms {
    forms: Vec<Form>,
    message: Option<String>,
}

/// A failed attempt to send a request, and the time of the next attempt, `None` if there is none.
struct FailedAttempt {
    error: ModelError,
    again: Option<RetryTime>,
}

enum RetryTime {
    /// Retry at once, since the URL was corrected.
    Now,
    /// Retry after the usual wait.
    Later,
    /// Retry after this time, which the endpoint requested (`Retry-After`).
    After(Duration),
    /// Retry once the server has loaded its model.
    Loaded,
}

impl EndpointInner {
    /// Sends the request until it is answered or finally refused. Progress before the answer is sent to `tell`.
    pub(super) async fn open(&self, request: &Request, tell: &Tell) -> Result<ModelEvents, ModelError> {
        let model = request.model.as_deref().unwrap_or(&self.model);
        let has_tools = !request.tools.is_empty();
        // Other servers may refuse an unknown field.
        let is_llama = self.learned().info.get(model).is_some_and(|info| info.server == Some(ServerKind::LlamaCpp));
        let mut parameters = Cow::Borrowed(&self.parameters);
        if is_llama && !parameters.contains_key("return_progress") {
            parameters.to_mut().insert("return_progress".to_owned(), true.into());
        }
        let body = |terms: Terms, form| {
            let alternatives = self.alternatives(request, terms);
            super::request::body(model, request, &parameters, terms, form, alternatives).to_string()
        };
        let mut loading: Option<Instant> = None;
        let mut headers = HeaderMap::new();
        super::insert(&mut headers, &request.headers).map_err(ModelError::caused)?;
        let mut terms = self.learned().terms.get(model).copied().unwrap_or_default();
        let mut forms = self.forms(model, request).await?.into_iter();
        let mut form = forms.next();
        let is_demanded = request.constraint.as_ref().is_some_and(|held| held.of == Constrained::Calls);
        let mut refused = RefusedForms::default();
        let mut text = body(terms, form);
        let mut wait = self.backoff;
        let mut left = self.retries;
        loop {
            let failed = match self.attempt(&text, &headers).await {
                Ok(response) => {
                    if has_tools {
                        self.took_tools(model);
                    }
                    if let Some(constraint) = &request.constraint {
                        self.learn_forms(model, constraint, &refused.forms, form);
                    }
                    let answer = self.read(response, self.alternatives(request, terms).is_some()).await?;
                    let told = refused.message.map(ModelEvent::ConstraintRefused);
                    let told =
                        told.into_iter().chain((is_demanded && form.is_none()).then_some(ModelEvent::Unconstrained));
                    return Ok(stream::iter(told.map(Ok).collect::<Vec<_>>()).chain(answer).boxed());
                }
                Err(failed) => failed,
            };
            // Before the form: a refusal with HTTP 400 counts as one of the form, whatever field its message
            // names.
            if let Some(told) = terms.told_by(&failed.error, request, &parameters) {
                self.learned().terms.insert(model.to_owned(), told);
                terms = told;
                text = body(terms, form);
                continue;
            }
            if let Some(tried) = form.filter(|_| may_be_of_form(&failed.error)) {
                form = forms.next();
                if form.is_none() && request.constraint.as_ref().is_some_and(|constraint| constraint.required) {
                    return Err(self.unconstrained(&format!("it was refused: {}", failed.error)));
                }
                refused.forms.push(tried);
                refused.message.get_or_insert_with(|| failed.error.to_string());
                text = body(terms, form);
                continue;
            }
            // A second attempt with the same tools would be refused as well.
            if has_tools && failed.error.refuses_tools() {
                self.refused_tools(model);
                return Err(failed.error);
            }
            // The same request will be sent with the tools in the prompt, so retrying this one is not worth the time.
            if has_tools && request.by_prompt && ServerFault::told_by(&failed.error.to_string()).is_some() {
                return Err(failed.error);
            }
            // Some servers refuse images with HTTP 500, which would be retried in vain.
            if request.has_images() && failed.error.refuses_images() {
                return Err(failed.error);
            }
            let pause = match failed.again {
                Some(RetryTime::Now) => continue,
                Some(RetryTime::Loaded) => {
                    let since = *loading.get_or_insert_with(|| {
                        // The receiver is gone only if the request is dropped as well.
                        let _ = tell.unbounded_send(Progress::Loading);
                        Instant::now()
                    });
                    // An endpoint that only reports that it loads counts as silent.
                    if since.elapsed() >= self.idle {
                        return Err(failed.error);
                    }
                    tokio::time::sleep(LOADING_PAUSE).await;
                    continue;
                }
                Some(RetryTime::Later) if left > 0 => jittered(wait, random()),
                Some(RetryTime::After(time)) if left > 0 && time <= MAX_RETRY_AFTER => time,
                _ => return Err(failed.error),
            };
            left -= 1;
            wait = wait.saturating_mul(2);
            spans::retry(&error_type(&failed.error), pause);
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, body: &str, headers: &HeaderMap) -> Result<Response, FailedAttempt> {
        let url = self.chat();
        let request = || {
            let request = self.http.post(url.clone()).headers(headers.clone());
            let request = request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "text/event-stream");
            request.body(body.to_owned())
        };
        let mut sent = tokio::time::timeout(self.idle, self.send(request())).await;
        if let Ok(Err(error)) = &sent
            && is_stale(error)
        {
            sent = tokio::time::timeout(self.idle, self.send(request())).await;
        }
        let silent = || ModelError::bad_answer(shown_url(self.chat.as_str()), silence(self.idle));
        let response = match sent {
            Err(_) => return Err(FailedAttempt { error: silent(), again: None }),
            Ok(Err(error)) => {
                let is_plain = is_plain(&self.chat, &error).await;
                // A request that was sent may have been carried out. A server that speaks plain HTTP will not
                // speak TLS later.
                let again = (error.is_connect() && !is_plain).then_some(RetryTime::Later);
                return Err(FailedAttempt { error: self.not_sent(&self.chat, error, is_plain), again });
            }
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    /// Sends an HTTP request, and records it if there is a trace.
    pub(super) async fn send(&self, request: RequestBuilder) -> reqwest::Result<Response> {
        let mut request = request.build()?;
        for (name, value) in &self.headers {
            request.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
        let mut exchange = self.trace.as_ref().map(|trace| trace.exchange(&request, &self.secrets));
        let sent = self.http.execute(request).await;
        if let (Err(error), Some(exchange)) = (&sent, &mut exchange) {
            exchange.failed(error);
        }
        Ok(Response::new(sent?, exchange))
    }

    /// Returns the error for a request that got no response. `is_plain`: the server speaks plain HTTP ([`is_plain`]).
    pub(super) fn not_sent(&self, url: &Url, error: reqwest::Error, is_plain: bool) -> ModelError {
        let (local, url, cause) = (is_local(url), shown_url(url.as_str()), cause(&error));
        let plain = self.hide(plain(&error));
        let (unreachable, source) = (error.is_connect(), Some(Cause::new(error.without_url())));
        let has_tls = url.starts_with("https:");
        if !unreachable {
            let gave_up = hung_up(&cause);
            let message = if gave_up || cause.to_lowercase().contains("connection reset") {
                let port = if has_tls { "" } else { " Else: is this its port, or must the URL begin with https://?" };
                format!("the connection was closed without an answer: the server's own log may say why.{port}")
            } else if !is_no_http(&cause) {
                format!("the request failed: {plain}")
            } else if has_tls {
                "the answer is not HTTP: is this its port?".to_owned()
            } else {
                "the answer is not plain HTTP: is this its port, or must the URL begin with https://?".to_owned()
            };
            return ModelError::BadAnswer { url, message, gave_up, source };
        }
        // Before the certificate: without TLS there is none.
        if is_plain || has_tls && is_no_tls(&cause) {
            let message = "the server does not use TLS there: write http:// instead of https://".to_owned();
            return ModelError::Unreachable { url, message, source };
        }
        let trust = "SSL_CERT_FILE can name a file of the certificates to trust, the server's own among them";
        let between = certificate_fault(&cause, trust).or_else(|| proxy_fault(&cause).map(str::to_owned));
        if let Some(message) = between {
            return ModelError::Unreachable { url, message, source };
        }
        let help = if has_tls && local {
            "is the server running, is this its port, and does it speak TLS? Most on the local machine use http://"
        } else if local {
            "is the server running (LM Studio, Ollama, llama.cpp), and is this its port?"
        } else {
            "check the base URL and the network"
        };
        ModelError::Unreachable { url, message: format!("{plain}: {help}"), source }
    }

    async fn refused(&self, response: Response) -> FailedAttempt {
        let (status, after) = (response.status(), retry_after(response.headers(), SystemTime::now()));
        let target = redirect_target(&response, &self.chat);
        let mut source = Source::new(response, self.idle);
        let body = tokio::time::timeout(REFUSAL_TIME, source.collect(MAX_REFUSAL)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let body = String::from_utf8_lossy(&body);
        let mut message = self.hide(body_words(&body));
        // These are about the key, the balance, the path or a rate, even where the message speaks of tokens
        // and limits.
        if !matches!(status.as_u16(), 401..=404 | 429)
            && let Some(error) = context_exceeded(&shown_url(self.chat.as_str()), &message, &body)
        {
            return FailedAttempt { error, again: None };
        }
        if message.is_empty() {
            message = status.canonical_reason().unwrap_or("no message").to_owned();
        }
        let temporary = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
        let mut again = match temporary {
            true if loads_its_model(status, &message) => Some(RetryTime::Loaded),
            true => Some(after.map_or(RetryTime::Later, RetryTime::After)),
            false => None,
        };
        if let Some(time) = after.filter(|_| temporary) {
            message = format!("{message} {}", told(time));
        }
        let help = target.unwrap_or_else(|| remedy(status, !self.secrets.is_empty()).to_owned());
        if !help.is_empty() {
            message = format!("{message}: {help}");
        }
        // Servers in Go answer HTTP 400 so at a port for TLS.
        if message.to_lowercase().contains("http request to an https server") {
            message = format!("{message}: write https:// instead of http://");
        }
        if status == StatusCode::NOT_FOUND
            && let Ok(Some(_)) = tokio::time::timeout(REFUSAL_TIME, self.add_v1()).await
        {
            again = Some(RetryTime::Now);
        } else if status == StatusCode::NOT_FOUND
            && let Ok(Ok(models)) = tokio::time::timeout(REFUSAL_TIME, self.list_models()).await
        {
            message = format!("{message}; {}", known(&models));
        }
        FailedAttempt {
            error: ModelError::Refused {
                url: shown_url(self.chat.as_str()),
                status: status.as_u16(),
                message,
                retry_after: after.filter(|_| temporary),
            },
            again,
        }
    }

    /// Reads the answer, streamed or whole. Its first byte decides which, because endpoints and gateways mislabel their
    /// answers.
    async fn read(&self, response: Response, alternatives: bool) -> Result<ModelEvents, ModelError> {
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok())
            && !encoding.trim().eq_ignore_ascii_case("identity")
        {
            let message = format!(
                "the answer is compressed ({}), which was not requested: turn compression off in the gateway before \
                 the model, at least for text/event-stream",
                self.hide(line(encoding))
            );
            return Err(ModelError::bad_answer(shown_url(self.chat.as_str()), message));
        }
        let mut source = Source::new(response, self.idle);
        let url = shown_url(self.chat.as_str());
        let decoder = |url| Decoder::new(url).with_fields(self.fields).with_alternatives(alternatives);
        let secrets = self.secrets.clone();
        let hidden = move |event: Result<ModelEvent, ModelError>| event.map_err(|e| hide_in(&secrets, e));
        let first = source.first().await?;
        match first.filter(|_| !source.is_null()) {
            None => {
                let message = "the endpoint sent no answer: the server's own log may say why".to_owned();
                Err(ModelError::BadAnswer { url, message, gave_up: true, source: None })
            }
            Some(b'<') => {
                let page = source.collect(MAX_REFUSAL).await.unwrap_or_default();
                let title = self.hide(line(&title(&String::from_utf8_lossy(&page))));
                let message = format!("a web page came instead of an answer, {title:?}: check the base URL");
                Err(ModelError::bad_answer(url, message))
            }
            Some(b'{' | b'[') => {
                let text = source.collect(MAX_EVENT + 1).await?;
                if text.len() > MAX_EVENT {
                    let message = format!("the endpoint sent an answer of more than {MAX_EVENT} bytes");
                    return Err(ModelError::bad_answer(url, message));
                }
                Ok(stream::iter(decoder(url).whole(&text)).map(hidden).boxed())
            }
            _ => Ok(events(source, decoder(url)).map(hidden).boxed()),
        }
    }

    /// Returns the number of alternative tokens to request; `None` if the request wants none or the endpoint refuses
    /// them.
    fn alternatives(&self, request: &Request, terms: Terms) -> Option<u32> {
        let held = request.constraint.as_ref().filter(|held| held.grammar.is_some()).map(|held| held.of);
        let is_asked = request.alternatives && !terms.no_alternatives;
        is_asked.then(|| match self.known_server() {
            Some(ServerKind::LlamaCpp) if held == Some(Constrained::Calls) => HELD_ALTERNATIVES,
            Some(ServerKind::LlamaCpp) if held.is_none() => MANY_ALTERNATIVES,
            _ => ALTERNATIVES,
        })
    }

    pub(super) fn hide(&self, text: String) -> String {
        self.secrets.hide(&text).into_owned()
    }
}

fn known(models: &[ModelInfo]) -> String {
    let shown = models.iter().take(MAX_NAMES).map(|m| m.id.as_str()).collect::<Vec<_>>().join(", ");
    match models.len() {
        0 => "the endpoint has no model".to_owned(),
        more if more > MAX_NAMES => format!("the endpoint has {shown} and {} more", more - MAX_NAMES),
        _ => format!("the endpoint has {shown}"),
    }
}

/// Returns `true` if the error message of rustls or OpenSSL shows that the server does not speak TLS.
fn is_no_tls(cause: &str) -> bool {
    ["InvalidContentType", "corrupt message", "wrong version number"].iter().any(|words| cause.contains(words))
}

/// Returns `true` if a server on this machine has not answered the TLS handshake, but answers plain HTTP. llama.cpp's
/// server takes the handshake for the beginning of a request and waits for the rest.
///
/// The test request has nothing of the original one, whose key is meant for TLS only.
pub(super) async fn is_plain(url: &Url, error: &reqwest::Error) -> bool {
    if !(url.scheme() == "https" && is_local(url) && error.is_connect() && error.is_timeout()) {
        return false;
    }
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let client = crate::http::client().no_proxy().redirect(reqwest::redirect::Policy::none()).timeout(REFUSAL_TIME);
    match client.build() {
        Ok(client) => client.get(format!("http://{host}:{port}/")).send().await.is_ok(),
        Err(_) => false,
    }
}

/// Returns the remedy for a response that redirects to a URL, `None` for any other response.
pub(super) fn redirect_target(response: &Response, from: &Url) -> Option<String> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    let mut to = from.join(location.to_str().ok()?).ok()?;
    let path = ["/chat/completions", "/models"].iter().find_map(|end| to.path().strip_suffix(end)).map(str::to_owned);
    path.iter().for_each(|path| to.set_path(path));
    Some(format!("it redirects to {}: write the final URL", line(&shown_url(to.as_str()))))
}

/// Returns `true` if a connection was closed before the first byte of a response. The server may have closed a
/// connection that was idle since the last request, so the request is sent once more, over a new one.
pub fn is_stale(error: &reqwest::Error) -> bool {
    const GONE: [&str; 4] = ["connection reset", "broken pipe", "channel closed", "connection was not ready"];
    let cause = Cause::chain(error).to_lowercase();
    let is_gone = hung_up(&cause) || GONE.iter().any(|words| cause.contains(words));
    // A connection that could not be opened, or was silent, was not a kept one that went stale.
    is_gone && !error.is_connect() && !error.is_timeout()
}

/// Returns `true` if hyper's error message shows that the server does not speak HTTP. The message also occurs if the
/// server speaks first, as mail servers do (`connection was not ready` if it did so before the request began).
fn is_no_http(cause: &str) -> bool {
    const WORDS: [&str; 4] =
        ["invalid HTTP", "invalid header", "received unexpected message", "connection was not ready"];
    WORDS.iter().any(|words| cause.contains(words))
}

/// Returns `true` if the server accepted the request and closed the connection: it crashed, or it does not speak HTTP.
fn hung_up(cause: &str) -> bool {
    cause.contains("connection closed before message completed")
}

/// Returns `true` if the response shows that the server has not loaded its model yet: llama.cpp answers 503 and
/// `Loading model`.
pub(super) fn loads_its_model(status: StatusCode, words: &str) -> bool {
    status == StatusCode::SERVICE_UNAVAILABLE && words.to_lowercase().contains("loading model")
}

/// Returns `true` if the host of the URL is the local machine.
pub(super) fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0"))
}

fn hide_in(secrets: &Secrets, mut error: ModelError) -> ModelError {
    if let ModelError::CutOff { message, .. }
    | ModelError::BadAnswer { message, .. }
    | ModelError::ContextExceeded { message, .. } = &mut error
    {
        *message = secrets.hide(message).into_owned();
    }
    error
}
