//! What lines are: blank, code, items of a list, or what introduces an example.

use crate::dialect::{asks_as_example, introduces_example};

/// Bytes of a line's start that say what it is.
pub(super) const START: usize = 64;

/// Columns from which a line is indented as code is.
const CODE_INDENT: usize = 4;

/// Columns by which the prompt indents what it says of a tool.
const DESCRIPTION_INDENT: usize = 2;

/// Most digits of a list item's number.
const MAX_DIGITS: usize = 9;

/// What is known of the lines so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lines {
    before: Before,
    /// A list item was begun, and no unindented line behind a blank one came since.
    in_list: bool,
    /// There was text other than white space.
    has_text: bool,
    /// The last line that is not blank introduces an example, and nothing but calls came since.
    pub(super) introduces: bool,
    /// The last line that is not blank may stand in the prompt's list of tools.
    pub(super) lists_tools: bool,
    /// The open line's start, once it is known and no longer at hand.
    pub(super) open: Option<LineStart>,
}

/// The line before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Before {
    #[default]
    Nothing,
    Blank,
    Code,
    Text,
}

/// What a line's start says.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineStart {
    columns: usize,
    /// Nothing but white space so far.
    is_blank: bool,
    /// It is a block quote's.
    pub(super) is_quote: bool,
    /// It is a heading of the second level.
    is_heading: bool,
    /// It begins an item of a list, where its indent allows.
    is_item: bool,
    /// It is a line of code or a heading: `#`, `//`, `return`, an assignment.
    pub(super) is_code: bool,
    /// It begins as the question of an example does.
    asks: bool,
    /// A call or syntax stood on it.
    pub(super) is_behind: bool,
    /// Nothing else did.
    only_calls: bool,
}

impl Lines {
    /// Behind a blank line, where an unindented line of text comes.
    pub(super) fn settled() -> Self {
        Lines { before: Before::Blank, ..Lines::default() }
    }

    /// A line is over: its bytes that are at hand, and its end. `is_whole`: that is all of it.
    pub(super) fn line(&mut self, line: &[u8], end: &[u8], is_whole: bool) {
        let start = self.open.take().unwrap_or_else(|| LineStart::of(&line[..line.len().min(START)]));
        let is_blank = line.trim_ascii().is_empty();
        if start.is_blank && is_blank {
            self.before = Before::Blank;
            return;
        }
        let is_code = self.is_code(start);
        if start.is_item && (self.in_list || start.columns < CODE_INDENT) {
            self.in_list = true;
        } else if start.columns == 0 && self.before == Before::Blank {
            self.in_list = false;
        }
        self.before = if is_code { Before::Code } else { Before::Text };
        if start.only_calls && is_blank {
            return;
        }
        self.has_text = true;
        self.lists_tools = !start.is_behind && lists_tools(start, end);
        let introduces = || ends_as_introduction(end) && introduces_example(end, is_whole);
        self.introduces = !start.is_behind && (start.asks || introduces());
    }

    /// Whether a line of this start is indented code.
    pub(super) fn is_code(&self, line: LineStart) -> bool {
        let before = matches!(self.before, Before::Blank | Before::Code);
        line.columns >= CODE_INDENT && before && self.has_text && !self.in_list
    }

    /// Syntax stood here, and a line begins behind it.
    pub(super) fn behind_syntax(&mut self) {
        *self = Lines { before: Before::Text, introduces: false, lists_tools: false, open: None, ..*self };
    }

    /// The line that closes a fence came.
    pub(super) fn behind_fence(&mut self) {
        self.behind_syntax();
        self.has_text = true;
    }
}

/// Whether a line may stand in the prompt's list of tools (`prompts/*/tool.j2`): a heading, a
/// signature, or what is said of it, indented by two spaces.
fn lists_tools(start: LineStart, end: &[u8]) -> bool {
    let is_signature = || start.columns == 0 && end.trim_ascii_end().ends_with(b")");
    start.columns == DESCRIPTION_INDENT || start.is_heading || is_signature()
}

/// Whether the line's last character may be the last one of what introduces an example:
/// nearly no other line ends so.
fn ends_as_introduction(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b":") || line.ends_with("：".as_bytes()) || line.ends_with(b"*") || line.ends_with(b"_")
}

impl LineStart {
    /// Of a line with these first bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let (mut columns, mut indent) = (0, 0);
        for byte in bytes {
            columns += match byte {
                b' ' => 1,
                b'\t' => CODE_INDENT - columns % CODE_INDENT,
                _ => break,
            };
            indent += 1;
        }
        let rest = &bytes[indent..];
        LineStart {
            columns,
            is_blank: rest.trim_ascii().is_empty(),
            is_quote: columns < CODE_INDENT && rest.starts_with(b">"),
            is_heading: rest.starts_with(b"## "),
            is_item: is_item(rest),
            is_code: false,
            asks: asks_as_example(rest),
            is_behind: false,
            only_calls: false,
        }
    }

    /// The same, with what only lists of calls ask for.
    pub(super) fn with_code(bytes: &[u8]) -> Self {
        LineStart { is_code: is_code(bytes.trim_ascii_start()), ..LineStart::of(bytes) }
    }

    /// Whether nothing but calls stands on the line so far, of which these bytes are at hand.
    pub(super) fn holds_only_calls(self, line: &[u8]) -> bool {
        (self.is_blank || self.only_calls) && line.trim_ascii().is_empty()
    }

    /// The same line, of which a further part is blank or not.
    pub(super) fn and_blank(self, is_blank: bool) -> Self {
        LineStart { is_blank: self.is_blank && is_blank, ..self }
    }

    /// The same line behind a call or syntax; `is_blank`: what is at hand before that is.
    pub(super) fn behind(self, is_blank: bool) -> Self {
        let only_calls = (self.is_blank || self.only_calls) && is_blank;
        LineStart { is_blank: false, is_behind: true, only_calls, ..self }
    }
}

/// Whether a line, behind its indent, begins an item of a list.
fn is_item(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = match line.get(digits) {
        Some(b'.' | b')') if (1..=MAX_DIGITS).contains(&digits) => line.get(digits + 1),
        Some(b'-' | b'*' | b'+') if digits == 0 => line.get(1),
        _ => return false,
    };
    behind.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Whether a line, behind its indent, begins as code, a comment or a heading does.
fn is_code(line: &[u8]) -> bool {
    let is_return = || line.strip_prefix(b"return").is_some_and(|rest| rest.starts_with(b" "));
    line.starts_with(b"#") || line.starts_with(b"//") || is_return() || is_assignment(line)
}

/// Whether a line begins with at most three words and an equals sign: `x =`, `let mut x =`, `x: int =`.
fn is_assignment(line: &[u8]) -> bool {
    // Nearly no line has one.
    if memchr::memchr(b'=', line).is_none() {
        return false;
    }
    let in_target = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b' ');
    if !line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
        return false;
    }
    let length = line.iter().take_while(|byte| in_target(byte)).count();
    let words = line[..length].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
    line.get(length) == Some(&b'=') && line.get(length + 1) != Some(&b'=') && words <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_its_start() {
        for (line, columns, is_quote, is_item, is_code) in [
            ("text", 0, false, false, false),
            ("   > quoted", 3, true, false, false),
            ("    > code", 4, false, false, false),
            ("  \tx", 4, false, false, false),
            ("- item", 0, false, true, false),
            ("-5 degrees", 0, false, false, false),
            ("12) item", 0, false, true, false),
            ("1.5 is a number", 0, false, false, false),
            ("# heading", 0, false, false, true),
            ("  // comment", 2, false, false, true),
            ("return [", 0, false, false, true),
            ("returning [", 0, false, false, false),
            ("calls = [", 0, false, false, true),
            ("let mut calls: Calls = [", 0, false, false, false),
            ("x: int = [", 0, false, false, true),
            ("a == b [", 0, false, false, false),
            ("f(a=1) [", 0, false, false, false),
        ] {
            let start = LineStart::with_code(line.as_bytes());
            let told = (start.columns, start.is_quote, start.is_item, start.is_code);
            assert_eq!(told, (columns, is_quote, is_item, is_code), "{line}");
        }
    }
}
