//! Recorded sessions in which a real model went wrong: each ends properly when its endpoint is
//! replayed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;
use toolgraft::agent::{Finished, StopReason};
use toolgraft::constrain::Constrain;
use toolgraft::message::{Delta, FinishReason};
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::{Decision, Server};
use toolgraft::turn::{MAX_SAME_RESULTS, REPEATED_BYTES, TurnConfig};
use toolgraft::{Agent, AgentEvent, Catalog, Conversation, Model, Outcome, Policy};

/// A streamed answer of the endpoint.
#[derive(Debug, Clone, Default)]
struct Answer {
    pieces: Vec<String>,
    /// The finish reason; `None` if it was truncated.
    finish: Option<FinishReason>,
}

/// The endpoint and the tools of a recording.
#[derive(Clone)]
struct Session {
    answers: Vec<Answer>,
    catalog: Arc<Catalog>,
    /// Results, by tool and arguments.
    results: HashMap<String, Outcome>,
    question: String,
    asked: Arc<Mutex<usize>>,
    ran: Arc<Mutex<HashMap<String, usize>>>,
}

fn key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {arguments}")
}

fn session(name: &str) -> Session {
    let path = format!("{}/fixtures/streams/smollm2/{name}.recording.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recording is there");
    let mut session = Session {
        answers: Vec::new(),
        catalog: Arc::default(),
        results: HashMap::new(),
        question: String::new(),
        asked: Arc::default(),
        ran: Arc::default(),
    };
    let mut calls = HashMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("each line is JSON");
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        match text("type").as_str() {
            "tools" => {
                let servers: Vec<Server> = serde_json::from_value(record["servers"].clone()).expect("servers");
                session.catalog = Arc::new(Catalog::new(servers));
            }
            "message" if session.question.is_empty() && text("role") == "user" => session.question = text("content"),
            "request" => session.answers.push(Answer::default()),
            "delta" => session.answers.last_mut().expect("it was asked").pieces.push(text("text")),
            "finish" => {
                let reason = match text("reason").as_str() {
                    "stop" => Some(FinishReason::Stop),
                    "length" => Some(FinishReason::Length),
                    _ => None,
                };
                session.answers.last_mut().expect("it was asked").finish = reason;
            }
            "call" => {
                let call = &record["call"];
                calls.insert(text("id"), key(call["tool"].as_str().unwrap_or_default(), &call["arguments"]));
            }
            "outcome" => {
                let outcome = serde_json::from_value(record["outcome"].clone()).expect("an outcome");
                session.results.entry(calls[&text("id")].clone()).or_insert(outcome);
            }
            _ => {}
        }
    }
    // The last request has no answer.
    session.answers.retain(|answer| !answer.pieces.is_empty());
    session
}

impl Model for Session {
    /// Returns the next answer, and the last one again after that.
    fn stream(&self, _: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let mut asked = self.asked.lock().expect("nothing panics under the lock");
        let answer = self.answers[(*asked).min(self.answers.len() - 1)].clone();
        *asked += 1;
        let pieces = answer.pieces.into_iter().map(|text| Ok(ModelEvent::Delta(Delta::content(text))));
        let end = match answer.finish {
            Some(reason) => Ok(ModelEvent::Finish(reason)),
            None => Err(ModelError::cut_off("the server was killed")),
        };
        stream::iter(pieces.chain([end]).collect::<Vec<_>>()).boxed()
    }
}

impl Toolbox for Session {
    fn catalog(&self) -> Arc<Catalog> {
        self.catalog.clone()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome> {
        let key = key(&invocation.tool, &Value::Object(invocation.arguments));
        *self.ran.lock().expect("nothing panics under the lock").entry(key.clone()).or_default() += 1;
        Box::pin(ready(self.results.get(&key).cloned().unwrap_or_else(|| Outcome::error("it was not recorded"))))
    }
}

/// Replays the session. Returns its end, and the largest number of runs of one call.
async fn played(session: &Session, conversation: Conversation) -> (Finished, usize) {
    let mut config = TurnConfig::default();
    config.reasons = Some(false);
    // A recorded answer has no constrained structure.
    config.constrain = Constrain::Off;
    let agent =
        Agent::builder(session.clone(), session.clone()).config(config).policy(Policy::new(Decision::Allow)).build();
    let events: Vec<AgentEvent> = agent.run(conversation).expect("the tools can be listed").collect().await;
    let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
    let most = session.ran.lock().expect("nothing panics under the lock").values().copied().max().unwrap_or(0);
    ((**finished).clone(), most)
}

/// Name, largest number of rounds, and the message about the end.
const SESSIONS: &[(&str, u32, &str)] = &[
    ("forged-result.tool_tag.en", 3, "a result that no tool gave"),
    ("full.tool_tag.What_is_the_weather_in_Oslo_", 2, "answered"),
    ("full.tool_tag.What_is_the_weather_in_Tokyo_", 2, "answered"),
    ("full.tool_tag.Where_am_I_", 2, "answered"),
    ("full.use_mcp_tool.What_is_the_weather_in_Oslo_", 2, "answered"),
    ("full.use_mcp_tool.What_is_the_weather_in_Tokyo_", 2, "answered"),
    ("full.use_mcp_tool.Where_am_I_", 2, "answered"),
    ("grammar-on-correction.use_mcp_tool.en", 1, "the output limit"),
    ("grammar.type_marker.en", 2, "the output limit"),
    ("identical-call-loop.use_mcp_tool.en", 11, "the same call"),
    ("placeholder-call.use_mcp_tool.en", 1, "the output limit"),
    ("prompt-echo-loop.type_marker.zh", 1, "the output limit"),
    ("runaway-2048", 1, "the output limit"),
    ("server-killed", 1, "was cut off"),
];

#[tokio::test]
async fn each_session_ends_well_when_its_endpoint_is_played_again() {
    for (name, rounds, ends) in SESSIONS {
        let session = session(name);
        let (finished, most) = played(&session, Conversation::from_user(session.question.as_str())).await;
        let reason = finished.reason.to_string();
        assert!(reason.contains(ends), "{name}: {reason}");
        assert!(finished.rounds <= *rounds, "{name}: {} rounds", finished.rounds);
        let limit = if *ends == "the same call" { MAX_SAME_RESULTS as usize } else { 2 };
        assert!(most <= limit, "{name}: a call ran {most} times");
        assert!(finished.answer.len() < 1_000 + REPEATED_BYTES, "{name}: {}", finished.answer);
        crate::history::comes_back(&finished.conversation, name);
        // The conversation can be continued: no call is pending, and another endpoint answers.
        let mut conversation = finished.conversation;
        conversation.push_user("And now?").unwrap_or_else(|error| panic!("{name}: {error}"));
        let well = Answer { pieces: vec!["All is well.".to_owned()], finish: Some(FinishReason::Stop) };
        let next = Session { answers: vec![well], ..session };
        let (finished, _) = played(&next, conversation).await;
        assert_eq!((finished.reason, finished.answer.as_str()), (StopReason::Answered, "All is well."), "{name}");
    }
}

#[test]
fn every_recording_is_played() {
    let folder = format!("{}/fixtures/streams/smollm2", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        files.map(|file| file.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let played: Vec<String> = SESSIONS.iter().map(|(name, ..)| format!("{name}.recording.jsonl")).collect();
    assert_eq!(names, played);
}
