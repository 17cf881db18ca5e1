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
    pieces: Vec<Piece>,
    /// Pieces up to here were counted as reasoning before; a stream of many
    /// orphan closers does not walk them again.
    settled: usize,
    entries: Vec<Entry>,
    answer_in_reasoning: bool,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(Region, String),
    Marker(MarkerKind, Region, String),
    /// Syntax around a draft: text while it stands in the reasoning.
    Syntax(Region, String),
    /// Place of the entry, and the region that its bytes stand in.
    Call(usize, Region),
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
            Event::Text { text, .. } => self.text(Region::Content, text),
            Event::Reasoning { text, syntax: None, .. } => self.text(Region::Reasoning, text),
            Event::Reasoning { text, .. } => self.pieces.push(Piece::Syntax(Region::Reasoning, text.to_owned())),
            Event::Marker { kind, text, .. } => {
                let region = self.region();
                self.pieces.push(Piece::Marker(kind, region, text.to_owned()));
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
                let place = self.entries.len() - usize::from(self.entries.last().is_some_and(|e| e.index == index));
                let entry = self.entry(index);
                entry.result = *result;
                entry.raw = raw.to_owned();
                entry.restated = restated;
                self.pieces.push(Piece::Call(place, region));
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
        }
    }

    /// Joins what was collected.
    pub fn finish(self) -> Assembled {
        let mut assembled = Assembled { answer_in_reasoning: self.answer_in_reasoning, ..Assembled::default() };
        for piece in &self.pieces {
            let (region, text) = match piece {
                Piece::Text(region, text) | Piece::Syntax(region @ Region::Reasoning, text) => (*region, text),
                Piece::Marker(..) | Piece::Syntax(Region::Content, _) => continue,
                Piece::Call(place, region) => {
                    let entry = &self.entries[*place];
                    match &entry.result {
                        Err(r) if matches!(r.kind, RejectedKind::Quoted | RejectedKind::InReasoning) => {
                            (*region, &entry.raw)
                        }
                        _ => continue,
                    }
                }
            };
            match region {
                Region::Content => assembled.content.push_str(text),
                Region::Reasoning => assembled.reasoning.push_str(text),
            }
        }
        assembled.entries = self.entries;
        assembled
    }

    fn text(&mut self, region: Region, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last, joined)) if *last == region => joined.push_str(text),
            _ => self.pieces.push(Piece::Text(region, text.to_owned())),
        }
    }

    /// Region of the last text; markers have none of their own.
    fn region(&self) -> Region {
        match self.pieces.last() {
            Some(
                Piece::Text(region, _)
                | Piece::Marker(_, region, _)
                | Piece::Syntax(region, _)
                | Piece::Call(_, region),
            ) => *region,
            None => Region::Content,
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
        for piece in &mut self.pieces[from..] {
            match piece {
                Piece::Text(region, _) | Piece::Syntax(region, _) => *region = to,
                Piece::Call(place, region) => {
                    *region = to;
                    if drafts {
                        self.entries[*place].demote();
                    }
                }
                // Syntax of calls is part of what the model thought.
                Piece::Marker(kind, _, text) if drafts && kind.is_call_syntax() => {
                    *piece = Piece::Text(to, std::mem::take(text))
                }
                Piece::Marker(..) => {}
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
