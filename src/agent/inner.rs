//! State that the turns of an agent share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::model::Model;
use crate::prompt::{Options, PromptError};
use crate::route::Toolbox;
use crate::tools;
use crate::tools::Catalog;
use crate::turn::{KnownWays, PromptWording, Setup, TurnConfig, Wording};
use crate::validate::{OutputSchema, Validator};

/// Function that creates the texts of turns for the tools of a catalog.
pub(super) type MakeWording = Box<dyn Fn(&Arc<Catalog>) -> Arc<dyn Wording> + Send + Sync>;

/// The state that the turns of an agent share.
pub(super) struct AgentInner {
    pub(super) model: Arc<dyn Model>,
    pub(super) toolbox: Arc<dyn Toolbox>,
    pub(super) config: TurnConfig,
    pub(super) call_timeout: Option<Duration>,
    pub(super) prompt: Options,
    /// Patterns of tools that are display-only in addition to those marked so in the catalog.
    pub(super) display_only: Vec<String>,
    /// The schema that every answer must match, if any.
    pub(super) output: Option<Arc<OutputSchema>>,
    /// Function that creates the texts for the model; `None` for those of the prompt templates.
    pub(super) wording: Option<MakeWording>,
    /// Features that the endpoint is known not to support, whatever the tools are.
    pub(super) ways: Arc<KnownWays>,
    /// The catalog and the setup of the last turn, reused as long as the catalog is the same.
    pub(super) setup: Mutex<Option<(Arc<Catalog>, Arc<Setup>)>>,
}

impl AgentInner {
    pub(super) fn setup(&self) -> Result<Arc<Setup>, PromptError> {
        let offered = self.toolbox.catalog();
        let mut last = self.setup.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, setup)) = &*last
            && Arc::ptr_eq(known, &offered)
        {
            return Ok(setup.clone());
        }
        let catalog = self.prompt.callable(self.marked(offered.clone()));
        let wording: Arc<dyn Wording> = match &self.wording {
            Some(make) => make(&catalog),
            None => Arc::new(PromptWording::new(catalog.clone(), &self.prompt, &self.config)?),
        };
        let validator = Arc::new(Validator::new(catalog));
        let mut config = self.config.clone();
        if let Some((_, before)) = &*last {
            // The earlier policy remembers each tool's definition from the time when it first appeared.
            config.policy.clone_from(&before.config().policy);
        }
        let setup = Arc::new(Setup::new(config, validator, wording).knowing(self.ways.clone()));
        *last = Some((offered, setup.clone()));
        Ok(setup)
    }

    /// Returns the catalog, in which the tools that [`AgentInner::display_only`] matches are marked display-only.
    fn marked(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        if self.display_only.is_empty() {
            return catalog;
        }
        let mut servers = catalog.servers().to_vec();
        for tool in servers.iter_mut().flat_map(|server| &mut server.tools) {
            let shown = |pattern: &String| tools::matches(pattern, tool.server.as_deref(), &tool.name);
            tool.display_only |= self.display_only.iter().any(shown);
        }
        Arc::new(Catalog::new(servers))
    }
}
