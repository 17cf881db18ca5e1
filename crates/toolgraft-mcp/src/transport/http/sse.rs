//! Legacy HTTP+SSE: one stream of events from the server, one POST for each message
//! to it (modelcontextprotocol.io/specification/2024-11-05/basic/transports).
//!
//! The server's first event, `endpoint`, says where messages go: to the same
//! origin, or nowhere. When the stream ends, the session is over.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use sse_stream::Sse;
use tokio_util::sync::CancellationToken;

use super::client::client;
use super::events::{Event, events, is_of};
use super::session;
use super::words::{of_request, of_status};
use crate::config::ServerTrust;
use crate::transport::message::{Heard, read_whole, unreadable};
use crate::transport::scan::one_line;

/// Limit of one POST. The answer comes over the stream, so none takes long.
const POST: Duration = Duration::from_secs(60);

/// A failure of the transport.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct SseError {
    message: String,
    /// The server wants an authorization.
    pub(crate) needs_auth: bool,
}

impl From<String> for SseError {
    fn from(message: String) -> Self {
        SseError { message, needs_auth: false }
    }
}

/// A session with a server.
pub(crate) struct SseTransport {
    client: Client,
    endpoint: Url,
    events: BoxStream<'static, Sse>,
    /// What was read of the last event and not yet asked for.
    heard: VecDeque<Heard>,
    gone: CancellationToken,
}

impl SseTransport {
    /// Opens the stream and waits for the endpoint.
    pub(crate) async fn open(
        url: &str,
        (headers, trust): (&BTreeMap<String, String>, &ServerTrust),
        token: Option<&str>,
    ) -> Result<Self, SseError> {
        let mut headers = headers.clone();
        headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
        let client = client(url, &headers, trust)?;
        let url = Url::parse(url).map_err(|e| format!("not a URL ({e})"))?;
        let request = client.get(url.clone()).header(ACCEPT, "text/event-stream");
        let response = request.send().await.map_err(|e| of_request(&e))?;
        refused(&response)?;
        if !is_of(response.headers(), "text/event-stream") {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("none");
            return Err(format!("the answer is no event stream (content type {})", one_line(kind)).into());
        }
        let mut events = events(response);
        while let Some(event) = events.next().await {
            if event.event.as_deref() == Some("endpoint") {
                let endpoint = endpoint(&url, event.data.as_deref().unwrap_or_default())?;
                return Ok(SseTransport {
                    client,
                    endpoint,
                    events,
                    heard: VecDeque::new(),
                    gone: CancellationToken::new(),
                });
            }
        }
        Err("its event stream ended before it named an endpoint".to_owned().into())
    }

    /// Cancelled when the session is over.
    pub(crate) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }

    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.heard.pop_front() {
                Some(Heard::Message(message) | Heard::Complaint(message, _)) => return Some(*message),
                Some(Heard::Senseless(id)) => {
                    let refusal = ErrorData::invalid_params("this request makes no sense", None);
                    tokio::spawn(self.send(JsonRpcMessage::error(refusal, Some(id))));
                }
                Some(Heard::Noise(_)) => {}
                None => {
                    let event = self.gone.run_until_cancelled(self.events.next()).await??;
                    match Event::of(&event) {
                        Event::Message(text) => read_whole(text, &mut self.heard),
                        Event::Dropped(id) => self.heard.extend(id.map(|id| unreadable(id, Event::too_long()))),
                        Event::Nothing => {}
                    }
                }
            }
        }
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = SseError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self.client.post(self.endpoint.clone()).timeout(POST).header(CONTENT_TYPE, "application/json");
        let gone = self.gone.clone();
        async move {
            let body = serde_json::to_vec(&item).map_err(|e| format!("it cannot be written as JSON: {e}"))?;
            let response = request.body(body).send().await.map_err(|e| of_request(&e))?;
            let (status, answer) = (response.status(), refused(&response));
            let over = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::UNAUTHORIZED);
            if over || answer.is_err() && session::is_refused(status, &response.text().await.unwrap_or_default()) {
                // The session is forgotten, and the stream of it says no more; or its token is not taken
                // any more, and the next one begins with another.
                gone.cancel();
            }
            answer
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.next().await;
        if message.is_none() {
            self.gone.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.gone.cancel();
        self.events = futures::stream::empty().boxed();
        Ok(())
    }
}

fn refused(response: &Response) -> Result<(), SseError> {
    let code = response.status();
    match code.is_success() {
        true => Ok(()),
        false => Err(SseError { message: of_status(code.as_u16(), ""), needs_auth: code == StatusCode::UNAUTHORIZED }),
    }
}

/// Where messages go. Another origin would get the headers, and what is said.
fn endpoint(url: &Url, named: &str) -> Result<Url, SseError> {
    let named = named.trim();
    let endpoint = url.join(named).map_err(|e| format!("its endpoint {:?} is no URL ({e})", one_line(named)))?;
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
