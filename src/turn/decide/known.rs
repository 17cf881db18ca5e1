//! What endpoints are known not to give, so that no request asks for it again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What an endpoint does not give for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Missing {
    /// Probabilities of tokens.
    pub(crate) probabilities: bool,
    /// Answers of a structure that was demanded.
    pub(crate) structure: bool,
    /// Native calls where they are due, and nowhere else.
    pub(crate) native: bool,
}

/// What is known of the models of an endpoint. Whoever makes several setups for one shares it.
#[derive(Debug, Default)]
pub(crate) struct KnownWays(Mutex<HashMap<Option<String>, Missing>>);

impl KnownWays {
    /// What is missing for this model.
    pub(crate) fn missing(&self, model: &Option<String>) -> Missing {
        self.known().get(model).copied().unwrap_or_default()
    }

    /// The endpoint gives no probabilities for this model.
    pub(crate) fn without_probabilities(&self, model: &Option<String>) {
        self.known().entry(model.clone()).or_default().probabilities = true;
    }

    /// The endpoint holds answers of this model to no structure.
    pub(crate) fn without_structure(&self, model: &Option<String>) {
        self.known().entry(model.clone()).or_default().structure = true;
    }

    /// The model's native calls do not come where they are due, or come where nothing is.
    pub(crate) fn without_native(&self, model: &Option<String>) {
        self.known().entry(model.clone()).or_default().native = true;
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Option<String>, Missing>> {
        // Nothing is done under the lock that could panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
