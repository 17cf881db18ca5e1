//! Recognises calls by a known tool's tag: its parameters as tags (`tool_tag`), or all of them as one object (`named`).

use super::named::NamedObject;
use super::tool_tag::{Callee, Tags, ToolTag};
use crate::dialect::Dialect;
use crate::json::window::{Match, leading_space};
use crate::parse::call::{Opened, Opening, Opens, gated};
use crate::parse::tables::Tables;

/// Recogniser of calls by a known tool's tag: that tag, and after it a parameter's opening tag, the closing tag or an
/// object.
pub(crate) struct ToolTags;

impl Opens for ToolTags {
    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening> {
        let (item, length) = tables.tool_opener(text, more)?;
        let gate = |inner: &str| ToolTag::gate(&tables.tools[item], inner, more);
        gated(Ok(length), text, more, gate).map(|length| Opening { item, form: 0, length })
    }

    fn open(&self, opening: Opening, at: u64, text: &str, tables: &Tables) -> Opened {
        let dialect = tables.tags.unwrap_or(Dialect::ToolTag);
        let (inner, after) = (&text[opening.length..], at + opening.length as u64);
        if inner[leading_space(inner)..].starts_with('{') {
            let tool = &tables.tools[opening.item];
            let called = (tool.server.clone(), Some(tool.tool.clone()));
            let depth = tables.config.limits.depth;
            return Opened::Call(dialect, Box::new(NamedObject::in_tag(&tool.tag, called, after, depth)));
        }
        Opened::Call(dialect, Box::new(ToolTag::new(Callee(Some(opening.item)), Tags::Names, None, after)))
    }
}
