//! Events joined into what a message says: content, reasoning, calls, rejections.
//!
//! Two streams of events that differ only in how their input was cut assemble
//! to equal values; so equality of parses is tested here.

use serde::{Deserialize, Serialize};

use crate::call::{Call, Reason, Rejected, RejectedKind};
use crate::event::{Event, MarkerKind, Region};

/// Collects events; [`finish`](Collector::finish) joins them.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    /// All text that is not a call's, joined: a message may be of many small pieces.
    text: String,
    pieces: Vec<Piece>,
    /// Pieces up to here were counted as reasoning before; a stream of many
    /// orphan closers does not walk them again.
    settled: usize,
    entries: Vec<Entry>,
    /// Entries whose call is over.
    ended: usize,
    answer_in_reasoning: bool,
}

/// Some text of the message, or a call.
#[derive(Debug, Clone, Copy)]
struct Piece {
    what: What,
    /// Region that it stands in.
    region: Region,
    /// Bytes of the joined text; none for a call.
    length: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Text,
    Marker(MarkerKind),
    /// Syntax around a draft: text while it stands in the reasoning.
    Syntax,
    /// The next entry.
    Call,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Assembled {
    /// What the user sees: text without calls, rejected calls and markers,
    /// but with the bytes of `quoted` calls.
    pub content: String,
    /// The reasoning, with the bytes of `in_reasoning` calls.
    pub reasoning: String,
    /// Calls and rejected calls, in stream order.
    pub entries: Vec<Entry>,
    /// The stream was taken to start in the reasoning, never left it and ended
    /// normally: what looked like reasoning is the content.
    pub answer_in_reasoning: bool,
}

/// One call of a message, or what was left of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Index that the events used.
    pub index: u32,
    /// The call, or why it must not run.
    pub result: Result<Call, Rejected>,
    /// The call's whole text.
    pub raw: String,
    /// All deltas of the arguments, joined.
    pub deltas: String,
    /// Whether the arguments do not continue the deltas.
    pub restated: bool,
    /// Whether the call was promoted out of the reasoning, or of what may be reasoning: it
    /// needs approval.
    pub promoted: bool,
}

impl Assembled {
    /// The calls that may run.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.entries.iter().filter_map(|e| e.result.as_ref().ok())
    }

    /// The calls that must not run.
    pub fn rejected(&self) -> impl Iterator<Item = &Rejected> {
        self.entries.iter().filter_map(|e| e.result.as_ref().err())
    }
}

impl Collector {
    /// An empty collector.
    pub fn new() -> Self {
        Collector::default()
    }

    /// Takes the next event.
    pub fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Text { text, .. } => self.text(What::Text, Region::Content, text),
            Event::Reasoning { text, syntax: None, .. } => self.text(What::Text, Region::Reasoning, text),
            Event::Reasoning { text, .. } => self.text(What::Syntax, Region::Reasoning, text),
            Event::Marker { kind, text, .. } => {
                // Markers have no region of their own.
                let region = self.pieces.last().map_or(Region::Content, |piece| piece.region);
                self.text(What::Marker(kind), region, text);
            }
            Event::CallStart { index, .. } => {
                self.entry(index);
            }
            Event::ArgsDelta { index, text, .. } => self.entry(index).deltas.push_str(text),
            Event::CallEnd { index, result, raw, restated, .. } => {
                let region = match &*result {
                    Err(rejected) if rejected.kind == RejectedKind::InReasoning => Region::Reasoning,
                    _ => Region::Content,
                };
                let entry = self.entry(index);
                entry.result = *result;
                entry.raw = raw.to_owned();
                entry.restated = restated;
                self.ended = self.entries.len();
                self.pieces.push(Piece { what: What::Call, region, length: 0 });
            }
            Event::Reclassified { to, drafts, .. } => self.reclassify(to, drafts),
            Event::Restored { index, reason, .. } => {
                self.restore(index, reason.map(|reason| *reason));
            }
            Event::Promoted { index, .. } => {
                if let Some(entry) = self.restore(index, None) {
                    entry.promoted = true;
                }
            }
            Event::Unlisted { index, count, .. } => {
                let entry = self.entries.iter_mut().rfind(|e| e.index == index);
                if let Some(Err(rejected)) = entry.map(|e| &mut e.result) {
                    rejected.count = count;
                }
            }
        }
    }

    /// Joins what was collected.
    pub fn finish(self) -> Assembled {
        let mut assembled = Assembled { answer_in_reasoning: self.answer_in_reasoning, ..Assembled::default() };
        let mut rest = self.text.as_str();
        let mut entries = self.entries.iter();
        for Piece { what, region, length } in self.pieces {
            let (text, behind) = rest.split_at(length as usize);
            rest = behind;
            let text = match (what, region) {
                (What::Text, _) | (What::Syntax, Region::Reasoning) => text,
                (What::Marker(_), _) | (What::Syntax, Region::Content) => continue,
                (What::Call, _) => match entries.next() {
                    Some(Entry { result: Err(r), raw, .. })
                        if matches!(r.kind, RejectedKind::Quoted | RejectedKind::InReasoning) =>
                    {
                        raw
                    }
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

    fn text(&mut self, what: What, region: Region, text: &str) {
        self.text.push_str(text);
        let mut left = text.len();
        let may_join = self.pieces.len() > self.settled;
        if let Some(last) = self.pieces.last_mut().filter(|p| may_join && p.what == what && p.region == region) {
            let joined = left.min((u32::MAX - last.length) as usize);
            last.length += u32::try_from(joined).unwrap_or(0);
            left -= joined;
        }
        while left > 0 {
            let length = u32::try_from(left).unwrap_or(u32::MAX);
            self.pieces.push(Piece { what, region, length });
            left -= length as usize;
        }
    }

    fn entry(&mut self, index: u32) -> &mut Entry {
        if self.entries.last().is_none_or(|e| e.index != index) {
            self.entries.push(Entry::open(index));
        }
        self.entries.last_mut().expect("one was pushed if there was none")
    }

    fn reclassify(&mut self, to: Region, drafts: bool) {
        let from = if to == Region::Reasoning { std::mem::replace(&mut self.settled, self.pieces.len()) } else { 0 };
        let calls = self.pieces[from..].iter().filter(|piece| piece.what == What::Call).count();
        let mut entries = self.entries[self.ended - calls..].iter_mut();
        for piece in &mut self.pieces[from..] {
            match piece.what {
                What::Text | What::Syntax => piece.region = to,
                What::Call => {
                    piece.region = to;
                    if let Some(entry) = entries.next().filter(|_| drafts) {
                        entry.demote();
                    }
                }
                // Syntax of calls is part of what the model thought.
                What::Marker(kind) if drafts && kind.is_call_syntax() => {
                    piece.what = What::Text;
                    piece.region = to;
                }
                What::Marker(_) => {}
            }
        }
        self.answer_in_reasoning |= to == Region::Content;
    }

    /// Takes back that a call is a draft.
    fn restore(&mut self, index: u32, reason: Option<Reason>) -> Option<&mut Entry> {
        let entry = self.entries.iter_mut().find(|e| e.index == index)?;
        if let Err(rejected) = &mut entry.result {
            match reason {
                Some(reason) => rejected.set_reason(reason),
                None => entry.result = Ok(*rejected.call.take()?),
            }
        }
        Some(entry)
    }
}

impl Entry {
    fn open(index: u32) -> Self {
        // Replaced by `CallEnd`, which always comes.
        let rejected = Rejected {
            kind: RejectedKind::Truncated,
            raw: String::new(),
            message: "the parser was not finished".to_owned(),
            server: None,
            tool: None,
            nearest: Vec::new(),
            dialect: crate::dialect::Dialect::UseMcpTool,
            call: None,
            count: 0,
        };
        Entry {
            index,
            result: Err(rejected),
            raw: String::new(),
            deltas: String::new(),
            restated: false,
            promoted: false,
        }
    }

    /// Turns a call into a draft: it stands in the reasoning after all.
    fn demote(&mut self) {
        let message = RejectedKind::in_reasoning_message();
        match &mut self.result {
            Ok(call) => {
                self.result = Err(Rejected::draft(call.clone(), self.raw.as_str()));
            }
            Err(rejected) if rejected.kind != RejectedKind::InReasoning => {
                rejected.kind = RejectedKind::InReasoning;
                rejected.message = message.to_owned();
            }
            Err(_) => {}
        }
    }
}
