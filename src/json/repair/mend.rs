//! The grammar of JSON, left only where one reading is certain.

use super::ahead;
use super::name::Repair;
use super::pass::{Pass, Stop};
use super::quotes::opens;
use super::strings::Role;

/// Text that was mended, and how.
#[derive(Debug, PartialEq)]
pub(in crate::json) struct Mended {
    pub(in crate::json) text: String,
    pub(in crate::json) repairs: Vec<Repair>,
}

/// Mends `text` as one JSON value.
///
/// # Errors
/// The first place that has no certain reading.
pub(in crate::json) fn mend(text: &str) -> Result<Mended, Stop> {
    let mut mender = Mender { pass: Pass::new(text), open: Vec::new(), comma: None };
    mender.run()?;
    Ok(Mended { text: mender.pass.out, repairs: mender.pass.repairs })
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

struct Mender<'t> {
    pass: Pass<'t>,
    open: Vec<Kind>,
    /// A comma in what was written, behind which nothing came yet.
    comma: Option<usize>,
}

impl Mender<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut expect = Expect::Value;
        loop {
            self.pass.gap();
            let over = self.open.is_empty() && expect == Expect::After;
            let Some(c) = self.pass.peek() else {
                return if over { Ok(()) } else { self.pass.stop("the text ends before the value is closed") };
            };
            expect = match expect {
                _ if over => return self.pass.stop("something follows the value"),
                Expect::After => self.after(c)?,
                Expect::Colon if matches!(c, ':' | '：') => {
                    self.pass.separator(':');
                    Expect::Value
                }
                Expect::Colon => return self.pass.stop("a colon is missing"),
                Expect::FirstKey | Expect::Key if c == '}' => self.close(c)?,
                Expect::FirstKey | Expect::Key if matches!(c, ',' | '，') => {
                    self.pass.note(Repair::ExtraComma);
                    self.pass.at += c.len_utf8();
                    expect
                }
                Expect::FirstKey | Expect::Key => self.key(c)?,
                Expect::FirstItem | Expect::Item if matches!(c, ']' | ')') => self.close(c)?,
                Expect::Value | Expect::FirstItem | Expect::Item => self.value(c)?,
            };
        }
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
                    self.pass.note(Repair::PythonLiterals);
                }
                self.pass.out.push(if c == '{' { '{' } else { '[' });
                self.pass.at += 1;
                self.open.push(kind);
                return Ok(next);
            }
            c if opens(c) => {
                let role = match self.open.last() {
                    None => Role::Top,
                    Some(Kind::Object) => Role::Member,
                    Some(Kind::Array) => Role::Item(']'),
                    Some(Kind::Tuple(_)) => Role::Item(')'),
                };
                self.pass.string(role)?;
            }
            _ => self.pass.word()?,
        }
        Ok(Expect::After)
    }

    fn key(&mut self, c: char) -> Result<Expect, Stop> {
        self.comma = None;
        if opens(c) {
            self.pass.string(Role::Key)?;
            self.pass.gap();
            // Such a key ends only before its colon or a whole value.
            if !matches!(self.pass.peek(), Some(':' | '：')) {
                self.pass.note(Repair::MissingColon);
                self.pass.out.push(':');
                return Ok(Expect::Value);
            }
        } else {
            self.pass.bare_key()?
        }
        Ok(Expect::Colon)
    }

    fn after(&mut self, c: char) -> Result<Expect, Stop> {
        let object = self.open.last() == Some(&Kind::Object);
        let next = if object { Expect::Key } else { Expect::Item };
        match c {
            ',' | '，' => {
                self.comma = Some(self.pass.out.len());
                self.pass.separator(',');
                if let Some(Kind::Tuple(comma)) = self.open.last_mut() {
                    *comma = true;
                }
            }
            '}' | ']' | ')' => return self.close(c),
            // A key in quotes and its colon say what is missing; an item could be the value's rest.
            _ if object && opens(c) && ahead::key_at(self.pass.text, self.pass.at) => {
                self.pass.note(Repair::MissingComma);
                self.pass.out.push(',');
            }
            _ => return self.pass.stop("neither a comma nor the closing bracket follows the value"),
        }
        Ok(next)
    }

    fn close(&mut self, c: char) -> Result<Expect, Stop> {
        let kind = self.open.last().copied();
        match (kind, c) {
            (Some(Kind::Object), '}') | (Some(Kind::Array), ']') => {}
            (Some(Kind::Tuple(comma)), ')') if comma || self.pass.out.trim_end().ends_with('[') => {}
            (Some(Kind::Tuple(_)), ')') => return self.pass.stop("parentheses around one value are no tuple"),
            _ => return self.pass.stop("this bracket does not close the one that is open"),
        }
        if let Some(at) = self.comma.take() {
            // Only white space stands behind it.
            self.pass.out.remove(at);
            if !matches!(kind, Some(Kind::Tuple(_))) {
                self.pass.note(Repair::TrailingComma);
            }
        }
        self.open.pop();
        self.pass.out.push(if c == '}' { '}' } else { ']' });
        self.pass.at += 1;
        Ok(Expect::After)
    }
}
