//! Tests of the decision between a call and a plain answer before it is written, at endpoints of
//! all kinds.

use serde_json::{Value, json};
use toolgraft::constrain::Way;
use toolgraft_serve::{Config, ModelSettings, USAGE_HEADER};
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen, says, stops, thinks, token};

use super::http::{Served, call, read, request, serve};
use super::shapes::{Chat, Gemini, Messages, Ollama, Responses, SHAPES, ask};

fn llama(replies: impl IntoIterator<Item = Reply>) -> Endpoint {
    Endpoint::setup().models(&["m"]).owner("llamacpp").start(replies)
}

async fn measured(endpoint: &Endpoint) -> Served {
    serve(endpoint, |config| config.with_way(Way::Measured).with_call_threshold(-1.5)).await
}

/// Returns an answer that begins with a call with this probability in percent.
fn answers(percent: f64) -> Reply {
    let first = token("It", 100.0 - percent, &[(" <use", percent)]);
    Reply::events(&[first, says(" is"), says(" cold."), stops("stop")]).done()
}

fn posts(endpoint: &Endpoint) -> Vec<Seen> {
    endpoint.seen().into_iter().filter(|seen| seen.target().starts_with("POST")).collect()
}

/// Returns what a request asks of the endpoint apart from its messages: probabilities, and a
/// structure.
fn asks(seen: &Seen) -> (bool, Option<&str>) {
    let forms = ["grammar", "response_format"];
    (seen.body.get("logprobs").is_some(), forms.into_iter().find(|form| seen.body.get(*form).is_some()))
}

fn text_of(whole: &Value) -> &str {
    whole["choices"][0]["message"]["content"].as_str().unwrap_or_default()
}

fn called(whole: &Value) -> &str {
    whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn below_the_threshold_one_request_is_the_answer_to_what_names_nothing() {
    let endpoint = llama([answers(10.0)]);
    let (_, whole) = measured(&endpoint).await.chat(&request(false)).await;
    assert_eq!((text_of(&whole), called(&whole)), ("It is cold.", ""));
    let seen = posts(&endpoint);
    assert_eq!(seen.iter().map(asks).collect::<Vec<_>>(), [(true, Some("grammar"))]);
    assert_eq!(seen[0].body["top_logprobs"], 20);
    assert!(seen[0].body["grammar"].as_str().unwrap().contains(" | [^<"), "a call or an answer");
}

#[tokio::test]
async fn above_it_the_call_is_asked_for_under_its_grammar_and_the_client_sees_nothing_else() {
    for stream in [false, true] {
        let endpoint = llama([answers(20.0), Reply::text(&call())]);
        let served = measured(&endpoint).await;
        if stream {
            let (data, _) = served.stream(&request(true)).await;
            assert!(
                data.iter().any(|data| data.contains("Oslo")) && !data.iter().any(|data| data.contains("It")),
                "{data:#?}"
            );
        } else {
            let answer = served.post("/v1/chat/completions", &request(false)).send().await.unwrap();
            let sum = answer.headers()[USAGE_HEADER].to_str().unwrap().to_owned();
            let (_, whole) = read(answer).await;
            assert_eq!((text_of(&whole), called(&whole)), ("", "{\"city\":\"Oslo\"}"));
            // Both requests cost, and the client's context holds one of them.
            let once = whole["usage"]["prompt_tokens"].as_u64().unwrap();
            let both = sum.split(['=', ',']).nth(1).unwrap().parse::<u64>().unwrap();
            assert!(both > once + once / 2, "{sum} {once}");
        }
        let seen = posts(&endpoint);
        if !stream {
            continue;
        }
        assert_eq!(seen.iter().map(asks).collect::<Vec<_>>(), [(true, Some("grammar")), (false, Some("grammar"))]);
        assert_eq!(seen[0].body["messages"], seen[1].body["messages"], "a cache serves the prefix");
    }
}

/// Returns a call that a grammar enforced, with this probability in percent.
fn held(percent: f64) -> Reply {
    let call = call();
    let first = token("<use", percent, &[("It", 100.0 - percent)]);
    Reply::events(&[first, says(call.strip_prefix("<use").unwrap()), stops("stop")]).done()
}

#[tokio::test]
async fn a_held_stream_is_the_call_above_the_threshold_and_left_for_an_answer_below_it() {
    for (percent, requests) in [(20.0, 1), (1.0, 2)] {
        let endpoint = llama([held(percent), Reply::text("It is cold.")]);
        let (_, whole) = measured(&endpoint).await.chat(&request(false)).await;
        let seen = posts(&endpoint);
        assert_eq!(seen.iter().map(asks).collect::<Vec<_>>(), [(true, Some("grammar")), (false, None)][..requests]);
        let told = (text_of(&whole), called(&whole));
        assert_eq!(told, if requests == 1 { ("", "{\"city\":\"Oslo\"}") } else { ("It is cold.", "") });
    }
}

#[tokio::test]
async fn a_request_that_names_an_id_is_held_to_a_call() {
    for (percent, requests) in [(1.0, 1), (0.01, 2)] {
        let endpoint = llama([held(percent), Reply::text("It is cold.")]);
        let mut asked = request(false);
        asked["messages"][0]["content"] = json!("Weather at W-1?");
        let (_, whole) = measured(&endpoint).await.chat(&asked).await;
        let seen = posts(&endpoint);
        assert_eq!((seen.len(), called(&whole).is_empty()), (requests, requests == 2), "{whole:#}");
        assert_eq!(seen[0].body["top_logprobs"], 8);
    }
}

/// The call that the model wrote first waits while the client looks up what it needs.
#[tokio::test]
async fn a_call_that_waits_for_a_clients_lookup_is_made_with_what_it_gave() {
    let write = |tool: &str, arguments: &str| {
        format!(
            "<use_mcp_tool>\n<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
        )
    };
    let waits = write("set_device", "{\"device_id\": \"device-9\", \"state\": \"off\"}");
    let begun = token("<use", 90.0, &[]);
    let waits = Reply::events(&[begun, says(waits.strip_prefix("<use").unwrap()), stops("stop")]).done();
    let endpoint = llama([waits]);
    let served = measured(&endpoint).await;
    let tool = |name: &str, properties: Value| {
        let required: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "description": "Of the house", "parameters": parameters}})
    };
    let text = json!({"type": "string"});
    let tools = [tool("list_devices", json!({})), tool("set_device", json!({"device_id": text, "state": text}))];
    let mut body =
        json!({"model": "m", "tools": tools, "messages": [{"role": "user", "content": "Turn off the fan."}]});
    let (_, whole) = served.chat(&body).await;
    let message = &whole["choices"][0]["message"];
    let made = &message["tool_calls"][0];
    assert_eq!(made["function"]["name"], "list_devices", "{whole:#}");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message.clone());
    messages.push(json!({"role": "tool", "tool_call_id": made["id"], "content": "d1: lamp, on\nd3: fan, on"}));
    let (_, whole) = served.chat(&body).await;
    assert_eq!(called(&whole), "{\"device_id\":\"d3\",\"state\":\"off\"}", "{whole:#}");
    assert_eq!(posts(&endpoint).len(), 1, "the lookup and the change that waited for it leave the model no choice");
}

#[tokio::test]
async fn after_a_clients_result_the_next_call_is_held_and_one_that_was_answered_asks_for_the_answer() {
    let endpoint = llama([Reply::text(&call()), Reply::text("It is cold.")]);
    let served =
        serve(&endpoint, |config| config.with_way(Way::Measured).with_style(toolgraft::dialect::PromptStyle::Compact));
    let mut body = request(false);
    let made = json!({"id": "call_1", "type": "function",
                      "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}});
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [made]}));
    messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "minus 7"}));
    let (_, whole) = served.await.chat(&body).await;
    let seen = posts(&endpoint);
    assert_eq!(
        (text_of(&whole), called(&whole)),
        ("It is cold.", ""),
        "{:#?}",
        seen.iter().map(|seen| &seen.body).collect::<Vec<_>>()
    );
    assert_eq!(seen.iter().map(asks).collect::<Vec<_>>(), [(false, Some("grammar")); 2]);
    let last = |seen: &Seen| {
        let messages = seen.body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    let (step, answer) = (last(&seen[0]), last(&seen[1]));
    assert!(step.ends_with("Make the next call."), "{step}");
    // The answer is asked for in a request of its own, with the client's system text.
    assert_eq!(
        answer,
        "This is what was done, with the results:\n\nweather {\"city\":\"Oslo\"}\nResult: minus 7\n\n\
         I asked: Weather in Oslo?\n\nAnswer in one or two sentences, with the names, numbers and times from the results."
    );
    let messages = seen[1].body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1 + usize::from(messages[0]["role"] == "system"), "{messages:#?}");
}

/// A change that failed is not done, also if the client gave only its text.
#[tokio::test]
async fn after_a_change_whose_result_is_an_error_the_cause_is_looked_up() {
    for (result, stated, is_failed) in [
        ("Error: connection reset", None, true),
        (r#"{"error": "busy"}"#, None, true),
        ("pushed", None, false),
        ("Error: is the title", Some(false), false),
    ] {
        for shape in SHAPES.into_iter().filter(|shape| stated.is_none() || *shape == Messages) {
            let push = call().replace("weather", "push").replace("{\"city\":\"Oslo\"}", "{}");
            let endpoint = llama([Reply::text(&push), Reply::text("It is done.")]);
            let served = serve(&endpoint, |config| config.with_way(Way::Measured)).await;
            let mut given = shape.result();
            match shape {
                Messages => given["content"][0]["content"] = result.into(),
                Responses => given["output"] = result.into(),
                Gemini => given["parts"][0]["functionResponse"]["response"] = json!({"output": result}),
                Chat | Ollama => given["content"] = result.into(),
            }
            if let Some(stated) = stated {
                given["content"][0]["is_error"] = json!(stated);
            }
            let messages = json!([shape.says("user", "Push it."), shape.call(), given]);
            let body = shape.request(messages, shape.tools(&["f", "list_remotes"]));
            let (_, mut whole) = ask(&served, shape, body.to_string().replace("\"f\"", "\"push\"")).await;
            let seen = posts(&endpoint);
            // Responses repeats the tools of the request.
            whole["tools"] = Value::Null;
            let looks = whole.to_string().contains("list_remotes");
            assert_eq!(looks, is_failed, "{shape:?}, {result}: {whole:#}");
            let told = seen[0].body["messages"].as_array().unwrap().last().unwrap();
            assert!(told["content"].as_str().unwrap().contains(result), "the text stays: {told}");
        }
    }
}

/// Asked for names, numbers and times after a change, a small model makes some up.
#[tokio::test]
async fn after_a_change_the_model_is_asked_what_was_done() {
    for (request, asked) in
        [("Push it.", "Tell me in one sentence what was done."), ("推送它。", "请用一句话告诉我做了什么。")]
    {
        let done =
            if request.is_ascii() { "I pushed it." } else { "我将设备 thermo-1 的温度设置为 21 度。" };
        let endpoint = llama([Reply::text(done)]);
        let small = toolgraft::dialect::PromptStyle::Compact;
        let served = serve(&endpoint, |config| config.with_way(Way::Measured).with_style(small)).await;
        let messages = json!([Chat.says("user", request), Chat.call(), Chat.result()]);
        let body = Chat.request(messages, Chat.tools(&["f"])).to_string().replace("\"f\"", "\"push\"");
        let (_, whole) = ask(&served, Chat, body).await;
        assert_eq!(text_of(&whole), done, "{whole:#}");
        let seen = posts(&endpoint);
        assert_eq!(seen.len(), 1, "it announces nothing");
        let told = seen[0].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
        assert!(told.ends_with(asked), "{told}");
    }
}

/// A small model copies the result into the call: the text is asked for as a message, which the client does not see.
#[tokio::test]
async fn a_text_that_is_a_copy_of_a_clients_result_is_written_anew() {
    let copied = "<use_mcp_tool>\n<tool_name>write_file</tool_name>\n<arguments>\n\
                  {\"path\": \"/b.txt\", \"content\": \"milk\\neggs\"}\n</arguments>\n</use_mcp_tool>";
    for stream in [false, true] {
        let endpoint = llama([Reply::text(copied), Reply::text("```\neggs\nmilk\n```")]);
        let small = toolgraft::dialect::PromptStyle::Compact;
        let served = serve(&endpoint, |config| config.with_way(Way::Measured).with_style(small)).await;
        let tool = |name: &str, properties: Value| {
            let required: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
            let parameters = json!({"type": "object", "properties": properties, "required": required});
            json!({"type": "function", "function": {"name": name, "parameters": parameters}})
        };
        let text = json!({"type": "string"});
        let tools =
            [tool("read_file", json!({"path": text})), tool("write_file", json!({"path": text, "content": text}))];
        let read = json!({"id": "call_1", "type": "function",
                          "function": {"name": "read_file", "arguments": "{\"path\":\"/a.txt\"}"}});
        let body = json!({"model": "m", "tools": tools, "stream": stream, "messages": [
            {"role": "user", "content": "Read /a.txt and write /b.txt with its lines in order."},
            {"role": "assistant", "content": null, "tool_calls": [read]},
            {"role": "tool", "tool_call_id": "call_1", "content": "milk\neggs"},
        ]});
        if stream {
            let (data, _) = served.stream(&body).await;
            let data = data.concat();
            assert!(
                data.contains("eggs\\\\nmilk") && !data.contains("milk\\\\neggs") && !data.contains("```"),
                "{data}"
            );
        } else {
            let (_, whole) = served.chat(&body).await;
            assert_eq!(
                (text_of(&whole), called(&whole)),
                ("", "{\"path\":\"/b.txt\",\"content\":\"eggs\\nmilk\"}"),
                "{whole:#}"
            );
        }
        let seen = posts(&endpoint);
        assert_eq!(seen.iter().map(asks).collect::<Vec<_>>(), [(false, Some("grammar")); 2], "{stream}");
        let asked = seen[1].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
        assert!(asked.contains("milk\neggs") && asked.ends_with("the text of /b.txt, and nothing else."), "{asked}");
    }
}

#[tokio::test]
async fn an_opener_counts_however_the_endpoint_splits_it() {
    for (opener, is_call) in
        [("<", true), ("<use_mcp_tool>", true), ("\n<use_", true), (" <", true), ("<b>", false), ("use", false)]
    {
        let first = token("It", 50.0, &[(opener, 50.0)]);
        let free = Reply::events(&[first, says(" is cold."), stops("stop")]).done();
        let endpoint = llama([free, Reply::text(&call())]);
        let (_, whole) = measured(&endpoint).await.chat(&request(false)).await;
        assert_eq!(!called(&whole).is_empty(), is_call, "{opener:?} {whole:#}");
    }
}

#[tokio::test]
async fn it_is_decided_after_the_reasoning() {
    let first = || token("It", 50.0, &[("<use", 50.0)]);
    let apart = Reply::events(&[thinks("<use"), thinks("?"), first(), says(" is cold."), stops("stop")]).done();
    let tags = [token("<think>", 100.0, &[("It", 0.0)]), token("<use", 100.0, &[]), token("</think>", 100.0, &[])];
    let tags: Vec<Value> = tags.into_iter().chain([token("\n", 100.0, &[]), first(), stops("stop")]).collect();
    for free in [apart, Reply::events(&tags).done()] {
        let endpoint = llama([free, Reply::text(&call())]);
        let (_, whole) = measured(&endpoint).await.chat(&request(false)).await;
        assert!(!called(&whole).is_empty() && text_of(&whole).is_empty(), "{whole:#}");
    }
}

#[tokio::test]
async fn an_endpoint_without_probabilities_is_asked_for_them_once_and_decides_by_itself() {
    let refusal = Reply::new(400, r#"{"error": {"message": "logprobs is not supported"}}"#);
    let held = || Reply::text(&call());
    for replies in [vec![refusal, held()], vec![held()]] {
        let replies = replies.into_iter().chain([Reply::text("It is cold."), Reply::text("It is cold.")]);
        let endpoint = llama(replies.collect::<Vec<_>>());
        let lines = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let log = lines.clone();
        let set =
            |config: Config| config.with_way(Way::Measured).with_log(move |line| log.lock().unwrap().push(line.way));
        let served = serve(&endpoint, set).await;
        // What names an id is held to a call from the start.
        let mut first = request(false);
        first["messages"][0]["content"] = json!("Weather at W-1?");
        let (_, whole) = served.chat(&first).await;
        assert_eq!(text_of(&whole), "It is cold.", "what a grammar holds says nothing: {whole:#}");
        // Other tools, the same endpoint.
        let mut other = request(false);
        other["tools"][0]["function"]["description"] = json!("Says how warm it is.");
        let (_, whole) = served.chat(&other).await;
        assert_eq!(text_of(&whole), "It is cold.");
        let asks: Vec<_> = posts(&endpoint).iter().map(|seen| asks(seen).0).collect();
        assert_eq!(asks.iter().filter(|asks| **asks).count(), 1, "{asks:?}");
        assert_eq!(*lines.lock().unwrap(), [Some(Way::Free), Some(Way::Free)]);
    }
}

#[tokio::test]
async fn an_endpoint_that_refuses_the_grammar_is_asked_freely_from_then_on() {
    let refused = || Reply::new(400, r#"{"error": {"message": "failed to parse grammar"}}"#);
    // Grammar and schema are refused; the answer after that is free.
    let endpoint = llama([answers(90.0), refused(), refused(), Reply::text("It is cold."), Reply::text(&call())]);
    let served = measured(&endpoint).await;
    let (_, whole) = served.chat(&request(false)).await;
    assert_eq!(text_of(&whole), "It is cold.");
    let (_, whole) = served.chat(&request(false)).await;
    assert!(!called(&whole).is_empty());
    assert_eq!(posts(&endpoint).last().map(asks), Some((false, None)));
}

#[tokio::test]
async fn one_that_holds_to_nothing_and_says_nothing_is_known_by_what_it_answers() {
    let endpoint = llama([answers(90.0), Reply::text("It is cold."), Reply::text("It is warm.")]);
    let served = measured(&endpoint).await;
    assert_eq!(text_of(&served.chat(&request(false)).await.1), "It is cold.");
    assert_eq!(text_of(&served.chat(&request(false)).await.1), "It is warm.");
    assert_eq!(posts(&endpoint).last().map(asks), Some((false, None)));
}

#[tokio::test]
async fn what_the_client_decides_is_not_measured_and_a_model_may_have_its_own_way() {
    for choice in [json!("required"), json!("none"), json!({"type": "function", "function": {"name": "weather"}})] {
        let endpoint = llama([Reply::text(&call())]);
        let mut asked = request(false);
        asked["tool_choice"] = choice;
        measured(&endpoint).await.chat(&asked).await;
        assert!(!asks(&posts(&endpoint)[0]).0);
    }
    let endpoint = llama([Reply::text("cold")]);
    let mut asked = request(false);
    asked["grammar"] = json!("root ::= [a-z]+");
    measured(&endpoint).await.chat(&asked).await;
    assert!(!asks(&posts(&endpoint)[0]).0, "the client has a structure of its own");
    let endpoint = llama([answers(1.0), Reply::text("It is cold.")]);
    let own = ModelSettings { way: Some(Way::Measured), call_threshold: Some(-1.0), ..ModelSettings::default() };
    let served =
        serve(&endpoint, |config| config.with_model_settings(move |model| (model == "m").then_some(own))).await;
    served.chat(&request(false)).await;
    let mut other = request(false);
    other["model"] = json!("other-8b");
    served.chat(&other).await;
    assert_eq!(posts(&endpoint).iter().map(|seen| asks(seen).0).collect::<Vec<_>>(), [true, false]);
}
