//! The settings of a server that have nothing to do with HTTP: how its models are asked, for all of them and for single
//! ones, and the toolbox that it offers.

use std::sync::Arc;

use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Lang, Profile, PromptStyle};
use toolgraft::message::Reads;
use toolgraft::prompt::{Listing, Options};
use toolgraft::route::Toolbox;
use toolgraft::tools::{Decision, ToolsMode};
use toolgraft::turn::{MAX_CORRECTIONS, MAX_REPEATS, MAX_ROUNDS, MAX_SAME_RESULTS};
use toolgraft::{Dialect, Policy};

use crate::permissions::Permissions;
use crate::text_cache::TextCache;

/// Suffix of the model names under which the toolbox's tools are offered.
pub const WITH_TOOLS: &str = "+tools";

/// Returns a model's name without the suffix [`WITH_TOOLS`].
pub fn without_tools(name: &str) -> &str {
    name.strip_suffix(WITH_TOOLS).unwrap_or(name)
}

/// Default maximum number of calls of the toolbox for one answer.
pub const MAX_OWN_CALLS: usize = 64;

/// Settings for one model, which take precedence over the server's configuration for all; `None`
/// means the configuration's value, and then the profile's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelSettings {
    /// Mode in which tools are offered to the model: natively, in the prompt, or chosen automatically.
    pub tools_mode: Option<ToolsMode>,
    /// Dialect (call syntax) that the prompt teaches the model.
    pub dialect: Option<Dialect>,
    /// Style of the prompt: the amount of its text apart from the tools.
    pub style: Option<PromptStyle>,
    /// Form in which the prompt lists the tools.
    pub listing: Option<Listing>,
    /// Mode that says when the endpoint is asked to constrain an answer that must have a structure.
    pub constrain: Option<Constrain>,
    /// Strategy that decides whether the model calls a tool or answers in plain text.
    pub way: Option<Way>,
    /// Logarithm of the probability of a call from which on a message becomes a call, for [`Way::Measured`].
    pub call_threshold: Option<f64>,
}

/// Function that returns the settings of the model with this name; `None` if it has none of its own.
pub type ModelTable = Arc<dyn Fn(&str) -> Option<ModelSettings> + Send + Sync>;

/// Makes the settings from a table; a row has the field, its type and its default.
macro_rules! settings {
    ($($(#[$about:meta])+ $field:ident: $type:ty = $default:expr;)+) => {
        /// The settings of a server; `Config` of `toolgraft-serve` has a method for each. Clones share the permissions
        /// and the cache of rendered texts.
        #[derive(Clone)]
        pub struct Settings { $($(#[$about])+ pub $field: $type,)+ }

        impl Default for Settings {
            fn default() -> Self {
                Settings { $($field: $default,)+ }
            }
        }
    };
}

settings! {
    /// The model that answers every request, whatever model a client names.
    model: Option<String> = None;
    /// Function that returns the settings of single models by their name.
    models: Option<ModelTable> = None;
    /// The profile of every model, instead of the one chosen by its name.
    profile: Option<&'static Profile> = None;
    /// Dialect (call syntax) that the prompt teaches the model, instead of the profile's.
    dialect: Option<Dialect> = None;
    /// Style of the prompt: the amount of its text apart from the tools.
    style: Option<PromptStyle> = None;
    /// Options of the prompt, such as the form of its list of tools; their language, dialect and style are ignored.
    prompt: Options = Options::default();
    /// The language of the prompt and of messages to the model, instead of the profile's.
    lang: Option<Lang> = None;
    /// Mode in which tools are offered to the model: natively, in the prompt, or chosen automatically.
    tools_mode: ToolsMode = ToolsMode::Auto;
    /// Mode that says when the endpoint is asked to constrain an answer that must have a structure.
    constrain: Constrain = Constrain::Auto;
    /// Strategy that decides whether the model calls a tool or answers in plain text.
    way: Way = Way::Auto;
    /// Logarithm of the probability of a call from which on a message becomes a call, for [`Way::Measured`].
    call_threshold: Option<f64> = None;
    /// The permissions of calls of the toolbox.
    policy: Permissions = Permissions::of(Policy::new(Decision::Deny));
    /// Media that the model reads in addition to those that the endpoint reports.
    reads: Reads = Reads::default();
    /// `true` if the model also gets the kinds of media that the endpoint reports that it reads.
    hands_on_media: bool = true;
    /// `true` if an invalid call that the model does not correct ends the answer with an error.
    strict_calls: bool = false;
    /// Maximum number of requests to the endpoint for one answer.
    max_rounds: u32 = MAX_ROUNDS;
    /// Maximum number of rounds in a row that only correct a mistake.
    max_corrections: u32 = MAX_CORRECTIONS;
    /// Maximum number of times in a row that a message repeats a passage; 0 is no limit.
    max_repeats: u32 = MAX_REPEATS;
    /// Maximum number of times in a row that equal calls may return the same result; 0 is no limit.
    max_same_results: u32 = MAX_SAME_RESULTS;
    /// Maximum number of calls of the toolbox for one answer.
    max_calls: usize = MAX_OWN_CALLS;
    /// Globs of the names of clients' tools that the model does not see.
    without: Vec<String> = Vec::new();
    /// The toolbox whose tools are offered in addition to the client's.
    toolbox: Option<Arc<dyn Toolbox>> = None;
    /// `true` if every model gets the toolbox's tools, `false` if only those named with [`WITH_TOOLS`].
    toolbox_always: bool = false;
    /// Names of the toolbox's servers whose results may be text of third parties.
    untrusted: Vec<String> = Vec::new();
    /// `true` if all clients send the same API key, so that they cannot be distinguished.
    one_key: bool = false;
    /// Cache of the rendered texts of history messages.
    told: Arc<TextCache> = Arc::default();
}

impl Settings {
    /// Returns the endpoint's model for the name that a client gives; `None` if neither the client
    /// nor the configuration names one.
    pub fn model_of(&self, named: Option<&str>) -> Option<String> {
        match (&self.model, named) {
            (Some(model), _) => Some(model.clone()),
            // Without a toolbox `+tools` is a part of the endpoint's own name for a model.
            (None, Some(name)) if self.toolbox.is_some() => Some(without_tools(name).to_owned()),
            (None, named) => named.map(str::to_owned),
        }
    }

    /// Returns the settings of this model; `None` if it has none of its own.
    pub(crate) fn settings_of(&self, model: &str) -> Option<ModelSettings> {
        self.models.as_ref()?(model)
    }

    /// Returns the profile of this model.
    pub fn profile_of(&self, model: &str) -> &'static Profile {
        self.profile.unwrap_or_else(|| Profile::for_model(model))
    }
}
