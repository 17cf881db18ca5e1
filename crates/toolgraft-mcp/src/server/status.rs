//! How a server is, for people and programs.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerState {
    /// The configuration leaves it out.
    Disabled,
    /// It is not started: the first call that needs it starts it.
    #[default]
    Idle,
    /// It is being started, or asked what it offers.
    Connecting,
    /// It has answered and takes calls.
    Ready,
    /// It wants an authorization that the configuration does not have; calls are
    /// told so at once.
    NeedsAuth,
    /// It was there and has gone; the next call starts it anew, after a wait.
    Backoff,
    /// It could not be reached, and the next call tries again; or it failed too
    /// often, and calls are told so at once.
    Failed,
}

/// A server and how it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Name in the configuration.
    pub name: String,
    /// How it is.
    pub state: ServerState,
    /// Why it is not there, and the remedy where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it was last not there, though it may be there again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether it failed because its configuration is wrong, before anything was started.
    pub misconfigured: bool,
    /// Name that the server gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// Version that the server gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_version: Option<String>,
    /// MCP version that both sides speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// Time until it was ready, listing included, or had failed, at the last
    /// attempt; in milliseconds.
    #[serde(rename = "connect_ms", serialize_with = "millis", deserialize_with = "of_millis")]
    pub connect_time: Duration,
    /// Times that it was started anew after it had gone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// What was left out, and other things worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ServerStatus {
    pub(crate) fn new(name: &str) -> Self {
        ServerStatus { name: name.to_owned(), ..ServerStatus::default() }
    }

    /// Whether calls cannot run, and not because the user left the server out or
    /// nobody has needed it yet.
    pub fn has_failed(&self) -> bool {
        matches!(self.state, ServerState::Failed | ServerState::NeedsAuth | ServerState::Backoff)
    }
}

/// A time as whole milliseconds.
pub(super) fn millis<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn of_millis<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
