//! Tests that features which only an API's vendor can serve are refused in the form that lets its
//! clients continue, and that nothing is invented in their place.

use serde_json::{Map, Value, json};
use toolgraft::{Catalog, Functions, Tool};
use toolgraft_serve::{Config, LEFT_OUT_HEADER, SearchTool};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::http::{events, read, serve};
use super::shapes::{Gemini, Messages, Responses, Shape};

/// Returns a hosted tool of this type in each API's form.
fn offered(shape: Shape, hosted: &str) -> Value {
    match shape {
        Messages => json!({"type": hosted, "name": hosted.rsplit_once('_').unwrap().0}),
        Gemini => json!({hosted: {}}),
        _ => json!({"type": hosted}),
    }
}

fn request(shape: Shape, hosted: &str) -> Value {
    let mut body = shape.request(json!([shape.says("user", "Who won?")]), json!([]));
    body["tools"] = json!([offered(shape, hosted)]);
    body
}

#[tokio::test]
async fn anthropics_clients_are_told_to_send_whole_histories() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for thread in [json!({"type": "create"}), json!({"type": "continue", "previous_message_id": "msg_1"})] {
        for path in ["/v1/messages", "/v1/messages/count_tokens"] {
            let mut body = Messages.request(json!([Messages.says("user", "Hi")]), Messages.tools(&["f"]));
            body["thread"] = thread.clone();
            let (status, answer) = read(served.post(path, &body).send().await.unwrap()).await;
            assert_eq!(status, 400, "{answer:#}");
            assert_eq!(answer["error"]["type"], "invalid_request_error");
            let details = json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]});
            assert_eq!(answer["error"]["details"], details);
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn what_is_kept_at_a_service_is_refused_by_its_name_and_unused_fields_are_not() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for (shape, field, value) in [
        (Messages, "container", json!("container_1")),
        (Messages, "mcp_servers", json!([{"type": "url", "url": "https://x", "name": "x"}])),
        (Responses, "previous_response_id", json!("resp_1")),
        (Responses, "conversation", json!({"id": "conv_1"})),
        (Responses, "prompt", json!({"id": "pmpt_1"})),
        (Responses, "background", json!(true)),
        (Gemini, "cachedContent", json!("cachedContents/1")),
        (Gemini, "cached_content", json!("cachedContents/1")),
    ] {
        let mut body = shape.request(json!([shape.says("user", "Hi")]), shape.tools(&["f"]));
        body[field] = value;
        let (status, answer) = read(served.post(shape.path(), &body).send().await.unwrap()).await;
        let (message, place) = shape.error(400, &answer);
        let name = field.replace("cached_content", "cachedContent");
        assert_eq!((status.as_u16(), place.as_str()), (400, name.as_str()), "{answer:#}");
        assert!(message.contains("is not supported here: "), "{message}");
        for unused in [json!(null), json!(false), json!(""), json!([])] {
            body[field] = unused;
            let (status, answer) = read(served.post(shape.path(), &body).send().await.unwrap()).await;
            assert_eq!(status, 200, "{answer:#}");
            assert!(endpoint.seen().last().unwrap().body.get(field).is_none());
        }
    }
}

#[tokio::test]
async fn a_hosted_tool_alone_is_answered_with_the_vendors_own_error_and_nobody_is_asked() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("The Oilers won, as espn.com says."));
    let served = serve(&endpoint, |config| config).await;
    for (shape, hosted, words) in [
        (Responses, "web_search", "Hosted tool 'web_search' is not supported with m."),
        (Responses, "code_interpreter", "Hosted tool 'code_interpreter' is not supported with m."),
        (Gemini, "googleSearch", "Search Grounding is not supported with m."),
        (Gemini, "codeExecution", "Tool 'codeExecution' is not supported with m."),
        (Messages, "computer_20250124", "'computer_20250124' is not supported here"),
    ] {
        let body = request(shape, hosted);
        let (status, answer) = read(served.post(shape.path(), &body).send().await.unwrap()).await;
        assert_eq!(status, 400, "{answer:#}");
        assert!(shape.error(400, &answer).0.contains(words), "{answer:#}");
    }
    for (kind, name, result) in [
        ("web_search_20250305", "web_search", "web_search_tool_result"),
        ("web_fetch_20250910", "web_fetch", "web_fetch_tool_result"),
        ("code_execution_20250825", "code_execution", "code_execution_tool_result"),
    ] {
        let mut body = request(Messages, kind);
        let sent = served.post("/v1/messages", &body).send().await.unwrap();
        assert_eq!(sent.headers()[LEFT_OUT_HEADER], kind);
        let (status, answer) = read(sent).await;
        assert_eq!((status.as_u16(), &answer["type"], &answer["role"]), (200, &json!("message"), &json!("assistant")));
        assert_eq!((&answer["stop_reason"], &answer["model"]), (&json!("end_turn"), &json!("m")));
        let [call, error, said] = &answer["content"].as_array().unwrap()[..] else { panic!("{answer:#}") };
        assert_eq!((&call["type"], &call["name"]), (&json!("server_tool_use"), &json!(name)));
        assert_eq!(call["input"]["query"], "Who won?");
        assert_eq!((&error["type"], &error["tool_use_id"]), (&json!(result), &call["id"]));
        let failed = json!({"type": format!("{result}_error"), "error_code": "unavailable"});
        assert_eq!(error["content"], failed);
        assert!(said["text"].as_str().unwrap().contains("not available here"), "{said:#}");

        body["stream"] = json!(true);
        let text = served.post("/v1/messages", &body).send().await.unwrap().text().await.unwrap();
        let data: Vec<Value> = events(&text).0.iter().map(|data| serde_json::from_str(data).unwrap()).collect();
        let begun: Vec<&Value> = data.iter().filter(|e| e["type"] == "content_block_start").collect();
        let kinds: Vec<&Value> = begun.iter().map(|event| &event["content_block"]["type"]).collect();
        assert_eq!(kinds, [&json!("server_tool_use"), &json!(result), &json!("text")]);
        assert_eq!(begun[1]["content_block"]["content"], failed);
        assert_eq!(data.first().unwrap()["type"], "message_start");
        assert_eq!(data.last().unwrap()["type"], "message_stop");
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn a_hosted_tool_is_answered_so_only_if_nothing_else_can_be_meant() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    let own = Messages.tool("f", Some(json!({"type": "object"})));
    let mut both = request(Messages, "web_search_20250305");
    both["tools"].as_array_mut().unwrap().push(own);
    let asks = async |body: &Value| read(served.post("/v1/messages", body).send().await.unwrap()).await.1;
    assert_eq!(asks(&both).await["content"][0]["text"], "Fine.");
    both["tool_choice"] = json!({"type": "tool", "name": "web_search"});
    assert_eq!(asks(&both).await["content"][0]["type"], "server_tool_use");
    let mut none = request(Messages, "web_search_20250305");
    none["tool_choice"] = json!({"type": "none"});
    assert_eq!(asks(&none).await["content"][0]["text"], "Fine.");
    let mut none = request(Responses, "web_search");
    none["tool_choice"] = json!("none");
    let (status, answer) = read(served.post("/v1/responses", &none).send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer:#}");
    let mut none = request(Gemini, "googleSearch");
    none["toolConfig"] = json!({"functionCallingConfig": {"mode": "NONE"}});
    let (status, answer) = read(served.post(Gemini.path(), &none).send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer:#}");
}

fn with_search(config: Config) -> Config {
    let found = |arguments: Map<String, Value>| async move {
        match arguments["query"].as_str() {
            Some("fails") => Err("the web is away"),
            query => {
                Ok(format!("Title: About {}\nURL: https://a.example/1\nThe Oilers won.", query.unwrap_or_default()))
            }
        }
    };
    let schema = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let functions = Functions::new("web").with(Tool::new("search").with_schema(schema), found);
    config.with_toolbox(functions, false).with_search("web")
}

#[tokio::test]
async fn a_search_of_the_servers_own_answers_in_the_vendors_form() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("The Rangers won, as espn.com says."));
    let served = serve(&endpoint, with_search).await;
    let asks = |shape: Shape, hosted: &str, text: &str| {
        let mut body = request(shape, hosted);
        match shape {
            Gemini => body["contents"] = json!([shape.says("user", text)]),
            _ => body["messages"] = json!([shape.says("user", text)]),
        }
        body
    };
    let body = asks(Messages, "web_search_20250305", "Perform a web search for the query: Who won?");
    let (status, answer) = read(served.post("/v1/messages", &body).send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer:#}");
    let page = &answer["content"][1]["content"][0];
    assert_eq!((&page["type"], &page["url"]), (&json!("web_search_result"), &json!("https://a.example/1")));
    assert_eq!(page["title"], "About Who won?");
    assert!(answer["content"][2]["text"].as_str().unwrap().ends_with("The Oilers won."), "{answer:#}");

    let body = asks(Gemini, "googleSearch", "Who won?");
    for path in [Gemini.path(), "/v1beta/models/m:streamGenerateContent?alt=sse"] {
        let text = served.post(path, &body).send().await.unwrap().text().await.unwrap();
        let answer: Value = serde_json::from_str(text.trim().trim_start_matches("data: ")).unwrap();
        let candidate = &answer["candidates"][0];
        assert!(candidate["content"]["parts"][0]["text"].as_str().unwrap().ends_with("The Oilers won."), "{answer:#}");
        let grounding = &candidate["groundingMetadata"];
        assert_eq!(
            grounding["groundingChunks"],
            json!([{"web": {"uri": "https://a.example/1", "title": "About Who won?"}}])
        );
        assert_eq!(grounding["webSearchQueries"], json!(["Who won?"]));
    }

    let (status, answer) =
        read(served.post("/v1/messages", &asks(Messages, "web_search_20250305", "fails")).send().await.unwrap()).await;
    assert_eq!(status, 200, "{answer:#}");
    assert_eq!(answer["content"][1]["content"]["error_code"], "unavailable");
    assert!(answer["content"][2]["text"].as_str().unwrap().contains("the web is away"), "{answer:#}");
    let (status, answer) =
        read(served.post(Gemini.path(), &asks(Gemini, "googleSearch", "fails")).send().await.unwrap()).await;
    assert!(status == 400 && answer.to_string().contains("the web is away"), "{answer:#}");
    // Other tools of the service are still refused.
    let (status, _) = read(served.post(Gemini.path(), &request(Gemini, "codeExecution")).send().await.unwrap()).await;
    assert_eq!(status, 400);
    assert_eq!(endpoint.requests(), 0);
}

#[test]
fn a_tool_that_searches_is_found_by_its_servers_name_or_its_own() {
    let takes = |name: &str, parameter: &str| {
        Tool::new(name).with_schema(json!({"type": "object", "properties": {parameter: {"type": "string"}}}))
    };
    let catalog = Catalog::new([
        toolgraft::tools::Server::new("web").with_tools([
            takes("fetch", "url"),
            takes("find", "q"),
            takes("news", "query"),
        ]),
        toolgraft::tools::Server::new("webs").with_tools([takes("fetch", "url")]),
    ]);
    let found = |name: &str| SearchTool::find(&catalog, name).map(|found| (found.server, found.tool, found.parameter));
    let is = |tool: &str, parameter: &str| Some(("web".to_owned(), tool.to_owned(), parameter.to_owned()));
    assert_eq!(found("web"), is("find", "q"));
    assert_eq!(found("web.news"), is("news", "query"));
    for none in ["web.fetch", "webs", "we", "other", "web.", ""] {
        assert_eq!(found(none), None, "{none}");
    }
}
