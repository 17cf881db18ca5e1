//! Connects to a configured server and does the handshake.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::serve_directly;
use rmcp::transport::Transport;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::connection::{Client, Connection};
use super::deadline::Deadline;
use super::handshake::{HandshakeError, Methods, handshake};
use super::notice_transport::NoticeTransport;
use super::request::seconds;
use super::settings::{Limits, MAX_START};
use super::shared::Shared;
use crate::auth::Access;
use crate::config::{HttpTransport, TransportConfig};
use crate::failure::{Failure, FailureKind};
use crate::transport::http::{self, HttpPlace, SseTransport};
use crate::transport::scan::one_line;
use crate::transport::stdio::{self, ChildState, LAST_WORDS, Program, StdioTransport};
use toolgraft::secrets::shown_url;

/// The kind of handshake that worked with a server; the next connection begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// `server/discover`, of MCP revisions since 2026-07-28.
    Discover,
    /// `initialize`, of MCP revisions before 2026-07-28.
    Initialize,
    /// `initialize` over legacy HTTP+SSE, of MCP revision 2024-11-05.
    Sse,
}

/// The settings of a connection attempt to a server that do not depend on the transport.
struct Connector {
    limits: Limits,
    client: Client,
    by: Instant,
    /// Latest end of the start of a child process that goes on writing to standard error.
    last: Instant,
}

/// Connects to a server and does the handshake within the time limit. Begins with the kind of handshake that worked
/// last, `era`, and updates it. The server's secrets are not in the error.
pub(super) async fn connect(shared: &Shared, era: &mut Option<Era>) -> Result<Connection, Failure> {
    let Shared { config, environment, settings, log, .. } = shared;
    let hidden = config.hidden();
    let mut secrets = hidden.in_errors.clone();
    let transport = config.transport.as_ref().map_err(|problem| Failure::from(problem.to_string()))?;
    let (server, answers, states) = (config.name.clone(), settings.answers.clone(), settings.states.clone());
    let (log, wire, limits) = (log.clone(), settings.wire.clone(), settings.limits(config));
    let client = Client { server, answers, states, log, wire, hidden, ..Client::default() };
    let by = Instant::now() + limits.connect;
    let last = if limits.extends { by.max(Instant::now() + MAX_START) } else { by };
    let mut connector = Connector { limits, client, by, last };
    let connected = match transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            let program = Program { command, args, env, cwd: cwd.as_deref() };
            connector.stdio(program, environment, *era).await
        }
        TransportConfig::Http { url, headers, transport, .. } => {
            let access = Arc::new(Access::of(config, settings.logins.as_ref()));
            let trust = config.server_trust();
            let place = HttpPlace { url, headers, trust: &trust, access: &access };
            // A token that cannot be refreshed in time may still be accepted.
            let token = timeout_at(connector.by, access.token()).await.unwrap_or(Ok(None));
            let connected = match token {
                Ok(token) => {
                    connector.client.hidden = connector.client.hidden.and(token.as_deref());
                    secrets = connector.client.hidden.in_errors.clone();
                    connector.http(place, *transport, *era).await
                }
                Err(denied) => Err(denied),
            };
            connected.map_err(|error| Failure { message: format!("{}: {}", shown_url(url), error.message), ..error })
        }
    };
    match connected {
        Ok((connection, agreed)) => {
            *era = Some(agreed);
            Ok(connection)
        }
        Err(error) => {
            // The server may have been replaced by one of another revision, which a missing login does not suggest.
            // HTTP+SSE is tried last, so after any failure of it the others are tried again.
            if !matches!(error.kind, FailureKind::Other | FailureKind::NeedsAuth) || *era == Some(Era::Sse) {
                *era = None;
            }
            Err(Failure { message: secrets.hide(&error.message).into_owned(), ..error })
        }
    }
}

type Connected = Result<(Connection, Era), Failure>;

impl Connector {
    /// Starts the server's program and tries both handshakes with it. If the process ends or does not answer, a second
    /// process gets only the earlier handshake, `initialize`. A process that has not read its input yet (`npx` may have
    /// to download first) is waited for instead.
    async fn stdio(self, program: Program<'_>, environment: &[(OsString, OsString)], era: Option<Era>) -> Connected {
        let mut methods = if era == Some(Era::Initialize) { Methods::Initialize } else { Methods::Both };
        loop {
            let (transport, child) = stdio::spawn(program, environment, &self.client.log)?;
            let mut transport = self.noticed(transport);
            let by = match methods {
                // The last third is for a second process.
                Methods::Both => Deadline::after(self.limits.connect * 2 / 3, self.last, &child),
                _ => self.rest(&child),
            };
            let mut agreed = self.negotiate(&mut transport, methods, by).await;
            let is_silent = |agreed: &Result<_, _>| matches!(agreed, Err(HandshakeError::Silence(_)));
            // A process that has not read its input is still starting (`npx` downloads), and a second one
            // would have to start as well.
            let late = methods == Methods::Both && is_silent(&agreed) && transport.transport.pipe.is_unread();
            if late {
                agreed = self.negotiate(&mut transport, Methods::AlreadySent, self.rest(&child)).await;
            }
            // A process that was waited for to the end leaves no time for a second one.
            let is_last = methods == Methods::Initialize || late && is_silent(&agreed);
            match agreed {
                Ok(info) => return Ok(self.over(transport, info, child.gone.clone(), (None, Some(child)))),
                Err(error) if is_last => return Err(self.unanswered(&error, (&mut transport, &child)).await),
                Err(error @ (HandshakeError::Unsent(_) | HandshakeError::Version { .. })) => {
                    return Err(self.explain(&error));
                }
                Err(_) => {
                    // Waits for the exit of the first process, since the second may need a resource
                    // that it holds.
                    let _ = transport.close().await;
                    methods = Methods::Initialize;
                }
            }
        }
    }

    /// Returns the failure for a handshake error, with the end of the child's standard error.
    async fn unanswered(
        &self,
        error: &HandshakeError,
        (transport, child): (&mut NoticeTransport<StdioTransport>, &ChildState),
    ) -> Failure {
        transport.transport.pipe.give_up();
        // Reading to the end of the output records how the child exited.
        let _ = timeout(LAST_WORDS, async { while transport.receive().await.is_some() {} }).await;
        format!("{}{}", self.explain(error).message, child.last_words().await).into()
    }

    /// Connects to a server over HTTP: tries streamable HTTP with both handshakes, then HTTP+SSE if that is allowed and
    /// could help; each attempt has its own transport.
    async fn http(self, place: HttpPlace<'_>, allowed: HttpTransport, era: Option<Era>) -> Connected {
        if allowed == HttpTransport::Sse || era == Some(Era::Sse) {
            return self.sse(place).await;
        }
        let earlier = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let mut version = if era == Some(Era::Initialize) { earlier.clone() } else { ProtocolVersion::V_2026_07_28 };
        let mut tried = Vec::new();
        let error = loop {
            tried.push(version.clone());
            let (methods, by) = match version.has_initialize() {
                true => (Methods::Initialize, self.by),
                // A third, since a server that does not answer `server/discover` is then asked in the earlier
                // ways.
                false => (Methods::Discover, Instant::now() + self.by.saturating_duration_since(Instant::now()) / 3),
            };
            let mut transport = self.noticed(http::transport(place)?);
            let error = match handshake(&mut transport, (&self.client, version), methods, Deadline::at(by)).await {
                // Only its next answer shows that such a server has gone, so nothing else cancels
                // this token.
                Ok(info) => {
                    return Ok(self.over(
                        transport,
                        info,
                        CancellationToken::new(),
                        (Some(shown_url(place.url)), None),
                    ));
                }
                Err(error) => error,
            };
            // A server that refuses `server/discover` may name no version, and take `initialize`.
            let untried = (methods == Methods::Discover && !tried.contains(&earlier)).then(|| earlier.clone());
            version = match error.next_version(&tried).or(untried) {
                Some(version) if !error.is_final() => version,
                _ => break error,
            };
            // After a refused `initialize` rmcp waits for further messages, and closes only when it
            // is dropped.
            if methods == Methods::Discover {
                drop(timeout_at(self.by, transport.close()).await);
            }
        };
        let explained = self.explain(&error);
        // HTTP+SSE is only tried if it is allowed and could help: a server that is unreachable,
        // wants a login or does not answer would not answer it either, and one that names its
        // versions speaks streamable HTTP.
        if allowed == HttpTransport::Streamable
            || error.is_final()
            || matches!(error, HandshakeError::Silence(_) | HandshakeError::Version { .. })
        {
            return Err(explained);
        }
        match self.sse(place).await {
            Ok(connected) => Ok(connected),
            Err(sse) if sse.kind == FailureKind::NeedsAuth => Err(sse),
            Err(sse) => {
                let more = if sse.message == explained.message { String::new() } else { format!(": {}", sse.message) };
                Err(format!("{}; nor is there legacy HTTP+SSE{more}", explained.message).into())
            }
        }
    }

    async fn sse(self, place: HttpPlace<'_>) -> Connected {
        let opened = timeout_at(self.by, SseTransport::open(place)).await;
        let mut transport = match opened {
            Ok(opened) => self.noticed(opened?),
            Err(_) => {
                let limit = seconds(self.limits.connect);
                return Err(format!("no event stream with an `endpoint` within {limit}").into());
            }
        };
        match self.negotiate(&mut transport, Methods::Initialize, Deadline::at(self.by)).await {
            Ok(info) => {
                let gone = transport.transport.gone();
                let (connection, _) = self.over(transport, info, gone, (Some(shown_url(place.url)), None));
                Ok((connection, Era::Sse))
            }
            Err(error) => Err(self.explain(&error)),
        }
    }

    /// Creates the connection from a transport whose handshake is done; the server is at the URL, or is the child
    /// process.
    fn over<T>(
        self,
        transport: T,
        info: ServerPeerInfo,
        gone: CancellationToken,
        (url, child): (Option<String>, Option<ChildState>),
    ) -> (Connection, Era)
    where
        T: Transport<RoleClient> + 'static,
        T::Error: std::error::Error + Send + Sync + 'static,
    {
        let era = if info.protocol_version.has_initialize() { Era::Initialize } else { Era::Discover };
        let service = serve_directly(self.client, transport, Some(info));
        (Connection::new(service, self.limits, url, child, gone), era)
    }

    /// Wraps a transport, so that the client sees all of its messages in their order.
    fn noticed<T>(&self, transport: T) -> NoticeTransport<T> {
        NoticeTransport { transport, client: self.client.clone() }
    }

    /// Does the handshake over one transport. If the server refuses our protocol version, tries those that it names.
    async fn negotiate<T>(
        &self,
        transport: &mut T,
        methods: Methods,
        by: Deadline<'_>,
    ) -> Result<ServerPeerInfo, HandshakeError>
    where
        T: Transport<RoleClient> + 'static,
    {
        // rmcp's default is a draft revision that current servers refuse.
        let mut agreed = handshake(transport, (&self.client, ProtocolVersion::V_2025_11_25), methods, by).await;
        let mut tried = Vec::new();
        while let Err(error @ HandshakeError::Version { asked, .. }) = &agreed {
            tried.push(asked.clone());
            let Some(version) = error.next_version(&tried) else { break };
            let methods = if version.has_initialize() { Methods::Initialize } else { Methods::Discover };
            agreed = handshake(transport, (&self.client, version), methods, by).await;
        }
        agreed
    }

    /// Returns the deadline of a handshake with a child process: the rest of the time limit, at least a third of the
    /// whole.
    fn rest<'a>(&self, child: &'a ChildState) -> Deadline<'a> {
        let left = self.by.saturating_duration_since(Instant::now());
        let third = self.limits.connect / 3;
        // The exit of a first child may have used up the rest.
        let last = self.last.max(Instant::now() + third);
        Deadline::after(left.max(third), last, child)
    }

    fn explain(&self, error: &HandshakeError) -> Failure {
        match error {
            HandshakeError::Silence(stray) => {
                let waited = Instant::now().saturating_duration_since(self.by) + self.limits.connect;
                // A slightly longer wait is the exit of a first child, no extension.
                let extended = self.limits.extends && waited > self.limits.connect * 2;
                let limit = seconds(if extended { Duration::from_secs(waited.as_secs()) } else { self.limits.connect });
                let stray = stray.as_ref().map(|id| one_line(&id.to_string()));
                let stray = stray.map(|id| format!(", but one to a request that was never sent (id {id})"));
                let stray = stray.unwrap_or_default();
                format!(
                    "no answer to `initialize` within {limit}{stray}: set \"connectTimeout\" if it needs longer; else \
                     check that it is an MCP server"
                )
                .into()
            }
            HandshakeError::Closed => "it closed the connection before the handshake was done".to_owned().into(),
            HandshakeError::Refused(why) => Failure { message: why.clone(), kind: FailureKind::Refused },
            HandshakeError::Version { asked, supported } => {
                let supported: Vec<_> = supported.iter().map(ProtocolVersion::as_str).collect();
                let supported = supported.join(", ");
                let message = format!(
                    "the server supports only other versions of MCP, {supported}; the last one requested was {asked}"
                );
                Failure { message, kind: FailureKind::Refused }
            }
            HandshakeError::Unsent(error) => match error.kind {
                FailureKind::Other => Failure { kind: FailureKind::Refused, ..error.clone() },
                _ => error.clone(),
            },
        }
    }
}

impl HandshakeError {
    /// Returns `true` if another handshake or transport would fail in the same way as this one: a login is missing, or
    /// the server is unreachable.
    fn is_final(&self) -> bool {
        match self {
            HandshakeError::Unsent(error) => matches!(error.kind, FailureKind::NeedsAuth | FailureKind::Unreachable),
            _ => false,
        }
    }
}
