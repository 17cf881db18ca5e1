//! Which calls of the toolbox run: the policy, with each tool as it was when the server first saw it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use toolgraft::tools::{Decision, DefaultDecision};
use toolgraft::turn::ModelNote;
use toolgraft::{Catalog, Policy};

/// The permissions of a server. Clones are the same permissions.
#[derive(Clone)]
pub(super) struct Permissions(Arc<Mutex<Policy>>);

/// No call runs.
impl Default for Permissions {
    fn default() -> Self {
        Permissions::of(Policy::new(DefaultDecision::Deny))
    }
}

impl Permissions {
    pub(super) fn of(policy: Policy) -> Self {
        Permissions(Arc::new(Mutex::new(policy)))
    }

    /// Keeps how the tools of this catalog are that are allowed and were not seen before.
    pub(super) fn see(&self, catalog: &Catalog) {
        let mut policy = self.lock();
        *policy = policy.in_catalog(catalog);
    }

    /// Returns what the model is told where a call of the toolbox does not run; `led_by` are the servers whose words
    /// may have led to it.
    pub(super) fn refusal(
        &self,
        (server, tool): (Option<&str>, &str),
        arguments: &Map<String, Value>,
        catalog: &Catalog,
        led_by: &[String],
    ) -> Option<ModelNote<'static>> {
        let policy = self.lock();
        let found = catalog.find(server, tool).ok().map(|found| found.tool);
        let annotations = found.and_then(|tool| tool.annotations.as_ref());
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
        // Nothing is done under the lock that could panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
