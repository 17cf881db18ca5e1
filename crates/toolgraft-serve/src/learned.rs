//! What is learned of an endpoint's models, for a program that keeps it beyond its own end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use toolgraft::model::{NativeFault, NativeTrials};

/// Whether a model's native calls work behind a server of this version; where they do not it is asked by
/// prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Learned {
    /// The model, as the endpoint names it.
    pub model: String,
    /// The version of what serves it, in its own words. Nothing is learned for good of a server that
    /// does not say it: a newer one may be mended.
    pub version: String,
    /// What they fail at; `None` where one was tried and works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<NativeFault>,
}

impl Learned {
    /// This model fails so behind this version, or does not fail.
    pub fn new(model: impl Into<String>, version: impl Into<String>, fault: Option<NativeFault>) -> Self {
        Learned { model: model.into(), version: version.into(), fault }
    }

    /// What was found of this model behind this version: `Some(None)` where its native calls work. A fault that
    /// came later than a trial counts.
    pub fn found<'l>(
        learned: impl IntoIterator<Item = &'l Learned>,
        model: &str,
        version: &str,
    ) -> Option<Option<NativeFault>> {
        let its = learned.into_iter().filter(|learned| learned.model == model && learned.version == version);
        its.map(|learned| learned.fault).reduce(|found, next| found.or(next))
    }
}

/// What an endpoint has taught of a model, for a person to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taught {
    /// The version of what serves it, where it was asked and says it.
    pub version: Option<String>,
    /// What requests go without since it was refused, or is not given: `system_role`,
    /// `stream_options`, `logprobs`, `probabilities`, `structure`.
    pub without: Vec<&'static str>,
    /// What native calls fail at, so that tools are offered by prompt.
    pub native: Option<NativeFault>,
}

/// Takes what is learned.
pub(super) type Learning = Arc<dyn Fn(Learned) + Send + Sync>;

/// What was learned before and now.
pub(super) struct Known {
    learned: Mutex<Vec<Learned>>,
    tell: Option<Learning>,
}

impl Known {
    pub(super) fn new(learned: Vec<Learned>, tell: Option<Learning>) -> Arc<Self> {
        Arc::new(Known { learned: Mutex::new(learned), tell })
    }

    /// Whether somebody keeps what is found, so that it is worth a trial.
    pub(super) fn is_kept(&self) -> bool {
        self.tell.is_some()
    }

    fn learned(&self) -> MutexGuard<'_, Vec<Learned>> {
        // Nothing is done under the lock that could panic half-way.
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NativeTrials for Known {
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
