//! Tests of the log.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgraft_serve::{Config, Served};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says};

use super::http::{self, call, damaged, read, request, serve};
use super::shapes::{Chat, SHAPES, ask};
use super::toolbox::with_toolbox;

type Lines = Arc<Mutex<Vec<Served>>>;

/// Starts a server in front of this endpoint, and returns the log entries that it writes.
async fn logged(endpoint: &Endpoint, with: impl FnOnce(Config) -> Config) -> (http::Served, Lines) {
    let lines = Lines::default();
    let told = lines.clone();
    let log = move |served| told.lock().unwrap().push(served);
    (serve(endpoint, |config| with(config).with_log(log)).await, lines)
}

/// Waits for so many log entries and returns them.
async fn lines(told: &Lines, most: usize) -> Vec<Served> {
    while told.lock().unwrap().len() < most {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    told.lock().unwrap().clone()
}

#[tokio::test]
async fn a_line_tells_how_a_request_went() {
    let endpoint = Endpoint::answer(|seen, number| match number {
        0 => Reply::text(&damaged()),
        1 => Reply::text(&call()),
        2 => Reply::text(&mcp_call("demo", "secret", &json!({}))),
        3 => Reply::text("Known."),
        4 if seen.body["stream"] == false => Reply::new(200, "{\"choices\": []}"),
        5 => Reply::events(&[says("Once ")]).end(End::Break),
        _ => Reply::refused(404, "no such model"),
    });
    let (served, told) = logged(&endpoint, with_toolbox).await;
    served.stream(&request(true)).await;
    let mut with_tools = request(false);
    with_tools["model"] = json!("m+tools");
    served.chat(&with_tools).await;
    served.chat(&json!({"model": "plain", "stream": false, "messages": []})).await;
    served.stream(&request(true)).await;
    served.chat(&request(false)).await;
    served.client.get(format!("{}/health", served.url)).send().await.unwrap();
    served.client.get(format!("{}/v1/models", served.url)).header("host", "evil.example").send().await.unwrap();
    let found = lines(&told, 6).await;
    let found: Vec<_> = found
        .iter()
        .map(|line| (line.route, line.model.as_str(), line.status, line.code, line.rounds, line.calls, line.own_calls))
        .collect();
    assert_eq!(
        found,
        [
            ("chat_completions", "m", Some(200), None, 2, 1, 0),
            ("chat_completions", "m", Some(200), None, 2, 0, 1),
            ("chat_completions", "plain", Some(200), None, 1, 0, 0),
            ("chat_completions", "m", Some(200), Some("upstream_failed"), 1, 0, 0),
            ("chat_completions", "m", Some(404), None, 1, 0, 0),
            ("models", "", Some(403), Some("host_refused"), 0, 0, 0),
        ]
    );
}

#[tokio::test]
async fn a_client_that_goes_has_a_line_too() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi").end(End::Mute));
    let (served, told) = logged(&endpoint, |config| config).await;
    let sending = served.post("/v1/chat/completions", &request(false)).send();
    assert!(tokio::time::timeout(std::time::Duration::from_millis(300), sending).await.is_err());
    assert_eq!(lines(&told, 1).await[0].status, None);
}

#[tokio::test]
async fn nothing_that_was_said_and_no_key_is_in_a_line() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("The answer is SWORDFISH."));
    let (served, told) =
        logged(&endpoint, |config| config.with_api_key("sk-door-key").with_upstream_key("sk-up-key")).await;
    for model in ["m", "sk-door-key", "x sk-up-key y", &"m".repeat(500)] {
        let mut body = request(false);
        body["model"] = json!(model);
        body["messages"][0]["content"] = json!("tell me of MARZIPAN");
        for path in ["/v1/chat/completions", "/v1/embeddings", "/v1/messages", "/v1/nothing-MARZIPAN"] {
            let asked = served.post(&format!("{path}?key=sk-url-key"), &body).bearer_auth("sk-door-key");
            read(asked.send().await.unwrap()).await;
            served.post(path, &body).bearer_auth("sk-wrong-key").send().await.unwrap();
        }
    }
    let found = lines(&told, 32).await;
    for line in &found {
        let text = format!("{line:?}");
        assert!(["MARZIPAN", "SWORDFISH", "sk-"].iter().all(|secret| !text.contains(secret)), "{text}");
        assert!(line.model.len() <= 100, "{text}");
    }
    assert!(found.iter().any(|line| line.model == "m") && found.iter().any(|line| line.model.contains("redacted")));
}

#[tokio::test]
async fn a_schema_that_nothing_fits_is_set_aside_by_name_and_refuses_nothing() {
    let schemas = [
        json!(false),
        json!({"type": "string"}),
        json!({"not": {}}),
        json!({"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}),
    ];
    for schema in schemas {
        for shape in SHAPES {
            let called =
                "<use_mcp_tool>\n<tool_name>odd</tool_name>\n<arguments>\n{\"a\": 1}\n</arguments>\n</use_mcp_tool>";
            let endpoint = Endpoint::start([Reply::text(called)]);
            let (served, told) = logged(&endpoint, |config| config).await;
            let tools =
                json!([shape.tool("odd", Some(schema.clone())), shape.tool("fine", Some(json!({"type": "object"})))]);
            let body = shape.request(json!([shape.says("user", "Go.")]), tools);
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert!(status == 200 && answer.to_string().contains("odd"), "{shape:?} {schema} {status} {answer:#}");
            assert_eq!(lines(&told, 1).await[0].set_aside, ["odd"], "{shape:?} {schema}");
        }
    }
}

#[tokio::test]
async fn a_form_of_the_answer_that_nothing_fits_is_set_aside() {
    let endpoint = Endpoint::start([Reply::text("Fine.")]);
    let (served, told) = logged(&endpoint, |config| config).await;
    let mut body = Chat.request(json!([Chat.says("user", "Go.")]), json!(null));
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": []}}});
    let (status, answer) = ask(&served, Chat, body.to_string()).await;
    assert_eq!((status, &answer["choices"][0]["message"]["content"]), (200, &json!("Fine.")), "{answer:#}");
    assert_eq!(lines(&told, 1).await[0].set_aside, ["response_format"]);
}

#[tokio::test]
async fn an_answer_that_repeats_itself_is_stopped_and_logged() {
    let line = "- Oslo is a city in Europe.\n";
    for (most, lines_sent, is_stopped) in [(None, 200, true), (None, 20, false), (Some(0), 200, false)] {
        let endpoint = Endpoint::start([Reply::text(&line.repeat(lines_sent))]);
        let set = |config: Config| most.map_or(config.clone(), |most| config.with_max_repeats(most));
        let (served, told) = logged(&endpoint, set).await;
        let (status, answer) = served.chat(&request(false)).await;
        let choice = &answer["choices"][0];
        assert_eq!((status.as_u16(), choice["finish_reason"] == "length"), (200, is_stopped), "{answer:#}");
        let said = choice["message"]["content"].as_str().unwrap();
        assert_eq!(said.matches(line.trim()).count() == lines_sent, !is_stopped, "{said}");
        assert_eq!(lines(&told, 1).await[0].repeats.is_some_and(|times| times > 100), is_stopped);
    }
}
