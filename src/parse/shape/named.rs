//! The shape of a name, then JSON: a call whose opener holds its tool's name.
//!
//! ```text
//! Lead ──▶ Json ──▶ Tail ──closer──▶ end
//!   └──closer──▶ end  └──something else──▶ end, `missing_close`
//! ```

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arrows::Arrows;
use super::delimited::DelimitedCall;
use super::tool_tag::{Callee, ToolTag};
use crate::dialect::{Group, Named, NamedArguments, NamedCall, Piece};
use crate::event::Repair;
use crate::json::Closer;
use crate::json::window::{Answer, Match, No, Undecided, Window, first_of, first_said, leading_space};
use crate::parse::call::json::{Around, CallJson, JsonCloser, JsonLead, JsonStep, TWO_OBJECTS};
use crate::parse::call::{
    CallOut, CallShape, CalledTool, Ending, Missing, OpenValue, Opened, Opening, Opens, Step, kept_end,
};
use crate::parse::config::MIN_HOLD;
use crate::parse::emit::damage::{CallCloser, CloserKind};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::fence_chars;
use crate::parse::marks::head::{begins_token, ends, gate, head, unit};
use crate::parse::marks::kinds::Kinds;
use crate::parse::tables::{NamedDialect, Tables};

/// An open call of a name and JSON.
#[derive(Debug)]
pub(crate) struct NamedJson {
    /// The dialect's data, of calls whose opener is no tool's tag.
    named: Option<&'static Named>,
    /// What ends the call; empty where its JSON does.
    close: Cow<'static, str>,
    /// What closes it once it is damaged.
    closer: CloserKind,
    state: State,
    cursor: u64,
    /// The call is over the limit; see [`CallOut::is_over_limit`].
    over_limit: bool,
    call: UnresolvedCall,
    started: bool,
    json: CallJson,
    /// Where the call ends if nothing more of it follows.
    complete_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Lead,
    Json,
    Tail,
    /// The head was the whole call.
    Whole,
}

impl NamedJson {
    /// A call of a server's tool whose head ends at `at`; it may name none.
    pub(crate) fn new(
        named: &'static Named,
        form: &'static NamedCall,
        called: CalledTool,
        at: u64,
        max_depth: usize,
    ) -> Self {
        let expected = matches!(form.arguments, NamedArguments::Json { fenced: true });
        let closer = Some(form.close.as_str()).filter(|close| !close.is_empty());
        let json = CallJson::arguments(at, max_depth, Around::Fence { expected }, closer);
        let closer = CloserKind::Named(form);
        NamedJson {
            named: Some(named),
            close: Cow::Borrowed(form.close.as_str()),
            ..NamedJson::with(closer, called, at, json)
        }
    }

    /// A call of a known tool in its own tag, with all arguments as one object.
    /// `tool`: its index in the tables.
    pub(crate) fn in_tag(tag: &str, tool: usize, called: CalledTool, at: u64, max_depth: usize) -> Self {
        let json = CallJson::arguments(at, max_depth, Around::Fence { expected: false }, Some("</"));
        let closer = CloserKind::Tool(tool);
        NamedJson { close: Cow::Owned(format!("</{tag}>")), ..NamedJson::with(closer, called, at, json) }
    }

    fn with(closer: CloserKind, called: CalledTool, at: u64, json: CallJson) -> Self {
        NamedJson {
            closer,
            named: None,
            close: Cow::Borrowed(""),
            state: State::Lead,
            cursor: at,
            over_limit: false,
            call: UnresolvedCall::of(called),
            started: false,
            json,
            complete_at: None,
        }
    }

    /// A call whose head, up to `at`, is all of it.
    fn whole(named: &'static Named, form: &'static NamedCall, called: CalledTool, at: u64) -> Self {
        NamedJson { state: State::Whole, ..NamedJson::new(named, form, called, at, 0) }
    }

    /// Where the call ends if the stream ends with the window. A closer that
    /// was cut off belongs to the call.
    fn ends_with(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.ends_here()?;
        let cut = window.from(at).trim_start();
        let fence = if self.json.is_fence_open() { unit(fence_chars(cut, true)) } else { Err(No) };
        let is_cut = cut.len() > 1 && unit(self.closes(cut, true)).either(fence) == Err(Undecided);
        Some(if is_cut { window.end() } else { at })
    }

    /// Where the call ended if nothing more belongs to it, once its JSON is closed.
    fn completed(&self) -> Option<u64> {
        let at = self.complete_at.filter(|_| self.call.fault.is_none())?;
        Some(kept_end(at, self.cursor, self.over_limit))
    }

    /// Where the call ends if nothing more of it follows; that its closer is missing is noted.
    fn ends_here(&mut self) -> Option<u64> {
        let at = self.completed()?;
        if !self.close.is_empty() {
            self.call.note(Repair::MissingClose);
        }
        Some(at)
    }

    /// Whether `text` begins with what ends the call; yields its length.
    fn closes(&self, text: &str, more: bool) -> Match<usize> {
        ends(&self.close, text, more)
    }

    /// Before the JSON: a fence, or the closer of a call without arguments.
    fn lead(&mut self, rest: &str, more: bool) -> Step {
        match self.json.lead(rest, more, self.closes(rest, more), &mut self.call) {
            JsonLead::More => return Step::More,
            JsonLead::Closer(length) => return Step::End(self.cursor + length as u64),
            JsonLead::Around(length) => self.cursor += length as u64,
            JsonLead::Value => {
                self.json.begin(self.cursor);
                self.state = State::Json;
            }
        }
        Step::Next
    }

    fn json(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let closer = Closers { named: self.named, close: &self.close, fenced: self.json.is_fence_open() };
        let announced = self.call.tool.is_some();
        let step = self.json.next_argument(window, &closer, announced, &mut self.call, out);
        self.cursor = self.json.cursor;
        match step {
            JsonStep::More => return Step::More,
            JsonStep::Passed(at) => return Step::End(at),
            JsonStep::End(at) => self.complete_at = Some(at),
            _ => {}
        }
        self.state = State::Tail;
        Step::Next
    }

    /// Behind the JSON: its fence's end, the closer, or something else.
    fn tail(&mut self, rest: &str, more: bool, window: &Window<'_>) -> Step {
        let close = self.closes(rest, more);
        if let Ok(length) = close {
            return Step::End(self.cursor + length as u64);
        }
        match (close, self.json.unwrap(rest, more)) {
            (_, Ok(length)) => {
                self.cursor += length as u64;
                self.complete_at = self.complete_at.map(|_| self.cursor);
                if self.close.is_empty() { Step::End(self.cursor) } else { Step::Next }
            }
            (Err(Undecided), _) | (_, Err(Undecided)) => Step::More,
            _ if !self.json.peek_trailing(self.cursor, rest, more) => Step::More,
            _ if self.complete_at.is_some() && self.json.is_followed_by_object() => {
                self.call.goes_on = true;
                self.call.fault.get_or_insert(Fault::malformed(TWO_OBJECTS));
                Step::End(self.cursor)
            }
            _ => {
                let end = if window.more { self.ends_here() } else { self.ends_with(window) };
                Step::End(end.unwrap_or(self.cursor))
            }
        }
    }
}

impl CallShape for NamedJson {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.over_limit = out.is_over_limit();
        out.start_once(&mut self.started, self.cursor, &self.call);
        match self.state {
            State::Json => return self.json(window, out),
            State::Whole => return Step::End(self.cursor),
            State::Lead | State::Tail => {}
        }
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        match self.state {
            _ if rest.is_empty() => Step::More,
            State::Lead => self.lead(rest, more),
            State::Tail | State::Json | State::Whole => self.tail(rest, more, window),
        }
    }

    fn due(&self, window: &Window<'_>, _: &Tables) -> Option<String> {
        let at = self.complete_at.filter(|_| self.call.fault.is_none() && !self.json.is_fence_open())?;
        let is_over = window.from(at).trim().is_empty() && !self.close.is_empty();
        is_over.then(|| self.close.clone().into_owned())
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> Missing {
        Missing { inner: self.json.missing(window), close: self.close.clone().into_owned() }
    }

    fn take_closer(&mut self, _: &Window<'_>, _: &Tables) {
        self.call.note(Repair::StopSequence);
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Ending {
        self.ends_with(window).map_or(Ending::Cut, Ending::Complete)
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, _: u64, _: &Tables) -> UnresolvedCall {
        match self.state {
            State::Lead | State::Whole => self.call.arguments = Value::Object(Map::new()),
            State::Json | State::Tail => self.json.resolve(window, &mut self.call),
        }
        self.call
    }

    fn needed_from(&self) -> u64 {
        self.completed().unwrap_or(self.cursor)
    }

    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        (self.state == State::Json).then_some(OpenValue::Json(&mut self.json))
    }

    fn is_too_deep(&self) -> bool {
        self.json.too_deep
    }

    fn closer(&self) -> CallCloser {
        CallCloser::behind_json(self.closer)
    }

    fn is_damaged(&self) -> bool {
        self.state != State::Lead && !self.json.is_whole(self.close.is_empty())
    }
}

/// How calls begin whose opener holds their tool's name: with the head, and the
/// arguments' beginning behind it; and what stands around such calls.
pub(crate) struct Heads;

impl Opens for Heads {
    fn kind(&self) -> Kinds {
        Kinds::NAMED
    }

    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening> {
        first_said(tables.named.iter().enumerate().map(|(item, NamedDialect { named, .. })| {
            let groups = || first_said(named.groups.iter().map(|group| group_of(named, group, text, more)));
            let found = call_of(named, text, more).else_try(groups);
            found.map(|(form, length)| Opening { item, form, length })
        }))
    }

    fn open(&self, opening: Opening, at: u64, text: &str, tables: &Tables) -> Opened {
        let Opening { item, form, length } = opening;
        let NamedDialect { dialect, named, .. } = tables.named[item];
        let Some(call) = named.calls.get(form) else { return Opened::Group(item, form == GROUP_OPENS) };
        let name = head(&call.head, text, false).map_or("", |head| head.name);
        Opened::Call(dialect, open_call(named, call, name, at + length as u64, tables))
    }
}

/// The call of this name whose arguments begin at `inner`.
pub(crate) fn open_call(
    named: &'static Named,
    call: &'static NamedCall,
    name: &str,
    inner: u64,
    tables: &Tables,
) -> Box<dyn CallShape> {
    let (server, name) = tables.split_name(name);
    match &call.arguments {
        NamedArguments::Json { .. } => {
            // `function` is a type, unless a tool is called so.
            let is_known = tables.catalog().is_some_and(|catalog| catalog.knows(&name));
            let tool = Some(name).filter(|name| is_known || !named.types.contains(name));
            Box::new(NamedJson::new(named, call, (server, tool), inner, tables.config.limits.depth))
        }
        NamedArguments::Tags { .. } => {
            let callee = Callee::named(tables, server.as_deref(), &name);
            Box::new(ToolTag::named(callee, call, (server, name), inner))
        }
        NamedArguments::None => Box::new(NamedJson::whole(named, call, (server, Some(name)), inner)),
        NamedArguments::Arrows => Box::new(Arrows::new(call, (server, Some(name)), inner)),
        NamedArguments::Delimited { text } => {
            Box::new(DelimitedCall::new(call, text, (server, Some(name)), inner, tables.config.limits.depth))
        }
    }
}

/// Forms of an opener of a group, behind those of calls.
const GROUP_OPENS: usize = usize::MAX;
const GROUP_CLOSES: usize = usize::MAX - 1;

/// A way to write calls of which `text` begins with one; yields its index and
/// its head's length. Of those that fit the first counts.
pub(crate) fn call_of(named: &Named, text: &str, more: bool) -> Match<(usize, usize)> {
    // Ways that have one head stand one after another.
    let mut before: Option<(&[Piece], usize)> = None;
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

/// Whether `text` begins with what opens a group, and what must follow it; a
/// special token counts anywhere, as a closer, too. Yields whether it opens,
/// and its length with the white space behind an opener.
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

pub(crate) fn group_close(named: &Named, text: &str, more: bool) -> Match<usize> {
    first_of(named.groups.iter().map(|group| begins_token(text, &group.close, more)))
}

/// What ends damaged JSON from outside.
struct Closers<'c> {
    named: Option<&'static Named>,
    close: &'c str,
    fenced: bool,
}

impl Closer for Closers<'_> {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let fence = if self.fenced && line_start { fence_chars(text, more) } else { Err(No) };
        let own = unit(ends(self.close, text, more)).either(unit(fence));
        let groups =
            self.named.iter().flat_map(|named| &named.groups).map(|group| unit(begins_token(text, &group.close, more)));
        // The next call of the same kind; a token may stand anywhere, other openers in strings as well.
        let next = self.named.iter().flat_map(|named| &named.calls).map(|call| match call.opener() {
            Some(opener) if line_start || opener.starts_with("<｜") => unit(begins_token(text, opener, more)),
            _ => Err(No),
        });
        own.either(first_of(groups.chain(next)))
    }
}

impl JsonCloser for Closers<'_> {
    fn inner_first(&self) -> Option<u8> {
        self.close.bytes().next()
    }

    fn inner(&self, text: &str, more: bool) -> Match<()> {
        unit(ends(self.close, text, more))
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        memchr::memrchr_iter(b'<', line.as_bytes()).find_map(|at| match ends(self.close, &line[at..], false) {
            Ok(length) => Some(at + length),
            _ => None,
        })
    }
}
