//! `~/.config/toolgraft/config.toml`.
//!
//! The file is TOML; what is written into it keeps its comments and order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml_edit::{DocumentMut, Item, Table, Value};
use toolgraft_files::{self as files, Mode};

use super::keys::{KEYS, Settings, known};
use super::names::{Names, TABLES, wrong_in_names};
use super::probed::{SavedProfile, wrong_in_probed};
use super::wrong::{Wrong, read_item};
use crate::base::{Failure, input, words};

/// Path of the configuration file below the home directory.
const FILE: &str = ".config/toolgraft/config.toml";

/// Names of the tables that the program writes: results of `probe`, and the settings of folders.
const OTHERS: [&str; 2] = ["probed", "folders"];

/// Returns the path of the user's configuration file; `None` if there is no home directory.
pub(crate) fn path() -> Option<PathBuf> {
    Some(std::env::home_dir()?.join(FILE))
}

/// The content of the configuration file `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ConfigToml {
    /// The settings for all models and folders, from the top-level keys.
    #[serde(skip)]
    pub(crate) settings: Settings,
    #[serde(flatten)]
    pub(crate) names: Names,
    pub(super) probed: Vec<SavedProfile>,
    pub(super) folders: BTreeMap<String, Settings>,
}

/// Returns the content of the user's configuration file; empty settings if there is no file.
pub(crate) fn read() -> Result<ConfigToml, Failure> {
    path().map_or_else(|| Ok(ConfigToml::default()), |path| read_from(&path))
}

/// Returns the content of the configuration file at this path.
pub(super) fn read_from(path: &Path) -> Result<ConfigToml, Failure> {
    parsed(&text(path)?, path)
}

/// Returns the text of the configuration file; an empty text if it does not exist.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    if !path.exists() {
        return Ok(String::new());
    }
    let read = std::fs::read(path).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
    input::decode(read, &path.display().to_string())
}

/// Parses the text of a configuration file. The failure lists all faults, each with its line number.
pub(super) fn parsed(text: &str, path: &Path) -> Result<ConfigToml, Failure> {
    let tables = [&TABLES[..], &OTHERS].concat();
    let (settings, mut document) = parsed_with(text, path, &tables, &[])?;
    document.retain(|key, _| tables.contains(&key));
    let content: ConfigToml = toml_edit::de::from_document(document).map_err(|e| unfit(path, e.message()))?;
    Ok(ConfigToml { settings, ..content })
}

/// Returns the faults in the tables of endpoints, models, folders and probe results.
fn wrong_in_tables(document: &Table) -> Vec<Wrong> {
    let folders = document.get("folders").and_then(Item::as_table_like).into_iter().flat_map(|table| table.iter());
    let of_folder = |(folder, item): (&str, &Item)| {
        let keys = item.as_table_like().into_iter().flat_map(|table| table.iter());
        let problem = |(key, item): (&str, &Item)| {
            let problem = read_key(key, item).err()?;
            Some((vec!["folders".to_owned(), folder.to_owned(), key.to_owned()], (None, problem)))
        };
        keys.filter_map(problem).collect::<Vec<_>>()
    };
    let names = document.iter().flat_map(|(key, item)| wrong_in_names(key, item));
    let probed = document.get("probed").map(wrong_in_probed).unwrap_or_default();
    names.chain(probed).chain(folders.flat_map(of_folder)).collect()
}

/// Returns the byte range of the entry that a path of keys leads to; in an array of tables a key is an index.
fn span(item: &Item, keys: &[&str]) -> Option<Range<usize>> {
    let (key, below) = keys.split_first()?;
    if let Item::ArrayOfTables(tables) = item {
        return tables.get(key.parse().ok()?)?.span();
    }
    let (key, inner) = item.as_table_like()?.get_key_value(key)?;
    span(inner, below).or_else(|| key.span())
}

/// Parses a configuration text with further top-level keys (`own`), and without the `refused` keys, each given with its
/// remedy. Returns the settings, and the document for the caller's own keys.
pub(crate) fn parsed_with(
    text: &str,
    path: &Path,
    own: &[&str],
    refused: &[(&str, &str)],
) -> Result<(Settings, DocumentMut), Failure> {
    let name = path.display();
    let document = document(text, path)?;
    // Spans are only there in a document that was not made to be edited.
    let places = toml_edit::Document::parse(text).ok();
    let place = |keys: &[&str]| {
        let span = places.as_ref().and_then(|places| span(places.as_item(), keys));
        span.map_or(1, |span| line(text, span.start))
    };
    let mut problems = Vec::new();
    for (key, item) in document.iter().filter(|(key, _)| !own.contains(key)) {
        let problem = match refused.iter().find(|(refused, _)| *refused == key) {
            Some((_, remedy)) => Some(format!("{key} is not accepted here: {remedy}")),
            None => read_key(key, item).err(),
        };
        problems.extend(problem.map(|problem| (place(&[key]), problem)));
    }
    // A template, which is read here too, has none of these tables.
    let tables = places.as_ref().map(|places| places.as_table()).filter(|_| own.contains(&TABLES[0]));
    for (keys, (at, problem)) in tables.map(wrong_in_tables).unwrap_or_default() {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        problems.push((at.map_or_else(|| place(&keys), |at| line(text, at)), problem));
    }
    if !problems.is_empty() {
        problems.sort_by_key(|(line, _)| *line);
        return Err(Failure::usages(problems.iter().map(|(line, problem)| format!("{name}:{line}: {problem}"))));
    }
    let mut settings = document.clone();
    own.iter().for_each(|key| drop(settings.remove(key)));
    let settings = toml_edit::de::from_document(settings);
    settings
        .map(|settings| (settings, document))
        .map_err(|e| Failure::usage(format!("{name}: {}", e.message().trim_end())))
}

/// Parses a text as an editable TOML document.
///
/// # Errors
/// The text is not valid TOML; the message contains the line number.
pub(super) fn document(text: &str, path: &Path) -> Result<DocumentMut, Failure> {
    text.parse().map_err(|e: toml_edit::TomlError| {
        let at = e.span().map_or(0, |span| span.start);
        let (path, line) = (path.display(), line(text, at));
        Failure::usage(format!("{path}:{line}: {}: fix the TOML here", e.message().trim_end()))
    })
}

/// Changes the configuration file and preserves its comments and order. A file with faults is left for the user to
/// correct by hand, unless the change `repairs` it, by removing an entry that may be the fault.
///
/// # Errors
/// The file cannot be read or written, or has faults before or after the change.
pub(super) fn edit(
    path: &Path,
    repairs: bool,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let text = text(path)?;
    let before = parsed(&text, path);
    let is_right = before.is_ok();
    if !repairs {
        before?;
    }
    let mut document = document(&text, path)?;
    change(&mut document)?;
    // A file with several faults is repaired one by one.
    if is_right {
        parsed(&document.to_string(), path)?;
    }
    files::replace(path, document.to_string().as_bytes(), Mode::Kept)
        .map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
}

/// Returns a failure with the path of the configuration file and a problem.
pub(super) fn unfit(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {}", path.display(), why.to_string().trim_end()))
}

fn line(text: &str, at: usize) -> usize {
    input::place(text.as_bytes(), at).0
}

pub(super) fn unknown(key: &str) -> String {
    if key == "api_key" {
        return "keys do not belong here: use OPENAI_API_KEY, or key_command of [endpoints.NAME]".to_owned();
    }
    let near = words::near(key, KEYS.iter().map(|known| known.name));
    match near {
        Some(near) => format!("no key {key:?}: did you mean {near:?}?"),
        None => format!("no key {key:?}: `toolgraft config` shows them all"),
    }
}

/// Reads the TOML value of a settings key, and returns settings with only this key.
///
/// # Errors
/// There is no such key, or the value is invalid for it; the message contains an example.
pub(super) fn read_key(key: &str, item: &Item) -> Result<Settings, String> {
    let example = known(key).ok_or_else(|| unknown(key))?.example;
    let mut table = Table::new();
    table[key] = item.clone();
    read_item(&Item::Table(table))
        .map_err(|(_, problem)| format!("{key}: {problem}: write, for instance, {key} = {example}"))
}

/// Returns a value from the command line as TOML. A text needs no quotation marks, and one text is accepted for a list.
pub(super) fn toml_value(key: &str, text: &str) -> Result<Value, Failure> {
    let fits_key = |value: &Value| read_key(key, &Item::Value(value.clone())).map(drop);
    let as_it_is = text.parse::<Value>().ok();
    let plain = Value::from(text);
    let (list, is_list) = (Value::from_iter([text]), matches!(as_it_is, Some(Value::Array(_))));
    match as_it_is.map(|value| (fits_key(&value), value)) {
        Some((Ok(()), value)) => Ok(value),
        // What is a text for TOML only, or the one text of a list.
        None | Some((Err(_), _)) if fits_key(&plain).is_ok() => Ok(plain),
        None | Some((Err(_), _)) if !is_list && fits_key(&list).is_ok() => Ok(list),
        Some((Err(problem), _)) => Err(Failure::usage(problem)),
        None => fits_key(&plain).map(|()| plain).map_err(Failure::usage),
    }
}

/// Returns settings in which only this key is set, to a value from the command line.
pub(crate) fn one(key: &str, text: &str) -> Result<Settings, Failure> {
    read_key(key, &Item::Value(toml_value(key, text)?)).map_err(Failure::usage)
}

/// Splits `endpoints.NAME.KEY` or `models.NAME` into its parts; `None` for any other key. The name of a model may
/// contain dots.
pub(super) fn names_of(key: &str) -> Option<Vec<&str>> {
    let parts = if key.starts_with("models.") { 2 } else { 3 };
    let names: Vec<&str> = key.splitn(parts, '.').collect();
    (names.len() > 1 && TABLES.contains(&names[0])).then_some(names)
}

/// Sets the entry at a path of keys to a text, and adds the tables that are missing on the path.
pub(super) fn put(document: &mut DocumentMut, names: &[&str], text: &str) {
    let mut table = document.as_table_mut();
    let (last, tables) = names.split_last().unwrap_or((&"", &[]));
    for (depth, name) in tables.iter().enumerate() {
        let item = table.entry(name).or_insert_with(|| {
            let mut new = toml_edit::Table::new();
            // The table `endpoints` of `[endpoints.NAME]` needs no line of its own.
            new.set_implicit(depth + 1 < tables.len());
            Item::Table(new)
        });
        let Some(inner) = item.as_table_mut() else { return };
        table = inner;
    }
    table[last] = toml_edit::value(text);
}

/// Removes the entry at a path of keys and the tables that are empty then; returns `true` if there was one.
pub(super) fn take(table: &mut toml_edit::Table, names: &[&str]) -> bool {
    let Some((name, below)) = names.split_first() else { return false };
    if below.is_empty() {
        return table.remove(name).is_some();
    }
    let Some(inner) = table.get_mut(name).and_then(Item::as_table_mut) else { return false };
    let taken = take(inner, below);
    if inner.is_empty() {
        table.remove(name);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::super::keys::Key;
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        parsed(text, Path::new("config.toml")).map(|content| content.settings).map_err(|failure| match failure {
            Failure::Usage(message) => message,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn every_key_takes_its_example_and_no_other_is_known() {
        let text: String = KEYS.iter().map(|key| format!("{} = {}\n", key.name, key.example)).collect();
        let settings = read(&text).unwrap();
        let Settings { base_url, max_repeats, deny, .. } = settings;
        assert!(base_url.is_some() && max_repeats.is_some() && deny.len() == 1);
        let error = toml_edit::de::from_str::<Settings>("no_such_key = 1").unwrap_err().to_string();
        for Key { name, .. } in KEYS {
            assert!(error.contains(&format!("`{name}`")), "{name}: {error}");
        }
        assert_eq!(error.matches('`').count() / 2, KEYS.len() + 1, "a key is not documented: {error}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once_with_its_line() {
        let error =
            read("# mine\nmodle = \"x\"\ntemperature = 3\nprofile = \"none\"\nsessions = \"no\"\n").unwrap_err();
        for text in [
            "config.toml:2: no key \"modle\": did you mean \"model\"?",
            "config.toml:3: temperature: not from 0 to 2",
            "config.toml:4: profile: expected one of",
            "config.toml:5: sessions: ",
        ] {
            assert!(error.contains(text), "{text}: {error}");
        }
        assert!(read("model = \n").unwrap_err().starts_with("config.toml:1: "));
        let tables = "api_key = \"k\"\nmax_repeats = -1\n[endpoints.a]\nulr = \"u\"\n[endpoints.b]\nurl = \"u\"\n\
            key_command = \"c\"\nkey_variable = \"V\"\n[models]\nm = 3\n[[probed]]\nname = \"n\"\n[[probed]]\n\
            name = \"o\"\nway = \"w\"\n[folders.\"/x\"]\nalow = [\"a\"]\n";
        let error = read(tables).unwrap_err();
        for text in [
            "config.toml:1: keys do not belong here: use OPENAI_API_KEY, or key_command",
            "config.toml:2: max_repeats: found integer `-1`, expected a whole number, 0 or more",
            "config.toml:4: endpoints.a: unknown field `ulr`, expected one of `url`",
            "config.toml:5: endpoints.b: key_command and key_variable are both set: leave one out",
            "config.toml:10: models.m: found integer `3`, expected a string",
            "config.toml:15: [[probed]] 2: found `w`, expected one of `free`, `measured`, `auto`",
            "config.toml:17: no key \"alow\": did you mean \"allow\"?",
        ] {
            assert!(error.contains(text), "{text}: {error}");
        }
    }
}
