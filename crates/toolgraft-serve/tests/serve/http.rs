//! Tests of the server over real sockets, with an endpoint that answers by script.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolgraft_serve::{Config, ROUNDS_HEADER, Server};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, stops, thinks, usage};

/// A server on a free port, which stops when it is dropped.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) client: Client,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) ended: tokio::task::JoinHandle<()>,
}

pub(crate) async fn serve(endpoint: &Endpoint, set: impl FnOnce(Config) -> Config) -> Served {
    let config = set(Config::new(endpoint.url()).unwrap());
    let server = Server::bind(config, "127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    Served { url, client: Client::new(), stop: Some(stop), ended }
}

impl Served {
    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(format!("{}{path}", self.url));
        request.header("content-type", "application/json").body(body.to_string())
    }

    pub(crate) async fn chat(&self, body: &Value) -> (StatusCode, Value) {
        read(self.post("/v1/chat/completions", body).send().await.unwrap()).await
    }

    /// Returns the data of a stream's events, and its comments.
    pub(crate) async fn stream(&self, body: &Value) -> (Vec<String>, Vec<String>) {
        let response = self.post("/v1/chat/completions", body).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        events(&response.text().await.unwrap())
    }
}

pub(crate) fn events(text: &str) -> (Vec<String>, Vec<String>) {
    let of = |prefix: &'static str| text.lines().filter_map(move |line| line.strip_prefix(prefix)).map(str::to_owned);
    (of("data: ").collect(), of(": ").collect())
}

pub(crate) async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

pub(crate) fn request(stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream, "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}],
    })
}

pub(crate) fn call() -> String {
    mcp_call("", "weather", &json!({"city": "Oslo"})).replace("<server_name></server_name>\n", "")
}

pub(crate) fn damaged() -> String {
    call().replace("\"Oslo\"", "")
}

#[tokio::test]
async fn a_base_url_without_v1_serves_requests_without_tools_and_with_them() {
    let endpoint = Endpoint::setup().lists().answer(|request, _| match request.target() {
        "GET /v1/models" => Reply::new(200, r#"{"data": [{"id": "m"}]}"#),
        "POST /v1/chat/completions" => Reply::text("It rains."),
        _ => Reply::new(404, "404 page not found"),
    });
    for with_tools in [false, true] {
        let mut body = request(false);
        if !with_tools {
            body.as_object_mut().unwrap().remove("tools");
        }
        let served = serve(&endpoint, |_| Config::new(endpoint.url().trim_end_matches("/v1")).unwrap()).await;
        for _ in 0..2 {
            assert_eq!(served.chat(&body).await.0, 200, "with tools: {with_tools}");
        }
        let targets: Vec<_> = endpoint.take_seen().iter().map(|request| request.target().to_owned()).collect();
        assert_eq!(targets.last().unwrap(), "POST /v1/chat/completions");
        assert_eq!(targets.iter().filter(|target| *target == "POST /chat/completions").count(), 1, "{targets:?}");
    }
}

#[tokio::test]
async fn a_call_comes_streamed_and_whole() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&format!("I look.\n{}", call())));
    let served = serve(&endpoint, |config| config).await;
    let (status, whole) = served.chat(&request(false)).await;
    assert_eq!(status, 200, "{whole:#}");
    let choice = &whole["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["content"]), (&json!("tool_calls"), &json!("I look.")));
    assert_eq!(
        choice["message"]["tool_calls"][0]["function"],
        json!({"name": "weather", "arguments": "{\"city\":\"Oslo\"}"})
    );
    assert!(whole["usage"]["total_tokens"].as_u64().unwrap() > 0);
    let (data, _) = served.stream(&request(true)).await;
    assert_eq!(data.last().unwrap(), "[DONE]");
    assert!(data.iter().any(|d| d.contains(r#""arguments":"{\"city\":\"Oslo\"}""#)), "{data:#?}");
}

#[tokio::test]
async fn what_an_endpoint_says_at_once_goes_out_at_once() {
    let words: Vec<String> = (0..100).map(|number| format!("word{number} ")).collect();
    let mut events: Vec<Value> = words.iter().map(|word| says(word)).collect();
    events.push(stops("stop"));
    let endpoint = Endpoint::start([Reply::events(&events).done().at_once()]);
    let served = serve(&endpoint, |config| config).await;
    let mut response = served.post("/v1/chat/completions", &request(true)).send().await.unwrap();
    let (mut pieces, mut text) = (0, String::new());
    while let Some(piece) = response.chunk().await.unwrap() {
        pieces += 1;
        text += std::str::from_utf8(&piece).unwrap();
    }
    let (data, _) = self::events(&text);
    assert!(data.len() > 90, "{} events", data.len());
    assert!(pieces < 10, "{} events came in {pieces} pieces", data.len());
}

#[tokio::test]
async fn usage_is_streamed_where_it_is_asked_for_and_its_sum_is_a_comment() {
    let with_usage = |text: &str| Reply::events(&[says(text), stops("stop"), usage(10, 5)]).done();
    let endpoint = Endpoint::start([with_usage(&damaged()), with_usage("No weather.")]);
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(true);
    asked["stream_options"] = json!({"include_usage": true});
    let (data, comments) = served.stream(&asked).await;
    let last: Value = serde_json::from_str(&data[data.len() - 2]).unwrap();
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(15)));
    for comment in ["rounds 2", "usage prompt_tokens=20, completion_tokens=10"] {
        assert!(comments.iter().any(|said| said == comment), "{comments:?}");
    }
    assert_eq!(endpoint.seen().len(), 2);
}

#[tokio::test]
async fn a_header_tells_the_rounds() {
    let endpoint = Endpoint::start([Reply::text(&damaged()), Reply::text(&call())]);
    let served = serve(&endpoint, |config| config).await;
    let response = served.post("/v1/chat/completions", &request(false)).send().await.unwrap();
    assert_eq!(response.headers()[ROUNDS_HEADER], "2");
}

#[tokio::test]
async fn without_tools_request_and_answer_pass_untouched() {
    let odd = "{\"choices\":[{\"message\":{\"content\":\"Hi\",\"odd\":1}}],  \"extra\": true}";
    let endpoint = Endpoint::answer(move |request, _| match request.target() {
        "POST /v1/chat/completions" => Reply::new(200, odd).header("content-type", "application/json"),
        _ => Reply::new(201, "{\"embedding\": []}"),
    });
    let served = serve(&endpoint, |config| config).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "odd": [1.50]});
    let response = served.post("/v1/chat/completions", &body).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), odd);
    for path in ["/v1/embeddings", "/v1/completions"] {
        let response = served.post(path, &json!({"model": "e", "input": "x"})).send().await.unwrap();
        assert_eq!(response.status(), 201, "the status passes, too");
    }
    let seen = endpoint.seen();
    assert_eq!(seen[0].body, body);
    let targets: Vec<&str> = seen.iter().map(|request| request.target()).collect();
    assert_eq!(targets, ["POST /v1/chat/completions", "POST /v1/embeddings", "POST /v1/completions"]);
}

#[tokio::test]
async fn without_tools_a_developers_text_is_the_systems() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi"));
    let served = serve(&endpoint, |config| config).await;
    let mut body = json!({"model": "m", "odd": [1.50], "messages": [
        {"role": "developer", "content": "Be brief."}, {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "developer", "name": "ann"},
    ]});
    served.chat(&body).await;
    body["messages"][0]["role"] = "system".into();
    body["messages"][1]["role"] = "system".into();
    assert_eq!(endpoint.seen()[0].body, body);
}

#[tokio::test]
async fn the_servers_model_stands_for_every_other() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi"));
    let served = serve(&endpoint, |config| config.with_model("real")).await;
    served.chat(&json!({"model": "gpt-4o", "messages": [], "stream": true})).await;
    served.chat(&request(false)).await;
    let seen = endpoint.seen();
    assert!(seen.iter().all(|request| request.body["model"] == "real"), "{seen:#?}");
}

#[tokio::test]
async fn the_endpoints_refusals_keep_status_and_message() {
    for (reply, status, words) in [
        (Reply::refused(429, "slow down").header("retry-after", "7"), 429, "slow down"),
        (Reply::refused(401, "no such key"), 401, "no such key"),
        (Reply::refused(404, "no such model"), 404, "no such model"),
        (Reply::new(503, "<html><title>Bad Gateway</title></html>"), 503, "Bad Gateway"),
        (Reply::html("Sign in"), 502, "Sign in"),
        (Reply::new(200, "{\"error\": {\"message\": \"no memory\"}}"), 502, "no memory"),
        (Reply::text("Hi").end(End::Mute), 502, "no data"),
        (
            Reply::refused(
                400,
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
            ),
            400,
            "context",
        ),
    ] {
        let endpoint = Endpoint::answer(move |_, _| reply.clone());
        let served = serve(&endpoint, |config| config.with_idle_timeout(Duration::from_millis(200))).await;
        for stream in [false, true] {
            let (found, body) = served.chat(&request(stream)).await;
            assert_eq!(found, status, "{body:#}");
            let message = body["error"]["message"].as_str().unwrap();
            assert!(message.contains(words), "{message}");
            assert!(body["error"]["type"].is_string(), "{body:#}");
        }
    }
}

#[tokio::test]
async fn the_endpoints_wait_is_told_to_the_client() {
    let endpoint = Endpoint::answer(|_, _| Reply::refused(429, "slow down").header("retry-after", "7"));
    let served = serve(&endpoint, |config| config).await;
    for body in [request(true), json!({"model": "m", "messages": []})] {
        let response = served.post("/v1/chat/completions", &body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    }
    assert_eq!(endpoint.requests(), 2, "the client tries again by itself");
}

#[tokio::test]
async fn a_break_in_mid_stream_ends_with_an_error_object() {
    let text = Reply::events(&[says("The weather "), says("is ")]);
    for reply in [
        text.clone(),
        text.clone().end(End::Break),
        text.raw("data: {\"error\": {\"message\": \"out of memory\"}}\n\n"),
    ] {
        let endpoint = Endpoint::answer(move |_, _| reply.clone());
        let served = serve(&endpoint, |config| config).await;
        let (data, _) = served.stream(&request(true)).await;
        let last: Value = serde_json::from_str(data.last().unwrap()).unwrap();
        assert!(last["error"]["message"].as_str().unwrap().contains("was cut off"), "{last:#}");
        assert!(data[0].contains("The weather"), "{data:#?}");
    }
}

#[tokio::test]
async fn a_silent_stream_is_kept_open_by_comments() {
    let reply = Reply::events(&[thinks("Hm."), says(&call()), stops("stop")]).delay(Duration::from_millis(300)).done();
    let endpoint = Endpoint::answer(move |_, _| reply.clone());
    let served = serve(&endpoint, |config| config.with_keep_alive(Duration::from_millis(50))).await;
    let (data, comments) = served.stream(&request(true)).await;
    assert!(comments.contains(&"working".to_owned()), "{comments:?}");
    assert!(data.iter().any(|d| d.contains("tool_calls")), "{data:#?}");
}

#[tokio::test]
async fn a_stream_begins_before_an_endpoint_that_is_silent_does_and_tells_of_a_failure() {
    for (path, fails, error) in [
        ("/v1/chat/completions", "no memory", "data: {\"error\":{\"message\":"),
        ("/v1/messages", "no memory", "event: error\ndata: {\"type\":\"error\",\"error\":{"),
        ("/v1/responses", "no memory", "event: response.failed\n"),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "no memory", "data: {\"error\":{\"code\":500,"),
    ] {
        // The endpoint answers when it is told to, so nothing depends on time.
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let endpoint = Endpoint::answer(move |_, _| {
            told.recv().unwrap();
            Reply::refused(500, fails)
        });
        let served = serve(&endpoint, |config| config.with_keep_alive(Duration::from_millis(50))).await;
        let mut body = request(true);
        match path {
            "/v1/messages" => body["tools"] = json!([{"name": "weather", "input_schema": {"type": "object"}}]),
            "/v1/responses" => {
                body = json!({"model": "m", "stream": true, "input": "Hi",
                    "tools": [{"type": "function", "name": "weather", "parameters": {"type": "object"}}]});
            }
            "/v1/chat/completions" => {}
            _ => {
                body = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
                    "tools": [{"functionDeclarations": [{"name": "weather"}]}]});
            }
        }
        let mut response = served.post(path, &body).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &"text/event-stream".parse().unwrap())
        );
        let first = response.chunk().await.unwrap().unwrap();
        assert!(first == ": working\n\n" || first == "\n" || first.starts_with(b"event: ping\ndata: {"), "{first:?}");
        tell.send(()).unwrap();
        let rest = response.text().await.unwrap();
        assert!(rest.contains(error) && rest.contains("no memory"), "{path}: {rest}");
    }
}

#[tokio::test]
async fn without_tools_a_stream_begins_before_an_endpoint_that_is_silent_does() {
    let json = |status, text| Reply::new(status, text).header("content-type", "application/json");
    let completion = "{\"id\":\"c\",\"choices\":[{\"index\":0,\"message\":{\"content\":\"Hi\"}}]}";
    let chunk = "{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}],\"object\":\"chat.completion.chunk\"}";
    for (reply, data) in [
        (Reply::events(&[says("Hi"), stops("stop")]).done(), vec!["\"Hi\"", "\"stop\"", "[DONE]"]),
        (json(200, completion), vec![chunk, "[DONE]"]),
        (Reply::refused(429, "slow down"), vec!["slow down"]),
        (json(500, "<html>"), vec!["the endpoint's answer (HTTP 500 Internal Server Error) is neither"]),
        (json(200, "[]"), vec!["the endpoint's answer (HTTP 200 OK) is neither"]),
    ] {
        // The endpoint answers when it is told to, so nothing depends on time.
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let endpoint = Endpoint::answer(move |_, _| {
            told.recv().unwrap();
            reply.clone()
        });
        let served = serve(&endpoint, |config| config.with_keep_alive(Duration::from_millis(20))).await;
        let mut asked = request(true);
        asked.as_object_mut().unwrap().remove("tools");
        let mut response = served.post("/v1/chat/completions", &asked).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &"text/event-stream".parse().unwrap())
        );
        for _ in 0..2 {
            assert_eq!(response.chunk().await.unwrap().unwrap(), ": working\n\n");
        }
        tell.send(()).unwrap();
        let (told, _) = events(&response.text().await.unwrap());
        assert_eq!(told.len(), data.len(), "{told:#?}");
        assert!(told.iter().zip(data).all(|(told, data)| told.contains(data)), "{told:#?}");
    }
}

#[tokio::test]
async fn a_client_that_goes_stops_the_endpoint() {
    for (stream, with_tools) in [(true, true), (false, true), (true, false), (false, false)] {
        let reply = Reply::events(&[says("Once upon "), says("a time ")]).end(End::Stall);
        let mut endpoint = Endpoint::answer(move |_, _| reply.clone());
        let served = serve(&endpoint, |config| config).await;
        let mut asked = request(stream);
        if !with_tools {
            // A request without tools is passed through.
            asked.as_object_mut().unwrap().remove("tools");
        }
        let sending = served.post("/v1/chat/completions", &asked).send();
        if stream || !with_tools {
            let mut response = sending.await.unwrap();
            assert!(response.chunk().await.unwrap().is_some(), "the rest is dropped");
        } else {
            assert!(tokio::time::timeout(Duration::from_millis(500), sending).await.is_err(), "nothing is whole yet");
        }
        endpoint.gone().await;
    }
}

#[tokio::test]
async fn what_is_not_there_is_refused_by_name() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for (path, status) in [("/v1/audio/speech", 404), ("/", 405), ("/v1/models", 405), ("/v1/responses/resp_1", 404)] {
        let (found, body) = read(served.post(path, &json!({})).send().await.unwrap()).await;
        assert_eq!(found, status, "{body:#}");
        assert!(body["error"]["message"].as_str().unwrap().contains(path), "{body:#}");
    }
}

#[tokio::test]
async fn one_model_is_asked_for_by_its_name() {
    let endpoint = Endpoint::setup().models(&["a", "org/b:1"]).start([]);
    let served = serve(&endpoint, |config| config).await;
    let get = |path: &str| {
        let sending = served.client.get(format!("{}{path}", served.url)).send();
        async { read(sending.await.unwrap()).await }
    };
    for (path, id) in [("/v1/models/a", "a"), ("/v1/models/org/b:1", "org/b:1"), ("/v1/models/org%2Fb%3A1", "org/b:1")]
    {
        let (status, model) = get(path).await;
        assert_eq!((status.as_u16(), &model["id"], &model["object"]), (200, &json!(id), &json!("model")), "{model:#}");
    }
    let (status, refused) = get("/v1/models/c").await;
    let error = &refused["error"];
    assert_eq!((status.as_u16(), &error["code"], &error["param"]), (404, &json!("model_not_found"), &json!("model")));
    assert!(error["type"] == "invalid_request_error" && error["message"].as_str().unwrap().contains("\"c\""));
    // OpenAI's interface has DELETE for this path, and Gemini's has POST below it.
    let sent = served.client.delete(format!("{}/v1/models/a", served.url)).send().await.unwrap();
    let (status, refused) = read(sent).await;
    assert_eq!((status.as_u16(), &refused["error"]["code"]), (405, &json!("method_not_allowed")), "{refused:#}");
}

#[tokio::test]
async fn bad_bodies_are_refused_with_the_place() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config.with_max_body(1_000)).await;
    for (body, status, words) in [
        ("{\"model\": ", 400, "column 10"),
        ("[]", 400, "object"),
        ("", 400, "JSON"),
        ("\u{feff}{}", 400, "JSON"),
        (&"[".repeat(900), 400, "recursion"),
        ("{}", 400, "model"),
        (&"x".repeat(1_001), 413, "1000 bytes"),
    ] {
        for path in ["/v1/chat/completions", "/v1/embeddings"] {
            if body == "{}" && path != "/v1/chat/completions" {
                continue;
            }
            let sent = served.client.post(format!("{}{path}", served.url)).header("content-type", "application/json");
            let (found, answer) = read(sent.body(body.to_owned()).send().await.unwrap()).await;
            assert_eq!(found, status, "{answer:#}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer:#}");
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn without_spans_a_clients_trace_goes_on_as_it_came() {
    let theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi."));
    let served = serve(&endpoint, |config| config).await;
    let sent = served.post("/v1/chat/completions", &request(false)).header("traceparent", theirs);
    assert_eq!(sent.send().await.unwrap().status(), 200);
    assert_eq!(endpoint.seen()[0].header("traceparent"), Some(theirs));
}

#[tokio::test]
async fn tools_that_are_known_are_the_same_with_another_choice_and_in_other_words() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&call()));
    let served = serve(&endpoint, |config| config).await;
    let named = json!({"type": "function", "function": {"name": "weather"}});
    for choice in [Value::Null, Value::Null, named, json!("required"), Value::Null] {
        let mut body = request(false);
        body["tool_choice"] = choice;
        let (status, answer) = served.chat(&body).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "weather");
    }
    let mut spaced = request(false).to_string();
    spaced = spaced.replace("\"tools\":[", "\"tools\": [ ");
    for _ in 0..2 {
        let sent = served.client.post(format!("{}/v1/chat/completions", served.url));
        let sent = sent.header("content-type", "application/json").body(spaced.clone()).send().await.unwrap();
        assert_eq!(sent.status(), 200);
    }
    let prompts: Vec<String> =
        endpoint.seen().iter().filter(|seen| seen.target().starts_with("POST")).map(|seen| seen.messages()).collect();
    assert_eq!(prompts.len(), 7);
    assert!(prompts[0].contains("weather") && prompts[2] != prompts[0]);
    assert!([1, 4, 5, 6].iter().all(|at| prompts[*at] == prompts[0]));

    let mut wrong = request(false);
    wrong["tool_choice"] = json!({"type": "function", "function": {"name": "nothing"}});
    let (status, answer) = served.chat(&wrong).await;
    assert_eq!((status.as_u16(), &answer["error"]["param"]), (400, &json!("tool_choice")));
}
