//! One configured server over its whole life: started, watched, started anew.
//!
//! ```text
//!            ┌────────── a call, after the wait ──────────┐
//!            ▼                                            │
//! Idle ─▶ Connecting ──lists read──▶ Ready ──gone──▶ Backoff ──gone too often──▶ Failed
//!            │                        │ ▲                                           │
//!            │                        └─┘ list_changed: lists read anew             │
//!            └──could not be reached──▶ Failed or NeedsAuth ◀─────────────────────── ┘
//! ```
//!
//! An [actor](actor) per server owns the connection and is the only one that
//! changes its state; calls look at the state, ask the actor to start the server
//! where it is not there, and then talk to the connection themselves. A call
//! that may have reached the server is never sent again.

mod actor;

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::actor::Actor;
use super::config::ServerConfig;
use super::connection::{Connection, Limits};
use super::elicit::Elicitation;
use super::prompts::McpPrompt;
use super::status::{ServerState, ServerStatus};
use crate::catalog;

/// When a server that has gone, or could not be reached, is started anew.
///
/// An attempt is only made when a call needs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Wait after the first failure; it doubles with each further one in a row.
    pub first: Duration,
    /// Longest wait.
    pub longest: Duration,
    /// Failures in a row after which the server is left alone; at least one.
    pub failures: u32,
    /// How long it is left alone then, and where it wants an authorization:
    /// until calls may try it once more.
    pub rest: Duration,
    /// A server that was there this long starts its count of failures anew.
    pub stable: Duration,
}

impl Default for Retry {
    /// 0.5 s to 30 s; five failures, then five minutes; stable after one minute.
    fn default() -> Self {
        Retry {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            failures: 5,
            rest: Duration::from_secs(300),
            stable: Duration::from_secs(60),
        }
    }
}

impl Retry {
    /// The wait before the attempt that follows so many failures in a row.
    fn wait(&self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << failures.saturating_sub(1).min(16));
        doubled.min(self.longest)
    }
}

/// What a server offers to models and to people.
#[derive(Debug, Default)]
pub(super) struct Offer {
    pub(super) server: catalog::Server,
    pub(super) prompts: Vec<McpPrompt>,
}

/// What is known of a server now.
#[derive(Clone)]
struct View {
    status: ServerStatus,
    connection: Option<Arc<Connection>>,
    /// What it offered last; kept while it is away, since a call brings it back.
    offer: Option<Arc<Offer>>,
    /// Attempts to start it that are over.
    attempts: u64,
    /// No attempt will be made before this, and calls are told so.
    shut_until: Option<Instant>,
}

impl View {
    fn usable(&self) -> Option<Arc<Connection>> {
        self.connection.as_ref().filter(|connection| !connection.is_gone()).cloned()
    }

    fn is_shut(&self) -> bool {
        self.shut_until.is_some_and(|until| until > Instant::now())
    }
}

/// A configured server, as the hub holds it.
pub(super) struct Server {
    name: String,
    retry: Retry,
    view: watch::Receiver<View>,
    demand: Arc<Demand>,
    /// Starts it anew, whatever happened before.
    reset: Arc<Notify>,
    stop: CancellationToken,
    actor: Mutex<Option<JoinHandle<()>>>,
}

/// Calls that wait for the server to be there.
#[derive(Default)]
struct Demand {
    waiting: AtomicUsize,
    came: Notify,
}

/// One of them.
struct Waiting<'d>(&'d Demand);

impl Demand {
    fn add(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.came.notify_one();
        Waiting(self)
    }

    async fn any(&self) {
        while self.waiting.load(Ordering::SeqCst) == 0 {
            self.came.notified().await;
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Start {
    /// At once, and the hub waits until each server is ready or has failed.
    #[default]
    Eager,
    /// With the first call that names it. What it offers is not known before,
    /// so its tools are in no prompt until then.
    Lazy,
}

impl Server {
    /// Sets a server up and, if it can be and is to be, starts it. `changed` is
    /// told whenever what it offers has changed.
    pub(super) fn start(
        config: &ServerConfig,
        environment: Arc<[(OsString, OsString)]>,
        limits: Limits,
        (start, retry, elicitation): (Start, Retry, Elicitation),
        changed: Arc<dyn Fn() + Send + Sync>,
    ) -> Server {
        let mut status = ServerStatus::new(&config.name, ServerState::Idle);
        if config.disabled {
            status.state = ServerState::Disabled;
        } else if let Some(problem) = config.problem() {
            (status.state, status.error, status.misconfigured) = (ServerState::Failed, Some(problem), true);
        }
        let runs = status.state == ServerState::Idle;
        let view = View { status, connection: None, offer: None, attempts: 0, shut_until: None };
        let (sender, receiver) = watch::channel(view);
        let (demand, reset, stop) = (Arc::<Demand>::default(), Arc::new(Notify::new()), CancellationToken::new());
        let actor = runs.then(|| {
            let (demand, reset) = (demand.clone(), reset.clone());
            let config = config.clone();
            let view = sender;
            let actor = Actor {
                config,
                environment,
                limits,
                retry,
                elicitation,
                view,
                demand,
                reset,
                changed,
                era: None,
                failures: 0,
            };
            tokio::spawn(actor.run(start, stop.clone()))
        });
        Server { name: config.name.clone(), retry, view: receiver, demand, reset, stop, actor: Mutex::new(actor) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn status(&self) -> ServerStatus {
        let view = self.view.borrow();
        let mut status = view.status.clone();
        // The actor may not have looked yet.
        if status.state == ServerState::Ready && view.usable().is_none() {
            status.state = ServerState::Backoff;
        }
        status
    }

    pub(super) fn offer(&self) -> Option<Arc<Offer>> {
        self.view.borrow().offer.clone()
    }

    /// Waits until the first attempt is over; at once where none will be made.
    pub(super) async fn settled(&self) {
        let mut view = self.view.clone();
        let _ = view
            .wait_for(|view| {
                view.attempts > 0 || !matches!(view.status.state, ServerState::Idle | ServerState::Connecting)
            })
            .await;
    }

    /// Its connection; a server that is not there is started first.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, String> {
        let seen = {
            let view = self.view.borrow();
            if let Some(connection) = view.usable() {
                return Ok(connection);
            }
            // Over HTTP only a request finds out.
            if let Some(connection) = &view.connection {
                connection.mark_gone();
            }
            if view.status.misconfigured || view.status.state == ServerState::Disabled || view.is_shut() {
                return Err(self.absent(&view));
            }
            view.attempts
        };
        let _waiting = self.demand.add();
        let mut view = self.view.clone();
        let found = view.wait_for(|view| view.usable().is_some() || view.attempts > seen).await;
        match found {
            Ok(view) => view.usable().ok_or_else(|| self.absent(&view)),
            Err(_) => Err(format!("the server {:?} was shut down", self.name)),
        }
    }

    /// Ends the connection, if there is one, and starts the server anew; waits for the outcome.
    pub(super) async fn restart(&self) -> Result<(), String> {
        let seen = self.view.borrow().attempts;
        self.reset.notify_one();
        let mut view = self.view.clone();
        match view.wait_for(|view| view.attempts > seen).await {
            Ok(view) if view.usable().is_some() => Ok(()),
            Ok(view) => Err(self.absent(&view)),
            Err(_) => Err(self.absent(&self.view.borrow())),
        }
    }

    /// Why the server takes no calls.
    fn absent(&self, view: &View) -> String {
        let name = &self.name;
        if view.status.state == ServerState::Disabled {
            return format!("the server {name:?} is disabled");
        }
        let why = view.status.error.as_deref().unwrap_or("it could not be reached");
        let later = match view.shut_until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if left.is_zero() => String::new(),
            Some(left) if view.status.state == ServerState::NeedsAuth => {
                format!("; it is not asked again for {} s", left.as_secs() + 1)
            }
            Some(left) => {
                format!(
                    "; it failed {} times in a row and is left alone for {} s",
                    self.retry.failures,
                    left.as_secs() + 1
                )
            }
            None => String::new(),
        };
        format!("the server {name:?} is not there: {why}{later}")
    }

    /// Ends the connection and its child, and waits for that.
    pub(super) async fn shutdown(&self) {
        self.stop.cancel();
        let actor = self.actor.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(actor) = actor {
            // An actor that panicked has dropped its connection, which kills the child.
            let _ = actor.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_limit() {
        let seconds: Vec<_> = (0..9).map(|n| Retry::default().wait(n).as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(Retry::default().wait(u32::MAX), Duration::from_secs(30));
    }
}
