//! The library with real MCP servers and an endpoint over real HTTP.
//!
//! `make set-up` installs the servers; `make test` runs these tests.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use toolgraft::agent::{Finished, Run};
use toolgraft::outcome::Status;
use toolgraft::tools::Decision;
use toolgraft::{Agent, AgentEvent, OpenAi, Outcome, Policy};
use toolgraft_mcp::{Config, Hub, ServerState};
use toolgraft_testkit::endpoint::{Endpoint, Reply, call, mcp_call, says, stops, thinks};
use toolgraft_testkit::real::{node, python, wanted};

async fn connect(servers: Value) -> Arc<Hub> {
    let text = json!({ "mcpServers": servers }).to_string();
    let config = Config::parse(&text, "mcp.json", &|name| std::env::var(name).ok()).unwrap();
    let hub = Arc::new(Hub::builder().config(config).inherit_env().connect().await.unwrap());
    for server in hub.servers() {
        assert_eq!(server.state, ServerState::Ready, "{server:?}");
    }
    hub
}

fn agent(endpoint: &Endpoint, hub: &Arc<Hub>) -> Agent {
    let model = OpenAi::builder(endpoint.url(), "small-model").backoff(Duration::from_millis(1)).build().unwrap();
    Agent::builder(model, hub.clone()).policy(Policy::new(Decision::Allow)).build()
}

async fn outcomes(mut run: Run) -> (Vec<Outcome>, Finished) {
    let mut outcomes = Vec::new();
    loop {
        match run.next().await.unwrap() {
            AgentEvent::Outcome { outcome, .. } => outcomes.push(outcome),
            AgentEvent::Finished(finished) => return (outcomes, *finished),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_turn_over_three_servers_reads_a_file_a_clock_and_a_sum() {
    if !wanted("a_turn_over_three_servers_reads_a_file_a_clock_and_a_sum") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::write(root.join("note.txt"), "buy 3 lamps").unwrap();
    let hub = connect(json!({
        "files": node("filesystem", &[root.to_str().unwrap()]),
        "everything": node("everything", &[]),
        "time": python("mcp-server-time", &["--local-timezone", "UTC"]),
    }))
    .await;
    let read = mcp_call("files", "read_text_file", &json!({"path": root.join("note.txt")}));
    let clock = mcp_call("time", "get_current_time", &json!({"timezone": "Asia/Tokyo"}));
    let sum = Reply::events(&[thinks("Three of them."), call("get-sum", "{\"a\": 3, \"b\": 4}"), stops("tool_calls")]);
    let endpoint = Endpoint::start([
        Reply::events(&[says(&read), says("\n"), says(&clock), stops("stop")]).done().bytewise(),
        sum.done(),
        Reply::text("Seven."),
    ]);
    let (outcomes, finished) = outcomes(agent(&endpoint, &hub).run("How many?").unwrap()).await;
    assert_eq!((finished.answer.as_str(), finished.rounds, finished.calls), ("Seven.", 3, 3));
    assert!(outcomes.iter().all(Outcome::is_result), "{outcomes:?}");
    let seen = endpoint.seen();
    let told = seen[1].messages();
    assert!(told.contains("buy 3 lamps") && told.contains("Asia/Tokyo"), "{told}");
    assert!(seen[2].messages().contains('7'), "{}", seen[2].messages());
    hub.shutdown().await;
}

#[tokio::test]
async fn what_a_real_server_refuses_is_read_by_the_model() {
    if !wanted("what_a_real_server_refuses_is_read_by_the_model") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let hub = connect(json!({ "files": node("filesystem", &[root.to_str().unwrap()]) })).await;
    let outside = mcp_call("files", "read_text_file", &json!({"path": "/etc/hostname"}));
    let wrong = mcp_call("files", "read_text_file", &json!({"file": "note.txt"}));
    let endpoint = Endpoint::start([Reply::text(&outside), Reply::text(&wrong), Reply::text("I may not.")]);
    let (outcomes, finished) = outcomes(agent(&endpoint, &hub).run("Read it").unwrap()).await;
    assert_eq!(finished.answer, "I may not.");
    assert_eq!(outcomes[0].status, Status::ToolError, "{outcomes:?}");
    let seen = endpoint.seen();
    assert!(seen[1].messages().contains("denied"), "{}", seen[1].messages());
    assert!(seen[2].messages().contains("path"), "the schema's complaint: {}", seen[2].messages());
    assert_eq!(outcomes.len(), 1, "wrong arguments do not reach the server");
    hub.shutdown().await;
}

#[tokio::test]
async fn twenty_conversations_share_the_servers() {
    if !wanted("twenty_conversations_share_the_servers") {
        return;
    }
    let hub = connect(json!({ "everything": node("everything", &[]) })).await;
    let endpoint = Endpoint::answer(|request, _| {
        let question = request.question();
        match question.lines().last().unwrap_or_default().strip_prefix("Say ") {
            Some(word) => Reply::text(&mcp_call("everything", "echo", &json!({"message": word}))),
            None => Reply::text("Said."),
        }
    });
    let agent = agent(&endpoint, &hub);
    let turns = (0..20).map(|number| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let (said, finished) = outcomes(agent.run(format!("Say word-{number}")).unwrap()).await;
            assert_eq!(said[0].text, format!("Echo: word-{number}"));
            assert_eq!(finished.answer, "Said.");
        })
    });
    for turn in turns.collect::<Vec<_>>() {
        turn.await.unwrap();
    }
    hub.shutdown().await;
}
