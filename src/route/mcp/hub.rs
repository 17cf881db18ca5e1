//! All servers of a configuration as one toolbox.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use serde::Serialize;
use serde_json::{Map, Value};

use super::config::{Config, ServerConfig};
use super::connection::{self, Connection, Limits, RequestError, seconds};
use super::content;
use super::prompts::{McpPrompt, PromptMessage};
use crate::catalog::{Catalog, Server};
use crate::outcome::{Outcome, Status};
use crate::route::{Invocation, Toolbox};
use crate::tool::ACCESS_RESOURCE;

/// Limit of a server's start, and again of its listing, where the configuration sets none.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Limit of one call where the configuration sets none.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// What a hub needs beside the configuration.
#[derive(Clone)]
pub struct Options {
    /// Variables of this process. Servers get only those of the allow-list
    /// (`PATH`, `HOME` and the like) and their own `env`.
    pub environment: Vec<(OsString, OsString)>,
    /// Limit of a start, and again of a listing, for servers that set none.
    pub connect_timeout: Duration,
    /// Limit of a call for servers that set none.
    pub call_timeout: Duration,
}

impl Default for Options {
    /// The default limits, and an empty environment: no program is found by its name alone.
    fn default() -> Self {
        Options {
            environment: Vec::new(),
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            call_timeout: DEFAULT_CALL_TIMEOUT,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("connect_timeout", &self.connect_timeout)
            .field("call_timeout", &self.call_timeout)
            .finish_non_exhaustive()
    }
}

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerState {
    /// It has answered and takes calls.
    Ready,
    /// It could not be reached, or has gone.
    Failed,
    /// The configuration leaves it out.
    Disabled,
}

/// A server and how it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Name in the configuration.
    pub name: String,
    /// How it is.
    pub state: ServerState,
    /// Why it failed, and the remedy where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
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
    /// Time until it was ready, listing included, or had failed; in milliseconds.
    #[serde(rename = "connect_ms", serialize_with = "millis")]
    pub connect_time: Duration,
    /// What was left out, and other things worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn millis<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// All servers of a configuration as one toolbox.
///
/// A server that fails never keeps the others from working; its state and error
/// are in [`servers`](Hub::servers). Call [`shutdown`](Hub::shutdown) at the end:
/// it waits until every child process is gone. A hub that is dropped ends them
/// too, but nobody waits.
#[derive(Debug)]
pub struct Hub {
    members: Vec<Member>,
    catalog: Arc<Catalog>,
    prompts: Vec<McpPrompt>,
}

struct Member {
    status: ServerStatus,
    connection: Option<Connection>,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.status.fmt(f)
    }
}

impl Hub {
    /// Connects to all servers side by side and lists what they offer.
    ///
    /// It takes as long as the slowest server, at most its two limits.
    pub async fn connect(config: &Config, options: Options) -> Hub {
        let joined = join_all(config.servers().iter().map(|server| member(server, &options))).await;
        let (members, offers): (Vec<_>, Vec<_>) = joined.into_iter().unzip();
        let (servers, prompts): (Vec<_>, Vec<_>) = offers.into_iter().flatten().unzip();
        Hub { members, catalog: Arc::new(Catalog::new(servers)), prompts: prompts.concat() }
    }

    /// The servers and how they are now, in the configuration's order.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.members.iter().map(Member::status).collect()
    }

    /// The servers' prompts, server by server.
    pub fn prompts(&self) -> &[McpPrompt] {
        &self.prompts
    }

    /// A server's prompt with its arguments filled in, as messages to send.
    ///
    /// # Errors
    /// The server is not there, or refuses; the text says why.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, String> {
        let Some(connection) = self.connection(server) else {
            return Err(self.failed(server).unwrap_or_else(|| self.no_server(server)));
        };
        let answer = connection.prompt(name, arguments).await;
        answer.map_err(|error| format!("server {server:?}: prompt {name:?}: {error}"))
    }

    /// Ends all connections and child processes, side by side; further calls fail.
    ///
    /// A child gets about two seconds after the end of its standard input, then
    /// TERM and two more, then KILL.
    pub async fn shutdown(&self) {
        join_all(self.members.iter().filter_map(|m| m.connection.as_ref()).map(Connection::close)).await;
    }

    async fn run(&self, invocation: Invocation) -> Outcome {
        if invocation.tool == ACCESS_RESOURCE && !self.catalog.knows(ACCESS_RESOURCE) {
            return self.read(invocation).await;
        }
        let server = invocation.server.as_deref();
        if let Some(failed) = server.and_then(|name| self.failed(name)) {
            return Outcome::error(failed);
        }
        let found = match self.catalog.find(server, &invocation.tool) {
            Ok(found) => found.tool,
            Err(not_found) => return Outcome::error(not_found.to_string()),
        };
        let name = found.server.as_deref().unwrap_or_default();
        let Some(connection) = self.connection(name) else {
            return Outcome::error(format!("the server {name:?} is not connected"));
        };
        match connection.call(&found.name, invocation.arguments).await {
            Ok(result) => content::tool_outcome(&result),
            Err(error) => failure(name, &format!("tool {:?}", found.name), &error),
        }
    }

    async fn read(&self, invocation: Invocation) -> Outcome {
        let Some(uri) = invocation.arguments.get("uri").and_then(|uri| uri.as_str()) else {
            return Outcome::error("a resource needs its \"uri\", a string");
        };
        let name = match self.resource_server(invocation.server.as_deref(), uri) {
            Ok(name) => name,
            Err(message) => return Outcome::error(message),
        };
        let Some(connection) = self.connection(&name) else {
            return Outcome::error(self.failed(&name).unwrap_or_else(|| self.no_server(&name)));
        };
        match connection.read(uri).await {
            Ok(result) => content::resource_outcome(&result),
            Err(error) if error.is_unknown_method() => Outcome::error(format!("server {name:?} has no resources")),
            Err(error) => failure(&name, &format!("resource {uri:?}"), &error),
        }
    }

    /// The server that a resource is read from: the named one; else the only one
    /// that lists it, else the only one with resources at all.
    fn resource_server(&self, named: Option<&str>, uri: &str) -> Result<String, String> {
        if let Some(name) = named.filter(|name| self.members.iter().any(|m| m.status.name == *name)) {
            return Ok(name.to_owned());
        }
        let found = self.catalog.resource_server(named, uri).and_then(|server| server.name.clone());
        found.ok_or_else(|| match named {
            Some(name) => self.no_server(name),
            None => format!("no single server has the resource {uri:?}: name its server"),
        })
    }

    fn no_server(&self, name: &str) -> String {
        let names: Vec<_> = self.members.iter().map(|m| m.status.name.as_str()).collect();
        match names.as_slice() {
            [] => format!("no server {name:?}: none is configured"),
            names => format!("no server {name:?}; there are: {}", names.join(", ")),
        }
    }

    fn connection(&self, name: &str) -> Option<&Connection> {
        self.members.iter().find(|m| m.status.name == name)?.connection.as_ref()
    }

    /// Why a configured server takes no calls.
    fn failed(&self, name: &str) -> Option<String> {
        let member = self.members.iter().find(|m| m.status.name == name)?;
        match (&member.connection, member.status.state) {
            (Some(_), _) => None,
            (None, ServerState::Disabled) => Some(format!("the server {name:?} is disabled")),
            (None, _) => {
                let why = member.status.error.as_deref().unwrap_or("it could not be reached");
                Some(format!("the server {name:?} is not there: {why}"))
            }
        }
    }
}

impl Member {
    fn status(&self) -> ServerStatus {
        let mut status = self.status.clone();
        if self.connection.as_ref().is_some_and(Connection::is_gone) {
            status.state = ServerState::Failed;
            status.error = Some("the connection is closed".to_owned());
        }
        status
    }
}

/// An outcome for a request that has no result.
fn failure(server: &str, what: &str, error: &RequestError) -> Outcome {
    match error {
        RequestError::TimedOut(limit) => Outcome::new(
            Status::TimedOut,
            format!("server {server:?}: {what}: no answer within {}; the call was cancelled", seconds(*limit)),
        ),
        error => Outcome::error(format!("server {server:?}: {what}: {error}")),
    }
}

/// What a server offers to models and to people.
type Offer = (Server, Vec<McpPrompt>);

async fn member(config: &ServerConfig, options: &Options) -> (Member, Option<Offer>) {
    let started = Instant::now();
    let mut status = ServerStatus {
        name: config.name.clone(),
        state: ServerState::Failed,
        error: None,
        misconfigured: false,
        server_name: None,
        server_version: None,
        protocol_version: None,
        connect_time: Duration::ZERO,
        notes: Vec::new(),
    };
    if config.disabled {
        status.state = ServerState::Disabled;
        return (Member { status, connection: None }, None);
    }
    if let Some(problem) = config.problem() {
        status.error = Some(problem);
        status.misconfigured = true;
        return (Member { status, connection: None }, None);
    }
    let connected = connected(config, options).await;
    status.connect_time = started.elapsed();
    match connected {
        Ok((connection, offer, notes)) => {
            status.state = ServerState::Ready;
            (status.server_name, status.server_version, status.protocol_version) = connection.identity();
            status.notes = notes;
            (Member { status, connection: Some(connection) }, Some(offer))
        }
        Err(error) => {
            status.error = Some(error);
            (Member { status, connection: None }, None)
        }
    }
}

async fn connected(config: &ServerConfig, options: &Options) -> Result<(Connection, Offer, Vec<String>), String> {
    let limits = Limits {
        connect: config.connect_timeout.unwrap_or(options.connect_timeout),
        call: config.call_timeout.unwrap_or(options.call_timeout),
    };
    let transport = config.transport.as_ref().map_err(Clone::clone)?;
    let connection = connection::connect(transport, &options.environment, limits).await?;
    match connection.list(&config.name).await {
        Ok((server, mut notes)) => {
            let prompts = connection.prompts(&config.name, &mut notes).await;
            Ok((connection, (server, prompts), notes))
        }
        Err(error) => {
            connection.close().await;
            Err(error)
        }
    }
}

impl Toolbox for Hub {
    fn catalog(&self) -> Arc<Catalog> {
        self.catalog.clone()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome> {
        async move {
            let started = Instant::now();
            let outcome = self.run(invocation).await;
            Outcome { took: Some(started.elapsed()), ..outcome }
        }
        .boxed()
    }
}
