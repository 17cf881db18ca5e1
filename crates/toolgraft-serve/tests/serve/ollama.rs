//! Tests of Ollama's interface with an endpoint that has Chat Completions only.

use std::time::Duration;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops, thinks, usage};

use super::http::{Served, call, damaged, read, serve};
use super::toolbox::with_toolbox;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn request() -> Value {
    json!({
        "model": "gemma3:12b", "keep_alive": "5m", "truncate": true,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Oslo?"}],
        "options": {"num_ctx": 8192, "num_predict": 500, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "seed": 7,
            "stop": ["END"], "num_gpu": 1, "mirostat": null},
        "tools": [{"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}],
    })
}

/// Returns the request with these fields changed.
fn with(change: Value) -> Value {
    let mut asked = request();
    asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    asked
}

async fn whole(served: &Served, path: &str, body: &Value) -> (u16, Value) {
    let mut body = body.clone();
    body["stream"] = json!(false);
    let (status, answer) = read(served.post(path, &body).send().await.unwrap()).await;
    (status.as_u16(), answer)
}

async fn get(served: &Served, path: &str) -> (u16, Value) {
    let (status, answer) = read(served.client.get(format!("{}{path}", served.url)).send().await.unwrap()).await;
    (status.as_u16(), answer)
}

/// Returns the lines of a stream, without the members that differ each time.
async fn lines(served: &Served, path: &str, body: &Value) -> Vec<Value> {
    let response = served.post(path, body).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/x-ndjson".parse().unwrap())
    );
    let text = response.text().await.unwrap();
    assert!(text.ends_with('\n') && !text.contains("\n\n"), "its clients read every line: {text:?}");
    text.lines().map(|line| untimed(serde_json::from_str(line).unwrap())).collect()
}

fn untimed(mut line: Value) -> Value {
    for field in ["created_at", "total_duration", "prompt_eval_duration", "eval_duration"] {
        line.as_object_mut().unwrap().remove(field);
    }
    if let Some(id) = line.pointer_mut("/message/tool_calls/0/id") {
        assert!(id.as_str().is_some_and(|id| !id.is_empty()));
        *id = json!("");
    }
    line
}

fn scripted() -> Endpoint {
    Endpoint::answer(|_, _| {
        let text = format!("I look.\n\n{}", call());
        Reply::events(&[thinks("Hm."), says(&text), stops("stop"), usage(20, 7)]).done()
    })
}

fn told(message: Value) -> Value {
    json!({"model": "gemma3:12b", "message": message, "done": false})
}

#[tokio::test]
async fn a_stream_is_lines_and_the_last_one_has_reason_and_cost() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config.with_keep_alive(Duration::from_millis(1))).await;
    let tool_call = json!({"id": "", "function": {"index": 0, "name": "weather", "arguments": {"city": "Oslo"}}});
    let mut expected = vec![
        told(json!({"role": "assistant", "content": "", "thinking": "Hm."})),
        told(json!({"role": "assistant", "content": "I look."})),
        told(json!({"role": "assistant", "content": "", "tool_calls": [tool_call]})),
        json!({"model": "gemma3:12b", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "load_duration": 0, "prompt_eval_count": 20, "eval_count": 7}),
    ];
    assert_eq!(lines(&served, "/api/chat", &request()).await, expected);
    expected.remove(0);
    assert_eq!(lines(&served, "/api/chat", &with(json!({"think": false}))).await, expected);
}

#[tokio::test]
async fn calls_of_one_message_stand_in_one_line() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&format!("{0}\n{0}", call())));
    let served = serve(&endpoint, |config| config).await;
    let lines = lines(&served, "/api/chat", &request()).await;
    let [calls, end] = &lines[..] else { panic!("{lines:#?}") };
    let calls = calls["message"]["tool_calls"].as_array().unwrap();
    let indexes: Vec<&Value> = calls.iter().map(|call| &call["function"]["index"]).collect();
    assert_eq!((indexes, &end["done_reason"]), (vec![&json!(0), &json!(1)], &json!("stop")));
    assert_ne!(calls[0]["id"], calls[1]["id"]);
}

#[tokio::test]
async fn a_stream_byte_by_byte() {
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("3 < 4 \"ä\""), stops("length"), usage(2, 1)]).done());
    let served = serve(&endpoint, |config| config).await;
    let response = served.post("/api/chat", &with(json!({"tools": null}))).send().await.unwrap();
    let text = response.text().await.unwrap();
    let mut at = 0;
    for (before, after) in [
        (
            "{\"model\":\"gemma3:12b\",\"created_at\":\"",
            "\",\"message\":{\"role\":\"assistant\",\"content\":\"3 < 4 \\\"ä\\\"\"},\"done\":false}\n",
        ),
        (
            "{\"model\":\"gemma3:12b\",\"created_at\":\"",
            "\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"length\",\"total_duration\":",
        ),
    ] {
        assert!(text[at..].starts_with(before), "{text}");
        at += before.len() + "2026-11-25T19:00:00.000000000Z".len();
        assert!(text[at..].starts_with(after), "{text}");
        at += after.len();
    }
    assert!(text.ends_with("}\n"));
}

#[tokio::test]
async fn a_whole_answer_is_one_object() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    let (status, answer) = whole(&served, "/api/chat", &request()).await;
    assert_eq!(status, 200, "{answer:#}");
    for field in ["created_at", "total_duration", "prompt_eval_duration", "eval_duration"] {
        assert!(answer.get(field).is_some(), "{field}");
    }
    let tool_call = json!({"id": "", "function": {"index": 0, "name": "weather", "arguments": {"city": "Oslo"}}});
    let message = json!({"role": "assistant", "content": "I look.", "thinking": "Hm.", "tool_calls": [tool_call]});
    let expected = json!({"model": "gemma3:12b", "message": message, "done": true, "done_reason": "stop",
        "load_duration": 0, "prompt_eval_count": 20, "eval_count": 7});
    assert_eq!(untimed(answer), expected);
    let body = &endpoint.seen()[0].body;
    let mapped = json!({"model": "gemma3:12b", "max_tokens": 500, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "seed": 7, "stop": ["END"]});
    for (field, value) in mapped.as_object().unwrap() {
        assert_eq!(&body[field], value, "{field}");
    }
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be brief.\n\n# Tools"), "{body:#}");
    for field in ["options", "num_ctx", "num_gpu", "keep_alive", "truncate", "tools", "mirostat", "think"] {
        assert_eq!(body.get(field), None, "{field}");
    }
}

#[tokio::test]
async fn the_history_is_told_with_its_images_calls_and_results() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Cold."));
    let served = serve(&endpoint, |config| config).await;
    let tool_call = |city: &str| json!({"function": {"name": "weather", "arguments": {"city": city}}});
    let asked = with(json!({"messages": [
        {"role": "user", "content": "Look:", "images": [PNG]},
        {"role": "assistant", "content": "I look.", "thinking": "Hm.", "tool_calls": [tool_call("Oslo"), tool_call("Rome")]},
        {"role": "tool", "content": "-3 degrees", "tool_name": "weather"},
        {"role": "tool", "content": "20 degrees"},
        {"role": "user", "content": "And?", "images": []},
    ]}));
    let (status, answer) = whole(&served, "/api/chat", &asked).await;
    assert_eq!((status, &answer["message"]["content"]), (200, &json!("Cold.")), "{answer:#}");
    let told = &endpoint.seen()[0].body["messages"];
    let roles: Vec<&str> = told.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(told[1]["content"][1]["image_url"]["url"], format!("data:image/png;base64,{PNG}"));
    let written = told[2]["content"].as_str().unwrap();
    assert!(written.starts_with("I look.\n\n<use_mcp_tool>") && !written.contains("Hm."), "{written}");
    let results = told[3]["content"].as_str().unwrap();
    let places = ["-3 degrees", "20 degrees", "And?"].map(|text| results.find(text).expect(text));
    assert!(places.is_sorted() && results.matches("call_").count() > 1, "in the order of the calls: {results}");
}

#[tokio::test]
async fn a_format_is_held_to() {
    let schema = json!({"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]});
    for (format, expected) in [(schema, "{\"degrees\":3}"), (json!("json"), "{\"degrees\":\"3\"}"), (json!(""), "3?")] {
        let endpoint = Endpoint::start([Reply::text("3?"), Reply::text("Here: {\"degrees\": \"3\"}")]);
        let served = serve(&endpoint, |config| config).await;
        let asked = with(json!({"tools": [], "format": format}));
        let (status, answer) = whole(&served, "/api/chat", &asked).await;
        assert_eq!((status, &answer["message"]["content"]), (200, &json!(expected)), "{answer:#}");
    }
}

#[tokio::test]
async fn a_prompt_is_a_message_and_its_answer_a_response() {
    let endpoint =
        Endpoint::answer(|_, _| Reply::events(&[thinks("Hm."), says("A dot."), stops("stop"), usage(3, 2)]).done());
    let served = serve(&endpoint, |config| config).await;
    let asked = json!({"model": "m", "prompt": "What is this?", "system": "Be brief.", "images": [PNG], "raw": false,
        "suffix": "", "context": [], "think": "low", "options": {"num_predict": -1}});
    let (_, answer) = whole(&served, "/api/generate", &asked).await;
    let end = json!({"done": true, "done_reason": "stop", "load_duration": 0, "prompt_eval_count": 3, "eval_count": 2});
    let line = |said: Value, end: &Value| {
        let mut line = json!({"model": "m"});
        for more in [&said, end] {
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        }
        line
    };
    assert_eq!(untimed(answer), line(json!({"response": "A dot.", "thinking": "Hm."}), &end));
    let goes_on = json!({"done": false});
    assert_eq!(
        lines(&served, "/api/generate", &asked).await,
        [
            line(json!({"response": "", "thinking": "Hm."}), &goes_on),
            line(json!({"response": "A dot."}), &goes_on),
            line(json!({"response": ""}), &end),
        ]
    );
    let body = &endpoint.seen()[0].body;
    assert_eq!((&body["reasoning_effort"], body.get("max_tokens")), (&json!("low"), None));
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "Be brief."}));
    let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}});
    assert_eq!(body["messages"][1]["content"], json!([{"type": "text", "text": "What is this?"}, image]));
}

#[tokio::test]
async fn a_request_without_a_prompt_loads_a_model_and_asks_nobody() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for (path, body, said, reason) in [
        ("/api/generate", json!({"model": "m"}), json!({"response": ""}), "load"),
        ("/api/generate", json!({"model": "m", "prompt": "", "keep_alive": 0.0}), json!({"response": ""}), "unload"),
        (
            "/api/chat",
            json!({"model": "m", "messages": [], "keep_alive": "0s"}),
            json!({"message": {"role": "assistant", "content": ""}}),
            "unload",
        ),
        (
            "/api/chat",
            json!({"model": "m", "keep_alive": "0.5h"}),
            json!({"message": {"role": "assistant", "content": ""}}),
            "load",
        ),
    ] {
        let (status, answer) = read(served.post(path, &body).send().await.unwrap()).await;
        let mut expected = json!({"model": "m", "done": true, "done_reason": reason});
        expected.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        assert_eq!((status.as_u16(), untimed(answer)), (200, expected), "{path} {body}");
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn a_silent_stream_is_kept_open_by_space_that_every_client_reads_over() {
    let slow = Reply::events(&[says("A"), says("B"), stops("stop")]).done().delay(Duration::from_millis(80));
    let endpoint = Endpoint::start([Reply::text(&damaged()).delay(Duration::from_millis(30)), slow]);
    let served = serve(&endpoint, |config| config.with_keep_alive(Duration::from_millis(5))).await;
    let text = served.post("/api/chat", &request()).send().await.unwrap().text().await.unwrap();
    assert!(text.starts_with(' '), "{text:?}");
    let said: String = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["message"]["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, "AB");
}

#[tokio::test]
async fn what_cannot_be_had_is_named_with_its_place() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    let message = |message: Value| json!({"messages": [message]});
    for (change, words) in [
        (json!({"model": ""}), "model: "),
        (json!({"messages": "Hi"}), "messages: "),
        (message(json!({"role": "critic", "content": "no"})), "messages[0].role: "),
        (message(json!({"role": "user", "content": 7})), "messages[0].content: "),
        (message(json!({"role": "user", "content": "", "images": ["bm8="]})), "messages[0].images[0]: "),
        (message(json!({"role": "user", "content": "", "images": "no"})), "messages[0].images: "),
        (
            message(json!({"role": "assistant", "tool_calls": [{"function": {}}]})),
            "messages[0].tool_calls[0].function.name: ",
        ),
        (json!({"format": "xml"}), "format: "),
        (json!({"format": {"type": 3}}), "format: "),
        (json!({"options": []}), "options: "),
        (json!({"options": {"num_predict": "many"}}), "options.num_predict: "),
        (json!({"logprobs": true}), "logprobs: "),
        (json!({"tools": [{"type": "function", "function": {"name": ""}}]}), "tools[0].function.name: "),
    ] {
        let (status, body) = whole(&served, "/api/chat", &with(change.clone())).await;
        assert!(status == 400 && body["error"].as_str().unwrap().starts_with(words), "{change} {status} {body:#}");
    }
    for (field, value) in
        [("raw", json!(true)), ("suffix", json!("}")), ("template", json!("{{ .Prompt }}")), ("context", json!([1]))]
    {
        let (status, body) =
            whole(&served, "/api/generate", &json!({"model": "m", "prompt": "Hi", field: value})).await;
        let words = format!("{field}: is not supported here: ");
        assert!(status == 400 && body["error"].as_str().unwrap().starts_with(&words), "{body:#}");
    }
    for (method, path) in [
        ("POST", "pull"),
        ("POST", "push"),
        ("POST", "create"),
        ("POST", "copy"),
        ("DELETE", "delete"),
        ("HEAD", "blobs/sha256:0"),
    ] {
        let url = format!("{}/api/{path}", served.url);
        let sent =
            served.client.request(method.parse().unwrap(), url).header("content-type", "application/json").body("{}");
        let (status, body) = read(sent.send().await.unwrap()).await;
        assert_eq!(status, 501, "{path} {body:#}");
        assert!(
            method == "HEAD" || body["error"].as_str().unwrap().contains("the endpoint manages the models"),
            "{body:#}"
        );
    }
    for (path, status) in [("/api/nothing", 404), ("/api/chat", 405), ("/api/show", 405), ("/api", 404)] {
        let (found, body) = get(&served, path).await;
        assert_eq!(found, status, "{path} {body:#}");
        assert!(path == "/api" || body["error"].is_string(), "{path} {body:#}");
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn what_fails_has_the_endpoints_status_or_is_the_last_line() {
    let endpoint = Endpoint::answer(|_, _| Reply::refused(404, "model 'x' not found"));
    let served = serve(&endpoint, |config| config).await;
    for stream in [true, false] {
        let sent = served.post("/api/chat", &with(json!({"stream": stream})));
        let (status, body) = read(sent.send().await.unwrap()).await;
        let said = body["error"].as_str().unwrap();
        assert!(status == 404 && said.starts_with("model 'x' not found"), "{body:#}");
    }
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("Once upon ")]).end(End::Break));
    let served = serve(&endpoint, |config| config).await;
    let lines = lines(&served, "/api/chat", &request()).await;
    let [first, last] = &lines[..] else { panic!("{lines:#?}") };
    assert_eq!(first["message"]["content"], "Once upon");
    assert!(last["error"].as_str().unwrap().contains("was cut off") && last.as_object().unwrap().len() == 1, "{last}");
}

#[tokio::test]
async fn models_are_told_from_the_endpoints_list() {
    let endpoint = Endpoint::setup().models(&["a", "deepseek-r1:8b"]).start([]);
    let served = serve(&endpoint, with_toolbox).await;
    let (status, list) = get(&served, "/api/tags").await;
    let models = list["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().filter_map(|model| model["model"].as_str()).collect();
    assert_eq!((status, &names[..]), (200, &["a", "deepseek-r1:8b", "a+tools", "deepseek-r1:8b+tools"][..]));
    for model in models {
        assert_eq!((&model["name"], model["digest"].as_str().unwrap().len()), (&model["model"], 64), "{model}");
        assert_eq!((&model["modified_at"], &model["size"]), (&json!("1970-01-01T00:00:00Z"), &json!(0)));
    }
    for (name, thinks) in [("a", false), ("a+tools", false), ("deepseek-r1:8b", true)] {
        let (status, shown) = whole(&served, "/api/show", &json!({"model": name})).await;
        let mut can = vec!["completion", "tools"];
        can.extend(thinks.then_some("thinking"));
        assert_eq!((status, &shown["capabilities"]), (200, &json!(can)), "{shown:#}");
        assert_eq!(shown["model_info"]["general.basename"], name.trim_end_matches("+tools"));
        assert!(shown["details"]["family"].is_string() && shown["template"].is_string());
    }
    let (status, error) = whole(&served, "/api/show", &json!({"name": "b"})).await;
    assert_eq!((status, &error["error"]), (404, &json!("model 'b' not found: the endpoint does not list it")));
    assert_eq!(get(&served, "/api/ps").await, (200, json!({"models": []})));
    let (_, version) = get(&served, "/api/version").await;
    let numbers = version["version"].as_str().unwrap().split('.').map(|number| number.parse::<u32>().unwrap());
    assert!(numbers.collect::<Vec<_>>() >= vec![0, 6, 4], "clients refuse older ones, and words: {version}");
    let page = served.client.head(&served.url).send().await.unwrap();
    assert_eq!(page.status(), 200);
}

#[tokio::test]
async fn an_ollama_endpoint_says_the_rest_and_the_context_is_the_one_it_has() {
    let endpoint = Endpoint::setup()
        .models(&["gemma3:12b"])
        .serves(
            "/api/tags",
            json!({"models": [{"name": "gemma3:12b", "model": "gemma3:12b", "size": 9, "digest": "d1"}]}),
        )
        .serves("/api/ps", json!({"models": [{"name": "gemma3:12b", "model": "gemma3:12b", "context_length": 8192}]}))
        .serves(
            "/api/show",
            json!({"template": "T", "capabilities": ["completion", "vision"], "details": {"family": "gemma3"},
                "model_info": {"general.architecture": "gemma3", "gemma3.context_length": 131_072}}),
        )
        .start([]);
    let served = serve(&endpoint, with_toolbox).await;
    let (_, list) = get(&served, "/api/tags").await;
    let entry = |name: &str| json!({"name": name, "model": name, "size": 9, "digest": "d1"});
    assert_eq!(list, json!({"models": [entry("gemma3:12b"), entry("gemma3:12b+tools")]}));
    let (_, running) = get(&served, "/api/ps").await;
    assert_eq!(running["models"][0]["context_length"], 8192);
    let (_, shown) = whole(&served, "/api/show", &json!({"model": "gemma3:12b+tools"})).await;
    assert_eq!((&shown["capabilities"], &shown["template"]), (&json!(["completion", "vision", "tools"]), &json!("T")));
    assert_eq!(shown["model_info"]["gemma3.context_length"], 8192, "{shown:#}");
}

#[tokio::test]
async fn vectors_are_the_endpoints() {
    let endpoint = Endpoint::answer(|request, _| match request.body["model"].as_str() {
        Some("e") => {
            let item = |index: usize| json!({"index": index, "embedding": [0.25, index]});
            Reply::new(200, &json!({"data": [item(1), item(0)], "usage": {"prompt_tokens": 4}}).to_string())
        }
        _ => Reply::refused(400, "no such model"),
    });
    let served = serve(&endpoint, |config| config).await;
    let asked = json!({"model": "e", "input": ["a", "b"], "truncate": true, "keep_alive": 1, "dimensions": 2});
    let (status, mut answer) = whole(&served, "/api/embed", &asked).await;
    assert!(answer["total_duration"].take().as_u64().is_some());
    let expected = json!({"model": "e", "embeddings": [[0.25, 0], [0.25, 1]], "total_duration": null, "load_duration": 0,
        "prompt_eval_count": 4});
    assert_eq!((status, answer), (200, expected));
    assert_eq!(endpoint.seen()[0].body, json!({"model": "e", "input": ["a", "b"], "dimensions": 2}));
    let (_, answer) = whole(&served, "/api/embeddings", &json!({"model": "e", "prompt": "a"})).await;
    assert_eq!((answer, &endpoint.seen()[1].body["input"]), (json!({"embedding": [0.25, 0]}), &json!("a")));
    let (status, answer) = whole(&served, "/api/embed", &json!({"model": "x", "input": "a"})).await;
    assert_eq!((status, answer), (400, json!({"error": "no such model"})));
    let (status, answer) = whole(&served, "/api/embed", &json!({"model": "e"})).await;
    assert_eq!((status, answer), (400, json!({"error": "input: you must provide 'input'"})));
}

#[tokio::test]
async fn a_key_and_the_counts_hold_for_it_too() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config.with_api_key("door")).await;
    for (path, body) in [("/api/chat", request()), ("/api/show", json!({"model": "m"}))] {
        let (status, body) = whole(&served, path, &body).await;
        assert!(status == 401 && body["error"].as_str().unwrap().contains("API key"), "{body:#}");
    }
    served.post("/api/chat", &request()).bearer_auth("door").send().await.unwrap();
    let page = served.client.get(format!("{}/metrics", served.url)).bearer_auth("door").send().await.unwrap();
    let page = page.text().await.unwrap();
    assert!(page.contains("toolgraft_requests_total{route=\"ollama_chat\",status=\"2xx\"} 1"), "{page}");
}
