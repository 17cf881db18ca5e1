//! The record of sent requests.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use rmcp::model::RequestId;

/// The requests that were given to the transport and wait for their answer. rmcp queues requests
/// before: those that are still queued when the connection ends are dropped, and the server never
/// gets them.
#[derive(Default)]
pub(super) struct SentRequests(Mutex<HashSet<RequestId>>);

impl SentRequests {
    pub(super) fn add(&self, id: RequestId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Removes a request that is no longer awaited.
    pub(super) fn remove(&self, id: &RequestId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
