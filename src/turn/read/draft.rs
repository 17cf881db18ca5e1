//! A model's message while it streams: the parts that are valid, the events for the caller, the place where it is cut.
//!
//! The assembler collects the message, applies the parser's revisions, and says which calls are settled. This module
//! decides which of them are valid.

mod due;

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::doubt::{doubted, judged, keep_syntax};
use super::message::EndedMessage;
use super::repeats::{Repeated, Repeats};
use super::stale::{self, ShownContext};
use super::tail::{has_no_end, is_tail, leaves_a_tail};
use crate::event::{
    Call, Collector, Destination, Entry, Event, MarkerKind, Piece, Provenance, Reason, Region, Rejected, RejectedKind,
};
use crate::message::chunk::MAX_EQUAL_CALLS;
use crate::message::{Delta, DeltaKind, FinishReason};
use crate::outcome::Restorer;
use crate::parse::Parser;
use crate::tools::{looks_up, may_change};
use crate::turn::config::{AfterCall, RoundModel, TurnConfig};
use crate::turn::displays::{Displays, display_call};
use crate::turn::event::AgentEvent;
use crate::turn::guard;
use crate::turn::native::NativeRead;
use crate::turn::origin::Origins;
use crate::validate::Validator;

/// Number of bytes after several calls that are read before the stream is cancelled: they may close the first call a
/// second time, and then none of them is valid.
/// and then none of them is valid.
pub(in crate::turn) const READ_ON: usize = 1024;

/// A message that is being received.
pub(super) struct Draft {
    parser: Parser,
    body: Body,
    /// Native calls, which follow all text.
    pub(super) natives: Vec<NativeRead>,
    /// Number of bytes that arrived, even if they are still undecided.
    pub(super) length: usize,
    restored: TextRestorers,
}

/// Restores control tokens that the prompt escaped in text and reasoning for the caller. The history keeps what the
/// model wrote.
#[derive(Default)]
struct TextRestorers {
    text: Restorer,
    reasoning: Restorer,
}

impl TextRestorers {
    fn take(&mut self, event: AgentEvent, emit: &mut dyn FnMut(AgentEvent)) {
        let (restorer, text) = match &event {
            AgentEvent::Text { text } => (&mut self.text, text),
            AgentEvent::Reasoning { text } => (&mut self.reasoning, text),
            _ => {
                self.finish(emit);
                return emit(event);
            }
        };
        let text = restorer.push(text);
        if text.is_empty() {
            return;
        }
        emit(match event {
            AgentEvent::Text { .. } => AgentEvent::Text { text },
            _ => AgentEvent::Reasoning { text },
        });
    }

    /// Emits the text that is held back.
    fn finish(&mut self, emit: &mut dyn FnMut(AgentEvent)) {
        let text = self.text.finish();
        if !text.is_empty() {
            emit(AgentEvent::Text { text });
        }
        let text = self.reasoning.finish();
        if !text.is_empty() {
            emit(AgentEvent::Reasoning { text });
        }
    }
}

/// The content of the message so far.
#[derive(Default)]
struct Body {
    collector: Collector,
    /// Properties of the message that are known so far, without its pieces and entries.
    message: EndedMessage,
    /// Numbers of pieces and calls before the cut, which is at the first text after a call.
    cut: Option<(usize, u32)>,
    /// Number of bytes of text after the cut.
    after_cut: usize,
    /// `true` if the cut is final: no think tag can turn the text before it into reasoning.
    over: bool,
    /// `true` if a valid call has ended.
    called: bool,
    /// Events after the cut, in case it is undone.
    hidden: Vec<AgentEvent>,
    /// Index of the next call.
    next: u32,
    /// Calls of the text that no native call has matched yet: server, tool and arguments.
    written: Vec<(Option<String>, String, Value)>,
    /// Indices of the answer's calls, which were reported as drafts.
    restored: Vec<u32>,
    /// Index of the call that needs approval, which is reported after it.
    promotes: Option<u32>,
    /// Repetitions in the message's text; `repeats_in_call` has those in the arguments of the current call.
    repeats: Repeats,
    repeats_in_call: Repeats,
    /// The passage whose repetition stopped the message.
    repeated: Option<Repeated>,
    /// Number of calls before the cut that are not rejected.
    good_before_cut: usize,
    /// Text in the endpoint's field for refusals.
    refusal: String,
    /// Text after a malformed call that may belong to it and is held back.
    tail: Option<String>,
    /// Text that may be the arguments of the only tool to call, and is held back.
    held: String,
}

/// Settings and state of the turn on which reading a message depends.
pub(super) struct ReadContext<'a> {
    pub(super) config: &'a TurnConfig,
    /// The model of the message.
    pub(super) model: &'a RoundModel,
    pub(super) validator: &'a Validator,
    /// `true` if a rejected call will be answered with a correction.
    pub(super) correcting: bool,
    /// `true` if the message is constrained to calls although the model may answer.
    pub(super) held: bool,
    /// `true` if there is no approver.
    pub(super) unattended: bool,
    /// Decides which calls are shown and not run.
    pub(super) displays: Displays<'a>,
    /// The untrusted texts of the conversation, and the calls in them.
    pub(super) origins: &'a Origins,
}

impl ReadContext<'_> {
    /// Returns `true` if the endpoint is known to separate reasoning from answers: then text without a tag is not
    /// reasoning.
    fn tells_reasoning(&self) -> bool {
        // Messages of another model prove nothing.
        self.config.round_model.is_none() && self.displays.conversation.messages().any(|m| m.tells_reasoning())
    }
}

impl Draft {
    pub(super) fn new(parser: Parser, model: &RoundModel) -> Self {
        Draft { parser, body: Body::new(model), natives: Vec::new(), length: 0, restored: TextRestorers::default() }
    }

    /// Prepares for a message of this model.
    pub(super) fn begin(&mut self, model: &RoundModel, parser: Option<Parser>) {
        if let Some(parser) = parser {
            self.parser = parser;
        }
        self.body = Body::new(model);
    }

    /// Handles the next delta of the message. Returns `true` if the stream must be cancelled.
    pub(super) fn push(&mut self, delta: &Delta, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) -> bool {
        self.length += delta.text.len();
        let (body, restored) = (&mut self.body, &mut self.restored);
        let mut emit = |event: AgentEvent| restored.take(event, emit);
        let mut sink = |event: Event<'_>| body.take(event, reader, &mut emit);
        match delta.kind {
            DeltaKind::Content => self.parser.push(&delta.text, &mut sink),
            DeltaKind::Reasoning => self.parser.push_reasoning(&delta.text, &mut sink),
            DeltaKind::Refusal => self.body.refusal.push_str(&delta.text),
        }
        self.body.over
    }

    /// Marks the message as too long, so that it ends here whatever it contains.
    pub(super) fn cut_short(&mut self) {
        self.body.message.too_long = true;
    }

    /// Ends the message and prepares the parser for the next one. Undecided text of a message that was cut off is not
    /// reported.
    pub(super) fn finish(
        &mut self,
        reason: &FinishReason,
        broke_off: bool,
        reader: &ReadContext<'_>,
        emit: &mut dyn FnMut(AgentEvent),
    ) -> EndedMessage {
        let (body, restored) = (&mut self.body, &mut self.restored);
        let tell = emit;
        let emit = &mut |event: AgentEvent| restored.take(event, tell);
        let mut natives = std::mem::take(&mut self.natives);
        self.length = 0;
        if *reason == FinishReason::Length {
            // Only the last call can have been cut off by the limit.
            natives.last_mut().into_iter().for_each(cut_off);
        }
        if !body.over {
            let called = !natives.is_empty();
            self.parser.finish(reason, &mut |event: Event<'_>| {
                // A message with a native call needs none of its drafts.
                let is_certain = body.message.untagged && reader.tells_reasoning();
                let is_late =
                    matches!(event, Event::Revised { result: Ok(Provenance::Promoted | Provenance::FencedFirst), .. });
                if !(called && !is_certain && is_late) {
                    body.take(event, reader, emit);
                }
            });
            if body.message.untagged {
                // Neither comes from the pieces that are read again.
                let (refusal, too_long) = (std::mem::take(&mut body.refusal), body.message.too_long);
                *body = Body { refusal, ..std::mem::take(body).read_as_answer(reader, emit) };
                body.message.too_long = too_long;
            }
            // Beside a native call text is text, and no call of a message that was cut off runs.
            if natives.is_empty() && !broke_off {
                body.take_arguments(reader, emit);
            }
            if natives.is_empty()
                && !broke_off
                && let Some(near) = self.parser.near_call(&body.collector)
            {
                body.take(near, reader, emit);
            }
            natives.into_iter().for_each(|call| body.take_native(call, reader, emit));
        }
        body.release(emit);
        if !broke_off {
            body.collector.end();
            body.show_settled(reader, emit);
        }
        self.restored.finish(tell);
        self.parser.reset();
        std::mem::replace(&mut self.body, Body::new(reader.model)).into_message(reader)
    }
}

impl Body {
    fn new(model: &RoundModel) -> Self {
        Body { collector: Collector::reading(model.reasoning, model.reasons), ..Body::default() }
    }

    fn take(&mut self, event: Event<'_>, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        if self.over {
            return;
        }
        // A stray think tag of a model that does not reason takes back nothing that is settled.
        if self.collector.is_void(&event) {
            return self.collector.push(event);
        }
        if let Event::Revised { calls, result, .. } = &event {
            let (calls, result) = (calls.clone(), result.clone());
            return self.revise(event, calls, result, reader, emit);
        }
        let event = checked(event, reader);
        if self.ends_message(&event, reader) {
            if self.cut.is_none() {
                self.cut = Some((self.collector.seal(), self.next));
                self.good_before_cut = self.collector.entries().iter().filter(|entry| entry.result.is_ok()).count();
            }
            if let Event::Text { text, .. } | Event::Reasoning { text, .. } = &event {
                self.after_cut += text.len();
            }
            // The stream is cancelled only once nothing that follows can change the calls: no think tag, and
            // no second closing delimiter of the first call.
            self.over = self.collector.is_settled() && !self.may_be_withdrawn();
            if self.over {
                return;
            }
        }
        let is_anothers = matches!(event, Event::Marker { kind: MarkerKind::Turn, .. });
        // From here on the text is an invented turn, which cannot close a call of this one.
        self.over |= is_anothers && self.cut.is_some() && self.collector.is_settled();
        if self.over {
            return;
        }
        if let Event::Moved { to, .. } = event {
            // The text after the supposed call belongs to the message after all.
            if matches!(to, Destination::Drafts | Destination::Content) {
                self.undo_cut(emit);
            }
            self.message.untagged |= to == Destination::Content;
        }
        if reader.held && self.waits_for_a_result(&event, reader) {
            self.over = true;
            return;
        }
        // A call after the cut is dropped anyway.
        if self.cut.is_none() && self.is_one_too_many(&event, reader) {
            (self.message.equal_calls, self.over) = (true, true);
            return;
        }
        if let Some(shown) = self.as_shown(&event, reader).and_then(|shown| self.without_tail(shown)) {
            if self.cut.is_some() { self.hidden.push(shown) } else { self.tell(shown, reader, emit) }
        }
        if let Event::CallEnd { index, result, .. } = &event {
            self.ended(*index, result, reader);
        }
        self.watch(&event, reader);
        self.collector.push(event);
        self.show_settled(reader, emit);
    }

    /// Applies a revision of calls and reports what is new.
    fn revise(
        &mut self,
        event: Event<'_>,
        calls: Range<u32>,
        result: Result<Provenance, Reason>,
        reader: &ReadContext<'_>,
        emit: &mut dyn FnMut(AgentEvent),
    ) {
        let is_example = matches!(result, Ok(Provenance::FencedFirst));
        // The call in a first fence needs approval. Where nobody can give it, and if its arguments are
        // refused, it stays an example.
        if is_example && (reader.unattended || !reader.validator.admits(&event, &self.collector)) {
            return;
        }
        self.collector.push(event);
        match result {
            // They are reported when the message is read again as an answer.
            _ if self.message.untagged && !is_example => return self.restored.extend(calls),
            Ok(Provenance::BeforeProse | Provenance::Hedged) => {
                return calls.for_each(|index| self.doubt(index, reader, emit));
            }
            Ok(provenance) => {
                for index in calls {
                    let promoted = AgentEvent::Promoted { index, id: self.id_of(index, reader), provenance };
                    self.tail = None;
                    if self.cut.is_some() { self.hidden.push(promoted) } else { self.tell(promoted, reader, emit) }
                }
            }
            // A withdrawn call was reported as a call, so its rejection is reported, too.
            Err(reason) if reason.kind == RejectedKind::AfterDamage => {
                for entry in self.collector.entries().iter().filter(|entry| calls.contains(&entry.index)) {
                    if let Err(rejected) = &entry.result {
                        emit(AgentEvent::CallRejected { index: entry.index, rejected: Box::new(rejected.clone()) });
                    }
                }
            }
            Err(_) => {}
        }
        self.show_settled(reader, emit);
    }

    /// Returns the event, unless it is the rest of a malformed call. Text that was held back for that reason is added
    /// to the event that shows that it is not.
    fn without_tail(&mut self, mut event: AgentEvent) -> Option<AgentEvent> {
        match &mut event {
            AgentEvent::Text { text } | AgentEvent::Reasoning { text } => {
                let Some(tail) = &mut self.tail else { return Some(event) };
                tail.push_str(text);
                if is_tail(tail) {
                    return None;
                }
                *text = std::mem::take(tail);
                self.tail = None;
            }
            AgentEvent::CallRejected { rejected, .. } => {
                self.tail = leaves_a_tail(rejected).then(String::new);
            }
            _ => self.tail = None,
        }
        Some(event)
    }

    /// Returns `true` if text after the cut may still turn the calls before it into text of the first one: there are
    /// several, and less than [`READ_ON`] bytes followed.
    fn may_be_withdrawn(&self) -> bool {
        self.cut.is_some() && self.good_before_cut > 1 && self.after_cut < READ_ON
    }

    /// Stops a message that repeats itself.
    fn watch(&mut self, event: &Event<'_>, reader: &ReadContext<'_>) {
        let found = match event {
            Event::Text { text, .. } => self.repeats.push(Region::Content, text, reader.config.max_repeats),
            Event::Reasoning { text, .. } => self.repeats.push(Region::Reasoning, text, reader.config.max_repeats),
            Event::ArgsDelta { text, .. } => {
                // The repetition is inside the call, which is dropped, so no text has to be cut.
                let found = self.repeats_in_call.push(Region::Content, text, reader.config.max_repeats);
                found.map(|found| Repeated { keep: usize::MAX, ..found })
            }
            Event::CallEnd { .. } | Event::Moved { .. } | Event::CallStart { .. } => {
                if !matches!(event, Event::CallStart { .. }) {
                    self.repeats = Repeats::default();
                }
                self.repeats_in_call = Repeats::in_call();
                None
            }
            _ => None,
        };
        // After the cut repetitions do not matter.
        if self.cut.is_none() && found.is_some() {
            self.repeated = found;
            self.over = true;
        }
    }

    /// Returns `true` for a change after a lookup of the same message, and for a call that the message has made already:
    /// a small model writes `{{output}}` in the place of the result, and repeats both calls. The next step is requested
    /// once the result is there.
    fn waits_for_a_result(&self, event: &Event<'_>, reader: &ReadContext<'_>) -> bool {
        let catalog = &reader.displays.setup.catalog;
        let tool = |server: Option<&str>, name: &str| Some(catalog.find(server, name).ok()?.tool);
        let mut made = self.collector.entries().iter().filter_map(|entry| entry.result.as_ref().ok());
        match event {
            Event::CallStart { server, tool: name, .. } => {
                let looked_up = |call: &Call| tool(call.server.as_deref(), &call.tool).is_some_and(looks_up);
                tool(*server, name).is_some_and(may_change) && made.any(looked_up)
            }
            Event::CallEnd { result, .. } => {
                result.as_ref().as_ref().is_ok_and(|call| made.any(|before| guard::is_equal(before, call)))
            }
            _ => false,
        }
    }

    /// Returns `true` for the end of a call that the message has already made as often as allowed.
    fn is_one_too_many(&self, event: &Event<'_>, reader: &ReadContext<'_>) -> bool {
        let Event::CallEnd { result, raw, .. } = event else { return false };
        let is_equal = |entry: &&Entry| match (&entry.result, &**result) {
            (Ok(one), Ok(other)) => guard::is_equal(one, other),
            (Err(one), Err(other)) => one.kind == other.kind && entry.raw == *raw && reader.displays.is_meant(one),
            _ => false,
        };
        self.collector.entries().iter().filter(is_equal).count() >= MAX_EQUAL_CALLS
    }

    /// Handles a call that the text after it makes doubtful: without an approver it becomes text.
    fn doubt(&mut self, index: u32, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        let is_doubted = |entry: &Entry| {
            entry.index == index && entry.result.as_ref().is_ok_and(|call| reader.displays.doubts(call))
        };
        // With an approver the call is asked about; after the cut it is dropped anyway.
        if !reader.unattended || self.cut.is_some() || !self.collector.entries().iter().any(is_doubted) {
            return;
        }
        let Some(rejected) = self.collector.refuse(index, doubted) else { return };
        let rejected = Box::new(rejected.clone());
        if let Some(call) = &rejected.call {
            // A native call like it then stands alone, and runs.
            self.take_written(call);
        }
        emit(AgentEvent::CallRejected { index, rejected });
        // If it was the only call, text after it no longer ends the message.
        self.called = self.collector.entries().iter().any(|entry| is_meant(&entry.result, reader));
    }

    /// Records the end of a call: whether text after it ends the message, and whether a native call may repeat it.
    fn ended(&mut self, index: u32, result: &Result<Call, Rejected>, reader: &ReadContext<'_>) {
        self.called |= is_meant(result, reader);
        self.next = index + 1;
        if let Ok(call) = result
            // Two equal native calls are two calls, so only those of the text are recorded.
            && !self.message.natives.contains_key(&index)
        {
            self.written.push((call.server.clone(), call.tool.clone(), call.arguments.clone()));
        }
    }

    /// Returns the id of a valid call.
    fn id_of(&mut self, index: u32, reader: &ReadContext<'_>) -> String {
        let wanted = self.message.natives.get(&index).and_then(|native| native.id.as_deref());
        self.message.ids.of(index, wanted, reader.displays.conversation)
    }

    /// Converts an event of the parser into one for the caller; `None` if the caller gets no event.
    fn as_shown(&mut self, event: &Event<'_>, reader: &ReadContext<'_>) -> Option<AgentEvent> {
        Some(match event {
            Event::Text { text, .. } => AgentEvent::Text { text: (*text).to_owned() },
            Event::Reasoning { text, .. } => AgentEvent::Reasoning { text: (*text).to_owned() },
            Event::CallStart { index, server, tool, .. } => {
                AgentEvent::CallStarted { index: *index, server: server.map(str::to_owned), tool: (*tool).to_owned() }
            }
            Event::ArgsDelta { index, text, .. } => AgentEvent::ArgsDelta { index: *index, text: (*text).to_owned() },
            Event::CallEnd { index, result, .. } => match &**result {
                Ok(call) => {
                    let id = self.id_of(*index, reader);
                    AgentEvent::CallEnded { index: *index, id, call: Box::new(call.clone()) }
                }
                Err(rejected) => AgentEvent::CallRejected { index: *index, rejected: Box::new(rejected.clone()) },
            },
            Event::Moved { to, .. } => AgentEvent::Reclassified { to: to.region()? },
            Event::Marker { .. } | Event::Revised { .. } => return None,
        })
    }

    /// Shows the display-only calls that are settled.
    fn show_settled(&mut self, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        while let Some(Entry { index, result: Ok(call), .. }) = self.collector.next_settled() {
            if self.cut.is_some_and(|(_, before)| *index >= before) {
                continue;
            }
            let wanted = self.message.natives.get(index).and_then(|native| native.id.as_deref());
            let id = self.message.ids.of(*index, wanted, reader.displays.conversation);
            // A call that needs approval is shown once it is approved.
            let needs_approval = reader.displays.doubts(call) || self.promotes == Some(*index);
            if !needs_approval && reader.displays.shows(call.server.as_deref(), &call.tool) {
                self.message.shown.push(*index);
                emit(AgentEvent::Display(display_call(call, id, *index)));
            }
        }
    }

    /// Returns `true` if the event has text after a call.
    fn ends_message(&self, event: &Event<'_>, reader: &ReadContext<'_>) -> bool {
        let (Event::Text { text, .. } | Event::Reasoning { text, .. }) = event else { return false };
        reader.config.after_call == AfterCall::Cancel && self.called && !text.trim().is_empty()
    }

    /// Undoes the cut: the supposed call was a draft.
    fn undo_cut(&mut self, emit: &mut dyn FnMut(AgentEvent)) {
        self.hidden.drain(..).for_each(emit);
        self.cut = None;
        self.after_cut = 0;
        self.called = false;
        self.written.clear();
    }

    /// Reads the same message again as an answer, since no think tag came: its calls are shown, end it and are
    /// corrected as in any other message. They are reported again in their new role.
    fn read_as_answer(self, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) -> Body {
        let Body { collector, restored, .. } = self;
        let (pieces, entries) = collector.into_pieces();
        let mut entries = entries.into_iter().peekable();
        let mut answer = Body::new(reader.model);
        let span = 0..0;
        for piece in pieces {
            match piece {
                Piece::Text { text, .. } => {
                    answer.take(Event::Text { text: &text, span: span.clone() }, reader, &mut |_| {})
                }
                Piece::Marker { kind, text, .. } | Piece::Syntax { kind, text, .. } => {
                    let marker = Event::Marker { kind, text: &text, span: span.clone() };
                    answer.take(marker, reader, &mut |_| {});
                }
                Piece::Call { index, .. } => {
                    let Some(entry) = entries.next_if(|entry| entry.index == index) else { continue };
                    let tell = restored.contains(&index);
                    answer.read_entry(entry, reader, &mut |event| {
                        if tell {
                            emit(event)
                        }
                    });
                }
            }
        }
        answer.message.untagged = true;
        answer
    }

    fn read_entry(&mut self, entry: Entry, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        let promoted = entry.provenance() == Provenance::Promoted;
        let Entry { index, result, raw, restated, place, .. } = entry;
        let is_withdrawn = result.as_ref().is_err_and(Rejected::is_withdrawn);
        let result = result.or_else(|mut rejected| match rejected.call.take() {
            // Other errors of the call come first, as when it was reported before.
            Some(call) if is_withdrawn => {
                let call = reader.validator.check(*call, &raw).map_err(|wrong| *wrong)?;
                Err(rejected.with_call(call))
            }
            call => Err(Rejected { call, ..rejected }),
        });
        let result = result.and_then(|call| {
            // The later promotion says nothing about the call's place.
            let call = Call { provenance: if promoted { place } else { call.provenance }, ..call };
            reader.validator.check(call, &raw).map_err(|rejected| *rejected)
        });
        // A draft is certain to be a call only if its endpoint would have told reasoning apart.
        self.promotes = (promoted && result.is_ok() && !reader.tells_reasoning()).then_some(index);
        let end = Event::CallEnd { index, result: Box::new(result), raw: &raw, restated, span: 0..0 };
        self.take(end, reader, emit);
        if self.promotes.is_some() && !self.over {
            let (calls, result) = (index..index + 1, Ok(Provenance::Promoted));
            self.take(Event::Revised { calls, result, span: 0..0 }, reader, emit);
        }
    }

    /// Adds a native call, after everything else in the message. If the text contains the same call, it is only one:
    /// some endpoints leave the text from which they read it.
    fn take_native(&mut self, call: NativeRead, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        let NativeRead { native, mut result, raw } = call;
        let index = self.next;
        // The text of repaired arguments would contradict the call, so it is not reported as a preview.
        let plain = result.as_ref().ok().filter(|call| call.repairs.is_empty()).map(|call| call.raw_arguments.clone());
        if index as usize >= reader.config.limits.calls {
            let limit = reader.config.limits.calls;
            result = result.and_then(|call| Err(past_limit(call, &raw, limit)));
        }
        // Arguments are compared after coercion by the schema.
        let result = result.and_then(|call| reader.validator.check(call, &raw).map_err(|rejected| *rejected));
        if result.as_ref().is_ok_and(|call| self.take_written(call)) {
            return;
        }
        if !self.collector.is_empty() {
            // Markers of some dialects are valid only at the start of a line.
            self.take(Event::Marker { kind: MarkerKind::Wrapper, text: "\n", span: 0..0 }, reader, emit);
        }
        let (server, tool) = match &result {
            Ok(call) => (call.server.clone(), Some(call.tool.clone())),
            Err(rejected) => (rejected.server.clone(), rejected.tool.clone()),
        };
        if let Some(tool) = &tool {
            let (server, span) = (server.as_deref(), 0..0);
            self.take(Event::CallStart { index, server, tool, span }, reader, emit);
        }
        if let Some(text) = &plain {
            self.take(Event::ArgsDelta { index, text, span: 0..0 }, reader, emit);
        }
        self.message.natives.insert(index, native);
        let restated = false;
        self.take(Event::CallEnd { index, result: Box::new(result), raw: &raw, restated, span: 0..0 }, reader, emit);
    }

    /// Returns `true` if the message's text contains the same call as this native one; each call in the text counts
    /// once.
    fn take_written(&mut self, call: &Call) -> bool {
        let same =
            |(s, t, a): &(Option<String>, String, Value)| (s, t, a) == (&call.server, &call.tool, &call.arguments);
        self.written.iter().position(same).map(|at| self.written.swap_remove(at)).is_some()
    }

    fn into_message(self, reader: &ReadContext<'_>) -> EndedMessage {
        let (mut pieces, mut entries) = self.collector.into_pieces();
        pieces.truncate(self.cut.map_or(pieces.len(), |(before, _)| before));
        entries.retain(|e| pieces.iter().any(|p| matches!(p, Piece::Call { index, .. } if *index == e.index)));
        // These were not checked when they ended, because they were drafts or examples.
        let is_late = |e: &&mut Entry| matches!(e.provenance(), Provenance::Promoted | Provenance::FencedFirst);
        entries.iter_mut().filter(is_late).for_each(|e| reader.validator.check_entry(e));
        keep_syntax(&mut pieces, &entries);
        let repeats = self.repeated.as_ref().map(|repeated| repeated.times);
        let refusal = Some(self.refusal).filter(|text| !text.trim().is_empty());
        let mut message = EndedMessage { pieces, entries, repeats, refusal, ..self.message };
        if let Some(Repeated { region, keep, .. }) = self.repeated {
            message.cut_text_after_calls(region, keep);
        }
        message.drop_invented();
        message
    }
}

/// Returns `true` if text after a call ends the message. If no correction is left, the text after a rejected call may
/// be the model's whole answer, unless the end of the call is unknown.
fn is_meant(result: &Result<Call, Rejected>, reader: &ReadContext<'_>) -> bool {
    match result {
        Ok(call) => !reader.displays.shows(call.server.as_deref(), &call.tool),
        Err(rejected) => reader.displays.is_meant(rejected) && (reader.correcting || has_no_end(rejected)),
    }
}

/// Checks a call at its end: its arguments against the schema, and its provenance.
fn checked<'a>(event: Event<'a>, reader: &ReadContext<'_>) -> Event<'a> {
    match event {
        Event::CallEnd { index, result, raw, restated, span } => {
            let result = match *result {
                Ok(call) => reader.validator.check(call, raw).map_err(|rejected| *rejected),
                Err(rejected) => Err(rejected),
            };
            let Displays { setup, conversation, .. } = &reader.displays;
            // The validator comes first, since copies are compared with coerced arguments; `judged` needs the
            // provenance that `marked` sets.
            let result = result.map(|call| reader.origins.marked(call, raw, setup, conversation));
            let result = result.and_then(|call| judged(call, raw, reader.unattended, &reader.displays));
            // Where no correction is left, the tool decides about a stale edit.
            let result = match reader.correcting {
                true => {
                    let told = ShownContext { setup, conversation, origins: reader.origins };
                    result.and_then(|call| stale::checked(call, raw, &told))
                }
                false => result,
            };
            Event::CallEnd { index, result: Box::new(result), raw, restated, span }
        }
        event => event,
    }
}

/// Rejects the last call before the output limit, which may be incomplete, unless its arguments are complete.
fn cut_off(read: &mut NativeRead) {
    if serde_json::from_str::<IgnoredAny>(&read.native.arguments).is_err()
        && let Ok(call) = &read.result
    {
        let message = "its arguments end too early".to_owned();
        read.result = Err(Rejected::of(call.clone(), RejectedKind::Truncated, read.raw.as_str(), message));
    }
}

fn past_limit(call: Call, raw: &str, limit: usize) -> Rejected {
    Rejected::of(call, RejectedKind::Limit, raw, format!("a message may hold at most {limit} calls"))
}
