//! Faults in `config.toml`, in plain words and with their places.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item};

/// A fault in a table of the configuration file: the path of keys to the entry, and the problem.
pub(super) type Wrong = (Vec<String>, Fault);

/// A problem and its byte offset in the text, if that is known.
pub(super) type Fault = (Option<usize>, String);

/// Deserializes a TOML item.
///
/// # Errors
/// The problem, without the names of Rust types, and its byte offset.
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

/// Returns a deserialization error in words for users, without the names of Rust types.
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
