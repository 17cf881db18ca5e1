//! The first exchange with a server, in either era of the protocol.
//!
//! Since 2026-07-28 a client asks `server/discover` and sends what it is with each
//! request; before, it shook hands with `initialize`
//! (modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle). A server of
//! the earlier era refuses `server/discover`, or keeps silent, or breaks.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult, DiscoverRequest,
    DiscoverRequestParams, DiscoverResult, GetExtensions, InitializeRequest, InitializeResult, InitializedNotification,
    JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject, ServerPeerInfo, ServerRequest, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::{DynamicTransportError, Transport};
use tokio::time::{Instant, timeout_at};

use super::http;
use super::message::UNREADABLE;

/// Ids of the two requests: numbers, since servers exist that know no other ids,
/// and none that rmcp counts to, since an answer may come late.
const DISCOVER: i64 = 2_000_000_001;
const INITIALIZE: i64 = 2_000_000_002;

/// After this long without an answer to `server/discover`, `initialize` is sent too:
/// the server may be slow, or may not answer what it does not know.
const HURRY: Duration = Duration::from_secs(3);

/// Which requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ways {
    /// `server/discover` alone.
    Discover,
    /// `initialize` alone.
    Initialize,
    /// `server/discover`, and `initialize` where it is refused or not answered soon.
    Both,
    /// None: they have been sent already.
    Asked,
}

/// Why there was no handshake.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No answer in time.
    Silence,
    /// The connection was closed.
    Closed,
    /// The server said no; the text says how.
    Refused(String),
    /// A request could not be sent.
    Unsent(DynamicTransportError),
}

/// Shakes hands until `by`; tells what the server is.
pub(super) async fn shake<T>(
    transport: &mut T,
    me: ClientConfig,
    ways: Ways,
    by: Instant,
) -> Result<ServerPeerInfo, Trouble>
where
    T: Transport<RoleClient> + 'static,
{
    let shaking = Shake { transport, me, asked: ways == Ways::Asked };
    timeout_at(by, shaking.run(ways, by)).await.unwrap_or(Err(Trouble::Silence))
}

struct Shake<'t, T> {
    transport: &'t mut T,
    /// What we are.
    me: ClientConfig,
    /// Whether `initialize` was sent.
    asked: bool,
}

/// What an answer is for the handshake.
enum Step {
    Done(Box<ServerPeerInfo>),
    /// `server/discover` was refused.
    Earlier(String),
    Nothing,
}

impl<T: Transport<RoleClient> + 'static> Shake<'_, T> {
    async fn run(mut self, ways: Ways, by: Instant) -> Result<ServerPeerInfo, Trouble> {
        match ways {
            Ways::Initialize => self.initialize().await?,
            Ways::Discover | Ways::Both => self.send(discover(&self.me)).await?,
            Ways::Asked => {}
        }
        let soon = Instant::now() + HURRY.min(by.saturating_duration_since(Instant::now()) / 4);
        loop {
            let may_ask = ways == Ways::Both && !self.asked;
            let message = match timeout_at(if may_ask { soon } else { by }, self.transport.receive()).await {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Trouble::Closed),
                Err(_) if may_ask => {
                    self.initialize().await?;
                    continue;
                }
                Err(_) => return Err(Trouble::Silence),
            };
            match self.step(message).await? {
                Step::Done(info) => return Ok(*info),
                Step::Earlier(_) if may_ask => self.initialize().await?,
                Step::Earlier(why) if ways == Ways::Discover => return Err(Trouble::Refused(why)),
                Step::Earlier(_) | Step::Nothing => {}
            }
        }
    }

    async fn step(&mut self, message: RxJsonRpcMessage<RoleClient>) -> Result<Step, Trouble> {
        Ok(match message {
            JsonRpcMessage::Response(answer) if is(&answer.id, DISCOVER) => {
                let result: Option<DiscoverResult> = match answer.result {
                    ServerResult::DiscoverResult(result) => Some(result),
                    ServerResult::CustomResult(plain) => serde_json::from_value(plain.0).ok(),
                    _ => None,
                };
                match result.filter(|result| result.supported_versions.contains(&ProtocolVersion::V_2026_07_28)) {
                    Some(result) => {
                        let info = ServerPeerInfo::from_discover_result(ProtocolVersion::V_2026_07_28, result);
                        Step::Done(Box::new(info))
                    }
                    None => Step::Earlier("it does not speak 2026-07-28".to_owned()),
                }
            }
            JsonRpcMessage::Response(answer) if is(&answer.id, INITIALIZE) => {
                let result: Option<InitializeResult> = match answer.result {
                    ServerResult::InitializeResult(result) => Some(result),
                    ServerResult::CustomResult(plain) => serde_json::from_value(plain.0).ok(),
                    _ => None,
                };
                let none = || Trouble::Refused("its answer to `initialize` is none".to_owned());
                let result = result.ok_or_else(none)?;
                let done = ClientNotification::InitializedNotification(InitializedNotification::default());
                self.send(ClientJsonRpcMessage::notification(done)).await?;
                Step::Done(Box::new(result.into()))
            }
            JsonRpcMessage::Error(answer) => {
                let (code, said) = (answer.error.code, http::line(&answer.error.message));
                let why = if code == UNREADABLE { said } else { format!("{said} (JSON-RPC error {})", code.0) };
                match &answer.id {
                    Some(id) if is(id, DISCOVER) => Step::Earlier(why),
                    None if !self.asked => Step::Earlier(why),
                    Some(id) if is(id, INITIALIZE) => {
                        return Err(Trouble::Refused(format!("it refused `initialize`: {why}")));
                    }
                    _ => Step::Nothing,
                }
            }
            JsonRpcMessage::Request(request) => {
                if matches!(request.request, ServerRequest::PingRequest(_)) {
                    self.send(ClientJsonRpcMessage::response(ClientResult::empty(()), request.id)).await?;
                }
                Step::Nothing
            }
            _ => Step::Nothing,
        })
    }

    async fn initialize(&mut self) -> Result<(), Trouble> {
        self.asked = true;
        let request = InitializeRequest::new(self.me.clone());
        let request = ClientRequest::InitializeRequest(request);
        self.send(ClientJsonRpcMessage::request(request, RequestId::Number(INITIALIZE))).await
    }

    async fn send(&mut self, message: ClientJsonRpcMessage) -> Result<(), Trouble> {
        let sent = self.transport.send(message).await;
        sent.map_err(|error| Trouble::Unsent(DynamicTransportError::new::<T, _>(error)))
    }
}

fn discover(me: &ClientConfig) -> ClientJsonRpcMessage {
    let me = me.clone();
    let meta = RequestMetaObject::with_client_context(ProtocolVersion::V_2026_07_28, me.client_info, me.capabilities);
    let mut request = DiscoverRequest::new(DiscoverRequestParams {});
    request.extensions_mut().insert(meta);
    ClientJsonRpcMessage::request(ClientRequest::DiscoverRequest(request), RequestId::Number(DISCOVER))
}

/// Whether an answer's id is that of our request; some servers make text of it.
fn is(id: &RequestId, number: i64) -> bool {
    match id {
        RequestId::Number(id) => *id == number,
        RequestId::String(id) => id.parse() == Ok(number),
    }
}
