//! Faults over streamable HTTP. The server is a thread of the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgraft::outcome::Status;
use toolgraft_mcp::{Config, HttpTransport, Hub, ServerConfig, ServerState};

use crate::case::{Case, call, call_with, hub, odd_answers_are_read_or_errors, odd_tools_are_left_out, trial};

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
        cannot_start("http_an_endpoint_with_an_empty_answer_ends", "empty", "its answer is not MCP"),
        call_fails("http_a_call_that_an_endpoint_does_not_answer_ends", "accepts-call", &["no answer within 1 s"]),
        call_fails("http_a_stream_without_events_ends", "head-only-call", &["no answer within 1 s"]),
        call_fails("http_a_body_that_is_cut_off_is_an_error", "cut-call", &["the request failed"]),
        call_fails("http_a_body_of_20_mebibytes_is_an_error", "big-call", &["more than 16 MiB"]),
        call_fails("http_a_refusal_in_plain_text_is_an_error", "503-call", &["HTTP 503"]),
        call_fails("http_too_many_requests_is_an_error", "429-call", &["HTTP 429"]),
        call_fails("http_an_answer_to_somebody_else_ends", "other-id-call", &["no answer within 1 s"]),
        call_fails(
            "http_a_call_that_is_taken_without_an_answer_is_an_error",
            "202-call",
            &["HTTP 202", "without a body: a request must have an answer"],
        ),
        call_fails("http_an_empty_answer_to_a_call_is_an_error", "204-call", &["HTTP 204", "without a body"]),
        trial("http_media_types_are_known_in_any_case", |case| works(case, "loud-json")),
        trial("http_media_types_of_streams_are_known_in_any_case", |case| works(case, "loud-events")),
        trial("http_an_answer_that_comes_with_202_is_read", |case| works(case, "taken")),
        trial("http_no_answer_is_lost", |_| no_answer_is_lost("raw")),
        trial("http_no_answer_is_lost_in_events", |_| no_answer_is_lost("raw-events")),
        trial("sse_no_answer_is_lost", |_| no_answer_is_lost("sse-raw")),
        trial("http_tools_that_cannot_be_read_are_left_out_by_name", |_| unreadable_tools("odd-list")),
        trial("http_tools_that_cannot_be_read_in_events_are_left_out_by_name", |_| unreadable_tools("odd-list-events")),
        trial("http_versions_that_a_server_names_are_tried", names_versions),
        trial("http_a_body_over_several_lines_is_read", |case| works(case, "pretty")),
        trial("http_an_event_stream_is_read_whatever_stands_around_the_answer", |case| works(case, "events")),
        trial("http_an_event_of_20_mebibytes_is_read", big_event),
        trial("http_a_session_that_was_forgotten_is_begun_anew", forgotten),
        trial("http_a_session_that_is_never_there_is_an_error_in_the_servers_words", never_there),
        trial("http_the_stream_is_open_before_the_first_call", |_| first_call("late-stream", "the stream is open")),
        trial("http_a_stream_that_is_refused_late_is_waited_for", |_| {
            first_call("refused-stream", "the stream was refused")
        }),
        trial("http_a_stream_that_never_comes_holds_no_call_for_long", |_| {
            first_call("no-stream", "there is no stream")
        }),
        trial("sse_a_bare_url_finds_the_legacy_transport", |case| over_sse(case, "sse", None)),
        trial("sse_is_chosen_by_type", |case| over_sse(case, "sse", Some("sse"))),
        trial("sse_is_not_tried_where_the_type_is_http", not_sse),
        trial("sse_an_endpoint_of_another_origin_is_refused", |case| {
            no_sse(case, "sse-other-origin", "another origin")
        }),
        trial("sse_a_stream_that_ends_is_an_error", |case| no_sse(case, "sse-ends", "before it named an endpoint")),
        trial("sse_a_stream_without_an_endpoint_ends", |case| no_sse(case, "sse-silent", "within 1 s")),
        trial("sse_a_stream_that_breaks_is_begun_anew", sse_breaks),
        trial("sse_a_session_that_was_forgotten_is_begun_anew", sse_forgotten),
        trial("sse_calls_of_a_session_that_was_forgotten_all_get_an_answer", sse_forgotten_by_all),
        trial("sse_a_session_that_is_never_there_is_an_error_in_the_servers_words", sse_never_there),
        trial("sse_a_task_whose_session_was_forgotten_is_not_begun_again", sse_forgotten_task),
        trial("http_a_server_that_wants_a_token_is_named_and_not_asked_again", wants_token),
    ]
}

/// State that the connections of one server share.
#[derive(Default)]
struct Shared {
    /// The number of the session, and its calls.
    session: Mutex<(u32, u32)>,
    /// The event stream of legacy HTTP+SSE.
    events: Mutex<Option<TcpStream>>,
}

/// The ways in which servers say that they have forgotten a session: status, headers, body. Over
/// HTTP+SSE only those with an error status count.
const FORGETS: [(&str, &str, &str, &str); 9] = [
    ("forgets", "404 Not Found", "", ""),
    ("forgets-410", "410 Gone", "", ""),
    ("forgets-400-text", "400 Bad Request", "Content-Type: text/plain\r\n", "Bad Request: Session abc is unknown"),
    ("forgets-400", "400 Bad Request", JSON, NO_SESSION),
    ("forgets-401", "401 Unauthorized", "", "Unauthorized: Session not found"),
    ("forgets-200", "200 OK", JSON, NO_SESSION),
    (
        "forgets-begun",
        "200 OK",
        JSON,
        r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"Server not initialized"}}"#,
    ),
    (
        "forgets-event",
        "200 OK",
        "Content-Type: text/event-stream\r\n",
        concat!(
            "id: 1\ndata:\n\n",
            r#"data: {"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}"#,
            "\n\n",
        ),
    ),
    ("forgets-500", "500 Internal Server Error", JSON, NO_SESSION),
];
const JSON: &str = "Content-Type: application/json\r\n";
const NO_SESSION: &str =
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;

/// Handles a request of legacy HTTP+SSE, whose answers go over the stream.
fn legacy(mut stream: TcpStream, fault: &str, first: &str, message: &Value, shared: &Shared) {
    // The number of sessions, and of calls in the last one.
    let (sessions, calls) = &mut *shared.session.lock().unwrap();
    if first.starts_with("GET") {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n\r\n");
        let endpoint = match fault {
            "sse-ends" => return,
            "sse-silent" => return std::thread::park(),
            "sse-other-origin" => "https://example.com/messages",
            _ => &format!("/messages?session={}", *sessions + 1),
        };
        (*sessions, *calls) = (*sessions + 1, 0);
        // A client sends as soon as it reads the endpoint, and the stream must be registered by
        // then.
        let mut events = shared.events.lock().unwrap();
        let _ = stream.write_all(format!(": hello\n\nevent: endpoint\r\ndata: {endpoint}\r\n\r\n").as_bytes());
        *events = Some(stream);
        return;
    }
    if !first.starts_with("POST /messages?session=") {
        return write(&mut stream, "405 Method Not Allowed", "", b"");
    }
    let is_known = first.contains(&format!("={sessions} "));
    *calls += u32::from(is_known && message["method"] == "tools/call");
    // A session lasts for two calls, or for none.
    if let Some(forgets) = fault.strip_prefix("sse-").filter(|fault| fault.starts_with("forgets"))
        && (*calls > 2 || !is_known)
    {
        let (_, status, headers, text) = *FORGETS.iter().find(|(name, ..)| *name == forgets).unwrap();
        return write(&mut stream, status, headers, text.as_bytes());
    }
    if fault == "sse-no-session" && *calls > 0 || fault == "sse-no-task" && message["method"] == "tasks/get" {
        return write(&mut stream, "400 Bad Request", "", b"No transport found for sessionId");
    }
    let mut events = shared.events.lock().unwrap();
    let breaks = fault == "sse-breaks" && message["params"]["arguments"]["text"] == "break";
    if breaks {
        *events = None;
    }
    write(&mut stream, "202 Accepted", "", b"Accepted");
    if let (Some(result), Some(events)) = (result(message), &mut *events) {
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        let answer = raw(message).unwrap_or_else(|| answer.to_string());
        let _ = events.write_all(format!("event: ping\ndata: x\n\nevent: message\ndata: {answer}\n\n").as_bytes());
    }
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
            let shared = Arc::<Shared>::default();
            for stream in listener.incoming().flatten() {
                let (sender, shared) = (sender.clone(), shared.clone());
                std::thread::spawn(move || answer(stream, fault, &sender, &shared));
            }
        });
        Faulty { url, requests }
    }

    fn server(&self) -> ServerConfig {
        let second = Duration::from_secs(1);
        ServerConfig::http("s", self.url.clone()).with_connect_timeout(second).with_call_timeout(second)
    }
}

/// A request: its first line, its headers in lower case, and its body.
struct Request {
    first: String,
    headers: Vec<String>,
    message: Value,
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length, mut headers) = (String::new(), 0, Vec::new());
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
        headers.push(line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let message = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { first: first.trim().to_owned(), headers, message })
}

/// Returns the answer that a call of `raw` asks for.
fn raw(message: &Value) -> Option<String> {
    let text = message["params"]["arguments"]["text"].as_str().filter(|_| message["params"]["name"] == "raw")?;
    Some(text.replace("$ID", &message["id"].to_string()))
}

/// Returns the result of a correct request; `None` for an unknown method.
fn result(message: &Value) -> Option<Value> {
    Some(match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "faulty", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [
            { "name": "echo", "inputSchema": { "type": "object" } }, { "name": "raw", "inputSchema": { "type": "object" } }
        ] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": message["params"]["arguments"]["text"] }] }),
        _ => return None,
    })
}

fn answer(mut stream: TcpStream, fault: &str, requests: &std::sync::mpsc::Sender<String>, shared: &Shared) {
    let Some(Request { first, headers, message }) = read(&stream) else { return };
    let method = message["method"].as_str().unwrap_or_default();
    let _ = requests.send(format!("{first} {method}"));
    let is_call = method == "tools/call";
    let id = &message["id"];
    if fault.starts_with("sse") {
        return legacy(stream, fault, &first, &message, shared);
    }
    if first.starts_with("GET") && fault.ends_with("-stream") {
        std::thread::sleep(Duration::from_millis(if fault == "no-stream" { 60_000 } else { 200 }));
        let state = if fault == "late-stream" { 1 } else { 2 };
        shared.session.lock().unwrap().0 = state;
        match state {
            1 => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
                std::thread::sleep(Duration::from_secs(60));
            }
            _ => write(&mut stream, "405 Method Not Allowed", "", b""),
        }
        return;
    }
    let Some(result) = result(&message) else {
        return match first.starts_with("GET") {
            true => write(&mut stream, "405 Method Not Allowed", "", b""),
            false if method.starts_with("notifications/") => write(&mut stream, "202 Accepted", "", b""),
            false => write(&mut stream, "400 Bad Request", "", b"what is that?"),
        };
    };
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let json = JSON;
    let events = "Content-Type: text/event-stream\r\n";
    // A fault of calls does not affect the handshake.
    let fault = match fault.strip_suffix("-call") {
        Some(fault) if is_call => fault,
        Some(_) => "",
        None => fault,
    };
    match fault {
        "accepts" => std::thread::park(),
        "no-session" => write(&mut stream, "400 Bad Request", JSON, NO_SESSION.as_bytes()),
        "tools-session" => {
            let text = NO_SESSION.replace("Bad Request: No valid session ID provided", "Browser session not found");
            write(&mut stream, "200 OK", JSON, text.as_bytes());
        }
        "202" => write(&mut stream, "202 Accepted", "", b""),
        "204" => write(&mut stream, "204 No Content", json, b""),
        "taken" => write(&mut stream, "202 Accepted", json, body.to_string().as_bytes()),
        "loud-json" => {
            let loud = "Content-Type: Application/JSON; Charset=UTF-8\r\n";
            write(&mut stream, "200 OK", loud, body.to_string().as_bytes());
        }
        "loud-events" => {
            let loud = "Content-Type: TEXT/EVENT-STREAM\r\n";
            write(&mut stream, "200 OK", loud, format!("data: {body}\n\n").as_bytes());
        }
        "raw" => {
            let text = raw(&message).unwrap_or_else(|| body.to_string());
            write(&mut stream, "200 OK", json, text.as_bytes());
        }
        "raw-events" => {
            let text = raw(&message).unwrap_or_else(|| body.to_string());
            write(&mut stream, "200 OK", events, format!("data: {text}\n\n").as_bytes());
        }
        "odd-list" | "odd-list-events" if method == "tools/list" => {
            let tools = toolgraft_testkit::faulty_mcp::odd_tools();
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":{tools}}}}}"#);
            match fault {
                "odd-list" => write(&mut stream, "200 OK", json, body.as_bytes()),
                _ => write(&mut stream, "200 OK", events, format!("data: {body}\n\n").as_bytes()),
            }
        }
        "names-versions" if method == "initialize" && message["params"]["protocolVersion"] != "2025-03-26" => {
            let data = json!({ "supported": ["2025-03-26", "2031-01-01"] });
            let error = json!({ "code": -32022, "message": "unsupported protocol version", "data": data });
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            write(&mut stream, "400 Bad Request", json, body.to_string().as_bytes());
        }
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
        // These differ in the time at which the session's own stream opens.
        "late-stream" | "refused-stream" | "no-stream" => {
            let body = if is_call {
                let state = shared.session.lock().unwrap().0;
                let text = ["there is no stream", "the stream is open", "the stream was refused"][state as usize];
                json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
            } else {
                body
            };
            write(&mut stream, "200 OK", &format!("{json}Mcp-Session-Id: 1\r\n"), body.to_string().as_bytes());
        }
        // A session lasts for two calls.
        forgets if forgets.starts_with("forgets") => {
            let (number, calls) = &mut *shared.session.lock().unwrap();
            match method {
                "initialize" => (*number, *calls) = (*number + 1, 0),
                "tools/call" => *calls += 1,
                _ => {}
            }
            let known = headers.contains(&format!("mcp-session-id: {number}"));
            if method != "initialize" && (!known || *calls > 2) {
                let (_, status, headers, text) = *FORGETS.iter().find(|(name, ..)| *name == forgets).unwrap();
                return write(&mut stream, status, headers, text.replace("$ID", &id.to_string()).as_bytes());
            }
            let headers = format!("{json}Mcp-Session-Id: {number}\r\n");
            write(&mut stream, "200 OK", &headers, body.to_string().as_bytes());
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
    // The client may have closed the connection.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

async fn with_a_good_one(server: &Faulty, case: &Case) -> Hub {
    hub([server.server(), case.named("good", "none")]).await
}

/// The first call of a session waits for the session's stream, but not without limit.
async fn first_call(fault: &'static str, expected: &str) {
    let server = Faulty::start(fault);
    let hub = hub([server.server().with_call_timeout(Duration::from_secs(20))]).await;
    assert_eq!(call_with(&hub, "echo", json!({})).await.text, expected);
    assert_eq!(call_with(&hub, "echo", json!({})).await.text, expected);
    hub.shutdown().await;
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
    let patience = Duration::from_secs(if fault == "big-call" { 60 } else { 1 });
    let faulty = server.server().with_call_timeout(patience);
    let hub = hub([faulty, case.named("good", "none")]).await;
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

async fn no_answer_is_lost(fault: &'static str) {
    let server = Faulty::start(fault);
    let hub = hub([ServerConfig::http("s", server.url)]).await;
    odd_answers_are_read_or_errors(&hub).await;
    hub.shutdown().await;
}

async fn unreadable_tools(fault: &'static str) {
    let server = Faulty::start(fault);
    let hub = hub([ServerConfig::http("s", server.url)]).await;
    odd_tools_are_left_out(&hub);
    hub.shutdown().await;
}

async fn names_versions(_: Arc<Case>) {
    let server = Faulty::start("names-versions");
    let hub = hub([typed(&server, Some("http"))]).await;
    assert_eq!(hub.servers()[0].protocol_version.as_deref(), Some("2025-03-26"), "{:?}", hub.servers());
    assert_eq!(call_with(&hub, "echo", json!({ "text": "hello" })).await.text, "hello");
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
    assert!(status.error.unwrap().contains("set a token under \"headers\""));
    let asked = server.requests.try_iter().count();
    let outcome = call(&hub, "echo").await;
    for text in ["\"s\"", "HTTP 401", "headers", "no new attempt for"] {
        assert!(outcome.text.contains(text), "{text}: {outcome:?}");
    }
    assert_eq!((asked > 0, server.requests.try_iter().count()), (true, 0));
    hub.shutdown().await;
}

async fn forgotten(_: Arc<Case>) {
    for (fault, ..) in FORGETS {
        let server = Faulty::start(fault);
        let hub = hub([server.server()]).await;
        for n in 0..6 {
            let outcome = call_with(&hub, "echo", json!({ "text": n.to_string() })).await;
            assert_eq!(outcome.text, n.to_string(), "{fault}: {outcome:?}");
        }
        let begun = server.requests.try_iter().filter(|request| request.ends_with(" initialize")).count();
        assert_eq!(begun, 3, "{fault}: a session lasts for two calls");
        hub.shutdown().await;
    }
}

/// A new session is tried once, and each call is sent at most twice.
async fn never_there(_: Arc<Case>) {
    for (fault, message) in [
        ("no-session-call", "Bad Request: No valid session ID provided (JSON-RPC error -32000)"),
        ("tools-session-call", "Browser session not found (JSON-RPC error -32000)"),
    ] {
        let server = Faulty::start(fault);
        let hub = hub([server.server()]).await;
        let outcome = call_with(&hub, "echo", json!({})).await;
        assert!(outcome.text.ends_with(message), "{outcome:?}");
        let calls = server.requests.try_iter().filter(|request| request.ends_with(" tools/call")).count();
        assert_eq!(calls, if fault == "no-session-call" { 2 } else { 1 });
        hub.shutdown().await;
    }
}

/// Returns the server's entry, with or without a `type`.
fn typed(server: &Faulty, kind: Option<&str>) -> ServerConfig {
    let kind = kind.map(|kind| format!("\"type\": \"{kind}\", ")).unwrap_or_default();
    let text = format!(
        r#"{{ "mcpServers": {{ "s": {{ {kind}"url": "{}", "connectTimeout": 1, "timeout": 5 }} }} }}"#,
        server.url
    );
    Config::parse(&text, "mcp.json", &|_| None).unwrap().servers()[0].clone()
}

async fn over_sse(_: Arc<Case>, fault: &'static str, kind: Option<&'static str>) {
    let server = Faulty::start(fault);
    let hub = hub([typed(&server, kind)]).await;
    assert_eq!(hub.servers()[0].state, ServerState::Ready, "{:?}", hub.servers());
    let calls = (0..20).map(|n| {
        let hub = &hub;
        async move { (n.to_string(), call_with(hub, "echo", json!({ "text": n.to_string() })).await) }
    });
    for (expected, outcome) in futures::future::join_all(calls).await {
        assert_eq!(outcome.text, expected, "{outcome:?}");
    }
    let asked: Vec<_> = server.requests.try_iter().collect();
    assert_eq!(asked[0].starts_with("GET "), kind.is_some(), "{asked:?}");
    hub.shutdown().await;
}

async fn not_sse(_: Arc<Case>) {
    let server = Faulty::start("sse");
    let hub = hub([typed(&server, Some("http"))]).await;
    assert!(hub.servers()[0].error.as_ref().unwrap().contains("HTTP 405"), "{:?}", hub.servers());
    assert!(server.requests.try_iter().all(|request| request.starts_with("POST")));
    hub.shutdown().await;
}

async fn no_sse(case: Arc<Case>, fault: &'static str, why: &'static str) {
    let server = Faulty::start(fault);
    let sse = server.server().with_http_transport(HttpTransport::Sse);
    let hub = hub([sse, case.named("good", "none")]).await;
    let statuses = hub.servers();
    let error = statuses[0].error.clone().unwrap_or_default();
    assert!(error.contains(why) && error.contains(&server.url), "{statuses:?}");
    assert_eq!((statuses[0].state, statuses[1].state), (ServerState::Failed, ServerState::Ready));
    hub.shutdown().await;
}

async fn sse_breaks(_: Arc<Case>) {
    let server = Faulty::start("sse-breaks");
    let hub = hub([typed(&server, None)]).await;
    assert_eq!(call_with(&hub, "echo", json!({ "text": "hello" })).await.text, "hello");
    let outcome = call_with(&hub, "echo", json!({ "text": "break" })).await;
    assert!(outcome.status == Status::ToolError && outcome.text.contains("the connection broke"), "{outcome:?}");
    let _ = server.requests.try_iter().count();
    assert_eq!(call_with(&hub, "echo", json!({ "text": "again" })).await.text, "again");
    let asked: Vec<_> = server.requests.try_iter().collect();
    assert!(asked[0].starts_with("GET "), "what worked the last time comes first: {asked:?}");
    hub.shutdown().await;
}

/// Returns the faults of servers that forget sessions over HTTP+SSE.
fn sse_forgets() -> impl Iterator<Item = &'static str> {
    let names = ["sse-forgets", "sse-forgets-410", "sse-forgets-400-text", "sse-forgets-400", "sse-forgets-401"];
    names.into_iter().chain(["sse-forgets-500"])
}

/// Counts the sessions that were begun.
fn begun(server: &Faulty) -> usize {
    server.requests.try_iter().filter(|request| request.ends_with(" initialize")).count()
}

async fn sse_forgotten(_: Arc<Case>) {
    for fault in sse_forgets() {
        let server = Faulty::start(fault);
        let hub = hub([typed(&server, Some("sse"))]).await;
        for n in 0..6 {
            let outcome = call_with(&hub, "echo", json!({ "text": n.to_string() })).await;
            assert_eq!(outcome.text, n.to_string(), "{fault}: {outcome:?}");
        }
        assert_eq!(begun(&server), 3, "{fault}: a session lasts for two calls");
        hub.shutdown().await;
    }
}

/// Two concurrent calls find the session forgotten. Each is answered, and neither ends the other's
/// new session.
async fn sse_forgotten_by_all(_: Arc<Case>) {
    for fault in sse_forgets() {
        let server = Faulty::start(fault);
        let hub = hub([typed(&server, Some("sse"))]).await;
        for n in 0..2 {
            let texts = [0, 1].map(|call| format!("{n}-{call}"));
            let calls = texts.iter().map(|text| call_with(&hub, "echo", json!({ "text": text })));
            let outcomes = futures::future::join_all(calls).await;
            let said: Vec<_> = outcomes.iter().map(|outcome| &outcome.text).collect();
            assert_eq!(said, [&texts[0], &texts[1]], "{fault}: {outcomes:?}");
        }
        assert_eq!(begun(&server), 2, "{fault}");
        hub.shutdown().await;
    }
}

/// A call is sent twice at most.
async fn sse_never_there(_: Arc<Case>) {
    let server = Faulty::start("sse-no-session");
    let hub = hub([typed(&server, Some("sse"))]).await;
    let outcome = call_with(&hub, "echo", json!({})).await;
    let said = "the server has forgotten the session: HTTP 400: \"No transport found for sessionId\"";
    assert!(outcome.status == Status::ToolError && outcome.text.ends_with(said), "{outcome:?}");
    let calls = server.requests.try_iter().filter(|request| request.ends_with(" tools/call")).count();
    assert_eq!(calls, 2);
    hub.shutdown().await;
}

async fn sse_forgotten_task(_: Arc<Case>) {
    let server = Faulty::start("sse-no-task");
    let hub = hub([typed(&server, Some("sse"))]).await;
    let ticket = r#"{"jsonrpc":"2.0","id":$ID,"result":{"task":{"taskId":"1","status":"working","pollInterval":20}}}"#;
    let outcome = call_with(&hub, "raw", json!({ "text": ticket })).await;
    assert!(outcome.text.contains("the server has forgotten the session: HTTP 400"), "{outcome:?}");
    let calls = server.requests.try_iter().filter(|request| request.ends_with(" tools/call")).count();
    assert_eq!(calls, 1);
    hub.shutdown().await;
}
