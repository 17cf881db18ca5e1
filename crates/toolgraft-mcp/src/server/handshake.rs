//! The first exchange with a server, in either revision of the protocol.
//!
//! Since 2026-07-28 a client asks `server/discover` and sends its information with each request;
//! before, it began with `initialize`
//! (modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle). A server of the earlier
//! revisions refuses `server/discover`, does not answer it, or exits.
//!
//! rmcp's handshake waits ten seconds for a server that does not answer, and ends at a late answer to its first request.

use std::time::Duration;

use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult, CustomResult, DiscoverRequest,
    DiscoverRequestParams, GetExtensions, InitializeRequest, InitializedNotification, JsonRpcMessage, ProtocolVersion,
    RequestId, RequestMetaObject, ServerPeerInfo, ServerRequest, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::{DynamicTransportError, Transport};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::connection::Client;
use super::deadline::Deadline;
use super::error_data::error_data;
use crate::failure::Failure;
use crate::transport::message::UNREADABLE;
use crate::transport::scan::one_line;
use crate::transport::server_info::{discovered, initialize_result, peer_info, supported_versions};
use toolgraft::secrets::Secrets;

/// Request id of `server/discover`. Both ids of the handshake are numbers, since some servers accept no other ids, and
/// far above those that rmcp counts through, since a response may arrive late.
const DISCOVER: i64 = 2_000_000_001;
/// Request id of `initialize`.
const INITIALIZE: i64 = 2_000_000_002;

/// Time to wait for the response to `server/discover` before `initialize` is sent too: the server may be slow, or may
/// not answer unknown methods.
const HURRY: Duration = Duration::from_secs(3);

/// The requests that a handshake sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Methods {
    /// Only the request `server/discover`.
    Discover,
    /// Only the request `initialize`.
    Initialize,
    /// Both requests: `server/discover`, and `initialize` if the first is refused or not answered soon.
    Both,
    /// No request: an earlier attempt over the same transport has sent them.
    AlreadySent,
}

/// The reason that the handshake with a server failed.
#[derive(Debug)]
pub(super) enum HandshakeError {
    /// The server sent no response in time; the value is the id of a response to another request, if one arrived.
    Silence(Option<RequestId>),
    /// The server closed the connection before the handshake was done.
    Closed,
    /// The server refused the handshake; the text is the reason.
    Refused(String),
    /// The server does not support the protocol version `asked`, but those in `supported`.
    Version { asked: ProtocolVersion, supported: Vec<ProtocolVersion> },
    /// A request of the handshake could not be sent.
    Unsent(Failure),
}

/// Does the handshake with a server until the deadline. Returns the server's information, such as its capabilities.
pub(super) async fn handshake<T>(
    transport: &mut T,
    (client, version): (&Client, ProtocolVersion),
    methods: Methods,
    by: Deadline<'_>,
) -> Result<ServerPeerInfo, HandshakeError>
where
    T: Transport<RoleClient> + 'static,
{
    let (me, secrets) = (client.get_info().with_protocol_version(version), &client.hidden.in_errors);
    let mut handshake = Handshake { transport, me, secrets, asked: methods == Methods::AlreadySent, stray: None };
    let agreed = tokio::select! {
        biased;
        agreed = handshake.run(methods, by) => Some(agreed),
        () = by.passed() => None,
    };
    agreed.unwrap_or(Err(HandshakeError::Silence(handshake.stray)))
}

struct Handshake<'t, T> {
    transport: &'t mut T,
    /// Our client information, which the handshake sends to the server.
    me: ClientConfig,
    secrets: &'t Secrets,
    /// `true` once `initialize` was sent.
    asked: bool,
    /// The id of a response to a request that was never sent.
    stray: Option<RequestId>,
}

/// The effect of a received message on the handshake: `Ok` if it is done; `Err` if `server/discover` was refused, with
/// the reason and the versions that the server named; `None` if there is no effect.
type Effect = Option<Result<ServerPeerInfo, (String, Vec<ProtocolVersion>)>>;

impl HandshakeError {
    /// Returns the protocol version to try next: the newest one that the server named, that we support and that was not
    /// tried. The refused version is tried once more if the server names it. `None` if there is none.
    pub(super) fn next_version(&self, tried: &[ProtocolVersion]) -> Option<ProtocolVersion> {
        let HandshakeError::Version { asked, supported } = self else { return None };
        let times = |version: &ProtocolVersion| tried.iter().filter(|tried| *tried == version).count();
        newest(supported, |version| times(version) <= usize::from(version == asked))
    }
}

fn newest(supported: &[ProtocolVersion], fits: impl Fn(&ProtocolVersion) -> bool) -> Option<ProtocolVersion> {
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter().rev();
    known.find(|version| supported.contains(version) && fits(version)).cloned()
}

impl<T: Transport<RoleClient> + 'static> Handshake<'_, T> {
    async fn run(&mut self, methods: Methods, by: Deadline<'_>) -> Result<ServerPeerInfo, HandshakeError> {
        match methods {
            Methods::Initialize => self.initialize().await?,
            Methods::Discover | Methods::Both => self.send(discover(&self.me)).await?,
            Methods::AlreadySent => {}
        }
        // Of a short limit most is left for the answer to `initialize`.
        let soon = Instant::now() + HURRY.min(by.left() / 4);
        loop {
            let may_ask = methods == Methods::Both && !self.asked;
            let received = match may_ask {
                true => timeout_at(soon, self.transport.receive()).await.ok(),
                false => Some(self.transport.receive().await),
            };
            let message = match received {
                Some(Some(message)) => message,
                Some(None) => return Err(HandshakeError::Closed),
                None => {
                    self.initialize().await?;
                    continue;
                }
            };
            match self.read(message).await? {
                Some(Ok(info)) => return Ok(info),
                Some(Err((_, supported))) if may_ask => {
                    if let Some(version) = newest(&supported, ProtocolVersion::has_initialize) {
                        self.me.protocol_version = version;
                    }
                    self.initialize().await?;
                }
                Some(Err((why, supported))) if methods == Methods::Discover => {
                    let asked = ProtocolVersion::V_2026_07_28;
                    let named = (!supported.is_empty()).then_some(HandshakeError::Version { asked, supported });
                    return Err(named.unwrap_or(HandshakeError::Refused(why)));
                }
                // Once `initialize` was sent, its answer decides.
                Some(Err(_)) | None => {}
            }
        }
    }

    async fn read(&mut self, message: RxJsonRpcMessage<RoleClient>) -> Result<Effect, HandshakeError> {
        match message {
            JsonRpcMessage::Response(answer) if is(&answer.id, DISCOVER) => {
                let text = plain(answer.result).map_err(|why| (why, Vec::new()));
                return Ok(Some(text.and_then(|text| discovered(&text))));
            }
            JsonRpcMessage::Response(answer) if is(&answer.id, INITIALIZE) => {
                let result = match answer.result {
                    ServerResult::InitializeResult(result) => Ok(result),
                    other => plain(other).and_then(|text| initialize_result(&text)),
                };
                let none = |why| HandshakeError::Refused(format!("its answer to `initialize` is invalid: {why}"));
                let result = result.map_err(none)?;
                let done = ClientNotification::InitializedNotification(InitializedNotification::default());
                self.send(ClientJsonRpcMessage::notification(done)).await?;
                return Ok(Some(Ok(peer_info(result))));
            }
            JsonRpcMessage::Response(answer) => self.stray = Some(answer.id),
            JsonRpcMessage::Error(answer) => {
                let (code, said) = (answer.error.code, one_line(&answer.error.message));
                let data = error_data(answer.error.data.as_ref(), &answer.error.message, self.secrets);
                let data = data.map(|data| format!(": {data}")).unwrap_or_default();
                let why = if code == UNREADABLE { said } else { format!("{said} (JSON-RPC error {}){data}", code.0) };
                let supported = supported_versions(&answer.error);
                let is_for = |request| answer.id.as_ref().is_some_and(|id| is(id, request));
                // Until `initialize` is sent an error without an id can only be about the first request.
                if is_for(DISCOVER) || answer.id.is_none() && !self.asked {
                    return Ok(Some(Err((why, supported))));
                }
                if is_for(INITIALIZE) && !supported.is_empty() {
                    return Err(HandshakeError::Version { asked: self.me.protocol_version.clone(), supported });
                }
                if is_for(INITIALIZE) {
                    let refused = || format!("the server rejected `initialize`: {why}");
                    return Err(HandshakeError::Refused(if code == UNREADABLE { why } else { refused() }));
                }
            }
            JsonRpcMessage::Request(request) if is(&request.id, DISCOVER) || is(&request.id, INITIALIZE) => {
                return Err(HandshakeError::Refused(
                    "the program echoes its input, as no MCP server does: check \"command\" and \"args\"".to_owned(),
                ));
            }
            JsonRpcMessage::Request(request) => {
                // Before the handshake is over a server may only send pings
                // (specification/2025-11-25/basic/lifecycle).
                if matches!(request.request, ServerRequest::PingRequest(_)) {
                    self.send(ClientJsonRpcMessage::response(ClientResult::empty(()), request.id)).await?;
                }
            }
            JsonRpcMessage::Notification(_) => {}
        }
        Ok(None)
    }

    async fn initialize(&mut self) -> Result<(), HandshakeError> {
        self.asked = true;
        let request = InitializeRequest::new(self.me.clone());
        let request = ClientRequest::InitializeRequest(request);
        self.send(ClientJsonRpcMessage::request(request, RequestId::Number(INITIALIZE))).await
    }

    async fn send(&mut self, message: ClientJsonRpcMessage) -> Result<(), HandshakeError> {
        let sent = self.transport.send(message).await;
        sent.map_err(|error| {
            let error = DynamicTransportError::new::<T, _>(error);
            let unsent = || format!("`initialize` could not be sent: {}", error.error).into();
            HandshakeError::Unsent(Failure::of(&error).unwrap_or_else(unsent))
        })
    }
}

fn discover(me: &ClientConfig) -> ClientJsonRpcMessage {
    let me = me.clone();
    let meta = RequestMetaObject::with_client_context(ProtocolVersion::V_2026_07_28, me.client_info, me.capabilities);
    let mut request = DiscoverRequest::new(DiscoverRequestParams {});
    request.extensions_mut().insert(meta);
    ClientJsonRpcMessage::request(ClientRequest::DiscoverRequest(request), RequestId::Number(DISCOVER))
}

/// Returns the JSON text of a response's result.
fn plain(result: ServerResult) -> Result<String, String> {
    match result {
        ServerResult::CustomResult(CustomResult(Value::String(text))) => Ok(text),
        other => serde_json::to_string(&other).map_err(|error| error.to_string()),
    }
}

/// Returns `true` if a response's id is that of our request `number`; some servers turn numbers into strings.
fn is(id: &RequestId, number: i64) -> bool {
    match id {
        RequestId::Number(id) => *id == number,
        RequestId::String(id) => id.parse() == Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ErrorCode, ErrorData};

    use super::*;

    #[test]
    fn versions_that_a_server_names_are_tried_newest_first() {
        let refused = |code: i32, data: Value| supported_versions(&ErrorData::new(ErrorCode(code), "no", Some(data)));
        let data = serde_json::json!({ "supported": ["2024-11-05", "2031-01-01", "2025-06-18", 5, "2025-03-26"] });
        assert_eq!(refused(-32602, data.clone()), []);
        let error = HandshakeError::Version { asked: ProtocolVersion::V_2025_11_25, supported: refused(-32022, data) };
        let mut tried = vec![ProtocolVersion::V_2025_11_25];
        while let Some(version) = error.next_version(&tried) {
            tried.push(version);
        }
        let tried: Vec<_> = tried.iter().map(ProtocolVersion::as_str).collect();
        assert_eq!(tried, ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
        let asked = ProtocolVersion::V_2026_07_28;
        let error = HandshakeError::Version { asked: asked.clone(), supported: vec![asked.clone()] };
        let mut tried = vec![asked.clone()];
        assert_eq!(error.next_version(&tried), Some(asked.clone()), "it named the very one that it refused");
        tried.push(asked);
        assert_eq!(error.next_version(&tried), None);
    }
}
