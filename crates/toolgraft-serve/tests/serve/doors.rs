//! Tests of admission.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolgraft_serve::{Config, ServeError, Server};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, Seen, says, stops, thinks};

use super::http::{call, read, request, serve};

/// All routes that answer a request themselves.
const ANSWERS: [&str; 12] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/responses",
    "/v1beta/models/m:generateContent",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    "/v1beta/models/m:countTokens",
    "/api/chat",
    "/api/generate",
    "/api/show",
    "/api/embed",
    "/api/embeddings",
];

fn endpoint() -> Endpoint {
    Endpoint::setup().models(&["m"]).answer(|_, _| Reply::text(&call()))
}

#[tokio::test]
async fn a_host_that_points_here_is_refused_on_every_route() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config.with_host("models.example")).await;
    for path in ["/health", "/ready", "/metrics", "/v1/models", "/v1/chat/completions", "/nothing"] {
        for (host, refused) in [
            ("evil.example", true),
            ("localhost.evil.example", true),
            ("127.0.0.1.evil.example:8787", true),
            ("localhost", false),
            ("LOCALHOST:8787", false),
            ("[::1]:8787", false),
            ("models.example", false),
        ] {
            let sent = served.client.get(format!("{}{path}", served.url)).header("host", host).send().await.unwrap();
            let (status, body) = read(sent).await;
            assert_eq!(status == 403, refused, "{host} {path}: {status} {body}");
        }
    }
}

#[tokio::test]
async fn a_page_of_another_site_is_refused_on_every_route() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config).await;
    for (origin, refused) in [
        ("https://evil.example", true),
        ("null", true),
        ("http://localhost.evil.example", true),
        ("http://127.0.0.1.evil.example:8787", true),
        ("http://localhost:3000", false),
        ("http://127.0.0.1:8787", false),
    ] {
        for path in ANSWERS.iter().chain(["/v1/embeddings", "/nothing"].iter()) {
            let sent = served.post(path, &request(false)).header("origin", origin).send().await.unwrap();
            assert_eq!(sent.status() == 403, refused, "{origin} {path}");
        }
        for path in ["/v1/models", "/v1beta/models", "/api/tags", "/api/version", "/health", "/ready", "/metrics"] {
            let sent = served.client.get(format!("{}{path}", served.url)).header("origin", origin);
            assert_eq!(sent.send().await.unwrap().status() == 403, refused, "{origin} {path}");
        }
    }
}

#[tokio::test]
async fn a_body_is_json_by_name() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config).await;
    for (kind, status) in [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/jsonp", 415),
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
    ] {
        for path in ["/v1/chat/completions", "/v1/embeddings"] {
            let sent = served.client.post(format!("{}{path}", served.url)).header("content-type", kind);
            assert_eq!(sent.body(request(false).to_string()).send().await.unwrap().status(), status, "{kind}");
        }
        for path in ANSWERS {
            // Without an origin, Ollama's routes are tested elsewhere.
            let sent = served.client.post(format!("{}{path}", served.url)).header("content-type", kind);
            let sent = sent.header("origin", "http://localhost:3000");
            let found = sent.body("{}").send().await.unwrap().status();
            assert_eq!(found == 415, status == 415, "{kind} {path}: {found}");
        }
    }
    let sent = served.client.post(format!("{}/v1/embeddings", served.url)).body("{}").send().await.unwrap();
    assert_eq!(sent.status(), 415);
}

#[tokio::test]
async fn clients_of_ollamas_interface_need_no_type_and_pages_do() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config).await;
    for kind in [None, Some("application/x-www-form-urlencoded"), Some("text/plain")] {
        for (page, status) in [
            (None, 200),
            (Some(("origin", "http://localhost:3000")), 415),
            (Some(("origin", "https://evil.example")), 403),
            (Some(("sec-fetch-site", "cross-site")), 415),
        ] {
            let mut sent = served.client.post(format!("{}/api/chat", served.url)).body(request(false).to_string());
            for (name, value) in kind.map(|kind| ("content-type", kind)).into_iter().chain(page) {
                sent = sent.header(name, value);
            }
            assert_eq!(sent.send().await.unwrap().status(), status, "{kind:?} {page:?}");
        }
    }
}

#[tokio::test]
async fn beyond_the_loopback_a_key_is_demanded() {
    let config = || Config::new("http://localhost:1/v1").unwrap();
    let refused = Server::bind(config(), "0.0.0.0:0").await.unwrap_err();
    assert!(matches!(refused, ServeError::KeyMissing { .. }), "{refused}");
    assert!(Server::bind(config().with_api_key("k"), "0.0.0.0:0").await.is_ok());
    assert!(Server::bind(config(), "localhost:0").await.is_ok());
    let taken = Server::bind(config(), "127.0.0.1:0").await.unwrap();
    let again = Server::bind(config(), &taken.local_addr().unwrap().to_string()).await.unwrap_err();
    assert!(matches!(again, ServeError::Bind { .. }), "{again}");
}

#[tokio::test]
async fn a_clients_key_is_checked_and_dropped() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config.with_api_key("door").with_upstream_key("up-stream")).await;
    for path in ["/v1/chat/completions", "/v1/embeddings"] {
        for (header, value, status) in [
            ("authorization", "Bearer door", 200),
            ("authorization", "bearer door", 200),
            ("x-api-key", "door", 200),
            ("authorization", "Bearer doo", 401),
            ("authorization", "Basic door", 401),
            ("x-other", "door", 401),
        ] {
            let sent = served.post(path, &request(false)).header(header, value).send().await.unwrap();
            assert_eq!(sent.status(), status, "{header}: {value}");
        }
    }
    let seen = endpoint.take_seen();
    assert_eq!(seen.iter().filter(|request| request.target().starts_with("POST")).count(), 6);
    for request in seen {
        assert_eq!((request.header("authorization"), request.header("x-api-key")), (Some("Bearer up-stream"), None));
    }
    // A load balancer asks without a key; the metrics need one.
    for (path, status) in [("/health", 200), ("/ready", 200), ("/metrics", 401), ("/v1/models", 401)] {
        assert_eq!(served.client.get(format!("{}{path}", served.url)).send().await.unwrap().status(), status, "{path}");
    }
}

#[tokio::test]
async fn a_key_goes_to_an_endpoint_that_was_named_and_to_no_other() {
    for (hands_on, expected) in [(true, Some("Bearer sk-client")), (false, None)] {
        let endpoint = endpoint();
        let served = serve(&endpoint, |config| if hands_on { config } else { config.without_client_keys() }).await;
        for path in ["/v1/chat/completions", "/v1/embeddings"] {
            served.post(path, &request(false)).header("x-api-key", "sk-client").send().await.unwrap();
        }
        served.client.get(format!("{}/v1/models", served.url)).bearer_auth("sk-client").send().await.unwrap();
        // The first request, for the list of models, is the server's own.
        let own = |seen: &Seen| seen.target().starts_with("GET");
        for request in endpoint.seen().into_iter().skip_while(own) {
            assert_eq!(
                (request.header("authorization"), request.header("x-api-key")),
                (expected, None),
                "{}",
                request.head
            );
        }
    }
    // The server's own key is not sent to the endpoint.
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config.with_api_key("door")).await;
    served.post("/v1/embeddings", &request(false)).bearer_auth("door").send().await.unwrap();
    assert_eq!(endpoint.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn headers_that_nobody_listed_stay_here() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config).await;
    for path in ["/v1/chat/completions", "/v1/embeddings"] {
        let sent = served.post(&format!("{path}?key=sk-url"), &request(false));
        let sent =
            sent.header("cookie", "session=1").header("x-forwarded-for", "10.0.0.1").header("traceparent", "00-1-2-01");
        sent.send().await.unwrap();
    }
    // The first request, for the list of models, is the server's own.
    for request in endpoint.seen().into_iter().filter(|seen| seen.target().starts_with("POST")) {
        assert_eq!(request.header("traceparent"), Some("00-1-2-01"));
        for name in ["cookie", "x-forwarded-for", "origin"] {
            assert_eq!(request.header(name), None, "{}", request.head);
        }
        assert!(!request.head.contains("sk-url"), "{}", request.head);
    }
}

/// Returns what the server sends until it closes a connection, after these bytes and then nothing.
async fn knock(url: &str, bytes: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(Duration::from_secs(30), stream.read_to_string(&mut answer)).await;
    read.expect("the server closes the connection").unwrap();
    answer
}

#[tokio::test]
async fn slow_heads_and_bodies_without_end_are_cut_off() {
    let endpoint = endpoint();
    let served =
        serve(&endpoint, |config| config.with_read_timeout(Duration::from_millis(200)).with_max_body(1_000)).await;
    knock(&served.url, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await;
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let answer = knock(&served.url, &format!("{head}Content-Length: 100\r\n\r\n{{")).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let endless =
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", "100\r\n".to_owned() + &" ".repeat(256) + "\r\n");
    let more = ("100\r\n".to_owned() + &" ".repeat(256) + "\r\n").repeat(4);
    let answer = knock(&served.url, &(endless + &more)).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn a_schema_that_explodes_does_not() {
    // Each level refers twice to the next, which makes 2^30 paths.
    let mut definitions = serde_json::Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions
            .insert(format!("l{level}"), json!({"anyOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]}));
    }
    definitions.insert("l30".into(), json!({"type": "string"}));
    let mut deep = json!("x");
    for _ in 0..30 {
        deep = json!({"a": deep});
    }
    let text =
        call().replace("{\"city\":\"Oslo\"}", &deep.to_string()).replace("{\"city\": \"Oslo\"}", &deep.to_string());
    let endpoint = Endpoint::answer(move |_, _| Reply::text(&text));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(false);
    for parameters in [
        json!({"$defs": definitions, "$ref": "#/$defs/l0"}),
        json!({"type": "object", "properties": {"city": {"type": "string", "pattern": "^(a+)+$"}}}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "http://127.0.0.1:1/x"}),
    ] {
        asked["tools"][0]["function"]["parameters"] = parameters;
        let answered = tokio::time::timeout(Duration::from_secs(60), served.chat(&asked)).await;
        answered.expect("it ends");
    }
}

#[tokio::test]
async fn the_counts_have_no_label_of_a_client() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config).await;
    served.chat(&request(false)).await;
    served.post("/v1/secret-path", &request(false)).send().await.unwrap();
    let page = served.client.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    for line in [
        "toolgraft_requests_total{route=\"chat_completions\",status=\"2xx\"} 1",
        "toolgraft_requests_total{route=\"other\",status=\"4xx\"} 1",
        "toolgraft_tool_calls_total 1",
        "toolgraft_rounds_total 1",
        "toolgraft_budget_used{budget=\"max_requests\",unit=\"requests\"} 0",
    ] {
        assert!(page.lines().any(|l| l == line), "{line}\n{page}");
    }
    assert!(!page.contains("secret"), "{page}");
}

#[tokio::test]
async fn an_endpoint_without_a_list_of_models_is_ready_and_one_that_fails_is_not() {
    for (reply, ready) in [
        (Reply::new(404, "404 page not found"), 200),
        (Reply::html("Welcome"), 200),
        (Reply::refused(401, "a key is needed"), 200),
        (Reply::refused(503, "loading"), 503),
        (Reply::new(500, "<html>"), 503),
    ] {
        let endpoint = Endpoint::setup().lists().answer(move |_, _| reply.clone());
        let served = serve(&endpoint, |config| config).await;
        let ask = || async { served.client.get(format!("{}/ready", served.url)).send().await.unwrap().status() };
        assert_eq!(ask().await, ready);
    }
}

#[tokio::test]
async fn whoever_asks_often_whether_it_is_ready_does_not_load_the_endpoint() {
    let endpoint = Endpoint::setup().lists().answer(|_, _| Reply::new(404, "").delay(Duration::from_millis(20)));
    let served = serve(&endpoint, |config| config).await;
    let since = std::time::Instant::now();
    for _ in 0..5 {
        let ask = || served.client.get(format!("{}/ready", served.url)).send();
        let asked = futures::future::join_all((0..20).map(|_| ask())).await;
        assert!(asked.into_iter().all(|answer| answer.unwrap().status() == 200));
    }
    let most = 1 + usize::try_from(since.elapsed().as_secs()).unwrap();
    assert!((1..=most).contains(&endpoint.requests()), "{} in {:?}", endpoint.requests(), since.elapsed());
}

#[tokio::test]
async fn ready_follows_the_endpoint() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config).await;
    let ask = |path: &str| served.client.get(format!("{}{path}", served.url)).send();
    assert_eq!(ask("/ready").await.unwrap().status(), 200);
    drop(endpoint);
    // The last result is reused for a short time.
    while ask("/ready").await.unwrap().status() == 200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(ask("/ready").await.unwrap().status(), 503);
    assert_eq!(ask("/health").await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_answer_that_goes_on_is_waited_for_at_the_end() {
    let reply = Reply::events(&[says("Once "), says("upon "), says("a "), says("time."), stops("stop")]);
    let reply = reply.delay(Duration::from_millis(100)).done();
    let endpoint = Endpoint::answer(move |_, _| reply.clone());
    let mut served = serve(&endpoint, |config| config).await;
    let response = served.post("/v1/chat/completions", &request(true)).send().await.unwrap();
    drop(served.stop.take());
    let text = response.text().await.unwrap();
    assert!(text.contains("time.") && text.ends_with("data: [DONE]\n\n"), "{text}");
    served.ended.await.unwrap();
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off_when_the_time_to_end_is_over() {
    let reply = Reply::events(&[says("Once ")]).end(End::Stall);
    let mut endpoint = Endpoint::answer(move |_, _| reply.clone());
    let mut served = serve(&endpoint, |config| config.with_drain(Duration::from_millis(300))).await;
    let mut response = served.post("/v1/chat/completions", &request(true)).send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    drop(served.stop.take());
    served.ended.await.unwrap();
    endpoint.gone().await;
}

#[tokio::test]
async fn many_requests_at_once_get_each_its_own_answer() {
    let endpoint = Endpoint::answer(|request, _| {
        let question = request.question();
        Reply::text(&call().replace("Oslo", &question))
    });
    let served = Arc::new(serve(&endpoint, |config| config).await);
    let asked = (0..40).map(|n| {
        let served = served.clone();
        tokio::spawn(async move {
            let mut asked = request(false);
            asked["messages"][0]["content"] = format!("city {n}").into();
            let (_, whole) = served.chat(&asked).await;
            let call = &whole["choices"][0]["message"]["tool_calls"][0];
            assert_eq!(call["function"]["arguments"], Value::String(json!({"city": format!("city {n}")}).to_string()));
            call["id"].as_str().unwrap().to_owned()
        })
    });
    let mut ids = Vec::new();
    for answer in futures::future::join_all(asked).await {
        ids.push(answer.unwrap());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40, "every call has an id of its own");
}

/// Starts a proxy that refuses, and returns its URL and the first line that it is sent.
async fn proxy() -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:secret@{}", listener.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 1000];
        let read = stream.read(&mut head).await.unwrap();
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or_default().to_owned()
    });
    (url, asked)
}

#[tokio::test]
async fn only_an_endpoint_with_tls_is_reached_through_the_proxy() {
    let (url, asked) = proxy().await;
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config.with_https_proxy(url.clone(), "")).await;
    let (status, _) = served.chat(&request(false)).await;
    assert_eq!((status.as_u16(), asked.is_finished()), (200, false), "plain HTTP goes directly");
    for (except, status) in [("model.invalid", 502), ("", 502)] {
        let config = Config::new("https://model.invalid/v1").unwrap().with_https_proxy(url.clone(), except);
        let served = serve(&endpoint, |_| config).await;
        let (found, body) = served.chat(&request(false)).await;
        assert_eq!(found, status, "{body:#}");
        assert!(!body.to_string().contains("secret"), "{body:#}");
        assert_eq!(asked.is_finished(), except.is_empty(), "hosts that are excepted are reached directly");
    }
    assert_eq!(asked.await.unwrap(), "CONNECT model.invalid:443 HTTP/1.1");
    let config = Config::new("https://model.invalid/v1").unwrap().with_https_proxy("no proxy:secret", "");
    let error = Server::bind(config, "127.0.0.1:0").await.unwrap_err().to_string();
    assert!(error.contains("proxy") && !error.contains("secret"), "{error}");
}

/// Returns the answer to a request with these head lines.
async fn raw(url: &str, head: &str) -> String {
    let mut socket = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
    socket.write_all(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_second_host_and_a_foreign_target_are_refused() {
    let endpoint = endpoint();
    let served = serve(&endpoint, |config| config.with_host("models.example")).await;
    for (head, status) in [
        ("GET /health HTTP/1.1\r\nhost: localhost", 200),
        ("GET /health HTTP/1.1\r\nhost: localhost\r\nhost: localhost", 400),
        ("GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example", 400),
        ("GET /health HTTP/1.1\r\nhost: evil.example\r\nhost: localhost", 400),
        ("GET http://localhost:8787/health HTTP/1.1\r\nhost: localhost:8787", 200),
        ("GET http://models.example/health HTTP/1.1\r\nhost: models.example", 200),
        ("GET http://evil.example/health HTTP/1.1\r\nhost: localhost", 400),
        ("GET http://evil.example/v1/models HTTP/1.1\r\nhost: localhost", 400),
        ("GET http://evil.example//health/ HTTP/1.1\r\nhost: localhost", 400),
        ("GET //health/ HTTP/1.1\r\nhost: localhost", 200),
        ("GET http://localhost@evil.example/health HTTP/1.1\r\nhost: localhost", 400),
        ("GET http://localhost/health HTTP/1.1\r\nhost: evil.example", 403),
    ] {
        let answer = raw(&served.url, head).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}\n{answer}");
    }
}

#[tokio::test]
async fn the_servers_keys_stand_in_nothing_that_a_client_gets() {
    const UPSTREAM: &str = "sk-upstream/\"1234567890";
    const OWN: &str = "own-key-1234567890";
    let quoted = |key: &str| serde_json::Value::from(key).to_string().trim_matches('"').to_owned();
    let both = format!("it is {UPSTREAM} and {OWN}.");
    let whole = json!({"id": "c", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": both}, "finish_reason": "stop"}],
        "embedding": [both], "x": {UPSTREAM: 1}});
    // Chunks end at every byte, also inside the key.
    let stream = Reply::events(&[says(&both), thinks(&both), stops("stop")]).done();
    let plain = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    let streamed = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let input = json!({"model": "m", "input": "Hi"});
    let mut in_pieces: Vec<Value> = both.chars().map(|c| says(&c.to_string())).collect();
    in_pieces.push(stops("stop"));
    for (path, body, reply) in [
        ("/v1/chat/completions", &plain, Reply::new(200, &whole.to_string()).bytewise()),
        ("/v1/chat/completions", &plain, Reply::refused(500, &both)),
        ("/v1/chat/completions", &plain, Reply::new(401, &both).header("x-request-id", OWN)),
        ("/v1/chat/completions", &streamed, stream.clone().bytewise()),
        ("/v1/chat/completions", &streamed, stream.clone().end(End::Break)),
        ("/v1/embeddings", &input, Reply::new(200, &whole.to_string())),
        ("/v1/embeddings", &input, Reply::refused(400, &both)),
        ("/v1/completions", &input, Reply::new(200, &whole.to_string())),
        ("/v1/chat/completions", &request(false), Reply::refused(400, &both)),
        ("/v1/chat/completions", &request(false), Reply::new(500, &both)),
        ("/v1/chat/completions", &request(true), Reply::events(&in_pieces).done()),
        ("/v1/chat/completions", &request(false), Reply::events(&in_pieces).done()),
        ("/v1/chat/completions", &request(true), Reply::events(&[says("Hi "), json!({"error": {"message": both}})])),
        ("/v1/chat/completions", &request(false), Reply::html(&both)),
    ] {
        let endpoint = Endpoint::start([reply.clone()]);
        let served = serve(&endpoint, |config| config.with_api_key(OWN).with_upstream_key(UPSTREAM)).await;
        let response = served.post(path, body).bearer_auth(OWN).send().await.unwrap();
        let head = format!("{:?}", response.headers());
        let mut text = String::new();
        let mut response = response;
        // Of a connection that breaks off, the text before that counts.
        while let Ok(Some(piece)) = response.chunk().await {
            text += &String::from_utf8_lossy(&piece);
        }
        let told: String = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
            .filter_map(|data| Some(data["choices"][0]["delta"]["content"].as_str()?.to_owned()))
            .collect();
        for key in [UPSTREAM, OWN, &quoted(UPSTREAM)] {
            assert!(
                !text.contains(key) && !told.contains(key) && !head.contains(key),
                "{path} {reply:?}: {head}\n{text}\n{told}"
            );
        }
        assert!(!text.is_empty(), "{path} {reply:?}");
    }
}
