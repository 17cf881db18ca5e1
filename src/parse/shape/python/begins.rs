//! Recognises the beginning of calls in Python's syntax.

use super::state::{Python, SeriesForm};
use crate::dialect::Dialect;
use crate::json::window::{Answer, Match, No, Undecided, begins, leading_space};
use crate::parse::call::{CallShape, Markerless, Place, Stands};
use crate::parse::marks::fence::PRINT;
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::names::KnownNames;
use crate::parse::tables::Tables;

/// Recogniser of calls in Python's syntax.
pub(crate) struct Calls;

impl Markerless for Calls {
    fn add_leads(&self, tables: &mut Tables) {
        if tables.python.is_none() {
            return;
        }
        for [first, second] in tables.names.leads() {
            tables.lexicon.line.add(&[first, second], Kinds::BARE);
            tables.lexicon.bracket.add(&[first, second], Kinds::BARE);
            for lead in *b"\"'[ \t\r\n" {
                tables.lexicon.bracket.add(&[lead, first], Kinds::BARE);
            }
        }
        for space in *b" \t\r\n" {
            for lead in *b"\"'[ \t\r\n" {
                tables.lexicon.bracket.add(&[space, lead], Kinds::BARE);
            }
            tables.lexicon.bracket.add(&[b'[', space], Kinds::BARE);
        }
        tables.holds_names();
    }

    fn stands(&self) -> Stands {
        Stands::Line
    }

    /// Checks for a call at a line's start that is not in a list: lists are found at their bracket (`text/bare.rs`).
    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        if text.starts_with('[') { Err(No) } else { self.ahead_in_fence(text, tables, more) }
    }

    fn ahead_in_fence(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        tables.python.ok_or(No)?;
        form(&tables.names, text, more).map(|_| ())
    }

    /// Checks whether the line is a tool's signature, its name and `()`, in the prompt's list of tools.
    fn is_listed(&self, text: &str, tables: &Tables, more: bool) -> Match<bool> {
        signature(&text[tables.names.called(text, more)?..], more)
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let form = form(&tables.names, text, false).ok()?;
        Some((tables.python?, Box::new(Python::new(form, place, 0))))
    }
}

/// Recogniser of calls in Python's syntax in Gemma 3's `tool_code` fence.
pub(crate) struct ToolCode;

impl Markerless for ToolCode {
    fn add_leads(&self, _: &mut Tables) {}

    fn stands(&self) -> Stands {
        Stands::Alone
    }

    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        tables.python.ok_or(No)?;
        in_tool_code(&tables.names, text, more).map(|_| ())
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let (form, before) = in_tool_code(&tables.names, text, false).ok()?;
        Some((tables.python?, Box::new(Python::new(form, place, before))))
    }
}

/// Returns the form in which `text` begins a call, or a list of calls, of known tools.
fn form(names: &KnownNames, text: &str, more: bool) -> Match<SeriesForm> {
    match text.starts_with('[') {
        true => list_ahead(names, text, more),
        false => names.called(text, more).map(|_| SeriesForm::Line),
    }
}

/// Matches the rest of a tool's signature in the prompt's list of tools, which has no arguments; `text` begins after
/// the tool's name.
///
/// Returns `true` if the next line is indented by two spaces, as a tool's description is in that list.
fn signature(text: &str, more: bool) -> Match<bool> {
    let Some(rest) = text.strip_prefix("()") else {
        return if more && text == "(" { Err(Undecided) } else { Err(No) };
    };
    let rest = rest.trim_start_matches([' ', '\r']);
    let Some(line) = rest.strip_prefix('\n') else {
        return if rest.is_empty() && more { Err(Undecided) } else { Ok(false) };
    };
    match line.as_bytes() {
        [b' ', b' ', c, ..] => Ok(!c.is_ascii_whitespace()),
        [] | [b' '] | [b' ', b' '] if more => Err(Undecided),
        _ => Ok(false),
    }
}

/// Maximum length in bytes of an unknown tool's name in a series after its first call.
pub(super) const MAX_NAME: usize = 256;

/// Maximum number of spaces before a call. A line with a deeper indent, or with a tab, is a Markdown code block, or the
/// inside of code.
pub(crate) const MAX_INDENT: u64 = 3;

/// Checks whether `text`, which begins with a bracket, begins a list of calls of known tools.
pub(super) fn list_ahead(names: &KnownNames, text: &str, more: bool) -> Match<SeriesForm> {
    begins(text, "[", more)?;
    let inner = &text[1..];
    let inner = &inner[leading_space(inner)..];
    // A list may hold lists (`python/list_of_lists`).
    let inner = inner.strip_prefix('[').map_or(inner, |nested| &nested[leading_space(nested)..]);
    names.called(inner, more).map(|_| SeriesForm::List)
}

/// Checks whether `text`, which begins with a bracket, begins a list of quoted calls of known tools, which is text and
/// no list of calls.
pub(crate) fn quoted_list_ahead(names: &KnownNames, text: &str, more: bool) -> Match<()> {
    let inner = &text[1 + leading_space(&text[1..])..];
    names.called(inner.strip_prefix(['"', '\'']).ok_or(No)?, more).map(|_| ())
}

/// Namespace that may precede a tool's name in Gemma 3's fence.
const NAMESPACE: &str = "default_api.";

/// Matches a call of a known tool at the start of `text` as Gemma 3's fence contains it, with a namespace or printed;
/// returns its form and the number of bytes before its name.
pub(super) fn in_tool_code(names: &KnownNames, text: &str, more: bool) -> Match<(SeriesForm, usize)> {
    let print = begins(text, PRINT, more).decided()?.map_or(0, |()| PRINT.len());
    let namespace = begins(&text[print..], NAMESPACE, more).decided()?.map_or(0, |()| NAMESPACE.len());
    let length = print + namespace;
    let form = if print > 0 { SeriesForm::Printed } else { SeriesForm::Line };
    names.called(&text[length..], more).map(|_| (form, length))
}

/// Matches what may be a tool's name, and an opening parenthesis, at the start of `text`; returns the name's length.
pub(super) fn unknown_name(text: &str, more: bool) -> Match<usize> {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = text.find(|c| !in_name(c)).unwrap_or(text.len());
    let begins_well = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match text[length..].bytes().next() {
        _ if !begins_well || length > MAX_NAME => Err(No),
        Some(b'(') => Ok(length),
        None if more => Err(Undecided),
        _ => Err(No),
    }
}
