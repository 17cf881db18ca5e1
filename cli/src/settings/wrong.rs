//! Faults in `config.toml`, in plain words and with their places.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item};

/// Something wrong in a table: the keys that lead to it, and the fault.
pub(super) type Wrong = (Vec<String>, Fault);

/// A problem, after its offset if that is known.
pub(super) type Fault = (Option<usize>, String);

/// Reads a table.
///
/// # Errors
/// The fault, in plain words.
pub(super) fn read_item<T: DeserializeOwned>(item: &Item) -> Result<T, Fault> {
    let mut document = DocumentMut::new();
    document.insert("item", item.clone());
    let read = toml_edit::de::from_document::<BTreeMap<String, T>>(document);
    let plain = |e: toml_edit::de::Error| {
        let problem = in_plain_words(e.message().lines().next().unwrap_or_default());
        (e.span().map(|span| span.start), problem)
    };
    read.map_err(plain)?.remove("item").ok_or_else(|| (None, "nothing is there".to_owned()))
}

/// Describes a problem with a value without the names of the program's own types.
pub(super) fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        "a nonzero u32" | "a nonzero usize" => "a whole number above 0",
        "u32" | "usize" => "a whole number, 0 or more",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        expected if expected.starts_with("struct ") => "a table",
        expected => expected,
    };
    let found = ["invalid type: ", "invalid value: ", "unknown variant "]
        .iter()
        .fold(found.to_owned(), |found, words| found.replace(words, "found "));
    // A URL may hold a key.
    let found = if found.contains("://") { "found a text, " } else { &found };
    format!("{found}expected {expected}")
}
