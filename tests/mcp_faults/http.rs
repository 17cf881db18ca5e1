//! Faults over streamable HTTP. The server is a thread of the test's own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgraft::outcome::Status;
use toolgraft::route::mcp::{Config, Hub, ServerConfig, ServerState};

use crate::case::{Case, call, call_with, hub, options, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let cannot_start =
        |name: &str, fault: &'static str, why: &'static str| trial(name, move |case| fails_to_start(case, fault, why));
    let call_fails = |name: &str, fault: &'static str, why: &'static [&'static str]| {
        trial(name, move |case| fails_to_answer(case, fault, why))
    };
    vec![
        cannot_start("http_an_endpoint_that_accepts_and_never_answers_ends", "accepts", "within 1 s"),
        cannot_start("http_an_endpoint_that_only_sends_a_head_ends", "head-only", "within 1 s"),
        cannot_start("http_an_endpoint_that_hangs_up_ends", "hangs-up", "the request failed"),
        cannot_start("http_an_endpoint_with_an_empty_answer_ends", "empty", "its answer is no MCP"),
        call_fails("http_a_call_that_an_endpoint_does_not_answer_ends", "accepts-call", &["no answer within 1 s"]),
        call_fails("http_a_stream_without_events_ends", "head-only-call", &["no answer within 1 s"]),
        call_fails("http_a_body_that_is_cut_off_is_an_error", "cut-call", &["the request failed"]),
        call_fails("http_a_body_of_20_mebibytes_is_an_error", "big-call", &["more than 16 MiB"]),
        call_fails("http_a_refusal_in_plain_text_is_an_error", "503-call", &["HTTP 503"]),
        call_fails("http_too_many_requests_is_an_error", "429-call", &["HTTP 429"]),
        call_fails("http_an_answer_to_somebody_else_ends", "other-id-call", &["no answer within 1 s"]),
        trial("http_a_body_over_several_lines_is_read", |case| works(case, "pretty")),
        trial("http_an_event_stream_is_read_whatever_stands_around_the_answer", |case| works(case, "events")),
        trial("http_an_event_of_20_mebibytes_is_read", big_event),
        trial("http_a_server_that_wants_a_token_is_named_and_not_asked_again", wants_token),
    ]
}

/// An HTTP server with one fault.
struct Faulty {
    url: String,
    requests: std::sync::mpsc::Receiver<String>,
}

impl Faulty {
    fn start(fault: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, requests) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || answer(stream, fault, &sender));
            }
        });
        Faulty { url, requests }
    }

    fn server(&self) -> ServerConfig {
        let second = Some(Duration::from_secs(1));
        ServerConfig { connect_timeout: second, call_timeout: second, ..ServerConfig::http("s", self.url.clone()) }
    }
}

/// Reads a request's body; `None` where there is none.
fn read(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn answer(mut stream: TcpStream, fault: &str, requests: &std::sync::mpsc::Sender<String>) {
    let Some((first, message)) = read(&stream) else { return };
    let method = message["method"].as_str().unwrap_or_default();
    let _ = requests.send(format!("{first} {method}"));
    let is_call = method == "tools/call";
    let id = &message["id"];
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "faulty", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": message["params"]["arguments"]["text"] }] }),
        _ if first.starts_with("GET") => return write(&mut stream, "405 Method Not Allowed", "", b""),
        _ => return write(&mut stream, "202 Accepted", "", b""),
    };
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let json = "Content-Type: application/json\r\n";
    let events = "Content-Type: text/event-stream\r\n";
    // A fault of the call leaves the handshake as it should be.
    let fault = match fault.strip_suffix("-call") {
        Some(fault) if is_call => fault,
        Some(_) => "",
        None => fault,
    };
    match fault {
        "accepts" => std::thread::park(),
        "hangs-up" => {}
        "head-only" => {
            let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{events}\r\n").as_bytes());
            std::thread::park();
        }
        "empty" => write(&mut stream, "200 OK", json, b""),
        "cut" => {
            let head = format!("HTTP/1.1 200 OK\r\n{json}Content-Length: 5000\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(format!("{head}{}", &body.to_string()[..30]).as_bytes());
        }
        "big" => {
            let text = "x".repeat(20 * 1024 * 1024);
            let body =
                json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } });
            write(&mut stream, "200 OK", json, body.to_string().as_bytes());
        }
        "big-event" if is_call => {
            let text = "x".repeat(20 * 1024 * 1024);
            let body =
                json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } });
            write(&mut stream, "200 OK", events, format!("data: {body}\n\n").as_bytes());
        }
        "503" => write(&mut stream, "503 Service Unavailable", "Content-Type: text/plain\r\n", b"go away"),
        "429" => write(&mut stream, "429 Too Many Requests", "Retry-After: 3\r\n", b""),
        "401" => write(&mut stream, "401 Unauthorized", "", b""),
        "other-id" => {
            let body = json!({ "jsonrpc": "2.0", "id": 999, "result": result });
            write(&mut stream, "200 OK", json, body.to_string().as_bytes());
        }
        "pretty" => write(&mut stream, "200 OK", json, format!("\n{body:#}\n").as_bytes()),
        "events" => {
            let notice = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
            let text = format!(
                "\u{feff}: hello\r\nevent: message\r\nid: 1\r\ndata:\r\n\r\ndata: {notice}\r\n\r\ndata: {body}\r\n\r\n"
            );
            write(&mut stream, "200 OK", events, text.as_bytes());
        }
        _ => write(&mut stream, "200 OK", json, body.to_string().as_bytes()),
    }
}

fn write(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    // The other side may have gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

async fn with_a_good_one(server: &Faulty, case: &Case) -> Hub {
    Hub::connect(&Config::from_iter([server.server(), case.named("good", "none")]), options()).await
}

async fn fails_to_start(case: Arc<Case>, fault: &'static str, why: &'static str) {
    let server = Faulty::start(fault);
    let hub = with_a_good_one(&server, &case).await;
    let statuses = hub.servers();
    let error = statuses[0].error.clone().unwrap_or_default();
    assert!(error.contains(why) && error.contains(&server.url), "{statuses:?}");
    assert_eq!((statuses[0].state, statuses[1].state), (ServerState::Failed, ServerState::Ready));
    hub.shutdown().await;
}

async fn fails_to_answer(case: Arc<Case>, fault: &'static str, why: &'static [&'static str]) {
    let server = Faulty::start(fault);
    let hub = with_a_good_one(&server, &case).await;
    let outcome = call_with(&hub, "echo", json!({ "text": "hello" })).await;
    assert!(!outcome.is_result(), "{outcome:?}");
    for text in why.iter().chain(&["\"s\"", "\"echo\""]) {
        assert!(outcome.text.contains(text), "{text}: {outcome:?}");
    }
    hub.shutdown().await;
}

async fn works(_: Arc<Case>, fault: &'static str) {
    let server = Faulty::start(fault);
    let hub = hub([server.server()]).await;
    let outcome = call_with(&hub, "echo", json!({ "text": "hello" })).await;
    assert_eq!(outcome.text, "hello", "{outcome:?} {:?}", hub.servers());
    hub.shutdown().await;
}

async fn big_event(_: Arc<Case>) {
    let server = Faulty::start("big-event");
    let hub = hub([ServerConfig::http("s", server.url)]).await;
    let outcome = call(&hub, "echo").await;
    assert_eq!((outcome.status, outcome.text.len()), (Status::Result, 20 * 1024 * 1024));
    hub.shutdown().await;
}

async fn wants_token(_: Arc<Case>) {
    let server = Faulty::start("401");
    let hub = hub([server.server()]).await;
    let status = hub.servers().remove(0);
    assert_eq!(status.state, ServerState::NeedsAuth);
    assert!(status.error.unwrap().contains("OAuth is not supported"));
    let asked = server.requests.try_iter().count();
    let outcome = call(&hub, "echo").await;
    for text in ["\"s\"", "HTTP 401", "headers", "not asked again for"] {
        assert!(outcome.text.contains(text), "{text}: {outcome:?}");
    }
    assert_eq!((asked > 0, server.requests.try_iter().count()), (true, 0));
    hub.shutdown().await;
}
