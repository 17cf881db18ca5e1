//! Settings for single models of a server.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

/// Settings for one model, which take precedence over the server's configuration for all; `None`
/// means the configuration's value, and then the profile's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelSettings {
    /// The way in which tools are offered.
    pub tools_mode: Option<ToolsMode>,
    /// The call syntax that is taught.
    pub dialect: Option<Dialect>,
    /// The amount of text in the prompt apart from the tools.
    pub style: Option<PromptStyle>,
    /// The form in which the tools are listed.
    pub listing: Option<Listing>,
    /// The cases in which the endpoint is asked to constrain answers that must have a structure.
    pub constrain: Option<Constrain>,
    /// The way in which the choice between a call and a plain answer is made.
    pub way: Option<Way>,
    /// Logarithm of the probability from which on a message becomes a call, for [`Way::Measured`].
    pub call_threshold: Option<f64>,
}

/// Returns the current settings of all models; `None` if they are unchanged.
type Renew = dyn Fn() -> Option<HashMap<String, ModelSettings>> + Send + Sync;

/// The models that have settings of their own, by their names at the endpoint.
#[derive(Clone, Default)]
pub(crate) struct SettingsTable {
    known: Arc<RwLock<HashMap<String, ModelSettings>>>,
    renew: Option<Arc<Renew>>,
}

impl SettingsTable {
    /// Adds a model's settings. Copies made earlier are not changed.
    pub(crate) fn insert(&mut self, model: String, settings: ModelSettings) {
        let mut known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.insert(model, settings);
        self.known = Arc::new(RwLock::new(known));
    }

    /// Sets the function that is asked for current settings before each answer.
    pub(crate) fn renewed_by(mut self, renew: Arc<Renew>) -> Self {
        self.renew = Some(renew);
        self
    }

    /// Returns the current settings of a model; `None` if it has none.
    pub(crate) fn of(&self, model: &str) -> Option<ModelSettings> {
        if let Some(new) = self.renew.as_ref().and_then(|renew| renew()) {
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = new;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    }
}
