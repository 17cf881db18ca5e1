//! All servers of a configuration as one toolbox.

use std::collections::HashMap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use futures::stream::BoxStream;
use rmcp::model::Reference;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::auth::Logins;
use super::config::{Config, ServerConfig};
use super::environment;
use super::server::{
    Answers, Connection, Elicitor, McpError, McpPrompt, PromptMessage, RequestError, Retry, ServerEvent, ServerHandle,
    ServerStatus, Settings, Start, ToolState, USER_EVENT, for_user, has_large, resource_outcome, scaled, seconds,
    tool_outcome, with_media,
};
use crate::transport::log::LogLine;
use crate::transport::wire::{Wire, WireMessage};
use toolgraft::budget::Budget;
use toolgraft::http::Trust;
use toolgraft::outcome::Status;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::ACCESS_RESOURCE;
use toolgraft::{Catalog, Outcome};
use toolgraft_raster::MAX_PIXELS;

/// Configures a [`Hub`]. The order in which options are set does not matter.
///
/// Without [`inherit_env`](Self::inherit_env) or [`environment`](Self::environment), servers get an
/// empty environment, in which a program is only found by its path.
#[derive(Default)]
#[must_use = "a hub is there once it is connected"]
pub struct HubBuilder {
    config: Config,
    servers: Vec<ServerConfig>,
    environment: Vec<(OsString, OsString)>,
    inherit_env: bool,
    require_all: bool,
    trust: Trust,
    settings: Settings,
}

impl std::fmt::Debug for HubBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubBuilder").field("config", &self.config).finish_non_exhaustive()
    }
}

setters! { HubBuilder:
    /// Sets the time limit of a server's start, and again of the listing of its tools, resources and prompts, for
    /// servers whose entry sets none. The time of a start begins anew with each output on standard error, up to
    /// [`MAX_START`](super::MAX_START).
    connect_timeout(limit: Duration) => settings.connect_timeout = limit;

    /// Sets the time limit of a tool call without progress, for servers whose entry sets none.
    call_timeout(limit: Duration) => settings.call_timeout = limit;

    /// Sets the time limit of a tool call that holds however much progress its server reports. The limit without
    /// progress is used instead if it is longer.
    max_call(limit: Duration) => settings.max_call = limit;

    /// Sets the maximum number of concurrent calls of one server, for servers whose entry sets none.
    max_calls(calls: NonZeroUsize) => settings.max_calls = calls;

    /// Sets the time at which servers are started: at once, or with the first call.
    start(start: Start) => settings.start = start;

    /// Sets the rules for restarting a server that has exited or could not be reached.
    retry(retry: Retry) => settings.retry = retry;

    /// Sets the handler of servers' requests for input while a tool runs: forms to fill in, and pages to open. Without
    /// one, the handshake declares that no user can be asked.
    elicitor(elicitor: impl Elicitor + 'static) => settings.answers = Answers(Some(Arc::new(elicitor)));

    /// Adds the images, audio and blobs of results to outcomes as events ([`MEDIA_EVENT`](super::MEDIA_EVENT)), in
    /// addition to the text, which has a note for each. A model that accepts them is sent them
    /// ([`TurnConfig::reads`](toolgraft::turn::TurnConfig::reads)). Off by default: they are large, and outcomes are
    /// stored with conversations.
    keep_media(keep: bool) => settings.media = keep;

    /// Sets the budget of pixels that are decoded at once, to scale pictures down for a model; other users may share
    /// it. By default a hub has its own of [`MAX_PIXELS_AT_ONCE`](toolgraft::budget::MAX_PIXELS_AT_ONCE).
    pixels(budget: Budget) => settings.pixels = budget;

    /// Removes content of results whose `audience` is the user alone from the text that a model reads, and reports it
    /// as an event ([`USER_EVENT`](super::USER_EVENT)) for a program that shows it. Off by default: a program that does
    /// not show the event would lose the content.
    by_audience(by_audience: bool) => settings.by_audience = by_audience;

    /// Sets the store of logins for servers over HTTP whose entry has no `Authorization` header; their tokens are
    /// refreshed. The hub asks no user to log in: [`Login`](super::Login) does that.
    logins(logins: Logins) => settings.logins = Some(logins);

    /// Reports each MCP message in either direction to `look`, from the handshake on, without the secrets of the
    /// servers' entries. `look` is called with one message at a time, and the message waits for it.
    wire(look: impl Fn(WireMessage) + Send + Sync + 'static) => settings.wire = Some(Wire::new(look));
}

impl HubBuilder {
    /// Adds the servers of a configuration to the hub, after those of earlier configurations.
    pub fn config(mut self, config: Config) -> Self {
        self.config.merge(config);
        self
    }

    /// Adds certificates that are trusted at servers over HTTP, in addition to the system's and to
    /// the [`trust`](ServerConfig::trust) of an entry.
    pub fn trust(mut self, trust: &Trust) -> Self {
        self.trust = self.trust.and(trust);
        self
    }

    /// Adds a server to the hub, after those of all configurations.
    pub fn server(mut self, server: ServerConfig) -> Self {
        self.servers.push(server);
        self
    }

    /// Passes the environment variables of this process that are on the allow-list, such as `PATH` and `HOME`, to
    /// servers. This is the only method with which the library reads the environment.
    pub fn inherit_env(mut self) -> Self {
        self.inherit_env = true;
        self
    }

    /// Passes these environment variables to servers, if they are on the allow-list. They take precedence over
    /// inherited ones of the same names; a server's own `env` takes precedence over both.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
    ) -> Self {
        self.environment.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Makes [`connect`](Self::connect) fail if a server that is not disabled is not ready. With [`Start::Lazy`] no
    /// server is started, so that only faults of the configuration are found.
    pub fn require_all(mut self) -> Self {
        self.require_all = true;
        self
    }

    /// Returns the events of the servers from now on, for a program that shows how they start; see
    /// [`Hub::states`].
    pub fn states(&self) -> BoxStream<'static, ServerEvent> {
        self.settings.states.stream()
    }

    /// Connects to all servers concurrently and lists their tools, resources and prompts.
    ///
    /// Connecting takes as long as the slowest server: at most its two time limits, or [`MAX_START`](super::MAX_START)
    /// for one that goes on writing to standard error. With [`Start::Lazy`] it returns at once. Must be called within a
    /// tokio runtime.
    ///
    /// # Errors
    /// [`McpError::NotReady`], but only with [`require_all`](Self::require_all). Without it, failed
    /// servers are reported by [`Hub::servers`].
    pub async fn connect(self) -> Result<Hub, McpError> {
        let require_all = self.require_all;
        let hub = self.begin();
        hub.settled().await;
        let missing: Vec<_> = hub.servers().into_iter().filter(ServerStatus::has_failed).collect();
        if require_all && !missing.is_empty() {
            hub.shutdown().await;
            return Err(McpError::NotReady { servers: missing });
        }
        Ok(hub)
    }

    /// Begins to connect to all servers and returns at once. The tools of a server are in the
    /// catalog as soon as it is ready ([`Hub::settled`]). Must be called within a tokio runtime.
    pub fn begin(self) -> Hub {
        let HubBuilder { mut config, servers, environment, inherit_env, trust, settings, .. } = self;
        config.merge(servers.into_iter().collect());
        config.add_trust(&trust);
        let environment = environment::joined(environment, inherit_env);
        Hub::begin(config, &environment.into(), settings)
    }
}

/// All MCP servers of a configuration as one toolbox.
///
/// A server that fails does not keep the others from working; its state and error are in [`servers`](Hub::servers). A
/// server that has exited is started again by the next call that needs it. A server that reports changed lists is
/// listed again, and [`catalog`](Toolbox::catalog) then returns a new catalog. [`states`](Hub::states) reports these
/// changes. Call [`shutdown`](Hub::shutdown) at the end: it waits until every child process has exited. Dropping a hub
/// ends them too, without waiting.
pub struct Hub {
    config: Config,
    servers: Arc<Vec<ServerHandle>>,
    offered: watch::Sender<Offered>,
    settings: Settings,
}

/// The tools, resources and prompts of all servers of a hub.
#[derive(Default)]
struct Offered {
    catalog: Arc<Catalog>,
    prompts: Arc<[McpPrompt]>,
}

impl Offered {
    /// Joins the tools, resources and prompts of the servers, in the configuration's order.
    fn of(servers: &[ServerHandle]) -> Self {
        let offers = servers.iter().filter_map(ServerHandle::offer);
        let (servers, prompts): (Vec<_>, Vec<_>) = offers.map(|offer| (offer.server, offer.prompts)).unzip();
        Offered { catalog: Arc::new(Catalog::new(servers)), prompts: prompts.into_iter().flatten().collect() }
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("servers", &self.servers()).finish_non_exhaustive()
    }
}

impl Hub {
    /// Returns a builder of a hub with default settings.
    pub fn builder() -> HubBuilder {
        HubBuilder::default()
    }

    fn begin(config: Config, environment: &Arc<[(OsString, OsString)]>, settings: Settings) -> Hub {
        let offered = watch::Sender::<Offered>::default();
        // Each server needs a reference to the others' offers before all of them exist.
        let servers = Arc::new_cyclic(|servers: &Weak<Vec<ServerHandle>>| {
            let start = |config: &ServerConfig| {
                let (servers, offered) = (servers.clone(), offered.clone());
                let changed = Box::new(move || {
                    if let Some(servers) = servers.upgrade() {
                        // Joined under the lock, so that an earlier state never replaces a later one.
                        offered.send_modify(|offered| *offered = Offered::of(&servers));
                    }
                });
                ServerHandle::start(config, environment.clone(), settings.clone(), changed)
            };
            config.servers().iter().map(start).collect()
        });
        // A server that was ready before all existed could not upgrade its reference.
        offered.send_modify(|offered| *offered = Offered::of(&servers));
        Hub { config, servers, offered, settings }
    }

    /// Waits until each server of the hub is ready or has failed. With [`Start::Lazy`] it returns at once.
    pub async fn settled(&self) {
        if self.settings.start == Start::Eager {
            join_all(self.servers.iter().map(ServerHandle::settled)).await;
        }
    }

    /// Returns the configuration that the hub was created from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the current status of each server, in the configuration's order.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(ServerHandle::status).collect()
    }

    /// Returns the events of the servers: first the current state of each, by name, then every
    /// change, until the hub is dropped. A reader that falls more than a thousand events back
    /// misses the oldest.
    ///
    /// ```no_run
    /// # async fn watch(hub: &toolgraft_mcp::Hub) {
    /// use futures::StreamExt;
    /// use toolgraft_mcp::ServerEventKind;
    ///
    /// let mut events = hub.states();
    /// while let Some(event) = events.next().await {
    ///     match event.kind {
    ///         ServerEventKind::State { state, .. } => println!("{} is {state:?}", event.server),
    ///         ServerEventKind::Respawn { restarts, .. } => println!("{}: start {restarts}", event.server),
    ///         _ => {}
    ///     }
    /// }
    /// # }
    /// ```
    pub fn states(&self) -> BoxStream<'static, ServerEvent> {
        self.settings.states.stream()
    }

    /// Returns the current prompts of all servers, in the configuration's order.
    pub fn prompts(&self) -> Arc<[McpPrompt]> {
        self.offered.borrow().prompts.clone()
    }

    /// Restarts a server: ends its connection, if there is one, starts it at once, however often it has failed, and
    /// waits until it is ready.
    ///
    /// # Errors
    /// There is no such server, or it could not be reached.
    pub async fn restart(&self, server: &str) -> Result<(), McpError> {
        self.known(server)?.restart().await
    }

    /// Returns the configuration of the server with this name.
    ///
    /// # Errors
    /// There is no such server.
    pub fn entry(&self, server: &str) -> Result<&ServerConfig, McpError> {
        let found = self.config().servers().iter().find(|entry| entry.name == server);
        found.ok_or_else(|| self.unknown(server))
    }

    /// Switches a server off or on and waits until that is done. A server that is off is ended and its tools are in no
    /// catalog. Switching it on starts it at once if it is not running. The configuration's `disabled` is the initial
    /// state.
    ///
    /// # Errors
    /// There is no such server, its entry is invalid, or it could not be reached.
    pub async fn switch(&self, server: &str, on: bool) -> Result<(), McpError> {
        self.known(server)?.switch(on).await
    }

    /// Switches tools of a server off or on: by name, or by globs over `TOOL` or `SERVER.TOOL`. A tool that is off is
    /// in no catalog and cannot be called. The last switch takes precedence over the earlier ones and over the lists of
    /// the configuration. Returns the patterns of the switched tools, in the form of those lists.
    ///
    /// # Errors
    /// There is no such server, it was never ready, or it has no such tool; then no tool is switched.
    pub fn switch_tools(&self, server: &str, tools: &[String], on: bool) -> Result<Vec<String>, McpError> {
        self.known(server)?.switch_tools(tools, on)
    }

    /// Returns the name of each tool of a server and whether it is switched on, in the server's order. The list is
    /// empty for a server that was never ready or is switched off.
    ///
    /// # Errors
    /// There is no such server.
    pub fn tools(&self, server: &str) -> Result<Vec<ToolState>, McpError> {
        Ok(self.known(server)?.tools())
    }

    /// Returns the latest lines of a server's log, the oldest first: its log messages, and its
    /// standard error if it is a child process. Restarts do not clear it.
    ///
    /// # Errors
    /// There is no such server.
    pub fn log(&self, server: &str) -> Result<Vec<LogLine>, McpError> {
        Ok(self.known(server)?.log())
    }

    /// Requests a prompt with these arguments from a server, and returns its messages.
    ///
    /// # Errors
    /// The server cannot be reached, or it refuses.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, McpError> {
        let prompt = |connection: Arc<Connection>| {
            let arguments = arguments.clone();
            async move { connection.prompt(name, arguments).await }
        };
        self.known(server)?.request(&format!("prompt {name:?}"), prompt).await
    }

    /// Returns the values that a server proposes for an argument of a prompt. `argument` is its name and the text typed
    /// so far; `given` has the values of the other arguments. The list is empty if the server proposes nothing.
    ///
    /// # Errors
    /// The server cannot be reached, or it refuses.
    pub async fn complete_prompt(
        &self,
        server: &str,
        prompt: &str,
        argument: (&str, &str),
        given: HashMap<String, String>,
    ) -> Result<Vec<String>, McpError> {
        self.complete(server, Reference::for_prompt(prompt), (&format!("prompt {prompt:?}"), argument), given).await
    }

    /// Returns the values that a server proposes for a variable of a resource template. `argument`
    /// is its name and the text typed so far.
    ///
    /// # Errors
    /// The server cannot be reached, or it refuses.
    pub async fn complete_template(
        &self,
        server: &str,
        template: &str,
        argument: (&str, &str),
    ) -> Result<Vec<String>, McpError> {
        let what = format!("resource template {template:?}");
        self.complete(server, Reference::for_resource(template), (&what, argument), HashMap::new()).await
    }

    async fn complete(
        &self,
        server: &str,
        of: Reference,
        (what, argument): (&str, (&str, &str)),
        given: HashMap<String, String>,
    ) -> Result<Vec<String>, McpError> {
        let complete = |connection: Arc<Connection>| {
            let (of, given) = (of.clone(), given.clone());
            async move { connection.complete(of, argument, given).await }
        };
        self.known(server)?.request(what, complete).await
    }

    /// Ends the connections and child processes of all servers, concurrently. Later calls fail.
    ///
    /// A child process gets about two seconds to exit after the end of its standard input, then SIGTERM and two more,
    /// then SIGKILL.
    pub async fn shutdown(&self) {
        join_all(self.servers.iter().map(ServerHandle::shutdown)).await;
    }

    async fn run(&self, invocation: Invocation) -> Result<Outcome, Outcome> {
        // A tool of a server with this name counts before the built-in one.
        if invocation.tool == ACCESS_RESOURCE && !self.offered.borrow().catalog.knows(ACCESS_RESOURCE) {
            return self.read(invocation).await;
        }
        let named = invocation.server.as_deref();
        // The tools of a server are only known once it was ready.
        if let Some(server) = named.and_then(|name| self.server(name)).filter(|server| !server.has_offer()) {
            server.connection().await.map_err(refusal)?;
        }
        let catalog = self.offered.borrow().catalog.clone();
        let found = catalog.find(named, &invocation.tool).map_err(refusal)?.tool;
        let name = found.server.as_deref().unwrap_or_default();
        let call = |connection: Arc<Connection>| {
            let (tool, arguments) = (&found.name, invocation.arguments.clone());
            async move {
                let (mut result, answer) = connection.call(tool, arguments).await?;
                let theirs = if self.settings.by_audience { for_user(&mut result) } else { None };
                let outcome = self.kept(tool_outcome(&result, &answer), &result).await;
                connection.lists_settled().await;
                Ok(theirs.into_iter().fold(outcome, |outcome, event| outcome.with_event(USER_EVENT, event)))
            }
        };
        let outcome = self.known(name).map_err(refusal)?.request(&format!("tool {:?}", found.name), call).await;
        outcome.map_err(failure)
    }

    /// Adds the images, audio and blobs of a result to its outcome as events if the hub is set to do so, and scales
    /// large pictures down for the model.
    async fn kept(&self, outcome: Outcome, result: &Value) -> Outcome {
        if !self.settings.media {
            return outcome;
        }
        let outcome = with_media(outcome, result);
        if !has_large(&outcome) {
            return outcome;
        }
        // An image of more pixels than the whole budget would be decoded under a permit for less.
        let most = usize::try_from(MAX_PIXELS).unwrap_or(usize::MAX).min(self.settings.pixels.amount());
        let permit = self.settings.pixels.wait(most).await;
        let unscaled = outcome.clone();
        let scaled = tokio::task::spawn_blocking(move || {
            // The blocking task goes on after its caller was dropped, so it holds the permit
            // itself.
            let _permit = permit;
            scaled(outcome, most as u64)
        });
        // A decoder that panics must not lose the outcome: the pictures then stay unscaled.
        scaled.await.unwrap_or(unscaled)
    }

    async fn read(&self, invocation: Invocation) -> Result<Outcome, Outcome> {
        let uri = invocation.arguments.get("uri").and_then(|uri| uri.as_str());
        let uri = uri.ok_or_else(|| refusal("a resource needs its \"uri\", a string"))?;
        let name = self.resource_server(invocation.server.as_deref(), uri).map_err(refusal)?;
        let read = |connection: Arc<Connection>| async move {
            let (result, answer) = connection.read(uri).await?;
            Ok(self.kept(resource_outcome(&result, &answer), &result).await)
        };
        let outcome = self.known(&name).map_err(refusal)?.request(&format!("resource {uri:?}"), read).await;
        outcome.map_err(|error| match error {
            McpError::Request { source, .. } if source.is_unknown_method() => {
                refusal(format!("server {name:?} has no resources"))
            }
            error => failure(error),
        })
    }

    /// Returns the name of the server to read a resource from: the named one; else the only one that lists the
    /// resource; else the only one with resources at all.
    fn resource_server(&self, named: Option<&str>, uri: &str) -> Result<String, String> {
        if let Some(name) = named.filter(|name| self.server(name).is_some()) {
            return Ok(name.to_owned());
        }
        let catalog = self.offered.borrow().catalog.clone();
        let found = catalog.resource_server(named, uri).and_then(|server| server.name.clone());
        found.ok_or_else(|| match named {
            Some(name) => self.unknown(name).to_string(),
            None => format!("no single server has the resource {uri:?}: name its server"),
        })
    }

    fn unknown(&self, name: &str) -> McpError {
        McpError::unknown(name, self.servers.iter().map(|server| server.name().to_owned()).collect())
    }

    fn server(&self, name: &str) -> Option<&ServerHandle> {
        self.servers.iter().find(|server| server.name() == name)
    }

    fn known(&self, name: &str) -> Result<&ServerHandle, McpError> {
        self.server(name).ok_or_else(|| self.unknown(name))
    }
}

/// Returns the error outcome of a call that was not run, with the reason.
fn refusal(why: impl ToString) -> Outcome {
    Outcome::error(why.to_string())
}

/// Converts the error of a request into an outcome: a time-out, or an error with its text.
fn failure(error: McpError) -> Outcome {
    match error {
        McpError::Request { server, what, source: RequestError::TimedOut { limit, noise } } => {
            let noise = noise.map(|noise| format!("; {noise}")).unwrap_or_default();
            let limit = seconds(limit);
            let text = format!("server {server:?}: {what}: no answer within {limit}; the call was cancelled{noise}");
            Outcome::new(Status::TimedOut, text)
        }
        error => refusal(error),
    }
}

impl Toolbox for Hub {
    fn catalog(&self) -> Arc<Catalog> {
        self.offered.borrow().catalog.clone()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome> {
        async move {
            let started = Instant::now();
            let mut outcome = self.run(invocation).await.unwrap_or_else(|refused| refused);
            outcome.took = Some(started.elapsed());
            outcome
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use toolgraft::conversation::{Answered, Replies};
    use toolgraft::dialect::{Lang, PromptStyle};
    use toolgraft::prompt::{Options, Prompt};
    use toolgraft_testkit::english::first_words;

    use super::*;
    use crate::server::{InputAnswer, ServerState};

    #[test]
    fn options_may_be_set_in_any_order() {
        type Step = fn(HubBuilder) -> HubBuilder;
        let steps: [Step; 13] = [
            |hub| hub.config([ServerConfig::stdio("a", "x", [""; 0])].into_iter().collect()),
            |hub| hub.server(ServerConfig::stdio("b", "x", [""; 0])),
            HubBuilder::inherit_env,
            |hub| hub.environment([("PATH", "/ours")]),
            HubBuilder::require_all,
            |hub| hub.connect_timeout(Duration::from_secs(1)).call_timeout(Duration::from_secs(2)),
            |hub| hub.max_call(Duration::from_secs(3)),
            |hub| hub.max_calls(NonZeroUsize::MIN),
            |hub| hub.start(Start::Lazy),
            |hub| hub.retry(Retry::default()),
            |hub| hub.elicitor(|_| async { InputAnswer::Decline }),
            |hub| hub.logins(Logins::new("/logins")),
            |hub| hub.trust(&Trust::default().with_unchecked("h")),
        ];
        let built = |steps: &mut dyn Iterator<Item = &Step>| {
            let HubBuilder { mut config, servers, environment, inherit_env, require_all, trust, settings } =
                steps.fold(Hub::builder(), |hub, step| step(hub));
            config.merge(servers.into_iter().collect());
            config.add_trust(&trust);
            let Settings { connect_timeout, call_timeout, max_call, max_calls, start, retry, answers, logins, .. } =
                settings;
            let times = (connect_timeout, call_timeout, max_call, max_calls, retry, format!("{logins:?}"));
            let environment = environment::joined(environment, inherit_env);
            (config, environment, require_all, (start, answers.asks_somebody()), times)
        };
        let forwards = built(&mut steps.iter());
        assert_eq!(forwards, built(&mut steps.iter().rev()));
        let (config, environment, require_all, settings, times) = forwards;
        let names: Vec<_> = config.servers().iter().map(|server| server.name.as_str()).collect();
        assert_eq!((names, require_all), (vec!["a", "b"], true));
        assert_eq!(settings, (Start::Lazy, true));
        assert_eq!((times.0, times.1, times.2), ([1, 2, 3].map(Duration::from_secs)).into());
        let paths: Vec<_> = environment.iter().filter(|(name, _)| name == "PATH").collect();
        assert_eq!(paths, [&(OsString::from("PATH"), OsString::from("/ours"))]);
    }

    /// Returns one outcome for each failure that the hub itself reports for a call.
    fn refusals() -> Vec<Outcome> {
        let broken = |how: &str| RequestError::Broken(how.to_owned());
        let limit = Duration::from_secs(30);
        let page = "the call was not run: the user has to open a page first (https://x.example/a); tell the user, \
            and call again once that is done: \"Log in\"";
        let requests = [
            RequestError::Refused { code: -32000, message: "坏了".to_owned(), data: None, pages: Vec::new() },
            RequestError::Refused {
                code: -32602,
                message: "坏了".to_owned(),
                data: Some("{\"a\":1}".to_owned()),
                pages: Vec::new(),
            },
            RequestError::Refused { code: -32042, message: page.to_owned(), data: None, pages: Vec::new() },
            RequestError::TimedOut { limit, noise: None },
            RequestError::TimedOut {
                limit,
                noise: Some("the server wrote to stdout what is not MCP, 3 times; the last was \"ready\"".to_owned()),
            },
            broken("the connection broke (exit status: 3); it wrote nothing to stderr: run it by hand to see why"),
            broken("the connection broke (signal: 9); the end of its stderr:\n  \"Traceback\""),
            RequestError::Unsent("the connection is closed (http://127.0.0.1:1/mcp)".to_owned()),
            RequestError::SessionLost("HTTP 400: \"No transport found for sessionId\"".to_owned()),
            RequestError::SessionLost("its event stream has ended".to_owned()),
            broken("the server asks for input without naming any"),
            broken("the server asked for input 16 times, and gave no result"),
            broken("its answer cannot be read: \"a\" is no JSON"),
            broken("it sent an answer of more than 64 MiB, which was dropped"),
        ];
        let unavailable = |why: &str| McpError::Unavailable {
            server: "s".to_owned(),
            state: ServerState::Failed,
            why: why.to_owned(),
        };
        let servers = [
            McpError::unknown("x", Vec::new()),
            McpError::unknown("x", vec!["s".to_owned()]),
            unavailable("is disabled"),
            unavailable("was shut down"),
            unavailable("cannot be started: 坏了"),
            unavailable("is not available: it could not be reached; after 3 failures in a row no new attempt for 9 s"),
            unavailable("is not available: HTTP 401: authorization is required; no new attempt for 9 s"),
            unavailable("is not available: cannot start \"x\": it is not an executable file"),
        ];
        let whats = ["tool \"t\"", "resource \"a://b\""];
        let failed = |what: &str, error: &RequestError| McpError::Request {
            server: "s".to_owned(),
            what: what.to_owned(),
            source: error.clone(),
        };
        let failures = requests.iter().flat_map(|error| whats.map(|what| failure(failed(what, error))));
        let others = [
            "a resource needs its \"uri\", a string",
            "no single server has the resource \"a://b\": name its server",
            "server \"s\" has no resources",
            "the server asks the user for input (elicitation), and no user is present",
            "the tool reported an error without a message",
            "the server's answer to tools/call has no array \"content\": {\"a\":1}",
        ];
        failures.chain(servers.map(refusal)).chain(others.map(refusal)).collect()
    }

    #[test]
    fn in_a_chinese_prompt_the_hub_s_own_sentences_are_chinese() {
        let catalog = Catalog::default();
        let call = toolgraft::Call::new(toolgraft::Dialect::UseMcpTool, "t", serde_json::json!({}));
        for style in [PromptStyle::Full, PromptStyle::Compact] {
            let prompt = Prompt::new(Options::default().with_lang(Lang::Zh).with_style(style)).unwrap();
            for outcome in refusals() {
                let mut replies = Replies::default();
                replies.answered = vec![Answered::new("call_1", &call, &outcome)];
                for told in
                    [prompt.results(&catalog, &replies).unwrap(), prompt.native_results(&catalog, &replies).unwrap()]
                {
                    assert_eq!(first_words(&told), None, "{told}\nof {}", outcome.text);
                }
            }
        }
    }
}
