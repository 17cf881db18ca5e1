//! `~/.config/toolgraft/config.toml`.
//!
//! The file is TOML; what is written into it keeps its comments and order.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item, Value};
use toolgraft_files::{self as files, Mode};

use super::keys::{KEYS, Settings};
use super::names::{Names, TABLES};
use crate::base::{Failure, input, words};

/// Path of the file below the home directory.
const FILE: &str = ".config/toolgraft/config.toml";

/// The tables that the program writes: what `probe` found, and what holds in a folder.
const OTHERS: [&str; 2] = ["probed", "folders"];

/// The file; `None` where there is no home.
pub(crate) fn path() -> Option<PathBuf> {
    Some(std::env::home_dir()?.join(FILE))
}

/// The values of the file; none where there is no file.
pub(crate) fn read() -> Result<Settings, Failure> {
    Ok(whole()?.0)
}

/// The names of endpoints and models that the file gives.
pub(crate) fn names() -> Result<Names, Failure> {
    Ok(whole()?.1)
}

fn whole() -> Result<(Settings, Names), Failure> {
    match path().filter(|path| path.exists()) {
        Some(path) => parsed(&text(&path)?, &path),
        None => Ok(Default::default()),
    }
}

/// The file's text; an empty file sets nothing.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let read = std::fs::read(path).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
    input::decode(read, &path.display().to_string())
}

/// Reads a text. What is wrong is said with its place, all of it at once.
pub(super) fn parsed(text: &str, path: &Path) -> Result<(Settings, Names), Failure> {
    let (settings, mut document) = parsed_with(text, path, &[&TABLES[..], &OTHERS].concat(), &[])?;
    document.retain(|key, _| TABLES.contains(&key));
    let names = toml_edit::de::from_document(document).map_err(|e| {
        let problem = e.to_string().trim_end().replace('\n', ": ");
        Failure::usage(format!("{}: {problem}: see `toolgraft config --help`", path.display()))
    })?;
    Ok((settings, names))
}

/// Reads a text that has further keys of its `own`, and that may not have those that are `refused`,
/// each with the remedy. The document is handed back for its own keys.
pub(crate) fn parsed_with(
    text: &str,
    path: &Path,
    own: &[&str],
    refused: &[(&str, &str)],
) -> Result<(Settings, DocumentMut), Failure> {
    let name = path.display();
    let document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        let at = e.span().map_or(0, |span| span.start);
        Failure::usage(format!("{name}:{}: {}: fix the TOML here", line(text, at), e.message().trim_end()))
    })?;
    // Spans are only there in a document that was not made to be edited.
    let places = toml_edit::Document::parse(text).ok();
    let place = |key: &str| {
        let span = places.as_ref().and_then(|places| places.as_table().get_key_value(key)?.0.span());
        span.map_or(1, |span| line(text, span.start))
    };
    let mut problems = Vec::new();
    for (key, item) in document.iter().filter(|(key, _)| !own.contains(key)) {
        if let Some((_, remedy)) = refused.iter().find(|(refused, _)| *refused == key) {
            problems.push(format!("{name}:{}: {key} is not accepted here: {remedy}", place(key)));
        } else if !KEYS.iter().any(|known| known.name == key) {
            problems.push(format!("{name}:{}: {}", place(key), unknown(key)));
        } else if let Err(problem) = fits(key, item) {
            problems.push(format!("{name}:{}: {problem}", place(key)));
        }
    }
    if !problems.is_empty() {
        return Err(Failure::usages(problems));
    }
    let mut settings = document.clone();
    own.iter().for_each(|key| drop(settings.remove(key)));
    let settings = toml_edit::de::from_document(settings);
    settings
        .map(|settings| (settings, document))
        .map_err(|e| Failure::usage(format!("{name}: {}", e.message().trim_end())))
}

/// Changes the file, whose comments and order stay. What is wrong in it is said before anything is written: a file that
/// is wrong is mended by hand, not written over.
///
/// # Errors
/// The file cannot be read or written, or is wrong.
pub(super) fn edit(path: &Path, change: impl FnOnce(&mut DocumentMut) -> Result<(), Failure>) -> Result<(), Failure> {
    let text = if path.exists() { text(path)? } else { String::new() };
    parsed(&text, path)?;
    let mut document: DocumentMut = text.parse().map_err(|e| unfit(path, e))?;
    change(&mut document)?;
    parsed(&document.to_string(), path)?;
    files::replace(path, document.to_string().as_bytes(), Mode::Kept)
        .map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
}

/// Reads tables of the file that hold no settings for all; nothing where there is no file.
///
/// # Errors
/// The file cannot be read, or the tables hold what they may not.
pub(super) fn tables<T: DeserializeOwned + Default>(path: &Path) -> Result<T, Failure> {
    match path.exists() {
        true => toml_edit::de::from_str(&text(path)?).map_err(|e| unfit(path, e)),
        false => Ok(T::default()),
    }
}

/// Returns the failure for a problem with the file.
pub(super) fn unfit(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {}", path.display(), why.to_string().trim_end()))
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

pub(super) fn unknown(key: &str) -> String {
    let near = words::near(key, KEYS.iter().map(|known| known.name));
    match near {
        Some(near) => format!("no key {key:?}: did you mean {near:?}?"),
        None => format!("no key {key:?}: `toolgraft config` shows them all"),
    }
}

/// Fails if a key may not have this value.
pub(super) fn fits(key: &str, item: &Item) -> Result<(), String> {
    let mut document = DocumentMut::new();
    document[key] = item.clone();
    let problem = match toml_edit::de::from_document::<Settings>(document) {
        Err(e) => Some(in_plain_words(e.message().lines().next().unwrap_or_default())),
        Ok(_) => None,
    };
    let example = KEYS.iter().find(|known| known.name == key).map(|known| known.example).unwrap_or_default();
    problem.map_or(Ok(()), |problem| Err(format!("{key}: {problem}: write, for instance, {key} = {example}")))
}

/// A value of the command line: a text needs no quotation marks.
pub(super) fn toml_value(key: &str, text: &str) -> Result<Value, Failure> {
    let fits_key = |value: &Value| fits(key, &Item::Value(value.clone()));
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

/// Returns the settings that one key has with a value of the command line.
pub(crate) fn one(key: &str, text: &str) -> Result<Settings, Failure> {
    let mut document = DocumentMut::new();
    document[key] = Item::Value(toml_value(key, text)?);
    toml_edit::de::from_document(document).map_err(Failure::usage)
}

/// The names of a key below a table of names: `endpoints.NAME.KEY`, `models.NAME`; `None` for another key. A
/// model's name may have dots.
pub(super) fn names_of(key: &str) -> Option<Vec<&str>> {
    let parts = if key.starts_with("models.") { 2 } else { 3 };
    let names: Vec<&str> = key.splitn(parts, '.').collect();
    (names.len() > 1 && TABLES.contains(&names[0])).then_some(names)
}

/// Puts a text below these names.
pub(super) fn put(document: &mut DocumentMut, names: &[&str], text: &str) {
    let mut table = document.as_table_mut();
    let (last, tables) = names.split_last().unwrap_or((&"", &[]));
    for (depth, name) in tables.iter().enumerate() {
        let item = table.entry(name).or_insert_with(|| {
            let mut new = toml_edit::Table::new();
            // Of `[endpoints.NAME]` the first needs no line of its own.
            new.set_implicit(depth + 1 < tables.len());
            Item::Table(new)
        });
        let Some(inner) = item.as_table_mut() else { return };
        table = inner;
    }
    table[last] = toml_edit::value(text);
}

/// Takes away what stands below these names, with tables that are empty then.
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

/// Describes a problem with a value without the names of the program's own types.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        "a nonzero u32" | "a nonzero usize" | "u32" | "usize" => "a whole number above 0",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        expected => expected,
    };
    let found = ["invalid type: ", "invalid value: ", "unknown variant "]
        .iter()
        .fold(found.to_owned(), |found, words| found.replace(words, "found "));
    format!("{found}expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::super::keys::Key;
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        parsed(text, Path::new("config.toml")).map(|(settings, _)| settings).map_err(|failure| match failure {
            Failure::Usage(message) => message,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn every_key_takes_its_example_and_no_other_is_known() {
        let text: String = KEYS.iter().map(|key| format!("{} = {}\n", key.name, key.example)).collect();
        let settings = read(&text).unwrap();
        let Settings { base_url, session_days, deny, .. } = settings;
        assert!(base_url.is_some() && session_days.is_some() && deny.len() == 1);
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
    }
}
