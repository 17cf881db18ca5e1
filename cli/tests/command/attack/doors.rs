//! The doors of `serve`: who gets in, what comes out, and what no request can end.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, delta, mcp_call, says, stops};

use super::{around_the_web, bounds};
use crate::process::Place;
use crate::serve::{Serving, request};

/// Returns the server's answer to this head and body, byte for byte.
fn knock(serving: &Serving, head: &str, body: &str) -> String {
    let address = serving.url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut socket = TcpStream::connect(address).unwrap();
    let length = body.len();
    socket
        .write_all(format!("{head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    // A connection that breaks off has its text until then.
    let _ = socket.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_second_host_and_a_foreign_target_are_refused_on_every_route() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Well."));
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
    for route in [
        "GET /health",
        "GET /ready",
        "GET /metrics",
        "GET /",
        "GET /v1/models",
        "POST /v1/chat/completions",
        "POST /v1/responses",
        "POST /v1/messages",
        "POST /v1beta/models/m:generateContent",
        "POST /api/chat",
        "POST /v1/embeddings",
    ] {
        let (method, path) = route.split_once(' ').unwrap();
        for (target, hosts, status) in [
            (path.to_owned(), "host: localhost\r\nhost: localhost", 400),
            (path.to_owned(), "host: localhost\r\nHOST: evil.example", 400),
            (path.to_owned(), "host: localhost, evil.example", 403),
            (format!("http://evil.example{path}"), "host: localhost", 400),
            (format!("http://localhost:1@evil.example{path}"), "host: localhost", 400),
            (path.to_owned(), "host: evil.example", 403),
            (path.to_owned(), "host: localhost\r\norigin: https://evil.example", 403),
            (path.to_owned(), "host: localhost\r\norigin: chrome-extension://localhost", 403),
            (path.to_owned(), "host: localhost\r\norigin: http://localhost\r\norigin: https://evil.example", 400),
            (path.to_owned(), "host: localhost\r\norigin: https://evil.example\r\norigin: http://localhost", 400),
        ] {
            let head = format!("{method} {target} HTTP/1.1\r\n{hosts}\r\ncontent-type: application/json");
            let answer = knock(&serving, &head, "{}");
            let code = answer.split(' ').nth(1).unwrap_or_default();
            assert!(code == status.to_string() || (status == 403 && code == "400"), "{head}\n{answer}");
        }
    }
    assert!(endpoint.seen().is_empty(), "nothing reached the endpoint");
}

#[test]
fn the_key_of_the_endpoint_stands_in_nothing_that_a_client_gets() {
    const KEY: &str = "sk-upstream-1234567890";
    let said = format!("Your key {KEY} is wrong");
    let whole = json!({ "id": "c", "object": "chat.completion", "model": KEY, "data": [{ "embedding": KEY }], "choices":
        [{ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" }] });
    let letters: Vec<Value> = said.chars().map(|c| says(&c.to_string())).chain([stops("stop")]).collect();
    let without_tools = json!({ "model": "m", "messages": [{ "role": "user", "content": "Hi" }] });
    let mut streamed = request("m");
    streamed["stream"] = json!(true);
    for reply in [
        Reply::new(200, &whole.to_string()),
        Reply::events(&letters).done(),
        Reply::refused(401, &said),
        Reply::new(500, &said).header("x-request-id", KEY),
        Reply::new(429, &whole.to_string()),
    ] {
        for (path, body) in [
            ("chat/completions", &without_tools),
            ("chat/completions", &request("m")),
            ("chat/completions", &streamed),
            ("embeddings", &without_tools),
            ("completions", &without_tools),
            ("responses", &json!({ "model": "m", "input": "Hi" })),
            ("messages", &json!({ "model": "m", "max_tokens": 9, "messages": without_tools["messages"] })),
        ] {
            let endpoint = Endpoint::answer({
                let reply = reply.clone();
                move |_, _| reply.clone()
            });
            let serving =
                Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[("TOOLGRAFT_UPSTREAM_KEY", KEY)]);
            let head = format!("POST /v1/{path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json");
            let answer = knock(&serving, &head, &body.to_string());
            let spelt: String = answer
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
                .filter_map(|data| data["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
                .collect();
            // What passes through is redacted as it comes, what is read as what it says.
            let is_spelt = body.get("tools").is_some() && spelt.contains(KEY);
            assert!(!answer.contains(KEY) && !is_spelt, "{path} {reply:?}: {answer}");
            assert!(answer.starts_with("HTTP/1.1 "), "{path} {reply:?}: {answer}");
        }
    }
}

/// So many parts, each of which is the next one inside this keyword.
fn chain(keyword: &str, links: usize) -> Value {
    let mut parts: serde_json::Map<String, Value> = (0..links)
        .map(|n| (format!("a{n}"), json!({ keyword: [{ "$ref": format!("#/$defs/a{}", n + 1) }] })))
        .collect();
    parts.insert(format!("a{links}"), json!({ "type": "object", "required": ["z"] }));
    json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/a0" } }, "$defs": parts })
}

/// Parts that double at each level of a value.
fn doubling(keyword: &str) -> Value {
    let level = |also: &str| json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/n" } }, "required": ["x", also] });
    json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/n" } },
        "$defs": { "n": { keyword: [level("a"), level("b"), { "type": "integer" }] } } })
}

#[tokio::test]
async fn no_schema_and_no_arguments_end_the_server() {
    let deep = (0..110).fold(json!({}), |value, _| json!({ "x": value }));
    let schemas = [("allOf", 300), ("anyOf", 900), ("oneOf", 6_000)].map(|(keyword, links)| chain(keyword, links));
    for schema in schemas.into_iter().chain(["allOf", "anyOf"].map(doubling)) {
        let call = mcp_call("client", "act", &deep);
        let endpoint = Endpoint::answer(move |_, _| Reply::text(&call));
        let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
        let tool = json!({ "type": "function", "function": { "name": "act", "parameters": schema } });
        let body = json!({ "model": "m", "tools": [tool], "messages": [{ "role": "user", "content": "Go" }] });
        let (status, answer) = serving.chat(&body, None).await;
        assert_eq!(status, 200, "{answer:.500}");
        let health = knock(&serving, "GET /health HTTP/1.1\r\nhost: localhost", "");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    }
}

/// An endpoint's answer without an end. Endless silence and endless native calls are in the tests of the server
/// (`bounds.rs`).
fn endless(part: &str, kibibytes: usize) -> Reply {
    let unique = |number: usize| -> String {
        (0..128).map(|at| format!("{:x} ", (number * 128 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    };
    let event = |number: usize| match part {
        "reasoning" => delta(json!({ "reasoning_content": unique(number) })),
        _ => says(&unique(number)),
    };
    let begin = match part {
        "call" => "<use_mcp_tool>\n<tool_name>note</tool_name>\n<arguments>\n{\"text\": \"",
        "tag" => "<note>\n<text>",
        "fence" => "Look:\n```json\n",
        _ => "",
    };
    let events: Vec<Value> = std::iter::once(says(begin)).chain((1..=kibibytes / 2).map(event)).collect();
    Reply::events(&events).at_once().end(End::Stall)
}

#[tokio::test]
async fn an_endpoint_without_an_end_fills_no_memory() {
    if !bounds::wanted() {
        return;
    }
    for part in ["text", "reasoning", "call", "tag", "fence"] {
        let mut peaks = Vec::new();
        for size in [4 << 10, 20 << 10] {
            let reply = endless(part, size);
            let endpoint = Endpoint::answer(move |_, _| reply.clone());
            let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m", "--set", "max_rounds=1"], &[]);
            let mut asked = request("m");
            asked["max_tokens"] = json!(2_000);
            let (status, answer) = serving.chat(&asked, None).await;
            assert!(status == 200 || status == 502, "{part}: {status} {answer:.300}");
            let length = answer.to_string().len();
            assert!(length < 100_000, "{part}: {length} bytes");
            peaks.push(bounds::peak(&serving));
        }
        assert!(peaks[1] < 2 * peaks[0], "{part}: {peaks:?} KiB for 4 and 20 MiB");
    }
}

/// The endpoint's answers, one of each request.
fn script(replies: &[String]) -> Endpoint {
    let replies = replies.to_vec();
    Endpoint::answer(move |_, number| Reply::text(replies.get(number).map_or("Done.", String::as_str)))
}

fn goes_on(asked: &mut Value, answer: &Value) {
    let message = answer["choices"][0]["message"].clone();
    let next = match message["tool_calls"][0]["id"].as_str() {
        Some(id) => json!({ "role": "tool", "tool_call_id": id, "content": "well" }),
        None => json!({ "role": "user", "content": "Go on." }),
    };
    asked["messages"].as_array_mut().unwrap().extend([message, next]);
}

const TRUSTING: [&str; 8] =
    ["--model", "m", "--mcp-config", "mcp.json", "--mcp-always", "--allow=*", "--untrusted", "web"];

#[tokio::test]
async fn the_mark_of_an_untrusted_server_is_lost_by_no_other_client_and_no_other_instance() {
    let place = Place::new();
    place.servers(around_the_web());
    let own = mcp_call("client", "note", &json!({ "text": "x" }));
    let [fetch, send] = [("web", "fetch"), ("mail", "send")].map(|(server, tool)| mcp_call(server, tool, &json!({})));
    for (others, instance, ran) in [(0, false, false), (300, false, false), (0, true, false)] {
        let mut replies = vec![fetch.clone(), own.clone()];
        replies.extend((0..others).map(|n| format!("Answer {n}.")));
        replies.push(send.clone());
        let endpoint = script(&replies);
        let serving = Serving::start(&place, &endpoint, &TRUSTING, &[]);
        let mut asked = request("m");
        let (_, answer) = serving.chat(&asked, Some("one")).await;
        goes_on(&mut asked, &answer);
        for n in 0..others {
            let body = json!({ "model": "m", "messages": [{ "role": "user", "content": format!("Question {n}") }] });
            serving.chat(&body, Some("other")).await;
        }
        let second = instance.then(|| Serving::start(&place, &endpoint, &TRUSTING, &[]));
        let (_, answer) = second.as_ref().unwrap_or(&serving).chat(&asked, Some("one")).await;
        assert_eq!(answer["choices"][0]["message"]["content"], "Done.", "{answer:#}");
        let seen = endpoint.seen();
        let told = seen.last().unwrap().messages();
        assert_eq!(told.contains("ran at mail"), ran, "{others} {instance}: {told}");
        assert!(seen.iter().any(|seen| seen.messages().contains("ran at web")));
    }
    // The same call where nothing untrusted was read runs.
    let endpoint = script(&[send]);
    let serving = Serving::start(&place, &endpoint, &TRUSTING, &[]);
    serving.chat(&request("m"), None).await;
    assert!(endpoint.seen()[1].messages().contains("ran at mail"));
}

#[tokio::test]
async fn instances_with_one_secret_hand_the_mark_of_a_conversation_to_each_other() {
    let place = Place::new();
    place.servers(around_the_web());
    let own = mcp_call("client", "note", &json!({ "text": "x" }));
    let [fetch, send] = [("web", "fetch"), ("mail", "send")].map(|(server, tool)| mcp_call(server, tool, &json!({})));
    for (reads_web, key, secret, runs) in [
        (false, "one", "a", true),
        (true, "one", "a", false),
        // What another client, or an instance with another secret, says of a conversation is not believed.
        (false, "two", "a", false),
        (false, "one", "b", false),
    ] {
        let before = reads_web.then(|| fetch.clone());
        let replies: Vec<String> = before.into_iter().chain([own.clone(), send.clone()]).collect();
        let endpoint = script(&replies);
        let instance = |secret| Serving::start(&place, &endpoint, &TRUSTING, &[("TOOLGRAFT_INSTANCE_KEY", secret)]);
        let (first, second) = (instance("a"), instance(secret));
        let mut asked = request("m");
        let (_, answer) = first.chat(&asked, Some("one")).await;
        goes_on(&mut asked, &answer);
        second.chat(&asked, Some(key)).await;
        let seen = endpoint.seen();
        let told = seen.last().unwrap().messages();
        assert_eq!(told.contains("ran at mail"), runs, "{reads_web} {key} {secret}: {told}");
    }
}

#[tokio::test]
async fn results_that_are_kept_are_told_to_their_client_alone() {
    let place = Place::new();
    place.servers(around_the_web());
    let [fetch, own] = [mcp_call("web", "fetch", &json!({})), mcp_call("client", "note", &json!({ "text": "x" }))];
    let endpoint = script(&[fetch, own]);
    let serving = Serving::start(&place, &endpoint, &TRUSTING[..6], &[]);
    let mut asked = request("m");
    let (_, answer) = serving.chat(&asked, Some("one")).await;
    goes_on(&mut asked, &answer);
    for (key, is_told) in [(Some("two"), false), (None, false), (Some("onee"), false), (Some("one"), true)] {
        let before = endpoint.requests();
        serving.chat(&asked, key).await;
        let told = endpoint.seen()[before].messages();
        assert_eq!(told.contains("ran at web"), is_told, "{key:?}: {told}");
    }
}
