//! How a model is asked, by all that counts for it: its settings, the configuration, its profile.

use super::config::Config;
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way as CallWay};
use toolgraft::dialect::{Profile, PromptStyle, parameters_in_name};
use toolgraft::message::Reads;
use toolgraft::model::ModelInfo;
use toolgraft::prompt::{Listing, Options};
use toolgraft::tools::ToolsMode;

/// How a model is asked, by all that counts for it. What is the same for two models is prepared
/// once for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Way {
    /// Name of its profile, which no other has.
    pub(super) profile: &'static str,
    /// How tools are offered.
    pub(super) tools: ToolsMode,
    pub(super) dialect: Dialect,
    /// The dialect that was derived from the model's chat template, which is read beside all others.
    pub(super) derived: Option<Dialect>,
    pub(super) style: PromptStyle,
    pub(super) listing: Listing,
    pub(super) constrain: Constrain,
    /// How it comes to a call.
    pub(super) calls: CallWay,
    /// The bits of the threshold for that.
    pub(super) threshold: Option<u64>,
    /// Tokens that the model's context has, where that counts for the list of tools.
    context: Option<usize>,
    /// What it reads beside text.
    pub(super) reads: Reads,
}

impl Way {
    /// Whether the name of the model leaves open how large it is, and its style depends on that.
    pub(super) fn depends_on_size(config: &Config, model: &str) -> bool {
        let own = config.models.of(model).and_then(|own| own.style).or(config.style);
        let said = own.or(config.profile_of(model).style).is_some();
        !said && parameters_in_name(model).is_none()
    }

    /// Whether the endpoint is to be asked if it takes tools for this model.
    pub(super) fn asks_for_tools(config: &Config, model: &str) -> bool {
        let own = config.models.of(model).and_then(|own| own.tools_mode);
        own.unwrap_or(config.tools_mode) == ToolsMode::Auto && config.profile_of(model).native_tools != Some(false)
    }

    /// The way of the model that the client names, or, where the endpoint has another one for it,
    /// of that.
    pub(super) fn of(config: &Config, model: &str, served: Option<&ModelInfo>, profile: &'static Profile) -> Self {
        let known = [Some(model), served.map(|served| served.id.as_str())];
        let own = known.into_iter().flatten().find_map(|name| config.models.of(name)).unwrap_or_default();
        let (name, size) = served.map_or((model, None), |served| (&*served.id, served.parameters));
        let style = own.style.or(config.style).unwrap_or_else(|| profile.style_for(name, size));
        Way {
            profile: profile.name,
            tools: own.tools_mode.unwrap_or(config.tools_mode),
            dialect: own.dialect.or(config.dialect).unwrap_or(profile.dialect),
            derived: served.and_then(|served| served.dialect).filter(|native| matches!(native, Dialect::Loaded(_))),
            style,
            listing: own.listing.unwrap_or(config.prompt.listing),
            constrain: own.constrain.unwrap_or(config.constrain),
            calls: own.way.unwrap_or(config.way).for_style(style),
            threshold: own.call_threshold.or(config.call_threshold).map(f64::to_bits),
            context: None,
            reads: config.reads,
        }
    }

    /// The same for a model that reads this too.
    pub(super) fn reading(self, said: Reads) -> Self {
        let reads = self.reads.with_images(self.reads.images || said.images);
        Way { reads: reads.with_audio(reads.audio || said.audio), ..self }
    }

    /// The same for a model with a context of so many tokens.
    pub(super) fn within(self, context: Option<usize>) -> Self {
        Way { context, ..self }
    }

    /// The options of the prompt, with what of them is the same for all models.
    pub(super) fn options(self, config: &Config, profile: &Profile) -> Options {
        let options = config.prompt.clone().with_dialect(self.dialect).with_style(self.style);
        options.with_listing(self.listing).with_lang(profile.lang).within(self.context)
    }
}
