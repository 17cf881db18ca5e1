//! The fast path, which emits most of a stream unchanged.
//!
//! Between calls it takes plain text, while nothing is held and everything that such
//! text would change was changed by text before it. In a call it takes a value
//! whose text is its own preview. A chunk in which nothing can begin or end is
//! then one event and needs nothing else, in JSON only the lexer. The scanner
//! does not see it; it gets the position of the text as soon as
//! something else follows.

use crate::event::{Event, Region};
use crate::parse::emit::prose::Prose;
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::lexicon::Plain;
use crate::parse::marks::prefixes::Fit;
use crate::parse::text::Scanner;
use crate::parse::text::fast_value::FastValue;

/// Path that the next chunk takes through the parser.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChunkWay {
    /// The scanner reads the chunk.
    Scanner,
    /// Fast path for more text of the answer, inside a line.
    Answer,
    /// Fast path for more text of a separate reasoning field, inside a line.
    Reasoning,
    /// Fast path for more text of answer or reasoning at a line's start, right after a call, or after a quotation mark
    /// where brackets are significant.
    Line,
    /// Fast path for more text of either channel inside a line, in which a bracket may close an earlier damaged call.
    Bracketed,
    /// Fast path for more text of answer or reasoning whose first bytes are held: a delimiter may begin with them.
    Held,
    /// Fast path for a value in the open call's arguments, or for all of them.
    Value(FastValue),
}

impl ChunkWay {
    /// Returns `true` for the path of text inside a line of this channel, in which only delimiters are significant.
    #[inline(always)] // With each chunk.
    pub(crate) fn is_on_a_line(&self, reasoning_channel: bool) -> bool {
        match self {
            ChunkWay::Answer => !reasoning_channel,
            ChunkWay::Reasoning => reasoning_channel,
            _ => false,
        }
    }
}

/// Returns `true` if `tail`, at which a delimiter may begin after `front`, is held whatever else is known: it is a
/// bracket alone, or the first recogniser that knows it is undecided about it.
#[inline]
pub(crate) fn holds(front: &str, tail: &str, fit: Fit) -> bool {
    // What is before it tells a heredoc from a conflict's row of signs.
    let is_quote = || {
        let is_sign = front.is_empty() || front.ends_with('<');
        fit.kinds.has(Kinds::QUOTE) && !(is_sign && tail.starts_with("<<"))
    };
    // Others also ask what is before the mark: a backslash before a `[` decides about it
    // (`tool_calls/escaped`).
    let is_held = || tail.starts_with('<') && (fit.kinds.has(Kinds::THINK | Kinds::OPENERS) || is_quote());
    // A bracket alone is always held (`Scanner::mark`).
    !fit.is_whole && fit.kinds != Kinds::NONE && (tail.len() == 1 || is_held())
}

impl Scanner {
    /// Returns the path of the next chunk, if everything up to `at` was emitted: the scanner, unless the chunk is only
    /// more of the same until a delimiter begins in it.
    pub(crate) fn way(&mut self, at: u64) -> ChunkWay {
        if self.emitter.reported != at || self.emitter.waits_for_fence() {
            return ChunkWay::Scanner;
        }
        if let Some(call) = &mut self.call {
            let value = call.fast_value(at, self.emitter.index(), self.reasoning.is_field);
            return value.map_or(ChunkWay::Scanner, ChunkWay::Value);
        }
        let near_calls = self.group.is_some_and(|group| group.is_near);
        // A closer that the lexicon does not know is looked for in each chunk.
        let odd_closer = self.reasoning.odd_closer().is_some();
        let damage = self.emitter.region.known_damage();
        let is_settled = self.run.is_none()
            && !near_calls
            && !odd_closer
            && self.emitter.is_settled()
            && self.context.block.is_none()
            // Each bracket and line matters where only a bracket closes a damaged call.
            && !(damage.open.is_some() && damage.watches_brackets)
            // Whether text follows a call's closer is noted here alone.
            && !damage.is_near;
        if !is_settled {
            return ChunkWay::Scanner;
        }
        self.fast_counts = self.counts();
        self.way_of_text()
    }

    /// Returns the fast path of plain text that comes next.
    #[inline(always)] // Thrice.
    pub(crate) fn way_of_text(&self) -> ChunkWay {
        let damage = self.emitter.region.known_damage();
        match damage.watches_brackets {
            _ if self.line_start || self.emitter.drafts.line_after.is_some() => ChunkWay::Line,
            true if damage.brackets.after_quote => ChunkWay::Line,
            true => ChunkWay::Bracketed,
            false if self.reasoning.is_field => ChunkWay::Reasoning,
            false => ChunkWay::Answer,
        }
    }

    /// Emits text up to where a delimiter may begin, and returns the rest, which is to be held. If the scanner must
    /// read the text, nothing is emitted, and the error is the extent of its plain text.
    #[inline(always)] // Twice.
    pub(crate) fn pass_text<'t>(&mut self, text: &'t str, sink: &mut impl FnMut(Event<'_>)) -> Result<&'t str, Plain> {
        let plain = self.tables.lexicon.plain(text.as_bytes(), self.line_start, self.fast_counts);
        let (front, tail) = text.split_at(plain.length);
        if !tail.is_empty() && !holds(front, tail, plain.fit) {
            return Err(plain);
        }
        let region = &mut self.emitter.region;
        if region.known_damage().watches_brackets && !region.damage().passes_brackets(front) {
            return Err(plain);
        }
        self.line_start = plain.line_start;
        // Text that does not come here holds no line break.
        if region.prose != Prose::Above {
            region.prose.read(front);
        }
        self.context.pass(front);
        if !front.is_empty() {
            self.emit_plain(front, sink);
            // Plain text here is the model's own.
            if self.emitter.drafts.line_after.is_some() {
                self.emitter.drafts.text_follows(front, self.emitter.reported, sink);
            }
        }
        Ok(tail)
    }

    /// Emits plain text that the context has read already.
    #[inline]
    pub(crate) fn emit_plain(&mut self, text: &str, sink: &mut impl FnMut(Event<'_>)) {
        let span = self.emitter.reported..self.emitter.reported + text.len() as u64;
        self.emitter.reported = span.end;
        match self.emitter.region.kind {
            Region::Content => sink(Event::Text { text, span }),
            Region::Reasoning => sink(Event::Reasoning { text, syntax: None, span }),
        }
    }

    /// Continues in the scanner after text that was emitted on the fast path, and after `plain`, which follows it and
    /// was not emitted; returns the offset up to which everything was emitted.
    pub(crate) fn leave_text(&mut self, plain: Option<Plain>) -> u64 {
        let plain = plain.unwrap_or(Plain::none(self.line_start));
        self.context.at = self.emitter.reported;
        self.at = self.emitter.reported + plain.length as u64;
        self.line_start = plain.line_start;
        if plain.fit.is_whole {
            self.mark_at = self.at;
        }
        self.emitter.reported
    }
}
