//! The client of streamable HTTP: sends rmcp's messages, and reads the answers leniently.
//!
//! rmcp's own client drops a body that is not exactly one message, knows a lost session by status 404 alone, sends one
//! token for a whole session, and sends a call before the stream for the server's questions is open. This one reads as
//! over the other transports, so that no answer is lost. rmcp's worker keeps the session, its stream and its resuming.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{Stream, StreamExt, iter};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorData, JsonRpcMessage, ListToolsResult, MetaObject,
    RequestId, ServerResult,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::{BoxedSseResponse, ExponentialBackoff};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::client::{HttpClient, HttpPlace, MAX_REFUSAL, body};
use super::events::{events, is_of, messages_of};
use super::session::{self, Renewals};
use crate::failure::{Failure, FailureKind};
use crate::transport::answer::{IN_HEADER, TEXT};
use crate::transport::message::{Message, messages};
use crate::transport::scan::{self, one_line};
use crate::transport::server_info::initialize_result;

/// Maximum length in bytes of a response body in JSON; a longer one is dropped.
const MAX_BODY: usize = 16 * 1024 * 1024;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";

/// The type of rmcp's server-sent events, from whichever version of their crate rmcp uses.
type RmcpEvent = <<BoxedSseResponse as Stream>::Item as Successful>::Value;

trait Successful {
    type Value;
}

impl<T, E> Successful for Result<T, E> {
    type Value = T;
}

type RmcpFailure = StreamableHttpError<Failure>;
/// Maximum number of attempts to resume a broken event stream; rmcp would try without end.
const RECONNECTS: usize = 4;
/// Wait before the first attempt to resume a broken event stream; each further wait is twice the one before.
const RECONNECT: Duration = Duration::from_millis(250);

/// Maximum time that the first call of a session waits for the event stream of the server's own messages: a request for
/// input that belongs to the call would be lost before the stream is open.
const STREAM: Duration = Duration::from_secs(1);

/// Maximum time that the event stream of a response is watched for an error that the session is lost.
const REFUSED_AT_ONCE: Duration = Duration::from_millis(200);

/// Returns rmcp's transport of streamable HTTP to one server, with our HTTP client.
pub(crate) fn transport(place: HttpPlace<'_>) -> Result<StreamableHttpClientTransport<StreamableClient>, String> {
    let client = StreamableClient { http: HttpClient::new(place)?, listened: Arc::default(), renewals: Arc::default() };
    let mut config = StreamableHttpClientTransportConfig::with_uri(place.url);
    let mut retry = ExponentialBackoff::default();
    (retry.max_times, retry.base_duration) = (Some(RECONNECTS), RECONNECT);
    config.retry_config = Arc::new(retry);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The HTTP client of one server that rmcp's transport of streamable HTTP uses.
#[derive(Clone)]
pub(crate) struct StreamableClient {
    http: HttpClient,
    /// Id of the session whose stream of the server's own messages is open, was refused, or did not open in time.
    listened: Arc<watch::Sender<Option<Arc<str>>>>,
    renewals: Arc<Renewals>,
}

impl StreamableClient {
    /// Waits at most [`STREAM`] until a session's stream of the server's own messages is open or refused. rmcp opens it
    /// by itself once the session has begun.
    async fn listens(&self, session: &Arc<str>) {
        let mut listened = self.listened.subscribe();
        let is_own = |known: &Option<Arc<str>>| known.as_ref() == Some(session);
        if tokio::time::timeout(STREAM, listened.wait_for(is_own)).await.is_err() {
            self.heard_of(session);
        }
    }

    /// Ends all waits for the stream of a session.
    fn heard_of(&self, session: &Arc<str>) {
        self.listened.send_replace(Some(session.clone()));
    }

    /// Returns an HTTP request to a target, without an access token. rmcp's own token is not used, since it is the same
    /// for a whole session.
    fn request(&self, method: Method, target: &Target) -> RequestBuilder {
        let request = self.http.client.request(method, target.uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        let request = target.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        match &target.session {
            Some(session) => request.header(SESSION, session.as_ref()),
            None => request,
        }
    }
}

/// The target of an HTTP request as rmcp names it: URL, session id and headers.
struct Target {
    uri: Arc<str>,
    session: Option<Arc<str>>,
    headers: HashMap<HeaderName, HeaderValue>,
}

/// Returns the server-sent events of a response body, with their messages in the form that rmcp reads. `asked` is the
/// request to which the body responds.
fn rewritten(response: Response, asked: Option<HttpRequest>) -> BoxedSseResponse {
    let events = events(response).flat_map(move |event| {
        let heard = messages_of(&event, asked.as_ref().map(|asked| &asked.id));
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

/// Returns the failure for a response of a busy or failing server (429 or 5xx), with the time to retry; `None` for
/// another status.
fn busy(response: &Response) -> Option<Failure> {
    let status = response.status();
    let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse::<u32>().ok());
    let mut busy = (status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error())
        .then(|| Failure::of_status(status.as_u16(), ""))?;
    busy.message.extend(after.map(|after| format!(" (it says in {after} s)")));
    Some(busy)
}

fn too_long() -> Failure {
    format!("its answer has more than {} MiB and was dropped", MAX_BODY / 1024 / 1024).into()
}

/// Returns the failure for a response whose content type is none of MCP's.
fn not_mcp(response: &Response) -> Failure {
    let kind = response.headers().get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    let kind = kind.as_deref().unwrap_or("none");
    format!("the answer is not MCP (content type {}): check the URL's path", one_line(kind)).into()
}

/// Returns the server-sent events of a response, or an error if the first message says that the session is lost. Such a
/// message arrives at once, so the wait for it is short.
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
        return Err(Failure::session_lost());
    }
    Ok(iter(first).chain(events).boxed())
}

/// Reads the response to a request that the server accepted: a JSON body or an event stream.
async fn answered(response: Response, asked: HttpRequest) -> Result<StreamableHttpPostResponse, Failure> {
    let (headers, status) = (response.headers(), response.status());
    let session = headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned);
    if is_of(headers, EVENTS) {
        let events = rewritten(response, Some(asked.clone()));
        return Ok(StreamableHttpPostResponse::Sse(begun(events, &asked).await?, session));
    }
    let other = (!is_of(headers, JSON)).then(|| not_mcp(&response));
    // With 202 or 204 a missing body is the fault to report, not the missing content type.
    let body = match other.is_none() || status != StatusCode::OK {
        true => body(response, MAX_BODY).await?.ok_or_else(too_long)?,
        false => Vec::new(),
    };
    if body.is_empty() && status != StatusCode::OK {
        let why = phrase(status) + " without a body: a request must have an answer";
        return Err(Failure::of_status(status.as_u16(), &why));
    }
    if let Some(other) = other {
        return Err(other);
    }
    let text = String::from_utf8_lossy(&body);
    let mut messages: Vec<_> = messages(&text).map(|message| asked.fitted(message)).collect();
    if messages.iter().any(|message| asked.is_lost_by(message)) {
        return Err(Failure::session_lost());
    }
    // rmcp reads only up to the first answer, so that of this request comes first and requests of
    // the server before it.
    messages.sort_by_key(|message| answered_id(message).map(|id| id != Some(&asked.id)));
    if messages.iter().all(|message| answered_id(message).is_none()) {
        let shown = if text.trim().is_empty() { "<empty>".to_owned() } else { one_line(&text) };
        return Err(format!("its answer is not MCP, or is truncated: {shown}: check the URL's path").into());
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

/// Returns the id of the request that a message answers (`None` inside if it names none); `None` for another message.
fn answered_id(message: &Message) -> Option<Option<&RequestId>> {
    match message {
        JsonRpcMessage::Response(response) => Some(Some(&response.id)),
        JsonRpcMessage::Error(error) => Some(error.id.as_ref()),
        _ => None,
    }
}

/// Reads a response with an error status: returns the JSON-RPC error of its body if it has one, otherwise a failure
/// with the status.
async fn refused(
    response: Response,
    has_session: bool,
    asked: Option<HttpRequest>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let (status, is_json) = (response.status(), is_of(response.headers(), JSON));
    let mut busy = busy(&response);
    // A JSON body of a server error may have the error of the call itself.
    if let Some(busy) = busy.take_if(|_| !is_json || status == StatusCode::TOO_MANY_REQUESTS) {
        return Err(busy);
    }
    let text = match body(response, MAX_REFUSAL).await {
        Ok(Some(body)) => String::from_utf8_lossy(&body).into_owned(),
        Ok(None) => return Err(busy.unwrap_or_else(too_long)),
        Err(_) => "<its body cannot be read>".to_owned(),
    };
    let refusal =
        || busy.clone().unwrap_or_else(|| Failure::of_status(status.as_u16(), &format!("{}: {text}", phrase(status))));
    // These refuse the connection, not this call, whatever the body says.
    let wants_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let Some(asked) = asked.filter(|_| !wants_auth) else { return Err(refusal()) };
    // A server that refuses before it reads the request knows no id, or invents one.
    let discovering = asked.kind == RequestKind::Discover && !has_session && status.is_client_error();
    let said = messages(&text).find_map(|message| match message {
        JsonRpcMessage::Error(error) if is_json || discovering => Some(error.error),
        _ => None,
    });
    if asked.may_renew && session::is_refused(status, &text) {
        return Err(Failure::session_lost());
    }
    let unsaid = || discovering.then(|| ErrorData::invalid_request(format!("HTTP {status}: {text}"), None));
    let error = said.or_else(unsaid).ok_or_else(refusal)?;
    Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::error(error, Some(asked.id)), None))
}

/// Returns the reason phrase of an HTTP status, such as `Not Found`.
fn phrase(status: StatusCode) -> String {
    status.to_string().split_off(4)
}

impl StreamableHttpClient for StreamableClient {
    type Error = Failure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, RmcpFailure> {
        let asked = HttpRequest::of(&message).map(|asked| {
            let begins = matches!(asked.kind, RequestKind::Initialize | RequestKind::Discover);
            HttpRequest { may_renew: !begins && self.renewals.may_renew(&asked.id), ..asked }
        });
        let answer = self.post(&message, &Target { uri, session, headers }, asked.clone()).await;
        if let Some(HttpRequest { id, kind, .. }) = asked {
            let is_lost = answer.as_ref().is_err_and(|error| error.kind == FailureKind::SessionLost);
            self.renewals.note(id, is_lost, kind == RequestKind::Initialize && answer.is_ok());
        }
        Ok(answer?)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, RmcpFailure> {
        let stream = self.stream(&Target { uri, session: session.clone(), headers }, last_event.as_deref()).await;
        if let Some(session) = &session {
            self.heard_of(session);
        }
        Ok(stream?)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), RmcpFailure> {
        let request = self.request(Method::DELETE, &Target { uri, session: Some(session), headers });
        Ok(self.http.send_once(request).await.map(drop)?)
    }
}

impl StreamableClient {
    /// Sends a message in a POST and returns the response.
    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        target: &Target,
        asked: Option<HttpRequest>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        if let (Some(session), Some(HttpRequest { kind: RequestKind::Call, .. })) = (&target.session, &asked) {
            self.listens(session).await;
        }
        let body = serde_json::to_vec(message).map_err(|error| error.to_string())?;
        let request = || self.request(Method::POST, target).header(CONTENT_TYPE, JSON).body(body.clone());
        let has_session = target.session.is_some();
        let (response, _) = self.http.send(has_session, request).await?;
        let status = response.status();
        // Without a session the path is wrong.
        if matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) && has_session {
            return Err(Failure::session_lost());
        }
        match asked {
            Some(asked) if status.is_success() => answered(response, asked).await,
            None if status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
            asked => refused(response, has_session, asked).await,
        }
    }

    /// Opens the event stream of the server's own messages, and resumes it after the event `last_event` if there is
    /// one.
    async fn stream(&self, target: &Target, last_event: Option<&str>) -> Result<BoxedSseResponse, Failure> {
        let request = || match last_event {
            Some(last_event) => self.request(Method::GET, target).header("last-event-id", last_event),
            None => self.request(Method::GET, target),
        };
        let (response, _) = self.http.send(target.session.is_some(), request).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(Failure { kind: FailureKind::NoStream, ..Failure::of_status(405, "") });
        }
        if let Some(busy) = busy(&response) {
            return Err(busy);
        }
        let response = response.error_for_status()?;
        // Like rmcp's own client: a server that answers with JSON has no messages of its own, and its tools work.
        if !is_of(response.headers(), EVENTS) && !is_of(response.headers(), JSON) {
            return Err(not_mcp(&response));
        }
        Ok(rewritten(response, None))
    }
}

/// An MCP request that was sent over HTTP and waits for its response.
#[derive(Clone)]
struct HttpRequest {
    id: RequestId,
    kind: RequestKind,
    /// `true` if a response that the session is lost starts a new session, in which the request is sent again.
    may_renew: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Initialize,
    Discover,
    Tools,
    /// A request during which the server may ask the user for input: a tool call, a resource or a prompt.
    Call,
    Other,
}

impl HttpRequest {
    /// Returns the MCP request in a message; `None` for a message that has no response.
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

    /// Converts a message into the form that rmcp needs: it must read the result of `initialize` itself, for the
    /// version in later headers, and lists of tools, for arguments that are also sent in headers. An error without an
    /// id gets the id of this request, because it is in the response to it.
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
}

/// Returns the tools of a list that have header annotations and that rmcp can read; the `_meta` contains the JSON text
/// of the whole list.
fn annotated(text: String) -> ListToolsResult {
    let tools = scan::parts(&text).and_then(|parts| scan::parts(parts.get("tools")?)).map(|tools| tools.all);
    let annotated = tools.iter().flatten().filter(|(_, tool)| tool.contains(IN_HEADER));
    let tool = |tool: &str| serde_json::from_value(scan::value(tool).ok()?).ok();
    let mut list = ListToolsResult::with_all_items(annotated.filter_map(|(_, text)| tool(text)).collect());
    list.meta = Some(MetaObject(Map::from_iter([(TEXT.to_owned(), Value::String(text))])));
    list
}
