//! A call that is open, whatever its shape.

use super::body::{CallOut, Step};
use super::element::Element;
use super::emit::{Emitter, Ended, Sink};
use super::envelope::Envelope;
use super::tables::Tables;
use super::tool_tag::ToolTag;
use super::verdict::{Fault, Parts, raw_text, verdict};
use super::window::Window;
use crate::dialect::Dialect;

/// An open call.
#[derive(Debug)]
pub(super) struct OpenCall {
    dialect: Dialect,
    start: u64,
    body: Body,
    /// It stands in a fence with other text.
    pub(super) quoted: bool,
    pub(super) think_ends: bool,
    /// The call's first bytes, once it has passed the limit.
    saved: Option<String>,
}

#[derive(Debug)]
pub(super) enum Body {
    Element(Box<Element>),
    ToolTag(ToolTag),
    Envelope(Box<Envelope>),
}

impl Body {
    fn cursor(&self) -> u64 {
        match self {
            Body::Element(body) => body.cursor,
            Body::ToolTag(body) => body.cursor,
            Body::Envelope(body) => body.cursor(),
        }
    }

    /// Whether the call is over before `at` if nothing more of it follows.
    fn ended_by(&self, at: u64) -> bool {
        matches!(self, Body::Element(body) if body.completed().is_some_and(|end| end <= at))
    }

    /// The first byte that a call past the limit still needs.
    fn needed_from(&self) -> u64 {
        match self {
            Body::Element(body) => body.needed_from(),
            _ => self.cursor(),
        }
    }

    /// What is known of a call that is past the limit.
    fn names(&self, tables: &Tables) -> Parts {
        let (server, tool) = match self {
            Body::Element(body) => body.names(),
            Body::Envelope(body) => body.names(),
            Body::ToolTag(body) => {
                let tool = &tables.tools[body.tool];
                (tool.server.clone(), Some(tool.tool.clone()))
            }
        };
        Parts { server, tool, ..Parts::default() }
    }
}

impl OpenCall {
    pub(super) fn new(dialect: Dialect, start: u64, body: Body) -> Self {
        OpenCall { dialect, start, body, quoted: false, think_ends: false, saved: None }
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
        if self.saved.is_some() { self.body.needed_from() } else { self.start }
    }

    /// Reads on; yields the call's end once it is known.
    pub(super) fn advance(
        &mut self,
        tables: &Tables,
        window: Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> Option<u64> {
        let limits = tables.config.limits;
        let limit_at = self.start + limits.call_bytes as u64;
        let saved = self.saved.as_deref().map(|saved| (self.start, saved));
        let mut out = CallOut { emitter, sink, limit_at, saved, think_ends: self.think_ends };
        let step = match &mut self.body {
            Body::Element(body) => body.advance(window, limits.depth, &mut out),
            Body::ToolTag(body) => body.advance(&tables.tools[body.tool], window, &mut out),
            Body::Envelope(body) => body.advance(window, &mut out),
        };
        match step {
            Step::End(at) => Some(at),
            Step::More => {
                // A call that is complete within the limit may have ended there.
                let past = self.body.cursor() > limit_at && !self.body.ended_by(limit_at);
                if self.saved.is_none() && past {
                    // From here on only the end is looked for.
                    self.saved = Some(raw_text(window, self.start..window.end(), limits.call_bytes).to_owned());
                }
                None
            }
        }
    }

    /// Ends the call at `end`, or, without one, where the stream ends.
    pub(super) fn end(
        mut self,
        end: Option<u64>,
        tables: &Tables,
        window: Window<'_>,
        emitter: &mut Emitter,
        sink: &mut Sink<'_>,
    ) -> u64 {
        let limits = tables.config.limits;
        let end = end.or_else(|| match &mut self.body {
            Body::Element(body) => body.stream_ended(window),
            _ => None,
        });
        let cut = "the output ended inside the call";
        let truncated = end.is_none().then_some(cut);
        let end = end.unwrap_or_else(|| window.end());
        let span = self.start..end;
        let parts = if span.end - span.start > limits.call_bytes as u64 {
            let fault = Fault::limit(format!("a call holds at most {} bytes", limits.call_bytes));
            Parts { fault: Some(fault), ..self.body.names(tables) }
        } else {
            match self.body {
                Body::Element(body) => body.into_parts(window, end, truncated, limits.depth),
                Body::ToolTag(body) => {
                    let tool = &tables.tools[body.tool];
                    body.into_parts(tool, window, truncated)
                }
                Body::Envelope(body) => body.into_parts(window, truncated, limits.depth),
            }
        };
        let raw = match &self.saved {
            Some(saved) => saved.as_str(),
            None => raw_text(window, span.clone(), limits.call_bytes),
        };
        let restated = parts.restated;
        let verdict = verdict(tables, self.dialect, emitter.index(), parts, raw);
        let saved = (raw.len() as u64) < span.end - span.start;
        let saved = saved.then(|| raw.to_owned());
        emitter.call_end(Ended { verdict, restated, span, saved }, self.quoted, window, sink);
        end
    }
}
