//! The model client against a scripted endpoint over real HTTP.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use toolgraft::agent::StopReason;
use toolgraft::dialect::Profile;
use toolgraft::message::{DeltaKind, FinishReason, Usage};
use toolgraft::model::{ModelError, ModelEvent, ModelFailure, OpenAiBuilder, Request};
use toolgraft::tools::Decision;
use toolgraft::{Agent, Functions, Message, Model, OpenAi, Policy, Tool};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, delta, says, stops};

fn builder(endpoint: &Endpoint) -> OpenAiBuilder {
    OpenAi::builder(endpoint.url(), "small-model").backoff(Duration::from_millis(1))
}

async fn ask(endpoint: &Endpoint) -> Vec<Result<ModelEvent, ModelError>> {
    builder(endpoint).build().unwrap().stream(hello()).collect().await
}

fn hello() -> Request {
    Request::new(vec![Message::user("Hello")])
}

/// Returns content, reasoning, and the end.
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
    let endpoint = Endpoint::start([Reply::events(&[says("Hi"), stops("stop")]).done()]);
    let model = builder(&endpoint).api_key("sk-secret-key").header("X-Title", "a title").parameter("top_k", 5);
    let mut request = hello();
    request.temperature = Some(0.5);
    let events: Vec<_> = model.build().unwrap().stream(request).collect().await;
    assert_eq!(told(&events), ("Hi".into(), String::new(), Ok(FinishReason::Stop)));
    let seen = endpoint.seen();
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
    let script = Reply::events(&[says("你好 🦀"), says(" and\nthe rest"), stops("stop")]).done();
    let mut crlf = script.clone();
    let text = String::from_utf8(script.pieces.concat()).unwrap().replace('\n', "\r\n");
    crlf.pieces = vec![b"\xef\xbb\xbf: a comment\r\nevent: message\r\n".to_vec(), text.into_bytes()];
    let mut one = script.clone();
    one.pieces = vec![script.pieces.concat()];
    // As an endpoint whose request waits for a long time.
    let mut waited = script.clone();
    waited.pieces.insert(0, b"\n".repeat(3_000));
    let variants = [script.clone(), script.bytewise(), one, crlf.clone(), crlf.bytewise(), waited];
    let endpoint = Endpoint::start(variants.clone());
    for variant in 0..variants.len() {
        let expected = ("你好 🦀 and\nthe rest".into(), String::new(), Ok(FinishReason::Stop));
        assert_eq!(told(&ask(&endpoint).await), expected, "variant {variant}");
    }
}

#[tokio::test]
async fn reasoning_comes_from_either_field() {
    let script = Reply::events(&[
        delta(json!({"role": "assistant", "content": null, "reasoning_content": "Let "})),
        delta(json!({"content": "", "reasoning": "me see."})),
        delta(json!({"content": "Done.", "reasoning_content": null})),
        stops("length"),
    ]);
    let endpoint = Endpoint::start([script.done()]);
    assert_eq!(told(&ask(&endpoint).await), ("Done.".into(), "Let me see.".into(), Ok(FinishReason::Length)));
}

#[tokio::test]
async fn the_ways_of_ollama_and_lm_studio_are_read_over_one_connection() {
    let text = "It is 21 °C in Oslo.";
    let endpoint = Endpoint::start([Reply::ollama("Let me see.", text), Reply::lm_studio("Let me see.", text)]);
    let model = builder(&endpoint).build().unwrap();
    for name in ["Ollama", "LM Studio"] {
        let events: Vec<_> = model.stream(hello()).collect().await;
        assert_eq!(told(&events), (text.into(), "Let me see.".into(), Ok(FinishReason::Stop)), "{name}");
        let usage = Usage::default().with_prompt_tokens(26).with_completion_tokens(12);
        assert!(events.contains(&Ok(ModelEvent::Usage(usage))), "{name}: {events:?}");
    }
}

#[tokio::test]
async fn usage_after_the_finish_reason_is_reported_before_the_end() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 3}}});
    let script = Reply::events(&[says("Hi"), stops("stop"), usage]).done();
    let events = ask(&Endpoint::start([script])).await;
    let usage = Usage::default().with_prompt_tokens(10).with_completion_tokens(4).with_reasoning_tokens(3);
    assert_eq!(events[1..], [Ok(ModelEvent::Usage(usage)), Ok(ModelEvent::Finish(FinishReason::Stop))]);
}

#[tokio::test]
async fn an_answer_is_complete_with_a_reason_or_with_done() {
    let mut no_blank_line = Reply::events(&[says("a"), stops("stop")]);
    let last = &mut no_blank_line.pieces[1];
    last.truncate(last.len() - 2);
    let scripts = [
        Reply::events(&[says("a"), stops("stop")]),
        no_blank_line,
        Reply::events(&[says("a")]).done(),
        Reply::events(&[says("a"), stops("stop")]).end(End::Break),
    ];
    let endpoint = Endpoint::start(scripts.clone());
    for script in 0..scripts.len() {
        assert_eq!(told(&ask(&endpoint).await), ("a".into(), String::new(), Ok(FinishReason::Stop)), "script {script}");
    }
}

#[tokio::test]
async fn native_calls_are_put_together_and_come_last() {
    let call = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let script = Reply::events(&[
        says("Let me look."),
        call(json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "get", "arguments": ""}})),
        call(json!({"index": 0, "function": {"arguments": "{\"city\": "}})),
        call(json!({"index": 0, "function": {"arguments": "\"Oslo\"}"}})),
        stops("tool_calls"),
    ]);
    let events = ask(&Endpoint::start([script.done()])).await;
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
    let endpoint = Endpoint::start([Reply::new(200, &body.to_string()).bytewise()]);
    assert_eq!(told(&ask(&endpoint).await), ("Hi".into(), "Hm.".into(), Ok(FinishReason::Stop)));
}

#[tokio::test]
async fn refusals_for_the_moment_are_tried_again() {
    let good = Reply::events(&[says("Hi"), stops("stop")]).done();
    let limited = Reply::refused(429, "slow down").header("retry-after", "0");
    let endpoint = Endpoint::start([limited, Reply::new(500, "oops"), good]);
    assert_eq!(told(&ask(&endpoint).await).0, "Hi");
    assert_eq!(endpoint.requests(), 3);
}

#[tokio::test]
async fn the_last_refusal_is_reported_with_the_endpoints_message() {
    let limited = Reply::new(429, r#"{"error": {"message": "slow down", "code": "rate_limit"}}"#);
    let endpoint = Endpoint::start([Reply::new(503, "loading"), Reply::new(502, "x"), limited]);
    let error = error_of(&ask(&endpoint).await);
    assert!(error.starts_with(&format!("{}/chat/completions answered HTTP 429", endpoint.url())), "{error}");
    assert!(error.contains("slow down (rate_limit)"), "{error}");
    assert_eq!(endpoint.requests(), 3);

    // A date in the past needs no wait.
    let limited = Reply::refused(429, "slow down").header("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    let endpoint = Endpoint::start([limited, Reply::text("Hi")]);
    let model = builder(&endpoint).backoff(Duration::from_secs(3600)).build().unwrap();
    assert_eq!(told(&model.stream(hello()).collect::<Vec<_>>().await).0, "Hi");

    // An hour is too long to wait, and a mistake of the caller is not retried.
    let later = Reply::new(429, "quota").header("retry-after", "3600");
    let endpoint = Endpoint::start([later, Reply::new(400, r#"{"error": "bad \"messages\""}"#)]);
    let error = error_of(&ask(&endpoint).await);
    assert!(error.contains("Retry-After: 3600 s"), "{error}");
    assert!(error_of(&ask(&endpoint).await).contains("HTTP 400: bad \"messages\""));
    assert_eq!(endpoint.requests(), 2);
    let later = Reply::new(429, "quota").header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT");
    let endpoint = Endpoint::start([later]);
    assert!(error_of(&ask(&endpoint).await).contains("quota (Retry-After: "));
    assert_eq!(endpoint.requests(), 1);
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    let endpoint = Endpoint::start([Reply::new(200, page)]);
    let error = error_of(&ask(&endpoint).await);
    assert!(error.contains("web page") && error.contains("Sign in") && error.contains("base URL"), "{error}");

    let endpoint = Endpoint::start([Reply::new(502, "<html><title>502 Bad Gateway</title></html>")]);
    let model = builder(&endpoint).retries(0).build().unwrap();
    let error = error_of(&model.stream(hello()).collect::<Vec<_>>().await);
    assert!(error.contains("HTTP 502") && error.contains("Bad Gateway"), "{error}");
}

#[tokio::test]
async fn a_wrong_key_is_named_but_not_shown() {
    let body = r#"{"error": {"message": "Incorrect API key provided: sk-secret-key", "code": "invalid_api_key"}}"#;
    let in_stream = Reply::events(&[json!({"error": {"message": "key sk-secret-key has expired"}})]);
    let endpoint = Endpoint::start([Reply::new(401, body), in_stream]);
    let model = builder(&endpoint).api_key("sk-secret-key").build().unwrap();
    let error = error_of(&model.stream(hello()).collect::<Vec<_>>().await);
    assert!(error.contains("check the API key") && error.contains("Incorrect"), "{error}");
    let other = error_of(&model.stream(hello()).collect::<Vec<_>>().await);
    assert!(other.contains("has expired"), "{other}");
    assert!(!format!("{error}{other}{model:?}").contains("sk-secret"), "{error} {other}");
    let endpoint = Endpoint::start([Reply::new(401, "")]);
    let error = error_of(&ask(&endpoint).await);
    assert!(error.contains("set the API key"), "{error}");
}

#[tokio::test]
async fn an_unknown_model_is_answered_with_the_known_ones() {
    let list = json!({"object": "list", "data": [{"id": "deepseek-r1:14b"}, {"id": "qwen3:8b"}]}).to_string();
    let unknown = Reply::new(404, r#"{"error": {"message": "model \"small-model\" not found"}}"#);
    let endpoint = Endpoint::setup().lists().start([unknown, Reply::new(200, &list), Reply::new(200, &list)]);
    let error = error_of(&ask(&endpoint).await);
    assert!(error.contains("not found") && error.contains("deepseek-r1:14b, qwen3:8b"), "{error}");
    let models = builder(&endpoint).build().unwrap().models().await.unwrap();
    let names: Vec<_> = models.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(names, ["deepseek-r1:14b", "qwen3:8b"]);
    assert!(endpoint.seen()[2].head.starts_with("GET /v1/models "));
}

#[tokio::test]
async fn a_base_url_without_v1_is_corrected_once() {
    let endpoint = Endpoint::setup().lists().answer(|request, _| match request.target() {
        "GET /v1/models" => Reply::new(200, r#"{"data": [{"id": "tiny"}]}"#),
        "POST /v1/chat/completions" => Reply::text("It rains."),
        _ => Reply::new(404, "404 page not found"),
    });
    let model = OpenAi::new(endpoint.url().trim_end_matches("/v1"), "tiny").unwrap();
    for _ in 0..2 {
        let events: Vec<_> = model.stream(hello()).collect().await;
        assert!(events.iter().all(Result::is_ok), "{events:?}");
    }
    let seen = endpoint.seen();
    let targets: Vec<_> = seen.iter().map(|request| request.target()).collect();
    let right = "POST /v1/chat/completions";
    assert_eq!(targets, ["POST /chat/completions", "GET /v1/models", right, right]);
}

#[tokio::test]
async fn an_endpoint_without_a_list_says_to_name_a_model() {
    let page = "<html><title>A router</title></html>";
    let answers =
        [(404, "404 page not found"), (200, page), (200, "{}"), (200, r#"{"error": "models are being loaded"}"#)];
    let endpoint = Endpoint::setup().lists().start(answers.map(|(status, body)| Reply::new(status, body)));
    let client = OpenAi::new(endpoint.url(), "").unwrap();
    for words in ["404 page not found: the endpoint lists no models: name one", "a web page", "no list", "being loaded"]
    {
        let error = client.models().await.unwrap_err();
        assert_eq!(std::error::Error::source(&error).is_some(), words == "a web page", "{error:?}");
        let error = error.to_string();
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
    assert!(error.contains(&url) && error.contains("Ollama") && error.contains("nothing listens"), "{error}");
}

/// An HTTP server that waits for the end of the first line, like llama.cpp's: the TLS handshake has
/// none.
async fn waits_for_a_line(listener: TcpListener, asked: mpsc::UnboundedSender<String>) {
    while let Ok((mut socket, _)) = listener.accept().await {
        let asked = asked.clone();
        tokio::spawn(async move {
            let mut head = Vec::new();
            let is_http = |head: &[u8]| head.starts_with(b"GET ") && head.ends_with(b"\r\n\r\n");
            while !is_http(&head) && socket.read_buf(&mut head).await.is_ok_and(|read| read > 0) {}
            if is_http(&head) {
                let _ = socket.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
                asked.send(String::from_utf8(head).unwrap()).unwrap();
            }
        });
    }
}

#[tokio::test]
async fn a_server_that_waits_at_the_hello_of_tls_is_asked_in_plain_http_without_the_key() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/v1?key=sk-2", listener.local_addr().unwrap());
    let (tell, mut asked) = mpsc::unbounded_channel();
    tokio::spawn(waits_for_a_line(listener, tell));
    let builder = OpenAi::builder(url.as_str(), "m").api_key("sk-1").header("x-key", "sk-3");
    let model = builder.connect_timeout(Duration::from_millis(300)).build().unwrap();
    let events: Vec<_> = model.stream(hello()).collect().await;
    assert!(matches!(events[..], [Err(ModelError::Unreachable { .. })]), "{events:?}");
    for error in [error_of(&events), model.models().await.unwrap_err().to_string()] {
        assert!(error.contains("does not use TLS there: write http:// instead of https://"), "{error}");
        let head = asked.recv().await.unwrap();
        assert!(head.starts_with("GET / HTTP/1.1") && !head.contains("sk-"), "{head}");
    }
    assert!(asked.try_recv().is_err(), "nothing is tried again");
}

#[tokio::test]
async fn what_came_before_a_break_is_kept() {
    let mut torn = Reply::events(&[says("Half an")]);
    torn.pieces.push(b"data: {\"choices\": [{\"del".to_vec());
    let scripts = [
        Reply::events(&[says("Half an")]).end(End::Break),
        torn.clone().end(End::Break),
        torn,
        Reply::events(&[says("Half an")]),
    ];
    let endpoint = Endpoint::start(scripts.clone());
    for script in 0..scripts.len() {
        let (content, _, end) = told(&ask(&endpoint).await);
        assert_eq!(content, "Half an", "script {script}");
        let error = end.unwrap_err();
        assert!(matches!(error, ModelError::CutOff { .. } | ModelError::BrokeOff), "script {script}: {error}");
        assert!(error.to_string().contains("was cut off"), "script {script}: {error}");
    }
    assert_eq!(endpoint.requests(), scripts.len(), "nothing is tried again after the first byte");
}

#[tokio::test]
async fn an_error_in_mid_stream_is_reported_in_the_endpoints_words() {
    let plain = json!({"error": {"message": "out of memory", "code": 500}});
    let mut named = Reply::events(&[says("a")]);
    named.pieces.push(b"event: error\ndata: {\"message\": \"out of memory\"}\n\n".to_vec());
    let mut text = Reply::events(&[says("a")]);
    text.pieces.push(b"data: out of memory\n\n".to_vec());
    let field = Reply::events(&[says("a")]).raw("error: {\"code\": 500, \"message\": \"out of memory\"}\n\n").done();
    let scripts = [
        Reply::events(&[says("a"), plain.clone(), says("never")]).done(),
        named,
        text,
        field.clone(),
        field.bytewise(),
    ];
    let endpoint = Endpoint::start(scripts.clone());
    for script in 0..scripts.len() {
        let (content, _, end) = told(&ask(&endpoint).await);
        let error = end.unwrap_err();
        assert!(matches!(&error, ModelError::CutOff { message, .. } if message.contains("out of memory")), "{error}");
        assert_eq!(content, "a", "script {script}");
    }
    let endpoint = Endpoint::start([Reply::events(std::slice::from_ref(&plain)), Reply::new(200, &plain.to_string())]);
    for _ in 0..2 {
        let error = error_of(&ask(&endpoint).await);
        assert!(error.contains("out of memory (500)") && !error.contains("was cut off"), "{error}");
    }
}

#[tokio::test]
async fn an_overflow_is_told_with_its_numbers_and_not_tried_again() {
    let llama = json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 14429, "n_ctx": 8192,
        "message": "the request exceeds the available context size. try increasing the context size"}});
    let vllm = json!({"object": "error", "type": "BadRequestError", "code": 400, "message": "This model's maximum context \
        length is 8192 tokens. However, you requested 14929 tokens (14429 in the messages, 500 in the completion)."});
    // A proxy repeats the server's message in another member.
    let passed_on = json!({"error": {"message": "Provider returned error", "code": 400,
        "metadata": {"raw": "{\"message\": \"prompt is too long: 14429 tokens > 8192 maximum\"}"}}});
    let bodies = [llama.to_string(), vllm.to_string(), passed_on.to_string()];
    let refused = bodies.iter().flat_map(|body| [Reply::new(400, body), Reply::new(500, body), Reply::new(200, body)]);
    let streamed = [&llama, &passed_on].map(|error| Reply::events(std::slice::from_ref(error)));
    let replies: Vec<Reply> = refused.chain(streamed).collect();
    let endpoint = Endpoint::start(replies.clone());
    for (n, reply) in replies.iter().enumerate() {
        let error = told(&ask(&endpoint).await).2.unwrap_err();
        let numbers = matches!(error, ModelError::ContextExceeded { prompt: Some(14_429), context: Some(8192), .. });
        assert!(numbers, "{n}, HTTP {}: {error:?}", reply.status);
    }
    assert_eq!(endpoint.requests(), replies.len());
    let endpoint = Endpoint::start([Reply::new(400, &llama.to_string())]);
    let error = error_of(&ask(&endpoint).await);
    assert!(error.contains("exceeds the available context size") && error.contains("(-c)"), "{error}");
}

#[tokio::test]
async fn a_stalled_stream_ends_with_an_error() {
    let silent = Reply { pieces: Vec::new(), ..Reply::new(200, "") };
    let scripts = [Reply::events(&[says("Well")]).end(End::Stall), silent.end(End::Stall)];
    let mut endpoint = Endpoint::start(scripts);
    let model = builder(&endpoint).idle_timeout(Duration::from_millis(300)).build().unwrap();
    for expected in ["Well", ""] {
        let (content, _, end) = told(&model.stream(hello()).collect::<Vec<_>>().await);
        let error = end.unwrap_err().to_string();
        assert!(error.contains("no data arrived for 0.3 seconds"), "{error}");
        assert_eq!(content, expected);
        endpoint.gone().await;
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let script = Reply::events(&[says("One"), says("Two")]).end(End::Stall);
    let mut endpoint = Endpoint::start([script]);
    let mut events = builder(&endpoint).build().unwrap().stream(hello());
    assert!(matches!(events.next().await, Some(Ok(ModelEvent::Delta(_)))));
    drop(events);
    endpoint.gone().await;
}

#[tokio::test]
async fn dropping_the_stream_before_the_answer_closes_the_connection() {
    let mut endpoint = Endpoint::start([Reply::new(200, "").end(End::Mute)]);
    let mut events = builder(&endpoint).build().unwrap().stream(hello());
    while endpoint.requests() == 0 {
        tokio::select! {
            event = events.next() => panic!("{event:?}"),
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
    }
    drop(events);
    endpoint.gone().await;
}

fn weather() -> Functions {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    Functions::new("weather").with(
        Tool::new("get_weather").with_description("Weather of a city").with_schema(schema),
        |args: Map<String, Value>| async move { Ok::<_, String>(format!("{}: 21 degrees", args["city"])) },
    )
}

fn agent(endpoint: &Endpoint) -> Agent {
    Agent::builder(builder(endpoint).build().unwrap(), weather())
        .profile(Profile::for_model("deepseek-reasoner"))
        .policy(Policy::new(Decision::Deny).allow("weather/*"))
        .build()
}

fn answers() -> Reply {
    Reply::events(&[says("It is 21 degrees"), says(" in Oslo."), stops("stop")]).done()
}

#[tokio::test]
async fn an_agent_calls_a_function_and_answers() {
    let call = "TYPE: MCP\n{\"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}";
    let reasoning = json!({"choices": [{"index": 0, "delta": {"reasoning_content": "The tool knows."}}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}});
    let asks = Reply::events(&[reasoning, says(call), stops("stop"), usage]).done().bytewise();
    let endpoint = Endpoint::start([asks, answers()]);
    let finished = agent(&endpoint).run("What is the weather in Oslo?").unwrap().finish().await;
    assert!(finished.reason.is_answer(), "{:?}", finished.reason);
    assert_eq!(finished.answer, "It is 21 degrees in Oslo.");
    assert_eq!((finished.rounds, finished.calls), (2, 1));
    assert_eq!(finished.usage.unwrap().prompt_tokens, 100);
    let seen = endpoint.seen();
    assert!(seen[0].body["messages"].to_string().contains("get_weather"), "{}", seen[0].body);
    assert!(seen[1].body["messages"].to_string().contains("21 degrees"), "{}", seen[1].body);
}

#[tokio::test]
async fn an_agent_keeps_what_came_before_a_break() {
    let endpoint = Endpoint::start([Reply::events(&[says("It is 21 deg")]).end(End::Break)]);
    let finished = agent(&endpoint).run("What is the weather in Oslo?").unwrap().finish().await;
    let StopReason::ModelFailed(ModelFailure { message, .. }) = &finished.reason else {
        panic!("{:?}", finished.reason)
    };
    assert!(message.contains("the answer was cut off: the connection failed"), "{message}");
    assert_eq!(finished.answer, "It is 21 deg");
    assert!(serde_json::to_string(&finished.conversation).unwrap().contains("It is 21 deg"));
}

#[tokio::test]
async fn an_agent_runs_native_calls_as_others() {
    let call =
        json!({"index": 0, "id": "c1", "function": {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}});
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let endpoint = Endpoint::start([Reply::events(&[call, stops("tool_calls")]).done(), answers()]);
    let finished = agent(&endpoint).run("What is the weather in Oslo?").unwrap().finish().await;
    assert_eq!(finished.answer, "It is 21 degrees in Oslo.");
    assert_eq!((finished.rounds, finished.calls), (2, 1));
}

#[tokio::test]
async fn a_programs_own_client_is_used_and_a_request_may_have_headers_of_its_own() {
    let endpoint = Endpoint::start([Reply::text("Hi"), Reply::text("Hi"), Reply::text("Hi")]);
    let http = toolgraft::http::client().user_agent("my-program/1").build().unwrap();
    let model =
        builder(&endpoint).header("X-Team", "a").header("X-Trace", "0").http_client(http).api_key("sk-secret-key");
    let model = model.build().unwrap();
    let _: Vec<_> = model.stream(hello()).collect().await;
    let _: Vec<_> = model.stream(hello().with_header("X-Trace", "17")).collect().await;
    let agent = Agent::builder(model.clone(), Functions::unnamed()).build();
    let options = toolgraft::agent::RunOptions::default().header("X-Trace", "18");
    assert!(agent.run_with("Hi", options).unwrap().finish().await.reason.is_answer());
    let seen = endpoint.seen();
    for (request, trace) in seen.iter().zip(["0", "17", "18"]) {
        assert_eq!(request.header("user-agent"), Some("my-program/1"));
        assert_eq!((request.header("x-team"), request.header("x-trace")), (Some("a"), Some(trace)));
        assert_eq!(request.header("authorization"), Some("Bearer sk-secret-key"));
    }
    assert_eq!(seen.len(), 3);

    let wrong: Vec<_> = model.stream(hello().with_header("X-Trace", "a\nb-secret")).collect().await;
    let [Err(error)] = &wrong[..] else { panic!("{wrong:?}") };
    assert!(error.to_string().contains("X-Trace") && !error.to_string().contains("b-secret"), "{error}");
    assert!(std::error::Error::source(error).is_some());
}

#[tokio::test]
async fn an_error_of_the_connection_keeps_its_source_without_the_url() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1?key=s3cret-key", listener.local_addr().unwrap());
    drop(listener);
    let model = OpenAi::builder(url, "m").retries(0).build().unwrap();
    let agent = Agent::builder(model, Functions::unnamed()).build();
    let StopReason::ModelFailed(failure) = agent.run("Hi").unwrap().finish().await.reason else { panic!("it failed") };
    assert_eq!(
        (failure.error, failure.status, failure.retryable),
        (toolgraft::model::ModelErrorKind::Unreachable, None, true)
    );
    let mut text = failure.message.clone();
    let mut next: Option<&dyn std::error::Error> = failure.source.as_deref().map(|error| error as _);
    let mut depth = 0;
    while let Some(error) = next {
        text.push_str(&error.to_string());
        (next, depth) = (error.source(), depth + 1);
    }
    assert!(depth > 2 && !text.contains("s3cret"), "{text}");
}

#[tokio::test]
async fn the_progress_of_a_prompt_and_of_a_server_that_loads_comes_before_the_answer() {
    use toolgraft::model::Progress;

    let progress = |processed: u64| {
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null}, "finish_reason": null}],
            "prompt_progress": {"total": 2059, "cache": 0, "processed": processed, "time_ms": 12}})
    };
    let loading = Reply::new(503, r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#);
    let answer = Reply::events(&[progress(512), progress(2059), says("Hi."), stops("stop")]).done();
    let endpoint = Endpoint::start([loading, answer]);
    let model = OpenAi::builder(endpoint.url(), "m").retries(0).build().unwrap();
    let events: Vec<ModelEvent> =
        model.stream(Request::new(vec![Message::user("Hi")])).map(|event| event.unwrap()).collect().await;
    let prompt = |processed| ModelEvent::Progress(Progress::Prompt { processed, total: 2_059 });
    assert_eq!(events[..3], [ModelEvent::Progress(Progress::Loading), prompt(512), prompt(2_059)]);
    assert!(matches!(events[3], ModelEvent::Delta(_)), "{events:?}");
}
