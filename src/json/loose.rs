//! The tolerant lexer: finds the end of JSON that has a fault.
//!
//! It counts brackets outside strings. Strings may be in double, single or
//! typographic quotes, or in quotes that are escaped, as in JSON that was
//! escaped once more. The value ends at depth zero or
//! at the dialect's closer outside a string, whichever is first. After a raw
//! line break inside a string nobody can say where strings end; from then on a
//! line that begins with the closer ends the value.

use super::step::JsonStep;
use super::window::{Match, No, Undecided, Window, leading_space};

/// Maximum number of bytes that are searched for a closer; every known closer is shorter.
const CLOSER_BYTES: usize = 64;

/// Recognises the text, such as a closing tag, that ends a damaged JSON value.
pub(crate) trait Closer {
    /// Matches the closer at the start of `text`; undecided while `more` text may complete it.
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()>;

    /// Returns the offset in `line` at which the call ended if the last whole closer (all closing tags of the call) in
    /// the line closed it.
    fn last_passed(&self, _line: &str) -> Option<usize> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    /// Inside a string that ends with this character.
    String(char),
    /// Inside a string whose quotation marks are escaped (`\"`).
    Escaped,
}

impl<F: Fn(&str, bool, bool) -> Match<()>> Closer for F {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        self(text, line_start, more)
    }
}

/// The tolerant lexer, which finds the end of JSON that has a fault.
#[derive(Debug, Clone)]
pub(crate) struct Loose {
    mode: Mode,
    depth: usize,
    escaped: bool,
    /// `true` once a raw line break was seen in a string, after which a closer at a line's start ends the value even
    /// inside a string.
    line_rule: bool,
    /// `true` if only white space is between the last line break and the cursor.
    pub(crate) line_start: bool,
    /// Last character that is not white space, outside strings.
    last: char,
}

impl Loose {
    /// Creates a lexer inside `depth` containers, in a string if `in_string`, after the character `last`; `line_start`
    /// is `true` at the start of a line.
    pub(crate) fn new(depth: usize, in_string: bool, last: char, line_start: bool) -> Self {
        let mode = if in_string { Mode::String('"') } else { Mode::Plain };
        Loose { mode, depth, escaped: false, line_rule: false, line_start, last }
    }

    /// Reads on in the window from `cursor`, and moves `cursor` past the text that was read.
    pub(crate) fn next(&mut self, window: &Window<'_>, cursor: &mut u64, closer: &dyn Closer) -> JsonStep {
        loop {
            let rest = window.from(*cursor);
            let Some(c) = rest.chars().next() else { return JsonStep::More };
            if self.may_close(c) {
                // Bounded, or a run of fence characters would be read anew with every chunk.
                let (text, more) = window.candidate(*cursor, CLOSER_BYTES);
                match closer.closes(text, self.line_start, more) {
                    Ok(()) => return JsonStep::Closed(*cursor),
                    Err(Undecided) => return JsonStep::More,
                    Err(No) => {}
                }
            }
            let indent = self.line_start && matches!(c, ' ' | '\t' | '\r') && !self.escaped;
            let taken = match self.mode {
                // Bytewise up to where a closer may begin.
                _ if indent => Some(1),
                Mode::String(end) => Some(self.string(rest, c, end)),
                Mode::Escaped => self.escaped_string(rest, c, window.more),
                Mode::Plain => self.plain(rest, c, window.more),
            };
            let Some(taken) = taken else { return JsonStep::More };
            self.note_line(&rest[..taken]);
            *cursor += taken as u64;
            // At depth 0 is also a value that has no bracket, as in `plain </end>`: its closer ends it.
            if self.depth == 0 && self.mode == Mode::Plain && matches!(c, '}' | ']') {
                return JsonStep::End(*cursor);
            }
        }
    }

    /// Returns `true` if a closer may begin with this character: anywhere outside strings, and inside strings at a
    /// line's start once a raw line break was seen in a string.
    fn may_close(&self, c: char) -> bool {
        // Tags and tokens begin with a bracket, fences and the words of a dialect at a line's start.
        let candidate = matches!(c, '<' | '[') || (self.line_start && !c.is_whitespace());
        let outside = !matches!(self.mode, Mode::String(_) | Mode::Escaped);
        candidate && (outside || (self.line_rule && self.line_start))
    }

    fn string(&mut self, rest: &str, c: char, end: char) -> usize {
        if self.escaped {
            self.escaped = false;
            self.line_rule |= c == '\n';
            return c.len_utf8();
        }
        match c {
            '\\' => self.escaped = true,
            '\n' => self.line_rule = true,
            // A straight mark may close what a curly one opened.
            _ if c == end || (end == '”' && c == '"') || (end == '’' && c == '\'') => self.string_ends(),
            _ => return plain_bytes(rest, end).max(c.len_utf8()),
        }
        c.len_utf8()
    }

    fn string_ends(&mut self) {
        self.mode = Mode::Plain;
        self.last = '"';
    }

    /// Reads on in a string that an escaped quotation mark (`\"`) ends; returns the number of bytes read, `None` if
    /// the next byte is needed.
    fn escaped_string(&mut self, rest: &str, c: char, more: bool) -> Option<usize> {
        self.line_rule |= c == '\n';
        if c != '\\' {
            self.escaped = false;
            return Some(rest.find(['\\', '\n']).unwrap_or(rest.len()).max(c.len_utf8()));
        }
        let Some(inner) = rest[1..].chars().next() else { return if more { None } else { Some(1) } };
        // In text that is escaped once more, `\\\"` is a quotation mark inside the string: `\\` comes first.
        if inner == '"' && !self.escaped {
            self.string_ends();
        }
        self.escaped = !self.escaped && inner == '\\';
        self.line_rule |= inner == '\n';
        Some(1 + inner.len_utf8())
    }

    /// Returns `true` if a value is expected, so that a single or typographic quotation mark begins a string.
    fn at_value(&self) -> bool {
        matches!(self.last, '{' | '[' | ',' | ':' | '(' | '=')
    }

    /// Reads one character outside strings; returns the number of bytes read, `None` if the next byte is needed.
    fn plain(&mut self, rest: &str, c: char, more: bool) -> Option<usize> {
        match c {
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth = self.depth.saturating_sub(1),
            '"' => self.mode = Mode::String('"'),
            // These two only open. The others may also close a string or be an apostrophe, as in `{a: it's`.
            '“' | '„' => self.mode = Mode::String('”'),
            '”' if self.at_value() => self.mode = Mode::String('”'),
            '‘' | '’' if self.at_value() => self.mode = Mode::String('’'),
            '\'' if self.at_value() => self.mode = Mode::String('\''),
            '\\' if rest.len() == 1 && more => return None,
            '\\' if rest.starts_with("\\\"") => {
                self.mode = Mode::Escaped;
                return Some(2);
            }
            _ => {}
        }
        if !c.is_whitespace() {
            self.last = c;
        }
        Some(c.len_utf8())
    }

    fn note_line(&mut self, taken: &str) {
        // Most of what is taken is one byte: marks, brackets, indents.
        if let [byte] = taken.as_bytes() {
            self.line_start = *byte == b'\n' || self.line_start && matches!(byte, b' ' | b'\t' | b'\r');
            return;
        }
        match memchr::memrchr(b'\n', taken.as_bytes()) {
            Some(newline) => self.line_start = leading_space(&taken[newline..]) == taken.len() - newline,
            None => self.line_start &= leading_space(taken) == taken.len(),
        }
    }
}

/// Returns the number of bytes before the next character that may matter inside a string that `end` closes.
fn plain_bytes(rest: &str, end: char) -> usize {
    rest.find(['\\', '\n', end, '"', '\'']).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tag;

    impl Closer for Tag {
        fn closes(&self, text: &str, _: bool, more: bool) -> Match<()> {
            crate::json::window::begins(text, "</end>", more)
        }
    }

    fn run(text: &str, chunk: usize) -> JsonStep {
        let mut loose = Loose::new(0, false, ':', false);
        let mut cursor = 0;
        let ends = text.char_indices().map(|(i, _)| i).filter(|i| *i > 0 && i % chunk == 0).chain([text.len()]);
        for end in ends {
            let window = Window { text: &text[..end], base: 0, more: end < text.len() };
            let step = loose.next(&window, &mut cursor, &Tag);
            if step != JsonStep::More {
                return step;
            }
        }
        JsonStep::More
    }

    #[test]
    fn the_end_is_found_at_any_chunking() {
        for (text, expected) in [
            ("{'a': '}'} x", JsonStep::End(10)),
            ("{“a”: “}”} x", JsonStep::End("{“a”: “}”}".len() as u64)),
            ("{u: http://x} x", JsonStep::End(13)),
            ("{a: #fff} x", JsonStep::End(9)),
            ("{a: C# } x", JsonStep::End(8)),
            ("{‘a’:‘}’} x", JsonStep::End("{‘a’:‘}’}".len() as u64)),
            ("{”a”:”}”} x", JsonStep::End("{”a”:”}”}".len() as u64)),
            (r#"{\"a\": \"}\"} x"#, JsonStep::End(14)),
            (r#"{\"a\": \"\\\"}\\n\"} x"#, JsonStep::End(21)),
            (r#"{\"a\": \"\\\\\"} x"#, JsonStep::End(17)),
            ("{\"a\": \"</end>\" } x", JsonStep::End(16)),
            ("{a: it's </end>", JsonStep::Closed(9)),
            ("{\"a\": \"x\ny </end> z\n</end>", JsonStep::Closed(20)),
            ("{\"a\": \"x\n  </end>", JsonStep::Closed(11)),
            ("{\"a\": \"x\n\r \r</end>", JsonStep::Closed(12)),
            ("{\"a\": \"x\\\"}", JsonStep::More),
            ("plain </end>", JsonStep::Closed(6)),
        ] {
            for chunk in 1..=text.len() {
                assert_eq!(run(text, chunk), expected, "{text:?} by {chunk}");
            }
        }
    }
}
