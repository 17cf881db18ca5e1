//! Look-ahead: inspects the following text without consuming it.
//!
//! Nothing looks further than [`FAR`] bytes, so that reading stays linear.

use serde_json::Value;

use crate::json::window::leading_space;

/// Maximum number of bytes of white space, or of a key, that a look-ahead inspects.
const FAR: usize = 1024;

/// Returns the text from offset `at` on that a look-ahead may inspect.
fn near(text: &str, at: usize) -> &str {
    &text[at..text.floor_char_boundary(at + FAR)]
}

/// Returns the offset after white space, and `true` if that has a line break; `None` if it is longer than [`FAR`].
pub(super) fn after_space(text: &str, from: usize) -> Option<(usize, bool)> {
    let near = near(text, from);
    let (space, rest) = near.split_at(leading_space(near));
    let at = from + space.len();
    (!rest.is_empty() || at == text.len()).then(|| (at, space.contains('\n')))
}

/// Returns the character at an offset of the text, `None` at its end.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

/// Returns `true` if a key followed by a colon begins at offset `at`.
pub(super) fn key_at(text: &str, at: usize) -> bool {
    let near = near(text, at);
    let Some(first) = near.chars().next() else { return false };
    let length = if opens(first) { string_length(near, first) } else { key_length(near) };
    length > 0 && after_space(text, at + length).is_some_and(|(at, _)| text[at..].starts_with(':'))
}

/// Returns the length of the one-line string at the start of `text`, quotes included; 0 if it is not closed.
fn string_length(text: &str, open: char) -> usize {
    // The string's own escapes end nothing.
    let mut escaped = false;
    let close = text.char_indices().skip(1).find(|(_, c)| {
        let found = !escaped && (closes(open, *c) || *c == '\n');
        escaped = !escaped && *c == '\\';
        found
    });
    close.filter(|(_, c)| *c != '\n').map_or(0, |(end, c)| end + c.len_utf8())
}

/// Returns `true` if a value begins at offset `at`: a bracket, a quotation mark, or a number or literal that a comma, a
/// line break or the array's end follows.
pub(super) fn value_at(text: &str, at: usize) -> bool {
    let Some(first) = char_at(text, at) else { return false };
    if opens(first) || matches!(first, '{' | '[') {
        return true;
    }
    let length = word_length(near(text, at));
    let word = &text[at..at + length];
    let is_value = word_of_python(word).is_some() || serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok();
    is_value
        && after_space(text, at + length)
            .is_some_and(|(at, line_break)| line_break || text[at..].starts_with([',', ']']))
}

/// Returns the length of the number or literal at the start of `rest`.
pub(super) fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_' | '$'))).unwrap_or(rest.len())
}

/// Returns the length of a key without quotes (letters, digits, `_`, `$` and, not first, `-`); 0 if there is none.
pub(super) fn key_length(rest: &str) -> usize {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
    let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
    let first = rest.chars().next();
    let number = rest[..length].bytes().all(|b| b.is_ascii_digit());
    // A number is a key in a dictionary of Python (`{3: False}`); `3d` is neither.
    if number || first.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$')) { length } else { 0 }
}

/// Returns `true` for a quotation mark that may begin a string.
pub(in crate::json) fn opens(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '「')
}

/// Returns `true` if the quotation mark `c` may end a string that began with `open`.
pub(in crate::json) fn closes(open: char, c: char) -> bool {
    match open {
        '“' | '”' | '„' => matches!(c, '”' | '“' | '"'),
        '‘' | '’' => matches!(c, '’' | '‘' | '\''),
        '「' => c == '」',
        _ => c == open,
    }
}

/// Returns the value of a literal of Python, or of JSON in another case (`None`, `TRUE`); `None` for another word.
pub(super) fn word_of_python(word: &str) -> Option<Value> {
    let is = |literal: &str| word.eq_ignore_ascii_case(literal);
    match word {
        _ if is("true") => Some(Value::Bool(true)),
        _ if is("false") => Some(Value::Bool(false)),
        _ if is("none") || is("null") => Some(Value::Null),
        _ => None,
    }
}
