//! Native tools over real HTTP: the probe, the request's shape, the fallback.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "common/endpoint.rs"]
mod endpoint;

use endpoint::{Endpoint, Reply, delta, stops};
use serde_json::{Map, Value, json};
use toolgraft::agent::{Agent, AgentEvent, Finished};
use toolgraft::model::{Model, OpenAi};
use toolgraft::policy::{Otherwise, Policy};
use toolgraft::route::Functions;
use toolgraft::tool::{Tool, ToolsMode};

use futures::StreamExt;

fn agent(endpoint: &Endpoint) -> Agent {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = Functions::new("weather")
        .with(Tool::new("get").with_schema(schema), |args: Map<String, Value>| async move {
            Ok::<_, String>(format!("{}: 21 degrees", args["city"]))
        });
    let model = OpenAi::builder(endpoint.url(), "small-model").retries(0).build().unwrap();
    Agent::builder(model, tools).policy(Policy::new(Otherwise::Allow)).tools_mode(ToolsMode::Auto).build()
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

/// A native call as Ollama sends it: whole, in one delta, finished with `stop` by older ones.
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
