//! Tests with a message that announces an act and makes no call: the model's note and the client's
//! answer.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::http::{call, events, request, serve};

const ANNOUNCES: &str = "Let me look at the weather in Oslo:";

fn message(whole: &Value) -> (&str, usize) {
    let message = &whole["choices"][0]["message"];
    (message["content"].as_str().unwrap_or_default(), message["tool_calls"].as_array().map_or(0, Vec::len))
}

#[tokio::test]
async fn the_call_follows_the_announcement_in_the_same_answer() {
    let endpoint = Endpoint::answer(|_, number| match number % 2 {
        0 => Reply::text(ANNOUNCES),
        _ => Reply::text(&call()),
    });
    let served = serve(&endpoint, |config| config).await;
    let (_, whole) = served.chat(&request(false)).await;
    assert_eq!((message(&whole), endpoint.requests()), ((ANNOUNCES, 1), 2), "{whole:#}");
    let told = endpoint.seen()[1].body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(told.contains("Your last message describes an action and has no call"), "{told}");
    let text = served.post("/v1/chat/completions", &request(true)).send().await.unwrap().text().await.unwrap();
    let (data, _) = events(&text);
    let data: Vec<Value> = data.iter().filter_map(|data| serde_json::from_str(data).ok()).collect();
    let said = |pointer: &str| data.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect::<String>();
    assert_eq!(said("/choices/0/delta/content"), ANNOUNCES);
    assert_eq!(said("/choices/0/delta/tool_calls/0/function/name"), "weather");
}

#[tokio::test]
async fn an_announcement_is_corrected_once_and_what_is_said_again_is_told_once() {
    for (second, told) in [(ANNOUNCES, ANNOUNCES.to_owned()), ("I have not.", format!("{ANNOUNCES}\n\nI have not."))] {
        let endpoint = Endpoint::answer(move |_, number| Reply::text(if number == 0 { ANNOUNCES } else { second }));
        let served = serve(&endpoint, |config| config).await;
        let (_, whole) = served.chat(&request(false)).await;
        assert_eq!((message(&whole), endpoint.requests()), ((told.as_str(), 0), 2), "{whole:#}");
    }
}

#[tokio::test]
async fn a_report_is_honest_once_a_call_ran_and_without_tools_or_their_choice_nothing_is_announced() {
    let saved = "I've saved your note. Anything else?";
    let ran = |asked: &mut Value| {
        let call = json!({"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}});
        let messages = asked["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": "c", "content": "ok"}));
    };
    let chosen = |choice: &str| json!({"tool_choice": choice});
    for (text, calls_before, fields, requests) in [
        (saved, false, json!({}), 2),
        (saved, true, json!({}), 1),
        (ANNOUNCES, true, json!({}), 2),
        (ANNOUNCES, false, chosen("none"), 1),
        (ANNOUNCES, false, json!({"tools": null}), 1),
        ("Shall I look at the weather?", false, json!({}), 1),
    ] {
        let endpoint = Endpoint::answer(move |_, number| Reply::text(if number == 0 { text } else { "Not done." }));
        let served = serve(&endpoint, |config| config).await;
        let mut asked = request(false);
        if calls_before {
            ran(&mut asked);
        }
        for (name, value) in fields.as_object().unwrap() {
            asked[name] = value.clone();
        }
        served.chat(&asked).await;
        assert_eq!(endpoint.requests(), requests, "{text} {calls_before} {fields}");
    }
}
