//! Backslashes in strings.
//!
//! A backslash that begins no JSON escape is data and is doubled, as Python
//! reads it. But it also shows that the writer may not have escaped the others:
//! in `C:\Users\new` the `\n` is no line break, in `\alpha \times` the `\t` no
//! tab. Where a string has such a stray backslash, the escapes beside it must be
//! beyond doubt.

use super::name::Repair;
use super::pass::{Pass, Stop};

/// The escapes of one string so far.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    /// The first backslash that begins no JSON escape.
    stray: Option<usize>,
    /// A stray one stands before a word, as in a path or in LaTeX.
    word: bool,
    /// `\n` before something that continues no word: line breaks are escaped.
    breaks: bool,
    /// `\n` before a letter.
    break_or_word: bool,
    /// An escape that could be the begin of a word.
    doubtful: bool,
    /// Any escape that would read otherwise if backslashes were not escaped.
    any: bool,
    /// The last escape was a line break or a tab, and ended here.
    blank_end: usize,
}

impl Escapes {
    /// Where the string's backslashes have no certain reading, if so.
    pub(super) fn doubt(&self) -> Option<usize> {
        let doubtful = self.doubtful || (self.word && self.any) || (self.break_or_word && !self.breaks);
        self.stray.filter(|_| doubtful)
    }
}

impl Pass<'_> {
    /// Takes the backslash here and what belongs to it. `plain`: the string
    /// stands in double quotes.
    pub(super) fn escape(&mut self, plain: bool, escapes: &mut Escapes) -> Result<(), Stop> {
        let mut chars = self.rest()[1..].chars();
        let (escape, next) = (chars.next(), chars.next());
        let before_letter = next.is_some_and(char::is_alphabetic);
        let length = match escape {
            Some('"' | '/') => 2,
            Some('\\') => {
                escapes.any = true;
                2
            }
            Some('\'') => {
                if plain {
                    self.note(Repair::Backslashes);
                }
                self.out.push('\'');
                self.at += 2;
                return Ok(());
            }
            Some('u') => match self.rest()[2..].bytes().take(4).take_while(u8::is_ascii_hexdigit).count() {
                4 => {
                    escapes.any = true;
                    6
                }
                0 => return self.stray(before_letter, escapes),
                _ => return self.stop("a \\u escape has too few digits"),
            },
            Some(c @ ('b' | 'f' | 'n' | 'r' | 't')) => {
                escapes.any = true;
                let indents = matches!(c, 't' | 'r' | 'n') && escapes.blank_end == self.at && self.at > 0;
                match c {
                    'n' if before_letter && !indents => escapes.break_or_word = true,
                    'n' => escapes.breaks = true,
                    't' | 'r' if indents || !before_letter => {}
                    _ => escapes.doubtful = true,
                }
                if matches!(c, 'n' | 't' | 'r') {
                    escapes.blank_end = self.at + 2;
                }
                2
            }
            // A line that goes on, or a line break that was escaped twice.
            Some('\n' | '\r') => return self.stop("a backslash before a line break"),
            None => return self.stop("the text ends in a string"),
            // Escapes of Python and JavaScript, which may have been meant.
            Some('x' | '0'..='9' | 'a' | 'v' | 'N') if !plain => return self.stop("an escape that JSON does not have"),
            Some('x') if next.is_some_and(|c| c.is_ascii_hexdigit()) => {
                return self.stop("an escape that JSON does not have");
            }
            Some(c) => {
                let word = c.is_alphabetic() && before_letter;
                return self.stray(word, escapes);
            }
        };
        let taken = &self.rest()[..length];
        self.out.push_str(taken);
        self.at += length;
        Ok(())
    }

    fn stray(&mut self, word: bool, escapes: &mut Escapes) -> Result<(), Stop> {
        escapes.stray.get_or_insert(self.at);
        escapes.word |= word;
        self.note(Repair::Backslashes);
        self.out.push_str("\\\\");
        self.at += 1;
        Ok(())
    }
}
