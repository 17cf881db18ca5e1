//! Roles: messages of Chat Completions as every chat template takes them.
//!
//! Of 124 public templates 26 refuse a second system message, two user messages in a row, or an
//! answer that comes first, and 16 leave such a text out without a word. What [`shape`] makes is
//! taken whole by all of them: one system message, then user and assistant in turn, the user
//! first, no message empty, texts as texts.

use serde_json::{Map, Value, json};

use toolgraft::dialect::SystemPlacement;
use toolgraft::wire::roles::{join, system_to_user};

/// What stands for a user's message in front of an answer that nothing precedes.
const BEGINS: &str = "Begin.";

/// Fields of an answer that hold what the model thought; templates leave it out, or say it aloud.
const THOUGHT: [&str; 4] = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];

/// Brings messages into the shape that every template takes, with `own` behind the system texts
/// that come first. Later ones, and those of developers, become a user's words where they stand.
pub(super) fn shape(messages: &mut Vec<Value>, own: Option<String>, placement: SystemPlacement) {
    let mut system = Value::Null;
    let mut shaped: Vec<Value> = Vec::with_capacity(messages.len());
    let mut begins = true;
    for mut message in messages.drain(..) {
        let Some(fields) = message.as_object_mut() else { continue };
        flatten(fields);
        let is_system = matches!(fields.get("role").and_then(Value::as_str), Some("system" | "developer"));
        begins &= is_system;
        if begins {
            system = join(system, fields.remove("content").unwrap_or_default());
            continue;
        }
        if is_system {
            fields.insert("role".to_owned(), "user".into());
        }
        THOUGHT.iter().for_each(|field| drop(fields.shift_remove(*field)));
        if !is_empty(fields) {
            push(&mut shaped, message);
        }
    }
    let is_user = |message: &Value| message["role"] == "user";
    if !shaped.iter().any(is_user) && !blank(&system) {
        // Somebody must ask, and nobody else said anything.
        shaped.insert(0, json!({"role": "user", "content": std::mem::take(&mut system)}));
    } else if !shaped.first().is_some_and(is_user) {
        shaped.insert(0, json!({"role": "user", "content": BEGINS}));
    }
    let own = own.filter(|own| !own.is_empty()).map_or(Value::Null, Value::String);
    let system = join(system, own);
    if !blank(&system) {
        shaped.insert(0, json!({"role": "system", "content": system}));
    }
    *messages = shaped;
    if placement == SystemPlacement::User {
        system_to_user(messages);
    }
}

/// Appends a message; neighbours of one role are one message, but for results, and calls come last
/// in theirs.
pub(super) fn push(messages: &mut Vec<Value>, mut message: Value) {
    let stays = |last: &Value| message["role"] == "tool" || last.get("tool_calls").is_some();
    match messages.last_mut().filter(|last| last["role"] == message["role"] && !stays(last)) {
        Some(last) => {
            message["content"] = join(last["content"].take(), message["content"].take());
            *last = message;
        }
        None => messages.push(message),
    }
}

/// Makes one text of a list that holds texts alone: templates of text models want that.
fn flatten(message: &mut Map<String, Value>) {
    let Some(content) = message.get_mut("content") else { return };
    let Some(parts) = content.as_array() else { return };
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    if let Some(texts) = texts {
        *content = Value::String(texts.join("\n\n"));
    }
}

/// Whether a message says nothing, makes no call and answers none.
fn is_empty(message: &Map<String, Value>) -> bool {
    let is_of_calls = message.contains_key("tool_calls") || message.contains_key("tool_call_id");
    !is_of_calls && message.get("content").is_none_or(blank)
}

fn blank(content: &Value) -> bool {
    match content {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(role: &str, content: impl Into<Value>) -> Value {
        json!({"role": role, "content": content.into()})
    }

    fn shaped(messages: &[Value], own: &str, placement: SystemPlacement) -> Vec<(String, String)> {
        let mut messages = messages.to_vec();
        shape(&mut messages, Some(own.to_owned()).filter(|own| !own.is_empty()), placement);
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
        let mut messages = vec![said("user", json!([{"type": "text", "text": "see"}, image])), thought];
        shape(&mut messages, None, SystemPlacement::System);
        let parts = json!([{"type": "text", "text": "see"}, image]);
        assert_eq!(messages, [said("user", parts), said("assistant", "a")]);
    }

    #[test]
    fn calls_and_results_stay_messages_of_their_own() {
        let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
        let mut messages = vec![said("user", "q"), said("assistant", "see"), call.clone(), result("a"), result("b")];
        messages.extend([said("user", "r"), said("system", "later")]);
        shape(&mut messages, None, SystemPlacement::System);
        let mut joined = call;
        joined["content"] = "see".into();
        assert_eq!(messages, [said("user", "q"), joined, result("a"), result("b"), said("user", "r\n\nlater")]);
    }
}
