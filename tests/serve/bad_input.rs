//! What clients send by mistake, in every shape: its own error with the place, or an answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::endpoint::{Endpoint, Reply};
use super::http::{Served, read, serve};

/// An interface of clients.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Chat,
    Messages,
    Responses,
    Gemini,
}

use Shape::{Chat, Gemini, Messages, Responses};

const SHAPES: [Shape; 4] = [Chat, Messages, Responses, Gemini];

impl Shape {
    fn path(self) -> &'static str {
        match self {
            Chat => "/v1/chat/completions",
            Messages => "/v1/messages",
            Responses => "/v1/responses",
            Gemini => "/v1beta/models/m:generateContent",
        }
    }

    /// A request with these messages and tools.
    fn request(self, messages: Value, tools: Value) -> Value {
        match self {
            Chat => json!({"model": "m", "messages": messages, "tools": tools}),
            Messages => json!({"model": "m", "max_tokens": 1_000, "messages": messages, "tools": tools}),
            Responses => json!({"model": "m", "input": messages, "tools": tools}),
            Gemini => json!({"contents": messages, "tools": [{"functionDeclarations": tools}]}),
        }
    }

    fn tool(self, name: &str, schema: Option<Value>) -> Value {
        match (self, schema) {
            (Chat, Some(schema)) => json!({"type": "function", "function": {"name": name, "parameters": schema}}),
            (Chat, None) => json!({"type": "function", "function": {"name": name}}),
            (Messages, Some(schema)) => json!({"name": name, "input_schema": schema}),
            (Responses, Some(schema)) => json!({"type": "function", "name": name, "parameters": schema}),
            (Responses, None) => json!({"type": "function", "name": name}),
            (Gemini, Some(schema)) => json!({"name": name, "parametersJsonSchema": schema}),
            (Messages | Gemini, None) => json!({"name": name}),
        }
    }

    fn tools(self, names: &[&str]) -> Value {
        names.iter().map(|name| self.tool(name, Some(json!({"type": "object"})))).collect()
    }

    /// A message of the role `user` or `assistant` with a text.
    fn says(self, role: &str, text: &str) -> Value {
        match self {
            Chat | Messages | Responses => json!({"role": role, "content": text}),
            Gemini => json!({"role": if role == "user" { "user" } else { "model" }, "parts": [{"text": text}]}),
        }
    }

    /// A call of the tool `f`, and its result.
    fn call(self) -> Value {
        match self {
            Chat => json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
            Messages => {
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]})
            }
            Responses => json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}),
            Gemini => json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}),
        }
    }

    fn result(self) -> Value {
        match self {
            Chat => json!({"role": "tool", "tool_call_id": "c1", "content": "1"}),
            Messages => {
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}]})
            }
            Responses => json!({"type": "function_call_output", "call_id": "c1", "output": "1"}),
            Gemini => json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}),
        }
    }

    /// Requires a call of a tool that is not there.
    fn chooses(self, request: &mut Value, name: &str) {
        match self {
            Chat => request["tool_choice"] = json!({"type": "function", "function": {"name": name}}),
            Messages => request["tool_choice"] = json!({"type": "tool", "name": name}),
            Responses => request["tool_choice"] = json!({"type": "function", "name": name}),
            Gemini => {
                let config = json!({"mode": "ANY", "allowedFunctionNames": [name]});
                request["toolConfig"] = json!({"functionCallingConfig": config});
            }
        }
    }

    /// The message and the place of an error, which has this interface's own form.
    #[track_caller]
    fn error(self, status: u16, body: &Value) -> (String, String) {
        let error = &body["error"];
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{self:?} {body:#}")).to_owned();
        match self {
            Chat | Responses => {
                assert!(error["type"].is_string() && error.get("code").is_some(), "{body:#}");
                (message, error["param"].as_str().unwrap_or_default().to_owned())
            }
            Messages => {
                assert!(body["type"] == "error" && error["type"].is_string(), "{body:#}");
                placed(&message)
            }
            Gemini => {
                assert!(error["code"] == status && error["status"].is_string(), "{body:#}");
                placed(&message)
            }
        }
    }
}

/// A message that begins with its place, since the shape has no field for it.
fn placed(message: &str) -> (String, String) {
    let place = message.split_once(": ").map(|(place, _)| place).filter(|place| !place.contains(' '));
    (message.to_owned(), place.unwrap_or_default().to_owned())
}

/// What the server says to a body, which it does before long.
async fn ask(served: &Served, shape: Shape, body: String) -> (u16, Value) {
    let sent = served.client.post(format!("{}{}", served.url, shape.path())).header("content-type", "application/json");
    let answered =
        tokio::time::timeout(Duration::from_secs(60), async { read(sent.body(body).send().await.unwrap()).await });
    let (status, body) = answered.await.unwrap_or_else(|_| panic!("{shape:?} hangs"));
    (status.as_u16(), body)
}

#[tokio::test]
async fn a_body_that_is_none_is_refused_in_the_shapes_own_form() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config.with_max_body(2_000)).await;
    for shape in SHAPES {
        for (body, status, words) in [
            ("{\"messages\": ", 400, "column 13"),
            ("{\"messages\": [}", 400, "column"),
            ("{'messages': []}", 400, "column 2"),
            ("{\"a\": \"\\ud800\"}", 400, "column"),
            ("nonsense", 400, "JSON"),
            ("", 400, "JSON"),
            ("[]", 400, "object"),
            ("null", 400, "object"),
            ("\"{}\"", 400, "object"),
            (&"[".repeat(1_900), 400, "recursion"),
            (&"{\"a\":".repeat(390), 400, "recursion"),
            (&" ".repeat(2_001), 413, "2000 bytes"),
        ] {
            let (found, answer) = ask(&served, shape, body.to_owned()).await;
            assert_eq!(found, status, "{shape:?} {body:.40}: {answer:#}");
            assert!(shape.error(status, &answer).0.contains(words), "{shape:?} {body:.40}: {answer:#}");
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn tools_and_messages_that_cannot_be_are_refused_with_their_place() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for shape in SHAPES {
        let user = || shape.says("user", "Hi");
        let tools = |names: &[&str]| shape.request(json!([user()]), shape.tools(names));
        let history = |messages: Value| shape.request(messages, shape.tools(&["f"]));
        let other = shape.tool("f", Some(json!({"type": "object", "title": "other"})));
        let mut chosen = tools(&["f"]);
        shape.chooses(&mut chosen, "g");
        // Where it stands in each: Chat Completions, Messages, Responses, Gemini's.
        let cases = [
            (
                chosen,
                ["tool_choice", "tool_choice", "tool_choice", "toolConfig.functionCallingConfig.allowedFunctionNames"],
            ),
            (
                shape.request(json!([user()]), json!([shape.tool("f", None), shape.tool("g", None), other.clone()])),
                ["tools[2].function.name", "tools[2].name", "tools[2].name", "tools[0].functionDeclarations[2].name"],
            ),
            (
                tools(&["f", " "]),
                ["tools[1].function.name", "tools[1].name", "tools[1].name", "tools[0].functionDeclarations[1].name"],
            ),
            (
                tools(&[""]),
                ["tools[0].function.name", "tools[0].name", "tools[0].name", "tools[0].functionDeclarations[0].name"],
            ),
            (
                shape.request(json!([user()]), json!([shape.tool("f", Some(json!(7)))])),
                [
                    "tools[0].function.parameters",
                    "tools[0].input_schema",
                    "tools[0].parameters",
                    "tools[0].functionDeclarations[0].parametersJsonSchema",
                ],
            ),
            (history(json!([])), ["messages", "messages", "input", "contents"]),
            (history(json!({})), ["messages", "messages", "input", "contents"]),
            (history(json!([user(), 7])), ["messages[1]", "messages[1].role", "input[1]", "contents[1].parts"]),
        ];
        for (body, places) in cases {
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert_eq!(status, 400, "{shape:?}: {body:.300} {answer:#}");
            let at = SHAPES.iter().position(|other| *other == shape).unwrap();
            assert_eq!(shape.error(status, &answer).1, places[at], "{shape:?}: {answer:#}");
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

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

/// What the endpoint got last is what every chat template takes: a system text, then the user and
/// the model in turn, each with words.
fn takes_turns(endpoint: &Endpoint, what: &str) {
    let seen = endpoint.take_seen();
    let messages = seen.last().unwrap().body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let expected = ["system"].into_iter().chain(["user", "assistant"].into_iter().cycle()).take(roles.len());
    assert!(roles.len() > 1 && roles.iter().copied().eq(expected), "{what}: {roles:?}");
    assert!(messages.iter().all(|message| message["content"].as_str().is_some_and(|text| !text.is_empty())), "{what}");
}

/// A history whose texts an endpoint would refuse or drop comes whole.
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

/// Of two endpoints that know no system role, in their own words, one answer each.
#[tokio::test]
async fn an_endpoint_that_refuses_a_role_or_a_field_is_asked_without_and_from_then_on() {
    for (status, words, refused) in [
        (400, "System role not supported", "system"),
        (500, "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", "system"),
        (400, "Extra inputs are not permitted: stream_options", "stream_options"),
    ] {
        let endpoint =
            Endpoint::answer(move |request, _| match request.body.to_string().contains(&format!("\"{refused}\"")) {
                true => Reply::refused(status, words),
                false => Reply::text("Fine."),
            });
        let served = serve(&endpoint, |config| config).await;
        for times in [2, 1] {
            let messages = json!([{"role": "system", "content": "one"}, Chat.says("user", "two")]);
            let body = Chat.request(messages, Chat.tools(&["f"]));
            let (status, answer) = ask(&served, Chat, body.to_string()).await;
            assert_eq!(status, 200, "{answer:#}");
            let seen = endpoint.take_seen();
            assert_eq!(seen.len(), times, "{words}");
            let sent = seen.last().unwrap().messages();
            assert!(sent.contains("one") && sent.contains("two") && sent.contains("f("), "{sent}");
        }
    }
}

/// The older form of tools is answered in its own words.
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

/// OpenAI's service knows a role of the system anywhere; the others have their own place for it.
#[tokio::test]
async fn roles_that_an_interface_does_not_know_are_named() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for (shape, role, place) in [
        (Chat, "system", None),
        (Chat, "developer", None),
        (Messages, "critic", Some("messages[1].role")),
        (Messages, "tool", Some("messages[1].role")),
        (Responses, "system", None),
        (Responses, "developer", None),
        (Responses, "critic", Some("input[1].role")),
        (Gemini, "critic", Some("contents[1].role")),
    ] {
        let mut other = shape.says("user", "Be brief.");
        other["role"] = json!(role);
        let body = shape.request(json!([shape.says("user", "Hi"), other]), shape.tools(&["f"]));
        let (status, answer) = ask(&served, shape, body.to_string()).await;
        match place {
            None => assert_eq!(status, 200, "{shape:?} {role}: {answer:#}"),
            Some(place) => {
                assert_eq!((status, shape.error(status, &answer).1.as_str()), (400, place), "{shape:?} {answer:#}");
            }
        }
    }
}

/// What one client says too much is no word about the next one's.
#[tokio::test]
async fn a_history_beyond_the_context_is_refused_and_shorter_ones_with_the_same_tools_are_not() {
    let endpoint = Endpoint::answer(|request, _| {
        match request.messages().len() {
        20_000.. => Reply::new(
            400,
            "{\"error\": {\"code\": 400, \"message\": \"the request exceeds the available context size, try increasing it\", \
             \"type\": \"exceed_context_size_error\", \"n_prompt_tokens\": 30000, \"n_ctx\": 8192}}",
        )
        .header("content-type", "application/json"),
        _ => Reply::text("Fine."),
    }
    });
    let served = serve(&endpoint, |config| config).await;
    for shape in SHAPES {
        let long = json!([
            shape.says("user", &"lamp ".repeat(6_000)),
            shape.says("assistant", "Ah."),
            shape.says("user", "Hi")
        ]);
        for _ in 0..3 {
            let body = shape.request(long.clone(), shape.tools(&["f"]));
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert_eq!(status, 400, "{shape:?} {answer:#}");
            let (message, place) = shape.error(status, &answer);
            assert!(message.contains("exceeds the available context size"), "{shape:?} {answer:#}");
            assert_eq!(
                place,
                ["messages", "messages", "input", "contents"][SHAPES.iter().position(|s| *s == shape).unwrap()]
            );
            if matches!(shape, Chat | Responses) {
                assert_eq!(answer["error"]["code"], "context_length_exceeded", "{answer:#}");
            }
        }
        let body = shape.request(json!([shape.says("user", "Hi")]), shape.tools(&["f"]));
        let (status, answer) = ask(&served, shape, body.to_string()).await;
        assert_eq!(status, 200, "{shape:?} {answer:#}");
    }
}

/// The names of MCP servers' tools, of plugins and of agents' groups.
#[tokio::test]
async fn a_tool_of_any_name_is_called_and_handed_back_by_it() {
    let long = "x".repeat(200);
    let names = ["calendar.respondToEvent", "fs/read", "New Tool", "server:get", "天气", "größe", &long];
    for name in names {
        let endpoint = Endpoint::answer(|request, _| {
            // As a model that copies the name from its prompt.
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

/// All forms in which clients say which tools may be called.
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
