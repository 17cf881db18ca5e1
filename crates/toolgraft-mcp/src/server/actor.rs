//! The task that starts a server, watches it and restarts it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::connect::{self, Era};
use super::connection::Connection;
use super::settings::Start;
use super::shared::{Offer, Shared, Snapshot};
use super::states::ServerEventKind;
use super::status::ServerState;
use crate::auth::Access;
use crate::failure::{Failure, FailureKind};

/// Time to wait for further change notifications of a server before its tools, resources and prompts are listed again.
const DEBOUNCE: Duration = Duration::from_millis(250);

/// Time to wait for further change notifications of a server before it is listed again, if a call waits for that.
const BURST: Duration = Duration::from_millis(100);

/// Minimum time between two listings of a server after change notifications, unless a call waits for them.
const BETWEEN_LISTINGS: Duration = Duration::from_secs(2);

/// The task that starts, watches and restarts one server, and owns the connection to it.
pub(super) struct Actor {
    pub(super) shared: Arc<Shared>,
    pub(super) view: watch::Sender<Snapshot>,
    /// The kind of handshake that last worked with the server; `None` if none has.
    pub(super) era: Option<Era>,
    /// Number of consecutive failures of the server.
    pub(super) failures: u32,
}

impl Actor {
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut on = self.shared.on.subscribe();
        // A server that is disabled at first may have been switched on before this task runs for
        // the first time.
        let mut start = if self.shared.config.disabled { Start::Eager } else { self.shared.settings.start };
        loop {
            if *on.borrow_and_update() {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => break,
                    _ = on.wait_for(|on| !on) => {}
                    () = self.live(start) => {}
                }
            }
            self.switch_off().await;
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = on.wait_for(|on| *on) => {}
            }
            // Switching a server on starts it at once, and forgets its earlier failures.
            (start, self.failures) = (Start::Eager, 0);
        }
        let connection = self.view.borrow().connection.clone();
        if let Some(connection) = connection {
            connection.close().await;
        }
        self.update(|view| {
            view.connection = None;
            view.status.state = ServerState::Failed;
            view.status.error = Some("the hub was shut down".to_owned());
            view.shut_until = None;
            view.attempts += 1;
        });
    }

    /// Changes the snapshot of the server's state, and reports the state as an event if it has changed.
    fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        self.view.send_modify(|view| {
            change(view);
            // Reported while the snapshot is locked, so that nobody sees the new state before its
            // event.
            self.shared.settings.states.state(&self.shared.config.name, view.status.state, view.status.error.clone());
        });
    }

    fn tell(&self, event: ServerEventKind) {
        self.shared.settings.states.tell(&self.shared.config.name, event);
    }

    /// Switches the server off: removes its tools from the catalog, and ends its connection.
    async fn switch_off(&self) {
        let connection = self.view.borrow().connection.clone();
        self.update(|view| {
            (view.connection, view.offer, view.shut_until) = (None, None, None);
            (view.status.state, view.status.error) = (ServerState::Disabled, None);
            view.status.notes.clear();
        });
        (self.shared.changed)();
        if let Some(connection) = connection {
            connection.close().await;
        }
        // Wakes those who wait for the end of the switch.
        self.view.send_modify(|view| view.attempts += 1);
    }

    /// Runs the server until the task is dropped: starts it, watches it, and starts it again. Never
    /// returns.
    async fn live(&mut self, start: Start) {
        if start == Start::Lazy {
            self.wanted(None).await;
        }
        loop {
            let started = Instant::now();
            let Some(connection) = self.attempt().await else {
                self.rest().await;
                continue;
            };
            let is_restart = self.watch(&connection).await;
            let is_stable = started.elapsed() >= self.shared.settings.retry.stable;
            // A server that was useful, or that somebody has restarted, begins a new series of failures.
            if is_restart || is_stable || connection.answered.load(Ordering::Relaxed) {
                self.failures = 0;
            }
            if is_restart {
                connection.close().await;
            } else {
                self.died(&connection).await;
                self.rest().await;
            }
        }
    }

    /// Waits until a call needs the server, and then until `not_before`. A request for a restart
    /// ends the wait at once.
    async fn wanted(&mut self, not_before: Option<Instant>) {
        tokio::select! {
            () = self.shared.reset.notified() => self.failures = 0,
            () = async {
                self.shared.demand.any().await;
                if let Some(at) = not_before {
                    sleep_until(at).await;
                }
            } => {}
        }
    }

    /// Reports the time of the next attempt after a failure, and waits for it and for a call that needs the server.
    async fn rest(&mut self) {
        let now = Instant::now();
        let (shut_until, state) = {
            let view = self.view.borrow();
            (view.shut_until, view.status.state)
        };
        let wait = match state {
            // A server that needs a login does not get one by waiting longer.
            ServerState::NeedsAuth => Duration::ZERO,
            _ => self.shared.settings.retry.wait(self.failures),
        };
        let rest = shut_until.unwrap_or(now + wait);
        self.tell(ServerEventKind::Retry { failures: self.failures, wait: rest.saturating_duration_since(now) });
        self.wanted(Some(rest)).await;
    }

    /// Starts the server and lists its tools, resources and prompts. Returns `None` after a failure, which is in the
    /// snapshot then.
    async fn attempt(&mut self) -> Option<Arc<Connection>> {
        self.update(|view| {
            view.status.state = ServerState::Connecting;
            view.shut_until = None;
        });
        let started = Instant::now();
        let connected = self.connected().await;
        let took = started.elapsed();
        match connected {
            Ok((connection, offer, notes)) => {
                let connection = Arc::new(connection);
                connection.listen();
                let is_respawn = self.view.borrow().offer.is_some();
                self.view.send_modify(|view| view.offer = Some(Arc::new(offer)));
                // Before the connection is visible: a call that gets it must find the tools listed.
                (self.shared.changed)();
                self.tell(ServerEventKind::Listed);
                if is_respawn {
                    self.view.send_modify(|view| view.status.restarts += 1);
                    let restarts = self.view.borrow().status.restarts;
                    self.tell(ServerEventKind::Respawn { restarts });
                }
                self.update(|view| {
                    let status = &mut view.status;
                    (status.state, status.error, status.connect_time) = (ServerState::Ready, None, took);
                    (status.server_name, status.server_version, status.protocol_version) = connection.identity();
                    status.notes = notes;
                    view.connection = Some(connection.clone());
                    view.attempts += 1;
                });
                Some(connection)
            }
            Err(error) => {
                self.failed(error, Some(took));
                None
            }
        }
    }

    /// Records the failure of a server's connection, or of a start, which took the time `attempt`.
    fn failed(&mut self, error: Failure, attempt: Option<Duration>) {
        self.failures += 1;
        let needs_auth = error.kind == FailureKind::NeedsAuth;
        let shut = match needs_auth {
            // The configuration's headers do not change, so a soon retry is useless. A user may log
            // in at any time.
            true => !Access::of(&self.shared.config, self.shared.settings.logins.as_ref()).takes_logins(),
            false => self.failures >= self.shared.settings.retry.failures,
        };
        self.update(|view| {
            view.status.state = match needs_auth {
                true => ServerState::NeedsAuth,
                false if view.offer.is_some() && !shut => ServerState::Backoff,
                false => ServerState::Failed,
            };
            view.status.last_error = Some(error.message.clone());
            view.status.error = Some(error.message);
            view.connection = None;
            view.shut_until = shut.then(|| Instant::now() + self.shared.settings.retry.rest);
            if let Some(took) = attempt {
                view.status.connect_time = took;
                view.attempts += 1;
            }
        });
    }

    async fn died(&mut self, connection: &Connection) {
        let error = connection.how_it_ended("the connection is closed").await;
        // Ends the processes that the server started and left running.
        connection.close().await;
        self.failed(error.into(), None);
    }

    async fn connected(&mut self) -> Result<(Connection, Offer, Vec<String>), Failure> {
        let connection = connect::connect(&self.shared, &mut self.era).await?;
        match self.offered(&connection).await {
            Ok((offer, notes)) => Ok((connection, offer, notes)),
            Err(error) => {
                connection.close().await;
                Err(error.into())
            }
        }
    }

    async fn offered(&self, connection: &Connection) -> Result<(Offer, Vec<String>), String> {
        let (mut server, prompts, mut notes) = connection.list(&self.shared.config.name).await?;
        server.parallel = self.shared.config.parallel;
        notes.extend(connection.noise(0));
        Ok((Offer { server, prompts }, notes))
    }

    /// Watches a connection, and lists the server's tools, resources and prompts again when they have changed. Returns
    /// `false` when the connection is over, `true` when a restart was requested.
    async fn watch(&self, connection: &Connection) -> bool {
        loop {
            tokio::select! {
                biased;
                () = connection.gone.cancelled() => return false,
                () = self.shared.reset.notified() => return true,
                () = connection.client.noticed.changed() => {}
            }
            // Servers report each change separately, and often make many at once.
            tokio::select! {
                () = connection.gone.cancelled() => return false,
                // A notice that a call caused may follow the call's answer.
                () = async { connection.client.noticed.awaited().await; sleep(BURST).await } => {}
                () = sleep(DEBOUNCE) => {}
            }
            let again = Instant::now() + BETWEEN_LISTINGS;
            tokio::select! {
                () = self.shared.reset.notified() => return true,
                () = self.list_anew(connection) => {}
            }
            tokio::select! {
                () = connection.gone.cancelled() => return false,
                () = self.shared.reset.notified() => return true,
                () = connection.client.noticed.awaited() => {}
                () = sleep_until(again) => {}
            }
        }
    }

    async fn list_anew(&self, connection: &Connection) {
        // Before the lists are read: a notice that arrives meanwhile may be about a page that was read
        // already.
        let notices = connection.client.noticed.so_far();
        match self.offered(connection).await {
            Ok((offer, notes)) => {
                self.view.send_modify(|view| {
                    view.offer = Some(Arc::new(offer));
                    view.status.notes = notes;
                });
                (self.shared.changed)();
                self.tell(ServerEventKind::Listed);
            }
            // The end of the connection is reported by `watch`.
            Err(_) if connection.is_gone() => {}
            Err(error) => self.view.send_modify(|view| {
                view.status.notes.retain(|note| !note.starts_with(UNREAD));
                view.status.notes.push(format!("{UNREAD}: {error}"));
            }),
        }
        connection.client.noticed.has_listed(notices);
    }
}

const UNREAD: &str = "the server's lists have changed and could not be read again, so the earlier ones are kept";
