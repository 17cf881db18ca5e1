//! States, starts, restarts, changed lists, and exits.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use libtest_mimic::Trial;
use serde_json::json;
use toolgraft::outcome::Status;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::Decision;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::{Agent, Policy};
use toolgraft_mcp::{
    Hub, InputAnswer, InputKind, InputRequest, McpError, ServerConfig, ServerEventKind, ServerState, Start,
};
use toolgraft_testkit::http_mcp::HttpMcp;

use crate::case::{Case, builder, call, call_with, connect, defaults, eventually, hub, retry, soon, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_server_that_died_is_started_anew_by_the_next_call", restarted),
        trial("a_respawn_is_told_in_the_span_of_its_call_and_servers_learn_of_the_trace", traced),
        trial("a_server_that_fails_too_often_is_left_alone", left_alone),
        trial("a_server_that_works_between_its_crashes_is_not_left_alone", works_between),
        trial("a_tool_that_a_call_brings_is_there_for_the_next", brings_a_tool),
        trial("a_tool_that_runs_as_a_task_is_waited_for", |case| task(case, "none")),
        trial("a_task_of_the_new_era_is_waited_for", |case| task(case, "modern")),
        trial("a_page_that_has_to_be_opened_first_is_said", page_first),
        trial("a_page_that_somebody_opens_is_followed_by_the_call", page_opened),
        trial("a_server_that_was_left_alone_is_tried_again", tried_again),
        trial("a_lazy_server_starts_with_the_first_call", lazy),
        trial("a_changed_list_is_a_new_catalog", |case| list_changed(case, "none")),
        trial("a_changed_list_of_the_new_era_is_a_new_catalog", |case| list_changed(case, "modern")),
        trial("a_hub_that_requires_all_names_those_that_are_missing", all_or_nothing),
        trial("states_retries_and_respawns_are_told_as_they_happen", told),
        trial("a_restart_is_a_new_process", restart),
        trial("a_restart_of_a_server_that_is_starting_ends_with_the_new_start", restart_while_starting),
        trial("a_server_that_never_answers_holds_up_nobody", silent),
        trial("a_start_that_goes_on_writing_to_stderr_is_waited_for_and_told_of", downloads),
        trial("shutdown_ends_children_of_children", |case| all_end(case, "", "has-children")),
        trial("shutdown_ends_what_ignores_the_end", |case| all_end(case, "", "ignores-the-end")),
        trial("shutdown_ends_what_ignores_term", |case| all_end(case, "trap '' TERM", "ignores-the-end")),
        trial("shutdown_ends_what_left_the_process_group", orphans),
        trial("a_dropped_hub_ends_its_servers", dropped),
        trial("a_panic_ends_the_servers", panics),
        trial("a_server_of_the_new_era_is_found", modern),
        trial("a_server_that_exits_over_the_new_eras_question_is_started_again", |case| {
            earlier(case, "exits-when-asked", 2)
        }),
        trial("a_server_that_hangs_over_the_new_eras_question_is_started_again", |case| {
            earlier(case, "hangs-when-asked", 2)
        }),
        trial("a_server_that_ignores_the_new_eras_question_is_asked_again", |case| {
            earlier(case, "ignores-the-question", 1)
        }),
        trial("a_server_that_is_slow_to_start_is_started_once", slow),
        trial("a_server_that_refuses_the_new_eras_question_is_asked_again", |case| earlier(case, "none", 1)),
        trial("calls_find_an_http_server_that_came_back", http_came_back),
    ]
}

fn state(hub: &Hub) -> ServerState {
    hub.servers()[0].state
}

async fn restarted(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let first = call(&hub, "pid").await.text;
    let outcome = call(&hub, "die").await;
    assert_eq!(outcome.status, Status::ToolError);
    for text in ["\"s\"", "\"die\"", "exit status: 7", "out of luck"] {
        assert!(outcome.text.contains(text), "{text}: {outcome:?}");
    }
    assert_eq!(state(&hub), ServerState::Backoff);
    let second = call(&hub, "pid").await;
    assert!(second.is_result() && second.text != first, "{second:?}");
    let status = hub.servers().remove(0);
    assert_eq!((status.state, status.restarts, status.error), (ServerState::Ready, 1, None));
    assert_eq!((case.count("starts"), case.count("calls")), (2, 3), "no call was sent twice");
    hub.shutdown().await;
}

async fn traced(case: Arc<Case>) {
    let (spans, _guard) = toolgraft_testkit::spans::recorded();
    let hub = Arc::new(hub([case.server("none")]).await);
    let call = |tool: &str| {
        Round::text(format!(
            "<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>{tool}</tool_name>\n<arguments>\n{{}}\n</arguments>\n</use_mcp_tool>"
        ))
    };
    let model = Recorded::new([call("die"), call("meta"), Round::text("Done.")]);
    let agent = Agent::builder(model, hub.clone()).policy(Policy::new(Decision::Allow)).build();
    let finished = agent.run("Go").unwrap().finish().await;
    assert_eq!(finished.answer, "Done.");
    let tools = spans.of("execute_tool");
    let told: Vec<_> = tools.iter().map(|t| (t.field("otel.name"), t.field("error.type"))).collect();
    assert_eq!(told, [("execute_tool die", "tool_error"), ("execute_tool meta", "")]);
    assert_eq!(tools[1].field("toolgraft.server"), "s");
    let respawns = spans.events("respawn");
    assert_eq!((respawns.len(), respawns[0].parent), (1, Some(tools[1].id)), "{respawns:#?}");
    // The server returns the `_meta` of the call.
    let outcome = format!("{:?}", finished.conversation);
    assert!(outcome.contains(&tools[1].traceparent()), "{outcome}");
    hub.shutdown().await;
}

async fn left_alone(case: Arc<Case>) {
    let retry = retry(|retry| (retry.failures, retry.rest) = (3, Duration::from_secs(3600)));
    let hub = connect(builder().retry(retry), [case.server("breaks")]).await;
    case.write("broken");
    call(&hub, "die").await;
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        outcomes.push(call(&hub, "pid").await.text);
    }
    assert!(outcomes[0].contains("broken for now") && !outcomes[0].contains("in a row"), "{outcomes:?}");
    let last = outcomes.last().unwrap();
    assert!(
        last.contains("3 failures in a row") && last.contains("no new attempt for 3") && last.contains("\"s\""),
        "{last}"
    );
    assert_eq!((state(&hub), case.count("starts")), (ServerState::Failed, 3), "one that worked, two that did not");
    assert!(hub.catalog().knows("pid"), "the listing stays as it was");
    // A restart that the user requests is tried at once.
    assert!(hub.restart("s").await.unwrap_err().to_string().contains("broken for now"));
    std::fs::remove_file(format!("{}/broken", case.path())).unwrap();
    hub.restart("s").await.unwrap();
    assert!(call(&hub, "pid").await.is_result());
    assert!(hub.restart("t").await.unwrap_err().to_string().contains("there are: s"));
    hub.shutdown().await;
}

async fn works_between(case: Arc<Case>) {
    let retry = retry(|retry| (retry.failures, retry.rest) = (3, Duration::from_secs(3600)));
    let hub = connect(builder().retry(retry), [case.server("none")]).await;
    for n in 0..8 {
        let outcome = call(&hub, "pid").await;
        assert!(outcome.is_result(), "crash {n}: {outcome:?}");
        assert!(!call(&hub, "die").await.is_result());
    }
    hub.shutdown().await;
}

async fn brings_a_tool(case: Arc<Case>) {
    let hub = Arc::new(hub([case.server("none")]).await);
    for n in 0..2 {
        assert!(call(&hub, "grow_first").await.is_result());
        assert!(hub.catalog().knows(&format!("grown_{n}")), "it is there with the result");
        // Lists are read again at most every two seconds.
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    // Within one turn: the next message calls the new tool.
    let written = |tool: &str| {
        Round::text(format!(
            "<use_mcp_tool><server_name>s</server_name><tool_name>{tool}</tool_name><arguments>{{}}</arguments></use_mcp_tool>"
        ))
    };
    let model = Recorded::new([written("grow_first"), written("grown_2"), Round::text("Done.")]);
    let agent = Agent::builder(model, hub.clone()).policy(Policy::new(Decision::Allow)).build();
    let finished = agent.run("Grow.").unwrap().finish().await;
    assert_eq!((finished.answer.as_str(), finished.calls), ("Done.", 2));
    assert!(case.has("calls", "grown_2"));
    hub.shutdown().await;
}

async fn task(case: Arc<Case>, fault: &str) {
    let hub = connect(builder().elicitor(defaults), [case.server(fault)]).await;
    let mut events = hub.states();
    let outcome = call(&hub, "task").await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Result, "it took 1.10 s"), "{outcome:?}");
    let half = async {
        while let Some(event) = events.next().await {
            if matches!(&event.kind, ServerEventKind::Progress { message: Some(said), .. } if said == "half of it") {
                return true;
            }
        }
        false
    };
    assert!(half.await, "how far it is was told");
    let failed = call_with(&hub, "task", json!({ "kind": "fails" })).await;
    assert!(!failed.is_result(), "{failed:?}");
    if fault == "modern" {
        assert!(failed.text.contains("it broke"), "{failed:?}");
        assert!(call_with(&hub, "task", json!({ "kind": "asks" })).await.is_result());
        assert!(case.lines("updates")[0].contains("\"name\":\"Ada\""), "{:?}", case.lines("updates"));
    }
    assert!(!case.has("tasks", "tasks/cancel"), "{:?}", case.lines("tasks"));
    hub.shutdown().await;

    // The call has timed out.
    let soon_over = Duration::from_millis(200);
    let hub = connect(builder().call_timeout(soon_over).max_call(soon_over), [case.server(fault)]).await;
    let late = call_with(&hub, "task", json!({ "kind": "hangs" })).await;
    assert_eq!(late.status, Status::TimedOut, "{late:?}");
    assert!(soon(|| case.has("tasks", "tasks/cancel")).await);
    hub.shutdown().await;
}

async fn page_first(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let outcome = call(&hub, "page_first").await;
    assert!(!outcome.is_result());
    for text in ["the user has to open a page first", "Grant access: https://example.com/grant", "access is needed"] {
        assert!(outcome.text.contains(text), "{outcome:?}");
    }
    hub.shutdown().await;
}

async fn page_opened(case: Arc<Case>) {
    let elicitor = |agrees: bool| {
        move |request: InputRequest| async move {
            let InputKind::Url { url, .. } = request.kind else { return InputAnswer::Cancel };
            assert_eq!((request.message.as_str(), url.as_str()), ("Grant access", "https://example.com/grant"));
            if agrees { InputAnswer::Accept(serde_json::Map::new()) } else { InputAnswer::Decline }
        }
    };
    let hub = connect(builder().elicitor(elicitor(true)), [case.server("none")]).await;
    let outcome = call_with(&hub, "page_first", json!({ "pages": 2 })).await;
    assert_eq!((outcome.is_result(), outcome.text.as_str()), (true, "granted"), "{outcome:?}");
    hub.shutdown().await;
    let hub = connect(builder().elicitor(elicitor(false)), [case.server("none")]).await;
    let outcome = call_with(&hub, "page_first", json!({ "pages": 2 })).await;
    assert!(outcome.text.contains("the user has to open a page first"), "{outcome:?}");
    hub.shutdown().await;
}

async fn tried_again(case: Arc<Case>) {
    let retry = retry(|retry| (retry.failures, retry.rest) = (1, Duration::from_millis(20)));
    let hub = connect(builder().retry(retry), [case.server("none")]).await;
    call(&hub, "die").await;
    assert!(soon(|| state(&hub) == ServerState::Failed).await);
    tokio::time::sleep(retry.rest).await;
    assert!(call(&hub, "pid").await.is_result());
    hub.shutdown().await;
}

async fn lazy(case: Arc<Case>) {
    let hub = connect(builder().start(Start::Lazy), [case.server("none")]).await;
    assert_eq!((state(&hub), case.count("starts")), (ServerState::Idle, 0));
    assert!(hub.catalog().is_empty());
    assert!(call(&hub, "pid").await.is_result());
    assert_eq!((state(&hub), case.count("starts")), (ServerState::Ready, 1));
    assert!(hub.catalog().knows("pid"));
    let outcome = call(&hub, "none_such").await;
    assert!(outcome.text.contains("none_such"), "{outcome:?}");
    hub.shutdown().await;
}

async fn all_or_nothing(case: Arc<Case>) {
    let absent = || ServerConfig::stdio("absent", "no-such-program-here", [""; 0]);
    let builder = || builder().server(absent()).server(case.server("none"));
    let Err(McpError::NotReady { servers, .. }) = builder().require_all().connect().await else { panic!() };
    assert_eq!((servers.len(), servers[0].name.as_str(), case.count("starts")), (1, "absent", 1));
    assert!(case.running().is_empty(), "those that were ready have ended");
    builder().connect().await.unwrap().shutdown().await;
    let mut left_out = absent();
    left_out.disabled = true;
    let hub = self::builder().server(left_out).require_all().connect().await.unwrap();
    assert_eq!(state(&hub), ServerState::Disabled);
}

async fn told(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let mut events = hub.states();
    call(&hub, "die").await;
    assert!(call(&hub, "pid").await.is_result());
    hub.shutdown().await;
    drop(hub);
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        assert_eq!(event.server, "s");
        told.push(match event.kind {
            ServerEventKind::State { state, error, .. } => format!("{state:?} {}", error.is_some()),
            ServerEventKind::Retry { failures, wait, .. } => format!("retry {failures} {}", wait.as_millis()),
            ServerEventKind::Respawn { restarts, .. } => format!("respawn {restarts}"),
            other => format!("{other:?}"),
        });
    }
    let expected = [
        "Ready false", "Backoff true", "retry 1 10", "Connecting true", "Listed", "respawn 1", "Ready false",
        "Failed true",
    ];
    assert_eq!(told, expected);
}

async fn list_changed(case: Arc<Case>, fault: &'static str) {
    let hub = hub([case.server(fault)]).await;
    let mut events = hub.states();
    assert!(matches!(events.next().await.unwrap().kind, ServerEventKind::State { state: ServerState::Ready, .. }));
    let before = hub.catalog();
    assert!(call(&hub, "grow").await.is_result());
    assert_eq!(events.next().await.unwrap().kind, ServerEventKind::Listed);
    assert!(hub.catalog().knows("grown_0") && !before.knows("grown_0"), "a catalog stays as it is");
    assert!(call(&hub, "grown_0").await.is_result());
    assert_eq!(call(&hub, "listed").await.text, "2", "ten notices are one listing");
    hub.shutdown().await;
}

async fn restart(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let first = call(&hub, "pid").await.text;
    hub.restart("s").await.unwrap();
    assert_ne!(call(&hub, "pid").await.text, first);
    assert_eq!(case.running().len(), 1, "the first one has ended");
    hub.shutdown().await;
    assert_eq!(
        hub.restart("s").await.unwrap_err().to_string(),
        "the server \"s\" is not available: the hub was shut \
        down"
    );
}

async fn restart_while_starting(case: Arc<Case>) {
    let hub = hub([case.by_shell("sleep 0.4", "none")]).await;
    let mut events = hub.states();
    let again = async {
        let begins = |kind| matches!(kind, ServerEventKind::State { state: ServerState::Connecting, .. });
        while !events.next().await.is_some_and(|event| begins(event.kind)) {}
        let mut again = pin!(hub.restart("s"));
        assert!(futures::poll!(&mut again).is_pending());
        // The first start is over, and the server starts once more, when the outcome is looked at.
        std::thread::sleep(Duration::from_millis(600));
        again.await
    };
    let (first, again) = futures::join!(hub.restart("s"), again);
    assert!(first.is_ok() && again.is_ok(), "{first:?}, {again:?}");
    assert!(call(&hub, "pid").await.is_result());
    hub.shutdown().await;
}

async fn silent(case: Arc<Case>) {
    let silent = case.named("silent", "never-answers").with_connect_timeout(Duration::from_millis(300));
    let hub = hub([silent, case.server("none"), case.named("exits", "exits")]).await;
    let states: Vec<_> = hub.servers().iter().map(|server| server.state).collect();
    assert_eq!(states, [ServerState::Failed, ServerState::Ready, ServerState::Failed]);
    let error = |n: usize| hub.servers()[n].error.clone().unwrap();
    assert!(error(0).contains("no answer to `initialize` within 0.3 s"), "{}", error(0));
    assert!(error(2).contains("exit status: 3") && error(2).contains("cannot open the database"), "{}", error(2));
    assert!(call_with(&hub, "echo", json!({ "text": "hello" })).await.text == "hello");
    hub.shutdown().await;
}

/// A default limit counts silence; the limit of an entry counts time.
async fn downloads(case: Arc<Case>) {
    let strict = case.named("strict", "downloads").with_connect_timeout(Duration::from_millis(300));
    let builder = builder().connect_timeout(Duration::from_millis(900));
    let events = builder.states();
    let hub = builder.server(case.server("downloads")).server(strict).connect().await.unwrap();
    let states: Vec<_> = hub.servers().iter().map(|server| server.state).collect();
    assert_eq!(states, [ServerState::Ready, ServerState::Failed], "{:?}", hub.servers());
    assert_eq!(case.count("starts"), 1);
    hub.shutdown().await;
    drop(hub);
    let lines = events.filter_map(async |event| match event.kind {
        ServerEventKind::StartOutput { line, .. } if event.server == "s" => Some(line),
        _ => None,
    });
    let lines: Vec<String> = lines.collect().await;
    assert_eq!((lines.len(), lines[0].as_str()), (12, "Downloading part 1 of 12"));
}

/// All processes that a server has started end with the hub.
async fn all_end(case: Arc<Case>, before: &'static str, fault: &'static str) {
    let hub = hub([case.by_shell(before, fault)]).await;
    assert_eq!(state(&hub), ServerState::Ready, "{:?}", hub.servers());
    // The shell, the server, its child, and its orphaned grandchild.
    assert!(soon(|| case.running().len() == 4).await, "{:?}", case.running());
    hub.shutdown().await;
    assert_eq!(case.running(), Vec::<String>::new(), "right after the shutdown");
}

async fn orphans(case: Arc<Case>) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let hub = hub([case.server("has-strays"), case.named("other", "has-strays")]).await;
    assert!(soon(|| case.running().len() == 4).await, "{:?}", case.running());
    // Orphans of another server are not affected.
    hub.restart("s").await.unwrap();
    assert!(soon(|| case.running().len() == 4).await, "{:?}", case.running());
    // Shortly after its start, a child still has its parent's command line.
    let strays = || case.running().iter().filter(|line| line.contains(" linger ")).count();
    assert!(soon(|| strays() == 2).await, "{:?}", case.running());
    hub.shutdown().await;
    assert!(soon(|| case.running().is_empty()).await, "{:?}", case.running());
}

async fn dropped(case: Arc<Case>) {
    let hub = hub([case.by_shell("", "has-children")]).await;
    assert!(soon(|| case.running().len() == 4).await);
    drop(hub);
    assert!(soon(|| case.running().is_empty()).await, "{:?}", case.running());
}

async fn panics(case: Arc<Case>) {
    let me = std::env::current_exe().unwrap();
    let path = case.path().to_owned();
    let run = tokio::task::spawn_blocking(move || std::process::Command::new(me).args(["panic", &path]).output());
    let output = run.await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("with 4 processes"), "{said}");
    // The trial checks for remaining processes.
}

/// A program that panics without shutting its hub down.
pub(crate) fn panic_with_servers(dir: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let case = Case::at(dir);
        let _hub = hub([case.by_shell("", "ignores-the-end")]).await;
        assert!(eventually(|| case.running().len() == 5), "{:?}", case.running());
        panic!("with {} processes", case.running().len() - 1);
    });
}

async fn modern(case: Arc<Case>) {
    let hub = hub([case.server("modern")]).await;
    let status = hub.servers().remove(0);
    assert_eq!(
        (status.state, status.protocol_version.as_deref()),
        (ServerState::Ready, Some("2026-07-28")),
        "{status:?}"
    );
    assert_eq!(status.server_name.as_deref(), Some("modern"));
    assert_eq!(call(&hub, "version").await.text, "2026-07-28", "each request says so");
    let meta = call(&hub, "meta").await.text;
    assert!(
        meta.contains("\"io.modelcontextprotocol/logLevel\":\"info\""),
        "it logs only where it is asked to: {meta}"
    );
    hub.shutdown().await;
}

/// A server of an earlier revision is reached with this number of starts, and with one start later.
async fn earlier(case: Arc<Case>, fault: &'static str, starts: usize) {
    let server = case.server(fault).with_connect_timeout(Duration::from_secs(3));
    let hub = hub([server]).await;
    let status = hub.servers().remove(0);
    assert_eq!(
        (status.state, status.protocol_version.as_deref()),
        (ServerState::Ready, Some("2025-11-25")),
        "{status:?}"
    );
    assert_eq!((case.count("starts"), call(&hub, "version").await.text.as_str()), (starts, "none"));
    assert!(!call(&hub, "meta").await.text.contains("logLevel"));
    call(&hub, "die").await;
    assert!(call(&hub, "pid").await.is_result());
    assert_eq!(case.count("starts"), starts + 1, "what worked the last time comes first");
    hub.shutdown().await;
}

/// The server reads only after two thirds of the time, like `npx` that downloads first.
async fn slow(case: Arc<Case>) {
    if !cfg!(target_os = "linux") {
        return; // Elsewhere nobody can tell that it has not read.
    }
    let server = case.by_shell("echo start >> \"$1/shells\"; sleep 6.5", "none");
    let hub = hub([server.with_connect_timeout(Duration::from_secs(9))]).await;
    assert_eq!((state(&hub), case.count("shells")), (ServerState::Ready, 1), "{:?}", hub.servers());
    assert!(call(&hub, "pid").await.is_result());
    hub.shutdown().await;
}

async fn http_came_back(_: Arc<Case>) {
    let server = HttpMcp::start();
    let (url, port) = (server.url(), server.port());
    let hub = hub([ServerConfig::http("s", url.clone())]).await;
    let echo = || call_with(&hub, "echo", json!({ "text": "hello" }));
    assert_eq!(echo().await.text, "hello");
    drop(server);
    let outcome = echo().await;
    assert!(outcome.status == Status::ToolError && outcome.text.contains(&url), "{outcome:?}");
    let server = HttpMcp::start_at(port);
    let outcome = echo().await;
    assert_eq!(outcome.text, "hello", "a session that the server has forgotten is begun anew: {outcome:?}");
    assert_eq!(state(&hub), ServerState::Ready);
    let unnamed = hub.call(Invocation::new("echo").with_arguments(json!({ "text": "hi" }))).await;
    assert_eq!(unnamed.text, "hi");
    hub.shutdown().await;
    drop(server);
}
