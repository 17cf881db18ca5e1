//! The arguments of a call in Python's syntax, read as they arrive: literals
//! only, no expressions. It can stop after any byte and builds the values as it
//! goes, so that no byte is read twice.

use std::ops::Range;

use serde_json::{Map, Value};

use super::literal;
use super::quoted::{Quoted, TextEnd};
use crate::call::Repair;
use crate::parse::window::{Window, leading_space};

/// What a call's parentheses hold.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) named: Map<String, Value>,
    pub(super) positional: Vec<Value>,
    /// What was mended.
    pub(super) repairs: Vec<Repair>,
}

impl Arguments {
    /// Whether the value could be put there.
    fn put(&mut self, slot: Slot, value: Value) -> bool {
        match (slot, value) {
            (Slot::Keyword(keyword), value) => self.named.insert(keyword, value).is_none(),
            (Slot::Keywords, Value::Object(members)) => {
                members.into_iter().all(|(keyword, value)| self.named.insert(keyword, value).is_none())
            }
            // Behind a keyword Python takes no value without one.
            (Slot::Place, value) if self.named.is_empty() => {
                self.positional.push(value);
                true
            }
            _ => false,
        }
    }
}

/// What the arguments' text came to.
#[derive(Debug)]
pub(super) enum Read {
    /// All decidable bytes were read; the arguments go on.
    More,
    /// The closing parenthesis ends here.
    End(u64),
    /// This is not Python, or not a literal. All before was.
    Fault(u64),
}

/// A bracket that is open.
#[derive(Debug)]
enum Frame {
    /// The call's own parentheses, and what the value that is read is for.
    Call(Slot),
    List(Vec<Value>),
    /// Its items, and whether a comma came: else it is one value in parentheses.
    Tuple(Vec<Value>, bool),
    /// Its members, and the key whose value is read.
    Dict(Map<String, Value>, Option<String>),
}

/// What a value in a call's parentheses is for.
#[derive(Debug, PartialEq, Eq)]
enum Slot {
    /// A place in order.
    Place,
    Keyword(String),
    /// Keywords and values, behind `**`.
    Keywords,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a value, a key or a closing bracket.
    Value,
    /// Before a value.
    NeedValue,
    /// In a word or a number, from here.
    Token(u64),
    /// Behind a word that may be a keyword, from here to there.
    Word(u64, u64),
    /// Behind the first of two stars, and behind the second.
    Star,
    Stars,
    /// At a string's quotes.
    Quote {
        raw: bool,
    },
    Text(Quoted),
    AfterValue,
    /// Behind a dictionary's key.
    Colon,
}

/// Reads a call's arguments; see the module.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) cursor: u64,
    state: State,
    frames: Vec<Frame>,
    arguments: Arguments,
    /// The value that was read last is one string literal: a further one joins it.
    joins: bool,
    max_depth: usize,
    think_ends: bool,
}

impl Reader {
    /// A reader behind the call's opening parenthesis. `think_ends`: `</think>`
    /// ends the call, but in a string that ends with its line.
    pub(super) fn new(at: u64, max_depth: usize, think_ends: bool) -> Self {
        Reader {
            cursor: at,
            state: State::Value,
            frames: vec![Frame::Call(Slot::Place)],
            arguments: Arguments::default(),
            joins: false,
            max_depth,
            think_ends,
        }
    }

    pub(super) fn into_arguments(self) -> Arguments {
        self.arguments
    }

    /// The keyword that was read first, if one was.
    pub(super) fn first_keyword(&self) -> Option<&str> {
        let open = match self.frames.first() {
            Some(Frame::Call(Slot::Keyword(keyword))) => Some(keyword.as_str()),
            _ => None,
        };
        self.arguments.named.keys().next().map(String::as_str).or(open)
    }

    /// Whether no further bracket may be opened.
    pub(super) fn is_full(&self) -> bool {
        self.frames.len() >= self.max_depth
    }

    /// Reads on.
    pub(super) fn next(&mut self, window: &Window<'_>) -> Read {
        loop {
            let rest = window.from(self.cursor);
            let go = match self.state {
                State::Token(start) => self.token(start, rest, window),
                State::Text(quoted) => self.text(quoted, window),
                _ => {
                    let space = leading_space(rest);
                    self.cursor += space as u64;
                    let rest = &rest[space..];
                    match (rest.as_bytes().first(), self.state) {
                        (None, _) => return Read::More,
                        (Some(&byte), State::Value) => self.value(byte, true),
                        (Some(&byte), State::NeedValue) => self.value(byte, false),
                        (_, State::Word(start, end)) => self.word(start..end, rest, window),
                        (_, State::Quote { raw }) => self.quote(raw, rest, window.more),
                        (Some(b':'), State::Colon) => self.take(State::NeedValue),
                        (Some(b'*'), State::Star) => self.take(State::Stars),
                        (Some(b'{'), State::Stars) => self.value(b'{', false),
                        (Some(&byte), State::AfterValue) => self.after_value(byte),
                        _ => Go::Fault(self.cursor),
                    }
                }
            };
            match go {
                Go::On => {}
                Go::Wait => return Read::More,
                Go::End => return Read::End(self.cursor),
                Go::Fault(at) => return Read::Fault(at),
            }
        }
    }

    /// Takes the byte at the cursor.
    fn take(&mut self, state: State) -> Go {
        self.cursor += 1;
        self.state = state;
        Go::On
    }

    fn value(&mut self, byte: u8, may_close: bool) -> Go {
        let key = matches!(self.frames.last(), Some(Frame::Dict(_, None)));
        let frame = match byte {
            b')' | b']' | b'}' if may_close => return self.close(byte),
            b'"' | b'\'' => {
                self.state = State::Quote { raw: false };
                return Go::On;
            }
            b'0'..=b'9' | b'-' | b'+' | b'.' if !key => return self.begin_token(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => return self.begin_token(),
            b'*' if may_close && self.frames.len() == 1 => return self.take(State::Star),
            b'[' if !key => Frame::List(Vec::new()),
            b'(' if !key => Frame::Tuple(Vec::new(), false),
            b'{' if !key => Frame::Dict(Map::new(), None),
            _ => return Go::Fault(self.cursor),
        };
        if self.is_full() {
            return Go::Fault(self.cursor);
        }
        if self.state == State::Stars
            && let Some(Frame::Call(slot)) = self.frames.last_mut()
        {
            *slot = Slot::Keywords;
        }
        self.frames.push(frame);
        self.take(State::Value)
    }

    fn begin_token(&mut self) -> Go {
        self.state = State::Token(self.cursor);
        Go::On
    }

    /// In a word or a number: reads on to its end.
    fn token(&mut self, start: u64, rest: &str, window: &Window<'_>) -> Go {
        let read = window.slice(start..self.cursor).as_bytes();
        let is_number = matches!(read.first().or(rest.as_bytes().first()), Some(b'0'..=b'9' | b'-' | b'+' | b'.'));
        let mut before = read.last().copied();
        let length = rest.bytes().take_while(|byte| {
            // A sign belongs to a number at its start and behind its exponent's letter.
            let sign = matches!(byte, b'+' | b'-') && matches!(before, None | Some(b'e' | b'E'));
            before = Some(*byte);
            let in_number = is_number && (sign || *byte == b'.');
            in_number || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0x80..)
        });
        self.cursor += length.count() as u64;
        if self.cursor == window.end() {
            return Go::Wait;
        }
        let text = window.slice(start..self.cursor);
        if is_number {
            return match literal::number(text, &mut self.arguments.repairs) {
                Some(value) => self.value_read(value, start, false),
                None => Go::Fault(start),
            };
        }
        let quote = matches!(window.from(self.cursor).as_bytes().first(), Some(b'"' | b'\''));
        match text {
            // Bytes and formatted strings are no text, or not yet.
            "r" | "R" | "u" | "U" if quote => {
                self.state = State::Quote { raw: text.eq_ignore_ascii_case("r") };
                Go::On
            }
            _ if quote => Go::Fault(start),
            _ => {
                self.state = State::Word(start, self.cursor);
                Go::On
            }
        }
    }

    /// Behind a word: a keyword, a literal, or a name, which has no value here.
    fn word(&mut self, word: Range<u64>, rest: &str, window: &Window<'_>) -> Go {
        let text = window.slice(word.clone());
        let value = literal::word(text);
        match (self.frames.last_mut(), value) {
            (Some(Frame::Call(slot @ Slot::Place)), None) => {
                if !rest.starts_with('=') || self.arguments.named.contains_key(text) {
                    return Go::Fault(word.start);
                }
                *slot = Slot::Keyword(text.to_owned());
                self.take(State::NeedValue)
            }
            (Some(Frame::Dict(_, None)), _) | (_, None) => Go::Fault(word.start),
            (_, Some(value)) => self.value_read(value, word.start, false),
        }
    }

    /// At a string's quotes: one, or three.
    fn quote(&mut self, raw: bool, rest: &str, more: bool) -> Go {
        let Some(quoted) = Quoted::open(rest, self.cursor, raw, more) else { return Go::Wait };
        self.cursor = quoted.start;
        self.state = State::Text(quoted);
        Go::On
    }

    /// In a string: reads on to its closing quotes.
    fn text(&mut self, quoted: Quoted, window: &Window<'_>) -> Go {
        match quoted.end(&mut self.cursor, self.think_ends, window) {
            TextEnd::Wait => Go::Wait,
            TextEnd::Fault => Go::Fault(self.cursor),
            TextEnd::At(end) => self.string_read(quoted, window.slice(quoted.start..end)),
        }
    }

    fn string_read(&mut self, quoted: Quoted, text: &str) -> Go {
        let Some(text) = literal::string(text, quoted.raw) else { return Go::Fault(self.cursor) };
        if !std::mem::take(&mut self.joins) {
            return self.value_read(Value::String(text), self.cursor, true);
        }
        // Literals that stand next to each other are one string.
        let last = match self.frames.last_mut() {
            Some(Frame::Call(_)) if self.arguments.named.is_empty() => self.arguments.positional.last_mut(),
            Some(Frame::Call(_)) => self.arguments.named.values_mut().next_back(),
            Some(Frame::List(items) | Frame::Tuple(items, _)) => items.last_mut(),
            Some(Frame::Dict(members, _)) => members.values_mut().next_back(),
            None => None,
        };
        match last {
            Some(Value::String(last)) => {
                last.push_str(&text);
                self.joins = true;
                self.state = State::AfterValue;
                Go::On
            }
            _ => Go::Fault(self.cursor),
        }
    }

    /// A value was read: puts it where it belongs.
    fn value_read(&mut self, value: Value, start: u64, is_string: bool) -> Go {
        self.state = State::AfterValue;
        self.joins = is_string;
        match (self.frames.last_mut(), value) {
            (Some(Frame::List(items) | Frame::Tuple(items, _)), value) => items.push(value),
            (Some(Frame::Dict(members, key @ None)), Value::String(text)) if !members.contains_key(&text) => {
                *key = Some(text);
                self.joins = false;
                self.state = State::Colon;
            }
            (Some(Frame::Dict(members, key)), value) => match key.take() {
                Some(key) => drop(members.insert(key, value)),
                None => return Go::Fault(start),
            },
            (Some(Frame::Call(slot)), value) => {
                let slot = std::mem::replace(slot, Slot::Place);
                if !self.arguments.put(slot, value) {
                    return Go::Fault(start);
                }
            }
            (None, _) => return Go::Fault(start),
        }
        Go::On
    }

    fn after_value(&mut self, byte: u8) -> Go {
        match byte {
            b',' => {
                if let Some(Frame::Tuple(_, comma)) = self.frames.last_mut() {
                    *comma = true;
                }
                self.joins = false;
                self.take(State::Value)
            }
            b'"' | b'\'' if self.joins => {
                self.state = State::Quote { raw: false };
                Go::On
            }
            b')' | b']' | b'}' => self.close(byte),
            _ => Go::Fault(self.cursor),
        }
    }

    fn close(&mut self, byte: u8) -> Go {
        let fits = match self.frames.last() {
            Some(Frame::Call(_) | Frame::Tuple(..)) => byte == b')',
            Some(Frame::List(_)) => byte == b']',
            Some(Frame::Dict(_, key)) => byte == b'}' && key.is_none(),
            None => false,
        };
        if !fits {
            return Go::Fault(self.cursor);
        }
        let value = match self.frames.pop() {
            Some(Frame::List(items)) => Value::Array(items),
            Some(Frame::Tuple(mut items, false)) if items.len() == 1 => items.remove(0),
            Some(Frame::Tuple(items, _)) => Value::Array(items),
            Some(Frame::Dict(members, _)) => Value::Object(members),
            Some(Frame::Call(_)) | None => {
                self.cursor += 1;
                return Go::End;
            }
        };
        let at = self.cursor;
        self.cursor += 1;
        self.value_read(value, at, false)
    }
}

enum Go {
    On,
    /// More of the text is needed.
    Wait,
    End,
    Fault(u64),
}
