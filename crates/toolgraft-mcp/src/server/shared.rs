//! The state that a server's actor and its callers share.

use std::ffi::OsString;
use std::sync::Arc;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::connection::Connection;
use super::count::Count;
use super::prompts::McpPrompt;
use super::settings::Settings;
use super::status::{ServerState, ServerStatus};
use crate::config::ServerConfig;
use crate::transport::log::Log;
use toolgraft::tools;

/// The entry of a server, and the wishes of its callers.
pub(super) struct Shared {
    pub(super) config: ServerConfig,
    pub(super) environment: Arc<[(OsString, OsString)]>,
    pub(super) settings: Settings,
    pub(super) demand: Count,
    /// Requests a restart, whatever failed before.
    pub(super) reset: Notify,
    /// `true` while the server is switched on.
    pub(super) on: watch::Sender<bool>,
    pub(super) log: Arc<Log>,
    /// Called when the tools, resources or prompts of the server have changed.
    pub(super) changed: Box<dyn Fn() + Send + Sync>,
}

/// The tools, resources and prompts of a server.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    pub(crate) server: tools::Server,
    pub(crate) prompts: Vec<McpPrompt>,
}

/// The current state of a server.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) status: ServerStatus,
    pub(super) connection: Option<Arc<Connection>>,
    /// The last offer, including tools that are off. It is kept while the server is not running,
    /// since a call restarts it.
    pub(super) offer: Option<Arc<Offer>>,
    /// Number of finished attempts to start the server, and of switches.
    pub(super) attempts: u64,
    /// No attempt is made before this time; calls get an error that says so.
    pub(super) shut_until: Option<Instant>,
}

impl Snapshot {
    pub(super) fn usable(&self) -> Option<Arc<Connection>> {
        self.connection.as_ref().filter(|connection| !connection.is_gone()).cloned()
    }

    /// Returns `true` if an attempt after the first `seen` ones is over, and its outcome holds: the server can be used, or
    /// no other attempt goes on, as after a restart during a start.
    pub(super) fn is_settled_since(&self, seen: u64) -> bool {
        let goes_on = matches!(self.status.state, ServerState::Connecting | ServerState::Ready);
        self.attempts > seen && (self.usable().is_some() || !goes_on)
    }

    pub(super) fn is_shut(&self) -> bool {
        self.shut_until.is_some_and(|until| until > Instant::now())
    }
}
