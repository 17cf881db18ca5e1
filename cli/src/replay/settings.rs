//! The settings by which a recording is read: those of the command line, then of the recording, then of the
//! profile of its model, or of the defaults where it names none.

use std::sync::Arc;

use crate::settings;
use crate::settings::profiles::{dialect_file, profile_of};
use toolgraft::Catalog;
use toolgraft::Dialect;
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::event::OwnedEvent;
use toolgraft::message::{ReasoningCalls, ReasoningMode};
use toolgraft::parse::Config;
use toolgraft::transcript::{Session, import::Format};
use toolgraft::validate::Validator;

/// Settings of the command line, which override the recording's.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct Overrides {
    /// Call syntaxes to read: auto, or names joined by commas
    #[arg(long, value_name = "NAMES")]
    pub(super) dialect: Option<DialectSet>,

    /// File with a call syntax of your own to read, too (docs/dialects.md); may be given several times
    #[arg(long, value_name = "FILE", value_parser = dialect_file, hide_short_help = true)]
    pub(super) dialect_file: Vec<Dialect>,

    /// Calls in the reasoning: ignore, last_resort, allow
    #[arg(long, value_name = "POLICY", hide_short_help = true)]
    pub(super) reasoning_calls: Option<ReasoningCalls>,

    /// The settings of `--set`.
    #[arg(skip)]
    pub(super) said: settings::Settings,

    /// Read it with this model profile, or that of this model
    #[arg(long, value_name = "NAME|MODEL", value_parser = profile_of, hide_short_help = true)]
    pub(super) profile: Option<&'static Profile>,
}

impl Overrides {
    /// Returns the dialects to read, where a recording says these.
    fn dialects(&self, recorded: Option<DialectSet>) -> DialectSet {
        let dialects = self.dialect.or(recorded).unwrap_or_default();
        self.dialect_file.iter().fold(dialects, |set, dialect| set.with(*dialect))
    }
}

/// The settings by which one round is read.
#[derive(Debug)]
pub(super) struct Settings {
    /// Configuration of the parser.
    pub(super) config: Config,
    /// Name of the profile in force.
    pub(super) profile: Option<&'static str>,
    /// Checks arguments against the tools' schemas.
    pub(super) validator: Validator,
}

impl Settings {
    /// Settings for a round with these tools.
    pub(super) fn new(
        (over, usual): (&Overrides, Option<&'static Profile>),
        session: &Session,
        format: Format,
        catalog: Option<Arc<Catalog>>,
    ) -> Self {
        // A profile on the command line also wins over recorded settings.
        let asked = over.profile.is_some();
        let (profile, mut reasoning, mut reasoning_calls) = if asked {
            (over.profile, None, None)
        } else {
            let recorded = session.profile.as_deref().and_then(Profile::named);
            let profile = recorded.or_else(|| session.model.as_deref().map(Profile::for_model)).or(usual);
            (profile, session.reasoning, session.reasoning_calls)
        };
        if let Some(profile) = profile {
            // Whether the chat template wrote the opening tag is not known of a
            // foreign file: there, the tags decide.
            let foreign = format != Format::Recording && !asked;
            let mode = if foreign { ReasoningMode::Auto } else { profile.reasoning };
            reasoning = reasoning.or(Some(mode));
            reasoning_calls = reasoning_calls.or(Some(profile.reasoning_calls));
        }
        let validator = Validator::new(catalog.clone().unwrap_or_default());
        let config = Config::default()
            .with_dialects(over.dialects(session.dialect))
            .with_catalog(catalog)
            .with_reasoning(over.said.reasoning.or(reasoning).unwrap_or_default())
            .with_reasoning_calls(over.reasoning_calls.or(reasoning_calls).unwrap_or_default())
            .with_reasoning_marks(profile.map(Profile::marks).unwrap_or_default())
            .with_fenced_calls(over.said.fenced_calls.unwrap_or_default())
            .with_stop(over.said.stop.clone());
        Settings { config, profile: profile.map(|p| p.name), validator }
    }

    /// Gives an event its final verdict: a call whose arguments are refused is rejected.
    pub(super) fn settle(&self, event: &mut OwnedEvent) {
        let OwnedEvent::CallEnd { call, rejected, raw, .. } = event else { return };
        let Some(found) = call.take() else { return };
        match self.validator.check(*found, raw) {
            Ok(checked) => *call = Some(Box::new(checked)),
            Err(refused) => *rejected = Some(refused),
        }
    }
}
