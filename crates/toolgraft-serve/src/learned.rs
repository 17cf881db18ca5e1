//! What is learned of an endpoint's models, for a program that keeps it beyond its own end.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use toolgraft::turn::NativeFault;

/// A model whose native calls fail behind a server of this version, so that it is asked by prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Learned {
    /// The model, as the endpoint names it.
    pub model: String,
    /// The version of what serves it, in its own words. Nothing is learned for good of a server that
    /// does not say it: a newer one may be mended.
    pub version: String,
    /// What they fail at.
    pub fault: NativeFault,
}

impl Learned {
    /// This model fails so behind this version.
    pub fn new(model: impl Into<String>, version: impl Into<String>, fault: NativeFault) -> Self {
        Learned { model: model.into(), version: version.into(), fault }
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
