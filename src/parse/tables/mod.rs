//! What a configuration knows, laid out for the scanner.

mod fill;
mod marked;
mod named;
mod tags;

use std::sync::Arc;

use super::config::{Config, MIN_HOLD};
use super::names::Names;
use super::signs::{Leads, Signs};
use super::window::{Match, begins_tag};
use crate::catalog::Catalog;
use crate::dialect::{Block, Dialect, Lead, MarkedJson, ObjectKeys, React, Shape, Wrapper};
pub(super) use marked::Marked;
use marked::{MarkedLead, lines_of};
pub(super) use named::NamedDialect;
use tags::tag_tools;
pub(super) use tags::{TagParameter, TagTool};

/// Tags around reasoning. They do not nest, and any closes any.
pub(in crate::parse) const THINK_TAGS: [&str; 2] = ["think", "thinking"];

/// An element dialect's block, and the dialect.
pub(in crate::parse) type BlockRef = (Dialect, &'static Block);

/// What a configuration knows; shared by parsers of the same configuration.
#[derive(Debug)]
pub(in crate::parse) struct Tables {
    pub(in crate::parse) config: Config,
    pub(in crate::parse) blocks: Vec<BlockRef>,
    pub(in crate::parse) tools: Vec<TagTool>,
    /// The dialect of tools' tags.
    tags: Option<Dialect>,
    /// Tags of `tools`, sorted, and their indices.
    tool_tags: Vec<(String, usize)>,
    /// The dialect of marker lines.
    pub(in crate::parse) marked: Option<Marked>,
    /// The dialects of literal markers, by marker.
    pub(in crate::parse) wrapped: Vec<(&'static Wrapper, Marked)>,
    /// Whether leaked tokens of chat templates are taken off: wherever calls are read.
    pub(in crate::parse) tokens: bool,
    /// The dialects whose openers hold a name.
    pub(in crate::parse) named: Vec<NamedDialect>,
    /// What these and what stands around their calls begin with, behind the `<` or `[`.
    pub(in crate::parse) named_leads: Leads,
    /// Names that calls without a marker may begin with.
    pub(in crate::parse) names: Names,
    /// The dialect of ReAct's words.
    pub(in crate::parse) react: Option<(Dialect, &'static React)>,
    /// The dialect of calls in Python's syntax.
    pub(in crate::parse) python: Option<Dialect>,
    /// The dialect of objects that are calls without a marker, and their keys.
    pub(in crate::parse) json: Option<(Dialect, &'static ObjectKeys)>,
    /// Where something may begin.
    pub(in crate::parse) signs: Signs,
    /// Most bytes that are held for a decision.
    pub(in crate::parse) hold: usize,
}

/// What an opening tag opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum Opener {
    /// Index into [`Tables::blocks`].
    Block(usize),
    /// The dialect of tools' tags, and an index into [`Tables::tools`].
    Tool(Dialect, usize),
    /// Index into [`Tables::wrapped`].
    Wrapper(usize),
    /// Index into [`Tables::named`], and the way in which its call is written.
    Named(usize, usize),
    /// Index into [`Tables::named`]: what stands around its calls, and whether it opens.
    Group(usize, bool),
}

impl Tables {
    pub(in crate::parse) fn new(config: Config) -> Self {
        let mut tables = Tables {
            blocks: Vec::new(),
            tools: Vec::new(),
            tags: None,
            tool_tags: Vec::new(),
            marked: None,
            wrapped: Vec::new(),
            tokens: config.dialects.iter().next().is_some(),
            named: Vec::new(),
            named_leads: Leads::default(),
            names: Names::default(),
            react: None,
            python: None,
            json: None,
            signs: Signs::default(),
            hold: MIN_HOLD,
            config,
        };
        tables.tools = tables.config.catalog.as_deref().map(tag_tools).unwrap_or_default();
        let knows_tools = tables.config.catalog.is_some();
        for dialect in tables.config.dialects.iter() {
            match &dialect.spec().shape {
                Shape::Element(blocks) => tables.blocks.extend(blocks.iter().map(|b| (dialect, b))),
                Shape::ToolTag => tables.add_tags(dialect),
                Shape::React(react) => tables.react = knows_tools.then_some((dialect, *react)),
                Shape::Named(named) => tables.named.push(NamedDialect::new(dialect, named)),
                Shape::MarkedJson(spec) => tables.add_marked(dialect, spec),
                Shape::Python => tables.python = knows_tools.then_some(dialect),
                Shape::Json(keys) => tables.json = knows_tools.then_some((dialect, *keys)),
            }
        }
        if tables.python.is_some() || tables.json.is_some() || tables.react.is_some() {
            tables.names = tables.config.catalog.as_deref().map(Names::new).unwrap_or_default();
        }
        tables.fill_signs();
        tables
    }

    fn add_tags(&mut self, dialect: Dialect) {
        self.tags = Some(dialect);
        self.tool_tags = self.tools.iter().enumerate().map(|(i, tool)| (tool.tag.clone(), i)).collect();
        // Of tools with the same tag the first counts.
        self.tool_tags.sort_unstable();
        self.tool_tags.dedup_by(|(tag, _), (first, _)| tag == first);
    }

    fn add_marked(&mut self, dialect: Dialect, spec: &'static MarkedJson) {
        self.named.extend(spec.named.map(|named| NamedDialect::new(dialect, named)));
        let marked = |lead| Marked { dialect, spec, lead };
        match &spec.lead {
            Lead::Line { .. } => {
                self.marked = lines_of(dialect).map(|lines| marked(MarkedLead::Lines(lines)));
            }
            Lead::Marker(wrappers) => {
                self.wrapped.extend(wrappers.iter().map(|w| (w, marked(MarkedLead::Wrapper(w)))));
            }
        }
    }

    /// Whether `text` begins with an opening tag that is known; yields it and its length.
    pub(in crate::parse) fn opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
        let mut undecided = false;
        for (i, (_, block)) in self.blocks.iter().enumerate() {
            match begins_tag(text, block.tag, false, more) {
                Match::Yes(length) => return Match::Yes((Opener::Block(i), length)),
                Match::Undecided => undecided = true,
                Match::No => {}
            }
        }
        match self.tool_opener(text, more) {
            Match::No if undecided => Match::Undecided,
            found => found,
        }
    }

    fn tool_opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
        let Some(name) = text.strip_prefix('<') else { return Match::No };
        let Some(dialect) = self.tags.filter(|_| !self.tool_tags.is_empty()) else { return Match::No };
        let end = memchr::memchr(b'>', name.as_bytes());
        let name = &name[..end.unwrap_or(name.len())];
        let next = self.tool_tags.partition_point(|(tag, _)| tag.as_str() < name);
        match (self.tool_tags.get(next), end) {
            (Some((tag, tool)), Some(end)) if tag == name => Match::Yes((Opener::Tool(dialect, *tool), end + 2)),
            (Some((tag, _)), None) if more && tag.starts_with(name) => Match::Undecided,
            _ => Match::No,
        }
    }

    /// The server and the tool that a name stands for, which may be `server.tool`.
    pub(in crate::parse) fn split_name(&self, name: &str) -> (Option<String>, String) {
        let whole = || (None, name.to_owned());
        let Some(catalog) = self.catalog().filter(|catalog| !catalog.knows(name)) else { return whole() };
        let mut splits = name.match_indices('.').map(|(at, _)| (&name[..at], &name[at + 1..]));
        match splits.find(|(server, _)| catalog.server(server).is_some()) {
            Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
            None => whole(),
        }
    }

    /// The tools that are known; without, every name is accepted.
    pub(in crate::parse) fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.config.catalog.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    #[test]
    fn openers_are_found_by_prefix_among_many_tools() {
        let tools = ["get", "get_weather", "search"].map(Tool::new);
        let config = Config { catalog: Some(Arc::new(Catalog::from_tools(tools))), ..Config::default() };
        let tables = Tables::new(config);
        assert_eq!(tables.opener("<get>", true), Match::Yes((Opener::Tool(Dialect::ToolTag, 0), 5)));
        assert_eq!(tables.opener("<get_wea", true), Match::Undecided);
        assert_eq!(tables.opener("<get_wea", false), Match::No);
        assert_eq!(tables.opener("<got", true), Match::No);
        assert_eq!(tables.opener("<use_mcp_tool>", true), Match::Yes((Opener::Block(0), 14)));
        assert_eq!(tables.opener("<access_mcp_", true), Match::Undecided);
    }
}
