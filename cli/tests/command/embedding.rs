//! Guarantees for a program that embeds an agent: runs move between tasks, approvals may be answered later, one hub
//! serves many conversations, and a conversation continues wherever it stopped.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{Stream, StreamExt};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use toolgraft::agent::{Approval, ApprovalRequest, Finished, Run, StopReason};
use toolgraft::outcome::Status;
use toolgraft::route::Toolbox;
use toolgraft::tools::Decision;
use toolgraft::{Agent, AgentEvent, Conversation, Functions, OpenAi, Policy, Tool};
use toolgraft_mcp::{Config, Hub, ServerConfig};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, Seen, mcp_call, says};
use toolgraft_testkit::http_mcp::HttpMcp;

fn model(endpoint: &Endpoint) -> OpenAi {
    OpenAi::builder(endpoint.url(), "small-model").backoff(Duration::from_millis(1)).build().unwrap()
}

async fn hub(servers: impl IntoIterator<Item = ServerConfig>) -> Arc<Hub> {
    Arc::new(Hub::builder().config(Config::from_iter(servers)).inherit_env().connect().await.unwrap())
}

fn demo() -> ServerConfig {
    ServerConfig::stdio("demo", env!("CARGO_BIN_EXE_toolgraft"), ["demo-server"])
}

/// `read` and `write` of the server `files`.
fn files() -> Functions {
    let say = |what: &'static str| move |_: Map<String, Value>| async move { Ok::<_, String>(what) };
    Functions::new("files").with(Tool::new("read"), say("the text")).with(Tool::new("write"), say("written"))
}

fn stored(conversation: &Conversation) -> Conversation {
    let stored = serde_json::to_string(conversation).unwrap();
    let read: Conversation = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, *conversation);
    read
}

async fn to_the_end(mut run: Run, mut each: impl FnMut(&Run, &AgentEvent)) -> Finished {
    loop {
        let event = run.next().await.expect("a turn ends with `Finished`");
        each(&run, &event);
        if let AgentEvent::Finished(finished) = event {
            return *finished;
        }
    }
}

#[test]
fn a_run_is_a_stream_of_events_that_is_send_and_static() {
    fn holds<T: Stream<Item = AgentEvent> + Send + Unpin + 'static>() {}
    fn shared<T: Clone + Send + Sync + 'static>() {}
    holds::<Run>();
    shared::<Agent>();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_answered_by_another_task_while_other_calls_finish() {
    let both = format!("{}\n{}", mcp_call("files", "write", &json!({})), mcp_call("files", "read", &json!({})));
    let endpoint = Endpoint::start([Reply::text(&both), Reply::text("Done.")]);
    let (ask, mut asked) = mpsc::unbounded_channel::<(ApprovalRequest, oneshot::Sender<Approval>)>();
    let approver = move |request: ApprovalRequest| {
        let (answer, answered) = oneshot::channel();
        ask.send((request, answer)).unwrap();
        async move { answered.await.unwrap_or(Approval::Denied { reason: None }) }
    };
    let policy = Policy::new(Decision::Ask).allow("files/read");
    let agent = Agent::builder(model(&endpoint), files().parallel()).policy(policy).approver(approver).build();

    // The question is answered only once the other call's outcome was seen.
    let (saw, seen) = oneshot::channel::<()>();
    let person = tokio::spawn(async move {
        let (request, answer) = asked.recv().await.unwrap();
        assert_eq!((request.tool.as_str(), request.id.as_str()), ("write", "call_1"));
        seen.await.unwrap();
        answer.send(Approval::Approved).unwrap();
    });
    let (mut saw, mut outcomes) = (Some(saw), Vec::new());
    let run = agent.run("Write it down").unwrap();
    let finished = to_the_end(run, |_, event| {
        if let AgentEvent::Outcome { id, outcome } = event {
            outcomes.push((id.clone(), outcome.text.clone()));
            if let Some(saw) = saw.take() {
                saw.send(()).unwrap();
            }
        }
    })
    .await;
    person.await.unwrap();
    assert_eq!(outcomes, [("call_2".into(), "the text".into()), ("call_1".into(), "written".into())]);
    assert_eq!((finished.answer.as_str(), finished.calls), ("Done.", 2));
}

/// Calls a tool of each server with a word of the question, then answers with the results' words.
fn echoing(request: &Seen, _: usize) -> Reply {
    let question = request.question();
    match question.strip_prefix("Say ").or_else(|| question.split("\nSay ").nth(1)) {
        Some(word) => Reply::text(&format!(
            "{}\n{}",
            mcp_call("http", "echo", &json!({"text": word})),
            mcp_call("demo", "weather_query", &json!({"city": word}))
        ))
        .delay(Duration::from_millis(1)),
        None => {
            let word = question.split("person-").nth(1).unwrap_or_default();
            let number: String = word.chars().take_while(char::is_ascii_digit).collect();
            Reply::text(&format!("So says person-{number}."))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_hub_serves_many_conversations_side_by_side() {
    let endpoint = Endpoint::answer(echoing);
    let server = HttpMcp::start();
    let hub = hub([demo(), ServerConfig::http("http", server.url())]).await;
    let agent = Agent::builder(model(&endpoint), hub.clone()).policy(Policy::new(Decision::Allow)).build();
    let mut tasks = Vec::new();
    for person in 0..40 {
        let agent = agent.clone();
        tasks.push(tokio::spawn(async move {
            let run = agent.run(format!("Say person-{person}")).unwrap();
            let mut outcomes = BTreeSet::new();
            let finished = to_the_end(run, |_, event| {
                if let AgentEvent::Outcome { outcome, .. } = event {
                    assert_eq!(outcome.status, Status::Result, "{}", outcome.text);
                    outcomes.insert(outcome.text.chars().take_while(|c| *c != ',').collect::<String>());
                }
            })
            .await;
            // Both tools answer with the word of this conversation and no other.
            assert_eq!(outcomes, BTreeSet::from([format!("person-{person}")]));
            assert_eq!(finished.answer, format!("So says person-{person}."));
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    hub.shutdown().await;
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_cancelled_call() {
    let server = HttpMcp::start();
    let hub = hub([ServerConfig::http("http", server.url())]).await;
    let hang = mcp_call("http", "hang", &json!({}));
    let endpoint =
        Endpoint::start([Reply::text(&hang), Reply::text("It took too long."), Reply::text("You are welcome.")]);
    let agent = Agent::builder(model(&endpoint), hub.clone()).policy(Policy::new(Decision::Allow)).build();
    let cancelled = to_the_end(agent.run("Do it").unwrap(), |run, event| {
        if matches!(event, AgentEvent::CallRunning { .. }) {
            run.cancel();
        }
    })
    .await;
    assert_eq!(cancelled.reason, StopReason::Cancelled);

    // Nothing new is asked: the model reads that the call was cancelled, and answers.
    let finished = agent.run(stored(&cancelled.conversation)).unwrap().finish().await;
    assert_eq!(finished.answer, "It took too long.");
    let told = endpoint.seen()[1].messages();
    assert!(told.contains("The task was stopped before this call was over."), "{told}");
    let mut conversation = stored(&finished.conversation);
    conversation.push_user("Thanks").unwrap();
    assert_eq!(agent.run(conversation).unwrap().finish().await.answer, "You are welcome.");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_conversation_goes_on_after_an_answer_that_was_cancelled_or_broke_off() {
    let half = || Reply::events(&[says("The answer is ")]);
    let mut endpoint = Endpoint::start([half().end(End::Stall), half().end(End::Break), Reply::text("42.")]);
    let agent = Agent::builder(model(&endpoint), files()).build();
    let cancelled = to_the_end(agent.run("What is it?").unwrap(), |run, event| {
        if matches!(event, AgentEvent::Text { .. }) {
            run.cancel();
        }
    })
    .await;
    assert_eq!((cancelled.reason, cancelled.answer.as_str()), (StopReason::Cancelled, "The answer is"));
    endpoint.gone().await;
    let mut conversation = stored(&cancelled.conversation);
    let again = agent.run(conversation.clone()).unwrap_err().to_string();
    assert!(again.contains("append a user message first"), "{again}");
    conversation.push_user("Go on").unwrap();
    let broken = agent.run(conversation).unwrap().finish().await;
    assert!(matches!(broken.reason, StopReason::ModelFailed { .. }), "{:?}", broken.reason);
    let mut conversation = stored(&broken.conversation);
    conversation.push_user("Once more").unwrap();
    assert_eq!(agent.run(conversation).unwrap().finish().await.answer, "42.");
    let messages = endpoint.seen()[2].messages();
    assert_eq!(messages.matches("The answer is").count(), 2, "{messages}");
}

#[tokio::test]
async fn an_approval_may_wait_in_a_file_for_another_process() {
    let calls = format!("{}\n{}", mcp_call("files", "read", &json!({})), mcp_call("files", "write", &json!({})));
    let endpoint = Endpoint::start([Reply::text(&calls), Reply::text("Done.")]);
    let policy = || Policy::new(Decision::Ask).allow("files/read");
    let never = |_: ApprovalRequest| std::future::pending::<bool>();
    let agent = Agent::builder(model(&endpoint), files()).policy(policy()).approver(never).build();
    let suspended = to_the_end(agent.run("Write it down").unwrap(), |run, event| {
        if matches!(event, AgentEvent::ApprovalAsked(_)) {
            run.suspend();
        }
    })
    .await;
    assert_eq!((suspended.reason, suspended.calls), (StopReason::Suspended, 1));
    let file = serde_json::to_string(&suspended.conversation).unwrap();
    drop(agent);

    let conversation: Conversation = serde_json::from_str(&file).unwrap();
    let open: Vec<_> = conversation.pending().map(|call| (call.id.as_str(), call.call.tool.as_str())).collect();
    assert_eq!(open, [("call_2", "write")]);
    let answers = Arc::new(Mutex::new(Vec::new()));
    let kept = answers.clone();
    let approver = move |request: ApprovalRequest| {
        kept.lock().unwrap().push(request.id);
        async { true }
    };
    let agent = Agent::builder(model(&endpoint), files()).policy(policy()).approver(approver).build();
    let finished = agent.run(conversation).unwrap().finish().await;
    assert_eq!((finished.answer.as_str(), finished.rounds, finished.calls), ("Done.", 1, 1));
    assert_eq!(*answers.lock().unwrap(), ["call_2"]);
    let told = endpoint.seen()[1].messages();
    assert!(told.contains("the text") && told.contains("written"), "{told}");
}

#[tokio::test]
async fn dropping_a_run_cancels_its_call_and_the_hub_goes_on() {
    let server = HttpMcp::start();
    let hub = hub([ServerConfig::http("http", server.url()), demo()]).await;
    let hang = mcp_call("http", "hang", &json!({}));
    let weather = mcp_call("demo", "weather_query", &json!({"city": "Oslo"}));
    let endpoint = Endpoint::start([Reply::text(&hang), Reply::text(&weather), Reply::text("Clear.")]);
    let agent = Agent::builder(model(&endpoint), hub.clone()).policy(Policy::new(Decision::Allow)).build();
    let mut run = agent.run("Do it").unwrap();
    while !matches!(run.next().await.unwrap(), AgentEvent::CallRunning { .. }) {}
    assert!(futures::poll!(run.next()).is_pending());
    drop(run);
    assert_eq!(agent.run("Weather in Oslo?").unwrap().finish().await.answer, "Clear.");
    assert_eq!(hub.catalog().tools().count(), 5);
    hub.shutdown().await;
}
