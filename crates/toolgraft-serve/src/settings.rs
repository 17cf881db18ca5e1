//! What counts for one model of several behind a server.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

/// What counts for one model before what the server's configuration says for all; `None`
/// leaves it to that, and then to the model's profile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelSettings {
    /// How tools are offered.
    pub tools_mode: Option<ToolsMode>,
    /// Call syntax that is taught.
    pub dialect: Option<Dialect>,
    /// How much the prompt says beside the tools.
    pub style: Option<PromptStyle>,
    /// How the tools are listed.
    pub listing: Option<Listing>,
    /// Whether answers are held to a structure where one is due.
    pub constrain: Option<Constrain>,
    /// How it comes to a call where the model may as well answer.
    pub way: Option<Way>,
    /// Logarithm of the probability from which on a message is to be a call, for
    /// [`Way::Measured`].
    pub call_threshold: Option<f64>,
}

/// Asks for what counts for models by now; `None` where that is what counted before.
type Renew = dyn Fn() -> Option<HashMap<String, ModelSettings>> + Send + Sync;

/// What counts for each model that has settings of its own, by its name at the endpoint.
#[derive(Clone, Default)]
pub(crate) struct SettingsTable {
    known: Arc<RwLock<HashMap<String, ModelSettings>>>,
    renew: Option<Arc<Renew>>,
}

impl SettingsTable {
    /// Adds a model; a copy that was made before does not get it.
    pub(crate) fn insert(&mut self, model: String, settings: ModelSettings) {
        let mut known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.insert(model, settings);
        self.known = Arc::new(RwLock::new(known));
    }

    /// Asks there before each answer.
    pub(crate) fn renewed_by(mut self, renew: Arc<Renew>) -> Self {
        self.renew = Some(renew);
        self
    }

    /// What counts for a model by now; `None` where nothing is said.
    pub(crate) fn of(&self, model: &str) -> Option<ModelSettings> {
        if let Some(new) = self.renew.as_ref().and_then(|renew| renew()) {
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = new;
        }
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    }
}
