//! What turns with the same tools share.

use std::sync::Arc;

use super::config::TurnConfig;
use super::measured::Measured;
use super::native::Natives;
use super::round_model::RoundModel;
use super::voice::Voice;
use crate::catalog::Catalog;
use crate::parse::{self, Parser};
use crate::tool::Definition;
use crate::validate::Validator;

/// What turns with the same tools share.
pub struct Setup {
    pub(super) config: TurnConfig,
    pub(super) catalog: Arc<Catalog>,
    pub(super) validator: Arc<Validator>,
    pub(super) voice: Arc<dyn Voice>,
    pub(super) parser: Parser,
    pub(super) natives: Natives,
    /// What their requests have taught of the models' contexts.
    pub(super) measured: Measured,
}

impl Setup {
    /// What turns with these tools share.
    pub fn new(config: TurnConfig, validator: Arc<Validator>, voice: Arc<dyn Voice>) -> Self {
        let catalog = validator.catalog().clone();
        let parser = parser(&config, &RoundModel::own(&config), &catalog);
        let natives = Natives::new(voice.dialect(), config.limits, &catalog);
        Setup { config, catalog, validator, voice, parser, natives, measured: Measured::default() }
    }

    /// A parser for what this model says.
    pub(super) fn parser_for(&self, model: &RoundModel) -> Parser {
        if model.reads_like(&RoundModel::own(&self.config)) {
            self.parser.fork()
        } else {
            parser(&self.config, model, &self.catalog)
        }
    }

    /// What the turns say to the model.
    pub fn voice(&self) -> &dyn Voice {
        &*self.voice
    }

    /// The tools of the turns.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What a tool is now; nothing of one that is not listed.
    pub fn definition(&self, server: Option<&str>, tool: &str) -> Definition {
        self.catalog.find(server, tool).map(|found| Definition::of(found.tool)).unwrap_or_default()
    }

    /// How the turns go.
    pub fn config(&self) -> &TurnConfig {
        &self.config
    }
}

fn parser(config: &TurnConfig, model: &RoundModel, catalog: &Arc<Catalog>) -> Parser {
    Parser::new(parse::Config {
        dialects: config.dialects,
        catalog: Some(catalog.clone()),
        reasoning: model.reasoning,
        reasoning_calls: model.reasoning_calls,
        limits: config.limits,
    })
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("config", &self.config).finish_non_exhaustive()
    }
}
