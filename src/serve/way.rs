//! How a model is asked, by all that counts for it: its settings, the configuration, its profile.

use super::config::Config;
use crate::constrain::Constrain;
use crate::dialect::{Dialect, Profile, PromptStyle};
use crate::prompt::{Listing, Options};

/// How a model is asked, by all that counts for it. What is the same for two models is prepared
/// once for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Way {
    /// Name of its profile, which no other has.
    pub(super) profile: &'static str,
    pub(super) dialect: Dialect,
    pub(super) style: PromptStyle,
    pub(super) listing: Listing,
    pub(super) constrain: Constrain,
}

impl Way {
    pub(super) fn of(config: &Config, model: &str, profile: &'static Profile) -> Self {
        let own = config.models.get(model).copied().unwrap_or_default();
        Way {
            profile: profile.name,
            dialect: own.dialect.or(config.dialect).unwrap_or(profile.dialect),
            style: own.style.or(config.style).unwrap_or_else(|| profile.style_for(model, None)),
            listing: own.listing.unwrap_or(config.prompt.listing),
            constrain: own.constrain.unwrap_or(config.constrain),
        }
    }

    /// The options of the prompt, with what of them is the same for all models.
    pub(super) fn options(self, config: &Config, profile: &Profile) -> Options {
        Options {
            dialect: self.dialect,
            style: self.style,
            listing: self.listing,
            lang: profile.lang,
            ..config.prompt.clone()
        }
    }
}
