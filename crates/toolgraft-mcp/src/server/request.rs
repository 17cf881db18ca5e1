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
use crate::failure::Failure;
use crate::transport::answer::Answer;
use crate::transport::message::{BREAKS_OFF, SESSION_LOST, UNREADABLE};
use crate::transport::scan::one_line;

/// Time limit for sending the cancellation of a request.
const CANCEL: Duration = Duration::from_millis(500);

/// Time to wait for the exit of a server whose response is truncated: it may still be running, and only have begun the
/// next line.
const DEATH: Duration = Duration::from_secs(1);

/// The reason that a request to a server has no result.
///
/// Texts of the server or its transport are stored as strings from which the server's secrets are
/// removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The server answered with a JSON-RPC error.
    #[error("{message} (JSON-RPC error {code}){}", data.as_ref().map(|data| format!(": {data}")).unwrap_or_default())]
    #[non_exhaustive]
    Refused {
        /// The JSON-RPC error code.
        code: i32,
        /// The message of the JSON-RPC error.
        message: String,
        /// The `data` of the JSON-RPC error as text, cleaned and cut to 2,000 characters; `None` if it adds nothing to
        /// the message.
        data: Option<String>,
        /// Pages that the user has to open before the request is carried out (error -32042), as the
        /// server sent them.
        pages: Vec<Value>,
    },
    /// The server did not respond in time, and the request was cancelled.
    #[error("no answer within {}{}", seconds(*limit), noise.as_ref().map(|noise| format!("; {noise}")).unwrap_or_default())]
    #[non_exhaustive]
    TimedOut {
        /// The time that the request was allowed.
        limit: Duration,
        /// A message about the child's standard output in the meantime that is not MCP; `None` if there was none.
        noise: Option<String>,
    },
    /// The server has forgotten the session and did not carry out the request. The text is the server's message.
    #[error("the server has forgotten the session: {0}")]
    SessionLost(String),
    /// The connection over HTTP ended before the request was sent. The text describes its end.
    #[error("{0}")]
    Unsent(String),
    /// The connection is broken, or the response is unreadable. The text describes the fault.
    #[error("{0}")]
    Broken(String),
}

impl RequestError {
    /// Converts the error of a call that the server has begun to carry out, so that the error does not allow the call
    /// to be sent again.
    pub(super) fn of_begun(self) -> Self {
        match self {
            lost if lost.is_undone() => RequestError::Broken(lost.to_string()),
            other => other,
        }
    }

    /// Returns `true` if the server did not carry out the request, because the connection or session had ended: the
    /// request can be sent again over another one.
    pub(super) fn is_undone(&self) -> bool {
        matches!(self, RequestError::SessionLost(_) | RequestError::Unsent(_))
    }

    /// Returns `true` if the error means that the server does not know the method of the request.
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, RequestError::Refused { code, .. } if *code == ErrorCode::METHOD_NOT_FOUND.0)
    }
}

/// Formats a duration in seconds, as in `30 s` or `1.5 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_millis() as f64 / 1000.0)
}

impl Connection {
    /// Sends a request and waits for its result, its time-out or the end of the connection. A
    /// request that is abandoned, by time-out or by dropping this future, is cancelled at the
    /// server.
    ///
    /// The server's secrets are in neither the result nor the error.
    pub(super) async fn request(&self, request: ClientRequest, limit: Duration) -> Result<Answer<'_>, RequestError> {
        Ok(Answer::new(self.answer(request, limit).await?, &self.client.hidden.in_answers))
    }

    /// Waits for the future `coming`; an error if the connection breaks first.
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
            // The connection ended before it accepted the request.
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
            // An answer that has arrived counts, even if its time is over by now.
            biased;
            answer = &mut pending.handle.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            () = pending.over.notified() => {
                if self.gone.is_cancelled() {
                    Err(ServiceError::TransportClosed)
                } else {
                    let limit = pending.cancel().await.unwrap_or_else(|| started.elapsed());
                    return Err(RequestError::TimedOut { limit, noise: self.noise(noise) });
                }
            }
        };
        pending.answered = true;
        match answer {
            Ok(result) => Ok(result),
            // The connection ended while the request was in rmcp's queue.
            Err(ServiceError::TransportClosed) if !self.client.sent.borrow().contains(&pending.handle.id) => {
                Err(self.unsent().await)
            }
            Err(error) => Err(self.service_error(error).await),
        }
    }

    /// Returns the error of a request that the closed connection did not accept. A process that has exited took the
    /// state of earlier calls with it, so the call must not be repeated in another process without a new decision; a
    /// server over HTTP still runs.
    async fn unsent(&self) -> RequestError {
        self.gone.cancel();
        let how = self.how_it_ended("the connection is closed").await;
        if self.child.is_some() { RequestError::Broken(how) } else { RequestError::Unsent(how) }
    }

    pub(super) async fn broken(&self, what: &str) -> RequestError {
        RequestError::Broken(self.how_it_ended(what).await)
    }

    /// Returns the error for an unreadable response. If it is truncated because the server has exited, the exit is part
    /// of the message.
    async fn unreadable(&self, what: String) -> RequestError {
        let breaks_off = self.child.is_some() && what.contains(BREAKS_OFF);
        match breaks_off && tokio::time::timeout(DEATH, self.gone.cancelled()).await.is_ok() {
            true => self.broken(&what).await,
            false => RequestError::Broken(self.client.hidden.in_errors.hide(&what).into_owned()),
        }
    }

    async fn service_error(&self, error: ServiceError) -> RequestError {
        let hide = |text: &str| self.client.hidden.in_errors.hide(text).into_owned();
        match error {
            ServiceError::McpError(e) if e.code == UNREADABLE => self.unreadable(e.message.into_owned()).await,
            ServiceError::McpError(e) if e.code == SESSION_LOST => RequestError::SessionLost(hide(&e.message)),
            ServiceError::McpError(e) => {
                let code = e.code.0;
                if let Some(pages) = pages(&e) {
                    return RequestError::Refused { code, message: hide(&open_first(&pages, &e)), data: None, pages };
                }
                let data = error_data(e.data.as_ref(), &e.message, &self.client.hidden.in_errors);
                RequestError::Refused { code, message: hide(&e.message), data, pages: Vec::new() }
            }
            ServiceError::TransportClosed => {
                self.mark_gone();
                self.broken("the connection broke").await
            }
            ServiceError::TransportSend(e) => {
                let unsent = || format!("the request could not be sent: {}", e.error);
                self.broken(&Failure::of(&e).map_or_else(unsent, |error| error.message)).await
            }
            other => self.broken(&other.to_string()).await,
        }
    }
}

/// Returns the pages that the user must open before the server carries out a request
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

/// Returns the error message for a request for which the user has to open pages, if there is no user.
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
        "the call was not run: the user has to open a page first{which}; tell the user, and call again once that is \
         done: {message}"
    )
}

/// A sent request that waits for its response. If it is dropped before, it is cancelled at the server.
struct Pending<'c> {
    handle: RequestHandle<RoleClient>,
    client: &'c Client,
    /// Notified when the deadline has passed or the connection is gone, so that the response is no longer awaited.
    over: Arc<Notify>,
    answered: bool,
}

impl Pending<'_> {
    /// Cancels the request, and waits at most [`CANCEL`] until the cancellation is sent. Returns the time that the
    /// request was allowed; `None` if its deadline is unknown.
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
        self.client.sent.send_if_modified(|sent| sent.remove(&self.handle.id));
        // Without a runtime the connection no longer exists either.
        if let (false, Ok(runtime)) = (self.answered, tokio::runtime::Handle::try_current()) {
            runtime.spawn(cancel(self.handle.peer.clone(), self.handle.id.clone()));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, id: RequestId) {
    let params = CancelledNotificationParam::new(Some(id), Some("the caller gave up".to_owned()));
    // If the notification cannot be sent, the server no longer works on the request.
    let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ProtocolVersion, ServerCapabilities, ServerPeerInfo};
    use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_directly};
    use rmcp::transport::Transport;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::server::notice_transport::NoticeTransport;
    use crate::server::settings::Limits;

    /// A transport that responds to nothing and ends when `end` is cancelled.
    struct Silent {
        end: CancellationToken,
        /// Cancelled when the transport has accepted a message.
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

    /// Checks that only a request that the transport never accepted may be sent again: another one may have been
    /// carried out.
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
            let service = serve_directly(client.clone(), NoticeTransport { transport, client }, Some(info));
            let connection = Connection::new(service, limits, None, None, CancellationToken::new());
            let request = ClientRequest::PingRequest(rmcp::model::PingRequest::default());
            // The request and the end of the transport are concurrent, and either may be seen
            // first.
            let (answer, ()) = tokio::join!(connection.request(request, minute), async { end.cancel() });
            let error = answer.err().unwrap();
            assert_eq!(error.is_undone(), !took.is_cancelled(), "{error:?}");
            assert!(!connection.client.sent.borrow().contains(&RequestId::Number(0)));
        }
    }
}
