//! What a server's actor and its callers share: what is known of it.

use std::sync::Arc;

use tokio::time::Instant;

use super::connection::Connection;
use super::prompts::McpPrompt;
use super::status::ServerStatus;
use toolgraft::tools;

/// What a server offers to models and to people.
#[derive(Debug, Default)]
pub(crate) struct Offer {
    pub(crate) server: tools::Server,
    pub(crate) prompts: Vec<McpPrompt>,
}

/// What is known of a server now.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) status: ServerStatus,
    pub(super) connection: Option<Arc<Connection>>,
    /// What it offered last, with the tools that are off; kept while it is away, since a call
    /// brings it back.
    pub(super) offer: Option<Arc<Offer>>,
    /// Attempts to start it that are over.
    pub(super) attempts: u64,
    /// No attempt will be made before this, and calls are told so.
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
