//! JSON text to a value: strictly, else with bounded repairs, each named.
//!
//! One reader follows the grammar and builds the value. A text is read strictly first: a quotation mark that ends
//! a string of JSON may be inside a string of damaged JSON. Only where that stops, the text is read once more with
//! repairs. No bracket and no value is supplied; what has no certain reading is refused.
//!
//! ```text
//! text ─▶ read ─ objects, arrays, words, numbers ─▶ ReadValue { value, repairs }
//!          └─ strings   where a string ends; quotation marks inside it
//!              ├─ escapes   backslashes that may be data
//!              └─ ahead     what follows, at most 1 KiB
//! ```
//!
//! A repair belongs here only while recordings or fixtures need it. A new one is a name in `../repair.rs`, a row
//! in `docs/parser.md` and a test of what it must refuse.

mod ahead;
mod escapes;
mod strings;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

pub(super) use ahead::{closes as closes_string, opens as opens_string};
use ahead::{key_length, word_length, word_of_python};
use strings::StringRole;

use super::bytes::{Kind, any_zero};
use super::decimal::loses_digits;
use super::escape::{Special, push_control};
use super::repair::Repair;
use super::window::leading_space;

/// Maximum nesting depth, equal to that of `serde_json`.
pub(crate) const MAX_DEPTH: usize = 127;

/// The offset at which reading stopped because no certain reading follows, and the reason.
#[derive(Debug)]
struct Stop {
    at: usize,
    why: Cow<'static, str>,
    /// `true` if no repair can help.
    is_final: bool,
}

/// Changes to the commas of the text; after one, the text that follows the value may belong inside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Commas {
    /// `true` if a missing comma between two members was supplied.
    pub(crate) is_supplied: bool,
    /// `true` if a comma before a closing bracket was dropped.
    pub(crate) is_dropped: bool,
}

/// The reader of one JSON text: the text, the cursor, and the repairs so far.
#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    at: usize,
    is_tolerant: bool,
    repairs: Vec<Repair>,
    unchanged: usize,
    loses_digits: bool,
    commas: Commas,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, is_tolerant: bool) -> Self {
        Reader { text, is_tolerant, unchanged: text.len(), ..Reader::default() }
    }

    fn stop<T>(&self, why: &'static str) -> Result<T, Stop> {
        Err(Stop { at: self.at, why: Cow::Borrowed(why), is_final: false })
    }

    /// Notes a repair of the text at offset `at`; a strict reader stops with an error instead.
    fn repair(&mut self, repair: Repair, at: usize) -> Result<(), Stop> {
        if !self.is_tolerant {
            return Err(Stop { at, why: Cow::Borrowed("it is not JSON"), is_final: false });
        }
        self.unchanged = self.unchanged.min(at);
        repair.note(&mut self.repairs);
        Ok(())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Moves the cursor to the next character that is not white space, and returns it.
    #[inline]
    fn next(&mut self) -> Result<char, Stop> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii_graphic() => Ok(char::from(*byte)),
            _ => self.next_after_space(),
        }
    }

    #[inline(never)]
    fn next_after_space(&mut self) -> Result<char, Stop> {
        self.at += leading_space(self.rest());
        match self.rest().chars().next() {
            Some(c) => Ok(c),
            None => self.stop("the text ends before the value is closed"),
        }
    }
}

/// A value that was read from text, with the repairs that it needed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadValue {
    pub(crate) value: Value,
    pub(crate) repairs: Vec<Repair>,
    /// Length in bytes of the text before the first repair, which is JSON as it was written.
    pub(crate) unchanged: usize,
    pub(crate) commas: Commas,
}

/// The reason why a text cannot be read as JSON, with its line and column.
#[derive(Debug)]
pub(crate) struct NotJson {
    why: Cow<'static, str>,
    line: usize,
    column: usize,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at line {} column {}", self.why, self.line, self.column)
    }
}

/// Reads `text` as one JSON value: strictly, else with repairs.
///
/// # Errors
/// Returns the first position from which the text has no certain reading.
pub(crate) fn read(text: &str) -> Result<ReadValue, NotJson> {
    let stop = match mended(text) {
        Ok(read) => return Ok(read),
        Err(stop) => stop,
    };
    let decoded = text.contains('&').then(|| quick_xml::escape::unescape(text).ok()).flatten();
    let decoded = decoded.map(|text| (text.into_owned(), Repair::Entities));
    // Reading `{\"a\": 1}` stops at its first backslash.
    let unescaped = text[stop.at..].starts_with('\\').then(|| unescaped(text)).flatten();
    let sources = decoded.into_iter().chain(unescaped.map(|text| (text, Repair::EscapedJson)));
    // What a key says twice is certain, and no decoding changes it.
    for (source, repair) in sources.filter(|_| !stop.is_final) {
        if let Ok(mut read) = mended(&source) {
            read.repairs.insert(0, repair);
            read.unchanged = read.unchanged.min(common_prefix(text, &source));
            return Ok(read);
        }
    }
    let before = &text[..stop.at];
    let line = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count();
    let column = 1 + before.len() - memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
    Err(NotJson { why: stop.why, line, column })
}

/// Reads `text` as strict JSON without duplicate keys; the boolean is `true` if a number in it lost digits. Else
/// `None`.
pub(crate) fn strict(text: &str) -> Option<(Value, bool)> {
    let read = Reader::new(text, false).whole().ok()?;
    Some((read.value, !read.repairs.is_empty()))
}

/// Returns the content of a JSON string, unescaped; `None` if `text` is not a JSON string.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inner.filter(|inner| !any_zero(inner.as_bytes(), |b| Special.rest(b))) {
        Some(inner) => Some(Cow::Borrowed(inner)),
        None => serde_json::from_str(text).ok().map(Cow::Owned),
    }
}

/// Returns the number of bytes with which both texts begin alike.
pub(crate) fn common_prefix(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

fn mended(text: &str) -> Result<ReadValue, Stop> {
    match Reader::new(text, false).whole() {
        Err(stop) if !stop.is_final => Reader::new(text, true).whole(),
        found => found,
    }
}

/// Returns the text with one level of JSON escapes removed; `None` if a quotation mark in it is not escaped.
fn unescaped(text: &str) -> Option<String> {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        // The line breaks between members are raw, which a string of JSON may not hold.
        if c < ' ' { push_control(c, &mut quoted) } else { quoted.push(c) }
    }
    quoted.push('"');
    serde_json::from_str(&quoted).ok()
}

impl Reader<'_> {
    fn whole(mut self) -> Result<ReadValue, Stop> {
        let value = self.value(StringRole::Top, MAX_DEPTH)?;
        self.at += leading_space(self.rest());
        if self.at < self.text.len() {
            return self.stop("something follows the value");
        }
        self.repairs.extend(self.loses_digits.then_some(Repair::NumberPrecision));
        Ok(ReadValue { value, repairs: self.repairs, unchanged: self.unchanged, commas: self.commas })
    }

    fn value(&mut self, role: StringRole, depth: usize) -> Result<Value, Stop> {
        match self.next()? {
            '{' => self.object(depth).map(Value::Object),
            '[' => self.array(depth).map(Value::Array),
            c if opens_string(c) => self.string(c, role).map(Value::String),
            _ => self.word(),
        }
    }

    /// Reads an opening bracket, and returns how many levels of nesting remain.
    fn open(&mut self, depth: usize) -> Result<usize, Stop> {
        let Some(depth) = depth.checked_sub(1) else { return self.stop("it is nested too deep") };
        self.at += 1;
        Ok(depth)
    }

    fn object(&mut self, depth: usize) -> Result<Map<String, Value>, Stop> {
        let (depth, mut object, mut comma) = (self.open(depth)?, Map::new(), None);
        loop {
            let c = self.next()?;
            if c == '}' {
                self.close(comma)?;
                return Ok(object);
            }
            let key = if opens_string(c) { self.string(c, StringRole::Key)? } else { self.bare_key()? };
            if self.next()? != ':' {
                return self.stop("a colon is missing");
            }
            self.at += 1;
            let value = self.value(StringRole::Member, depth)?;
            match object.entry(key) {
                Entry::Vacant(free) => free.insert(value),
                Entry::Occupied(taken) => {
                    let why = Cow::Owned(format!("the key {:?} is given twice in one object", taken.key()));
                    return Err(Stop { at: self.at, why, is_final: true });
                }
            };
            comma = match self.next()? {
                // A key in quotes and its colon say what is missing; an item could be the value's rest.
                c if opens_string(c) && self.is_tolerant && ahead::key_at(self.text, self.at) => {
                    self.repair(Repair::Syntax, self.at)?;
                    self.commas.is_supplied = true;
                    None
                }
                c => self.separator(c, '}')?,
            };
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Value>, Stop> {
        let (depth, mut array, mut comma) = (self.open(depth)?, Vec::new(), None);
        while self.next()? != ']' {
            array.push(self.value(StringRole::Item, depth)?);
            let c = self.next()?;
            comma = self.separator(c, ']')?;
        }
        self.close(comma)?;
        Ok(array)
    }

    /// Reads the comma after a member or an item, and returns its offset; `None` if the bracket `close` is there
    /// instead.
    fn separator(&mut self, c: char, close: char) -> Result<Option<usize>, Stop> {
        match c {
            ',' => {
                self.at += 1;
                Ok(Some(self.at - 1))
            }
            c if c == close => Ok(None),
            '}' | ']' => self.stop("this bracket does not close the one that is open"),
            _ => self.stop("neither a comma nor the closing bracket follows the value"),
        }
    }

    /// Reads a closing bracket; drops the comma before it (its offset is `comma`) as a repair.
    fn close(&mut self, comma: Option<usize>) -> Result<(), Stop> {
        if let Some(comma) = comma {
            self.repair(Repair::Syntax, comma)?;
            self.commas.is_dropped = true;
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self) -> Result<Value, Stop> {
        let word = &self.rest()[..word_length(self.rest())];
        let value = match word {
            "" => return self.stop("a value is missing here"),
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => match self.number(word) {
                Some(number) => Value::Number(number),
                None => {
                    let Some(value) = word_of_python(word) else {
                        return self.stop("a word without quotes is not a value");
                    };
                    self.repair(Repair::Syntax, self.at)?;
                    value
                }
            },
        };
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self, word: &str) -> Option<Number> {
        // Nearly all are small whole numbers.
        let digits = word.strip_prefix('-').unwrap_or(word);
        // Eighteen digits fit an `i64`. `-0` is a float and `05` is none: `serde_json` decides.
        let is_small = digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        if (is_small || word == "0")
            && let Ok(number) = word.parse::<i64>()
        {
            return Some(number.into());
        }
        let number: Number = serde_json::from_str(word).ok()?;
        self.loses_digits |= number.is_f64() && loses_digits(word);
        Some(number)
    }

    fn bare_key(&mut self) -> Result<String, Stop> {
        let key = &self.rest()[..key_length(self.rest())];
        if key.is_empty() {
            return self.stop("a key is missing here");
        }
        self.repair(Repair::Syntax, self.at)?;
        self.at += key.len();
        Ok(key.to_owned())
    }
}
