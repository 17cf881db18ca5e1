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
use crate::json::window::{Match, No, Undecided, begins_tag};
use crate::json::{MAX_DEPTH, common_prefix};
use crate::parse::config::{Config, MIN_HOLD};
use crate::parse::marks::head::begins_token;
use crate::parse::marks::lexicon::Lexicon;
use crate::parse::marks::names::KnownNames;
use crate::parse::marks::near::NearMarks;
use crate::tools::schema::Walk;
use crate::tools::{Catalog, Tool};
pub(crate) use marked::Marked;
use marked::Marker;

/// A dialect of XML elements, with the definition of one of its elements.
pub(crate) type BlockRef = (Dialect, &'static Block);

/// The lookup tables of a configuration; shared by its parsers.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) config: Config,
    pub(crate) blocks: Vec<BlockRef>,
    pub(crate) tools: Vec<TagTool>,
    /// The dialect in which calls are tags with the tools' names; `None` if it is not read.
    pub(crate) tags: Option<Dialect>,
    /// Indices in `tools` by tag; empty if the dialect of tools' tags is not read.
    tool_tags: BTreeMap<String, usize>,
    /// Markers at a line's start that announce JSON objects as calls: the marker lines of a dialect, and words.
    pub(crate) lined: Vec<Marked>,
    /// Literal markers that announce JSON objects as calls, each with its dialect.
    pub(crate) wrapped: Vec<(&'static Wrapper, Marked)>,
    /// `true` if leaked tokens of chat templates are removed from the text: if any dialect is read.
    pub(crate) tokens: bool,
    /// Delimiters of reasoning other than think tags, without those whose tag is the name of a tool or a parameter.
    pub(crate) marks: Vec<&'static ReasoningMark>,
    /// Names of quoting blocks that are also names of tools or parameters.
    pub(crate) named_blocks: Vec<&'static str>,
    /// Tags that enclose tools' results, without those that are also names of tools or parameters.
    pub(crate) result_tags: Vec<&'static str>,
    /// The dialects whose openers of calls contain the tool's name.
    pub(crate) named: Vec<NamedDialect>,
    /// Forms of calls that begin with a word at a line's start; empty if no tools are known.
    pub(crate) line_heads: Vec<NamedForm>,
    /// Known tools' names, with which calls without a marker may begin; empty if no dialect of such calls is read.
    pub(crate) names: KnownNames,
    /// The ReAct dialect and its words; `None` if it is not read or no tools are known.
    pub(crate) react: Option<(Dialect, &'static React)>,
    /// The dialect of calls in Python's syntax; `None` if it is not read or no tools are known.
    pub(crate) python: Option<Dialect>,
    /// The dialect in which JSON objects are calls without a marker, and their keys; `None` if it is not read or no
    /// tools are known.
    pub(crate) json: Option<(Dialect, &'static CallKeys)>,
    /// The dialect in which a tool's name on a line and a JSON object after it are a call; `None` if it is not read or
    /// no tools are known.
    pub(crate) name_line: Option<Dialect>,
    /// Prefix trees of all delimiters that may begin in a text.
    pub(crate) lexicon: Lexicon,
    /// Delimiters by which unreadable calls are recognised; set up at first use, since few messages need them.
    near_marks: OnceLock<NearMarks>,
    /// Maximum number of bytes that are held back for a decision.
    pub(crate) hold: usize,
}

impl Tables {
    pub(crate) fn new(mut config: Config) -> Self {
        // Every reader of values can count on it, also those that call themselves for what is nested.
        config.limits.depth = config.limits.depth.min(MAX_DEPTH);
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

    /// Returns the opener that `text` begins with, whatever follows: its dialect, its length, and `true` if it is
    /// whole.
    ///
    /// For callers that do not check the text after the opener: why a text is no call, what a text contains, and
    /// whether a further call begins after one.
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

    /// Splits `name` into server and tool if it is `server.tool` with a known server; else all of it is the tool.
    pub(crate) fn split_name(&self, name: &str) -> (Option<String>, String) {
        let whole = || (None, name.to_owned());
        let Some(catalog) = self.catalog().filter(|catalog| !catalog.knows(name)) else { return whole() };
        let mut splits = name.match_indices('.').map(|(at, _)| (&name[..at], &name[at + 1..]));
        match splits.find(|(server, _)| catalog.server(server).is_some()) {
            Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
            None => whole(),
        }
    }

    /// Returns the catalog's tool with this server and name; `None` if there is no such tool, several fit, or there is
    /// no catalog.
    pub(crate) fn tool(&self, server: Option<&str>, name: &str) -> Option<&Tool> {
        self.catalog()?.resolve(server, name).ok().map(|found| found.tool)
    }

    /// Returns the catalog's tool for `name`, which may be `server.tool`; `None` if it is not known.
    pub(crate) fn named_tool(&self, name: &str) -> Option<&Tool> {
        let (server, tool) = self.split_name(name);
        self.tool(server.as_deref(), &tool)
    }

    /// Returns the delimiters by which unreadable calls are recognised; set up at first use.
    pub(crate) fn near_marks(&self) -> &NearMarks {
        self.near_marks.get_or_init(|| NearMarks::of(self.config.dialects.iter()))
    }

    /// Returns the known tools; if `None`, every name is accepted.
    pub(crate) fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.config.catalog.as_ref()
    }
}

/// Returns the length of an incomplete opening tag `name` at the start of `text`: two or more of its letters, and after
/// them no letter, digit, `_` or `>`.
fn cut_tag(text: &str, name: &str) -> Option<usize> {
    let tag = text.strip_prefix('<')?;
    let same = common_prefix(tag, name);
    let goes_on = tag[same..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '>');
    // One letter may begin any tag, and with a further letter it is another one.
    (same >= 2 && !goes_on).then_some(1 + same)
}

/// A dialect whose openers of calls contain the tool's name.
#[derive(Debug)]
pub(crate) struct NamedDialect {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
}

/// A form of calls in a dialect whose openers contain the tool's name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedForm {
    pub(crate) dialect: Dialect,
    pub(crate) named: &'static Named,
    pub(crate) call: &'static NamedCall,
}

impl NamedDialect {
    /// Returns the openers of the dialect's calls and groups of calls.
    pub(crate) fn begins(&self) -> impl Iterator<Item = &'static str> {
        let heads = self.named.calls.iter().filter_map(NamedCall::opener);
        heads.chain(self.named.groups.iter().map(|group| group.open.as_str()))
    }

    /// Returns the openers of the dialect's calls and groups, and the closers of groups that count wherever they are.
    pub(crate) fn openers(&self) -> impl Iterator<Item = &'static str> {
        let anywhere = self.named.groups.iter().filter(|group| !group.gated);
        self.begins().chain(anywhere.map(|group| group.close.as_str()))
    }

    /// Returns the closers of the dialect's calls and groups that begin with `<` or `[`.
    pub(crate) fn closers(&self) -> impl Iterator<Item = &'static str> {
        let groups = self.named.groups.iter().map(|group| group.close.as_str());
        let calls = self.named.calls.iter().map(|call| call.close.as_str());
        groups.chain(calls).filter(|close| close.starts_with(['<', '[']))
    }

    /// Returns the dialect's forms of calls that begin with a word.
    pub(crate) fn line_heads(&self) -> impl Iterator<Item = NamedForm> {
        let NamedDialect { dialect, named } = *self;
        let calls = named.calls.iter().filter(|call| call.word().is_some());
        calls.map(move |call| NamedForm { dialect, named, call })
    }
}

/// A tool that can be called by a tag of its name.
#[derive(Debug)]
pub(crate) struct TagTool {
    /// Name of the tag: the tool's name, or `server.tool` where several servers have the tool.
    pub(crate) tag: String,
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) parameters: Vec<TagParameter>,
}

/// A parameter whose value can be written in a tag of its name.
#[derive(Debug)]
pub(crate) struct TagParameter {
    pub(crate) name: String,
    /// `true` if the parameter's schema accepts a string: the tag's text is then used verbatim.
    pub(crate) is_text: bool,
    /// `true` if the parameter's schema accepts values other than strings. If both are accepted, the type that the call
    /// declares for the value decides.
    pub(crate) is_json: bool,
}

/// Returns the tools of a catalog with their tags, and once more with the bare name where several servers have a tool.
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
