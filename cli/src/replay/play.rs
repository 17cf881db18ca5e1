//! A recorded round through the parser.

use std::collections::BTreeMap;

use super::settings::RoundSettings;
use toolgraft::event::{Assembled, Collector, Entry, OwnedEvent, Piece, Provenance, Region, Rejected};
use toolgraft::message::{DeltaKind, FinishReason};
use toolgraft::parse::NotACall;
use toolgraft::transcript::{Round, TimedDelta};
use toolgraft::turn;
use toolgraft::{Call, Parser};

/// The result of parsing a recorded round.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// All text of the round in the order of arrival; spans refer to it.
    pub(super) stream: String,
    /// Parser events, with the results of validation.
    pub(super) events: Vec<OwnedEvent>,
    /// The message as pieces in the order of the text.
    pub(super) pieces: Vec<Piece>,
    /// The message assembled from the events.
    pub(super) assembled: Assembled,
    /// Candidates for calls that the parser classified as text.
    pub(super) not_calls: Vec<NotACall>,
    /// Position at which a turn stops reading; `None` if it reads the whole message.
    pub(super) stop: Option<Stop>,
    /// Numbers of the calls within the session, by their index in the round.
    pub(super) numbers: BTreeMap<u32, usize>,
    /// Numbers of the native calls within the session, in order.
    pub(super) native_numbers: Vec<usize>,
}

/// The position at which a turn stops reading a message: the first text after a call, since the model wrote that
/// without the call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    /// Number of pieces before the position.
    pub(super) pieces: usize,
    /// Number of bytes before the position.
    pub(super) bytes: usize,
}

/// A part of the answer that a turn reads, for display.
pub(super) enum Shown<'a> {
    Text(Region, &'a str),
    /// A call with its number in the session.
    Call(usize, &'a Call),
    Rejected(&'a Rejected),
}

impl Played {
    /// Returns the parts of the answer that a turn reads, in the order of the text.
    pub(super) fn shown(&self) -> impl Iterator<Item = Shown<'_>> {
        let read = self.stop.map_or(self.pieces.len(), |stop| stop.pieces);
        self.pieces[..read].iter().filter_map(|piece| match piece {
            Piece::Text { region, text, .. } => Some(Shown::Text(*region, text)),
            Piece::Syntax { text, .. } => Some(Shown::Text(Region::Reasoning, text)),
            Piece::Marker { .. } => None,
            Piece::Call { index, .. } => Some(match self.result(*index)? {
                Ok(call) => Shown::Call(self.numbers[index], call),
                Err(rejected) => Shown::Rejected(rejected),
            }),
        })
    }

    /// Returns the piece that contains this byte offset.
    pub(super) fn piece_at(&self, byte: u64) -> Option<&Piece> {
        let span = |piece: &Piece| match piece {
            Piece::Text { span, .. }
            | Piece::Marker { span, .. }
            | Piece::Syntax { span, .. }
            | Piece::Call { span, .. } => span.clone(),
        };
        let next = self.pieces.partition_point(|piece| span(piece).end <= byte);
        self.pieces.get(next).filter(|piece| span(piece).contains(&byte))
    }

    /// Returns the call or rejected call with this index.
    pub(super) fn result(&self, index: u32) -> Option<Result<&Call, &Rejected>> {
        self.assembled.entries.iter().find(|entry| entry.index == index).map(|entry| entry.result.as_ref())
    }

    /// Returns `true` if a turn reads the call with this index, so that it may run.
    pub(super) fn is_read(&self, index: u32) -> bool {
        let place = |piece: &Piece| matches!(piece, Piece::Call { index: at, .. } if *at == index);
        let Some(stop) = self.stop else { return true };
        self.pieces.iter().position(place).is_none_or(|at| at < stop.pieces)
    }

    /// Returns the calls that a turn reads, with their indices, in the order in which they are made.
    pub(super) fn calls(&self) -> impl Iterator<Item = (u32, &Call)> {
        let read = self.assembled.entries.iter().filter(|entry| self.is_read(entry.index));
        read.filter_map(|entry| Some((entry.index, entry.result.as_ref().ok()?)))
    }

    /// Returns the text that a turn does not read; `None` if it reads the whole message.
    pub(super) fn unread(&self) -> Option<&str> {
        self.stop.map(|stop| self.stream[stop.bytes..].trim())
    }

    /// Assigns numbers to the calls, following the last one of the session. A recorded id `call_7` has the number 7.
    pub(super) fn number(&mut self, round: &Round, last: &mut usize) {
        let recorded = |index: u32| {
            let call = round.calls.iter().find(|call| call.index == index)?;
            call.id.as_deref()?.strip_prefix("call_")?.parse::<usize>().ok().filter(|n| *n > 0)
        };
        let indices: Vec<u32> = self.calls().map(|(index, _)| index).collect();
        for index in indices {
            *last = recorded(index).unwrap_or(*last + 1);
            self.numbers.insert(index, *last);
        }
        for _ in &round.native_calls {
            *last += 1;
            self.native_numbers.push(*last);
        }
    }
}

/// Parses a recorded round, in the chunks in which it was streamed.
pub(super) fn play(round: &Round, settings: &RoundSettings) -> Played {
    let mut parser = Parser::new(settings.config.clone());
    parser.keep_not_calls();
    let mut collector = Collector::new();
    let mut stream = String::new();
    let mut events = Vec::new();
    {
        let mut sink = |event: toolgraft::Event<'_>| {
            // What its schema refuses stays an example.
            if !settings.validator.admits(&event, &collector) {
                return;
            }
            collector.push(event.clone());
            let mut event = event.into_owned();
            settings.settle(&mut event);
            events.push(event);
        };
        for TimedDelta { kind, text, .. } in &round.deltas {
            stream.push_str(text);
            match kind {
                DeltaKind::Reasoning => parser.push_reasoning(text, &mut sink),
                _ => parser.push(text, &mut sink),
            }
        }
        parser.finish(&finish_reason(round), &mut sink);
    }
    if let Some(near) = parser.near_call(&collector) {
        events.push(near.clone().into_owned());
        collector.push(near);
    }
    let pieces = collector.clone().into_pieces().0;
    let mut assembled = collector.finish();
    settings.validator.check_all(&mut assembled);
    if assembled.answer_in_reasoning {
        events = events.into_iter().flat_map(|event| settle_restored(event, &assembled)).collect();
    }
    let stop = stop(&pieces, &assembled, round);
    let not_calls = parser.not_calls().to_vec();
    Played { stream, events, pieces, assembled, not_calls, stop, ..Played::default() }
}

/// Returns the position at which a turn stops reading. Calls that the recording contains as made were read. If the
/// answer was first classified as reasoning because no tag came, a turn reads all of it.
fn stop(pieces: &[Piece], assembled: &Assembled, round: &Round) -> Option<Stop> {
    if assembled.answer_in_reasoning {
        return None;
    }
    let made = |index: u32| round.calls.iter().any(|call| call.index == index && call.result.is_ok());
    let last_made = pieces.iter().rposition(|piece| matches!(piece, Piece::Call { index, .. } if made(*index)));
    let mut called = false;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Call { index, .. } => {
                let entry = assembled.entries.iter().find(|entry| entry.index == *index);
                called |= entry.is_some_and(is_meant);
            }
            Piece::Text { text, span, .. }
                if called && !text.trim().is_empty() && last_made.is_none_or(|made| made < at) =>
            {
                return usize::try_from(span.start).ok().map(|bytes| Stop { pieces: at, bytes });
            }
            _ => {}
        }
    }
    None
}

/// Returns `true` if a turn stops reading at text after this entry, because it is a call or was meant as one.
fn is_meant(entry: &Entry) -> bool {
    match &entry.result {
        // These become calls only once the message has ended, so that a turn has read all of it.
        Ok(_) => !matches!(entry.provenance(), Provenance::Promoted | Provenance::FencedFirst),
        Err(rejected) => turn::reaction(rejected.kind) == turn::Reaction::Correct,
    }
}

/// Returns the event with validated arguments; for an event that restores several calls, one event for each of them.
fn settle_restored(mut event: OwnedEvent, assembled: &Assembled) -> Vec<OwnedEvent> {
    let entry = |index: u32| assembled.entries.iter().find(|entry| entry.index == index);
    match &mut event {
        OwnedEvent::CallEnd { index, rejected: Some(draft), .. } => {
            if let Some(Entry { result: Ok(call), .. }) = entry(*index) {
                draft.call = Some(Box::new(call.clone()));
            }
        }
        OwnedEvent::Revised { calls, provenance: Some(_), span, .. } => {
            let settled = |index: u32| {
                let result = entry(index)?.result.as_ref();
                let (provenance, reason) =
                    (result.ok().map(|call| call.provenance), result.err().map(Rejected::reason));
                let (calls, reason, span) = (index..index + 1, reason.map(Box::new), span.clone());
                Some(OwnedEvent::Revised { calls, provenance, reason, span })
            };
            return calls.clone().filter_map(settled).collect();
        }
        _ => {}
    }
    vec![event]
}

/// Returns the finish reason of a recorded round. A round without `finish` was cut off, so that an open call in it is
/// truncated.
pub(super) fn finish_reason(round: &Round) -> FinishReason {
    round.finish.as_ref().map_or_else(|| FinishReason::Other("cut off".to_owned()), |f| f.reason.clone())
}
