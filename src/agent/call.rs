//! Runs one call, for any driver of a turn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::Instrument;

use crate::outcome::{Outcome, Status};
use crate::route::{Invocation, Toolbox};
use crate::spans;

/// Runs a call in a span of its own and returns the call's id and outcome. After `limit` the call is dropped and its
/// outcome is [`Status::TimedOut`].
pub async fn run_call(toolbox: Arc<dyn Toolbox>, invocation: Invocation, limit: Option<Duration>) -> (String, Outcome) {
    let started = Instant::now();
    let id = invocation.id.clone();
    let span = spans::tool(invocation.server.as_deref(), &invocation.tool, &id);
    let call = span.in_scope(|| toolbox.call(invocation)).instrument(span.clone());
    let mut outcome = match limit {
        None => call.await,
        Some(limit) => tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            Outcome::new(Status::TimedOut, format!("no answer within {} seconds", limit.as_secs_f64()))
        }),
    };
    outcome.took.get_or_insert_with(|| started.elapsed());
    if outcome.status != Status::Result {
        spans::failed(&span, outcome.status.as_str());
    }
    (id, outcome)
}
