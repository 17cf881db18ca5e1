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

mod again;
mod tags;
mod value;

pub(crate) use tags::{Callee, Tags};

use serde_json::{Map, Value};

use crate::dialect::Named;
use crate::event::Repair;
use crate::json::push_escaped;
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, begins_tag, first_of, leading_space};
use crate::parse::call::{
    COMMENT_CLOSE, COMMENT_OPEN, CallOut, CallShape, CalledTool, CutCall, OpenValue, Step, comment,
};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::think_close;
use crate::parse::marks::head::Head;
use crate::parse::tables::{Tables, TagTool};

/// Maximum number of bytes that are held back until an object's first key is known.
const MAX_KEY: usize = 64;

/// An open call in which tool and parameters are tags. The tool is looked up by index with each step.
#[derive(Debug, Default)]
pub(crate) struct ToolTag {
    callee: Callee,
    tags: Tags,
    /// Server and tool as they were written, if the tag's name is not the tool's, as for an unknown tool.
    name: Option<(Option<String>, String)>,
    cursor: u64,
    body_start: u64,
    state: TagState,
    /// The value that is being read, or that has ended if the text after its closing tag confirms it.
    open: Open,
    /// Name of the parameter whose value is read.
    parameter: String,
    /// `true` inside a comment between tags.
    in_comment: bool,
    arguments: Map<String, Value>,
    repairs: Vec<Repair>,
    started: bool,
    /// `true` if the opening brace of the preview's JSON object was emitted.
    object_open: bool,
    /// The buffer in which text is escaped for the preview.
    scratch: String,
    ended_by_think: bool,
    inner_end: u64,
    /// `true` if a parameter's JSON is nested deeper than the limit.
    too_deep: bool,
    /// Name of a parameter whose value may contain a further parameter with a broken tag.
    doubtful: Option<String>,
    /// Name of a parameter that has two values.
    twice: Option<String>,
    /// `true` if each byte between a value's tags belongs to the value; else a line break is removed from either end,
    /// if both have one.
    glued: bool,
    /// Dialect of the group of calls that the call is in; `None` outside a group.
    group: Option<&'static Named>,
    /// `true` if the arguments do not continue the preview: a line break at a value's start was held back and belongs
    /// to it, or the call was read again.
    restated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TagState {
    #[default]
    Between,
    Value,
    /// The reader is after a closing tag that may end the value.
    Follow,
    /// The reader is after a `]]>` that may end the value.
    CdataEnd,
}

/// State of a parameter's value that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Open {
    /// `true` if the value's text is used verbatim; see [`TagParameter::is_text`].
    is_text: bool,
    /// Offset of the value's first byte, after a line break that may be removed; `None` before it is known.
    start: Option<u64>,
    /// Length in bytes of the line break before `start`.
    line_break: u64,
    /// Number of open tags of the same parameter inside the value; `tools` counts those of the same tool.
    parameters: u32,
    tools: u32,
    /// Number of open tags inside the value that look like a parameter's and are not of the dialect.
    elements: u32,
    /// `true` if a closing tag inside the value may have ended it before a parameter with a broken tag.
    is_doubtful: bool,
    /// `true` if the value is wrapped in CDATA.
    cdata: bool,
    /// Offset up to which the value's text was emitted.
    previewed: u64,
    /// Offset of the closing tag, or of the `]]>`, that may end the value.
    close_at: u64,
}

impl ToolTag {
    /// Creates a call whose opening tag ends at `at`. `name`: server and tool, if the tag's name is not the tool's.
    pub(super) fn new(callee: Callee, tags: Tags, name: Option<(Option<String>, String)>, at: u64) -> Self {
        let glued = tags.of_values().is_some_and(|(.., glued)| glued);
        ToolTag { callee, tags, name, cursor: at, body_start: at, inner_end: at, glued, ..ToolTag::default() }
    }

    /// Checks whether `text`, after a tool's opening tag, begins with a parameter's tag, the closing tag, a comment, or
    /// an object with the arguments.
    pub(super) fn gate(tool: &TagTool, text: &str, more: bool) -> Match<()> {
        if text.starts_with(COMMENT_OPEN) {
            return match text.find(COMMENT_CLOSE) {
                Some(end) => {
                    let rest = &text[end + COMMENT_CLOSE.len()..];
                    let rest = &rest[leading_space(rest)..];
                    if rest.is_empty() && more { Err(Undecided) } else { ToolTag::gate(tool, rest, more) }
                }
                None if more => Err(Undecided),
                None => Err(No),
            };
        }
        let parameters = tool.parameters.iter().map(|p| begins_tag(text, &p.name, false, more));
        let tags = parameters.chain([begins_tag(text, &tool.tag, true, more)]);
        let comment = begins(text, COMMENT_OPEN, more);
        comment.either(first_of(tags).map(|_| ())).either(ToolTag::object(tool, text, more))
    }

    /// Checks whether `text`, after a tool's opening tag, begins one object with all arguments: its first key must be a
    /// parameter's, since braces follow a tag in other texts as well.
    fn object(tool: &TagTool, text: &str, more: bool) -> Match<()> {
        let Some(inner) = text.strip_prefix('{') else { return Err(No) };
        let key = &inner[leading_space(inner)..];
        let end = key.strip_prefix('"').and_then(|key| Some(&key[key.find('"')? + 1..]));
        let Some(after) = end else {
            let may_grow = key.is_empty() || key.starts_with('"');
            return if more && may_grow && text.len() <= MAX_KEY { Err(Undecided) } else { Err(No) };
        };
        let name = &key[1..key.len() - after.len() - 1];
        if !tool.parameters.iter().any(|parameter| parameter.name == name) {
            return Err(No);
        }
        begins(&after[leading_space(after)..], ":", more)
    }

    /// Returns server and tool of the call. If the name was written out, its server is looked up at the call's end.
    fn names<'t>(&'t self, tool: &'t TagTool) -> (Option<&'t str>, &'t str) {
        let (server, name) = self.name.as_ref().map_or((&tool.server, &tool.tool), |(server, name)| (server, name));
        (server.as_deref(), name)
    }

    /// Starts to read the value after the opening tag `head`.
    fn begin_value(&mut self, tool: &TagTool, head: Head<'_>) {
        self.parameter = self.tags.parameter_name(head.name).into_owned();
        let known = tool.parameters.iter().find(|known| known.name == self.parameter);
        let (is_text, is_json) = known.map_or((true, true), |known| (known.is_text, known.is_json));
        // What the tag says of its value counts where the schema accepts both, or none is known
        // (`invoke/dsml_types`).
        self.open = Open { is_text: is_text && !(head.is_json && is_json), ..Open::default() };
    }

    /// Reads the next tag or comment between values; white space and comments may precede it.
    fn between(&mut self, tool: &TagTool, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let rest = window.past_space(&mut self.cursor);
        if rest.is_empty() {
            return Step::More;
        }
        match self.next_tag(tool, rest, window.more) {
            Ok(next) => self.take(tool, next, out),
            Err(Undecided) => Step::More,
            // Only a comment before the first tag leads here.
            Err(No) if out.think_ends && think_close(rest, window.more) != Err(No) => self.think(rest, window.more),
            Err(No) => {
                self.cursor += rest.chars().next().map_or(1, char::len_utf8) as u64;
                Step::Next
            }
        }
    }

    /// Advances past the tag at the cursor, and changes the state accordingly.
    fn take(&mut self, tool: &TagTool, next: NextTag<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.state = match next {
            NextTag::Close(length) => {
                self.inner_end = self.cursor;
                let end = self.cursor + length as u64;
                out.delta(end, if self.object_open { "}" } else { "{}" });
                return Step::End(end);
            }
            NextTag::Parameter(head) => {
                self.cursor += head.length as u64;
                self.begin_value(tool, head);
                self.key_delta(out);
                TagState::Value
            }
            NextTag::Comment => return self.comment_opens(),
        };
        Step::Next
    }

    /// Emits the open value's key in the preview's JSON object.
    fn key_delta(&mut self, out: &mut CallOut<'_, '_>) {
        self.scratch.clear();
        self.scratch.reserve(self.parameter.len() + 8);
        self.scratch.push_str(if self.object_open { ",\"" } else { "{\"" });
        push_escaped(&self.parameter, &mut self.scratch);
        self.scratch.push_str("\":");
        self.object_open = true;
        out.delta(self.cursor, &self.scratch);
    }

    fn think(&mut self, rest: &str, more: bool) -> Step {
        match think_close(rest, more) {
            Ok(_) => {
                self.ended_by_think = true;
                self.inner_end = self.cursor;
                Step::End(self.cursor)
            }
            _ => Step::More,
        }
    }

    fn comment_opens(&mut self) -> Step {
        self.cursor += COMMENT_OPEN.len() as u64;
        self.in_comment = true;
        Step::Next
    }

    fn comment(&mut self, rest: &str, more: bool, think_ends: bool) -> Step {
        let (read, is_over) = comment(rest, think_ends, more);
        self.cursor += read as u64;
        self.in_comment = !is_over;
        if is_over { Step::Next } else { Step::More }
    }

    /// Matches the tag or comment at the start of `text`, among those that may follow the open value.
    fn next_tag<'t>(&self, tool: &'t TagTool, text: &'t str, more: bool) -> Match<NextTag<'t>> {
        let close = self.tags.closes_call(tool, text, more).map(NextTag::Close);
        let is_unfilled = |name: &str| !self.is_given(name);
        let parameter = self.tags.parameter_that(is_unfilled, tool, text, more).map(NextTag::Parameter);
        close.either(parameter).either(begins(text, COMMENT_OPEN, more).map(|()| NextTag::Comment))
    }

    /// Returns `true` if a parameter of this name has a value already, or is the open one.
    fn is_given(&self, name: &str) -> bool {
        name == self.parameter || self.arguments.contains_key(name)
    }
}

impl CallShape for ToolTag {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let tables = out.tables;
        let tool = self.callee.tool(tables);
        if !self.started {
            self.started = true;
            let (server, name) = self.names(tool);
            out.start(self.cursor, server, name);
        }
        let rest = window.from(self.cursor);
        if rest.is_empty() {
            if self.state == TagState::Value {
                self.preview(window, out);
            }
            return Step::More;
        }
        match self.state {
            _ if self.in_comment => self.comment(rest, window.more, out.think_ends),
            TagState::Between => self.between(tool, window, out),
            TagState::Value => self.value(tool, rest, window, out),
            TagState::Follow => self.follow(tool, window, out).unwrap_or(Step::More),
            TagState::CdataEnd => self.cdata_end(window),
        }
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> CutCall {
        let inner = match self.state {
            TagState::Value | TagState::CdataEnd => self.tags.value_closer(&self.parameter),
            TagState::Between | TagState::Follow => String::new(),
        };
        // After a closing tag that ends its value if the call's own follows.
        let is_closed = self.state == TagState::Follow && self.open.parameters == 0 && self.open.tools == 0;
        let is_due = is_closed && !self.in_comment && window.from(self.cursor).trim().is_empty();
        CutCall { inner, is_due, too_deep: self.too_deep }
    }

    fn take_closer(&mut self, window: &Window<'_>, tables: &Tables) {
        if self.state == TagState::Follow {
            self.inner_end = self.cursor;
            self.end_value(window, tables.config.limits.depth);
            self.repairs.push(Repair::StopSequence);
        }
    }

    fn ending(&mut self, window: &Window<'_>, tables: &Tables) -> Step {
        self.read_again(window, tables).map_or(Step::More, Step::End)
    }

    fn called(&self, tables: &Tables) -> CalledTool {
        let (server, tool) = self.names(self.callee.tool(tables));
        (server.map(str::to_owned), Some(tool.to_owned()))
    }

    fn resolve(self: Box<Self>, window: &Window<'_>, _: u64, tables: &Tables) -> UnresolvedCall {
        let called = self.called(tables);
        let too_deep = self.too_deep.then(|| Fault::too_deep(tables.config.limits.depth));
        let by_think = self.ended_by_think.then(|| Fault::truncated("the reasoning ended inside the call"));
        let doubtful = |name: &String| Fault::malformed(format!("a malformed tag follows the closing tag of `{name}`"));
        let twice = |name: &String| Fault::malformed(format!("the parameter `{name}` is given twice"));
        UnresolvedCall {
            fault: too_deep.or(by_think).or(self.doubtful.as_ref().map(doubtful)).or(self.twice.as_ref().map(twice)),
            raw_arguments: window.slice(self.body_start..self.inner_end).to_owned(),
            arguments: Value::Object(self.arguments),
            repairs: self.repairs,
            restated: self.restated,
            ..UnresolvedCall::of(called)
        }
    }

    fn needed_from(&self) -> u64 {
        self.cursor
    }

    /// Returns the value that is being read if it is a string, whose text alone is emitted as it arrives.
    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        let open = &mut self.open;
        let is_begun = self.state == TagState::Value && open.start.is_some();
        let is_text = is_begun && !open.cdata && open.is_text;
        is_text.then_some(OpenValue::Verbatim { cursor: &mut self.cursor, previewed: &mut open.previewed })
    }

    fn enter_group(&mut self, named: &'static Named, glued: bool) {
        self.glued |= glued;
        self.group = Some(named);
    }

    fn closer(&self, tables: &Tables) -> CallCloser {
        CallCloser { close: self.tags.call_closer(self.callee.tool(tables)), brackets: false }
    }

    fn ends_with_reasoning(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextTag<'t> {
    /// The tool's closing tag, and its length.
    Close(usize),
    /// The opening tag of a parameter that has no value yet.
    Parameter(Head<'t>),
    Comment,
}
