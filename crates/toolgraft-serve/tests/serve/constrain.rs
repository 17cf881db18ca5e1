//! Tests of answers for which the endpoint is asked to enforce a structure, and of endpoints that
//! refuse.

use serde_json::{Value, json};
use toolgraft::constrain::Constrain;
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen};

use super::http::{call, damaged, request, serve};

/// Returns the fields of a request that constrain its answer.
fn held(seen: &Seen) -> Vec<&str> {
    let fields = ["grammar", "response_format", "structured_outputs", "ebnf"];
    fields.into_iter().filter(|field| seen.body.get(*field).is_some()).collect()
}

fn llama(replies: impl IntoIterator<Item = Reply>) -> Endpoint {
    Endpoint::setup().models(&["m"]).owner("llamacpp").start(replies)
}

fn required() -> Value {
    let mut asked = request(false);
    asked["tool_choice"] = json!("required");
    asked
}

fn with_schema() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "How warm?"}], "response_format": {"type": "json_schema",
        "json_schema": {"name": "t", "schema": {"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]}}}})
}

#[tokio::test]
async fn what_is_due_is_held_in_the_form_that_the_endpoint_takes() {
    let endpoint = llama([
        Reply::text(&call()),
        Reply::text(&call()),
        Reply::text(&damaged()),
        Reply::text(&call()),
        Reply::text("{\"degrees\": 3}"),
    ]);
    let served = serve(&endpoint, |config| config).await;
    served.chat(&required()).await;
    served.chat(&request(false)).await;
    let (_, whole) = served.chat(&request(false)).await;
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls", "{whole:#}");
    let (_, whole) = served.chat(&with_schema()).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "{\"degrees\":3}");
    let seen: Vec<Seen> = endpoint.seen().into_iter().filter(|seen| seen.target().starts_with("POST")).collect();
    let forms: Vec<Vec<&str>> = seen.iter().map(held).collect();
    assert_eq!(forms, [vec!["grammar"], vec![], vec![], vec!["grammar"], vec!["response_format"]]);
    assert!(seen[0].body["grammar"].as_str().unwrap().contains("weather"), "{:#}", seen[0].body);
    assert_eq!(seen[4].body["response_format"]["json_schema"]["schema"]["required"], json!(["degrees"]));
}

#[tokio::test]
async fn a_refused_form_costs_no_word_and_is_not_tried_again() {
    let refused = || Reply::refused(400, "response_format is not supported");
    for asked in [required(), with_schema()] {
        let answer = if asked.get("tools").is_some() { call() } else { "{\"degrees\": 3}".to_owned() };
        let endpoint = Endpoint::answer(move |request, _| match request.body.get("response_format") {
            Some(_) => refused(),
            None => Reply::text(&answer),
        });
        let served = serve(&endpoint, |config| config).await;
        let (status, first) = served.chat(&asked).await;
        let mut streamed = asked.clone();
        streamed["stream"] = json!(true);
        let (data, _) = served.stream(&streamed).await;
        assert_eq!(status, 200, "{first:#}");
        let message = &first["choices"][0]["message"];
        assert!(message["tool_calls"].is_array() || message["content"] == "{\"degrees\":3}", "{first:#}");
        assert_eq!(data.last().unwrap(), "[DONE]");
        let seen = endpoint.seen();
        let forms: Vec<bool> = seen.iter().map(|seen| !held(seen).is_empty()).collect();
        assert!(forms.starts_with(&[true]) && forms[forms.len() - 2..] == [false, false], "{forms:?}");
        let bodies = |at: usize| (&seen[at].body["messages"], &seen[at].body["model"]);
        assert_eq!(bodies(0), bodies(forms.len() - 1), "it is the same request");
    }
}

#[tokio::test]
async fn off_asks_for_nothing_and_require_wants_it_or_fails() {
    let endpoint = llama([Reply::text(&call()), Reply::text("{\"degrees\": 3}")]);
    let served = serve(&endpoint, |config| config.with_constrain(Constrain::Off)).await;
    served.chat(&required()).await;
    let (_, whole) = served.chat(&with_schema()).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "{\"degrees\":3}", "it is checked all the same");
    assert!(endpoint.seen().iter().all(|seen| held(seen).is_empty()));

    let endpoint = Endpoint::answer(|request, _| match held(request).is_empty() {
        true => Reply::text(&call()),
        false => Reply::refused(400, "no structure here"),
    });
    let served = serve(&endpoint, |config| config.with_constrain(Constrain::Require)).await;
    let (status, body) = served.chat(&required()).await;
    assert_eq!((status.as_u16(), &body["error"]["code"]), (501, &json!("constraint_refused")), "{body:#}");
    assert!(body["error"]["message"].as_str().unwrap().contains("no structure here"), "{body:#}");
    // Without a required structure no field is sent.
    let (status, _) = served.chat(&request(false)).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_structure_of_the_clients_own_counts_alone() {
    let endpoint = Endpoint::setup().models(&["m"]).owner("vllm").start([Reply::text(&call())]);
    let served = serve(&endpoint, |config| config).await;
    let mut asked = required();
    asked["grammar"] = json!("root ::= \"x\"");
    served.chat(&asked).await;
    let seen = endpoint.seen();
    let body = &seen.iter().find(|seen| seen.target().starts_with("POST")).unwrap().body;
    assert_eq!((&body["grammar"], body.get("response_format")), (&asked["grammar"], None), "{body:#}");
}

#[tokio::test]
async fn forms_are_learned_for_each_model() {
    let endpoint = Endpoint::answer(|request, _| match request.body["model"] == "small" && !held(request).is_empty() {
        true => Reply::refused(400, "no structure here"),
        false => Reply::text(&call()),
    });
    let served = serve(&endpoint, |config| config).await;
    for model in ["small", "large"] {
        let mut asked = required();
        asked["model"] = json!(model);
        served.chat(&asked).await;
    }
    let seen = endpoint.seen();
    let last = seen.last().unwrap();
    assert_eq!((&last.body["model"], held(last)), (&json!("large"), vec!["response_format"]));
}

/// A part of the prompt that only the full style has.
const RULES: &str = "# Rules";

#[tokio::test]
async fn the_prompt_suits_the_model_of_the_endpoint_whatever_the_client_calls_it() {
    for (models, named, full) in [
        (&["Qwen2.5-Coder-0.5B-Instruct.gguf"][..], "m", false),
        (&["Qwen2.5-Coder-7B-Instruct.gguf"], "m", true),
        (&["Qwen2.5-Coder-0.5B-Instruct.gguf", "other-8b"], "m", true),
        (&["Qwen2.5-Coder-0.5B-Instruct.gguf", "m"], "m", true),
        (&["Qwen2.5-Coder-0.5B-Instruct.gguf"], "some-7b", true),
    ] {
        let endpoint = Endpoint::setup().models(models).owner("llamacpp").start([Reply::text("Cold.")]);
        let served = serve(&endpoint, |config| config).await;
        let mut asked = request(false);
        asked["model"] = json!(named);
        served.chat(&asked).await;
        let seen = endpoint.seen().into_iter().find(|seen| seen.target().starts_with("POST")).unwrap();
        assert_eq!(seen.body["messages"][0]["content"].as_str().unwrap().contains(RULES), full, "{models:?} {named}");
        assert_eq!(seen.body["model"], named);
    }
}
