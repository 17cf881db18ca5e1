//! Spans of the server's requests: their fields, the texts that they must not contain, and their
//! parents.

use serde_json::{Map, Value, json};
use toolgraft::tools::Decision;
use toolgraft::{Functions, Policy, Tool};
use toolgraft_serve::{Config, Server};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call, says, stops, usage};
use toolgraft_testkit::spans::{TRACE, recorded};

const CLIENTS: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Starts a server that ends with the test, and returns its URL.
async fn serve(config: Config) -> String {
    let server = Server::bind(config, "127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    tokio::spawn(server.run(std::future::pending()));
    url
}

fn post(url: &str, path: &str, body: &Value) -> reqwest::RequestBuilder {
    let request = reqwest::Client::new().post(format!("{url}{path}")).header("content-type", "application/json");
    request.header("traceparent", CLIENTS).body(body.to_string())
}

fn request() -> Value {
    json!({
        "model": "m", "stream": true, "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}],
    })
}

fn damaged() -> String {
    mcp_call("demo", "secret", &json!({"city": "Oslo"})).replace("\"Oslo\"", "")
}

fn with_toolbox(config: Config) -> Config {
    let functions = Functions::new("demo").with(Tool::new("secret"), |_: Map<String, Value>| async {
        Ok::<_, std::convert::Infallible>("the word is HUSHED")
    });
    config.with_toolbox(functions, true).with_policy(Policy::new(Decision::Allow))
}

#[tokio::test]
async fn a_request_is_a_turn_with_its_model_requests_and_calls() {
    let (spans, _guard) = recorded();
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&damaged()),
        1 => Reply::text(&mcp_call("demo", "secret", &json!({}))),
        _ => Reply::events(&[says("Known."), stops("stop"), usage(10, 5)]).done(),
    });
    let url = serve(with_toolbox(Config::new(endpoint.url()).unwrap())).await;
    let sent = post(&url, "/v1/chat/completions", &request());
    let answer = sent.send().await.unwrap().text().await.unwrap();
    assert!(answer.contains("[DONE]"), "{answer}");
    let turns = spans.of("invoke_agent");
    assert_eq!(
        (turns.len(), turns[0].field("gen_ai.request.model"), turns[0].field("toolgraft.rounds")),
        (1, "m", "3")
    );
    assert!(turns[0].is_closed());
    assert_eq!(turns[0].remote, [("traceparent".to_owned(), CLIENTS.to_owned())]);
    let chats = spans.of("chat");
    assert_eq!(chats.len(), 3);
    for (chat, seen) in chats.iter().zip(endpoint.seen()) {
        assert!(chat.is_closed() && chat.parent == Some(turns[0].id), "{chat:#?}");
        assert_eq!((chat.field("otel.name"), chat.field("server.address")), ("chat m", "127.0.0.1"));
        // The endpoint is sent the span of its own request.
        assert_eq!(seen.header("traceparent"), Some(chat.traceparent().as_str()));
        assert!(chat.traceparent().starts_with(TRACE));
    }
    assert_eq!(chats[2].field("gen_ai.usage.input_tokens"), "10");
    assert_eq!(chats[2].field("gen_ai.response.finish_reasons"), "stop");
    let tools = spans.of("execute_tool");
    assert_eq!((tools.len(), tools[0].field("gen_ai.tool.name"), tools[0].parent), (1, "secret", Some(turns[0].id)));
    let corrections = spans.events("correction");
    assert_eq!((corrections.len(), corrections[0].parent), (1, Some(turns[0].id)));
    assert_eq!(corrections[0].field("toolgraft.correction"), "malformed");
}

#[tokio::test]
async fn a_request_that_passes_through_is_a_model_request() {
    let (spans, _guard) = recorded();
    let endpoint = Endpoint::start([Reply::text("Hi."), Reply::refused(429, "HUSHED")]);
    let url = serve(Config::new(endpoint.url()).unwrap()).await;
    let plain = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    for _ in 0..2 {
        let sent = post(&url, "/v1/chat/completions", &plain);
        sent.send().await.unwrap().text().await.unwrap();
    }
    let chats = spans.of("chat");
    let told: Vec<_> = chats.iter().map(|chat| (chat.field("error.type"), chat.is_closed())).collect();
    assert_eq!(told, [("", true), ("429", true)]);
    assert_eq!(chats[0].remote[0].1, CLIENTS);
    assert_eq!(endpoint.seen()[0].header("traceparent"), Some(chats[0].traceparent().as_str()));
    assert!(spans.of("invoke_agent").is_empty());
}

#[tokio::test]
async fn no_span_holds_a_key_a_text_an_argument_or_a_result() {
    let (spans, _guard) = recorded();
    let mut rounds = 0;
    let endpoint = Endpoint::answer(move |asked, _| {
        // The endpoint is asked about its model as well.
        if !asked.target().contains("/chat/completions") {
            return Reply::refused(404, "HUSHED");
        }
        rounds += 1;
        match rounds {
            1 => Reply::text(&format!("HUSHED {}", damaged().replace("city", "HUSHED"))),
            2 => Reply::text(&mcp_call("demo", "secret", &json!({"a": "HUSHED"}))),
            3 => Reply::refused(400, "HUSHED"),
            _ => Reply::text("HUSHED"),
        }
    });
    let url = endpoint.url().replace("http://", "http://HUSHED:HUSHED@") + "?key=HUSHED";
    let url = serve(with_toolbox(Config::new(url).unwrap().with_upstream_key("HUSHED-key"))).await;
    let mut asked = request();
    asked["messages"][0]["content"] = json!("HUSHED?");
    asked["tools"][0]["function"]["description"] = json!("HUSHED");
    for path in ["/v1/chat/completions", "/v1/chat/completions", "/v1beta/models/m:generateContent?key=HUSHED"] {
        let body = if path.contains("v1beta") {
            json!({"contents": [{"role": "user", "parts": [{"text": "HUSHED"}]}]})
        } else {
            asked.clone()
        };
        let sent = post(&url, path, &body).header("authorization", "Bearer HUSHED").header("x-request-id", "HUSHED");
        sent.send().await.unwrap().text().await.unwrap();
    }
    let text = spans.text();
    assert!(spans.of("chat").len() >= 4 && !spans.of("execute_tool").is_empty(), "{text}");
    assert!(spans.of("chat").iter().any(|chat| chat.field("error.type") == "400"), "{text}");
    assert!(!text.contains("HUSHED"), "{text}");
}
