//! JSON text to a value: strictly, else with bounded repairs, each named.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::super::bytes::{Kind, Places, any_zero};
use super::lexer::Special;
use super::repair::{self, Mended, Stop, mend};
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

/// Why a text is not read: the strict reader's error, and where mending it stopped.
#[derive(Debug)]
pub(in crate::parse) struct NotJson {
    strict: serde_json::Error,
    stop: Option<(&'static str, usize, usize)>,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.strict.fmt(f)?;
        match self.stop {
            Some((why, line, column)) => write!(f, "; {why}, at line {line} column {column}"),
            None => Ok(()),
        }
    }
}

/// Reads `text` as one JSON value: strictly, else mended. `balanced`: a lexer
/// found its brackets balanced; a library of repairs is asked only then.
///
/// # Errors
/// The strict reader's error on the text as it stands, and why it was not mended.
pub(in crate::parse) fn read(text: &str, balanced: bool) -> Result<Read<'_>, NotJson> {
    let first = match strict(text) {
        Ok((value, repairs)) => return Ok(Read { value, text: Cow::Borrowed(text), repairs }),
        // The grammar is kept; what it says has no fix.
        Err(strict) if strict.is_data() => return Err(NotJson { strict, stop: None }),
        Err(error) => error,
    };
    let stop = match mended(Cow::Borrowed(text), None) {
        Ok(read) => return Ok(read),
        Err(Failure::Data(strict)) => return Err(NotJson { strict, stop: None }),
        Err(Failure::Stop(stop)) => stop,
    };
    let decoded = text.contains('&').then(|| quick_xml::escape::unescape(text).ok()).flatten();
    let decoded = decoded.filter(|d| d != text).map(|d| (d, Repair::Entities));
    let unescaped = text[stop.at..].starts_with('\\').then(|| unescaped(text)).flatten();
    let unescaped = unescaped.map(|u| (Cow::Owned(u), Repair::EscapedJson));
    for (source, repair) in decoded.into_iter().chain(unescaped) {
        if let Ok(read) = mended(Cow::Owned(source.into_owned()), Some(repair)) {
            return Ok(read);
        }
    }
    if balanced && let Some(rewritten) = repair::rewrite(text) {
        match checked(rewritten) {
            Ok(read) => return Ok(read),
            Err(strict) if strict.is_data() => return Err(NotJson { strict, stop: None }),
            Err(_) => {}
        }
    }
    let before = &text[..stop.at];
    let line = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count();
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    Err(NotJson { strict: first, stop: Some((stop.why, line, column)) })
}

enum Failure {
    /// The text was mended, and what it says is not allowed.
    Data(serde_json::Error),
    Stop(Stop),
}

/// Reads text that was `decoded` from the source, strictly or mended.
fn mended(text: Cow<'_, str>, decoded: Option<Repair>) -> Result<Read<'_>, Failure> {
    let (mended, at) = match strict(&text) {
        Ok((value, found)) if decoded.is_some() => {
            let repairs = decoded.into_iter().chain(found).collect();
            return Ok(Read { value, text, repairs });
        }
        _ => (mend(&text).map_err(Failure::Stop)?, text.len()),
    };
    let stop = |_: &serde_json::Error| Stop { at, why: "it is not JSON when mended either" };
    let mut read = checked(mended).map_err(|e| if e.is_data() { Failure::Data(e) } else { Failure::Stop(stop(&e)) })?;
    read.repairs.splice(0..0, decoded);
    Ok(read)
}

fn checked(mended: Mended) -> Result<Read<'static>, serde_json::Error> {
    let (value, found) = strict(&mended.text)?;
    let mut repairs = mended.repairs;
    repairs.extend(found);
    Ok(Read { value, text: Cow::Owned(mended.text), repairs })
}

/// The text without one level of escapes, if all of its quotes have them.
fn unescaped(text: &str) -> Option<String> {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        if c < ' ' { escape_control(c, &mut quoted) } else { quoted.push(c) }
    }
    quoted.push('"');
    serde_json::from_str(&quoted).ok()
}

/// The text as it stands in a JSON string: itself, or written into `scratch`.
pub(in crate::parse) fn escaped<'t>(text: &'t str, scratch: &'t mut String) -> &'t str {
    if !any_zero(text.as_bytes(), |b| Special.rest(b)) {
        return text;
    }
    scratch.clear();
    push_escaped(text, scratch);
    scratch
}

/// Writes the text behind `out` as it stands in a JSON string.
pub(in crate::parse) fn push_escaped(text: &str, out: &mut String) {
    let mut written = 0;
    out.reserve(text.len() + 8);
    for at in Places::new(Special, text.as_bytes()) {
        out.push_str(&text[written..at]);
        written = at + 1;
        match text.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\x08' => out.push_str("\\b"),
            b'\x0c' => out.push_str("\\f"),
            control => escape_control(char::from(control), out),
        }
    }
    out.push_str(&text[written..]);
}

/// Writes a control character as it stands in a JSON string.
pub(super) fn escape_control(c: char, out: &mut String) {
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
        let read = read(text, true).unwrap();
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
    fn what_cannot_be_mended_is_told_with_its_place() {
        for (text, told) in [
            ("{\"a\": 1", "the text ends before the value is closed, at line 1 column 8"),
            ("{\"a\": 1}}", "something follows the value"),
            (
                "{\"a\":\n \"x \"y\", \"b\": \"z\"}",
                "a quotation mark inside a string is not escaped, at line 2 column 6",
            ),
            ("{\"a\": 1e999}", "number out of range"),
            ("", "EOF"),
            ("{'a': 1, 'a': 2}", "the key \"a\" stands twice"),
        ] {
            let error = read(text, true).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn text_that_was_escaped_once_more_is_read_where_all_of_it_was() {
        assert_eq!(repairs(r#"{\"a\": \"x\\\"y\\n\"}"#), (json!({"a": "x\"y\n"}), vec!["escaped_json".into()]));
        assert_eq!(repairs(r#"{\"a\": 1,}"#).1, ["escaped_json", "trailing_comma"]);
        assert!(read(r#"{\"a\": "b"}"#, true).is_err());
    }

    #[test]
    fn entities_inside_strings_are_data_where_the_text_needs_them_not() {
        assert_eq!(repairs(r#"{'a': '&lt;b&gt;'}"#), (json!({"a": "&lt;b&gt;"}), vec!["quotes".into()]));
        assert_eq!(repairs(r#"{&apos;a&apos;: &apos;&amp;lt;&apos;}"#).0, json!({"a": "&lt;"}));
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_at_any_depth() {
        let error = read(r#"{"a": {"b": 1, "b": 1}}"#, true).unwrap_err();
        assert!(error.to_string().contains(r#"the key "b" stands twice"#), "{error}");
    }

    #[test]
    fn a_number_is_the_nearest_float_and_is_written_as_it_was_read() {
        for text in ["0.12308785413053219", "5e-324", "1.7976931348623157e+308"] {
            let value = read(text, true).unwrap().value;
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
            let named = read(text, true).unwrap().repairs.contains(&Repair::NumberPrecision);
            assert_eq!(named, lossy, "{text}");
        }
    }
}
