//! Messages of Chat Completions, put together.

use serde_json::{Map, Value, json};

use crate::conversation::shape::{self, Spoken};
use crate::dialect::SystemPlacement;
use crate::message::Role;
use crate::wire::{set_member, take_member};

/// Fields of an answer that hold what the model thought; templates leave it out, or say it aloud.
const THOUGHT: [&str; 4] = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];

/// Brings a client's messages into the shape that every template takes
/// ([`shape`](shape::shape())). What holds texts alone is one text, as templates of text models
/// want it; what was thought is left out, and the author's texts are the system's.
pub fn shape(messages: Vec<Value>, own: Option<String>, placement: SystemPlacement) -> Vec<Value> {
    let plain = |message: Value| {
        let Value::Object(mut message) = message else { return None };
        flatten(&mut message);
        THOUGHT.iter().for_each(|field| drop(message.shift_remove(*field)));
        rename_developer(&mut message);
        Some(Value::Object(message))
    };
    shape::shape(messages.into_iter().filter_map(plain).collect(), own, placement)
}

/// Makes a message of the role `developer` one of `system`; whether it was such. Templates of local
/// models refuse that role, or leave its text out; those that know it read `system` as the same.
pub fn rename_developer(message: &mut Map<String, Value>) -> bool {
    let is_developer = message.get("role").is_some_and(|role| role == "developer");
    if is_developer {
        message.insert("role".to_owned(), "system".into());
    }
    is_developer
}

fn flatten(message: &mut Map<String, Value>) {
    let Some(content) = message.get_mut("content") else { return };
    let Some(parts) = content.as_array() else { return };
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    if let Some(texts) = texts {
        *content = Value::String(texts.join("\n\n"));
    }
}

/// Two contents as one: texts with a blank line between, or a list of parts.
pub fn join(one: Value, two: Value) -> Value {
    let parts = |content: Value| match content {
        Value::Array(parts) => parts,
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Null => Vec::new(),
        text => vec![json!({"type": "text", "text": text})],
    };
    match (one, two) {
        (Value::Null, other) | (other, Value::Null) => other,
        (Value::String(one), Value::String(two)) if one.is_empty() || two.is_empty() => Value::String(one + &two),
        (Value::String(one), Value::String(two)) => Value::String(format!("{one}\n\n{two}")),
        (one, two) => Value::Array(parts(one).into_iter().chain(parts(two)).collect()),
    }
}

fn is_blank(content: &Value) -> bool {
    match content {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => false,
    }
}

/// A message of the interface.
impl Spoken for Value {
    fn said(role: Role, text: String) -> Self {
        json!({"role": role, "content": text})
    }

    fn role(&self) -> &str {
        self["role"].as_str().unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        let is_of_calls = self.get("tool_calls").is_some() || self.get("tool_call_id").is_some();
        !is_of_calls && is_blank(&self["content"])
    }

    fn makes_calls(&self) -> bool {
        self.get("tool_calls").is_some()
    }

    fn said_by(mut self, role: Role) -> Self {
        if role == Role::System {
            // Of a client's texts there is one message, without what else its own had.
            return json!({"role": role, "content": take_member(&mut self, "content")});
        }
        set_member(&mut self, "role", json!(role));
        self
    }

    fn join(mut self, mut next: Self) -> Self {
        let content = join(take_member(&mut self, "content"), take_member(&mut next, "content"));
        set_member(&mut next, "content", content);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::shape::BEGINS;

    fn said(role: &str, content: impl Into<Value>) -> Value {
        json!({"role": role, "content": content.into()})
    }

    fn shaped(messages: &[Value], own: &str, placement: SystemPlacement) -> Vec<(String, String)> {
        let messages = shape(messages.to_vec(), Some(own.to_owned()), placement);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }

    #[test]
    fn every_history_has_one_system_text_and_then_takes_turns() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        type Case<'c> = (&'c [Value], &'c [(&'c str, &'c str)]);
        let histories: [Case<'_>; 12] = [
            (&[said("user", "q")], &[("system", "OWN"), ("user", "q")]),
            (&[said("system", "s"), said("user", "q")], &[("system", "s\n\nOWN"), ("user", "q")]),
            (
                &[said("system", "s"), said("developer", "d"), said("user", "q"), said("user", "r")],
                &[("system", "s\n\nd\n\nOWN"), ("user", "q\n\nr")],
            ),
            (&[said("system", "s")], &[("system", "OWN"), ("user", "s")]),
            (
                &[said("assistant", "hello"), said("user", "q")],
                &[("system", "OWN"), ("user", BEGINS), ("assistant", "hello"), ("user", "q")],
            ),
            (
                &[said("user", "q"), said("system", "later"), said("assistant", "a"), said("user", "r")],
                &[("system", "OWN"), ("user", "q\n\nlater"), ("assistant", "a"), ("user", "r")],
            ),
            (
                &[said("user", "q"), said("assistant", "a"), said("system", "later"), said("user", "r")],
                &[("system", "OWN"), ("user", "q"), ("assistant", "a"), ("user", "later\n\nr")],
            ),
            (
                &[said("user", "q"), said("assistant", "a"), said("assistant", "b"), said("user", "r")],
                &[("system", "OWN"), ("user", "q"), ("assistant", "a\n\nb"), ("user", "r")],
            ),
            (&[said("user", "q"), said("assistant", ""), said("user", "r")], &[("system", "OWN"), ("user", "q\n\nr")]),
            (&[said("user", Value::Null), said("user", "q")], &[("system", "OWN"), ("user", "q")]),
            (&[said("user", parts)], &[("system", "OWN"), ("user", "a\n\nb")]),
            (&[said("user", "q"), said("assistant", "a")], &[("system", "OWN"), ("user", "q"), ("assistant", "a")]),
        ];
        for (history, expected) in histories {
            let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            assert_eq!(shaped(history, "OWN", SystemPlacement::System), expected, "{history:?}");

            let in_user = shaped(history, "OWN", SystemPlacement::User);
            assert!(in_user.iter().all(|(role, _)| role != "system"), "{in_user:?}");
            assert!(in_user[0].0 == "user" && in_user[0].1.contains("OWN"), "{in_user:?}");
            assert_eq!(in_user.len() + 1, expected.len());
        }
    }

    #[test]
    fn other_parts_stay_parts_and_what_was_thought_is_left_out() {
        let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
        let thought = json!({"role": "assistant", "content": "a", "reasoning_content": "hm", "thinking": "hm"});
        let messages = [said("user", json!([{"type": "text", "text": "see"}, image])), thought];
        let messages = shape(messages.to_vec(), None, SystemPlacement::System);
        let parts = json!([{"type": "text", "text": "see"}, image]);
        assert_eq!(messages, [said("user", parts), said("assistant", "a")]);
    }

    #[test]
    fn calls_and_results_stay_messages_of_their_own() {
        let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
        let mut messages = vec![said("user", "q"), said("assistant", "see"), call.clone(), result("a"), result("b")];
        messages.extend([said("user", "r"), said("system", "later")]);
        let messages = shape(messages, None, SystemPlacement::System);
        let mut joined = call;
        joined["content"] = "see".into();
        assert_eq!(messages, [said("user", "q"), joined, result("a"), result("b"), said("user", "r\n\nlater")]);
    }
}
