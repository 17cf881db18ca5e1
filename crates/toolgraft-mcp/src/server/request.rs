//! Requests that always end: with a result, an error, a time-out, or a cancellation.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, ErrorCode, ErrorData, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::connection::{Client, Connection};
use super::error_data::error_data;
use crate::transport::answer::Answer;
use crate::transport::http;
use crate::transport::message::{BREAKS_OFF, SESSION_LOST, UNREADABLE};
use crate::transport::scan::one_line;

/// Wait for a cancellation to be written.
const CANCEL: Duration = Duration::from_millis(500);

/// Wait for the end of a server whose answer breaks off: it may only have begun the next line.
const DEATH: Duration = Duration::from_secs(1);

/// Why a request has no result.
///
/// What the server or its transport said is here as text, since the server's secrets are
/// taken out of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The server answered with a JSON-RPC error.
    #[error("{message} (JSON-RPC error {code}){}", data.as_ref().map(|data| format!(": {data}")).unwrap_or_default())]
    #[non_exhaustive]
    Refused {
        /// Its code.
        code: i32,
        /// Its message.
        message: String,
        /// Its data as text, cleaned and cut to 2,000 characters, where that says more.
        data: Option<String>,
        /// Pages that a person has to open before the request is carried out (error -32042), as the
        /// server names them.
        pages: Vec<Value>,
    },
    /// It did not answer in time, and the request was cancelled.
    #[error("no answer within {}{}", seconds(*limit), noise.as_ref().map(|noise| format!("; {noise}")).unwrap_or_default())]
    #[non_exhaustive]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// What it wrote meanwhile that is no answer.
        noise: Option<String>,
    },
    /// The server has forgotten the session, and did not carry out the request; the text is what
    /// it said.
    #[error("the server has forgotten the session: {0}")]
    SessionLost(String),
    /// The connection over HTTP had ended before the request was sent; the text says how it ended.
    #[error("{0}")]
    Unsent(String),
    /// The connection has broken, or the answer cannot be read; the text says how.
    #[error("{0}")]
    Broken(String),
}

impl RequestError {
    fn map_text(self, text: impl Fn(String) -> String + Copy) -> Self {
        match self {
            RequestError::Refused { code, message, data, pages } => {
                RequestError::Refused { code, message: text(message), data: data.map(text), pages }
            }
            RequestError::TimedOut { limit, noise } => RequestError::TimedOut { limit, noise: noise.map(text) },
            RequestError::SessionLost(why) => RequestError::SessionLost(text(why)),
            RequestError::Unsent(how) => RequestError::Unsent(text(how)),
            RequestError::Broken(how) => RequestError::Broken(text(how)),
        }
    }

    /// The error as that of a call which the server has begun to carry out, so that it is not made again.
    pub(super) fn of_begun(self) -> Self {
        match self {
            lost if lost.is_undone() => RequestError::Broken(lost.to_string()),
            other => other,
        }
    }

    /// Returns `true` if the server did not carry out the request because there is no connection or session any more: it can
    /// be sent again over another one.
    pub(super) fn is_undone(&self) -> bool {
        matches!(self, RequestError::SessionLost(_) | RequestError::Unsent(_))
    }

    /// Whether the server does not know the method at all.
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, RequestError::Refused { code, .. } if *code == ErrorCode::METHOD_NOT_FOUND.0)
    }
}

/// `30 s`, `1.5 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_millis() as f64 / 1000.0)
}

impl Connection {
    /// Sends a request and waits for its result, its time-out or the connection's
    /// end. A request that is given up, by time or by dropping this future, is
    /// cancelled at the server.
    ///
    /// The server's secrets are in neither the result nor the error.
    pub(super) async fn request(&self, request: ClientRequest, limit: Duration) -> Result<Answer<'_>, RequestError> {
        match self.answer(request, limit).await {
            Ok(result) => Ok(Answer::new(result, &self.client.hidden.in_answers)),
            Err(error) => Err(error.map_text(|text| self.client.hidden.in_errors.hide(&text).into_owned())),
        }
    }

    /// What this brings, unless the connection breaks before.
    pub(super) async fn or_gone<T>(&self, coming: impl Future<Output = T>) -> Result<T, RequestError> {
        match self.gone.run_until_cancelled(coming).await {
            Some(came) => Ok(came),
            None => Err(self.broken("the connection broke").await),
        }
    }

    async fn answer(&self, request: ClientRequest, limit: Duration) -> Result<ServerResult, RequestError> {
        if self.is_gone() {
            return Err(self.unsent().await);
        }
        let started = Instant::now();
        let noise = self.child.as_ref().map(|child| child.noise.count()).unwrap_or_default();
        let handle = match self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await {
            Ok(handle) => handle,
            // The connection ended before it took the request.
            Err(ServiceError::TransportClosed) => return Err(self.unsent().await),
            Err(error) => return Err(self.service_error(error).await),
        };
        let mut pending = Pending {
            over: self.client.deadlines.add(handle.progress_token.clone(), started, (limit, self.limits.most)),
            handle,
            client: &self.client,
            answered: false,
        };
        let answer = tokio::select! {
            biased;
            answer = &mut pending.handle.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            () = pending.over.notified() => {
                if self.gone.is_cancelled() {
                    Err(ServiceError::TransportClosed)
                } else {
                    let limit = pending.cancel().await.unwrap_or_else(|| started.elapsed());
                    let noise = self.child.as_ref().and_then(|child| child.noise.after(noise));
                    return Err(RequestError::TimedOut { limit, noise });
                }
            }
        };
        pending.answered = true;
        match answer {
            Ok(result) => Ok(result),
            // The connection ended while the request waited for its turn.
            Err(ServiceError::TransportClosed) if !self.client.sent.contains(&pending.handle.id) => {
                Err(self.unsent().await)
            }
            Err(error) => Err(self.service_error(error).await),
        }
    }

    /// Ends a request that the connection, which is over, did not take. A process that died took the state with it that
    /// earlier calls had made, so that this call is not made in another one unasked; a server over HTTP lives on.
    async fn unsent(&self) -> RequestError {
        self.gone.cancel();
        let how = self.how_it_ended("the connection is closed").await;
        if self.child.is_some() { RequestError::Broken(how) } else { RequestError::Unsent(how) }
    }

    pub(super) async fn broken(&self, what: &str) -> RequestError {
        RequestError::Broken(self.how_it_ended(what).await)
    }

    /// Where the answer breaks off because the server has died, how it died belongs to it.
    async fn unreadable(&self, what: String) -> RequestError {
        let breaks_off = self.child.is_some() && what.contains(BREAKS_OFF);
        match breaks_off && tokio::time::timeout(DEATH, self.gone.cancelled()).await.is_ok() {
            true => self.broken(&what).await,
            false => RequestError::Broken(what),
        }
    }

    async fn service_error(&self, error: ServiceError) -> RequestError {
        match error {
            ServiceError::McpError(e) if e.code == UNREADABLE => self.unreadable(e.message.into_owned()).await,
            ServiceError::McpError(e) if e.code == SESSION_LOST => RequestError::SessionLost(e.message.into_owned()),
            ServiceError::McpError(e) => {
                let code = e.code.0;
                if let Some(pages) = pages(&e) {
                    return RequestError::Refused { code, message: open_first(&pages, &e), data: None, pages };
                }
                let data = error_data(e.data.as_ref(), &e.message, &self.client.hidden.in_errors);
                RequestError::Refused { code, message: e.message.into_owned(), data, pages: Vec::new() }
            }
            ServiceError::TransportClosed => {
                self.mark_gone();
                self.broken("the connection broke").await
            }
            ServiceError::TransportSend(e) => {
                let what = http::explain(&e).unwrap_or_else(|| format!("the request could not be sent: {}", e.error));
                self.broken(&what).await
            }
            other => self.broken(&other.to_string()).await,
        }
    }
}

/// The pages that a server wants opened before it carries out a request
/// (modelcontextprotocol.io/specification/2025-11-25/client/elicitation, "URL Mode"); `None` for
/// another error.
fn pages(error: &ErrorData) -> Option<Vec<Value>> {
    const URL_ELICITATION_REQUIRED: i32 = -32042;
    if error.code.0 != URL_ELICITATION_REQUIRED {
        return None;
    }
    let wanted = error.data.as_ref().and_then(|data| data.get("elicitations")?.as_array());
    Some(wanted.cloned().unwrap_or_default())
}

/// What is said of it where nobody is there to open them.
fn open_first(wanted: &[Value], error: &ErrorData) -> String {
    let page = |wanted: &Value| {
        let field = |name: &str| wanted.get(name).and_then(Value::as_str).map(one_line);
        let url = field("url")?;
        Some(field("message").map_or_else(|| url.clone(), |message| format!("{message}: {url}")))
    };
    let pages: Vec<String> = wanted.iter().filter_map(page).collect();
    let which = if pages.is_empty() { String::new() } else { format!(" ({})", pages.join("; ")) };
    let message = one_line(&error.message);
    format!(
        "it was not carried out: a person has to open a page first{which}; show that to the person, and call again once \
         it is done: {message}"
    )
}

/// A request on its way. Dropped before its answer, it is cancelled at the server.
struct Pending<'c> {
    handle: RequestHandle<RoleClient>,
    client: &'c Client,
    /// Told when no answer is waited for any more.
    over: Arc<Notify>,
    answered: bool,
}

impl Pending<'_> {
    /// Cancels the request and waits, not for long, until that is on its way; the time
    /// that it had.
    async fn cancel(&mut self) -> Option<Duration> {
        self.answered = true;
        let had = self.client.deadlines.remove(&self.handle.progress_token);
        let _ = tokio::time::timeout(CANCEL, cancel(self.handle.peer.clone(), self.handle.id.clone())).await;
        had
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.client.deadlines.remove(&self.handle.progress_token);
        self.client.sent.remove(&self.handle.id);
        // Outside a runtime there is nobody left to tell.
        if let (false, Ok(runtime)) = (self.answered, tokio::runtime::Handle::try_current()) {
            runtime.spawn(cancel(self.handle.peer.clone(), self.handle.id.clone()));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, id: RequestId) {
    let params = CancelledNotificationParam::new(Some(id), Some("the caller gave up".to_owned()));
    // A server that cannot be told any more needs no telling.
    let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ProtocolVersion, ServerCapabilities, ServerPeerInfo};
    use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_directly};
    use rmcp::transport::Transport;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::server::noticing::Noticing;
    use crate::server::settings::Limits;

    /// A transport that answers nothing and ends when it is told to.
    struct Silent {
        end: CancellationToken,
        /// Cancelled when a message was given to it.
        took: CancellationToken,
    }

    impl Transport<RoleClient> for Silent {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
            self.took.cancel();
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.end.cancelled().await;
            None
        }

        async fn close(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    /// Only what the transport never got may be sent again: the rest may have been carried out.
    #[tokio::test]
    async fn a_request_that_the_transport_never_got_is_unsent() {
        let minute = Duration::from_secs(60);
        let limits =
            Limits { connect: minute, extends: false, call: minute, most: minute, calls: std::num::NonZeroUsize::MIN };
        for _ in 0..32 {
            let (end, took) = (CancellationToken::new(), CancellationToken::new());
            let transport = Silent { end: end.clone(), took: took.clone() };
            let client = Client::default();
            let info = ServerPeerInfo::new(ProtocolVersion::V_2025_11_25, ServerCapabilities::default());
            let service = serve_directly(client.clone(), Noticing { transport, client }, Some(info));
            let connection = Connection::new(service, limits, None, None, CancellationToken::new());
            let request = ClientRequest::PingRequest(rmcp::model::PingRequest::default());
            // The request and the end of the transport come at once, and either may be seen first.
            let (answer, ()) = tokio::join!(connection.request(request, minute), async { end.cancel() });
            let error = answer.err().unwrap();
            assert_eq!(error.is_undone(), !took.is_cancelled(), "{error:?}");
            assert!(!connection.client.sent.contains(&RequestId::Number(0)));
        }
    }
}
