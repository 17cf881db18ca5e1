//! All servers of a configuration as one toolbox.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::config::{Config, ServerConfig};
use super::connection::{Connection, Limits, MAX_CALL, MAX_CALLS};
use super::content;
use super::elicit::Elicitation;
use super::prompts::{McpPrompt, PromptMessage};
use super::request::{RequestError, seconds};
use super::server::{Retry, Server, Start};
use super::status::ServerStatus;
use crate::catalog::Catalog;
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
    /// Limit of a call however much progress its server reports; not below its other limit.
    pub max_call: Duration,
    /// Calls that run at once on a server that sets no number.
    pub max_calls: NonZeroUsize,
    /// When servers are started.
    pub start: Start,
    /// When a server that has gone is started anew.
    pub retry: Retry,
    /// What a server is told that asks back for input while a tool runs.
    pub elicitation: Elicitation,
}

impl Options {
    fn limits(&self, server: &ServerConfig) -> Limits {
        Limits {
            connect: server.connect_timeout.unwrap_or(self.connect_timeout),
            call: server.call_timeout.unwrap_or(self.call_timeout),
            most: self.max_call,
            calls: server.max_calls.unwrap_or(self.max_calls),
        }
    }
}

impl Default for Options {
    /// The default limits, and an empty environment: no program is found by its name alone.
    fn default() -> Self {
        Options {
            environment: Vec::new(),
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            call_timeout: DEFAULT_CALL_TIMEOUT,
            max_call: MAX_CALL,
            max_calls: MAX_CALLS,
            start: Start::Eager,
            retry: Retry::default(),
            elicitation: Elicitation::Decline,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("connect_timeout", &self.connect_timeout)
            .field("call_timeout", &self.call_timeout)
            .field("max_call", &self.max_call)
            .field("max_calls", &self.max_calls)
            .field("start", &self.start)
            .field("retry", &self.retry)
            .field("elicitation", &self.elicitation)
            .finish_non_exhaustive()
    }
}

/// All servers of a configuration as one toolbox.
///
/// A server that fails never keeps the others from working; its state and error
/// are in [`servers`](Hub::servers). One that has gone is started anew by the
/// next call that needs it; one that says that its lists have changed is asked
/// again, and [`catalog`](Toolbox::catalog) then yields a new catalog. Call
/// [`shutdown`](Hub::shutdown) at the end: it waits until every child process is
/// gone. A hub that is dropped ends them too, but nobody waits.
pub struct Hub {
    config: Config,
    servers: Arc<Vec<Server>>,
    offered: Arc<Offered>,
}

/// What all servers offer together.
#[derive(Default)]
struct Offered {
    now: RwLock<Now>,
    version: watch::Sender<u64>,
}

#[derive(Clone, Default)]
struct Now {
    catalog: Arc<Catalog>,
    prompts: Arc<[McpPrompt]>,
}

impl Offered {
    fn now(&self) -> Now {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Joins what the servers offer now, in the configuration's order.
    fn join(&self, servers: &[Server]) {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let offers: Vec<_> = servers.iter().filter_map(Server::offer).collect();
        now.catalog = Arc::new(Catalog::new(offers.iter().map(|offer| offer.server.clone()).collect::<Vec<_>>()));
        now.prompts = offers.iter().flat_map(|offer| offer.prompts.iter().cloned()).collect();
        drop(now);
        self.version.send_modify(|version| *version += 1);
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("servers", &self.servers()).finish_non_exhaustive()
    }
}

impl Hub {
    /// Connects to all servers side by side and lists what they offer.
    ///
    /// It takes as long as the slowest server, at most its two limits; with
    /// [`Start::Lazy`] it returns at once. Must be called within a tokio runtime.
    pub async fn connect(config: &Config, options: Options) -> Hub {
        let environment: Arc<[(OsString, OsString)]> = options.environment.clone().into();
        let offered = Arc::<Offered>::default();
        // The servers need the way to each other's offers before they are all there.
        let servers = Arc::new_cyclic(|servers: &Weak<Vec<Server>>| {
            let start = |config: &ServerConfig| {
                let (servers, offered) = (servers.clone(), offered.clone());
                let changed = move || {
                    if let Some(servers) = servers.upgrade() {
                        offered.join(&servers);
                    }
                };
                let limits = options.limits(config);
                Server::start(
                    config,
                    environment.clone(),
                    limits,
                    (options.start, options.retry, options.elicitation),
                    Arc::new(changed),
                )
            };
            config.servers().iter().map(start).collect()
        });
        if options.start == Start::Eager {
            join_all(servers.iter().map(Server::settled)).await;
        }
        // One that was ready before all were set up could not say so.
        offered.join(&servers);
        Hub { config: config.clone(), servers, offered }
    }

    /// The configuration that it was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The servers and how they are now, in the configuration's order.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(Server::status).collect()
    }

    /// The servers' prompts now, server by server.
    pub fn prompts(&self) -> Arc<[McpPrompt]> {
        self.offered.now().prompts
    }

    /// Told whenever the servers offer something else than before, with a number that grows.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.offered.version.subscribe()
    }

    /// Ends a server's connection, if there is one, and starts it anew at once,
    /// however often it has failed. Waits until it is ready.
    ///
    /// # Errors
    /// There is no such server, or it could not be reached; the text says why.
    pub async fn restart(&self, server: &str) -> Result<(), String> {
        match self.server(server) {
            Some(found) => found.restart().await,
            None => Err(self.no_server(server)),
        }
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
        let connection = self.connection(server).await?;
        let answer = connection.prompt(name, arguments).await;
        answer.map_err(|error| format!("server {server:?}: prompt {name:?}: {error}"))
    }

    /// Ends all connections and child processes, side by side; further calls fail.
    ///
    /// A child gets about two seconds after the end of its standard input, then
    /// TERM and two more, then KILL.
    pub async fn shutdown(&self) {
        join_all(self.servers.iter().map(Server::shutdown)).await;
    }

    async fn run(&self, invocation: Invocation) -> Outcome {
        if invocation.tool == ACCESS_RESOURCE && !self.offered.now().catalog.knows(ACCESS_RESOURCE) {
            return self.read(invocation).await;
        }
        let named = invocation.server.as_deref();
        // What a server offers is only known once it was there.
        if let Some(server) = named.and_then(|name| self.server(name)).filter(|server| server.offer().is_none())
            && let Err(absent) = server.connection().await
        {
            return Outcome::error(absent);
        }
        let catalog = self.offered.now().catalog;
        let found = match catalog.find(named, &invocation.tool) {
            Ok(found) => found.tool,
            Err(not_found) => return Outcome::error(not_found.to_string()),
        };
        let name = found.server.as_deref().unwrap_or_default();
        let connection = match self.connection(name).await {
            Ok(connection) => connection,
            Err(absent) => return Outcome::error(absent),
        };
        match connection.call(&found.name, invocation.arguments).await {
            Ok((result, answer)) => content::tool_outcome(&result, &answer),
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
        let connection = match self.connection(&name).await {
            Ok(connection) => connection,
            Err(absent) => return Outcome::error(absent),
        };
        match connection.read(uri).await {
            Ok((result, answer)) => content::resource_outcome(&result, &answer),
            Err(error) if error.is_unknown_method() => Outcome::error(format!("server {name:?} has no resources")),
            Err(error) => failure(&name, &format!("resource {uri:?}"), &error),
        }
    }

    /// The server that a resource is read from: the named one; else the only one
    /// that lists it, else the only one with resources at all.
    fn resource_server(&self, named: Option<&str>, uri: &str) -> Result<String, String> {
        if let Some(name) = named.filter(|name| self.server(name).is_some()) {
            return Ok(name.to_owned());
        }
        let catalog = self.offered.now().catalog;
        let found = catalog.resource_server(named, uri).and_then(|server| server.name.clone());
        found.ok_or_else(|| match named {
            Some(name) => self.no_server(name),
            None => format!("no single server has the resource {uri:?}: name its server"),
        })
    }

    fn no_server(&self, name: &str) -> String {
        let names: Vec<_> = self.servers.iter().map(Server::name).collect();
        match names.as_slice() {
            [] => format!("no server {name:?}: none is configured"),
            names => format!("no server {name:?}; there are: {}", names.join(", ")),
        }
    }

    fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name() == name)
    }

    /// A server's connection; the server is started where it is not there.
    async fn connection(&self, name: &str) -> Result<Arc<Connection>, String> {
        match self.server(name) {
            Some(server) => server.connection().await,
            None => Err(self.no_server(name)),
        }
    }
}

/// An outcome for a request that has no result.
fn failure(server: &str, what: &str, error: &RequestError) -> Outcome {
    match error {
        RequestError::TimedOut(limit, noise) => {
            let noise = noise.as_deref().map(|noise| format!("; {noise}")).unwrap_or_default();
            let limit = seconds(*limit);
            let text = format!("server {server:?}: {what}: no answer within {limit}; the call was cancelled{noise}");
            Outcome::new(Status::TimedOut, text)
        }
        error => Outcome::error(format!("server {server:?}: {what}: {error}")),
    }
}

impl Toolbox for Hub {
    fn catalog(&self) -> Arc<Catalog> {
        self.offered.now().catalog
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
