//! JSON as nearly all arguments are: objects, arrays, texts, whole numbers, words.
//!
//! What is read here is what the general reader would read, for less than half of the work;
//! anything else is left to it, a fault or a key that stands twice among it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::bytes::{Kind, Places, any_zero};
use super::escape::Special;

/// Deepest nesting; the general reader allows more.
const MAX_DEPTH: usize = 64;

/// Most digits of a number: none of so many is too large.
const MAX_DIGITS: usize = 18;

/// Reads `text` as one JSON value, if it is plain.
pub(super) fn plain(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(MAX_DEPTH)?;
    (reader.next().is_none()).then_some(value)
}

/// The text that a JSON string says; `None` if `text` is none.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inner.filter(|inner| !any_zero(inner.as_bytes(), |b| Special.rest(b))) {
        Some(inner) => Some(Cow::Borrowed(inner)),
        None => serde_json::from_str(text).ok().map(Cow::Owned),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is no white space, to which it goes.
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.next()? {
            b'"' => self.string().map(Value::String),
            b'{' => self.object(depth.checked_sub(1)?).map(Value::Object),
            b'[' => self.array(depth.checked_sub(1)?).map(Value::Array),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.integer(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Map<String, Value>> {
        let mut object = Map::new();
        self.at += 1;
        if self.next()? == b'}' {
            self.at += 1;
            return Some(object);
        }
        loop {
            let key = self.string()?;
            if self.next()? != b':' {
                return None;
            }
            self.at += 1;
            let value = self.value(depth)?;
            if object.insert(key, value).is_some() {
                return None;
            }
            if !self.has_next(b'}')? {
                return Some(object);
            }
            self.next()?;
        }
    }

    fn array(&mut self, depth: usize) -> Option<Vec<Value>> {
        let mut array = Vec::new();
        self.at += 1;
        if self.next()? == b']' {
            self.at += 1;
            return Some(array);
        }
        loop {
            array.push(self.value(depth)?);
            if !self.has_next(b']')? {
                return Some(array);
            }
        }
    }

    /// Behind a member: whether a comma follows, or what closes them.
    fn has_next(&mut self, close: u8) -> Option<bool> {
        let byte = self.next()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            _ => (byte == close).then_some(false),
        }
    }

    /// A text, at its quotation mark.
    fn string(&mut self) -> Option<String> {
        let rest = self.text[self.at..].strip_prefix('"')?;
        let mut behind_escape = 0;
        for at in Places::new(Special, rest.as_bytes()) {
            if at < behind_escape {
                continue;
            }
            match rest.as_bytes()[at] {
                b'"' => {
                    self.at += at + 2;
                    let text = &rest[..at];
                    return if behind_escape == 0 { Some(text.to_owned()) } else { unescaped(text) };
                }
                b'\\' => behind_escape = at + 2,
                _ => return None,
            }
        }
        None
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        self.text[self.at..].starts_with(word).then(|| self.at += word.len())?;
        Some(value)
    }

    fn integer(&mut self) -> Option<Value> {
        let rest = &self.text.as_bytes()[self.at..];
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let has_more_zeros = digits > 1 && rest[sign] == b'0';
        // With a fraction or an exponent it is no whole number.
        let is_float = matches!(rest.get(sign + digits), Some(b'.' | b'e' | b'E'));
        if digits == 0 || digits > MAX_DIGITS || has_more_zeros || is_float {
            return None;
        }
        let number =
            rest[sign..sign + digits].iter().fold(0_i64, |number, digit| 10 * number + i64::from(digit - b'0'));
        self.at += sign + digits;
        match (sign, number) {
            // A negative zero is a fraction.
            (1, 0) => None,
            (1, number) => Some(Value::from(-number)),
            (_, number) => Some(Value::from(number)),
        }
    }
}

/// A text without the backslashes of its escapes; none of those by number.
fn unescaped(text: &str) -> Option<String> {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        out.push(match rest.as_bytes().get(at + 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\x08',
            b'f' => '\x0c',
            byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    out.push_str(rest);
    Some(out)
}
