//! A configured server from the hub's side: its status, its connection, and the switches for it and
//! its tools.

use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::connection::Connection;
use super::count::Count;
use super::error::McpError;
use super::request::RequestError;
use super::settings::Settings;
use super::shared::{Offer, Shared, Snapshot};
use super::states::ServerEventKind;
use super::status::{ServerState, ServerStatus};
use super::switches::{Switches, ToolState};
use crate::config::ServerConfig;
use crate::transport::log::{Log, LogLine};
use toolgraft::{Catalog, Tool};

/// A configured server, owned by the hub.
pub(crate) struct ServerHandle {
    shared: Arc<Shared>,
    view: watch::Receiver<Snapshot>,
    /// Fault of the server's configuration, because of which it is never started; `None` if there is none.
    problem: Option<String>,
    switches: Mutex<Switches>,
    stop: CancellationToken,
    actor: Mutex<Option<JoinHandle<()>>>,
}

impl ServerHandle {
    /// Creates a server and, if it has no fault and is switched on, starts it. `changed` is called
    /// whenever its tools, resources or prompts change.
    pub(crate) fn start(
        config: &ServerConfig,
        environment: Arc<[(OsString, OsString)]>,
        settings: Settings,
        changed: Box<dyn Fn() + Send + Sync>,
    ) -> ServerHandle {
        let mut status = ServerStatus { name: config.name.clone(), ..ServerStatus::default() };
        if config.disabled {
            status.state = ServerState::Disabled;
        } else if let Some(problem) = config.problem() {
            (status.state, status.error, status.misconfigured) = (ServerState::Failed, Some(problem), true);
        }
        // A disabled entry shows no problem, but cannot be switched on with one.
        let problem = ServerConfig { disabled: false, ..config.clone() }.problem();
        settings.states.state(&config.name, status.state, status.error.clone());
        let (sender, view) =
            watch::channel(Snapshot { status, connection: None, offer: None, attempts: 0, shut_until: None });
        let (states, server) = (settings.states.clone(), config.name.clone());
        let log = Log::new(config.hidden().in_errors, move |line| {
            if line.level.is_none() {
                states.start_output(&server, &line.text);
            }
        });
        let shared = Arc::new(Shared {
            config: config.clone(),
            environment,
            settings,
            demand: Count::default(),
            reset: Notify::new(),
            on: watch::Sender::new(!config.disabled),
            log: Arc::new(log),
            changed,
        });
        let stop = CancellationToken::new();
        let actor = problem.is_none().then(|| {
            let actor = Actor { shared: shared.clone(), view: sender, era: None, failures: 0 };
            Mutex::new(Some(tokio::spawn(actor.run(stop.clone()))))
        });
        let (switches, actor) = (Mutex::new(Switches::of(config)), actor.unwrap_or_default());
        ServerHandle { shared, view, problem, switches, stop, actor }
    }

    pub(crate) fn name(&self) -> &str {
        &self.shared.config.name
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let view = self.view.borrow();
        let mut status = view.status.clone();
        // The actor may not have noticed yet that the connection is closed.
        if status.state == ServerState::Ready && view.usable().is_none() {
            status.state = ServerState::Backoff;
            let ended = |connection: &Arc<Connection>| connection.how_it_ended_so_far("the connection is closed");
            status.error = view.connection.as_ref().map(ended);
        }
        // Without rules nothing is left out, and the offer need not be copied.
        if let Some(offer) = view.offer.as_ref().filter(|_| !self.switches().is_empty()) {
            status.notes.extend(self.switches().keep(&mut offer.server.clone()));
        }
        status
    }

    /// Returns the tools that are switched on, the resources and the prompts of the server; `None` until it is first
    /// ready, and while it is switched off.
    pub(crate) fn offer(&self) -> Option<Offer> {
        let whole = self.whole_offer()?;
        let mut offer = Offer { server: whole.server.clone(), prompts: whole.prompts.clone() };
        self.switches().keep(&mut offer.server);
        Some(offer)
    }

    /// Returns `true` if the tools of the server are known: from the first time it was ready until it is switched off.
    pub(crate) fn has_offer(&self) -> bool {
        self.view.borrow().offer.is_some()
    }

    fn whole_offer(&self) -> Option<Arc<Offer>> {
        self.view.borrow().offer.clone()
    }

    fn switches(&self) -> MutexGuard<'_, Switches> {
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all tools of the server in the order it lists them, each with its switch; none if they are unknown.
    pub(crate) fn tools(&self) -> Vec<ToolState> {
        let (Some(whole), Some(offer)) = (self.whole_offer(), self.offer()) else { return Vec::new() };
        let on: HashSet<&str> = offer.server.tools.iter().map(|tool| tool.name.as_str()).collect();
        let state = |tool: &Tool| ToolState { name: tool.name.clone(), on: on.contains(tool.name.as_str()) };
        whole.server.tools.iter().map(state).collect()
    }

    /// Switches tools off or on by names or globs and returns the patterns; changes none if one matches no tool.
    pub(crate) fn switch_tools(&self, words: &[String], on: bool) -> Result<Vec<String>, McpError> {
        let Some(offer) = self.whole_offer() else { return Err(self.absent(&self.view.borrow())) };
        let mut switches = self.switches();
        let mut switched = switches.clone();
        let pattern = |word: &String| {
            switched.switch(&offer.server, word, on).ok_or_else(|| {
                let near = Catalog::new(vec![offer.server.clone()]).nearest(word);
                McpError::UnknownTool { server: self.name().to_owned(), tool: word.clone(), near }
            })
        };
        let patterns = words.iter().map(pattern).collect::<Result<Vec<_>, _>>()?;
        *switches = switched;
        drop(switches);
        (self.shared.changed)();
        self.shared.settings.states.tell(self.name(), ServerEventKind::Listed);
        Ok(patterns)
    }

    /// Makes a request over the server's connection. If the connection was closed, or the server
    /// forgot the session, before the request was carried out, it is made once more over a new
    /// connection. `what` names the request in an error.
    ///
    /// # Errors
    /// The server cannot be reached, or there is no result.
    pub(crate) async fn request<T, F>(&self, what: &str, request: impl Fn(Arc<Connection>) -> F) -> Result<T, McpError>
    where
        F: Future<Output = Result<T, RequestError>>,
    {
        let connection = self.connection().await?;
        let mut answer = request(connection.clone()).await;
        if answer.as_ref().is_err_and(RequestError::is_undone) {
            // The actor replaces a connection only after its end.
            connection.gone.cancelled().await;
            answer = request(self.connection().await?).await;
        }
        answer.map_err(|source| McpError::Request { server: self.name().to_owned(), what: what.to_owned(), source })
    }

    /// Returns the latest lines of the server's log.
    pub(crate) fn log(&self) -> Vec<LogLine> {
        self.shared.log.lines()
    }

    /// Waits until the first attempt to start the server is over. Returns at once if none will be made.
    pub(crate) async fn settled(&self) {
        let mut view = self.view.clone();
        let _ = view
            .wait_for(|view| {
                view.attempts > 0 || !matches!(view.status.state, ServerState::Idle | ServerState::Connecting)
            })
            .await;
    }

    /// Returns the server's connection; a server that is not running is started first.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let (seen, restarts) = {
            let view = self.view.borrow();
            if let Some(connection) = view.usable() {
                return Ok(connection);
            }
            // Over HTTP only a failed request shows that the server has gone.
            if let Some(connection) = &view.connection {
                connection.mark_gone();
            }
            // In these states no attempt would follow, and the wait would not end.
            if view.status.misconfigured || view.status.state == ServerState::Disabled || view.is_shut() {
                return Err(self.absent(&view));
            }
            (view.attempts, view.status.restarts)
        };
        let _waiting = self.shared.demand.add();
        let mut view = self.view.clone();
        let is_off = |view: &Snapshot| view.status.state == ServerState::Disabled;
        // A failed attempt ends the wait too, and so does a switch to off, after which none is
        // made.
        let found = view.wait_for(|view| view.usable().is_some() || view.is_settled_since(seen) || is_off(view)).await;
        match found {
            Ok(view) => {
                if view.status.restarts > restarts {
                    tell_respawn(self.name(), view.status.restarts);
                }
                view.usable().ok_or_else(|| self.absent(&view))
            }
            Err(_) => Err(self.unavailable(ServerState::Failed, "was shut down".to_owned())),
        }
    }

    /// Ends the connection, if there is one, starts the server again, and waits for the outcome.
    pub(crate) async fn restart(&self) -> Result<(), McpError> {
        let seen = {
            let view = self.view.borrow();
            if view.status.state == ServerState::Disabled {
                return Err(self.absent(&view));
            }
            view.attempts
        };
        self.shared.reset.notify_one();
        let mut view = self.view.clone();
        match view.wait_for(|view| view.is_settled_since(seen)).await {
            Ok(view) if view.usable().is_some() => Ok(()),
            Ok(view) => Err(self.absent(&view)),
            Err(_) => Err(self.absent(&self.view.borrow())),
        }
    }

    /// Ends the server and removes its tools from the catalog, or starts it again, and waits for
    /// the outcome.
    pub(crate) async fn switch(&self, on: bool) -> Result<(), McpError> {
        if let Some(problem) = &self.problem {
            return Err(self.unavailable(ServerState::Failed, format!("cannot be started: {problem}")));
        }
        let mut view = self.view.clone();
        let seen = view.borrow().attempts;
        if !self.shared.on.send_if_modified(|now| std::mem::replace(now, on) != on) {
            let is_there = view.borrow().usable().is_some();
            // Switching on a server that is on but has failed restarts it.
            return if on && !is_there { self.restart().await } else { Ok(()) };
        }
        let is_over = |view: &Snapshot| {
            let is_done = match view.status.state {
                ServerState::Disabled => !on,
                ServerState::Connecting => false,
                _ => on,
            };
            // Another caller may switch it back meanwhile.
            (view.attempts > seen && is_done) || *self.shared.on.borrow() != on
        };
        match view.wait_for(is_over).await {
            Ok(view) if on && view.usable().is_none() => Err(self.absent(&view)),
            Err(_) if on => Err(self.absent(&self.view.borrow())),
            _ => Ok(()),
        }
    }

    /// Returns the error that says why the server accepts no calls.
    fn absent(&self, view: &Snapshot) -> McpError {
        let state = view.status.state;
        if state == ServerState::Disabled {
            return self.unavailable(state, "is disabled".to_owned());
        }
        let why = view.status.error.as_deref().unwrap_or("it could not be reached");
        let left = view.shut_until.map(|until| until.saturating_duration_since(Instant::now()));
        let later = match left.filter(|left| !left.is_zero()).map(|left| left.as_secs() + 1) {
            Some(left) if state == ServerState::NeedsAuth => format!("; no new attempt for {left} s"),
            Some(left) => {
                let failures = self.shared.settings.retry.failures;
                format!("; after {failures} failures in a row no new attempt for {left} s")
            }
            None => String::new(),
        };
        self.unavailable(state, format!("is not available: {why}{later}"))
    }

    fn unavailable(&self, state: ServerState, why: String) -> McpError {
        McpError::Unavailable { server: self.name().to_owned(), state, why }
    }

    /// Ends the connection and its child process, and waits until both have ended.
    pub(crate) async fn shutdown(&self) {
        self.stop.cancel();
        let actor = self.actor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(actor) = actor {
            // An actor that panicked has dropped its connection, which kills the child.
            let _ = actor.await;
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Logs that a server was restarted for the current call.
fn tell_respawn(server: &str, restarts: u32) {
    tracing::warn!(target: "toolgraft", { toolgraft.server = server, toolgraft.restarts = i64::from(restarts) }, "respawn");
}
