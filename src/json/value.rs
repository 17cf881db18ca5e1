//! JSON text to a value: strictly, else with bounded repairs, each named.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::escape::push_control;
use super::repair::{Mended, Repair, Stop, mend};
use super::strict::strict;

/// A value that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadValue<'t> {
    pub(crate) value: Value,
    /// The text that the value was read from: the source, or the source mended.
    pub(crate) text: Cow<'t, str>,
    /// What was mended.
    pub(crate) repairs: Vec<Repair>,
}

/// Why a text is not read: the strict reader's error, and where mending it stopped.
#[derive(Debug)]
pub(crate) struct NotJson {
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

/// Reads `text` as one JSON value: strictly, else mended.
///
/// # Errors
/// The strict reader's error on the text as it stands, and why it was not mended.
pub(crate) fn read(text: &str) -> Result<ReadValue<'_>, NotJson> {
    let first = match strict(text) {
        Ok((value, lossy)) => return Ok(ReadValue { value, text: Cow::Borrowed(text), repairs: precision(lossy) }),
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
fn mended(text: Cow<'_, str>, decoded: Option<Repair>) -> Result<ReadValue<'_>, Failure> {
    let (mended, at) = match strict(&text) {
        Ok((value, lossy)) if decoded.is_some() => {
            let repairs = decoded.into_iter().chain(precision(lossy)).collect();
            return Ok(ReadValue { value, text, repairs });
        }
        _ => (mend(&text).map_err(Failure::Stop)?, text.len()),
    };
    let stop = |_: &serde_json::Error| Stop { at, why: "it is not JSON when mended either" };
    let mut read = checked(mended).map_err(|e| if e.is_data() { Failure::Data(e) } else { Failure::Stop(stop(&e)) })?;
    read.repairs.splice(0..0, decoded);
    Ok(read)
}

fn checked(mended: Mended) -> Result<ReadValue<'static>, serde_json::Error> {
    let (value, lossy) = strict(&mended.text)?;
    let mut repairs = mended.repairs;
    repairs.extend(precision(lossy));
    Ok(ReadValue { value, text: Cow::Owned(mended.text), repairs })
}

/// What a number that lost digits is named.
fn precision(lossy: bool) -> Vec<Repair> {
    if lossy { vec![Repair::NumberPrecision] } else { Vec::new() }
}

/// The text without one level of escapes, if all of its quotes have them.
fn unescaped(text: &str) -> Option<String> {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        if c < ' ' { push_control(c, &mut quoted) } else { quoted.push(c) }
    }
    quoted.push('"');
    serde_json::from_str(&quoted).ok()
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
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn text_that_was_escaped_once_more_is_read_where_all_of_it_was() {
        assert_eq!(repairs(r#"{\"a\": \"x\\\"y\\n\"}"#), (json!({"a": "x\"y\n"}), vec!["escaped_json".into()]));
        assert_eq!(repairs(r#"{\"a\": 1,}"#).1, ["escaped_json", "trailing_comma"]);
        assert!(read(r#"{\"a\": "b"}"#).is_err());
    }

    #[test]
    fn entities_inside_strings_are_data_where_the_text_needs_them_not() {
        assert_eq!(repairs(r#"{'a': '&lt;b&gt;'}"#), (json!({"a": "&lt;b&gt;"}), vec!["quotes".into()]));
        assert_eq!(repairs(r#"{&apos;a&apos;: &apos;&amp;lt;&apos;}"#).0, json!({"a": "&lt;"}));
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
