//! Writes a catalog and a round as the texts that the model reads.

use minijinja::context;
use minijinja::value::{Serde, Value};
use serde_json::Value as Json;

use super::budget::{self, ListMeasure, Listed, ListingRule, Style};
use super::dialogue::{DialogueStep, by_worth};
use super::entry::Lister;
use super::error::PromptError;
use super::example::{call_with, harmless};
use super::listing::Example;
use super::options::{Listing, Options, TEXT_CHARS};
use super::template::SYSTEM;
use super::templates::Templates;
use super::{listing, results};
use crate::conversation::Replies;
use crate::dialect::PromptStyle;
use crate::outcome::{Neutraliser, Outcome};
use crate::tools::{BuiltIn, Catalog, Said, Tool, ToolChoice};

/// The compiled templates of a prompt, and the options to fill them with.
pub struct Prompt {
    pub(super) templates: Templates,
    pub(super) options: Options,
}

crate::message::opaque_debug!(Prompt, self => options: self.options);

/// A system text and the styles in which its tools are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct System {
    /// The system text.
    pub text: String,
    /// Counts and sizes of the list of tools in it; empty if the tool choice forbids calls.
    pub listed: Listed,
}

impl Prompt {
    /// Returns the options of the prompt.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the system text: the caller's own text, then the tools and how to call them. Without tools it is the
    /// caller's own text alone, which may be empty.
    ///
    /// # Errors
    /// Those of [`compose`](Prompt::compose).
    pub fn system(&self, catalog: &Catalog) -> Result<String, PromptError> {
        Ok(self.system_for(catalog, &[])?.0)
    }

    /// Returns the system text, the styles of its tools, and the size of the list of tools.
    ///
    /// With a [budget](Options::tool_budget), tools are listed shorter until the list fits: first all that are schemas
    /// become signatures, one after another, then brief, then index. Within a style, the tool that saves most is
    /// shortened first; of equal ones the later. So the same tools and budget give the same text. A tool that the
    /// choice names stays in full. If not even the names fit, as many of the tools that the conversation `said`
    /// suggests are listed in full as fit, and a built-in tool finds the rest.
    ///
    /// Tools are shortened to an index, or not listed, only if the catalog has the built-in tools `describe_tool` and
    /// `find_tool`, which the text then explains; see [`Options::callable`].
    ///
    /// # Errors
    /// [`PromptError::UnknownTool`] and [`PromptError::NothingToCall`] if the tool choice does not fit the catalog;
    /// [`PromptError::Template`].
    pub fn compose(&self, catalog: &Catalog, said: &[Said<&str>]) -> Result<System, PromptError> {
        let draft = PromptDraft::new(self, catalog);
        let (styles, tokens) = draft.styles(said)?;
        let tokens = tokens.map_or_else(|| draft.listing(&styles), Ok)?;
        let text = self.render(self.stem(), draft.whole_view(&styles)?)?;
        Ok(System { text, listed: Listed::new(&styles, tokens, self.options.tool_budget) })
    }

    /// Returns the text of [`compose`](Prompt::compose), and `true` if only some tools are listed. The size of the list
    /// is computed only if the selection depends on it.
    pub(crate) fn system_for(&self, catalog: &Catalog, said: &[Said<&str>]) -> Result<(String, bool), PromptError> {
        let draft = PromptDraft::new(self, catalog);
        let (styles, _) = draft.styles(said)?;
        let chooses = self.options.chooses(draft.tools.len()) || styles.contains(&None);
        Ok((self.render(self.stem(), draft.whole_view(&styles)?)?, chooses))
    }

    /// Returns the system text without its examples, and the examples, to be sent as messages before the history: a
    /// small model continues in the way in which the conversation seems to have begun. `None` if the examples are part
    /// of the text: in the full style, and with templates of the caller's own.
    ///
    /// # Errors
    /// Those of [`compose`](Prompt::compose).
    pub fn system_apart(
        &self,
        catalog: &Catalog,
        said: &[Said<&str>],
    ) -> Result<Option<(String, Vec<Example>)>, PromptError> {
        let is_own = !self.templates.custom().is_empty();
        if self.options.style != PromptStyle::Compact || is_own || catalog.is_empty() {
            return Ok(None);
        }
        let draft = PromptDraft::new(self, catalog);
        let (styles, _) = draft.styles(said)?;
        let examples = if draft.tools.is_empty() { Vec::new() } else { draft.examples(&styles)? };
        if examples.is_empty() {
            return Ok(None);
        }
        let shown: Value = examples.iter().map(Serde).collect();
        let text = self.render(self.stem(), context! { apart => true, examples => shown, ..draft.view(&styles)? })?;
        Ok(Some((text, examples)))
    }

    /// Returns the number of listed tools whose description is cut at the start of a conversation. Tools that only
    /// `find_tool` finds do not count.
    ///
    /// # Errors
    /// Those of [`compose`](Prompt::compose).
    pub fn cut_descriptions(&self, catalog: &Catalog) -> Result<usize, PromptError> {
        let draft = PromptDraft::new(self, catalog);
        let (styles, _) = draft.styles(&[])?;
        let lister = draft.lister();
        Ok(draft
            .tools
            .iter()
            .zip(styles)
            .filter(|(tool, style)| style.is_some_and(|style| lister.cuts(tool, style)))
            .count())
    }

    pub(super) fn stem(&self) -> &str {
        let built_in = match self.options.style {
            PromptStyle::Compact => "compact",
            _ => self.options.dialect.spec().template.as_deref().unwrap_or("shown"),
        };
        self.templates.own_or(SYSTEM, built_in)
    }

    /// Returns the name of the template for the message with the results of calls.
    pub(super) fn results_stem(&self) -> &'static str {
        match self.options.style {
            PromptStyle::Compact => self.templates.own_or("results", "compact_results"),
            _ => "results",
        }
    }

    /// Returns the result of a call of `describe_tool`: the full entries of the tools that the name matches, with
    /// descriptions up to [`TEXT_CHARS`], or an error with the nearest names. For a text that is similar to no name it
    /// is the three likeliest tools.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn describe(&self, catalog: &Catalog, name: &str) -> Result<Outcome, PromptError> {
        self.looked_up(listing::describe(catalog, &self.options, name))
    }

    /// Returns the result of a call of `find_tool`: the tools whose purpose fits the query best, listed in full, so
    /// that they can be called.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn find(&self, catalog: &Catalog, query: &str) -> Result<Outcome, PromptError> {
        self.looked_up(listing::find(catalog, &self.options, query))
    }

    fn looked_up(&self, view: Value) -> Result<Outcome, PromptError> {
        let is_found = view.get_attr("tools").is_ok_and(|tools| tools.is_true());
        let text = self.render("describe", view)?;
        Ok(if is_found { Outcome::result(text) } else { Outcome::error(text) })
    }

    /// Returns a text that describes the form of an answer that must match a JSON Schema, with an example value. It
    /// goes after the system text. Schema and example are the caller's own and are not changed, except that `$schema`
    /// is removed.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn output(&self, catalog: &Catalog, schema: &Json, example: Option<&Json>) -> Result<String, PromptError> {
        let mut schema = schema.clone();
        if let Some(map) = schema.as_object_mut() {
            map.shift_remove("$schema");
        }
        let view = context! {
            schema => schema.to_string(),
            example => example.map(Json::to_string).filter(|text| text.len() <= TEXT_CHARS),
            has_tools => !catalog.is_empty() && self.options.tool_choice != ToolChoice::None,
            dialect => self.options.dialect.name(),
        };
        self.render("output", view)
    }

    /// Returns the user message with the outcomes of calls: those of the model's last message, and the calls before
    /// them. It contains neither notes nor reasoning.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn results(&self, catalog: &Catalog, replies: &Replies<'_>) -> Result<String, PromptError> {
        self.render_replies(self.results_stem(), catalog, replies)
    }

    pub(super) fn render_replies(
        &self,
        stem: &str,
        catalog: &Catalog,
        replies: &Replies<'_>,
    ) -> Result<String, PromptError> {
        let limit = self.options.shown_of_results(self.limit(replies));
        self.render(stem, results::view(catalog, &self.options, replies, limit))
    }

    /// Returns the maximum number of bytes of one result: the smaller of the prompt's limit and that of `replies`.
    pub(super) fn limit(&self, replies: &Replies<'_>) -> usize {
        let usual = self.options.result_bytes;
        replies.result_bytes.map_or(usual, |limit| limit.min(usual))
    }

    /// Returns the model's reasoning before a message, quoted as a reminder for the model; delimiters in it are
    /// escaped.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    pub fn thought(&self, catalog: &Catalog, text: &str) -> Result<String, PromptError> {
        let lines = Neutraliser::new(catalog).describe_lines(text, usize::MAX);
        self.render("thought", context! { lines })
    }

    pub(super) fn render(&self, stem: &str, view: Value) -> Result<String, PromptError> {
        Ok(self.templates.render(stem, view)?)
    }
}

/// A system text that is being composed.
pub(super) struct PromptDraft<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) catalog: &'a Catalog,
    pub(super) neutraliser: Neutraliser,
    pub(super) tools: Vec<&'a Tool>,
}

impl<'a> PromptDraft<'a> {
    pub(super) fn new(prompt: &'a Prompt, catalog: &'a Catalog) -> Self {
        let silent = prompt.options.tool_choice == ToolChoice::None;
        let tools = catalog.offered().filter(|_| !silent).collect();
        PromptDraft { prompt, catalog, neutraliser: Neutraliser::new(catalog), tools }
    }

    /// Returns the style of each tool, and the size of the list in tokens if it was measured.
    fn styles(&self, said: &[Said<&str>]) -> Result<(Vec<Style>, Option<usize>), PromptError> {
        let Options { listing, tool_budget, .. } = &self.prompt.options;
        let pinned = self.prompt.options.pinned(&self.tools);
        let meant: &dyn Fn() -> Vec<usize> = &|| self.prompt.options.meant(self.catalog, said);
        let meant = self.catalog.built_in(BuiltIn::Find).map(|_| meant);
        // The tool that must be called is listed with its parameters, whatever the style of the others.
        let style = |is_named: bool| if is_named { listing.full() } else { *listing };
        let start = budget::start(&self.tools, &pinned, style, meant);
        let Some(budget) = tool_budget else { return Ok((start, None)) };
        // A token has at least one byte, so a list with few enough bytes needs no exact count, which may have to load a
        // table of megabytes first.
        let few = self.prompt.options.chooses(self.tools.len());
        if !few && self.listing_text(&start)?.len() <= *budget {
            return Ok((start, None));
        }
        let shortest = if self.catalog.built_in(BuiltIn::Describe).is_some() { Listing::Index } else { Listing::Brief };
        let rule = ListingRule { start, pinned, shortest, full: listing.full(), few, meant };
        let (styles, tokens) = budget::styles(self, rule, *budget)?;
        Ok((styles, Some(tokens)))
    }

    /// Returns the text of the list of tools, to which the budget applies.
    fn listing_text(&self, styles: &[Style]) -> Result<String, PromptError> {
        let view = self.view(styles)?;
        let texts = [self.prompt.render("listing", view.clone())?, self.prompt.render("lookup", view)?];
        Ok(texts.join("\n\n").trim_end().to_owned())
    }

    fn lister(&self) -> Lister<'_> {
        Lister::new(self.catalog, &self.prompt.options, &self.neutraliser)
    }

    pub(super) fn view(&self, styles: &[Style]) -> Result<Value, PromptError> {
        listing::view(self.catalog, &self.prompt.options, &self.neutraliser, styles)
    }

    /// Returns the template variables with the examples, which do not count towards the budget.
    pub(super) fn whole_view(&self, styles: &[Style]) -> Result<Value, PromptError> {
        let (options, view) = (&self.prompt.options, self.view(styles)?);
        if self.tools.is_empty() {
            return Ok(view);
        }
        let is_own = !self.prompt.templates.custom().is_empty();
        let is_compact = options.style == PromptStyle::Compact;
        // A program's own templates may show all examples or the one.
        let examples = if is_own || is_compact { self.examples(styles)? } else { Vec::new() };
        let mut shown = None;
        if is_own || !is_compact {
            let named = listing::named(self.catalog, &options.tool_choice)?;
            let listed = self.tools.iter().zip(styles).filter(|(_, style)| style.is_some()).map(|(tool, _)| *tool);
            let tools = named.map_or_else(|| harmless(self.catalog, listed), |named| vec![named]);
            shown = by_worth(&tools, options, &self.neutraliser).into_iter().next();
        }
        let step = shown.as_ref().and_then(|shown| shown.steps.first());
        let call = |step: &DialogueStep<'_>| {
            call_with(self.catalog, options.dialect, &self.neutraliser, (step.tool, &step.arguments))
        };
        Ok(context! {
            examples => examples.iter().map(Serde).collect::<Value>(),
            example => step.map(call),
            question => shown.as_ref().filter(|_| step.is_some()).map(|shown| shown.question.as_str()),
            ..view
        })
    }
}

impl ListMeasure for PromptDraft<'_> {
    fn listing(&self, styles: &[Style]) -> Result<usize, PromptError> {
        Ok(self.prompt.options.tokens.count(&self.listing_text(styles)?))
    }

    fn tool(&self, place: usize, style: Listing) -> Result<usize, PromptError> {
        let view = context! { tool => self.lister().tool(self.tools[place], style) };
        Ok(self.prompt.options.tokens.count(&self.prompt.render("tool", view)?))
    }
}
