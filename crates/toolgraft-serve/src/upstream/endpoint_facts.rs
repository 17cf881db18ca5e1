//! Facts learned about an endpoint's models, for a program that stores them for its next run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use toolgraft::model::{NativeFault, NativeTrials};

/// Result of a trial of a model's native calls at an endpoint of this version. Where they fail,
/// tools are offered by prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Learned {
    /// Name of the model at the endpoint.
    pub model: String,
    /// The endpoint's version as it reports it. Nothing is stored for an endpoint without a
    /// version, since a newer one may work.
    pub version: String,
    /// The way in which the model's native calls fail; `None` if they were tried and work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<NativeFault>,
}

impl Learned {
    /// Makes the result of a trial of native calls for this model and version of the endpoint.
    pub fn new(model: impl Into<String>, version: impl Into<String>, fault: Option<NativeFault>) -> Self {
        Learned { model: model.into(), version: version.into(), fault }
    }

    /// Returns the result of the trials of this model's native calls at an endpoint of this version: `None` if there
    /// was no trial, `Some(None)` if the calls work. A fault found after a successful trial takes precedence.
    pub fn found<'l>(
        learned: impl IntoIterator<Item = &'l Learned>,
        model: &str,
        version: &str,
    ) -> Option<Option<NativeFault>> {
        let its = learned.into_iter().filter(|learned| learned.model == model && learned.version == version);
        its.map(|learned| learned.fault).reduce(|found, next| found.or(next))
    }
}

/// Facts that are known about an endpoint and a model, for a person to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taught {
    /// Version of the endpoint, if it was queried and reports one.
    pub version: Option<String>,
    /// Features that requests omit since they were refused or have no effect: `system_role`,
    /// `stream_options`, `logprobs`, `probabilities`, `structure`.
    pub without: Vec<&'static str>,
    /// The way in which the model's native calls fail, so that tools are offered by prompt; `None` if no fault is
    /// known.
    pub native: Option<NativeFault>,
}

/// A function that is called with each fact that is learned about the endpoint.
pub(crate) type Learning = Arc<dyn Fn(Learned) + Send + Sync>;

/// Results of trials of native calls, from earlier runs of the program and this one.
pub(crate) struct TrialResults {
    learned: Mutex<Vec<Learned>>,
    /// Function that stores a result for the next run; without it no trials are made, since each start would repeat
    /// them.
    pub(crate) tell: Option<Learning>,
}

impl TrialResults {
    pub(crate) fn new(learned: Vec<Learned>, tell: Option<Learning>) -> Arc<Self> {
        Arc::new(TrialResults { learned: Mutex::new(learned), tell })
    }

    fn learned(&self) -> MutexGuard<'_, Vec<Learned>> {
        // A poisoned lock is used: nothing done under it can leave the list inconsistent.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NativeTrials for TrialResults {
    fn known(&self, model: &str, version: &str) -> Option<Option<NativeFault>> {
        Learned::found(self.learned().iter(), model, version)
    }

    fn keep(&self, model: &str, version: &str, fault: Option<NativeFault>) {
        let learned = Learned::new(model, version, fault);
        self.learned().push(learned.clone());
        if let Some(tell) = &self.tell {
            tell(learned);
        }
    }
}
