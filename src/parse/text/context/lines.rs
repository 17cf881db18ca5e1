//! Classifies lines: blank, code, items of a list, or an introduction to an example.

use super::super::elements::OpenElement;
use crate::dialect::{Doubt, asks_as_example, doubt_before, introduces_example};

/// Maximum number of bytes at a line's start by which the line is classified.
pub(super) const START: usize = 64;

/// Maximum number of bytes at a line's end that are stored.
pub(super) const TAIL: usize = 128;

/// Minimum number of columns by which a line of code is indented.
const CODE_INDENT: usize = 4;

/// Number of columns by which the prompt indents a tool's description.
const DESCRIPTION_INDENT: usize = 2;

/// Maximum number of digits in a list item's number (CommonMark 5.2).
const MAX_DIGITS: usize = 9;

/// Markdown state of the lines so far.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::parse::text) struct Lines {
    before: Before,
    /// Column at which the text of the last list item begins; 0 outside a list. An unindented line after a blank one
    /// ends the list.
    item_columns: usize,
    /// Quote character of a text in triple quotes that is open; `None` outside one.
    pub(in crate::parse::text) triple: Option<u8>,
    /// `true` if text other than white space came.
    has_text: bool,
    /// `true` if the last line that is not blank introduces an example, and only calls came since.
    pub(in crate::parse::text) introduces: bool,
    /// `true` if the last line that is not blank is in a block quote, which may continue without its sign.
    pub(in crate::parse::text) is_quoted: bool,
    /// Last bytes of the last line that is not blank.
    last: Tail,
    /// `true` if a block's closer is on the open line.
    ends_block: bool,
    /// `true` if the last line that is not blank may be in the prompt's list of tools.
    pub(in crate::parse::text) lists_tools: bool,
    /// The open construct that contains the text: an element of an unknown name, an edit, or a block of YAML.
    pub(super) element: Option<OpenElement>,
    /// Classification of the open line, stored once its first bytes may have been dropped.
    pub(super) open: Option<LineStart>,
}

/// The last bytes of a line.
#[derive(Debug, Clone, Copy)]
struct Tail {
    bytes: [u8; TAIL],
    length: usize,
}

impl Default for Tail {
    fn default() -> Self {
        Tail { bytes: [0; TAIL], length: 0 }
    }
}

/// Class of the line before the open one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Before {
    #[default]
    Nothing,
    Blank,
    Code,
    Text,
}

/// Properties of a line, by its first bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineStart {
    pub(super) columns: usize,
    /// `true` if the line has only white space so far.
    pub(super) is_blank: bool,
    /// `true` if the line begins with `>`, which the number or the sign of a list item may precede.
    is_quote: bool,
    /// `true` if the line is a heading of the second level.
    is_heading: bool,
    /// Column of the item's text if the line begins a list item, as far as its indent allows; else `None`.
    item: Option<usize>,
    /// `true` if the line begins with a letter.
    begins_text: bool,
    /// `true` if the line is code or a heading: `#`, `//`, `return`, an assignment.
    pub(super) is_code: bool,
    /// `true` if the line begins as the question of an example does.
    asks: bool,
    /// `true` if a call or syntax was on the line.
    pub(super) has_syntax: bool,
    /// `true` if only calls, syntax and white space were on the line.
    only_calls: bool,
}

impl Lines {
    /// Returns the state after a blank line that an unindented line of text follows: lists and code have ended.
    pub(super) fn settled(&self) -> Self {
        let element = self.element.filter(|open| !open.is_left_by(0));
        Lines { before: Before::Blank, element, ..Lines::default() }
    }

    /// Updates the state with a line that has ended: `line` has its available bytes, `end` its last ones. `is_whole`:
    /// `line` is all of it.
    pub(super) fn line(&mut self, line: &[u8], end: &[u8], is_whole: bool) {
        let start = self.open.take().unwrap_or_else(|| LineStart::of(&line[..line.len().min(START)]));
        let is_blank = is_blank(line);
        if start.is_blank && is_blank {
            self.before = Before::Blank;
            return;
        }
        let open = self.element.filter(|open| !open.is_left_by(start.columns));
        self.element = match open {
            Some(open) if open.closes(end) => None,
            None if is_whole && !start.has_syntax => OpenElement::opened(line, start.columns),
            open => open,
        };
        let is_code = self.is_code(start);
        if start.columns == 0 && start.begins_text && self.before == Before::Blank {
            // What is before says nothing from here on (`settled_from`).
            self.triple = None;
        }
        self.triple = after_triple_quotes(self.triple, end);
        // Outside a list a line that is indented so far is code and no item.
        if let Some(columns) = start.item.filter(|_| self.item_columns > 0 || start.columns < CODE_INDENT) {
            self.item_columns = columns;
        } else if start.columns == 0 && self.before == Before::Blank {
            self.item_columns = 0;
        }
        self.before = if is_code { Before::Code } else { Before::Text };
        // A line of calls alone: what was said of calls before it holds for those after it.
        if start.only_calls && is_blank {
            return;
        }
        self.has_text = true;
        self.is_quoted = start.is_quote;
        self.ends(end);
        self.lists_tools = !start.has_syntax && lists_tools(start, end);
        let introduces = || ends_as_introduction(end) && introduces_example(end, is_whole);
        self.introduces = !start.has_syntax && (start.asks || introduces());
    }

    /// Stores the end of a line, or of the text before a call on it: up to [`TAIL`] bytes. Blank text, and a line that
    /// closes a block or an element, are ignored.
    pub(super) fn ends(&mut self, end: &[u8]) {
        // A line that only closes a block or an element says nothing of a call after it.
        if !std::mem::take(&mut self.ends_block) && !is_blank(end) && !end.trim_ascii_start().starts_with(b"</") {
            self.last.bytes[..end.len()].copy_from_slice(end);
            self.last.length = end.len();
        }
    }

    /// Returns `true` if a line with this classification is indented code.
    pub(super) fn is_code(&self, line: LineStart) -> bool {
        let before = matches!(self.before, Before::Blank | Before::Code);
        // In a list it is indented from the item's text on.
        // Indented code cannot interrupt a paragraph (CommonMark 4.4). With no text before it, an indent is
        // none of code (`context/indented_first`).
        line.columns >= CODE_INDENT + self.item_columns && before && self.has_text
    }

    /// Returns the doubt that the line before casts on a call on the open line. `follows_call`: an earlier call
    /// precedes that one.
    pub(in crate::parse::text) fn doubt(&self, follows_call: bool) -> Doubt {
        match &self.last.bytes[..self.last.length] {
            [] if !follows_call => Doubt::None,
            line => doubt_before(line, follows_call),
        }
    }

    /// Resets the element and the last line's end where the reasoning begins or ends: neither reaches across.
    pub(in crate::parse::text) fn leave(&mut self) {
        (self.element, self.last) = (None, Tail::default());
    }

    /// Returns `true` if a line with this classification is in a block quote.
    pub(super) fn is_quote(&self, line: LineStart) -> bool {
        line.is_quote && line.columns < CODE_INDENT + self.item_columns
    }

    /// Updates the state after syntax that a new line follows.
    pub(super) fn after_syntax(&mut self) {
        *self = Lines { before: Before::Text, introduces: false, lists_tools: false, open: None, ..*self };
    }

    /// Updates the state after a block's closer: no line in the block affects the text after it.
    pub(super) fn after_block(&mut self) {
        (self.triple, self.last, self.ends_block) = (None, Tail::default(), true);
    }

    /// Updates the state after a code fence's closer; `goes_on`: text may follow it on its line.
    pub(super) fn after_fence(&mut self, goes_on: bool) {
        self.after_syntax();
        self.ends(b"```");
        self.has_text = true;
        self.open = goes_on.then(|| LineStart::of(b"").after(false));
    }
}

/// Returns `true` if a line may be in the prompt's list of tools (`prompts/*/tool.j2`): a heading, a signature, or a
/// tool's description, indented by two spaces.
fn lists_tools(start: LineStart, end: &[u8]) -> bool {
    let is_signature = || start.columns == 0 && end.trim_ascii_end().ends_with(b")");
    start.columns == DESCRIPTION_INDENT || start.is_heading || is_signature()
}

/// Returns `true` if the line's last character may end the introduction to an example: nearly no other line ends so.
fn ends_as_introduction(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    ends_with_colon(line) || line.ends_with(b"*") || line.ends_with(b"_")
}

fn ends_with_colon(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b":") || line.ends_with("：".as_bytes())
}

impl LineStart {
    /// Classifies a line by its first bytes.
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
        let item = item_length(rest);
        let inner = &rest[item.unwrap_or(0).min(rest.len())..];
        LineStart {
            columns,
            is_blank: is_blank(rest),
            is_quote: inner.starts_with(b">"),
            is_heading: rest.starts_with(b"## "),
            item: item.map(|length| columns + length),
            begins_text: rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80),
            asks: asks_as_example(rest),
            ..LineStart::default()
        }
    }

    /// Classifies a line by its first bytes, and tells whether it is code, which only lists of calls need.
    pub(super) fn with_code(bytes: &[u8]) -> Self {
        LineStart { is_code: is_code(bytes.trim_ascii_start()), ..LineStart::of(bytes) }
    }

    /// Returns `true` if only calls are on the line so far; `line` has its available bytes.
    pub(super) fn holds_only_calls(self, line: &[u8]) -> bool {
        (self.is_blank || self.only_calls) && is_blank(line)
    }

    /// Returns the classification of the line after a call or syntax on it; `is_blank`: the available bytes before that
    /// are blank.
    pub(super) fn after(self, is_blank: bool) -> Self {
        let only_calls = (self.is_blank || self.only_calls) && is_blank;
        LineStart { is_blank: false, has_syntax: true, only_calls, ..self }
    }
}

/// Returns `true` if `line` has only white space, byte order marks and zero-width spaces.
pub(super) fn is_blank(line: &[u8]) -> bool {
    let rest = line.trim_ascii();
    let is_invisible = |c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}');
    // Nearly all text begins with a letter.
    rest.first()
        .is_none_or(|byte| *byte >= 0x80 && std::str::from_utf8(rest).is_ok_and(|text| text.chars().all(is_invisible)))
}

/// Returns the number of bytes up to the item's text if `line`, after its indent, begins a list item; else `None`.
fn item_length(line: &[u8]) -> Option<usize> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = match line.get(digits) {
        Some(b'.' | b')') if (1..=MAX_DIGITS).contains(&digits) => digits + 1,
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        _ => return None,
    };
    match line.get(sign) {
        None | Some(b'\t' | b'\r') => Some(sign + 1),
        // Text that is further off is code in the item.
        Some(b' ') => match line[sign..].iter().take_while(|byte| **byte == b' ').count() {
            space if space <= CODE_INDENT => Some(sign + space),
            _ => Some(sign + 1),
        },
        Some(_) => None,
    }
}

/// Returns the quote character of triple quotes that are open after a line with these last bytes; `open` is the one
/// before the line.
fn after_triple_quotes(mut open: Option<u8>, line: &[u8]) -> Option<u8> {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\'', &line[at..]) {
        at += found;
        let quote = line[at];
        let run = line[at..].iter().take_while(|byte| **byte == quote).count();
        // `'''` at a line's start is a fence.
        let counts = quote == b'"' || !line[..at].trim_ascii().is_empty() || open.is_some();
        if run == TRIPLE && counts {
            open = match open {
                None => Some(quote),
                Some(of) if of == quote => None,
                Some(of) => Some(of),
            };
        }
        at += run;
    }
    open
}

/// Number of quote characters in a row that open or close a text of several lines.
const TRIPLE: usize = 3;

/// Returns `true` if a line, after its indent, begins as code, a comment or a heading does.
fn is_code(line: &[u8]) -> bool {
    let is_return = || line.strip_prefix(b"return").is_some_and(|rest| rest.starts_with(b" "));
    line.starts_with(b"#") || line.starts_with(b"//") || is_return() || is_assignment(line)
}

/// Returns `true` if a line begins with at most three words and an equals sign: `x =`, `let mut x =`, `x: int =`.
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
    // `==` compares, and with more words before the sign it is prose.
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
            let told = (start.columns, Lines::default().is_quote(start), start.item.is_some(), start.is_code);
            assert_eq!(told, (columns, is_quote, is_item, is_code), "{line}");
        }
    }
}
