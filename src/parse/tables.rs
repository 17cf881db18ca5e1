//! What a configuration knows, laid out for the scanner.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde_json::Value;

use super::config::{Config, HOLD_SLACK, MIN_HOLD};
use super::head::longest_head;
use super::names::Names;
use super::signs::Signs;
use super::window::{Match, begins, begins_tag};
use crate::catalog::Catalog;
use crate::dialect::{
    Block, Dialect, Lead, LineMarker, MarkedJson, Named, NamedArguments, ObjectKeys, Piece, React, SENTENCE_END,
    STRIKE_OPEN, Shape, TEMPLATE_TOKENS, Wrapper,
};

/// Names of tools that are not known are waited for to this length, in bytes:
/// the longest that OpenAI's interface takes.
const LONG_NAME: usize = 64;

/// The same of a parameter's name.
const LONG_PARAMETER: usize = 32;

/// Tags around reasoning. They do not nest, and any closes any.
pub(super) const THINK_TAGS: [&str; 2] = ["think", "thinking"];

/// An element dialect's block, and the dialect.
pub(super) type BlockRef = (Dialect, &'static Block);

/// A tool that can be called by its tag.
#[derive(Debug)]
pub(super) struct TagTool {
    /// The tag: the tool's name, or `server.tool` where several servers have it.
    pub(super) tag: String,
    pub(super) server: Option<String>,
    pub(super) tool: String,
    pub(super) parameters: Vec<TagParameter>,
}

impl TagTool {
    /// A tool of which only the name is known.
    pub(super) fn unknown(name: &str) -> Self {
        TagTool { tag: String::new(), server: None, tool: name.to_owned(), parameters: Vec::new() }
    }
}

/// A parameter that can be given by its tag.
#[derive(Debug)]
pub(super) struct TagParameter {
    pub(super) name: String,
    /// Whether the schema accepts a string: the text is then taken verbatim.
    pub(super) is_text: bool,
}

/// A dialect of JSON objects behind a marker, and that marker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked {
    pub(super) dialect: Dialect,
    pub(super) spec: &'static MarkedJson,
    lead: MarkedLead,
}

#[derive(Debug, Clone, Copy)]
enum MarkedLead {
    Lines(&'static Lines),
    Wrapper(&'static Wrapper),
}

/// The marker lines of a dialect, compiled.
#[derive(Debug)]
struct Lines {
    call: LinePattern,
    answer: LinePattern,
}

impl Marked {
    /// Whether `text`, at a line's start, begins with the line that announces
    /// calls; yields its length.
    pub(super) fn call_line(&self, text: &str, more: bool) -> Match<usize> {
        match self.lead {
            MarkedLead::Lines(lines) => lines.call.matches(text, more),
            MarkedLead::Wrapper(_) => Match::No,
        }
    }

    /// The same of the line that announces the answer.
    pub(super) fn answer_line(&self, text: &str, more: bool) -> Match<usize> {
        match self.lead {
            MarkedLead::Lines(lines) => lines.answer.matches(text, more),
            MarkedLead::Wrapper(_) => Match::No,
        }
    }

    /// What stands behind the objects, if anything does.
    pub(super) fn closer(&self) -> Option<&'static str> {
        match self.lead {
            MarkedLead::Lines(_) => None,
            MarkedLead::Wrapper(wrapper) => wrapper.close,
        }
    }

    /// Whether `text` begins with what closes the objects; yields its length.
    pub(super) fn close(&self, text: &str, more: bool) -> Match<usize> {
        self.closer().map_or(Match::No, |close| begins(text, close, more).map(|()| close.len()))
    }

    /// Whether `text` is the first part of what closes the objects.
    pub(super) fn is_cut_close(&self, text: &str) -> bool {
        text.len() > 1 && self.closer().is_some_and(|close| close.starts_with(text))
    }

    /// Whether it is a fault if nothing closes the objects.
    pub(super) fn must_close(&self) -> bool {
        matches!(self.lead, MarkedLead::Wrapper(wrapper) if wrapper.must_close)
    }
}

/// A line marker, compiled: the whole, and what may become the whole.
#[derive(Debug)]
pub(super) struct LinePattern {
    lead: &'static str,
    whole: Regex,
    prefix: Regex,
}

impl LinePattern {
    fn new(marker: &LineMarker) -> Self {
        let whole = format!("^{}", marker.pieces.concat());
        let open: String = marker.pieces.iter().map(|piece| format!("(?:{piece}")).collect();
        let prefix = format!("^{open}{}$", ")?".repeat(marker.pieces.len()));
        let compile = |pattern: &str| Regex::new(pattern).expect("line markers are constant and compile in a test");
        LinePattern { lead: marker.lead, whole: compile(&whole), prefix: compile(&prefix) }
    }

    /// Whether `text`, at a line's start, begins with the marker; yields its length.
    pub(super) fn matches(&self, text: &str, more: bool) -> Match<usize> {
        let letters = text.trim_start_matches(['*', '_']).bytes();
        if !letters.zip(self.lead.bytes()).all(|(found, wanted)| found.to_ascii_lowercase() == wanted) {
            return Match::No;
        }
        match self.whole.find(text) {
            Some(found) if found.end() == text.len() && more => Match::Undecided,
            Some(found) => Match::Yes(found.end()),
            None if more && self.prefix.is_match(text) => Match::Undecided,
            None => Match::No,
        }
    }
}

static TYPE_MARKER: LazyLock<Option<Lines>> = LazyLock::new(|| match &Dialect::TypeMarker.spec().shape {
    Shape::MarkedJson(MarkedJson { lead: Lead::Line { call, answer }, .. }) => {
        Some(Lines { call: LinePattern::new(call), answer: LinePattern::new(answer) })
    }
    _ => None,
});

/// What a configuration knows; shared by parsers of the same configuration.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) config: Config,
    pub(super) blocks: Vec<BlockRef>,
    pub(super) tools: Vec<TagTool>,
    by_tag: HashMap<String, usize>,
    /// Tags of `tools`, sorted, for look-up by prefix.
    sorted_tags: Vec<String>,
    /// The dialect of marker lines.
    pub(super) marked: Option<Marked>,
    /// The dialects of literal markers, by marker.
    pub(super) wrapped: Vec<(&'static Wrapper, Marked)>,
    /// Whether leaked tokens of chat templates are taken off: wherever calls are read.
    pub(super) tokens: bool,
    /// The dialects whose openers hold a name.
    pub(super) named: Vec<(Dialect, &'static Named)>,
    /// Names that calls without a marker may begin with.
    pub(super) names: Names,
    /// The dialect of ReAct's words.
    pub(super) react: Option<(Dialect, &'static React)>,
    /// Whether calls in Python's syntax are read.
    pub(super) python: bool,
    /// Keys of objects that are calls without a marker.
    pub(super) json: Option<&'static ObjectKeys>,
    /// Where something may begin.
    pub(super) signs: Signs,
    /// Most bytes that are held for a decision.
    pub(super) hold: usize,
}

/// What an opening tag opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opener {
    /// Index into [`Tables::blocks`].
    Block(usize),
    /// Index into [`Tables::tools`].
    Tool(usize),
    /// Index into [`Tables::wrapped`].
    Wrapper(usize),
    /// Index into [`Tables::named`], and the way in which its call is written.
    Named(usize, usize),
    /// Index into [`Tables::named`]: what stands around its calls, and whether it opens.
    Group(usize, bool),
}

impl Tables {
    pub(super) fn new(config: Config) -> Self {
        let mut tables = Tables {
            blocks: Vec::new(),
            tools: Vec::new(),
            by_tag: HashMap::new(),
            sorted_tags: Vec::new(),
            marked: None,
            wrapped: Vec::new(),
            tokens: config.dialects.iter().next().is_some(),
            named: Vec::new(),
            names: Names::default(),
            react: None,
            python: false,
            json: None,
            signs: Signs::default(),
            hold: MIN_HOLD,
            config,
        };
        tables.tools = tables.config.catalog.as_deref().map(tag_tools).unwrap_or_default();
        for dialect in tables.config.dialects.iter() {
            match &dialect.spec().shape {
                Shape::Element(blocks) => tables.blocks.extend(blocks.iter().map(|b| (dialect, b))),
                Shape::ToolTag => tables.add_tags(),
                Shape::React(react) => {
                    tables.react = tables.config.catalog.is_some().then_some((dialect, *react));
                }
                Shape::Named(named) => tables.named.push((dialect, named)),
                Shape::MarkedJson(spec) => tables.add_marked(dialect, spec),
                Shape::Python => tables.python = tables.config.catalog.is_some(),
                Shape::Json(keys) => tables.json = tables.config.catalog.is_some().then_some(*keys),
            }
        }
        if tables.python || tables.json.is_some() || tables.react.is_some() {
            tables.names = tables.config.catalog.as_deref().map(Names::new).unwrap_or_default();
        }
        tables.fill_signs();
        tables
    }

    fn add_tags(&mut self) {
        for (i, tool) in self.tools.iter().enumerate() {
            self.by_tag.entry(tool.tag.clone()).or_insert(i);
        }
        self.sorted_tags = self.by_tag.keys().cloned().collect();
        self.sorted_tags.sort_unstable();
    }

    fn add_marked(&mut self, dialect: Dialect, spec: &'static MarkedJson) {
        self.named.extend(spec.named.map(|named| (dialect, named)));
        let marked = |lead| Marked { dialect, spec, lead };
        match &spec.lead {
            Lead::Line { .. } => {
                self.marked = TYPE_MARKER.as_ref().map(|lines| marked(MarkedLead::Lines(lines)));
            }
            Lead::Marker(wrappers) => {
                self.wrapped.extend(wrappers.iter().map(|w| (w, marked(MarkedLead::Wrapper(w)))));
            }
        }
    }

    fn fill_signs(&mut self) {
        let length = |tag: &str| tag.len() + "</>".len();
        let blocks = self.blocks.iter().map(|(_, b)| {
            let child = b.children.iter().map(|child| length(child.tag)).max();
            (b.tag, child)
        });
        let tools = self.tools.iter().filter(|t| self.by_tag.contains_key(&t.tag)).map(|t| {
            let child = t.parameters.iter().map(|parameter| length(&parameter.name)).max();
            (t.tag.as_str(), child)
        });
        for (tag, child) in blocks.chain(tools).chain(THINK_TAGS.map(|tag| (tag, None))) {
            self.signs.add_mark(&format!("<{tag}>"));
            // The gate waits for the child behind the opener: both are one marker.
            self.hold = self.hold.max(length(tag) + child.unwrap_or(0) + HOLD_SLACK);
        }
        for tag in THINK_TAGS {
            self.signs.add_mark(&format!("</{tag}>"));
        }
        for (wrapper, marked) in &self.wrapped {
            self.signs.add_mark(wrapper.open);
            let longest = wrapper.open.len().max(marked.closer().map_or(0, str::len));
            self.hold = self.hold.max(longest + HOLD_SLACK);
        }
        if self.tokens {
            for mark in TEMPLATE_TOKENS.iter().map(|token| token.text).chain([SENTENCE_END, STRIKE_OPEN]) {
                self.signs.add_mark(mark);
            }
        }
        self.fill_named();
        for byte in *b"`~'" {
            self.signs.line.add(byte, byte);
        }
        self.fill_bare();
        self.fill_react();
        if let Some(Marked { lead: MarkedLead::Lines(lines), .. }) = self.marked {
            for lead in [lines.call.lead, lines.answer.lead].map(str::as_bytes) {
                self.signs.line.add_any_case(lead[0], lead[1]);
                for emphasis in *b"*_" {
                    for second in [b'*', b'_', lead[0]] {
                        self.signs.line.add_any_case(emphasis, second);
                    }
                }
            }
        }
    }

    fn fill_bare(&mut self) {
        const SPACE: &[u8] = b" \t\r\n";
        if self.python {
            for [first, second] in self.names.leads() {
                self.signs.line.add(first, second);
                self.signs.bracket.add(first, second);
                for lead in [b"\"'", SPACE].concat() {
                    self.signs.bracket.add(lead, first);
                }
            }
            for space in SPACE {
                for lead in [b"\"'", SPACE].concat() {
                    self.signs.bracket.add(*space, lead);
                }
            }
        }
        if self.json.is_some() {
            for lead in [b"\"{", SPACE].concat() {
                self.signs.line.add(b'{', lead);
                self.signs.line.add(b'[', lead);
            }
        }
        self.hold = self.hold.max(self.names.longest() + HOLD_SLACK);
    }

    fn fill_react(&mut self) {
        let Some((_, react)) = self.react else { return };
        self.signs.line.add(b'A', b'c');
        for emphasis in *b"*_" {
            b"A*_".iter().for_each(|second| self.signs.line.add(emphasis, *second));
        }
        let tool = self.tools.iter().map(|tool| tool.tag.len()).fold(0, usize::max);
        self.hold = self.hold.max(longest_head(react.head, tool) + HOLD_SLACK);
    }

    fn fill_named(&mut self) {
        let longest = |lengths: &mut dyn Iterator<Item = usize>, least: usize| lengths.fold(least, usize::max);
        let tool = longest(&mut self.tools.iter().map(|t| t.tag.len()), LONG_NAME);
        let parameters = self.tools.iter().flat_map(|t| &t.parameters);
        let parameter = longest(&mut parameters.map(|p| p.name.len()), LONG_PARAMETER);
        for (_, named) in &self.named {
            let heads = named.calls.iter().filter_map(|call| match call.head.first() {
                Some(Piece::Text(opener)) => Some(*opener),
                _ => None,
            });
            let groups = named.groups.iter().flat_map(|group| [group.open, group.close]);
            for mark in heads.chain(groups) {
                self.signs.add_mark(mark);
                // The other spelling of special tokens.
                self.signs.add_mark(&mark.replace('｜', "|"));
            }
            for call in named.calls {
                let child = match &call.arguments {
                    NamedArguments::Tags { open, .. } => longest_head(open, parameter),
                    NamedArguments::Json { .. } => call.close.len(),
                };
                self.hold = self.hold.max(longest_head(call.head, tool) + child + HOLD_SLACK);
            }
        }
    }

    /// Whether `text` begins with an opening tag that is known; yields it and its length.
    pub(super) fn opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
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
        if self.by_tag.is_empty() {
            return Match::No;
        }
        match memchr::memchr(b'>', name.as_bytes()) {
            Some(end) => match self.by_tag.get(&name[..end]) {
                Some(&tool) => Match::Yes((Opener::Tool(tool), end + 2)),
                None => Match::No,
            },
            None => {
                let next = self.sorted_tags.partition_point(|tag| tag.as_str() < name);
                let fits = self.sorted_tags.get(next).is_some_and(|tag| tag.starts_with(name));
                if more && fits { Match::Undecided } else { Match::No }
            }
        }
    }

    /// The server and the tool that a name stands for, which may be `server.tool`.
    pub(super) fn split_name(&self, name: &str) -> (Option<String>, String) {
        let whole = || (None, name.to_owned());
        let Some(catalog) = self.catalog().filter(|catalog| !catalog.knows(name)) else { return whole() };
        let mut splits = name.match_indices('.').map(|(at, _)| (&name[..at], &name[at + 1..]));
        match splits.find(|(server, _)| catalog.server(server).is_some()) {
            Some((server, tool)) => (Some(server.to_owned()), tool.to_owned()),
            None => whole(),
        }
    }

    /// Whether a tool's name is accepted: any, where no tools are known.
    pub(super) fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.config.catalog.as_ref()
    }
}

fn tag_tools(catalog: &Catalog) -> Vec<TagTool> {
    let tag_tool = |tool: &crate::tool::Tool| TagTool {
        tag: catalog.tag(tool).into_owned(),
        server: tool.server.clone(),
        tool: tool.name.clone(),
        parameters: tool
            .parameters()
            .map(|p| TagParameter {
                name: p.name.to_owned(),
                is_text: accepts_text(p.schema, tool.input_schema.as_ref(), 0),
            })
            .collect(),
    };
    let mut tools: Vec<_> = catalog.tools().map(tag_tool).collect();
    // The bare name of a tool that several servers have is read, to be refused by name.
    let bare = |tool: &crate::tool::Tool| TagTool { tag: tool.name.clone(), server: None, ..tag_tool(tool) };
    tools.extend(catalog.tools().filter(|t| catalog.is_ambiguous(&t.name)).map(bare));
    tools
}

/// Whether a schema may accept a string. In doubt it does: text is then kept verbatim.
fn accepts_text(schema: &Value, root: Option<&Value>, depth: usize) -> bool {
    const MAX_REFS: usize = 8;
    if depth > MAX_REFS {
        return true;
    }
    let any = |list: &Value| list.as_array().is_some_and(|l| l.iter().any(|s| accepts_text(s, root, depth + 1)));
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| root?.pointer(pointer));
        return target.is_none_or(|s| accepts_text(s, root, depth + 1));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().any(Value::is_string);
    }
    if let Some(value) = schema.get("const") {
        return value.is_string();
    }
    match schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|n| n == "string"),
        _ => match schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            Some(list) => any(list),
            None => schema.get("properties").or_else(|| schema.get("items")).is_none(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Tool;

    #[test]
    fn line_markers_are_found_held_and_refused() {
        let Lines { call, answer } = TYPE_MARKER.as_ref().unwrap();
        for line in ["TYPE: MCP\n", "type:mcp\n", "TYPE：MCP\n", "**TYPE: MCP**\n", "**TYPE:** MCP\n", "Type : MCP\n"]
        {
            assert_eq!(call.matches(line, true), Match::Yes(line.len() - 1), "{line}");
            for end in line.char_indices().map(|(i, _)| i) {
                assert_eq!(call.matches(&line[..end], true), Match::Undecided, "{:?}", &line[..end]);
            }
        }
        assert_eq!(call.matches("TYPE of", true), Match::No);
        assert_eq!(call.matches("TYPE: ANSWER\n", true), Match::No);
        assert_eq!(answer.matches("TYPE: ANSWER\n", true), Match::Yes(12));
        assert_eq!(call.matches("Tomorrow", true), Match::No);
    }

    #[test]
    fn openers_are_found_by_prefix_among_many_tools() {
        let tools = ["get", "get_weather", "search"].map(Tool::new);
        let config = Config { catalog: Some(Arc::new(Catalog::from_tools(tools))), ..Config::default() };
        let tables = Tables::new(config);
        assert_eq!(tables.opener("<get>", true), Match::Yes((Opener::Tool(0), 5)));
        assert_eq!(tables.opener("<get_wea", true), Match::Undecided);
        assert_eq!(tables.opener("<get_wea", false), Match::No);
        assert_eq!(tables.opener("<got", true), Match::No);
        assert_eq!(tables.opener("<use_mcp_tool>", true), Match::Yes((Opener::Block(0), 14)));
        assert_eq!(tables.opener("<access_mcp_", true), Match::Undecided);
    }

    #[test]
    fn a_schema_that_may_accept_a_string_takes_text_verbatim() {
        let root = json!({"$defs": {"n": {"type": "integer"}}});
        for (schema, expected) in [
            (json!({"type": "string"}), true),
            (json!({"type": ["string", "null"]}), true),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), true),
            (json!({"enum": ["a", "b"]}), true),
            (json!({}), true),
            (json!({"type": "integer"}), false),
            (json!({"type": "array", "items": {"type": "string"}}), false),
            (json!({"$ref": "#/$defs/n"}), false),
            (json!({"enum": [1, 2]}), false),
            (json!({"properties": {"a": {}}}), false),
        ] {
            assert_eq!(accepts_text(&schema, Some(&root), 0), expected, "{schema}");
        }
    }
}
