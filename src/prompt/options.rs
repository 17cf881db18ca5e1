//! The options of a prompt.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::template::Template;
use crate::dialect::{Dialect, Lang, Profile, PromptStyle};
use crate::message::{TokenCounter, keyword_enum, setters};
use crate::outcome::RESULT_BYTES;
use crate::tools::{BuiltIn, Catalog, LIKELIEST, Said, Tool, ToolChoice};

/// The style in which tools are listed, from the longest to the shortest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Listing {
    /// The whole JSON Schema, minified, and the description up to [`TEXT_CHARS`].
    Schema,
    /// A TypeScript-like signature, the description up to [`DESCRIPTION_CHARS`], and notes on the parameters that need
    /// a note.
    #[default]
    Signature,
    /// Like `Signature`, but with only the first sentence of the description.
    Brief,
    /// Name and first sentence. The model asks for the rest with `describe_tool`, which [`Options::callable`] adds.
    Index,
}

keyword_enum!(Listing, "a listing style", "schema" => Listing::Schema, "signature" => Listing::Signature,
    "brief" => Listing::Brief, "index" => Listing::Index);

impl Listing {
    /// All listing styles, the longest first.
    pub const ALL: &'static [Listing] = &[Listing::Schema, Listing::Signature, Listing::Brief, Listing::Index];

    /// Returns the style in which a single tool is described in full: `Schema` if that is this style, else `Signature`.
    pub(super) fn full(self) -> Listing {
        self.min(Listing::Signature)
    }
}

/// Maximum length in characters of a description in a signature.
pub const DESCRIPTION_CHARS: usize = 600;

/// Maximum length in characters of the first sentence of a description in `brief` and `index`.
pub const SENTENCE_CHARS: usize = 200;

/// Maximum length in characters of a name; a model could not copy a longer one.
pub(super) const NAME_CHARS: usize = 200;

/// Maximum length in characters of a parameter's or resource's description.
pub const NOTE_CHARS: usize = 300;

/// Maximum length in characters of any other text of a server: its instructions, and each description in the `schema`
/// style and of a tool that the model asks about.
pub const TEXT_CHARS: usize = 2_000;

/// Maximum number of bytes of one result in the compact style: a small model forgets the question after a longer one.
pub const COMPACT_RESULT_BYTES: usize = 4_096;

/// The options of a prompt. The serialized form has all of them except the token counter and the source of examples; a
/// missing option has its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Options {
    /// Dialect that the prompt teaches.
    pub dialect: Dialect,
    /// Language of the instructions.
    pub lang: Lang,
    /// Style of the instructions, which decides their length.
    pub style: PromptStyle,
    /// Style in which tools are listed if they fit the budget.
    pub listing: Listing,
    /// Maximum length in characters of a description where tools are listed in full; `None` for [`DESCRIPTION_CHARS`]
    /// (signature) and [`TEXT_CHARS`] (schema).
    pub description_chars: Option<usize>,
    /// Maximum size in tokens of the list of tools, in the prompt ([`Prompt::compose`](super::Prompt::compose)) or in a
    /// request that carries them ([`Prompt::offer`](super::Prompt::offer)); `None` for no limit.
    /// [`within`](Self::within) sets the default one.
    pub tool_budget: Option<usize>,
    /// If `true` and there are more than eight tools, only those that the conversation suggests are listed, even if all
    /// fit the budget: for a model with a short context. The compact style always does so.
    pub few_tools: bool,
    /// Tokenizer or estimate that counts tokens for the budget.
    #[serde(skip)]
    pub tokens: TokenCounter,
    /// Templates that replace built-in ones.
    pub templates: Vec<Template>,
    /// The caller's own system text, which comes first, verbatim.
    pub system: Option<String>,
    /// The rule for calling tools: whether calls are allowed, required or forbidden.
    pub tool_choice: ToolChoice,
    /// Maximum number of calls in one message that the prompt states; `None` to not mention a limit.
    pub max_calls: Option<usize>,
    /// Maximum number of bytes of one result that the model reads; in the compact style also [`COMPACT_RESULT_BYTES`].
    pub result_bytes: usize,
}

setters!(
    Options,
    with_dialect => dialect: Dialect, with_lang => lang: Lang, with_style => style: PromptStyle,
    with_listing => listing: Listing, with_description_chars => description_chars: Option<usize>,
    with_tool_budget => tool_budget: Option<usize>,
    with_tokens => tokens: TokenCounter, with_templates => templates: Vec<Template>,
    with_system => system: Option<String>, with_tool_choice => tool_choice: ToolChoice,
    with_max_calls => max_calls: Option<usize>;
    with_result_bytes => result_bytes: usize
);

impl Default for Options {
    fn default() -> Self {
        Options::for_profile(<&Profile>::default())
    }
}

impl Options {
    /// Returns options with the dialect, language and style of a model's profile, and defaults for the rest. If the
    /// style depends on the model's size, set it to the result of [`Profile::style_for`].
    pub fn for_profile(profile: &Profile) -> Self {
        Options {
            dialect: profile.dialect,
            lang: profile.lang,
            style: profile.style.unwrap_or_default(),
            listing: Listing::default(),
            description_chars: None,
            tool_budget: None,
            few_tools: false,
            tokens: TokenCounter::default(),
            templates: Vec::new(),
            system: None,
            tool_choice: ToolChoice::default(),
            max_calls: None,
            result_bytes: RESULT_BYTES,
        }
    }

    /// Returns `true` for each tool that the tool choice names.
    pub(super) fn pinned(&self, tools: &[&Tool]) -> Vec<bool> {
        let is_named = matches!(self.tool_choice, ToolChoice::Named(_));
        let named = |tool: &&Tool| is_named && self.tool_choice.admits(tool.server.as_deref(), &tool.name);
        tools.iter().map(named).collect()
    }

    /// Returns `true` if, of this number of tools, only those that a conversation suggests are listed.
    pub(crate) fn chooses(&self, tools: usize) -> bool {
        tools > LIKELIEST && (self.few_tools || self.style == PromptStyle::Compact)
    }

    /// Returns the indices of the tools that a conversation suggests ([`Catalog::meant`]). If only eight are listed,
    /// the tools of the first question that suggests any are filled up to eight, in the catalog's order.
    pub(crate) fn meant(&self, catalog: &Catalog, said: &[Said<&str>]) -> Vec<usize> {
        let meant = catalog.meant(said);
        let tools = catalog.offered().count();
        // Without a suggestion there is nothing to fill up.
        if meant.is_empty() || !self.chooses(tools) {
            return meant;
        }
        // The first question alone decides, so that the list only grows and an endpoint can cache it.
        let first = (1..=said.len()).map(|count| catalog.meant(&said[..count])).find(|meant| !meant.is_empty());
        let mut places = first.unwrap_or_default();
        let further: Vec<usize> = (0..tools).filter(|place| !places.contains(place)).collect();
        places.extend(further.into_iter().take(LIKELIEST.saturating_sub(places.len())));
        let later: Vec<usize> = meant.into_iter().filter(|place| !places.contains(place)).collect();
        places.extend(later);
        places
    }

    /// Returns the maximum number of bytes of a result in a text message, if `limit` are allowed.
    pub(crate) fn shown_of_results(&self, limit: usize) -> usize {
        match self.style {
            PromptStyle::Compact => limit.min(COMPACT_RESULT_BYTES),
            _ => limit,
        }
    }

    /// Returns the catalog that a model with this prompt can call: the catalog's tools, `describe_tool` and `find_tool`
    /// if the list may omit something, and `read_result` ([`Catalog::with_built_in`]). The prompt, the parser and the
    /// validator must use the same catalog.
    pub fn callable(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        let catalog = Arc::unwrap_or_clone(catalog);
        let catalog = match (self.tool_budget, self.listing) {
            // Within a budget tools may be left out, or listed as an index; the tool that finds them brings
            // the one that describes them.
            (Some(_), _) => catalog.with_built_in(BuiltIn::Find),
            (None, Listing::Index) => catalog.with_built_in(BuiltIn::Describe),
            _ => catalog,
        };
        Arc::new(catalog.with_built_in(BuiltIn::Read))
    }
}
