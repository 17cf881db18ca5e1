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
    /// Name of the model at the endpoint.
    pub id: String,
    /// Number of the model's parameters, if known.
    pub parameters: Option<u64>,
    /// Dialect (call syntax) of the model's chat template, if known.
    pub dialect: Option<Dialect>,
}

/// Facts about a request's model from the endpoint, as far as they matter for this request.
#[derive(Default)]
pub struct ModelFacts {
    /// The model that the endpoint serves under the requested name; queried only if the prompt's style depends on the
    /// model's size and the name does not contain it.
    pub served: Option<ServedModel>,
    /// `true` if the endpoint accepts tools for this model, `false` if not, `None` if it was not queried or does not
    /// report it.
    pub takes_tools: Option<bool>,
    /// Media (images, audio) that the model accepts, as the endpoint reports them; queried only if results of the
    /// toolbox may hold media.
    pub reads: Reads,
    /// Size of the model's context in tokens; queried only if the list of tools is long.
    pub context: Option<usize>,
}

/// Settings of the requests to one model. Models with equal settings share prepared lists of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AskSettings {
    /// Name of the model's profile, which is unique.
    pub(crate) profile: &'static str,
    /// Mode in which tools are offered to the model: natively, in the prompt, or chosen automatically.
    pub(crate) tools: ToolsMode,
    pub(crate) dialect: Dialect,
    /// Dialect made from the model's chat template, which the parser reads in addition to all built-in ones; `None`
    /// if the template has a built-in dialect or none.
    pub(crate) derived: Option<Dialect>,
    pub(crate) style: PromptStyle,
    pub(crate) listing: Listing,
    pub(crate) constrain: Constrain,
    /// Strategy that decides whether the model calls a tool or answers in plain text.
    pub(crate) calls: Way,
    /// Bits of the `f64` threshold of `Way::Measured`, since an `f64` cannot be hashed; `None` for the default.
    pub(crate) threshold: Option<u64>,
    /// Size of the model's context in tokens, if it limits the list of tools.
    context: Option<usize>,
    /// Media (images, audio) that the model gets in results.
    pub(crate) reads: Reads,
}

impl AskSettings {
    /// Returns `true` if the prompt's style depends on the model's size and the model's name does not contain the
    /// size.
    pub fn depends_on_size(settings: &Settings, model: &str) -> bool {
        let own = settings.settings_of(model).and_then(|own| own.style).or(settings.style);
        let said = own.or(settings.profile_of(model).style).is_some();
        !said && parameters_in_name(model).is_none()
    }

    /// Returns `true` if the endpoint must be queried whether it accepts tools for this model.
    pub fn asks_for_tools(settings: &Settings, model: &str) -> bool {
        let own = settings.settings_of(model).and_then(|own| own.tools_mode);
        // A profile that knows that native calls fail needs no question.
        own.unwrap_or(settings.tools_mode) == ToolsMode::Auto && settings.profile_of(model).native_tools != Some(false)
    }

    /// Returns the settings of requests to the model that the client names; size and template are those of the model
    /// that the endpoint serves under that name.
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

    /// Returns the options of the model's prompt that follow from these settings.
    pub(crate) fn options(self, settings: &Settings, profile: &Profile) -> Options {
        let options = settings.prompt.clone().with_dialect(self.dialect).with_style(self.style);
        options.with_listing(self.listing).with_lang(settings.lang.unwrap_or(profile.lang)).within(self.context)
    }
}
