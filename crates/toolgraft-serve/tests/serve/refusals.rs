//! Tests of an endpoint's statement about an answer: that the model refuses, that the answer was
//! withheld, or that there is none.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, delta, says, stops};

use super::http::{Served, damaged, events, read, request, serve};

const WORDS: [&str; 2] = ["I can't help ", "with that."];

fn refuses(text: &str) -> Value {
    delta(json!({"content": null, "refusal": text}))
}

fn refusing() -> Reply {
    Reply::events(&[refuses(WORDS[0]), refuses(WORDS[1]), stops("stop")]).done()
}

/// Returns path and body of the question of [`request`] in the other interfaces.
fn others(stream: bool) -> [(&'static str, Value); 3] {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let messages = json!({
        "model": "m", "max_tokens": 1000, "stream": stream, "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [{"name": "weather", "input_schema": schema}],
    });
    let responses = json!({
        "model": "m", "stream": stream, "input": "Weather in Oslo?",
        "tools": [{"type": "function", "name": "weather", "parameters": schema}],
    });
    let gemini = json!({
        "contents": [{"role": "user", "parts": [{"text": "Weather in Oslo?"}]}],
        "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": schema}]}],
    });
    let path = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let gemini_path: &'static str = format!("/v1beta/models/m:{path}").leak();
    [("/v1/messages", messages), ("/v1/responses", responses), (gemini_path, gemini)]
}

/// Returns the whole answers of the four interfaces, Chat Completions first.
async fn whole(served: &Served) -> Vec<(u16, Value)> {
    let (status, chat) = served.chat(&request(false)).await;
    let mut all = vec![(status.as_u16(), chat)];
    for (path, body) in others(false) {
        let (status, answer) = read(served.post(path, &body).send().await.unwrap()).await;
        all.push((status.as_u16(), answer));
    }
    all
}

/// Returns the data of the events of their streams.
async fn streamed(served: &Served) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for (path, body) in [("/v1/chat/completions", request(true))].into_iter().chain(others(true)) {
        let text = served.post(path, &body).send().await.unwrap().text().await.unwrap();
        let (data, _) = events(&text);
        all.push(data.iter().filter_map(|data| serde_json::from_str(data).ok()).collect());
    }
    all
}

/// Joins all texts at this place of the events.
fn joined(events: &[Value], pointer: &str) -> String {
    events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

#[tokio::test]
async fn a_refusal_stands_whole_in_each_interfaces_own_field_and_nobody_is_asked_again() {
    let endpoint = Endpoint::answer(|_, _| refusing());
    let served = serve(&endpoint, |config| config).await;
    let answers = whole(&served).await;
    assert!(answers.iter().all(|(status, _)| *status == 200), "{answers:#?}");
    let [(_, chat), (_, messages), (_, responses), (_, gemini)] = &answers[..] else { panic!("four") };
    let words = json!(WORDS.concat());
    let choice = &chat["choices"][0];
    assert_eq!(choice["message"], json!({"role": "assistant", "content": null, "refusal": words}));
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(messages["stop_reason"], "refusal");
    assert_eq!(messages["content"], json!([{"type": "text", "text": words}]));
    assert_eq!(responses["status"], "completed");
    assert_eq!(responses["output"][0]["content"], json!([{"type": "refusal", "refusal": words}]));
    assert_eq!(gemini["candidates"][0]["finishReason"], "SAFETY");
    assert_eq!(gemini["candidates"][0]["content"]["parts"], json!([{"text": words}]));
    assert_eq!(endpoint.seen().len(), 4);
}

#[tokio::test]
async fn a_refusal_is_streamed_in_each_interfaces_own_field_and_nobody_is_asked_again() {
    let endpoint = Endpoint::answer(|_, _| refusing());
    let served = serve(&endpoint, |config| config).await;
    let streams = streamed(&served).await;
    let [chat, messages, responses, gemini] = &streams[..] else { panic!("four") };
    let words = WORDS.concat();
    assert_eq!(joined(chat, "/choices/0/delta/refusal"), words, "{chat:#?}");
    assert_eq!(joined(chat, "/choices/0/delta/content"), "");
    assert_eq!(joined(chat, "/choices/0/finish_reason"), "stop");
    assert_eq!(joined(messages, "/delta/text"), words);
    assert_eq!(joined(messages, "/delta/stop_reason"), "refusal");
    let of = |kind: &str| responses.iter().filter(|event| event["type"] == kind).cloned().collect::<Vec<_>>();
    assert_eq!(joined(&of("response.refusal.delta"), "/delta"), words);
    assert_eq!(of("response.refusal.done")[0]["refusal"], words.as_str());
    assert_eq!(of("response.content_part.done")[0]["part"], json!({"type": "refusal", "refusal": words}));
    assert_eq!(of("response.completed")[0]["response"]["output"][0]["content"][0]["refusal"], words.as_str());
    assert_eq!(joined(gemini, "/candidates/0/content/parts/0/text"), words);
    assert_eq!(joined(gemini, "/candidates/0/finishReason"), "SAFETY");
    assert_eq!(endpoint.seen().len(), 4);
}

/// Text that might begin a call is held back; a refusal does not overtake it.
#[tokio::test]
async fn text_before_a_refusal_is_streamed_before_it() {
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("a <"), refuses("No."), stops("stop")]).done());
    let served = serve(&endpoint, |config| config).await;
    let streams = streamed(&served).await;
    assert_eq!(joined(&streams[1], "/delta/text"), "a <No.");
    assert_eq!(joined(&streams[3], "/candidates/0/content/parts/0/text"), "a <No.");
}

#[tokio::test]
async fn an_answer_that_ends_with_an_error_is_one_in_each_interface() {
    let endpoint = Endpoint::answer(|_, _| Reply::events(&[says("It is"), stops("error")]).done());
    let served = serve(&endpoint, |config| config).await;
    for (status, answer) in whole(&served).await {
        assert!(status == 502 && answer["error"]["message"].as_str().unwrap().contains("'error'"), "{answer:#}");
    }
}

#[tokio::test]
async fn a_refusal_in_a_round_that_corrects_is_the_answer() {
    let endpoint = Endpoint::start([Reply::text(&damaged()), refusing()]);
    let served = serve(&endpoint, |config| config).await;
    let (_, answer) = served.chat(&request(false)).await;
    assert_eq!(answer["choices"][0]["message"]["refusal"], WORDS.concat());
    assert_eq!(endpoint.seen().len(), 2);
}

#[tokio::test]
async fn what_a_filter_withheld_ends_the_answer_with_that_reason() {
    let filtered = |text: &str| Reply::events(&[says(text), stops("content_filter")]).done();
    for text in ["", "It is", &damaged(), &super::http::call()] {
        let endpoint = Endpoint::answer({
            let text = text.to_owned();
            move |_, _| filtered(&text)
        });
        let served = serve(&endpoint, |config| config).await;
        let answers = whole(&served).await;
        let [(_, chat), (_, messages), (_, responses), (_, gemini)] = &answers[..] else { panic!("four") };
        assert_eq!(chat["choices"][0]["finish_reason"], "content_filter", "{text}: {chat:#}");
        assert!(chat["choices"][0]["message"].get("tool_calls").is_none(), "{chat:#}");
        assert_eq!(messages["stop_reason"], "refusal");
        assert_eq!(responses["incomplete_details"]["reason"], "content_filter");
        assert_eq!(gemini["candidates"][0]["finishReason"], "SAFETY");
        assert_eq!(endpoint.seen().len(), 4, "{text}");
    }
}

#[tokio::test]
async fn an_answer_that_stays_empty_is_an_error_of_each_interface() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(""));
    let served = serve(&endpoint, |config| config).await;
    let answers = whole(&served).await;
    assert!(answers.iter().all(|(status, _)| *status == 502), "{answers:#?}");
    assert_eq!(answers[0].1["error"]["code"], "empty_answer");
    assert_eq!(answers[1].1["type"], "error");
    assert_eq!(answers[2].1["error"]["code"], "empty_answer");
    assert!(answers[3].1["error"]["message"].as_str().unwrap().contains("empty answer"), "{:#}", answers[3].1);
    assert_eq!(endpoint.seen().len(), 4 * 3);
    let response = served.post("/v1/chat/completions", &request(true)).send().await.unwrap();
    assert_eq!(response.status(), 502);
}

#[tokio::test]
async fn an_example_of_json_in_a_fence_keeps_its_inside_and_brings_no_further_round() {
    let fence = "```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```";
    let text = format!("A call looks like this:\n\n{fence}\n\nThat is all.");
    for stream in [false, true] {
        let endpoint = Endpoint::start([Reply::text(&text)]);
        let served = serve(&endpoint, |config| config).await;
        let content = match stream {
            false => {
                served.chat(&request(false)).await.1["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
            }
            true => {
                let (data, _) = served.stream(&request(true)).await;
                let data: Vec<Value> = data.iter().filter_map(|data| serde_json::from_str(data).ok()).collect();
                joined(&data, "/choices/0/delta/content")
            }
        };
        assert_eq!(content, text);
        assert_eq!(endpoint.seen().len(), 1);
    }
}

#[tokio::test]
async fn other_words_for_the_end_are_an_end() {
    for (word, reason) in
        [("eos", "stop"), ("eos_token", "stop"), ("STOP", "stop"), ("end_turn", "stop"), ("max_tokens", "length")]
    {
        let endpoint = Endpoint::start([Reply::events(&[says("Hi."), stops(word)]).end(End::Whole)]);
        let served = serve(&endpoint, |config| config).await;
        assert_eq!(served.chat(&request(false)).await.1["choices"][0]["finish_reason"], reason, "{word}");
    }
}

/// A call inside a line may be an example: the model is asked once more, and until then the first
/// one is not sent as text.
#[tokio::test]
async fn a_call_that_is_asked_for_once_more_is_not_told_as_text_before() {
    let call = super::http::call();
    let shown = format!("I would look so:\n```\n{call}\n```");
    for second in [&call, &shown] {
        let endpoint = Endpoint::start([Reply::text(&shown), Reply::text(second)]);
        let served = serve(&endpoint, |config| config).await;
        let (_, answer) = served.chat(&request(false)).await;
        let content = answer["choices"][0]["message"]["content"].as_str().unwrap();
        assert_eq!(endpoint.seen().len(), 2);
        assert_eq!(content.matches("<use_mcp_tool>").count(), usize::from(*second != call), "{answer:#}");
    }
}
