//! Tests with histories and tools of real clients: cut, in older forms, with any names. They are
//! answered, and every chat template accepts the endpoint's request.

use serde_json::{Value, json};
use toolgraft::tools::ToolsMode;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::http::serve;
use super::shapes::{Chat, Messages, SHAPES, ask};

#[tokio::test]
async fn what_is_only_strange_is_answered() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for shape in SHAPES {
        let says = |role: &str, text: &str| shape.says(role, text);
        let many: Vec<String> = (0..2_000).map(|n| format!("tool_{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let tools = || shape.tools(&["f"]);
        for (what, body) in [
            ("2,000 tools", shape.request(json!([says("user", "Hi")]), shape.tools(&many))),
            ("no schema", shape.request(json!([says("user", "Hi")]), json!([shape.tool("f", None)]))),
            ("an empty schema", shape.request(json!([says("user", "Hi")]), json!([shape.tool("f", Some(json!({})))]))),
            ("an answer first", shape.request(json!([says("assistant", "Hi"), says("user", "Hi")]), tools())),
            ("an answer last", shape.request(json!([says("user", "Hi"), says("assistant", "Hi")]), tools())),
            (
                "a person twice",
                shape.request(
                    json!([says("user", "Hi"), says("user", "Hi"), says("assistant", "A"), says("assistant", "B")]),
                    tools(),
                ),
            ),
            ("no word", shape.request(json!([says("user", ""), says("assistant", ""), says("user", "")]), tools())),
            ("a call first", shape.request(json!([shape.call(), shape.result()]), tools())),
            (
                "a call of a tool that is gone",
                shape.request(json!([says("user", "Hi"), shape.call(), shape.result()]), shape.tools(&["g"])),
            ),
            ("a result without its call", shape.request(json!([says("user", "Hi"), shape.result()]), tools())),
            ("a result first", shape.request(json!([shape.result(), says("user", "Hi")]), tools())),
            ("a call that was stopped", shape.request(json!([says("user", "Hi"), shape.call()]), tools())),
            (
                "a call without a result",
                shape.request(json!([says("user", "Hi"), shape.call(), says("user", "Go on")]), tools()),
            ),
            (
                "a result twice",
                shape.request(json!([says("user", "Hi"), shape.call(), shape.result(), shape.result()]), tools()),
            ),
            (
                "a remark before the result",
                shape.request(json!([says("user", "Hi"), shape.call(), says("user", "Now"), shape.result()]), tools()),
            ),
            (
                "the same identifier again",
                shape.request(
                    json!([says("user", "Hi"), shape.call(), shape.result(), shape.call(), shape.result()]),
                    tools(),
                ),
            ),
        ] {
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert!(status == 200 && answer.to_string().contains("Fine."), "{shape:?}, {what}: {status} {answer:#}");
            takes_turns(&endpoint, &format!("{shape:?}, {what}"));
        }
    }
}

/// Asserts that every chat template accepts the endpoint's last request: a system text, then user
/// and model in turn, each with text.
fn takes_turns(endpoint: &Endpoint, what: &str) {
    let seen = endpoint.take_seen();
    let messages = seen.last().unwrap().body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let expected = ["system"].into_iter().chain(["user", "assistant"].into_iter().cycle()).take(roles.len());
    assert!(roles.len() > 1 && roles.iter().copied().eq(expected), "{what}: {roles:?}");
    assert!(messages.iter().all(|message| message["content"].as_str().is_some_and(|text| !text.is_empty())), "{what}");
}

/// A history with texts that an endpoint would refuse or drop is sent completely.
#[tokio::test]
async fn no_text_of_a_history_is_lost() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    let system = |text: &str| json!({"role": "system", "content": text});
    let parts =
        |texts: [&str; 2]| json!({"role": "user", "content": texts.map(|text| json!({"type": "text", "text": text}))});
    let developer = json!({"role": "developer", "content": "three"});
    let result = |text: &str| json!({"role": "tool", "tool_call_id": "c1", "content": text});
    let function =
        json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\": \"two\"}"}});
    let user = |text: &str| Chat.says("user", text);
    for (history, texts) in [
        (
            json!([system("one"), system("two"), developer, parts(["four", "five"])]),
            &["one", "two", "three", "four", "five"][..],
        ),
        (json!([system("one")]), &["one"]),
        (json!([Chat.says("assistant", "one"), user("two")]), &["one", "two"]),
        (
            json!([user("one"), Chat.says("assistant", "two"), system("three"), user("four")]),
            &["one", "two", "three", "four"],
        ),
        (json!([user("one"), Chat.call(), user("two"), result("three")]), &["one", "two", "three"]),
        (json!([result("one"), user("two")]), &["one", "two"]),
        (
            json!([user("one"), function, {"role": "function", "name": "f", "content": "three"}]),
            &["one", "two", "three"],
        ),
    ] {
        let body = Chat.request(history.clone(), Chat.tools(&["f"]));
        let (status, answer) = ask(&served, Chat, body.to_string()).await;
        assert_eq!(status, 200, "{answer:#}");
        let sent = endpoint.seen().last().unwrap().messages();
        assert!(texts.iter().all(|text| sent.contains(text)), "{history}: {sent}");
        takes_turns(&endpoint, &history.to_string());
    }
}

/// A request in the older form of tools gets its answer in that form.
#[tokio::test]
async fn functions_are_called_as_functions() {
    let text = "<use_mcp_tool>\n<tool_name>f</tool_name>\n<arguments>\n{}\n</arguments>\n</use_mcp_tool>";
    let endpoint = Endpoint::answer(move |_, _| Reply::text(text));
    let served = serve(&endpoint, |config| config).await;
    let mut body = json!({"model": "m", "messages": [Chat.says("user", "Hi")], "functions": [{"name": "f"}], "function_call": "auto"});
    let (status, answer) = ask(&served, Chat, body.to_string()).await;
    let choice = &answer["choices"][0];
    assert_eq!((status, &choice["finish_reason"]), (200, &json!("function_call")), "{answer:#}");
    assert_eq!(choice["message"]["function_call"], json!({"name": "f", "arguments": "{}"}));

    body["stream"] = json!(true);
    let sent = served.post(Chat.path(), &body).send().await.unwrap().text().await.unwrap();
    assert!(sent.contains("\"function_call\":{") && !sent.contains("tool_calls"), "{sent}");
}

/// Names as MCP servers, plugins and groups of agents have them.
#[tokio::test]
async fn a_tool_of_any_name_is_called_and_handed_back_by_it() {
    let long = "x".repeat(200);
    let names = ["calendar.respondToEvent", "fs/read", "New Tool", "server:get", "天气", "größe", &long];
    for name in names {
        let endpoint = Endpoint::answer(|request, _| {
            // The model copies the name from its prompt.
            let prompt = request.messages();
            let (_, rest) = prompt.split_once("<tool_name>").unwrap();
            let (shown, _) = rest.split_once("</tool_name>").unwrap();
            Reply::text(&format!(
                "<use_mcp_tool>\n<tool_name>{shown}</tool_name>\n<arguments>\n{{}}\n</arguments>\n</use_mcp_tool>"
            ))
        });
        let served = serve(&endpoint, |config| config).await;
        for shape in SHAPES {
            let mut body = shape.request(json!([shape.says("user", "Hi")]), shape.tools(&[name, name]));
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert_eq!(status, 200, "{shape:?} {answer:#}");
            assert!(answer.to_string().contains(&json!(name).to_string()), "{shape:?} {name}: {answer:#}");
            shape.chooses(&mut body, name);
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert_eq!(status, 200, "{shape:?} {answer:#}");
        }
    }
}

/// All forms in which clients restrict the tools that may be called.
#[tokio::test]
async fn every_form_of_a_choice_is_taken() {
    let endpoint = Endpoint::answer(|_, _| {
        Reply::text("<use_mcp_tool>\n<tool_name>f</tool_name>\n<arguments>\n{}\n</arguments>\n</use_mcp_tool>")
    });
    let served = serve(&endpoint, |config| config).await;
    let named = json!({"type": "function", "function": {"name": "f"}});
    for (choice, offers) in [
        (json!("auto"), true),
        (json!("any"), true),
        (Value::Null, true),
        (named.clone(), true),
        (json!({"type": "function", "name": "f"}), true),
        (json!({"type": "auto"}), true),
        (json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named]}}), false),
        (json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]}), false),
    ] {
        let mut body = Chat.request(json!([Chat.says("user", "Hi")]), Chat.tools(&["f", "other_tool"]));
        body["tool_choice"] = choice.clone();
        let (status, answer) = ask(&served, Chat, body.to_string()).await;
        assert_eq!(
            (status, &answer["choices"][0]["finish_reason"]),
            (200, &json!("tool_calls")),
            "{choice} {answer:#}"
        );
        let prompt = endpoint.take_seen().pop().unwrap().messages();
        assert_eq!(prompt.contains("other_tool"), offers, "{choice}: {prompt}");
    }
}

/// A call of the history is sent as the model wrote it, so that each request begins with the one
/// before; if the client has changed it, it is sent as the client has it.
#[tokio::test]
async fn a_call_of_the_history_is_what_the_model_wrote() {
    // Differs from the canonical form in each line.
    let written =
        "Let me look.\n<use_mcp_tool><tool_name>f</tool_name>\n  <arguments>{ \"x\" : 1 }</arguments></use_mcp_tool>";
    let endpoint = Endpoint::answer(move |request, _| match request.messages().contains("tool_result") {
        true => Reply::text("Fine."),
        false => Reply::text(written),
    });
    let served = serve(&endpoint, |config| config).await;
    for changed in [false, true] {
        let mut messages = vec![json!({"role": "system", "content": "Be brief."}), Chat.says("user", "Hi")];
        let (_, answer) = ask(&served, Chat, Chat.request(json!(messages), Chat.tools(&["f"])).to_string()).await;
        let mut message = answer["choices"][0]["message"].clone();
        if changed {
            message["tool_calls"][0]["function"]["arguments"] = json!("{\"x\": 2}");
        }
        let id = message["tool_calls"][0]["id"].clone();
        messages.extend([message, json!({"role": "tool", "tool_call_id": id, "content": "1"})]);
        let (_, answer) = ask(&served, Chat, Chat.request(json!(messages), Chat.tools(&["f"])).to_string()).await;
        assert_eq!(answer["choices"][0]["message"]["content"], "Fine.", "{answer:#}");
        let seen = endpoint.take_seen();
        let sent: Vec<_> = seen.iter().map(|seen| seen.body["messages"].as_array().unwrap()).collect();
        assert_eq!(sent[0][..], sent[1][..2], "the request begins with the one before it");
        let told = sent[1][2]["content"].as_str().unwrap();
        assert_eq!(told == written, !changed, "{told}");
        assert_eq!(told.contains("\"x\": 2"), changed, "{told}");
    }
}

/// The first block of Claude Code's system text differs in each request.
#[tokio::test]
async fn a_line_that_says_nothing_to_a_model_does_not_change_the_prompt() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for hash in ["36ee5", "0aaa9"] {
        let mut body = Messages.request(json!([Messages.says("user", "Hi")]), Messages.tools(&["f"]));
        let line = format!("x-anthropic-billing-header: cc_version=2.1; cch={hash};");
        body["system"] = json!([{"type": "text", "text": line}, {"type": "text", "text": "You are an agent."}]);
        assert_eq!(ask(&served, Messages, body.to_string()).await.0, 200);
    }
    let seen = endpoint.seen();
    assert_eq!(seen[0].body["messages"], seen[1].body["messages"]);
    assert!(seen[0].messages().contains("You are an agent."));
}

/// Some clients send each block of an assistant's message as a message of its own (Strands, to
/// Ollama): the result belongs to the call before the text, and the call does not count as stopped.
#[tokio::test]
async fn a_result_after_a_second_message_of_the_model_belongs_to_its_call() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let (by_prompt, natively) = (
        serve(&endpoint, |config| config).await,
        serve(&endpoint, |config| config.with_tools_mode(ToolsMode::Native)).await,
    );
    let histories = SHAPES.map(|shape| {
        let history =
            json!([shape.says("user", "Hi"), shape.call(), shape.says("assistant", "Let me see."), shape.result()]);
        (shape.path(), shape.request(history, shape.tools(&["f"])))
    });
    for (path, body) in histories {
        for (served, roles) in
            [(&by_prompt, &["system", "user", "assistant", "user"][..]), (&natively, &["user", "assistant", "tool"])]
        {
            let answer = served.post(path, &body).send().await.unwrap().text().await.unwrap();
            assert!(answer.contains("Fine."), "{path}: {answer}");
            let seen = endpoint.take_seen();
            let messages = seen.last().unwrap().body["messages"].as_array().unwrap();
            let told: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
            assert_eq!(told, roles, "{path}: {messages:#?}");
            let (said, result) = (&messages[roles.len() - 2], &messages[roles.len() - 1]);
            assert!(said["content"].as_str().unwrap().starts_with("Let me see."), "{path}: {said:#}");
            assert!(result["content"].as_str().unwrap().contains('1'), "{path}: {result:#}");
            assert!(!result.to_string().contains("stopped"), "{path}: {result:#}");
        }
    }
}
