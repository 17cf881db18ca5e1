//! The element shape: a block with child elements, one of which may hold JSON.
//!
//! ```text
//! Between ──<child>──▶ Name ──</child>──▶ Between
//!    │  └──<arguments>──▶ Arguments ──</arguments>──▶ Between
//!    │                      └──<parameter>──▶ Tags ──</arguments>──▶ Between
//!    └──</block>──▶ end          anything else ──▶ Junk ──</block>──▶ end
//! ```
//!
//! The arguments' JSON is read as after a name (`named`).

use std::ops::Range;

use serde_json::{Map, Value};

use crate::dialect::{Block, Child, ChildRole};
use crate::event::Repair;
use crate::json::window::{
    Answer, Match, No, Undecided, Window, begins, begins_tag, first_of, first_said, leading_space,
};
use crate::parse::call::{
    CDATA_OPEN, CallOut, CallShape, CalledTool, CutCall, OpenValue, Opened, Opening, Opens, Step, gated,
};
use crate::parse::config::MIN_HOLD;
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::think_close;
use crate::parse::tables::Tables;

use super::elements::read_elements;
use super::named::NamedObject;

/// Maximum number of characters of an unexpected text that a message shows.
const FOUND_CHARS: usize = 20;

/// An open call that is an XML element with child elements.
#[derive(Debug)]
pub(crate) struct Element {
    block: &'static Block,
    state: ElementState,
    /// The call, with the reader of its arguments' JSON.
    object: NamedObject,
    /// Set of the children that were closed, one bit for each index.
    seen: u32,
    /// `true` if the arguments' JSON begins with no bracket, so that only its closing tag ends it.
    scalar: bool,
    /// Byte range of the arguments, if they are written as tags.
    tags: Option<Range<u64>>,
    /// Arguments that are the text of child elements of their own.
    texts: Map<String, Value>,
    /// Offset of text that may not be between the child elements.
    unexpected_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementState {
    Between,
    /// The reader is in the text of the child with this index, which starts at this offset.
    Name(usize, u64),
    /// The reader is in the arguments' JSON, or before it.
    Arguments,
    /// The reader is in arguments that are written as tags, which begin at this offset.
    Tags(u64),
    /// The reader is after a fault between child elements: the rest of the call is skipped.
    Junk,
}

impl Element {
    /// Matches the block's closing tag, and the opening tag of each child, at the start of `text`; each match has the
    /// child's index, `None` for the closing tag, and the tag's length.
    fn tags<'b>(block: &'b Block, text: &'b str, more: bool) -> impl Iterator<Item = Match<(Option<usize>, usize)>> {
        let close = begins_tag(text, &block.tag, true, more).map(|length| (None, length));
        let children = block.children.iter().enumerate();
        std::iter::once(close).chain(
            children.map(move |(i, child)| begins_tag(text, &child.tag, false, more).map(|length| (Some(i), length))),
        )
    }

    /// Returns the offset at which the call ends if nothing more of it follows, and notes its missing closing tags as a
    /// repair; `None` while the call is not complete.
    fn ends_here(&mut self) -> Option<u64> {
        self.completed().inspect(|_| self.object.call.note(Repair::MissingClose))
    }

    /// Returns the offset at which the call ends if the stream ends with the window; a closing tag that was cut off
    /// belongs to the call. `None` while the call is not complete.
    fn ends_with(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.ends_here()?;
        let cut = window.from(at).trim_start();
        let tags = [self.block.arguments_tag(), &self.block.tag];
        // A `<` alone may as well be text.
        let is_cut = cut.len() > 1 && tags.iter().any(|tag| format!("</{tag}>").starts_with(cut));
        Some(if is_cut { window.end() } else { at })
    }

    /// Returns the offset at which the call ended if nothing more belongs to it; `None` while a needed child is
    /// missing.
    fn completed(&self) -> Option<u64> {
        self.object.completed().filter(|_| self.is_complete())
    }

    fn is_complete(&self) -> bool {
        let has = |(i, child): (usize, &Child)| match child.role {
            ChildRole::Server => true,
            // They need no closing tag once their last bracket came.
            ChildRole::Arguments => self.has(i) || !self.scalar && self.object.json.end.is_some(),
            ChildRole::Tool | ChildRole::Argument => self.has(i),
        };
        self.block.children.iter().enumerate().all(has)
    }

    fn has(&self, child: usize) -> bool {
        self.seen & (1 << child) != 0
    }

    fn between(&mut self, window: &Window<'_>, think_ends: bool) -> Step {
        let (rest, more) = (window.past_space(&mut self.object.cursor), window.more);
        if rest.is_empty() {
            return Step::More;
        }
        match first_of(Element::tags(self.block, rest, more)) {
            Ok((None, length)) => return self.closed(self.object.cursor + length as u64),
            Ok((Some(child), length)) => {
                self.object.cursor += length as u64;
                return self.open_child(child);
            }
            Err(Undecided) => return Step::More,
            Err(No) if think_ends && think_close(rest, more) == Err(Undecided) => return Step::More,
            Err(No) => {}
        }
        // The call is over if all that it needs has come; its closing tags are missing.
        let end = if window.more { self.ends_here() } else { self.ends_with(window) };
        if let Some(at) = end {
            return Step::End(at);
        }
        if self.object.call.fault.is_none() {
            self.unexpected_at = Some(self.object.cursor);
        }
        self.fault(format!("expected {} in <{}>", self.expected(), self.block.tag))
    }

    fn expected(&self) -> String {
        let tags = self.block.children.iter().map(|c| format!("<{}>", c.tag));
        tags.chain([format!("</{}>", self.block.tag)]).collect::<Vec<_>>().join(" or ")
    }

    fn open_child(&mut self, i: usize) -> Step {
        let child = &self.block.children[i];
        if self.has(i) || (child.role == ChildRole::Arguments && self.object.is_begun()) {
            return self.fault(format!("<{}> is given twice in <{}>", child.tag, self.block.tag));
        }
        let is_all = child.role == ChildRole::Arguments;
        self.state = if is_all { ElementState::Arguments } else { ElementState::Name(i, self.object.cursor) };
        Step::Next
    }

    fn closed(&mut self, end: u64) -> Step {
        if let Some(Child { tag, .. }) = self.missing_child() {
            let fault = || Fault::malformed(format!("<{tag}> is missing in <{}>", self.block.tag));
            self.object.call.fault.get_or_insert_with(fault);
        }
        Step::End(end)
    }

    /// Returns the first child that is missing and without which the element is no call.
    fn missing_child(&self) -> Option<&'static Child> {
        let is_needed = |child: &Child| matches!(child.role, ChildRole::Tool | ChildRole::Argument);
        let mut children = self.block.children.iter().enumerate();
        children.find(|(i, child)| !self.has(*i) && is_needed(child)).map(|(_, child)| child)
    }

    fn fault(&mut self, message: String) -> Step {
        self.object.call.fault.get_or_insert_with(|| Fault::malformed(message));
        self.state = ElementState::Junk;
        Step::Next
    }

    fn name(&mut self, i: usize, start: u64, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let Some(tag) = window.to_byte(b'<', &mut self.object.cursor) else { return Step::More };
        let child = &self.block.children[i];
        let closer = begins_tag(tag, &child.tag, true, window.more);
        let length = match closer.else_try(|| self.next_child(i, tag, window.more)) {
            Err(Undecided) => return Step::More,
            Err(No) => return self.fault(format!("<{}> is not closed by </{}>", child.tag, child.tag)),
            Ok(length) => length,
        };
        if length == 0 {
            // The next child's opener says where this one ends.
            self.object.call.note(Repair::MissingClose);
        }
        let text_end = self.object.cursor;
        self.seen |= 1 << i;
        self.state = ElementState::Between;
        self.object.cursor += length as u64;
        self.object.complete_at = Some(self.object.cursor);
        if out.is_over_limit() {
            return Step::Next;
        }
        let text = window.slice(start..text_end).trim();
        let text = match quick_xml::escape::unescape(text) {
            Ok(decoded) if decoded != text => {
                self.object.call.repairs.push(Repair::Entities);
                decoded.into_owned()
            }
            _ => text.to_owned(),
        };
        // A blank server is one that was left out.
        if text.is_empty() && child.role != ChildRole::Server {
            return self.fault(format!("<{}> is empty", child.tag));
        }
        match child.role {
            ChildRole::Server => self.object.call.server = Some(text).filter(|t| !t.is_empty()),
            ChildRole::Tool => self.object.call.tool = Some(text),
            ChildRole::Argument | ChildRole::Arguments => {
                self.object.call.raw_arguments.clone_from(&text);
                self.texts.insert(child.tag.to_owned(), Value::String(text));
            }
        }
        self.announce(window, child.role, out);
        Step::Next
    }

    /// Matches the opening tag of another child, which has not come yet, at the start of `text`, in the text of child
    /// `i`. The length is 0, as the tag is not consumed.
    fn next_child(&self, i: usize, text: &str, more: bool) -> Match<usize> {
        let others = self.block.children.iter().enumerate().filter(|(other, child)| {
            let has_json = child.role == ChildRole::Arguments && self.object.is_begun();
            *other != i && !self.has(*other) && !has_json
        });
        first_of(others.map(|(_, child)| begins_tag(text, &child.tag, false, more))).map(|_| 0)
    }

    /// Emits the call's start once its name is known, then the known part of the arguments.
    fn announce(&mut self, window: &Window<'_>, role: ChildRole, out: &mut CallOut<'_, '_>) {
        let NamedObject { call, started, cursor, json, .. } = &mut self.object;
        if call.tool.is_some() && !*started {
            out.start_once(started, *cursor, call);
            json.preview(window, out);
        }
        if role == ChildRole::Argument {
            let arguments = Value::Object(self.texts.clone()).to_string();
            out.delta(*cursor, &arguments);
        }
    }

    /// Reads the arguments up to the end of their JSON and its closing tag. They may be tags instead.
    fn arguments(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if !self.object.is_begun() {
            self.object.cursor += leading_space(window.from(self.object.cursor)) as u64;
            let (rest, more) = window.candidate(self.object.cursor, MIN_HOLD);
            self.scalar = !rest.starts_with(['{', '[']);
            let own = begins_tag(rest, self.block.arguments_tag(), true, more).map(|_| ());
            // A `<` that neither closes the arguments nor opens CDATA, nor is inside what was opened, begins
            // tags.
            let is_inside = self.object.json.opened.is_some() || own.either(begins(rest, CDATA_OPEN, more)) != Err(No);
            if let [b'<', next, ..] = rest.as_bytes()
                && !is_inside
            {
                if !next.is_ascii_alphabetic() {
                    return self.fault(format!("expected JSON in <{}>", self.block.arguments_tag()));
                }
                self.state = ElementState::Tags(self.object.cursor);
                return Step::Next;
            }
        }
        match self.object.read(window, out) {
            Step::End(at) if at > self.object.cursor => self.arguments_closed((at - self.object.cursor) as usize),
            // `</arguments>` is missing; what follows may still belong to the call.
            Step::End(_) => {
                self.state = ElementState::Between;
                Step::Next
            }
            step => step,
        }
    }

    /// Reads arguments that are written as tags, from `start` up to their closing tag, after which the element
    /// continues.
    fn in_tags(&mut self, start: u64, window: &Window<'_>, think_ends: bool) -> Match<Step> {
        let Some(rest) = window.to_byte(b'<', &mut self.object.cursor) else { return Ok(Step::More) };
        let more = window.more;
        let think = if think_ends { think_close(rest, more) } else { Err(No) };
        if think.decided()?.is_some() || begins_tag(rest, &self.block.tag, true, more).decided()?.is_some() {
            return Ok(self.fault(format!("</{}> is missing", self.block.arguments_tag())));
        }
        if let Some(length) = begins_tag(rest, self.block.arguments_tag(), true, more).decided()? {
            let after = &rest[length..];
            // Elsewhere the closing tag is text of a value.
            if self.follows(&after[leading_space(after)..], more).decided()?.is_some() {
                self.tags = Some(start..self.object.cursor);
                return Ok(self.arguments_closed(length));
            }
        }
        self.object.cursor += 1;
        Ok(Step::Next)
    }

    /// Checks whether `text`, after the arguments' closing tag, continues the element, or is empty at the stream's end.
    fn follows(&self, text: &str, more: bool) -> Match<()> {
        if text.is_empty() {
            return if more { Err(Undecided) } else { Ok(()) };
        }
        first_of(Element::tags(self.block, text, more)).map(|_| ())
    }

    /// Updates the state after the arguments' closing tag, of `length` bytes.
    fn arguments_closed(&mut self, length: usize) -> Step {
        self.object.cursor += length as u64;
        if let Some(i) = self.block.children.iter().position(|c| c.role == ChildRole::Arguments) {
            self.seen |= 1 << i;
        }
        self.object.complete_at = Some(self.object.cursor);
        self.state = ElementState::Between;
        Step::Next
    }

    /// Skips text after a fault, up to the element's closing tag, to a new opening tag of it, or to the end of the
    /// reasoning.
    fn junk(&mut self, window: &Window<'_>, think_ends: bool) -> Step {
        let Some(rest) = window.to_byte(b'<', &mut self.object.cursor) else { return Step::More };
        let (tag, more) = (&self.block.tag, window.more);
        let think = if think_ends { think_close(rest, more) } else { Err(No) };
        let anew = begins_tag(rest, tag, false, more).either(think).map(|_| 0);
        match begins_tag(rest, tag, true, more).either(anew) {
            Ok(length) => Step::End(self.object.cursor + length as u64),
            Err(Undecided) => Step::More,
            Err(No) => {
                self.object.cursor += 1;
                Step::Next
            }
        }
    }
}

impl CallShape for Element {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.object.over_limit = out.is_over_limit();
        match self.state {
            ElementState::Between => self.between(window, out.think_ends),
            ElementState::Name(child, start) => self.name(child, start, window, out),
            ElementState::Tags(start) => self.in_tags(start, window, out.think_ends).unwrap_or(Step::More),
            ElementState::Arguments => self.arguments(window, out),
            ElementState::Junk => self.junk(window, out.think_ends),
        }
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> CutCall {
        let close = |tag: &str| format!("</{tag}>");
        let inner = match self.state {
            ElementState::Name(i, _) => close(&self.block.children[i].tag),
            ElementState::Arguments | ElementState::Tags(_) => {
                let json = self.object.is_begun().then(|| self.object.json.missing(window));
                json.unwrap_or_default() + &close(self.block.arguments_tag())
            }
            ElementState::Between | ElementState::Junk => {
                self.missing_child().map_or_else(String::new, |child| format!("<{}>", child.tag))
            }
        };
        let is_whole = self.object.call.fault.is_none() && self.missing_child().is_none();
        let is_over = self.state == ElementState::Between && window.from(self.object.cursor).trim().is_empty();
        CutCall { inner, is_due: is_whole && is_over, too_deep: self.object.json.too_deep }
    }

    fn take_closer(&mut self, _: &Window<'_>, _: &Tables) {
        self.object.call.note(Repair::StopSequence);
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Step {
        self.ends_with(window).map_or(Step::More, Step::End)
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.object.call.called()
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, end: u64, tables: &Tables) -> UnresolvedCall {
        let is_begun = self.object.is_begun();
        let NamedObject { json, call, .. } = &mut self.object;
        match &self.tags {
            _ if is_begun => json.resolve(window, call),
            Some(span) => read_elements("", window.slice(span.clone()), call, tables),
            None => call.arguments = Value::Object(std::mem::take(&mut self.texts)),
        }
        if let (Some(at), Some(fault)) = (self.unexpected_at, &mut call.fault) {
            let found: String = window.slice(at..end.max(at)).chars().take(FOUND_CHARS).collect();
            if !found.is_empty() {
                fault.message.push_str(&format!(", found {found:?}"));
            }
        }
        self.object.call
    }

    fn needed_from(&self) -> u64 {
        self.completed().unwrap_or(self.object.cursor)
    }

    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        self.object.open_value()
    }

    fn closer(&self, _: &Tables) -> CallCloser {
        CallCloser { close: self.block.close.as_str().into(), brackets: true }
    }

    fn is_damaged(&self) -> bool {
        self.object.call.fault.is_some() || self.object.is_damaged()
    }
}

/// Recogniser of calls that are elements: the element's tag, and a child's opening tag or the closing tag after it.
pub(crate) struct Blocks;

impl Opens for Blocks {
    fn opener(&self, tables: &Tables, text: &str, more: bool) -> Match<Opening> {
        first_of(tables.blocks.iter().enumerate().map(|(item, (_, block))| {
            let tag = begins_tag(text, &block.tag, false, more);
            // Something that belongs to the block follows the tag.
            let gate = |inner: &str| first_said(Element::tags(block, inner, more)).map(|_| ());
            gated(tag, text, more, gate).map(|length| Opening { item, form: 0, length })
        }))
    }

    fn open(&self, opening: Opening, at: u64, _: &str, tables: &Tables) -> Opened {
        let (dialect, block) = tables.blocks[opening.item];
        let object = NamedObject::in_element(block, at + opening.length as u64, tables.config.limits.depth);
        let (state, texts) = (ElementState::Between, Map::new());
        let element = Element { block, state, object, seen: 0, scalar: false, tags: None, texts, unexpected_at: None };
        Opened::Call(dialect, Box::new(element))
    }
}
