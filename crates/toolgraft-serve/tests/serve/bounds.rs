//! Tests of limits for one request, one answer and all requests together. They count, and never
//! measure time.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolgraft_serve::Budgets;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, delta, says};

use super::http::{Served, read, request, serve};

/// Returns an endpoint's reply that repeats a piece up to so many bytes, or until the client
/// disconnects.
fn endless(begin: &str, piece: impl Fn(usize) -> Value, bytes: usize) -> Reply {
    let mut events = vec![says(begin)];
    let mut total = 0;
    while total < bytes {
        let event = piece(events.len());
        total += event.to_string().len();
        events.push(event);
    }
    Reply::events(&events).at_once().end(End::Stall)
}

/// Returns a text without repetitions.
fn unique(number: usize) -> String {
    let words: Vec<String> =
        (0..200).map(|at| format!("{:x}", (number * 200 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    words.join(" ")
}

#[tokio::test]
async fn a_call_that_repeats_itself_without_end_is_stopped() {
    let begin = "<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": \"";
    let endpoint = Endpoint::answer(move |_, _| endless(begin, |_| says("Oslo, "), 8 << 20));
    let served = serve(&endpoint, |config| config).await;
    let (_, answer) = served.chat(&request(false)).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "length", "{answer:#}");
    assert_eq!(endpoint.seen().len(), 1);
    // Only text that was received counts.
    assert!(answer["usage"]["completion_tokens"].as_u64().unwrap() < 50_000, "{answer:#}");
}

#[tokio::test]
async fn a_clients_limit_holds_whatever_the_endpoint_makes_of_it() {
    let begins = ["", "<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": \""];
    for (begin, field) in begins.iter().flat_map(|begin| ["content", "reasoning_content"].map(|field| (*begin, field)))
    {
        let endpoint =
            Endpoint::answer(move |_, _| endless(begin, |number| delta(json!({field: unique(number)})), 4 << 20));
        let served = serve(&endpoint, |config| config).await;
        let mut asked = request(false);
        asked["max_tokens"] = json!(100);
        let (_, answer) = served.chat(&asked).await;
        assert_eq!(answer["choices"][0]["finish_reason"], "length", "{field}: {answer:.2000}");
        let said = answer["choices"][0]["message"].to_string().len();
        assert!(said < 20_000, "{field}: {said} bytes for 100 tokens");
        assert_eq!(endpoint.seen().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off_where_no_answer_gets() {
    for field in ["content", "reasoning_content"] {
        let endpoint = Endpoint::answer(move |_, _| {
            endless("", |number| delta(json!({field: unique(number).repeat(10)})), 40 << 20)
        });
        let served = serve(&endpoint, |config| config).await;
        let (_, answer) = served.chat(&request(false)).await;
        assert_eq!(answer["choices"][0]["finish_reason"], "length", "{field}: {:.200}", answer.to_string());
        let said = answer["choices"][0]["message"].to_string().len();
        assert!(said < 10 << 20, "{field}: {said} bytes");
    }
}

#[tokio::test]
async fn a_stream_that_says_nothing_has_an_end() {
    for quiet in [
        "data: {\"choices\": []}\n\n",
        ": ping\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n",
    ] {
        let endpoint = Endpoint::answer(move |_, _| {
            let mut reply = Reply::events(&[]).at_once().end(End::Stall);
            reply.pieces = vec![quiet.repeat((1 << 20) / quiet.len()).into_bytes(); 20];
            reply
        });
        let served = serve(&endpoint, |config| config).await;
        let (status, answer) = served.chat(&request(false)).await;
        assert_eq!(status, 502, "{quiet}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("without content"), "{answer:#}");
    }
}

#[tokio::test]
async fn native_calls_without_end_have_one() {
    let piece = json!({"tool_calls": [{"index": 0, "function": {"arguments": "x".repeat(64 << 10)}}]});
    let endpoint = Endpoint::answer(move |_, _| endless("", |_| delta(piece.clone()), 20 << 20));
    let served = serve(&endpoint, |config| config).await;
    let (status, answer) = served.chat(&request(false)).await;
    assert_eq!(status, 502);
    assert!(answer["error"]["message"].as_str().unwrap().contains("calls of more than"), "{answer:#}");
}

/// Parsed values take a hundred times the memory of their text.
#[tokio::test]
async fn a_request_holds_so_many_values_and_no_more() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hello."));
    let served = serve(&endpoint, |config| config).await;
    let values: Vec<u32> = (0..600_000).collect();
    let mut in_a_schema = request(false);
    in_a_schema["tools"][0]["function"]["parameters"]["properties"]["city"] = json!({"enum": values});
    let mut in_a_call = request(false);
    let call =
        json!({"id": "call_1", "function": {"name": "weather", "arguments": json!({"city": values}).to_string()}});
    in_a_call["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "1"}),
    ]);
    for asked in [in_a_schema, in_a_call] {
        let (status, answer) = served.chat(&asked).await;
        let came = (status.as_u16(), &answer["error"]["code"]);
        assert_eq!(came, (413, &json!("too_many_values")), "{:.200}", answer.to_string());
    }
    assert!(endpoint.seen().is_empty());
}

/// Each level doubles the branches, and a value that satisfies none would be compared with all of
/// them.
#[tokio::test]
async fn a_schema_too_large_to_check_by_takes_any_object() {
    fn nested(depth: usize, leaf: &mut usize) -> Value {
        if depth == 0 {
            *leaf += 1;
            return json!({"type": "object", "properties": {format!("p{leaf}"): {"type": "string"}}, "required": [format!("p{leaf}")]});
        }
        json!({"anyOf": [nested(depth - 1, leaf), nested(depth - 1, leaf)]})
    }
    let endpoint = Endpoint::answer(|_, _| Reply::text(&super::http::call()));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(false);
    asked["tools"][0]["function"]["parameters"]["properties"]["city"] = nested(13, &mut 0);
    let (status, answer) = read(served.post("/v1/chat/completions", &asked).send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer:#}");
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call, &json!({"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}), "{answer:#}");
}

const POST: &str = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";

/// Opens a connection and sends these bytes.
async fn sent(served: &Served, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Returns the head of the answer on a connection, and the part of its body that came with it.
async fn answer(mut stream: TcpStream) -> String {
    let (mut text, mut piece) = (String::new(), vec![0; 8 << 10]);
    while !text.contains("\r\n\r\n") {
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "{text}");
        text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
    text
}

/// Returns one number of a budget from `/metrics`.
async fn budget(served: &Served, number: &str, name: &str) -> u64 {
    let page = served.client.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    let row = format!("toolgraft_{number}{{budget=\"{name}\"");
    let line = page.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("{row}\n{page}"));
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

/// Waits until so much of a budget is used.
async fn used(served: &Served, name: &str, amount: u64) {
    while budget(served, "budget_used", name).await != amount {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_bodies_of_all_requests_have_one_budget() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hello."));
    let budgets = Budgets::default().with_max_body_bytes(4_000);
    let served = serve(&endpoint, |config| config.with_budgets(budgets)).await;
    let ask = async |key: &str, body: &str| {
        let request = served.post("/v1/chat/completions", &Value::Null).bearer_auth(key).body(body.to_owned());
        let response = request.send().await.unwrap();
        let after = response.headers().get("retry-after").is_some();
        let (status, answer) = read(response).await;
        (status.as_u16(), answer["error"]["code"].as_str().unwrap_or_default().to_owned(), after)
    };
    let refused = |status: u16| (status, "max_body_bytes".to_owned(), status == 503);
    let body = request(false).to_string();
    let (padded, large) = (format!("{body}{}", " ".repeat(1_200)), format!("{body}{}", " ".repeat(3_000)));
    // 3,000 bytes are announced, of which few have come.
    let slow = sent(&served, &format!("{POST}\r\nauthorization: Bearer one\r\ncontent-length: 3000\r\n\r\n{{")).await;
    used(&served, "max_body_bytes", 3_000).await;
    assert_eq!(ask("one", &body).await, refused(503), "it has its three quarters");
    assert_eq!(ask("two", &body).await.0, 200);
    assert_eq!(ask("two", &padded).await, refused(503), "there is a thousand left");
    assert_eq!(ask("two", &large).await, refused(413), "nobody ever gets so much");
    // A body without an announced length reserves its room as it comes.
    let piece = format!("5dc\r\n{}\r\n", " ".repeat(1_500));
    let head = format!("{POST}\r\nauthorization: Bearer two\r\ntransfer-encoding: chunked\r\n\r\n");
    let told = answer(sent(&served, &format!("{head}{piece}")).await).await;
    assert!(told.starts_with("HTTP/1.1 503") && told.contains("retry-after: 1"), "{told}");
    drop(slow);
    used(&served, "max_body_bytes", 0).await;
    assert_eq!(ask("one", &padded).await.0, 200);
    assert_eq!(budget(&served, "budget_refused_total", "max_body_bytes").await, 4);
    assert_eq!(budget(&served, "budget", "max_body_bytes").await, 4_000);
}

#[tokio::test]
async fn requests_that_are_answered_have_one_budget_and_each_client_its_part() {
    let mut endpoint = Endpoint::answer(|_, number| match number {
        0..4 => Reply::events(&[says("Well. ")]).end(End::Stall),
        _ => Reply::text("Hello."),
    });
    let served = serve(&endpoint, |config| config.with_budgets(Budgets::default().with_max_requests(4))).await;
    let (with_tools, plain) =
        (request(true), json!({"model": "m", "stream": true, "messages": request(true)["messages"]}));
    let mut streams = Vec::new();
    for (key, body) in [("one", &with_tools), ("one", &plain), ("one", &with_tools)] {
        let stream = served.post("/v1/chat/completions", body).bearer_auth(key).send().await.unwrap();
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    let contents = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]});
    let ask = async |key: &str, path: &str| {
        let response = served.post(path, &contents).bearer_auth(key).send().await.unwrap();
        assert_eq!(response.headers().get("retry-after").map(|after| after.as_bytes()), Some(&b"1"[..]), "{path}");
        read(response).await
    };
    let (status, told) = ask("one", "/v1/chat/completions").await;
    let message = "one client's part (3) of the budget max_requests is in use: try again shortly";
    let error = json!({"message": message, "type": "server_error", "param": null, "code": "max_requests"});
    assert_eq!((status.as_u16(), &told["error"]), (503, &error));
    streams.push(served.post("/v1/chat/completions", &with_tools).bearer_auth("two").send().await.unwrap());
    // Each API has its own form for the error.
    for (path, kind) in [
        ("/v1/chat/completions", json!({"type": "server_error", "code": "max_requests"})),
        ("/v1/responses", json!({"code": "max_requests"})),
        ("/v1/messages", json!({"type": "overloaded_error"})),
        ("/v1/messages/count_tokens", json!({"type": "overloaded_error"})),
        ("/v1beta/models/m:generateContent", json!({"code": 503, "status": "UNAVAILABLE"})),
        ("/v1/embeddings", json!({"code": "max_requests"})),
    ] {
        let (status, told) = ask("three", path).await;
        assert_eq!(status, 503, "{path}: {told}");
        assert!(told["error"]["message"].as_str().unwrap().contains("the budget max_requests (4) is in use"), "{told}");
        for (name, value) in kind.as_object().unwrap() {
            assert_eq!(&told["error"][name], value, "{path}: {told}");
        }
    }
    let (status, told) = ask("three", "/api/chat").await;
    assert!(status == 503 && told["error"].as_str().unwrap().contains("max_requests"), "{told}");
    // Monitoring is answered nevertheless.
    for path in ["/health", "/ready", "/metrics"] {
        assert_eq!(served.client.get(format!("{}{path}", served.url)).send().await.unwrap().status(), 200, "{path}");
    }
    assert_eq!(budget(&served, "budget_used", "max_requests").await, 4);
    for stream in streams {
        drop(stream);
        endpoint.gone().await;
    }
    used(&served, "max_requests", 0).await;
    assert_eq!(served.chat(&request(false)).await.0, 200);
}

#[tokio::test]
async fn connections_have_one_budget_and_one_too_many_is_told_so() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hello."));
    let served = serve(&endpoint, |config| config.with_budgets(Budgets::default().with_max_connections(2))).await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut idle = Vec::new();
    for _ in 0..2 {
        let mut stream = sent(&served, &get("/health")).await;
        let mut ok = [0; 15];
        stream.read_exact(&mut ok).await.unwrap();
        assert_eq!(&ok, b"HTTP/1.1 200 OK");
        idle.push(stream);
    }
    let mut told = String::new();
    sent(&served, &get("/v1/messages")).await.read_to_string(&mut told).await.unwrap();
    assert!(told.starts_with("HTTP/1.1 503") && told.contains("connection: close"), "{told}");
    assert!(told.contains("the budget max_connections (2) is in use") && told.contains("overloaded_error"), "{told}");
    idle.pop();
    // Its place is free once the server has noticed that it disconnected.
    while answer(sent(&served, &get("/health")).await).await.starts_with("HTTP/1.1 503") {}
}

#[tokio::test]
async fn each_budget_has_its_row_in_the_counts_and_in_the_documentation() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hello."));
    let served = serve(&endpoint, |config| config).await;
    let page = served.client.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    let named = |line: &str| Some(line.strip_prefix("toolgraft_budget{budget=\"")?.split('"').next()?.to_owned());
    let names: Vec<String> = page.lines().filter_map(named).collect();
    let documented = include_str!("../../docs/serve.md").lines().filter_map(|line| line.strip_prefix("| `max_"));
    let documented: Vec<String> =
        documented.filter_map(|line| Some(format!("max_{}", line.split('`').next()?))).collect();
    assert!(names.len() > 5 && documented == names, "{names:?}\n{documented:?}");
    let defaults = [("max_connections", "4,096"), ("max_requests", "2,048"), ("max_pixels", "50 million")];
    for (name, amount) in defaults {
        let value = amount.replace(',', "").replace(" million", "000000");
        assert_eq!(budget(&served, "budget", name).await.to_string(), value);
        assert!(include_str!("../../docs/serve.md").contains(&format!("| `{name}` | {amount}")), "{name}");
    }
}
