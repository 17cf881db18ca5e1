//! The tables of this program, which are files: `dialects/tables/NAME.json` and `prompts/introductions.json`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

/// Expands to the built-in table with this name, read from `dialects/tables/`.
macro_rules! table {
    ($name:literal) => {
        $crate::dialect::table::read(include_str!(concat!("../../dialects/tables/", $name, ".json")))
    };
}
pub(super) use table;

/// Deserialises a built-in table; its texts borrow from the file.
pub(super) fn read<T: Deserialize<'static>>(file: &'static str) -> T {
    serde_json::from_str(file).expect("a test reads the tables of this program")
}

/// Deserialises a text as `&'static str`, even if it has escapes, by leaking it.
pub(super) fn leaked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    Cow::<'de, str>::deserialize(deserializer).map(|text| &*String::leak(text.into_owned()))
}
