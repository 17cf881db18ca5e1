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

/// The state that a command has from its beginning to its end.
pub(crate) struct App {
    runtime: tokio::runtime::Runtime,
    /// The signals that this process has been sent since it was started.
    pub(crate) signals: Signals,
    /// A terminal shows which servers are being started.
    shows_start: bool,
    /// Asks the user, if there is one. Dropped last: it puts the terminal back as it was.
    pub(crate) asker: Option<Asker>,
}

/// Returns a runtime for one command.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Failure::job(format!("cannot start the asynchronous runtime: {e}")))
}

impl App {
    /// Starts the runtime and listens to the signals.
    pub(crate) fn start(asker: Option<Asker>) -> Result<Self, Failure> {
        let runtime = runtime()?;
        let signals = runtime.block_on(async { Signals::listen() })?;
        Ok(App { runtime, signals, shows_start: true, asker })
    }

    /// Shows on a terminal which servers are being started, or does not.
    pub(crate) fn showing(self, shows_start: bool) -> Self {
        App { shows_start, ..self }
    }

    /// Waits for a job without servers; a signal ends it.
    pub(crate) fn wait<T>(&self, job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.runtime.block_on(self.signals.or_stopped(job))
    }

    /// Waits for a job that deals with all signals itself.
    pub(crate) fn wait_out<T>(&self, job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.runtime.block_on(job)
    }

    /// Connects to the servers, runs `job`, and shuts the servers down. A signal ends
    /// each of these, and then the command has failed, whatever the job says.
    pub(crate) fn with_hub<T>(
        &self,
        config: &Config,
        job: impl AsyncFnOnce(Arc<Hub>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.with_hub_within(Duration::MAX, Hub::builder().config(config.clone()), job)
    }

    /// Like [`with_hub`](Self::with_hub), with a hub that is set up in its own way, and waits no longer than this for the
    /// servers: the job finds some of them still starting then, and calls [`see`] once they are there.
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

    /// Waits until the servers have ended. `stop` is the signal that ended the job; the
    /// second one ends the waiting: what is left is killed when the runtime is dropped.
    /// Returns the signal that came, if one did.
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

/// Remembers what the servers offer, once all that can be are ready.
pub(crate) fn see(hub: &Hub) {
    known::keep(&hub.catalog());
    warn_unlisted(hub);
}

/// Warns of each glob of `--tools` that fits none of the tools.
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
