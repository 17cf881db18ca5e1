//! The base of a command: the terminal at which it asks, a runtime, the signals that end it, the
//! servers' start and their end.
//!
//! ```text
//! start ─▶ wait (before the servers) ─▶ connect ─▶ job ─▶ shutdown
//! └───────────────────── signals are heard ────────────────────┘
//! ```

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::base::signals::{Signals, stopped};
use crate::base::{Failure, output::warn};
use crate::dialog::ask::Asker;
use crate::servers::{known, logins, starting};
use toolgraft::route::Toolbox;
use toolgraft::tools::matches;
use toolgraft_mcp::{Config, Hub, HubBuilder};

/// The runtime, signal handling and terminal of a command, from its start to its end.
pub(crate) struct App {
    runtime: tokio::runtime::Runtime,
    /// The termination signals that this process received since its start.
    pub(crate) signals: Signals,
    /// `true` to show on a terminal which MCP servers are being started.
    shows_start: bool,
    /// Prompts the user; `None` without a terminal. The last field, so that it is dropped last: it restores the
    /// terminal.
    pub(crate) asker: Option<Asker>,
}

/// Creates the asynchronous runtime of a command, with two worker threads.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Failure::job(format!("cannot start the asynchronous runtime: {e}")))
}

impl App {
    /// Starts the runtime and the signal handlers; `asker` prompts the user, if there is one.
    pub(crate) fn start(asker: Option<Asker>) -> Result<Self, Failure> {
        let runtime = runtime()?;
        let signals = runtime.block_on(async { Signals::listen() })?;
        Ok(App { runtime, signals, shows_start: true, asker })
    }

    /// Sets whether a terminal shows which MCP servers are being started.
    pub(crate) fn showing(self, shows_start: bool) -> Self {
        App { shows_start, ..self }
    }

    /// Runs a future that needs no MCP servers to its end; a signal cancels it with an error.
    pub(crate) fn wait<T>(&self, job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.runtime.block_on(self.signals.or_stopped(job))
    }

    /// Runs a future that handles all signals itself to its end.
    pub(crate) fn wait_out<T>(&self, job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.runtime.block_on(job)
    }

    /// Connects to the MCP servers, runs `job`, and shuts the servers down. A signal ends each of these steps, and the
    /// command then fails, whatever `job` returns.
    pub(crate) fn with_hub<T>(
        &self,
        config: &Config,
        job: impl AsyncFnOnce(Arc<Hub>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.with_hub_within(Duration::MAX, Hub::builder().config(config.clone()), job)
    }

    /// Connects to the MCP servers of a preconfigured hub, runs `job`, and shuts the servers down, as
    /// [`with_hub`](Self::with_hub). Waits at most `patience` for the servers to start: `job` may then find some of
    /// them still starting, and calls [`see`] once all have started.
    pub(crate) fn with_hub_within<T>(
        &self,
        patience: Duration,
        hub: HubBuilder,
        job: impl AsyncFnOnce(Arc<Hub>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let hub = logins::of_this_user(hub);
        let (events, signals) = (hub.states(), &self.signals);
        self.runtime.block_on(async {
            // Dropping the attempt kills what it has started.
            let connected = signals.or_stopped(async {
                let hub = hub.begin();
                let settled = tokio::time::timeout(patience, hub.settled()).await.is_ok();
                Ok((hub, settled))
            });
            let connected = starting::shown(events, self.shows_start, connected).await;
            let (hub, settled) = connected?;
            let hub = Arc::new(hub);
            if settled {
                see(&hub);
            }
            let (done, first) = tokio::select! {
                biased;
                name = signals.stopped() => (None, Some(name)),
                done = job(hub.clone()) => (Some(done), None),
            };
            let stop = self.shut_down(&hub, first).await;
            match (done, stop) {
                (Some(done), None) => done,
                // What the job found out is of no use to somebody who has stopped it,
                // but for what went wrong.
                (Some(Err(failure)), _) => Err(failure),
                (_, name) => Err(stopped(name.unwrap_or("a signal"))),
            }
        })
    }

    /// Waits until the MCP servers have ended. `stop` is the signal that ended the job; a second signal ends the wait,
    /// and dropping the runtime kills the remaining servers. Returns the name of the signal, if one was received.
    async fn shut_down(&self, hub: &Hub, mut stop: Option<&'static str>) -> Option<&'static str> {
        let mut shutdown = pin!(hub.shutdown());
        loop {
            if stop.is_some() {
                self.signals.forget();
            }
            tokio::select! {
                biased;
                () = &mut shutdown => return stop.or(self.signals.stop()),
                name = self.signals.stopped() => {
                    if stop.replace(name).is_some() {
                        return stop;
                    }
                }
            }
        }
    }
}

/// Saves the names of the servers' tools for shell completion, and warns of `--tools` globs without a match.
pub(crate) fn see(hub: &Hub) {
    known::keep(&hub.catalog());
    warn_unlisted(hub);
}

/// Warns of each glob of `--tools` that matches none of the tools.
fn warn_unlisted(hub: &Hub) {
    let catalog = hub.catalog();
    // All servers have the globs of the command line alike.
    let globs = hub.config().servers().first().map(|server| server.listed_tools.as_slice()).unwrap_or_default();
    for glob in globs {
        if !catalog.tools().any(|tool| matches(glob, tool.server.as_deref(), &tool.name)) {
            warn(&format!("--tools {glob}: no tool has such a name"));
        }
    }
}
