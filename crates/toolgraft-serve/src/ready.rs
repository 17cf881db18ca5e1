//! Whether the endpoint answers, asked at most once in a while.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use tokio::sync::Mutex;

use super::upstream::Upstream;
use toolgraft::spans::Span;

/// Time that the endpoint has to say that it is there.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// How long its answer holds: whoever asks more often must not load the endpoint.
const HOLDS: Duration = Duration::from_secs(1);

/// What the endpoint answered last, and when.
#[derive(Default)]
pub(super) struct Ready(Mutex<Option<(Instant, bool)>>);

impl Ready {
    /// Whether the endpoint answers. Of those who ask at once one goes to it, and the others
    /// take what it brings.
    pub(super) async fn is_ready(&self, upstream: &Upstream) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, ready)) = *last
            && at.elapsed() < HOLDS
        {
            return ready;
        }
        let none = HeaderMap::new();
        let list = upstream.pass(Method::GET, "models", &none, Bytes::new(), Span::none());
        let answer = tokio::time::timeout(READY_TIMEOUT, list).await;
        // One that wants a key or has no list of models is there, too.
        let ready = answer.is_ok_and(|answer| answer.is_ok_and(|answer| !answer.status().is_server_error()));
        *last = Some((Instant::now(), ready));
        ready
    }
}
