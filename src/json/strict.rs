//! JSON as it is defined, and nothing dropped on the way.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::decimal;
use super::plain::plain;

/// Reads `text` as one JSON value, and says whether a number in it lost digits.
///
/// # Errors
/// It is not JSON, it is nested deeper than `serde_json` reads, or an object has
/// a key twice: one of the two values would be dropped.
pub(crate) fn strict(text: &str) -> Result<(Value, bool), serde_json::Error> {
    plain(text).map_or_else(|| general(text), |value| Ok((value, false)))
}

/// The same of any text.
pub(super) fn general(text: &str) -> Result<(Value, bool), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut seed = Strict { floats: false };
    let value = (&mut seed).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, seed.floats && decimal::numbers(text).any(decimal::loses_digits)))
}

struct Strict {
    /// A number was read as floating point.
    floats: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.floats = true;
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(&mut *self)?;
            match object.entry(key) {
                Entry::Vacant(free) => free.insert(value),
                Entry::Occupied(taken) => {
                    return Err(A::Error::custom(format!("the key {:?} stands twice in one object", taken.key())));
                }
            };
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: &[&str] = &[
        r#"{"city": "Oslo", "days": 2, "at": [1, -20, 0], "deep": {"a": [], "b": {}}, "is": [true, false, null]}"#,
        r#" {"text":"line\n\t\"quoted\" \\ \/ \b\f\r end","München":"☃ 你好","":""} "#,
        "[\"\\\\\", \"\\\"\", 123456789012345678, -9]\r\n",
        r#""one""#,
        "0",
    ];

    /// What is read here, and whether that is what the general reader reads.
    fn read(text: &str) -> (Option<Value>, bool) {
        let found = plain(text);
        let agrees = found.as_ref().is_none_or(|value| general(text).is_ok_and(|(other, _)| other == *value));
        (found, agrees)
    }

    #[test]
    fn plain_json_is_read_as_it_is_by_the_general_reader() {
        for text in TEXTS {
            let (found, agrees) = read(text);
            assert!(found.is_some() && agrees, "{text}");
        }
        for text in [
            "", " ", "1.5", "1e3", "-0", "01", "-", "1234567890123456789", r#""\u00e9""#, "{\"a\": 1, \"a\": 2}",
            "[1,]", "{,}", "{\"a\" 1}", "\"a\nb\"", "\"a", "\"a\\", "truex", "tru", "[1 2]", "1 2", "{\"a\": 1,}",
            "\u{a0}1",
        ] {
            assert_eq!(read(text), (None, true), "{text}");
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&deep(64)).0.is_some() && read(&deep(65)).0.is_none() && general(&deep(65)).is_ok());
    }

    #[test]
    fn whatever_is_changed_in_plain_json_both_readers_agree() {
        for text in TEXTS {
            for (at, c) in text.char_indices() {
                assert!(read(&text[..at]).1, "{}", &text[..at]);
                for other in [
                    "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", " ", "\n", "u", "n", "é",
                    "\u{1}",
                ] {
                    let changed = format!("{}{other}{}", &text[..at], &text[at + c.len_utf8()..]);
                    assert!(read(&changed).1, "{changed}");
                    let longer = format!("{}{other}{}", &text[..at], &text[at..]);
                    assert!(read(&longer).1, "{longer}");
                }
            }
        }
    }
}
