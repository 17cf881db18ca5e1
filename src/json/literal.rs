//! Text to the JSON value that it spells, if it spells one exactly.

use serde_json::{Number, Value};

use super::decimal::{self, Decimal};
use super::outside::string_length;
use super::read::strict;

/// Returns the 64-bit integer that a text spells as a JSON number (`5`, ` -3 `, `5.0`, `1e3`), else `None`.
pub(crate) fn integer(text: &str) -> Option<Number> {
    Decimal::parse(text.trim())?.integer()
}

/// Returns the number that a text spells as a JSON number, and `true` if digits were lost.
/// `None` for a whole number beyond 64 bits, which may be an identifier, and for a number that no double can hold.
pub(crate) fn number(text: &str) -> Option<(Number, bool)> {
    let text = text.trim();
    let decimal = Decimal::parse(text)?;
    if !text.contains(['.', 'e', 'E']) {
        return decimal.integer().map(|n| (n, false));
    }
    let value: f64 = text.parse().ok()?;
    // `1e-999` is not zero, but too small for a double.
    if value == 0.0 && !decimal.is_zero() {
        return None;
    }
    Some((Number::from_f64(value)?, !decimal.is(value)))
}

/// Returns the boolean that a text spells, in upper or lower case, else `None`.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    text.trim().to_ascii_lowercase().parse().ok()
}

/// Returns the object or array that a text spells in strict JSON without duplicate
/// keys, else `None`; the boolean is `true` if a number in it lost digits.
pub(crate) fn compound(text: &str) -> Option<(Value, bool)> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    strict(text)
}

/// Returns `true` if a number token of the JSON text `json` reads as `number` but has more digits.
pub(crate) fn loses_digits(json: &str, number: &Number) -> bool {
    // An integer has all of its digits.
    let Some(value) = number.as_f64().filter(|_| number.is_f64()) else { return false };
    lossy(json).any(|other| other == value)
}

/// Returns the number tokens of a JSON text, outside strings.
fn numbers(json: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: &u8| c.is_ascii_digit() || matches!(c, b'-' | b'+' | b'.' | b'e' | b'E');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = json.as_bytes().get(at..)?;
            let start = rest.iter().position(|c| *c == b'"' || *c == b'-' || c.is_ascii_digit())?;
            if rest[start] == b'"' {
                at += start + string_length(&rest[start..])?;
                continue;
            }
            let length = rest[start..].iter().take_while(|c| is_part(c)).count();
            let token = at + start..at + start + length;
            at = token.end;
            return Some(&json[token]);
        }
    })
}

/// Returns the values of those number tokens of the JSON text `json` that lose digits when they are read.
pub(crate) fn lossy(json: &str) -> impl Iterator<Item = f64> {
    numbers(json).filter(|token| decimal::loses_digits(token)).filter_map(|token| token.parse().ok())
}

/// Returns the spelling of `number` in the JSON text `json`; `None` if the number
/// is not in it or is spelled in several ways.
pub(crate) fn spelling<'a>(json: &'a str, number: &Number) -> Option<&'a str> {
    let value = number.as_f64()?;
    let mut spellings = numbers(json).filter(|n| n.parse() == Ok(value));
    let first = spellings.next()?;
    spellings.all(|other| other == first).then_some(first)
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
