//! What stands further on, looked at without taking it.
//!
//! Nothing looks further than [`FAR`] bytes, so that the pass stays linear.

use super::pass::{comment, is_space};
use super::{quotes, words};

/// Bytes of white space and comments, or of a key, that are looked at.
const FAR: usize = 1024;

/// The place behind white space and comments, and whether there was a line
/// break; `None` where they go on too far.
pub(super) fn behind_gap(text: &str, from: usize) -> Option<(usize, bool)> {
    let (mut at, mut line_break) = (from, false);
    let end = text.floor_char_boundary(from + FAR);
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
    let near = &text[at..text.floor_char_boundary(at + FAR)];
    let Some(first) = near.chars().next() else { return false };
    let length = if quotes::opens(first) { string_length(near, first) } else { words::key_length(near) };
    let colon = |at| matches!(char_at(text, at), Some(':' | '：'));
    length > 0 && behind_gap(text, at + length).is_some_and(|(at, _)| colon(at))
}

/// Length of the string of one line that `text` begins with, quotes included; 0 if it does not end.
fn string_length(text: &str, open: char) -> usize {
    // The string's own escapes end nothing.
    let mut escaped = false;
    let close = text.char_indices().skip(1).find(|(_, c)| {
        let found = !escaped && (quotes::closes(open, *c) || *c == '\n');
        escaped = !escaped && *c == '\\';
        found
    });
    close.filter(|(_, c)| *c != '\n').map_or(0, |(end, c)| end + c.len_utf8())
}

/// Whether the whole value of an object's member begins at `at`: a bracket, or a string or word
/// that a comma or the object's end follows.
pub(super) fn member_value_at(text: &str, at: usize) -> bool {
    let near = &text[at..text.floor_char_boundary(at + FAR)];
    let length = match near.chars().next() {
        Some('{' | '[') => return true,
        Some(open) if quotes::opens(open) => string_length(near, open),
        _ => Some(words::length(near)).filter(|length| words::read(&near[..*length]).is_some()).unwrap_or(0),
    };
    let ends = |at| matches!(char_at(text, at), Some(',' | '，' | '}'));
    length > 0 && behind_gap(text, at + length).is_some_and(|(at, _)| ends(at))
}

/// Whether a whole value begins at `at`: a bracket, a string, or a word that a
/// comma or the array's end follows.
pub(super) fn value_at(text: &str, at: usize) -> bool {
    let Some(first) = char_at(text, at) else { return false };
    if quotes::opens(first) || matches!(first, '{' | '[' | '(') {
        return true;
    }
    let length = words::length(&text[at..text.floor_char_boundary(at + FAR)]);
    let ends = |at| matches!(char_at(text, at), Some(',' | '，' | ']' | ')'));
    words::read(&text[at..at + length]).is_some()
        && behind_gap(text, at + length).is_some_and(|(at, line_break)| line_break || ends(at))
}
