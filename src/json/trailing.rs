//! The text after a JSON value, which may belong inside.

use super::read::{closes_string, opens_string};
use super::window::{Match, No, Undecided, begins, first_of, leading_space};

/// The classification of the text after a JSON value, which may belong inside the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trailing {
    /// `true` if a closing bracket follows that closes nothing (fixture `members_after/type_marker_bracket_too_many`).
    pub(crate) surplus: bool,
    /// `true` if a word or a key follows, with nothing but closing brackets between: it may be the rest of a key whose
    /// first quote is missing (`key_without_its_first_quote`).
    pub(crate) glued: bool,
    /// `true` if digits follow directly, and after them a bracket or a further key: the rest of a number
    /// (`split_number`); other digits are prose (`digits_of_prose`).
    pub(crate) digits: bool,
    /// `true` if a further member follows: the value's last bracket is too early (`hermes`, `use_mcp_tool`).
    pub(crate) member: bool,
    /// `true` if a further object follows (`arguments/two_objects`).
    pub(crate) object: bool,
}

impl Trailing {
    /// Classifies `text`, which follows a value directly. Undecided while `more` text may change the answer.
    pub(crate) fn of(text: &str, more: bool) -> Match<Self> {
        // `&` and `\` begin a quotation mark in text that is escaped (`entities`, `escaped_once_more`).
        let glues = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '"' | '“' | '”' | '&' | '\\');
        // What was put between a number and its rest may be more than one bracket (`torn_number`).
        let after = text.trim_start_matches(['}', ']']);
        let glued = after.starts_with(glues);
        let surplus = text[leading_space(text)..].starts_with(['}', ']']);
        let found = [member(text, more), digits(after, more), object(text, more)];
        if found.contains(&Err(Undecided)) {
            return Err(Undecided);
        }
        let [member, digits, object] = found.map(|found| found == Ok(()));
        Ok(Trailing { surplus, glued, digits, member, object })
    }
}

/// Matches an object at the start of `text`, after a comma or semicolon or without one.
fn object(text: &str, more: bool) -> Match<()> {
    let text = &text[leading_space(text)..];
    let text = text.strip_prefix([',', ';', '，', '；']).unwrap_or(text);
    begins(&text[leading_space(text)..], "{", more)
}

/// Matches digits followed by a closing bracket, or by a comma and a quotation mark.
fn digits(text: &str, more: bool) -> Match<()> {
    let unknown = if more { Err(Undecided) } else { Err(No) };
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let after = if text.starts_with(|c: char| c.is_ascii_digit()) { after.trim_start() } else { return Err(No) };
    match after.strip_prefix([',', '}', ']']) {
        // After a comma only a key goes on: `2, then 3` is prose.
        Some(key) if after.starts_with(',') => match key.trim_start().chars().next() {
            Some(open) if opens_string(open) => Ok(()),
            Some(_) => Err(No),
            None => unknown,
        },
        Some(_) => Ok(()),
        None if after.is_empty() => unknown,
        None => Err(No),
    }
}

/// Beginnings of a key in text whose quotation marks are escaped (`escaped_once_more`, `entities`).
const ESCAPED_QUOTES: [&str; 2] = ["\\\"", "&quot;"];

/// Matches a key in quotes, after closing brackets or without them: it needs a comma before it or a colon after it.
///
/// Other text in quotes may be prose.
fn member(text: &str, more: bool) -> Match<()> {
    let unknown = if more { Err(Undecided) } else { Err(No) };
    let text = text.trim_start_matches([' ', '\t', '\r', '\n', '}', ']']);
    let after_comma = text.strip_prefix([',', '，']);
    let text = after_comma.unwrap_or(text);
    let text = &text[leading_space(text)..];
    let Some(open) = text.chars().next() else { return unknown };
    if !opens_string(open) {
        // Without a comma, `&quot;` may begin prose.
        let escaped = ESCAPED_QUOTES.into_iter().filter(|_| after_comma.is_some());
        return first_of(escaped.map(|quote| begins(text, quote, more)));
    }
    if after_comma.is_some() {
        return Ok(());
    }
    let key = &text[open.len_utf8()..];
    let end = key.find(|c| c == '\n' || closes_string(open, c));
    let Some((end, close)) = end.and_then(|end| Some((end, key[end..].chars().next()?))) else { return unknown };
    let colon = key[end + close.len_utf8()..].trim_start_matches([' ', '\t']);
    match colon.chars().next() {
        // A key is on one line; text in quotes that goes on after it is prose.
        _ if close == '\n' => Err(No),
        Some(':' | '：') => Ok(()),
        Some(_) => Err(No),
        None => unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_on_with_a_number_where_the_json_goes_on_after_them() {
        for text in ["14}", "1.5 ]", "4, \"b\": 1"] {
            assert_eq!(digits(text, false), Ok(()), "{text}");
        }
        for text in ["", "x}", "1 < 2", "2, then 3", " 14}", "14"] {
            assert_eq!(digits(text, false), Err(No), "{text}");
        }
        for text in ["14", "1, "] {
            assert_eq!(digits(text, true), Err(Undecided), "{text}");
        }
    }

    #[test]
    fn a_key_after_a_value_is_a_member_and_quoted_prose_is_not() {
        for text in [
            r#", \"b\": 1}"#, ",&quot;b", r#""b": 1}"#, r#", "b": 1}"#, "}\n \"b\" :1", r#"]}, "b"#, "'b': 1", "“b”：1",
        ] {
            assert_eq!(member(text, false), Ok(()), "{text}");
        }
        for text in [
            "", "}}", "\"b\"", "\"So be it\", he said", "\"b\n\": 1", ", {\"a\": 1}", "&quot;b", ", \\n", "b: 1",
            "; \"b\": 1", "'''\n",
        ] {
            assert_eq!(member(text, false), Err(No), "{text}");
        }
        for text in ["", ", &quo", ",\\", " }", ",", ", ", "\"b", "\"b\"", "\"b\" "] {
            assert_eq!(member(text, true), Err(Undecided), "{text}");
        }
    }
}
