//! Calls that begin with a word at a line's start, a known tool's name in it: `call:f{…}`, `>>>f`.
//!
//! The text after the name is read as after a mark (`named`): such a word announces a call, and prose is before it as a
//! rule.

use super::named::open_call;
use crate::dialect::Dialect;
use crate::json::window::{Answer, Match, No, Undecided};
use crate::parse::call::{CallShape, Markerless, Place, Stands};
use crate::parse::config::HOLD_SLACK;
use crate::parse::emit::not_a_call::Reason;
use crate::parse::marks::head::{Head, gate, head, longest_head};
use crate::parse::marks::kinds::Kinds;
use crate::parse::tables::{NamedForm, Tables};

/// The recogniser of such calls.
pub(crate) struct LineHeads;

impl Markerless for LineHeads {
    fn add_leads(&self, tables: &mut Tables) {
        let longest = tables.longest_name(0);
        for line in tables.line_heads.clone() {
            if let Some(word) = line.call.word() {
                tables.lexicon.line.add(word.as_bytes(), Kinds::BARE);
            }
            tables.hold = tables.hold.max(longest_head(&line.call.head, longest) + HOLD_SLACK);
        }
    }

    fn stands(&self) -> Stands {
        Stands::AnyLine
    }

    fn is_announced(&self) -> bool {
        true
    }

    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        find(text, tables, more).map(|_| ())
    }

    fn failed(&self, text: &str, tables: &Tables) -> Option<(Dialect, usize, Reason)> {
        tables.line_heads.iter().find_map(|line| {
            let found = head(&line.call.head, text, false).ok()?;
            let is_known = tables.named_tool(found.name).is_some();
            Some((line.dialect, found.length, if is_known { Reason::Incomplete } else { Reason::UnknownTool }))
        })
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let (line, Head { name, length, .. }) = find(text, tables, false).ok()?;
        let inner = place.at + length as u64;
        Some((line.dialect, open_call(line, name, inner, tables)))
    }
}

/// The first of those that fit, and its head.
fn find<'t>(text: &'t str, tables: &Tables, more: bool) -> Match<(NamedForm, Head<'t>)> {
    for line in &tables.line_heads {
        match head(&line.call.head, text, more) {
            Err(No) => {}
            Err(Undecided) => return Err(Undecided),
            Ok(found) if tables.named_tool(found.name).is_none() => {}
            Ok(found) => {
                if let Some(()) = gate(line.call, &text[found.length..], more).decided()? {
                    return Ok((*line, found));
                }
            }
        }
    }
    Err(No)
}
