//! The setup that turns with the same tools share.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::config::{RoundModel, TurnConfig};
use super::contents::Contents;
use super::decide::{KnownWays, Openers};
use super::measured::Measured;
use super::native::Natives;
use super::wording::{NativeWording, Wording};
use crate::constrain::{Constrain, Constraint, MAX_CALLS, Narrowed, Thinking};
use crate::dialect::{Dialect, DialectSet};
use crate::parse::{self, Parser};
use crate::tools::{Catalog, Definition, ToolChoice, ToolsMode};
use crate::validate::Validator;

/// Entry of a cache: tool choice, `Thinking` and maximum number of calls, with the constraint on calls for them.
type KnownCalls = ((ToolChoice, Thinking, usize), Option<Arc<Constraint>>);

/// Configuration, tools, texts and parser that turns with the same tools share.
pub struct Setup {
    pub(super) config: TurnConfig,
    pub(super) catalog: Arc<Catalog>,
    pub(super) validator: Arc<Validator>,
    wording: Arc<dyn Wording>,
    /// The wording for requests that carry the tools.
    native_wording: Arc<dyn Wording>,
    parser: Parser,
    pub(super) natives: Natives,
    /// Knowledge about the models' contexts, from earlier requests.
    pub(super) measured: Measured,
    /// Cached constraints for answers that must be calls.
    constraints: Mutex<Vec<KnownCalls>>,
    begun_calls: OnceLock<Option<Arc<Constraint>>>,
    openers: OnceLock<Openers>,
    /// Contents of the instructions and descriptions of each server, in the order of the catalog.
    pub(super) server_texts: OnceLock<Vec<Contents>>,
    /// Features that the endpoint is known not to support.
    ways: Arc<KnownWays>,
}

impl Setup {
    /// Creates the setup for turns with the tools of the validator's catalog.
    pub fn new(mut config: TurnConfig, validator: Arc<Validator>, wording: Arc<dyn Wording>) -> Self {
        let catalog = validator.catalog().clone();
        config.policy = config.policy.in_catalog(&catalog);
        // A program that teaches a dialect of its own wants it to be parsed; all others are parsed by default.
        if matches!(wording.dialect(), Dialect::Loaded(_)) && config.dialects != DialectSet::NONE {
            config.dialects = config.dialects.with(wording.dialect());
        }
        let parser = parser(&config, &RoundModel::own(&config), &catalog);
        let natives = Natives::new(wording.dialect(), config.limits, &catalog);
        let native_wording = wording.native().unwrap_or_else(|| Arc::new(NativeWording(wording.clone())));
        let measured = Measured::new(config.context_remedy.clone());
        let (constraints, begun_calls) = (Mutex::default(), OnceLock::new());
        Setup {
            config,
            catalog,
            validator,
            wording,
            native_wording,
            parser,
            natives,
            measured,
            constraints,
            begun_calls,
            openers: OnceLock::new(),
            server_texts: OnceLock::new(),
            ways: Arc::default(),
        }
    }

    /// Sets the features that the endpoint is known not to support; this knowledge is shared with other setups.
    pub fn knowing(mut self, ways: Arc<KnownWays>) -> Self {
        self.ways = ways;
        self
    }

    /// Returns the features that the endpoint is known not to support.
    pub(super) fn ways(&self) -> &KnownWays {
        &self.ways
    }

    /// Returns `true` if requests to this model, which the endpoint knows by this name, carry the tools; `None` if the
    /// endpoint has to be asked ([`takes_tools`](Self::takes_tools)).
    pub fn natively(&self, model: &RoundModel, name: &Option<String>) -> Option<bool> {
        match self.config.tools_mode {
            _ if self.natives.is_empty() => Some(false),
            ToolsMode::Prompt => Some(false),
            ToolsMode::Native => Some(true),
            ToolsMode::Auto if model.native_tools == Some(false) => Some(false),
            ToolsMode::Auto if self.ways.missing(name).native.is_some() => Some(false),
            ToolsMode::Auto => None,
        }
    }

    /// Returns `true` if requests to this model carry the tools, by the endpoint's report
    /// ([`RoundModel::takes_tools`]). They do not if the tools exceed the budget.
    pub fn takes_tools(&self, model: &RoundModel, said: Option<bool>) -> bool {
        let is_over_budget = || self.native_wording.offered().is_some_and(|offered| offered.listed.is_over_budget());
        model.takes_tools(said) && !is_over_budget()
    }

    /// Returns the texts with which a call in the taught dialect begins.
    pub(super) fn openers(&self) -> &Openers {
        let dialect = self.wording.dialect();
        self.openers.get_or_init(|| Openers::new(dialect, &self.catalog, &self.config.reasoning_marks))
    }

    /// Returns the constraint for an answer of one to `most` calls, but not more than may run, in the forms
    /// that the parser reads; `None` if no tool is allowed or the parser reads no such form.
    pub(super) fn calls(&self, choice: &ToolChoice, thinking: Thinking, most: usize) -> Option<Arc<Constraint>> {
        let most = most.min(self.config.max_calls.unwrap_or(MAX_CALLS));
        let mut known = self.constraints.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (choice.clone(), thinking, most);
        if let Some((_, found)) = known.iter().find(|(known, _)| *known == key) {
            return found.clone();
        }
        let dialect = self.wording.dialect();
        let required = self.config.constrain == Constrain::Require;
        let found = Constraint::calls(dialect, &self.catalog, choice, thinking, most)
            .and_then(|constraint| constraint.read_by(self.config.dialects, dialect))
            .map(|constraint| if required { constraint.require() } else { constraint })
            .map(Arc::new);
        known.push((key, found.clone()));
        found
    }

    /// Returns `true` if the narrowed choice allows any offered tool.
    pub(super) fn admits(&self, narrowed: &Narrowed) -> bool {
        self.catalog.offered().any(|tool| narrowed.admits(tool))
    }

    /// Returns the constraint for one call that the narrowed choice allows, in the forms that the parser reads.
    pub(super) fn narrowed(&self, narrowed: &Narrowed, thinking: Thinking) -> Option<Arc<Constraint>> {
        let dialect = self.wording.dialect();
        let found = Constraint::narrowed(dialect, &self.catalog, narrowed, thinking)?;
        found.read_by(self.config.dialects, dialect).map(Arc::new)
    }

    /// Returns the constraint for calls that the model begins by itself.
    pub(super) fn begun_calls(&self) -> Option<Arc<Constraint>> {
        let found = || {
            let dialect = self.wording.dialect();
            let constraint = Constraint::begun_calls(dialect, &self.catalog)?;
            constraint.read_by(self.config.dialects, dialect).map(Arc::new)
        };
        self.begun_calls.get_or_init(found).clone()
    }

    /// Returns a parser for the output of this model.
    pub(super) fn parser_for(&self, model: &RoundModel) -> Parser {
        // The tables of the parser are shared; only a model that is read otherwise needs its own.
        if model.reads_like(&RoundModel::own(&self.config)) {
            self.parser.fork()
        } else {
            parser(&self.config, model, &self.catalog)
        }
    }

    /// Returns the wording for prompts that describe the tools.
    pub fn wording(&self) -> &dyn Wording {
        &*self.wording
    }

    /// Returns the wording for requests that carry the tools.
    pub fn native_wording(&self) -> &dyn Wording {
        &*self.native_wording
    }

    /// Returns the approximate number of bytes of memory that the compiled schemas of the tools take.
    pub fn validator_weight(&self) -> usize {
        self.validator.weight()
    }

    /// Returns the catalog of the turns' tools.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns the current definition of a tool; an empty one if the catalog does not have the tool.
    pub fn definition(&self, server: Option<&str>, tool: &str) -> Definition {
        self.catalog.find(server, tool).map(|found| Definition::of(found.tool)).unwrap_or_default()
    }

    /// Returns the configuration of the turns.
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
        reasoning_marks: model.reasoning_marks.clone(),
        fenced_calls: config.fenced_calls,
        stop: config.stop.clone(),
        limits: config.limits,
    })
}

crate::message::opaque_debug!(Setup, self => config: self.config);
