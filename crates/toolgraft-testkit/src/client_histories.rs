//! Histories as clients send them, and the messages that the endpoint gets.

use serde_json::{Value, json};
use toolgraft::dialect::Profile;
use toolgraft_protocol::{Adapter, Settings};

/// A chat template without a system role, like those of Gemma 2 and Mistral 7B v0.1.
pub const STRICT: &str = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
    {% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}\
    {{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}\
    {{ message.content | trim }}\n{% endfor %}";

/// Returns histories of clients, each with a name. Each text in them contains a number in brackets.
pub fn histories() -> Vec<(&'static str, Value)> {
    let says = |role: &str, text: &str| json!({"role": role, "content": text});
    let parts =
        |texts: [&str; 2]| json!({"role": "user", "content": texts.map(|text| json!({"type": "text", "text": text}))});
    let call = |id: &str, city: &str| {
        json!({"id": id, "type": "function", "function": {
            "name": "get_weather", "arguments": json!({"city": city}).to_string()}})
    };
    let calls = |text: &str, calls: Value| json!({"role": "assistant", "content": text, "tool_calls": calls});
    let result = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let (one, two, three, four) = ("Text [1]", "Text [2]", "Text [3]", "Text [4]");
    vec![
        ("a system text alone", json!([says("system", one)])),
        ("two users", json!([says("user", one), says("user", two)])),
        ("two system texts", json!([says("system", one), says("system", two), says("user", three)])),
        ("an answer first", json!([says("assistant", one), says("user", two)])),
        (
            "a system text in the middle",
            json!([says("user", one), says("assistant", two), says("system", three), says("user", four)]),
        ),
        (
            "text, then calls",
            json!([
                says("user", one),
                calls(two, json!([call("c1", "[5]"), call("c2", "[6]")])),
                result("c1", three),
                result("c2", four)
            ]),
        ),
        ("an empty answer", json!([says("user", one), says("assistant", ""), says("user", two)])),
        ("parts", json!([parts([one, two])])),
        ("a result without its call", json!([says("user", one), result("c9", two), says("user", three)])),
        (
            "a remark after a result",
            json!([says("user", one), calls("", json!([call("c1", "[2]")])), result("c1", three), says("user", four)]),
        ),
        (
            "Codex",
            json!([
                says("system", one),
                says("developer", two),
                says("user", "<environment_context>[3]</environment_context>"),
                says("user", four)
            ]),
        ),
        (
            "Claude Code",
            json!([
                says("system", one),
                parts(["<system-reminder>[2]</system-reminder>", three]),
                calls(four, json!([call("c1", "[5]")])),
                result("c1", "Text [6]"),
                says("user", "<system-reminder>[7]</system-reminder>")
            ]),
        ),
    ]
}

/// Returns the tool that the client's requests offer, in OpenAI's form.
pub fn tool() -> Value {
    json!({"type": "function", "function": {"name": "get_weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}}}})
}

/// Returns the messages that the endpoint gets for a client's history, with this profile of the model, or that of its
/// name.
pub fn sent(profile: Option<&'static Profile>, history: &Value) -> Value {
    let request = json!({"model": "m", "stream": true, "messages": history, "tools": [tool()]});
    let mut adapter = Adapter::new(&Settings { profile, ..Settings::default() }, request).unwrap();
    adapter.request().expect("the model is asked")["messages"].take()
}

/// Returns the marks `[1]` to `[9]` that a history contains.
pub fn marks(history: &Value) -> Vec<String> {
    let text = history.to_string();
    (1..10).map(|number| format!("[{number}]")).filter(|mark| text.contains(mark)).collect()
}
