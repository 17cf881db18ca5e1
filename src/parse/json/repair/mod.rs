//! Repairs of damaged JSON, each with a name.
//!
//! One pass over the text writes strict JSON. It follows JSON's grammar and
//! leaves it only where one reading is certain. All that it writes stands in
//! the text, but for commas, quotes and backslashes: it supplies no bracket and
//! no value. Where it is not certain it stops and says why.

mod ahead;
mod escapes;
mod library;
mod strings;
mod words;

use crate::call::Repair;

pub(super) use library::rewrite;
use strings::Role;
pub(super) use strings::{closes as closes_string, opens as opens_string};

/// Text that was mended, and how.
#[derive(Debug, PartialEq)]
pub(super) struct Mended {
    pub(super) text: String,
    pub(super) repairs: Vec<Repair>,
}

/// Where nothing certain can be said any more, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

/// Mends `text` as one JSON value.
///
/// # Errors
/// The first place that has no certain reading.
pub(super) fn mend(text: &str) -> Result<Mended, Stop> {
    let mut mender = Mender::new(text);
    mender.run()?;
    Ok(Mended { text: mender.out, repairs: mender.repairs })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
    /// A tuple, and whether it has a comma.
    Tuple(bool),
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value, or the end of an empty array.
    FirstItem,
    /// A value behind a comma, or the end.
    Item,
    /// A key, or the end of an empty object.
    FirstKey,
    /// A key behind a comma, or the end.
    Key,
    Colon,
    /// A comma or the end.
    After,
}

/// White space and comments between two tokens.
#[derive(Debug, Clone, Copy, Default)]
struct Gap {
    any: bool,
    line_break: bool,
}

struct Mender<'t> {
    text: &'t str,
    at: usize,
    out: String,
    open: Vec<Kind>,
    repairs: Vec<Repair>,
    /// Where the last value ends in `out`.
    value_end: usize,
    /// Whether the last value was a word.
    after_word: bool,
    /// A comma in `out` behind which nothing came yet.
    comma: Option<usize>,
}

impl<'t> Mender<'t> {
    fn new(text: &'t str) -> Self {
        let out = String::with_capacity(text.len() + 16);
        let (open, repairs) = (Vec::new(), Vec::new());
        Mender { text, at: 0, out, open, repairs, value_end: 0, after_word: false, comma: None }
    }

    fn run(&mut self) -> Result<(), Stop> {
        let mut expect = Expect::Value;
        loop {
            let gap = self.gap();
            let over = self.open.is_empty() && expect == Expect::After;
            let Some(c) = self.peek() else {
                return if over { Ok(()) } else { self.stop("the text ends before the value is closed") };
            };
            expect = match expect {
                _ if over => return self.stop("something follows the value"),
                Expect::After => self.after(c, gap)?,
                Expect::Colon if matches!(c, ':' | '：') => {
                    self.separator(':');
                    Expect::Value
                }
                Expect::Colon => return self.stop("a colon is missing"),
                Expect::FirstKey | Expect::Key if c == '}' => self.close(c)?,
                Expect::FirstKey | Expect::Key if matches!(c, ',' | '，') => {
                    self.note(Repair::ExtraComma);
                    self.at += c.len_utf8();
                    expect
                }
                Expect::FirstKey | Expect::Key => self.key(c)?,
                Expect::FirstItem | Expect::Item if matches!(c, ']' | ')') => self.close(c)?,
                Expect::Value | Expect::FirstItem | Expect::Item => self.value(c)?,
            };
        }
    }

    fn stop<T>(&self, why: &'static str) -> Result<T, Stop> {
        Err(Stop { at: self.at, why })
    }

    fn note(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes white space and comments; only white space is written.
    fn gap(&mut self) -> Gap {
        let mut gap = Gap::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' => self.out.push(c),
                c if ahead::is_space(c) => {
                    self.note(Repair::WhiteSpace);
                    self.out.push(' ');
                }
                '/' | '#' => {
                    let Some(length) = ahead::comment(self.rest()) else { break };
                    self.note(Repair::Comments);
                    gap.any = true;
                    self.at += length;
                    continue;
                }
                _ => break,
            }
            gap.any = true;
            gap.line_break |= c == '\n';
            self.at += c.len_utf8();
        }
        gap
    }

    /// Takes a colon or comma, full-width or not.
    fn separator(&mut self, plain: char) {
        let Some(c) = self.peek() else { return };
        if c != plain {
            self.note(Repair::FullWidth);
        }
        self.out.push(plain);
        self.at += c.len_utf8();
    }

    fn value(&mut self, c: char) -> Result<Expect, Stop> {
        self.comma = None;
        match c {
            '{' | '[' | '(' => {
                let (kind, next) = match c {
                    '{' => (Kind::Object, Expect::FirstKey),
                    '[' => (Kind::Array, Expect::FirstItem),
                    _ => (Kind::Tuple(false), Expect::FirstItem),
                };
                if c == '(' {
                    self.note(Repair::PythonLiterals);
                }
                self.out.push(if c == '{' { '{' } else { '[' });
                self.at += 1;
                self.open.push(kind);
                return Ok(next);
            }
            c if strings::opens(c) => {
                let role = match self.open.last() {
                    None => Role::Top,
                    Some(Kind::Object) => Role::Member,
                    Some(Kind::Array) => Role::Item(']'),
                    Some(Kind::Tuple(_)) => Role::Item(')'),
                };
                self.string(role)?;
                self.value_ends(false);
            }
            _ => {
                self.word()?;
                self.value_ends(true);
            }
        }
        Ok(Expect::After)
    }

    fn key(&mut self, c: char) -> Result<Expect, Stop> {
        self.comma = None;
        if strings::opens(c) {
            self.string(Role::Key)?
        } else {
            self.bare_key()?
        }
        Ok(Expect::Colon)
    }

    fn value_ends(&mut self, word: bool) {
        self.value_end = self.out.len();
        self.after_word = word;
    }

    fn after(&mut self, c: char, gap: Gap) -> Result<Expect, Stop> {
        let object = self.open.last() == Some(&Kind::Object);
        let next = if object { Expect::Key } else { Expect::Item };
        match c {
            ',' | '，' => {
                self.comma = Some(self.out.len());
                self.separator(',');
                if let Some(Kind::Tuple(comma)) = self.open.last_mut() {
                    *comma = true;
                }
            }
            '}' | ']' | ')' => return self.close(c),
            _ => {
                let apart = gap.any || (self.out[..self.value_end].ends_with(['}', ']']) && !self.after_word);
                // `[1 2]` may be one number.
                let words = self.after_word && !strings::opens(c) && !matches!(c, '{' | '[') && !gap.line_break;
                // Text that strayed in may look like a key, so one without quotes is none here.
                let fits = if object { strings::opens(c) && ahead::key_at(self.text, self.at) } else { !words };
                if !(apart && fits) || matches!(self.open.last(), Some(Kind::Tuple(_))) {
                    return self.stop("neither a comma nor the closing bracket follows the value");
                }
                self.out.insert(self.value_end, ',');
                self.note(Repair::MissingComma);
            }
        }
        Ok(next)
    }

    fn close(&mut self, c: char) -> Result<Expect, Stop> {
        let kind = self.open.last().copied();
        match (kind, c) {
            (Some(Kind::Object), '}') | (Some(Kind::Array), ']') => {}
            (Some(Kind::Tuple(comma)), ')') if comma || self.out.trim_end().ends_with('[') => {}
            (Some(Kind::Tuple(_)), ')') => return self.stop("parentheses around one value are no tuple"),
            _ => return self.stop("this bracket does not close the one that is open"),
        }
        if let Some(at) = self.comma.take() {
            // Only white space stands behind it.
            self.out.remove(at);
            if !matches!(kind, Some(Kind::Tuple(_))) {
                self.note(Repair::TrailingComma);
            }
        }
        self.open.pop();
        self.out.push(if c == '}' { '}' } else { ']' });
        self.at += 1;
        self.value_ends(false);
        Ok(Expect::After)
    }
}

#[cfg(test)]
mod tests;
