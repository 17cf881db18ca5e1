//! Strings: where they end, and quotation marks inside them.
//!
//! A quotation mark ends the string where what follows it is what JSON wants
//! there. Any other one stands inside. Once a string has such a mark, its end
//! is certain only if the marks inside are in pairs, signs for inches behind
//! digits, or apostrophes in words.

use super::ahead;
use super::escapes::Escapes;
use super::name::Repair;
use super::pass::{Pass, Stop};
use super::quotes::{closes, opens};
use crate::json::escape::push_control;

/// What the string is, which says what must follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    /// A member's value.
    Member,
    /// An item of what this bracket closes.
    Item(char),
    /// The whole text.
    Top,
}

/// The marks inside a string so far.
#[derive(Debug, Default)]
struct Inner {
    count: usize,
    /// Marks that were opened and not closed.
    open: usize,
    /// One closes what none opened.
    astray: bool,
    /// The first one stands at the string's start.
    at_start: bool,
    /// The last one stands inside a word.
    in_word: bool,
    /// Where the last one ends.
    end: usize,
}

impl Inner {
    /// Notes a mark between `head`, the string so far, and `rest`.
    fn add(&mut self, head: &str, c: char, rest: &str, end: usize) {
        let before = head.chars().next_back();
        let after = rest.chars().next();
        let ends_value = rest.trim_start().chars().next().is_none_or(|c| ",:}]，：".contains(c));
        let number = head.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let inches = number.len() < head.len() && !number.ends_with(char::is_alphanumeric);
        let opening = before.is_none_or(|b| b.is_whitespace() || "([{<=:,;-+/“‘（：，。、".contains(b));
        let closing = after.is_none_or(|a| a.is_whitespace() || ".,;:!?)]}>+/\"'”’，。；：！？）、".contains(a));
        let letters = [before, after].iter().all(|c| c.is_some_and(char::is_alphanumeric));
        self.at_start |= self.count == 0 && before.is_none();
        self.count += 1;
        self.in_word = letters;
        self.end = end;
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

    /// Whether the string that ends at `end` certainly ends there.
    fn is_certain(&self, end: usize) -> bool {
        // `""5""`: doubled quotes around the value, not marks inside it; a pair that opens at the
        // start must close before the end, or one of both may be the string's own.
        let doubled = self.at_start && (self.open > 0 || self.end == end);
        // All in pairs (fixture `inner_quotes`); one alone only in a word, as in `"v"alue"`. An odd
        // mark elsewhere may be the string's end, with damage behind it (`inner_quotes_uncertain`).
        !doubled && !self.astray && (self.open == 0 || (self.count == 1 && self.in_word))
    }
}

impl Pass<'_> {
    /// Takes the string that begins here.
    pub(super) fn string(&mut self, role: Role) -> Result<(), Stop> {
        let Some(open) = self.peek() else { return self.stop("a string is missing here") };
        if open != '"' {
            self.note(Repair::Quotes);
        }
        let unclosed = Stop { at: self.at, why: "a string is not closed" };
        self.at += open.len_utf8();
        self.out.push('"');
        let start = self.at;
        let (mut inner, mut escapes) = (Inner::default(), Escapes::default());
        loop {
            let c = self.plain(open).ok_or(unclosed)?;
            if !closes(open, c) {
                self.special(c, open == '"', &mut escapes)?;
                continue;
            }
            let end = self.at + c.len_utf8();
            if self.follows(role, end) {
                if !inner.is_certain(self.at) {
                    return Err(Stop { at: inner.end, why: "a quotation mark inside a string is not escaped" });
                }
                if inner.count > 0 {
                    self.note(Repair::InnerQuotes);
                }
                if c != open && (open, c) != ('“', '”') && (open, c) != ('‘', '’') {
                    self.note(Repair::Quotes);
                }
                self.at = end;
                return self.finish(&escapes);
            }
            if self.begins_member(start) {
                return self.stop("a member begins inside a string that is not closed");
            }
            inner.add(&self.text[start..self.at], c, &self.text[end..], end);
            self.out.push_str(if c == '"' { "\\\"" } else { &self.text[self.at..end] });
            self.at = end;
        }
    }

    /// Copies what needs no thought; yields the character behind it.
    fn plain(&mut self, open: char) -> Option<char> {
        let special = |c: char| c < ' ' || matches!(c, '\\' | '"') || closes(open, c);
        let length = self.rest().find(special)?;
        self.out.push_str(&self.rest()[..length]);
        self.at += length;
        self.peek()
    }

    /// Takes a character that JSON wants escaped.
    fn special(&mut self, c: char, plain: bool, escapes: &mut Escapes) -> Result<(), Stop> {
        match c {
            '\\' => return self.escape(plain, escapes),
            '"' => self.out.push_str("\\\""),
            c if c < ' ' => {
                self.note(Repair::ControlCharacters);
                push_control(c, &mut self.out);
            }
            c => self.out.push(c),
        }
        self.at += c.len_utf8();
        Ok(())
    }

    fn finish(&mut self, escapes: &Escapes) -> Result<(), Stop> {
        self.out.push('"');
        match escapes.doubt() {
            Some(at) => Err(Stop { at, why: "backslashes in a string are not escaped" }),
            None => Ok(()),
        }
    }

    /// Whether what follows a string that ends before `end` is what JSON wants
    /// there, or the next member.
    fn follows(&self, role: Role, end: usize) -> bool {
        let text = self.text;
        let Some((at, line_break)) = ahead::behind_gap(text, end) else { return false };
        let Some(next) = ahead::char_at(text, at) else { return role != Role::Key };
        let comma = matches!(next, ',' | '，');
        let behind_comma = || ahead::behind_gap(text, at + next.len_utf8()).map(|(at, _)| at);
        match role {
            Role::Top => false,
            Role::Key => matches!(next, ':' | '：') || ahead::member_value_at(text, at),
            Role::Member if comma => behind_comma().is_some_and(|at| {
                matches!(ahead::char_at(text, at), None | Some('}' | ',' | '，')) || ahead::key_at(text, at)
            }),
            // A comma is missing; a mark inside would have been escaped, or no colon would follow.
            Role::Member => next == '}' || (at > end && (line_break || opens(next)) && ahead::key_at(text, at)),
            Role::Item(closer) if comma => behind_comma().is_some_and(|at| {
                let next = ahead::char_at(text, at);
                next.is_none_or(|c| c == closer) || ahead::value_at(text, at)
            }),
            Role::Item(closer) => next == closer,
        }
    }

    /// Whether the mark here begins what looks like the next member.
    fn begins_member(&self, start: usize) -> bool {
        let before = self.text[start..self.at].trim_end_matches([' ', '\t']);
        before.ends_with([',', '，', '\n']) && ahead::key_at(self.text, self.at)
    }
}
