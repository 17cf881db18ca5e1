//! The element shape: a block with child elements, one of which may hold JSON.
//!
//! ```text
//! Between ──<child>──▶ Name ──</child>──▶ Between
//!    │  └──<arguments>──▶ Lead ──▶ Json ──▶ Tail ──</arguments>──▶ Between
//!    └──</block>──▶ end          anything else ──▶ Junk ──</block>──▶ end
//! ```

mod arguments;

use serde_json::{Map, Value};

use crate::call::Repair;
use crate::dialect::{Block, Child, ChildRole};
use crate::parse::arguments::Arguments;
use crate::parse::body::{COMMENT_OPEN, CallOut, Comment, Step, comment, think_close};
use crate::parse::config::MIN_HOLD;
use crate::parse::verdict::{Fault, Parts};
use crate::parse::window::{Match, Window, begins, begins_tag, leading_space};

const CDATA_OPEN: &str = "<![CDATA[";

/// How much of what was found instead is shown in a message.
const FOUND_CHARS: usize = 20;

/// An open element call.
#[derive(Debug)]
pub(super) struct Element {
    block: &'static Block,
    state: State,
    pub(super) cursor: u64,
    /// The call is past the limit; see [`CallOut::is_past`].
    past: bool,
    parts: Parts,
    /// Children that were closed, by index.
    seen: u32,
    started: bool,
    json: Option<Arguments>,
    /// The JSON begins with no bracket, so that only its closing tag ends it.
    scalar: bool,
    /// What was opened around it and is not closed.
    wrapped_in: Option<&'static str>,
    /// Arguments that are text under their children's own tags.
    texts: Map<String, Value>,
    /// Where the call would end if nothing more belonged to it.
    complete_at: Option<u64>,
    /// Where something stands that does not belong there.
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
    Json,
    /// After the JSON, before the closing tag.
    Tail,
    /// After a fault between children.
    Junk,
}

impl Element {
    /// A call whose opening tag ends at `at`.
    pub(super) fn new(block: &'static Block, at: u64) -> Self {
        Element {
            block,
            state: State::Between,
            cursor: at,
            past: false,
            parts: Parts { tool: block.tool.map(str::to_owned), ..Parts::default() },
            seen: 0,
            started: false,
            json: None,
            scalar: false,
            wrapped_in: None,
            texts: Map::new(),
            complete_at: None,
            unexpected_at: None,
        }
    }

    /// Whether `text`, after the opening tag, begins something that belongs to the block.
    pub(super) fn gate(block: &Block, text: &str, more: bool) -> Match<()> {
        let close = begins_tag(text, block.tag, true, more);
        let children = block.children.iter().map(|child| begins_tag(text, child.tag, false, more));
        Match::any(children.chain([close])).map(|_| ())
    }

    pub(super) fn advance(&mut self, window: &Window<'_>, max_depth: usize, out: &mut CallOut<'_, '_>) -> Step {
        self.past = out.is_past();
        loop {
            if self.state == State::Json {
                match self.json(window, max_depth, out) {
                    Some(step) => return step,
                    None => continue,
                }
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
            let step = match self.state {
                State::Between => self.between(rest, window, out),
                State::Comment => self.comment(rest, window.more, out.think_ends),
                State::Name(child, start) => self.name(child, start, rest, window, out),
                State::Lead => self.lead(window, max_depth),
                State::Tail => self.tail(window),
                State::Junk | State::Json => self.junk(rest, window, out),
            };
            match step {
                Go::On => {}
                Go::Wait => return Step::More,
                Go::End(at) => return Step::End(at),
            }
        }
    }

    /// Where the call ends if nothing more of it follows.
    fn ends_here(&mut self) -> Option<u64> {
        self.completed().inspect(|_| self.missing_close())
    }

    /// Where the call ends if the stream ends with the window. A closing tag
    /// that was cut off belongs to the call.
    pub(super) fn stream_ended(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.ends_here()?;
        let cut = window.from(at).trim_start();
        let tags = [self.arguments_tag(), self.block.tag];
        let is_cut = cut.len() > 1 && tags.iter().any(|tag| format!("</{tag}>").starts_with(cut));
        Some(if is_cut { window.end() } else { at })
    }

    /// Where the call ended if nothing more belongs to it, once all that it needs has come.
    pub(super) fn completed(&self) -> Option<u64> {
        let at = self.complete_at.filter(|_| self.is_complete() && self.parts.fault.is_none())?;
        // Past the limit little is kept: what was read beyond that is the call's.
        let let_go = self.past && self.cursor - at > MIN_HOLD as u64;
        Some(if let_go { self.cursor } else { at })
    }

    /// What the call says, which ends at `end`. `truncated`: neither its end nor its completeness was seen.
    pub(super) fn into_parts(
        mut self,
        window: &Window<'_>,
        end: u64,
        truncated: Option<&str>,
        max_depth: usize,
    ) -> Parts {
        match &self.json {
            Some(json) => json.read(window, max_depth, &mut self.parts),
            None => self.parts.arguments = Value::Object(std::mem::take(&mut self.texts)),
        }
        if let (Some(at), Some(fault)) = (self.unexpected_at, &mut self.parts.fault) {
            let found: String = window.slice(at..end.max(at)).chars().take(FOUND_CHARS).collect();
            if !found.is_empty() {
                fault.message.push_str(&format!(", found {found:?}"));
            }
        }
        if let Some(what) = truncated {
            self.parts.fault = Some(Arguments::cut(self.json.as_ref(), what, max_depth));
        }
        self.parts
    }

    /// Server and tool, as far as they are known.
    pub(super) fn names(&self) -> (Option<String>, Option<String>) {
        (self.parts.server.clone(), self.parts.tool.clone())
    }

    fn is_complete(&self) -> bool {
        let needed = |child: &Child| match child.role {
            ChildRole::Server => false,
            ChildRole::Tool | ChildRole::Argument | ChildRole::Arguments => true,
        };
        let arguments =
            |i: usize, child: &Child| child.role == ChildRole::Arguments && self.has_closed_json() || self.has(i);
        self.block.children.iter().enumerate().all(|(i, child)| !needed(child) || arguments(i, child))
    }

    /// Whether the arguments need no closing tag: their last bracket came.
    fn has_closed_json(&self) -> bool {
        !self.scalar && self.json.as_ref().is_some_and(|json| json.end().is_some())
    }

    fn has(&self, child: usize) -> bool {
        self.seen & (1 << child) != 0
    }

    fn missing_close(&mut self) {
        if !self.parts.repairs.contains(&Repair::MissingClose) {
            self.parts.repairs.push(Repair::MissingClose);
        }
    }

    fn between(&mut self, rest: &str, window: &Window<'_>, out: &CallOut<'_, '_>) -> Go {
        let more = window.more;
        let mut undecided = false;
        match begins_tag(rest, self.block.tag, true, more) {
            Match::Yes(length) => return self.closed(self.cursor + length as u64),
            found => undecided |= found == Match::Undecided,
        }
        for (i, child) in self.block.children.iter().enumerate() {
            match begins_tag(rest, child.tag, false, more) {
                Match::Yes(length) => {
                    self.cursor += length as u64;
                    return self.open_child(i);
                }
                found => undecided |= found == Match::Undecided,
            }
        }
        match begins(rest, COMMENT_OPEN, more) {
            // Behind a complete call a comment is text: waiting for its end would
            // read the rest of the stream twice.
            Match::Yes(()) if self.completed().is_none() => {
                self.cursor += COMMENT_OPEN.len() as u64;
                self.state = State::Comment;
                return Go::On;
            }
            found => undecided |= found == Match::Undecided,
        }
        if out.think_ends {
            undecided |= think_close(rest, more) == Match::Undecided;
        }
        if undecided {
            return Go::Wait;
        }
        // The call is over if all that it needs has come; its closing tags are missing.
        let end = if window.more { self.ends_here() } else { self.stream_ended(window) };
        if let Some(at) = end {
            return Go::End(at);
        }
        if self.parts.fault.is_none() {
            self.unexpected_at = Some(self.cursor);
        }
        self.fault(format!("expected {} in <{}>", self.expected(), self.block.tag))
    }

    fn expected(&self) -> String {
        let tags = self.block.children.iter().map(|c| format!("<{}>", c.tag));
        tags.chain([format!("</{}>", self.block.tag)]).collect::<Vec<_>>().join(" or ")
    }

    fn open_child(&mut self, i: usize) -> Go {
        let child = &self.block.children[i];
        if self.has(i) || (child.role == ChildRole::Arguments && self.json.is_some()) {
            return self.fault(format!("<{}> stands twice in <{}>", child.tag, self.block.tag));
        }
        self.state = if child.role == ChildRole::Arguments { State::Lead } else { State::Name(i, self.cursor) };
        Go::On
    }

    fn closed(&mut self, end: u64) -> Go {
        let missing = |(i, child): (usize, &Child)| {
            (!self.has(i) && matches!(child.role, ChildRole::Tool | ChildRole::Argument)).then_some(child.tag)
        };
        let missing = self.block.children.iter().enumerate().find_map(missing);
        if let Some(tag) = missing
            && self.parts.fault.is_none()
        {
            self.parts.fault = Some(Fault::malformed(format!("<{tag}> is missing in <{}>", self.block.tag)));
        }
        Go::End(end)
    }

    fn fault(&mut self, message: String) -> Go {
        self.parts.fault.get_or_insert_with(|| Fault::malformed(message));
        self.state = State::Junk;
        Go::On
    }

    fn comment(&mut self, rest: &str, more: bool, think_ends: bool) -> Go {
        let (read, go) = match comment(rest, think_ends, more) {
            Comment::Over(end) => {
                self.state = State::Between;
                (end, Go::On)
            }
            Comment::Open(read) => (read, Go::Wait),
        };
        self.cursor += read as u64;
        go
    }

    fn name(&mut self, i: usize, start: u64, rest: &str, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Go {
        let Some(tag_at) = memchr::memchr(b'<', rest.as_bytes()) else {
            self.cursor += rest.len() as u64;
            return Go::Wait;
        };
        self.cursor += tag_at as u64;
        let child = &self.block.children[i];
        let length = match begins_tag(&rest[tag_at..], child.tag, true, window.more) {
            Match::Undecided => return Go::Wait,
            Match::No => return self.fault(format!("<{}> is not closed by </{}>", child.tag, child.tag)),
            Match::Yes(length) => length,
        };
        let text_end = self.cursor;
        self.seen |= 1 << i;
        self.state = State::Between;
        self.cursor += length as u64;
        self.complete_at = Some(self.cursor);
        if out.is_past() {
            return Go::On;
        }
        let text = window.slice(start..text_end).trim();
        let text = match quick_xml::escape::unescape(text) {
            Ok(decoded) if decoded != text => {
                self.parts.repairs.push(Repair::Entities);
                decoded.into_owned()
            }
            _ => text.to_owned(),
        };
        if text.is_empty() && child.role != ChildRole::Server {
            return self.fault(format!("<{}> is empty", child.tag));
        }
        match child.role {
            ChildRole::Server => self.parts.server = Some(text).filter(|t| !t.is_empty()),
            ChildRole::Tool => self.parts.tool = Some(text),
            ChildRole::Argument | ChildRole::Arguments => {
                self.parts.raw_arguments.clone_from(&text);
                self.texts.insert(child.tag.to_owned(), Value::String(text));
            }
        }
        self.announce(window, child.role, out);
        Go::On
    }

    /// Tells the name once it is known, then what is known of the arguments.
    fn announce(&mut self, window: &Window<'_>, role: ChildRole, out: &mut CallOut<'_, '_>) {
        if let Some(tool) = &self.parts.tool
            && !self.started
        {
            self.started = true;
            out.start(self.cursor, self.parts.server.as_deref(), tool);
            if let Some(json) = &mut self.json {
                json.preview(window, out);
            }
        }
        if role == ChildRole::Argument {
            let arguments = Value::Object(self.texts.clone()).to_string();
            out.delta(self.cursor, &arguments);
        }
    }

    fn skip(&mut self, length: usize) -> Go {
        self.cursor += length as u64;
        Go::On
    }

    /// After a fault: up to the block's closer, or to where the block begins anew.
    fn junk(&mut self, rest: &str, window: &Window<'_>, out: &CallOut<'_, '_>) -> Go {
        let Some(tag_at) = memchr::memchr(b'<', rest.as_bytes()) else {
            self.cursor += rest.len() as u64;
            return Go::Wait;
        };
        self.cursor += tag_at as u64;
        let rest = &rest[tag_at..];
        let close = begins_tag(rest, self.block.tag, true, window.more);
        let anew = begins_tag(rest, self.block.tag, false, window.more);
        let think = if out.think_ends { think_close(rest, window.more) } else { Match::No };
        match (close, anew, think) {
            (Match::Yes(length), ..) => Go::End(self.cursor + length as u64),
            (_, Match::Yes(_), _) | (_, _, Match::Yes(_)) => Go::End(self.cursor),
            (Match::No, Match::No, Match::No) => self.skip(1),
            _ => Go::Wait,
        }
    }
}

enum Go {
    On,
    Wait,
    End(u64),
}
