//! The status of a server, for users and programs.

use std::time::Duration;

use serde::Serialize;

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerState {
    /// The server is switched off, by its entry or by the program.
    Disabled,
    /// The server is not started yet: the first call that needs it starts it.
    #[default]
    Idle,
    /// The server is being started, or its tools, resources and prompts are being listed.
    Connecting,
    /// The server is ready for calls.
    Ready,
    /// The server requires an authorization that is missing or refused; calls fail with a message about the remedy.
    NeedsAuth,
    /// The server was ready and has exited; the next call restarts it, after a wait.
    Backoff,
    /// The server could not be reached, and the next call tries again; or it failed too often, and calls fail at once
    /// with the reason.
    Failed,
}

/// The name, state and details of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Name of the server in the configuration.
    pub name: String,
    /// The current state of the server.
    pub state: ServerState,
    /// The reason that the server is not ready, and the remedy if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The last reason that the server was not ready, even if it is ready again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// `true` if the server's entry is faulty, so that the server was never started.
    pub misconfigured: bool,
    /// The name that the server reports of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// The version that the server reports of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_version: Option<String>,
    /// The version of the MCP protocol that the connection uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// Duration of the last attempt to start the server, successful or not, including the listing; in milliseconds when
    /// serialized.
    #[serde(rename = "connect_ms", serialize_with = "millis")]
    pub connect_time: Duration,
    /// Number of restarts of the server.
    #[serde(skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Notes about the server for the user, for example about tools that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ServerStatus {
    /// Returns `true` if calls to the server cannot run because of a failure. A disabled or not yet started server has
    /// not failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.state, ServerState::Failed | ServerState::NeedsAuth | ServerState::Backoff)
    }
}

/// Serializes a duration as whole milliseconds.
pub(super) fn millis<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
