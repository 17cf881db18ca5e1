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

/// An object's first key is waited for to this length, in bytes.
const MAX_KEY: usize = 64;

/// An open tool-tag call. The tool is looked up by index with each step.
#[derive(Debug, Default)]
pub(crate) struct ToolTag {
    callee: Callee,
    tags: Tags,
    /// Server and tool as they were written, where the tag is not the tool's name; so it is with one
    /// that is not known.
    name: Option<(Option<String>, String)>,
    cursor: u64,
    body_start: u64,
    state: TagState,
    /// The value that is read, or that ended if what follows its closing tag says so.
    open: Open,
    /// The name of its parameter.
    parameter: String,
    /// In a comment between tags.
    in_comment: bool,
    arguments: Map<String, Value>,
    repairs: Vec<Repair>,
    started: bool,
    /// The preview's JSON object was opened.
    object_open: bool,
    /// The buffer in which text is escaped for the preview.
    scratch: String,
    ended_by_think: bool,
    inner_end: u64,
    /// A parameter's JSON is nested deeper than that.
    too_deep: bool,
    /// A parameter that may have swallowed a broken one.
    doubtful: Option<String>,
    /// A parameter that was given twice.
    twice: Option<String>,
    /// Each byte between a value's tags is the value's; else it loses a line break at either end,
    /// where both have one.
    glued: bool,
    /// The dialect of the group that it is in.
    group: Option<&'static Named>,
    /// A value has a line break at its start that was taken for one that it loses.
    restated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TagState {
    #[default]
    Between,
    Value,
    /// After a closing tag that may end the value.
    Follow,
    /// After a `]]>` that may end the value.
    CdataEnd,
}

/// An open value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Open {
    /// `true` if it is taken verbatim; see [`TagParameter::is_text`].
    is_text: bool,
    /// First byte of the value, after the line break that it may lose.
    start: Option<u64>,
    /// Bytes of that.
    line_break: u64,
    /// Openers of the same parameter, and of the same tool, inside the value.
    parameters: u32,
    tools: u32,
    /// Tags like a parameter's inside the value that are none of the dialect's.
    elements: u32,
    /// `true` if a closing tag was passed that may have ended the value before a broken sibling.
    is_doubtful: bool,
    /// `true` if the value is wrapped in CDATA.
    cdata: bool,
    /// Text up to here was emitted.
    previewed: u64,
    /// Start of the closing tag, or of the `]]>`, that may end the value.
    close_at: u64,
}

impl ToolTag {
    /// A call whose opening tag ends at `at`, with its server and tool where that is not the tool's name.
    pub(super) fn new(callee: Callee, tags: Tags, name: Option<(Option<String>, String)>, at: u64) -> Self {
        let glued = tags.of_values().is_some_and(|(.., glued)| glued);
        ToolTag { callee, tags, name, cursor: at, body_start: at, inner_end: at, glued, ..ToolTag::default() }
    }

    /// Checks whether `text`, after the opening tag, begins something that belongs to the tool.
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

    /// Checks whether `text`, after the opening tag, begins one object with all arguments: its first key
    /// must be a parameter's, for in other texts braces follow a tag as well.
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

    /// Server and tool. Where the name was written out, its server is looked up at the end.
    fn names<'t>(&'t self, tool: &'t TagTool) -> (Option<&'t str>, &'t str) {
        let (server, name) = self.name.as_ref().map_or((&tool.server, &tool.tool), |(server, name)| (server, name));
        (server.as_deref(), name)
    }

    /// Begins the value of this opening tag.
    fn begin_value(&mut self, tool: &TagTool, head: Head<'_>) {
        self.parameter = self.tags.parameter_name(head.name).into_owned();
        let known = tool.parameters.iter().find(|known| known.name == self.parameter);
        let (is_text, is_json) = known.map_or((true, true), |known| (known.is_text, known.is_json));
        // What the tag says of its value counts where the schema accepts both, or none is known
        // (`invoke/dsml_types`).
        self.open = Open { is_text: is_text && !(head.is_json && is_json), ..Open::default() };
    }

    /// Only reached where a tag of the tool is known to be, or white space or comments before it.
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

    /// Goes on after the tag at the cursor.
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

    /// The tag that `text` begins with, among those that may follow the open value.
    fn next_tag<'t>(&self, tool: &'t TagTool, text: &'t str, more: bool) -> Match<NextTag<'t>> {
        let close = self.tags.closes_call(tool, text, more).map(NextTag::Close);
        let is_unfilled = |name: &str| !self.is_given(name);
        let parameter = self.tags.parameter_that(is_unfilled, tool, text, more).map(NextTag::Parameter);
        close.either(parameter).either(begins(text, COMMENT_OPEN, more).map(|()| NextTag::Comment))
    }

    /// Returns `true` if a parameter of this name was given already, the open one included.
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

    /// Only a string value's text is emitted as it comes.
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
    /// An unfilled parameter's opening tag.
    Parameter(Head<'t>),
    Comment,
}
