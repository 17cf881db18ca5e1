//! The fields in which a constraint is requested from endpoints, and the behaviour after a refusal.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Value, json};
use toolgraft::constrain::{Constraint, Thinking};
use toolgraft::message::FinishReason;
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::tools::ToolChoice;
use toolgraft::{Catalog, Dialect, Message, Model, OpenAi, Tool};
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen};

fn catalog() -> Catalog {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    Catalog::from_tools([Tool::new("weather").with_schema(schema)])
}

fn calls() -> Constraint {
    Constraint::calls(Dialect::TypeMarker, &catalog(), &ToolChoice::Required, Thinking::Off, 1).unwrap()
}

fn answer() -> Constraint {
    Constraint::answer(json!({"type": "object", "properties": {"days": {"type": "integer"}}}))
}

fn request(constraint: Constraint) -> Request {
    let mut request = Request::new(vec![Message::user("Hello")]);
    request.constraint = Some(Arc::new(constraint));
    request
}

/// Starts a server with this owner that accepts the requests that satisfy `takes`.
fn server(owner: &'static str, takes: impl Fn(&Value) -> bool + Send + 'static) -> Endpoint {
    Endpoint::setup().models(&["m"]).owner(owner).answer(move |seen, _| match takes(&seen.body) {
        true => Reply::text("fine"),
        false => Reply::refused(400, "response_format: this form is not known"),
    })
}

/// Returns the field with the constraint of each request for an answer.
fn forms(seen: &[Seen]) -> Vec<Value> {
    let asked = seen.iter().filter(|seen| seen.target().contains("/chat/completions"));
    let fields = ["grammar", "ebnf", "structured_outputs", "response_format"];
    asked
        .map(|seen| {
            let mut found = fields.iter().filter_map(|field| Some(json!({*field: seen.body.get(*field)?})));
            let form = found.next().unwrap_or(Value::Null);
            assert_eq!(found.next(), None, "two forms in one request: {}", seen.body);
            form
        })
        .collect()
}

/// Returns the number of refusals in the stream, its text, and its end.
async fn told(model: &OpenAi, request: Request) -> (usize, String, Result<FinishReason, ModelError>) {
    let (mut refused, mut text) = (0, String::new());
    let mut events = model.stream(request);
    loop {
        match events.next().await.unwrap() {
            Ok(ModelEvent::ConstraintRefused(message)) => {
                assert!(text.is_empty() && message.contains("not known"), "{message}");
                refused += 1;
            }
            Ok(ModelEvent::Delta(delta)) => text += &delta.text,
            Ok(ModelEvent::Finish(reason)) => return (refused, text, Ok(reason)),
            Ok(_) => {}
            Err(error) => return (refused, text, Err(error)),
        }
    }
}

fn fine(refused: usize) -> (usize, String, Result<FinishReason, ModelError>) {
    (refused, "fine".to_owned(), Ok(FinishReason::Stop))
}

fn schema_of(body: &Value) -> bool {
    body["response_format"]["type"] == "json_schema"
}

#[tokio::test]
async fn each_server_is_asked_in_its_own_form() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false});
    let grammar = calls().grammar.unwrap();
    let begin = "TYPE: MCP\n{\"tool_name\": \"weather\", \"parameters\": ";
    let tags = |at_least_one: bool| {
        json!({"response_format": {"type": "structural_tag", "format": {
            "type": "triggered_tags",
            "triggers": ["TYPE: MCP"],
            "tags": [{"begin": begin, "content": {"type": "json_schema", "json_schema": schema}, "end": "}"}],
            "at_least_one": at_least_one,
            "stop_after_first": at_least_one,
        }}})
    };
    let call = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": {
        "type": "object", "required": ["name", "arguments"],
        "properties": {"name": {"const": "weather"}, "arguments": schema},
        "additionalProperties": false}}}});
    let days = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema":
        {"type": "object", "properties": {"days": {"type": "integer"}}}}}});
    for (owner, of_calls, of_begun) in [
        ("llamacpp", json!({"grammar": grammar}), Value::Null),
        ("vllm", tags(true), tags(false)),
        ("sglang", tags(true), tags(false)),
        ("library", call.clone(), Value::Null),
        ("organization_owner", call, Value::Null),
    ] {
        let endpoint = server(owner, |_| true);
        let model = OpenAi::new(endpoint.url(), "m").unwrap();
        let begun = Constraint::begun_calls(Dialect::TypeMarker, &catalog()).unwrap();
        for constraint in [calls(), answer(), begun] {
            assert_eq!(told(&model, request(constraint)).await, fine(0));
        }
        assert_eq!(forms(&endpoint.seen()), [of_calls, days.clone(), of_begun], "{owner}");
        let lists = endpoint.seen().iter().filter(|seen| seen.target().starts_with("GET")).count();
        assert_eq!(lists, 1, "the kind is asked for once");
    }
}

#[tokio::test]
async fn a_refusal_falls_back_form_by_form_and_is_remembered() {
    let grammar = |body: &Value| body.get("structured_outputs").is_some() || body.get("ebnf").is_some();
    for (owner, tried) in [("vllm", "structured_outputs"), ("sglang", "ebnf")] {
        let endpoint = server(owner, grammar);
        let model = OpenAi::new(endpoint.url(), "m").unwrap();
        assert_eq!(told(&model, request(calls())).await, fine(1));
        assert_eq!(told(&model, request(calls())).await, fine(0));
        let forms = forms(&endpoint.seen());
        let names: Vec<&str> =
            forms.iter().map(|form| form.as_object().unwrap().keys().next().unwrap().as_str()).collect();
        assert_eq!(names, ["response_format", tried, tried], "{owner}");
    }
    // Structural tags in their first form, since the model may also answer in prose.
    let endpoint = server("vllm", |body| body["response_format"].get("structures").is_some());
    let model = OpenAi::new(endpoint.url(), "m").unwrap();
    let begun = Constraint::begun_calls(Dialect::UseMcpTool, &catalog()).unwrap();
    assert_eq!(told(&model, request(begun)).await, fine(1));
    let old = &forms(&endpoint.seen())[1]["response_format"];
    assert_eq!((&old["type"], &old["triggers"]), (&json!("structural_tag"), &json!(["<use_mcp_tool>"])));
    let tag = &old["structures"][0];
    assert!(tag["begin"].as_str().unwrap().starts_with("<use_mcp_tool>\n"), "{tag}");
    assert!(tag["end"].as_str().unwrap().ends_with("</use_mcp_tool>") && tag["schema"].is_object(), "{tag}");
}

#[tokio::test]
async fn an_endpoint_that_takes_no_form_answers_without() {
    let endpoint = server("somebody", |body| body.get("response_format").is_none());
    let model = OpenAi::new(endpoint.url(), "m").unwrap();
    assert_eq!(told(&model, request(answer())).await, fine(1));
    let kinds: Vec<Value> = forms(&endpoint.take_seen()).iter().map(|f| f["response_format"]["type"].clone()).collect();
    assert_eq!(kinds, [json!("json_schema"), json!("json_object"), Value::Null]);
    // Remembered for another schema too, and for other clients of the endpoint; a required
    // constraint is an error then.
    let other = Constraint::answer(json!({"type": "array"}));
    assert_eq!(told(&model.with_model("m"), request(other.clone())).await, fine(0));
    assert_eq!(forms(&endpoint.take_seen()), [Value::Null]);
    let (_, _, end) = told(&model, request(other.require())).await;
    assert!(matches!(end, Err(ModelError::Unconstrained { .. })), "{end:?}");
    assert_eq!(endpoint.requests(), 0, "nothing was sent");
}

#[tokio::test]
async fn a_required_structure_that_is_refused_is_an_error() {
    let endpoint = server("somebody", |body| body.get("response_format").is_none());
    let model = OpenAi::new(endpoint.url(), "m").unwrap();
    let (refused, text, end) = told(&model, request(answer().require())).await;
    assert_eq!((refused, text.as_str()), (0, ""));
    let error = end.unwrap_err();
    assert!(matches!(error, ModelError::Unconstrained { .. }) && error.to_string().contains("not known"), "{error}");
}

#[tokio::test]
async fn a_request_that_is_wrong_anyhow_teaches_nothing() {
    let endpoint = Endpoint::setup().models(&["m"]).owner("somebody").answer(|seen, number| match number {
        0..3 => Reply::refused(400, "no such role"),
        _ if schema_of(&seen.body) => Reply::text("fine"),
        _ => Reply::refused(500, "the schema was left out"),
    });
    let model = OpenAi::new(endpoint.url(), "m").unwrap();
    let (_, _, end) = told(&model, request(answer())).await;
    assert_eq!(end.unwrap_err().status(), Some(400));
    assert_eq!(told(&model, request(answer())).await, fine(0));
}

#[tokio::test]
async fn what_else_goes_wrong_is_not_taken_for_a_refusal_of_the_form() {
    let context = json!({"error": {"code": 400, "message": "request (9 tokens) exceeds the available context size (8 tokens)",
        "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}});
    for reply in [Reply::refused(401, "no key"), Reply::new(400, &context.to_string())] {
        let endpoint = Endpoint::setup().models(&["m"]).start([reply]);
        let model = OpenAi::new(endpoint.url(), "m").unwrap();
        assert!(told(&model, request(answer())).await.2.is_err());
        assert_eq!(forms(&endpoint.seen()).len(), 1);
    }
}

#[tokio::test]
async fn the_only_answer_that_is_possible_takes_no_request() {
    let endpoint = server("llamacpp", |_| true);
    let mut constraint = calls();
    constraint.only = Some("<call/>".to_owned());
    let (refused, text, finish) = told(&OpenAi::new(endpoint.url(), "m").unwrap(), request(constraint)).await;
    assert_eq!((refused, text.as_str(), finish), (0, "<call/>", Ok(FinishReason::Stop)));
    assert!(forms(&endpoint.seen()).is_empty());
}
