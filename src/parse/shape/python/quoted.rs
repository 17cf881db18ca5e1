//! Finds the end of a Python string. In one in single quotes an apostrophe in a word is no end.

use crate::json::window::{Answer, Match, No, Undecided, Window};
use crate::parse::marks::fence::think_close;

/// An open string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted {
    /// The position where its text begins.
    pub(crate) start: u64,
    quote: u8,
    pub(crate) triple: bool,
    /// A backslash is a backslash.
    pub(crate) raw: bool,
    /// A line break does not end it: what it is in is a call for certain, which Python would
    /// refuse and whoever wrote it meant (`python/line_break_in_a_string_after_a_token`).
    pub(crate) lines: bool,
}

impl Quoted {
    /// The string whose opening quotes, one or three, `text` begins with;
    /// `None` while more may make three of them.
    pub(crate) fn open(text: &str, at: u64, raw: bool, more: bool) -> Option<Self> {
        let quote = text.bytes().next()?;
        let run = text.bytes().take(3).take_while(|byte| *byte == quote).count();
        if run == text.len() && run < 3 && more {
            return None;
        }
        let triple = run == 3;
        Some(Quoted { start: at + if triple { 3 } else { 1 }, quote, triple, raw, lines: false })
    }

    /// Reads on from `cursor`, which is in the text, and moves it: after the
    /// closing quotes, before which the text ends, to what cannot be in it, or to
    /// where more is needed. Says whether there is an `apostrophe` in it.
    pub(crate) fn end(
        self,
        cursor: &mut u64,
        apostrophe: &mut bool,
        think_ends: bool,
        window: &Window<'_>,
    ) -> Match<u64> {
        let text = window.from(*cursor);
        let bytes = text.as_bytes();
        let base = *cursor;
        // A line break ends a string of one line, what ends the reasoning one of several.
        let stop = match self.triple || self.lines {
            false => b'\n',
            true if think_ends => b'<',
            true => self.quote,
        };
        let quotes = if self.triple { 3 } else { 1 };
        let mut from = 0;
        while let Some(i) = memchr::memchr3(self.quote, b'\\', stop, &bytes[from..]).map(|i| i + from) {
            *cursor = base + i as u64;
            match bytes[i] {
                b'\\' if i + 1 == bytes.len() => return Err(Undecided),
                b'\\' => from = i + 2,
                b'\n' => return Err(No),
                b'<' if think_close(&text[i..], window.more).decided()?.is_some() => return Err(No),
                b'<' => from = i + 1,
                _ => {
                    let run = bytes[i..].iter().take(quotes).take_while(|byte| **byte == self.quote).count();
                    if run == quotes && self.quote == b'\'' && !self.triple && !self.raw {
                        let before = if i == 0 { window.before(base) } else { text[..i].chars().next_back() };
                        if let Some(()) = is_apostrophe(before, &text[i + 1..], window.more).decided()? {
                            *apostrophe = true;
                            from = i + 1;
                            continue;
                        }
                    }
                    if run == quotes {
                        *cursor += quotes as u64;
                        return Ok(base + i as u64);
                    }
                    if i + run == bytes.len() {
                        return Err(Undecided);
                    }
                    from = i + run;
                }
            }
        }
        *cursor = window.end();
        Err(Undecided)
    }
}

/// Words after a string that Python knows.
const OPERATORS: &[&str] = &["and", "or", "not", "if", "else", "in", "is", "for"];

/// Longest of them.
const LONGEST_OPERATOR: usize = 4;

/// Checks whether a single quote with this character before it and this text after it is an apostrophe:
/// letters before it, and after it a word (`Xi'an`), or a space and one (`Guns N' Roses`), which
/// is neither an operator nor the prefix of a string.
fn is_apostrophe(before: Option<char>, text: &str, more: bool) -> Match<()> {
    if !before.is_some_and(char::is_alphanumeric) {
        return Err(No);
    }
    let text = text.strip_prefix(' ').unwrap_or(text);
    let end = text.char_indices().take(LONGEST_OPERATOR + 1).find(|(_, c)| !c.is_alphabetic());
    let word = match end {
        Some((end, _)) => &text[..end],
        None if more && text.chars().nth(LONGEST_OPERATOR).is_none() => return Err(Undecided),
        None => text,
    };
    let is_letter = |byte: u8| matches!(byte.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f');
    let is_prefix = text[word.len()..].starts_with(['\'', '"']) && word.len() <= 2 && word.bytes().all(is_letter);
    if word.is_empty() || is_prefix || OPERATORS.contains(&word) { Err(No) } else { Ok(()) }
}
