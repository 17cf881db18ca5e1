//! Random attacks: bodies, answers and servers that are damaged at random. `cargo test` tries some, always the same
//! ones; with `ATTACK=all` (`make e2e SUITES=attack`) others are tried each time, for `ATTACK_SECONDS`, 60 unless said
//! otherwise. A failure names the number that it comes from: `ATTACK_SEED` tries that one alone.

use std::time::{Duration, Instant, SystemTime};

use reqwest::Client;
use serde_json::{Map, Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, call, mcp_call, says, stops, thinks, usage};

use super::bounds::wanted;
use crate::process::{Place, answering_server};
use crate::serve::{Serving, request};

/// After this time an answer that has not come never does.
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers in an order that nobody sees through (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, or 0.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The numbers to try: so many in `cargo test`, else one after the other while there is time.
fn seeds(few: u64) -> impl Iterator<Item = u64> {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (one, begun) = (variable("ATTACK_SEED"), Instant::now());
    let first = if wanted() { SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() << 20 } else { 0 };
    let time = Duration::from_secs(variable("ATTACK_SECONDS").unwrap_or(60));
    let goes_on = move |number: u64| if wanted() { begun.elapsed() < time } else { number < few };
    let all = (0..).take_while(move |number| goes_on(*number)).map(move |number| first + number);
    let all: Box<dyn Iterator<Item = u64>> = match one {
        Some(seed) => Box::new(std::iter::once(seed)),
        None => Box::new(all),
    };
    all
}

/// Pieces that readers of JSON, HTTP and calls stumble over.
const PIECES: [&str; 20] = [
    "\"", "{", "}", "[", "]", ",", ":", "\\", "null", "-1", "1e999", "18446744073709551616", "\\ud800", "\\u0000",
    "\0", "\u{202e}", "\n\ndata: ", "<use_mcp_tool>", "</arguments>", "```",
];

/// The same bytes with a few of them damaged.
fn damaged(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => _ = bytes.drain(at..end),
            2 => _ = bytes.splice(at..at, bytes[at..end].to_vec()),
            3 => bytes.truncate(at),
            4 => _ = bytes.splice(at..at, random.of(&PIECES).repeat(1 << random.below(12)).into_bytes()),
            _ => _ = bytes.splice(at..end, random.of(&PIECES).bytes().collect::<Vec<_>>()),
        }
    }
    bytes
}

/// Another value, of whatever kind.
fn other(random: &mut Random, was: &Value) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => true.into(),
        2 => (-1).into(),
        3 => 1e308.into(),
        4 => "".into(),
        5 => random.of(&PIECES).repeat(300).into(),
        6 => json!([]),
        7 => json!({}),
        8 => json!([was, was]),
        9 => json!({ "type": was, "text": was }),
        10 => (0..100).fold(was.clone(), |value, _| json!([value])),
        _ => json!({ "$ref": "#", "anyOf": [was, {}] }),
    }
}

/// The same value with something in it of another kind, under another name, or gone.
fn changed(random: &mut Random, mut value: Value) -> Value {
    for _ in 0..=random.below(2) {
        change(random, &mut value);
    }
    value
}

fn change(random: &mut Random, value: &mut Value) {
    if random.below(4) > 0 {
        match value {
            Value::Array(items) if !items.is_empty() => {
                let at = random.below(items.len());
                return change(random, &mut items[at]);
            }
            Value::Object(members) if !members.is_empty() => {
                let key = members.keys().nth(random.below(members.len())).unwrap().clone();
                return match random.below(6) {
                    0 => _ = members.shift_remove(&key),
                    1 => renamed(members, &key),
                    _ => change(random, &mut members[&key]),
                };
            }
            _ => {}
        }
    }
    *value = other(random, value);
}

fn renamed(members: &mut Map<String, Value>, key: &str) {
    if let Some(member) = members.shift_remove(key) {
        members.insert(format!("{key}\u{200b}"), member);
    }
}

/// Every route that takes a body, with one that it takes.
fn routes() -> Vec<(&'static str, Value)> {
    let tool = request("m")["tools"][0].clone();
    let function = &tool["function"];
    let said = [json!({ "role": "user", "content": "Weather in Oslo?" })];
    let chat = json!({ "model": "m", "stream": true, "messages": [said[0],
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "call_1", "type": "function", "function": { "name": "note", "arguments": "{\"text\": \"x\"}" } }] },
        { "role": "tool", "tool_call_id": "call_1", "content": "[{\"kept\": true}]" }], "tools": [tool],
        "tool_choice": "auto", "response_format": { "type": "json_schema", "json_schema":
            { "name": "n", "schema": { "type": "object", "properties": { "a": { "type": "integer" } } } } } });
    let messages = json!({ "model": "m", "max_tokens": 99, "system": "Be brief.", "messages": [said[0],
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_1", "name": "note", "input": { "text": "x" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "kept" }] }],
        "tools": [{ "name": "note", "input_schema": function["parameters"] }] });
    let responses = json!({ "model": "m", "stream": true, "input": [said[0],
        { "type": "function_call", "call_id": "call_1", "name": "note", "arguments": "{\"text\": \"x\"}" },
        { "type": "function_call_output", "call_id": "call_1", "output": "kept" }],
        "tools": [{ "type": "function", "name": "note", "parameters": function["parameters"] }] });
    let gemini = json!({ "contents": [{ "role": "user", "parts": [{ "text": "Weather?" }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "note", "args": { "text": "x" } } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "note", "response": { "kept": true } } }] }],
        "tools": [{ "functionDeclarations": [{ "name": "note", "parameters": function["parameters"] }] }] });
    let ollama = json!({ "model": "m", "stream": false, "messages": said, "tools": [tool], "format": "json" });
    let plain = json!({ "model": "m", "input": "Weather?", "prompt": "Weather?" });
    vec![
        ("/v1/chat/completions", chat),
        ("/v1/messages", messages.clone()),
        ("/v1/messages/count_tokens", messages),
        ("/v1/responses", responses),
        ("/v1beta/models/m:generateContent", gemini.clone()),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", gemini.clone()),
        ("/v1beta/models/m:countTokens", gemini),
        ("/api/chat", ollama),
        ("/api/generate", plain.clone()),
        ("/api/show", plain.clone()),
        ("/api/embed", plain.clone()),
        ("/v1/completions", plain.clone()),
        ("/v1/embeddings", plain),
    ]
}

/// A client that makes a connection for each request: one that the server closes after an answer that was cut off would
/// be used once more before that is seen.
fn client() -> Client {
    toolgraft::http::client().pool_max_idle_per_host(0).build().unwrap()
}

/// Returns the server's whole answer to these bytes: the status, and the text as far as it arrived.
async fn ask(client: &Client, serving: &Serving, path: &str, body: Vec<u8>) -> (u16, String) {
    let url = format!("{}{path}", serving.url.trim_end_matches("/v1"));
    let sent = client.post(url).header("content-type", "application/json").body(body).timeout(PATIENCE).send();
    let mut response = sent.await.unwrap();
    let (status, mut text) = (response.status().as_u16(), Vec::new());
    // What passes through may break off where the endpoint did.
    while let Ok(Some(piece)) = response.chunk().await {
        text.extend_from_slice(&piece);
    }
    (status, String::from_utf8_lossy(&text).into_owned())
}

/// Nothing broke, and nothing of the budgets is left in use.
async fn is_well(client: &Client, serving: &Serving) {
    let address = serving.url.trim_end_matches("/v1");
    let begun = Instant::now();
    loop {
        let page = client.get(format!("{address}/metrics")).send().await.unwrap().text().await.unwrap();
        assert!(page.contains("\ntoolgraft_panics_total 0\n"), "{page}");
        let is_free = |name: &str| {
            let row = format!("toolgraft_budget_used{{budget=\"{name}\"");
            page.lines().any(|line| line.starts_with(&row) && line.ends_with(" 0"))
        };
        if is_free("max_requests") && is_free("max_body_bytes") {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "something is left over\n{page}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn no_body_ends_the_server_or_is_left_without_an_answer() {
    // The form that one of them asks for.
    let endpoint = Endpoint::answer(|_, _| Reply::text("{\"a\": 1}"));
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
    let (client, routes) = (client(), routes());
    for (path, body) in &routes {
        let (status, answer) = ask(&client, &serving, path, body.to_string().into_bytes()).await;
        // The endpoint has no vectors.
        assert!(status == 200 || *path == "/api/embed", "{path}: {status} {answer:.500}");
    }
    for seed in seeds(300) {
        let mut random = Random(seed);
        let (path, body) = random.of(&routes).clone();
        let body = match random.below(2) {
            0 => changed(&mut random, body).to_string().into_bytes(),
            _ => damaged(&mut random, body.to_string().into_bytes()),
        };
        let (status, answer) = ask(&client, &serving, path, body).await;
        assert!(status != 500 && status >= 200, "ATTACK_SEED={seed} {path}: {status} {answer:.500}");
        if status >= 400 {
            assert!(serde_json::from_str::<Value>(&answer).is_ok(), "ATTACK_SEED={seed} {path}: {answer:.500}");
        }
    }
    is_well(&client, &serving).await;
}

/// Answers of an endpoint that are in order, streamed and whole.
fn answers() -> Vec<Reply> {
    let by_prompt = format!("Let me see.\n{}", mcp_call("", "note", &json!({ "text": "x" })));
    let native = [thinks("Hm. "), says("I look."), call("note", "{\"text\": \"x\"}"), stops("tool_calls"), usage(9, 3)];
    let message = json!({ "role": "assistant", "content": by_prompt, "reasoning_content": "Hm." });
    let whole = json!({ "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }], "usage": usage(9, 3)["usage"] });
    vec![
        Reply::text(&by_prompt),
        Reply::lm_studio("Hm. ", &by_prompt),
        Reply::events(&native).done(),
        Reply::new(200, &whole.to_string()).header("content-type", "application/json"),
    ]
}

/// One of them, damaged.
fn answered(random: &mut Random) -> Reply {
    let mut reply = random.of(&answers()).clone();
    let bytes = reply.pieces.concat();
    let cut = 1 + random.below(200);
    reply.pieces = damaged(random, bytes).chunks(cut).map(<[u8]>::to_vec).collect();
    reply.at_once = random.below(2) == 0;
    reply.end = if random.below(4) == 0 { End::Break } else { End::Whole };
    reply
}

#[tokio::test]
async fn no_answer_of_an_endpoint_ends_the_server() {
    let (client, routes) = (client(), routes());
    for seed in seeds(30) {
        let mut random = Random(seed);
        let replies: Vec<Reply> = (0..4).map(|_| answered(&mut random)).collect();
        let endpoint = Endpoint::answer(move |_, number| replies[number % replies.len()].clone());
        let mode = *random.of(&["tools_mode=auto", "tools_mode=prompt", "tools_mode=native"]);
        let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m", "--set", mode], &[]);
        for _ in 0..8 {
            let (path, body) = random.of(&routes).clone();
            let (status, answer) = ask(&client, &serving, path, body.to_string().into_bytes()).await;
            assert!(
                status != 500 && !answer.contains("internal_error"),
                "ATTACK_SEED={seed} {path}: {status} {answer:.500}"
            );
        }
        is_well(&client, &serving).await;
    }
}

/// The answers of an MCP server that works correctly.
fn served() -> Value {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    json!({
        "tools/list": { "tools": [{ "name": "note", "description": "Keeps it.", "inputSchema": schema,
            "annotations": { "readOnlyHint": true } }] },
        "resources/list": { "resources": [{ "uri": "note://1", "name": "one" }] },
        "prompts/list": { "prompts": [{ "name": "p", "arguments": [{ "name": "a", "required": true }] }] },
        "tools/call": { "content": [{ "type": "text", "text": "kept" }, { "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" }],
            "structuredContent": { "kept": true }, "isError": false },
    })
}

#[test]
fn no_answer_of_an_mcp_server_ends_the_program() {
    for seed in seeds(6) {
        let mut random = Random(seed);
        let as_values = random.below(2) == 0;
        let answers = if as_values { changed(&mut random, served()) } else { served() };
        // Without its lists there is no server to speak of.
        let Some(mut server) = answers.as_object().filter(|all| !all.is_empty()).map(|_| answering_server(&answers))
        else {
            continue;
        };
        if !as_values {
            for (_, answer) in server["env"].as_object_mut().unwrap() {
                let bytes = damaged(&mut random, answer.as_str().unwrap().into());
                *answer = String::from_utf8_lossy(&bytes).replace(['\0', '$'], " ").into();
            }
        }
        (server["connectTimeout"], server["timeout"]) = (json!(2), json!(2));
        let place = Place::new();
        place.servers(json!({ "s": server }));
        let call = ["mcp", "call", "s", "note", "--mcp-config", "mcp.json", "{\"text\": \"x\"}"];
        for args in [&["mcp", "tools", "--mcp-config", "mcp.json"][..], &call] {
            let run = place.run(args);
            let is_told = matches!(run.code, Some(0..=2)) && !run.err.contains("panicked");
            let is_plain = !run.err.contains(['\u{1b}', '\u{202e}', '\0']);
            assert!(is_told && is_plain, "ATTACK_SEED={seed} {args:?}: {run:?}");
        }
    }
}
