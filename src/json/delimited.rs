//! An object with bare keys, and with texts between tokens, to JSON.
//!
//! ```text
//! {city:<|"|>Oslo "old"<|"|>,days:2}  ──▶  {"city":"Oslo \"old\"","days":2}
//! ```
//!
//! Keys and texts are put into quotation marks; all else stays as it is, so that what is
//! wrong with it is found, mended and named where all JSON is read. Strings of JSON are
//! taken as such, keys too, and so are texts in single quotes.

use super::escape::push_escaped;
use super::window::{No, Undecided, begins};

/// Maximum length in bytes of a bare key (one without quotation marks); a longer one is copied as a value.
///
/// The key is buffered, and read again with each chunk, until its colon arrives.
const MAX_KEY: usize = 256;

/// The result of one step of the [`Delimited`] reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DelimitedStep {
    /// All bytes that can be decided were read; the object goes on.
    More,
    /// The object ends before this offset in the stream.
    End(u64),
    /// A `<` that does not begin the text delimiter, or a closing bracket that does not match the open one.
    Unexpected,
    /// An opening bracket beyond the maximum depth.
    TooDeep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum DelimitedState {
    #[default]
    Between,
    /// Inside a text between two delimiter tokens.
    Text,
    /// Inside a JSON string.
    String,
    /// Inside a text in single quotes, which is copied unchanged.
    Single,
}

/// Incremental reader that converts an object with bare keys, and with texts between delimiter tokens, to JSON.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delimited {
    pub(crate) token: &'static str,
    state: DelimitedState,
    /// One bit for each open bracket, the innermost lowest: 1 for an object, 0 for an array.
    kinds: u128,
    depth: usize,
    pub(crate) max_depth: usize,
    /// `true` if a key may begin at the cursor.
    expects_key: bool,
    /// `true` if a key or a value begins at the cursor.
    begins: bool,
    /// `true` if the members are in round brackets, where `=` may be in place of the colon after a key.
    is_round: bool,
}

impl Delimited {
    /// Creates a reader before the first brace, with `token` on both sides of a text. `max_depth` is at most 127.
    pub(crate) fn new(token: &'static str, max_depth: usize) -> Self {
        // `kinds` has 128 bits, one for each open bracket.
        Delimited { token, max_depth: max_depth.min(127), ..Delimited::default() }
    }

    /// Reads on in `text`, which begins at the cursor, and appends the JSON of what was read to `json`.
    pub(crate) fn next(&mut self, text: &str, more: bool, cursor: &mut u64, json: &mut String) -> DelimitedStep {
        let base = *cursor;
        let mut at = 0;
        loop {
            let rest = &text[at..];
            let taken = match self.state {
                _ if rest.is_empty() => Err(DelimitedStep::More),
                DelimitedState::Text => self.text(rest, more, json).ok_or(DelimitedStep::More),
                DelimitedState::String => self.string(rest, more, json).ok_or(DelimitedStep::More),
                DelimitedState::Single => self.single(rest, more, json).ok_or(DelimitedStep::More),
                DelimitedState::Between => self.between(rest, more, json),
            };
            at += match taken {
                Ok(taken) => taken,
                Err(DelimitedStep::End(taken)) => {
                    *cursor = base + at as u64 + taken;
                    return DelimitedStep::End(*cursor);
                }
                Err(step) => {
                    *cursor = base + at as u64;
                    return step;
                }
            }
        }
    }

    /// Reads inside a delimited text up to its closing token, or to a `<` that may begin one; returns the bytes read.
    fn text(&mut self, rest: &str, more: bool, json: &mut String) -> Option<usize> {
        let found = memchr::memmem::find(rest.as_bytes(), self.token.as_bytes());
        // The last `<` of what is at hand may begin the token; at the stream's end it is text.
        let held = || memchr::memrchr(b'<', rest.as_bytes()).filter(|at| self.token.starts_with(&rest[*at..]));
        let end = found.or(if more { held() } else { None }).unwrap_or(rest.len());
        push_escaped(&rest[..end], json);
        if found.is_some() {
            json.push('"');
            self.state = DelimitedState::Between;
            return Some(end + self.token.len());
        }
        (end > 0).then_some(end)
    }

    /// Reads inside a JSON string up to its end; returns the number of bytes read, `None` if more text is needed.
    fn string(&mut self, rest: &str, more: bool, json: &mut String) -> Option<usize> {
        let taken = match memchr::memchr2(b'"', b'\\', rest.as_bytes()) {
            None => rest.len(),
            Some(end) if rest[end..].starts_with('"') => {
                self.state = DelimitedState::Between;
                end + 1
            }
            Some(end) => match rest[end + 1..].chars().next() {
                Some(c) => end + 1 + c.len_utf8(),
                None if more => end,
                None => rest.len(),
            },
        };
        json.push_str(&rest[..taken]);
        (taken > 0).then_some(taken)
    }

    /// Reads inside a text in single quotes up to its closing quote, one before `,`, `:`, `}`, `]` or the end; any
    /// other quote is an apostrophe. Returns the number of bytes read, `None` if more text is needed.
    fn single(&mut self, rest: &str, more: bool, json: &mut String) -> Option<usize> {
        let mut from = 0;
        let taken = loop {
            let Some(at) = memchr::memchr2(b'\'', b'\\', &rest.as_bytes()[from..]).map(|at| from + at) else {
                break rest.len();
            };
            let after = &rest[at + 1..];
            if rest[at..].starts_with('\\') {
                match after.chars().next() {
                    Some(c) => from = at + 1 + c.len_utf8(),
                    None if more => break at,
                    None => break rest.len(),
                }
                continue;
            }
            match after.trim_ascii_start().bytes().next() {
                None if more => break at,
                None | Some(b',' | b':' | b'}' | b']') => {
                    self.state = DelimitedState::Between;
                    break at + 1;
                }
                Some(_) => from = at + 1,
            }
        };
        json.push_str(&rest[..taken]);
        (taken > 0).then_some(taken)
    }

    fn between(&mut self, rest: &str, more: bool, json: &mut String) -> Result<usize, DelimitedStep> {
        // Only the outermost brackets may be round, as in `call:bash(command="ls")` (`gemma/round_brackets`).
        self.is_round |= self.depth == 0 && rest.starts_with('(');
        let byte = match rest.as_bytes()[0] {
            b'(' if self.depth == 0 => b'{',
            b')' if self.is_round && self.depth == 1 => b'}',
            b'=' if self.is_round => b':',
            byte => byte,
        };
        let is_object = self.kinds & 1 == 1;
        let begins_here = self.begins;
        // White space between a comma and a value changes nothing: the value still begins here.
        self.begins = matches!(byte, b'{' | b'[' | b',' | b':') || begins_here && byte.is_ascii_whitespace();
        match byte {
            b'<' => match begins(rest, self.token, more) {
                Ok(()) => {
                    (self.state, self.expects_key) = (DelimitedState::Text, false);
                    json.push('"');
                    return Ok(self.token.len());
                }
                Err(Undecided) => return Err(DelimitedStep::More),
                Err(No) => return Err(DelimitedStep::Unexpected),
            },
            b'{' | b'[' if self.depth == self.max_depth => return Err(DelimitedStep::TooDeep),
            b'{' | b'[' => {
                self.expects_key = byte == b'{';
                self.kinds = self.kinds << 1 | u128::from(self.expects_key);
                self.depth += 1;
            }
            b'}' | b']' if is_object != (byte == b'}') => return Err(DelimitedStep::Unexpected),
            b'}' | b']' => {
                self.kinds >>= 1;
                self.depth -= 1;
                self.expects_key = false;
            }
            b'"' => (self.state, self.expects_key) = (DelimitedState::String, false),
            // Elsewhere it is an apostrophe of a word.
            b'\'' if begins_here => (self.state, self.expects_key) = (DelimitedState::Single, false),
            b',' | b':' => self.expects_key = byte == b',' && is_object,
            _ if byte.is_ascii_whitespace() => {}
            _ => return self.word(rest, more, json),
        }
        json.push(char::from(byte));
        let is_over = self.depth == 0 && matches!(byte, b'}' | b']');
        if is_over { Err(DelimitedStep::End(1)) } else { Ok(1) }
    }

    /// Reads a bare key, which it quotes, or a word in place of a value, which it copies; returns the bytes read.
    fn word(&mut self, rest: &str, more: bool, json: &mut String) -> Result<usize, DelimitedStep> {
        let ends = |c: char| {
            // A `<` may begin a token and a quotation mark a string. Between round brackets `)` ends the
            // object, and `=` is the colon of a key; in a value it is data.
            matches!(c, ':' | ',' | '{' | '}' | '[' | ']' | '"' | '<' | '\n')
                || self.is_round && (c == ')' || c == '=' && self.expects_key)
        };
        let end = rest.find(ends);
        let length = end.unwrap_or(rest.len());
        if self.expects_key && length <= MAX_KEY {
            match end {
                // Whether it is a key shows at what follows it.
                None if more => return Err(DelimitedStep::More),
                Some(end) if rest[end..].starts_with([':', '=']) => {
                    json.push('"');
                    push_escaped(rest[..end].trim_end(), json);
                    json.push('"');
                    self.expects_key = false;
                    return Ok(end);
                }
                _ => {}
            }
        }
        self.expects_key = false;
        json.push_str(&rest[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "<|\"|>";

    fn read(chunks: &[&str]) -> (String, DelimitedStep, u64) {
        let (mut json, mut cursor, mut reader) = (String::new(), 0, Delimited::new(TOKEN, 5));
        let (mut step, mut text) = (DelimitedStep::More, String::new());
        for (i, chunk) in chunks.iter().enumerate() {
            text.push_str(chunk);
            let rest = text[cursor as usize..].to_owned();
            step = reader.next(&rest, i + 1 < chunks.len(), &mut cursor, &mut json);
            if step != DelimitedStep::More {
                break;
            }
        }
        (json, step, cursor)
    }

    #[test]
    fn keys_and_texts_are_quoted_and_all_else_stays() {
        for (text, json) in [
            ("{}", "{}"),
            ("{a:<|\"|>x<|\"|>}", r#"{"a":"x"}"#),
            ("{ a b : 1 , c-d:[true,null, -2.5e3]}", r#"{ "a b": 1 , "c-d":[true,null, -2.5e3]}"#),
            ("{<|\"|>a:b<|\"|>:{c:<|\"|>}<|\"|>}}", r#"{"a:b":{"c":"}"}}"#),
            ("{\"a\":\"\\\"}\",b:[<|\"|>\"\n\\<|\"<|\"|>]}", "{\"a\":\"\\\"}\",\"b\":[\"\\\"\\n\\\\<|\\\"\"]}"),
            ("{a:New York,b}", r#"{"a":New York,b}"#),
            ("{天气:<|\"|>晴<|\"|>}", r#"{"天气":"晴"}"#),
            ("(a: \"x)\", b=[1], c:<|\"|>y=z<|\"|>)", r#"{"a": "x)", "b":[1], "c":"y=z"}"#),
            (
                "{a:'b, c: d}',e:'it's' , 'f':1,g:New York's}",
                "{\"a\":'b, c: d}',\"e\":'it's' , 'f':1,\"g\":New York's}",
            ),
        ] {
            let whole = read(&[text]);
            assert_eq!(whole, (json.to_owned(), DelimitedStep::End(text.len() as u64), text.len() as u64), "{text}");
            let chars: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(read(&chars.iter().map(String::as_str).collect::<Vec<_>>()), whole, "{text}");
            for (at, _) in text.char_indices() {
                assert_eq!(read(&[&text[..at], &text[at..]]), whole, "{text} at {at}");
            }
        }
    }

    #[test]
    fn what_fits_nothing_is_named_with_its_place() {
        for (text, step, at) in [
            ("{a:1]", DelimitedStep::Unexpected, 4),
            ("{a:<b>}", DelimitedStep::Unexpected, 3),
            ("{a:1<tool_call|>", DelimitedStep::Unexpected, 4),
            ("{a:[[[[[1]]]]]}", DelimitedStep::TooDeep, 7),
            ("{a:<|\"|>x}<tool_call|>", DelimitedStep::More, 22),
            ("{a:\"x}\\", DelimitedStep::More, 7),
        ] {
            let (_, found, cursor) = read(&[text]);
            assert_eq!((found, cursor), (step, at), "{text}");
        }
    }
}
