//! JSON text to a value: strictly, else with bounded repairs, each named.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::call::Repair;

/// A value that was read.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::parse) struct Read<'t> {
    pub(in crate::parse) value: Value,
    /// The text that the value was read from: the source, or the source mended.
    pub(in crate::parse) text: Cow<'t, str>,
    /// What was mended.
    pub(in crate::parse) repairs: Vec<Repair>,
}

/// Reads `text` as one JSON value.
///
/// # Errors
/// The strict reader's error on the text as it stands: what and where.
pub(in crate::parse) fn read(text: &str) -> Result<Read<'_>, serde_json::Error> {
    let first = match strict(text) {
        Ok((value, repairs)) => return Ok(Read { value, text: Cow::Borrowed(text), repairs }),
        Err(error) => error,
    };
    let decoded = text.contains('&').then(|| quick_xml::escape::unescape(text).ok()).flatten();
    let entities = decoded.filter(|d| d != text).map(|d| (d, vec![Repair::Entities]));
    for (source, mut repairs) in [(Cow::Borrowed(text), Vec::new())].into_iter().chain(entities) {
        let mended = mend(&source);
        if let Ok((value, found)) = strict(mended.as_ref().map_or(source.as_ref(), |(text, _)| text)) {
            let text = match mended {
                Some((text, fixed)) => {
                    repairs.extend(fixed);
                    Cow::Owned(text)
                }
                None => source,
            };
            repairs.extend(found);
            return Ok(Read { value, text, repairs });
        }
    }
    Err(first)
}

/// Escapes raw control characters in strings and drops commas before a closing
/// bracket; `None` if there is neither.
fn mend(text: &str) -> Option<(String, Vec<Repair>)> {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    let (mut control, mut comma) = (false, false);
    for (i, c) in text.char_indices() {
        if in_string {
            match c {
                _ if escaped && c >= ' ' => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            if c < ' ' {
                control = true;
                escape_control(c, &mut out);
                continue;
            }
        } else if c == ',' && text[i + 1..].trim_start().starts_with(['}', ']']) {
            comma = true;
            continue;
        } else if c == '"' {
            in_string = true;
        }
        out.push(c);
    }
    let repairs = [(control, Repair::ControlCharacters), (comma, Repair::TrailingComma)];
    let repairs: Vec<_> = repairs.into_iter().filter(|(found, _)| *found).map(|(_, repair)| repair).collect();
    (!repairs.is_empty()).then_some((out, repairs))
}

fn escape_control(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => out.push_str(&format!("\\u{:04x}", c as u32)),
    }
}

/// Reads strictly; a key that stands twice in an object is an error.
fn strict(text: &str) -> Result<(Value, Vec<Repair>), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut seed = Strict { floats: false };
    let value = (&mut seed).deserialize(&mut deserializer)?;
    deserializer.end()?;
    let lossy = seed.floats && loses_digits(text);
    Ok((value, if lossy { vec![Repair::NumberPrecision] } else { Vec::new() }))
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
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} stands twice in one object")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Whether some number outside strings has digits that `f64` does not keep.
fn loses_digits(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(i) = rest.iter().position(|b| *b == b'"' || b.is_ascii_digit()) {
        if rest[i] == b'"' {
            rest = &rest[i + 1..];
            while let Some(j) = memchr::memchr2(b'"', b'\\', rest) {
                let skip = if rest[j] == b'\\' { 2 } else { 1 };
                let closed = rest[j] == b'"';
                rest = rest.get(j + skip..).unwrap_or_default();
                if closed {
                    break;
                }
            }
            continue;
        }
        let number = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
        let length = rest[i..].iter().take_while(|b| number(b)).count();
        let negative = i > 0 && rest[i - 1] == b'-';
        let token = std::str::from_utf8(&rest[i..i + length]).unwrap_or_default();
        if token_loses_digits(token, negative) {
            return true;
        }
        rest = &rest[i + length..];
    }
    false
}

fn token_loses_digits(token: &str, negative: bool) -> bool {
    // Integers that fit are kept exactly.
    let most = if negative { i64::MIN.unsigned_abs() } else { u64::MAX };
    if token.parse::<u64>().is_ok_and(|whole| whole <= most) {
        return false;
    }
    let Ok(value) = token.parse::<f64>() else { return false };
    decimal(token) != decimal(&format!("{value:e}"))
}

/// Significant digits and the decimal exponent of the first one.
fn decimal(token: &str) -> (String, i64) {
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    // Any exponent past these stands for zero: a larger one was refused.
    let exponent: i64 = exponent.parse().unwrap_or(i64::MIN);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.bytes().take_while(|b| *b == b'0').count();
    let significant = digits.trim_matches('0').to_owned();
    let place = if significant.is_empty() { 0 } else { exponent.saturating_add(whole.len() as i64 - zeros as i64) };
    (significant, place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn repairs(text: &str) -> (Value, Vec<String>) {
        let read = read(text).unwrap();
        (read.value, read.repairs.iter().map(Repair::to_string).collect())
    }

    #[test]
    fn valid_json_is_read_as_it_is() {
        assert_eq!(repairs(r#"{"a": [1, 2.50, "&amp;", null]}"#), (json!({"a": [1, 2.5, "&amp;", null]}), vec![]));
    }

    #[test]
    fn control_characters_commas_and_entities_are_mended_and_named() {
        assert_eq!(
            repairs("{\"a\": \"x\n\ty\",}"),
            (json!({"a": "x\n\ty"}), vec!["control_characters".into(), "trailing_comma".into()])
        );
        assert_eq!(
            repairs("{&quot;a&quot;: &quot;b &amp; c&quot;, }"),
            (json!({"a": "b & c"}), vec!["entities".into(), "trailing_comma".into()])
        );
        assert_eq!(repairs("[1, [2, ], ]").1, ["trailing_comma"]);
        assert_eq!(repairs("{\"a\": \",}\u{1}\"}").0, json!({"a": ",}\u{1}"}));
    }

    #[test]
    fn nothing_else_is_mended() {
        for text in ["{'a': 1}", "{\"a\": 1", "{a: 1}", "{\"a\": 1}}", "", "{\"a\": 1e999}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_at_any_depth() {
        let error = read(r#"{"a": {"b": 1, "b": 1}}"#).unwrap_err();
        assert!(error.to_string().contains(r#"the key "b" stands twice"#), "{error}");
    }

    #[test]
    fn a_number_is_the_nearest_float_and_is_written_as_it_was_read() {
        for text in ["0.12308785413053219", "5e-324", "1.7976931348623157e+308"] {
            let value = read(text).unwrap().value;
            assert_eq!((value.as_f64(), value.to_string().as_str()), (text.parse().ok(), text), "{text}");
        }
    }

    #[test]
    fn a_number_that_loses_digits_is_named() {
        for (text, lossy) in [
            ("12345678901234567890", false),
            ("123456789012345678901", true),
            ("0.1", false),
            ("1.10", false),
            ("100000000000000000000000", false),
            ("3.14159265358979323846", true),
            ("1E5", false),
            ("0.000", false),
            ("-0.0", false),
            ("[\"12345678901234567890123\", 1.5]", false),
            ("1e-7", false),
            ("-9223372036854775808", false),
            ("-9223372036854775809", true),
            ("[-1, -2.5, 18446744073709551615]", false),
            ("0.001e-9223372036854775808", true),
            ("0.001e-9223372036854775809", true),
            ("0.000e9223372036854775808", false),
        ] {
            let named = read(text).unwrap().repairs.contains(&Repair::NumberPrecision);
            assert_eq!(named, lossy, "{text}");
        }
    }
}
