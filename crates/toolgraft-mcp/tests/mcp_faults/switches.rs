//! Servers and tools that are switched off and on, and the logs of servers.

use std::sync::Arc;

use libtest_mimic::Trial;
use serde_json::json;
use toolgraft::outcome::Status;
use toolgraft::route::Toolbox;
use toolgraft_mcp::{Hub, LOG_LINES, McpError, ServerConfig, ServerState, Start};

use crate::case::{Case, builder, call, call_with, connect, hub, soon, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_server_that_is_switched_off_has_ended_and_comes_back_as_a_new_process", switched),
        trial("a_server_that_begins_switched_off_is_started_when_it_is_switched_on", begins_off),
        trial("a_server_that_cannot_be_started_says_why_when_it_is_switched_on", cannot_start),
        trial("a_call_under_way_ends_when_its_server_is_switched_off", under_way),
        trial("tools_that_are_switched_off_are_neither_listed_nor_called", switched_tools),
        trial("what_a_server_says_beside_its_answers_is_kept_over_its_starts", logs),
        trial("of_much_that_a_server_says_the_last_is_kept", talks),
    ]
}

fn state(hub: &Hub) -> ServerState {
    hub.servers()[0].state
}

async fn switched(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let first = call(&hub, "pid").await.text;
    hub.switch("s", false).await.unwrap();
    assert_eq!((state(&hub), case.running()), (ServerState::Disabled, Vec::new()));
    assert!(!hub.catalog().knows("pid") && hub.tools("s").unwrap().is_empty());
    let outcome = call(&hub, "pid").await;
    assert_eq!(outcome.status, Status::ToolError);
    assert!(outcome.text.contains("is disabled"), "{outcome:?}");
    assert!(hub.restart("s").await.unwrap_err().to_string().contains("is disabled"));
    assert_eq!(case.count("starts"), 1, "neither a call nor a restart has brought it back");
    hub.switch("s", false).await.unwrap();
    hub.switch("s", true).await.unwrap();
    hub.switch("s", true).await.unwrap();
    let second = call(&hub, "pid").await;
    assert!(second.is_result() && second.text != first, "{second:?}");
    assert_eq!((state(&hub), hub.servers()[0].restarts, case.count("starts")), (ServerState::Ready, 0, 2));
    assert!(matches!(hub.switch("t", true).await, Err(McpError::UnknownServer { .. })));
    hub.shutdown().await;
}

async fn begins_off(case: Arc<Case>) {
    let mut server = case.server("none");
    server.disabled = true;
    let hub = connect(builder().start(Start::Lazy), [server]).await;
    assert_eq!((state(&hub), case.count("starts")), (ServerState::Disabled, 0));
    assert!(hub.restart("s").await.unwrap_err().to_string().contains("is disabled"));
    hub.switch("s", true).await.unwrap();
    assert!(hub.catalog().knows("pid"), "its tools are listed before anything calls them");
    hub.shutdown().await;
}

async fn cannot_start(case: Arc<Case>) {
    let mut absent = ServerConfig::stdio("s", "no-such-program-here", [""; 0]);
    absent.disabled = true;
    let mut wrong = ServerConfig::stdio("w", "x", [""; 0]).with_header("a", "b");
    wrong.disabled = true;
    let hub = hub([absent, wrong, case.named("t", "none")]).await;
    let error = hub.switch("s", true).await.unwrap_err().to_string();
    assert!(error.contains("not found in PATH"), "{error}");
    assert_eq!(state(&hub), ServerState::Failed);
    let again = hub.switch("s", true).await.unwrap_err().to_string();
    assert!(again.contains("not found in PATH"), "it is on and has failed: {again}");
    let error = hub.switch("w", true).await.unwrap_err().to_string();
    assert!(error.contains("\"w\" cannot be started: ") && error.contains("has no \"headers\""), "{error}");
    hub.shutdown().await;
    assert!(hub.switch("t", true).await.unwrap_err().to_string().contains("was shut down"));
}

async fn under_way(case: Arc<Case>) {
    let hub = Arc::new(hub([case.server("none")]).await);
    let calls = {
        let hub = hub.clone();
        tokio::spawn(async move { call(&hub, "hang").await })
    };
    assert!(soon(|| case.has("calls", "hang")).await);
    hub.switch("s", false).await.unwrap();
    let outcome = calls.await.unwrap();
    assert_eq!(outcome.status, Status::ToolError, "{outcome:?}");
    assert_eq!(state(&hub), ServerState::Disabled, "the call has not brought it back");
    hub.shutdown().await;
}

async fn switched_tools(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let is_on = |name: &str| hub.tools("s").unwrap().iter().find(|tool| tool.name == name).unwrap().on;
    assert_eq!(hub.switch_tools("s", &words(&["pid", "di?"]), false).unwrap(), ["pid", "di?"]);
    assert!(!hub.catalog().knows("pid") && !hub.catalog().knows("die") && hub.catalog().knows("echo"));
    assert!(!is_on("pid") && is_on("echo"));
    assert_eq!(hub.servers()[0].notes, ["2 tools are switched off"]);
    assert_eq!((call(&hub, "pid").await.status, case.count("calls")), (Status::ToolError, 0));
    // All names are switched, or none.
    let error = hub.switch_tools("s", &words(&["pid", "ecko"]), true).unwrap_err().to_string();
    assert!(error.contains("has no tool \"ecko\"; nearest: echo"), "{error}");
    assert!(!is_on("pid"));
    // Switches outlast a new listing.
    call(&hub, "grow").await;
    assert!(soon(|| hub.catalog().knows("grown_0")).await && !hub.catalog().knows("pid"));
    hub.restart("s").await.unwrap();
    assert!(!hub.catalog().knows("pid"));
    hub.switch_tools("s", &words(&["pid"]), true).unwrap();
    assert!(call(&hub, "pid").await.is_result() && hub.catalog().knows("pid"));
    hub.shutdown().await;
}

async fn logs(case: Arc<Case>) {
    let server = case.server("logs").with_env("API_KEY", "key-234567");
    let hub = hub([server]).await;
    assert!(call_with(&hub, "echo", json!({ "text": "hi" })).await.is_result());
    hub.restart("s").await.unwrap();
    assert!(call_with(&hub, "echo", json!({ "text": "hi" })).await.is_result());
    assert!(soon(|| hub.log("s").unwrap().len() == 6).await, "{:#?}", hub.log("s"));
    let lines = hub.log("s").unwrap();
    let said: Vec<_> = lines.iter().filter(|line| line.level.is_some()).collect();
    assert_eq!((said[0].level.as_deref(), said[0].logger.as_deref()), (Some("warning"), Some("db")));
    assert_eq!((said[0].text.as_str(), said[1].text.as_str()), ("no rows for [redacted]", "{\"rows\":3}"));
    assert_eq!(said[1].level.as_deref(), Some("chatty"), "a level that MCP does not know");
    let stderr: Vec<_> = lines.iter().filter(|line| line.level.is_none()).map(|line| line.text.as_str()).collect();
    assert_eq!(stderr, ["\u{1b}[31mlooked\u{1b}[0m with [redacted]"; 2]);
    hub.shutdown().await;
    assert_eq!(hub.log("s").unwrap().len(), 6, "who asks later is told");
}

async fn talks(case: Arc<Case>) {
    let hub = hub([case.server("talks")]).await;
    assert!(call_with(&hub, "echo", json!({ "text": "hi" })).await.is_result());
    hub.shutdown().await;
    let lines = hub.log("s").unwrap();
    assert_eq!((lines.len(), lines[0].text.as_str()), (LOG_LINES, "so many words"));
}
