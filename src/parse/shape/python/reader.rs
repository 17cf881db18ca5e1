//! The arguments of a call in Python's syntax, read as they arrive: literals
//! only, no expressions. It can stop after any byte and builds the values as it
//! goes, so that no byte is read twice.

use std::ops::Range;

use serde_json::{Map, Value};

use super::literal;
use crate::event::Repair;
use crate::json::window::{Answer, Match, No, Undecided, Window};
use crate::parse::call::Step;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::marks::fence::think_close;

/// The arguments in a call's parentheses.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) named: Map<String, Value>,
    pub(crate) positional: Vec<Value>,
    /// Repairs that made the arguments readable.
    pub(crate) repairs: Vec<Repair>,
}

impl Arguments {
    /// Stores a value in `slot`; returns `false` if that is not possible, as for a repeated keyword.
    fn put(&mut self, slot: Slot, value: Value) -> bool {
        match (slot, value) {
            (Slot::Keyword(keyword), value) => self.named.insert(keyword, value).is_none(),
            (Slot::Keywords, Value::Object(members)) => {
                members.into_iter().all(|(keyword, value)| self.named.insert(keyword, value).is_none())
            }
            // After a keyword Python takes no value without one.
            (Slot::Place, value) if self.named.is_empty() => {
                self.positional.push(value);
                true
            }
            _ => false,
        }
    }
}

/// An open bracket, with the values that were read in it.
#[derive(Debug)]
enum Frame {
    /// The call's own parentheses, with the use of the value that is being read.
    Call(Slot),
    List(Vec<Value>),
    /// Parentheses with their items, and `true` if a comma came: without one they enclose a single value.
    Tuple(Vec<Value>, bool),
    /// A dictionary with its members, and the key whose value is being read.
    Dict(Map<String, Value>, Option<String>),
}

/// Use of a value among a call's arguments.
#[derive(Debug, PartialEq, Eq)]
enum Slot {
    /// A positional argument.
    Place,
    Keyword(String),
    /// A dictionary of keyword arguments, after `**`.
    Keywords,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ReaderState {
    /// The reader is before a value, a key or a closing bracket.
    #[default]
    Value,
    /// The reader is before a value, which must follow.
    NeedValue,
    /// The reader is in a word or a number that begins at this offset.
    Token(u64),
    /// The reader is after a word that may be a keyword, with the offsets of its start and end.
    Word(u64, u64),
    /// The reader is after the first of two stars; `Stars`: after the second.
    Star,
    Stars,
    /// The reader is before a string's opening quotes.
    Quote {
        raw: bool,
    },
    Text(Quoted),
    AfterValue,
    /// The reader is after a dictionary's key, before the colon.
    Colon,
}

/// Incremental reader of a call's arguments in Python's syntax.
#[derive(Debug, Default)]
pub(crate) struct ArgumentsReader {
    pub(crate) cursor: u64,
    state: ReaderState,
    frames: Vec<Frame>,
    pub(crate) arguments: Arguments,
    /// `true` if the string that is being read contains an apostrophe that does not close it.
    apostrophe: bool,
    /// `true` inside a comment, which ends with its line (`python/comments_in_a_call`).
    in_comment: bool,
    /// `true` if a line break ends no string.
    lines: bool,
    max_depth: usize,
}

impl ArgumentsReader {
    /// Creates a reader at offset `at`, after the call's opening parenthesis. `lines`: a line break ends no string.
    pub(crate) fn new(at: u64, max_depth: usize, lines: bool) -> Self {
        ArgumentsReader {
            cursor: at,
            frames: vec![Frame::Call(Slot::Place)],
            max_depth,
            lines,
            ..ArgumentsReader::default()
        }
    }

    /// Returns the first keyword of the arguments; `None` if none was read.
    pub(crate) fn first_keyword(&self) -> Option<&str> {
        let open = match self.frames.first() {
            Some(Frame::Call(Slot::Keyword(keyword))) => Some(keyword.as_str()),
            _ => None,
        };
        self.arguments.named.keys().next().map(String::as_str).or(open)
    }

    /// Returns `true` if the nesting limit is reached, so that no further bracket may be opened.
    fn is_full(&self) -> bool {
        self.frames.len() >= self.max_depth
    }

    /// Reads up to the call's closing parenthesis, or to text that is not a literal. `think_ends`: `</think>` ends the
    /// call, except in a string of a single line.
    pub(crate) fn next(&mut self, window: &Window<'_>, think_ends: bool) -> Step {
        loop {
            let step = match self.state {
                ReaderState::Token(start) => self.token(start, window),
                ReaderState::Text(quoted) => self.text(quoted, think_ends, window),
                _ if self.in_comment => {
                    self.in_comment = window.to_byte(b'\n', &mut self.cursor).is_none();
                    if self.in_comment { Step::More } else { Step::Next }
                }
                _ => {
                    let rest = window.past_space(&mut self.cursor);
                    match (rest.as_bytes().first(), self.state) {
                        (None, _) => return Step::More,
                        (Some(b'#'), _) => {
                            self.in_comment = true;
                            Step::Next
                        }
                        (Some(&byte), ReaderState::Value) => self.value(byte, true),
                        (Some(&byte), ReaderState::NeedValue) => self.value(byte, false),
                        (_, ReaderState::Word(start, end)) => self.word(start..end, rest, window),
                        (_, ReaderState::Quote { raw }) => self.quote(raw, rest, window.more),
                        (Some(b':'), ReaderState::Colon) => self.take(ReaderState::NeedValue),
                        (Some(b'*'), ReaderState::Star) => self.take(ReaderState::Stars),
                        (Some(b'{'), ReaderState::Stars) => self.value(b'{', false),
                        (Some(&byte), ReaderState::AfterValue) => self.after_value(byte),
                        _ => self.fault(self.cursor),
                    }
                }
            };
            if !matches!(step, Step::Next) {
                return step;
            }
        }
    }

    /// Returns the step that ends the call at offset `at`, where the text is not Python, or not a literal.
    fn fault(&self, at: u64) -> Step {
        Step::Text(at, if self.is_full() { NotACallReason::Limit } else { NotACallReason::NoLiteral })
    }

    /// Advances past the byte at the cursor and changes to `state`.
    fn take(&mut self, state: ReaderState) -> Step {
        self.cursor += 1;
        self.state = state;
        Step::Next
    }

    fn value(&mut self, byte: u8, may_close: bool) -> Step {
        let key = matches!(self.frames.last(), Some(Frame::Dict(_, None)));
        let frame = match byte {
            b')' | b']' | b'}' if may_close => return self.close(byte),
            b'"' | b'\'' => {
                self.state = ReaderState::Quote { raw: false };
                return Step::Next;
            }
            // A key of JSON is a text: a number, a list or an object is none.
            b'0'..=b'9' | b'-' | b'+' | b'.' if !key => return self.begin_token(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => return self.begin_token(),
            b'*' if may_close && self.frames.len() == 1 => return self.take(ReaderState::Star),
            b'[' if !key => Frame::List(Vec::new()),
            b'(' if !key => Frame::Tuple(Vec::new(), false),
            b'{' if !key => Frame::Dict(Map::new(), None),
            _ => return self.fault(self.cursor),
        };
        if self.is_full() {
            return self.fault(self.cursor);
        }
        if self.state == ReaderState::Stars
            && let Some(Frame::Call(slot)) = self.frames.last_mut()
        {
            *slot = Slot::Keywords;
        }
        self.frames.push(frame);
        self.take(ReaderState::Value)
    }

    fn begin_token(&mut self) -> Step {
        self.state = ReaderState::Token(self.cursor);
        Step::Next
    }

    /// Reads to the end of a word or a number, which begins at `start`.
    fn token(&mut self, start: u64, window: &Window<'_>) -> Step {
        let rest = window.from(self.cursor);
        let read = window.slice(start..self.cursor).as_bytes();
        let is_number = matches!(read.first().or(rest.as_bytes().first()), Some(b'0'..=b'9' | b'-' | b'+' | b'.'));
        let mut before = read.last().copied();
        let length = rest.bytes().take_while(|byte| {
            // A sign belongs to a number at its start and after its exponent's letter.
            let sign = matches!(byte, b'+' | b'-') && matches!(before, None | Some(b'e' | b'E'));
            before = Some(*byte);
            let in_number = is_number && (sign || *byte == b'.');
            in_number || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0x80..)
        });
        self.cursor += length.count() as u64;
        if self.cursor == window.end() {
            return Step::More;
        }
        let text = window.slice(start..self.cursor);
        if is_number {
            return match literal::number(text, &mut self.arguments.repairs) {
                Some(value) => self.value_read(value, start),
                None => self.fault(start),
            };
        }
        let quote = matches!(window.from(self.cursor).as_bytes().first(), Some(b'"' | b'\''));
        match text {
            // Bytes and formatted strings are no text, or not yet.
            "r" | "R" | "u" | "U" if quote => {
                self.state = ReaderState::Quote { raw: text.eq_ignore_ascii_case("r") };
                Step::Next
            }
            _ if quote => self.fault(start),
            _ => {
                self.state = ReaderState::Word(start, self.cursor);
                Step::Next
            }
        }
    }

    /// Reads the text after a word: it is a keyword or a literal; any other name has no value and is a fault.
    fn word(&mut self, word: Range<u64>, rest: &str, window: &Window<'_>) -> Step {
        let text = window.slice(word.clone());
        let value = literal::word(text);
        match (self.frames.last_mut(), value) {
            (Some(Frame::Call(slot @ Slot::Place)), None) => {
                if !rest.starts_with('=') || self.arguments.named.contains_key(text) {
                    return self.fault(word.start);
                }
                *slot = Slot::Keyword(text.to_owned());
                self.take(ReaderState::NeedValue)
            }
            (Some(Frame::Dict(_, None)), _) | (_, None) => self.fault(word.start),
            (_, Some(value)) => self.value_read(value, word.start),
        }
    }

    /// Reads a string's opening quotes, one or three.
    fn quote(&mut self, raw: bool, rest: &str, more: bool) -> Step {
        let Some(mut quoted) = Quoted::open(rest, self.cursor, raw, more) else { return Step::More };
        quoted.lines = self.lines;
        self.cursor = quoted.start;
        self.state = ReaderState::Text(quoted);
        Step::Next
    }

    /// Reads to the closing quotes of a string.
    fn text(&mut self, quoted: Quoted, think_ends: bool, window: &Window<'_>) -> Step {
        match quoted.end(&mut self.cursor, &mut self.apostrophe, think_ends, window) {
            Err(Undecided) => Step::More,
            Err(No) => self.fault(self.cursor),
            Ok(end) => self.string_read(quoted, window.slice(quoted.start..end)),
        }
    }

    fn string_read(&mut self, quoted: Quoted, text: &str) -> Step {
        if std::mem::take(&mut self.apostrophe) {
            Repair::InnerQuotes.note(&mut self.arguments.repairs);
        }
        // A string of one line has a text of several.
        if !quoted.triple && text.contains('\n') {
            Repair::Syntax.note(&mut self.arguments.repairs);
        }
        match literal::string(text, quoted.raw) {
            Some(text) => self.value_read(Value::String(text), self.cursor),
            None => self.fault(self.cursor),
        }
    }

    /// Stores a value, which begins at `start`, in the innermost open bracket.
    fn value_read(&mut self, value: Value, start: u64) -> Step {
        self.state = ReaderState::AfterValue;
        match (self.frames.last_mut(), value) {
            (Some(Frame::List(items) | Frame::Tuple(items, _)), value) => items.push(value),
            (Some(Frame::Dict(members, key @ None)), Value::String(text)) if !members.contains_key(&text) => {
                *key = Some(text);
                self.state = ReaderState::Colon;
            }
            (Some(Frame::Dict(members, key)), value) => match key.take() {
                Some(key) => drop(members.insert(key, value)),
                None => return self.fault(start),
            },
            (Some(Frame::Call(slot)), value) => {
                let slot = std::mem::replace(slot, Slot::Place);
                if !self.arguments.put(slot, value) {
                    return self.fault(start);
                }
            }
            (None, _) => return self.fault(start),
        }
        Step::Next
    }

    fn after_value(&mut self, byte: u8) -> Step {
        match byte {
            b',' => {
                if let Some(Frame::Tuple(_, comma)) = self.frames.last_mut() {
                    *comma = true;
                }
                self.take(ReaderState::Value)
            }
            b')' | b']' | b'}' => self.close(byte),
            _ => self.fault(self.cursor),
        }
    }

    fn close(&mut self, byte: u8) -> Step {
        let fits = match self.frames.last() {
            Some(Frame::Call(_) | Frame::Tuple(..)) => byte == b')',
            Some(Frame::List(_)) => byte == b']',
            Some(Frame::Dict(_, key)) => byte == b'}' && key.is_none(),
            None => false,
        };
        if !fits {
            return self.fault(self.cursor);
        }
        let value = match self.frames.pop() {
            Some(Frame::List(items)) => Value::Array(items),
            // `(1)` is a number; `(1,)` is a tuple.
            Some(Frame::Tuple(mut items, false)) if items.len() == 1 => items.remove(0),
            Some(Frame::Tuple(items, _)) => Value::Array(items),
            Some(Frame::Dict(members, _)) => Value::Object(members),
            Some(Frame::Call(_)) | None => {
                self.cursor += 1;
                return Step::End(self.cursor);
            }
        };
        let at = self.cursor;
        self.cursor += 1;
        self.value_read(value, at)
    }
}

/// A string that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quoted {
    /// Offset at which the string's text begins.
    start: u64,
    quote: u8,
    triple: bool,
    /// `true` if the string is raw: a backslash begins no escape.
    raw: bool,
    /// `true` if a line break does not end the string: a token announced the call, so that the string is meant although
    /// Python would refuse it (`python/line_break_in_a_string_after_a_token`).
    lines: bool,
}

impl Quoted {
    /// Returns the string whose opening quotes, one or three, `text` at offset `at` begins with; `None` while more text
    /// may make three of them.
    fn open(text: &str, at: u64, raw: bool, more: bool) -> Option<Self> {
        let quote = text.bytes().next()?;
        let run = text.bytes().take(3).take_while(|byte| *byte == quote).count();
        if run == text.len() && run < 3 && more {
            return None;
        }
        let triple = run == 3;
        Some(Quoted { start: at + if triple { 3 } else { 1 }, quote, triple, raw, lines: false })
    }

    /// Reads the string's text from `cursor`, and returns the offset of its closing quotes. Moves `cursor` after them,
    /// to a byte that cannot be in the string (`No`), or to where more text is needed. Sets `apostrophe` if the text
    /// contains one.
    fn end(self, cursor: &mut u64, apostrophe: &mut bool, think_ends: bool, window: &Window<'_>) -> Match<u64> {
        let text = window.from(*cursor);
        let bytes = text.as_bytes();
        let base = *cursor;
        // A line break ends a string of one line, what ends the reasoning one of several.
        let stop = match self.triple || self.lines {
            false => b'\n',
            true if think_ends => b'<',
            true => self.quote,
        };
        let quotes = if self.triple { 3 } else { 1 };
        let mut from = 0;
        while let Some(i) = memchr::memchr3(self.quote, b'\\', stop, &bytes[from..]).map(|i| i + from) {
            *cursor = base + i as u64;
            match bytes[i] {
                b'\\' if i + 1 == bytes.len() => return Err(Undecided),
                b'\\' => from = i + 2,
                b'\n' => return Err(No),
                b'<' if think_close(&text[i..], window.more).decided()?.is_some() => return Err(No),
                b'<' => from = i + 1,
                _ => {
                    let run = bytes[i..].iter().take(quotes).take_while(|byte| **byte == self.quote).count();
                    // An apostrophe inside a word (`don't`) does not end a string in single quotes.
                    if run == quotes && self.quote == b'\'' && !self.triple && !self.raw {
                        let before = if i == 0 { window.before(base) } else { text[..i].chars().next_back() };
                        if let Some(()) = is_apostrophe(before, &text[i + 1..], window.more).decided()? {
                            *apostrophe = true;
                            from = i + 1;
                            continue;
                        }
                    }
                    if run == quotes {
                        *cursor += quotes as u64;
                        return Ok(base + i as u64);
                    }
                    if i + run == bytes.len() {
                        return Err(Undecided);
                    }
                    from = i + run;
                }
            }
        }
        *cursor = window.end();
        Err(Undecided)
    }
}

/// Python's keywords that may follow a string.
const OPERATORS: &[&str] = &["and", "or", "not", "if", "else", "in", "is", "for"];

/// Number of letters of the longest of [`OPERATORS`].
const LONGEST_OPERATOR: usize = 4;

/// Checks whether a single quote with this character before it and this text after it is an apostrophe:
/// letters before it, and after it a word (`Xi'an`), or a space and one (`Guns N' Roses`), which
/// is neither an operator nor the prefix of a string.
fn is_apostrophe(before: Option<char>, text: &str, more: bool) -> Match<()> {
    if !before.is_some_and(char::is_alphanumeric) {
        return Err(No);
    }
    let text = text.strip_prefix(' ').unwrap_or(text);
    let end = text.char_indices().take(LONGEST_OPERATOR + 1).find(|(_, c)| !c.is_alphabetic());
    let word = match end {
        Some((end, _)) => &text[..end],
        None if more && text.chars().nth(LONGEST_OPERATOR).is_none() => return Err(Undecided),
        None => text,
    };
    let is_letter = |byte: u8| matches!(byte.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f');
    let is_prefix = text[word.len()..].starts_with(['\'', '"']) && word.len() <= 2 && word.bytes().all(is_letter);
    if word.is_empty() || is_prefix || OPERATORS.contains(&word) { Err(No) } else { Ok(()) }
}
