//! The text of a request's body: counts its values, and parses it, with or without its list of tools.

use std::fmt;
use std::iter;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::fault::Fault;

/// Maximum number of JSON values in the body of a request, since a parsed value takes many times the memory of its
/// text. Histories of a megabyte have some thousands, since calls and results are mostly text.
const MAX_VALUES: usize = 500_000;

/// Refuses JSON texts that together have more values than [`MAX_VALUES`].
pub(crate) fn check_values<'a>(texts: impl Iterator<Item = &'a [u8]> + Clone) -> Result<(), Fault> {
    // Shorter texts need no count: each value but the first takes at least one separating byte.
    if texts.clone().map(|text| text.len() + 1).sum::<usize>() <= MAX_VALUES
        || texts.map(values).sum::<usize>() <= MAX_VALUES
    {
        return Ok(());
    }
    let message = format!("the request holds more than {MAX_VALUES} JSON values");
    Err(Fault::door(413, "too_many_values", message))
}

/// Counts the values of a JSON text approximately: one, and each comma, colon and opening bracket outside strings.
fn values(text: &[u8]) -> usize {
    let (mut count, mut at) = (1, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b',' | b':' | b'[' | b'{' => count += 1,
            b'"' => at = string_end(text, at),
            _ => {}
        }
    }
    count
}

/// Returns the offset after the closing quotation mark of the JSON string whose content begins at `at`; the length of
/// the text if there is none.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while let Some(end) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += end + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        // The byte after a backslash is escaped, and ends no string.
        at += 1;
    }
    text.len()
}

/// Parses the body of a request, which must be a JSON object with at most 500,000 values.
pub fn parse(body: &[u8]) -> Result<Map<String, Value>, Fault> {
    check_values(iter::once(body))?;
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Fault::invalid("the body must be a JSON object")),
        Err(error) => Err(not_json(error)),
    }
}

/// Returns the fault (HTTP 400, `invalid_json`) for a body that is not JSON.
pub(crate) fn not_json(error: serde_json::Error) -> Fault {
    Fault::invalid(format!("the body is not JSON: {error}")).with_code("invalid_json")
}

/// Parses the body of a request without its `tools`, which are returned as raw JSON text. `None` if it is not an
/// object with tools.
pub(crate) fn object_and_tools(body: &[u8]) -> Option<(Map<String, Value>, &str)> {
    let Apart { object, tools } = serde_json::from_slice(body).ok()?;
    Some((object, tools?.get()))
}

struct Apart<'a> {
    object: Map<String, Value>,
    tools: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Apart<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ApartVisitor)
    }
}

struct ApartVisitor;

impl<'de> Visitor<'de> for ApartVisitor {
    type Value = Apart<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Apart<'de>, A::Error> {
        let mut apart = Apart { object: Map::new(), tools: None };
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "tools" => apart.tools = Some(map.next_value()?),
                _ => {
                    apart.object.insert(key, map.next_value()?);
                }
            }
        }
        Ok(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_given_as_they_are_written_and_the_last_of_several_counts() {
        let body = br#"{"model": "m", "tools": [], "n": 1, "tools": [ {"a": "\u00e4]"} ] , "x": {"tools": 2}}"#;
        let (rest, tools) = object_and_tools(body).unwrap();
        assert_eq!(tools, r#"[ {"a": "\u00e4]"} ]"#);
        let mut all = parse(body).unwrap();
        assert_eq!(all.shift_remove("tools"), Some(serde_json::from_str(tools).unwrap()));
        assert_eq!(Value::Object(rest), Value::Object(all));
        for other in [r#"{"model": "m"}"#, "[1]", "{", r#"{"tools": [}"#, r#"{"tools": []} x"#] {
            assert!(object_and_tools(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn values_are_counted_without_being_read() {
        for (text, count) in [
            ("1", 1),
            ("[1,2]", 3),
            (r#"{"a,[": "\"{,", "b": [1]}"#, 6),
            (r#"["\\", 1]"#, 3),
            (r#"["never closed, ["#, 2),
            (r#""\"#, 1),
        ] {
            assert_eq!(values(text.as_bytes()), count, "{text}");
        }
        let checked = |more: usize| check_values(iter::once(format!("[{}1]", "1,".repeat(more)).as_bytes()));
        assert!(checked(MAX_VALUES - 2).is_ok());
        assert_eq!(checked(MAX_VALUES).unwrap_err().status, 413);
    }
}
