mod approval;
mod display;
mod mistakes;
mod native;
mod output;
mod session;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value, json};

use super::*;
use crate::conversation::Conversation;
use crate::dialect::Profile;
use crate::message::{FinishReason, Message, ReasoningCalls, ReasoningMode};
use crate::model::{Model, ModelError, ModelEvent, ModelFailure, Request};
use crate::outcome::Status;
use crate::route::{Functions, Toolbox};
use crate::tools::{Annotations, Decision, Policy, Tool, ToolChoice};
use crate::transcript::Finish;
use crate::transcript::{Recorded, Round};
use crate::turn::AgentEvent;
use crate::turn::tests::{Plain, call};
use crate::turn::{AfterCall, TurnConfig};

/// Returns the functions `weather(city)`, `wait(ms)` and `fail()` of the server `demo`, and the counter of their runs.
fn tools() -> (Functions, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = {
        let ran = ran.clone();
        move || ran.fetch_add(1, Ordering::Relaxed)
    };
    let schema =
        |name: &str, kind: &str| json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]});
    let (a, b, c) = (count.clone(), count.clone(), count);
    // It changes nothing, so that two calls of it run together.
    let waits = Tool { annotations: Some(Annotations::default().with_read_only_hint(true)), ..Tool::new("wait") }
        .with_schema(schema("ms", "integer"));
    let tools = Functions::new("demo")
        .with(Tool::new("weather").with_schema(schema("city", "string")), move |args: Map<String, Value>| {
            a();
            async move { Ok::<_, String>(format!("sunny in {}", args["city"].as_str().unwrap_or("?"))) }
        })
        .with(waits, move |args: Map<String, Value>| {
            b();
            async move {
                let ms = args["ms"].as_u64().unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok::<_, String>(format!("waited {ms}"))
            }
        })
        .with(Tool::new("fail"), move |_| {
            c();
            async { Err::<String, _>("the disk is full") }
        });
    (tools, ran)
}

/// Test of an agent: a recorded model, tools with the counter of their runs, and the agent's options.
struct Scene {
    model: Arc<Recorded>,
    ran: Arc<AtomicUsize>,
    builder: AgentBuilder,
}

impl Scene {
    fn new<R: Into<Answer>>(rounds: impl IntoIterator<Item = R>) -> Self {
        let model = Arc::new(Recorded::new(rounds.into_iter().map(|round| round.into().0)));
        let (tools, ran) = tools();
        let config = TurnConfig { policy: Policy::new(Decision::Allow), reasons: Some(false), ..TurnConfig::default() };
        let builder = Agent::builder(model.clone(), tools).config(config).wording(|_| Arc::new(Plain));
        Scene { builder, model, ran }
    }

    fn with(mut self, edit: impl FnOnce(&mut TurnConfig)) -> Self {
        edit(&mut self.builder.inner.config);
        self
    }

    async fn play(self) -> Played {
        let agent = self.builder.build();
        let events: Vec<AgentEvent> = agent.run("Weather?").unwrap().collect().await;
        let Some(AgentEvent::Finished(finished)) = events.last().cloned() else { panic!("{events:?}") };
        let requests = self.model.requests();
        let sent = requests.iter().map(|r| r.messages.clone()).collect();
        Played { finished: *finished, events, sent, ran: self.ran.load(Ordering::Relaxed) }
    }
}

struct Played {
    finished: Finished,
    events: Vec<AgentEvent>,
    /// The messages of each request.
    sent: Vec<Vec<Message>>,
    /// Number of calls that a function ran.
    ran: usize,
}

impl Played {
    /// Returns the message that the model read last before round `n`, from 1.
    fn told(&self, n: usize) -> &str {
        &self.sent[n - 1].last().unwrap().content
    }

    fn text(&self) -> String {
        let text = |event: &AgentEvent| match event {
            AgentEvent::Text { text } => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }
}

struct Answer(Round);

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Answer(Round::text(text))
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Answer(Round::text(text))
    }
}

impl From<Round> for Answer {
    fn from(round: Round) -> Self {
        Answer(round)
    }
}

fn weather(city: &str) -> String {
    call("weather", &json!({"city": city}))
}

#[tokio::test]
async fn a_plain_answer_needs_no_tool() {
    let played = Scene::new(["Hello!"]).play().await;
    assert_eq!((played.finished.reason, played.finished.answer.as_str()), (StopReason::Answered, "Hello!"));
    assert_eq!((played.finished.rounds, played.finished.calls, played.ran), (1, 0, 0));
}

#[tokio::test]
async fn a_call_runs_and_its_result_is_answered_from() {
    let played = Scene::new([format!("Let me look.\n{}", weather("Paris")), "Sunny.".into()]).play().await;
    assert_eq!(played.told(2), "call_1 Result: sunny in Paris");
    assert_eq!(played.sent[1][2].content, format!("Let me look.\n{}", weather("Paris")));
    assert_eq!((played.finished.answer.as_str(), played.finished.calls), ("Sunny.", 1));
    assert_eq!(played.text(), "Let me look.\nSunny.");
}

#[tokio::test(start_paused = true)]
async fn calls_run_side_by_side_and_their_results_are_in_order() {
    let slow = call("wait", &json!({"ms": 300}));
    let quick = call("wait", &json!({"ms": 100}));
    let start = tokio::time::Instant::now();
    let played = Scene::new([format!("{slow}\n{quick}"), "Done.".into()]).play().await;
    assert_eq!(start.elapsed(), Duration::from_millis(300));
    assert_eq!(played.told(2), "call_1 Result: waited 300\ncall_2 Result: waited 100");
    let outcome = |event: &AgentEvent| match event {
        AgentEvent::Outcome { id, .. } => Some(id.clone()),
        _ => None,
    };
    let came: Vec<_> = played.events.iter().filter_map(outcome).collect();
    assert_eq!(came, ["call_2", "call_1"]);
}

#[tokio::test]
async fn an_invented_result_is_neither_shown_nor_remembered() {
    let rounds = || [format!("{}\nIt is 40 degrees.\n{}", weather("Paris"), weather("Rome")), "Sunny.".into()];
    let played = Scene::new(rounds()).play().await;
    assert_eq!(played.ran, 1);
    assert_eq!(played.sent[1][2].content, weather("Paris"));
    assert!(!played.text().contains("40"));
    let cancelled = AgentEvent::RoundFinished { round: 1, finish: None, usage: None };
    assert!(played.events.contains(&cancelled));

    let drained = Scene::new(rounds()).with(|c| c.after_call = AfterCall::Drain).play().await;
    // Text between calls may be a result: the second call needs approval.
    assert_eq!(drained.ran, 1);
    assert!(drained.text().contains("40"));

    let only_prose = [format!("{}\nIt is 40 degrees.", weather("Paris")), "Sunny.".into()];
    let drained = Scene::new(only_prose).with(|c| c.after_call = AfterCall::Drain).play().await;
    assert_eq!(drained.sent[1][2].content, weather("Paris"));
}

#[tokio::test]
async fn a_draft_in_the_reasoning_does_not_run() {
    let first = format!("<think>I could call {} but why?</think>It is sunny.", weather("Paris"));
    let played = Scene::new([first]).play().await;
    assert_eq!((played.ran, played.finished.answer.as_str()), (0, "It is sunny."));
    let draft = |e: &&AgentEvent| matches!(e, AgentEvent::CallRejected { rejected, .. } if rejected.kind.as_str() == "in_reasoning");
    assert_eq!(played.events.iter().filter(draft).count(), 1);
    let message = played.finished.conversation.messages().next().unwrap();
    assert_eq!(message.written(), "It is sunny.");
    assert!(message.reasoning.contains("I could call <use_mcp_tool>"));
}

#[tokio::test]
async fn a_tools_failure_is_read_by_the_model() {
    let played = Scene::new([call("fail", &json!({})), "It failed.".into()]).play().await;
    assert_eq!(played.told(2), "call_1 ToolError: the disk is full");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_timed_out() {
    let mut scene = Scene::new([call("wait", &json!({"ms": 5000})), "Too slow.".into()]);
    scene.builder = scene.builder.call_timeout(Some(Duration::from_secs(1)));
    assert_eq!(scene.play().await.told(2), "call_1 TimedOut: no answer within 1 seconds");
}

#[tokio::test]
async fn the_last_rounds_calls_do_not_run() {
    let rounds = [weather("Paris"), weather("Rome"), "never asked".into()];
    let played = Scene::new(rounds).with(|c| c.max_rounds = 2).play().await;
    assert_eq!(played.finished.reason, StopReason::MaxRounds { rounds: 2 });
    assert_eq!((played.ran, played.finished.calls), (1, 1));
    assert_eq!(played.finished.reason.to_string(), "no answer within the limit of 2 rounds");
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_again() {
    let played = Scene::new(["<think>Hm.</think>\n", "Sunny."]).play().await;
    assert_eq!((played.told(2), played.finished.answer.as_str()), ("Weather?\n\nEmptyAnswer", "Sunny."));
    let silent = Scene::new(["", "", ""]).play().await;
    assert_eq!(silent.finished.reason, StopReason::EmptyAnswer);
}

#[tokio::test]
async fn a_required_call_is_due_once() {
    let required = |c: &mut TurnConfig| c.tool_choice = ToolChoice::Required;
    let played = Scene::new(["Sunny.".into(), weather("Paris"), "Sunny.".to_owned()]).with(required).play().await;
    assert_eq!(played.told(2), "CallRequired");
    let systems: Vec<&str> = played.sent.iter().map(|messages| messages[0].content.as_str()).collect();
    assert_eq!(systems, ["tools: required", "tools: required", "tools: auto"]);
    assert_eq!(played.finished.reason, StopReason::Answered);
    let stubborn = Scene::new(["Sunny."; 3]).with(required).play().await;
    assert_eq!(stubborn.finished.reason, StopReason::CallMissing);
}

#[tokio::test]
async fn a_named_tool_is_the_only_one_that_runs() {
    let rounds = [call("fail", &json!({})), weather("Paris"), "Sunny.".into()];
    let played = Scene::new(rounds).with(|c| c.tool_choice = ToolChoice::Named("weather".into())).play().await;
    assert_eq!(played.told(2), "call_1 Denied: OnlyTool(\"weather\")");
    assert_eq!((played.ran, played.finished.answer.as_str()), (1, "Sunny."));

    let named = |c: &mut TurnConfig| c.tool_choice = ToolChoice::Named("demo.weather".into());
    let played = Scene::new([weather("Paris"), "Sunny.".into()]).with(named).play().await;
    assert_eq!((played.ran, played.told(2)), (1, "call_1 Result: sunny in Paris"));
    let stubborn = Scene::new([call("fail", &json!({})), call("fail", &json!({})), call("fail", &json!({}))]);
    let stubborn = stubborn.with(named).play().await;
    assert!(matches!(stubborn.finished.reason, StopReason::CorrectionsUsedUp { corrections: 2, .. }));
    assert_eq!(stubborn.ran, 0);
}

#[tokio::test]
async fn no_call_runs_where_none_may_be_made() {
    let off = |c: &mut TurnConfig| c.tool_choice = ToolChoice::None;
    let played = Scene::new([weather("Paris"), "Sunny.".into()]).with(off).play().await;
    assert_eq!((played.ran, played.told(2)), (0, "call_1 Denied: CallsOff"));
    let stubborn = Scene::new([weather("Paris"), weather("Paris"), weather("Paris")]).with(off).play().await;
    assert!(matches!(stubborn.finished.reason, StopReason::CorrectionsUsedUp { corrections: 2, .. }));
    assert!(stubborn.finished.conversation.pending().next().is_none());
    // Beside text the call is dropped, and the text is the answer.
    let both = Scene::new([format!("It is sunny.\n\n{}", weather("Paris"))]).with(off).play().await;
    assert_eq!((both.finished.reason, both.finished.answer.as_str()), (StopReason::Answered, "It is sunny."));
    assert!(both.finished.conversation.pending().next().is_none());
}

#[tokio::test]
async fn only_so_many_calls_of_a_message_run() {
    let rounds = [format!("{}{}", weather("Paris"), weather("Rome")), "Sunny.".into()];
    let played = Scene::new(rounds).with(|c| c.max_calls = Some(1)).play().await;
    assert_eq!(played.told(2), "call_1 Result: sunny in Paris\ncall_2 Denied: TooManyCalls(1)");
}

#[tokio::test]
async fn a_model_that_breaks_off_in_a_call_runs_nothing() {
    let half = Round::text(format!("Look.\n{}{}", weather("Paris"), &weather("Rome")[..60]));
    let half = Round { finish: None, ..half };
    let played = Scene::new([half]).play().await;
    let StopReason::ModelFailed(ModelFailure { message, .. }) = &played.finished.reason else {
        panic!("{:?}", played.finished.reason)
    };
    assert!(message.contains("was cut off"), "{message}");
    assert_eq!((played.ran, played.finished.answer.as_str()), (0, "Look."));
    let conversation = &played.finished.conversation;
    assert!(conversation.messages().next().unwrap().cut_off);
    assert!(conversation.pending().next().is_none());
}

#[tokio::test]
async fn a_model_that_fails_at_once_leaves_the_conversation_as_it_was() {
    let played = Scene::new(Vec::<Round>::new()).play().await;
    assert!(matches!(played.finished.reason, StopReason::ModelFailed { .. }));
    assert_eq!(played.finished.conversation, Conversation::from("Weather?"));
}

#[tokio::test(start_paused = true)]
async fn cancelling_during_a_call_drops_it_and_ends_the_turn() {
    let scene = Scene::new([call("wait", &json!({"ms": 60_000})), "never asked".into()]);
    let mut run = scene.builder.build().run("Weather?").unwrap();
    let mut outcomes = Vec::new();
    let start = tokio::time::Instant::now();
    let finished = loop {
        match run.next().await.unwrap() {
            AgentEvent::CallRunning { .. } => run.cancel(),
            AgentEvent::Outcome { outcome, .. } => outcomes.push(outcome.status),
            AgentEvent::Finished(finished) => break finished,
            _ => {}
        }
    };
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!((finished.reason, outcomes), (StopReason::Cancelled, vec![Status::Cancelled]));
    assert!(run.next().await.is_none());
}

#[tokio::test]
async fn a_turn_goes_on_from_a_stored_conversation() {
    let first = Scene::new([weather("Paris"), "Sunny.".into()]).play().await;
    let stored = serde_json::to_string(&first.finished.conversation).unwrap();
    let mut conversation: Conversation = serde_json::from_str(&stored).unwrap();
    conversation.push_user("And Rome?").unwrap();
    let scene = Scene::new([weather("Rome"), "Sunny too.".into()]);
    let finished = scene.builder.build().run(conversation).unwrap().finish().await;
    let ids: Vec<_> = finished.conversation.messages().flat_map(|m| m.calls()).map(|c| c.id.clone()).collect();
    assert_eq!(ids, ["call_1", "call_2"]);
}

#[tokio::test]
async fn a_run_moves_between_threads() {
    fn movable<T: Send + 'static>(value: T) -> T {
        value
    }
    let agent = Scene::new(["Hello!"]).builder.build();
    let run = movable(agent.run("Hi").unwrap());
    assert_eq!(tokio::spawn(run.finish()).await.unwrap().answer, "Hello!");
}

/// Counts how often a value of it is dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Model whose stream has one text and then never continues.
struct Endless {
    text: String,
    dropped: Arc<AtomicUsize>,
}

impl Model for Endless {
    fn stream(&self, _: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let guard = Guard(self.dropped.clone());
        let delta = crate::message::Delta { kind: crate::message::DeltaKind::Content, text: self.text.clone() };
        let endless = stream::pending().inspect(move |_| {
            let _ = &guard;
        });
        stream::iter([Ok(ModelEvent::Delta(delta))]).chain(endless).boxed()
    }
}

#[tokio::test]
async fn the_models_stream_is_dropped_when_it_writes_on_after_a_call() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let text = format!("{} and so", call("hang", &json!({})));
    let hanging = Arc::new(AtomicUsize::new(0));
    let guards = hanging.clone();
    let tools = Functions::new("demo").with(Tool::new("hang"), move |_| {
        let guard = Guard(guards.clone());
        async move {
            let () = std::future::pending().await;
            drop(guard);
            Ok::<_, String>("never")
        }
    });
    let model = Endless { text, dropped: dropped.clone() };
    let config = TurnConfig { reasons: Some(false), ..TurnConfig::default() };
    let agent = Agent::builder(model, tools).config(config).policy(Policy::new(Decision::Allow)).build();
    let mut run = agent.run("Hi").unwrap();
    while !matches!(run.next().await, Some(AgentEvent::CallRunning { .. })) {}
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "the stream was dropped before the call ran");
    // The next poll starts the call; it never answers.
    assert!(futures::poll!(run.next()).is_pending());
    assert_eq!(hanging.load(Ordering::Relaxed), 0);
    drop(run);
    assert_eq!(hanging.load(Ordering::Relaxed), 1, "dropping the run drops its calls");
}

#[tokio::test]
async fn an_open_stream_without_a_think_tag_was_an_answer() {
    let played = Scene::new(["It is sunny."]).with(|c| c.reasoning = ReasoningMode::Open).play().await;
    assert_eq!((played.finished.reason, played.finished.answer.as_str()), (StopReason::Answered, "It is sunny."));
    assert!(played.events.contains(&AgentEvent::Reclassified { to: crate::event::Region::Content }));
}

#[tokio::test]
async fn a_profile_sets_the_reading_and_the_words_and_keeps_the_policy() {
    let profile = Profile::for_model("deepseek-r1:14b");
    let rounds = [
        "<think>Hm.\nTYPE: MCP\n{\"tool_name\": \"weather\", \"parameters\": {}}\n</think>\n\
                   TYPE: MCP\n{\"tool_name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}",
        "It is sunny.</think>TYPE: ANSWER\nSunny.",
    ];
    let model = Arc::new(Recorded::new(rounds.map(Round::text)));
    let policy = Policy::new(Decision::Allow);
    let agent = Agent::builder(model.clone(), tools().0).policy(policy).profile(profile).build();
    let finished = agent.run("Weather?").unwrap().finish().await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Sunny.", 1));
    let requests = model.requests();
    assert_eq!(requests[0].temperature, Some(0.6));
    assert_eq!(requests[0].messages.len(), 1, "the system text stands in the user's message");
    assert!(requests[0].messages[0].content.contains("TYPE: MCP"));
    assert!(requests[1].messages[1].content.starts_with("TYPE: MCP"), "{:?}", requests[1].messages[1]);
    assert!(requests[1].messages[2].content.contains("sunny in Paris"));
}
