//! A server that listens on an address: its connections and its shutdown.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::http::{refusing_router, shared_router};
use super::shared::Shared;
use crate::access::admission::ANY_HOST;
use crate::config::Config;
use toolgraft::Cause;
use toolgraft::budget::Permit;
use toolgraft::model::ClientError;
use toolgraft_protocol::Fault;

/// Number of connections beyond the budget that are answered with an error at the same time; further ones are closed
/// without an answer.
const REFUSED_AT_ONCE: usize = 64;

/// Time within which a connection beyond the budget has to send its request.
const REFUSED_FOR: Duration = Duration::from_secs(1);

/// A reason for which a server cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is reachable from other machines and no key is set: everybody in the network
    /// could use the endpoint.
    #[error("{listen} is reachable from other machines, so clients must show an API key")]
    KeyMissing {
        /// Address on which the server was to listen, `HOST:PORT`.
        listen: String,
    },
    /// The system refuses to listen on the address.
    #[error("cannot listen on {listen}: {source}")]
    Bind {
        /// Address on which the server was to listen, `HOST:PORT`.
        listen: String,
        /// Error of the operating system.
        source: Cause,
    },
    /// The endpoint's URL or key cannot be used.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// A server that is bound to an address.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    router: Router,
}

impl Server {
    /// Binds a server to `listen`, in the form `HOST:PORT`; port 0 selects any free one. Requests may name this host.
    ///
    /// # Errors
    /// Fails for an address beyond the loopback without a key for clients, and if the address
    /// cannot be bound.
    pub async fn bind(config: Config, listen: &str) -> Result<Self, ServeError> {
        let failed = |error: std::io::Error| ServeError::Bind { listen: listen.to_owned(), source: Cause::new(error) };
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(listen).await.map_err(failed)?.collect();
        if config.access.client_key.is_none() && addresses.iter().any(|address| !address.ip().is_loopback()) {
            return Err(ServeError::KeyMissing { listen: listen.to_owned() });
        }
        let listener = TcpListener::bind(&addresses[..]).await.map_err(failed)?;
        let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
        // `0.0.0.0` and `[::]` are no names that a client uses: it reaches the server by any name of the
        // machine.
        let is_any = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified());
        let config = config.with_host(if is_any { ANY_HOST } else { host });
        let shared = Shared::new(config)?;
        let router = shared_router(shared.clone());
        Ok(Server { listener, shared, router })
    }

    /// Returns the address that the server listens on.
    ///
    /// # Errors
    /// Fails with the system's error.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until `stop` completes; then accepts no more, and running answers have
    /// [`DRAIN`](crate::DRAIN) to end.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { listener, shared, router } = self;
        let (draining, _) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        let budget = &shared.config.access.budgets.max_connections;
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    // Pieces of an answer are small and must not wait for each other.
                    let _ = stream.set_nodelay(true);
                    let (place, router, read_timeout) = match budget.take(None, 1) {
                        Ok(place) => (Some(place), router.clone(), shared.config.access.read_timeout),
                        Err(_) if connections.len() >= budget.amount() + REFUSED_AT_ONCE => continue,
                        Err(full) => (None, refusing_router(Fault::from(full)), REFUSED_FOR),
                    };
                    connections.spawn(connection(stream, place, router, read_timeout, draining.subscribe()));
                }
                // Too many open files, for example, which may pass.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        drop(listener);
        shared.draining.store(true, Ordering::Relaxed);
        draining.send_replace(true);
        let rest = async { while connections.join_next().await.is_some() {} };
        // Connections that are still open after that are dropped with the set.
        let _ = tokio::time::timeout(shared.config.drain, rest).await;
    }
}

async fn connection(
    stream: tokio::net::TcpStream,
    _place: Option<Permit>,
    router: Router,
    read_timeout: Duration,
    mut draining: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(read_timeout);
    let serving = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        _ = serving.as_mut() => {}
        () = wait(&mut draining) => {
            serving.as_mut().graceful_shutdown();
            let _ = serving.await;
        }
    }
}

/// Waits until the server begins to shut down.
async fn wait(draining: &mut watch::Receiver<bool>) {
    // The only error is a dropped sender, with which the server has ended.
    let _ = draining.wait_for(|draining| *draining).await;
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.shared.config).finish_non_exhaustive()
    }
}
