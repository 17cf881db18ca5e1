//! Memory and time as ratios: what four times as much takes beside once as much. A ratio is the
//! same on a slow machine; the limits are generous. Only with `ATTACK=all` (`make e2e SUITES=attack`).

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use crate::process::{Place, answering_server};
use crate::serve::{Serving, request};

pub(super) fn wanted() -> bool {
    std::env::var("ATTACK").is_ok_and(|how| how == "all")
}

fn answering() -> Endpoint {
    Endpoint::answer(|_, _| Reply::text("Well."))
}

/// The most memory that a process had, in KiB.
pub(super) fn peak(serving: &Serving) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", serving.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A request with tools that no other request has.
fn with_tools(number: usize, tools: usize) -> Value {
    let tool = |n: usize| {
        let values: Vec<String> = (0..40).map(|value| format!("value {number} {n} {value}")).collect();
        let field = json!({ "type": "string", "enum": values, "description": format!("field of list {number}") });
        json!({ "type": "function", "function": { "name": format!("tool_{number}_{n}"), "parameters":
            { "type": "object", "properties": { "a": field, "b": { "type": "array", "items": field } } } } })
    };
    json!({ "model": "m", "tools": (0..tools).map(tool).collect::<Vec<_>>(),
        "messages": [{ "role": "user", "content": "Hello" }] })
}

/// The memory for lists of tools is limited: four times as many lists do not take four times as much of it.
#[tokio::test]
async fn memory_does_not_grow_with_the_number_of_tool_lists() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
    let mut number = 0;
    let mut ask = async |lists: usize| {
        for _ in 0..lists {
            number += 1;
            let (status, answer) = serving.chat(&with_tools(number, 300), None).await;
            assert_eq!(status, 200, "{answer:.500}");
        }
        peak(&serving)
    };
    let few = ask(24).await;
    let many = ask(72).await;
    assert!(many < 2 * few, "{few} KiB after 24 lists of tools, {many} KiB after 96");
}

/// A request whose one tool takes one of so many words: what it becomes takes ten times the memory
/// of its text. It is copied nowhere, and leaves nothing. With one arena, the allocator keeps as
/// much on every machine.
#[tokio::test]
async fn a_list_of_very_many_values_is_in_memory_once() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let variables = [("MALLOC_ARENA_MAX", "1")];
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &variables);
    let ask = async |number: usize, words: usize| {
        let values: Vec<String> = (0..words).map(|word| format!("word {number} {word}")).collect();
        let parameters = json!({ "type": "object", "properties": { "word": { "type": "string", "enum": values } } });
        let tool = json!({ "type": "function", "function": { "name": "say", "parameters": parameters } });
        let body = json!({ "model": "m", "tools": [tool], "messages": [{ "role": "user", "content": "Hello" }] });
        let (status, answer) = serving.chat(&body, None).await;
        assert_eq!(status, 200, "{answer:.500}");
        (peak(&serving), body.to_string().len() as u64 / 1024)
    };
    let (before, _) = ask(0, 3).await;
    let (mut most, mut text) = (0, 0);
    for number in 1..5 {
        (most, text) = ask(number, 300_000).await;
    }
    let times = (most - before) / text;
    assert!(times < 16, "{before} KiB, then {most} KiB for {text} KiB of text: {times} times as much");
}

/// A conversation with so many results, none of which is easy to read.
fn with_results(results: usize) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": "Go" })];
    for n in 0..results {
        let id = format!("call_{n}");
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function",
            "function": { "name": "note", "arguments": format!("{{\"text\": \"{n}\"}}") } }] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": "[{<".repeat(1_500) }));
    }
    json!({ "model": "m", "messages": messages, "tools": [{ "type": "function", "function": { "name": "note",
        "parameters": { "type": "object", "properties": { "text": { "type": "string" } } } } }] })
}

/// The shortest of a few requests: what else the machine does only adds.
async fn takes(serving: &Serving, body: &Value, expected: u16) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let (status, answer) = serving.chat(body, None).await;
        assert_eq!(status, expected, "{answer:.500}");
        best = best.min(start.elapsed());
    }
    best
}

#[tokio::test]
async fn the_time_of_a_request_grows_as_its_results_do() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
    let few = takes(&serving, &with_results(50), 200).await;
    let many = takes(&serving, &with_results(200), 200).await;
    assert!(many < 12 * few, "{few:?} for 50 results, {many:?} for 200");
}

/// A tool with so many branches, and a call that fits none of them.
fn with_branches(branches: usize) -> (Value, String) {
    let branch = |n: usize| {
        json!({ "type": "object", "properties": { "kind": { "const": format!("k{n}") },
        "a": { "type": "integer" } }, "required": ["kind", format!("r{n}")] })
    };
    let any: Vec<Value> = (0..branches).map(branch).collect();
    let tool = json!({ "type": "function", "function": { "name": "act", "parameters":
        { "type": "object", "properties": { "x": { "anyOf": any } }, "required": ["x"] } } });
    let body = json!({ "model": "m", "tools": [tool], "messages": [{ "role": "user", "content": "Go" }] });
    let arguments = json!({ "x": { "kind": "no", "a": "5", "other": branches } });
    (body, mcp_call("client", "act", &arguments))
}

#[tokio::test]
async fn the_time_of_a_check_grows_as_the_branches_of_its_schema_do() {
    if !wanted() {
        return;
    }
    let mut times = Vec::new();
    for branches in [400, 1_600] {
        let (body, call) = with_branches(branches);
        let endpoint = Endpoint::answer(move |_, _| Reply::text(&call));
        let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m", "--set", "strict_calls=true"], &[]);
        // It is corrected, and stays wrong.
        times.push(takes(&serving, &body, 502).await);
    }
    assert!(times[1] < 12 * times[0], "{:?} for 400 branches, {:?} for 1,600", times[0], times[1]);
}

/// Bodies that come all but for their last byte, each of another client.
fn unfinished(serving: &Serving, bodies: usize) -> Vec<TcpStream> {
    const LENGTH: usize = 30 << 20;
    let address = serving.url.trim_start_matches("http://").trim_end_matches("/v1");
    let almost = vec![b' '; LENGTH - 1];
    let open = |number| {
        let mut socket = TcpStream::connect(address).unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             authorization: Bearer {number}\r\ncontent-length: {LENGTH}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).unwrap();
        // One that is refused is closed before all of it was sent.
        let _ = socket.write_all(&almost);
        socket
    };
    (0..bodies).map(open).collect()
}

/// All bodies at once share 256 MiB: three times as many take no more memory, since the others are refused.
#[tokio::test]
async fn many_large_bodies_at_once_fill_no_memory() {
    if !wanted() {
        return;
    }
    let endpoint = answering();
    let mut peaks = Vec::new();
    for (bodies, refused) in [(8, 0), (24, 16)] {
        let serving = Serving::start(&Place::new(), &endpoint, &["--model", "m"], &[]);
        let open = unfinished(&serving, bodies);
        let page = serving.url.replace("/v1", "/metrics");
        let page = toolgraft::http::client().build().unwrap().get(page).send().await.unwrap().text().await.unwrap();
        let row = format!("toolgraft_budget_refused_total{{budget=\"max_body_bytes\",unit=\"bytes\"}} {refused}\n");
        assert!(page.contains(&row), "{page}");
        peaks.push(peak(&serving));
        drop(open);
    }
    assert!(peaks[1] < 2 * peaks[0], "{peaks:?} KiB for 8 and 24 bodies of 30 MiB");
}

/// The head of a PNG of this size, followed by some kilobytes that are not a picture.
fn claimed(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    for (kind, data) in [(b"IHDR", [&size[..], &[1, 0, 0, 0, 0]].concat()), (b"IDAT", vec![7; 12_000])] {
        let body = [&kind[..], &data].concat();
        let mut sum = u32::MAX;
        for byte in &body {
            sum = (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()));
        }
        bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend(body);
        bytes.extend((!sum).to_be_bytes());
    }
    bytes
}

#[tokio::test]
async fn a_picture_of_few_bytes_and_many_pixels_is_not_decoded() {
    let tools = json!({ "tools": [{ "name": "look", "inputSchema": { "type": "object" } }] });
    let call = mcp_call("eye", "look", &json!({}));
    // Three rows, longer than endpoints take them.
    let long = toolgraft_raster::Raster::new(8_001, 3, vec![255; 8_001 * 3 * 4]).unwrap().to_png().unwrap();
    let arguments = ["--model", "m", "--mcp-config", "mcp.json", "--mcp-always", "--allow", "eye.look"];
    for (picture, pixels, said, is_shown) in [
        (&claimed(60_000, 60_000), "50000000", "[an image of 60000 by 60000 pixels is too large to be shown]", false),
        (&long, "24002", "[an image of 8001 by 3 pixels is too large to be shown]", false),
        (&long, "24003", "[an image of 8001 by 3 pixels is shown at 1568 by 1]", true),
    ] {
        let place = Place::new();
        let content = json!([{ "type": "image", "mimeType": "image/png", "data": STANDARD.encode(picture) }]);
        let answers = json!({ "tools/list": tools, "tools/call": { "content": content } });
        place.servers(json!({ "eye": answering_server(&answers) }));
        let call = call.clone();
        let endpoint = Endpoint::answer(move |_, number| Reply::text(if number == 0 { &call } else { "Well." }));
        let limit = format!("max_pixels={pixels}");
        let set = ["--set", "images=always", "--set", &limit];
        let serving = Serving::start(&place, &endpoint, &[&arguments[..], &set].concat(), &[]);
        let (status, answer) = serving.chat(&request("m"), None).await;
        assert_eq!(status, 200, "{answer:#}");
        let told = endpoint.seen()[1].messages();
        let end = &told[told.len().saturating_sub(1_500)..];
        assert!(told.contains(said) && told.contains("data:image") == is_shown, "{pixels}: {end}");
    }
}
