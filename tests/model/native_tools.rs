//! Native tools over real HTTP: the check for support, the form of requests, and the fallback.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use serde_json::{Map, Value, json};
use toolgraft::agent::Finished;
use toolgraft::message::{FinishReason, NativeCall};
use toolgraft::model::{ModelEvent, Request};
use toolgraft::tools::{Decision, ToolsMode};
use toolgraft::turn::MAX_EQUAL_CALLS;
use toolgraft::{Agent, AgentEvent, Functions, Message, Model, OpenAi, Policy, Tool};

use futures::StreamExt;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, delta, stops};

fn agent(endpoint: &Endpoint) -> Agent {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = Functions::new("weather")
        .with(Tool::new("get").with_schema(schema), |args: Map<String, Value>| async move {
            Ok::<_, String>(format!("{}: 21 degrees", args["city"]))
        });
    let model = OpenAi::builder(endpoint.url(), "small-model").retries(0).build().unwrap();
    Agent::builder(model, tools).policy(Policy::new(Decision::Allow)).tools_mode(ToolsMode::Auto).build()
}

async fn played(agent: &Agent) -> (Vec<String>, Finished) {
    let mut run = agent.run("Weather in Oslo?").unwrap();
    let mut notices = Vec::new();
    loop {
        match run.next().await.unwrap() {
            AgentEvent::Notice { notice } => notices.push(notice.to_string()),
            AgentEvent::Finished(finished) => return (notices, *finished),
            _ => {}
        }
    }
}

/// Returns a native call as Ollama sends it: whole, in one delta; older versions finish it with
/// `stop`.
fn calls() -> Reply {
    let function = json!({"name": "weather__get", "arguments": "{\"city\":\"Oslo\"}"});
    let call = json!({"index": 0, "id": "call_abc", "type": "function", "function": function});
    Reply::events(&[delta(json!({"role": "assistant", "content": "", "tool_calls": [call]})), stops("stop")]).done()
}

#[tokio::test]
async fn an_endpoint_that_says_so_gets_tools_calls_and_results_in_their_fields() {
    let setup = Endpoint::setup().models(&["small-model"]).tools(true);
    let endpoint = setup.start([calls(), Reply::text("It is 21 degrees.")]);
    let (notices, finished) = played(&agent(&endpoint)).await;
    assert_eq!((finished.answer.as_str(), finished.calls, notices.len()), ("It is 21 degrees.", 1, 0));
    let seen: Vec<Value> = endpoint.seen().into_iter().map(|seen| seen.body).filter(|body| !body.is_null()).collect();
    assert_eq!(seen[0]["tools"][0]["function"]["name"], "weather__get");
    assert_eq!(seen[1]["messages"][1]["tool_calls"][0]["id"], "call_abc");
    let result = json!({"role": "tool", "tool_call_id": "call_abc", "content": "\"Oslo\": 21 degrees"});
    assert_eq!(seen[1]["messages"][2], result);
}

#[tokio::test]
async fn a_refusal_falls_back_once_and_is_remembered() {
    let refused = Reply::refused(400, "registry.ollama.ai/library/small-model does not support tools");
    let replies = [refused, Reply::text("Sunny."), Reply::text("Still sunny.")];
    let endpoint = Endpoint::setup().models(&["small-model"]).tools(true).start(replies);
    let agent = agent(&endpoint);
    let (notices, finished) = played(&agent).await;
    assert_eq!((finished.answer.as_str(), finished.rounds, notices.len()), ("Sunny.", 1, 1));
    assert!(notices[0].contains("does not support tools"), "{notices:?}");
    let (notices, finished) = played(&agent).await;
    assert_eq!((finished.answer.as_str(), notices.len()), ("Still sunny.", 0));
    let carried: Vec<bool> =
        endpoint.seen().iter().filter(|s| !s.body.is_null()).map(|s| s.body.get("tools").is_some()).collect();
    assert_eq!(carried, [true, false, false]);
}

#[tokio::test]
async fn what_the_endpoint_says_of_its_model_is_read() {
    for said in [Some(true), Some(false), None] {
        let setup = Endpoint::setup().models(&["small-model"]);
        let endpoint = said.into_iter().fold(setup, |setup, said| setup.tools(said)).start([]);
        let model = OpenAi::new(endpoint.url(), "small-model").unwrap();
        assert_eq!(model.native_tools(None).await, said);
        drop(endpoint);
        assert_eq!(model.with_model("small-model").native_tools(None).await, said, "it is asked once per model");
    }
}

#[tokio::test]
async fn what_many_want_to_know_at_once_is_asked_once() {
    let endpoint = Endpoint::setup().models(&["small-model"]).tools(true).start([]);
    let model = OpenAi::new(endpoint.url(), "small-model").unwrap();
    let asked = futures::future::join_all((0..50).map(|_| model.native_tools(None))).await;
    assert!(asked.iter().all(|said| *said == Some(true)), "{asked:?}");
    let mut probed = endpoint.probed();
    let questions = probed.len();
    probed.sort();
    probed.dedup();
    assert_eq!(probed.len(), questions, "{probed:?}");
    // A dropped question does not take the answer from the others.
    let other = model.with_model("other");
    let (left, stays) = (other.native_tools(None), other.native_tools(None));
    let _ = tokio::time::timeout(std::time::Duration::ZERO, left).await;
    assert_eq!(stays.await, Some(true));
}

#[tokio::test]
async fn a_question_without_an_answer_takes_none_from_the_others() {
    let setup = Endpoint::setup().models(&["small-model"]).mutes("/api/show");
    let endpoint = setup.serves("/props", json!({"default_generation_settings": {"n_ctx": 8192}})).start([]);
    let model = OpenAi::new(endpoint.url(), "small-model").unwrap();
    assert_eq!(model.context_window(None).await.map(|window| window.tokens), Some(8192));
    drop(endpoint);
    assert_eq!(model.context_window(None).await.map(|window| window.tokens), Some(8192), "it is known");
}

#[tokio::test]
async fn a_server_that_is_not_up_yet_is_asked_again() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let model = OpenAi::new(format!("http://127.0.0.1:{port}/v1"), "small-model").unwrap();
    assert_eq!(model.native_tools(None).await, None);
    let _endpoint = Endpoint::setup().port(port).models(&["small-model"]).tools(true).start([]);
    assert_eq!(model.native_tools(None).await, Some(true));
}

/// Returns the calls of an answer whose chunks have these lists of `tool_calls`, as `name
/// arguments`, after the id if there is one.
async fn put_together(lists: &[Value]) -> Vec<String> {
    let mut events: Vec<Value> =
        lists.iter().map(|list| delta(json!({"role": "assistant", "content": null, "tool_calls": list}))).collect();
    events.push(stops("stop"));
    let endpoint = Endpoint::start([Reply::events(&events).done()]);
    let model = OpenAi::new(endpoint.url(), "small-model").unwrap();
    let events: Vec<_> = model.stream(Request::new(vec![Message::user("Hello")])).collect().await;
    let (last, calls) = events.split_last().unwrap();
    assert_eq!(*last, Ok(ModelEvent::Finish(FinishReason::Stop)), "{events:?}");
    let told = calls.iter().map(|event| match event {
        Ok(ModelEvent::Call(NativeCall { id, name, arguments, .. })) => {
            format!("{} {name} {arguments}", id.as_deref().unwrap_or("-"))
        }
        other => panic!("{other:?}"),
    });
    told.collect()
}

/// Returns a piece of a call without the fields that are null.
fn piece(index: impl Into<Value>, id: impl Into<Value>, name: impl Into<Value>, arguments: impl Into<Value>) -> Value {
    let kept = |fields: [(&str, Value); 2]| -> Map<String, Value> {
        fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.to_owned(), value)).collect()
    };
    let mut piece = kept([("index", index.into()), ("id", id.into())]);
    piece.insert("function".to_owned(), kept([("name", name.into()), ("arguments", arguments.into())]).into());
    piece.into()
}

const NONE: Value = Value::Null;

#[tokio::test]
async fn pieces_without_index_or_id_are_put_together() {
    let by_id = [
        json!([piece(NONE, "a", "get", "{\"city\": ")]),
        json!([piece(NONE, "b", "list", "")]),
        json!([piece(NONE, "a", NONE, "\"Oslo\"}")]),
        json!([piece(NONE, NONE, NONE, "")]),
    ];
    assert_eq!(put_together(&by_id).await, [r#"a get {"city": "Oslo"}"#, "b list {}"]);
    let by_index = [
        json!([piece(0, NONE, "get", "{\"city\": "), piece(1, NONE, "get", "{\"city\": ")]),
        json!([piece(1, NONE, NONE, "\"Rome\"}")]),
        json!([piece(0, NONE, NONE, "\"Oslo\"}")]),
    ];
    assert_eq!(put_together(&by_index).await, [r#"- get {"city": "Oslo"}"#, r#"- get {"city": "Rome"}"#]);
    let by_order = [
        json!([piece(NONE, NONE, "get", "{\"city\": ")]),
        json!([piece(NONE, NONE, NONE, "\"Oslo\"}")]),
        json!([piece(NONE, NONE, "get", "{\"city\": \"Rome\"}")]),
    ];
    assert_eq!(put_together(&by_order).await, [r#"- get {"city": "Oslo"}"#, r#"- get {"city": "Rome"}"#]);
    let side_by_side = [json!([piece(NONE, NONE, "now", NONE), piece(NONE, NONE, "now", NONE)])];
    assert_eq!(put_together(&side_by_side).await, ["- now {}", "- now {}"]);
}

#[tokio::test]
async fn a_call_that_is_made_too_often_ends_the_stream() {
    let oslo = r#"{"city": "Oslo"}"#;
    let one = |n: usize| delta(json!({"tool_calls": [piece(n, format!("c{n}"), "get", oslo)]}));
    let events: Vec<Value> = (0..62).map(one).collect();
    let mut endpoint = Endpoint::start([Reply::events(&events).end(End::Stall)]);
    let model = OpenAi::new(endpoint.url(), "small-model").unwrap();
    let events: Vec<_> = model.stream(Request::new(vec![Message::user("Hello")])).collect().await;
    let (last, calls) = events.split_last().unwrap();
    assert_eq!(*last, Ok(ModelEvent::Finish(FinishReason::ToolCalls)), "{events:?}");
    // One more than is allowed, so that the turn reports it.
    assert_eq!(calls.len(), MAX_EQUAL_CALLS + 1, "{events:?}");
    endpoint.gone().await;
    // Calls that are announced first and written later are not equal.
    let begun = (0..8).map(|n| json!([piece(n, format!("c{n}"), "get", "")]));
    let written = (0..8).map(|n| json!([piece(n, NONE, NONE, format!("{{\"n\": {n}}}"))]));
    let lists: Vec<Value> = begun.chain(written).collect();
    assert_eq!(put_together(&lists).await.len(), 8);
}

#[tokio::test]
async fn a_new_id_or_name_at_the_same_index_begins_a_call() {
    let by_id = [
        json!([piece(0, "a", "get", "{\"city\": \"Oslo\"}")]),
        json!([piece(0, "b", "get", "{\"city\": \"Oslo\"}")]),
        json!([piece(0, "c", "now", "")]),
        json!([piece(0, "d", "now", "")]),
        json!([piece(0, "e", "get", ""), piece(0, "f", "get", "")]),
        json!([piece(0, NONE, NONE, "{}")]),
    ];
    let calls =
        [r#"a get {"city": "Oslo"}"#, r#"b get {"city": "Oslo"}"#, "c now {}", "d now {}", "e get {}", "f get {}"];
    assert_eq!(put_together(&by_id).await, calls);
    let by_name = [
        json!([piece(0, NONE, "now", "")]),
        json!([piece(0, NONE, "get", "{\"city\": \"Oslo\"}")]),
        json!([piece(0, NONE, "get", "{\"city\": \"Rome\"}")]),
        json!([piece(0, "", "list", "{\"all\": ")]),
        json!([piece(0, "", "", "true}")]),
    ];
    let calls = ["- now {}", r#"- get {"city": "Oslo"}"#, r#"- get {"city": "Rome"}"#, r#"- list {"all": true}"#];
    assert_eq!(put_together(&by_name).await, calls);
}

#[tokio::test]
async fn names_and_ids_that_are_repeated_or_empty_begin_no_call() {
    for (id, name) in [("", ""), ("", "get"), ("a", ""), ("a", "get"), ("b", ""), ("b", "get")] {
        let pieces = [
            json!([piece(0, "a", "get", "{")]),
            json!([piece(0, id, name, "\"city\": {\"name\": \"Oslo\"}")]),
            json!([piece(0, id, name, "}")]),
            json!([piece(0, id, "", "")]),
        ];
        assert_eq!(put_together(&pieces).await, [r#"a get {"city": {"name": "Oslo"}}"#], "{id:?} {name:?}");
    }
    let whole = json!([piece(0, "a", "get", "{\"city\": \"Oslo\"}")]);
    assert_eq!(put_together(&[whole.clone(), whole]).await, [r#"a get {"city": "Oslo"}"#]);
}

#[tokio::test]
async fn arguments_come_as_text_as_an_object_or_not_at_all() {
    for (arguments, read) in [
        (json!("{\"city\": \"Oslo\"}"), r#"{"city": "Oslo"}"#),
        (json!({"city": "Oslo"}), r#"{"city":"Oslo"}"#),
        (json!({}), "{}"),
        (json!(""), "{}"),
        (NONE, "{}"),
    ] {
        assert_eq!(put_together(&[json!([piece(0, "a", "get", arguments)])]).await, [format!("a get {read}")]);
    }
    let odd = json!([{"index": "0", "id": 7, "type": null, "function": {"name": "get", "arguments": null}}]);
    let nothing = json!([{"index": 1, "id": "b", "function": null}]);
    assert_eq!(put_together(&[odd, json!([]), NONE, nothing]).await, ["7 get {}"]);
}

#[tokio::test]
async fn a_server_that_its_list_names_is_asked_for_its_version() {
    for (owner, path) in [("vllm", "/version"), ("sglang", "/get_server_info")] {
        let setup = Endpoint::setup().models(&["small-model"]).owner(owner);
        let endpoint = setup.serves(path, json!({"version": "0.11.2", "more": 1})).start([]);
        let model = OpenAi::new(endpoint.url(), "small-model").unwrap();
        let info = model.model_info().await.unwrap();
        assert_eq!(info.version.as_deref(), Some("0.11.2"), "{owner}: {info:?}");
        assert_eq!(model.known_version("small-model"), info.version);
    }
    let nobody = Endpoint::setup().models(&["small-model"]).serves("/version", json!({"version": "7"})).start([]);
    let info = OpenAi::new(nobody.url(), "small-model").unwrap().model_info().await.unwrap();
    assert_eq!(info.version, None, "the page of another program says nothing of this one");
}
