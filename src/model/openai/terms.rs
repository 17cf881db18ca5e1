//! The restrictions of an endpoint on requests for one of its models, learned from its refusals.

use serde_json::{Map, Value};

use crate::conversation::shape::system_to_user;
use crate::message::chunk::REASONING_CONTENT;
use crate::model::said::says;
use crate::model::{ModelError, Request};

/// The restrictions that an endpoint has for requests to one of its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Terms {
    /// `true` if messages with native calls must contain the reasoning before them.
    pub(super) reasoning: bool,
    /// `true` if the role `system` is refused, so that the system text is put before the first user message.
    no_system: bool,
    /// `true` if the field `stream_options` is refused.
    no_stream_options: bool,
    /// `true` if the field `reasoning_effort`, or one of its levels, is refused.
    no_effort: bool,
    /// `true` if the level `none` of `reasoning_effort`, which turns reasoning off, is refused.
    always_thinks: bool,
    /// `true` if probabilities of tokens (`logprobs`) are refused.
    pub(super) no_alternatives: bool,
}

/// The request field for the amount of reasoning.
const EFFORT: &str = "reasoning_effort";

impl Terms {
    /// Returns these restrictions and the one that the refusal of the request reveals; `None` if it reveals no new one.
    pub(super) fn told_by(self, error: &ModelError, request: &Request, body: &Map<String, Value>) -> Option<Self> {
        // First, since it comes with other statuses than those below as well.
        if request.alternatives && !self.no_alternatives && refuses_alternatives(error) {
            return Some(Terms { no_alternatives: true, ..self });
        }
        let ModelError::Refused { status: 400 | 422 | 500, message, .. } = error else { return None };
        let words = message.to_lowercase();
        let has_system = match body.get("messages") {
            Some(messages) => messages[0]["role"] == "system",
            None => request.messages.first().is_some_and(|first| first.role == crate::message::Role::System),
        };
        let thought = request.messages.iter().any(|message| message.reasoning.is_some()) || has_reasoning(body);
        let told = match () {
            () if thought && words.contains(REASONING_CONTENT) => Terms { reasoning: true, ..self },
            () if words.contains("stream_options") => Terms { no_stream_options: true, ..self },
            () if says("no_effort", &words) => match body.get(EFFORT) {
                None => self,
                Some(level) if level == "none" => Terms { always_thinks: true, ..self },
                Some(_) => Terms { no_effort: true, ..self },
            },
            () if has_system && says("no_system", &words) => Terms { no_system: true, ..self },
            () => self,
        };
        (told != self).then_some(told)
    }

    /// Returns the names of the features that requests must omit.
    pub(super) fn names(self) -> Vec<&'static str> {
        let all = [
            (self.no_system, "system_role"),
            (self.no_stream_options, "stream_options"),
            (self.no_effort, EFFORT),
            (self.always_thinks, "reasoning_effort: none"),
            (self.no_alternatives, "logprobs"),
        ];
        all.into_iter().filter_map(|(is_so, name)| is_so.then_some(name)).collect()
    }

    /// Adapts the body of a request to these restrictions.
    pub(super) fn keep(self, body: &mut Map<String, Value>) {
        if self.no_stream_options {
            body.shift_remove("stream_options");
        }
        // A model that always thinks may still take the other levels.
        if self.no_effort || self.always_thinks && body.get(EFFORT).is_some_and(|level| level == "none") {
            body.shift_remove(EFFORT);
        }
        if !self.reasoning {
            messages_of(body).for_each(|message| drop(message.shift_remove(REASONING_CONTENT)));
        }
        if self.no_system
            && let Some(Value::Array(messages)) = body.get_mut("messages")
        {
            system_to_user(messages);
        }
    }
}

/// Returns `true` if a message in the caller's body has the reasoning before its calls.
fn has_reasoning(body: &Map<String, Value>) -> bool {
    let messages = body.get("messages").and_then(Value::as_array);
    messages.is_some_and(|messages| messages.iter().any(|message| message.get(REASONING_CONTENT).is_some()))
}

fn messages_of(body: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    messages.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn refuses_alternatives(error: &ModelError) -> bool {
    match error {
        ModelError::Refused { status: 400..=403 | 422 | 500 | 501, message, .. }
        | ModelError::BadAnswer { message, .. } => says("alternatives", &message.to_lowercase()),
        _ => false,
    }
}
