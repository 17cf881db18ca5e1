//! Finds the places where a call may begin in a text, whatever surrounds them.
//!
//! One answer for those who ask from outside: [`Parser::openers`](crate::Parser::openers) for the parts of a text that
//! look like a call, and the [`Neutraliser`](crate::outcome::Neutraliser), which breaks them. At a `<` or a `[` the
//! former asks for the openers that are read; the latter, by `KnownMarks`, for anything that some reader may take for one.
//! Lines, names and heads are matched by the scanner's own matchers.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr_iter, memchr2_iter};

use super::Tables;
use crate::dialect::{
    ACTION, Announcer, CallKeys, Dialect, FUNCTION, LineMarker, MarkedJson, NamedCall, REASONING_MARKS, RESULT_TAGS,
    React, ReactHead, SENTENCE_END, Shape, THINK_TAGS, Wrapper, template_tokens,
};
use crate::json::window::leading_space;
use crate::parse::marks::fence::{PRINT, TOOL_CODE};
use crate::parse::marks::head::{head, react_head};
use crate::parse::marks::names::KnownNames;
use crate::tools::Catalog;

/// A position in a text at which a call may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opener {
    /// Dialect of the call that may begin there.
    pub dialect: Dialect,
    /// The kind of the opener.
    pub kind: OpenerKind,
    /// Byte range of the opener in the text.
    pub span: Range<usize>,
    /// Offset, inside `span`, of the byte that identifies the opener: the first one of its name, key or word.
    pub at: usize,
    /// `true` if a call can begin at this position: at a line's start or in a list, if the kind of opener demands it.
    pub begins: bool,
}

/// The kind of an opener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenerKind {
    /// A marker that begins with `<` or `[`.
    Mark,
    /// A line, or a word on a line, that announces JSON objects as calls.
    Line,
    /// A line that announces the answer.
    AnswerLine,
    /// A known tool's name before an opening parenthesis.
    Python,
    /// A key of a JSON object whose value is a known tool's name, or such a name as the key.
    Json,
    /// A known tool's name alone on its line before an object.
    NameLine,
    /// The lines of a call in ReAct's words, up to its arguments.
    React,
}

/// Maximum length in bytes of a text that is examined as a name.
const MAX_NAME: usize = 256;

impl Tables {
    /// Returns the positions in `text` at which calls may begin, in order.
    ///
    /// Positions without a marker are included for every dialect, read or not.
    pub(crate) fn openers(&self, text: &str) -> Vec<Opener> {
        let marks = memchr2_iter(b'<', b'[', text.as_bytes()).filter_map(|at| {
            let (dialect, length, _) = self.mark(&text[at..])?;
            Some(Opener { dialect, kind: OpenerKind::Mark, span: at..at + length, at, begins: true })
        });
        let mut openers: Vec<_> = marks.collect();
        let names = self.catalog().map(|catalog| KnownNames::new(catalog));
        openers.extend(without_marks(text, names.as_ref()));
        openers.sort_by_key(|opener| opener.span.start);
        openers
    }
}

/// Returns the positions in `text` at which calls may begin without a `<` or a `[`. `names`: the known names; `None`
/// admits any.
pub(crate) fn without_marks(text: &str, names: Option<&KnownNames>) -> Vec<Opener> {
    let mut found = OpenerFinder { text, names, openers: Vec::new() };
    for dialect in Dialect::known() {
        match &dialect.spec().shape {
            Shape::MarkedJson(MarkedJson { announcer: Announcer::Line { call, answer }, .. }) => {
                found.lines(dialect, OpenerKind::Line, call);
                found.lines(dialect, OpenerKind::AnswerLine, answer);
            }
            Shape::MarkedJson(MarkedJson { announcer: Announcer::Marker(wrappers), .. }) => {
                let words = wrappers.iter().filter(|wrapper| wrapper.is_word());
                words.for_each(|word| found.word(dialect, word));
            }
            Shape::Json(keys) => found.objects(dialect, keys),
            Shape::Python => found.called(dialect),
            Shape::Named(named) => {
                if named.name_line {
                    found.name_lines(dialect);
                }
                named.calls.iter().for_each(|call| found.line_heads(dialect, call));
            }
            Shape::React(react) => found.react(dialect, react),
            Shape::Element(_) | Shape::ToolTag => {}
        }
    }
    found.openers
}

struct OpenerFinder<'t> {
    text: &'t str,
    names: Option<&'t KnownNames>,
    openers: Vec<Opener>,
}

impl OpenerFinder<'_> {
    fn add(&mut self, dialect: Dialect, kind: OpenerKind, span: Range<usize>, at: usize, begins: bool) {
        self.openers.push(Opener { dialect, kind, span, at, begins });
    }

    /// Adds each marker line that announces calls or the answer, at any offset: a program that shows the text may put
    /// it at a line's start.
    fn lines(&mut self, dialect: Dialect, kind: OpenerKind, line: &LineMarker) {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let first = line.lead.as_bytes()[0];
        for at in memchr2_iter(first, first.to_ascii_uppercase(), self.text.as_bytes()) {
            let Ok(length) = line.matches(&self.text[at..], false) else { continue };
            let end = at + length;
            // In a longer word it announces nothing.
            if !self.text[..at].ends_with(in_word) && !self.text[end..].starts_with(in_word) {
                self.add(dialect, kind, at..end, at, true);
            }
        }
    }

    /// Adds each position at a line's start of an announcing word that a JSON object or a fence follows.
    fn word(&mut self, dialect: Dialect, word: &Wrapper) {
        for (at, _) in self.text.match_indices(&word.open) {
            let end = at + word.open.len();
            let leads = self.text[end..].trim_start().starts_with(['{', '[', '`', '~', '\'']);
            if leads && begins_line(self.text, at) {
                self.add(dialect, OpenerKind::Line, at..end, at, true);
            }
        }
    }

    /// Adds each JSON key for a tool's name with a known name as value, and each known name that is an object's first
    /// key.
    fn objects(&mut self, dialect: Dialect, keys: &CallKeys) {
        let text = self.text;
        let is_tool =
            |key: &str| keys.tool.iter().any(|known| known == key) || key == ACTION || FUNCTION.contains(&key);
        // Where no tool is known, a name is a call's beside a key for arguments.
        let has_arguments = LazyCell::new(|| keys.arguments.iter().any(|key| text.contains(&format!("\"{key}\""))));
        let names = self.names;
        let is_called = |name: &str| names.map_or_else(|| *has_arguments, |names| names.knows(name));
        for at in memchr2_iter(b'"', b'\'', text.as_bytes()) {
            let Some(key) = quoted(&text[at..]) else { continue };
            let after = text[at + key.len() + 2..].trim_start();
            let Some(value) = after.strip_prefix(':').map(str::trim_start) else { continue };
            let brace = text[..at].trim_end();
            let brace = brace.ends_with('{').then(|| brace.len() - 1);
            if is_tool(key)
                && let Some(name) = quoted(value)
                && is_called(name)
            {
                let end = text.len() - value.len() + name.len() + 2;
                self.add(dialect, OpenerKind::Json, brace.unwrap_or(at)..end, at, true);
            // A tool's name as the object's first key, with the arguments or their text under it.
            } else if let Some(brace) = brace
                && value.starts_with(['{', '"', '\''])
                && self.names.is_some_and(|names| names.knows(key))
            {
                self.add(dialect, OpenerKind::Json, brace..at + key.len() + 2, at, true);
            }
        }
    }

    /// Adds each known tool's name before an opening parenthesis.
    fn called(&mut self, dialect: Dialect) {
        let (text, Some(names)) = (self.text, self.names) else { return };
        for end in memchr_iter(b'(', text.as_bytes()) {
            let before = &text[..end];
            let at = before.rfind(ends_name).map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
            let is_known = |at: usize| matches!(names.called(&text[at..], false), Ok(length) if at + length == end);
            // A method of what is no server is shown as one.
            let is_method = || before[at..].match_indices('.').any(|(dot, _)| is_known(at + dot + 1));
            if end - at > MAX_NAME || !(is_known(at) || is_method()) {
                continue;
            }
            let list = text[..at].strip_suffix(['"', '\'']).unwrap_or(&text[..at]).trim_end();
            let (start, list) = list.strip_suffix('[').map_or((at, false), |before| (before.len(), true));
            // Elsewhere a call that is printed is code.
            let before = text[..at].strip_suffix(PRINT).unwrap_or(&text[..at]);
            let in_tool_code = before.trim_end().ends_with(TOOL_CODE);
            // A namespace before the name is read in such a fence alone.
            let begins = in_tool_code || is_known(at) && (list || begins_line(text, at));
            self.add(dialect, OpenerKind::Python, start..end + 1, at, begins);
        }
    }

    fn name_lines(&mut self, dialect: Dialect) {
        let (text, Some(names)) = (self.text, self.names) else { return };
        for start in std::iter::once(0).chain(memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)) {
            let at = start + leading_space(&text[start..]);
            if let Ok((length, _)) = names.on_a_line(&text[at..], false) {
                self.add(dialect, OpenerKind::NameLine, at..at + length, at, true);
            }
        }
    }

    fn line_heads(&mut self, dialect: Dialect, call: &NamedCall) {
        let Some(word) = call.word() else { return };
        for (at, _) in self.text.match_indices(word) {
            let is_known = |name: &str| self.names.is_none_or(|names| names.knows(name));
            if let Ok(found) = head(&call.head, &self.text[at..], false)
                && is_known(found.name)
                && begins_line(self.text, at)
            {
                self.add(dialect, OpenerKind::Line, at..at + found.length, at, true);
            }
        }
    }

    fn react(&mut self, dialect: Dialect, react: &React) {
        let words: BTreeSet<_> = react.heads.iter().map(ReactHead::word).collect();
        for (at, _) in words.into_iter().flat_map(|word| self.text.match_indices(word)) {
            if let Ok((found, _)) = react_head(react, &self.text[at..], false) {
                let begins = begins_line(self.text, at);
                self.add(dialect, OpenerKind::React, at..at + found.length, at, begins);
            }
        }
    }
}

/// The marks that have a meaning after a `<` or between square brackets, in any dialect, as loosely as any reader may
/// take them.
#[derive(Debug, Clone)]
pub(crate) struct KnownMarks {
    /// Each mark's opening bracket and the word after it, in lower case.
    known: HashSet<String>,
    /// Marks that contain a character which ends a name, or that a name may directly follow; compared one by one.
    odd: Vec<String>,
}

/// The marks that do not depend on a catalog.
static COMMON: LazyLock<KnownMarks> = LazyLock::new(|| {
    let own = Dialect::ALL.iter().flat_map(|dialect| dialect.spec().marks());
    let around = REASONING_MARKS.iter().flat_map(|mark| [mark.open.trim(), mark.close]);
    let tokens = template_tokens().map(|token| token.text).chain([SENTENCE_END]).chain(around);
    let tags = THINK_TAGS.into_iter().chain(RESULT_TAGS.iter().map(|(tag, _)| *tag));
    KnownMarks::of(own.chain(tokens.map(str::to_owned)).chain(tags.map(|tag| format!("<{tag}>"))))
});

impl KnownMarks {
    /// Collects the tags of a catalog's tools and the marks of loaded dialects; those of built-in dialects, reasoning,
    /// results and templates are in `COMMON`.
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let with_server =
            |tool: &crate::tools::Tool| tool.server.as_ref().map(|server| format!("{server}.{}", tool.name));
        let tools = catalog.tools().flat_map(|tool| [Some(tool.name.clone()), with_server(tool)]).flatten();
        let loaded = Dialect::loaded().flat_map(|dialect| dialect.spec().marks());
        KnownMarks::of(tools.map(|name| format!("<{name}>")).chain(loaded))
    }

    fn of(marks: impl Iterator<Item = String>) -> Self {
        let (mut known, mut odd) = (HashSet::new(), Vec::new());
        for mark in marks {
            let word = match mark.as_bytes() {
                [b'<', .., b'>'] => Some(mark.trim_matches(['<', '/', '>'])),
                [b'<', ..] => mark.trim_matches(['<', '/']).split([' ', '=', '>']).next(),
                [b'[', ..] => mark[1..].split(']').next(),
                _ => None,
            };
            let Some(word) = word.map(|word| mark[..1].to_owned() + &word.to_lowercase()) else { continue };
            // A name may be directly beside it, as in `<call:NAME>`.
            let is_open = !mark.ends_with(ends_name);
            let is_odd = is_open || (word.starts_with('<') && word[1..].contains(ends_name));
            if known.insert(word.clone()) && is_odd {
                odd.push(word);
            }
        }
        KnownMarks { known, odd }
    }

    /// Returns `true` if `text`, which begins with `<` or `[`, begins with a mark.
    pub(crate) fn begins(&self, text: &str) -> bool {
        let (sign, rest) = text.split_at(1);
        let is_known = |word: &str| {
            let marked = || sign.to_owned() + &word.to_lowercase();
            word.len() <= MAX_NAME && [&COMMON.known, &self.known].iter().any(|known| known.contains(&marked()))
        };
        let begins_odd = |rest: &str| {
            let begins = |odd: &String| {
                odd.starts_with(sign) && rest.get(..odd.len() - 1).is_some_and(|found| found.to_lowercase() == odd[1..])
            };
            COMMON.odd.iter().chain(&self.odd).any(begins)
        };
        if sign == "[" {
            let inner = rest.trim_start();
            if begins_odd(inner) {
                return true;
            }
            // No word is longer, and a text may hold any number of brackets that nothing closes.
            let reach = &inner.as_bytes()[..inner.len().min(2 * MAX_NAME)];
            return memchr::memchr(b']', reach).is_some_and(|end| is_known(inner[..end].trim_end()));
        }
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/' || c == '!');
        // Special tokens: ChatML's, and DeepSeek's with a full-width bar.
        if rest.starts_with(['|', '｜']) {
            return true;
        }
        let name = &rest[..rest.find(ends_name).unwrap_or(rest.len())];
        is_known(name.trim_end_matches('/')) || begins_odd(rest)
    }
}

/// Returns `true` for a character that ends a name in a tag or before its arguments.
fn ends_name(c: char) -> bool {
    c.is_whitespace() || matches!(c, '<' | '>' | '=' | '"' | '\'' | '(' | '[' | ']' | ',' | '{' | '`' | '*' | '~')
}

/// Returns the text in quotation marks at the start of `text`; `None` if it is empty, too long for a name, or contains
/// an escape or a line break.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &text[1..];
    let end = inner.find([quote, '\\', '\n']).filter(|end| inner[*end..].starts_with(quote))?;
    (1..=MAX_NAME).contains(&end).then(|| &inner[..end])
}

/// Returns `true` if only spaces, Markdown signs, or a fence with its language precede `at` on its line.
fn begins_line(text: &str, at: usize) -> bool {
    let line = &text[memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1)..at];
    let after = line.trim_start_matches([' ', '\t', '>', '*', '_', '`', '-', '~', '\'']);
    let is_language = after.trim_end().bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_fence = || ["```", "~~~", "'''"].iter().any(|fence| line.trim_start().starts_with(fence));
    // A call may follow the language of a fence on its line (`fences/on_one_line_with_a_language`).
    after.is_empty() || (is_language && after.ends_with([' ', '\t']) && is_fence())
}
