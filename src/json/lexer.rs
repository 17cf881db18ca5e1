//! A strict JSON lexer that can stop after any byte.
//!
//! It says where the value ends, where the members of the outermost object
//! are, if that is asked, how far the text is a prefix of some valid JSON text, and where the
//! first fault is. It does not build values: `serde_json` does, once, at the end.

use super::bytes::Places;
use super::escape::{Special, short_escape};
use super::loose::Loose;
use super::read::MAX_DEPTH;
use super::step::JsonStep;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LexerState {
    #[default]
    Value,
    /// Expects a value, or the `]` of an empty array.
    FirstItem,
    /// Expects a key, or the `}` of an empty object.
    FirstKey,
    Key,
    Colon,
    AfterValue,
    /// Inside a string; `true` if the string is a key.
    String(bool),
    Escape(bool),
    /// Inside `\uXXXX`; `true` if the string is a key, and the number of hex digits still missing.
    Unicode(bool, u8),
    Number(Number),
    /// Inside `true`, `false` or `null` (the first field), and the number of its bytes that were read.
    Literal(&'static [u8], u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Dot,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Number {
    /// Returns the state of a number token after `byte`, or `None` if `byte` cannot continue the number.
    fn after(self, byte: u8) -> Option<Number> {
        use Number::*;
        Some(match (self, byte) {
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Integer, b'0'..=b'9') => Integer,
            (Zero | Integer, b'.') => Dot,
            (Dot | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Integer | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, b'0'..=b'9') => ExponentDigits,
            _ => return None,
        })
    }

    fn is_complete(self) -> bool {
        matches!(self, Number::Zero | Number::Integer | Number::Fraction | Number::ExponentDigits)
    }
}

/// The strict JSON lexer, which reports where the value and its members end and where the first fault is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexer {
    state: LexerState,
    depth: usize,
    /// One bit per open container, the innermost lowest: 1 for an object, 0 for an array.
    kinds: u128,
    max_depth: usize,
    /// Offset of the string, number or literal that is being read or was read last.
    pub(crate) string_start: u64,
    /// Offset of a comma after which no token has arrived yet.
    comma: Option<u64>,
    /// `true` if keys and values of the outermost object are reported.
    members: bool,
    /// `true` if a value of the outermost object has begun and not ended.
    member_open: bool,
    pub(crate) too_deep: bool,
    /// Last byte outside strings that is not white space, or the quotation mark that began the last string.
    last: u8,
    /// `true` if only white space has been read since the last line break.
    line_start: bool,
}

impl Lexer {
    /// Creates a lexer before the first byte of a value, which reports the members of the
    /// outermost object. `max_depth` is at most 127.
    pub(crate) fn of_members(max_depth: usize) -> Self {
        Lexer { members: true, ..Lexer::new(max_depth) }
    }

    /// Creates a lexer before the first byte of a value, which reports no members. `max_depth` is at most 127.
    pub(crate) fn new(max_depth: usize) -> Self {
        // As after a colon: a string in other quotation marks may begin (`Loose::at_value`).
        Lexer { max_depth: max_depth.min(MAX_DEPTH), last: b':', ..Lexer::default() }
    }

    /// Returns `true` if the lexer is inside a string.
    pub(crate) fn in_string(&self) -> bool {
        matches!(self.state, LexerState::String(_) | LexerState::Escape(_) | LexerState::Unicode(..))
    }

    /// Returns `true` if the lexer is inside a string and not inside an escape.
    pub(crate) fn in_plain_string(&self) -> bool {
        matches!(self.state, LexerState::String(_))
    }

    /// Returns the tolerant lexer that continues at the offset where this one stopped.
    pub(crate) fn loosen(&self) -> Loose {
        Loose::new(self.depth, self.in_string(), char::from(self.last), self.line_start)
    }

    /// Returns the offset up to which the text is a prefix of valid JSON that may be emitted: `cursor`, or the
    /// offset of a comma after which no token has arrived.
    pub(crate) fn safe(&self, cursor: u64) -> u64 {
        self.comma.unwrap_or(cursor)
    }

    /// Reads on in `bytes`, which begin at offset `cursor`; moves `cursor` past the bytes that were read.
    pub(crate) fn next(&mut self, bytes: &[u8], cursor: &mut u64) -> JsonStep {
        let base = *cursor;
        let mut i = 0;
        while i < bytes.len() {
            if let LexerState::String(key) = self.state {
                let Some(special) = Places::new(Special, &bytes[i..]).next() else { break };
                i += special;
                let byte = bytes[i];
                match byte {
                    b'"' => {
                        i += 1;
                        *cursor = base + i as u64;
                        if let Some(found) = self.string_ends(key, *cursor) {
                            return found;
                        }
                        continue;
                    }
                    // A whole escape at once. `\u` and an escape that the chunk divides go byte by byte.
                    b'\\' if bytes.get(i + 1).is_some_and(|next| short_escape(*next).is_some()) => i += 1,
                    b'\\' => self.state = LexerState::Escape(key),
                    _ => {
                        *cursor = base + i as u64;
                        return JsonStep::Fault(*cursor);
                    }
                }
                i += 1;
                continue;
            }
            let at = base + i as u64;
            // `note` counts the bytes outside strings, the quotation mark that opens one included.
            let in_string = self.in_string();
            match self.step(bytes[i], at) {
                LexerStep::Taken => {
                    if !in_string {
                        self.note(bytes[i]);
                    }
                    i += 1;
                }
                LexerStep::Again => {}
                LexerStep::Report(found, taken) => {
                    if taken {
                        self.note(bytes[i]);
                    }
                    *cursor = at + u64::from(taken);
                    return found;
                }
            }
        }
        *cursor = base + bytes.len() as u64;
        JsonStep::More
    }

    fn note(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line_start = true,
            b' ' | b'\t' | b'\r' => {}
            _ => {
                self.line_start = false;
                self.last = byte;
            }
        }
    }

    fn string_ends(&mut self, key: bool, end: u64) -> Option<JsonStep> {
        if key {
            self.state = LexerState::Colon;
            return (self.members && self.depth == 1).then_some(JsonStep::Key(self.string_start..end));
        }
        self.value_ends(end)
    }

    /// Notes that a value ended before offset `end`; returns the step to report, `None` for a nested value.
    fn value_ends(&mut self, end: u64) -> Option<JsonStep> {
        self.state = LexerState::AfterValue;
        if self.depth == 0 {
            return Some(JsonStep::End(end));
        }
        if self.depth == 1 && self.member_open {
            self.member_open = false;
            return Some(JsonStep::ValueEnd(end));
        }
        None
    }

    fn step(&mut self, byte: u8, at: u64) -> LexerStep {
        // White space ends a number, and a word such as `tr ue` is broken by it: both are told below.
        if is_space(byte) && !matches!(self.state, LexerState::Number(_) | LexerState::Literal(..)) {
            return match self.state {
                LexerState::Escape(_) | LexerState::Unicode(..) => fault(at),
                _ => LexerStep::Taken,
            };
        }
        match self.state {
            LexerState::Value => self.value(byte, at),
            LexerState::FirstItem if byte == b']' => self.close(at),
            LexerState::FirstItem => self.value(byte, at),
            LexerState::FirstKey if byte == b'}' => self.close(at),
            // After a comma (`Key`) no `}` may come: JSON has no trailing commas.
            LexerState::FirstKey | LexerState::Key if byte == b'"' => {
                self.comma = None;
                self.string_start = at;
                self.state = LexerState::String(true);
                LexerStep::Taken
            }
            LexerState::Colon if byte == b':' => {
                self.state = LexerState::Value;
                LexerStep::Taken
            }
            LexerState::AfterValue => self.after_value(byte, at),
            LexerState::Escape(key) => self.escape(key, byte, at),
            LexerState::Unicode(key, left) if byte.is_ascii_hexdigit() => {
                self.state = if left == 1 { LexerState::String(key) } else { LexerState::Unicode(key, left - 1) };
                LexerStep::Taken
            }
            LexerState::Number(number) => match number.after(byte) {
                Some(next) => {
                    self.state = LexerState::Number(next);
                    LexerStep::Taken
                }
                // A number ends only at the byte after it, which is not taken.
                None if number.is_complete() => match self.value_ends(at) {
                    Some(found) => LexerStep::Report(found, false),
                    None => LexerStep::Again,
                },
                None => fault(at),
            },
            LexerState::Literal(word, done) if word[usize::from(done)] == byte => {
                if usize::from(done) + 1 < word.len() {
                    self.state = LexerState::Literal(word, done + 1);
                    return LexerStep::Taken;
                }
                self.value_ends(at + 1).map_or(LexerStep::Taken, |found| LexerStep::Report(found, true))
            }
            _ => fault(at),
        }
    }

    fn value(&mut self, byte: u8, at: u64) -> LexerStep {
        let next = match byte {
            b'{' => LexerState::FirstKey,
            b'[' => LexerState::FirstItem,
            b'"' => LexerState::String(false),
            b'-' => LexerState::Number(Number::Minus),
            b'0' => LexerState::Number(Number::Zero),
            b'1'..=b'9' => LexerState::Number(Number::Integer),
            b't' => LexerState::Literal(b"true", 1),
            b'f' => LexerState::Literal(b"false", 1),
            b'n' => LexerState::Literal(b"null", 1),
            _ => return fault(at),
        };
        // Only the values of the outermost object's members are reported, each once.
        if self.members && self.depth == 1 && self.kinds & 1 == 1 && !self.member_open {
            self.member_open = true;
            return LexerStep::Report(JsonStep::ValueStart(at), false);
        }
        if matches!(byte, b'{' | b'[') {
            if self.depth == self.max_depth {
                self.too_deep = true;
                return fault(at);
            }
            self.depth += 1;
            self.kinds = self.kinds << 1 | u128::from(byte == b'{');
        }
        self.comma = None;
        self.string_start = at;
        self.state = next;
        LexerStep::Taken
    }

    fn after_value(&mut self, byte: u8, at: u64) -> LexerStep {
        let object = self.kinds & 1 == 1;
        match byte {
            b',' => {
                self.comma = Some(at);
                self.state = if object { LexerState::Key } else { LexerState::Value };
                LexerStep::Taken
            }
            b'}' if object => self.close(at),
            b']' if !object => self.close(at),
            _ => fault(at),
        }
    }

    fn close(&mut self, at: u64) -> LexerStep {
        self.depth -= 1;
        self.kinds >>= 1;
        self.value_ends(at + 1).map_or(LexerStep::Taken, |found| LexerStep::Report(found, true))
    }

    fn escape(&mut self, key: bool, byte: u8, at: u64) -> LexerStep {
        self.state = match byte {
            b'u' => LexerState::Unicode(key, 4),
            byte if short_escape(byte).is_some() => LexerState::String(key),
            _ => return fault(at),
        };
        LexerStep::Taken
    }
}

/// Returns `true` if the nesting of `json`, up to its first fault, is deeper than `max_depth`.
pub(crate) fn is_too_deep(json: &str, max_depth: usize) -> bool {
    let mut lexer = Lexer::new(max_depth);
    lexer.next(json.as_bytes(), &mut 0);
    lexer.too_deep
}

enum LexerStep {
    Taken,
    /// The state changed; the same byte must be read again.
    Again,
    /// A step to report; `true` if the byte was consumed.
    Report(JsonStep, bool),
}

fn fault(at: u64) -> LexerStep {
    LexerStep::Report(JsonStep::Fault(at), false)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str, chunk: usize) -> Vec<JsonStep> {
        let mut lexer = Lexer::of_members(120);
        let (mut cursor, mut out) = (0, Vec::new());
        for end in (chunk..text.len()).step_by(chunk).chain([text.len()]) {
            loop {
                let found = lexer.next(&text.as_bytes()[cursor as usize..end], &mut cursor);
                if found == JsonStep::More {
                    break;
                }
                let over = matches!(found, JsonStep::End(_) | JsonStep::Fault(_));
                out.push(found);
                if over {
                    return out;
                }
            }
        }
        out
    }

    #[test]
    fn members_of_the_outermost_object_are_reported_at_any_chunking() {
        let text = r#"{"a": [1, {"b": 2}], "c": -1.5e3 , "d": "x\"\u00e9"} rest"#;
        let expected = [
            JsonStep::Key(1..4),
            JsonStep::ValueStart(6),
            JsonStep::ValueEnd(19),
            JsonStep::Key(21..24),
            JsonStep::ValueStart(26),
            JsonStep::ValueEnd(32),
            JsonStep::Key(35..38),
            JsonStep::ValueStart(40),
            JsonStep::ValueEnd(51),
            JsonStep::End(52),
        ];
        for chunk in 1..=text.len() {
            assert_eq!(lex(text, chunk), expected, "chunk {chunk}");
        }
    }

    #[test]
    fn the_first_fault_is_named() {
        for (text, at) in [
            ("{'a': 1}", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\": 1,}", 8),
            ("[1,]", 3),
            ("{\"a\": tru }", 9),
            ("{\"a\": 01}", 7),
            ("{\"a\": \"x\ny\"}", 8),
            ("{\"a\": \"\\x\"}", 8),
            ("{\"a\": \"\\u12g4\"}", 11),
            ("[1}", 2),
            ("{\"a\": -}", 7),
        ] {
            for chunk in [1, 2, text.len()] {
                assert_eq!(lex(text, chunk).last(), Some(&JsonStep::Fault(at)), "{text}");
            }
        }
    }

    #[test]
    fn a_comma_waits_for_its_next_token() {
        let mut lexer = Lexer::new(120);
        let mut cursor = 0;
        assert_eq!(lexer.next(b"[1, ", &mut cursor), JsonStep::More);
        assert_eq!((cursor, lexer.safe(cursor)), (4, 2));
        assert_eq!(lexer.next(b"2", &mut cursor), JsonStep::More);
        assert_eq!(lexer.safe(cursor), 5);
    }

    #[test]
    fn nesting_is_counted_to_the_limit() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert_eq!(lex(&nested(120), 7), [JsonStep::End(240)]);
        assert_eq!(lex(&nested(121), 7), [JsonStep::Fault(120)]);
    }
}
