//! The shape of a name, then its arguments as one object: a call whose opener holds its tool's name.
//!
//! ```text
//! Lead ──▶ Object ──▶ Tail ──closer──▶ end
//!   │        │         └──something else──▶ end, `missing_close`
//!   │        └──what is no object──▶ Junk ──closer, the next call──▶ end, malformed
//!   └──closer──▶ end
//! ```
//!
//! The object is JSON, or in another [`Syntax`].

use memchr::memmem;
use serde_json::{Map, Value};

use super::arrows;
use super::delimited::DelimitedObject;
use super::elements::read_elements;
use super::tool_tag::{Callee, Tags, ToolTag};
use crate::dialect::{Block, Dialect, Group, HeaderPiece, Named, NamedArguments, NamedCall};
use crate::event::{RejectedKind, Repair};
use crate::json::window::{
    Answer, Match, No, Undecided, Window, begins, begins_tag, first_of, first_said, leading_space,
};
use crate::json::{Closer, JsonStep};
use crate::parse::call::json::{Around, CallJson, JsonLead, TWO_OBJECTS};
use crate::parse::call::{
    CallOut, CallShape, CalledTool, CutCall, Markerless, OpenValue, Opened, Opening, Opens, Place, Stands, Step,
};
use crate::parse::config::{HOLD_SLACK, MIN_HOLD};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::{fence_chars, think_close};
use crate::parse::marks::head::{Head, begins_token, ends, gate, head, longest_head, unit};
use crate::parse::marks::kinds::Kinds;
use crate::parse::tables::{NamedDialect, NamedForm, Tables};

/// Message for text between the arguments and the call's closing token.
const GOES_ON: &str = "unexpected text between the arguments and the closing token";

/// Reader of an open call that is a name and an object with the arguments.
#[derive(Debug, Default)]
pub(crate) struct NamedObject {
    /// Dialect data of a call whose opener contains the tool's name; `None` for a tool's own tag and for an element.
    named: Option<&'static Named>,
    /// Tag of the element that contains the arguments; `None` outside an element.
    outer: Option<&'static str>,
    /// Text with which the next call of this form begins; `None` if that is not a literal.
    opener: Option<&'static str>,
    state: NamedState,
    pub(super) cursor: u64,
    /// `true` if the call is over the limit; see [`CallOut::is_over_limit`].
    pub(super) over_limit: bool,
    pub(super) call: UnresolvedCall,
    pub(super) started: bool,
    pub(super) json: CallJson,
    syntax: Syntax,
    /// Offset at which the call ends if nothing more of it follows; `None` until its object is complete.
    pub(super) complete_at: Option<u64>,
}

/// Syntax of a call's arguments.
#[derive(Debug, Default)]
enum Syntax {
    #[default]
    Json,
    /// Flags or arrows in braces, and `true` once the brace around name and arguments was closed. Their braces are
    /// matched like those of damaged JSON.
    Arrows(bool),
    /// Elements with this token before each tag.
    Elements(&'static str),
    Delimited(Box<DelimitedObject>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum NamedState {
    #[default]
    Lead,
    Object,
    Tail,
    /// The reader is in text that cannot be read.
    Junk,
    /// The reader is after an opener that is the whole call.
    Whole,
}

impl NamedObject {
    /// Creates a call of a known tool in its own tag, with all arguments as one object.
    pub(crate) fn in_tag(tag: &str, called: CalledTool, at: u64, max_depth: usize) -> Self {
        let json = CallJson::arguments(at, max_depth, Around::Fence { expected: false }, format!("</{tag}>"));
        NamedObject::with(called, at, json)
    }

    /// Creates the call that is the element `block`, whose opening tag ends at `at`, to read its arguments.
    pub(super) fn in_element(block: &'static Block, at: u64, max_depth: usize) -> Self {
        let json = CallJson::arguments(at, max_depth, Around::Layers, block.arguments_close.as_str());
        NamedObject { outer: Some(&block.tag), ..NamedObject::with((None, block.tool.clone()), at, json) }
    }

    fn with(called: CalledTool, at: u64, json: CallJson) -> Self {
        NamedObject { cursor: at, call: UnresolvedCall::of(called), json, ..NamedObject::default() }
    }

    /// Returns the offset at which the call ends if the stream ends with the window; a closer that was cut off belongs
    /// to the call. `None` while the call is not complete.
    fn ends_with(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.ends_here()?;
        let cut = window.from(at).trim_start();
        let fence = if self.json.is_fence_open() { unit(fence_chars(cut, true)) } else { Err(No) };
        let is_cut = cut.len() > 1 && unit(self.closes(cut, true)).either(fence) == Err(Undecided);
        Some(if is_cut { window.end() } else { at })
    }

    /// Returns the offset at which the call ended if nothing more belongs to it; `None` while its object is not
    /// complete, or if it has a fault.
    pub(super) fn completed(&self) -> Option<u64> {
        let at = self.complete_at.filter(|_| self.call.fault.is_none())?;
        // Over the limit little text is held: everything that was read then belongs to the call
        // (`limits/white_space_past`).
        let is_far = self.over_limit && self.cursor - at > MIN_HOLD as u64;
        Some(if is_far { self.cursor } else { at })
    }

    /// Returns the offset at which the call ends if nothing more of it follows, and notes a missing closer as a repair;
    /// `None` while the call is not complete.
    fn ends_here(&mut self) -> Option<u64> {
        let at = self.completed()?;
        if !self.json.closer.is_empty() {
            self.call.note(Repair::MissingClose);
        }
        Some(at)
    }

    /// Returns `true` if the object with the arguments has begun.
    pub(super) fn is_begun(&self) -> bool {
        self.state != NamedState::Lead
    }

    /// Matches the call's closer at the start of `text`; returns its length.
    fn closes(&self, text: &str, more: bool) -> Match<usize> {
        ends(&self.json.closer, text, more)
    }

    /// Reads the text before the arguments: a fence, the closer of a call without arguments, or the beginning of the
    /// object.
    fn lead(&mut self, rest: &str, more: bool) -> Step {
        let lead = match self.syntax {
            Syntax::Json => self.json.lead(rest, more, self.closes(rest, more), &mut self.call),
            _ => Err(No),
        };
        match lead {
            Err(Undecided) => return Step::More,
            Ok(JsonLead::Closer(length)) => return Step::End(self.cursor + length as u64),
            Ok(JsonLead::Around(length)) => self.cursor += length as u64,
            Err(No) => {
                self.json.begin(self.cursor);
                // Flags and arrows are no JSON that could be shown as it comes.
                if let Syntax::Arrows(_) = self.syntax {
                    self.json.shown = None;
                }
                self.state = NamedState::Object;
            }
        }
        Step::Next
    }

    fn object(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let end = match &mut self.syntax {
            Syntax::Json | Syntax::Arrows(_) => return self.json(window, out),
            Syntax::Delimited(object) => object.next(self.json.start, &mut self.cursor, window, out),
            // They end with the call.
            Syntax::Elements(_) => {
                let text = window.from(self.cursor);
                let found = memmem::find(text.as_bytes(), self.json.closer.as_bytes());
                // The closing tag may be cut.
                let seen = text.floor_char_boundary(text.len().saturating_sub(self.json.closer.len() - 1));
                self.cursor += found.unwrap_or(seen) as u64;
                Ok(found.map(|_| self.cursor))
            }
        };
        match end {
            Ok(None) => Step::More,
            Ok(Some(at)) => {
                self.complete_at = Some(at);
                self.state = NamedState::Tail;
                // Where nothing closes the call, the object's end does.
                if self.json.closer.is_empty() { Step::End(at) } else { Step::Next }
            }
            Err(fault) => self.fails(fault),
        }
    }

    /// Records a fault, and changes to skipping the rest of the call.
    fn fails(&mut self, fault: Fault) -> Step {
        self.json.too_deep = fault.kind == RejectedKind::Limit;
        self.call.fault.get_or_insert(fault);
        self.complete_at = None;
        self.state = NamedState::Junk;
        Step::Next
    }

    /// Skips text that cannot be read, up to the closer, the next call or the end of the reasoning.
    fn junk(&mut self, window: &Window<'_>, think_ends: bool) -> Step {
        let rest = window.from(self.cursor);
        let first = self.json.closer.bytes().next().unwrap_or(b'<');
        let Some(at) = memchr::memchr2(b'<', first, rest.as_bytes()) else {
            self.cursor = window.end();
            return Step::More;
        };
        self.cursor += at as u64;
        let (rest, more) = (&rest[at..], window.more);
        let think = if think_ends { unit(think_close(rest, more)) } else { Err(No) };
        let next = self.opener.map_or(Err(No), |open| begins(rest, open, more));
        match self.closes(rest, more).either(think.either(next).map(|()| 0)) {
            Ok(length) => Step::End(self.cursor + length as u64),
            Err(Undecided) => Step::More,
            Err(No) => {
                self.cursor += 1;
                Step::Next
            }
        }
    }

    fn json(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let close = self.json.closer.clone();
        let fenced = self.json.is_fence_open();
        let closer = Closers { named: self.named, outer: self.outer, close: &close, fenced };
        let step = self.json.next_argument(window, &closer, &mut self.call, out);
        self.cursor = self.json.cursor;
        match step {
            JsonStep::More => return Step::More,
            JsonStep::Passed(at) => return Step::End(at),
            JsonStep::End(at) => self.complete_at = Some(at).filter(|_| !matches!(self.syntax, Syntax::Arrows(_))),
            _ => {}
        }
        self.state = NamedState::Tail;
        Step::Next
    }

    /// Reads the text after the object: the end of its fence, the closer, or other text, which ends the call.
    fn tail(&mut self, rest: &str, more: bool, window: &Window<'_>) -> Step {
        if let Syntax::Arrows(is_closed @ false) = &mut self.syntax
            && self.json.end.is_some()
        {
            if !rest.starts_with('}') {
                return self.fails(Fault::malformed("`}` is missing after the arguments"));
            }
            *is_closed = true;
            self.cursor += 1;
            self.complete_at = Some(self.cursor);
            return Step::Next;
        }
        let close = self.closes(rest, more);
        if let Ok(length) = close {
            return Step::End(self.cursor + length as u64);
        }
        if let Syntax::Delimited(object) = &self.syntax {
            return match (close, object.goes_on(rest, more)) {
                (Err(Undecided), _) | (_, Err(Undecided)) => Step::More,
                (_, Ok(())) => self.fails(Fault::malformed(GOES_ON)),
                _ => self.ends_without_closer(window),
            };
        }
        match (close, self.json.unwrap(rest, more)) {
            (_, Ok(length)) => {
                self.cursor += length as u64;
                self.complete_at = self.complete_at.map(|_| self.cursor);
                if self.json.closer.is_empty() { Step::End(self.cursor) } else { Step::Next }
            }
            (Err(Undecided), _) | (_, Err(Undecided)) => Step::More,
            _ if !self.json.peek_trailing(self.cursor, rest, more) => Step::More,
            _ if self.complete_at.is_some() && self.json.trailing.object => {
                self.call.goes_on = true;
                self.call.fault.get_or_insert(Fault::malformed(TWO_OBJECTS));
                Step::End(self.cursor)
            }
            _ => self.ends_without_closer(window),
        }
    }

    fn ends_without_closer(&mut self, window: &Window<'_>) -> Step {
        let end = if window.more { self.ends_here() } else { self.ends_with(window) };
        Step::End(end.unwrap_or(self.cursor))
    }

    /// Reads more of the call, and returns the result of this step.
    pub(super) fn read(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        match self.state {
            NamedState::Object => return self.object(window, out),
            NamedState::Junk => return self.junk(window, out.think_ends),
            NamedState::Whole => return Step::End(self.cursor),
            NamedState::Lead | NamedState::Tail => {}
        }
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        match self.state {
            _ if rest.is_empty() => Step::More,
            NamedState::Lead => self.lead(rest, more),
            _ => self.tail(rest, more, window),
        }
    }
}

impl CallShape for NamedObject {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.over_limit = out.is_over_limit();
        out.start_once(&mut self.started, self.cursor, &self.call);
        self.read(window, out)
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> CutCall {
        let inner = match &self.syntax {
            Syntax::Json => self.json.missing(window),
            Syntax::Arrows(false) => self.json.missing(window) + "}",
            Syntax::Delimited(_) if self.complete_at.is_none() => "}".to_owned(),
            _ => String::new(),
        };
        let is_whole = self.call.fault.is_none() && !self.json.is_fence_open() && !self.json.closer.is_empty();
        let is_due = is_whole && self.complete_at.is_some_and(|at| window.from(at).trim().is_empty());
        CutCall { inner, is_due, too_deep: self.json.too_deep }
    }

    fn take_closer(&mut self, _: &Window<'_>, _: &Tables) {
        self.call.note(Repair::StopSequence);
    }

    fn ended_by_line(&self) -> bool {
        // Functionary writes the next word right after the object.
        self.named.is_some() && self.opener.is_none() && self.json.closer.is_empty()
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Step {
        self.ends_with(window).map_or(Step::More, Step::End)
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, _: u64, tables: &Tables) -> UnresolvedCall {
        let text = self.complete_at.map(|end| window.slice(self.json.start..end));
        match (&self.syntax, text) {
            _ if matches!(self.state, NamedState::Lead | NamedState::Whole) => {
                self.call.arguments = Value::Object(Map::new())
            }
            (Syntax::Json, _) => self.json.resolve(window, &mut self.call),
            (Syntax::Elements(token), Some(text)) => read_elements(token, text, &mut self.call, tables),
            (Syntax::Delimited(object), Some(text)) => object.read(text, &mut self.call),
            (Syntax::Arrows(_), Some(text)) => {
                // The brace around name and arguments, which the header opened.
                let text = text.strip_suffix('}').unwrap_or(text).trim();
                let depth = tables.config.limits.depth;
                self.call.take_json(text, &arrows::json(text), depth);
            }
            (_, None) => {}
        }
        self.call
    }

    fn needed_from(&self) -> u64 {
        self.completed().unwrap_or(self.cursor)
    }

    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        let is_json = self.state == NamedState::Object && matches!(self.syntax, Syntax::Json);
        is_json.then_some(OpenValue::Json(&mut self.json))
    }

    fn closer(&self, _: &Tables) -> CallCloser {
        CallCloser { close: self.json.closer.clone(), brackets: true }
    }

    fn is_damaged(&self) -> bool {
        // What another syntax cuts short no lexer sees.
        !matches!(self.syntax, Syntax::Json)
            || self.state != NamedState::Lead && !self.json.is_whole(self.json.closer.is_empty())
    }
}

/// Recogniser of calls whose opener contains the tool's name, with the beginning of the arguments after it, and of the
/// delimiters of groups of such calls.
pub(crate) struct Heads;

impl Opens for Heads {
    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening> {
        first_said(tables.named.iter().enumerate().map(|(item, NamedDialect { named, .. })| {
            let groups = || first_said(named.groups.iter().map(|group| group_of(named, group, text, more)));
            let found = call_of(named, text, more).else_try(groups);
            found.map(|(form, length)| Opening { item, form, length })
        }))
    }

    fn open(&self, opening: Opening, at: u64, text: &str, tables: &Tables) -> Opened {
        let Opening { item, form, length } = opening;
        let NamedDialect { dialect, named } = tables.named[item];
        let Some(call) = named.calls.get(form) else { return Opened::Group(item, form == GROUP_OPENS) };
        let name = head(&call.head, text, false).map_or("", |head| head.name);
        Opened::Call(dialect, open_call(NamedForm { dialect, named, call }, name, at + length as u64, tables))
    }
}

/// Opens the call of the tool `name` in this form, whose opener ends at `at`.
pub(crate) fn open_call(form: NamedForm, name: &str, at: u64, tables: &Tables) -> Box<dyn CallShape> {
    let NamedForm { named, call, .. } = form;
    let (server, name) = tables.split_name(name);
    let depth = tables.config.limits.depth;
    let syntax = match &call.arguments {
        NamedArguments::Tags { .. } => {
            let callee = Callee::named(tables, server.as_deref(), &name);
            return Box::new(ToolTag::new(callee, Tags::Heads(call), Some((server, name)), at));
        }
        NamedArguments::Json | NamedArguments::FencedJson | NamedArguments::None => Syntax::Json,
        NamedArguments::Elements(token) => Syntax::Elements(token),
        NamedArguments::Arrows => Syntax::Arrows(false),
        NamedArguments::Delimited(text) => Syntax::Delimited(Box::new(DelimitedObject::new(text, depth))),
    };
    let state = if matches!(call.arguments, NamedArguments::None) { NamedState::Whole } else { NamedState::Lead };
    // `function` is a type of calls with JSON, unless a tool is called so.
    let is_type = matches!(call.arguments, NamedArguments::Json | NamedArguments::FencedJson)
        && named.types.contains(&name)
        && !tables.catalog().is_some_and(|catalog| catalog.knows(&name));
    let called = (server, Some(name).filter(|_| !is_type));
    let expected = matches!(call.arguments, NamedArguments::FencedJson);
    let json = CallJson::arguments(at, depth, Around::Fence { expected }, call.close.as_str());
    let object = NamedObject::with(called, at, json);
    Box::new(NamedObject { named: Some(named), opener: call.opener(), state, syntax, ..object })
}

/// Index that stands for a group's opener in place of a form of calls; `GROUP_CLOSES` stands for its closer.
const GROUP_OPENS: usize = usize::MAX;
const GROUP_CLOSES: usize = usize::MAX - 1;

/// Matches the opener of a call, with the text that must follow it, at the start of `text`; returns the index of the
/// first form of `named` that fits, and the opener's length.
pub(crate) fn call_of(named: &Named, text: &str, more: bool) -> Match<(usize, usize)> {
    // Forms with the same head are neighbours.
    let mut before: Option<(&[HeaderPiece], usize)> = None;
    for (i, call) in named.calls.iter().enumerate() {
        let length = match before {
            Some((head, length)) if *head == *call.head => length,
            _ => match head(&call.head, text, more) {
                Ok(head) => head.length,
                Err(Undecided) => return Err(Undecided),
                Err(No) => continue,
            },
        };
        before = Some((&call.head, length));
        if let Some(()) = gate(call, &text[length..], more).decided()? {
            return Ok((i, length));
        }
    }
    Err(No)
}

/// Matches the opener of a group, with the text that must follow it, at the start of `text`; one that is a special
/// token counts anywhere, and so does its closer. Returns the index for an opener or a closer, and the length, with the
/// white space that must be checked after an opener.
fn group_of(named: &Named, group: &Group, text: &str, more: bool) -> Match<(usize, usize)> {
    let open = begins_token(text, &group.open, more).map(|length| (GROUP_OPENS, length));
    if !group.gated {
        return open.else_try(|| begins_token(text, &group.close, more).map(|length| (GROUP_CLOSES, length)));
    }
    let (_, length) = open?;
    let length = length + leading_space(&text[length..]);
    let openers = named.calls.iter().filter_map(NamedCall::opener);
    first_of(openers.map(|opener| begins_token(&text[length..], opener, more))).map(|_| (GROUP_OPENS, length))
}

/// Matcher of the text that ends damaged JSON: the closer of the call or its group, or the next call.
struct Closers<'c> {
    named: Option<&'static Named>,
    outer: Option<&'static str>,
    close: &'c str,
    fenced: bool,
}

impl Closer for Closers<'_> {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let fence = if self.fenced && line_start { fence_chars(text, more) } else { Err(No) };
        let outer = self.outer.map_or(Err(No), |tag| unit(begins_tag(text, tag, true, more)));
        let own = unit(ends(self.close, text, more)).either(unit(fence)).either(outer);
        let groups =
            self.named.iter().flat_map(|named| &named.groups).map(|group| unit(begins_token(text, &group.close, more)));
        // The next call of the same kind; a token may be anywhere, other openers in strings as well.
        let next = self.named.iter().flat_map(|named| &named.calls).map(|call| match call.opener() {
            Some(opener) if line_start || opener.starts_with("<｜") => unit(begins_token(text, opener, more)),
            _ => Err(No),
        });
        own.either(first_of(groups.chain(next)))
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        if let Some(tag) = self.outer {
            let line = line[..line.rfind(&format!("</{tag}>"))?].trim_end();
            return line.ends_with(self.close).then_some(line.len());
        }
        memchr::memrchr_iter(b'<', line.as_bytes()).find_map(|at| match ends(self.close, &line[at..], false) {
            Ok(length) => Some(at + length),
            _ => None,
        })
    }
}

/// Recogniser of calls that begin at a line's start with a word that contains a known tool's name: `call:f{…}`, `>>>f`.
/// Such a word announces a call, and prose precedes it as a rule.
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

    fn failed(&self, text: &str, tables: &Tables) -> Option<(Dialect, usize, NotACallReason)> {
        tables.line_heads.iter().find_map(|line| {
            let found = head(&line.call.head, text, false).ok()?;
            let is_known = tables.named_tool(found.name).is_some();
            Some((
                line.dialect,
                found.length,
                if is_known { NotACallReason::Incomplete } else { NotACallReason::UnknownTool },
            ))
        })
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let (line, Head { name, length, .. }) = find(text, tables, false).ok()?;
        let inner = place.at + length as u64;
        Some((line.dialect, open_call(line, name, inner, tables)))
    }
}

/// Returns the first form of calls at a line's start that `text` fits, with a known tool's name, and its opener.
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
