//! Traces of the model client contain the requests and answers, and no secret.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::time::Duration;

use futures::StreamExt;
use serde_json::Value;
use toolgraft::model::{ModelError, ModelEvent, OpenAiBuilder, Request, Tracer};
use toolgraft::{Message, Model, OpenAi};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says, stops};
use toolgraft_testkit::files::{Full, Shared};

const KEY: &str = "sk-0123456789";

/// Returns the lines of a trace.
fn lines(file: &Shared) -> Vec<Value> {
    file.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn types(file: &Shared) -> Vec<String> {
    lines(file).iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect()
}

/// Returns the joined text of the bodies.
fn received(file: &Shared) -> String {
    lines(file).iter().filter_map(|line| line["text"].as_str().filter(|_| line["type"] == "chunk")).collect()
}

fn client(endpoint: &Endpoint, file: &Shared) -> OpenAiBuilder {
    let url = format!("{}?api-version=7&access_token=query-secret", endpoint.url());
    let builder = OpenAi::builder(url, "m").api_key(KEY).header("X-Team", "team-secret");
    builder.backoff(Duration::ZERO).trace(Tracer::new(file.clone()))
}

async fn ask(model: &OpenAi, question: &str) -> Vec<Result<ModelEvent, ModelError>> {
    model.stream(Request::new(vec![Message::user(question)])).collect().await
}

#[tokio::test]
async fn requests_responses_and_raw_bytes_are_written_without_secrets() {
    let events = [says("Your key is "), says(KEY), stops("stop")];
    let reply = Reply::events(&events).done().header("set-cookie", "sid=cookie-secret").header("x-request-id", "r-1");
    let endpoint = Endpoint::start([reply.bytewise()]);
    let file = Shared::default();
    let answer = ask(&client(&endpoint, &file).build().unwrap(), &format!("Is {KEY} mine?")).await;
    assert!(matches!(answer.last(), Some(Ok(ModelEvent::Finish(_)))), "{answer:?}");

    let text = file.text();
    for secret in [KEY, "query-secret", "team-secret", "cookie-secret"] {
        assert!(!text.contains(secret), "{secret} stands in {text}");
    }
    let lines = lines(&file);
    let request = &lines[0];
    assert_eq!(
        (&request["type"], &request["method"], &request["exchange"]),
        (&"request".into(), &"POST".into(), &1.into())
    );
    assert!(request["url"].as_str().unwrap().ends_with("/chat/completions?api-version=7&access_token=[redacted]"));
    for name in ["authorization", "x-team"] {
        assert_eq!(request["headers"][name], "[redacted]", "{name}");
    }
    assert_eq!(request["headers"]["content-type"], "application/json");
    let body: Value = serde_json::from_str(request["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["messages"][0]["content"], "Is [redacted] mine?");
    assert_eq!((&lines[1]["status"], &lines[1]["headers"]["x-request-id"]), (&200.into(), &"r-1".into()));
    assert_eq!(lines[1]["headers"]["set-cookie"], "[redacted]");
    assert!(received(&file).contains("Your key is ") && received(&file).contains("[redacted]"), "{}", received(&file));
    let times: Vec<u64> = lines.iter().map(|line| line["ms"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(lines.last().unwrap()["type"], "end");
    let sent = &endpoint.seen()[0];
    assert!(sent.header("authorization").unwrap().contains(KEY), "only the trace goes without it");
}

#[tokio::test]
async fn every_attempt_is_an_exchange_of_its_own_refusals_included() {
    let endpoint = Endpoint::start([Reply::refused(503, "loading"), Reply::text("Hi")]);
    let file = Shared::default();
    ask(&client(&endpoint, &file).build().unwrap(), "Hello").await;
    let exchanges: Vec<u64> = lines(&file).iter().map(|line| line["exchange"].as_u64().unwrap()).collect();
    assert_eq!((exchanges.first(), exchanges.last()), (Some(&1), Some(&2)));
    assert!(received(&file).contains("loading"), "{}", file.text());
}

#[tokio::test]
async fn the_list_of_models_is_traced_too() {
    let endpoint = Endpoint::setup().models(&["small-model"]).start([]);
    let file = Shared::default();
    let model = OpenAi::builder(endpoint.url(), "").trace(Tracer::new(file.clone())).build().unwrap();
    model.models().await.unwrap();
    assert_eq!(types(&file)[..2], ["request", "response"]);
    assert_eq!(lines(&file)[0]["method"], "GET");
    assert!(received(&file).contains("small-model"));
}

#[tokio::test]
async fn how_an_exchange_ended_is_said() {
    let end = |file: &Shared| lines(file).last().unwrap().clone();
    let file = Shared::default();
    let endpoint = Endpoint::start([Reply::events(&[says("Hi")]).end(End::Break)]);
    ask(&client(&endpoint, &file).build().unwrap(), "Hello").await;
    assert_eq!((&end(&file)["type"], &end(&file)["how"]), (&"end".into(), &"failed".into()));
    assert!(end(&file)["message"].is_string());

    let file = Shared::default();
    let endpoint = Endpoint::start([Reply::events(&[says("Hi")]).end(End::Stall)]);
    let model = client(&endpoint, &file).build().unwrap();
    let mut answer = model.stream(Request::new(vec![Message::user("Hello")]));
    answer.next().await;
    drop(answer);
    assert_eq!(end(&file)["how"], "closed");

    let file = Shared::default();
    drop(endpoint);
    let nobody = OpenAi::builder("http://127.0.0.1:9/v1", "m").retries(0).trace(Tracer::new(file.clone()));
    ask(&nobody.build().unwrap(), "Hello").await;
    assert_eq!(types(&file), ["request", "end"]);
    assert_eq!(end(&file)["how"], "failed");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_written_in_base64() {
    let reply = Reply::events(&[says("武"), stops("stop")]).done().bytewise();
    let endpoint = Endpoint::start([reply]);
    let file = Shared::default();
    ask(&client(&endpoint, &file).build().unwrap(), "Hello").await;
    let mut all = Vec::new();
    for line in lines(&file).iter().filter(|line| line["type"] == "chunk") {
        match line["text"].as_str() {
            Some(text) => all.extend_from_slice(text.as_bytes()),
            None => all.extend(
                base64::Engine::decode(&base64::engine::general_purpose::STANDARD, line["base64"].as_str().unwrap())
                    .unwrap(),
            ),
        }
    }
    assert!(String::from_utf8(all).unwrap().contains("武"));
}

#[tokio::test]
async fn a_trace_that_cannot_be_written_disturbs_no_answer_and_is_reported() {
    let endpoint = Endpoint::start([Reply::text("Hi")]);
    let tracer = Tracer::new(Full::after(0));
    let model = OpenAi::builder(endpoint.url(), "m").trace(tracer.clone()).build().unwrap();
    let answer = ask(&model, "Hello").await;
    assert!(matches!(answer.last(), Some(Ok(ModelEvent::Finish(_)))), "{answer:?}");
    assert_eq!(tracer.error().as_deref(), Some("no space left"));
}
