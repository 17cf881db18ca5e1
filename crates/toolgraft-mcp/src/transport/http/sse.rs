//! Legacy HTTP+SSE, which rmcp does not have: one event stream from the server, one POST for each message to it
//! (modelcontextprotocol.io/specification/2024-11-05/basic/transports).
//!
//! The server's first event, `endpoint`, names the URL for messages, which must be of the same
//! origin. The session is over when the stream ends, or when the server refuses a POST because it
//! has forgotten the session. The requests that were refused for that reason are then answered with
//! errors of the code [`SESSION_LOST`], before the transport ends: they were not carried out, and
//! can be sent again in another session.

use std::collections::VecDeque;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use sse_stream::Sse;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::client::{HttpClient, HttpPlace, refusal_text, with_token};
use super::events::{events, is_of, messages_of};
use super::session;
use crate::failure::Failure;
use crate::transport::message::{Message, session_lost};
use crate::transport::scan::one_line;

/// Time limit of one POST of HTTP+SSE. It can be short, since the response message arrives over the event stream.
const POST: Duration = Duration::from_secs(60);

/// Time that the end of a session waits for POSTs in progress, each of which may be refused too.
const LAST_POSTS: Duration = Duration::from_secs(1);

/// A session with a server over legacy HTTP+SSE, as an rmcp transport.
pub(crate) struct SseTransport {
    client: HttpClient,
    endpoint: Url,
    /// The access token with which the event stream was opened; `None` if there is none.
    token: Option<String>,
    events: BoxStream<'static, Sse>,
    /// Messages that were read from the last server-sent event and not yet returned.
    heard: VecDeque<Message>,
    /// Sender of the errors of POSTs that were refused because the session is lost; it sends `None` for a message that
    /// has no response. `None` once the session is over.
    refusals: Option<UnboundedSender<Option<Message>>>,
    refused: UnboundedReceiver<Option<Message>>,
    gone: CancellationToken,
}

impl SseTransport {
    /// Opens the event stream of a server and waits for the `endpoint` event. A stream keeps its access token until it
    /// ends.
    pub(crate) async fn open(place: HttpPlace<'_>) -> Result<Self, Failure> {
        let client = HttpClient::new(place)?;
        let url = Url::parse(place.url).map_err(|e| format!("not a URL ({e})"))?;
        let request = || client.client.get(url.clone()).header(ACCEPT, "text/event-stream");
        let (response, token) = client.send(false, request).await?;
        refused(&response)?;
        if !is_of(response.headers(), "text/event-stream") {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("none");
            return Err(format!("the answer is not an event stream (content type {})", one_line(kind)).into());
        }
        let mut events = events(response);
        while let Some(event) = events.next().await {
            if event.event.as_deref() == Some("endpoint") {
                let endpoint = endpoint(&url, event.data.as_deref().unwrap_or_default())?;
                let (refusals, refused) = unbounded_channel();
                return Ok(SseTransport {
                    client,
                    endpoint,
                    token,
                    events,
                    heard: VecDeque::new(),
                    refusals: Some(refusals),
                    refused,
                    gone: CancellationToken::new(),
                });
            }
        }
        Err("its event stream ended before it named an endpoint".to_owned().into())
    }

    /// Returns the cancellation token that is cancelled when the session is over.
    pub(crate) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    /// Returns the messages of the next event of the stream, or of the next refused POST, which ends the stream;
    /// messages that have already arrived come first. `None` if the session is over and no POST is in progress that may
    /// still be refused.
    async fn next(&mut self) -> Option<Vec<Message>> {
        if self.refusals.is_some() {
            tokio::select! {
                biased;
                event = self.events.next() => match event {
                    Some(event) => return Some(messages_of(&event, None)),
                    None => self.end(),
                },
                refusal = self.refused.recv() => {
                    self.end();
                    return refusal.map(Vec::from_iter);
                }
            }
        }
        tokio::time::timeout(LAST_POSTS, self.refused.recv()).await.ok().flatten().map(Vec::from_iter)
    }

    /// Ends the session. Messages that are sent later are refused at once.
    fn end(&mut self) {
        self.refusals = None;
        self.events = futures::stream::empty().boxed();
    }

    /// Refuses a message because the session is over: a request gets an error response, another message an error.
    fn unsent(&mut self, item: &TxJsonRpcMessage<RoleClient>) -> Result<(), Failure> {
        let why = "its event stream has ended";
        match request_id(item) {
            Some(id) => self.heard.push_back(session_lost(id, why.to_owned())),
            None => return Err(why.to_owned().into()),
        }
        Ok(())
    }
}

/// Returns the id of a message that is a request and can be sent again in another session; else `None`. `initialize`
/// cannot be sent again, since it begins a session.
fn request_id(item: &TxJsonRpcMessage<RoleClient>) -> Option<RequestId> {
    match item {
        JsonRpcMessage::Request(request) if !matches!(request.request, ClientRequest::InitializeRequest(_)) => {
            Some(request.id.clone())
        }
        _ => None,
    }
}

/// Returns the error of a refused POST, and the server's message if it was refused because the session is lost. `None`
/// if the POST was accepted.
async fn refusal(response: Response) -> Option<(Failure, Option<String>)> {
    let (status, error) = (response.status(), refused(&response).err()?);
    let text = refusal_text(response).await;
    // The server itself named this URL, so that it can only be missing together with the session. A
    // rejected token is replaced in the next session.
    let over = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::UNAUTHORIZED);
    let said = match one_line(&text) {
        words if words.is_empty() => format!("HTTP {}", status.as_u16()),
        words => format!("HTTP {}: {words:?}", status.as_u16()),
    };
    Some((error, (over || session::is_refused(status, &text)).then_some(said)))
}

impl Transport<RoleClient> for SseTransport {
    type Error = Failure;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = with_token(self.client.client.post(self.endpoint.clone()), self.token.as_deref());
        let request = request.timeout(POST).header(CONTENT_TYPE, "application/json");
        let sending = match self.refusals.clone() {
            Some(refusals) => Ok(refusals),
            None => Err(self.unsent(&item)),
        };
        async move {
            let refusals = match sending {
                Ok(refusals) => refusals,
                Err(unsent) => return unsent,
            };
            let body = serde_json::to_vec(&item).map_err(|e| format!("it cannot be written as JSON: {e}"))?;
            let response = request.body(body).send().await?;
            let Some((error, lost)) = refusal(response).await else { return Ok(()) };
            let Some(why) = lost else { return Err(error) };
            let answer = request_id(&item).map(|id| session_lost(id, why));
            let is_answered = answer.is_some();
            // A transport that was closed meanwhile has no receiver.
            let _ = refusals.send(answer);
            if is_answered { Ok(()) } else { Err(error) }
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        while self.heard.is_empty() {
            let Some(heard) = self.next().await else {
                self.gone.cancel();
                return None;
            };
            self.heard.extend(heard);
        }
        self.heard.pop_front()
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.gone.cancel();
        self.end();
        Ok(())
    }
}

fn refused(response: &Response) -> Result<(), Failure> {
    match response.status().is_success() {
        true => Ok(()),
        false => Err(Failure::of_status(response.status().as_u16(), "")),
    }
}

/// Resolves the URL for POSTs that the `endpoint` event names. Another origin is refused, since it would get the
/// headers and the messages.
fn endpoint(url: &Url, named: &str) -> Result<Url, Failure> {
    let named = named.trim();
    let endpoint = url.join(named).map_err(|e| format!("its endpoint {:?} is not a URL ({e})", one_line(named)))?;
    if endpoint.origin() != url.origin() {
        let (there, here) = (endpoint.origin().ascii_serialization(), url.origin().ascii_serialization());
        return Err(format!("its endpoint is at another origin, {there}, and not at {here}").into());
    }
    Ok(endpoint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_on_the_same_origin() {
        let url = Url::parse("https://host/sse?key=1").unwrap();
        for (named, expected) in [
            ("/messages?sessionId=1", "https://host/messages?sessionId=1"),
            ("messages", "https://host/messages"),
            ("https://host:443/m", "https://host/m"),
            ("?sessionId=1", "https://host/sse?sessionId=1"),
        ] {
            assert_eq!(endpoint(&url, named).unwrap().as_str(), expected);
        }
        for named in ["https://other/m", "http://host/m", "//other/m", "https://host:8443/m", "https://u@host.evil/m"] {
            let error = endpoint(&url, named).unwrap_err().to_string();
            assert!(error.contains("another origin"), "{named}: {error}");
        }
    }
}
