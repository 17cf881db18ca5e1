//! At a `<` or a `[`: think tags, and openers with their gates.

use super::{Found, Scanner};
use crate::event::{MarkerKind, Region};
use crate::parse::body::think_close;
use crate::parse::element::Element;
use crate::parse::emit::Sink;
use crate::parse::objects::lead_ahead;
use crate::parse::open::{Body, OpenCall};
use crate::parse::tables::{Opener, THINK_TAGS};
use crate::parse::tool_tag::ToolTag;
use crate::parse::window::{Match, Window, begins, begins_tag, leading_space};
use crate::reasoning::ReasoningMode;

impl Scanner {
    /// An opener whose gate opens; yields it and its length. Of several that
    /// begin alike the first counts, so that no later one is taken too soon.
    pub(super) fn opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
        for find in [Self::tag_opener, Self::wrapper_opener, Self::named_opener] {
            match find(self, text, more) {
                Match::No => {}
                found => return found,
            }
        }
        Match::No
    }

    /// A literal marker that leads to JSON.
    fn wrapper_opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
        // A second byte tells most of them apart, if it has come.
        let second = text.as_bytes().get(1);
        for (i, (wrapper, _)) in self.tables.wrapped.iter().enumerate() {
            let open = wrapper.open;
            if second.is_some() && open.as_bytes().get(1) != second {
                continue;
            }
            let found = match begins(text, open, more) {
                Match::Yes(()) => lead_ahead(text, open.len(), more).map(|_| ()),
                found => found,
            };
            match found {
                Match::Yes(()) => return Match::Yes((Opener::Wrapper(i), open.len())),
                Match::Undecided => return Match::Undecided,
                Match::No => {}
            }
        }
        Match::No
    }

    /// An opening tag of an element or a tool.
    fn tag_opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
        let (opener, length) = match self.tables.opener(text, more) {
            Match::Yes(found) => found,
            other => return other,
        };
        let inner = &text[length..];
        let inner = &inner[leading_space(inner)..];
        let gate = match opener {
            _ if inner.is_empty() => return if more { Match::Undecided } else { Match::No },
            Opener::Block(i) => Element::gate(self.tables.blocks[i].1, inner, more),
            Opener::Tool(_, i) => ToolTag::gate(&self.tables.tools[i], inner, more),
            Opener::Wrapper(_) | Opener::Named(..) | Opener::Group(..) => Match::No,
        };
        gate.map(|()| (opener, length))
    }

    /// At a `<` or a `[`: think tags and openers.
    pub(super) fn mark(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let (text, more) = window.candidate(self.at, self.tables.hold);
        if text.len() == 1 {
            return if more { Found::Hold } else { Found::Text };
        }
        // What came before counts in the decisions below.
        self.emitter.text(window, self.at, sink);
        let before = window.before(self.at).or(if self.at == window.base { self.before } else { None });
        // What closes a fence is no quotation mark.
        let before = before.filter(|_| self.at != self.fence_end);
        match self.think_tag(text, before, more) {
            Match::Undecided => return Found::Hold,
            Match::Yes((false, _)) if self.mentions_think() => self.emitter.decide(),
            Match::Yes((close, length)) => return self.take_think(close, length, window, sink),
            Match::No => {}
        }
        let is_list = text.starts_with('[');
        // A backslash is how a bracket is written that opens nothing.
        let escaped = is_list && before == Some('\\');
        if escaped || before.is_some_and(|c| closing_quote(c).is_some()) {
            return Found::Text;
        }
        match self.closes_group(text, more) {
            Match::Undecided => return Found::Hold,
            Match::Yes(length) => return self.take_group(0, false, length, window, sink),
            Match::No => {}
        }
        let (opener, length) = match self.opener(text, more) {
            Match::Undecided => return Found::Hold,
            Match::No if is_list => return self.python_list(text, more, window, sink),
            Match::No => return self.token(text, more, window, sink),
            Match::Yes(found) => found,
        };
        let inner = self.at + length as u64;
        let limits = self.tables.config.limits;
        let (dialect, body) = match opener {
            Opener::Block(i) => {
                let (dialect, block) = self.tables.blocks[i];
                (dialect, Body::Element(Box::new(Element::new(block, inner))))
            }
            Opener::Wrapper(i) => return self.open_wrapper(i, length, text, window, sink),
            Opener::Group(named, opens) => return self.take_group(named, opens, length, window, sink),
            Opener::Named(named, call) => {
                let call = self.named_call(named, call, length, text);
                return self.open(call, window, sink);
            }
            Opener::Tool(dialect, i) => (dialect, Body::ToolTag(Box::new(ToolTag::new(i, inner, limits.depth)))),
        };
        self.open(OpenCall::new(dialect, self.at, body, limits.call_bytes), window, sink)
    }

    fn open_wrapper(&mut self, i: usize, length: usize, text: &str, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Match::Yes(ahead) = lead_ahead(text, length, false) else { return Found::Text };
        let marked = self.tables.wrapped[i].1;
        let objects = self.objects_of(marked, ahead);
        self.open_object(objects, ahead, MarkerKind::Wrapper, window, sink)
    }

    pub(super) fn open(&mut self, mut call: OpenCall, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        if self.fence.is_none() {
            // A call outside fences makes examples of the fenced ones before it.
            self.emitter.settle(window, true, sink);
        }
        call.quoted = self.is_example();
        let in_json = !matches!(call.body(), Body::ToolTag(_));
        call.think_ends = self.mode != ReasoningMode::Off && (in_json || self.emitter.region == Region::Reasoning);
        self.call = Some(call);
        Found::Opened
    }

    /// Whether a call here stands in a fence that is known to hold other text.
    pub(super) fn is_example(&self) -> bool {
        self.fence.is_some() && !self.emitter.is_pending() && !self.emitter.only_drafts()
    }

    pub(super) fn reads_think_tags(&self) -> bool {
        self.mode != ReasoningMode::Off || self.reasoning_channel
    }

    /// A think tag that counts here: whether it closes, and its length.
    fn think_tag(&self, text: &str, before: Option<char>, more: bool) -> Match<(bool, usize)> {
        if !self.reads_think_tags() || self.fence.is_some() || !text.starts_with('<') {
            return Match::No;
        }
        let open = THINK_TAGS.iter().map(|tag| begins_tag(text, tag, false, more)).fold(Match::No, Match::or);
        let (close, length) = match (think_close(text, more), open) {
            (Match::Yes(length), _) => (true, length),
            (_, Match::Yes(length)) => (false, length),
            (Match::No, Match::No) => return Match::No,
            _ => return Match::Undecided,
        };
        if let Some(quote) = before.and_then(closing_quote) {
            match text[length..].chars().next() {
                Some(c) if c == quote => return Match::No,
                None if more => return Match::Undecided,
                _ => {}
            }
        }
        Match::Yes((close, length))
    }

    /// Whether an opening think tag is text here: they do not nest, so that one inside the
    /// reasoning is a mention, but for one that opens it once more at its very start.
    fn mentions_think(&self) -> bool {
        self.emitter.region == Region::Reasoning && self.emitter.region_has_text
    }

    fn take_think(&mut self, close: bool, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        self.at += length as u64;
        self.line_start = true;
        self.around = None;
        let orphan = close && self.emitter.region == Region::Content;
        let (kind, region) = match close {
            _ if self.reasoning_channel => {
                (if close { MarkerKind::ThinkClose } else { MarkerKind::ThinkOpen }, Region::Reasoning)
            }
            true => (MarkerKind::ThinkClose, Region::Content),
            false => (MarkerKind::ThinkOpen, Region::Reasoning),
        };
        self.emitter.think(kind, region, window, self.at, sink);
        if orphan {
            self.emitter.all_was_reasoning(sink);
        }
        Found::Taken
    }
}

/// The mark that closes a quotation that `c` opens.
fn closing_quote(c: char) -> Option<char> {
    Some(match c {
        '`' | '"' | '\'' | '＂' | '＇' => c,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        '”' | '’' => c,
        _ => return None,
    })
}
