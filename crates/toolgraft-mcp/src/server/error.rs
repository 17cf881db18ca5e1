//! Why a server cannot do what the program wants of it.

use super::request::RequestError;
use super::status::{ServerState, ServerStatus};
use toolgraft::Catalog;
use toolgraft::tools::Server;

/// Why an MCP server, or a hub of them, cannot do what the program wants. A failing call
/// is none: it is an [`Outcome`](toolgraft::Outcome) that the model reads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The configuration has no server of this name.
    #[error("no server {server:?}{}", there_are(known))]
    #[non_exhaustive]
    UnknownServer {
        /// The name.
        server: String,
        /// The names that it has.
        known: Vec<String>,
    },
    /// The server has no tool of this name.
    #[error("the server {server:?} has no tool {tool:?}{}", nearest(near))]
    #[non_exhaustive]
    UnknownTool {
        /// The server.
        server: String,
        /// The name, or the glob that fits none.
        tool: String,
        /// Names of its tools that are like this one.
        near: Vec<String>,
    },
    /// The server takes no calls.
    #[error("the server {server:?} {why}")]
    #[non_exhaustive]
    Unavailable {
        /// The server.
        server: String,
        /// How it is.
        state: ServerState,
        /// Why, as far as that is known, and when it is tried again.
        why: String,
    },
    /// The server is there and gave no result.
    #[error("server {server:?}: {what}: {source}")]
    #[non_exhaustive]
    Request {
        /// The server.
        server: String,
        /// What was wanted of it.
        what: String,
        /// Why there is no result.
        source: RequestError,
    },
    /// [`require_all`](crate::HubBuilder::require_all) was asked for, and
    /// these are not there. All servers have been ended again.
    #[error("{}", failed(servers))]
    #[non_exhaustive]
    NotReady {
        /// Those that failed.
        servers: Vec<ServerStatus>,
    },
}

impl McpError {
    pub(crate) fn unknown(server: &str, known: Vec<String>) -> Self {
        McpError::UnknownServer { server: server.to_owned(), known }
    }

    pub(crate) fn unknown_tool(server: &str, name: &str, listed: &Server) -> Self {
        let near = Catalog::new(vec![listed.clone()]).nearest(name);
        McpError::UnknownTool { server: server.to_owned(), tool: name.to_owned(), near }
    }

    pub(crate) fn request(server: &str, what: String, source: RequestError) -> Self {
        McpError::Request { server: server.to_owned(), what, source }
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
        let why = server.error.as_deref().unwrap_or("it is not there");
        format!("server {:?} failed: {why}", server.name)
    });
    each.collect::<Vec<_>>().join("; ")
}
