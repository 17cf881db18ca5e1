//! The older form of tools in Chat Completions: `functions`, `function_call` and the role
//! `function`, with one call in a message. It is converted to tools, and the answer is written in
//! the same form. Source: OpenAI's reference of the interface, where these fields are marked as
//! deprecated.

use serde_json::{Map, Value, json};
use toolgraft::wire::{set_member, take_member};

/// Converts the older `functions` of a request to `tools`, if it has no tools; returns `true` if it did.
pub(crate) fn take(body: &mut Map<String, Value>) -> bool {
    if body.get("tools").is_some_and(|tools| !tools.is_null()) {
        return false;
    }
    let Some(Value::Array(functions)) = body.shift_remove("functions") else { return false };
    let tools = functions.into_iter().map(|function| json!({"type": "function", "function": function}));
    body.insert("tools".to_owned(), tools.collect());
    match body.shift_remove("function_call") {
        Some(Value::Object(named)) => {
            let name = named.get("name").cloned().unwrap_or_default();
            body.insert("tool_choice".to_owned(), json!({"type": "function", "function": {"name": name}}));
        }
        Some(choice) if !choice.is_null() => drop(body.insert("tool_choice".to_owned(), choice)),
        _ => {}
    }
    // A message of this form holds one call.
    body.insert("parallel_tool_calls".to_owned(), false.into());
    true
}

/// Converts a chunk or a whole answer from `tool_calls` to the older form `function_call`.
pub(crate) fn told(mut answer: Value) -> Value {
    let choices = answer.get_mut("choices").and_then(Value::as_array_mut);
    for choice in choices.into_iter().flatten() {
        if choice["finish_reason"] == "tool_calls" {
            set_member(choice, "finish_reason", "function_call");
        }
        for place in ["delta", "message"] {
            let Some(message) = choice.get_mut(place).and_then(Value::as_object_mut) else { continue };
            // `take` has forbidden parallel calls, so there is one.
            if let Some(Value::Array(calls)) = message.shift_remove("tool_calls")
                && let Some(mut call) = calls.into_iter().next()
            {
                message.insert("function_call".to_owned(), take_member(&mut call, "function"));
            }
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_tools_and_calls_are_told_in_their_form() {
        let body = json!({"functions": [{"name": "f"}], "function_call": {"name": "f"}, "model": "m"});
        let Value::Object(mut body) = body else { unreachable!() };
        assert!(take(&mut body));
        let expected = json!({
            "model": "m", "tools": [{"type": "function", "function": {"name": "f"}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": false,
        });
        assert_eq!(Value::Object(body.clone()), expected);
        assert!(!take(&mut body), "tools are read as ever");

        let call = json!([{"id": "c", "index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
        for place in ["delta", "message"] {
            let answer = json!({"choices": [{place: {"tool_calls": call}, "finish_reason": "tool_calls"}]});
            let function = json!({"name": "f", "arguments": "{}"});
            let expected = json!({"choices": [{place: {"function_call": function}, "finish_reason": "function_call"}]});
            assert_eq!(told(answer), expected);
        }
        let text = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": null}]});
        assert_eq!(told(text.clone()), text);
    }
}
