//! The tables of this program, which are files: `dialects/tables/NAME.json` and `prompts/introductions.json`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

/// The table of this name.
macro_rules! table {
    ($name:literal) => {
        $crate::dialect::table::read(include_str!(concat!("../../dialects/tables/", $name, ".json")))
    };
}
pub(super) use table;

/// Reads a table, whose texts are those of the file.
pub(super) fn read<T: Deserialize<'static>>(file: &'static str) -> T {
    serde_json::from_str(file).expect("a test reads the tables of this program")
}

/// Reads a text that may be written with escapes, for serde.
pub(super) fn leaked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    Cow::<'de, str>::deserialize(deserializer).map(|text| &*String::leak(text.into_owned()))
}
