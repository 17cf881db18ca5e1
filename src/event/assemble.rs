//! Events joined into what a message says, piece by piece and as a whole.
//!
//! The one place that carries out what the parser takes back: calls that are judged anew
//! ([`Event::Revised`]), and text that belongs elsewhere ([`Event::Moved`]). Whoever shows, stores,
//! runs or sends on a message takes its pieces from here.
//!
//! ```text
//!  Event ──▶ Collector ──▶ next_settled  calls that stay calls, while it streams
//!                     ├──▶ into_pieces   text, markers and calls where they belong
//!                     └──▶ finish        content, reasoning, entries
//! ```
//!
//! *Settled* is a call that can no longer become part of the reasoning: at once where no tag makes reasoning of the
//! text before it (`off`, `open`, a model that does not reason), and after a think tag or a reasoning field; else at
//! the stream's end. Nothing runs, and nobody is sent a call, before.
//!
//! Two streams of events that differ only in how their input was cut assemble
//! to equal values; so equality of parses is tested here.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::event::{
    Call, Destination, Event, MarkerKind, Provenance, Reason, Region, Rejected, RejectedKind, Span, call_of,
};
use crate::message::ReasoningMode;

/// Character that marks the position of a call in the text returned by `beside_calls`.
pub(crate) const CALL: char = '\0';

/// Collects the events of one message; [`finish`](Collector::finish) joins them.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    /// All text outside calls, joined into one string, since a message may consist of many small chunks.
    text: String,
    segments: Vec<MessageSegment>,
    /// Number of leading segments to which no further text is added, so that they stay distinct from later ones.
    sealed: usize,
    entries: Vec<Entry>,
    /// Number of leading entries whose call has ended.
    ended: usize,
    /// Number of leading entries that [`next_settled`](Collector::next_settled) has passed.
    yielded: usize,
    /// Length in bytes of each call in the stream.
    lengths: Vec<u64>,
    /// Stream offset at which the current call begins; `None` outside calls.
    opened: Option<u64>,
    settled: bool,
    /// The stream has ended.
    is_over: bool,
    /// A closing think tag was read; if it turns earlier text into reasoning, those events come next.
    closing: bool,
    /// A stray think tag would have turned settled calls into reasoning, and was ignored.
    stray: bool,
    answer_in_reasoning: bool,
}

/// A stretch of the message: text, a marker, or a call.
#[derive(Debug, Clone, Copy)]
struct MessageSegment {
    what: What,
    /// Region that the segment is in.
    region: Region,
    /// Number of bytes of the joined text that belong to the segment; zero for a call.
    length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Text,
    Marker(MarkerKind),
    /// Syntax around a draft, which counts as text while the draft is in the reasoning.
    Syntax(MarkerKind),
    /// The call of the next entry.
    Call,
}

/// A piece of a message, in stream order, in the region where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text of the answer or of the reasoning.
    Text {
        /// The region that the text belongs to.
        region: Region,
        /// The text, verbatim.
        text: String,
        /// The bytes of the stream that the text occupies.
        span: Span,
    },
    /// Syntax that is neither text nor part of a call.
    Marker {
        /// The kind of syntax.
        kind: MarkerKind,
        /// The text of the syntax, verbatim.
        text: String,
        /// The bytes of the stream that the syntax occupies.
        span: Span,
    },
    /// Syntax around a draft, which is part of the reasoning.
    Syntax {
        /// The kind of syntax.
        kind: MarkerKind,
        /// The text of the syntax, verbatim.
        text: String,
        /// The bytes of the stream that the syntax occupies.
        span: Span,
    },
    /// The position of a call or rejected call.
    Call {
        /// Index of the call's entry.
        index: u32,
        /// The region that the call is in.
        region: Region,
        /// The bytes of the stream that the call occupies.
        span: Span,
    },
}

/// The content of a whole message, assembled from its events.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Assembled {
    /// The text that the user sees: without calls, rejected calls and markers, but with the bytes of `quoted` calls and
    /// of `invented` ones after a line or a result.
    pub content: String,
    /// The reasoning, with the bytes of `in_reasoning` calls.
    pub reasoning: String,
    /// Calls and rejected calls, in stream order.
    pub entries: Vec<Entry>,
    /// `true` if the stream was read as reasoning from its start, had no closing tag and ended normally: the text that
    /// was read as reasoning is the answer, in `content`.
    pub answer_in_reasoning: bool,
}

/// One call of a message, or one rejected call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// Index of the call in the events.
    pub index: u32,
    /// The call, or its rejection.
    pub result: Result<Call, Rejected>,
    /// The whole text of the call.
    pub raw: String,
    /// The joined argument deltas of the call.
    pub deltas: String,
    /// `true` if the final arguments do not continue the joined deltas.
    pub restated: bool,
    /// The provenance of the call as the parser reported it.
    #[serde(skip)]
    pub(crate) place: Provenance,
}

impl Assembled {
    /// Returns the calls of the message that may run.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.entries.iter().filter_map(|e| e.result.as_ref().ok())
    }

    /// Returns the rejected calls of the message, which must not run.
    pub fn rejected(&self) -> impl Iterator<Item = &Rejected> {
        self.entries.iter().filter_map(|e| e.result.as_ref().err())
    }
}

impl Collector {
    /// Creates an empty collector for a message whose model is not known to reason or not.
    pub fn new() -> Self {
        Collector::default()
    }

    /// Creates an empty collector for a message that is read in this mode; `reasons` is `true` if the model is known to
    /// reason, `false` if it is known not to.
    ///
    /// Calls may then be [settled](Collector::next_settled) from the message's start. If the model does not reason, a
    /// stray `</think>` does not turn the text before it into reasoning.
    pub fn reading(mode: ReasoningMode, reasons: Option<bool>) -> Self {
        // In `open` a call is settled at once: one in the reasoning is reported as a draft.
        let settled = mode != ReasoningMode::Auto || reasons == Some(false);
        Collector { settled, ..Collector::default() }
    }

    /// Adds the next event of the message.
    pub fn push(&mut self, event: Event<'_>) {
        if self.is_void(&event) {
            self.stray = true;
            return;
        }
        self.learn(&event);
        match event {
            Event::Text { text, .. } => self.text(What::Text, Region::Content, text),
            Event::Reasoning { text, syntax: None, .. } => self.text(What::Text, Region::Reasoning, text),
            Event::Reasoning { text, syntax: Some(kind), .. } => self.text(What::Syntax(kind), Region::Reasoning, text),
            Event::Marker { kind, text, .. } => {
                // Markers have no region of their own.
                let region = self.segments.last().map_or(Region::Content, |segment| segment.region);
                if text.is_empty() {
                    // It says where another's turn begins.
                    self.segments.push(MessageSegment { what: What::Marker(kind), region, length: 0 });
                }
                self.text(What::Marker(kind), region, text);
            }
            Event::CallStart { index, span, .. } => {
                self.opened = Some(span.start);
                self.entry(index);
            }
            Event::ArgsDelta { index, text, .. } => self.entry(index).deltas.push_str(text),
            Event::CallEnd { index, result, raw, restated, span } => {
                let region = match &*result {
                    Err(rejected) if rejected.kind == RejectedKind::InReasoning => Region::Reasoning,
                    _ => Region::Content,
                };
                let entry = self.entry(index);
                entry.result = *result;
                entry.raw = raw.to_owned();
                entry.restated = restated;
                entry.place = entry.provenance();
                self.ended = self.entries.len();
                // A call whose name was never known has no `CallStart`.
                self.lengths.push(span.end - self.opened.take().unwrap_or(span.start));
                self.segments.push(MessageSegment { what: What::Call, region, length: 0 });
            }
            Event::Revised { calls, result, .. } => self.revise(calls, result),
            Event::Moved { spans, to, .. } => self.moved(spans, to),
        }
    }

    /// Returns `true` if no text and no call has arrived.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.entries.is_empty()
    }

    /// Returns the entries so far: calls, and rejected calls.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns `true` if no think tag can turn calls into reasoning any more, neither earlier calls nor later ones.
    /// Each call is then settled as soon as it is complete.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Returns the next settled call, each once and in order, and `None` until there is one. No think tag can turn it
    /// into reasoning, and later text does not change its provenance, except that the line after it may cast doubt on
    /// it. A call whose provenance is not [plain](Provenance::Plain) still needs approval.
    pub fn next_settled(&mut self) -> Option<&Entry> {
        while self.settled && self.yielded < self.ended {
            // A call without a marker becomes `before_prose` if prose comes after it.
            let waits = |call: &Call| call.provenance.is_plain() && !call.dialect.has_marker();
            if !self.is_over && self.entries[self.yielded].result.as_ref().is_ok_and(waits) {
                return None;
            }
            self.yielded += 1;
            if self.entries[self.yielded - 1].result.is_ok() {
                return self.entries.get(self.yielded - 1);
            }
        }
        None
    }

    /// Rejects the call with this index; returns the rejection, `None` if there is no such call. `refusal` makes it
    /// from the call and its text.
    #[cfg(feature = "agent")]
    pub(crate) fn refuse(&mut self, index: u32, refusal: impl FnOnce(Call, &str) -> Rejected) -> Option<&Rejected> {
        let entry = self.entries.iter_mut().rfind(|e| e.index == index)?;
        let call = entry.result.as_ref().ok()?.clone();
        entry.result = Err(refusal(call, &entry.raw));
        entry.result.as_ref().err()
    }

    /// Removes the text of the answer and the fences in it, because that text is a call.
    #[cfg(feature = "agent")]
    pub(crate) fn take_content(&mut self) {
        let (text, mut at) = (std::mem::take(&mut self.text), 0);
        self.segments.retain(|MessageSegment { what, region, length }| {
            let piece = &text[at..at + *length];
            at += piece.len();
            // A fence around the call goes with its text.
            let stays = *region != Region::Content || !matches!(what, What::Text | What::Marker(MarkerKind::Fence));
            self.text.push_str(if stays { piece } else { "" });
            stays
        });
        self.sealed = self.sealed.min(self.segments.len());
    }

    /// Marks the stream as ended: nothing can turn calls into reasoning any more.
    pub fn end(&mut self) {
        self.settled = true;
        self.is_over = true;
    }

    /// Returns the text of the answer outside its calls, with wrapper and token markers but without markers right
    /// before calls, and with [`CALL`] between line breaks at the position of each call. It is searched for text that
    /// was meant as a call.
    pub(crate) fn beside_calls(&self) -> String {
        let (mut text, mut rest) = (String::new(), self.text.as_str());
        // The end of what is no marker.
        let mut end = 0;
        for MessageSegment { what, region, length } in &self.segments {
            let (piece, after) = rest.split_at(*length);
            rest = after;
            match (what, region) {
                (What::Text, Region::Content) => {
                    text.push_str(piece);
                    // White space and tags right before a call belong to it, and are dropped with it.
                    end = if piece.trim().is_empty() { end } else { text.len() };
                }
                // Markers have no region of their own.
                (What::Marker(MarkerKind::Wrapper | MarkerKind::Token), _)
                | (What::Syntax(MarkerKind::Wrapper | MarkerKind::Token), Region::Content) => text.push_str(piece),
                (What::Call, Region::Content) => {
                    text.truncate(end);
                    text.extend(['\n', CALL, '\n']);
                    end = text.len();
                }
                // What is said to be the answer calls nothing.
                (What::Marker(MarkerKind::AnswerLine) | What::Syntax(MarkerKind::AnswerLine), _) => break,
                _ => {}
            }
        }
        text
    }

    /// Returns the index of the next call, and the number of bytes of the stream so far.
    pub(crate) fn next(&self) -> (u32, u64) {
        let text: u64 = self.segments.iter().map(|segment| segment.length as u64).sum();
        (self.entries.last().map_or(0, |entry| entry.index + 1), text + self.lengths.iter().sum::<u64>())
    }

    /// Returns the message's pieces in the regions where they belong, and the entries that they refer to.
    pub fn into_pieces(self) -> (Vec<Piece>, Vec<Entry>) {
        let mut pieces = Vec::with_capacity(self.segments.len());
        let (mut rest, mut at) = (self.text.as_str(), 0);
        let mut calls = self.entries.iter().zip(&self.lengths);
        for MessageSegment { what, region, length } in self.segments {
            let (text, after) = rest.split_at(length);
            rest = after;
            let call = if what == What::Call { calls.next() } else { None };
            let span = at..at + call.map_or(length as u64, |(_, length)| *length);
            at = span.end;
            let text = text.to_owned();
            pieces.push(match (what, call) {
                (What::Call, Some((entry, _))) => Piece::Call { index: entry.index, region, span },
                (What::Call, None) => continue,
                (What::Syntax(kind), _) if region == Region::Reasoning => Piece::Syntax { kind, text, span },
                (What::Syntax(kind) | What::Marker(kind), _) => Piece::Marker { kind, text, span },
                (What::Text, _) => Piece::Text { region, text, span },
            });
        }
        (pieces, self.entries)
    }

    /// Joins the collected events into the content of the message.
    pub fn finish(self) -> Assembled {
        let mut assembled = Assembled { answer_in_reasoning: self.answer_in_reasoning, ..Assembled::default() };
        let mut rest = self.text.as_str();
        let mut entries = self.entries.iter();
        for MessageSegment { what, region, length } in self.segments {
            let (text, after) = rest.split_at(length);
            rest = after;
            let text = match (what, region) {
                (What::Text, _) | (What::Syntax(_), Region::Reasoning) => text,
                (What::Marker(_), _) | (What::Syntax(_), Region::Content) => continue,
                (What::Call, _) => match entries.next() {
                    Some(Entry { result: Err(r), raw, .. }) if r.stays_in_text() => raw,
                    _ => continue,
                },
            };
            match region {
                Region::Content => assembled.content.push_str(text),
                Region::Reasoning => assembled.reasoning.push_str(text),
            }
        }
        assembled.entries = self.entries;
        assembled
    }

    /// Seals the segments so far and returns their number; later text begins a new segment.
    #[cfg(feature = "agent")]
    pub(crate) fn seal(&mut self) -> usize {
        self.sealed = self.segments.len();
        self.sealed
    }

    /// Returns `true` if the event would turn settled calls into reasoning. It is then ignored: a model that does not
    /// reason wrote a stray tag after its calls.
    pub(crate) fn is_void(&self, event: &Event<'_>) -> bool {
        match event {
            Event::Moved { to: Destination::Reasoning | Destination::Drafts, .. } => self.settled,
            Event::Revised { calls, result, .. } => {
                let revised = self.entries.iter().filter(|entry| calls.contains(&entry.index));
                let mut kinds = revised.map(|entry| entry.result.as_ref().err().map(|rejected| rejected.kind));
                match result {
                    // A call that was to become a draft, which was void: nothing is left to promote.
                    Ok(Provenance::Promoted) => self.stray && kinds.any(|kind| kind.is_none()),
                    Err(Reason { kind: RejectedKind::InReasoning, .. }) => {
                        self.settled && kinds.any(|kind| kind != Some(RejectedKind::InReasoning))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Updates from an event whether a later think tag can still turn earlier text into reasoning.
    fn learn(&mut self, event: &Event<'_>) {
        let is_tag = match event {
            Event::Marker { kind: MarkerKind::ThinkClose, .. } => {
                self.closing = true;
                return;
            }
            Event::Marker { kind: MarkerKind::ThinkOpen, .. } | Event::Reasoning { .. } => true,
            // The revisions of a closing tag come right after it: any other event says that there are no
            // more.
            _ => self.closing,
        };
        // What a closing tag makes of what came before it is carried out first.
        let takes_back = matches!(event, Event::Revised { .. } | Event::Moved { .. });
        self.settled |= is_tag && !takes_back;
    }

    fn text(&mut self, what: What, region: Region, text: &str) {
        self.text.push_str(text);
        let may_join = self.segments.len() > self.sealed;
        match self.segments.last_mut().filter(|p| may_join && p.what == what && p.region == region) {
            Some(last) => last.length += text.len(),
            None if text.is_empty() => {}
            None => self.segments.push(MessageSegment { what, region, length: text.len() }),
        }
    }

    fn entry(&mut self, index: u32) -> &mut Entry {
        if self.entries.last().is_none_or(|e| e.index != index) {
            self.entries.push(Entry::open(index));
        }
        self.entries.last_mut().expect("one was pushed if there was none")
    }

    /// Carries out an [`Event::Moved`]: moves the text in `spans`, with the markers and calls in it, to `to`.
    fn moved(&mut self, spans: &[Span], to: Destination) {
        if to == Destination::Syntax {
            if self.has_call_in(spans) {
                self.split(spans, |what, _| match what {
                    What::Text => (What::Marker(MarkerKind::Fence), Region::Content),
                    what => (what, Region::Content),
                });
            }
            return;
        }
        let region = to.region().unwrap_or_default();
        self.split(spans, |what, old| match what {
            // Syntax of calls is part of what the model thought.
            What::Marker(kind) if to == Destination::Drafts && kind.is_call_syntax() => (What::Text, region),
            What::Marker(_) => (what, old),
            _ => (what, region),
        });
        self.settled = true;
        self.answer_in_reasoning |= to == Destination::Content;
    }

    /// Returns `true` if a call that may run begins between the first byte and the last byte of these spans.
    fn has_call_in(&self, spans: &[Span]) -> bool {
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return false };
        let (mut at, mut calls) = (0, self.entries.iter().zip(&self.lengths));
        self.segments.iter().any(|segment| {
            let call = if segment.what == What::Call { calls.next() } else { None };
            let start = at;
            at += call.map_or(segment.length as u64, |(_, length)| *length);
            (first.start..last.end).contains(&start) && call.is_some_and(|(entry, _)| entry.result.is_ok())
        })
    }

    /// Replaces the kind and region of the segments inside these spans by the result of `make`; text at a span's end is
    /// split.
    fn split(&mut self, spans: &[Span], make: impl Fn(What, Region) -> (What, Region)) {
        let segments = std::mem::take(&mut self.segments);
        let (mut at, mut lengths) = (0, self.lengths.iter());
        for segment in segments {
            let length = match segment.what {
                What::Call => lengths.next().copied().unwrap_or_default(),
                _ => segment.length as u64,
            };
            let end = at + length;
            loop {
                let inside = spans.iter().find(|span| span.contains(&at));
                let next = spans.iter().map(|span| span.start).filter(|start| *start > at).min();
                let cut = inside.map(|span| span.end).or(next).unwrap_or(end).min(end);
                // A call is never divided.
                let to = if segment.what == What::Call { end } else { cut };
                let (what, region) = match inside {
                    Some(_) => make(segment.what, segment.region),
                    None => (segment.what, segment.region),
                };
                let length = if what == What::Call { 0 } else { (to - at) as usize };
                self.segments.push(MessageSegment { what, region, length });
                at = to;
                if at >= end {
                    break;
                }
            }
        }
    }

    /// Applies a new verdict to the calls with these indices.
    fn revise(&mut self, calls: Range<u32>, result: Result<Provenance, Reason>) {
        for (at, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| calls.contains(&entry.index)) {
            // It was passed over as a draft, as was every call after it.
            if entry.revise(result.clone()) {
                self.yielded = self.yielded.min(at);
            }
        }
    }
}

impl Entry {
    /// Returns the call if it was complete, even if it was rejected.
    pub fn call(&self) -> Option<&Call> {
        call_of(&self.result)
    }

    /// Applies a new verdict; returns `true` if it turns a rejected call into a call.
    fn revise(&mut self, result: Result<Provenance, Reason>) -> bool {
        match (&mut self.result, result) {
            (Ok(call), Ok(provenance)) => call.provenance = provenance,
            (Ok(call), Err(reason)) => {
                let mut rejected = Rejected::of(call.clone(), reason.kind, self.raw.as_str(), "");
                rejected.set_reason(reason);
                self.result = Err(rejected);
            }
            // Its arguments may have been refused since: no closer says anything of it.
            (Err(rejected), Err(reason))
                if reason.kind == RejectedKind::AfterDamage && rejected.kind != RejectedKind::InReasoning => {}
            (Err(rejected), Err(reason)) => rejected.set_reason(reason),
            // Its arguments were refused since, and it becomes no call.
            (Err(rejected), Ok(provenance))
                if !matches!(rejected.kind, RejectedKind::InReasoning | RejectedKind::Quoted) =>
            {
                rejected.call.iter_mut().for_each(|call| call.provenance = provenance);
            }
            (Err(rejected), Ok(provenance)) => {
                let Some(call) = rejected.call.take() else { return false };
                self.result = Ok(Call { provenance, ..*call });
                return true;
            }
        }
        self.place = self.provenance();
        false
    }

    /// Returns the provenance of the call; [plain](Provenance::Plain) if there is no complete call.
    pub fn provenance(&self) -> Provenance {
        self.call().map_or(Provenance::Plain, |call| call.provenance)
    }

    fn open(index: u32) -> Self {
        // Replaced by `CallEnd`, which always comes.
        let dialect = crate::dialect::Dialect::UseMcpTool;
        let rejected = Rejected::new(RejectedKind::Truncated, dialect, "", "the parser was not finished");
        let (raw, deltas) = (String::new(), String::new());
        Entry { index, result: Err(rejected), raw, deltas, restated: false, place: Provenance::Plain }
    }
}

#[cfg(test)]
mod tests;
