//! JSON helpers of the reader: positions, leniency about surrogates.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The `type` and the keys of an object, found without building its values.
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

/// The text with each escape of half a surrogate pair replaced by `\ufffd`.
///
/// Such an escape stands for no character; writers that cut text in UTF-16
/// units produce it. The replacement is as long, so columns stay.
pub(super) fn mend_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                changed = true;
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    if changed { Cow::Owned(mended) } else { Cow::Borrowed(text) }
}

/// The UTF-16 unit of a `\uXXXX` escape at the text's start.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

/// A serde error's words without the place, which is given in the file's terms.
pub(super) fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_half_surrogate_pairs_are_replaced() {
        for (text, mended) in [
            (r"a\ud83d\ude00b", r"a\ud83d\ude00b"),
            (r"a\ud83db", r"a\ufffdb"),
            (r"\ude00\ud83d", r"\ufffd\ufffd"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\uD83D\n", r"\ufffd\n"),
            (r"\ud8", r"\ud8"),
            (r"\ud83d\", r"\ufffd\"),
            (r"\ud中文字", r"\ud中文字"),
        ] {
            assert_eq!(mend_surrogates(text), mended, "{text}");
        }
    }
}
