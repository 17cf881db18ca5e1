//! The client of streamable HTTP: sends rmcp's messages, and reads the answers leniently.
//!
//! rmcp's own client drops a body that is not exactly one message. This one reads as over the other
//! transports, so that no answer is lost.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{Stream, StreamExt, iter};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorData, JsonRpcMessage, ListToolsResult, MetaObject,
    RequestId, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::{BoxedSseResponse, ExponentialBackoff};
use rmcp::transport::streamable_http_client::{
    HttpStatusError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::client::client;
use super::events::{Event, events, is_of};
use super::session::{self, Renewals};
use crate::auth::{Access, TokenError, bearer_challenge};
use crate::config::ServerTrust;
use crate::transport::answer::{IN_HEADER, TEXT};
use crate::transport::message::{UNREADABLE, messages};
use crate::transport::scan::{self, one_line};
use crate::transport::server_info::initialize_result;

/// Longest body of an answer, and of a refusal, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;
pub(super) const MAX_REFUSAL: usize = 64 * 1024;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";

/// The event type of rmcp, from whichever version of its crate.
type RmcpEvent = <<BoxedSseResponse as Stream>::Item as Successful>::Value;

trait Successful {
    type Value;
}

impl<T, E> Successful for Result<T, E> {
    type Value = T;
}

type Failure = StreamableHttpError<reqwest::Error>;
type Message = RxJsonRpcMessage<RoleClient>;

/// Attempts to resume a broken event stream, and the wait before the first; each wait is twice the
/// one before. rmcp would try without end.
const RECONNECTS: usize = 4;
const RECONNECT: Duration = Duration::from_millis(250);

/// Time that the first call of a session waits for the stream of the server's own messages: a
/// question that belongs to the call would be lost before it is open.
const STREAM: Duration = Duration::from_secs(1);

/// Time that the events of an answer are watched for an error that the session is lost.
const REFUSED_AT_ONCE: Duration = Duration::from_millis(200);

/// Returns the transport of one server.
pub(crate) fn transport(
    url: &str,
    (headers, trust): (&BTreeMap<String, String>, &ServerTrust),
    access: Arc<Access>,
) -> Result<StreamableHttpClientTransport<StreamableClient>, String> {
    let client = StreamableClient {
        client: client(url, headers, trust)?,
        access,
        listened: Arc::default(),
        renewals: Arc::default(),
    };
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    let mut retry = ExponentialBackoff::default();
    (retry.max_times, retry.base_duration) = (Some(RECONNECTS), RECONNECT);
    config.retry_config = Arc::new(retry);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The HTTP client of one server.
#[derive(Clone)]
pub(crate) struct StreamableClient {
    client: reqwest::Client,
    access: Arc<Access>,
    /// The session whose stream is open, was refused, or did not open in time.
    listened: Arc<watch::Sender<Option<Arc<str>>>>,
    renewals: Arc<Renewals>,
}

impl StreamableClient {
    /// Waits at most [`STREAM`] until a session's stream is open or refused. rmcp opens it by
    /// itself once the session has begun.
    async fn listens(&self, session: &Arc<str>) {
        let mut listened = self.listened.subscribe();
        let is_own = |known: &Option<Arc<str>>| known.as_ref() == Some(session);
        if tokio::time::timeout(STREAM, listened.wait_for(is_own)).await.is_err() {
            self.heard_of(session);
        }
    }

    /// Ends all waits for a session's stream.
    fn heard_of(&self, session: &Arc<str>) {
        self.listened.send_replace(Some(session.clone()));
    }

    /// Returns the target of a message, with the current token. rmcp's own token is not used, since
    /// it is the same for a whole session.
    async fn endpoint(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Endpoint, Failure> {
        let token = self.access.token().await.map_err(denied)?;
        Ok(Endpoint { client: self.client.clone(), uri, session, token, headers })
    }

    /// Sends a request and returns the response. If the token is refused, the request is sent once
    /// more with another: it was not carried out.
    async fn answer<F>(&self, endpoint: &mut Endpoint, send: impl Fn(&Endpoint) -> F) -> Result<Response, Failure>
    where
        F: Future<Output = Result<Response, Failure>>,
    {
        let mut response = send(endpoint).await?;
        if response.status() == StatusCode::UNAUTHORIZED {
            let challenge = bearer_challenge(response.headers());
            // Servers with early versions of rmcp answer 401 without a challenge if they do not
            // know the session.
            if challenge.is_none() && endpoint.session.is_some() {
                let text = body(response, MAX_REFUSAL).await.unwrap_or_default();
                if session::is_lost(&String::from_utf8_lossy(&text)) {
                    return Err(StreamableHttpError::SessionExpired);
                }
            }
            let token = self.access.refused(endpoint.token.as_deref(), challenge.as_deref()).await;
            endpoint.token = Some(token.map_err(denied)?);
            response = send(endpoint).await?;
        }
        if let Some(scopes) = lacking(&response) {
            let token = self.access.insufficient(endpoint.token.as_deref(), scopes.as_deref()).await;
            endpoint.token = Some(token.map_err(denied)?);
            response = send(endpoint).await?;
        }
        match response.status() {
            StatusCode::UNAUTHORIZED => {
                Err(denied(self.access.refuses(endpoint.token.as_deref(), "the server rejects a new token")))
            }
            _ => Ok(response),
        }
    }
}

fn denied(denied: TokenError) -> Failure {
    StreamableHttpError::Auth(match denied {
        TokenError::Login(why) => AuthError::AuthorizationFailed(why),
        TokenError::Later(why) => AuthError::TokenRefreshFailed(why),
    })
}

/// Returns the scopes that the token lacks (`None` inside if they are not named); `None` if the
/// refusal has another reason.
fn lacking(response: &Response) -> Option<Option<String>> {
    let said = bearer_challenge(response.headers()).filter(|_| response.status() == StatusCode::FORBIDDEN)?;
    let is_for_scopes = quoted(&said, "error") == Some("insufficient_scope");
    is_for_scopes.then(|| quoted(&said, "scope").map(str::to_owned))
}

/// Returns a parameter of a challenge, with or without quotation marks.
fn quoted<'c>(challenge: &'c str, name: &str) -> Option<&'c str> {
    let from = challenge.match_indices(name).find_map(|(at, _)| {
        let starts = challenge[..at].ends_with([' ', ',', '\t']);
        challenge[at + name.len()..].trim_start().strip_prefix('=').filter(|_| starts)
    })?;
    let from = from.trim_start();
    match from.strip_prefix('"') {
        Some(rest) => rest.split('"').next(),
        None => from.split([',', ' ']).next(),
    }
}

/// The target of a message, with all that a further message to it needs.
#[derive(Clone)]
struct Endpoint {
    client: reqwest::Client,
    uri: Arc<str>,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
}

impl Endpoint {
    fn with_headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session.as_ref());
        }
        self.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    async fn post(self, message: &ClientJsonRpcMessage) -> Result<Response, Failure> {
        let body = serde_json::to_vec(message)?;
        let request = self.client.post(self.uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        let request = self.with_headers(request).header(CONTENT_TYPE, JSON);
        Ok(request.body(body).send().await?)
    }

    /// Opens the stream of the server's own messages.
    async fn listen(self, last_event: Option<&str>) -> Result<Response, Failure> {
        let mut request = self.client.get(self.uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(last_event) = last_event {
            request = request.header("last-event-id", last_event);
        }
        Ok(self.with_headers(request).send().await?)
    }
}

/// Returns the events of a body, with their messages in the form that rmcp reads. `asked` is the
/// request that the body answers.
fn rewritten(response: Response, asked: Option<HttpRequest>) -> BoxedSseResponse {
    let events = events(response).flat_map(move |event| {
        let failed = |id: Option<RequestId>| {
            let asked = asked.clone();
            let asked = id.map(|id| HttpRequest { id, kind: RequestKind::Other, may_renew: false }).or(asked);
            asked.map(|asked| asked.failed(&Event::too_long())).into_iter().collect()
        };
        let heard: Vec<Message> = match Event::of(&event) {
            Event::Message(text) => messages(text).collect(),
            Event::Dropped(id) => failed(id),
            Event::Nothing => Vec::new(),
        };
        let fitted = heard.into_iter().map(|message| match &asked {
            Some(asked) => asked.fitted(message),
            None => message,
        });
        let mut data: Vec<Option<String>> = fitted.map(|message| serde_json::to_string(&message).ok()).collect();
        // An event without a message may still name the position for resuming.
        let told = event.id.is_some() || event.retry.is_some();
        if data.is_empty() && told {
            data.push(None);
        }
        let events = data.into_iter().map(move |data| {
            let mut own = RmcpEvent::default();
            (own.data, own.id, own.retry) = (data, event.id.clone(), event.retry);
            Ok(own)
        });
        iter(events)
    });
    events.boxed()
}

/// Reads a body of at most `limit` bytes.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > limit - body.len() {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns the failure for a busy or failing server, with the time to retry; `None` for another
/// status.
fn busy(response: &Response) -> Option<Failure> {
    let status = response.status();
    let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()).map(str::to_owned);
    (status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error())
        .then(|| HttpStatusError::new(status.as_u16(), after).into())
}

fn unexpected(text: String) -> Failure {
    StreamableHttpError::UnexpectedServerResponse(text.into())
}

/// Returns the events of an answer, unless the first message says that the session is lost. Such an
/// error arrives at once, so the wait for it is short.
async fn begun(mut events: BoxedSseResponse, asked: &HttpRequest) -> Result<BoxedSseResponse, Failure> {
    if !asked.may_renew {
        return Ok(events);
    }
    let mut first = Vec::new();
    let data = async {
        while let Some(event) = events.next().await {
            let data = event.as_ref().ok().and_then(|event| event.data.clone());
            first.push(event);
            if data.is_some() {
                return data;
            }
        }
        None
    };
    let data = tokio::time::timeout(REFUSED_AT_ONCE, data).await.ok().flatten();
    let short = data.filter(|data| data.len() <= MAX_REFUSAL);
    if short.and_then(|data| serde_json::from_str(&data).ok()).is_some_and(|message| asked.is_lost_by(&message)) {
        return Err(StreamableHttpError::SessionExpired);
    }
    Ok(iter(first).chain(events).boxed())
}

/// Reads the answer to a request that the server accepted.
async fn answered(response: Response, asked: HttpRequest) -> Result<StreamableHttpPostResponse, Failure> {
    let headers = response.headers();
    let session = headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned);
    if is_of(headers, EVENTS) {
        let events = rewritten(response, Some(asked.clone()));
        return Ok(StreamableHttpPostResponse::Sse(begun(events, &asked).await?, session));
    }
    let (status, is_json) = (response.status(), is_of(headers, JSON));
    let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
    let body = if is_json || status != StatusCode::OK { body(response, MAX_BODY).await? } else { Vec::new() };
    if body.is_empty() && status != StatusCode::OK {
        return Err(unexpected(format!("HTTP {status} without a body: a request must have an answer")));
    }
    if !is_json {
        return Err(StreamableHttpError::UnexpectedContentType(kind));
    }
    let text = String::from_utf8_lossy(&body);
    let mut messages: Vec<_> = messages(&text).map(|message| asked.fitted(message)).collect();
    if messages.iter().any(|message| asked.is_lost_by(message)) {
        return Err(StreamableHttpError::SessionExpired);
    }
    // rmcp reads only up to the first answer, so that of this request comes first and requests of
    // the server before it.
    messages.sort_by_key(|message| match message {
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => 1 + u8::from(!asked.is_answered_by(message)),
        _ => 0,
    });
    let is_answer = |message: &Message| matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
    if !messages.iter().any(is_answer) {
        let shown = if text.trim().is_empty() { "<empty>".to_owned() } else { one_line(&text) };
        return Err(unexpected(format!("could not parse the body: {shown}")));
    }
    match messages.len() {
        1 => Ok(StreamableHttpPostResponse::Json(messages.remove(0), session)),
        _ => {
            let data = messages.into_iter().filter_map(|message| serde_json::to_string(&message).ok());
            let events = data.map(|data| Ok(RmcpEvent::default().data(data)));
            Ok(StreamableHttpPostResponse::Sse(iter(events.collect::<Vec<_>>()).boxed(), session))
        }
    }
}

/// Reads a refusal: the error of the body if it has one, otherwise the status.
async fn refused(
    response: Response,
    endpoint: &Endpoint,
    asked: Option<HttpRequest>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let (status, is_json) = (response.status(), is_of(response.headers(), JSON));
    let mut busy = busy(&response);
    if let Some(busy) = busy.take_if(|_| !is_json || status == StatusCode::TOO_MANY_REQUESTS) {
        return Err(busy);
    }
    let text = match body(response, MAX_REFUSAL).await {
        Ok(body) => String::from_utf8_lossy(&body).into_owned(),
        Err(error @ StreamableHttpError::ResponseBodyTooLarge { .. }) => return Err(busy.unwrap_or(error)),
        Err(_) => "<its body cannot be read>".to_owned(),
    };
    let refusal = format!("HTTP {status}: {text}");
    let wants_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let Some(asked) = asked.filter(|_| !wants_auth) else { return Err(busy.unwrap_or_else(|| unexpected(refusal))) };
    // A server that refuses before it reads the request knows no id, or invents one.
    let discovering = asked.kind == RequestKind::Discover && endpoint.session.is_none() && status.is_client_error();
    let said = messages(&text).find_map(|message| match message {
        JsonRpcMessage::Error(error) if is_json || discovering => Some(error.error),
        _ => None,
    });
    if asked.may_renew && session::is_refused(status, &text) {
        return Err(StreamableHttpError::SessionExpired);
    }
    let said = said.or_else(|| discovering.then(|| ErrorData::invalid_request(refusal.clone(), None)));
    match said {
        Some(error) => Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::error(error, Some(asked.id)), None)),
        None => Err(busy.unwrap_or_else(|| unexpected(refusal))),
    }
}

impl StreamableHttpClient for StreamableClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let asked = HttpRequest::of(&message).map(|asked| match asked.kind {
            RequestKind::Initialize | RequestKind::Discover => asked,
            _ => HttpRequest { may_renew: self.renewals.may_renew(&asked.id), ..asked },
        });
        let begins = asked.as_ref().is_some_and(|asked| asked.kind == RequestKind::Initialize);
        let renewing = asked.as_ref().filter(|_| !begins).map(|asked| asked.id.clone());
        let answer = self.post_once(uri, message, session, headers, asked).await;
        match renewing {
            Some(id) => self.renewals.note(id, matches!(answer, Err(StreamableHttpError::SessionExpired))),
            None if begins && answer.is_ok() => self.renewals.begun(),
            None => {}
        }
        answer
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, Failure> {
        let stream = self.stream(uri, session.clone(), last_event, headers).await;
        if let Some(session) = &session {
            self.heard_of(session);
        }
        stream
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let token = self.access.token().await.map_err(denied)?;
        self.client.delete_session(uri, session, token, headers).await
    }
}

impl StreamableClient {
    /// Sends a message and returns the answer.
    async fn post_once(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        headers: HashMap<HeaderName, HeaderValue>,
        asked: Option<HttpRequest>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        if let (Some(session), Some(HttpRequest { kind: RequestKind::Call, .. })) = (&session, &asked) {
            self.listens(session).await;
        }
        let mut endpoint = self.endpoint(uri, session, headers).await?;
        let message = &message;
        let response = self.answer(&mut endpoint, |endpoint| endpoint.clone().post(message)).await?;
        let status = response.status();
        if matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) && endpoint.session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        match asked {
            Some(asked) if status.is_success() => answered(response, asked).await,
            None if status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
            asked => refused(response, &endpoint, asked).await,
        }
    }

    /// Opens a stream of events.
    async fn stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, Failure> {
        let mut endpoint = self.endpoint(uri, session, headers).await?;
        let last_event = last_event.as_deref();
        let response = self.answer(&mut endpoint, |endpoint| endpoint.clone().listen(last_event)).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if let Some(busy) = busy(&response) {
            return Err(busy);
        }
        let response = response.error_for_status()?;
        if !is_of(response.headers(), EVENTS) && !is_of(response.headers(), JSON) {
            let kind = response.headers().get(CONTENT_TYPE);
            let kind = kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        Ok(rewritten(response, None))
    }
}

/// A request that waits for its answer.
#[derive(Clone)]
struct HttpRequest {
    id: RequestId,
    kind: RequestKind,
    /// `true` if an answer that the session is lost starts a new session, in which the request is
    /// sent again.
    may_renew: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Initialize,
    Discover,
    Tools,
    /// A request during which the server may ask the user.
    Call,
    Other,
}

impl HttpRequest {
    /// Returns the request in a message; `None` for a message that has no answer.
    fn of(message: &ClientJsonRpcMessage) -> Option<Self> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let kind = match &request.request {
            ClientRequest::InitializeRequest(_) => RequestKind::Initialize,
            ClientRequest::DiscoverRequest(_) => RequestKind::Discover,
            ClientRequest::ListToolsRequest(_) => RequestKind::Tools,
            ClientRequest::CallToolRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::GetPromptRequest(_) => RequestKind::Call,
            _ => RequestKind::Other,
        };
        Some(HttpRequest { id: request.id.clone(), kind, may_renew: false })
    }

    /// Converts a message into the form that rmcp needs: it must read the answer to `initialize`
    /// itself, for the version in later headers, and lists of tools, for arguments that are also
    /// sent in headers. An error without an id gets the id of this request, because it is in the request's body.
    fn fitted(&self, mut message: Message) -> Message {
        if let JsonRpcMessage::Error(error) = &mut message {
            error.id.get_or_insert_with(|| self.id.clone());
        }
        if let JsonRpcMessage::Response(response) = &mut message
            && let ServerResult::CustomResult(CustomResult(Value::String(text))) = &mut response.result
        {
            match self.kind {
                RequestKind::Initialize => {
                    if let Ok(result) = initialize_result(text) {
                        response.result = ServerResult::InitializeResult(result);
                    }
                }
                RequestKind::Tools if text.contains(IN_HEADER) => {
                    response.result = ServerResult::ListToolsResult(annotated(std::mem::take(text)));
                }
                _ => {}
            }
        }
        message
    }

    /// Returns `true` if a message says that the session of this request is lost.
    fn is_lost_by(&self, message: &Message) -> bool {
        match message {
            JsonRpcMessage::Error(error) => self.may_renew && session::is_error(&error.error),
            _ => false,
        }
    }

    fn is_answered_by(&self, message: &Message) -> bool {
        match message {
            JsonRpcMessage::Response(response) => response.id == self.id,
            JsonRpcMessage::Error(error) => error.id.as_ref() == Some(&self.id),
            _ => false,
        }
    }

    /// Returns the error that replaces the unreadable answer.
    fn failed(&self, what: &str) -> Message {
        let error = ErrorData::new(UNREADABLE, format!("it sent {what}"), None);
        JsonRpcMessage::error(error, Some(self.id.clone()))
    }
}

/// Returns the tools of a list with header annotations that rmcp can read, together with the list's
/// text.
fn annotated(text: String) -> ListToolsResult {
    let tools = scan::parts(&text).and_then(|parts| scan::parts(parts.get("tools")?)).map(|tools| tools.all);
    let annotated = tools.iter().flatten().filter(|(_, tool)| tool.contains(IN_HEADER));
    let tool = |tool: &str| serde_json::from_value(scan::value(tool).ok()?).ok();
    let mut list = ListToolsResult::with_all_items(annotated.filter_map(|(_, text)| tool(text)).collect());
    list.meta = Some(MetaObject(Map::from_iter([(TEXT.to_owned(), Value::String(text))])));
    list
}
