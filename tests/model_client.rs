//! The model client against a scripted endpoint over real HTTP.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use toolgraft::agent::{Agent, StopReason};
use toolgraft::message::{DeltaKind, FinishReason, Message};
use toolgraft::model::{Model, ModelError, ModelEvent, OpenAi, OpenAiBuilder, Request, Usage};
use toolgraft::policy::{Otherwise, Policy};
use toolgraft::profile::Profile;
use toolgraft::route::Functions;
use toolgraft::tool::Tool;

/// What the endpoint answers to one request.
#[derive(Clone)]
struct Script {
    status: u16,
    headers: &'static str,
    pieces: Vec<Vec<u8>>,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// As HTTP wants it.
    Whole,
    /// The connection is closed within the body.
    Break,
    /// Nothing more comes until the client goes.
    Stall,
    /// Nothing comes at all.
    Mute,
}

impl Script {
    fn new(status: u16, body: &str) -> Self {
        Script { status, headers: "", pieces: vec![body.as_bytes().to_vec()], end: End::Whole }
    }

    /// A stream of these events, each in a piece of its own.
    fn events(events: &[Value]) -> Self {
        let pieces = events.iter().map(|e| format!("data: {e}\n\n").into_bytes()).collect();
        Script { pieces, ..Script::new(200, "") }
    }

    fn done(mut self) -> Self {
        self.pieces.push(b"data: [DONE]\n\n".to_vec());
        self
    }

    fn bytewise(mut self) -> Self {
        self.pieces = self.pieces.concat().chunks(1).map(<[u8]>::to_vec).collect();
        self
    }

    fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// A request as the endpoint saw it.
#[derive(Debug)]
struct Seen {
    head: String,
    body: Value,
}

struct Endpoint {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// One message for each client that went while the endpoint stalled.
    gone: mpsc::UnboundedReceiver<()>,
}

impl Endpoint {
    /// Answers the requests in this order; each connection serves one.
    async fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut scripts: VecDeque<Script> = scripts.into_iter().collect();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (tell, gone) = mpsc::unbounded_channel();
        let requests = seen.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                let Some(request) = read_request(&mut socket).await else { continue };
                requests.lock().unwrap().push(request);
                let script = scripts.pop_front().unwrap_or_else(|| Script::new(500, "no script is left"));
                tokio::spawn(answer(socket, script, tell.clone()));
            }
        });
        Endpoint { url, seen, gone }
    }

    fn builder(&self) -> OpenAiBuilder {
        OpenAi::builder(self.url.as_str(), "small-model").backoff(Duration::from_millis(1))
    }

    async fn ask(&self) -> Vec<Result<ModelEvent, ModelError>> {
        self.builder().build().unwrap().stream(hello()).collect().await
    }

    fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let (mut buffer, mut wanted) = ([0; 4096], None);
    loop {
        let read = socket.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let length =
            head.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        let end = *wanted.get_or_insert(at + 4 + length.unwrap_or(0));
        if bytes.len() >= end {
            let body = serde_json::from_slice(&bytes[at + 4..end]).unwrap_or(Value::Null);
            return Some(Seen { head, body });
        }
    }
}

async fn answer(mut socket: TcpStream, script: Script, tell: mpsc::UnboundedSender<()>) {
    let Script { status, headers, pieces, end } = script;
    let head =
        format!("HTTP/1.1 {status} Scripted\r\n{headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    // The client may go at any time.
    if end != End::Mute {
        let _ = socket.write_all(head.as_bytes()).await;
    }
    for piece in pieces.iter().filter(|p| !p.is_empty()) {
        let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        let _ = socket.write_all(&chunk).await;
        tokio::task::yield_now().await;
    }
    match end {
        End::Whole => drop(socket.write_all(b"0\r\n\r\n").await),
        End::Break => {}
        End::Stall | End::Mute => {
            while socket.read(&mut [0; 64]).await.is_ok_and(|n| n > 0) {}
            let _ = tell.send(());
        }
    }
}

fn hello() -> Request {
    Request::new(vec![Message::user("Hello")])
}

fn says(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

fn stops(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Content, reasoning, how it ended.
fn told(events: &[Result<ModelEvent, ModelError>]) -> (String, String, Result<FinishReason, ModelError>) {
    let (mut content, mut reasoning) = (String::new(), String::new());
    let mut end = None;
    for event in events {
        assert!(end.is_none(), "something follows the end: {events:?}");
        match event {
            Ok(ModelEvent::Delta(delta)) if delta.kind == DeltaKind::Content => content += &delta.text,
            Ok(ModelEvent::Delta(delta)) => reasoning += &delta.text,
            Ok(ModelEvent::Finish(reason)) => end = Some(Ok(reason.clone())),
            Err(error) => end = Some(Err(error.clone())),
            Ok(_) => {}
        }
    }
    (content, reasoning, end.expect("a stream ends with a reason or an error"))
}

fn error_of(events: &[Result<ModelEvent, ModelError>]) -> String {
    told(events).2.unwrap_err().to_string()
}

#[tokio::test]
async fn the_request_is_that_of_the_protocol() {
    let endpoint = Endpoint::start([Script::events(&[says("Hi"), stops("stop")]).done()]).await;
    let model = endpoint.builder().api_key("sk-secret-key").header("X-Title", "a title").parameter("top_k", 5);
    let mut request = hello();
    request.temperature = Some(0.5);
    let events: Vec<_> = model.build().unwrap().stream(request).collect().await;
    assert_eq!(told(&events), ("Hi".into(), String::new(), Ok(FinishReason::Stop)));
    let seen = endpoint.seen.lock().unwrap();
    let head = seen[0].head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    for header in ["authorization: bearer sk-secret-key", "x-title: a title", "content-type: application/json"] {
        assert!(head.contains(header), "{header}: {head}");
    }
    let body = json!({"model": "small-model", "messages": [{"role": "user", "content": "Hello"}], "stream": true,
        "stream_options": {"include_usage": true}, "temperature": 0.5, "top_k": 5});
    assert_eq!(seen[0].body, body);
}

#[tokio::test]
async fn how_the_stream_is_cut_does_not_matter() {
    let script = Script::events(&[says("你好 🦀"), says(" and\nthe rest"), stops("stop")]).done();
    let mut crlf = script.clone();
    let text = String::from_utf8(script.pieces.concat()).unwrap().replace('\n', "\r\n");
    crlf.pieces = vec![b"\xef\xbb\xbf: a comment\r\nevent: message\r\n".to_vec(), text.into_bytes()];
    let mut one = script.clone();
    one.pieces = vec![script.pieces.concat()];
    let variants = [script.clone(), script.bytewise(), one, crlf.clone(), crlf.bytewise()];
    let endpoint = Endpoint::start(variants.clone()).await;
    for variant in 0..variants.len() {
        let expected = ("你好 🦀 and\nthe rest".into(), String::new(), Ok(FinishReason::Stop));
        assert_eq!(told(&endpoint.ask().await), expected, "variant {variant}");
    }
}

#[tokio::test]
async fn reasoning_comes_from_either_field() {
    let delta = |delta: Value| json!({"choices": [{"delta": delta}]});
    let script = Script::events(&[
        delta(json!({"role": "assistant", "content": null, "reasoning_content": "Let "})),
        delta(json!({"content": "", "reasoning": "me see."})),
        delta(json!({"content": "Done.", "reasoning_content": null})),
        stops("length"),
    ]);
    let endpoint = Endpoint::start([script.done()]).await;
    assert_eq!(told(&endpoint.ask().await), ("Done.".into(), "Let me see.".into(), Ok(FinishReason::Length)));
}

#[tokio::test]
async fn usage_behind_the_finish_reason_is_reported_before_the_end() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 3}}});
    let script = Script::events(&[says("Hi"), stops("stop"), usage]).done();
    let events = Endpoint::start([script]).await.ask().await;
    let usage = Usage { prompt_tokens: 10, completion_tokens: 4, reasoning_tokens: Some(3) };
    assert_eq!(events[1..], [Ok(ModelEvent::Usage(usage)), Ok(ModelEvent::Finish(FinishReason::Stop))]);
}

#[tokio::test]
async fn an_answer_is_complete_with_a_reason_or_with_done() {
    let mut no_blank_line = Script::events(&[says("a"), stops("stop")]);
    let last = &mut no_blank_line.pieces[1];
    last.truncate(last.len() - 2);
    let scripts = [
        Script::events(&[says("a"), stops("stop")]),
        no_blank_line,
        Script::events(&[says("a")]).done(),
        Script::events(&[says("a"), stops("stop")]).end(End::Break),
    ];
    let endpoint = Endpoint::start(scripts.clone()).await;
    for script in 0..scripts.len() {
        assert_eq!(told(&endpoint.ask().await), ("a".into(), String::new(), Ok(FinishReason::Stop)), "script {script}");
    }
}

#[tokio::test]
async fn native_calls_are_put_together_and_come_last() {
    let call = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let script = Script::events(&[
        says("Let me look."),
        call(json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "get", "arguments": ""}})),
        call(json!({"index": 0, "function": {"arguments": "{\"city\": "}})),
        call(json!({"index": 0, "function": {"arguments": "\"Oslo\"}"}})),
        stops("tool_calls"),
    ]);
    let events = Endpoint::start([script.done()]).await.ask().await;
    let [Ok(ModelEvent::Delta(_)), Ok(ModelEvent::Call(call)), Ok(ModelEvent::Finish(reason))] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("get", r#"{"city": "Oslo"}"#));
    assert_eq!(*reason, FinishReason::ToolCalls);
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_too() {
    let body = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi",
        "reasoning_content": "Hm."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let endpoint = Endpoint::start([Script::new(200, &body.to_string()).bytewise()]).await;
    assert_eq!(told(&endpoint.ask().await), ("Hi".into(), "Hm.".into(), Ok(FinishReason::Stop)));
}

#[tokio::test]
async fn refusals_for_the_moment_are_tried_again() {
    let good = Script::events(&[says("Hi"), stops("stop")]).done();
    let limited =
        Script { headers: "retry-after: 0\r\n", ..Script::new(429, r#"{"error": {"message": "slow down"}}"#) };
    let endpoint = Endpoint::start([limited, Script::new(500, "oops"), good]).await;
    assert_eq!(told(&endpoint.ask().await).0, "Hi");
    assert_eq!(endpoint.requests(), 3);
}

#[tokio::test]
async fn the_last_refusal_is_reported_with_the_endpoints_message() {
    let limited = Script::new(429, r#"{"error": {"message": "slow down", "code": "rate_limit"}}"#);
    let endpoint = Endpoint::start([Script::new(503, "loading"), Script::new(502, "x"), limited]).await;
    let error = error_of(&endpoint.ask().await);
    assert!(error.starts_with(&format!("{}/chat/completions answered HTTP 429", endpoint.url)), "{error}");
    assert!(error.contains("slow down (rate_limit)"), "{error}");
    assert_eq!(endpoint.requests(), 3);

    // Nobody waits for an hour, and what the caller did wrong stays wrong.
    let later = Script { headers: "retry-after: 3600\r\n", ..Script::new(429, "quota") };
    let endpoint = Endpoint::start([later, Script::new(400, r#"{"error": "bad \"messages\""}"#)]).await;
    let error = error_of(&endpoint.ask().await);
    assert!(error.contains("Retry-After: 3600 s"), "{error}");
    assert!(error_of(&endpoint.ask().await).contains("HTTP 400: bad \"messages\""));
    assert_eq!(endpoint.requests(), 2);
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    let endpoint = Endpoint::start([Script::new(200, page)]).await;
    let error = error_of(&endpoint.ask().await);
    assert!(error.contains("web page") && error.contains("Sign in") && error.contains("base URL"), "{error}");

    let endpoint = Endpoint::start([Script::new(502, "<html><title>502 Bad Gateway</title></html>")]).await;
    let model = endpoint.builder().retries(0).build().unwrap();
    let error = error_of(&model.stream(hello()).collect::<Vec<_>>().await);
    assert!(error.contains("HTTP 502") && error.contains("Bad Gateway"), "{error}");
}

#[tokio::test]
async fn a_wrong_key_is_named_but_not_shown() {
    let body = r#"{"error": {"message": "Incorrect API key provided: sk-secret-key", "code": "invalid_api_key"}}"#;
    let in_stream = Script::events(&[json!({"error": {"message": "key sk-secret-key has expired"}})]);
    let endpoint = Endpoint::start([Script::new(401, body), in_stream]).await;
    let model = endpoint.builder().api_key("sk-secret-key").build().unwrap();
    let error = error_of(&model.stream(hello()).collect::<Vec<_>>().await);
    assert!(error.contains("check the API key") && error.contains("Incorrect"), "{error}");
    let other = error_of(&model.stream(hello()).collect::<Vec<_>>().await);
    assert!(other.contains("has expired"), "{other}");
    assert!(!format!("{error}{other}{model:?}").contains("sk-secret"), "{error} {other}");
    let endpoint = Endpoint::start([Script::new(401, "")]).await;
    let error = error_of(&endpoint.ask().await);
    assert!(error.contains("set the API key"), "{error}");
}

#[tokio::test]
async fn an_unknown_model_is_answered_with_the_known_ones() {
    let list = json!({"object": "list", "data": [{"id": "deepseek-r1:14b"}, {"id": "qwen3:8b"}]}).to_string();
    let unknown = Script::new(404, r#"{"error": {"message": "model \"small-model\" not found"}}"#);
    let endpoint = Endpoint::start([unknown, Script::new(200, &list), Script::new(200, &list)]).await;
    let error = error_of(&endpoint.ask().await);
    assert!(error.contains("not found") && error.contains("deepseek-r1:14b, qwen3:8b"), "{error}");
    let models = endpoint.builder().build().unwrap().models().await.unwrap();
    let names: Vec<_> = models.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(names, ["deepseek-r1:14b", "qwen3:8b"]);
    assert!(endpoint.seen.lock().unwrap()[2].head.starts_with("GET /v1/models "));
}

#[tokio::test]
async fn an_endpoint_without_a_list_says_to_name_a_model() {
    let page = "<html><title>A router</title></html>";
    let answers =
        [(404, "404 page not found"), (200, page), (200, "{}"), (200, r#"{"error": "models are being loaded"}"#)];
    let endpoint = Endpoint::start(answers.map(|(status, body)| Script::new(status, body))).await;
    let client = OpenAi::new(endpoint.url.as_str(), "").unwrap();
    for words in ["404 page not found: the endpoint lists no models: name one", "a web page", "no list", "being loaded"]
    {
        let error = client.models().await.unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("/v1/models"), "{error}");
    }
    assert_eq!(client.with_model("other").model(), "other");
}

#[tokio::test]
async fn nobody_there_is_an_error_that_asks_whether_the_server_runs() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = OpenAi::builder(url.as_str(), "m").backoff(Duration::from_millis(1)).build().unwrap();
    let events: Vec<_> = model.stream(hello()).collect().await;
    assert!(matches!(events[..], [Err(ModelError::Unreachable { .. })]), "{events:?}");
    let error = error_of(&events);
    assert!(error.contains(&url) && error.contains("Ollama") && error.contains("refused"), "{error}");
}

#[tokio::test]
async fn what_came_before_a_break_is_kept() {
    let mut torn = Script::events(&[says("Half an")]);
    torn.pieces.push(b"data: {\"choices\": [{\"del".to_vec());
    let scripts = [
        Script::events(&[says("Half an")]).end(End::Break),
        torn.clone().end(End::Break),
        torn,
        Script::events(&[says("Half an")]),
    ];
    let endpoint = Endpoint::start(scripts.clone()).await;
    for script in 0..scripts.len() {
        let (content, _, end) = told(&endpoint.ask().await);
        assert_eq!(content, "Half an", "script {script}");
        let error = end.unwrap_err();
        assert!(matches!(error, ModelError::CutOff { .. } | ModelError::BrokeOff), "script {script}: {error}");
        assert!(error.to_string().contains("broke off"), "script {script}: {error}");
    }
    assert_eq!(endpoint.requests(), scripts.len(), "nothing is tried again after the first byte");
}

#[tokio::test]
async fn an_error_in_mid_stream_is_reported_in_the_endpoints_words() {
    let plain = json!({"error": {"message": "out of memory", "code": 500}});
    let mut named = Script::events(&[says("a")]);
    named.pieces.push(b"event: error\ndata: {\"message\": \"out of memory\"}\n\n".to_vec());
    let mut text = Script::events(&[says("a")]);
    text.pieces.push(b"data: out of memory\n\n".to_vec());
    let scripts = [Script::events(&[says("a"), plain.clone(), says("never")]).done(), named, text];
    let endpoint = Endpoint::start(scripts.clone()).await;
    for script in 0..scripts.len() {
        let (content, _, end) = told(&endpoint.ask().await);
        let error = end.unwrap_err();
        assert!(matches!(&error, ModelError::CutOff { message } if message.contains("out of memory")), "{error}");
        assert_eq!(content, "a", "script {script}");
    }
    let endpoint =
        Endpoint::start([Script::events(std::slice::from_ref(&plain)), Script::new(200, &plain.to_string())]).await;
    for _ in 0..2 {
        let error = error_of(&endpoint.ask().await);
        assert!(error.contains("out of memory (500)") && !error.contains("broke off"), "{error}");
    }
}

#[tokio::test]
async fn a_stalled_stream_ends_with_an_error() {
    let silent = Script { pieces: Vec::new(), ..Script::new(200, "") };
    let scripts = [Script::events(&[says("Well")]).end(End::Stall), silent.end(End::Stall)];
    let mut endpoint = Endpoint::start(scripts).await;
    let model = endpoint.builder().idle_timeout(Duration::from_millis(300)).build().unwrap();
    for expected in ["Well", ""] {
        let (content, _, end) = told(&model.stream(hello()).collect::<Vec<_>>().await);
        let error = end.unwrap_err().to_string();
        assert!(error.contains("no byte came for 0.3 seconds"), "{error}");
        assert_eq!(content, expected);
        endpoint.gone.recv().await.unwrap();
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let script = Script::events(&[says("One"), says("Two")]).end(End::Stall);
    let mut endpoint = Endpoint::start([script]).await;
    let mut events = endpoint.builder().build().unwrap().stream(hello());
    assert!(matches!(events.next().await, Some(Ok(ModelEvent::Delta(_)))));
    drop(events);
    endpoint.gone.recv().await.unwrap();
}

#[tokio::test]
async fn dropping_the_stream_before_the_answer_closes_the_connection() {
    let mut endpoint = Endpoint::start([Script::new(200, "").end(End::Mute)]).await;
    let mut events = endpoint.builder().build().unwrap().stream(hello());
    while endpoint.requests() == 0 {
        tokio::select! {
            event = events.next() => panic!("{event:?}"),
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
    }
    drop(events);
    endpoint.gone.recv().await.unwrap();
}

fn weather() -> Functions {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    Functions::new("weather").with(
        Tool::new("get_weather").with_description("Weather of a city").with_schema(schema),
        |args: Map<String, Value>| async move { Ok::<_, String>(format!("{}: 21 degrees", args["city"])) },
    )
}

fn agent(endpoint: &Endpoint) -> Agent {
    Agent::builder(endpoint.builder().build().unwrap(), weather())
        .profile(Profile::for_model("deepseek-reasoner"))
        .policy(Policy::new(Otherwise::Deny).allow("weather/*"))
        .build()
}

fn answers() -> Script {
    Script::events(&[says("It is 21 degrees"), says(" in Oslo."), stops("stop")]).done()
}

#[tokio::test]
async fn an_agent_calls_a_function_and_answers() {
    let call = "TYPE: MCP\n{\"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}";
    let reasoning = json!({"choices": [{"index": 0, "delta": {"reasoning_content": "The tool knows."}}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}});
    let asks = Script::events(&[reasoning, says(call), stops("stop"), usage]).done().bytewise();
    let endpoint = Endpoint::start([asks, answers()]).await;
    let finished = agent(&endpoint).run("What is the weather in Oslo?").unwrap().finish().await;
    assert!(finished.reason.is_answer(), "{:?}", finished.reason);
    assert_eq!(finished.answer, "It is 21 degrees in Oslo.");
    assert_eq!((finished.rounds, finished.calls), (2, 1));
    assert_eq!(finished.usage.unwrap().prompt_tokens, 100);
    let seen = endpoint.seen.lock().unwrap();
    assert!(seen[0].body["messages"].to_string().contains("get_weather"), "{}", seen[0].body);
    assert!(seen[1].body["messages"].to_string().contains("21 degrees"), "{}", seen[1].body);
}

#[tokio::test]
async fn an_agent_keeps_what_came_before_a_break() {
    let endpoint = Endpoint::start([Script::events(&[says("It is 21 deg")]).end(End::Break)]).await;
    let finished = agent(&endpoint).run("What is the weather in Oslo?").unwrap().finish().await;
    let StopReason::ModelFailed { message } = &finished.reason else { panic!("{:?}", finished.reason) };
    assert!(message.contains("the answer broke off: the connection failed"), "{message}");
    assert_eq!(finished.answer, "It is 21 deg");
    assert!(serde_json::to_string(&finished.conversation).unwrap().contains("It is 21 deg"));
}

#[tokio::test]
async fn an_agent_runs_native_calls_as_others() {
    let call =
        json!({"index": 0, "id": "c1", "function": {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}});
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let endpoint = Endpoint::start([Script::events(&[call, stops("tool_calls")]).done(), answers()]).await;
    let finished = agent(&endpoint).run("What is the weather in Oslo?").unwrap().finish().await;
    assert_eq!(finished.answer, "It is 21 degrees in Oslo.");
    assert_eq!((finished.rounds, finished.calls), (2, 1));
}
