//! How a prompt lists its tools: flags that commands with a prompt share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::base::{Failure, input, tokens};
use crate::settings::examples::{Examples, MadeExamples};
use crate::settings::{Slots, slots};
use toolgraft::dialect::PromptStyle;
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Listed, Listing, Options, Template};

/// How the tools are listed.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Tools in the prompt")]
pub(crate) struct PromptArgs {
    /// How tools are listed: schema, signature, brief or index [default: signature]
    ///
    /// schema: the whole JSON Schema. signature: one line like TypeScript,
    /// description and notes. brief: the same with the first sentence of the
    /// description. index: name and first sentence; the model asks for the rest
    /// with a built-in tool.
    #[arg(long, value_name = "STYLE")]
    pub(crate) listing: Option<Listing>,

    /// How much the prompt says: full or compact [default: the model's, by its size]
    ///
    /// full: the tools, how to call them, rules. compact, for models below three
    /// billion parameters: the tools, a question with its call for each, no
    /// rules, and short results.
    #[arg(long, value_name = "STYLE")]
    pub(crate) prompt_style: Option<PromptStyle>,

    /// Characters of a tool's description at most, or full [default: 600, with --listing schema 2000]
    #[arg(long, value_name = "full|N", value_parser = description)]
    pub(crate) describe: Option<usize>,

    /// Where examples of the compact style come from: schema or made [default: schema]
    ///
    /// Of tools that have none of their own. schema: values by names and types. made: the model
    /// makes a question and a call for each tool, once; that takes a few requests for each, and they
    /// are kept. `toolgraft probe` finds which of them helps a model.
    #[arg(long, value_name = "SOURCE", value_enum, hide_possible_values = true)]
    pub(crate) examples: Option<Examples>,

    /// Tokens that the list of tools may take [default: a quarter of the context, or 8000]
    ///
    /// 8000 where the length of the context is not known. Tools are listed shorter until the list
    /// fits: first all tools with a schema become signatures, those that save most first, then
    /// brief, then index. Where not even their names fit, those are listed that the question means,
    /// and the model finds the rest with find_tool. The same holds for tools that go in the request.
    /// Counted in o200k; instructions and resources of the servers count too, the rules of the
    /// prompt do not.
    #[arg(long, value_name = "TOKENS", value_parser = input::above_zero::<NonZeroUsize>)]
    pub(crate) tool_budget: Option<NonZeroUsize>,

    /// A template that replaces the system text, or a folder of templates
    ///
    /// Jinja's syntax. In a folder, system.j2, results.j2, describe.j2,
    /// frame.j2, listing.j2, tool.j2, lookup.j2 and rules.j2 replace the built-in
    /// ones; others can be included. docs/prompt.md lists the variables.
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) prompt: Option<PathBuf>,
}

impl PromptArgs {
    /// The flags that have defaults.
    pub(crate) fn slots(&mut self) -> Slots<'_> {
        slots! { self => listing prompt_style tool_budget examples }
    }

    /// The examples that the model made, where those are to be shown.
    pub(crate) fn made_examples(&self, model: &str) -> Option<MadeExamples> {
        (self.examples == Some(Examples::Made)).then(|| MadeExamples::of(model))
    }

    /// The options with what the flags say. Reads the templates; what is wrong in
    /// them shows when a prompt is made of the options.
    pub(crate) fn apply(&self, options: Options) -> Result<Options, Failure> {
        let known = options.description_chars;
        let (style, listing) = (self.prompt_style.unwrap_or(options.style), self.listing.unwrap_or(options.listing));
        Ok(options
            .with_style(style)
            .with_listing(listing)
            .with_description_chars(self.describe.or(known))
            .with_tool_budget(self.tool_budget.map(NonZeroUsize::get))
            .with_tokens(TokenCounter::new(tokens::count))
            .with_templates(self.prompt.as_deref().map(templates).transpose()?.unwrap_or_default()))
    }
}

fn description(text: &str) -> Result<usize, String> {
    match text {
        "full" => Ok(usize::MAX),
        _ => text.parse().map_err(|_| "expected full, or a number of characters".to_owned()),
    }
}

fn templates(path: &Path) -> Result<Vec<Template>, Failure> {
    if !path.is_dir() {
        return Ok(vec![Template::system(input::read_text(path)?).from_file(input::shown(path))]);
    }
    let unreadable = |e: std::io::Error| Failure::usage(format!("cannot read the folder {}: {e}", path.display()));
    let entries = std::fs::read_dir(path).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut files: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "j2"));
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !files.iter().any(|file| Template::NAMES.contains(&name(file).as_str())) {
        return Err(Failure::usage(format!(
            "{}: no template in it: expected at least one of {}.j2",
            path.display(),
            Template::NAMES.join(".j2, ")
        )));
    }
    let read = |file: PathBuf| Ok(Template::new(name(&file), input::read_text(&file)?).from_file(input::shown(&file)));
    files.into_iter().map(read).collect()
}

/// What a budget did to the tools, for people; `None` where nothing was asked.
pub(crate) fn fitted(listed: &Listed) -> Option<String> {
    let budget = listed.budget?;
    let listed_as = listed.to_string();
    let listed_as = if listed.count(Listing::Index) > 0 {
        format!("{listed_as} (describe_tool gives the rest)")
    } else {
        listed_as
    };
    Some(format!("tools: {} of {budget} tokens; {listed_as}", listed.tokens))
}

/// What to do about a listing that does not fit its budget.
pub(crate) fn over_budget(listed: &Listed) -> Option<String> {
    let budget = listed.budget.filter(|_| listed.is_over_budget())?;
    Some(format!(
        "the tools take {} tokens, listed as short as they can be, and may take {budget}: raise --tool-budget, \
         or connect fewer servers",
        listed.tokens
    ))
}

/// The same as JSON: `tokens`, `budget`, the number of tools in each style, and of those that
/// are not listed.
pub(crate) fn as_json(listed: &Listed) -> Value {
    let mut object = Map::new();
    object.insert("tokens".to_owned(), listed.tokens.into());
    object.insert("budget".to_owned(), listed.budget.into());
    object.extend(Listing::ALL.iter().map(|style| (style.to_string(), listed.count(*style).into())));
    object.insert("unlisted".to_owned(), listed.unlisted.into());
    Value::Object(object)
}
