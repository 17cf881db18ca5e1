//! Strings: where they end, and quotation marks inside them.
//!
//! A quotation mark ends the string if the text after it is what JSON wants there. Any other one is inside. Once a
//! string has such a mark, its end is certain only if the marks inside are in pairs, signs for inches after digits, or
//! apostrophes in words.

use super::ahead::{self, closes, opens};
use super::escapes::Escapes;
use super::{Reader, Stop};
use crate::json::Repair;
use crate::json::bytes::Places;
use crate::json::escape::{Special, short_escape};

/// The role of a string, which decides what must follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringRole {
    Key,
    /// The value of a member of an object.
    Member,
    /// An item of an array.
    Item,
    /// The whole text is this string.
    Top,
}

/// The quotation marks inside a string that were read so far.
#[derive(Debug, Default)]
struct InnerMarks {
    count: usize,
    /// Number of quotation marks that were opened and not closed.
    open: usize,
    /// `true` if a quotation mark closes a quotation that was not opened.
    astray: bool,
    /// `true` if the first quotation mark inside the string is at its start.
    at_start: bool,
    /// `true` if the last quotation mark inside the string is between two letters or digits.
    in_word: bool,
    /// Offset of the first quotation mark inside the string; `end` is the offset after the last one.
    first: usize,
    end: usize,
}

impl InnerMarks {
    /// Notes the quotation mark `c` at offset `at`, between `head` (the string before it) and `rest` (the text after
    /// it).
    fn add(&mut self, at: usize, head: &str, c: char, rest: &str) {
        let before = head.chars().next_back();
        let after = rest.chars().next();
        // In Chinese text the comma and the colon are often full-width.
        let ends_value = rest.trim_start().chars().next().is_none_or(|c| ",:}]，：".contains(c));
        let number = head.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        // `24"` and `1.5"`, but not `v2"`, whose digits belong to a word.
        let inches = number.len() < head.len() && !number.ends_with(char::is_alphanumeric);
        let opening = before.is_none_or(|b| b.is_whitespace() || "([{<=:,;-+/“‘（：，。、".contains(b));
        let closing = after.is_none_or(|a| a.is_whitespace() || ".,;:!?)]}>+/\"'”’，。；：！？）、".contains(a));
        let letters = [before, after].iter().all(|c| c.is_some_and(char::is_alphanumeric));
        if self.count == 0 {
            (self.first, self.at_start) = (at, before.is_none());
        }
        self.count += 1;
        self.in_word = letters;
        self.end = at + c.len_utf8();
        match (opening, closing) {
            // An apostrophe.
            _ if letters && matches!(c, '\'' | '’') => {}
            (true, false) => self.open += 1,
            // `24"` closes nothing and needs no opener.
            (false, true) if self.open == 0 => self.astray |= !inches,
            // It may as well have ended the string, and what follows it is damaged.
            (true, true) if self.open == 0 && ends_value => self.astray = true,
            _ if self.open > 0 => self.open -= 1,
            _ => self.open += 1,
        }
    }

    /// Returns `true` if the string certainly ends with the quotation mark at offset `end`.
    fn is_certain(&self, end: usize) -> bool {
        // `""5""`: doubled quotes around the value, not marks inside it; a pair that opens at the
        // start must close before the end, or one of both may be the string's own.
        let doubled = self.at_start && (self.open > 0 || self.end == end);
        // All in pairs (fixture `inner_quotes`); one alone only in a word, as in `"v"alue"`. An odd mark elsewhere may
        // be the string's end, with damage after it (`inner_quotes_uncertain`).
        !doubled && !self.astray && (self.open == 0 || (self.count == 1 && self.in_word))
    }
}

impl Reader<'_> {
    /// Reads the string that begins at the cursor with the quotation mark `open`.
    pub(super) fn string(&mut self, open: char, role: StringRole) -> Result<String, Stop> {
        let begin = self.at;
        if open != '"' {
            self.repair(Repair::Syntax, begin)?;
        }
        self.at += open.len_utf8();
        let (start, mut out) = (self.at, String::new());
        let (mut inner, mut escapes) = (InnerMarks::default(), Escapes::default());
        loop {
            let Some(c) = self.plain(open, &mut out) else {
                self.at = begin;
                return self.stop("a string is not closed");
            };
            if !closes(open, c) {
                self.special(c, open == '"', &mut out, &mut escapes)?;
                continue;
            }
            let end = self.at + c.len_utf8();
            // In strict JSON the first mark without a backslash ends the string.
            if !self.is_tolerant || self.follows(role, end) {
                self.check(&inner, &escapes)?;
                self.at = end;
                return Ok(out);
            }
            // In `{"a": "b, "c": 1}` the first string lacks its end and would swallow a member.
            if self.begins_member(start) {
                return self.stop("a member begins inside a string that is not closed");
            }
            inner.add(self.at, &self.text[start..self.at], c, &self.text[end..]);
            out.push(c);
            self.at = end;
        }
    }

    /// Returns the number of bytes up to the next `"` that no backslash precedes; 0 if there is none.
    fn to_a_quote(&self) -> usize {
        let rest = self.rest().as_bytes();
        let is_bare = |at: &usize| at.checked_sub(1).is_none_or(|before| rest[before] != b'\\');
        memchr::memchr_iter(b'"', rest).find(is_bare).unwrap_or(0)
    }

    /// Copies characters that need no decision to `out`; returns the character after them.
    fn plain(&mut self, open: char, out: &mut String) -> Option<char> {
        let rest = self.rest();
        let length = match open {
            '"' => Places::new(Special, rest.as_bytes()).next(),
            _ => rest.find(|c: char| c < ' ' || c == '\\' || closes(open, c)),
        }?;
        let next = rest[length..].chars().next();
        if out.capacity() - out.len() < length {
            // Room for the rest at once: each escape would make the text grow.
            out.reserve_exact(if next == Some(open) { length } else { self.to_a_quote().max(length) });
        }
        out.push_str(&rest[..length]);
        self.at += length;
        next
    }

    /// Reads a backslash escape or a raw control character inside a string.
    fn special(&mut self, c: char, plain: bool, out: &mut String, escapes: &mut Escapes) -> Result<(), Stop> {
        if c == '\\' {
            // Strict JSON has no escape whose meaning depends on the others.
            return match self.text.as_bytes().get(self.at + 1).copied().and_then(short_escape) {
                Some(meant) if !self.is_tolerant => {
                    out.push(meant);
                    self.at += 2;
                    Ok(())
                }
                _ => self.escape(plain, out, escapes),
            };
        }
        self.repair(Repair::Syntax, self.at)?;
        out.push(c);
        self.at += 1;
        Ok(())
    }

    /// Returns an error unless the inner quotation marks and the backslashes of a string that ends here have one
    /// reading.
    fn check(&mut self, inner: &InnerMarks, escapes: &Escapes) -> Result<(), Stop> {
        let stop = |at, why: &'static str| Err::<(), _>(Stop { at, why: why.into(), is_final: false });
        if !inner.is_certain(self.at) {
            return stop(inner.end, "a quotation mark inside a string is not escaped");
        }
        if inner.count > 0 {
            self.repair(Repair::InnerQuotes, inner.first)?;
        }
        escapes.doubt().map_or(Ok(()), |at| stop(at, "backslashes in a string are not escaped"))
    }

    /// Returns `true` if the text after a string that ends before `end` is what JSON expects there, or the next member.
    fn follows(&self, role: StringRole, end: usize) -> bool {
        let text = self.text;
        let Some((at, line_break)) = ahead::after_space(text, end) else { return false };
        // At the text's end a value is over, so that the missing bracket is the fault that is named.
        let Some(next) = ahead::char_at(text, at) else { return role != StringRole::Key };
        let after_comma = || ahead::after_space(text, at + 1).map(|(at, _)| (at, ahead::char_at(text, at)));
        match role {
            StringRole::Top => false,
            StringRole::Key => next == ':',
            StringRole::Member if next == ',' => {
                after_comma().is_some_and(|(at, next)| matches!(next, None | Some('}')) || ahead::key_at(text, at))
            }
            // A comma is missing; a mark inside would have been escaped, or no colon would follow.
            StringRole::Member => next == '}' || (at > end && (line_break || opens(next)) && ahead::key_at(text, at)),
            StringRole::Item if next == ',' => {
                after_comma().is_some_and(|(at, next)| matches!(next, None | Some(']')) || ahead::value_at(text, at))
            }
            StringRole::Item => next == ']',
        }
    }

    /// Returns `true` if the quotation mark at the cursor begins text that looks like the next member.
    fn begins_member(&self, start: usize) -> bool {
        let before = self.text[start..self.at].trim_end_matches([' ', '\t']);
        before.ends_with([',', '，', '\n']) && ahead::key_at(self.text, self.at)
    }
}
