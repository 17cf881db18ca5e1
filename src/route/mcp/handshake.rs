//! From a configured transport to a server that has shaken hands.

use std::ffi::OsString;

use rmcp::model::{ClientConfig, ProtocolVersion, ServerPeerInfo};
use rmcp::service::{RunningService, serve_directly};
use rmcp::transport::{DynamicTransportError, Transport};
use rmcp::{ClientHandler, RoleClient};
use tokio::time::{Instant, timeout_at};

use super::config::{Hidden, HttpTransport, ServerConfig, TransportConfig};
use super::connection::{Connection, Limits};
use super::elicit::Elicitation;
use super::http;
use super::request::{Client, seconds};
use super::shake::{Trouble, Ways, shake};
use super::sse::SseTransport;
use super::stdio::{self, ChildState, Program};

/// Why a server could not be reached.
#[derive(Debug)]
pub(super) struct ConnectError {
    pub(super) message: String,
    /// It wants an authorization, and waiting will not bring one.
    pub(super) needs_auth: bool,
    /// It was there and refused the handshake.
    refused: bool,
}

impl From<String> for ConnectError {
    fn from(message: String) -> Self {
        ConnectError { message, needs_auth: false, refused: false }
    }
}

/// How a server was reached; the next connection begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// `server/discover`, since 2026-07-28.
    Discover,
    /// `initialize`, before.
    Initialize,
    /// `initialize` over HTTP+SSE, of 2024-11-05.
    Sse,
}

/// A running client of rmcp.
pub(super) type Service = RunningService<RoleClient, Client>;

/// What a connection is made of, whatever the transport.
struct Maker {
    limits: Limits,
    hidden: Hidden,
    elicitation: Elicitation,
    by: Instant,
}

/// Connects and shakes hands, within the limit for that. Begins with the `era` of
/// the last time and notes the one that worked. The server's secrets are not in
/// the error.
pub(super) async fn connect(
    config: &ServerConfig,
    environment: &[(OsString, OsString)],
    (limits, elicitation): (Limits, Elicitation),
    era: &mut Option<Era>,
) -> Result<Connection, ConnectError> {
    let hidden = config.hidden();
    let secrets = hidden.in_errors.clone();
    let transport = config.transport.as_ref().map_err(|problem| ConnectError::from(problem.clone()))?;
    let maker = Maker { limits, hidden, elicitation, by: Instant::now() + limits.connect };
    let connected = match transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            let program = Program { command, args, env, cwd: cwd.as_deref() };
            maker.stdio(program, environment, era).await
        }
        TransportConfig::Http { url, headers, transport } => {
            let place = Place { url, headers };
            let connected = maker.http(place, *transport, era).await;
            connected.map_err(|error| ConnectError {
                message: format!("{}: {}", http::shown_url(url), error.message),
                ..error
            })
        }
    };
    connected.map_err(|error| {
        // It may have been replaced by one of another era.
        if error.refused || *era == Some(Era::Sse) {
            *era = None;
        }
        ConnectError { message: secrets.hide(&error.message).into_owned(), ..error }
    })
}

/// Where an HTTP server is.
#[derive(Clone, Copy)]
struct Place<'a> {
    url: &'a str,
    headers: &'a std::collections::BTreeMap<String, String>,
}

impl Maker {
    /// One process, asked in both ways; another one, asked in the earlier way alone,
    /// where the first one broke or kept silent over the question. One that has not
    /// read the question (`npx` may have to download first) has not kept silent over it.
    async fn stdio(
        mut self,
        program: Program<'_>,
        environment: &[(OsString, OsString)],
        era: &mut Option<Era>,
    ) -> Result<Connection, ConnectError> {
        if *era != Some(Era::Initialize) {
            let (mut transport, child) = stdio::spawn(program, environment)?;
            let mut shaken = self.shaken(&mut transport, Ways::Both, self.part(2, 3)).await;
            let late = matches!(shaken, Err(Trouble::Silence)) && transport.is_unread();
            if late {
                shaken = self.shaken(&mut transport, Ways::Asked, self.by).await;
            }
            match shaken {
                Ok(info) => {
                    *era = Some(Era::of(&info));
                    let gone = child.gone.clone();
                    return Ok(Connection::new(
                        serve(self.client(), transport, info),
                        self.into_parts(),
                        None,
                        Some(child),
                        gone,
                    ));
                }
                Err(trouble @ (Trouble::Unsent(_) | Trouble::Version { .. })) => return Err(self.explain(&trouble)),
                Err(trouble @ Trouble::Silence) if late => return Err(self.unanswered(&trouble, &child).await),
                Err(_) => {
                    // Its end is waited for, since the second one may want what it holds.
                    let left = self.by.saturating_duration_since(Instant::now());
                    let _ = transport.close().await;
                    self.by = Instant::now() + left;
                }
            }
        }
        let (mut transport, child) = stdio::spawn(program, environment)?;
        match self.shaken(&mut transport, Ways::Initialize, self.by).await {
            Ok(info) => {
                *era = Some(Era::of(&info));
                let gone = child.gone.clone();
                Ok(Connection::new(serve(self.client(), transport, info), self.into_parts(), None, Some(child), gone))
            }
            Err(trouble) => Err(self.unanswered(&trouble, &child).await),
        }
    }

    /// With the child's last words.
    async fn unanswered(&self, trouble: &Trouble, child: &ChildState) -> ConnectError {
        format!("{}{}", self.explain(trouble).message, child.last_words().await).into()
    }

    /// Streamable HTTP in both ways, then HTTP+SSE; each over a transport of its own.
    async fn http(
        self,
        place: Place<'_>,
        allowed: HttpTransport,
        era: &mut Option<Era>,
    ) -> Result<Connection, ConnectError> {
        if allowed == HttpTransport::Sse || *era == Some(Era::Sse) {
            *era = Some(Era::Sse);
            return self.sse(place).await;
        }
        let earlier = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let mut version = if *era == Some(Era::Initialize) { earlier.clone() } else { ProtocolVersion::V_2026_07_28 };
        let mut tried = Vec::new();
        let trouble = loop {
            tried.push(version.clone());
            let (ways, by) = match version.has_initialize() {
                true => (Ways::Initialize, self.by),
                false => (Ways::Discover, self.part(1, 3)),
            };
            let mut transport = http::transport(place.url, place.headers)?;
            let trouble = match shake(&mut transport, self.me_at(version), ways, by).await {
                Ok(info) => {
                    *era = Some(Era::of(&info));
                    return Ok(self.over_http(place, transport, info));
                }
                Err(trouble) => trouble,
            };
            let untried = (ways == Ways::Discover && !tried.contains(&earlier)).then(|| earlier.clone());
            version = match trouble.next_version(&tried).or(untried) {
                Some(version) if !trouble.is_final() => version,
                _ => break trouble,
            };
            // After a refused `initialize` rmcp waits for what follows it, and closes only when dropped.
            if ways == Ways::Discover {
                drop(timeout_at(self.by, transport.close()).await);
            }
        };
        let error = self.explain(&trouble);
        if allowed == HttpTransport::Streamable
            || trouble.is_final()
            || matches!(trouble, Trouble::Silence | Trouble::Version { .. })
        {
            return Err(error);
        }
        match self.sse(place).await {
            Ok(connection) => {
                *era = Some(Era::Sse);
                Ok(connection)
            }
            Err(sse) if sse.needs_auth => Err(sse),
            Err(sse) => Err(format!("{}; nor is there legacy HTTP+SSE: {}", error.message, sse.message).into()),
        }
    }

    async fn sse(self, place: Place<'_>) -> Result<Connection, ConnectError> {
        let opened = timeout_at(self.by, SseTransport::open(place.url, place.headers)).await;
        let mut transport = match opened {
            Ok(Ok(transport)) => transport,
            Ok(Err(error)) => return Err(ConnectError { needs_auth: error.needs_auth, ..error.to_string().into() }),
            Err(_) => {
                let limit = seconds(self.limits.connect);
                return Err(format!("no event stream with an `endpoint` within {limit}").into());
            }
        };
        match self.shaken(&mut transport, Ways::Initialize, self.by).await {
            Ok(info) => {
                let gone = transport.gone();
                let shown = Some(http::shown_url(place.url));
                Ok(Connection::new(serve(self.client(), transport, info), self.into_parts(), shown, None, gone))
            }
            Err(trouble) => Err(self.explain(&trouble)),
        }
    }

    fn over_http<T>(self, place: Place<'_>, transport: T, info: ServerPeerInfo) -> Connection
    where
        T: Transport<RoleClient> + Sync + 'static,
        T::Error: std::error::Error + Send + Sync + 'static,
    {
        // Nothing tells that such a server has gone but its next answer.
        let gone = tokio_util::sync::CancellationToken::new();
        let shown = Some(http::shown_url(place.url));
        Connection::new(serve(self.client(), transport, info), self.into_parts(), shown, None, gone)
    }

    fn client(&self) -> Client {
        Client { elicitation: self.elicitation, ..Client::default() }
    }

    fn me(&self) -> ClientConfig {
        self.client().get_info()
    }

    fn me_at(&self, version: ProtocolVersion) -> ClientConfig {
        self.me().with_protocol_version(version)
    }

    /// Shakes hands over one transport, in the versions that the server names where it
    /// refuses ours.
    async fn shaken<T>(&self, transport: &mut T, ways: Ways, by: Instant) -> Result<ServerPeerInfo, Trouble>
    where
        T: Transport<RoleClient> + 'static,
    {
        let mut shaken = shake(transport, self.me(), ways, by).await;
        let mut tried = Vec::new();
        while let Err(trouble @ Trouble::Version { asked, .. }) = &shaken {
            tried.push(asked.clone());
            let Some(version) = trouble.next_version(&tried) else { break };
            let ways = if version.has_initialize() { Ways::Initialize } else { Ways::Discover };
            shaken = shake(transport, self.me_at(version), ways, by).await;
        }
        shaken
    }

    fn into_parts(self) -> (Limits, Hidden) {
        (self.limits, self.hidden)
    }

    /// So much of the time that is left.
    fn part(&self, numerator: u32, denominator: u32) -> Instant {
        Instant::now() + self.by.saturating_duration_since(Instant::now()) * numerator / denominator
    }

    fn explain(&self, trouble: &Trouble) -> ConnectError {
        let limit = seconds(self.limits.connect);
        match trouble {
            Trouble::Silence => {
                format!("no answer to `initialize` within {limit}: set \"connectTimeout\" if it needs longer").into()
            }
            Trouble::Closed => "it closed the connection before the handshake was done".to_owned().into(),
            Trouble::Refused(why) => ConnectError { refused: true, ..why.clone().into() },
            Trouble::Version { asked, supported } => {
                let supported: Vec<_> = supported.iter().map(ProtocolVersion::as_str).collect();
                let supported = supported.join(", ");
                let why =
                    format!("it speaks versions of MCP that we do not, {supported}; it was last asked for {asked}");
                ConnectError { refused: true, ..why.into() }
            }
            Trouble::Unsent(error) => unsent(error),
        }
    }
}

impl Trouble {
    /// Whether another way would end in the same.
    fn is_final(&self) -> bool {
        match self {
            Trouble::Unsent(error) => http::wants_auth(error) || http::is_unreachable(error),
            _ => false,
        }
    }
}

fn unsent(error: &DynamicTransportError) -> ConnectError {
    let message = http::explain(error).unwrap_or_else(|| format!("`initialize` could not be sent: {}", error.error));
    ConnectError { needs_auth: http::wants_auth(error), refused: true, ..message.into() }
}

fn serve<T>(client: Client, transport: T, info: ServerPeerInfo) -> Service
where
    T: Transport<RoleClient> + 'static,
    T::Error: std::error::Error + Send + Sync + 'static,
{
    serve_directly(client, transport, Some(info))
}

impl Era {
    fn of(info: &ServerPeerInfo) -> Self {
        if info.protocol_version.has_initialize() { Era::Initialize } else { Era::Discover }
    }
}
