//! A configuration, laid out for the scanner.
//!
//! In goes a [`Config`]: dialects, tools, limits. Out come its openers by kind, its
//! tools by their tags, the names that calls may begin with, the lexicon of all that
//! may begin in a text, and how many bytes are held for a decision at most.
//! It is set up once and shared by all parsers of the configuration.

mod fill;
mod marked;
pub(crate) mod openers;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use crate::dialect::{
    Announcer, Block, CallKeys, Dialect, MarkedJson, Named, NamedCall, QUOTING_BLOCKS, REASONING_MARKS, RESULT_TAGS,
    React, ReasoningMark, Shape, Wrapper,
};
use crate::json::common_prefix;
use crate::json::window::{Match, No, Undecided, begins_tag};
use crate::parse::config::{Config, MIN_HOLD};
use crate::parse::marks::head::begins_token;
use crate::parse::marks::lexicon::Lexicon;
use crate::parse::marks::names::KnownNames;
use crate::parse::marks::near::NearMarks;
use crate::tools::schema::Walk;
use crate::tools::{Catalog, Tool};
pub(crate) use marked::Marked;
use marked::Marker;

/// An element dialect's block, and the dialect.
pub(crate) type BlockRef = (Dialect, &'static Block);

/// The lookup tables of a configuration; shared by its parsers.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) config: Config,
    pub(crate) blocks: Vec<BlockRef>,
    pub(crate) tools: Vec<TagTool>,
    /// The dialect of tools' tags.
    pub(crate) tags: Option<Dialect>,
    /// Tags of `tools`, and their indices.
    tool_tags: BTreeMap<String, usize>,
    /// The announcers of objects at a line's start: the marker lines of a dialect, and words.
    pub(crate) lined: Vec<Marked>,
    /// The dialects of literal markers, by marker.
    pub(crate) wrapped: Vec<(&'static Wrapper, Marked)>,
    /// `true` if leaked tokens of chat templates are taken off: wherever calls are read.
    pub(crate) tokens: bool,
    /// Marks around reasoning beside the think tags.
    pub(crate) marks: Vec<&'static ReasoningMark>,
    /// Names of quoting blocks that tools or parameters have.
    pub(crate) named_blocks: Vec<&'static str>,
    /// Tags that results are in, but for those with the name of a tool or a parameter.
    pub(crate) result_tags: Vec<&'static str>,
    /// The dialects whose openers hold a name.
    pub(crate) named: Vec<NamedDialect>,
    /// The ways to write calls that begin with a word at a line's start.
    pub(crate) line_heads: Vec<NamedForm>,
    /// Names that calls without a marker may begin with.
    pub(crate) names: KnownNames,
    /// The dialect of ReAct's words.
    pub(crate) react: Option<(Dialect, &'static React)>,
    /// The dialect of calls in Python's syntax.
    pub(crate) python: Option<Dialect>,
    /// The dialect of objects that are calls without a marker, and their keys.
    pub(crate) json: Option<(Dialect, &'static CallKeys)>,
    /// The dialect in which a name on a line and an object are a call.
    pub(crate) name_line: Option<Dialect>,
    /// All that may begin in a text.
    pub(crate) lexicon: Lexicon,
    /// The marks by which calls that cannot be read are recognised; few messages have one.
    near_marks: OnceLock<NearMarks>,
    /// Most bytes that are held for a decision.
    pub(crate) hold: usize,
}

impl Tables {
    pub(crate) fn new(config: Config) -> Self {
        let mut tables =
            Tables { tokens: config.dialects.iter().next().is_some(), hold: MIN_HOLD, config, ..Tables::default() };
        tables.tools = tables.config.catalog.as_deref().map(tag_tools).unwrap_or_default();
        // Real tools have a parameter `thought`, and a tag of its name is theirs.
        let is_known = |name: &str| {
            let tools = tables.config.catalog.iter().flat_map(|catalog| catalog.tools());
            tools.into_iter().any(|tool| tool.name == name || tool.has_parameter(name))
        };
        tables.marks = REASONING_MARKS.iter().filter(|mark| !mark.tag().is_some_and(is_known)).collect();
        tables.result_tags = RESULT_TAGS.iter().map(|(tag, _)| *tag).filter(|tag| !is_known(tag)).collect();
        tables.named_blocks = QUOTING_BLOCKS.iter().map(|block| block.open).filter(|name| is_known(name)).collect();
        let knows_tools = tables.config.catalog.is_some();
        for dialect in tables.config.dialects.iter() {
            match &dialect.spec().shape {
                Shape::Element(blocks) => tables.blocks.extend(blocks.iter().map(|b| (dialect, b))),
                Shape::ToolTag => {
                    tables.tags = Some(dialect);
                    // The first of several tools with the same tag counts.
                    let tags = tables.tools.iter().enumerate().rev().map(|(i, tool)| (tool.tag.clone(), i));
                    tables.tool_tags = tags.collect();
                }
                Shape::React(react) => tables.react = knows_tools.then_some((dialect, react)),
                Shape::Named(named) => tables.named.push(NamedDialect { dialect, named }),
                Shape::MarkedJson(spec) => tables.add_marked(dialect, spec),
                Shape::Python => tables.python = knows_tools.then_some(dialect),
                Shape::Json(keys) => tables.json = knows_tools.then_some((dialect, keys)),
            }
            if let Some(objects) = &dialect.spec().objects {
                tables.add_marked(dialect, objects);
            }
        }
        if knows_tools {
            tables.line_heads = tables.named.iter().flat_map(NamedDialect::line_heads).collect();
            tables.name_line = tables.named.iter().find(|known| known.named.name_line).map(|known| known.dialect);
        }
        // These know calls by their tools' names; elsewhere a marker does.
        if tables.python.is_some() || tables.json.is_some() || tables.react.is_some() || tables.name_line.is_some() {
            tables.names = tables.config.catalog.as_deref().map(KnownNames::new).unwrap_or_default();
        }
        tables.fill_lexicon();
        tables
    }

    fn add_marked(&mut self, dialect: Dialect, spec: &'static MarkedJson) {
        self.named.extend(spec.named.as_ref().map(|named| NamedDialect { dialect, named }));
        let marked = |marker| Marked { dialect, spec, marker };
        match &spec.announcer {
            Announcer::Line { call, answer } => self.lined.push(marked(Marker::Lines(call, answer))),
            Announcer::Marker(wrappers) => {
                let (words, others): (Vec<&Wrapper>, Vec<_>) = wrappers.iter().partition(|wrapper| wrapper.is_word());
                self.lined.extend(words.into_iter().map(|word| marked(Marker::Wrapper(word))));
                self.wrapped.extend(others.into_iter().map(|w| (w, marked(Marker::Wrapper(w)))));
            }
        }
    }

    /// Matches the opening tag of a known tool at the start of `text`; returns the tool's index and the tag's length.
    pub(crate) fn tool_opener(&self, text: &str, more: bool) -> Match<(usize, usize)> {
        let Some(name) = text.strip_prefix('<').filter(|_| !self.tool_tags.is_empty()) else { return Err(No) };
        let end = memchr::memchr(b'>', name.as_bytes());
        let name = &name[..end.unwrap_or(name.len())];
        // The first tag that does not sort before the name: the name itself, or one that begins with it.
        let next = self.tool_tags.range::<str, _>((Bound::Included(name), Bound::Unbounded)).next();
        match (next, end) {
            (Some((tag, tool)), Some(end)) if tag == name => Ok((*tool, end + 2)),
            (Some((tag, _)), None) if more && tag.starts_with(name) => Err(Undecided),
            _ => Err(No),
        }
    }

    /// Returns the opener that `text` begins with, whatever follows it: its dialect, its length, and `true` if it is
    /// whole.
    ///
    /// For callers that know no gate: why a text is no call, what a text holds, and whether a further call begins after
    /// one.
    pub(crate) fn mark(&self, text: &str) -> Option<(Dialect, usize, bool)> {
        let whole = |(dialect, found): (Dialect, Match<usize>)| Some((dialect, found.ok()?, true));
        let block = self.blocks.iter().find_map(|(dialect, block)| {
            let tag = begins_tag(text, &block.tag, false, false);
            whole((*dialect, tag)).or_else(|| Some((*dialect, cut_tag(text, &block.tag)?, false)))
        });
        let tool = self.tags.map(|dialect| (dialect, self.tool_opener(text, false).map(|(_, length)| length)));
        let wrappers = self.wrapped.iter().map(|(wrapper, marked)| (marked.dialect, wrapper.open.as_str()));
        let named = self.named.iter().flat_map(|known| known.begins().map(|opener| (known.dialect, opener)));
        let tokens = wrappers.chain(named).map(|(dialect, opener)| (dialect, begins_token(text, opener, false)));
        block.or_else(|| tool.into_iter().chain(tokens).find_map(whole))
    }

    /// The server and the tool that a name stands for, which may be `server.tool`.
    pub(crate) fn split_name(&self, name: &str) -> (Option<String>, String) {
        let whole = || (None, name.to_owned());
        let Some(catalog) = self.catalog().filter(|catalog| !catalog.knows(name)) else { return whole() };
        let mut splits = name.match_indices('.').map(|(at, _)| (&name[..at], &name[at + 1..]));
        match splits.find(|(server, _)| catalog.server(server).is_some()) {
            Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
            None => whole(),
        }
    }

    /// The tool that a call means.
    pub(crate) fn tool(&self, server: Option<&str>, name: &str) -> Option<&Tool> {
        self.catalog()?.resolve(server, name).ok().map(|found| found.tool)
    }

    /// The tool that a name stands for, which may be `server.tool`.
    pub(crate) fn named_tool(&self, name: &str) -> Option<&Tool> {
        let (server, tool) = self.split_name(name);
        self.tool(server.as_deref(), &tool)
    }

    /// Returns the marks by which calls that cannot be read are recognised; set up at first use.
    pub(crate) fn near_marks(&self) -> &NearMarks {
        self.near_marks.get_or_init(|| NearMarks::of(self.config.dialects.iter()))
    }

    /// The tools that are known; without, every name is accepted.
    pub(crate) fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.config.catalog.as_ref()
    }
}

/// Returns the length of the beginning of a tag of this name after which `text` goes on otherwise than with a name.
fn cut_tag(text: &str, name: &str) -> Option<usize> {
    let tag = text.strip_prefix('<')?;
    let same = common_prefix(tag, name);
    let goes_on = tag[same..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '>');
    // One letter may begin any tag, and with a further letter it is another one.
    (same >= 2 && !goes_on).then_some(1 + same)
}

/// A dialect whose openers hold a name.
#[derive(Debug)]
pub(crate) struct NamedDialect {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
}

/// A way to write calls of such a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedForm {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
    pub(crate) call: &'static NamedCall,
}

impl NamedDialect {
    /// Returns the openers of its calls and groups.
    pub(crate) fn begins(&self) -> impl Iterator<Item = &'static str> {
        let heads = self.named.calls.iter().filter_map(NamedCall::opener);
        heads.chain(self.named.groups.iter().map(|group| group.open.as_str()))
    }

    /// Returns the same, and the closers that count wherever they are.
    pub(crate) fn openers(&self) -> impl Iterator<Item = &'static str> {
        let anywhere = self.named.groups.iter().filter(|group| !group.gated);
        self.begins().chain(anywhere.map(|group| group.close.as_str()))
    }

    /// Returns the closers of its calls and groups.
    pub(crate) fn closers(&self) -> impl Iterator<Item = &'static str> {
        let groups = self.named.groups.iter().map(|group| group.close.as_str());
        let calls = self.named.calls.iter().map(|call| call.close.as_str());
        groups.chain(calls).filter(|close| close.starts_with(['<', '[']))
    }

    /// Returns its ways to write calls that begin with a word.
    pub(crate) fn line_heads(&self) -> impl Iterator<Item = NamedForm> {
        let NamedDialect { dialect, named } = *self;
        let calls = named.calls.iter().filter(|call| call.word().is_some());
        calls.map(move |call| NamedForm { dialect, named, call })
    }
}

/// A tool that can be called by its tag.
#[derive(Debug)]
pub(crate) struct TagTool {
    /// The tag: the tool's name, or `server.tool` where several servers have it.
    pub(crate) tag: String,
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) parameters: Vec<TagParameter>,
}

/// A parameter that can be given by its tag.
#[derive(Debug)]
pub(crate) struct TagParameter {
    pub(crate) name: String,
    /// `true` if the schema accepts a string: the text is then taken verbatim.
    pub(crate) is_text: bool,
    /// `true` if it accepts something else, too: the call's own declaration of the value's type decides.
    pub(crate) is_json: bool,
}

/// The tools of a catalog by their tags.
fn tag_tools(catalog: &Catalog) -> Vec<TagTool> {
    let tag_tool = |tool: &Tool| TagTool {
        tag: catalog.tag(tool).into_owned(),
        server: tool.server.clone(),
        tool: tool.name.clone(),
        parameters: tool
            .parameters()
            .map(|p| {
                let walk = || tool.input_schema.as_ref().map(Walk::new);
                TagParameter {
                    name: p.name.to_owned(),
                    is_text: walk().is_none_or(|walk| walk.accepts_text(p.schema)),
                    is_json: walk().is_none_or(|walk| walk.accepts_other(p.schema)),
                }
            })
            .collect(),
    };
    let mut tools: Vec<_> = catalog.tools().map(tag_tool).collect();
    // The bare name of a tool that several servers have is read, to be refused by name.
    let bare = |tool: &Tool| TagTool { tag: tool.name.clone(), server: None, ..tag_tool(tool) };
    tools.extend(catalog.tools().filter(|t| catalog.is_ambiguous(&t.name)).map(bare));
    tools
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::marks::kinds::Kinds;
    use crate::parse::marks::prefixes::Fit;

    #[test]
    fn all_that_begins_or_ends_calls_is_in_the_lexicon_in_any_spelling() {
        let mut tables = Tables::new(Config::default());
        tables.lexicon.seal();
        for known in &tables.named {
            let marks = known.openers().map(|mark| (mark, Kinds::NAMED));
            let marks = marks.chain(known.closers().map(|mark| (mark, Kinds::CLOSER)));
            for (mark, kind) in marks.filter(|(mark, _)| mark.starts_with(['<', '['])) {
                for mark in [mark.to_owned(), mark.replace('｜', "|"), mark.replace('▁', "_")] {
                    for (end, _) in mark.char_indices().skip(1) {
                        assert!(tables.lexicon.mark(&mark[..end], kind).kinds.has(kind), "{}", &mark[..end]);
                    }
                    assert!(tables.lexicon.mark(&mark, kind).is_whole, "{mark}");
                    assert_eq!(tables.lexicon.mark(&mark, Kinds::NUMBER), Fit::NONE, "{mark}");
                }
            }
        }
        assert_eq!(tables.lexicon.mark("<~", Kinds::ALL), Fit::NONE);
    }

    #[test]
    fn openers_are_found_by_prefix_among_many_tools() {
        let tools = ["get", "get_weather", "search"].map(Tool::new);
        let config = Config { catalog: Some(Arc::new(Catalog::from_tools(tools))), ..Config::default() };
        let tables = Tables::new(config);
        assert_eq!(tables.tool_opener("<get>", true), Ok((0, 5)));
        assert_eq!(tables.tool_opener("<get_wea", true), Err(Undecided));
        assert_eq!(tables.tool_opener("<get_wea", false), Err(No));
        assert_eq!(tables.tool_opener("<got", true), Err(No));
        assert_eq!(tables.tool_opener("<use_mcp_tool>", true), Err(No));
    }
}
