//! The last resort: a library that rewrites damaged JSON.
//!
//! It also completes what was cut off and drops what it does not understand. So
//! its text counts only if it has the tokens of the source in their order: the
//! same brackets, the same values, no more and no less. What differs between
//! them names the repairs.

use super::mend::Mended;
use super::name::Repair;
use super::pass::Pass;
use super::quotes::opens;
use super::strings::Role;
use super::{ahead, words};
use crate::json::outside::string_length;

/// Longest text that the library sees, in bytes: its time is quadratic for hostile ones.
const LONGEST: usize = 4 << 10;

/// Rewrites text whose brackets are balanced; `None` if that adds or loses anything.
pub(in crate::json) fn rewrite(text: &str) -> Option<Mended> {
    if text.len() > LONGEST {
        return None;
    }
    let written = jsonrepair_rs::jsonrepair(text).ok()?;
    let mut source = Pass::new(text);
    let mut separator = None;
    let mut rest = written.trim_start();
    while let Some(c) = rest.chars().next() {
        if matches!(c, ',' | ':') {
            if separator.replace(c).is_some() {
                return None;
            }
            rest = rest[1..].trim_start();
            continue;
        }
        let is_missing = source.separators(separator.take())?;
        let length = match c {
            '{' | '}' | '[' | ']' => {
                source.take(c)?;
                1
            }
            '"' => {
                let length = string_length(rest.as_bytes())?;
                let value: String = serde_json::from_str(&rest[..length]).ok()?;
                let key = rest[length..].trim_start().starts_with(':');
                // Text that strayed in may look like a key.
                if key && is_missing && !source.peek().is_some_and(opens) {
                    return None;
                }
                source.same_string(&value, key)?;
                length
            }
            _ => {
                let length = words::length(rest);
                source.same_word(&rest[..length])?;
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    source.separators(separator)?;
    source.rest().is_empty().then_some(Mended { text: written, repairs: source.repairs })
}

impl Pass<'_> {
    /// Takes what stands between two tokens, where the rewritten text has `written`;
    /// yields whether that is missing.
    fn separators(&mut self, written: Option<char>) -> Option<bool> {
        self.gap();
        let found = self.peek().filter(|c| matches!(c, ',' | '，' | ':' | '：'));
        match (written, found) {
            (None, None) => {}
            (Some(','), None) => self.note(Repair::MissingComma),
            (Some(_), None) => self.note(Repair::MissingColon),
            (None, Some(',' | '，')) => self.note(Repair::TrailingComma),
            (Some(','), Some(',')) | (Some(':'), Some(':')) => {}
            (Some(','), Some('，')) | (Some(':'), Some('：')) => self.note(Repair::FullWidth),
            _ => return None,
        }
        self.at += found.map_or(0, char::len_utf8);
        self.gap();
        Some(written.is_some() && found.is_none())
    }

    fn take(&mut self, bracket: char) -> Option<()> {
        self.rest().starts_with(bracket).then(|| self.at += 1)
    }

    /// Takes a string that says `value`, with quotes or without.
    fn same_string(&mut self, value: &str, key: bool) -> Option<()> {
        if self.peek().is_some_and(opens) {
            let from = self.out.len();
            self.string(Role::Any).ok()?;
            return (serde_json::from_str::<String>(&self.out[from..]).ok()? == value).then_some(());
        }
        let bare = self.rest().strip_prefix(value).filter(|_| is_plain_text(value))?;
        let (at, line_break) = ahead::behind_gap(bare, 0)?;
        let ends =
            line_break || ahead::char_at(bare, at).is_none_or(|c| matches!(c, ',' | '，' | ':' | '：' | '}' | ']'));
        self.at += value.len();
        self.note(if key { Repair::UnquotedKeys } else { Repair::UnquotedValues });
        ends.then_some(())
    }

    /// Takes a literal or number that says the same as `word`.
    fn same_word(&mut self, word: &str) -> Option<()> {
        let found = &self.rest()[..words::length(self.rest())];
        let (json, repair) = words::read(found)?;
        self.at += found.len();
        if let Some(repair) = repair {
            self.note(repair);
        }
        (json == word).then_some(())
    }
}

/// Whether a text without quotes can only have been meant as a string.
fn is_plain_text(value: &str) -> bool {
    let value = value.trim();
    let none = ["undefined", "nan", "inf", "infinity"];
    !value.is_empty()
        && !value.contains(['"', '\'', '\\', '{', '}', '[', ']', '(', ')', '&', '<', '“', '”', '‘', '’', '`', '\n'])
        && words::read(value).is_none()
        && value.parse::<f64>().is_err()
        && !none.iter().any(|word| value.trim_start_matches(['+', '-']).eq_ignore_ascii_case(word))
        && !value.starts_with("...")
        && !is_of_other_base(value)
}

/// Whether a word is a number in Python's or C's hexadecimal, octal or binary digits.
fn is_of_other_base(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    let base = digits.get(..2).is_some_and(|base| matches!(base, "0x" | "0X" | "0o" | "0O" | "0b" | "0B"));
    base && digits.len() > 2 && digits[2..].bytes().all(|b| b.is_ascii_hexdigit() || b == b'_')
}
