//! From a configured transport to a server that has shaken hands.

use std::ffi::OsString;

use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::Transport;
use rmcp::{RoleClient, ServiceExt};

use super::config::{Hidden, ServerConfig, TransportConfig};
use super::connection::{Connection, Limits};
use super::http;
use super::request::{Client, seconds};
use super::stdio::{self, Program};

/// Why a server could not be reached.
#[derive(Debug)]
pub(super) struct ConnectError {
    pub(super) message: String,
    /// It wants an authorization, and waiting will not bring one.
    pub(super) needs_auth: bool,
}

impl From<String> for ConnectError {
    fn from(message: String) -> Self {
        ConnectError { message, needs_auth: false }
    }
}

/// Connects and shakes hands. The server's secrets are not in the error.
pub(super) async fn connect(
    config: &ServerConfig,
    environment: &[(OsString, OsString)],
    limits: Limits,
) -> Result<Connection, ConnectError> {
    let hidden = config.hidden();
    let secrets = hidden.in_errors.clone();
    let transport = config.transport.as_ref().map_err(|problem| ConnectError::from(problem.clone()))?;
    let connected = over(transport, environment, (limits, hidden)).await;
    connected.map_err(|error| ConnectError { message: secrets.hide(&error.message).into_owned(), ..error })
}

async fn over(
    transport: &TransportConfig,
    environment: &[(OsString, OsString)],
    (limits, hidden): (Limits, Hidden),
) -> Result<Connection, ConnectError> {
    match transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            let program = Program { command, args, env, cwd: cwd.as_deref() };
            let (transport, child) = stdio::spawn(program, environment)?;
            match handshake(transport, limits).await {
                Ok(service) => Ok(Connection::new(service, (limits, hidden), None, Some(child))),
                Err(error) => Err(format!("{}{}", error.message, child.last_words().await).into()),
            }
        }
        TransportConfig::Http { url, headers } => {
            let shown = http::shown_url(url);
            match handshake(http::transport(url, headers)?, limits).await {
                Ok(service) => Ok(Connection::new(service, (limits, hidden), Some(shown), None)),
                Err(error) => Err(ConnectError { message: format!("{shown}: {}", error.message), ..error }),
            }
        }
    }
}

/// A running client of rmcp.
pub(super) type Service = RunningService<RoleClient, Client>;

async fn handshake<T: Transport<RoleClient> + 'static>(transport: T, limits: Limits) -> Result<Service, ConnectError> {
    let served = tokio::time::timeout(limits.connect, Client::default().serve(transport)).await;
    let limit = seconds(limits.connect);
    served
        .map_err(|_| format!("no answer to `initialize` within {limit}: set \"connectTimeout\" if it needs longer"))?
        .map_err(|error| handshake_error(&error))
}

fn handshake_error(error: &ClientInitializeError) -> ConnectError {
    let message = match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "it closed the connection before the handshake was done".to_owned()
        }
        ClientInitializeError::JsonRpcError(e) if e.code == stdio::UNREADABLE => e.message.to_string(),
        ClientInitializeError::JsonRpcError(e) => {
            format!("it refused `initialize`: {} (JSON-RPC error {})", http::line(&e.message), e.code.0)
        }
        ClientInitializeError::TransportError { error, .. } => {
            let needs_auth = http::wants_auth(error);
            let explained = http::explain(error);
            let message = explained.unwrap_or_else(|| format!("`initialize` could not be sent: {}", error.error));
            return ConnectError { message, needs_auth };
        }
        other => format!("the handshake failed: {}", http::line(&other.to_string())),
    };
    message.into()
}
