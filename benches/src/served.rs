//! Answers of the server without HTTP: chunks of an endpoint in, as their JSON text, chunks for
//! a client out.

use std::hint::black_box;

use serde_json::{Value, json};
use toolgraft_protocol::{Adapter, Refusal, Settings};

use crate::pass::cut;

/// The model's message: 272 bytes, as in `benches/serve`.
const MESSAGE: &str = "I will look up the weather in Oslo for you now, since you asked me for it there.\n\n\
    <use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n\
    {\"city\": \"Oslo\", \"unit\": \"celsius\", \"note\": \"what to wear in the evening, by the fjord, by bike now.\"}\n\
    </arguments>\n</use_mcp_tool>\n";

/// A request with so many tools, whose answer comes in chunks of so many bytes.
pub struct Served {
    /// Name, in tables and in `limits.toml`.
    pub name: &'static str,
    tools: usize,
    bytes: usize,
}

/// All of them.
pub const SERVED: &[Served] = &[
    Served { name: "2 tools/16", tools: 2, bytes: 16 },
    Served { name: "2 tools/1", tools: 2, bytes: 1 },
    Served { name: "100 tools/16", tools: 100, bytes: 16 },
];

impl Served {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Served> {
        SERVED.iter().find(|served| served.name == name)
    }

    /// Runs one answer; the request is read and its tools are prepared before.
    ///
    /// # Panics
    /// The call of the message does not come out: then nothing is measured.
    pub fn run(&self) {
        let tool = |number: usize| {
            let name = if number == 0 { "weather".to_owned() } else { format!("tool_{number}") };
            json!({"type": "function", "function": {"name": name, "description": "Tells what is asked of it.", "parameters": {
                "type": "object", "properties": {
                    "city": {"type": "string", "description": "A city."},
                    "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
                    "note": {"type": "string"},
                }, "required": ["city"],
            }}})
        };
        let settings = Settings::default();
        let request = json!({
            "model": "m", "stream": true, "messages": [{"role": "user", "content": "What is the weather in Oslo?"}],
            "tools": (0..self.tools).map(tool).collect::<Vec<_>>(),
        });
        let chunk = |delta: Value, reason: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
            json!({"id": "u", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
                .to_string()
        };
        let mut chunks: Vec<String> =
            cut(MESSAGE, Some(self.bytes)).iter().map(|text| chunk(json!({"content": text}), Value::Null)).collect();
        chunks.push(chunk(json!({}), json!("stop")));
        let adapter = || Adapter::new(&settings, request.clone()).expect("the request can be answered");
        // What is made once for a program is no part of an answer.
        assert_eq!(drive(&mut adapter(), &chunks), 1, "one call comes out");
        assert_eq!(answered(&mut adapter(), &chunks), 1, "one call comes out");
    }
}

/// A client's history of so many messages: calls and their results by turns.
pub struct History {
    /// Name, in tables and in `limits.toml`.
    pub name: &'static str,
    messages: usize,
}

/// All of them.
pub const HISTORIES: &[History] = &[
    History { name: "10 messages", messages: 10 },
    History { name: "100 messages", messages: 100 },
    History { name: "1000 messages", messages: 1000 },
];

impl History {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static History> {
        HISTORIES.iter().find(|history| history.name == name)
    }

    /// Reads one request, as the next of a session whose requests came before.
    ///
    /// # Panics
    /// The request cannot be answered: then nothing is measured.
    pub fn run(&self) {
        let settings = Settings::default();
        let tool = json!({"type": "function", "function": {"name": "bash", "parameters": {
            "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}});
        let request = |messages: usize| {
            let pair = |number: usize| {
                let (id, command) = (format!("call_{number}"), format!("sed -n '{number},+9p' src/rule_{number}.rs"));
                let call = json!({"id": id, "type": "function", "function": {
                    "name": "bash", "arguments": json!({"command": command}).to_string()}});
                let line = format!("    let value = rule_{number}(text).unwrap_or_default(); // {number}\n");
                [
                    json!({"role": "assistant", "content": "I look further.", "tool_calls": [call]}),
                    json!({"role": "tool", "tool_call_id": id, "content": line.repeat(8)}),
                ]
            };
            let mut said = vec![json!({"role": "user", "content": "Make the tests of the parser pass."})];
            said.extend((0..messages / 2).flat_map(pair));
            json!({"model": "m", "stream": true, "messages": said, "tools": [tool]})
        };
        // What is made once for a session is no part of its next request.
        drop(Adapter::new(&settings, request(self.messages - 2)).expect("the request can be answered"));
        let next = request(self.messages);
        black_box(asked(&settings, next));
    }
}

/// One request, read. Callgrind counts what happens in here.
#[inline(never)]
pub fn asked(settings: &Settings, request: Value) -> Adapter {
    Adapter::new(settings, request).expect("the request can be answered")
}

/// One answer; the calls that come out. Callgrind counts what happens in here.
#[inline(never)]
pub fn answered(adapter: &mut Adapter, chunks: &[String]) -> usize {
    drive(adapter, chunks)
}

#[inline(never)]
fn drive(adapter: &mut Adapter, chunks: &[String]) -> usize {
    let mut calls = 0;
    let mut take = |told: Result<String, Refusal>| {
        calls += told.as_deref().map_or(0, |text| text.matches("\"tool_calls\":[").count());
        black_box(told).is_ok()
    };
    black_box(adapter.request());
    for chunk in chunks {
        take(adapter.push(chunk));
    }
    take(adapter.end());
    calls
}
