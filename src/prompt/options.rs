//! What a prompt teaches and how.

use std::sync::Arc;

use super::Template;
use crate::catalog::Catalog;
use crate::dialect::Dialect;
use crate::outcome::RESULT_BYTES;
use crate::profile::{Lang, Profile};
use crate::reasoning::keyword_enum;
use crate::tokens::TokenCounter;
use crate::tool::ToolChoice;

/// How tools are listed, from the longest style to the shortest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
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

/// What a prompt teaches and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Call syntax.
    pub dialect: Dialect,
    /// Language of the instructions.
    pub lang: Lang,
    /// How tools are listed, where they fit.
    pub listing: Listing,
    /// Tokens that the listing may take; see [`Prompt::compose`](super::Prompt::compose).
    pub tool_budget: Option<usize>,
    /// Counts them.
    pub tokens: TokenCounter,
    /// Templates that replace built-in ones.
    pub templates: Vec<Template>,
    /// The caller's own system text; comes first, verbatim.
    pub system: Option<String>,
    /// Whether tools may or must be called.
    pub tool_choice: ToolChoice,
    /// Calls in one message at most; `None` says nothing about it.
    pub max_calls: Option<usize>,
    /// Bytes of one result that the model sees at most.
    pub result_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options::for_profile(<&Profile>::default())
    }
}

impl Options {
    /// Dialect and language of a model's profile, defaults for the rest.
    pub fn for_profile(profile: &Profile) -> Self {
        Options {
            dialect: profile.dialect,
            lang: profile.lang,
            listing: Listing::default(),
            tool_budget: None,
            tokens: TokenCounter::default(),
            templates: Vec::new(),
            system: None,
            tool_choice: ToolChoice::default(),
            max_calls: None,
            result_bytes: RESULT_BYTES,
        }
    }

    /// What a model that reads this prompt may call: the catalog's tools and,
    /// where the listing may leave something out, the built-in tool that
    /// describes them ([`Catalog::with_describe_tool`]). The prompt, the parser
    /// and the validator must be given the same.
    pub fn callable(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        let shortens = self.listing == Listing::Index || self.tool_budget.is_some();
        if !shortens || catalog.describe_tool().is_some() {
            return catalog;
        }
        Arc::new(Arc::unwrap_or_clone(catalog).with_describe_tool())
    }
}
