//! Spans of an agent in a separate program.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolgraft::tools::Decision;
use toolgraft::{Agent, Functions, OpenAi, Policy, Tool};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};
use toolgraft_testkit::spans::recorded;

#[tokio::test]
async fn a_turn_its_requests_and_its_calls_are_spans_within_the_programs_own() {
    let (spans, _guard) = recorded();
    let endpoint = Endpoint::start([
        Reply::refused(503, "HUSHED"),
        Reply::text(&mcp_call("demo", "look", &json!({"place": "HUSHED"}))),
        Reply::text("Done."),
    ]);
    let functions = Functions::new("demo")
        .with(Tool::new("look"), |_: Map<String, Value>| async { Err::<String, _>(std::io::Error::other("HUSHED")) });
    let model = OpenAi::builder(endpoint.url(), "m").backoff(Duration::ZERO).api_key("HUSHED").build().unwrap();
    let agent = Agent::builder(model, functions).policy(Policy::new(Decision::Allow)).build();
    let own = tracing::info_span!(target: "program", "job");
    let run = own.in_scope(|| agent.run("HUSHED?")).unwrap();
    let finished = run.finish().await;
    assert_eq!((finished.answer.as_str(), finished.rounds), ("Done.", 2));
    let turns = spans.of("invoke_agent");
    assert_eq!(
        (turns.len(), turns[0].parent, turns[0].field("toolgraft.rounds")),
        (1, own.id().map(|id| id.into_u64()), "2")
    );
    assert!(turns[0].is_closed());
    let chats = spans.of("chat");
    assert_eq!((chats.len(), chats[0].parent), (2, Some(turns[0].id)));
    let retries = spans.events("retry");
    assert_eq!((retries.len(), retries[0].parent, retries[0].field("error.type")), (1, Some(chats[0].id), "503"));
    let seen = endpoint.seen();
    let told: Vec<_> = seen.iter().map(|request| request.header("traceparent").unwrap_or_default()).collect();
    assert_eq!(told, [chats[0].traceparent(), chats[0].traceparent(), chats[1].traceparent()]);
    let tools = spans.of("execute_tool");
    assert_eq!((tools.len(), tools[0].parent, tools[0].field("error.type")), (1, Some(turns[0].id), "tool_error"));
    assert!(!spans.text().contains("HUSHED"), "{}", spans.text());
}

#[tokio::test]
async fn a_turn_that_fails_says_so_in_its_span() {
    let (spans, _guard) = recorded();
    let endpoint = Endpoint::start([Reply::refused(401, "no")]);
    let agent = Agent::builder(OpenAi::new(endpoint.url(), "m").unwrap(), Functions::unnamed()).build();
    agent.run("Hi").unwrap().finish().await;
    let (turns, chats) = (spans.of("invoke_agent"), spans.of("chat"));
    assert_eq!((turns[0].field("error.type"), turns[0].field("otel.status_code")), ("model_failed", "ERROR"));
    assert_eq!((chats[0].field("error.type"), chats[0].field("gen_ai.provider.name")), ("401", "openai"));
}
