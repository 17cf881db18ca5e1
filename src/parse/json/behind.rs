//! What stands behind a JSON value, and whether it may belong inside.

use super::repair::{closes_string, opens_string};
use crate::parse::window::{Match, leading_space};

/// What was seen behind a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::parse) struct Behind {
    /// A bracket that nothing opened.
    pub(in crate::parse) surplus: bool,
    /// A word or a quotation mark, without white space between.
    pub(in crate::parse) glued: bool,
    /// A further member: the value's last bracket stands too early.
    pub(in crate::parse) member: bool,
}

impl Behind {
    /// What `text` begins with, right behind a value. Undecided while it may yet become a member.
    pub(in crate::parse) fn of(text: &str, more: bool) -> Match<Self> {
        let first = text.chars().next();
        let glued = first.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '"' | '“' | '”'));
        let surplus = text.trim_start().starts_with(['}', ']']);
        match member(text, more) {
            Match::Undecided => Match::Undecided,
            found => Match::Yes(Behind { surplus, glued, member: found == Match::Yes(()) }),
        }
    }
}

/// Whether a key in quotes follows, behind closing brackets or not: with a comma before it or a
/// colon behind it. Another text in quotes may be prose.
fn member(text: &str, more: bool) -> Match<()> {
    let unknown = if more { Match::Undecided } else { Match::No };
    let text = text.trim_start_matches([' ', '\t', '\r', '\n', '}', ']']);
    let behind_comma = text.strip_prefix([',', '，']);
    let text = behind_comma.unwrap_or(text);
    let text = &text[leading_space(text)..];
    let Some(open) = text.chars().next() else { return unknown };
    if !opens_string(open) {
        return Match::No;
    }
    if behind_comma.is_some() {
        return Match::Yes(());
    }
    let key = &text[open.len_utf8()..];
    let end = key.find(|c| c == '\n' || closes_string(open, c));
    let Some((end, close)) = end.and_then(|end| Some((end, key[end..].chars().next()?))) else { return unknown };
    let colon = key[end + close.len_utf8()..].trim_start_matches([' ', '\t']);
    match colon.chars().next() {
        _ if close == '\n' => Match::No,
        Some(':' | '：') => Match::Yes(()),
        Some(_) => Match::No,
        None => unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_behind_a_value_is_a_member_and_quoted_prose_is_not() {
        for text in [r#""b": 1}"#, r#", "b": 1}"#, "}\n \"b\" :1", r#"]}, "b"#, "'b': 1", "“b”：1"] {
            assert_eq!(member(text, false), Match::Yes(()), "{text}");
        }
        for text in
            ["", "}}", "\"b\"", "\"So be it\", he said", "\"b\n\": 1", ", {\"a\": 1}", "b: 1", "; \"b\": 1", "'''\n"]
        {
            assert_eq!(member(text, false), Match::No, "{text}");
        }
        for text in ["", " }", ",", ", ", "\"b", "\"b\"", "\"b\" "] {
            assert_eq!(member(text, true), Match::Undecided, "{text}");
        }
    }
}
