//! Tables that the program carries as TOML.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

/// Returns the rows of a bundled TOML file, which has one list; none if it cannot be read. The modules that
/// use a file test that it can.
pub(crate) fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let lists: BTreeMap<String, Vec<T>> = toml_edit::de::from_str(text).unwrap_or_default();
    lists.into_values().flatten().collect()
}
