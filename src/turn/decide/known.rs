//! What endpoints are known not to give, so that no request asks for it again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::NativeFault;

/// What an endpoint does not give for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Missing {
    /// Probabilities of tokens.
    pub(crate) probabilities: bool,
    /// Probabilities of tokens as the model has them, where the answer is held to a structure.
    pub(crate) unmasked: bool,
    /// Answers of a structure that was demanded.
    pub(crate) structure: bool,
    /// Native calls where they are due, and nowhere else: why.
    pub(crate) native: Option<NativeFault>,
}

/// Takes a model's name, `None` for the client's own, and what its native calls fail at.
type Tell = dyn Fn(Option<&str>, NativeFault) + Send + Sync;

/// What is known of the models of an endpoint. Whoever makes several setups for one shares it.
#[derive(Default)]
pub struct KnownWays {
    known: Mutex<HashMap<Option<String>, Missing>>,
    /// Is told what is learned of native calls.
    tell: Option<Box<Tell>>,
}

impl KnownWays {
    /// What is missing for this model.
    pub(crate) fn missing(&self, model: &Option<String>) -> Missing {
        self.known().get(model).copied().unwrap_or_default()
    }

    /// The endpoint gives no probabilities for this model.
    pub(crate) fn without_probabilities(&self, model: &Option<String>) {
        self.known().entry(model.clone()).or_default().probabilities = true;
    }

    /// The endpoint tells, of an answer that is held to a structure, what that lets through.
    pub(crate) fn with_masked_probabilities(&self, model: &Option<String>) {
        self.known().entry(model.clone()).or_default().unmasked = true;
    }

    /// The endpoint holds answers of this model to no structure.
    pub(crate) fn without_structure(&self, model: &Option<String>) {
        self.known().entry(model.clone()).or_default().structure = true;
    }

    /// The model's native calls have this fault.
    pub(crate) fn without_native(&self, model: &Option<String>, fault: NativeFault) {
        self.recalls(model, fault);
        if let Some(tell) = &self.tell {
            tell(model.as_deref(), fault);
        }
    }

    /// The same, as it was learned before.
    pub fn recalls(&self, model: &Option<String>, fault: NativeFault) {
        self.known().entry(model.clone()).or_default().native = Some(fault);
    }

    /// What this model's native calls fail at, where that was learned.
    pub fn native_fault(&self, model: &Option<String>) -> Option<NativeFault> {
        self.missing(model).native
    }

    /// What the endpoint gives no request for this model: `probabilities` of tokens, answers of a
    /// demanded `structure`.
    pub fn not_given(&self, model: &Option<String>) -> Vec<&'static str> {
        let missing = self.missing(model);
        let all = [(missing.probabilities, "probabilities"), (missing.structure, "structure")];
        all.into_iter().filter_map(|(is_so, name)| is_so.then_some(name)).collect()
    }

    /// Nothing is known; what is learned of native calls is told, with the model's name (`None` for
    /// the client's own).
    pub fn telling(tell: impl Fn(Option<&str>, NativeFault) + Send + Sync + 'static) -> Self {
        KnownWays { tell: Some(Box::new(tell)), ..KnownWays::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Option<String>, Missing>> {
        // Nothing is done under the lock that could panic half-way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
