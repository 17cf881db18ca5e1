//! The settings of a prompt and of the list of tools in it: what commands with a prompt share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::base::{Failure, input, tokens};
use crate::settings::{self, Settings};
use toolgraft::dialect::{Profile, PromptStyle};
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Listed, Listing, Options, Template};

impl Settings {
    /// Returns the options of the prompt for a model with this profile; `style` applies unless the settings set one.
    ///
    /// # Errors
    /// A file that the settings name (system text, templates) cannot be read.
    pub(crate) fn prompt_options(&self, profile: &Profile, style: PromptStyle) -> Result<Options, Failure> {
        let defaults = Options::for_profile(profile).with_style(style);
        let (dialect, lang) = (self.dialect.unwrap_or(defaults.dialect), self.lang.unwrap_or(defaults.lang));
        let system = self.system.as_deref().map(system_text).transpose()?;
        Ok(self.listed(defaults)?.with_dialect(dialect).with_lang(lang).with_system(system))
    }

    /// Returns the options with the settings for the list of tools applied. Template files are read here; faults in
    /// them are reported when the prompt is composed.
    pub(crate) fn listed(&self, options: Options) -> Result<Options, Failure> {
        let given = self.describe.map(|most| if most == 0 { usize::MAX } else { most });
        let described = given.or(options.description_chars);
        let (style, listing) = (self.prompt_style.unwrap_or(options.style), self.listing.unwrap_or(options.listing));
        Ok(options
            .with_style(style)
            .with_listing(listing)
            .with_description_chars(described)
            .with_tool_budget(self.tool_budget.map(NonZeroUsize::get))
            .with_tokens(TokenCounter::new(tokens::count))
            .with_templates(self.prompt.as_deref().map(templates).transpose()?.unwrap_or_default()))
    }
}

/// Returns the user's system text, which may be read from a file (`@FILE`). The failure names the settings source that
/// refers to the file.
fn system_text(said: &str) -> Result<String, Failure> {
    input::text_or_file(said).map_err(|failure| match settings::source_of("system", said) {
        Some(source) => Failure::usage(format!("{source}: {}", failure.message())),
        None => failure,
    })
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
            "{}: no template in this folder: expected at least one of {}.j2",
            path.display(),
            Template::NAMES.join(".j2, ")
        )));
    }
    let read = |file: PathBuf| Ok(Template::new(name(&file), input::read_text(&file)?).from_file(input::shown(&file)));
    files.into_iter().map(read).collect()
}

/// Returns a line on how the list of tools was shortened to fit its token budget; `None` without a budget.
pub(crate) fn fitted(listed: &Listed) -> Option<String> {
    let budget = listed.budget?;
    let rest = if listed.count(Listing::Index) > 0 { " (describe_tool gives the rest)" } else { "" };
    Some(format!("tools: {} of {budget} tokens; {listed}{rest}", listed.tokens))
}

/// Returns a warning with a remedy if the list of tools exceeds its token budget; `None` if it fits.
pub(crate) fn over_budget(listed: &Listed) -> Option<String> {
    let budget = listed.budget.filter(|_| listed.is_over_budget())?;
    Some(format!(
        "the tools take {} tokens, listed as short as they can be, and may take {budget}: raise it with --set tool_budget=N, \
         or connect fewer servers",
        listed.tokens
    ))
}

/// Returns the size of a list of tools as JSON: `tokens`, `budget`, the number of tools in each form, and `unlisted`,
/// the number of omitted ones.
pub(crate) fn as_json(listed: &Listed) -> Value {
    let mut object = Map::new();
    object.insert("tokens".to_owned(), listed.tokens.into());
    object.insert("budget".to_owned(), listed.budget.into());
    object.extend(Listing::ALL.iter().map(|style| (style.to_string(), listed.count(*style).into())));
    object.insert("unlisted".to_owned(), listed.unlisted.into());
    Value::Object(object)
}
