//! Brings messages of Chat Completions into shape.

use serde_json::{Map, Value, json};

use crate::conversation::shape::{self, Spoken};
use crate::dialect::SystemPlacement;
use crate::message::Role;
use crate::message::chunk::{REASONING_CONTENT, REASONING_FIELDS};
use crate::wire::{set_member, take_member};

/// Brings a client's messages into the order that every chat template accepts ([`shape`](shape::shape())). A list of
/// text parts becomes one text, as templates of text models require it; messages of the role `developer` become system
/// messages; reasoning is removed, except `reasoning_content` of messages with calls, which some endpoints require.
pub fn shape(messages: Vec<Value>, own: Option<String>, placement: SystemPlacement) -> Vec<Value> {
    let plain = |message: Value| {
        let Value::Object(mut message) = message else { return None };
        flatten(&mut message);
        // Templates ignore reasoning in other messages, or put it into the visible text.
        let has_calls = message.contains_key("tool_calls");
        let is_kept = |field: &str| field == REASONING_CONTENT && has_calls;
        REASONING_FIELDS.iter().filter(|field| !is_kept(field)).for_each(|field| drop(message.shift_remove(*field)));
        rename_developer(&mut message);
        Some(Value::Object(message))
    };
    shape::shape(messages.into_iter().filter_map(plain).collect(), own, placement)
}

/// Changes the role of a message from `developer` to `system`, and returns `true` if it was `developer`. Templates of
/// local models refuse that role or omit its text; those that know it treat `system` the same.
pub fn rename_developer(message: &mut Map<String, Value>) -> bool {
    let is_developer = message.get("role").is_some_and(|role| role == "developer");
    if is_developer {
        message.insert("role".to_owned(), "system".into());
    }
    is_developer
}

/// Returns `true` if a message is a tool's result, in the current form or the older one.
pub fn is_result(message: &Value) -> bool {
    message["role"] == "tool" || message["role"] == "function"
}

/// Joins consecutive assistant messages that results follow, and returns each message with the index of the first one
/// that it was made of. Some clients (Strands) send each block of an assistant's message as a separate message: a call,
/// a text, then the call's result. The text is then put before the calls. If no result follows, the messages remain
/// separate: the calls were stopped before the last message was written.
pub fn join_turns(messages: Vec<Value>) -> Vec<(usize, Value)> {
    let mut joined: Vec<(usize, Value)> = Vec::with_capacity(messages.len());
    // Read from the end, so that it is known whether a result comes before the next assistant message.
    let mut is_answered = false;
    for (at, message) in messages.into_iter().enumerate().rev() {
        let next = joined.last_mut().filter(|(_, next)| is_assistants(next));
        match next {
            Some((first, next)) if is_answered && is_one_turn(&message, next) => {
                (*first, *next) = (at, one_turn(message, next.take()));
                continue;
            }
            Some(_) if !is_assistants(&message) => is_answered = is_result(&message),
            _ => is_answered |= is_result(&message),
        }
        joined.push((at, message));
    }
    joined.reverse();
    joined
}

fn is_assistants(message: &Value) -> bool {
    message["role"] == "assistant"
}

/// Returns `true` if two consecutive assistant messages can be joined so that their calls are in one list.
fn is_one_turn(message: &Value, next: &Value) -> bool {
    let is_list = |calls: Option<&Value>| matches!(calls, None | Some(Value::Null | Value::Array(_)));
    let makes_older = |message: &Value| message["function_call"].is_object();
    is_assistants(message)
        && [message, next].iter().all(|message| is_list(message.get("tool_calls")))
        // The older form has only one call.
        && !makes_older(next)
        && (!makes_older(message) || next.get("tool_calls").is_none_or(Value::is_null))
}

/// Joins two consecutive assistant messages to one; of members that cannot be joined, those of the first message
/// remain.
fn one_turn(mut message: Value, mut next: Value) -> Value {
    let (Some(members), Some(next)) = (message.as_object_mut(), next.as_object_mut()) else { return message };
    for (key, value) in next {
        match (members.entry(key.as_str()).or_insert(Value::Null), value.take()) {
            (Value::Array(calls), Value::Array(more)) if key == "tool_calls" => calls.extend(more),
            (own, value) if key == "content" => *own = join(own.take(), value),
            (Value::String(own), Value::String(value)) if REASONING_FIELDS.contains(&key.as_str()) => {
                *own = format!("{own}\n\n{value}");
            }
            // Of members that cannot be joined the first message's count.
            (own, value) if own.is_null() => *own = value,
            _ => {}
        }
    }
    message
}

fn flatten(message: &mut Map<String, Value>) {
    let Some(content) = message.get_mut("content") else { return };
    let Some(parts) = content.as_array() else { return };
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    if let Some(texts) = texts {
        *content = Value::String(texts.join("\n\n"));
    }
}

/// Joins two contents of messages: texts with a blank line between them, otherwise as a list of parts.
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

/// Implements access to a message in the JSON of Chat Completions.
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
            // Several system messages become one, without their other members.
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
    fn messages_of_one_turn_are_joined_where_results_follow() {
        let call = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
        let turn = |content: &str, ids: &[&str]| {
            let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        };
        let older = json!({"role": "assistant", "content": null, "function_call": {"name": "f"}});
        let mut older_and_text = older.clone();
        older_and_text["content"] = "b".into();
        let (a, b, q) = (said("assistant", "a"), said("assistant", "b"), said("user", "q"));
        let of_function = json!({"role": "function", "name": "f", "content": ""});
        let cases = [
            (
                vec![q.clone(), call("1"), b.clone(), result("1")],
                vec![(0, q.clone()), (1, turn("b", &["1"])), (3, result("1"))],
            ),
            (
                vec![a.clone(), call("1"), b.clone(), call("2"), result("1"), result("2"), a.clone()],
                vec![(0, turn("a\n\nb", &["1", "2"])), (4, result("1")), (5, result("2")), (6, a.clone())],
            ),
            (
                vec![call("1"), b.clone(), q.clone(), result("1")],
                vec![(0, turn("b", &["1"])), (2, q.clone()), (3, result("1"))],
            ),
            (vec![older.clone(), b.clone(), of_function.clone()], vec![(0, older_and_text), (2, of_function.clone())]),
        ];
        for (messages, expected) in cases {
            assert_eq!(join_turns(messages.clone()), expected, "{messages:?}");
        }
        for apart in [
            vec![call("1"), b.clone(), q.clone(), a.clone(), result("2")],
            vec![call("1"), b.clone()],
            vec![older.clone(), call("1"), result("1")],
            vec![call("1"), older, of_function],
            vec![call("1"), json!({"role": "assistant", "tool_calls": 1}), result("1")],
            vec![json!(1), Value::Null, result("1")],
        ] {
            assert_eq!(join_turns(apart.clone()), apart.into_iter().enumerate().collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_was_thought_in_one_turn_is_joined_too() {
        let thought =
            |text: &str, content: &str| json!({"role": "assistant", "content": content, "reasoning_content": text});
        let mut call = thought("first", "");
        call["tool_calls"] = json!([{"id": "1"}]);
        let result = json!({"role": "tool", "tool_call_id": "1", "content": ""});
        let joined = join_turns(vec![call, thought("second", "b"), result]).remove(0).1;
        assert_eq!((&joined["reasoning_content"], &joined["content"]), (&json!("first\n\nsecond"), &json!("b")));
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
