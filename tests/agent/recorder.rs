//! Recordings that are written while an agent works: they can be read and replayed, contain no
//! secrets, and a full disk is reported.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::json;
use toolgraft::agent::Finished;
use toolgraft::event::RejectedKind;
use toolgraft::message::{Delta, DeltaKind, FinishReason, Role, Usage};
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::outcome::Status;
use toolgraft::secrets::Secrets;
use toolgraft::tools::Decision;
use toolgraft::transcript::{self, Recorded, Recorder, Recording, Round, Session};
use toolgraft::{Agent, AgentEvent, Conversation, Functions, Message, Model, Policy, Tool};
use toolgraft_testkit::files::{Full, Shared};

const KEY: &str = "sk-0123456789";

fn recording(file: &Shared) -> Recording {
    transcript::parse(&file.text()).unwrap()
}

fn call(tool: &str, city: &str) -> String {
    format!(
        "<use_mcp_tool><server_name>demo</server_name><tool_name>{tool}</tool_name>\
         <arguments>{{\"city\": \"{city}\"}}</arguments></use_mcp_tool>"
    )
}

fn tools() -> Functions {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    Functions::new("demo")
        .with(Tool::new("weather").with_schema(schema.clone()), |arguments| async move {
            Ok::<_, String>(format!("{}: rain, key {KEY}", arguments["city"].as_str().unwrap_or("?")))
        })
        .with(Tool::new("launch").with_schema(schema), |_| async { Ok::<_, String>("launched") })
}

fn agent(model: impl Model + 'static) -> Agent {
    let policy = Policy::new(Decision::Allow).deny("demo/launch");
    Agent::builder(model, tools()).policy(policy).build()
}

fn recorder() -> (Shared, Recorder) {
    let file = Shared::default();
    let session = Session::default().with_model(Some("m".into()));
    let recorder = Recorder::with_secrets(file.clone(), &session, Secrets::new([KEY]));
    (file, recorder)
}

fn content(text: &str) -> Delta {
    Delta::content(text)
}

fn thought(text: &str) -> Delta {
    Delta::reasoning(text)
}

async fn recorded(rounds: Vec<Round>, question: &str) -> (Recording, Finished) {
    let (file, recorder) = recorder();
    let finished = agent(Recorded::new(rounds)).run_recorded(question, &recorder).unwrap().finish().await;
    assert!(recorder.error().is_none());
    let recording = recording(&file);
    assert!(recording.cut.is_none() && recording.notes.is_empty(), "{recording:#?}");
    (recording, finished)
}

#[tokio::test]
async fn a_turn_is_recorded_delta_for_delta_with_calls_and_outcomes() {
    let text = format!("Both.\n{}\n{}", call("weather", "Oslo"), call("launch", "Graz"));
    let at = text.find("<tool_name>").unwrap();
    let deltas = [thought("Hm. "), content(&text[..at]), content(&text[at..])];
    let (recording, finished) = recorded(vec![Round::new(deltas.clone()), Round::text("It rains.")], "Weather?").await;
    assert!(finished.reason.is_answer());
    let [first, second] = recording.rounds.as_slice() else { panic!("{recording:#?}") };
    let streamed: Vec<Delta> = first
        .deltas
        .iter()
        .map(|d| if d.kind == DeltaKind::Content { content(&d.text) } else { thought(&d.text) })
        .collect();
    assert_eq!(streamed, deltas);
    assert!(first.deltas.iter().all(|d| d.ms.is_some()));
    assert_eq!(first.finish.as_ref().unwrap().reason, FinishReason::Stop);

    let named: Vec<_> =
        first.calls.iter().map(|c| (c.id.as_deref(), c.result.as_ref().unwrap().tool.as_str())).collect();
    let mut sorted = named.clone();
    sorted.sort();
    assert_eq!(sorted, [(Some("call_1"), "weather"), (Some("call_2"), "launch")]);
    let status = |id: &str| first.outcomes.iter().find(|o| o.id == id).unwrap().outcome.status;
    assert_eq!((status("call_1"), status("call_2")), (Status::Result, Status::Denied));

    assert_eq!(first.tools.as_ref().unwrap()[0].tools.len(), 2);
    assert!(second.tools.is_none(), "the list is written once");
    assert_eq!(second.messages.iter().map(|m| m.role).collect::<Vec<_>>(), [Role::Assistant, Role::User]);
    assert!(second.sent.as_ref().unwrap().at >= first.sent.as_ref().unwrap().at);
}

#[tokio::test]
async fn the_prompt_of_each_request_can_be_read_back() {
    let model =
        Arc::new(Recorded::new([Round::text(call("weather", "Oslo")), Round::text("Rain."), Round::text("Yes.")]));
    let file = Shared::default();
    let recorder = Recorder::new(file.clone(), &Session::default());
    let agent = agent(model.clone());
    let first = agent.run_recorded("Weather?", &recorder).unwrap().finish().await;
    let mut conversation: Conversation = first.conversation;
    conversation.push_user("Sure?").unwrap();
    agent.run_recorded(conversation, &recorder).unwrap().finish().await;
    let recording = recording(&file);
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    for (n, request) in requests.iter().enumerate() {
        assert_eq!(recording.request(n), request.messages.iter().collect::<Vec<_>>(), "round {n}");
    }
}

#[test]
fn a_request_that_drops_or_changes_messages_can_be_read_back() {
    let file = Shared::default();
    let recorder = Recorder::new(file.clone(), &Session::default());
    let messages = |texts: &[&str]| Request::new(texts.iter().map(|t| Message::user(*t)).collect());
    let requests = [
        &["s", "a", "b"][..],
        &["s", "a", "b", "c"],
        &["s", "b", "c", "d"],
        &["s", "x", "c", "d"],
        &["s"],
        &["t", "u"],
    ];
    for texts in requests {
        drop(recorder.stream(&messages(texts), stream::empty().boxed()));
    }
    let recording = recording(&file);
    assert_eq!(recording.rounds.len(), requests.len());
    for (n, texts) in requests.iter().enumerate() {
        let read: Vec<_> = recording.request(n).iter().map(|m| m.content.as_str()).collect();
        assert_eq!(read, *texts, "round {n}");
    }
    assert_eq!(recording.rounds[2].messages, [Message::user("d")], "what stays is not written again");
}

#[tokio::test]
async fn rejections_corrections_and_the_end_are_recorded() {
    let (recording, finished) = recorded(vec![Round::text(call("wether", "Oslo"))], "Weather?").await;
    assert!(!finished.reason.is_answer());
    let [first, second] = recording.rounds.as_slice() else { panic!("{recording:#?}") };
    assert_eq!(first.calls[0].result.as_ref().unwrap_err().kind, RejectedKind::UnknownTool);
    let kinds = |round: &transcript::Round| round.notices.iter().map(|n| n.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(first), ["correction"]);
    assert_eq!(kinds(second), ["error", "stopped"]);
    assert_eq!(second.finish.as_ref().unwrap().reason.as_str(), "broken off");
}

#[tokio::test]
async fn an_answer_that_is_cancelled_after_a_call_says_so() {
    let deltas = [content(&call("weather", "Oslo")), content("\n\nResult: sun"), content("never read")];
    let rounds = vec![Round::new([thought("Hm.")].into_iter().chain(deltas)), Round::text("Rain.")];
    let (recording, _) = recorded(rounds, "Weather?").await;
    assert_eq!(recording.rounds[0].finish.as_ref().unwrap().reason.as_str(), "cancelled");
    assert!(!recording.rounds[0].said(DeltaKind::Content).contains("never read"));
    assert_eq!(recording.rounds[0].calls.len(), 1);
}

#[tokio::test]
async fn no_secret_is_written_even_where_the_stream_cuts_it() {
    let letters = KEY.chars().map(|c| content(&c.to_string()));
    let deltas = [content("The key is ")].into_iter().chain(letters).chain([content(" indeed"), content(".")]);
    let rounds = vec![Round::text(call("weather", KEY)), Round::new(deltas)];
    let (file, recorder) = recorder();
    agent(Recorded::new(rounds)).run_recorded(format!("Is it {KEY}?"), &recorder).unwrap().finish().await;
    let text = file.text();
    assert!(!text.contains(KEY), "{text}");
    let recording = recording(&file);
    assert_eq!(recording.rounds[1].said(DeltaKind::Content), "The key is [redacted] indeed.");
    assert_eq!(recording.rounds[1].deltas.len(), 3 + KEY.len(), "each piece keeps its place and time");
}

#[tokio::test]
async fn what_was_streamed_so_far_stands_in_the_file_already() {
    let (file, recorder) = recorder();
    let mut run =
        agent(Recorded::new([Round::new([content("One "), content("two")])])).run_recorded("Count", &recorder).unwrap();
    while let Some(event) = run.next().await {
        if matches!(event, AgentEvent::Text { .. }) {
            break;
        }
    }
    let recording = recording(&file);
    assert_eq!(recording.rounds[0].said(DeltaKind::Content), "One ");
    assert_eq!(recording.cut.unwrap().reason, transcript::CutReason::NoFinish);
}

/// A model with every event that an endpoint may report.
struct Reports;

impl Model for Reports {
    fn stream(&self, _: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let usage = Usage::default().with_prompt_tokens(7).with_completion_tokens(3).with_reasoning_tokens(1);
        let events =
            [ModelEvent::Delta(content("Hi")), ModelEvent::Usage(usage), ModelEvent::Finish(FinishReason::Length)];
        stream::iter(events.map(Ok)).boxed()
    }
}

#[tokio::test]
async fn a_models_answer_is_recorded_without_an_agent() {
    let (file, recorder) = recorder();
    let request = Request::new(vec![Message::user("Hello")]);
    let events: Vec<_> = recorder.stream(&request, Reports.stream(request.clone())).collect().await;
    assert_eq!(events.len(), 3);
    let recording = recording(&file);
    assert_eq!(recording.rounds[0].messages, [Message::user("Hello")]);
    assert_eq!(recording.rounds[0].usage.unwrap().prompt_tokens, 7);
    assert_eq!(recording.rounds[0].finish.as_ref().unwrap().reason, FinishReason::Length);
}

#[tokio::test]
async fn a_recording_that_cannot_be_written_disturbs_no_turn_and_is_reported() {
    for room in [0, 100, 2000] {
        let recorder = Recorder::new(Full::after(room), &Session::default());
        let model = Recorded::new([Round::text(call("weather", "Oslo")), Round::text("Rain.")]);
        let finished = agent(model).run_recorded("Weather?", &recorder).unwrap().finish().await;
        assert_eq!(finished.answer, "Rain.");
        assert_eq!(recorder.error().unwrap().to_string(), "no space left", "room for {room} bytes");
    }
}
