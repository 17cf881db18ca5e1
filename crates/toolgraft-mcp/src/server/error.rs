//! Errors of a hub and its servers.

use super::request::RequestError;
use super::status::{ServerState, ServerStatus};

/// The reason that an MCP server, or the hub, cannot do what the program requested. A failing call
/// is not such an error: it is an [`Outcome`](toolgraft::Outcome) that the model reads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The configuration has no server of this name.
    #[error("no server {server:?}{}", there_are(known))]
    #[non_exhaustive]
    UnknownServer {
        /// The requested name of a server.
        server: String,
        /// The names of the configured servers.
        known: Vec<String>,
    },
    /// The server has no tool of this name.
    #[error("the server {server:?} has no tool {tool:?}{}", nearest(near))]
    #[non_exhaustive]
    UnknownTool {
        /// The name of the server.
        server: String,
        /// The requested name of a tool, or the glob that matches no tool of the server.
        tool: String,
        /// The most similar names of tools of this server.
        near: Vec<String>,
    },
    /// The server accepts no calls now.
    #[error("the server {server:?} {why}")]
    #[non_exhaustive]
    Unavailable {
        /// The name of the server.
        server: String,
        /// The current state of the server.
        state: ServerState,
        /// The reason that the server accepts no calls, if it is known, and the time until the next attempt.
        why: String,
    },
    /// The server was reached, but a request to it has no result.
    #[error("server {server:?}: {what}: {source}")]
    #[non_exhaustive]
    Request {
        /// The name of the server.
        server: String,
        /// The request as a phrase for the message, such as `tool "x"`.
        what: String,
        /// The reason that the request has no result.
        source: RequestError,
    },
    /// [`require_all`](crate::HubBuilder::require_all) was set and some servers are not ready. All servers have been
    /// ended.
    #[error("{}", failed(servers))]
    #[non_exhaustive]
    NotReady {
        /// The status of each server that failed.
        servers: Vec<ServerStatus>,
    },
}

impl McpError {
    pub(crate) fn unknown(server: &str, known: Vec<String>) -> Self {
        McpError::UnknownServer { server: server.to_owned(), known }
    }
}

fn nearest(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; nearest: {}", near.join(", ")),
    }
}

fn there_are(known: &[String]) -> String {
    match known {
        [] => ": none is configured".to_owned(),
        names => format!("; there are: {}", names.join(", ")),
    }
}

fn failed(servers: &[ServerStatus]) -> String {
    let each = servers.iter().map(|server| {
        let why = server.error.as_deref().unwrap_or("it is not available");
        format!("server {:?} failed: {why}", server.name)
    });
    each.collect::<Vec<_>>().join("; ")
}
