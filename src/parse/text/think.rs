//! Think tags.

use super::context::Context;
use super::tags::Here;
use super::{Next, Scanner};
use crate::dialect::THINK_TAGS;
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Window, begins_tag_any_case};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::think_close;

impl Scanner {
    /// A think tag, or its mention.
    pub(super) fn think(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Here { text, more, window, .. } = here;
        let (close, length) = self.think_tag(text, more)?;
        if self.is_mention(&text[length..], more, window).decided()?.is_some() {
            return Ok(Next::Text);
        }
        if !close && self.mentions_think() {
            self.emitter.decide();
            return Err(No);
        }
        self.take_think(close, length, window, sink)
    }

    /// A think tag: whether it closes, and its length.
    fn think_tag(&self, text: &str, more: bool) -> Match<(bool, usize)> {
        let tags = THINK_TAGS.iter().map(|tag| begins_tag_any_case(text, tag, false, more));
        let open = tags.fold(Err(No), Answer::either).map(|length| (false, length));
        think_close(text, more).map(|length| (true, length)).either(open)
    }

    /// Returns `true` if an opening think tag is text here: they do not nest, so that one inside the
    /// reasoning is a mention, but for one that opens it once more at its very start.
    fn mentions_think(&self) -> bool {
        self.emitter.region.kind == Region::Reasoning && self.emitter.region.has_text
    }

    fn take_think(&mut self, close: bool, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        self.at += length as u64;
        self.line_start = true;
        self.group = None;
        // After a closed block or a reasoning field a further closer says nothing of what
        // is before it: those calls are settled (`reasoning/call_behind_a_block_then_closer`).
        let orphan = close && self.emitter.region.kind == Region::Content && !self.reasoning.is_told;
        let is_undecided = self.emitter.region.is_undecided;
        self.reasoning.is_told = true;
        if !close {
            self.begin_reasoning();
        }
        let (kind, region) = match close {
            _ if self.reasoning.is_field => {
                (if close { MarkerKind::ThinkClose } else { MarkerKind::ThinkOpen }, Region::Reasoning)
            }
            true => (MarkerKind::ThinkClose, Region::Content),
            false => (MarkerKind::ThinkOpen, Region::Reasoning),
        };
        let leaves = close && !self.reasoning.is_field && self.emitter.region.kind == Region::Reasoning;
        self.emitter.think(kind, region, window, self.at, sink);
        self.context = Context::new(self.at);
        if leaves || orphan {
            self.end_reasoning(orphan || is_undecided);
        }
        if orphan {
            self.emitter.all_was_reasoning(sink);
        }
        Ok(Next::Taken)
    }
}
