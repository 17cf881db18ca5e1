//! Recognises the beginning of calls in Python's syntax.

use super::ahead::{Form, in_tool_code, list_ahead};
use super::state::Python;
use crate::dialect::Dialect;
use crate::json::window::{Match, No, Undecided};
use crate::parse::call::{CallShape, Markerless, Place, Stands};
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::names::Names;
use crate::parse::tables::Tables;

/// The recogniser of such calls.
pub(crate) struct Calls;

impl Markerless for Calls {
    fn add_leads(&self, tables: &mut Tables) {
        const SPACE: &[u8] = b" \t\r\n";
        if tables.python.is_none() {
            return;
        }
        for [first, second] in tables.names.leads() {
            tables.lexicon.line.add(&[first, second], Kinds::BARE);
            tables.lexicon.bracket.add(&[first, second], Kinds::BARE);
            for lead in [b"\"'[", SPACE].concat() {
                tables.lexicon.bracket.add(&[lead, first], Kinds::BARE);
            }
        }
        for space in SPACE {
            for lead in [b"\"'[", SPACE].concat() {
                tables.lexicon.bracket.add(&[*space, lead], Kinds::BARE);
            }
            tables.lexicon.bracket.add(&[b'[', *space], Kinds::BARE);
        }
        tables.holds_names();
    }

    fn stands(&self) -> Stands {
        Stands::Line
    }

    /// Lists are found wherever their bracket stands (`text/bare.rs`).
    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        if text.starts_with('[') { Err(No) } else { self.ahead_in_fence(text, tables, more) }
    }

    fn ahead_in_fence(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        tables.python.ok_or(No)?;
        form(&tables.names, text, more).map(|_| ())
    }

    /// A line that begins with a tool's name and `()` may be its signature there.
    fn is_listed(&self, text: &str, tables: &Tables, more: bool) -> Match<bool> {
        signature(&text[tables.names.called(text, more)?..], more)
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let form = form(&tables.names, text, false).ok()?;
        Some((tables.python?, Box::new(Python::new(form, place, 0))))
    }
}

/// The same in Gemma 3's fence.
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
fn form(names: &Names, text: &str, more: bool) -> Match<Form> {
    match text.starts_with('[') {
        true => list_ahead(names, text, more),
        false => names.called(text, more).map(|_| Form::Line),
    }
}

/// Matches the rest of a tool's signature in the prompt's list of tools, which has no arguments; `text` begins after
/// the tool's name.
///
/// Returns whether the line after it is indented as a description is there.
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
