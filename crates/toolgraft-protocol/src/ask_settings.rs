//! The settings with which a model is asked: combined from its own settings, the configuration and
//! its profile.

use crate::settings::Settings;
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Profile, PromptStyle, parameters_in_name};
use toolgraft::message::Reads;
use toolgraft::prompt::{Listing, Options};
use toolgraft::tools::ToolsMode;

/// A model as the endpoint lists it.
pub struct ServedModel {
    /// Its name.
    pub id: String,
    /// Number of its parameters, if known.
    pub parameters: Option<u64>,
    /// The call syntax in its chat template, if known.
    pub dialect: Option<Dialect>,
}

/// Facts about a request's model from the endpoint, as far as they matter for this request.
#[derive(Default)]
pub struct ModelFacts {
    /// The model that the endpoint serves under the name, where the name alone does not tell its
    /// size.
    pub served: Option<ServedModel>,
    /// `true` if the endpoint takes tools for this model, `false` if not, `None` if it was not
    /// asked or does not say.
    pub takes_tools: Option<bool>,
    /// Media that the model reads, as far as the endpoint reports; asked only if results of the
    /// toolbox may hold media.
    pub reads: Reads,
    /// Size of the model's context in tokens; asked only if the list of tools is long.
    pub context: Option<usize>,
}

/// The settings with which a model is asked. Two models with the same settings share prepared
/// lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AskSettings {
    /// Name of its profile, which is unique.
    pub(crate) profile: &'static str,
    /// The way in which tools are offered.
    pub(crate) tools: ToolsMode,
    pub(crate) dialect: Dialect,
    /// The dialect derived from the model's chat template, which is read in addition to all others.
    pub(crate) derived: Option<Dialect>,
    pub(crate) style: PromptStyle,
    pub(crate) listing: Listing,
    pub(crate) constrain: Constrain,
    /// The way in which the choice between a call and a plain answer is made.
    pub(crate) calls: Way,
    /// The bits of the threshold for that, so that the type can be hashed.
    pub(crate) threshold: Option<u64>,
    /// Tokens of the model's context, if that matters for the list of tools.
    context: Option<usize>,
    /// Media that the model reads.
    pub(crate) reads: Reads,
}

impl AskSettings {
    /// Returns `true` if the prompt's style depends on the model's size and its name does not tell
    /// that.
    pub fn depends_on_size(settings: &Settings, model: &str) -> bool {
        let own = settings.settings_of(model).and_then(|own| own.style).or(settings.style);
        let said = own.or(settings.profile_of(model).style).is_some();
        !said && parameters_in_name(model).is_none()
    }

    /// Returns `true` if the endpoint must be asked whether it takes tools for this model.
    pub fn asks_for_tools(settings: &Settings, model: &str) -> bool {
        let own = settings.settings_of(model).and_then(|own| own.tools_mode);
        // A profile that knows that native calls fail needs no question.
        own.unwrap_or(settings.tools_mode) == ToolsMode::Auto && settings.profile_of(model).native_tools != Some(false)
    }

    /// Returns the settings for the model that the client names, or for the one that the endpoint
    /// serves in its place.
    pub(crate) fn of(settings: &Settings, model: &str, facts: &ModelFacts, profile: &'static Profile) -> Self {
        let served = facts.served.as_ref();
        // The configuration can keep media from a model that reads them, and name kinds that the endpoint
        // does not report.
        let said = if settings.hands_on_media { facts.reads } else { Reads::default() };
        let reads = settings.reads.with_images(settings.reads.images || said.images);
        // Settings under the client's name for the model come before those of the model that is served under
        // it.
        let known = [Some(model), served.map(|served| served.id.as_str())];
        let own = known.into_iter().flatten().find_map(|name| settings.settings_of(name)).unwrap_or_default();
        let (name, size) = served.map_or((model, None), |served| (&*served.id, served.parameters));
        let style = own.style.or(settings.style).unwrap_or_else(|| profile.style_for(name, size));
        AskSettings {
            profile: profile.name,
            tools: own.tools_mode.unwrap_or(settings.tools_mode),
            dialect: own.dialect.or(settings.dialect).unwrap_or(profile.dialect),
            // All known dialects are read anyway, so only one that was made from the template has to be
            // added.
            derived: served.and_then(|served| served.dialect).filter(|native| matches!(native, Dialect::Loaded(_))),
            style,
            listing: own.listing.unwrap_or(settings.prompt.listing),
            constrain: own.constrain.unwrap_or(settings.constrain),
            calls: own.way.unwrap_or(settings.way).for_style(style),
            threshold: own.call_threshold.or(settings.call_threshold).map(f64::to_bits),
            context: facts.context,
            reads: reads.with_audio(reads.audio || said.audio),
        }
    }

    /// Returns the options of the prompt for these settings.
    pub(crate) fn options(self, settings: &Settings, profile: &Profile) -> Options {
        let options = settings.prompt.clone().with_dialect(self.dialect).with_style(self.style);
        options.with_listing(self.listing).with_lang(settings.lang.unwrap_or(profile.lang)).within(self.context)
    }
}
