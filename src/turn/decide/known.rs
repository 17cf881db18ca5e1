//! The features that endpoints are known not to support, so that no request asks for them again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::NativeFault;

/// Features that an endpoint does not support for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Missing {
    /// `true` if the endpoint reports no probabilities of tokens.
    pub(crate) probabilities: bool,
    /// `true` if the endpoint reports the probabilities of a constrained answer only after masking by the constraint.
    pub(crate) unmasked: bool,
    /// `true` if the endpoint does not apply a required constraint to an answer.
    pub(crate) structure: bool,
    /// Fault for which native calls are only used where they are required; `None` if no fault is known.
    pub(crate) native: Option<NativeFault>,
}

/// Function that gets a model's name (`None` for the client's own) and the fault of its native calls.
type TellFault = dyn Fn(Option<&str>, NativeFault) + Send + Sync;

/// Knowledge about the models of an endpoint. Several setups for one endpoint share it.
#[derive(Default)]
pub struct KnownWays {
    known: Mutex<HashMap<Option<String>, Missing>>,
    /// Function that is called with each fault of native calls that is found.
    tell: Option<Box<TellFault>>,
}

impl KnownWays {
    /// Returns the features that the endpoint is known not to support for this model.
    pub(crate) fn missing(&self, model: &Option<String>) -> Missing {
        self.known().get(model).copied().unwrap_or_default()
    }

    /// Records what the endpoint does not support for this model.
    pub(crate) fn learn(&self, model: &Option<String>, learned: impl FnOnce(&mut Missing)) {
        learned(self.known().entry(model.clone()).or_default());
    }

    /// Records a fault of the model's native calls, and reports it.
    pub(crate) fn without_native(&self, model: &Option<String>, fault: NativeFault) {
        self.recalls(model, fault);
        if let Some(tell) = &self.tell {
            tell(model.as_deref(), fault);
        }
    }

    /// Records a fault of the model's native calls that was found earlier, without reporting it.
    pub fn recalls(&self, model: &Option<String>, fault: NativeFault) {
        self.learn(model, |missing| missing.native = Some(fault));
    }

    /// Returns the known fault of this model's native calls.
    pub fn native_fault(&self, model: &Option<String>) -> Option<NativeFault> {
        self.missing(model).native
    }

    /// Returns the features that the endpoint does not support for this model: `probabilities` of tokens, answers with
    /// a required `structure`.
    pub fn not_given(&self, model: &Option<String>) -> Vec<&'static str> {
        let missing = self.missing(model);
        let all = [(missing.probabilities, "probabilities"), (missing.structure, "structure")];
        all.into_iter().filter_map(|(is_so, name)| is_so.then_some(name)).collect()
    }

    /// Creates an empty record that reports faults of native calls with the model's name (`None` for the client's own).
    pub fn telling(tell: impl Fn(Option<&str>, NativeFault) + Send + Sync + 'static) -> Self {
        KnownWays { tell: Some(Box::new(tell)), ..KnownWays::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Option<String>, Missing>> {
        // No code under the lock can panic half-way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
