//! Calls of one message on a server with state: a file that each of its slow tools reads and
//! rewrites, each call in a thread of its own, so that two concurrent calls lose one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgraft::tools::Decision;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::{Agent, AgentEvent, Outcome, Policy};
use toolgraft_mcp::ServerConfig;

use crate::case::{Case, hub, trial};

/// Time that a call waits for those that should run concurrently.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until standard input ends; `hints` decides whether the writing tools have hints.
pub(crate) fn serve(hints: &str, dir: &Path) {
    let state = Arc::new(State { file: dir.join("log"), running: AtomicUsize::new(0), out: Mutex::default() });
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let (id, params) = (message["id"].clone(), message["params"].clone());
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let version = &params["protocolVersion"];
                let info = json!({ "name": "stateful", "version": "1" });
                let result = json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info });
                state.answer(&id, "result", &result);
            }
            "tools/list" => state.answer(&id, "result", &tools(hints)),
            "tools/call" => {
                let state = state.clone();
                std::thread::spawn(move || {
                    let (text, is_error) = state.call(&params);
                    let content = json!([{ "type": "text", "text": text }]);
                    state.answer(&id, "result", &json!({ "content": content, "isError": is_error }));
                });
            }
            _ if id.is_null() => {}
            _ => state.answer(&id, "error", &json!({ "code": -32601, "message": "no such method" })),
        }
    }
}

fn tools(hints: &str) -> Value {
    let writing = match hints {
        "hinted" => json!({ "readOnlyHint": false, "destructiveHint": false }),
        _ => Value::Null,
    };
    let tool = |name: &str, annotations: &Value| {
        let mut tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        if !annotations.is_null() {
            tool["annotations"] = annotations.clone();
        }
        tool
    };
    let reads = json!({ "readOnlyHint": true });
    let mut tools: Vec<Value> = ["append", "fail", "wait", "arrive"].map(|name| tool(name, &writing)).into();
    tools.extend(["read", "meet"].map(|name| tool(name, &reads)));
    json!({ "tools": tools })
}

struct State {
    file: std::path::PathBuf,
    running: AtomicUsize,
    out: Mutex<()>,
}

impl State {
    fn answer(&self, id: &Value, key: &str, value: &Value) {
        let _whole_lines = self.out.lock().unwrap();
        let mut out = std::io::stdout().lock();
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        message[key] = value.clone();
        let _ = writeln!(out, "{message}").and_then(|()| out.flush());
    }

    fn call(&self, params: &Value) -> (String, bool) {
        let arguments = &params["arguments"];
        let held = fs::read_to_string(&self.file).unwrap_or_default();
        match params["name"].as_str().unwrap_or_default() {
            "append" => {
                // The first call takes longest, so that a later one that does not wait is finished
                // first.
                std::thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or_default()));
                let text = arguments["text"].as_str().unwrap_or_default();
                fs::write(&self.file, format!("{held}{text}")).unwrap();
                (format!("wrote {text}"), false)
            }
            "fail" => ("the disk is full".to_owned(), true),
            "meet" => {
                let with = arguments["with"].as_u64().unwrap_or(1);
                self.running.fetch_add(1, Ordering::SeqCst);
                (met(|| self.running.load(Ordering::SeqCst) as u64 >= with), false)
            }
            "wait" => (met(|| self.file.with_extension("arrived").exists()), false),
            "arrive" => {
                fs::write(self.file.with_extension("arrived"), "").unwrap();
                ("arrived".to_owned(), false)
            }
            _ => (held, false),
        }
    }
}

/// Waits until another call has made the condition true, at most for [`PATIENCE`].
fn met(holds: impl Fn() -> bool) -> String {
    let start = Instant::now();
    while !holds() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    if holds() { "met".to_owned() } else { "alone".to_owned() }
}

fn server(case: &Case, name: &str, hints: &str) -> ServerConfig {
    let me = std::env::current_exe().unwrap();
    ServerConfig::stdio(name, me.to_str().unwrap(), ["stateful", hints, case.path(), name])
}

/// Returns the outcomes of the calls of one message, in the order written.
async fn made(servers: Vec<ServerConfig>, calls: &[(&str, &str, Value)]) -> Vec<Outcome> {
    let hub = Arc::new(hub(servers).await);
    let written = calls.iter().map(|(server, tool, arguments)| {
        format!(
            "<use_mcp_tool><server_name>{server}</server_name><tool_name>{tool}</tool_name><arguments>{arguments}</arguments></use_mcp_tool>"
        )
    });
    let message = written.collect::<Vec<_>>().join("\n");
    let agent = Agent::builder(Recorded::new([Round::text(message), Round::text("Done.")]), hub.clone())
        .policy(Policy::new(Decision::Allow))
        .build();
    let mut run = agent.run("Write.").unwrap();
    let (mut outcomes, mut answer) = (BTreeMap::new(), String::new());
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Outcome { id, outcome } => drop(outcomes.insert(id, outcome)),
            AgentEvent::Finished(finished) => answer = finished.answer,
            _ => {}
        }
    }
    assert_eq!(answer, "Done.");
    let outcomes: Vec<Outcome> = outcomes.into_values().collect();
    assert_eq!(outcomes.len(), calls.len());
    hub.shutdown().await;
    outcomes
}

fn texts(outcomes: &[Outcome]) -> Vec<&str> {
    outcomes.iter().map(|outcome| outcome.text.as_str()).collect()
}

fn write(text: &str, ms: u64) -> (&'static str, &'static str, Value) {
    ("s", "append", json!({ "text": text, "ms": ms }))
}

async fn writes(case: Arc<Case>, hints: &str) {
    let read = || ("s", "read", json!({}));
    let calls = [write("A", 120), read(), write("B", 60), ("s", "fail", json!({})), write("C", 0), read(), read()];
    let outcomes = made(vec![server(&case, "s", hints)], &calls).await;
    let stopped = "This call was not run: the call of fail before it in the same message did not succeed. Make it \
        again if it is still needed.";
    assert_eq!(texts(&outcomes), ["wrote A", "A", "wrote B", "the disk is full", stopped, "AB", "AB"]);
    assert_eq!(case.text("log"), "AB");
}

async fn reads(case: Arc<Case>) {
    let meet = || ("s", "meet", json!({ "with": 4 }));
    let outcomes = made(vec![server(&case, "s", "plain")], &[meet(), meet(), meet(), meet()]).await;
    assert_eq!(texts(&outcomes), ["met"; 4], "all four ran at once");
}

async fn widened(case: Arc<Case>) {
    let server = server(&case, "s", "plain").with_parallel(true);
    let outcomes = made(vec![server], &[("s", "wait", json!({})), ("s", "arrive", json!({}))]).await;
    assert_eq!(texts(&outcomes), ["met", "arrived"]);
}

async fn beside(case: Arc<Case>) {
    let servers = vec![server(&case, "other", "plain"), server(&case, "s", "plain")];
    let outcomes = made(servers, &[("other", "wait", json!({})), ("s", "arrive", json!({}))]).await;
    assert_eq!(texts(&outcomes), ["met", "arrived"], "the other server did not wait");
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("order::writes_of_one_message_run_in_the_order_written", |case| writes(case, "plain")),
        trial("order::writes_that_have_hints_do_too", |case| writes(case, "hinted")),
        trial("order::four_reads_run_at_once", reads),
        trial("order::an_entry_may_let_calls_run_beside_each_other", widened),
        trial("order::servers_run_beside_each_other", beside),
    ]
}
