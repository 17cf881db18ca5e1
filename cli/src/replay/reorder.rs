//! Events as they turned out in the end: for showing a round after it is over.

use toolgraft::call::{Reason, Rejected, RejectedKind};
use toolgraft::event::{OwnedEvent, Region};

/// The events with every [`OwnedEvent::Reclassified`] and [`OwnedEvent::Restored`] carried
/// out and taken off.
pub(super) fn settled(events: &[OwnedEvent]) -> Vec<OwnedEvent> {
    let mut settled: Vec<OwnedEvent> = Vec::with_capacity(events.len());
    for event in events {
        match event {
            OwnedEvent::Reclassified { to, drafts, .. } => settled.iter_mut().for_each(|e| reclassify(e, *to, *drafts)),
            OwnedEvent::Restored { index, reason, .. } => {
                settled.iter_mut().for_each(|e| restore(e, *index, reason.as_deref()));
            }
            other => settled.push(other.clone()),
        }
    }
    settled
}

fn restore(event: &mut OwnedEvent, restored: u32, reason: Option<&Reason>) {
    let OwnedEvent::CallEnd { index, call, rejected, .. } = event else { return };
    if *index != restored {
        return;
    }
    match reason {
        Some(reason) => rejected.iter_mut().for_each(|rejected| rejected.set_reason(reason.clone())),
        None => *call = rejected.take().and_then(|rejected| rejected.call),
    }
}

fn reclassify(event: &mut OwnedEvent, to: Region, drafts: bool) {
    match (&mut *event, to) {
        (OwnedEvent::Reasoning { text, syntax, span }, Region::Content) => {
            let (text, span) = (std::mem::take(text), span.clone());
            *event = match *syntax {
                Some(kind) => OwnedEvent::Marker { kind, text, span },
                None => OwnedEvent::Text { text, span },
            };
        }
        (OwnedEvent::Text { text, span }, Region::Reasoning) => {
            *event = OwnedEvent::Reasoning { text: std::mem::take(text), syntax: None, span: span.clone() };
        }
        (OwnedEvent::Marker { kind, text, span }, Region::Reasoning) if drafts && kind.is_call_syntax() => {
            let syntax = Some(*kind);
            *event = OwnedEvent::Reasoning { text: std::mem::take(text), syntax, span: span.clone() };
        }
        (OwnedEvent::CallEnd { call, rejected, raw, .. }, Region::Reasoning) if drafts => {
            match (call.take(), rejected) {
                (Some(call), rejected) => {
                    *rejected = Some(Box::new(Rejected::draft(*call, raw.as_str())));
                }
                (None, Some(rejected)) => {
                    rejected.kind = RejectedKind::InReasoning;
                    RejectedKind::in_reasoning_message().clone_into(&mut rejected.message);
                }
                (None, None) => {}
            }
        }
        _ => {}
    }
}
