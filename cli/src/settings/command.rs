//! `toolgraft config`: what counts and where it comes from, and the file changed.

use std::path::Path;

use serde_json::json;
use toml_edit::{DocumentMut, Item};

use super::explain::{self, ExplainArgs, ToolArgs};
use super::file;
use super::keys::{self, CallDisplay, KEYS, Key, ReasoningDisplay, Settings};
use super::names::{Place, TABLES};
use super::sources::{Source, variable_of};
use crate::base::{Failure, output};
use crate::settings::saved_profiles;
use toolgraft::constrain::Way;
use toolgraft::dialect::Profile;
use toolgraft::prompt::Options;
use toolgraft::secrets::{Secrets, url_secrets};
use toolgraft::tools::ToolsMode;
use toolgraft::turn::{CALL_THRESHOLD, TurnConfig};

/// Options of `toolgraft config`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/config.txt").trim_end())]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Debug, Default, clap::Args)]
struct ShowArgs {
    /// For this model, with its profile and what probe found
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// For this endpoint
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Print one JSON object: the file, and per key its value, where it is from, its variable, what it does
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Show every key, its value, its source and its description (the default)
    Show(ShowArgs),
    /// Set a key
    Set {
        /// One of the keys that `toolgraft config` shows, endpoints.NAME.KEY or models.NAME
        key: String,
        /// Its value; lists as in TOML
        value: String,
    },
    /// Remove a key, so that the built-in value applies again
    Unset {
        /// One of the keys that `toolgraft config` shows, endpoints.NAME.KEY or models.NAME
        key: String,
    },
    /// Print the path of the file
    Path,
    /// Explain which rule decides whether a call, or calls of a tool, run
    Explain(ExplainArgs),
    /// Allow a tool that has changed since it was allowed
    Accept(ToolArgs),
}

/// Runs `toolgraft config`.
pub(crate) fn run(args: &ConfigArgs) -> Result<(), Failure> {
    let path = || file::path().ok_or_else(|| Failure::usage("there is no home directory: no defaults are kept"));
    match &args.command {
        Some(ConfigCommand::Explain(call)) => explain::explain(call),
        Some(ConfigCommand::Accept(tool)) => explain::accept(tool),
        Some(ConfigCommand::Path) => output::emit(&format!("{}\n", path()?.display())),
        None => show(&ShowArgs::default(), &path()?),
        Some(ConfigCommand::Show(shown)) => show(shown, &path()?),
        Some(ConfigCommand::Set { key, value }) => {
            let path = path()?;
            file::edit(&path, false, |document| put(document, key, value))?;
            output::tell(&format!("{key} is set in {}", path.display()))
        }
        Some(ConfigCommand::Unset { key }) => {
            let path = path()?;
            let names = file::names_of(key).unwrap_or_else(|| vec![key.as_str()]);
            file::edit(&path, true, |document| match file::take(document.as_table_mut(), &names) {
                true => Ok(()),
                false => Err(Failure::usage(format!("{} does not set {key:?}", path.display()))),
            })?;
            output::tell(&format!("{key} is no longer set in {}", path.display()))
        }
    }
}

/// Sets a key of the configuration document, or an entry of its tables of endpoints and models.
fn put(document: &mut DocumentMut, key: &str, value: &str) -> Result<(), Failure> {
    if let Some(names) = file::names_of(key) {
        file::put(document, &names, value);
        return Ok(());
    }
    let value = file::toml_value(key, value)?;
    match document.get_mut(key).and_then(Item::as_value_mut) {
        // The comment after it stays.
        Some(there) => {
            let decor = there.decor().clone();
            *there = value;
            *there.decor_mut() = decor;
        }
        None => document[key] = Item::Value(value),
    }
    Ok(())
}

/// Name of a settings source and its values; `None` for the environment, where each variable has a name of its own.
type ShownValues = (Option<String>, keys::Values);

/// Returns the values of all settings sources except flags, in descending precedence.
fn sources(args: &ShowArgs, path: &Path) -> Result<Vec<ShownValues>, Failure> {
    let (environment, content) = (Source::Environment.settings()?, file::read()?);
    let (base_url, model) = (args.base_url.clone(), args.model.clone());
    let asked = Settings { base_url, model, ..Settings::default() }.resolve(&Source::EVERYWHERE)?;
    let Settings { base_url: url, model, profile, .. } = asked;
    let Place { url, model, .. } = content.names.locate(Place { url, model, ..Place::default() })?;
    let folder = Source::Folder.settings()?;
    let mut sources = vec![
        (None, environment.values()),
        (Some("this folder's own, in chat: /set, /allow".to_owned()), folder.values()),
        (Some(path.display().to_string()), content.settings.values()),
    ];
    let saved = model.as_deref().map(|model| saved_profiles::find(url.as_deref(), model)).transpose()?.flatten();
    if let Some(saved) = saved {
        sources.push((Some(format!("[[probed]] of {}", path.display())), Settings::from(&saved).values()));
    }
    if let Some(profile) = profile.or_else(|| model.as_deref().map(Profile::for_model)) {
        let style = profile.style_for(model.as_deref().unwrap_or_default(), None);
        let of_profile = Settings {
            dialect: Some(profile.dialect),
            lang: Some(profile.lang),
            temperature: profile.temperature,
            prompt_style: Some(style),
            ..Settings::default()
        };
        sources.push((Some(format!("the profile {}", profile.name)), of_profile.values()));
    }
    sources.push((Some("built in".to_owned()), built_in().values()));
    Ok(sources)
}

/// Returns the default settings, which apply if no source sets a key.
fn built_in() -> Settings {
    let (turn, options) = (TurnConfig::default(), Options::default());
    Settings {
        tools_mode: Some(ToolsMode::Auto),
        constrain: Some(turn.constrain),
        way: Some(Way::Auto),
        carry_reasoning: Some(turn.carry_reasoning),
        call_threshold: Some(CALL_THRESHOLD),
        dialect: Some(options.dialect),
        listing: Some(options.listing),
        max_rounds: turn.max_rounds.try_into().ok(),
        max_repeats: Some(turn.max_repeats),
        reasoning_display: Some(ReasoningDisplay::Folded),
        call_display: Some(CallDisplay::Box),
        history: Some(true),
        sessions: Some(true),
        ..Settings::default()
    }
}

fn show(args: &ShowArgs, path: &Path) -> Result<(), Failure> {
    let text = file::text(path)?;
    // What is wrong in the file is said before anything is shown.
    file::parsed(&text, path)?;
    let document = file::document(&text, path)?;
    let sources = sources(args, path)?;
    let found = |key: &str| {
        let (from, values) = sources.iter().find(|(_, values)| values.contains_key(key))?;
        Some((&values[key], from.clone().unwrap_or_else(|| variable_of(key))))
    };
    let set = |key: &str| document.get(key).map(|item| item.to_string().trim().to_owned());
    if args.json {
        let key = |Key { name, does, .. }: &Key| {
            let ((value, from), set) = (found(name).unzip(), set(name));
            json!({ "key": name, "variable": variable_of(name), "set": set, "value": value, "from": from, "what": does })
        };
        let mut shown = json!({ "file": path, "keys": KEYS.iter().map(key).collect::<Vec<_>>() });
        secrets_of(&shown.to_string()).hide_in(&mut shown);
        return output::emit_json(&shown);
    }
    let file = path.display().to_string();
    let mut text = format!("# {}\n", if path.exists() { file.clone() } else { format!("{file} (not there yet)") });
    for Key { name, does, example, .. } in KEYS {
        text.push_str(&format!("\n# {}\n", does));
        let set = set(name);
        if let Some(set) = &set {
            text.push_str(&format!("{name} = {set}\n"));
        }
        match found(name) {
            // The file's own line says it.
            Some((_, from)) if set.is_some() && from == file => {}
            // JSON's texts, numbers and lists are TOML's.
            Some((value, from)) => text.push_str(&format!("# {name} = {value}  (from: {from})\n")),
            None => text.push_str(&format!("# {name} = {example}\n")),
        }
    }
    let names: Vec<String> = TABLES.iter().filter_map(|table| Some(in_file(table, document.get(table)?))).collect();
    text.push_str(&format!(
        "\n# names for endpoints and models, for --base-url and --model (`toolgraft config --help`)\n{}",
        names.concat()
    ));
    if names.is_empty() {
        text.push_str(NAMES_EXAMPLE);
    }
    output::emit(&secrets_of(&text).hide(&text))
}

/// Returns the secrets in the URLs of a JSON or TOML text, where URLs are in quotation marks.
fn secrets_of(text: &str) -> Secrets {
    let urls = text.split(['"', '\'']).filter(|part| part.contains("://"));
    // Inside a text of JSON the quotation mark after the URL is written `\"`.
    Secrets::new(urls.flat_map(|url| url_secrets(url.trim_end_matches('\\'))))
}

/// Returns a table under this name as the TOML text of a configuration file.
fn in_file(name: &str, table: &Item) -> String {
    let mut document = DocumentMut::new();
    document[name] = table.clone();
    format!("{}\n", document.to_string().trim())
}

/// Example in TOML of names for endpoints and models, for output.
const NAMES_EXAMPLE: &str = include_str!("names_example.toml");
