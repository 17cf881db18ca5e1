//! The values for the templates of the system text, from a catalog.

use minijinja::{Value, context};
use serde::Serialize;

use super::budget::Style;
use super::entry::Lister;
use super::error::PromptError;
use super::example::{describe_call, display_name, find_call, read_call};
use super::options::{Listing, NAME_CHARS, NOTE_CHARS, Options, TEXT_CHARS};
use crate::outcome::Neutraliser;
use crate::tools::{Catalog, FOUND, Server, Tool, ToolChoice};

/// Maximum number of tool names that are listed if none is similar to the name that the model wrote.
pub(super) const NAMES: usize = 40;

/// Maximum number of tools that are described if the model describes a task instead of naming a tool.
const DESCRIBED: usize = 3;

/// An example for the model: a question and the call that answers it, or a result and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Example {
    /// The user message of the example.
    pub question: String,
    /// The assistant message that answers it.
    pub call: String,
    /// `true` if the example continues the previous one, so that `question` is the result of that one's call.
    pub follows: bool,
}

impl Example {
    pub(super) fn new(question: impl Into<String>, call: impl Into<String>) -> Self {
        Example { question: question.into(), call: call.into(), follows: false }
    }
}

/// Returns the template variables of the system text, with the offered tools in these styles.
pub(super) fn view(
    catalog: &Catalog,
    options: &Options,
    neutraliser: &Neutraliser,
    styles: &[Style],
) -> Result<Value, PromptError> {
    let named = named(catalog, &options.tool_choice)?;
    let silent = options.tool_choice == ToolChoice::None;
    let listed = if silent { &[] } else { catalog.servers() };
    let resource = listed.iter().find_map(readable);
    let read = resource.map(|(server, uri)| read_call(options.dialect, neutraliser, server, uri));
    let dialect = options.dialect;
    let full = options.listing.full();
    let has = |style| styles.contains(&Some(style));
    // The full style also occurs later if tools are listed as index or not at all: the built-in tools answer in it.
    let shows = |style| has(style) || (full == style && (has(Listing::Index) || styles.contains(&None)));
    let short = catalog.offered().zip(styles).find(|(_, style)| **style == Some(Listing::Index)).map(|(tool, _)| tool);
    // A tool that the choice names is listed in full, so nothing needs to be described.
    let short = short.filter(|_| !silent && named.is_none());
    let describe = short.and_then(|tool| describe_call(catalog, dialect, neutraliser, tool));
    Ok(context! {
        own => options.system.as_deref().unwrap_or_default(),
        servers => if silent { Vec::new() } else { servers(catalog, options, neutraliser, styles) },
        has_tools => catalog.offered().next().is_some(),
        has_resources => resource.is_some(),
        // Some tool is display-only.
        displays => catalog.offered().any(|tool| tool.display_only),
        ambiguous => catalog.tools().any(|tool| catalog.is_ambiguous(&tool.name)),
        choice => choice_word(catalog, &options.tool_choice),
        named => named
            .map(|tool| neutraliser.describe(&display_name(catalog, dialect, tool), NAME_CHARS))
            .unwrap_or_default(),
        listing => options.listing.as_str(),
        // Some tool shows its parameters as a signature; `schemas`: some tool shows them by a schema.
        signatures => shows(Listing::Signature) || has(Listing::Brief),
        schemas => shows(Listing::Schema),
        max_calls => options.max_calls,
        // An example call; `question` is the question that it answers.
        example => (),
        question => (),
        // The other examples, in the style that shows them.
        examples => Vec::<Value>::new(),
        // The examples are in messages of their own, not in this text.
        apart => false,
        read,
        // The built-in tool that gives the parts that an index leaves out.
        describe => describe.map(|(name, example)| context! { name, example }),
        find => if silent || named.is_some() { None } else { further(catalog, options, neutraliser, styles) },
    })
}

/// Returns the template variables about the built-in tool `find_tool`; `None` if all tools are listed.
fn further(catalog: &Catalog, options: &Options, neutraliser: &Neutraliser, styles: &[Style]) -> Option<Value> {
    let unlisted = || catalog.offered().zip(styles).filter(|(_, style)| style.is_none()).map(|(tool, _)| tool);
    let count = unlisted().count();
    let (name, example) = find_call(catalog, options.dialect, options.lang).filter(|_| count > 0)?;
    let mut servers: Vec<&str> = unlisted().filter_map(|tool| tool.server.as_deref()).collect();
    servers.dedup();
    let others = servers.len().saturating_sub(NAMES);
    let servers: Value = servers.iter().take(NAMES).map(|server| neutraliser.describe(server, NAME_CHARS)).collect();
    // `count` tools on these servers, and on `others` further ones.
    Some(context! { name, example, count, servers, others })
}

/// Returns the tools that may have an example: those that are listed with their parameters, or only the one that the
/// tool choice names.
pub(super) fn shown<'a>(
    catalog: &'a Catalog,
    styles: &'a [Style],
    named: Option<&'a Tool>,
) -> impl Iterator<Item = &'a Tool> {
    // An index has no parameters, so the model could not understand the example.
    let in_full = |style: Style| style.is_some_and(|style| style != Listing::Index);
    let shown = catalog.offered().zip(styles).filter(move |(_, style)| in_full(**style)).map(|(tool, _)| tool);
    shown.filter(move |tool| named.is_none_or(|named| std::ptr::eq(named, *tool)))
}

/// Returns the template entries of the servers that have listed tools or resources, with the offered tools in these
/// styles.
pub(super) fn servers(
    catalog: &Catalog,
    options: &Options,
    neutraliser: &Neutraliser,
    mut styles: &[Style],
) -> Vec<Value> {
    let lister = Lister::new(catalog, options, neutraliser);
    let mut views = Vec::new();
    for server in catalog.offering() {
        let (own, rest) = styles.split_at(server.tools.len());
        styles = rest;
        if own.iter().any(Option::is_some) || server.has_resources() {
            views.push(lister.server(server, own));
        }
    }
    views
}

/// Returns the template variables of the answer of `describe_tool`: the tools that match a name, or the nearest names.
pub(super) fn describe(catalog: &Catalog, options: &Options, name: &str) -> Value {
    let neutraliser = Neutraliser::new(catalog);
    let lister = Lister::new(catalog, options, &neutraliser);
    let word = |word: &str| neutraliser.describe(word, NOTE_CHARS);
    let found = catalog.named(name);
    let (tools, nearest) = match found {
        Ok(tools) => (tools, Vec::new()),
        // A text that is similar to no name may describe the purpose of a tool.
        Err(error) if error.nearest.is_empty() => (catalog.likeliest(name, DESCRIBED), Vec::new()),
        Err(error) => (Vec::new(), error.nearest),
    };
    let all = catalog.offered().map(|tool| word(&display_name(catalog, options.dialect, tool)));
    // The model asks for the whole description, so a lower limit of the list does not apply.
    let most = options.description_chars.unwrap_or(0).max(TEXT_CHARS);
    let is_unlike_all = tools.is_empty() && nearest.is_empty();
    context! {
        names => all.take(if is_unlike_all { NAMES } else { 0 }).collect::<Value>(),
        tools => tools
            .iter()
            .map(|tool| lister.tool_within(tool, options.listing.full(), most))
            .collect::<Value>(),
        name => word(name),
        nearest => nearest.iter().map(|name| word(name)).collect::<Value>(),
        // The tools were found by their purpose.
        found => false,
    }
}

/// Returns the template variables of the answer of `find_tool`: the tools whose purpose fits the query.
pub(super) fn find(catalog: &Catalog, options: &Options, query: &str) -> Value {
    let neutraliser = Neutraliser::new(catalog);
    let lister = Lister::new(catalog, options, &neutraliser);
    let found = catalog.likeliest(query, FOUND);
    context! {
        tools => found.iter().map(|tool| lister.tool(tool, options.listing.full())).collect::<Value>(),
        name => neutraliser.describe(query, NOTE_CHARS),
        nearest => Vec::<Value>::new(),
        names => Vec::<Value>::new(),
        found => true,
    }
}

/// Returns the name of a server and its first resource URI or URI template; `None` if it has no resources.
pub(super) fn readable(server: &Server) -> Option<(Option<&str>, &str)> {
    let templates = server.resource_templates.iter().map(|template| &template.uri_template);
    let uri = server.resources.iter().map(|resource| &resource.uri).chain(templates).next()?;
    Some((server.name.as_deref(), uri))
}

/// Returns the tool choice as the templates name it; `nothing` if the catalog is empty.
pub(super) fn choice_word(catalog: &Catalog, choice: &ToolChoice) -> &'static str {
    match choice {
        _ if catalog.is_empty() => "nothing",
        ToolChoice::Auto => "auto",
        ToolChoice::None => "none",
        ToolChoice::Required => "required",
        ToolChoice::Named(_) => "named",
    }
}

/// Returns the tool that the choice names, `None` if it names none.
pub(super) fn named<'a>(catalog: &'a Catalog, choice: &ToolChoice) -> Result<Option<&'a Tool>, PromptError> {
    match choice {
        ToolChoice::Auto | ToolChoice::None => Ok(None),
        ToolChoice::Required if catalog.is_empty() => Err(PromptError::NothingToCall),
        ToolChoice::Required => Ok(None),
        ToolChoice::Named(name) => {
            let tool = catalog.offered().find(|tool| choice.admits(tool.server.as_deref(), &tool.name));
            let unknown = || PromptError::UnknownTool { name: name.clone(), nearest: catalog.nearest(name) };
            tool.ok_or_else(unknown).map(Some)
        }
    }
}
