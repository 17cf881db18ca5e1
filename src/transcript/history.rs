//! Converts a stored [`Conversation`] into a [`Recording`].
//!
//! A conversation has the messages, calls and outcomes, and the calls as the model wrote them. It has no prompt, no
//! times and no tools that were not called. For a called tool it has the arguments, so the tools of the recording
//! accept arguments of the types that they were given.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{CutPlace, CutReason, Finish, Note, RecordedCall, RecordedNotice, RecordedOutcome, Recording, Round};
use crate::conversation::{Assistant, Conversation, HistoryEntry, Part};
use crate::event::{Call, MarkerKind, RejectedKind};
use crate::message::{DeltaKind, FinishReason, Message, ReasoningCalls, ReasoningMode};
use crate::tools::schema::type_of;
use crate::tools::{ACCESS_RESOURCE, Resource, Server, Tool};

impl From<&Conversation> for Recording {
    /// Creates a round of the recording for each message of the model.
    fn from(conversation: &Conversation) -> Self {
        let mut recording = Recording::default();
        // The reasoning is kept separately, and a call inside the reasoning that ran is in the text.
        recording.session.reasoning = Some(ReasoningMode::Off);
        recording.session.reasoning_calls = Some(ReasoningCalls::Ignore);
        let mut next = Round::default();
        for entry in conversation.entries() {
            match entry {
                HistoryEntry::User(said) => {
                    next.messages.push(Message { images: said.images.clone(), ..Message::user(&said.text) });
                }
                HistoryEntry::Assistant(message) => {
                    answer(message, &mut next);
                    recording.rounds.push(std::mem::take(&mut next));
                }
                HistoryEntry::Outcome { id, outcome } => {
                    recording.last_round().outcomes.push(RecordedOutcome::new(id, outcome.clone()));
                }
                HistoryEntry::Note { text } => recording.last_round().notices.push(RecordedNotice::new("note", text)),
            }
        }
        if !next.messages.is_empty() {
            recording.cut = Some(CutPlace { line: 0, reason: CutReason::NoAnswer });
            recording.rounds.push(next);
        }
        if let Some(first) = recording.rounds.first_mut() {
            first.tools = Some(tools(conversation));
        }
        let text = "a stored conversation: it has no prompt, no times, and only the tools that were called".to_owned();
        recording.notes.push(Note { line: 0, text });
        recording
    }
}

/// Adds a message of the model to a round, as the model wrote it.
fn answer(message: &Assistant, round: &mut Round) {
    let mut text = String::new();
    for part in &message.parts {
        match part {
            Part::Text { text: said } => text.push_str(said),
            // The reasoning is kept separately.
            Part::Marker { kind: MarkerKind::ThinkOpen | MarkerKind::ThinkClose, .. } => {}
            Part::Marker { text: marker, .. } => text.push_str(marker),
            Part::Call(call) => {
                text.push_str(&call.raw);
                let found = RecordedCall::new(index(round), Ok((*call.call).clone()));
                round.calls.push(found.with_id(call.id.clone()));
            }
            Part::Rejected { rejected, native, .. } => {
                match native {
                    Some(native) => round.native_calls.push(native.clone()),
                    // Their text is part of the message's text already.
                    None if matches!(rejected.kind, RejectedKind::InReasoning | RejectedKind::NearCall) => {}
                    None => text.push_str(&rejected.raw),
                }
                if native.is_none() {
                    round.calls.push(RecordedCall::new(index(round), Err((**rejected).clone())));
                }
            }
        }
    }
    round.say(DeltaKind::Reasoning, &message.reasoning);
    round.say(DeltaKind::Content, text);
    round.finish = (!message.cut_off).then(|| Finish::new(FinishReason::Stop));
}

fn index(round: &Round) -> u32 {
    u32::try_from(round.calls.len()).unwrap_or(u32::MAX)
}

/// Returns the servers and tools that were called, with schemas made from the arguments.
fn tools(conversation: &Conversation) -> Vec<Server> {
    let mut servers: BTreeMap<Option<String>, CalledTools> = BTreeMap::new();
    for called in conversation.messages().flat_map(Assistant::calls) {
        servers.entry(called.call.server.clone()).or_default().take(&called.call);
    }
    servers.into_iter().map(|(name, called)| called.server(name)).collect()
}

/// The tools of one server that were called, and their arguments.
#[derive(Default)]
struct CalledTools {
    /// The JSON types of each argument's values, by tool and argument.
    tools: BTreeMap<String, BTreeMap<String, BTreeSet<&'static str>>>,
    resources: BTreeSet<String>,
}

impl CalledTools {
    fn take(&mut self, call: &Call) {
        let uri = || call.arguments.get("uri")?.as_str().map(str::to_owned);
        if call.tool == ACCESS_RESOURCE {
            self.resources.extend(uri());
            return;
        }
        let arguments = self.tools.entry(call.tool.clone()).or_default();
        for (name, value) in call.arguments.as_object().into_iter().flatten() {
            arguments.entry(name.clone()).or_default().insert(type_of(value));
        }
    }

    fn server(self, name: Option<String>) -> Server {
        let tools = self.tools.into_iter().map(|(tool, arguments)| {
            let properties: Map<String, Value> =
                arguments.into_iter().map(|(name, kinds)| (name, json!({ "type": kinds }))).collect();
            let schema = json!({ "type": "object", "properties": properties });
            Tool { server: name.clone(), ..Tool::new(tool).with_schema(schema) }
        });
        let tools = tools.collect();
        let resources = self.resources.into_iter().map(Resource::new).collect();
        Server { name, tools, resources, ..Server::default() }
    }
}
