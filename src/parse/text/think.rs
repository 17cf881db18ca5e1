//! Think tags.

use super::context::Context;
use super::tags::Here;
use super::{Next, Scanner};
use crate::dialect::THINK_TAGS;
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins_tag_any_case};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::{may_be_think, think_close};

impl Scanner {
    /// A think tag, or its mention.
    pub(super) fn think(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Here { text, more, window } = here;
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

    /// A think tag that counts here: whether it closes, and its length.
    fn think_tag(&self, text: &str, more: bool) -> Match<(bool, usize)> {
        if self.fence.is_some() || !self.reasoning.takes_think_tags() || !may_be_think(text) {
            return Err(No);
        }
        let open =
            THINK_TAGS.iter().map(|tag| begins_tag_any_case(text, tag, false, more)).fold(Err(No), Answer::either);
        let (close, length) = match (think_close(text, more), open) {
            (Ok(length), _) => (true, length),
            (_, Ok(length)) => (false, length),
            (Err(No), Err(No)) => return Err(No),
            _ => return Err(Undecided),
        };
        Ok((close, length))
    }

    /// Whether an opening think tag is text here: they do not nest, so that one inside the
    /// reasoning is a mention, but for one that opens it once more at its very start.
    fn mentions_think(&self) -> bool {
        self.emitter.region.kind() == Region::Reasoning && self.emitter.region.has_text()
    }

    fn take_think(&mut self, close: bool, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        self.at += length as u64;
        self.line_start = true;
        self.group = None;
        // Behind a closed block or a reasoning field a further closer says nothing of what
        // stands before it: those calls are settled (`reasoning/call_behind_a_block_then_closer`).
        let orphan = close && self.emitter.region.kind() == Region::Content && !self.reasoning.is_told();
        let is_undecided = self.emitter.region.is_undecided();
        self.reasoning.is_told_here();
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
        let leaves = close && !self.reasoning.is_field && self.emitter.region.kind() == Region::Reasoning;
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
