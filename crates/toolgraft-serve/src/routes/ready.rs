//! Checks that the endpoint answers, at most once per second.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method};
use tokio::sync::Mutex;

use crate::upstream::endpoint::Upstream;
use toolgraft::spans::Span;

/// Time within which the endpoint has to answer a readiness check.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// Time for which the result of a readiness check is reused, so that frequent checks do not load the endpoint.
const HOLDS: Duration = Duration::from_secs(1);

/// The last result of a readiness check, with its time.
#[derive(Default)]
pub(crate) struct Ready(Mutex<Option<(Instant, bool)>>);

impl Ready {
    /// Returns `true` if the endpoint answers. Of concurrent callers one sends the request, and the others use its
    /// result.
    pub(crate) async fn is_ready(&self, upstream: &Upstream) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, ready)) = *last
            && at.elapsed() < HOLDS
        {
            return ready;
        }
        let none = HeaderMap::new();
        let list = upstream.pass(Method::GET, "models", &none, Bytes::new(), Span::none());
        let answer = tokio::time::timeout(READY_TIMEOUT, list).await;
        // An endpoint that refuses the request, for a missing key or list of models, is there as
        // well.
        let ready = answer.is_ok_and(|answer| answer.is_ok_and(|answer| !answer.status().is_server_error()));
        *last = Some((Instant::now(), ready));
        ready
    }
}
