//! How a prompt lists its tools: what commands with a prompt share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::base::{Failure, input, tokens};
use crate::settings::{Slots, slots};
use toolgraft::dialect::PromptStyle;
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Listed, Listing, Options, Template};

/// How the tools are listed: keys of the table alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptSettings {
    pub(crate) listing: Option<Listing>,
    pub(crate) prompt_style: Option<PromptStyle>,
    pub(crate) describe: Option<usize>,
    pub(crate) tool_budget: Option<NonZeroUsize>,
    pub(crate) prompt: Option<PathBuf>,
}

impl PromptSettings {
    /// Their places.
    pub(crate) fn slots(&mut self) -> Slots<'_> {
        slots! { self => listing prompt_style describe tool_budget prompt }
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
        "the tools take {} tokens, listed as short as they can be, and may take {budget}: raise it with --set tool_budget=N, \
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
