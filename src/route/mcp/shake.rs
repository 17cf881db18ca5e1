//! The first exchange with a server, in either era of the protocol.
//!
//! Since 2026-07-28 a client asks `server/discover` and sends what it is with each
//! request; before, it shook hands with `initialize`
//! (modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle). A server of
//! the earlier era refuses `server/discover`, or keeps silent, or breaks.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult, CustomResult, DiscoverRequest,
    DiscoverRequestParams, ErrorCode, ErrorData, GetExtensions, Implementation, InitializeRequest, InitializeResult,
    InitializedNotification, JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject, ServerCapabilities,
    ServerPeerInfo, ServerRequest, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::{DynamicTransportError, Transport};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::answer;
use super::http;
use super::message::UNREADABLE;
use super::scan::Huge;

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
    /// The server does not speak the version that was asked for, but these.
    Version { asked: ProtocolVersion, supported: Vec<ProtocolVersion> },
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
    /// `server/discover` was refused; the versions that the server named.
    Earlier(String, Vec<ProtocolVersion>),
    Nothing,
}

impl Trouble {
    /// The version to try next: the newest that the server named, that we know and that
    /// was not tried. One that it refuses and names all the same is tried once more.
    pub(super) fn next_version(&self, tried: &[ProtocolVersion]) -> Option<ProtocolVersion> {
        let Trouble::Version { asked, supported } = self else { return None };
        let times = |version: &ProtocolVersion| tried.iter().filter(|tried| *tried == version).count();
        newest(supported, |version| times(version) <= usize::from(version == asked))
    }
}

fn newest(supported: &[ProtocolVersion], fits: impl Fn(&ProtocolVersion) -> bool) -> Option<ProtocolVersion> {
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter().rev();
    known.find(|version| supported.contains(version) && fits(version)).cloned()
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
                Step::Earlier(_, supported) if may_ask => {
                    if let Some(version) = newest(&supported, ProtocolVersion::has_initialize) {
                        self.me.protocol_version = version;
                    }
                    self.initialize().await?;
                }
                Step::Earlier(why, supported) if ways == Ways::Discover => {
                    let asked = ProtocolVersion::V_2026_07_28;
                    let named = (!supported.is_empty()).then_some(Trouble::Version { asked, supported });
                    return Err(named.unwrap_or(Trouble::Refused(why)));
                }
                Step::Earlier(..) | Step::Nothing => {}
            }
        }
    }

    async fn step(&mut self, message: RxJsonRpcMessage<RoleClient>) -> Result<Step, Trouble> {
        Ok(match message {
            JsonRpcMessage::Response(answer) if is(&answer.id, DISCOVER) => {
                match plain(answer.result).and_then(|text| discovered(&text)) {
                    Ok(Ok(info)) => Step::Done(Box::new(info)),
                    Ok(Err(supported)) => Step::Earlier("it does not speak 2026-07-28".to_owned(), supported),
                    Err(why) => Step::Earlier(why, Vec::new()),
                }
            }
            JsonRpcMessage::Response(answer) if is(&answer.id, INITIALIZE) => {
                let result = match answer.result {
                    ServerResult::InitializeResult(result) => Ok(result),
                    other => plain(other).and_then(|text| initialize_result(&text)),
                };
                let none = |why| Trouble::Refused(format!("its answer to `initialize` is none: {why}"));
                let result = result.map_err(none)?;
                let done = ClientNotification::InitializedNotification(InitializedNotification::default());
                self.send(ClientJsonRpcMessage::notification(done)).await?;
                Step::Done(Box::new(peer_info(result)))
            }
            JsonRpcMessage::Error(answer) => {
                let (code, said) = (answer.error.code, http::line(&answer.error.message));
                let why = if code == UNREADABLE { said } else { format!("{said} (JSON-RPC error {})", code.0) };
                let supported = supported(&answer.error);
                match &answer.id {
                    Some(id) if is(id, DISCOVER) => Step::Earlier(why, supported),
                    None if !self.asked => Step::Earlier(why, supported),
                    Some(id) if is(id, INITIALIZE) && !supported.is_empty() => {
                        return Err(Trouble::Version { asked: self.me.protocol_version.clone(), supported });
                    }
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

/// The text of a result.
fn plain(result: ServerResult) -> Result<String, String> {
    match result {
        ServerResult::CustomResult(CustomResult(Value::String(text))) => Ok(text),
        other => serde_json::to_string(&other).map_err(|error| error.to_string()),
    }
}

/// What a server says of itself in its answer to `initialize`. Only a version of the
/// protocol must be there: nobody is refused for what they call themselves.
pub(super) fn initialize_result(text: &str) -> Result<InitializeResult, String> {
    let said = answer::value(text, Huge::Quoted)?;
    let version = said.get("protocolVersion").and_then(version_of);
    let version = version.ok_or_else(|| format!("it names no \"protocolVersion\": {}", http::line(text)))?;
    let mut result = InitializeResult::new(capabilities(&said)).with_protocol_version(version);
    result.server_info = said.get("serverInfo").map(implementation).unwrap_or_else(|| Implementation::new("", ""));
    result.instructions = said.get("instructions").and_then(Value::as_str).map(str::to_owned);
    Ok(result)
}

fn peer_info(result: InitializeResult) -> ServerPeerInfo {
    let mut info: ServerPeerInfo = result.into();
    info.server_info = info.server_info.filter(|server| !server.name.is_empty() || !server.version.is_empty());
    info
}

/// What a server says of itself in its answer to `server/discover`; the versions that it
/// speaks where ours is none of them.
fn discovered(text: &str) -> Result<Result<ServerPeerInfo, Vec<ProtocolVersion>>, String> {
    const IDENTITY: &str = "io.modelcontextprotocol/serverInfo";
    let said = answer::value(text, Huge::Quoted)?;
    let supported = said.get("supportedVersions").and_then(Value::as_array);
    let supported = supported.ok_or_else(|| format!("it names no \"supportedVersions\": {}", http::line(text)))?;
    let supported: Vec<_> = supported.iter().filter_map(version_of).collect();
    if !supported.contains(&ProtocolVersion::V_2026_07_28) {
        return Ok(Err(supported));
    }
    let mut info = ServerPeerInfo::new(ProtocolVersion::V_2026_07_28, capabilities(&said));
    let identity = said.get("_meta").and_then(|meta| meta.get(IDENTITY));
    info.server_info = identity.or(said.get("serverInfo")).map(implementation);
    info.instructions = said.get("instructions").and_then(Value::as_str).map(str::to_owned);
    Ok(Ok(info))
}

fn version_of(value: &Value) -> Option<ProtocolVersion> {
    serde_json::from_value(value.clone()).ok()
}

/// The versions that a server names in its refusal of ours (error -32022).
fn supported(error: &ErrorData) -> Vec<ProtocolVersion> {
    let data = error.data.as_ref().filter(|_| error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION);
    let named = data.and_then(|data| data.get("supported").or(data.get("supportedVersions"))).and_then(Value::as_array);
    named.into_iter().flatten().filter_map(version_of).collect()
}

/// Its name and version, as far as it gives them.
fn implementation(said: &Value) -> Implementation {
    let field = |name: &str| match said.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    Implementation::new(field("name"), field("version"))
}

/// What it can, without what is not written as it should be.
fn capabilities(said: &Value) -> ServerCapabilities {
    let Some(Value::Object(can)) = said.get("capabilities") else { return ServerCapabilities::default() };
    if let Ok(can) = serde_json::from_value(Value::Object(can.clone())) {
        return can;
    }
    let is_read = |name: &String, value: &Value| {
        let one = Value::Object([(name.clone(), value.clone())].into_iter().collect());
        serde_json::from_value::<ServerCapabilities>(one).is_ok()
    };
    let read =
        can.iter().filter(|(name, value)| is_read(name, value)).map(|(name, value)| (name.clone(), value.clone()));
    serde_json::from_value(Value::Object(read.collect())).unwrap_or_default()
}

/// Whether an answer's id is that of our request; some servers make text of it.
fn is(id: &RequestId, number: i64) -> bool {
    match id {
        RequestId::Number(id) => *id == number,
        RequestId::String(id) => id.parse() == Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_need_not_say_what_it_is() {
        let said = |info: &str| {
            let text =
                format!(r#"{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}},"prompts":true}}{info}}}"#);
            let result = initialize_result(&text).unwrap();
            assert!(result.capabilities.tools.is_some() && result.capabilities.prompts.is_none());
            assert_eq!(result.protocol_version, ProtocolVersion::V_2025_06_18);
            peer_info(result).server_info.map(|info| (info.name, info.version))
        };
        let named = |name: &str, version: &str| Some((name.to_owned(), version.to_owned()));
        assert_eq!(said(r#","serverInfo":{"name":"n"}"#), named("n", ""));
        assert_eq!(said(r#","serverInfo":{"name":"\ud83d","version":1.5}"#), named("\u{fffd}", "1.5"));
        assert_eq!(said(r#","serverInfo":{"version":null}"#), None);
        assert_eq!((said(r#","serverInfo":null"#), said("")), (None, None));
        for text in ["null", "{}", "\"text\"", r#"{"protocolVersion":5}"#, r#"{"protocolVersion":NaN}"#] {
            assert!(initialize_result(text).is_err(), "{text}");
        }
        let modern =
            r#"{"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m"}}}"#;
        let info = discovered(modern).unwrap().unwrap().server_info.unwrap();
        assert_eq!((info.name.as_str(), info.version.as_str()), ("m", ""));
    }

    #[test]
    fn versions_that_a_server_names_are_tried_newest_first() {
        let error = |code: i32, data: Value| supported(&ErrorData::new(ErrorCode(code), "no", Some(data)));
        let data = serde_json::json!({ "supported": ["2024-11-05", "2031-01-01", "2025-06-18", 5, "2025-03-26"] });
        assert_eq!(error(-32602, data.clone()), []);
        let trouble = Trouble::Version { asked: ProtocolVersion::V_2025_11_25, supported: error(-32022, data) };
        let mut tried = vec![ProtocolVersion::V_2025_11_25];
        while let Some(version) = trouble.next_version(&tried) {
            tried.push(version);
        }
        let tried: Vec<_> = tried.iter().map(ProtocolVersion::as_str).collect();
        assert_eq!(tried, ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
        let asked = ProtocolVersion::V_2026_07_28;
        let trouble = Trouble::Version { asked: asked.clone(), supported: vec![asked.clone()] };
        let mut tried = vec![asked.clone()];
        assert_eq!(trouble.next_version(&tried), Some(asked.clone()), "it named the very one that it refused");
        tried.push(asked);
        assert_eq!(trouble.next_version(&tried), None);
    }
}
