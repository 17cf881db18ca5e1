//! One pass over a damaged text: what was read, what was written, what was mended.

use super::name::Repair;

/// Where nothing certain can be said any more, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::json) struct Stop {
    pub(in crate::json) at: usize,
    pub(in crate::json) why: &'static str,
}

/// The text, how far it was read, and the JSON written so far.
pub(super) struct Pass<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) repairs: Vec<Repair>,
}

impl<'t> Pass<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Pass { text, at: 0, out: String::with_capacity(text.len() + 16), repairs: Vec::new() }
    }

    pub(super) fn stop<T>(&self, why: &'static str) -> Result<T, Stop> {
        Err(Stop { at: self.at, why })
    }

    pub(super) fn note(&mut self, repair: Repair) {
        repair.note(&mut self.repairs);
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes white space and comments; only white space is written.
    pub(super) fn gap(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' => self.out.push(c),
                c if is_space(c) => {
                    self.note(Repair::WhiteSpace);
                    self.out.push(' ');
                }
                '/' | '#' => {
                    let Some(length) = comment(self.rest()) else { break };
                    self.note(Repair::Comments);
                    self.at += length;
                    continue;
                }
                _ => break,
            }
            self.at += c.len_utf8();
        }
    }

    /// Takes a colon or comma, full-width or not.
    pub(super) fn separator(&mut self, plain: char) {
        let Some(c) = self.peek() else { return };
        if c != plain {
            self.note(Repair::FullWidth);
        }
        self.out.push(plain);
        self.at += c.len_utf8();
    }
}

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
