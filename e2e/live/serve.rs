//! `toolgraft serve` with the real model, and clients by plain HTTP and by OpenAI's client for
//! Python.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgraft::validate::OutputSchema;

use crate::process::TOOLGRAFT;
use crate::server::{PATIENCE, Server, free_port, shared, wanted};

const MODEL: &str = "smollm2-135m-instruct";

/// The program between client and model; it ends when this value is dropped.
pub(crate) struct Serving {
    child: Child,
    /// The URL without the path of an API.
    pub(crate) url: String,
}

impl Serving {
    pub(crate) fn start(server: &Server) -> Self {
        let mut command = Command::new(TOOLGRAFT);
        command.args(["serve", "--listen", "127.0.0.1:0", "--quiet", "--base-url", &server.url()]);
        // The user's own settings must not apply.
        command.env("HOME", env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().trim_end_matches("/v1").to_owned();
        assert!(url.starts_with("http://"), "{url}");
        Serving { child, url }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An API, with its paths and its forms of requests and answers.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Chat,
    Messages,
    Responses,
    Gemini,
}

use Shape::{Chat, Gemini, Messages, Responses};

const SHAPES: [Shape; 4] = [Chat, Messages, Responses, Gemini];

/// Returns the parameters of the tool, also used as the schema of an answer. Each value is limited
/// in length, so that a constrained model comes to an end.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 30},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city", "unit"],
    })
}

impl Shape {
    fn path(self, stream: bool) -> String {
        match (self, stream) {
            (Chat, _) => "/v1/chat/completions".to_owned(),
            (Messages, _) => "/v1/messages".to_owned(),
            (Responses, _) => "/v1/responses".to_owned(),
            (Gemini, false) => format!("/v1beta/models/{MODEL}:generateContent"),
            (Gemini, true) => format!("/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"),
        }
    }

    /// Returns a request with a question, for at most `tokens` tokens.
    fn asks(self, question: &str, tokens: u64, stream: bool) -> Value {
        match self {
            Chat | Messages => json!({"model": MODEL, "max_tokens": tokens, "stream": stream, "temperature": 0,
                "messages": [{"role": "user", "content": question}]}),
            Responses => json!({"model": MODEL, "max_output_tokens": tokens, "stream": stream, "temperature": 0,
                "input": question}),
            Gemini => json!({"contents": [{"role": "user", "parts": [{"text": question}]}],
                "generationConfig": {"maxOutputTokens": tokens, "temperature": 0}}),
        }
    }

    /// Returns such a request with a tool that must be called.
    fn requires(self, question: &str, stream: bool) -> Value {
        let mut asked = self.asks(question, 400, stream);
        let text = "The weather of a city, such as Lima.";
        let (tools, choice) = match self {
            Chat => (
                json!([{"type": "function", "function": {"name": "weather", "description": text, "parameters": schema()}}]),
                json!("required"),
            ),
            Messages => {
                (json!([{"name": "weather", "description": text, "input_schema": schema()}]), json!({"type": "any"}))
            }
            Responses => (
                json!([{"type": "function", "name": "weather", "description": text, "parameters": schema()}]),
                json!("required"),
            ),
            Gemini => {
                asked["toolConfig"] = json!({"functionCallingConfig": {"mode": "ANY"}});
                let declared = json!({"name": "weather", "description": text, "parametersJsonSchema": schema()});
                asked["tools"] = json!([{"functionDeclarations": [declared]}]);
                return asked;
            }
        };
        (asked["tools"], asked["tool_choice"]) = (tools, choice);
        asked
    }

    /// Returns such a request with a schema for the answer.
    fn answers_after(self, question: &str) -> Value {
        let mut asked = self.asks(question, 400, false);
        match self {
            Chat => {
                let format = json!({"name": "weather", "schema": schema()});
                asked["response_format"] = json!({"type": "json_schema", "json_schema": format});
            }
            Messages => {
                asked["output_config"] = json!({"format": {"type": "json_schema", "schema": schema()}});
            }
            Responses => {
                asked["text"] = json!({"format": {"type": "json_schema", "name": "weather", "schema": schema()}});
            }
            Gemini => {
                asked["generationConfig"]["responseMimeType"] = json!("application/json");
                asked["generationConfig"]["responseJsonSchema"] = schema();
            }
        }
        asked
    }

    /// Returns the name and arguments of the calls of a whole answer, and its text.
    fn read(self, answer: &Value) -> (Vec<(String, Value)>, String) {
        let items = |list: &Value| list.as_array().cloned().unwrap_or_else(|| panic!("{answer:#}"));
        let parsed = |text: &Value| serde_json::from_str(text.as_str().unwrap()).unwrap();
        let name = |of: &Value| of["name"].as_str().unwrap().to_owned();
        let said = |of: &Value| of["text"].as_str().unwrap_or_default().to_owned();
        match self {
            Chat => {
                let message = &answer["choices"][0]["message"];
                let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
                let read = |call: &Value| (name(&call["function"]), parsed(&call["function"]["arguments"]));
                (calls.iter().map(read).collect(), message["content"].as_str().unwrap_or_default().to_owned())
            }
            Messages => {
                let blocks = items(&answer["content"]);
                let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
                let calls = calls.map(|block| (name(block), block["input"].clone())).collect();
                (calls, blocks.iter().map(said).collect())
            }
            Responses => {
                let output = items(&answer["output"]);
                let calls = output.iter().filter(|item| item["type"] == "function_call");
                let calls = calls.map(|item| (name(item), parsed(&item["arguments"]))).collect();
                let messages = output.iter().filter(|item| item["type"] == "message");
                (calls, messages.flat_map(|item| items(&item["content"])).map(|part| said(&part)).collect())
            }
            Gemini => {
                let parts = items(&answer["candidates"][0]["content"]["parts"]);
                let calls = parts.iter().filter_map(|part| part.get("functionCall"));
                let calls = calls.map(|call| (name(call), call["args"].clone())).collect();
                (calls, parts.iter().map(said).collect())
            }
        }
    }

    /// Returns the calls of a stream, joined from their chunks.
    fn read_stream(self, events: &[Value]) -> Vec<(String, Value)> {
        let joined = |pieces: &mut dyn Iterator<Item = &Value>| {
            let text: String = pieces.filter_map(Value::as_str).collect();
            serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}: {events:#?}"))
        };
        match self {
            Chat => {
                let pieces: Vec<&Value> =
                    events.iter().filter_map(|event| event["choices"][0]["delta"]["tool_calls"].get(0)).collect();
                let begun: Vec<_> = pieces.iter().filter(|piece| piece.get("id").is_some()).collect();
                let of = |index: &Value| {
                    joined(&mut pieces.iter().filter(|p| p["index"] == *index).map(|p| &p["function"]["arguments"]))
                };
                let reason =
                    events.iter().filter_map(|event| event["choices"][0]["finish_reason"].as_str()).next_back();
                assert_eq!(reason, Some("tool_calls"), "{events:#?}");
                begun.iter().map(|p| (p["function"]["name"].as_str().unwrap().to_owned(), of(&p["index"]))).collect()
            }
            Messages => {
                let begun = events.iter().filter(|event| event["content_block"]["type"] == "tool_use");
                let of = |index: &Value| {
                    let pieces = events.iter().filter(|event| event["index"] == *index);
                    joined(&mut pieces.map(|event| &event["delta"]["partial_json"]))
                };
                let name = |event: &Value| event["content_block"]["name"].as_str().unwrap().to_owned();
                begun.map(|event| (name(event), of(&event["index"]))).collect()
            }
            Responses => {
                let last = events.last().unwrap();
                assert_eq!(last["type"], "response.completed", "{last:#}");
                self.read(&last["response"]).0
            }
            Gemini => events
                .iter()
                .filter(|e| e["candidates"][0]["content"]["parts"].is_array())
                .flat_map(|e| self.read(e).0)
                .collect(),
        }
    }
}

async fn send(serving: &Serving, shape: Shape, stream: bool, body: &Value) -> (u16, String) {
    let client = toolgraft::http::client().timeout(PATIENCE).build().unwrap();
    let sent = client.post(format!("{}{}", serving.url, shape.path(stream))).header("content-type", "application/json");
    let answer = sent.body(body.to_string()).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn whole(serving: &Serving, shape: Shape, body: &Value) -> (u16, Value) {
    let (status, text) = send(serving, shape, false, body).await;
    (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

async fn streamed(serving: &Serving, shape: Shape, body: &Value) -> Vec<Value> {
    let (status, text) = send(serving, shape, true, body).await;
    assert_eq!(status, 200, "{text}");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Runs a test of this file if the real model is enabled.
fn with_model(test: &str, run: impl AsyncFnOnce(Serving)) {
    if !wanted(test) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run(Serving::start(shared())));
}

/// Returns the number of prompt tokens according to the model's server, and how many of them were
/// cached.
fn prompt_of(answer: &Value) -> (u64, u64) {
    let usage = &answer["usage"];
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
    (usage["prompt_tokens"].as_u64().unwrap(), cached.unwrap_or_else(|| panic!("{answer:#}")))
}

/// Ten requests of a recorded session of opencode, each with one more call and its result: at most
/// a twentieth of the old part of each is processed again, by the server's own count.
#[test]
fn of_a_recorded_agents_requests_little_is_processed_anew() {
    let name = "of_a_recorded_agents_requests_little_is_processed_anew";
    if !wanted(name) {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/sessions/opencode.json");
    let mut asked: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let messages = asked["messages"].as_array().unwrap().clone();
    // Its answer differs from the recorded one, and is ignored.
    (asked["model"], asked["max_tokens"], asked["stream"]) = (json!(MODEL), json!(4), json!(false));
    let server = Server::start(free_port(), &["--context", "16384"]);
    let serving = Serving::start(&server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut before = 0;
    for count in (2..messages.len()).step_by(2) {
        asked["messages"] = json!(messages[..count]);
        let answer = runtime.block_on(async {
            // The first request has thousands of tokens.
            let client = toolgraft::http::client().timeout(5 * PATIENCE).build().unwrap();
            let sent = client.post(format!("{}/v1/chat/completions", serving.url));
            let sent = sent.header("content-type", "application/json").body(asked.to_string()).send().await.unwrap();
            (sent.status(), sent.text().await.unwrap())
        });
        assert_eq!(answer.0, 200, "{}", answer.1);
        let (tokens, cached) = prompt_of(&serde_json::from_str(&answer.1).unwrap());
        let anew = before.max(cached) - cached;
        assert!(anew * 20 <= tokens, "{count} messages: {tokens} tokens, {before} before, {cached} of them kept");
        eprintln!("note: {count} messages: {tokens} tokens, {} new, {anew} processed anew", tokens - before);
        before = tokens;
    }
}

#[track_caller]
fn is_valid(value: &Value) {
    let checked = OutputSchema::new(schema()).unwrap().check(value, &value.to_string());
    assert!(checked.is_ok(), "{value}");
}

#[test]
fn a_required_tool_gives_a_valid_call_in_every_shape_streamed_and_whole() {
    with_model("a_required_tool_gives_a_valid_call_in_every_shape_streamed_and_whole", async |serving| {
        for shape in SHAPES {
            for stream in [false, true] {
                let asked = shape.requires("How cold is it in Oslo?", stream);
                let calls = match stream {
                    true => shape.read_stream(&streamed(&serving, shape, &asked).await),
                    false => {
                        let (status, answer) = whole(&serving, shape, &asked).await;
                        assert_eq!(status, 200, "{shape:?}: {answer:#}");
                        shape.read(&answer).0
                    }
                };
                assert!(!calls.is_empty(), "{shape:?}, streamed: {stream}");
                for (name, arguments) in calls {
                    assert_eq!(name, "weather", "{shape:?}");
                    is_valid(&arguments);
                }
            }
        }
    });
}

#[test]
fn an_answer_after_a_schema_is_valid_in_every_shape() {
    with_model("an_answer_after_a_schema_is_valid_in_every_shape", async |serving| {
        for shape in SHAPES {
            let (status, answer) = whole(&serving, shape, &shape.answers_after("How cold is it in Oslo?")).await;
            assert_eq!(status, 200, "{shape:?}: {answer:#}");
            let (calls, text) = shape.read(&answer);
            assert!(calls.is_empty(), "{shape:?}: {calls:?}");
            is_valid(&serde_json::from_str(&text).unwrap());
        }
    });
}

#[test]
fn without_tools_the_servers_own_answer_passes() {
    with_model("without_tools_the_servers_own_answer_passes", async |serving| {
        let (status, answer) = whole(&serving, Chat, &Chat.asks("Say hello.", 8, false)).await;
        assert_eq!(status, 200, "{answer:#}");
        assert!(!Chat.read(&answer).1.is_empty() && answer["timings"].is_object(), "{answer:#}");
        let events = streamed(&serving, Chat, &Chat.asks("Say hello.", 8, true)).await;
        let said = events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str());
        assert!(said.count() > 1 && events.last().unwrap()["timings"].is_object(), "{events:#?}");
        for shape in [Messages, Responses, Gemini] {
            let (status, answer) = whole(&serving, shape, &shape.asks("Say hello.", 8, false)).await;
            assert!(status == 200 && !shape.read(&answer).1.is_empty(), "{shape:?}: {answer:#}");
        }
    });
}

/// Returns `true` while the model's server processes a request.
async fn is_at_work() -> bool {
    let url = shared().url().replace("/v1", "/slots");
    let slots = toolgraft::http::client().build().unwrap().get(url).send().await.unwrap().text().await.unwrap();
    let slots: Value = serde_json::from_str(&slots).unwrap();
    let slots = slots.as_array().unwrap_or_else(|| panic!("{slots}"));
    slots.iter().any(|slot| slot["is_processing"].as_bool().unwrap_or_else(|| panic!("{slot}")))
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The answer has no end of its own, so that it takes longer than the test waits. For a whole
/// answer that is passed through, the model's server does not always notice that its client has
/// disconnected, even without a proxy; `tests/serve` checks that the connection is closed.
#[test]
fn a_client_that_goes_ends_the_models_work() {
    with_model("a_client_that_goes_ends_the_models_work", async |serving| {
        for (with_tools, stream) in [(false, true), (true, false), (true, true)] {
            let mut asked = Chat.asks("Tell me a very long story about a lamp.", 7_000, stream);
            asked["ignore_eos"] = json!(true);
            if with_tools {
                let tool = json!({"name": "weather", "parameters": schema()});
                asked["tools"] = json!([{"type": "function", "function": tool}]);
            }
            let client = toolgraft::http::client().build().unwrap();
            let sent = client.post(format!("{}{}", serving.url, Chat.path(stream)));
            let sent = sent.header("content-type", "application/json").body(asked.to_string()).send();
            let asking = tokio::spawn(async move {
                // The head of an answer is not its end.
                let _answer = sent.await;
                std::future::pending::<()>().await;
            });
            let what = format!("with tools: {with_tools}, streamed: {stream}");
            until(&format!("the model's server begins, {what}"), is_at_work).await;
            // This server does not notice clients that disconnect in the first moments of an
            // answer, even without a proxy.
            tokio::time::sleep(Duration::from_secs(2)).await;
            asking.abort();
            until(&format!("the model's server is free again, {what}"), async || !is_at_work().await).await;
        }
        let (status, answer) = whole(&serving, Chat, &Chat.asks("Hi", 2, false)).await;
        assert_eq!(status, 200, "{answer:#}");
    });
}

#[test]
fn a_history_beyond_the_models_context_is_each_shapes_own_error() {
    with_model("a_history_beyond_the_models_context_is_each_shapes_own_error", async |serving| {
        let lamps: Vec<String> = (0..4_000).map(|n| format!("lamp {n}")).collect();
        for shape in SHAPES {
            let mut asked = shape.requires(&format!("Count these: {}", lamps.join(", ")), true);
            // Without a required call, no structure is requested.
            for field in ["tool_choice", "toolConfig"] {
                asked.as_object_mut().unwrap().remove(field);
            }
            let (status, text) = send(&serving, shape, true, &asked).await;
            let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let error = &answer["error"];
            assert_eq!(status, 400, "{shape:?}: {answer:#}");
            assert!(error["message"].as_str().unwrap().contains("context"), "{answer:#}");
            match shape {
                Chat | Responses => assert_eq!(error["code"], "context_length_exceeded", "{answer:#}"),
                Messages => {
                    assert_eq!((&answer["type"], &error["type"]), (&json!("error"), &json!("invalid_request_error")))
                }
                Gemini => assert_eq!(error["status"], "INVALID_ARGUMENT", "{answer:#}"),
            }
        }
    });
}

/// Needs the environment of `make clients`.
#[test]
fn openais_own_client_gets_a_call_a_schema_and_a_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e");
    let python = folder.join("clients/venv/bin/python");
    if wanted("openais_own_client_gets_a_call_a_schema_and_a_text") && !fs::exists(&python).unwrap() {
        eprintln!("note: openai for Python skipped: `make clients` sets it up");
        return;
    }
    with_model("openais_own_client_gets_a_call_a_schema_and_a_text", async |serving| {
        let mut command = Command::new(python);
        command.arg(folder.join("live/openai_client.py")).env("TOOLGRAFT_URL", format!("{}/v1", serving.url));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(child.wait().unwrap().success() && out.ends_with("4 answers\n"), "{out}{err}");
    });
}
