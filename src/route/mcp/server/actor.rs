//! The task that starts a server, watches it and starts it anew.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{Demand, Offer, Retry, Start, View};
use crate::route::mcp::config::ServerConfig;
use crate::route::mcp::connection::{Connection, Limits};
use crate::route::mcp::elicit::Elicitation;
use crate::route::mcp::handshake::{self, ConnectError, Era};
use crate::route::mcp::listing;
use crate::route::mcp::status::ServerState;

/// Wait for further changes before lists are read anew, and the shortest time between two readings.
const DEBOUNCE: Duration = Duration::from_millis(250);
const BETWEEN_LISTINGS: Duration = Duration::from_secs(2);

/// Owns a server's connection.
pub(super) struct Actor {
    pub(super) config: ServerConfig,
    pub(super) environment: Arc<[(OsString, OsString)]>,
    pub(super) limits: Limits,
    pub(super) retry: Retry,
    pub(super) elicitation: Elicitation,
    pub(super) view: watch::Sender<View>,
    pub(super) demand: Arc<Demand>,
    pub(super) reset: Arc<Notify>,
    /// Told when what the server offers has changed.
    pub(super) changed: Arc<dyn Fn() + Send + Sync>,
    /// How the server was reached last.
    pub(super) era: Option<Era>,
    /// Failures in a row.
    pub(super) failures: u32,
}

/// Why the watch over a connection is over.
enum Gone {
    /// The server has gone.
    Died(Arc<Connection>),
    /// Somebody wants it started anew.
    Restart(Arc<Connection>),
}

impl Actor {
    pub(super) async fn run(mut self, start: Start, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.live(start) => {}
        }
        let connection = self.view.borrow().connection.clone();
        if let Some(connection) = connection {
            connection.close().await;
        }
        self.view.send_modify(|view| {
            view.connection = None;
            view.status.state = ServerState::Failed;
            view.status.error = Some("the hub was shut down".to_owned());
            view.shut_until = None;
            view.attempts += 1;
        });
    }

    /// Never ends by itself.
    async fn live(&mut self, start: Start) {
        if start == Start::Lazy {
            self.wanted(None).await;
        }
        loop {
            let started = Instant::now();
            let Some(connection) = self.attempt().await else {
                self.wanted(Some(self.rest())).await;
                continue;
            };
            let gone = self.watch(connection).await;
            if started.elapsed() >= self.retry.stable {
                self.failures = 0;
            }
            match gone {
                Gone::Restart(connection) => {
                    connection.close().await;
                    self.failures = 0;
                }
                Gone::Died(connection) => {
                    self.died(&connection).await;
                    let rest = self.rest();
                    self.wanted(Some(rest)).await;
                }
            }
        }
    }

    /// Waits until a call wants the server, and then until it may be started again.
    async fn wanted(&mut self, not_before: Option<Instant>) {
        tokio::select! {
            () = self.reset.notified() => self.failures = 0,
            () = async {
                self.demand.any().await;
                if let Some(at) = not_before {
                    sleep_until(at).await;
                }
            } => {}
        }
    }

    /// When the next attempt may be made, after a failure.
    fn rest(&self) -> Instant {
        match self.view.borrow().shut_until {
            Some(until) => until,
            None => Instant::now() + self.retry.wait(self.failures),
        }
    }

    /// Starts the server and reads its lists.
    async fn attempt(&mut self) -> Option<Arc<Connection>> {
        self.view.send_modify(|view| {
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
                self.view.send_modify(|view| {
                    view.status.restarts += u32::from(view.offer.is_some());
                    view.offer = Some(Arc::new(offer));
                });
                // Before anybody sees the connection: who gets it finds the tools listed.
                (self.changed)();
                self.view.send_modify(|view| {
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
                self.failed(error, took);
                None
            }
        }
    }

    fn failed(&mut self, error: ConnectError, took: Duration) {
        self.failures += 1;
        // The configuration's headers do not change: to ask again soon is of no use.
        let shut = error.needs_auth || self.failures >= self.retry.failures;
        self.view.send_modify(|view| {
            view.status.state = match error.needs_auth {
                true => ServerState::NeedsAuth,
                false if view.offer.is_some() && !shut => ServerState::Backoff,
                false => ServerState::Failed,
            };
            view.status.error = Some(error.message);
            view.status.connect_time = took;
            view.connection = None;
            view.shut_until = shut.then(|| Instant::now() + self.retry.rest);
            view.attempts += 1;
        });
    }

    async fn died(&mut self, connection: &Connection) {
        let error = connection.epitaph().await;
        // What the server started and left behind ends here.
        connection.close().await;
        self.failures += 1;
        let shut = self.failures >= self.retry.failures;
        self.view.send_modify(|view| {
            view.status.state = if shut { ServerState::Failed } else { ServerState::Backoff };
            view.status.error = Some(error);
            view.connection = None;
            view.shut_until = shut.then(|| Instant::now() + self.retry.rest);
        });
    }

    async fn connected(&mut self) -> Result<(Connection, Offer, Vec<String>), ConnectError> {
        let connection =
            handshake::connect(&self.config, &self.environment, (self.limits, self.elicitation), &mut self.era).await?;
        match self.offered(&connection).await {
            Ok((offer, notes)) => Ok((connection, offer, notes)),
            Err(error) => {
                connection.close().await;
                Err(error.into())
            }
        }
    }

    async fn offered(&self, connection: &Connection) -> Result<(Offer, Vec<String>), String> {
        let (mut server, prompts, mut notes) = connection.list(&self.config.name).await?;
        listing::keep(&self.config, &mut server, &mut notes);
        notes.extend(connection.noise());
        Ok((Offer { server, prompts }, notes))
    }

    /// Watches over a connection: reads its lists anew when they have changed.
    async fn watch(&self, connection: Arc<Connection>) -> Gone {
        loop {
            tokio::select! {
                biased;
                () = connection.gone() => return Gone::Died(connection),
                () = self.reset.notified() => return Gone::Restart(connection),
                () = connection.lists_changed() => {}
            }
            // Servers tell of each change, and make many at once.
            tokio::select! {
                () = connection.gone() => return Gone::Died(connection),
                () = sleep(DEBOUNCE) => connection.forget_changes(),
            }
            let again = Instant::now() + BETWEEN_LISTINGS;
            tokio::select! {
                () = self.reset.notified() => return Gone::Restart(connection),
                () = self.list_anew(&connection) => {}
            }
            tokio::select! {
                () = connection.gone() => return Gone::Died(connection),
                () = self.reset.notified() => return Gone::Restart(connection),
                () = sleep_until(again) => {}
            }
        }
    }

    async fn list_anew(&self, connection: &Connection) {
        match self.offered(connection).await {
            Ok((offer, notes)) => {
                self.view.send_modify(|view| {
                    view.offer = Some(Arc::new(offer));
                    view.status.notes = notes;
                });
                (self.changed)();
            }
            Err(_) if connection.is_gone() => {}
            Err(error) => self.view.send_modify(|view| {
                view.status.notes.retain(|note| !note.starts_with(UNREAD));
                view.status.notes.push(format!("{UNREAD}: {error}"));
            }),
        }
    }
}

const UNREAD: &str = "its lists have changed and could not be read anew, so the earlier ones stay";
