//! Tables that the program carries as TOML.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

/// Returns the rows of a bundled TOML file that contains one list; empty if it cannot be parsed, which a test of each
/// using module excludes.
pub(crate) fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let lists: BTreeMap<String, Vec<T>> = toml_edit::de::from_str(text).unwrap_or_default();
    lists.into_values().flatten().collect()
}
