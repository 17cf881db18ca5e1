//! A model's message while it streams: what counts, what is shown, where it is cut.

mod answer;
mod message;
mod native;

use std::collections::HashMap;

use serde_json::Value;

use crate::assemble::{Assembled, Collector};
use crate::call::RejectedKind;
use crate::event::{Event, MarkerKind, Region};
use crate::message::{Delta, DeltaKind, FinishReason, NativeCall};
use crate::parse::Parser;
use crate::reasoning::ReasoningMode;
use crate::validate::Validator;

use super::config::{AfterCall, TurnConfig};
use super::display::{Displays, display_call};
use super::event::{AgentEvent, DisplayCall};
use super::ids::next_id;
use super::native::Read;
use super::round_model::RoundModel;
use message::Piece;

pub(super) use message::{Message, Place};

/// A message that streams.
pub(super) struct Draft {
    parser: Parser,
    body: Body,
    /// Native calls; they stand behind all text.
    natives: Vec<Read>,
    /// Text came, though it may still be undecided.
    begun: bool,
}

/// What was said so far.
#[derive(Default)]
struct Body {
    collector: Collector,
    pieces: Vec<Piece>,
    /// Pieces from here on are behind the first text after a call.
    cut: Option<usize>,
    /// The cut is final: no think tag can make reasoning of what stands before it.
    over: bool,
    /// A call that was meant has ended.
    called: bool,
    /// A think tag or a reasoning field was seen.
    reasoned: bool,
    /// Events behind the cut, in case it is undone.
    hidden: Vec<AgentEvent>,
    /// Ids of the good calls so far.
    ids: Vec<String>,
    /// Calls to show once nothing can make reasoning of them.
    waiting: Vec<DisplayCall>,
    /// Indices of the calls that were shown.
    shown: Vec<u32>,
    /// Index of the next call.
    next: u32,
    /// Calls of the text that no native call was matched with: server, tool and arguments.
    written: Vec<(Option<String>, String, Value)>,
    /// Native calls, by their index.
    natives: HashMap<u32, NativeCall>,
    /// What was told as reasoning is the answer: no reasoning tag came.
    is_answer: bool,
    /// Indices of its calls, which were told as drafts.
    restored: Vec<u32>,
    /// The call that comes next needs approval, so it is not shown before.
    promotes: bool,
}

/// What the message is read with.
pub(super) struct Reader<'a> {
    pub(super) config: &'a TurnConfig,
    /// The model that speaks.
    pub(super) model: &'a RoundModel,
    pub(super) validator: &'a Validator,
    /// Whether a rejected call will be answered with a correction.
    pub(super) correcting: bool,
    /// Which calls are shown and not run.
    pub(super) displays: Displays<'a>,
}

impl Draft {
    pub(super) fn new(parser: Parser) -> Self {
        Draft { parser, body: Body::default(), natives: Vec::new(), begun: false }
    }

    /// Takes the next delta; says whether the stream is to be cancelled.
    pub(super) fn push(&mut self, delta: &Delta, reader: &Reader<'_>, emit: &mut impl FnMut(AgentEvent)) -> bool {
        self.begun |= !delta.text.is_empty();
        let body = &mut self.body;
        let mut sink = |event: Event<'_>| body.take(event, reader, emit);
        match delta.kind {
            DeltaKind::Content => self.parser.push(&delta.text, &mut sink),
            DeltaKind::Reasoning => self.parser.push_reasoning(&delta.text, &mut sink),
        }
        self.body.over
    }

    /// Whether anything of the message came.
    pub(super) fn has_begun(&self) -> bool {
        self.begun || !self.natives.is_empty()
    }

    /// Takes a native call.
    pub(super) fn call(&mut self, call: Read) {
        self.natives.push(call);
    }

    /// Ends the message and makes the parser ready for the next. Of one that
    /// broke off, nothing is shown that was undecided.
    pub(super) fn finish(
        &mut self,
        reason: &FinishReason,
        broke_off: bool,
        reader: &Reader<'_>,
        emit: &mut impl FnMut(AgentEvent),
    ) -> Message {
        let body = &mut self.body;
        let mut natives = std::mem::take(&mut self.natives);
        self.begun = false;
        if *reason == FinishReason::Length {
            natives.last_mut().into_iter().for_each(native::cut_off);
        }
        if !body.over {
            let called = !natives.is_empty();
            self.parser.finish(reason, &mut |event: Event<'_>| {
                // With a call of its own the message needs none of its drafts.
                let is_certain = body.is_answer && reader.tells_reasoning();
                if !(called && !is_certain && matches!(event, Event::Promoted { .. })) {
                    body.take(event, reader, emit);
                }
            });
            if body.is_answer {
                *body = std::mem::take(body).read_as_answer(reader, emit);
            }
            natives.into_iter().for_each(|call| body.take_native(call, reader, emit));
        }
        if !broke_off {
            body.show(emit);
        }
        self.parser.reset();
        std::mem::take(&mut self.body).into_message(reader)
    }
}

impl Body {
    fn take(&mut self, event: Event<'_>, reader: &Reader<'_>, emit: &mut impl FnMut(AgentEvent)) {
        if self.over {
            return;
        }
        if let (true, Event::Restored { index, .. } | Event::Promoted { index, .. }) = (self.is_answer, &event) {
            self.restored.push(*index);
            return self.collector.push(event);
        }
        let event = checked(event, reader);
        if self.ends_message(&event, reader) {
            self.cut.get_or_insert(self.pieces.len());
            self.over = self.is_settled(reader);
            if self.over {
                return;
            }
        }
        if let Event::Reclassified { to, drafts, .. } = event {
            self.reclassify(to, drafts, emit);
            self.is_answer = to == Region::Content;
        }
        if let Some(shown) = shown(&event) {
            if self.cut.is_some() { self.hidden.push(shown) } else { emit(shown) }
        }
        self.keep(&event, reader);
        // What a closing think tag makes of the calls before it is said next.
        let closes = matches!(event, Event::Marker { kind: MarkerKind::ThinkClose, .. });
        if !self.waiting.is_empty() && !closes && self.is_settled(reader) {
            self.show(emit);
        }
        self.collector.push(event);
    }

    /// Shows what waits.
    fn show(&mut self, emit: &mut impl FnMut(AgentEvent)) {
        for call in self.waiting.drain(..) {
            self.shown.push(call.index);
            emit(AgentEvent::Display(call));
        }
    }

    /// Whether the event is the first text after a call, or more of it.
    fn ends_message(&self, event: &Event<'_>, reader: &Reader<'_>) -> bool {
        let (Event::Text { text, .. } | Event::Reasoning { text, .. }) = event else { return false };
        reader.config.after_call == AfterCall::Cancel && self.called && !text.trim().is_empty()
    }

    /// Whether what was said cannot become reasoning any more.
    fn is_settled(&self, reader: &Reader<'_>) -> bool {
        reader.model.reasoning != ReasoningMode::Auto || reader.model.reasons == Some(false) || self.reasoned
    }

    fn keep(&mut self, event: &Event<'_>, reader: &Reader<'_>) {
        match event {
            Event::Text { text, .. } => self.text(Region::Content, text),
            Event::Reasoning { text, syntax, .. } => {
                self.reasoned = true;
                match syntax {
                    Some(kind) => self.syntax(*kind, text),
                    None => self.text(Region::Reasoning, text),
                }
            }
            Event::Marker { kind, text, .. } => {
                self.reasoned |= matches!(kind, MarkerKind::ThinkOpen | MarkerKind::ThinkClose);
                self.marker(*kind, text);
            }
            Event::CallEnd { index, result, .. } => {
                let (meant, region) = match &**result {
                    Ok(call) => {
                        let shows = reader.displays.shows(call.server.as_deref(), &call.tool);
                        if self.cut.is_none() {
                            let wanted = self.natives.get(index).and_then(|native| native.id.as_deref());
                            let id = next_id(reader.displays.conversation, &mut self.ids, wanted);
                            let shown = (shows && !self.promotes).then(|| display_call(call, id, *index));
                            self.waiting.extend(shown);
                        }
                        (!shows, Region::Content)
                    }
                    Err(rejected) => {
                        let row = reader.displays.row(rejected);
                        let reasoning = rejected.kind == RejectedKind::InReasoning;
                        let region = if reasoning { Region::Reasoning } else { Region::Content };
                        (row.meant && reader.correcting, region)
                    }
                };
                self.called |= meant && self.cut.is_none();
                self.next = index + 1;
                if let Ok(call) = &**result
                    && !self.natives.contains_key(index)
                {
                    self.written.push((call.server.clone(), call.tool.clone(), call.arguments.clone()));
                }
                self.pieces.push(Piece::Entry(*index, region));
            }
            Event::CallStart { .. }
            | Event::ArgsDelta { .. }
            | Event::Reclassified { .. }
            | Event::Restored { .. }
            | Event::Promoted { .. }
            | Event::Unlisted { .. } => {}
        }
    }

    /// Neighbours of one kind are one piece: where a marker is cut depends on the
    /// stream's chunks.
    fn marker(&mut self, kind: MarkerKind, text: &str) {
        let behind_cut = self.cut == Some(self.pieces.len());
        match self.pieces.last_mut() {
            Some(Piece::Marker(last, joined)) if *last == kind && !behind_cut => joined.push_str(text),
            _ => self.pieces.push(Piece::Marker(kind, text.to_owned())),
        }
    }

    /// The same for syntax around a draft.
    fn syntax(&mut self, kind: MarkerKind, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Syntax(last, joined)) if *last == kind => joined.push_str(text),
            _ => self.pieces.push(Piece::Syntax(kind, text.to_owned())),
        }
    }

    fn text(&mut self, region: Region, text: &str) {
        let behind_cut = self.cut == Some(self.pieces.len());
        match self.pieces.last_mut() {
            Some(Piece::Text(last, joined)) if *last == region && !behind_cut => joined.push_str(text),
            _ => self.pieces.push(Piece::Text(region, text.to_owned())),
        }
    }

    /// All before belongs to `to`. Where what seemed to be a call was a draft,
    /// nothing was cut.
    fn reclassify(&mut self, to: Region, drafts: bool, emit: &mut impl FnMut(AgentEvent)) {
        if drafts || to == Region::Content {
            self.hidden.drain(..).for_each(emit);
            self.cut = None;
            self.called = false;
            self.ids.clear();
            self.waiting.clear();
            self.written.clear();
        }
        for piece in &mut self.pieces {
            match piece {
                Piece::Text(region, _) => *region = to,
                Piece::Entry(_, region) if drafts || to == Region::Content => *region = to,
                Piece::Entry(..) | Piece::Syntax(..) => {}
                // Syntax of calls is part of what the model thought.
                Piece::Marker(kind, text) if drafts && kind.is_call_syntax() => {
                    *piece = Piece::Text(to, std::mem::take(text))
                }
                Piece::Marker(..) => {}
            }
        }
    }

    fn into_message(mut self, reader: &Reader<'_>) -> Message {
        self.pieces.truncate(self.cut.unwrap_or(self.pieces.len()));
        let Assembled { mut entries, .. } = self.collector.finish();
        entries.retain(|e| self.pieces.iter().any(|p| matches!(p, Piece::Entry(index, _) if *index == e.index)));
        // Promoted calls were not checked when they ended: they were drafts.
        entries.iter_mut().filter(|e| e.promoted).for_each(|e| reader.validator.check_entry(e));
        let untagged = self.is_answer;
        Message { pieces: self.pieces, natives: self.natives, entries, shown: self.shown, untagged }
    }
}

/// The event with a call's arguments as its schema wants them.
fn checked<'a>(event: Event<'a>, reader: &Reader<'_>) -> Event<'a> {
    match event {
        Event::CallEnd { index, result, raw, restated, span } => {
            let result = match *result {
                Ok(call) => reader.validator.check(call, raw).map_err(|rejected| *rejected),
                Err(rejected) => Err(rejected),
            };
            Event::CallEnd { index, result: Box::new(result), raw, restated, span }
        }
        event => event,
    }
}

/// What the caller sees of a parser's event.
fn shown(event: &Event<'_>) -> Option<AgentEvent> {
    Some(match event {
        Event::Text { text, .. } => AgentEvent::Text { text: (*text).to_owned() },
        Event::Reasoning { text, .. } => AgentEvent::Reasoning { text: (*text).to_owned() },
        Event::CallStart { index, server, tool, .. } => {
            AgentEvent::CallStarted { index: *index, server: server.map(str::to_owned), tool: (*tool).to_owned() }
        }
        Event::ArgsDelta { index, text, .. } => AgentEvent::ArgsDelta { index: *index, text: (*text).to_owned() },
        Event::CallEnd { index, result, .. } => match &**result {
            Ok(call) => AgentEvent::CallEnded { index: *index, call: Box::new(call.clone()) },
            Err(rejected) => AgentEvent::CallRejected { index: *index, rejected: Box::new(rejected.clone()) },
        },
        Event::Reclassified { to, .. } => AgentEvent::Reclassified { to: *to },
        Event::Promoted { index, .. } => AgentEvent::Promoted { index: *index },
        // A restored call is told anew once the answer is read.
        Event::Marker { .. } | Event::Restored { .. } | Event::Unlisted { .. } => return None,
    })
}
