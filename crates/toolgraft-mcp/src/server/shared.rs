//! The state that a server's actor and its callers share.

use std::sync::Arc;

use tokio::time::Instant;

use super::connection::Connection;
use super::prompts::McpPrompt;
use super::status::ServerStatus;
use toolgraft::tools;

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

    pub(super) fn is_shut(&self) -> bool {
        self.shut_until.is_some_and(|until| until > Instant::now())
    }
}
