//! A toolbox behind the server: its calls run here, beside the client's own.

use serde_json::{Map, Value, json};
use toolgraft::serve::Config;
use toolgraft::tools::DefaultDecision;
use toolgraft::{Functions, Policy, Tool};

use super::endpoint::{Endpoint, Reply, mcp_call};
use super::http::{call, read, request, serve};

fn with_toolbox(config: Config) -> Config {
    let functions = Functions::new("demo")
        .with(Tool::new("secret"), |_: Map<String, Value>| async {
            Ok::<_, std::convert::Infallible>("the word is SWORDFISH")
        })
        .with(Tool::new("wipe"), |_: Map<String, Value>| async { Ok::<_, std::convert::Infallible>("WIPED") });
    config.with_toolbox(functions, false).with_policy(Policy::new(DefaultDecision::Deny).allow("demo.secret"))
}

#[tokio::test]
async fn what_hidden_rounds_brought_is_told_when_the_client_comes_back() {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("demo", "secret", &json!({}))),
        1 => Reply::text(&call()),
        _ => Reply::text("Cold, and the word is known."),
    });
    let served = serve(&endpoint, with_toolbox).await;
    let mut asked = request(false);
    asked["model"] = json!("m+tools");
    let (_, whole) = served.chat(&asked).await;
    let message = &whole["choices"][0]["message"];
    let id = &message["tool_calls"][0]["id"];
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 1, "{whole:#}");
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.extend([message.clone(), json!({"role": "tool", "tool_call_id": id, "content": "-3 degrees"})]);
    let (_, whole) = served.chat(&asked).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "Cold, and the word is known.");
    let seen = endpoint.seen();
    let told = seen[2].body["messages"].as_array().unwrap();
    let roles: Vec<&str> = told.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    assert!(told[3]["content"].as_str().unwrap().contains("SWORDFISH"), "{:#}", told[3]);
    // Somebody else's history holds nothing of it.
    let other = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_x", "function": {"name": "weather", "arguments": "{}"}}]});
    asked["messages"] =
        json!([{"role": "user", "content": "Hi"}, other, {"role": "tool", "tool_call_id": "call_x", "content": "1"}]);
    served.chat(&asked).await;
    assert!(!endpoint.seen()[3].messages().contains("SWORDFISH"));
}

#[tokio::test]
async fn results_are_shown_where_that_is_wanted() {
    for shown in [false, true] {
        let endpoint = Endpoint::answer(|_, number| match number {
            0 => Reply::text(&mcp_call("demo", "secret", &json!({}))),
            _ => Reply::text("The word is known."),
        });
        let set = |config: Config| if shown { with_toolbox(config).with_shown_results() } else { with_toolbox(config) };
        let served = serve(&endpoint, set).await;
        let mut asked = request(false);
        asked["model"] = json!("m+tools");
        let (_, whole) = served.chat(&asked).await;
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], "The word is known.");
        let told = message["reasoning_content"].as_str().unwrap_or_default();
        assert_eq!(told, if shown { "\n[demo.secret] the word is SWORDFISH\n" } else { "" });
    }
}

#[tokio::test]
async fn what_nobody_allowed_does_not_run() {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("demo", "wipe", &json!({}))),
        _ => Reply::text("I may not."),
    });
    let served = serve(&endpoint, with_toolbox).await;
    let mut asked = request(false);
    asked["model"] = json!("m+tools");
    let (_, whole) = served.chat(&asked).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "I may not.");
    let told = endpoint.seen()[1].messages();
    assert!(told.contains("not allowed") && !told.contains("WIPED"), "{told}");
}

#[tokio::test]
async fn models_are_listed_a_second_time_with_the_tools() {
    let endpoint = Endpoint::setup().models(&["a", "b"]).start([]);
    let served = serve(&endpoint, with_toolbox).await;
    let sent = served.client.get(format!("{}/v1/models", served.url)).send().await.unwrap();
    let (_, list) = read(sent).await;
    let ids: Vec<&str> = list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "a+tools", "b+tools"]);
}
