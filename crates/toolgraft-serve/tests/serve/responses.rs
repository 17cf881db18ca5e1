//! Tests of OpenAI's Responses with an endpoint that has Chat Completions only.

use serde_json::{Value, json};
use toolgraft_serve::Config;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops, thinks, usage};

use super::http::{Served, call, damaged, read, serve};

fn request(stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream, "instructions": "Be brief.", "input": "Weather in Oslo?", "store": true,
        "max_output_tokens": 500, "metadata": {"user": "u"}, "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "weather", "description": "Weather.", "strict": true, "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}],
    })
}

fn with(change: Value) -> Value {
    let mut asked = request(false);
    asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    asked
}

async fn ask(served: &Served, body: &Value) -> (u16, Value) {
    let (status, body) = read(served.post("/v1/responses", body).send().await.unwrap()).await;
    (status.as_u16(), body)
}

/// Returns the events of a stream, and asserts that each has the name of its line and that they are
/// numbered from 0.
async fn events(served: &Served, body: &Value) -> Vec<Value> {
    let text = served.post("/v1/responses", body).send().await.unwrap().text().await.unwrap();
    let blocks = text.split("\n\n").filter(|block| block.starts_with("event: "));
    let read = |(at, block): (usize, &str)| {
        let (name, data) = block.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        assert_eq!(data["sequence_number"], at);
        data
    };
    blocks.enumerate().map(read).collect()
}

fn scripted() -> Endpoint {
    Endpoint::answer(|_, _| {
        let text = format!("I look.\n\n{}", call());
        Reply::events(&[thinks("Hm."), says(&text), stops("stop"), usage(20, 7)]).done()
    })
}

#[tokio::test]
async fn reasoning_text_and_call_are_items() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    let (status, response) = ask(&served, &request(false)).await;
    assert_eq!(status, 200, "{response:#}");
    let [thought, said, call] = &response["output"].as_array().unwrap()[..] else { panic!("{response:#}") };
    assert_eq!(thought["content"], json!([{"type": "reasoning_text", "text": "Hm."}]));
    assert_eq!((&said["role"], &said["content"][0]["text"]), (&json!("assistant"), &json!("I look.")));
    assert_eq!(
        (&call["type"], &call["name"], &call["arguments"]),
        (&json!("function_call"), &json!("weather"), &json!("{\"city\":\"Oslo\"}"))
    );
    assert!(call["call_id"].is_string() && call["call_id"] != call["id"]);
    assert_eq!((&response["status"], &response["store"]), (&json!("completed"), &json!(false)), "nothing is kept");
    assert_eq!((&response["metadata"]["user"], &response["instructions"]), (&json!("u"), &json!("Be brief.")));
    assert!(response["usage"]["output_tokens"].as_u64().unwrap() > 0);
    let body = &endpoint.seen()[0].body;
    assert_eq!(body["max_tokens"], 500);
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be brief.\n\n# Tools"), "{body:#}");
    for field in ["input", "instructions", "metadata", "store", "include", "tools", "max_output_tokens"] {
        assert_eq!(body.get(field), None, "{field}");
    }
}

#[tokio::test]
async fn a_stream_opens_fills_and_closes_each_item() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    for (summary, part, text) in
        [(false, "content_part", "reasoning_text"), (true, "reasoning_summary_part", "reasoning_summary_text")]
    {
        let mut asked = request(true);
        if summary {
            asked["reasoning"] = json!({"summary": "auto", "effort": "low"});
        }
        let events = events(&served, &asked).await;
        let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        let item = |part: &str, text: &str| {
            let names = [
                "output_item.added".to_owned(),
                format!("{part}.added"),
                format!("{text}.delta"),
                format!("{text}.done"),
                format!("{part}.done"),
                "output_item.done".to_owned(),
            ];
            names.map(|name| format!("response.{name}"))
        };
        let call = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done"];
        let mut expected: Vec<String> = vec!["response.created".into(), "response.in_progress".into()];
        expected.extend(item(part, text));
        expected.extend(item("content_part", "output_text"));
        expected.extend(call.map(|name| format!("response.{name}")));
        expected.extend(["response.output_item.done".into(), "response.completed".into()]);
        assert_eq!(names, expected);
        let last = &events.last().unwrap()["response"];
        let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
        let done: Vec<(&Value, &Value)> = done.map(|event| (&event["output_index"], &event["item"])).collect();
        let listed: Vec<Value> = (0..3).map(Value::from).collect();
        let listed: Vec<(&Value, &Value)> = listed.iter().zip(last["output"].as_array().unwrap()).collect();
        assert_eq!(done, listed, "the last event repeats the items");
        assert!(events.iter().all(|event| event["response"]["id"] == last["id"] || event.get("response").is_none()));
    }
    assert_eq!(endpoint.seen().last().unwrap().body["reasoning_effort"], "low");
}

#[tokio::test]
async fn the_history_of_items_is_told_in_the_dialect() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Cold."));
    let served = serve(&endpoint, |config| config).await;
    let asked = with(json!({"input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": "{\"city\":\"Oslo\"}"},
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "weather", "arguments": "{\"city\":\"Rome\"}"},
        {"type": "function_call_output", "call_id": "c2", "output": "30 degrees"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "-3 degrees"}]},
        {"role": "user", "content": "And?"},
    ]}));
    let (status, response) = ask(&served, &asked).await;
    assert_eq!((status, &response["output"][0]["content"][0]["text"]), (200, &json!("Cold.")), "{response:#}");
    let told = endpoint.seen()[0].body["messages"].clone();
    let roles: Vec<&str> = told.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(told[1]["content"][1]["image_url"], json!({"url": "data:image/png;base64,AA==", "detail": "low"}));
    let written = told[2]["content"].as_str().unwrap();
    assert!(written.starts_with("I look.\n\n<use_mcp_tool>") && !written.contains("Hm."), "{written}");
    let results = told[3]["content"].as_str().unwrap();
    let places = ["c1", "-3 degrees", "c2", "30 degrees", "And?"].map(|text| results.find(text).expect(text));
    assert!(places.is_sorted(), "{results}");
}

#[tokio::test]
async fn an_item_that_is_named_is_the_one_that_was_sent_to_this_client() {
    let endpoint = scripted();
    let served = serve(&endpoint, |config| config).await;
    for streamed in [false, true] {
        let output = match streamed {
            false => ask(&served, &request(false)).await.1["output"].clone(),
            true => events(&served, &request(true)).await.last().unwrap()["response"]["output"].clone(),
        };
        let items = output.as_array().unwrap();
        let question = json!({"role": "user", "content": "How is the weather?"});
        let result = json!({"type": "function_call_output", "call_id": items[2]["call_id"], "output": "-3 degrees"});
        // A client may omit the type.
        let mut named: Vec<Value> =
            items.iter().map(|item| json!({"type": "item_reference", "id": item["id"]})).collect();
        named[1] = json!({"id": items[1]["id"]});
        let input = |items: &[Value]| {
            let all = [std::slice::from_ref(&question), items, std::slice::from_ref(&result)].concat();
            with(json!({"input": all}))
        };
        for asked in [input(items), input(&named)] {
            assert_eq!(ask(&served, &asked).await.0, 200);
        }
        let seen = endpoint.seen();
        let [.., whole, short] = &seen[..] else { panic!("{seen:?}") };
        assert!(whole.messages().contains("-3 degrees"), "{}", whole.messages());
        assert_eq!(whole.messages(), short.messages());
        // Another client's items cannot be read.
        let other = served.post("/v1/responses", &input(&named)).bearer_auth("another");
        let (status, body) = read(other.send().await.unwrap()).await;
        assert_eq!((status.as_u16(), &body["error"]["param"]), (400, &json!("input[1].id")), "{body:#}");
        assert!(body["error"]["message"].as_str().unwrap().contains("send the item itself"), "{body:#}");
    }
}

#[tokio::test]
async fn choice_parallel_calls_and_schema_are_held_to() {
    let two = format!("{}\n{}", call(), call().replace("Oslo", "Rome"));
    let schema = json!({"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]});
    let format = json!({"format": {"type": "json_schema", "name": "t", "strict": true, "schema": schema}});
    let other = json!({"type": "function", "name": "now", "parameters": null});
    let tools = json!([request(false)["tools"][0], other]);
    let calls = |response: &Value| {
        let items = response["output"].as_array().unwrap().iter();
        items.filter(|item| item["type"] == "function_call").count()
    };
    for (asked, replies, expected) in [
        (with(json!({})), vec![two.clone()], 2),
        (with(json!({"parallel_tool_calls": false})), vec![two.clone()], 1),
        (with(json!({"tool_choice": "required"})), vec!["Sunny.".to_owned(), call()], 1),
        (
            with(json!({"tools": tools, "tool_choice": {"type": "function", "name": "weather"}})),
            vec!["Sunny.".to_owned(), call()],
            1,
        ),
        (with(json!({"tool_choice": "none"})), vec!["Sunny.".to_owned()], 0),
        (
            with(
                json!({"tools": tools, "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]}}),
            ),
            vec![call()],
            1,
        ),
        (with(json!({"text": format})), vec!["About 3.".to_owned(), "{\"degrees\": 3}".to_owned()], 0),
    ] {
        let endpoint = Endpoint::start(replies.iter().map(|text| Reply::text(text)));
        let served = serve(&endpoint, |config| config).await;
        let (status, response) = ask(&served, &asked).await;
        assert_eq!((status, calls(&response)), (200, expected), "{response:#}");
        assert_eq!(endpoint.seen().len(), replies.len());
        let told = endpoint.seen()[0].messages();
        assert_eq!(told.contains("now"), asked["tool_choice"]["type"] == "function", "{told}");
        if asked.get("text").is_some() {
            assert_eq!(response["output"][0]["content"][0]["text"], "{\"degrees\":3}");
        }
    }
}

#[tokio::test]
async fn a_limit_leaves_the_answer_incomplete() {
    let cut = &call()[..call().len() / 2];
    let events = [says(&format!("Cut: {cut}")), stops("length")];
    let endpoint = Endpoint::answer(move |_, _| Reply::events(&events).done());
    let served = serve(&endpoint, |config| config).await;
    let (_, response) = ask(&served, &request(false)).await;
    assert_eq!(response["status"], "incomplete", "{response:#}");
    assert_eq!(response["incomplete_details"]["reason"], "max_output_tokens");
    let events = self::events(&served, &request(true)).await;
    assert_eq!(events.last().unwrap()["type"], "response.incomplete");
}

#[tokio::test]
async fn what_cannot_be_had_is_named() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for (change, place) in [
        (json!({"previous_response_id": "resp_1"}), "previous_response_id"),
        (json!({"conversation": "conv_1"}), "conversation"),
        (json!({"background": true}), "background"),
        (json!({"prompt": {"id": "p"}}), "prompt"),
        (json!({"include": ["message.output_text.logprobs"]}), "include"),
        (json!({"top_logprobs": 3}), "top_logprobs"),
        (json!({"tools": [{"name": "weather"}]}), "tools[0]"),
        (json!({"tools": [{"type": "function", "name": ""}]}), "tools[0].name"),
        (json!({"tool_choice": {"type": "function", "name": "x"}}), "tool_choice"),
        (json!({"tool_choice": {"type": "web_search"}}), "tool_choice.type"),
        (json!({"input": null}), "input"),
        (json!({"input": []}), "input"),
        (json!({"input": [{"type": "item_reference", "id": "msg_1"}]}), "input[0].id"),
        (json!({"text": {"format": {"type": "grammar"}}}), "text.format.type"),
        (json!({"text": {"format": {"type": "json_schema"}}}), "text.format.schema"),
        (json!({"max_output_tokens": -1}), "max_output_tokens"),
        (json!({"instructions": 7}), "instructions"),
    ] {
        let (status, body) = ask(&served, &with(change.clone())).await;
        assert_eq!((status, &body["error"]["param"]), (400, &json!(place)), "{change} {body:#}");
        assert_eq!(body["error"]["type"], "invalid_request_error");
    }
    assert_eq!(endpoint.requests(), 0);
    let sent = served.post("/v1/responses", &request(false)).header("host", "evil.example").send().await.unwrap();
    let (status, body) = read(sent).await;
    assert_eq!((status.as_u16(), &body["error"]["type"]), (403, &json!("permission_error")), "{body:#}");
}

#[tokio::test]
async fn a_failure_in_mid_stream_is_an_error_and_a_failed_answer() {
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("Once upon ")]).end(End::Break));
    let served = serve(&endpoint, |config| config).await;
    let events = events(&served, &request(true)).await;
    let [.., error, failed] = &events[..] else { panic!("{events:#?}") };
    assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("upstream_failed")), "{error:#}");
    assert!(error["message"].as_str().unwrap().contains("was cut off"));
    assert_eq!((&failed["type"], &failed["response"]["status"]), (&json!("response.failed"), &json!("failed")));
    assert_eq!(failed["response"]["output"][0]["status"], "incomplete", "{failed:#}");
    // Before anything was sent the error has a status.
    let endpoint = Endpoint::answer(|_, _| Reply::text(&damaged()));
    let served = serve(&endpoint, Config::with_strict_calls).await;
    let (status, body) = ask(&served, &request(true)).await;
    assert_eq!((status, &body["error"]["code"]), (502, &json!("tool_call_invalid")), "{body:#}");
}
