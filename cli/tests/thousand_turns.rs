//! A thousand turns in one process: memory, threads and descriptors stay as they are.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use toolgraft::agent::StopReason;
use toolgraft::outcome::Status;
use toolgraft::tools::Decision;
use toolgraft::{Agent, AgentEvent, OpenAi, Policy};
use toolgraft_mcp::{Config, Hub, ServerConfig};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, Seen, mcp_call, says, stops, thinks};
use toolgraft_testkit::http_mcp::HttpMcp;

const TURNS: usize = 1000;

/// Turns after which everything that is made once is there: connections, pools,
/// compiled schemas, the allocator's arenas.
const WARM: usize = 100;

/// Most that the resident memory may grow in the 900 turns after that: 2 KiB for
/// each of them. A request is more than twice as long, so whatever keeps one of
/// each turn shows. Measured growth is a tenth of it: what the allocator does
/// with its free lists.
const SLACK_KIB: usize = 1800;

/// Descriptors that may come and go: a pool of the model's client, and one of the MCP
/// client, keeps a connection more or less while it is idle, and both ends are in this
/// process. Whatever leaks one in every tenth turn leaks ninety.
const SLACK_DESCRIPTORS: usize = 4;

#[derive(Debug)]
struct Sample {
    #[expect(dead_code, reason = "shown where the test fails")]
    turn: usize,
    resident_kib: usize,
    threads: usize,
    descriptors: usize,
}

impl Sample {
    /// A sample of a process at rest. What a client has left over is cleared away by tasks of others, so it waits, not
    /// for ever, until there is no more of it than in the first sample.
    async fn at_rest(turn: usize, first: Option<&Sample>) -> Self {
        let mut sample = Sample::take(turn);
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            sample = Sample::take(turn);
            if first.is_none_or(|first| sample.is_within(first)) {
                break;
            }
        }
        sample
    }

    fn is_within(&self, first: &Sample) -> bool {
        self.threads <= first.threads
            && self.descriptors <= first.descriptors + SLACK_DESCRIPTORS
            && self.resident_kib <= first.resident_kib + SLACK_KIB
    }

    fn take(turn: usize) -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<usize>().unwrap()
        };
        Sample {
            turn,
            resident_kib: field("VmRSS:"),
            threads: field("Threads:"),
            // One is the folder that is read.
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count() - 1,
        }
    }
}

/// The user's behaviour in a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Reads the answer.
    Plain,
    /// Cancels while a call runs.
    CancelInCall,
    /// Goes away in mid-stream.
    DropInStream,
    /// Meets an endpoint that fails in mid-stream.
    Break,
}

fn kind(turn: usize) -> Kind {
    match turn % 10 {
        3 => Kind::CancelInCall,
        5 => Kind::DropInStream,
        7 => Kind::Break,
        _ => Kind::Plain,
    }
}

/// The model: two calls of different servers, then an answer; or what the question wants.
fn reply(request: &Seen, number: usize) -> Reply {
    let question = request.question();
    if number.is_multiple_of(50) {
        return Reply::refused(429, "slow down").header("retry-after", "0");
    }
    if question.contains("hang") {
        return Reply::text(&mcp_call("http", "hang", &json!({})));
    }
    if question.contains("stall") {
        return Reply::events(&[says("One moment")]).end(End::Stall);
    }
    if question.contains("break") {
        return Reply::events(&[says("One moment")]).end(End::Break);
    }
    // The results restate the question, so that the question does not tell the rounds apart.
    let messages = request.body["messages"].as_array().unwrap();
    if messages.iter().any(|message| message["role"] == "assistant") {
        return Reply::text("It is as the tools say.");
    }
    let weather = mcp_call("demo", "weather_query", &json!({"city": "Oslo"}));
    let echo = mcp_call("http", "echo", &json!({"text": "hello"}));
    Reply::events(&[thinks("Both tools know."), says(&weather), says("\n"), says(&echo), stops("stop")]).done()
}

async fn turn(agent: &Agent, number: usize) {
    let kind = kind(number);
    let question = match kind {
        Kind::Plain => "Weather in Oslo?",
        Kind::CancelInCall => "hang",
        Kind::DropInStream => "stall",
        Kind::Break => "break",
    };
    let mut run = agent.run(question).unwrap();
    let mut finished = None;
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::CallRunning { .. } if kind == Kind::CancelInCall => run.cancel(),
            AgentEvent::Text { .. } if kind == Kind::DropInStream => return,
            AgentEvent::Outcome { outcome, .. } => {
                let expected = if kind == Kind::Plain { Status::Result } else { Status::Cancelled };
                assert_eq!(outcome.status, expected, "turn {number}: {}", outcome.text);
            }
            AgentEvent::Finished(end) => finished = Some(end),
            _ => {}
        }
    }
    let finished = finished.unwrap();
    match kind {
        Kind::Plain => assert_eq!((finished.answer.as_str(), finished.calls), ("It is as the tools say.", 2)),
        Kind::CancelInCall => assert_eq!(finished.reason, StopReason::Cancelled),
        _ => assert!(matches!(finished.reason, StopReason::ModelFailed { .. }), "{:?}", finished.reason),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_turns_leave_nothing_after() {
    let endpoint = Endpoint::answer(reply);
    let http = HttpMcp::start();
    let servers = [
        ServerConfig::stdio("demo", env!("CARGO_BIN_EXE_toolgraft"), ["demo-server"]),
        ServerConfig::http("http", http.url()),
    ];
    let hub = Arc::new(Hub::builder().config(Config::from_iter(servers)).inherit_env().connect().await.unwrap());
    let model = OpenAi::builder(endpoint.url(), "m").backoff(Duration::from_millis(1)).build().unwrap();
    let agent = Agent::builder(model, hub.clone()).policy(Policy::new(Decision::Allow)).build();

    let mut samples = Vec::new();
    for number in 1..=TURNS {
        turn(&agent, number).await;
        endpoint.take_seen();
        if number >= WARM && (number - WARM).is_multiple_of(300) {
            samples.push(Sample::at_rest(number, samples.first()).await);
        }
    }
    hub.shutdown().await;

    let grown = samples.iter().find(|sample| !sample.is_within(&samples[0]));
    assert!(grown.is_none(), "grown: {grown:#?} in {samples:#?}");
}
