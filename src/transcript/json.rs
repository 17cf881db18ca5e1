//! JSON helpers of the reader: error positions, and tolerance of broken surrogates.

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The `type` and the keys of an object, read without building its values.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Text under `type`.
    pub(super) kind: Option<String>,
    /// All keys, in order.
    pub(super) keys: Vec<String>,
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Head;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head, A::Error> {
                let mut head = Head::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "type" {
                        head.kind = map.next_value::<Option<String>>()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                    head.keys.push(key);
                }
                Ok(head)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// Reads one JSON text.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// Returns the message of a serde error without its position, which is reported relative to the file.
pub(super) fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), str::to_owned)
}
