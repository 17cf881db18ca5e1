//! Tests with JSON of unexpected forms from clients and endpoints: the server continues, and if it
//! should panic the client gets its interface's error.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::{Decision, Server};
use toolgraft::{Catalog, Outcome, Policy, Tool};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use super::http::{Served, read, request, serve};
use super::shapes::{Chat, Gemini, Messages, Ollama, Responses, SHAPES};

/// Returns copies of the value, each with one of its parts replaced by one of these.
fn changed(value: &Value, others: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = others.to_vec();
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                all.extend(changed(member, others).into_iter().map(|member| {
                    let mut members = members.clone();
                    members.insert(key.clone(), member);
                    Value::Object(members)
                }));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                all.extend(changed(item, others).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[at] = item;
                    Value::Array(items)
                }));
            }
        }
        _ => {}
    }
    all
}

fn others() -> [Value; 4] {
    [json!(u64::MAX), json!("a"), json!(["a"]), json!({"a": 1})]
}

/// Returns requests that together have every kind of field that is read.
fn requests() -> Vec<(&'static str, Value)> {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let image = "data:image/png;base64,AAAA";
    let chat = json!({
        "model": "m", "stream": false, "stream_options": {"include_usage": true}, "max_tokens": 100, "stop": ["x"],
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": image}}]},
            {"role": "assistant", "content": "a", "refusal": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "1"}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": false,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}},
    });
    let older = json!({
        "model": "m", "functions": [{"name": "f", "parameters": schema}], "function_call": {"name": "f"},
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"},
        ],
    });
    let messages = json!({
        "model": "m", "max_tokens": 100, "system": [{"type": "text", "text": "Be brief."}], "thinking": {"type": "enabled"},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": "b"}},
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "url": "u"}]}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "is_error": false,
                "content": [{"type": "text", "text": "1"}]}]},
        ],
        "tools": [{"name": "f", "description": "d", "input_schema": schema}, {"type": "bash_20250124", "name": "bash"},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": true},
        "output_config": {"format": {"type": "json_schema", "schema": schema}}, "mcp_servers": [],
    });
    let responses = json!({
        "model": "m", "instructions": "Be brief.", "include": ["a"], "max_output_tokens": 100,
        "reasoning": {"effort": "low", "summary": "auto"}, "text": {"format": {"type": "json_schema", "name": "n", "schema": schema}},
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": image},
                {"type": "input_file", "filename": "f", "file_data": image}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "1"}]},
            {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": "1"},
            {"type": "shell_call", "call_id": "e", "action": {"commands": ["ls"]}},
            {"type": "shell_call_output", "call_id": "e", "output": [{"stdout": "a", "outcome": {"type": "exit", "exit_code": 0}}]},
            {"type": "tool_search_call", "call_id": "s", "arguments": {"query": "q"}},
            {"type": "tool_search_output", "call_id": "s", "tools": [{"type": "function", "name": "h", "parameters": schema}]},
            {"type": "web_search_call", "id": "w", "action": {"query": "q"}},
            {"type": "reasoning", "summary": []},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": schema},
            {"type": "custom", "name": "g", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "h", "parameters": schema}]},
            {"type": "shell", "environment": {"type": "local"}}, {"type": "tool_search", "execution": "client"}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
    });
    let gemini = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                {"fileData": {"mimeType": "image/png", "fileUri": "http://x/y"}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": "b"}}}, {"text": "a", "thought": true}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": "1"}, "parts": []}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT", "properties":
            {"a": {"type": "STRING", "nullable": true}}}}]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {"maxOutputTokens": 100, "responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"},
            "responseModalities": ["TEXT"], "thinkingConfig": {"includeThoughts": true}},
    });
    let ollama = json!({
        "model": "m", "stream": false, "think": true, "format": schema, "options": {"num_predict": 100}, "keep_alive": "5m",
        "messages": [
            {"role": "user", "content": "Hi", "images": ["AAAA"]},
            {"role": "assistant", "content": "", "thinking": "t", "tool_calls": [{"function": {"name": "f", "arguments": {"a": "b"}}}]},
            {"role": "tool", "tool_name": "f", "content": "1"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
    });
    vec![
        ("/v1/chat/completions", chat),
        ("/v1/chat/completions", older),
        ("/v1/messages/count_tokens", messages.clone()),
        ("/v1/messages", messages),
        ("/v1/responses", responses),
        ("/v1beta/models/m:countTokens", json!({"generateContentRequest": gemini})),
        ("/v1beta/models/m:generateContent", gemini),
        ("/api/chat", ollama),
        ("/api/generate", json!({"model": "m", "prompt": "Hi", "system": "s", "images": ["AAAA"], "format": schema})),
        ("/api/show", json!({"model": "m", "name": "m"})),
        ("/api/embed", json!({"model": "m", "input": ["a"], "dimensions": 3})),
    ]
}

/// Returns the number of panics so far.
async fn broken(served: &Served) -> u64 {
    let page = served.client.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix("toolgraft_panics_total ")).unwrap();
    line.parse().unwrap()
}

#[tokio::test]
async fn no_json_of_a_client_breaks_the_server() {
    let endpoint = Endpoint::setup().models(&["m"]).answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for (path, whole) in requests() {
        let bodies = [vec![whole.clone()], changed(&whole, &others())].concat();
        let served = &served;
        let ask = async |body: Value| {
            let answered = served.post(path, &body).send().await;
            let (status, answer) = read(answered.unwrap_or_else(|error| panic!("{path} {body}: {error}"))).await;
            assert_ne!(status, 500, "{path} {body}: {answer}");
        };
        stream::iter(bodies).for_each_concurrent(8, ask).await;
    }
    assert_eq!(broken(&served).await, 0);
}

#[tokio::test]
async fn no_json_of_an_endpoint_breaks_the_server() {
    let chunk = json!({"id": "i", "model": "m", "created": 1, "choices": [{"index": 0, "finish_reason": "tool_calls",
        "delta": {"role": "assistant", "content": "a", "reasoning_content": "r", "tool_calls": [
            {"index": 0, "id": "c", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}}]}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 1}}});
    let error = json!({"error": {"message": "no", "code": 400, "type": "t"}});
    let models = json!({"object": "list", "data": [{"id": "m", "created": 1, "owned_by": "x", "max_model_len": 8_000,
        "meta": {"n_ctx_train": 4_000}}], "models": [{"name": "m", "details": {}, "model_info": {"a.context_length": 1}}],
        "capabilities": ["tools"], "model_info": {"general.architecture": "a", "a.context_length": 8}, "version": "1",
        "default_generation_settings": {"n_ctx": 8_000}, "usage": {"prompt_tokens": 1}});
    let vectors = json!({"data": [{"index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 1}});
    let now = Arc::new(Mutex::new(Value::Null));
    let said = now.clone();
    let endpoint = Endpoint::setup().lists().answer(move |seen, _| {
        let said = said.lock().unwrap().clone();
        let streams = seen.body["stream"] == true && said.get("data").is_none() && said.get("error").is_none();
        match streams {
            true => Reply::events(&[said]).done(),
            false => Reply::new(200, &said.to_string()).header("content-type", "application/json"),
        }
    });
    let asked = request(false);
    let gets = [
        "/v1/models",
        "/v1/models?client_version=1",
        "/v1/models/m",
        "/v1beta/models",
        "/v1beta/models/m",
        "/api/tags",
        "/api/ps",
    ];
    let served = serve(&endpoint, |config| config).await;
    let ask = async |path: &str, body: Option<&Value>, answer: &Value| {
        *now.lock().unwrap() = answer.clone();
        let sent = match body {
            Some(body) => served.post(path, body),
            None => served.client.get(format!("{}{path}", served.url)),
        };
        let response = sent.send().await.unwrap_or_else(|error| panic!("{path} {answer}: {error}"));
        let (status, told) = read(response).await;
        assert_ne!(status, 500, "{path} {answer}: {told}");
    };
    for answer in [&chunk, &error].into_iter().flat_map(|whole| changed(whole, &others())) {
        ask("/v1/chat/completions", Some(&asked), &answer).await;
    }
    for answer in changed(&models, &others()) {
        for path in gets {
            ask(path, None, &answer).await;
        }
        ask("/api/show", Some(&json!({"model": "m"})), &answer).await;
    }
    for answer in changed(&vectors, &others()) {
        ask("/api/embed", Some(&json!({"model": "m", "input": "a"})), &answer).await;
    }
    assert_eq!(broken(&served).await, 0);
}

/// A toolbox that panics.
struct Breaks(Arc<Catalog>);

impl Toolbox for Breaks {
    fn catalog(&self) -> Arc<Catalog> {
        self.0.clone()
    }

    fn call(&self, _: Invocation) -> BoxFuture<'_, Outcome> {
        async { panic!("a fault of the program's own") }.boxed()
    }
}

#[tokio::test]
async fn a_fault_of_the_server_itself_is_told_in_the_interfaces_own_form_and_counted() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&mcp_call("demo", "breaks", &json!({}))));
    let served = serve(&endpoint, |config| {
        let catalog = Arc::new(Catalog::new([Server::new("demo").with_tools([Tool::new("breaks")])]));
        config.with_toolbox(Breaks(catalog), true).with_policy(Policy::new(Decision::Deny).allow("*"))
    })
    .await;
    for (at, shape) in SHAPES.into_iter().enumerate() {
        let mut body = shape.request(json!([shape.says("user", "Go.")]), json!([]));
        let (status, whole) = read(served.post(shape.path(), &body).send().await.unwrap()).await;
        assert_eq!(status, 500, "{shape:?} {whole:#}");
        assert!(shape.error(500, &whole).0.contains("because of a bug in it"), "{whole:#}");
        body["stream"] = json!(true);
        let stream = served.post(shape.stream_path(), &body).send().await.unwrap();
        assert_eq!(stream.status(), 200, "{shape:?}: a call of the toolbox begins the stream");
        let text = stream.text().await.unwrap();
        let end = match shape {
            Chat => "data: {\"error\":",
            Messages => "event: error",
            Responses => "event: response.failed",
            Gemini => "data: {\"error\":",
            Ollama => "{\"error\":",
        };
        assert!(text.contains(end) && text.contains("because of a bug in it"), "{shape:?} {text}");
        assert_eq!(broken(&served).await, 2 * (at as u64 + 1));
    }
}
