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

mod budget;
mod entry;
mod example;
mod listing;
mod native;
mod options;
mod results;
mod sentence;
mod signature;
mod templates;
mod trial;

pub use budget::Listed;
pub use options::{DESCRIPTION_CHARS, Listing, NOTE_CHARS, Options, SENTENCE_CHARS, TEXT_CHARS};
pub use templates::{Template, TemplateError};

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::Rejected;
use crate::catalog::Catalog;
use crate::dialect::Dialect;
use crate::outcome::{Neutraliser, Outcome, Status};
use crate::tool::{Tool, ToolChoice};
use budget::Measure as _;
use entry::Lister;
use templates::Templates;

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
    /// A template is wrong.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

fn nearest_list(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}

/// Compiled templates and what to fill them with.
pub struct Prompt {
    templates: Templates,
    options: Options,
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A system text, and how it lists the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct System {
    /// The text.
    pub text: String,
    /// How its tools are listed; none are where the choice forbids calls.
    pub listed: Listed,
}

/// The calls of one round and what became of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round<'a> {
    /// What the model's last message asked for, in order.
    pub items: &'a [Item<'a>],
    /// Calls of earlier rounds, oldest first; empty in the first round.
    pub earlier: &'a [Earlier<'a>],
    /// What the person asked for, to be recalled behind the results; a long text
    /// is cut to its head and tail.
    pub request: Option<&'a str>,
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
    /// Compiles the templates. Those of the caller are filled with samples, so
    /// that most of what is wrong with them shows here.
    ///
    /// # Errors
    /// [`PromptError::NoTemplate`] for a dialect that is only read;
    /// [`PromptError::Template`] for a template that does not compile, names a
    /// variable that does not exist, or cannot be filled.
    pub fn new(options: Options) -> Result<Self, PromptError> {
        if options.dialect.spec().template.is_none() {
            return Err(PromptError::NoTemplate { dialect: options.dialect });
        }
        let prompt = Prompt { templates: Templates::new(&options)?, options };
        if !prompt.options.templates.is_empty() {
            trial::run(&prompt)?;
        }
        Ok(prompt)
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The system text: the caller's own, then the tools and how to call them.
    /// Without tools it is the caller's own text alone, which may be empty.
    ///
    /// # Errors
    /// As [`compose`](Prompt::compose).
    pub fn system(&self, catalog: &Catalog) -> Result<String, PromptError> {
        let draft = Draft::new(self, catalog);
        let (styles, _) = draft.styles()?;
        self.render(self.stem(), &draft.view(&styles)?)
    }

    /// The system text, how its tools are listed, and what the listing takes.
    ///
    /// With a [budget](Options::tool_budget), tools are listed shorter until the
    /// listing fits: first all that are schemas become signatures, one after
    /// another, then brief, then index. Within a style, the tool that saves most
    /// goes first, of equal ones the later. So the same tools and budget give the
    /// same text. A tool that the choice names stays in full, and none is ever
    /// left out: [`Listed::is_over_budget`] says that they do not fit.
    ///
    /// Tools become index only where the catalog has the built-in tool that gives
    /// the rest, which is then taught; see [`Options::callable`].
    ///
    /// # Errors
    /// [`PromptError::UnknownTool`] and [`PromptError::NothingToCall`] where the
    /// tool choice does not fit the catalog; [`PromptError::Template`].
    pub fn compose(&self, catalog: &Catalog) -> Result<System, PromptError> {
        let draft = Draft::new(self, catalog);
        let (styles, tokens) = draft.styles()?;
        let tokens = tokens.map_or_else(|| draft.listing(&styles), Ok)?;
        let text = self.render(self.stem(), &draft.view(&styles)?)?;
        Ok(System { text, listed: Listed::new(&styles, tokens, self.options.tool_budget) })
    }

    fn stem(&self) -> &str {
        self.templates.system_stem(self.options.dialect.spec().template.unwrap_or_default())
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

    /// The form of an answer that has to match a JSON Schema, with a value of
    /// that form. Goes behind the system text. Schema and example are the
    /// caller's own words and stand as they are, without `$schema`.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn output(&self, catalog: &Catalog, schema: &Value, example: Option<&Value>) -> Result<String, PromptError> {
        let mut schema = schema.clone();
        if let Some(map) = schema.as_object_mut() {
            map.shift_remove("$schema");
        }
        let view = minijinja::context! {
            schema => schema.to_string(),
            example => example.map(Value::to_string).filter(|text| text.len() <= TEXT_CHARS),
            has_tools => !catalog.is_empty() && self.options.tool_choice != ToolChoice::None,
            dialect => self.options.dialect.name(),
        };
        self.render("output", &view)
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
        self.render_round("results", catalog, round, result_bytes)
    }

    fn render_round(
        &self,
        stem: &str,
        catalog: &Catalog,
        round: &Round<'_>,
        result_bytes: usize,
    ) -> Result<String, PromptError> {
        let options = Options { result_bytes, ..self.options.clone() };
        self.render(stem, &results::view(catalog, &options, round))
    }

    /// What the model thought before a message, quoted as a reminder; markers in
    /// it are neutralised.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn thought(&self, catalog: &Catalog, text: &str) -> Result<String, PromptError> {
        let lines = Neutraliser::new(catalog).describe_lines(text, usize::MAX);
        self.render("thought", &BTreeMap::from([("lines", lines)]))
    }

    fn render(&self, stem: &str, view: &impl Serialize) -> Result<String, PromptError> {
        Ok(self.templates.render(stem, minijinja::value::Serde(view).into())?)
    }
}

/// A system text in the making.
struct Draft<'a> {
    prompt: &'a Prompt,
    catalog: &'a Catalog,
    neutraliser: Neutraliser,
    tools: Vec<&'a Tool>,
}

impl<'a> Draft<'a> {
    fn new(prompt: &'a Prompt, catalog: &'a Catalog) -> Self {
        let silent = prompt.options.tool_choice == ToolChoice::None;
        let tools = catalog.offered().filter(|_| !silent).collect();
        Draft { prompt, catalog, neutraliser: Neutraliser::new(catalog), tools }
    }

    /// The style of each tool, and what the listing takes if that was measured.
    fn styles(&self) -> Result<(Vec<Listing>, Option<usize>), PromptError> {
        let Options { listing, tool_choice, tool_budget, .. } = &self.prompt.options;
        let named = |tool: &&Tool| {
            matches!(tool_choice, ToolChoice::Named(_)) && tool_choice.admits(tool.server.as_deref(), &tool.name)
        };
        let pinned: Vec<bool> = self.tools.iter().map(named).collect();
        let start = pinned.iter().map(|named| if *named { listing.full() } else { *listing }).collect();
        let Some(budget) = tool_budget else { return Ok((start, None)) };
        let shortest = if self.catalog.describe_tool().is_some() { Listing::Index } else { Listing::Brief };
        let (styles, tokens) = budget::fit(self, start, &pinned, shortest, *budget)?;
        Ok((styles, Some(tokens)))
    }

    fn view(&self, styles: &[Listing]) -> Result<listing::View, PromptError> {
        listing::view(self.catalog, &self.prompt.options, &self.neutraliser, styles)
    }
}

impl budget::Measure for Draft<'_> {
    fn listing(&self, styles: &[Listing]) -> Result<usize, PromptError> {
        let view = self.view(styles)?;
        let texts = [self.prompt.render("listing", &view)?, self.prompt.render("lookup", &view)?];
        Ok(self.prompt.options.tokens.count(texts.join("\n\n").trim_end()))
    }

    fn tool(&self, place: usize, style: Listing) -> Result<usize, PromptError> {
        let lister =
            Lister { catalog: self.catalog, dialect: self.prompt.options.dialect, neutraliser: &self.neutraliser };
        let view = listing::Single { tool: lister.tool(self.tools[place], style) };
        Ok(self.prompt.options.tokens.count(&self.prompt.render("tool", &view)?))
    }
}
