//! The permissions of the toolbox's calls: the policy, with each tool's state when the server first
//! saw it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use toolgraft::tools::Decision;
use toolgraft::turn::ModelNote;
use toolgraft::{Catalog, Policy};

/// Decides which calls of the toolbox may run, by a policy that all clones share.
#[derive(Clone)]
pub struct Permissions(Arc<Mutex<Policy>>);

impl Permissions {
    /// Makes the permissions of toolbox calls from a policy.
    pub fn of(policy: Policy) -> Self {
        Permissions(Arc::new(Mutex::new(policy)))
    }

    /// Records the definitions of the allowed tools in this catalog that were not seen before, so that later changes
    /// are noticed.
    pub(crate) fn see(&self, catalog: &Catalog) {
        let mut policy = self.lock();
        *policy = policy.in_catalog(catalog);
    }

    /// Returns the note for the model if a call of the toolbox must not run, else `None`. `led_by`
    /// are the servers whose text may have caused the call.
    pub(crate) fn refusal(
        &self,
        (server, tool): (Option<&str>, &str),
        arguments: &Map<String, Value>,
        catalog: &Catalog,
        led_by: &[String],
    ) -> Option<ModelNote<'static>> {
        let policy = self.lock();
        let found = catalog.find(server, tool).ok().map(|found| found.tool);
        let annotations = found.and_then(|tool| tool.annotations.as_ref());
        // First, since the policy may allow by a wildcard what third parties may have asked for.
        if !led_by.is_empty() && policy.can_be_led(server, tool, annotations, Some(arguments), led_by) {
            return Some(ModelNote::NotAllowed);
        }
        let judged = policy.judge(server, tool, found, Some(arguments));
        match judged.decision {
            Decision::Allow => None,
            _ if !judged.changes.is_empty() => Some(ModelNote::Changed),
            _ => Some(ModelNote::NotAllowed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Policy> {
        // A poisoned lock is used: nothing done under it can leave the policy inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
