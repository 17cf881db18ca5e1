//! Checks whether calls in Python's syntax begin at an offset.

use crate::json::window::{Answer, Match, No, Undecided, begins, leading_space};
use crate::parse::marks::fence::PRINT;
use crate::parse::marks::names::Names;

/// Longest name of a tool that is looked for after the first call of a list.
pub(super) const MAX_NAME: usize = 256;

/// Spaces before a call. A line with a deeper indent, or with a tab, is a code block
/// of Markdown, or the inside of code.
pub(crate) const MAX_INDENT: u64 = 3;

/// The form of a call or a list of calls in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    /// One call, alone on its lines.
    #[default]
    Line,
    /// Calls in square brackets.
    List,
    /// Calls in quotes in square brackets.
    QuotedList,
    /// One call that is printed, as Gemma 3 writes it in its fence.
    Printed,
}

/// Checks whether `text`, which begins with a bracket, begins a list of calls of known tools.
pub(super) fn list_ahead(names: &Names, text: &str, more: bool) -> Match<Form> {
    begins(text, "[", more)?;
    let inner = &text[1..];
    let inner = &inner[leading_space(inner)..];
    // A list may hold lists (`python/list_of_lists`).
    if let Some(nested) = inner.strip_prefix('[') {
        return names.called(&nested[leading_space(nested)..], more).map(|_| Form::List);
    }
    let (form, name) = match inner.strip_prefix(['"', '\'']) {
        Some(name) => (Form::QuotedList, name),
        None => (Form::List, inner),
    };
    names.called(name, more).map(|_| form)
}

/// The namespace that may be before a tool's name in such a fence.
const NAMESPACE: &str = "default_api.";

/// Checks whether `text` begins a call of a known tool as it is in Gemma 3's fence, with a namespace or printed;
/// yields what is before its name.
pub(super) fn in_tool_code(names: &Names, text: &str, more: bool) -> Match<(Form, usize)> {
    let print = begins(text, PRINT, more).decided()?.map_or(0, |()| PRINT.len());
    let namespace = begins(&text[print..], NAMESPACE, more).decided()?.map_or(0, |()| NAMESPACE.len());
    let length = print + namespace;
    let form = if print > 0 { Form::Printed } else { Form::Line };
    names.called(&text[length..], more).map(|_| (form, length))
}

/// Checks whether `text` begins with what may be a tool's name and an opening
/// parenthesis; yields the name's length.
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
