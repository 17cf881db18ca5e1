//! Tests of Anthropic's Messages with an endpoint that has Chat Completions only.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops, thinks, usage};

use super::http::{Served, call, read, serve};

fn request(stream: bool) -> Value {
    json!({
        "model": "m", "max_tokens": 500, "stream": stream, "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "Weather in Oslo?"}], "metadata": {"user_id": "u"}, "stop_sequences": ["END"],
        "tools": [{"name": "weather", "description": "Weather.", "input_schema":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}],
    })
}

async fn ask(served: &Served, body: &Value) -> (u16, Value) {
    let (status, body) = read(served.post("/v1/messages", body).send().await.unwrap()).await;
    (status.as_u16(), body)
}

/// Returns the events of a stream, and asserts that each has the name of its line.
async fn events(served: &Served, body: &Value) -> Vec<Value> {
    let text = served.post("/v1/messages", body).send().await.unwrap().text().await.unwrap();
    let blocks = text.split("\n\n").filter(|block| block.starts_with("event: "));
    let read = |block: &str| {
        let (name, data) = block.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        data
    };
    blocks.map(read).collect()
}

fn scripted() -> Endpoint {
    Endpoint::answer(|_, _| {
        let text = format!("I look.\n\n{}", call());
        Reply::events(&[thinks("Hm."), says(&text), stops("stop"), usage(20, 7)]).done()
    })
}

#[tokio::test]
async fn a_call_is_a_block_of_the_message() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    let (status, message) = ask(&served, &request(false)).await;
    assert_eq!(status, 200, "{message:#}");
    assert_eq!(
        (&message["type"], &message["role"], &message["stop_reason"]),
        (&json!("message"), &json!("assistant"), &json!("tool_use"))
    );
    let [text, call] = &message["content"].as_array().unwrap()[..] else { panic!("{message:#}") };
    assert_eq!(*text, json!({"type": "text", "text": "I look."}));
    assert_eq!((&call["name"], &call["input"]), (&json!("weather"), &json!({"city": "Oslo"})));
    // The stream was cancelled after the call, so this is our own count.
    assert!(message["usage"]["output_tokens"].as_u64().unwrap() > 0);
    let body = &endpoint.seen()[0].body;
    assert_eq!((&body["max_tokens"], &body["stop"]), (&json!(500), &json!(["END"])));
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be brief.\n\n# Tools"), "{body:#}");
    for field in ["system", "metadata", "tools", "stop_sequences"] {
        assert_eq!(body.get(field), None, "{field}");
    }
}

#[tokio::test]
async fn a_stream_opens_and_closes_each_block_in_turn() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(true);
    asked["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    let events = events(&served, &asked).await;
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected = [&["message_start"][..], &block, &block, &block, &["message_delta", "message_stop"]].concat();
    assert_eq!(names, expected);
    let starts: Vec<(&Value, &Value)> = events
        .iter()
        .filter(|e| e["type"] == "content_block_start")
        .map(|e| (&e["index"], &e["content_block"]["type"]))
        .collect();
    assert_eq!(starts, [(&json!(0), &json!("thinking")), (&json!(1), &json!("text")), (&json!(2), &json!("tool_use"))]);
    assert!(events[0]["message"]["usage"]["input_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn the_history_of_blocks_is_told_in_the_dialect() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Cold."));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(false);
    asked["messages"] = json!([
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "no such city"}], "is_error": true},
            {"type": "text", "text": "And?"}]},
    ]);
    let (status, message) = ask(&served, &asked).await;
    assert_eq!(
        (status, &message["content"][0]["text"], &message["stop_reason"]),
        (200, &json!("Cold."), &json!("end_turn")),
        "{message:#}"
    );
    let told = &endpoint.seen()[0].body["messages"];
    assert_eq!(told[1]["content"][1]["image_url"]["url"], "data:image/png;base64,AA==");
    let written = told[2]["content"].as_str().unwrap();
    assert!(written.starts_with("I look.\n\n<use_mcp_tool>") && !written.contains("Hm."), "{written}");
    let results = told[3]["content"].as_str().unwrap();
    assert!(results.contains("no such city") && !results.contains("toolu_1") && results.ends_with("And?"), "{results}");
    assert!(results.contains("error"), "{results}");
}

#[tokio::test]
async fn without_tools_the_text_is_only_text() {
    let example = format!("Write this: {}", call());
    let text = example.clone();
    let endpoint = Endpoint::answer(move |_, _| Reply::text(&text));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(false);
    asked.as_object_mut().unwrap().remove("tools");
    let (_, message) = ask(&served, &asked).await;
    assert_eq!(message["content"][0]["text"], *example);
    assert_eq!(endpoint.seen()[0].body["messages"][0], json!({"role": "system", "content": "Be brief."}));
}

#[tokio::test]
async fn tokens_are_counted_without_the_model() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    let (status, count) = read(served.post("/v1/messages/count_tokens", &request(false)).send().await.unwrap()).await;
    assert_eq!(status, 200);
    assert!(count["input_tokens"].as_u64().unwrap() > 100, "{count}");
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn errors_have_the_shapes_own_form() {
    let endpoint = Endpoint::answer(|_, _| Reply::refused(429, "slow down"));
    let served = serve(&endpoint, |config| config).await;
    let with = |change: Value| {
        let mut asked = request(false);
        asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        asked
    };
    for (asked, status, kind, words) in [
        (request(false), 429, "rate_limit_error", "slow down"),
        (with(json!({"tools": [{"name": "", "input_schema": {}}]})), 400, "invalid_request_error", "tools[0].name"),
        (with(json!({"tool_choice": {"type": "tool", "name": "x"}})), 400, "invalid_request_error", "tool_choice"),
        (with(json!({"mcp_servers": [{"url": "http://x"}]})), 400, "invalid_request_error", "mcp_servers"),
        (
            with(json!({"messages": [{"role": "user", "content": 7}]})),
            400,
            "invalid_request_error",
            "messages[0].content",
        ),
        (with(json!({"messages": 7})), 400, "invalid_request_error", "messages"),
    ] {
        let (found, body) = ask(&served, &asked).await;
        assert_eq!((found, &body["type"], &body["error"]["type"]), (status, &json!("error"), &json!(kind)), "{body:#}");
        assert!(body["error"]["message"].as_str().unwrap().contains(words), "{body:#}");
    }
    let sent = served.post("/v1/messages", &request(false)).header("host", "evil.example").send().await.unwrap();
    let (status, body) = read(sent).await;
    assert_eq!((status.as_u16(), &body["error"]["type"]), (403, &json!("permission_error")), "{body:#}");
}

#[tokio::test]
async fn a_break_in_mid_stream_is_an_event() {
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("Once upon ")]).end(End::Break));
    let served = serve(&endpoint, |config| config).await;
    let events = events(&served, &request(true)).await;
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["error"]["type"]), (&json!("error"), &json!("api_error")), "{last:#}");
}

#[tokio::test]
async fn an_answer_after_a_schema_is_checked_and_corrected() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
        "required": ["city", "degrees"], "additionalProperties": false});
    let format = json!({"type": "json_schema", "schema": schema});
    for (field, value) in
        [("output_config", json!({"format": format, "effort": "high"})), ("output_format", format.clone())]
    {
        for stream in [false, true] {
            let endpoint = Endpoint::start([
                Reply::text("It is cold in Oslo."),
                Reply::text("```json\n{\"city\": \"Oslo\", \"degrees\": \"-3\"}\n```"),
            ]);
            let served = serve(&endpoint, |config| config).await;
            let mut asked = request(stream);
            asked.as_object_mut().unwrap().remove("tools");
            asked[field] = value.clone();
            let text = match stream {
                false => ask(&served, &asked).await.1["content"][0]["text"].as_str().unwrap().to_owned(),
                true => {
                    let events = events(&served, &asked).await;
                    events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect()
                }
            };
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"city": "Oslo", "degrees": -3}));
            let seen = endpoint.seen();
            assert_eq!(seen.len(), 2);
            assert!(seen.iter().all(|seen| seen.body.get(field).is_none()), "{:#}", seen[0].body);
        }
    }
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for (field, value, place) in [
        ("output_config", json!({"format": {"type": "json_schema"}}), "output_config.format.schema"),
        ("output_config", json!({"format": {"type": "xml"}}), "output_config.format.type"),
        ("output_config", json!("json"), "output_config"),
        ("output_format", json!({"type": "grammar"}), "output_format.type"),
        (
            "output_config",
            json!({"format": {"type": "json_schema", "schema": {"type": 5}}}),
            "output_config.format.schema",
        ),
    ] {
        let mut asked = request(false);
        asked[field] = value;
        let (status, refused) = ask(&served, &asked).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(status == 400 && message.starts_with(&format!("{place}: ")), "{refused:#}");
    }
}

#[tokio::test]
async fn a_name_of_a_tool_that_anthropics_service_takes_stands_in_the_prompt_as_it_is() {
    let name = format!("mcp__plugin_{}__read", "x".repeat(128 - 18));
    let reply = name.clone();
    let endpoint = Endpoint::answer(move |_, _| Reply::text(&call().replace("weather", &reply)));
    let served = serve(&endpoint, |config| config).await;
    let mut asked = request(false);
    asked["tools"][0]["name"] = json!(name);
    let (status, message) = ask(&served, &asked).await;
    assert_eq!((status, name.len(), &message["content"][0]["name"]), (200, 128, &json!(name)), "{message:#}");
}
