//! A replay as lines of JSON.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::explain::GivenBack;
use super::play::Played;
use super::settings::RoundSettings;
use super::view::{AGAINST, Answered, At, Totals, View};
use crate::reading::Message;
use toolgraft::transcript::{Recording, Round, import::Format};
use toolgraft::wire::set_member;

/// Writes a replay as lines of JSON objects; each has `type`, and all but the summary have `file`.
pub(super) struct ReplayLines<W> {
    pub(super) out: W,
}

impl<W: Write> ReplayLines<W> {
    fn line(&mut self, place: Value, fields: Value) -> io::Result<()> {
        let mut object = Map::new();
        // `type` first, then the place.
        let Value::Object(mut fields) = fields else { return Ok(()) };
        object.extend(fields.shift_remove_entry("type"));
        if let Value::Object(place) = place {
            object.extend(place);
        }
        object.extend(fields);
        serde_json::to_writer(&mut self.out, &object)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    /// Writes a serialized value with its `type`.
    fn tagged(&mut self, place: Value, kind: &str, value: &impl serde::Serialize) -> io::Result<()> {
        let mut fields = serde_json::to_value(value)?;
        set_member(&mut fields, "type", kind);
        self.line(place, fields)
    }
}

fn whole(at: At<'_>) -> Value {
    json!({ "file": at.file, "recording": at.recording })
}

fn within(at: At<'_>) -> Value {
    json!({ "file": at.file, "recording": at.recording, "round": at.round })
}

impl<W: Write> View for ReplayLines<W> {
    fn recording(&mut self, at: At<'_>, _: usize, format: Format, recording: &Recording) -> io::Result<()> {
        let mut fields = serde_json::to_value(&recording.session)?;
        set_member(&mut fields, "format", json!(format));
        set_member(&mut fields, "rounds", recording.rounds.len());
        self.tagged(whole(at), "recording", &fields)?;
        recording
            .notes
            .iter()
            .try_for_each(|note| self.line(whole(at), json!({ "type": "note", "line": note.line, "text": note.text })))
    }

    fn round(&mut self, at: At<'_>, round: &Round, settings: &RoundSettings) -> io::Result<()> {
        let config = &settings.config;
        let fields = json!({
            "type": "round", "profile": settings.profile, "dialect": config.dialects.to_string(),
            "reasoning": config.reasoning, "reasoning_calls": config.reasoning_calls,
            "tools": config.catalog.as_ref().map(|c| c.tools().count()), "deltas": round.deltas.len(),
        });
        self.line(within(at), fields)?;
        round.messages.iter().try_for_each(|message| self.tagged(within(at), "message", message))
    }

    fn events(&mut self, at: At<'_>, played: &Played) -> io::Result<()> {
        played.events.iter().try_for_each(|event| self.line(within(at), serde_json::to_value(event)?))
    }

    fn answered(&mut self, at: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        round.native_calls.iter().try_for_each(|call| self.tagged(within(at), "native_call", call))?;
        let finish = json!({
            "type": "finish", "reason": round.finish.as_ref().map(|f| f.reason.as_str()),
            "bytes": played.stream.len(), "read": played.stop.map(|stop| stop.bytes), "ms": round.finish.as_ref().and_then(|f| f.ms),
        });
        self.line(within(at), finish)?;
        self.tagged(within(at), "result", &Message::of(&played.assembled, |_| None))
    }

    fn given_back(&mut self, at: At<'_>, list: &[GivenBack]) -> io::Result<()> {
        list.iter().try_for_each(|entry| self.tagged(within(at), "given_back", entry))
    }

    fn outcome(&mut self, at: At<'_>, answered: &Answered<'_>) -> io::Result<()> {
        let fields = json!({
            "type": "outcome", "id": answered.id, "name": answered.name, "outcome": answered.outcome,
        });
        self.line(within(at), fields)
    }

    fn recording_end(&mut self, at: At<'_>, recording: &Recording) -> io::Result<()> {
        match recording.cut {
            Some(cut) => self.line(whole(at), json!({ "type": "cut", "line": cut.line, "message": cut.to_string() })),
            None => Ok(()),
        }
    }

    fn checked(&mut self, file: &str, differences: &[String]) -> io::Result<()> {
        let fields =
            json!({ "type": "check", "against": AGAINST, "ok": differences.is_empty(), "differences": differences });
        self.line(json!({ "file": file }), fields)
    }

    fn summary(&mut self, totals: &Totals) -> io::Result<()> {
        self.tagged(json!({}), "summary", totals)
    }
}
