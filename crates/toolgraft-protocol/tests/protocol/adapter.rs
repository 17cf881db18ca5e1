//! Tests of the adapter without HTTP: however the endpoint cuts its chunks, the client sees the
//! same message, and a stream that real clients can read.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgraft_protocol::{Adapter, Refusal, Settings};
use toolgraft_testkit::endpoint::{mcp_call, says, stops, thinks, usage};

/// The message that a client assembles from a stream.
#[derive(Debug, Clone, PartialEq, Default)]
struct Seen {
    content: String,
    reasoning: String,
    /// Name and arguments of each call.
    calls: Vec<(String, String)>,
    finish: Option<String>,
    failed: Option<Refusal>,
    /// Requests that were sent to the endpoint.
    requests: Vec<Value>,
}

fn settings() -> Settings {
    // The answers of these tests have no probabilities.
    Settings { way: toolgraft::constrain::Way::Free, ..Settings::default() }
}

fn request() -> Value {
    json!({
        "model": "m", "stream": true, "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [tool("weather", &["city"]), tool("search", &["query"])],
    })
}

fn tool(name: &str, parameters: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "function", "function": {"name": name, "parameters":
        {"type": "object", "properties": properties, "required": parameters}}})
}

/// Returns the text of a call without a server, as the prompt teaches it.
fn call(name: &str, arguments: &Value) -> String {
    mcp_call("", name, arguments).replace("<server_name></server_name>\n", "")
}

/// The chunks in a text of the client's stream.
fn chunks_in(text: &str) -> impl Iterator<Item = Value> {
    let data = text.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap())
}

/// Runs a request against an endpoint that sends these chunks, one list for each request.
fn run(request: Value, answers: &[Vec<Value>]) -> Seen {
    let mut adapter = match Adapter::new(&settings(), request) {
        Ok(adapter) => adapter,
        Err(refusal) => return Seen { failed: Some(refusal), ..Seen::default() },
    };
    let (mut seen, mut text, mut answers) = (Seen::default(), String::new(), answers.iter());
    while let Some(body) = adapter.request() {
        seen.requests.push(body);
        let answer = answers.next().unwrap_or_else(|| panic!("no answer is left: {:#?}", seen.requests.last()));
        for chunk in answer {
            text += &adapter.push(&chunk.to_string()).unwrap();
            if !adapter.is_streaming() {
                break;
            }
        }
        text += &adapter.end().unwrap();
    }
    seen.failed = adapter.refusal().cloned();
    let chunks: Vec<Value> = chunks_in(&text).filter(|chunk| chunk.get("error").is_none()).collect();
    read(&chunks, &mut seen);
    seen
}

/// Reads a stream as strict clients do, and asserts each of their rules.
fn read(chunks: &[Value], seen: &mut Seen) {
    if let Some(first) = chunks.first() {
        assert_eq!(first["choices"][0]["delta"]["role"], "assistant");
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for chunk in chunks {
        assert!(!text(&chunk["id"]).is_empty() && chunk["id"] == chunks[0]["id"]);
        assert!(chunk["created"].as_u64() > Some(0) && !text(&chunk["model"]).is_empty());
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!(seen.finish, None, "nothing follows the reason but the usage: {chunk:?}");
        let [choice] = &chunk["choices"].as_array().unwrap()[..] else { panic!("{chunk:?}") };
        let delta = &choice["delta"];
        seen.content.push_str(&text(&delta["content"]));
        seen.reasoning.push_str(&text(&delta["reasoning_content"]));
        let calls = delta["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(calls.len() <= 1, "one call a chunk");
        for call in calls {
            assert_eq!(call["index"], seen.calls.len(), "dense from 0");
            assert!(!text(&call["id"]).is_empty() && call["type"] == "function");
            let arguments = call["function"]["arguments"].as_str().unwrap().to_owned();
            assert!(serde_json::from_str::<Value>(&arguments).unwrap().is_object());
            seen.calls.push((call["function"]["name"].as_str().unwrap().to_owned(), arguments));
        }
        seen.finish = choice["finish_reason"].as_str().map(str::to_owned);
    }
    assert_eq!(seen.finish.as_deref() == Some("tool_calls"), !seen.calls.is_empty(), "{seen:?}");
    assert_eq!(seen.finish.is_some(), seen.failed.is_none(), "{seen:?}");
}

/// Returns an answer in one piece with this finish reason.
fn answer(text: &str, reason: &str) -> Vec<Value> {
    vec![says(text), stops(reason)]
}

#[test]
fn the_tools_are_taught_by_the_prompt_and_a_call_comes_back_as_one() {
    let text = format!("Let me look.\n\n{}", call("weather", &json!({"city": "Oslo"})));
    let seen = run(request(), &[answer(&text, "stop")]);
    assert_eq!(seen.content, "Let me look.");
    assert_eq!(seen.calls, [("weather".to_owned(), r#"{"city":"Oslo"}"#.to_owned())]);
    assert_eq!(seen.finish.as_deref(), Some("tool_calls"));
    let body = &seen.requests[0];
    assert_eq!((body.get("tools"), &body["stream"]), (None, &json!(true)));
    let [system, user] = &body["messages"].as_array().unwrap()[..] else { panic!("{body:#}") };
    assert!(system["content"].as_str().unwrap().contains("weather(city: string)"), "{system:#}");
    assert_eq!(*user, json!({"role": "user", "content": "Weather in Oslo?"}));
}

/// Examples for small models come before the client's messages, whether they are messages of their
/// own or part of the system text.
#[test]
fn examples_stand_before_the_history_and_corrections_after_it() {
    let damaged =
        "<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": }\n</arguments>\n</use_mcp_tool>";
    let good = call("weather", &json!({"city": "Oslo"}));
    for (model, in_text) in [("m-1b", false), ("deepseek-r1:1.5b", true)] {
        let mut asked = request();
        asked["model"] = json!(model);
        asked["messages"] = json!([
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Weather in Oslo?"},
        ]);
        let seen = run(asked, &[answer(damaged, "stop"), answer(&good, "stop")]);
        assert_eq!(seen.calls, [("weather".to_owned(), r#"{"city":"Oslo"}"#.to_owned())]);
        let sent = |round: usize| {
            let messages = seen.requests[round]["messages"].as_array().unwrap().iter();
            messages.map(|m| (m["role"].as_str().unwrap(), m["content"].as_str().unwrap())).collect::<Vec<_>>()
        };
        let (first, second) = (sent(0), sent(1));
        let examples = first.len() - if in_text { 3 } else { 4 };
        assert_eq!(examples == 0, in_text, "{first:#?}");
        let before: String = first[..first.len() - 2].iter().map(|(_, text)| *text).collect();
        assert!(before.contains("Be brief.") && before.contains("city-1"), "{first:#?}");
        assert!(before.ends_with("Hi.") && before.matches("Weather in Oslo?").count() == 0, "{first:#?}");
        assert_eq!(first[first.len() - 2..], [("assistant", "Hello."), ("user", "Weather in Oslo?")]);
        let shown = &first[usize::from(!in_text)..first.len() - 3];
        assert!(shown.iter().enumerate().all(|(at, (role, _))| *role == ["user", "assistant"][at % 2]), "{first:#?}");
        assert_eq!(second[..first.len()], first[..]);
        assert!(second[first.len()].1.contains("{\"city\": }") && second.len() == first.len() + 2, "{second:#?}");
    }
}

#[test]
fn fields_that_are_not_ours_pass_through_both_ways() {
    let mut asked = request();
    asked["min_p"] = json!(0.1);
    asked["stop"] = json!(["END"]);
    asked["messages"] = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ann", "content": [{"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
    ]);
    let mut adapter = Adapter::new(&settings(), asked.clone()).unwrap();
    let body = adapter.request().unwrap();
    assert_eq!((&body["min_p"], &body["stop"]), (&json!(0.1), &json!(["END"])));
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be brief.\n\n"));
    assert_eq!(body["messages"][1], asked["messages"][1]);
    let mut chunk = says("A dot.");
    chunk["system_fingerprint"] = json!("fp1");
    let text = adapter.push(&chunk.to_string()).unwrap();
    assert_eq!(chunks_in(&text).next().unwrap()["system_fingerprint"], "fp1");
}

#[test]
fn a_damaged_call_is_corrected_and_the_client_sees_none_of_it() {
    let damaged = "I look. <use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": }\n</arguments>\n</use_mcp_tool>";
    let good = format!("Sorry, again.\n{}", call("weather", &json!({"city": "Oslo"})));
    let seen = run(request(), &[answer(damaged, "stop"), answer(&good, "stop")]);
    assert_eq!(seen.content, "I look.", "the prose before the call of a correction is dropped");
    assert_eq!(seen.calls.len(), 1);
    let told = seen.requests[1]["messages"].as_array().unwrap();
    assert_eq!(told.len(), 4);
    assert_eq!(told[1]["content"], "Weather in Oslo?");
    assert!(told[2]["content"].as_str().unwrap().contains("{\"city\": }"), "{:#}", told[2]);
    assert!(told[3]["content"].as_str().unwrap().contains("JSON"), "{:#}", told[3]);
}

#[test]
fn an_answer_after_a_correction_is_told() {
    let damaged = answer(
        "<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": }\n</arguments>\n</use_mcp_tool>",
        "stop",
    );
    let seen = run(request(), &[damaged, answer("I cannot look it up.", "stop")]);
    assert_eq!((seen.content.as_str(), seen.finish.as_deref()), ("I cannot look it up.", Some("stop")));
}

#[test]
fn a_truncated_call_is_never_finished_as_a_call() {
    let whole = call("weather", &json!({"city": "Oslo"}));
    // After the closing bracket of the arguments only tags are missing, so the call can be
    // accepted.
    let end = whole.find('}').unwrap();
    for cut in (1..end).filter(|at| whole.is_char_boundary(*at)) {
        let answers = vec![answer(&whole[..cut], "length"); 3];
        let seen = run(request(), &answers);
        assert!(seen.calls.is_empty(), "{cut}: {seen:?}");
        assert!(matches!(seen.finish.as_deref(), Some("length" | "stop")), "{cut}: {seen:?}");
        // A stream that breaks off is an error, with or without a call in it.
        let seen = run(request(), &[vec![says(&whole[..cut])]]);
        assert!(seen.calls.is_empty() && seen.failed.is_some(), "{cut}: {seen:?}");
    }
}

#[test]
fn rounds_that_the_client_does_not_see_have_as_many_tokens_as_its_answer() {
    let mut asked = request();
    asked["max_tokens"] = json!(100);
    let round = |words: &str, written: u64| {
        let mut round = answer(&(words.to_owned() + &call("nothing", &json!({}))), "stop");
        round.push(usage(10, written));
        round
    };
    let limits = |seen: &Seen| seen.requests.iter().map(|r| r["max_tokens"].as_u64().unwrap()).collect::<Vec<_>>();
    let answered = answer("It is sunny in Oslo.", "stop");
    let seen = run(asked.clone(), &[round("", 60), answered.clone()]);
    assert_eq!((limits(&seen), seen.content.as_str()), (vec![100, 100], "It is sunny in Oslo."));
    let seen = run(asked.clone(), &[round("", 100), round("", 100)]);
    assert_eq!((limits(&seen), seen.finish.as_deref()), (vec![100, 100], Some("length")), "twice as many in all");
    // Text that the client has was paid for.
    let seen = run(asked, &[round(&"I look. ".repeat(20), 60), answered]);
    assert!(seen.content.contains("I look.") && (10..70).contains(&limits(&seen)[1]), "{seen:?}");
}

#[test]
fn what_the_client_chooses_is_held_to() {
    let text = call("weather", &json!({"city": "Oslo"})) + "\n" + &call("search", &json!({"query": "x"}));
    let seen = run(request(), &[answer(&text, "stop")]);
    assert_eq!(seen.calls.len(), 2);
    let mut one = request();
    one["parallel_tool_calls"] = json!(false);
    assert_eq!(run(one, &[answer(&text, "stop")]).calls.len(), 1);
    let mut required = request();
    required["tool_choice"] = json!("required");
    let seen = run(required.clone(), &[answer("Sunny.", "stop"), answer(&text, "stop")]);
    assert_eq!(seen.calls.len(), 2, "{seen:?}");
    let seen = run(required, &vec![answer("Sunny.", "stop"); 3]);
    assert_eq!(seen.failed.unwrap().code, Some("tool_call_missing"));
    let mut named = request();
    named["tool_choice"] = json!({"type": "function", "function": {"name": "search"}});
    let seen = run(
        named,
        &[
            answer(&call("weather", &json!({"city": "Oslo"})), "stop"),
            answer(&call("search", &json!({"query": "x"})), "stop"),
        ],
    );
    assert_eq!(seen.calls, [("search".to_owned(), r#"{"query":"x"}"#.to_owned())]);
    let mut none = request();
    none["tool_choice"] = json!("none");
    let seen = run(none, &[answer("Sunny.", "stop")]);
    assert_eq!((seen.content.as_str(), seen.calls.len()), ("Sunny.", 0));
}

#[test]
fn an_answer_matches_the_schema_or_fails() {
    let mut asked = request();
    asked["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "t", "schema":
        {"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]}}});
    let seen = run(asked.clone(), &[answer("About 3.", "stop"), answer("```json\n{\"degrees\": 3}\n```", "stop")]);
    assert_eq!((seen.content.as_str(), seen.requests.len()), (r#"{"degrees":3}"#, 2));
    assert_eq!(seen.requests[0].get("response_format"), None, "it would make calls impossible");
    let seen = run(asked.clone(), &vec![answer("About 3.", "stop"); 3]);
    assert_eq!((seen.failed.unwrap().code, seen.content.as_str()), (Some("output_mismatch"), ""));
    asked.as_object_mut().unwrap().remove("tools");
    let seen = run(asked, &[answer("{\"degrees\": 3}", "stop")]);
    assert!(seen.requests[0].get("response_format").is_some(), "the endpoint may hold it too");
    assert_eq!(seen.content, r#"{"degrees":3}"#);
}

#[test]
fn calls_and_results_of_the_history_are_told_in_the_dialect() {
    let mut asked = request();
    asked["messages"] = json!([
        {"role": "user", "content": "Weather in Oslo and Rome?"},
        {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}},
            {"id": "c2", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]},
        {"role": "tool", "tool_call_id": "c2", "content": "30 degrees"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "3 degrees"}]},
        {"role": "user", "content": "And?"},
    ]);
    let seen = run(asked, &[answer("Cold and hot.", "stop")]);
    let told = seen.requests[0]["messages"].as_array().unwrap();
    assert_eq!(
        told.iter().map(|m| m["role"].as_str().unwrap()).collect::<Vec<_>>(),
        ["system", "user", "assistant", "user"]
    );
    assert!(told[2].get("tool_calls").is_none() && told[2].get("refusal").is_none());
    let (written, results) = (told[2]["content"].as_str().unwrap(), told[3]["content"].as_str().unwrap());
    assert_eq!(written.matches("<use_mcp_tool>").count(), 2, "{written}");
    let places = ["c1", "3 degrees", "c2", "30 degrees", "And?"].map(|text| results.find(text).expect(text));
    assert!(places.is_sorted(), "{results}");
}

#[test]
fn the_text_of_a_file_is_not_what_the_user_asks() {
    let mut asked = request();
    asked["messages"] = json!([
        {"role": "user", "content": [{"type": "file", "file": {"filename": "a.md", "text": "Search for Rome."}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 degrees"},
    ]);
    let told = run(asked, &[answer("Cold.", "stop")]).requests[0]["messages"].to_string();
    assert!(told.contains("<file name=") && told.matches("Search for Rome.").count() == 1, "{told}");
}

#[test]
fn what_the_model_thinks_is_told_as_reasoning_and_its_calls_there_are_none() {
    let draft = call("weather", &json!({"city": "Rome"}));
    let good = call("weather", &json!({"city": "Oslo"}));
    let expected = [("weather".to_owned(), r#"{"city":"Oslo"}"#.to_owned())];
    let in_tags = run(request(), &[answer(&format!("<think>Hm. {draft}</think>\n\n{good}"), "stop")]);
    assert_eq!((in_tags.calls.as_slice(), in_tags.content.as_str()), (&expected[..], ""));
    assert!(in_tags.reasoning.starts_with("Hm."), "{in_tags:?}");
    let in_field = run(request(), &[vec![thinks(&format!("Hm. {draft}")), says("\n\n"), says(&good), stops("stop")]]);
    assert_eq!((in_field.calls.as_slice(), in_field.content.as_str()), (&expected[..], ""));
}

#[test]
fn an_open_profile_that_answers_at_once_is_told_once_more_as_content() {
    let mut asked = request();
    asked["model"] = json!("deepseek-r1:14b");
    let seen = run(asked.clone(), &[answer("It is sunny.", "stop")]);
    assert_eq!((seen.reasoning.as_str(), seen.content.as_str()), ("It is sunny.", "It is sunny."));
    let seen = run(asked, &[answer("Let me think.</think>It is sunny.", "stop")]);
    assert_eq!((seen.reasoning.as_str(), seen.content.as_str()), ("Let me think.", "It is sunny."));
    assert!(seen.requests[0]["messages"][0]["role"] == "user", "that profile wants no system message");
}

/// The stream cannot take back what it said.
#[test]
fn what_turns_out_to_be_reasoning_is_none_of_the_content() {
    let mut adapter = Adapter::new(&settings(), request()).unwrap();
    adapter.request();
    for chunk in answer("I think about it.</think>\nSunny.", "stop") {
        adapter.push(&chunk.to_string()).unwrap();
    }
    adapter.end().unwrap();
    assert_eq!((adapter.reasoning(), &*adapter.content()), ("I think about it.", "\n\nSunny."));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        (json!({"n": 2}), "n"),
        (json!({"logprobs": true}), "logprobs"),
        (json!({"tool_choice": {"type": "function", "function": {"name": "wether"}}}), "tool_choice"),
        (json!({"tool_choice": "some"}), "tool_choice"),
        (json!({"tools": [tool("a", &[]), tool("a", &["x"])]}), "tools[1].function.name"),
        (json!({"tools": [tool(" ", &[])]}), "tools[0].function.name"),
        (json!({"tools": [{"type": "custom", "custom": {"name": "f"}}]}), "tools[0].type"),
        (json!({"tools": [7]}), "tools[0]"),
        (json!({"tools": "all"}), "tools"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": "Hi"}), "messages"),
        (json!({"messages": ["Hi"]}), "messages[0]"),
        (json!({"messages": [{"content": "Hi"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "critic", "content": "Hi"}]}), "messages[0].role"),
        (
            json!({"messages": [{"role": "assistant", "tool_calls": [{"id": "x"}]}]}),
            "messages[0].tool_calls[0].function.name",
        ),
        (json!({"max_tokens": -1}), "max_tokens"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"response_format": {"type": "json_schema", "json_schema": {}}}), "response_format.json_schema.schema"),
        (json!({"model": 7}), "model"),
    ];
    for (change, place) in cases {
        let mut asked = request();
        asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refusal = run(asked, &[]).failed.unwrap_or_else(|| panic!("{change}"));
        assert_eq!((refusal.status, refusal.param.as_deref()), (400, Some(place)), "{refusal:?}");
    }
}

#[test]
fn strange_requests_are_answered_all_the_same() {
    let many: Vec<Value> = (0..2_000).map(|n| tool(&format!("tool_{n}"), &["x"])).collect();
    for change in [
        json!({"messages": [{"role": "assistant", "content": ""}, {"role": "system", "content": "S"}, {"role": "user", "content": ""}]}),
        json!({"messages": [{"role": "user"}]}),
        json!({"messages": [{"role": "developer", "content": 7}]}),
        json!({"messages": [{"role": "assistant", "content": "Hi"}]}),
        json!({"tools": many}),
        json!({"tools": [{"type": "function", "function": {"name": "f", "description": null, "parameters": null}}]}),
        json!({"temperature": null, "max_tokens": null, "tool_choice": null, "response_format": null}),
    ] {
        let mut asked = request();
        asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let seen = run(asked, &[answer("Fine.", "stop")]);
        assert_eq!(seen.content, "Fine.", "{:?}", seen.failed);
    }
}

/// Returns messages of models, each as (reasoning field, content, finish reason), round by round.
fn conversations() -> Vec<Vec<(&'static str, String, &'static str)>> {
    let good = call("weather", &json!({"city": "Oslo"}));
    let damaged = good.replace("\"Oslo\"", "");
    vec![
        vec![("", "Just a plain answer, 3 < 4 & `code`.\n".into(), "stop")],
        vec![("", format!("Let me look.\n\n{good}\n"), "stop")],
        vec![("", format!("{good}\n{good}"), "stop")],
        vec![("Hm, Oslo.", format!("\n\n{good}"), "stop")],
        vec![("", format!("<think>\nHm.\n</think>\n\n{good}\nDone."), "stop")],
        vec![("", format!("I try. {damaged}"), "stop"), ("", format!("Again. {good}"), "stop")],
        vec![("", damaged.clone(), "stop"), ("", "No call then.".into(), "stop")],
        vec![("", format!("Cut {}", &good[..good.len() / 2]), "length"); 3],
        vec![("", "thinking aloud</think>\n\nThe answer is 4.".into(), "stop")],
        vec![("", format!("For example:\n```xml\n{good}\n```\nThat is how."), "stop")],
        vec![("", String::new(), "stop"), ("", "Here I am.".into(), "stop")],
    ]
}

/// Divides a text into pieces of the given lengths, which are repeated.
fn cut<'a>(text: &'a str, lengths: &[usize]) -> Vec<&'a str> {
    let (mut pieces, mut rest, mut lengths) = (Vec::new(), text, lengths.iter().cycle());
    while !rest.is_empty() {
        let mut end = (*lengths.next().unwrap()).min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, more) = rest.split_at(end);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

fn streamed(rounds: &[(&str, String, &str)], lengths: &[usize]) -> Vec<Vec<Value>> {
    let stream = |(reasoning, content, reason): &(&str, String, &str)| {
        let reasoning = cut(reasoning, lengths).into_iter().map(thinks);
        let content = cut(content, lengths).into_iter().map(says);
        reasoning.chain(content).chain([stops(reason)]).collect()
    };
    rounds.iter().map(stream).collect()
}

#[test]
fn every_cut_into_equal_chunks_gives_the_same_message() {
    for model in ["m", "deepseek-r1"] {
        for rounds in conversations() {
            let asked = || {
                let mut asked = request();
                asked["model"] = model.into();
                asked
            };
            let rounds = [rounds.clone(), vec![("", "Enough.".into(), "stop"); 2]].concat();
            let whole = run(asked(), &streamed(&rounds, &[1 << 20]));
            for length in [1, 3, 16] {
                assert_eq!(run(asked(), &streamed(&rounds, &[length])), whole, "{model} {length} {rounds:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn every_cut_gives_the_same_message(which in 0..11_usize, lengths in prop::collection::vec(1..24_usize, 1..12)) {
        let rounds = [conversations()[which].clone(), vec![("", "Enough.".into(), "stop"); 2]].concat();
        let whole = run(request(), &streamed(&rounds, &[1 << 20]));
        prop_assert_eq!(run(request(), &streamed(&rounds, &lengths)), whole);
    }
}

#[test]
fn a_call_that_may_be_an_example_is_asked_for_once_and_else_stays_text() {
    let (arguments, list) = (json!({"city": "Oslo"}), "[weather(city=\"Oslo\")]");
    let own = call("weather", &arguments);
    for shown in [format!("I would call this:\n```\n{own}\n```"), format!("So: {list}")] {
        let meant = run(request(), &[vec![says(&shown), stops("stop")], vec![says(&own), stops("stop")]]);
        assert_eq!(meant.calls, [("weather".to_owned(), arguments.to_string())], "{shown}: {meant:?}");
        assert_eq!(meant.requests.len(), 2, "{shown}");
        assert!(!meant.content.contains("Oslo"), "it is a call and no text: {}", meant.content);
        let told = meant.requests[1]["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
        assert!(told.contains("alone, at the start of a line"), "{told}");

        let kept = run(request(), &[vec![says(&shown), stops("stop")], vec![says(&shown), stops("stop")]]);
        assert_eq!((kept.calls.len(), kept.finish.as_deref(), kept.requests.len()), (0, Some("stop"), 2), "{shown}");
        assert_eq!(kept.content.matches("Oslo").count(), 1, "{shown}: {}", kept.content);
    }
    // A call that does not begin its line is asked for once more, in a round of its own.
    for plain in [format!("I call it.\n{own}"), format!("So I call: {own}")] {
        let plain = run(request(), &[vec![says(&plain), stops("stop")]]);
        assert_eq!((plain.calls.len(), plain.requests.len()), (1, 1));
    }
}
