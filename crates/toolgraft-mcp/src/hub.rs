//! All servers of a configuration as one toolbox.

use std::collections::HashMap;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use futures::stream::BoxStream;
use rmcp::model::Reference;
use serde_json::{Map, Value};

use super::auth::Logins;
use super::config::{Config, ServerConfig};
use super::environment;
use super::server::{
    Connection, Elicitation, Elicitor, McpError, McpPrompt, PromptMessage, RequestError, Retry, ServerEvent,
    ServerHandle, ServerStatus, Settings, Start, States, ToolState, USER_EVENT, for_user, has_large, resource_outcome,
    scaled, seconds, tool_outcome, with_media,
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

/// Sets a [`Hub`] up. In whatever order options are set, the hub is the same.
///
/// Without [`inherit_env`](Self::inherit_env) or [`environment`](Self::environment) servers
/// get an empty environment, in which no program is found by its name alone.
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
        f.debug_struct("HubBuilder")
            .field("config", &self.config)
            .field("servers", &self.servers)
            .field("inherit_env", &self.inherit_env)
            .field("require_all", &self.require_all)
            .field("trust", &self.trust)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

setters! { HubBuilder:
    /// Limit of a start, and again of a listing, for servers that set none. A start begins anew with
    /// each output on standard error, up to [`MAX_START`](super::MAX_START).
    connect_timeout(limit: Duration) => settings.connect_timeout = limit;

    /// Limit of a call for servers that set none.
    call_timeout(limit: Duration) => settings.call_timeout = limit;

    /// Limit of a call however much progress its server reports; not below its other limit.
    max_call(limit: Duration) => settings.max_call = limit;

    /// Calls that run at once on a server that sets no number.
    max_calls(calls: NonZeroUsize) => settings.max_calls = calls;

    /// When servers are started.
    start(start: Start) => settings.start = start;

    /// When a server that has gone is started anew.
    retry(retry: Retry) => settings.retry = retry;

    /// What a server is told that asks back for input while a tool runs, where no
    /// [`elicitor`](Self::elicitor) is set.
    elicitation(elicitation: Elicitation) => settings.answers.rule = elicitation;

    /// Who answers a server that asks back for input while a tool runs: forms to be filled in,
    /// and pages to be opened. Without one, servers are told that nobody can be asked.
    elicitor(elicitor: impl Elicitor + 'static) => settings.answers.elicitor = Some(Arc::new(elicitor));

    /// Keeps the images, audio and blobs of results, as events ([`MEDIA_EVENT`](super::MEDIA_EVENT)) beside the
    /// text, which has a note for each. A model that reads them is shown them
    /// ([`TurnConfig::reads`](toolgraft::turn::TurnConfig::reads)). Not kept by default: they are
    /// large, and outcomes are stored with conversations.
    keep_media(keep: bool) => settings.media = keep;

    /// Shares the pixels of the pictures that are decoded at once, to be made smaller for a model, with whatever else
    /// has this budget. By default a hub has [`MAX_PIXELS_AT_ONCE`](toolgraft::budget::MAX_PIXELS_AT_ONCE) of its own.
    pixels(budget: Budget) => settings.pixels = budget;

    /// Keeps what a server's `audience` says is for the user alone out of the text that a model
    /// reads; it comes as an event ([`USER_EVENT`](super::USER_EVENT)), for a program that shows it. Not
    /// by default: a program that does not would lose it.
    by_audience(by_audience: bool) => settings.by_audience = by_audience;

    /// Uses the logins that are kept there, at servers over HTTP whose entry has no
    /// `Authorization` header, and refreshes them. Nobody is asked to log in:
    /// [`Login`](super::Login) does that.
    logins(logins: Logins) => settings.logins = Some(logins);

    /// Shows each message of MCP on its way, in either direction, from the handshake on, without
    /// the secrets of the servers' entries. `look` is told of them one by one; messages wait
    /// meanwhile.
    wire(look: impl Fn(WireMessage) + Send + Sync + 'static) => settings.wire = Some(Wire::new(look));
}

impl HubBuilder {
    /// Adds the servers of a configuration, behind those of an earlier one.
    pub fn config(mut self, config: Config) -> Self {
        self.config.merge(config);
        self
    }

    /// Adds certificates that are trusted beside the system's, and those of an entry's own
    /// [`trust`](ServerConfig::trust), at servers over HTTP.
    pub fn trust(mut self, trust: &Trust) -> Self {
        self.trust = self.trust.and(trust);
        self
    }

    /// Adds a server, behind those of all configurations.
    pub fn server(mut self, server: ServerConfig) -> Self {
        self.servers.push(server);
        self
    }

    /// Gives servers the variables of this process, as far as the allow-list has them:
    /// `PATH`, `HOME` and the like. It is the one place where this library reads the
    /// environment, and it does so only when it is told to.
    pub fn inherit_env(mut self) -> Self {
        self.inherit_env = true;
        self
    }

    /// Gives servers these variables, as far as the allow-list has them. They come before
    /// inherited ones of the same names; a server's own `env` comes before both.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
    ) -> Self {
        self.environment.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Makes [`connect`](Self::connect) fail where a server that is not disabled is not
    /// ready. With [`Start::Lazy`] nothing is started, and only what is wrong in the
    /// configuration is known.
    pub fn require_all(mut self) -> Self {
        self.require_all = true;
        self
    }

    /// What will happen to the servers from now on, for a program that shows how they start;
    /// see [`Hub::states`].
    pub fn states(&self) -> BoxStream<'static, ServerEvent> {
        self.settings.states.stream()
    }

    /// Connects to all servers side by side and lists what they offer.
    ///
    /// It takes as long as the slowest server, at most its two limits, or
    /// [`MAX_START`](super::MAX_START) where one goes on writing to standard error; with
    /// [`Start::Lazy`] it returns at once. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`McpError::NotReady`], with [`require_all`](Self::require_all) only: else a server
    /// that fails is told of by [`Hub::servers`].
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

    /// Begins to connect to all servers and waits for none: what each offers stands in the catalog
    /// once it is ready ([`Hub::settled`]). Must be called within a tokio runtime.
    pub fn begin(self) -> Hub {
        let HubBuilder { mut config, servers, environment, inherit_env, trust, settings, .. } = self;
        config.merge(servers.into_iter().collect());
        config.add_trust(&trust);
        let environment = environment::joined(environment, inherit_env);
        Hub::begin(config, &environment.into(), settings)
    }
}

/// All servers of a configuration as one toolbox.
///
/// A server that fails never keeps the others from working; its state and error
/// are in [`servers`](Hub::servers). One that has gone is started anew by the
/// next call that needs it; one that says that its lists have changed is asked
/// again, and [`catalog`](Toolbox::catalog) then yields a new catalog.
/// [`states`](Hub::states) tells of all that. Call
/// [`shutdown`](Hub::shutdown) at the end: it waits until every child process is
/// gone. A hub that is dropped ends them too, but nobody waits.
pub struct Hub {
    config: Config,
    servers: Arc<Vec<ServerHandle>>,
    offered: Arc<Offered>,
    states: Arc<States>,
    media: bool,
    pixels: Budget,
    by_audience: bool,
    start: Start,
}

/// What all servers offer together.
#[derive(Default)]
struct Offered(RwLock<Now>);

#[derive(Clone, Default)]
struct Now {
    catalog: Arc<Catalog>,
    prompts: Arc<[McpPrompt]>,
}

impl Offered {
    fn now(&self) -> Now {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Joins what the servers offer now, in the configuration's order.
    fn join(&self, servers: &[ServerHandle]) {
        let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let offers = servers.iter().filter_map(ServerHandle::offer);
        let (servers, prompts): (Vec<_>, Vec<_>) = offers.map(|offer| (offer.server, offer.prompts)).unzip();
        now.catalog = Arc::new(Catalog::new(servers));
        now.prompts = prompts.into_iter().flatten().collect();
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("servers", &self.servers()).finish_non_exhaustive()
    }
}

impl Hub {
    /// Sets a hub up.
    pub fn builder() -> HubBuilder {
        HubBuilder::default()
    }

    fn begin(config: Config, environment: &Arc<[(OsString, OsString)]>, settings: Settings) -> Hub {
        let (offered, states) = (Arc::<Offered>::default(), settings.states.clone());
        // The servers need the way to each other's offers before they are all there.
        let servers = Arc::new_cyclic(|servers: &Weak<Vec<ServerHandle>>| {
            let start = |config: &ServerConfig| {
                let (servers, offered) = (servers.clone(), offered.clone());
                let changed = move || {
                    if let Some(servers) = servers.upgrade() {
                        offered.join(&servers);
                    }
                };
                ServerHandle::start(config, environment.clone(), settings.clone(), states.clone(), Arc::new(changed))
            };
            config.servers().iter().map(start).collect()
        });
        // One that was ready before all were set up could not say so.
        offered.join(&servers);
        let (media, by_audience, start) = (settings.media, settings.by_audience, settings.start);
        Hub { config, servers, offered, states, media, pixels: settings.pixels, by_audience, start }
    }

    /// Waits until each server is ready or has failed, or is started by its first call
    /// ([`Start::Lazy`]).
    pub async fn settled(&self) {
        if self.start == Start::Eager {
            join_all(self.servers.iter().map(ServerHandle::settled)).await;
        }
    }

    /// The configuration that it was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The servers and how they are now, in the configuration's order.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(ServerHandle::status).collect()
    }

    /// What happens to the servers: first the state of each as it is now, by name, then
    /// every change, until the hub is gone. A reader that is more than a thousand events
    /// behind misses the oldest.
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
        self.states.stream()
    }

    /// The servers' prompts now, server by server.
    pub fn prompts(&self) -> Arc<[McpPrompt]> {
        self.offered.now().prompts
    }

    /// Ends a server's connection, if there is one, and starts it anew at once,
    /// however often it has failed. Waits until it is ready.
    ///
    /// # Errors
    /// There is no such server, or it could not be reached.
    pub async fn restart(&self, server: &str) -> Result<(), McpError> {
        self.known(server)?.restart().await
    }

    /// A server's entry.
    ///
    /// # Errors
    /// There is no such server.
    pub fn entry(&self, server: &str) -> Result<&ServerConfig, McpError> {
        let found = self.config().servers().iter().find(|entry| entry.name == server);
        found.ok_or_else(|| self.unknown(server))
    }

    /// Switches a server off, or on. One that is off is ended, and what it offers is in no
    /// catalog, until it is switched on again; then it is started at once, as is one that was on
    /// and is not there. The configuration's `disabled` says how it begins. Waits for the outcome.
    ///
    /// # Errors
    /// There is no such server, its entry is wrong, or it could not be reached.
    pub async fn switch(&self, server: &str, on: bool) -> Result<(), McpError> {
        self.known(server)?.switch(on).await
    }

    /// Switches tools of a server off, or on: by name, or by globs over `TOOL` or
    /// `SERVER.TOOL`. One that is off is in no catalog and cannot be called. What is switched
    /// last counts, before the lists of the configuration. Yields the patterns for them, as
    /// such lists have them.
    ///
    /// # Errors
    /// There is no such server, it was never there, or it has no such tool; then none is switched.
    pub fn switch_tools(&self, server: &str, tools: &[String], on: bool) -> Result<Vec<String>, McpError> {
        self.known(server)?.switch_tools(tools, on)
    }

    /// All tools that a server has, in its order, and which of them are on. None of a server
    /// that was never there, or is switched off.
    ///
    /// # Errors
    /// There is no such server.
    pub fn tools(&self, server: &str) -> Result<Vec<ToolState>, McpError> {
        Ok(self.known(server)?.tools())
    }

    /// The last that a server said beside its answers, the oldest first: its log messages, and
    /// its standard error where it is a child process; over all its starts.
    ///
    /// # Errors
    /// There is no such server.
    pub fn log(&self, server: &str) -> Result<Vec<LogLine>, McpError> {
        Ok(self.known(server)?.log())
    }

    /// A server's prompt with its arguments filled in, as messages to send.
    ///
    /// # Errors
    /// The server is not there, or refuses.
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

    /// Has a server say when a resource changes ([`ServerEventKind::ResourceUpdated`](super::ServerEventKind)
    /// of [`states`](Self::states)), also after it was started anew; `false` where it does not do that.
    ///
    /// # Errors
    /// There is no such server, it is not there, or refuses.
    pub async fn follow(&self, server: &str, uri: &str) -> Result<bool, McpError> {
        self.known(server)?.follow(uri).await
    }

    /// Values that a server proposes for an argument of a prompt that somebody types, by its name
    /// and what has begun; `given` has the other arguments. None where it proposes nothing.
    ///
    /// # Errors
    /// The server is not there, or refuses.
    pub async fn complete_prompt(
        &self,
        server: &str,
        prompt: &str,
        argument: (&str, &str),
        given: HashMap<String, String>,
    ) -> Result<Vec<String>, McpError> {
        let complete = |connection: Arc<Connection>| {
            let given = given.clone();
            async move { connection.complete(Reference::for_prompt(prompt), argument, given).await }
        };
        self.known(server)?.request(&format!("prompt {prompt:?}"), complete).await
    }

    /// The same for a variable of a resource template.
    ///
    /// # Errors
    /// The server is not there, or refuses.
    pub async fn complete_template(
        &self,
        server: &str,
        template: &str,
        argument: (&str, &str),
    ) -> Result<Vec<String>, McpError> {
        let complete = |connection: Arc<Connection>| async move {
            connection.complete(Reference::for_resource(template), argument, HashMap::new()).await
        };
        self.known(server)?.request(&format!("resource template {template:?}"), complete).await
    }

    /// Ends all connections and child processes, side by side; further calls fail.
    ///
    /// A child gets about two seconds after the end of its standard input, then
    /// TERM and two more, then KILL.
    pub async fn shutdown(&self) {
        join_all(self.servers.iter().map(ServerHandle::shutdown)).await;
    }

    async fn run(&self, invocation: Invocation) -> Result<Outcome, Outcome> {
        if invocation.tool == ACCESS_RESOURCE && !self.offered.now().catalog.knows(ACCESS_RESOURCE) {
            return self.read(invocation).await;
        }
        let named = invocation.server.as_deref();
        // What a server offers is only known once it was there.
        if let Some(server) = named.and_then(|name| self.server(name)).filter(|server| !server.has_offer()) {
            server.connection().await.map_err(refusal)?;
        }
        let catalog = self.offered.now().catalog;
        let found = catalog.find(named, &invocation.tool).map_err(refusal)?.tool;
        let name = found.server.as_deref().unwrap_or_default();
        let call = |connection: Arc<Connection>| {
            let (tool, arguments) = (&found.name, invocation.arguments.clone());
            async move {
                let (mut result, answer) = connection.call(tool, arguments).await?;
                let theirs = if self.by_audience { for_user(&mut result) } else { None };
                let outcome = self.kept(tool_outcome(&result, &answer), &result).await;
                connection.lists_settled().await;
                Ok(theirs.into_iter().fold(outcome, |outcome, event| outcome.with_event(USER_EVENT, event)))
            }
        };
        let outcome = self.known(name).map_err(refusal)?.request(&format!("tool {:?}", found.name), call).await;
        outcome.map_err(failure)
    }

    /// With its images and sound, where they are wanted, and with what a model is shown of them.
    async fn kept(&self, outcome: Outcome, result: &Value) -> Outcome {
        if !self.media {
            return outcome;
        }
        let outcome = with_media(outcome, result);
        if !has_large(&outcome) {
            return outcome;
        }
        let most = usize::try_from(MAX_PIXELS).unwrap_or(usize::MAX).min(self.pixels.amount());
        let permit = self.pixels.wait(most).await;
        let unscaled = outcome.clone();
        let scaled = tokio::task::spawn_blocking(move || {
            // It goes on where nobody waits for it any more.
            let _permit = permit;
            scaled(outcome, most as u64)
        });
        // A decoder that panics costs its picture alone.
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

    /// The server that a resource is read from: the named one; else the only one
    /// that lists it, else the only one with resources at all.
    fn resource_server(&self, named: Option<&str>, uri: &str) -> Result<String, String> {
        if let Some(name) = named.filter(|name| self.server(name).is_some()) {
            return Ok(name.to_owned());
        }
        let catalog = self.offered.now().catalog;
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

/// An outcome that says why nothing was run.
fn refusal(why: impl ToString) -> Outcome {
    Outcome::error(why.to_string())
}

/// An outcome for a request that has no result.
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
        self.offered.now().catalog
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
    use toolgraft::dialect::{Lang, PromptStyle};
    use toolgraft::prompt::{Item, Options, Prompt, Round};
    use toolgraft_testkit::english::first_words;

    use super::*;
    use crate::server::ServerState;

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
            |hub| hub.elicitation(Elicitation::Defaults),
            |hub| hub.logins(Logins::new("/logins")),
            |hub| hub.trust(&Trust::default().with_unchecked("h")),
        ];
        let built = |steps: &mut dyn Iterator<Item = &Step>| {
            let HubBuilder { mut config, servers, environment, inherit_env, require_all, trust, settings } =
                steps.fold(Hub::builder(), |hub, step| step(hub));
            config.merge(servers.into_iter().collect());
            config.add_trust(&trust);
            (config, environment::joined(environment, inherit_env), require_all, format!("{settings:?}"))
        };
        let forwards = built(&mut steps.iter());
        assert_eq!(forwards, built(&mut steps.iter().rev()));
        let (config, environment, require_all, settings) = forwards;
        let names: Vec<_> = config.servers().iter().map(|server| server.name.as_str()).collect();
        assert_eq!((names, require_all), (vec!["a", "b"], true));
        assert!(settings.contains("Lazy") && settings.contains("Defaults"), "{settings}");
        let paths: Vec<_> = environment.iter().filter(|(name, _)| name == "PATH").collect();
        assert_eq!(paths, [&(OsString::from("PATH"), OsString::from("/ours"))]);
    }

    /// Everything that the hub says of a call which no tool has answered.
    fn refusals() -> Vec<Outcome> {
        let broken = |how: &str| RequestError::Broken(how.to_owned());
        let limit = Duration::from_secs(30);
        let page = "it was not carried out: a person has to open a page first (https://x.example/a); show that to the \
                    person, and call again once it is done: \"Log in\"";
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
                noise: Some("it wrote to stdout what is no MCP, 3 times; the last was \"ready\"".to_owned()),
            },
            broken("the connection broke (exit status: 3); it said nothing on stderr: run it by hand to see why"),
            broken("the connection broke (signal: 9); the end of its stderr:\n  \"Traceback\""),
            RequestError::Unsent("the connection is closed (http://127.0.0.1:1/mcp)".to_owned()),
            RequestError::SessionLost("HTTP 400: \"No transport found for sessionId\"".to_owned()),
            RequestError::SessionLost("its event stream has ended".to_owned()),
            broken("it asks for input and does not say for which"),
            broken("it asked for input 16 times"),
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
            unavailable("is not there: it could not be reached; it failed 3 times in a row and is left alone for 9 s"),
            unavailable("is not there: HTTP 401: it wants authorization; it is not asked again for 9 s"),
            unavailable("is not there: cannot start \"x\": it is not an executable file"),
        ];
        let whats = ["tool \"t\"", "resource \"a://b\""];
        let failed = |what: &str, error: &RequestError| McpError::request("s", what.to_owned(), error.clone());
        let failures = requests.iter().flat_map(|error| whats.map(|what| failure(failed(what, error))));
        let others = [
            "a resource needs its \"uri\", a string",
            "no single server has the resource \"a://b\": name its server",
            "server \"s\" has no resources",
            "it asks for input from a person (elicitation), and nobody is there to give it",
            "the tool reported an error and said nothing about it",
            "the server's answer to tools/call has no array \"content\": {\"a\":1}",
        ];
        failures.chain(servers.map(refusal)).chain(others.map(refusal)).collect()
    }

    #[test]
    fn in_a_chinese_prompt_the_hub_s_own_sentences_are_chinese() {
        let catalog = Catalog::default();
        let arguments = Map::new();
        for style in [PromptStyle::Full, PromptStyle::Compact] {
            let prompt = Prompt::new(Options::default().with_lang(Lang::Zh).with_style(style)).unwrap();
            for outcome in refusals() {
                let item =
                    Item::Answered { id: "call_1", server: None, tool: "t", arguments: &arguments, outcome: &outcome };
                for told in [
                    prompt.results(&catalog, &Round::new(&[item])).unwrap(),
                    prompt.native_reply(&catalog, &item, None).unwrap(),
                ] {
                    assert_eq!(first_words(&told), None, "{told}\nof {}", outcome.text);
                }
            }
        }
    }
}
