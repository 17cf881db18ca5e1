//! What a prompt teaches and how.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::template::Template;
use crate::dialect::{Dialect, Lang, Profile, PromptStyle};
use crate::message::{TokenCounter, keyword_enum, setters};
use crate::outcome::RESULT_BYTES;
use crate::tools::{Catalog, LIKELIEST, Said, Tool, ToolChoice};

/// How tools are listed, from the longest style to the shortest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Listing {
    /// The whole JSON Schema, minified, and the description up to [`TEXT_CHARS`].
    Schema,
    /// A TypeScript-like signature, the description up to
    /// [`DESCRIPTION_CHARS`], and notes on parameters that need one.
    #[default]
    Signature,
    /// As `Signature`, but of the description the first sentence only.
    Brief,
    /// Name and first sentence. The model asks for the rest with the built-in
    /// tool that [`Options::callable`] adds.
    Index,
}

keyword_enum!(Listing, "a listing style", "schema" => Listing::Schema, "signature" => Listing::Signature,
    "brief" => Listing::Brief, "index" => Listing::Index);

impl Listing {
    /// All styles, the longest first.
    pub const ALL: &'static [Listing] = &[Listing::Schema, Listing::Signature, Listing::Brief, Listing::Index];

    /// The style in which a tool is described that stands out: in full.
    pub(super) fn full(self) -> Listing {
        self.min(Listing::Signature)
    }
}

/// Characters of a description that a signature carries at most.
pub const DESCRIPTION_CHARS: usize = 600;

/// Characters of the first sentence that `brief` and `index` give, at most.
pub const SENTENCE_CHARS: usize = 200;

/// Characters of a name at most; longer ones are no names that a model could copy.
pub(super) const NAME_CHARS: usize = 200;

/// Characters of a parameter's or resource's description at most.
pub const NOTE_CHARS: usize = 300;

/// Characters of any other text of a server at most: its instructions, and the
/// descriptions of the `schema` listing and of a tool that is asked about, each.
pub const TEXT_CHARS: usize = 2_000;

/// Bytes of one result that the compact style shows at most: a small model loses
/// the question behind more.
pub const COMPACT_RESULT_BYTES: usize = 4_096;

/// What a prompt teaches and how. Its stored form has all but the counter of tokens and the source of
/// examples; what is missing there is the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Options {
    /// Call syntax.
    pub dialect: Dialect,
    /// Language of the instructions.
    pub lang: Lang,
    /// How much it says beside the tools.
    pub style: PromptStyle,
    /// How tools are listed, where they fit.
    pub listing: Listing,
    /// Characters of a description at most, where tools are listed in full: as signature or schema;
    /// `None` for [`DESCRIPTION_CHARS`] and [`TEXT_CHARS`].
    pub description_chars: Option<usize>,
    /// Tokens that the list of tools may take, in the prompt ([`Prompt::compose`](super::Prompt::compose))
    /// or in a request that carries them ([`Prompt::offer`](super::Prompt::offer)); `None` for any
    /// number. [`within`](Self::within) sets what is usual.
    pub tool_budget: Option<usize>,
    /// Of more than eight tools only those are listed that a conversation means, as where they do not fit the
    /// budget: for a model with a short context. The compact style does so, too.
    pub few_tools: bool,
    /// Counts them.
    #[serde(skip)]
    pub tokens: TokenCounter,
    /// Templates that replace built-in ones.
    pub templates: Vec<Template>,
    /// The caller's own system text; comes first, verbatim.
    pub system: Option<String>,
    /// Whether tools may or must be called.
    pub tool_choice: ToolChoice,
    /// Calls in one message at most; `None` says nothing about it.
    pub max_calls: Option<usize>,
    /// Bytes of one result that the model sees at most; in the compact style also at
    /// most [`COMPACT_RESULT_BYTES`].
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
    /// Dialect, language and style of a model's profile, defaults for the rest. Where the
    /// style is a matter of the model's size, set it to what
    /// [`Profile::style_for`] gives.
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

    /// Tells which of these tools the choice names.
    pub(super) fn pinned(&self, tools: &[&Tool]) -> Vec<bool> {
        let is_named = matches!(self.tool_choice, ToolChoice::Named(_));
        let named = |tool: &&Tool| is_named && self.tool_choice.admits(tool.server.as_deref(), &tool.name);
        tools.iter().map(named).collect()
    }

    /// Whether of so many tools only those are listed that a conversation means.
    pub(crate) fn chooses(&self, tools: usize) -> bool {
        tools > LIKELIEST && (self.few_tools || self.style == PromptStyle::Compact)
    }

    /// The places of the tools that a conversation means ([`Catalog::meant`]). Where no more than eight are
    /// listed, those of the first question that means any are filled up to that, in the catalog's order.
    pub(crate) fn meant(&self, catalog: &Catalog, said: &[Said<'_>]) -> Vec<usize> {
        let meant = catalog.meant(said);
        let tools = catalog.offered().count();
        if meant.is_empty() || !self.chooses(tools) {
            return meant;
        }
        let first = (1..=said.len()).map(|count| catalog.meant(&said[..count])).find(|meant| !meant.is_empty());
        let mut places = first.unwrap_or_default();
        let further: Vec<usize> = (0..tools).filter(|place| !places.contains(place)).collect();
        places.extend(further.into_iter().take(LIKELIEST.saturating_sub(places.len())));
        let later: Vec<usize> = meant.into_iter().filter(|place| !places.contains(place)).collect();
        places.extend(later);
        places
    }

    /// Bytes of a result that a message in text shows, where `limit` are allowed.
    pub(crate) fn shown_of_results(&self, limit: usize) -> usize {
        match self.style {
            PromptStyle::Compact => limit.min(COMPACT_RESULT_BYTES),
            _ => limit,
        }
    }

    /// What a model that reads this prompt may call: the catalog's tools and,
    /// where the listing may leave something out, the built-in tools that
    /// describe them ([`Catalog::with_describe_tool`]) and find them
    /// ([`Catalog::with_find_tool`]), and the one that reads on in long results
    /// ([`Catalog::with_read_tool`]). The prompt, the parser
    /// and the validator must be given the same.
    pub fn callable(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        let catalog = Arc::unwrap_or_clone(catalog);
        let catalog = match (self.tool_budget, self.listing) {
            (Some(_), _) => catalog.with_find_tool(),
            (None, Listing::Index) => catalog.with_describe_tool(),
            _ => catalog,
        };
        Arc::new(catalog.with_read_tool())
    }
}
