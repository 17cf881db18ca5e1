//! Calls that go out before their message is over.

use std::time::Duration;

use serde_json::{Value, json};
use toolgraft_serve::Config;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops};

use super::http::{call, damaged, events, request, serve};

/// A call whose text comes in these pieces.
fn pieces(text: &str) -> Vec<Value> {
    text.as_bytes().chunks(5).map(|piece| says(std::str::from_utf8(piece).unwrap())).collect()
}

fn early(config: Config) -> Config {
    config.with_hold_bytes(4)
}

fn deltas(data: &[String]) -> Vec<Value> {
    let chunks = data.iter().filter_map(|data| serde_json::from_str::<Value>(data).ok());
    chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0).cloned()).collect()
}

#[tokio::test]
async fn a_text_goes_out_while_the_model_still_writes() {
    // Nothing comes behind it: what was sent was sent before the call was over.
    let begun = call();
    let reply = Reply::events(&pieces(&begun[..begun.find("o\"").unwrap()])).end(End::Stall);
    let endpoint = Endpoint::answer(move |_, _| reply.clone());
    let served = serve(&endpoint, |config| early(config).with_idle_timeout(Duration::from_secs(20))).await;
    let mut response = served.post("/v1/chat/completions", &request(true)).send().await.unwrap();
    let (mut text, mut sent) = (String::new(), String::new());
    while !sent.contains("{\"city\":\"Osl") {
        let more = response.chunk().await.unwrap();
        text += &String::from_utf8_lossy(&more.unwrap_or_else(|| panic!("the call begins: {text}")));
        sent = deltas(&events(&text).0).iter().filter_map(|delta| delta["function"]["arguments"].as_str()).collect();
    }
    let first = &deltas(&events(&text).0)[0];
    assert!(first["id"].is_string() && first["function"]["name"] == "weather", "{first:#}");
}

#[tokio::test]
async fn the_pieces_are_the_call_in_every_shape() {
    let two = format!("I look.\n{}\n{}", call(), call().replace("Oslo", "Rome"));
    let events_of: Vec<Value> = [pieces(&two), vec![stops("stop")]].concat();
    let endpoint = Endpoint::answer(move |_, _| Reply::events(&events_of).done());
    let served = serve(&endpoint, early).await;
    let (data, _) = served.stream(&request(true)).await;
    let deltas = deltas(&data);
    for (index, city) in [(0, "Oslo"), (1, "Rome")] {
        let of: Vec<&Value> = deltas.iter().filter(|delta| delta["index"] == index).collect();
        let text: String = of.iter().filter_map(|delta| delta["function"]["arguments"].as_str()).collect();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"city": city}), "{of:#?}");
        assert!(of[1..].iter().all(|delta| delta.get("id").is_none() && delta["function"].get("name").is_none()));
    }
    assert!(deltas.is_sorted_by_key(|delta| delta["index"].as_u64()), "one after the other");
    let (_, whole) = served.chat(&request(false)).await;
    let calls = whole["choices"][0]["message"]["tool_calls"].as_array().unwrap();
    let cities: Vec<Value> = calls
        .iter()
        .map(|call| serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(cities, [json!({"city": "Oslo"}), json!({"city": "Rome"})]);

    let tool = &request(true)["tools"][0]["function"];
    let schema = &tool["parameters"];
    for (path, body, words) in [
        (
            "/v1/messages",
            json!({"messages": request(true)["messages"], "max_tokens": 900, "tools": [{"name": "weather", "input_schema": schema}]}),
            ["input_json_delta", "content_block_stop"],
        ),
        (
            "/v1/responses",
            json!({"input": "Weather?", "tools": [{"type": "function", "name": "weather", "parameters": schema}]}),
            ["response.function_call_arguments.delta", "\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\"}\""],
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"contents": [{"parts": [{"text": "Weather?"}]}], "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": schema}]}]}),
            ["\"args\":{\"city\":\"Oslo\"}", "\"args\":{\"city\":\"Rome\"}"],
        ),
    ] {
        let mut body = body;
        body["model"] = json!("m");
        body["stream"] = json!(true);
        let text = served.post(path, &body).send().await.unwrap().text().await.unwrap();
        assert!(words.iter().all(|words| text.contains(words)), "{path} {text}");
        assert!(!text.contains("tool_call_invalid"), "{path} {text}");
    }
}

#[tokio::test]
async fn a_call_that_fails_behind_its_beginning_ends_the_stream_with_an_error() {
    let cut = &call()[..call().find("slo").unwrap() + 2];
    let wrong = call().replace("\"Oslo\"", "\"Oslo\", \"city\": 7");
    for (text, reason) in
        [(cut.to_owned(), "length"), (wrong, "stop"), (format!("{}{}", call(), "</think>Hm."), "stop")]
    {
        let reply = [pieces(&text), vec![stops(reason)]].concat();
        let endpoint = Endpoint::answer(move |_, _| Reply::events(&reply).done());
        let served = serve(&endpoint, early).await;
        let (data, _) = served.stream(&request(true)).await;
        let last: Value = serde_json::from_str(data.last().unwrap()).unwrap_or_default();
        let begun = !deltas(&data).is_empty();
        assert_eq!((begun, &last["error"]["code"]), (true, &json!("tool_call_invalid")), "{text} {data:#?}");
        assert_eq!(endpoint.requests(), 1, "it is not corrected");
    }
}

#[tokio::test]
async fn what_fails_before_anything_was_sent_is_corrected_as_ever() {
    for first in [damaged(), call().replace("weather", "wether")] {
        let replies = [[pieces(&first), vec![stops("stop")]].concat(), [pieces(&call()), vec![stops("stop")]].concat()];
        let endpoint = Endpoint::answer(move |_, number| Reply::events(&replies[number.min(1)]).done());
        let served = serve(&endpoint, early).await;
        let (data, _) = served.stream(&request(true)).await;
        let ids: Vec<Value> = deltas(&data).iter().filter(|delta| delta.get("id").is_some()).cloned().collect();
        assert_eq!((ids.len(), endpoint.requests()), (1, 2), "{first} {data:#?}");
        assert_eq!(data.last().unwrap(), "[DONE]", "{first}");
    }
}

#[tokio::test]
async fn a_draft_of_the_reasoning_is_never_begun() {
    let draft = call().replace("Oslo", "Rome");
    let text = format!("<think>Perhaps:\n{draft}\nNo.</think>\n\n{}", call());
    let reply = [pieces(&text), vec![stops("stop")]].concat();
    let endpoint = Endpoint::answer(move |_, _| Reply::events(&reply).done());
    let served = serve(&endpoint, early).await;
    let (data, _) = served.stream(&request(true)).await;
    let sent: String =
        deltas(&data).iter().filter_map(|delta| delta["function"]["arguments"].as_str().map(str::to_owned)).collect();
    assert_eq!(sent, "{\"city\":\"Oslo\"}", "{data:#?}");
}
