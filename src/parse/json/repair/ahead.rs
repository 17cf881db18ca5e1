//! What stands further on, looked at without taking it.
//!
//! Nothing looks further than [`FAR`] bytes, so that the pass stays linear.

use super::strings;

/// Bytes of white space and comments, or of a key, that are looked at.
const FAR: usize = 1024;

/// White space and its like, JSON's own included.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\u{180e}')
}

/// Length of the comment that `rest` begins with; a line comment's without its line break.
pub(super) fn comment(rest: &str) -> Option<usize> {
    if let Some(body) = rest.strip_prefix("/*") {
        return body.find("*/").map(|at| at + 4);
    }
    (rest.starts_with("//") || rest.starts_with('#')).then(|| rest.find('\n').unwrap_or(rest.len()))
}

/// The place behind white space and comments, and whether there was a line
/// break; `None` where they go on too far.
pub(super) fn behind_gap(text: &str, from: usize) -> Option<(usize, bool)> {
    let (mut at, mut line_break) = (from, false);
    let end = super::super::super::window::floor_boundary(text, from + FAR);
    let near = &text[..end];
    while let Some(c) = near[at..].chars().next() {
        match c {
            '/' | '#' => match comment(&near[at..]) {
                Some(length) => at += length,
                None => return Some((at, line_break)),
            },
            c if is_space(c) => {
                line_break |= c == '\n';
                at += c.len_utf8();
            }
            _ => return Some((at, line_break)),
        }
    }
    (end == text.len()).then_some((at, line_break))
}

/// The character at a place.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

/// Whether a key and its colon begin at `at`.
pub(super) fn key_at(text: &str, at: usize) -> bool {
    let near = &text[at..super::super::super::window::floor_boundary(text, at + FAR)];
    let Some(first) = near.chars().next() else { return false };
    let length = if strings::opens(first) {
        // The key's own escapes end nothing.
        let mut escaped = false;
        let close = near.char_indices().skip(1).find(|(_, c)| {
            let found = !escaped && (strings::closes(first, *c) || *c == '\n');
            escaped = !escaped && *c == '\\';
            found
        });
        match close {
            Some((end, c)) if c != '\n' => end + c.len_utf8(),
            _ => return false,
        }
    } else {
        bare_key(near)
    };
    let colon = |at| matches!(char_at(text, at), Some(':' | '：'));
    length > 0 && behind_gap(text, at + length).is_some_and(|(at, _)| colon(at))
}

/// Length of a key without quotes: letters, digits, `_`, `$` and, inside, `-`.
pub(super) fn bare_key(rest: &str) -> usize {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
    let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
    let first = rest.chars().next();
    let number = rest[..length].bytes().all(|b| b.is_ascii_digit());
    if number || first.is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$')) { length } else { 0 }
}

/// Whether a whole value begins at `at`: a bracket, a string, or a word that a
/// comma or the array's end follows.
pub(super) fn value_at(text: &str, at: usize) -> bool {
    let Some(first) = char_at(text, at) else { return false };
    if strings::opens(first) || matches!(first, '{' | '[' | '(') {
        return true;
    }
    let length = super::words::length(&text[at..super::super::super::window::floor_boundary(text, at + FAR)]);
    let ends = |at| matches!(char_at(text, at), Some(',' | '，' | ']' | ')'));
    super::words::read(&text[at..at + length]).is_some()
        && behind_gap(text, at + length).is_some_and(|(at, line_break)| line_break || ends(at))
}
