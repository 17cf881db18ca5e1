//! Backslashes in strings.
//!
//! A backslash that begins no JSON escape is data and is doubled, as Python
//! reads it. But it also shows that the writer may not have escaped the others:
//! in `C:\Users\new` the `\n` is no line break, in `\alpha \times` the `\t` no
//! tab. Where a string has such a stray backslash, the escapes beside it must be
//! beyond doubt.

use super::{Reader, Stop};
use crate::json::Repair;
use crate::json::escape::short_escape;

/// The escapes of one string that were read so far.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    /// Offset of the first backslash that begins no JSON escape (a stray backslash).
    stray: Option<usize>,
    /// `true` if a stray backslash is before a word, as in a path or in LaTeX.
    word: bool,
    /// `true` if the string has a `\n` that is not before a letter, which shows that its line breaks are escaped.
    breaks: bool,
    /// `true` if the string has a `\n` before a letter, which may be a path or a command rather than a line break.
    break_or_word: bool,
    /// `true` if the string has an escape that may be the beginning of a word, as `\t` in `\times`.
    doubtful: bool,
    /// `true` if the string has an escape that would mean something else if its backslashes were not escaped.
    any: bool,
    /// Offset of the end of the last `\n`, `\r` or `\t` escape.
    blank_end: usize,
}

impl Escapes {
    /// Returns the offset from which the meaning of the string's backslashes is not certain; `None` if all are certain.
    pub(super) fn doubt(&self) -> Option<usize> {
        let doubtful = self.doubtful || (self.word && self.any) || (self.break_or_word && !self.breaks);
        self.stray.filter(|_| doubtful)
    }
}

impl Reader<'_> {
    /// Reads the escape at the cursor and appends its character to `out`. `plain`: the string is in double quotes.
    pub(super) fn escape(&mut self, plain: bool, out: &mut String, escapes: &mut Escapes) -> Result<(), Stop> {
        let mut chars = self.rest()[1..].chars();
        let (escape, next) = (chars.next(), chars.next());
        let before_letter = next.is_some_and(char::is_alphabetic);
        let meant = match escape {
            Some(c @ ('"' | '/')) => c,
            Some('\\') => {
                escapes.any = true;
                '\\'
            }
            Some('\'') => {
                // JSON has no such escape. In single quotes it is the writer's own.
                if plain {
                    self.repair(Repair::Backslashes, self.at)?;
                }
                '\''
            }
            // `\users` is a path; `\u12` is an escape with too few digits.
            Some('u') if !self.rest()[2..].starts_with(|c: char| c.is_ascii_hexdigit()) => {
                return self.stray(before_letter, out, escapes);
            }
            Some('u') => {
                escapes.any = true;
                return self.by_number(out);
            }
            Some(c @ ('b' | 'f' | 'n' | 'r' | 't')) => {
                escapes.any = true;
                // Right after a line break or a tab it indents a line, even before a letter: `\n\tz`.
                let indents = matches!(c, 't' | 'r' | 'n') && escapes.blank_end == self.at;
                match c {
                    'n' if before_letter && !indents => escapes.break_or_word = true,
                    'n' => escapes.breaks = true,
                    't' | 'r' if indents || !before_letter => {}
                    _ => escapes.doubtful = true,
                }
                if matches!(c, 'n' | 't' | 'r') {
                    escapes.blank_end = self.at + 2;
                }
                short_escape(c as u8).unwrap_or(c)
            }
            // A line that goes on, or a line break that was escaped twice.
            Some('\n' | '\r') => return self.stop("a backslash before a line break"),
            None => return self.stop("the text ends in a string"),
            // Escapes of Python and JavaScript, which may have been meant.
            Some('x' | '0'..='9' | 'a' | 'v' | 'N') if !plain => return self.stop("an escape that JSON does not have"),
            // `\x41` may be meant as a character.
            Some('x') if next.is_some_and(|c| c.is_ascii_hexdigit()) => {
                return self.stop("an escape that JSON does not have");
            }
            Some(c) => return self.stray(c.is_alphabetic() && before_letter, out, escapes),
        };
        out.push(meant);
        self.at += 2;
        Ok(())
    }

    fn stray(&mut self, word: bool, out: &mut String, escapes: &mut Escapes) -> Result<(), Stop> {
        escapes.stray.get_or_insert(self.at);
        escapes.word |= word;
        // It is written twice, so that the first one is as it was.
        self.repair(Repair::Backslashes, self.at + 1)?;
        out.push('\\');
        self.at += 1;
        Ok(())
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair, and appends the character.
    fn by_number(&mut self, out: &mut String) -> Result<(), Stop> {
        let Some(first) = self.unit() else { return self.stop("a \\u escape has too few digits") };
        // A high surrogate, which a low one completes.
        let second = if (0xd800..0xdc00).contains(&first) { self.unit() } else { None };
        match char::decode_utf16([first].into_iter().chain(second)).next() {
            Some(Ok(c)) => out.push(c),
            _ => return self.stop("a \\u escape is half a character"),
        }
        Ok(())
    }

    /// Reads one `\uXXXX`; `None` if it has not four hex digits.
    fn unit(&mut self) -> Option<u16> {
        let digits = self.rest().strip_prefix("\\u")?.get(..4)?;
        // `from_str_radix` takes a sign, as in `\u+123`.
        let unit = u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
        self.at += 6;
        Some(unit)
    }
}
