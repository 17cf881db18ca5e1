//! The tools of a request that carries them, within the budget.

use std::cell::OnceCell;

use serde_json::Value;

use super::budget::{self, ListMeasure, Listed, ListingRule, Style};
use super::entry::{limit, listed};
use super::error::PromptError;
use super::options::{Listing, SENTENCE_CHARS};
use super::sentence::first_sentence;
use super::writer::Prompt;
use crate::message::TokenCounter;
use crate::outcome::{Neutraliser, Outcome};
use crate::tools::{BuiltIn, Catalog, FOUND, Said, Tool};
use crate::wire::{ToolDefinition, cut_description, whole_description};

/// The native tools of a request, selected and shortened to fit the budget.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OfferedTools {
    /// The tools in the catalog's order, followed by `find_tool` if some are left out.
    pub definitions: Vec<ToolDefinition>,
    /// The styles of the tools, and their size in tokens together with the text of [`Prompt::native_system`].
    pub listed: Listed,
}

impl Prompt {
    /// Returns the native tools of a request, within the [budget](super::Options::tool_budget). `said` is the
    /// conversation so far.
    ///
    /// The selection is that of [`compose`](Prompt::compose), but the styles mean: `schema` is the unchanged
    /// definition, with which every tool starts; `signature` cuts the description as a signature in the prompt does;
    /// `brief` has the first sentence of the description and of each parameter's. `index` is not used. If more than
    /// eight tools do not fit in brief, those that the conversation suggests are offered, and `find_tool` finds the
    /// rest.
    ///
    /// # Errors
    /// Those of [`system`](Prompt::system).
    pub fn offer(&self, catalog: &Catalog, said: &[Said<&str>]) -> Result<OfferedTools, PromptError> {
        self.offer_meant(catalog, false, &|| self.options.meant(catalog, said))
    }

    /// Returns the tools as [`offer`](Prompt::offer) does; `meant` returns the indices of the tools that the
    /// conversation suggests. If `whole`, the descriptions of tools without a server are not cut.
    pub(crate) fn offer_meant(
        &self,
        catalog: &Catalog,
        whole: bool,
        meant: &dyn Fn() -> Vec<usize>,
    ) -> Result<OfferedTools, PromptError> {
        let native = NativeListing::new(self, catalog, whole)?;
        let tools: Vec<&Tool> = catalog.offered().collect();
        let (pinned, meant) = (self.options.pinned(&tools), native.find.as_ref().map(|_| meant));
        let start = budget::start(&tools, &pinned, |_| Listing::Schema, meant);
        let Some(budget) = self.options.tool_budget else {
            return Ok(native.offered(&start, native.bytes(), None));
        };
        // A token has at least one byte, so a list with few enough bytes needs no exact count, which may have to load a
        // table of megabytes first.
        let few = self.options.chooses(native.tools.len());
        if !few && native.bytes() <= budget {
            return Ok(native.offered(&start, native.bytes(), Some(budget)));
        }
        let rule = ListingRule { start, pinned, shortest: Listing::Brief, full: Listing::Signature, few, meant };
        let (styles, tokens) = budget::styles(&native, rule, budget)?;
        Ok(native.offered(&styles, tokens, Some(budget)))
    }

    /// Returns the result of a call of `find_tool` if requests carry the tools: one line for each tool found, with its
    /// name in requests and its purpose.
    ///
    /// # Errors
    /// [`PromptError::Template`] only.
    #[cfg_attr(not(feature = "agent"), expect(dead_code, reason = "only a turn asks"))]
    pub(crate) fn native_find(&self, catalog: &Catalog, query: &str) -> Result<Outcome, PromptError> {
        let found = catalog.likeliest(query, FOUND);
        if found.is_empty() {
            return self.find(catalog, query);
        }
        let neutraliser = Neutraliser::new(catalog);
        let names = ToolDefinition::offered(catalog).map(|tool| tool.name);
        let line = |(tool, name): (&Tool, String)| {
            let is_found = found.iter().any(|found| std::ptr::eq(*found, tool));
            let does = neutraliser.describe(listed(tool, Listing::Brief), SENTENCE_CHARS);
            is_found.then(|| format!("{name}: {does}"))
        };
        let lines: Vec<String> = catalog.offered().zip(names).filter_map(line).collect();
        Ok(Outcome::result(lines.join("\n")))
    }
}

/// The tools of a catalog as definitions, with their sizes in every style.
struct NativeListing<'a> {
    description_chars: Option<usize>,
    tools: Vec<NativeTool<'a>>,
    /// The function that reads resources, if a server has any.
    resource: Option<ToolDefinition>,
    find: Option<ToolDefinition>,
    /// The system text about servers and resources.
    text: String,
    counter: &'a TokenCounter,
    /// Number of tokens of `text` and of the function that reads resources, computed once.
    fixed: OnceCell<usize>,
}

struct NativeTool<'a> {
    tool: &'a Tool,
    /// The unchanged definition of the tool.
    whole: ToolDefinition,
    /// Number of tokens of the tool in each style, in the order of [`Listing::ALL`], computed once.
    tokens: [OnceCell<usize>; Listing::ALL.len()],
}

impl<'a> NativeListing<'a> {
    fn new(prompt: &'a Prompt, catalog: &'a Catalog, whole: bool) -> Result<Self, PromptError> {
        let described = |(tool, mut definition): (&'a Tool, ToolDefinition)| {
            if whole && tool.server.is_none() {
                definition.description = whole_description(tool.description.as_deref());
            }
            NativeTool { tool, whole: definition, tokens: Default::default() }
        };
        Ok(NativeListing {
            description_chars: prompt.options.description_chars,
            tools: catalog.offered().zip(ToolDefinition::offered(catalog)).map(described).collect(),
            resource: ToolDefinition::resource_access(catalog),
            find: catalog.built_in(BuiltIn::Find).map(ToolDefinition::from),
            text: prompt.native_text(catalog, "")?,
            counter: &prompt.options.tokens,
            fixed: OnceCell::new(),
        })
    }

    /// Returns the number of bytes of the system text and all unchanged definitions.
    fn bytes(&self) -> usize {
        let definitions = self.tools.iter().map(|tool| &tool.whole).chain(&self.resource);
        self.text.len() + definitions.map(|definition| definition.text().len()).sum::<usize>()
    }

    fn definition(&self, tool: &NativeTool<'_>, style: Listing) -> ToolDefinition {
        let mut definition = tool.whole.clone();
        // The cut is that of the style, from the tool's own text, and not from the definition's cut one.
        if style != Listing::Schema {
            let description = whole_description(Some(listed(tool.tool, style)));
            definition.description = cut_description(description, limit(style, self.description_chars));
        }
        if matches!(style, Listing::Brief | Listing::Index) {
            shorten_descriptions(&mut definition.parameters);
        }
        definition
    }

    fn offered(&self, styles: &[Style], tokens: usize, budget: Option<usize>) -> OfferedTools {
        let listed = Listed::new(styles, tokens, budget);
        let tools = self.tools.iter().zip(styles).filter_map(|(tool, style)| Some(self.definition(tool, (*style)?)));
        let find = self.find.clone().filter(|_| listed.unlisted > 0);
        let all = tools.chain(self.resource.clone()).chain(find);
        OfferedTools { definitions: ToolDefinition::once(all), listed }
    }
}

impl ListMeasure for NativeListing<'_> {
    fn listing(&self, styles: &[Style]) -> Result<usize, PromptError> {
        let fixed =
            || self.counter.count(&self.text) + self.resource.as_ref().map_or(0, |own| own.tokens(self.counter));
        let mut tokens = *self.fixed.get_or_init(fixed);
        for (place, style) in styles.iter().enumerate() {
            tokens += style.map_or(Ok(0), |style| self.tool(place, style))?;
        }
        if styles.contains(&None) {
            tokens += self.find.as_ref().map_or(0, |find| find.tokens(self.counter));
        }
        Ok(tokens)
    }

    fn tool(&self, place: usize, style: Listing) -> Result<usize, PromptError> {
        let tool = &self.tools[place];
        let at = Listing::ALL.iter().position(|known| *known == style).unwrap_or_default();
        Ok(*tool.tokens[at].get_or_init(|| self.definition(tool, style).tokens(self.counter)))
    }
}

/// Cuts each description in a schema to its first sentence.
fn shorten_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = cut_description(first_sentence(text).to_owned(), SENTENCE_CHARS);
                    }
                    // These hold values that a model has to write unchanged.
                    _ if matches!(key.as_str(), "enum" | "const" | "default" | "examples") => {}
                    _ => shorten_descriptions(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten_descriptions),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::prompt::Options;
    use crate::tools::ToolChoice;

    /// Sixteen tools with long descriptions, and one that rolls a die.
    fn catalog(options: &Options) -> std::sync::Arc<Catalog> {
        let schema = json!({"type": "object", "properties": {
            "field": {"type": "string", "description": "The field. It is outside, where sheep are.", "default": {"description": "One. Two."}},
        }});
        let sheep = (0..16).map(|n| {
            let text = format!("Counts the sheep of herd {n}. {}", "It takes a while. ".repeat(40));
            Tool::new(format!("count_sheep_{n}")).with_description(text).with_schema(schema.clone())
        });
        let die = Tool::new("roll_die").with_description("Rolls a die.");
        options.callable(std::sync::Arc::new(Catalog::from_tools(sheep.chain([die]))))
    }

    fn offered(options: &Options, said: &[Said<&str>]) -> OfferedTools {
        Prompt::new(options.clone()).unwrap().offer(&catalog(options), said).unwrap()
    }

    fn names(offered: &OfferedTools) -> Vec<&str> {
        offered.definitions.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn tools_get_shorter_before_any_is_left_to_be_found() {
        let all = offered(&Options::default().with_tool_budget(20_000), &[]);
        let counter = TokenCounter::default();
        let tokens =
            |offered: &OfferedTools| offered.definitions.iter().map(|tool| tool.tokens(&counter)).sum::<usize>();
        assert_eq!((all.listed.count(Listing::Schema), all.definitions.len()), (17, 17));
        let mut before = tokens(&all);
        for budget in [4_000, 3_000, 2_000, 1_500] {
            let some = offered(&Options::default().with_tool_budget(budget), &[]);
            assert!(some.listed.tokens <= budget && tokens(&some) <= some.listed.tokens, "{budget}: {:?}", some.listed);
            assert_eq!((some.definitions.len(), some.listed.unlisted), (17, 0), "{budget}");
            assert!(tokens(&some) < before, "{budget}");
            before = tokens(&some);
        }
        let brief = offered(&Options::default().with_tool_budget(1_500), &[]);
        assert_eq!(brief.definitions[3].description, "Counts the sheep of herd 3.");
        let field = &brief.definitions[3].parameters["properties"]["field"];
        assert_eq!(field["description"], "The field.");
        assert_eq!(field["default"]["description"], "One. Two.", "a value is no description");
    }

    #[test]
    fn what_the_conversation_means_is_offered_and_the_rest_is_found() {
        let options = Options::default().with_tool_budget(500);
        let none = offered(&options, &[]);
        assert_eq!(names(&none), ["find_tool"]);
        let said = [Said::Question("How many sheep are in herd 7?")];
        let some = offered(&options, &said);
        assert!(some.listed.tokens <= 500 && names(&some).contains(&"count_sheep_7"), "{some:?}");
        assert!(some.listed.unlisted > 8 && names(&some).last() == Some(&"find_tool"), "{some:?}");
        let found = offered(&options, &[said[0], Said::Searched("roll a die")]);
        let with_die: Vec<&str> = names(&found).into_iter().filter(|name| *name != "roll_die").collect();
        assert_eq!(with_die, names(&some), "what was offered stays");
        let named = options.clone().with_tool_choice(ToolChoice::Named("roll_die".into()));
        assert!(names(&offered(&named, &said)).contains(&"roll_die"));
        let prompt = Prompt::new(options.clone()).unwrap();
        let answer = |query: &str| prompt.native_find(&catalog(&options), query).unwrap().text;
        assert_eq!(answer("roll a die"), "roll_die: Rolls a die.");
        assert!(answer("xyzzy").contains("xyzzy"));
    }

    #[test]
    fn few_tools_that_do_not_fit_are_over_the_budget() {
        let tools = (0..3).map(|n| {
            Tool::new(format!("tool_{n}")).with_schema(json!({
                "type": "object", "properties": {"a": {"enum": (0..200).collect::<Vec<_>>()}},
            }))
        });
        let options = Options::default().with_tool_budget(300);
        let catalog = options.callable(std::sync::Arc::new(Catalog::from_tools(tools)));
        let offered = Prompt::new(options).unwrap().offer(&catalog, &[]).unwrap();
        assert!(offered.listed.is_over_budget() && offered.definitions.len() == 3, "{offered:?}");
    }
}
