//! A conversation as the store keeps it: without the middle of results that are too large.
//!
//! The chat itself has them whole, and a file that a user names does.

use serde_json::Value;

use toolgraft::conversation::HistoryEntry;
use toolgraft::outcome::{self, Cut, InterfaceEvent, MEDIA_EVENT, MEDIUM_SHOWN};
use toolgraft::{Conversation, Outcome};

/// Maximum size in bytes of a result's text in the store, and likewise of its structured content.
pub(super) const RESULT_BYTES: usize = 256 << 10;

/// Maximum size in bytes of a result's pictures, audio and other events in the store.
pub(super) const EVENT_BYTES: usize = 4 << 20;

/// Maximum size in bytes of the line that replaces a missing part of a text.
const NOTE_BYTES: usize = 128;

/// Returns the conversation with its large results shortened; `None` if none is large.
pub(super) fn cut(conversation: &Conversation) -> Option<Conversation> {
    let is_large =
        |entry: &HistoryEntry| matches!(entry, HistoryEntry::Outcome { outcome, .. } if cut_outcome(outcome).is_some());
    if !conversation.entries().iter().any(is_large) {
        return None;
    }
    let entries = conversation.entries().iter().map(|entry| match entry {
        HistoryEntry::Outcome { id, outcome } => {
            HistoryEntry::Outcome { id: id.clone(), outcome: cut_outcome(outcome).unwrap_or_else(|| outcome.clone()) }
        }
        entry => entry.clone(),
    });
    // It was one, and has the same calls and outcomes.
    Conversation::try_from(entries.collect::<Vec<_>>()).ok()
}

fn cut_outcome(outcome: &Outcome) -> Option<Outcome> {
    let text = cut_text(&outcome.text);
    let keeps_structure = outcome.structured.as_ref().is_none_or(|value| length(value) <= RESULT_BYTES);
    let events: usize = outcome.events.iter().map(event_length).sum();
    if text.is_none() && keeps_structure && events <= EVENT_BYTES {
        return None;
    }
    let mut kept = Outcome::new(outcome.status, text.unwrap_or_else(|| outcome.text.clone()));
    kept.took = outcome.took;
    kept.structured = outcome.structured.clone().filter(|_| keeps_structure);
    let mut left = EVENT_BYTES;
    for event in &outcome.events {
        // A large picture stays in the form that the model has seen; what is too large even so is left
        // out.
        let event = if event_length(event) <= left { event.clone() } else { as_shown(event) };
        if let Some(rest) = left.checked_sub(event_length(&event)) {
            left = rest;
            kept.events.push(event);
        }
    }
    Some(kept)
}

/// Returns the beginning and end of a text above the maximum size, with a line on the missing part between them; `None`
/// for a shorter text.
fn cut_text(text: &str) -> Option<String> {
    let is_large = text.len() > RESULT_BYTES;
    let Cut { head, missing, tail, .. } = outcome::cut(text, RESULT_BYTES - NOTE_BYTES).filter(|_| is_large)?;
    Some(format!("{head}\n[{missing} bytes are missing here: this conversation was stored without them]\n{tail}"))
}

/// Returns an event whose picture was scaled down for the model, with only that smaller form of it.
fn as_shown(event: &InterfaceEvent) -> InterfaceEvent {
    let mut event = event.clone();
    // Only a picture that was made smaller has another form.
    if event.kind == MEDIA_EVENT
        && let Some(medium) = event.data.as_object_mut()
        && medium.get(MEDIUM_SHOWN).is_some_and(Value::is_string)
        && let Some(shown) = medium.remove(MEDIUM_SHOWN)
    {
        medium.insert("data".to_owned(), shown);
        medium.insert("mimeType".to_owned(), "image/jpeg".into());
    }
    event
}

fn event_length(event: &InterfaceEvent) -> usize {
    event.kind.len() + length(&event.data)
}

/// Returns the approximate size of a JSON value as text in bytes, without serializing it.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| length(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => members.iter().map(|(name, item)| name.len() + length(item) + 4).sum::<usize>() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgraft::conversation::{Assistant, HistoryCall, Part};
    use toolgraft::{Call, Dialect};

    use super::*;

    #[test]
    fn a_large_text_keeps_its_head_and_its_tail() {
        assert_eq!(cut_text(&"x".repeat(RESULT_BYTES)), None);
        for text in ["x".repeat(RESULT_BYTES + 1), "\u{1f600}".repeat(RESULT_BYTES)] {
            let text = format!("begin{text}the end");
            let cut = cut_text(&text).unwrap();
            assert!(cut.starts_with("begin") && cut.ends_with("the end") && cut.len() <= RESULT_BYTES);
            let (head, rest) = cut.split_once("\n[").unwrap();
            let (missing, tail) =
                rest.split_once(" bytes are missing here: this conversation was stored without them]\n").unwrap();
            assert_eq!(head.len() + missing.parse::<usize>().unwrap() + tail.len(), text.len());
            assert_eq!(cut_text(&cut), None, "it is cut once");
        }
    }

    #[test]
    fn structure_and_media_are_kept_within_their_limits() {
        let large = "A".repeat(EVENT_BYTES + 1);
        let small = Outcome::result("t").with_structured(json!({ "a": 1 })).with_event("mcp_meta", json!({ "b": 1 }));
        assert_eq!(cut_outcome(&small), None);
        // It is not shown to the model, and stays one that is not.
        let hidden = json!({ "kind": "image", "mimeType": "image/png", "data": "QUJD", "shown": null });
        let outcome = small
            .clone()
            .with_structured(json!(["x".repeat(RESULT_BYTES)]))
            .with_event(
                MEDIA_EVENT,
                json!({ "kind": "image", "mimeType": "image/png", "data": large, "shown": "QUJD" }),
            )
            .with_event(MEDIA_EVENT, hidden.clone())
            .with_event(MEDIA_EVENT, json!({ "kind": "audio", "data": large }));
        let cut = cut_outcome(&outcome).unwrap();
        let expected = Outcome::result("t")
            .with_event("mcp_meta", json!({ "b": 1 }))
            .with_event(MEDIA_EVENT, json!({ "kind": "image", "mimeType": "image/jpeg", "data": "QUJD" }))
            .with_event(MEDIA_EVENT, hidden);
        assert_eq!(cut, expected);
    }

    #[test]
    fn only_what_is_large_is_another_conversation() {
        let mut conversation = Conversation::from_user("Hi");
        let call = |id: &str| HistoryCall::new(id, Call::new(Dialect::UseMcpTool, "read", json!({})), "");
        let mut message = Assistant::text("I read both.");
        message.parts.extend(["1", "2"].map(|id| Part::Call(call(id))));
        conversation.push_assistant(message).unwrap();
        conversation.answer("1", Outcome::result("small")).unwrap();
        conversation.answer("2", Outcome::error("x".repeat(RESULT_BYTES * 2))).unwrap();
        let stored = cut(&conversation).unwrap();
        assert_eq!(stored.entries()[..3], conversation.entries()[..3]);
        assert_eq!(stored.entries().len(), conversation.entries().len());
        assert_eq!(cut(&stored), None);
    }
}
