//! Tools and results to text for the model.
//!
//! [`Prompt::system`] teaches a call syntax and lists the tools of a catalog;
//! [`Prompt::results`] writes the one user message that answers the calls of a
//! round. Both are minijinja templates (`prompts/<lang>/`), filled with values
//! that were made harmless first: everything that a server or a tool wrote is
//! stripped, bounded and [neutralised](crate::outcome::Neutraliser). Where the
//! system text goes, and what is called when, is decided elsewhere.
//!
//! ```
//! use toolgraft::catalog::Catalog;
//! use toolgraft::prompt::{Options, Prompt};
//! use toolgraft::tool::Tool;
//!
//! let tool = Tool::new("get_weather").with_server("weather").with_schema(serde_json::json!({
//!     "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
//! }));
//! let text = Prompt::new(Options::default())?.system(&Catalog::from_tools([tool]))?;
//! assert!(text.contains("get_weather(city: string)"));
//! # Ok::<(), toolgraft::prompt::PromptError>(())
//! ```

mod entry;
mod example;
mod listing;
mod results;
mod sentence;
mod signature;
mod templates;

use std::fmt;
use std::sync::Arc;

use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::{Map, Value};

use crate::call::Rejected;
use crate::catalog::Catalog;
use crate::dialect::Dialect;
use crate::outcome::{Neutraliser, Outcome, RESULT_BYTES, Status};
use crate::profile::{Lang, Profile};
use crate::reasoning::keyword_enum;
use crate::tool::{Tool, ToolChoice};

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
    fn full(self) -> Listing {
        self.min(Listing::Signature)
    }
}

/// Characters of a description that a signature carries at most.
pub const DESCRIPTION_CHARS: usize = 600;

/// Characters of the first sentence that `brief` and `index` give, at most.
pub const SENTENCE_CHARS: usize = 200;

/// Characters of a name at most; longer ones are no names that a model could copy.
const NAME_CHARS: usize = 200;

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
    /// How tools are listed.
    pub listing: Listing,
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
        if self.listing != Listing::Index || catalog.describe_tool().is_some() {
            return catalog;
        }
        Arc::new(Arc::unwrap_or_clone(catalog).with_describe_tool())
    }
}

/// Why a prompt cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The dialect is only read.
    #[error("dialect {dialect} has no template: it is read, not taught")]
    NoTemplate {
        /// The dialect.
        dialect: Dialect,
    },
    /// The tool choice names no tool of the catalog.
    #[error("the tool choice names {name:?}, which is no tool{}", nearest_list(nearest))]
    UnknownTool {
        /// The name.
        name: String,
        /// Names that may have been meant.
        nearest: Vec<String>,
    },
    /// A call is required, but there is nothing to call.
    #[error("the tool choice requires a call, but there are no tools")]
    NothingToCall,
    /// A template failed.
    #[error("prompt template: {0:#}")]
    Template(#[from] minijinja::Error),
}

fn nearest_list(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}

/// Compiled templates and what to fill them with.
pub struct Prompt {
    environment: Environment<'static>,
    options: Options,
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The calls of one round and what became of them.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// What the model's last message asked for, in order.
    pub items: &'a [Item<'a>],
    /// Calls of earlier rounds, oldest first; empty in the first round.
    pub earlier: &'a [Earlier<'a>],
}

/// One thing to tell the model about its last message.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A call that was answered, whatever the answer.
    Answered {
        /// The call's identifier.
        id: &'a str,
        /// Server that was called.
        server: Option<&'a str>,
        /// Tool that was called.
        tool: &'a str,
        /// Arguments that it was called with.
        arguments: &'a Map<String, Value>,
        /// What became of it.
        outcome: &'a Outcome,
    },
    /// A call that was not run.
    Rejected(&'a Rejected),
    /// The message made no call (or not the one named) although
    /// [`ToolChoice::Required`] or [`ToolChoice::Named`] asked for it.
    UnmetChoice,
}

/// A call of an earlier round.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// Server that was called.
    pub server: Option<&'a str>,
    /// Tool that was called.
    pub tool: &'a str,
    /// Arguments that it was called with.
    pub arguments: &'a Map<String, Value>,
    /// How it ended.
    pub status: Status,
}

impl Prompt {
    /// Compiles the templates.
    ///
    /// # Errors
    /// [`PromptError::NoTemplate`] for a dialect that is only read;
    /// [`PromptError::Template`] for a template that does not compile.
    pub fn new(options: Options) -> Result<Self, PromptError> {
        if options.dialect.spec().template.is_none() {
            return Err(PromptError::NoTemplate { dialect: options.dialect });
        }
        Ok(Prompt { environment: templates::environment()?, options })
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The system text: the caller's own, then the tools and how to call them.
    /// Without tools it is the caller's own text alone, which may be empty.
    ///
    /// The built-in tool is taught where the catalog has it and a tool is listed
    /// by its name only; see [`Options::callable`].
    ///
    /// # Errors
    /// [`PromptError::UnknownTool`] and [`PromptError::NothingToCall`] where the
    /// tool choice does not fit the catalog.
    pub fn system(&self, catalog: &Catalog) -> Result<String, PromptError> {
        let neutraliser = Neutraliser::new(catalog);
        let view = listing::view(catalog, &self.options, &neutraliser, &self.styles(catalog))?;
        let stem = self.options.dialect.spec().template.unwrap_or_default();
        self.render(stem, &view)
    }

    /// The style of each offered tool. The ones that the choice names are always in full.
    fn styles(&self, catalog: &Catalog) -> Vec<Listing> {
        let Options { listing, tool_choice, .. } = &self.options;
        let named = |tool: &Tool| {
            matches!(tool_choice, ToolChoice::Named(_)) && tool_choice.admits(tool.server.as_deref(), &tool.name)
        };
        catalog.offered().map(|tool| if named(tool) { listing.full() } else { *listing }).collect()
    }

    /// What a call of the built-in tool is answered with: the full listing of the
    /// tools that the name stands for, with descriptions up to [`TEXT_CHARS`];
    /// or an error with the nearest names.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn describe(&self, catalog: &Catalog, name: &str) -> Result<Outcome, PromptError> {
        let view = listing::describe(catalog, &self.options, name);
        let text = self.render("describe", &view)?;
        Ok(if view.tools.is_empty() { Outcome::error(text) } else { Outcome::result(text) })
    }

    /// The user message that answers a round's calls.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn results(&self, catalog: &Catalog, round: &Round<'_>) -> Result<String, PromptError> {
        self.results_within(catalog, round, self.options.result_bytes)
    }

    /// As [`results`](Self::results), with another limit on the bytes of one result.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn results_within(
        &self,
        catalog: &Catalog,
        round: &Round<'_>,
        result_bytes: usize,
    ) -> Result<String, PromptError> {
        let options = Options { result_bytes, ..self.options.clone() };
        self.render("results", &results::view(catalog, &options, round))
    }

    fn render(&self, stem: &str, view: &impl serde::Serialize) -> Result<String, PromptError> {
        let template = self.environment.get_template(&format!("{}/{stem}.j2", self.options.lang))?;
        Ok(template.render(Serde(view))?.trim().to_owned())
    }
}
