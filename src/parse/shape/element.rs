//! The element shape: a block with child elements, one of which may hold JSON.
//!
//! ```text
//! Between ──<child>──▶ Name ──</child>──▶ Between
//!    │  └──<arguments>──▶ Lead ──▶ Json ──▶ Tail ──</arguments>──▶ Between
//!    │                      └──<parameter>──▶ Tags ──</arguments>──▶ Between
//!    └──</block>──▶ end          anything else ──▶ Junk ──</block>──▶ end
//! ```

use std::ops::Range;

use serde_json::{Map, Value};

use crate::dialect::{Block, Child, ChildRole};
use crate::event::Repair;
use crate::json::Closer;
use crate::json::window::{
    Answer, Match, No, Undecided, Window, begins, begins_tag, first_of, first_said, leading_space,
};
use crate::parse::call::json::{Around, CallJson, JsonCloser, JsonLead, JsonStep, TWO_OBJECTS};
use crate::parse::call::{
    COMMENT_OPEN, CallOut, CallShape, CalledTool, Missing, OpenValue, Opened, Opening, Opens, Step, comment,
    gated, kept_end,
};
use crate::parse::config::MIN_HOLD;
use crate::parse::emit::damage::{CallCloser, CloserKind};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::think_close;
use crate::parse::marks::kinds::Kinds;
use crate::parse::tables::Tables;

use super::tool_tag::read_tags;

/// Characters of an unexpected text that a message shows.
const FOUND_CHARS: usize = 20;

/// An open element call.
#[derive(Debug)]
pub(crate) struct Element {
    block: &'static Block,
    state: State,
    cursor: u64,
    /// The call is over the limit; see [`CallOut::is_over_limit`].
    over_limit: bool,
    call: UnresolvedCall,
    /// Children that were closed, by index.
    seen: u32,
    started: bool,
    json: Option<CallJson>,
    /// The JSON begins with no bracket, so that only its closing tag ends it.
    scalar: bool,
    /// The position of arguments that are written as tags.
    tags: Option<Range<u64>>,
    /// Arguments that are text under their children's own tags.
    texts: Map<String, Value>,
    /// The position where the call would end if nothing more belonged to it.
    complete_at: Option<u64>,
    /// The position of something that does not belong there.
    unexpected_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Comment,
    /// Text of a child, by index, that starts here.
    Name(usize, u64),
    /// Before the JSON of the arguments.
    Lead,
    /// In arguments that are written as tags, which begin here.
    Tags(u64),
    Json,
    /// After the JSON, before the closing tag.
    Tail,
    /// After a fault between children.
    Junk,
}

impl Element {
    /// A call whose opening tag ends at `at`.
    pub(crate) fn new(block: &'static Block, at: u64) -> Self {
        Element {
            block,
            state: State::Between,
            cursor: at,
            over_limit: false,
            call: UnresolvedCall { tool: block.tool.clone(), ..UnresolvedCall::default() },
            seen: 0,
            started: false,
            json: None,
            scalar: false,
            tags: None,
            texts: Map::new(),
            complete_at: None,
            unexpected_at: None,
        }
    }

    /// Checks whether `text`, after the opening tag, begins something that belongs to the block.
    fn gate(block: &Block, text: &str, more: bool) -> Match<()> {
        let children = block.children.iter().map(|child| begins_tag(text, &child.tag, false, more));
        first_said([begins_tag(text, &block.tag, true, more)].into_iter().chain(children)).map(|_| ())
    }

    /// Returns the position where the call ends if nothing more of it follows; that its closing tags are missing is noted.
    fn ends_here(&mut self) -> Option<u64> {
        self.completed().inspect(|_| self.call.note(Repair::MissingClose))
    }

    /// The same if the stream ends with the window. A closing tag that was cut off
    /// belongs to the call.
    fn ends_with(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.ends_here()?;
        let cut = window.from(at).trim_start();
        let tags = [self.arguments_tag(), &self.block.tag];
        let is_cut = cut.len() > 1 && tags.iter().any(|tag| format!("</{tag}>").starts_with(cut));
        Some(if is_cut { window.end() } else { at })
    }

    /// Returns the position where the call ended if nothing more belongs to it, once all that it needs has come.
    fn completed(&self) -> Option<u64> {
        let at = self.complete_at.filter(|_| self.is_complete() && self.call.fault.is_none())?;
        Some(kept_end(at, self.cursor, self.over_limit))
    }

    fn is_complete(&self) -> bool {
        let has = |(i, child): (usize, &Child)| match child.role {
            ChildRole::Server => true,
            ChildRole::Arguments => self.has(i) || self.has_closed_json(),
            ChildRole::Tool | ChildRole::Argument => self.has(i),
        };
        self.block.children.iter().enumerate().all(has)
    }

    /// Returns `true` if the arguments need no closing tag: their last bracket came.
    fn has_closed_json(&self) -> bool {
        !self.scalar && self.json.as_ref().is_some_and(|json| json.end.is_some())
    }

    fn has(&self, child: usize) -> bool {
        self.seen & (1 << child) != 0
    }

    fn arguments_tag(&self) -> &'static str {
        self.block.children.iter().find(|c| c.role == ChildRole::Arguments).map_or("", |c| &c.tag)
    }

    fn between(&mut self, rest: &str, window: &Window<'_>, think_ends: bool) -> Step {
        let more = window.more;
        let mut undecided = false;
        match begins_tag(rest, &self.block.tag, true, more) {
            Ok(length) => return self.closed(self.cursor + length as u64),
            found => undecided |= found == Err(Undecided),
        }
        for (i, child) in self.block.children.iter().enumerate() {
            match begins_tag(rest, &child.tag, false, more) {
                Ok(length) => {
                    self.cursor += length as u64;
                    return self.open_child(i);
                }
                found => undecided |= found == Err(Undecided),
            }
        }
        match begins(rest, COMMENT_OPEN, more) {
            // After a complete call a comment is text: waiting for its end would
            // read the rest of the stream twice.
            Ok(()) if self.completed().is_none() => {
                self.cursor += COMMENT_OPEN.len() as u64;
                self.state = State::Comment;
                return Step::Next;
            }
            found => undecided |= found == Err(Undecided),
        }
        if think_ends {
            undecided |= think_close(rest, more) == Err(Undecided);
        }
        if undecided {
            return Step::More;
        }
        // The call is over if all that it needs has come; its closing tags are missing.
        let end = if window.more { self.ends_here() } else { self.ends_with(window) };
        if let Some(at) = end {
            return Step::End(at);
        }
        if self.call.fault.is_none() {
            self.unexpected_at = Some(self.cursor);
        }
        self.fault(format!("expected {} in <{}>", self.expected(), self.block.tag))
    }

    fn expected(&self) -> String {
        let tags = self.block.children.iter().map(|c| format!("<{}>", c.tag));
        tags.chain([format!("</{}>", self.block.tag)]).collect::<Vec<_>>().join(" or ")
    }

    fn open_child(&mut self, i: usize) -> Step {
        let child = &self.block.children[i];
        if self.has(i) || (child.role == ChildRole::Arguments && self.json.is_some()) {
            return self.fault(format!("<{}> is given twice in <{}>", child.tag, self.block.tag));
        }
        self.state = if child.role == ChildRole::Arguments { State::Lead } else { State::Name(i, self.cursor) };
        Step::Next
    }

    fn closed(&mut self, end: u64) -> Step {
        if let Some(Child { tag, .. }) = self.missing_child()
            && self.call.fault.is_none()
        {
            self.call.fault = Some(Fault::malformed(format!("<{tag}> is missing in <{}>", self.block.tag)));
        }
        Step::End(end)
    }

    /// A child without which it is no call.
    fn missing_child(&self) -> Option<&'static Child> {
        let is_needed = |child: &Child| matches!(child.role, ChildRole::Tool | ChildRole::Argument);
        let mut children = self.block.children.iter().enumerate();
        children.find(|(i, child)| !self.has(*i) && is_needed(child)).map(|(_, child)| child)
    }

    fn fault(&mut self, message: String) -> Step {
        self.call.fault.get_or_insert_with(|| Fault::malformed(message));
        self.state = State::Junk;
        Step::Next
    }

    fn name(&mut self, i: usize, start: u64, rest: &str, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let Some(tag_at) = memchr::memchr(b'<', rest.as_bytes()) else { return self.skip(rest.len(), Step::More) };
        self.cursor += tag_at as u64;
        let child = &self.block.children[i];
        let tag = &rest[tag_at..];
        let closer = begins_tag(tag, &child.tag, true, window.more);
        let length = match closer.else_try(|| self.next_child(i, tag, window.more)) {
            Err(Undecided) => return Step::More,
            Err(No) => return self.fault(format!("<{}> is not closed by </{}>", child.tag, child.tag)),
            Ok(length) => length,
        };
        if length == 0 {
            // The next child's opener says where this one ends.
            self.call.note(Repair::MissingClose);
        }
        let text_end = self.cursor;
        self.seen |= 1 << i;
        self.state = State::Between;
        self.cursor += length as u64;
        self.complete_at = Some(self.cursor);
        if out.is_over_limit() {
            return Step::Next;
        }
        let text = window.slice(start..text_end).trim();
        let text = match quick_xml::escape::unescape(text) {
            Ok(decoded) if decoded != text => {
                self.call.repairs.push(Repair::Entities);
                decoded.into_owned()
            }
            _ => text.to_owned(),
        };
        if text.is_empty() && child.role != ChildRole::Server {
            return self.fault(format!("<{}> is empty", child.tag));
        }
        match child.role {
            ChildRole::Server => self.call.server = Some(text).filter(|t| !t.is_empty()),
            ChildRole::Tool => self.call.tool = Some(text),
            ChildRole::Argument | ChildRole::Arguments => {
                self.call.raw_arguments.clone_from(&text);
                self.texts.insert(child.tag.to_owned(), Value::String(text));
            }
        }
        self.announce(window, child.role, out);
        Step::Next
    }

    /// Checks whether `text`, in the text of child `i`, begins with the opener of another child that
    /// did not come yet; of a length of none, for it is not taken.
    fn next_child(&self, i: usize, text: &str, more: bool) -> Match<usize> {
        let others = self.block.children.iter().enumerate().filter(|(other, child)| {
            let has_json = child.role == ChildRole::Arguments && self.json.is_some();
            *other != i && !self.has(*other) && !has_json
        });
        first_of(others.map(|(_, child)| begins_tag(text, &child.tag, false, more))).map(|_| 0)
    }

    /// Tells the name once it is known, then what is known of the arguments.
    fn announce(&mut self, window: &Window<'_>, role: ChildRole, out: &mut CallOut<'_, '_>) {
        if let Some(tool) = &self.call.tool
            && !self.started
        {
            self.started = true;
            out.start(self.cursor, self.call.server.as_deref(), tool);
            if let Some(json) = &mut self.json {
                json.preview(window, out);
            }
        }
        if role == ChildRole::Argument {
            let arguments = Value::Object(self.texts.clone()).to_string();
            out.delta(self.cursor, &arguments);
        }
    }

    /// Before the JSON: what is around it, or the closing tag.
    fn lead(&mut self, window: &Window<'_>, max_depth: usize) -> Step {
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        let close = begins_tag(rest, self.arguments_tag(), true, more);
        let at = self.cursor;
        let json = self.json.get_or_insert_with(|| CallJson::arguments(at, max_depth, Around::Layers, Some("</")));
        match json.lead(rest, more, close, &mut self.call) {
            JsonLead::More => return Step::More,
            JsonLead::Around(length) => return self.skip(length, Step::Next),
            JsonLead::Value if rest.starts_with('<') && json.opened.is_none() => {
                // A closing tag may yet come whole.
                match rest.as_bytes().get(1) {
                    None if more => return Step::More,
                    Some(next) if next.is_ascii_alphabetic() => {
                        self.json = None;
                        self.state = State::Tags(at);
                    }
                    _ => return self.fault(format!("expected JSON in <{}>", self.arguments_tag())),
                }
            }
            JsonLead::Value => {
                json.begin(at);
                self.scalar = !rest.starts_with(['{', '[']);
                self.state = State::Json;
            }
            // Nothing inside: no arguments, unless something was opened for them.
            JsonLead::Closer(_) => {
                self.json = None;
                self.state = if self.call.fault.is_some() { State::Junk } else { State::Tail };
            }
        }
        Step::Next
    }

    fn json(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let closer = Tags { arguments: self.arguments_tag(), block: &self.block.tag };
        let Some(json) = &mut self.json else { return self.junk_from_here() };
        let step = json.next_argument(window, &closer, self.started, &mut self.call, out);
        self.cursor = json.cursor;
        match step {
            JsonStep::More => return Step::More,
            JsonStep::Passed(at) => return Step::End(at),
            JsonStep::End(at) => self.complete_at = Some(at),
            _ => {}
        }
        self.state = State::Tail;
        Step::Next
    }

    /// In arguments that are written as tags: up to their closing tag, after which the block goes on.
    fn in_tags(&mut self, start: u64, window: &Window<'_>, think_ends: bool) -> Step {
        let rest = window.from(self.cursor);
        let Some(at) = memchr::memchr(b'<', rest.as_bytes()) else { return self.skip(rest.len(), Step::More) };
        self.cursor += at as u64;
        let (rest, more) = (&rest[at..], window.more);
        if think_ends {
            match think_close(rest, more) {
                Ok(_) => return self.fault(format!("</{}> is missing", self.arguments_tag())),
                Err(Undecided) => return Step::More,
                Err(No) => {}
            }
        }
        match (begins_tag(rest, &self.block.tag, true, more), begins_tag(rest, self.arguments_tag(), true, more)) {
            (Ok(_), _) => return self.fault(format!("</{}> is missing", self.arguments_tag())),
            (Err(Undecided), _) | (_, Err(Undecided)) => return Step::More,
            (Err(No), Err(No)) => {}
            (Err(No), Ok(length)) => {
                let behind = &rest[length..];
                match self.follows(&behind[leading_space(behind)..], more) {
                    Err(Undecided) => return Step::More,
                    Ok(()) => {
                        self.tags = Some(start..self.cursor);
                        return self.arguments_closed(length);
                    }
                    Err(No) => {}
                }
            }
        }
        self.skip(1, Step::Next)
    }

    /// Checks whether `text`, after the arguments' closing tag, goes on with the block, or nothing does.
    fn follows(&self, text: &str, more: bool) -> Match<()> {
        if text.is_empty() {
            return if more { Err(Undecided) } else { Ok(()) };
        }
        let children = self.block.children.iter().map(|child| begins_tag(text, &child.tag, false, more));
        first_of(children.chain([begins_tag(text, &self.block.tag, true, more)])).map(|_| ())
    }

    /// After the arguments' closing tag, which has this length.
    fn arguments_closed(&mut self, length: usize) -> Step {
        self.cursor += length as u64;
        if let Some(i) = self.block.children.iter().position(|c| c.role == ChildRole::Arguments) {
            self.seen |= 1 << i;
        }
        self.complete_at = Some(self.cursor);
        self.state = State::Between;
        Step::Next
    }

    fn junk_from_here(&mut self) -> Step {
        self.state = State::Junk;
        Step::Next
    }

    /// After the JSON: the end of what is around it, its closing tag, or something else.
    fn tail(&mut self, window: &Window<'_>) -> Step {
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        match begins_tag(rest, self.arguments_tag(), true, more) {
            Ok(length) => return self.arguments_closed(length),
            Err(Undecided) => return Step::More,
            Err(No) => {}
        }
        match self.json.as_mut().map_or(Err(No), |json| json.unwrap(rest, more)) {
            Ok(length) => return self.skip(length, Step::Next),
            Err(Undecided) => return Step::More,
            Err(No) => {}
        }
        // `</arguments>` is missing; what follows may still belong to the call.
        if begins(rest, "<", more) != Err(No) {
            self.call.note(Repair::MissingClose);
            self.state = State::Between;
            return Step::Next;
        }
        if self.json.as_mut().is_some_and(|json| !json.peek_trailing(self.cursor, rest, more)) {
            return Step::More;
        }
        if self.complete_at.is_some() && self.json.as_ref().is_some_and(|json| json.trailing.object) {
            return self.fault(TWO_OBJECTS.to_owned());
        }
        match self.ends_here() {
            Some(at) => Step::End(at),
            None => self.fault(format!("</{}> is missing", self.arguments_tag())),
        }
    }

    fn skip(&mut self, length: usize, step: Step) -> Step {
        self.cursor += length as u64;
        step
    }

    fn comment(&mut self, rest: &str, think_ends: bool, more: bool) -> Step {
        let (read, is_over) = comment(rest, think_ends, more);
        if is_over {
            self.state = State::Between;
        }
        self.skip(read, if is_over { Step::Next } else { Step::More })
    }

    /// After a fault: up to the block's closer, or to where the block begins anew.
    fn junk(&mut self, rest: &str, think_ends: bool, more: bool) -> Step {
        let Some(tag_at) = memchr::memchr(b'<', rest.as_bytes()) else { return self.skip(rest.len(), Step::More) };
        self.cursor += tag_at as u64;
        let rest = &rest[tag_at..];
        let close = begins_tag(rest, &self.block.tag, true, more);
        let anew = begins_tag(rest, &self.block.tag, false, more);
        let think = if think_ends { think_close(rest, more) } else { Err(No) };
        match (close, anew, think) {
            (Ok(length), ..) => Step::End(self.cursor + length as u64),
            (_, Ok(_), _) | (_, _, Ok(_)) => Step::End(self.cursor),
            (Err(No), Err(No), Err(No)) => self.skip(1, Step::Next),
            _ => Step::More,
        }
    }
}

impl CallShape for Element {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.over_limit = out.is_over_limit();
        if self.state == State::Json {
            return self.json(window, out);
        }
        let mut rest = window.from(self.cursor);
        if matches!(self.state, State::Between | State::Lead | State::Tail) {
            let space = leading_space(rest);
            self.cursor += space as u64;
            rest = &rest[space..];
        }
        if rest.is_empty() {
            return Step::More;
        }
        match self.state {
            State::Between => self.between(rest, window, out.think_ends),
            State::Comment => self.comment(rest, out.think_ends, window.more),
            State::Name(child, start) => self.name(child, start, rest, window, out),
            State::Lead => self.lead(window, out.max_depth()),
            State::Tags(start) => self.in_tags(start, window, out.think_ends),
            State::Tail => self.tail(window),
            State::Junk | State::Json => self.junk(rest, out.think_ends, window.more),
        }
    }

    fn due(&self, window: &Window<'_>, _: &Tables) -> Option<String> {
        let is_whole = self.call.fault.is_none() && self.missing_child().is_none();
        let is_over = self.state == State::Between && window.from(self.cursor).trim().is_empty();
        (is_whole && is_over).then(|| format!("</{}>", self.block.tag))
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> Missing {
        let close = |tag: &str| format!("</{tag}>");
        let inner = match self.state {
            State::Name(i, _) => close(&self.block.children[i].tag),
            State::Lead | State::Json | State::Tail | State::Tags(_) => {
                let json = self.json.as_ref().map(|json| json.missing(window));
                json.unwrap_or_default() + &close(self.arguments_tag())
            }
            State::Between | State::Comment | State::Junk => {
                self.missing_child().map_or_else(String::new, |child| format!("<{}>", child.tag))
            }
        };
        Missing { inner, close: close(&self.block.tag) }
    }

    fn take_closer(&mut self, _: &Window<'_>, _: &Tables) {
        self.call.note(Repair::StopSequence);
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Step {
        self.ends_with(window).map_or(Step::More, Step::End)
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, end: u64, tables: &Tables) -> UnresolvedCall {
        match (&self.json, &self.tags) {
            (Some(json), _) => json.resolve(window, &mut self.call),
            (None, Some(span)) => read_tags(window.slice(span.clone()), &mut self.call, tables),
            (None, None) => self.call.arguments = Value::Object(std::mem::take(&mut self.texts)),
        }
        if let (Some(at), Some(fault)) = (self.unexpected_at, &mut self.call.fault) {
            let found: String = window.slice(at..end.max(at)).chars().take(FOUND_CHARS).collect();
            if !found.is_empty() {
                fault.message.push_str(&format!(", found {found:?}"));
            }
        }
        self.call
    }

    fn needed_from(&self) -> u64 {
        self.completed().unwrap_or(self.cursor)
    }

    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        let is_open = self.state == State::Json;
        self.json.as_mut().filter(|_| is_open).map(OpenValue::Json)
    }

    fn is_too_deep(&self) -> bool {
        self.json.as_ref().is_some_and(|json| json.too_deep)
    }

    fn closer(&self) -> CallCloser {
        CallCloser::behind_json(CloserKind::Block(self.block))
    }

    fn is_damaged(&self) -> bool {
        self.call.fault.is_some() || self.json.as_ref().is_some_and(|json| !json.is_whole(false))
    }
}

/// The openers of elements: the block's tag, and a child's or the closing one after it.
pub(crate) struct Blocks;

impl Opens for Blocks {
    fn kind(&self) -> Kinds {
        Kinds::ELEMENT
    }

    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening> {
        first_of(tables.blocks.iter().enumerate().map(|(item, (_, block))| {
            let tag = begins_tag(text, &block.tag, false, more);
            let gate = |inner: &str| Element::gate(block, inner, more);
            gated(tag, text, more, gate).map(|length| Opening { item, form: 0, length })
        }))
    }

    fn open(&self, opening: Opening, at: u64, _: &str, tables: &Tables) -> Opened {
        let (dialect, block) = tables.blocks[opening.item];
        Opened::Call(dialect, Box::new(Element::new(block, at + opening.length as u64)))
    }
}

/// The closing tags of an element's JSON.
struct Tags {
    arguments: &'static str,
    block: &'static str,
}

impl Closer for Tags {
    fn closes(&self, text: &str, _line_start: bool, more: bool) -> Match<()> {
        let own = [begins_tag(text, self.arguments, true, more), begins_tag(text, self.block, true, more)];
        first_of(own).map(|_| ())
    }
}

impl JsonCloser for Tags {
    fn inner_first(&self) -> Option<u8> {
        Some(b'<')
    }

    fn inner(&self, text: &str, more: bool) -> Match<()> {
        begins_tag(text, self.arguments, true, more).map(|_| ())
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        let outer = format!("</{}>", self.block);
        let at = line.rfind(&outer)?;
        line[..at].trim_end().ends_with(&format!("</{}>", self.arguments)).then_some(at + outer.len())
    }
}
