//! Tables that the program carries as TOML.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

/// Returns the rows of a bundled file, which holds one list. That each file can be read is a test of its user's.
pub(crate) fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let lists: BTreeMap<String, Vec<T>> = toml_edit::de::from_str(text).unwrap_or_default();
    lists.into_values().flatten().collect()
}
