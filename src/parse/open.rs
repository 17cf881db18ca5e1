//! A call that is open, whatever its shape, and the limit on its bytes.
//!
//! The limit is a fixed offset, `start + call_bytes`, and a wall: however the
//! text was cut, the call is first read up to there and no further. If it is
//! not over then and a byte follows, it is past the limit. Its text so far is
//! kept as `head`, nothing more of it is reported, and only its end is looked
//! for, from the cursor on; what came before is let go. A call that then turns
//! out to have ended at the wall or before it is judged by `head` as if there
//! were no limit; any other is `limit`.

use super::body::{CallOut, Step};
use super::calm::{CalmKind, CalmValue};
use super::element::Element;
use super::emit::{Emitter, Ended, Sink};
use super::envelope::Envelope;
use super::given_back::NoCall;
use super::named::NamedJson;
use super::tables::Tables;
use super::tentative::{Cut, HeldCall, HeldCalls, Tentative};
use super::tool_tag::ToolTag;
use super::verdict::{Fault, Parts, verdict};
use super::window::Window;
use crate::dialect::Dialect;
use crate::event::MarkerKind;

/// Why a call is truncated.
const CUT: &str = "the output ended inside the call";

/// An open call.
#[derive(Debug)]
pub(super) struct OpenCall {
    dialect: Dialect,
    start: u64,
    body: Body,
    /// It stands in a fence with other text.
    pub(super) quoted: bool,
    pub(super) think_ends: bool,
    /// The limit: a call that ends before this offset or at it is as if there were none.
    limit_at: u64,
    /// The call's text up to the limit, once it is past it.
    head: Option<String>,
    /// Why it is text after all, if it is. Past the limit nothing else says so.
    pub(super) no_call: NoCall,
}

#[derive(Debug)]
pub(super) enum Body {
    Element(Box<Element>),
    NamedJson(Box<NamedJson>),
    ToolTag(Box<ToolTag>),
    Envelope(Box<Envelope>),
    Tentative(Box<dyn Tentative>),
}

impl Body {
    /// The first byte that a call past the limit still needs: where it may turn
    /// out to have ended, or where it goes on.
    fn needed_from(&self) -> u64 {
        match self {
            Body::Element(body) => body.completed().unwrap_or(body.cursor),
            Body::NamedJson(body) => body.completed().unwrap_or(body.cursor),
            Body::ToolTag(body) => body.cursor,
            Body::Envelope(body) => body.cursor(),
            // At the limit it is text.
            Body::Tentative(_) => u64::MAX,
        }
    }

    /// If the text that comes, at `at`, is its own preview: what it is, which says
    /// what may come in it while it stays so.
    fn calm(&self, at: u64) -> Option<CalmKind> {
        match self {
            Body::Element(body) => body.calm(at),
            Body::NamedJson(body) => body.calm(at),
            Body::ToolTag(body) => body.calm(at),
            Body::Envelope(body) => body.calm(at),
            Body::Tentative(_) => None,
        }
    }

    /// Reads a chunk of JSON at `at`; see `JsonText::read_on`.
    fn read_on(&mut self, at: u64, chunk: &str) -> Option<bool> {
        match self {
            Body::Element(body) => body.read_on(at, chunk),
            Body::NamedJson(body) => body.read_on(at, chunk),
            Body::Envelope(body) => body.read_on(at, chunk),
            Body::ToolTag(_) | Body::Tentative(_) => None,
        }
    }

    /// Goes on behind text up to `at`, which was handed on.
    fn go_on(&mut self, at: u64) {
        match self {
            Body::Element(body) => body.go_on(at),
            Body::NamedJson(body) => body.go_on(at),
            Body::ToolTag(body) => body.go_on(at),
            Body::Envelope(body) => body.go_on(at),
            Body::Tentative(_) => {}
        }
    }

    /// What is known of a call that is past the limit.
    fn names(&self, tables: &Tables) -> Parts {
        let (server, tool) = match self {
            Body::Element(body) => body.names(),
            Body::Envelope(body) => body.names(),
            Body::NamedJson(body) => body.names(),
            Body::ToolTag(body) => {
                let (server, tool) = body.names(body.callee.tool(tables));
                (server.map(str::to_owned), Some(tool.to_owned()))
            }
            Body::Tentative(_) => (None, None),
        };
        Parts { server, tool, ..Parts::default() }
    }
}

impl OpenCall {
    /// A call that may hold `call_bytes`.
    pub(super) fn new(dialect: Dialect, start: u64, body: Body, call_bytes: usize) -> Self {
        let limit_at = start.saturating_add(call_bytes as u64);
        let no_call = NoCall::Limit;
        OpenCall { dialect, start, body, quoted: false, think_ends: false, limit_at, head: None, no_call }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    /// Whether a line that is not the call's ended it.
    pub(super) fn ended_by_line(&self) -> bool {
        matches!(&self.body, Body::Envelope(body) if body.ended_by_line())
    }

    /// The first byte that the call still needs.
    pub(super) fn keep_from(&self) -> u64 {
        if self.head.is_some() { self.body.needed_from() } else { self.start }
    }

    /// Where the call stands in a value that is handed on as it comes.
    pub(super) fn calm(&self, at: u64, index: u32, reasoning_channel: bool) -> Option<CalmValue> {
        let kind = self.body.calm(at).filter(|_| self.head.is_none())?;
        Some(CalmValue { at, limit_at: self.limit_at, index, kind, reasoning_channel })
    }

    /// Reads a chunk of JSON at `at`; see `JsonText::read_on`.
    pub(super) fn read_on(&mut self, at: u64, chunk: &str) -> Option<bool> {
        self.body.read_on(at, chunk)
    }

    /// Goes on behind text up to `at`, which was handed on.
    pub(super) fn go_on(&mut self, at: u64) {
        self.body.go_on(at);
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Whether it is text if the stream ends here.
    pub(super) fn is_text_if_cut(&self, tables: &Tables) -> bool {
        matches!(&self.body, Body::Tentative(body) if matches!(body.cut(tables), Cut::Text))
    }

    /// Reads on.
    pub(super) fn advance(
        &mut self,
        tables: &Tables,
        window: &Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> Step {
        let max_depth = tables.config.limits.depth;
        loop {
            let before_limit;
            let readable = if self.head.is_some() || window.end() <= self.limit_at {
                window
            } else {
                before_limit = window.until(self.limit_at);
                &before_limit
            };
            let head = self.head.as_deref().map(|text| Window { text, base: self.start, more: false });
            let mut out = CallOut { emitter, sink, head: head.as_ref(), think_ends: self.think_ends };
            let step = match &mut self.body {
                Body::Element(body) => body.advance(readable, max_depth, &mut out),
                Body::NamedJson(body) => body.advance(readable, max_depth, &mut out),
                Body::ToolTag(body) => body.advance(body.callee.tool(tables), readable, &mut out),
                Body::Envelope(body) => body.advance(readable, &mut out),
                Body::Tentative(body) => body.advance(tables, readable, &mut self.no_call),
            };
            match (step, &self.body) {
                (Step::More, _) if readable.end() == window.end() => {
                    self.let_pass(window, emitter, sink);
                    return Step::More;
                }
                (Step::More, Body::Tentative(_)) => return Step::Text(self.wall(window)),
                (Step::More, _) => self.head = Some(readable.slice(self.start..readable.end()).to_owned()),
                (step, _) => return step,
            }
        }
    }

    /// Hands on what a call that is past both limits no longer needs: of other
    /// calls only the end is reported then, but its bytes are a marker.
    fn let_pass(&self, window: &Window<'_>, emitter: &mut Emitter, sink: &mut Sink<'_>) {
        if self.head.is_some() && emitter.leaves_out(self.quoted) && !emitter.is_pending() {
            emitter.marker(MarkerKind::Wrapper, self.quoted, window, self.keep_from().min(window.end()), sink);
        }
    }

    /// Where a tentative call ends that is past the limit; at its first
    /// character, if that is past it.
    fn wall(&self, window: &Window<'_>) -> u64 {
        let first = window.from(self.start).chars().next().map_or(0, char::len_utf8);
        window.until(self.limit_at).end().max(self.start + first as u64)
    }

    /// Ends the call at `end`, or, without one, where the stream ends.
    pub(super) fn end(
        mut self,
        end: Option<u64>,
        tables: &Tables,
        window: &Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> u64 {
        let limits = tables.config.limits;
        if let Body::Tentative(body) = &mut self.body {
            let held = TentativeCall { start: self.start, dialect: self.dialect, quoted: self.quoted };
            return held.end(body.as_mut(), end, tables, window, emitter, sink);
        }
        let end = end.or_else(|| match &mut self.body {
            Body::Element(body) => body.stream_ended(window),
            Body::NamedJson(body) => body.stream_ended(window),
            _ => None,
        });
        let truncated = end.is_none().then_some(CUT);
        let end = end.unwrap_or_else(|| window.end());
        let span = self.start..end;
        let head = self.head.as_deref().map(|text| Window { text, base: self.start, more: false });
        let kept = head.as_ref().unwrap_or(window);
        let parts = if end > self.limit_at {
            let fault = Fault::limit(format!("a call holds at most {} bytes", limits.call_bytes));
            Parts { fault: Some(fault), ..self.body.names(tables) }
        } else {
            match self.body {
                Body::Element(body) => body.into_parts(kept, end, truncated, limits.depth),
                Body::NamedJson(body) => body.into_parts(kept, truncated, limits.depth),
                Body::ToolTag(body) => {
                    let tool = body.callee.tool(tables);
                    body.into_parts(tool, kept, truncated)
                }
                Body::Envelope(body) => body.into_parts(kept, truncated, limits.depth),
                Body::Tentative(_) => Parts::default(),
            }
        };
        let raw = kept.slice(span.clone());
        let restated = parts.restated;
        let verdict = verdict(tables, self.dialect, emitter.index(), parts, raw);
        let head = self.head.is_some().then(|| raw.to_owned());
        emitter.call_end(Ended { verdict, restated, span, head }, self.quoted, window, sink);
        end
    }
}

/// What is known of a tentative call beside its body.
struct TentativeCall {
    start: u64,
    dialect: Dialect,
    quoted: bool,
}

impl TentativeCall {
    /// Reports what the body holds and ends at `end`, or, without one, what it
    /// is where the stream ends.
    fn end(
        &self,
        body: &mut dyn Tentative,
        end: Option<u64>,
        tables: &Tables,
        window: &Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> u64 {
        let (end, calls) = match end.map_or_else(|| body.cut(tables), Cut::Over) {
            Cut::Over(end) => (end, std::mem::take(body.calls())),
            Cut::Truncated(server, tool) => {
                let parts = Parts { server, tool: Some(tool), fault: Some(Fault::truncated(CUT)), ..Parts::default() };
                (window.end(), HeldCalls::of(HeldCall { span: self.start..window.end(), parts }))
            }
            Cut::Text => {
                emitter.text(window, window.end(), sink);
                return window.end();
            }
        };
        let unlisted = calls.unlisted;
        for HeldCall { span, parts } in calls.listed {
            emitter.marker(MarkerKind::Wrapper, self.quoted, window, span.start, sink);
            let verdict = verdict(tables, self.dialect, emitter.index(), parts, window.slice(span.clone()));
            if let Ok(call) = &verdict {
                emitter.call_start(span.start, call.server.as_deref(), &call.tool, sink);
                emitter.delta(span.start, &call.arguments.to_string(), sink);
            }
            emitter.call_end(Ended { verdict, restated: false, span, head: None }, self.quoted, window, sink);
        }
        emitter.leave_out_held(unlisted, self.quoted);
        emitter.marker(MarkerKind::Wrapper, self.quoted, window, end, sink);
        end
    }
}
