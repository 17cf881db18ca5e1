//! Python's literals as JSON values: exactly what Python would read, or nothing.

use serde_json::Value;

use crate::event::Repair;
use crate::json::strict;

/// Returns the value of `True`, `False`, `None` or their JSON spellings; `None` for any other word.
pub(crate) fn word(text: &str) -> Option<Value> {
    match text {
        "True" | "true" => Some(Value::Bool(true)),
        "False" | "false" => Some(Value::Bool(false)),
        "None" | "null" => Some(Value::Null),
        _ => None,
    }
}

/// Returns the value of a number in Python's syntax, with a sign, underscores between digits or a point at either end;
/// `None` for other text, and for bases other than ten, since a server would be sent other digits than were written. A
/// loss of precision is noted in `repairs`.
pub(crate) fn number(text: &str, repairs: &mut Vec<Repair>) -> Option<Value> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let plain = without_underscores(digits)?;
    let (mantissa, exponent) = match plain.find(['e', 'E']) {
        Some(at) => plain.split_at(at),
        None => (plain.as_str(), ""),
    };
    let json = match mantissa.split_once('.') {
        Some(("", "")) => return None,
        Some((whole, fraction)) => {
            let or_zero = |part: &str| if part.is_empty() { "0".to_owned() } else { part.to_owned() };
            format!("{sign}{}.{}{exponent}", or_zero(whole), or_zero(fraction))
        }
        None => format!("{sign}{mantissa}{exponent}"),
    };
    let (value, loses_digits) = strict(&json).filter(|(value, _)| value.is_number())?;
    if loses_digits {
        Repair::NumberPrecision.note(repairs);
    }
    Some(value)
}

/// Returns the digits without underscores; `None` if an underscore is not between two digits.
fn without_underscores(digits: &str) -> Option<String> {
    let bytes = digits.as_bytes();
    let stands = |i: usize| {
        let before = i.checked_sub(1).map(|i| bytes[i]);
        let after = bytes.get(i + 1);
        before.is_some_and(|b| b.is_ascii_digit()) && after.is_some_and(u8::is_ascii_digit)
    };
    let all = bytes.iter().enumerate().filter(|(_, b)| **b == b'_').all(|(i, _)| stands(i));
    all.then(|| digits.replace('_', ""))
}

/// Returns the text of a Python string, given without its quotes; `None` if an escape is invalid or unsupported. `raw`:
/// a backslash begins no escape.
pub(crate) fn string(text: &str, raw: bool) -> Option<String> {
    // Python reads each line break of its source as one character.
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() };
    if raw || !text.contains('\\') {
        return Some(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = escape(&rest[at + 1..], &mut out)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Appends the character of an escape, of which `text` follows the backslash, to `out`; returns the rest of the text,
/// or `None` if the escape is invalid or unsupported.
fn escape<'t>(text: &'t str, out: &mut String) -> Option<&'t str> {
    let kind = text.chars().next()?;
    let rest = &text[kind.len_utf8()..];
    let meant = match kind {
        '\n' => return Some(rest),
        '\\' | '\'' | '"' => kind,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0'..='7' => {
            let length = text.bytes().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            out.push(char::from_u32(u32::from_str_radix(&text[..length], 8).ok()?)?);
            return Some(&text[length..]);
        }
        'x' => return hex(rest, 2, out),
        'u' => return hex(rest, 4, out),
        'U' => return hex(rest, 8, out),
        // A name of a character needs Unicode's list of names.
        'N' => return None,
        // Python keeps the backslash of what is no escape.
        _ => {
            out.push('\\');
            kind
        }
    };
    out.push(meant);
    Some(rest)
}

/// Appends the character of an escape with `digits` hexadecimal digits, at the start of `text`, to `out`; a pair of
/// `\u` surrogates, as JSON writes it, is one character. Returns the rest of the text, or `None` if the escape is
/// invalid.
fn hex<'t>(text: &'t str, digits: usize, out: &mut String) -> Option<&'t str> {
    let unit = |text: &str| -> Option<u32> {
        let found = text.get(..digits).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(found, 16).ok()
    };
    let high = unit(text)?;
    let rest = &text[digits..];
    if let Some(found) = char::from_u32(high) {
        out.push(found);
        return Some(rest);
    }
    // Only `\u` is too short for such a character.
    let low = rest.strip_prefix("\\u").filter(|_| digits == 4)?;
    let pair = [u16::try_from(high).ok()?, u16::try_from(unit(low)?).ok()?];
    out.push(char::decode_utf16(pair).next()?.ok()?);
    Some(&low[digits..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_what_python_reads() {
        for (text, value) in [
            ("0", json!(0)),
            ("-7", json!(-7)),
            ("+7", json!(7)),
            ("1_000_000", json!(1_000_000)),
            ("1.5e3", json!(1500.0)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("1e5", json!(1e5)),
            ("-9223372036854775808", json!(i64::MIN)),
        ] {
            let mut repairs = Vec::new();
            assert_eq!(number(text, &mut repairs).unwrap_or_default(), value, "{text}");
            assert_eq!(repairs, [], "{text}");
        }
    }

    #[test]
    fn what_is_no_number_of_json_is_refused() {
        for text in [
            "0x1F", "-0x10", "0o17", "0b101", "007", "00", "1__0", "1_", "_1", "0x", "0x1ffffffffffffffff", "1j", ".",
            "-", "1.2.3", "5pm", "1e", "--1",
        ] {
            assert_eq!(number(text, &mut Vec::new()), None, "{text}");
        }
    }

    #[test]
    fn a_number_that_loses_digits_is_named() {
        let mut repairs = Vec::new();
        number("3.14159265358979323846", &mut repairs).unwrap();
        assert_eq!(repairs, [Repair::NumberPrecision]);
    }

    #[test]
    fn escapes_are_what_python_reads() {
        for (text, value) in [
            (r"a\n\t\\\'", "a\n\t\\'"),
            (r"\x41\u00e9\U0001F642", "Aé🙂"),
            (r"\ud83d\ude42", "🙂"),
            (r"\101\0", "A\0"),
            (r"\a\b\f\v", "\u{7}\u{8}\u{c}\u{b}"),
            (r"\A\e\/\8\z", r"\A\e\/\8\z"),
            (r"\1234\08\377", "S4\u{0}8ÿ"),
            (r"\d+\.", r"\d+\."),
            ("a\\\nb", "ab"),
            ("a\r\nb", "a\nb"),
        ] {
            assert_eq!(string(text, false).as_deref(), Some(value), "{text}");
        }
        for text in [r"\x4", r"\u12", r"\N{BULLET}", r"\ud83d", r"\ud83dx", r"\U00110000", "\\"] {
            assert_eq!(string(text, false), None, "{text}");
        }
        assert_eq!(string(r"\d\n", true).as_deref(), Some(r"\d\n"));
    }
}
