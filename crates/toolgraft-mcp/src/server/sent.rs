//! Requests that were sent.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use rmcp::model::RequestId;

/// The requests that wait for their answer and that the transport was given. rmcp keeps requests in a queue before:
/// those that are still there when the connection ends are dropped, and the server never sees them.
#[derive(Default)]
pub(super) struct Sent(Mutex<HashSet<RequestId>>);

impl Sent {
    pub(super) fn add(&self, id: RequestId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Forgets a request that nobody waits for any more.
    pub(super) fn remove(&self, id: &RequestId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
