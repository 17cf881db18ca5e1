//! Tests of requests that force a tool, or an object as the whole answer, as libraries for typed
//! answers send them.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::http::{events, request, serve};

fn forced(stream: bool, choice: Value) -> Value {
    let mut asked = request(stream);
    asked["tool_choice"] = choice;
    asked
}

#[tokio::test]
async fn an_object_alone_is_the_call_of_the_tool_that_is_forced() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("```json\n{\"city\": \"Oslo\"}\n```"));
    let served = serve(&endpoint, |config| config).await;
    for choice in [json!({"type": "function", "function": {"name": "weather"}}), json!("required")] {
        let (_, whole) = served.chat(&forced(false, choice.clone())).await;
        let message = &whole["choices"][0]["message"];
        assert_eq!((&message["content"], &message["tool_calls"][1]), (&Value::Null, &Value::Null), "{whole:#}");
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"city\":\"Oslo\"}");
        let asked = forced(true, choice);
        let text = served.post("/v1/chat/completions", &asked).send().await.unwrap().text().await.unwrap();
        let (data, _) = events(&text);
        let data: Vec<Value> = data.iter().filter_map(|data| serde_json::from_str(data).ok()).collect();
        let said = |pointer: &str| data.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect::<String>();
        assert_eq!(said("/choices/0/delta/content"), "");
        assert_eq!(said("/choices/0/delta/tool_calls/0/function/arguments"), "{\"city\":\"Oslo\"}");
    }
    assert_eq!(endpoint.requests(), 4, "no round is spent on it");
}

#[tokio::test]
async fn an_object_that_the_tool_does_not_take_is_corrected() {
    let endpoint = Endpoint::answer(|_, number| {
        Reply::text(if number == 0 { "{\"town\": \"Oslo\"}" } else { "{\"city\": \"Oslo\"}" })
    });
    let served = serve(&endpoint, |config| config).await;
    let (_, whole) = served.chat(&forced(false, json!("required"))).await;
    let calls = whole["choices"][0]["message"]["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), endpoint.requests()), (1, 2), "{whole:#}");
}
