//! The tool-tag shapes: a tag for the tool, its parameters as tags inside. A tag
//! is the name of a known tool or parameter, or holds a name.
//!
//! A value is arbitrary text. It ends at its closing tag only where no nested
//! opener of the same parameter or tool is open, and only if a known, still
//! unfilled sibling or the tool's end follows; else the tag is part of the value.
//!
//! ```text
//! Between ──<parameter>──▶ Value ──</parameter>──▶ Follow ──sibling or </tool>──▶ Between
//!    └──</tool>──▶ end       ▲                        └──anything else──┐
//!                            └──────────────────────────────────────────┘
//! ```

mod tags;
mod value;

pub(super) use tags::Callee;

use serde_json::{Map, Value};

use crate::call::Repair;
use crate::dialect::NamedCall;
use crate::parse::body::{COMMENT_CLOSE, COMMENT_OPEN, CallOut, Comment, Step, comment, think_close};
use crate::parse::json::push_escaped;
use crate::parse::tables::{TagParameter, TagTool};
use crate::parse::verdict::{Fault, Parts};
use crate::parse::window::{Match, Window, begins, begins_tag, leading_space};
use tags::Tags;

const CDATA_OPEN: &str = "<![CDATA[";
const CDATA_CLOSE: &str = "]]>";

/// An open tool-tag call. The tool is looked up by index with each step.
#[derive(Debug)]
pub(super) struct ToolTag {
    pub(super) callee: Callee,
    tags: Tags,
    /// Server and tool as they were written, where the tag is not the tool's name; so it is with one
    /// that is not known.
    name: Option<(Option<String>, String)>,
    /// Parameters of the call that the tool does not have; their indices follow the tool's.
    others: Vec<TagParameter>,
    pub(super) cursor: u64,
    body_start: u64,
    state: State,
    arguments: Map<String, Value>,
    repairs: Vec<Repair>,
    started: bool,
    /// The preview's JSON object was opened.
    object_open: bool,
    /// Where text is escaped for the preview.
    scratch: String,
    ended_by_think: bool,
    inner_end: u64,
    max_depth: usize,
    /// A parameter's JSON is nested deeper than that.
    too_deep: bool,
    /// A parameter that may have swallowed a broken one.
    doubtful: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Comment,
    Value(Open),
    /// Behind a closing tag that may end the value: where the tag starts.
    Follow(Open, u64),
    FollowComment(Open, u64),
    /// Behind a `]]>` that may end the value: where it starts.
    CdataEnd(Open, u64),
}

/// An open value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    parameter: usize,
    /// Whether it is taken verbatim; see [`TagParameter::is_text`].
    is_text: bool,
    /// First byte of the value, after the line break that it loses.
    start: Option<u64>,
    /// Openers of the same parameter, and of the same tool, inside the value.
    parameters: u32,
    tools: u32,
    /// Tags like a parameter's inside the value that are none of the dialect's.
    elements: u32,
    /// Whether a closing tag was passed that may have ended the value before a broken sibling.
    is_doubtful: bool,
    /// Whether the value is wrapped in CDATA.
    cdata: bool,
    /// Text up to here was handed on.
    previewed: u64,
}

impl ToolTag {
    /// A call of a known tool whose opening tag, its name, ends at `at`.
    pub(super) fn new(tool: usize, at: u64, max_depth: usize) -> Self {
        ToolTag::with(Callee::Known(tool), Tags::Names, None, at, max_depth)
    }

    /// A call whose opening tag, which holds the tool's name, ends at `at`.
    pub(super) fn named(
        callee: Callee,
        call: &'static NamedCall,
        name: (Option<String>, String),
        at: u64,
        max_depth: usize,
    ) -> Self {
        ToolTag::with(callee, Tags::Heads(call), Some(name), at, max_depth)
    }

    fn with(callee: Callee, tags: Tags, name: Option<(Option<String>, String)>, at: u64, max_depth: usize) -> Self {
        ToolTag {
            callee,
            tags,
            name,
            others: Vec::new(),
            cursor: at,
            body_start: at,
            state: State::Between,
            arguments: Map::new(),
            repairs: Vec::new(),
            started: false,
            object_open: false,
            scratch: String::new(),
            ended_by_think: false,
            inner_end: at,
            max_depth,
            too_deep: false,
            doubtful: None,
        }
    }

    /// Whether `text`, after the opening tag, begins something that belongs to the tool.
    pub(super) fn gate(tool: &TagTool, text: &str, more: bool) -> Match<()> {
        if text.starts_with(COMMENT_OPEN) {
            return match text.find(COMMENT_CLOSE) {
                Some(end) => {
                    let rest = &text[end + COMMENT_CLOSE.len()..];
                    let rest = &rest[leading_space(rest)..];
                    if rest.is_empty() && more { Match::Undecided } else { ToolTag::gate(tool, rest, more) }
                }
                None if more => Match::Undecided,
                None => Match::No,
            };
        }
        let parameters = tool.parameters.iter().map(|p| begins_tag(text, &p.name, false, more));
        let tags = parameters.chain([begins_tag(text, &tool.tag, true, more)]);
        let comment = begins(text, COMMENT_OPEN, more);
        comment.or(Match::any(tags).map(|_| ()))
    }

    pub(super) fn advance(&mut self, tool: &TagTool, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if !self.started {
            self.started = true;
            let (server, name) = self.names(tool);
            out.start(self.cursor, server, name);
        }
        loop {
            let rest = window.from(self.cursor);
            if rest.is_empty() {
                if let State::Value(open) = self.state {
                    self.preview(open, window, out);
                }
                return Step::More;
            }
            let go = match self.state {
                State::Between => self.between(tool, rest, window, out),
                State::Comment => self.comment(rest, State::Between, window.more, out.think_ends),
                State::Value(open) => self.value(tool, open, rest, window, out),
                State::Follow(open, close_at) => self.follow(tool, open, close_at, rest, window, out),
                State::FollowComment(open, close_at) => {
                    self.comment(rest, State::Follow(open, close_at), window.more, out.think_ends)
                }
                State::CdataEnd(open, close_at) => self.cdata_end(tool, open, close_at, rest, window.more),
            };
            match go {
                Go::On => {}
                Go::Wait => return Step::More,
                Go::End(at) => return Step::End(at),
            }
        }
    }

    /// What the call says. `truncated`: its closing tag was not seen.
    pub(super) fn into_parts(self, tool: &TagTool, window: &Window<'_>, truncated: Option<&str>) -> Parts {
        let truncated = truncated.or(self.ended_by_think.then_some("the reasoning ended inside the call"));
        let (server, name) = self.name.unwrap_or_else(|| (tool.server.clone(), tool.tool.clone()));
        let too_deep = self.too_deep.then(|| Fault::too_deep(self.max_depth));
        let doubtful = |name| Fault::malformed(format!("a broken tag stands behind the closing tag of `{name}`"));
        Parts {
            server,
            tool: Some(name),
            arguments: Value::Object(self.arguments),
            raw_arguments: window.slice(self.body_start..self.inner_end).to_owned(),
            repairs: self.repairs,
            fault: too_deep.or(truncated.map(Fault::truncated)).or(self.doubtful.map(doubtful)),
            restated: false,
        }
    }

    /// Server and tool. Where the name was written out, its server is looked up at the end.
    pub(super) fn names<'t>(&'t self, tool: &'t TagTool) -> (Option<&'t str>, &'t str) {
        let (server, name) = self.name.as_ref().map_or((&tool.server, &tool.tool), |(server, name)| (server, name));
        (server.as_deref(), name)
    }

    fn parameter<'t>(&'t self, tool: &'t TagTool, i: usize) -> &'t TagParameter {
        tool.parameters.get(i).unwrap_or_else(|| &self.others[i - tool.parameters.len()])
    }

    /// Index of a parameter; one that the tool does not have gets one.
    fn index(&mut self, tool: &TagTool, name: &str) -> usize {
        let known = tool.parameters.iter().chain(&self.others).position(|p| p.name == name);
        known.unwrap_or_else(|| {
            self.others.push(TagParameter { name: name.to_owned(), is_text: true });
            tool.parameters.len() + self.others.len() - 1
        })
    }

    /// Only reached where a tag of the tool is known to stand, or white space or comments before it.
    fn between(&mut self, tool: &TagTool, rest: &str, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Go {
        let space = leading_space(rest);
        if space > 0 {
            self.cursor += space as u64;
            return Go::On;
        }
        match self.next_tag(tool, None, rest, window.more) {
            Match::Yes(next) => self.take(tool, next, out),
            Match::Undecided => Go::Wait,
            // Only a comment before the first tag leads here.
            Match::No if out.think_ends && think_close(rest, window.more) != Match::No => self.think(rest, window.more),
            Match::No => {
                self.cursor += rest.chars().next().map_or(1, char::len_utf8) as u64;
                Go::On
            }
        }
    }

    /// Goes on behind the tag at the cursor.
    fn take(&mut self, tool: &TagTool, next: Next<'_>, out: &mut CallOut<'_, '_>) -> Go {
        self.state = match next {
            Next::Close(length) => {
                self.inner_end = self.cursor;
                let end = self.cursor + length as u64;
                out.delta(end, if self.object_open { "}" } else { "{}" });
                return Go::End(end);
            }
            Next::Parameter(name, length) => {
                let parameter = self.index(tool, name);
                self.cursor += length as u64;
                self.key_delta(name, out);
                let is_text = self.parameter(tool, parameter).is_text;
                State::Value(Open {
                    parameter,
                    is_text,
                    start: None,
                    parameters: 0,
                    tools: 0,
                    elements: 0,
                    is_doubtful: false,
                    cdata: false,
                    previewed: 0,
                })
            }
            Next::Comment => {
                self.cursor += COMMENT_OPEN.len() as u64;
                State::Comment
            }
        };
        Go::On
    }

    /// Hands on a key of the preview's JSON object.
    fn key_delta(&mut self, name: &str, out: &mut CallOut<'_, '_>) {
        self.scratch.clear();
        self.scratch.reserve(name.len() + 8);
        self.scratch.push_str(if self.object_open { ",\"" } else { "{\"" });
        push_escaped(name, &mut self.scratch);
        self.scratch.push_str("\":");
        self.object_open = true;
        out.delta(self.cursor, &self.scratch);
    }

    fn think(&mut self, rest: &str, more: bool) -> Go {
        match think_close(rest, more) {
            Match::Yes(_) => {
                self.ended_by_think = true;
                self.inner_end = self.cursor;
                Go::End(self.cursor)
            }
            _ => Go::Wait,
        }
    }

    fn comment(&mut self, rest: &str, then: State, more: bool, think_ends: bool) -> Go {
        let (read, go) = match comment(rest, think_ends, more) {
            Comment::Over(end) => {
                self.state = then;
                (end, Go::On)
            }
            Comment::Open(read) => (read, Go::Wait),
        };
        self.cursor += read as u64;
        go
    }

    /// The tag that `text` begins with, among those that may follow the value
    /// of parameter `open`.
    fn next_tag<'t>(&self, tool: &'t TagTool, open: Option<usize>, text: &'t str, more: bool) -> Match<Next<'t>> {
        let mut undecided = false;
        match self.tags.closes_call(tool, text, more) {
            Match::Yes(length) => return Match::Yes(Next::Close(length)),
            found => undecided |= found == Match::Undecided,
        }
        match self.next_parameter(tool, open, text, more) {
            Match::Yes((name, length)) => return Match::Yes(Next::Parameter(name, length)),
            found => undecided |= found == Match::Undecided,
        }
        match begins(text, COMMENT_OPEN, more) {
            Match::Yes(()) => Match::Yes(Next::Comment),
            Match::No if undecided => Match::Undecided,
            Match::No => Match::No,
            Match::Undecided => Match::Undecided,
        }
    }

    /// The opening tag of an unfilled parameter, its name and its length. A tag
    /// that holds a name may hold one that the tool does not have.
    fn next_parameter<'t>(
        &self,
        tool: &'t TagTool,
        open: Option<usize>,
        text: &'t str,
        more: bool,
    ) -> Match<(&'t str, usize)> {
        let open = open.map(|i| self.parameter(tool, i).name.as_str());
        let is_unfilled = |name: &str| open != Some(name) && !self.arguments.contains_key(name);
        let Tags::Names = self.tags else {
            return match self.tags.parameter(text, more) {
                Match::Yes(head) if is_unfilled(head.name) => Match::Yes((head.name, head.length)),
                Match::Undecided => Match::Undecided,
                _ => Match::No,
            };
        };
        let unfilled = tool.parameters.iter().filter(|p| is_unfilled(&p.name));
        let tag = |TagParameter { name, .. }: &'t TagParameter| {
            begins_tag(text, name, false, more).map(|length| (name.as_str(), length))
        };
        Match::any(unfilled.map(tag))
    }
}

enum Go {
    On,
    Wait,
    End(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next<'t> {
    /// The tool's closing tag, and its length.
    Close(usize),
    /// An unfilled parameter's opening tag: its name, and its length.
    Parameter(&'t str, usize),
    Comment,
}
