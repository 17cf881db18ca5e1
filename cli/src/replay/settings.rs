//! The settings by which a recording is read: those of the command line, then of the recording, then of the
//! profile of its model, or of the defaults where it names none.

use std::sync::Arc;

use crate::reading::ReadingArgs;
use toolgraft::Catalog;
use toolgraft::dialect::Profile;
use toolgraft::event::OwnedEvent;
use toolgraft::message::ReasoningMode;
use toolgraft::parse::Config;
use toolgraft::transcript::{Session, import::Format};
use toolgraft::validate::Validator;

/// The settings with which one round is parsed.
#[derive(Debug)]
pub(super) struct RoundSettings {
    /// Configuration of the parser.
    pub(super) config: Config,
    /// Name of the profile in use; `None` if there is none.
    pub(super) profile: Option<&'static str>,
    /// Validator of arguments against the tools' schemas.
    pub(super) validator: Validator,
}

impl RoundSettings {
    /// Returns the settings for a round with these tools: those of the options, then of the recording, then of the
    /// profile.
    pub(super) fn new(reading: &ReadingArgs, session: &Session, format: Format, catalog: Option<Arc<Catalog>>) -> Self {
        // A profile on the command line also wins over recorded settings.
        let asked = reading.profile.is_some();
        let (profile, mut reasoning, mut reasoning_calls) = if asked {
            (reading.profile, None, None)
        } else {
            let recorded = session.profile.as_deref().and_then(Profile::named);
            let profile = recorded.or_else(|| session.model.as_deref().map(Profile::for_model)).or(reading.usual);
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
        let config = reading.config(session.dialect, profile, (reasoning, reasoning_calls)).with_catalog(catalog);
        RoundSettings { config, profile: profile.map(|p| p.name), validator }
    }

    /// Validates the call of an event: a call with invalid arguments is replaced by a rejected call.
    pub(super) fn settle(&self, event: &mut OwnedEvent) {
        let OwnedEvent::CallEnd { call, rejected, raw, .. } = event else { return };
        let Some(found) = call.take() else { return };
        match self.validator.check(*found, raw) {
            Ok(checked) => *call = Some(Box::new(checked)),
            Err(refused) => *rejected = Some(refused),
        }
    }
}
