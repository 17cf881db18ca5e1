//! Text to the JSON value that it spells, if it spells one exactly.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The integer that a text spells as a JSON number, in 64 bits: `5`, ` -3 `, `5.0`, `1e3`.
pub(super) fn integer(text: &str) -> Option<Number> {
    Decimal::parse(text.trim())?.integer()
}

/// The number that a text spells as a JSON number, and whether digits were
/// lost. A whole number beyond 64 bits is none: it may be an identifier.
pub(super) fn number(text: &str) -> Option<(Number, bool)> {
    let text = text.trim();
    let decimal = Decimal::parse(text)?;
    if !text.contains(['.', 'e', 'E']) {
        return decimal.integer().map(|n| (n, false));
    }
    let value: f64 = text.parse().ok()?;
    if value == 0.0 && !decimal.digits.is_empty() {
        return None;
    }
    Some((Number::from_f64(value)?, !decimal.is(value)))
}

/// The boolean that a text spells, in any case.
pub(super) fn boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// The object or array that a text spells in strict JSON without duplicate
/// keys, and whether a number in it lost digits.
pub(super) fn compound(text: &str) -> Option<(Value, bool)> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let Strict(value) = serde_json::from_str(text).ok()?;
    Some((value, numbers(text).any(loses_digits)))
}

/// The one spelling that `json`, a JSON text, has for `number`; `None` if
/// there is none or several.
pub(super) fn spelling<'a>(json: &'a str, number: &Number) -> Option<&'a str> {
    let value = number.as_f64()?;
    let mut spellings = numbers(json).filter(|n| n.parse() == Ok(value));
    let first = spellings.next()?;
    spellings.all(|other| other == first).then_some(first)
}

/// The number tokens of a JSON text, outside strings.
fn numbers(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[start..];
            if rest.starts_with('"') {
                rest = &rest[string_end(rest)..];
                continue;
            }
            let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            rest = after;
            return Some(token);
        }
    })
}

/// Length of the JSON string that `text` starts with.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Whether `serde_json` reads a number token with fewer digits than it has.
fn loses_digits(token: &str) -> bool {
    if token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok() {
        return false;
    }
    match (Decimal::parse(token), token.parse::<f64>()) {
        (Some(decimal), Ok(value)) => !decimal.is(value),
        _ => true,
    }
}

/// A JSON number's exact value: `digits` × 10^`scale`.
#[derive(Debug, PartialEq)]
struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    scale: i64,
}

impl Decimal {
    /// Reads a number by the grammar of RFC 8259.
    fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || leading_zero || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let written = [whole, fraction].concat();
        let digits = written.trim_end_matches('0');
        let zeros = written.len() - digits.len();
        let scale = exponent - i64::try_from(fraction.len()).ok()? + i64::try_from(zeros).ok()?;
        let digits = digits.trim_start_matches('0').to_owned();
        let scale = if digits.is_empty() { 0 } else { scale };
        Some(Decimal { negative, digits, scale })
    }

    fn integer(&self) -> Option<Number> {
        let zeros = usize::try_from(self.scale).ok()?;
        // More than u64::MAX has, so the text below stays short.
        if self.digits.len().saturating_add(zeros) > 20 {
            return None;
        }
        let digits = format!("{}{}", self.digits, "0".repeat(zeros));
        match (self.digits.is_empty(), self.negative) {
            (true, _) => Some(0.into()),
            (false, false) => digits.parse::<u64>().ok().map(Number::from),
            (false, true) => format!("-{digits}").parse::<i64>().ok().map(Number::from),
        }
    }

    /// Whether `value`, in its shortest spelling, has exactly these digits.
    fn is(&self, value: f64) -> bool {
        Decimal::parse(&format!("{value:e}")).is_some_and(|other| {
            self.digits == other.digits && self.scale == other.scale && self.negative == other.negative
        })
    }
}

fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Nothing that long fits a double.
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A JSON value; a key that an object has twice is an error, since one of the
/// two values would be dropped.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value without duplicate keys")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom("a duplicate key"));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_json_numbers_without_fraction() {
        for (text, expected) in [
            ("5", Some(json!(5))),
            (" 5\n", Some(json!(5))),
            ("-3", Some(json!(-3))),
            ("0", Some(json!(0))),
            ("-0", Some(json!(0))),
            ("5.0", Some(json!(5))),
            ("5.000", Some(json!(5))),
            ("1e3", Some(json!(1000))),
            ("1.5E+1", Some(json!(15))),
            ("1500e-2", Some(json!(15))),
            ("0e999", Some(json!(0))),
            ("18446744073709551615", Some(json!(u64::MAX))),
            ("-9223372036854775808", Some(json!(i64::MIN))),
            ("9007199254740993", Some(json!(9_007_199_254_740_993_i64))),
            ("18446744073709551616", None),
            ("-9223372036854775809", None),
            ("1e20", None),
            ("1e999999999", None),
            ("1e99999999999", None),
            ("5.5", None),
            ("15e-2", None),
            ("+5", None),
            ("05", None),
            ("-05", None),
            ("5.", None),
            (".5", None),
            ("5e", None),
            ("1,000", None),
            ("1_000", None),
            ("0x10", None),
            ("five", None),
            ("5 days", None),
            ("５", None),
            ("- 5", None),
            ("--5", None),
            ("NaN", None),
            ("true", None),
            ("", None),
        ] {
            assert_eq!(integer(text).map(Value::Number), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_keep_their_digits_or_say_so() {
        for (text, expected) in [
            ("2.5", Some((json!(2.5), false))),
            ("5", Some((json!(5), false))),
            ("5.0", Some((json!(5.0), false))),
            ("0.1", Some((json!(0.1), false))),
            ("1e3", Some((json!(1000.0), false))),
            ("-0.0", Some((json!(-0.0), false))),
            ("2.24159265358979323846", Some((json!(2.241_592_653_589_793), true))),
            ("12345678901234567890123", None),
            ("1e400", None),
            ("1e-400", None),
            ("Infinity", None),
            ("inf", None),
            ("nan", None),
            ("+2.5", None),
            ("2,5", None),
        ] {
            let found = number(text).map(|(n, lossy)| (Value::Number(n), lossy));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn booleans_are_the_two_words_in_any_case() {
        for (text, expected) in [
            ("true", Some(true)),
            ("True", Some(true)),
            (" FALSE\n", Some(false)),
            ("yes", None),
            ("1", None),
            ("on", None),
            ("", None),
        ] {
            assert_eq!(boolean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn compounds_are_strict_json_without_duplicate_keys() {
        assert_eq!(compound(" {\"a\": [1, \"x\", null, true, 2.5, -1]} "), {
            Some((json!({"a": [1, "x", null, true, 2.5, -1]}), false))
        });
        assert_eq!(compound("[]"), Some((json!([]), false)));
        for text in ["{\"a\": 1, \"a\": 2}", "[1,]", "{'a': 1}", "{\"a\": 1} and more", "5", "\"{}\"", "", "[1e999]"] {
            assert_eq!(compound(text), None, "{text:?}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(compound(&deep), None);
    }

    #[test]
    fn lost_digits_inside_a_compound_are_noticed() {
        assert!(compound("[12345678901234567890123]").unwrap().1);
        assert!(compound("{\"a\": 0.12345678901234567890123}").unwrap().1);
        assert!(!compound("{\"12345678901234567890123\": \"0.12345678901234567890123\"}").unwrap().1);
        assert!(!compound("[\"\\\"\", 0.1, 1E5, 18446744073709551615]").unwrap().1);
    }

    #[test]
    fn a_numbers_spelling_is_found_outside_strings() {
        let number = |v: Value| v.as_number().cloned().unwrap();
        assert_eq!(spelling("{\"v\": 1.10}", &number(json!(1.1))), Some("1.10"));
        assert_eq!(spelling("{\"1.1\": \"1.1\"}", &number(json!(1.1))), None);
        assert_eq!(spelling("[1.10, 1.1]", &number(json!(1.1))), None);
        assert_eq!(spelling("[1.10, 1.10, 7]", &number(json!(1.1))), Some("1.10"));
        assert_eq!(spelling("not json", &number(json!(1.1))), None);
        assert_eq!(spelling("", &number(json!(1))), None);
    }
}
