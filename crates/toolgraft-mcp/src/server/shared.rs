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

/// The configuration of a server, and the requests of its callers to the task that runs it.
pub(super) struct Shared {
    pub(super) config: ServerConfig,
    pub(super) environment: Arc<[(OsString, OsString)]>,
    pub(super) settings: Settings,
    pub(super) demand: Count,
    /// Requests a restart of the server, even while no attempt is made after failures.
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
    /// The tools, resources and prompts last listed, including tools that are off. They remain while the server is not
    /// running, since a call restarts it; `None` if it was never ready or is switched off.
    pub(super) offer: Option<Arc<Offer>>,
    /// Number of finished attempts to start the server and of completed switches to off.
    pub(super) attempts: u64,
    /// Time before which no attempt to start the server is made; calls fail until then. `None` if attempts are allowed.
    pub(super) shut_until: Option<Instant>,
}

impl Snapshot {
    pub(super) fn usable(&self) -> Option<Arc<Connection>> {
        self.connection.as_ref().filter(|connection| !connection.is_gone()).cloned()
    }

    /// Returns `true` if an attempt to start the server after the first `seen` ones is over, and the server can be used
    /// or no further attempt is running, as after a restart during a start.
    pub(super) fn is_settled_since(&self, seen: u64) -> bool {
        let goes_on = matches!(self.status.state, ServerState::Connecting | ServerState::Ready);
        self.attempts > seen && (self.usable().is_some() || !goes_on)
    }

    pub(super) fn is_shut(&self) -> bool {
        self.shut_until.is_some_and(|until| until > Instant::now())
    }
}
