//! Faults over standard input and output: each call works or ends in a clear error, and the other
//! servers are not affected.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;
use toolgraft::Outcome;
use toolgraft::outcome::Status;
use toolgraft::route::Toolbox;
use toolgraft_mcp::{Hub, HubBuilder, InputAnswer, InputKind, InputRequest, ServerConfig, ServerState};

use crate::case::{
    Case, builder, call, call_with, connect, defaults, hub, odd_answers_are_read_or_errors, odd_tools_are_left_out,
    soon, trial,
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_listing_that_is_not_answered_ends", |case| {
            fails_to_start(case, "slow-list", "lists were not complete")
        }),
        trial("a_cursor_that_always_changes_ends", |case| {
            fails_to_start(case, "endless-cursor", "more than 100 pages")
        }),
        trial("a_cursor_that_comes_twice_ends", |case| {
            fails_to_start(case, "same-cursor", "nextCursor \"[redacted]\" came twice")
        }),
        trial("a_closed_output_ends_the_server", closed_output),
        trial("an_answer_of_another_protocol_ends", |case| fails_to_start(case, "not-mcp", "not MCP")),
        trial("a_call_that_is_not_answered_ends_and_is_cancelled", call_hangs),
        trial("progress_starts_the_time_of_a_call_anew", progress),
        trial("endless_progress_ends_at_the_cap", endless_progress),
        trial("a_dropped_call_is_cancelled", dropped_call),
        trial("calls_beyond_the_limit_wait", limited),
        trial("an_answer_of_20_mebibytes_is_read", big_answer),
        trial("an_answer_that_is_too_long_is_an_error_of_its_call", huge_answer),
        trial("a_stderr_full_of_words_blocks_nobody", |case| works(case, "talks")),
        trial("a_banner_does_no_harm", |case| works(case, "banner")),
        trial("a_banner_is_noted", banner),
        trial("answers_over_several_lines_are_read", |case| works(case, "pretty")),
        trial("answers_with_text_as_their_id_are_read", |case| works(case, "text-ids")),
        trial("answers_that_come_twice_are_taken_once", |case| works(case, "twice")),
        trial("a_server_may_ask_while_it_works", |case| works(case, "asks")),
        trial("an_answer_without_a_line_break_at_the_end_is_read", last_words),
        trial("bytes_that_are_no_utf_8_are_replaced", bad_utf8),
        trial("an_answer_without_an_id_is_named", no_id),
        trial("an_answer_that_is_no_json_rpc_is_an_error_of_its_call", odd_answer),
        trial("no_answer_is_lost", no_answer_is_lost),
        trial("tools_that_cannot_be_read_are_left_out_by_name", unreadable_tools),
        trial("a_list_that_hangs_costs_that_list_alone", hung_list),
        trial("a_server_need_not_say_its_version", no_version),
        trial("versions_that_a_server_names_are_tried", |case| speaks(case, "speaks-2025-03-26", &["2025-03-26"])),
        trial("versions_that_a_server_names_late_are_tried", |case| {
            speaks(case, "speaks-other", &["2025-11-25", "2025-03-26"])
        }),
        trial("a_call_that_asks_back_is_answered_with_defaults", asks_back),
        trial("somebody_answers_a_server_that_asks", somebody_answers),
        trial("the_time_of_a_call_stands_still_while_somebody_answers", time_stands_still),
        trial("a_question_ends_with_its_server_its_call_and_when_it_is_taken_back", questions_end),
        trial("a_server_that_asks_without_a_call_is_told_nothing", asked_without_a_call),
        trial("a_server_that_does_not_listen_blocks_nobody", deaf),
        trial("a_server_that_dies_in_its_answer_is_an_error_with_its_end", dies_in_an_answer),
        trial("calls_of_a_server_that_dies_all_end", all_calls_end),
        trial("a_malformed_tool_is_left_out_and_the_rest_stay", malformed_tool),
        trial("a_disabled_tool_is_neither_listed_nor_called", disabled_tool),
        trial("schemas_arrive_as_they_were_written", schemas),
        trial("content_of_an_unknown_kind_is_a_note", unknown_content),
        trial("a_server_sees_no_secret_of_ours", environment),
        trial("a_servers_secrets_are_in_no_error_and_no_result", secrets),
    ]
}

/// Connects to a faulty server, and to one without a fault.
async fn with_a_good_one(server: ServerConfig, case: &Case, builder: HubBuilder) -> Hub {
    connect(builder, [server, case.named("good", "none")]).await
}

async fn good_one_answers(hub: &Hub) {
    let invocation = toolgraft::route::Invocation::new("echo").with_server("good");
    let outcome = hub.call(invocation.with_arguments(json!({ "text": "here" }))).await;
    assert_eq!(outcome.text, "here", "{outcome:?}");
}

fn patient(server: ServerConfig, call: u64) -> ServerConfig {
    server.with_call_timeout(Duration::from_millis(call))
}

async fn fails_to_start(case: Arc<Case>, fault: &'static str, why: &'static str) {
    let server = case.server(fault).with_env("API_KEY", "s3cret-of-theirs");
    let hub = with_a_good_one(server.with_connect_timeout(Duration::from_millis(4500)), &case, builder()).await;
    let status = hub.servers().remove(0);
    let error = status.error.clone().unwrap_or_default();
    assert!(status.state == ServerState::Failed && error.contains(why), "{status:?}");
    good_one_answers(&hub).await;
    let outcome = call(&hub, "echo").await;
    assert!(outcome.status == Status::ToolError && outcome.text.contains("\"s\""), "{outcome:?}");
    hub.shutdown().await;
}

/// Checks that two calls of a faulty server succeed.
async fn works(case: Arc<Case>, fault: &'static str) {
    let hub = with_a_good_one(case.server(fault), &case, builder()).await;
    assert_eq!(hub.servers()[0].state, ServerState::Ready, "{:?}", hub.servers());
    for text in ["first", "second"] {
        let outcome = call_with(&hub, "echo", json!({ "text": text })).await;
        assert_eq!(outcome.text, text, "{outcome:?}");
    }
    hub.shutdown().await;
}

/// The server closes its output and goes on running, in a `sh` that ignores the end of its input.
async fn closed_output(case: Arc<Case>) {
    let me = std::env::current_exe().unwrap();
    let script = "\"$0\" serve exits-at-the-list \"$1\"; exec \"$0\" linger \"$1\" >&-";
    let server = ServerConfig::stdio("s", "sh", ["-c", script, me.to_str().unwrap(), case.path()]);
    let hub = with_a_good_one(server, &case, builder()).await;
    let status = hub.servers().remove(0);
    let error = status.error.clone().unwrap_or_default();
    assert!(status.state == ServerState::Failed && error.contains("the connection broke"), "{status:?}");
    good_one_answers(&hub).await;
    hub.shutdown().await;
}

async fn last_words(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    assert_eq!(call(&hub, "last").await.text, "the last");
    hub.shutdown().await;
}

async fn call_hangs(case: Arc<Case>) {
    let hub = with_a_good_one(patient(case.server("none"), 300), &case, builder()).await;
    let outcome = call(&hub, "hang").await;
    assert_eq!(outcome.status, Status::TimedOut);
    for text in ["\"s\"", "\"hang\"", "within 0.3 s", "cancelled"] {
        assert!(outcome.text.contains(text), "{text}: {outcome:?}");
    }
    assert!(soon(|| case.has("notifications", "notifications/cancelled")).await);
    assert!(call(&hub, "pid").await.is_result(), "the server goes on");
    good_one_answers(&hub).await;
    hub.shutdown().await;
}

async fn progress(case: Arc<Case>) {
    let hub = hub([patient(case.server("progress"), 800)]).await;
    let outcome = call(&hub, "work").await;
    assert!(outcome.is_result() && outcome.took.unwrap() > Duration::from_millis(1500), "{outcome:?}");
    hub.shutdown().await;
}

async fn endless_progress(case: Arc<Case>) {
    let builder = builder().max_call(Duration::from_millis(1500));
    let hub = connect(builder, [patient(case.server("endless-progress"), 800)]).await;
    let outcome = call(&hub, "work").await;
    assert_eq!(outcome.status, Status::TimedOut, "{outcome:?}");
    assert!(outcome.text.contains("within 1.5 s"), "{outcome:?}");
    hub.shutdown().await;
}

async fn limited(case: Arc<Case>) {
    let server = case.server("none").with_max_calls(NonZeroUsize::new(2).unwrap());
    let hub = Arc::new(with_a_good_one(server, &case, builder()).await);
    let begin = |tool: &'static str| {
        let hub = hub.clone();
        tokio::spawn(async move { call(&hub, tool).await })
    };
    let hanging = [begin("hang"), begin("hang")];
    assert!(soon(|| case.count("calls") == 2).await);
    let third = begin("pid");
    good_one_answers(&hub).await;
    assert_eq!(case.count("calls"), 2, "the third waits");
    hanging[0].abort();
    assert!(third.await.unwrap().is_result());
    hanging[1].abort();
    hub.shutdown().await;
}

async fn dropped_call(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let called = || case.has("calls", "hang");
    tokio::select! {
        outcome = call(&hub, "hang") => panic!("{outcome:?}"),
        called = soon(called) => assert!(called),
    }
    assert!(soon(|| case.has("notifications", "notifications/cancelled")).await);
    hub.shutdown().await;
}

async fn big_answer(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let outcome = call_with(&hub, "big", json!({ "mebibytes": 20 })).await;
    assert_eq!((outcome.status, outcome.text.len()), (Status::Result, 20 * 1024 * 1024), "the whole is the caller's");
    let shown = toolgraft::outcome::bounded(&outcome.text, toolgraft::outcome::RESULT_BYTES);
    assert!(shown.len() < 60_000, "the model gets its head and its tail");
    hub.shutdown().await;
}

async fn huge_answer(case: Arc<Case>) {
    let hub = with_a_good_one(case.server("none"), &case, builder()).await;
    let outcome = call_with(&hub, "big", json!({ "mebibytes": 65 })).await;
    assert!(outcome.status == Status::ToolError && outcome.text.contains("more than 64 MiB"), "{outcome:?}");
    assert!(call(&hub, "pid").await.is_result(), "the next answer is read");
    hub.shutdown().await;
}

async fn bad_utf8(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    assert_eq!(call(&hub, "latin1").await.text, "caf\u{fffd}");
    hub.shutdown().await;
}

async fn no_id(case: Arc<Case>) {
    let hub = hub([patient(case.server("none"), 300)]).await;
    let outcome = call(&hub, "nameless").await;
    assert_eq!(outcome.status, Status::TimedOut);
    assert!(
        outcome.text.contains("what is not MCP, once") && outcome.text.contains("nobody knows whose"),
        "{outcome:?}"
    );
    // Earlier output is not reported again.
    assert!(!call(&hub, "hang").await.text.contains("not MCP"));
    hub.shutdown().await;
}

async fn odd_answer(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let outcome = call(&hub, "odd").await;
    assert_eq!(outcome.status, Status::ToolError);
    assert!(outcome.text.contains("not JSON-RPC") && outcome.text.contains("\"odd\""), "{outcome:?}");
    hub.shutdown().await;
}

async fn no_answer_is_lost(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    odd_answers_are_read_or_errors(&hub).await;
    hub.shutdown().await;
}

async fn unreadable_tools(case: Arc<Case>) {
    let hub = hub([case.server("unreadable-tools")]).await;
    odd_tools_are_left_out(&hub);
    hub.shutdown().await;
}

async fn hung_list(case: Arc<Case>) {
    let server = case.server("hung-resources").with_connect_timeout(Duration::from_millis(4500));
    let hub = hub([server]).await;
    let status = hub.servers().remove(0);
    assert_eq!(status.state, ServerState::Ready, "{status:?}");
    let noted = |part: &str| status.notes.iter().any(|note| note.contains(part));
    assert!(noted("resources/list: no answer within 1.5 s"), "{status:?}");
    assert!(noted("the prompt \"q\" is left out: NaN is no JSON"), "{status:?}");
    let catalog = hub.catalog();
    assert!(catalog.knows("echo") && catalog.servers().iter().any(|server| server.resource_templates.len() == 1));
    assert_eq!(hub.prompts().len(), 1);
    assert!(call(&hub, "pid").await.is_result());
    hub.shutdown().await;
}

async fn no_version(case: Arc<Case>) {
    let hub = hub([case.server("has-no-version")]).await;
    let status = hub.servers().remove(0);
    assert_eq!((status.state, status.server_name.as_deref()), (ServerState::Ready, Some("faulty")), "{status:?}");
    assert_eq!(status.server_version, None);
    hub.shutdown().await;
}

/// Checks the versions that `initialize` is sent with.
async fn speaks(case: Arc<Case>, fault: &'static str, asked: &'static [&'static str]) {
    let hub = hub([case.server(fault)]).await;
    let status = hub.servers().remove(0);
    assert_eq!(status.protocol_version.as_deref(), Some("2025-03-26"), "{status:?}");
    assert_eq!((case.lines("versions"), case.count("starts")), (asked.iter().map(|v| (*v).to_owned()).collect(), 1));
    assert!(call(&hub, "pid").await.is_result());
    hub.shutdown().await;
}

async fn asks_back(case: Arc<Case>) {
    let hub = connect(builder().elicitor(defaults), [case.server("modern")]).await;
    let outcome = call(&hub, "ask").await;
    assert!(outcome.is_result(), "{outcome:?}");
    let told: serde_json::Value = serde_json::from_str(&outcome.text).unwrap();
    assert_eq!(told, json!({ "action": "accept", "content": { "name": "Ada" } }));
    let endless = call_with(&hub, "ask", json!({ "endless": true })).await;
    assert!(endless.status == Status::ToolError && endless.text.contains("asked for input 10 times"), "{endless:?}");
    hub.shutdown().await;
    let hub = connect(builder(), [case.server("modern")]).await;
    let outcome = call(&hub, "ask").await;
    assert!(outcome.status == Status::ToolError && outcome.text.contains("asks the user for input"), "{outcome:?}");
    hub.shutdown().await;
}

/// Returns the parameters of a question; and below, the answer that the server got.
fn asks(params: serde_json::Value) -> serde_json::Value {
    json!({ "params": params })
}

fn name_and_age() -> serde_json::Value {
    json!({ "mode": "form", "message": "Who are you?", "requestedSchema": { "type": "object",
        "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 } }, "required": ["name"] } })
}

fn told(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.text).unwrap_or_else(|_| panic!("{outcome:?}"))
}

async fn somebody_answers(case: Arc<Case>) {
    let elicitor = |request: InputRequest| async move {
        assert_eq!(request.server, "s");
        match (request.message.as_str(), request.kind) {
            ("Who are you?" | "who?", InputKind::Form(form)) => {
                let mut content = serde_json::Map::new();
                for field in form.fields {
                    let typed = if field.name == "name" { "Grace" } else { "40" };
                    content.extend(field.read(typed).unwrap().map(|value| (field.name.clone(), value)));
                }
                InputAnswer::Accept(content)
            }
            ("Log in", InputKind::Url { host, .. }) if host == "example.org" => {
                InputAnswer::Accept(serde_json::Map::new())
            }
            ("no", _) => InputAnswer::Decline,
            ("misfit", _) => InputAnswer::Accept(serde_json::Map::new()),
            _ => InputAnswer::Cancel,
        }
    };
    let hub = connect(builder().elicitor(elicitor), [case.server("none")]).await;
    assert_eq!(case.lines("elicitation"), [r#"{"form":{},"url":{}}"#]);
    let form = |message: &str, field: serde_json::Value| json!({ "message": message, "requestedSchema": { "properties": { "f": field }, "required": ["f"] } });
    for (params, expected) in [
        (name_and_age(), json!({ "action": "accept", "content": { "name": "Grace", "age": 40 } })),
        (
            json!({ "mode": "url", "message": "Log in", "url": "https://example.org/in", "elicitationId": "1" }),
            json!({ "action": "accept" }),
        ),
        (form("no", json!({ "type": "boolean" })), json!({ "action": "decline" })),
        // A format that rmcp does not know.
        (form("other", json!({ "type": "string", "format": "phone" })), json!({ "action": "cancel" })),
    ] {
        assert_eq!(told(&call_with(&hub, "elicit", asks(params)).await), expected);
    }
    for (params, why) in [
        (form("misfit", json!({ "type": "string" })), "missing required property \"f\""),
        (form("other", json!({ "type": "object" })), "the field \"f\" is not a text"),
        (json!({ "mode": "url", "message": "?", "url": "file:///etc", "elicitationId": "1" }), "http or https"),
    ] {
        let error = told(&call_with(&hub, "elicit", asks(params)).await);
        assert!(error["message"].as_str().is_some_and(|message| message.contains(why)), "{why}: {error}");
    }
    hub.shutdown().await;

    // Without an elicitor, servers are told so, and declined if they ask nevertheless.
    let hub = connect(builder(), [case.server("none")]).await;
    assert_eq!(case.lines("elicitation").last().unwrap(), "null");
    assert_eq!(told(&call_with(&hub, "elicit", asks(name_and_age())).await), json!({ "action": "decline" }));
    hub.shutdown().await;

    let hub = connect(builder().elicitor(elicitor), [case.server("modern")]).await;
    let content = json!({ "action": "accept", "content": { "name": "Grace" } });
    assert_eq!(told(&call(&hub, "ask").await), content);
    hub.shutdown().await;
}

async fn time_stands_still(case: Arc<Case>) {
    for fault in ["none", "modern"] {
        let elicitor = |_| async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            InputAnswer::Decline
        };
        let server = patient(case.server(fault), 3000);
        let hub = connect(builder().max_call(Duration::from_secs(3)).elicitor(elicitor), [server]).await;
        let (tool, arguments) = if fault == "modern" { ("ask", json!({})) } else { ("elicit", asks(name_and_age())) };
        assert_eq!(told(&call_with(&hub, tool, arguments).await), json!({ "action": "decline" }));
        let outcome = call(&hub, "hang").await;
        assert!(outcome.status == Status::TimedOut, "the time goes on: {outcome:?}");
        hub.shutdown().await;
    }
}

/// Returns a builder with an elicitor that never answers, and the numbers of questions asked and
/// withdrawn.
fn silent(case: &Case) -> (HubBuilder, Arc<[AtomicUsize; 2]>) {
    struct Asked(Arc<[AtomicUsize; 2]>);
    impl Drop for Asked {
        fn drop(&mut self) {
            self.0[1].fetch_add(1, SeqCst);
        }
    }
    let counts = Arc::<[AtomicUsize; 2]>::default();
    let (seen, dir) = (counts.clone(), PathBuf::from(case.path()));
    let elicitor = move |_| {
        seen[0].fetch_add(1, SeqCst);
        std::fs::write(dir.join("asked"), "").unwrap();
        let asked = Asked(seen.clone());
        async move {
            let _asked = asked;
            std::future::pending().await
        }
    };
    (builder().elicitor(elicitor), counts)
}

async fn questions_end(case: Arc<Case>) {
    let (builder, counts) = silent(&case);
    let hub = connect(builder, [case.server("none")]).await;
    let count = |of: usize| counts[of].load(SeqCst);
    let taken_back = async |n: usize| assert!(soon(|| count(0) == n && count(1) == n).await, "{counts:?}");
    let asking = |then: &str| json!({ "params": name_and_age(), "then": then });

    assert_eq!(call_with(&hub, "elicit", asking("withdraw")).await.text, "never mind");
    taken_back(1).await;
    std::fs::remove_file(Path::new(case.path()).join("asked")).unwrap();

    // The call was dropped.
    tokio::select! {
        outcome = call_with(&hub, "elicit", asking("")) => panic!("{outcome:?}"),
        () = async { while count(0) < 2 { tokio::task::yield_now().await } } => {}
    }
    taken_back(2).await;
    assert!(soon(|| case.has("told", r#"{"action":"cancel"}"#)).await);
    std::fs::remove_file(Path::new(case.path()).join("asked")).unwrap();

    let outcome = call_with(&hub, "elicit", asking("die")).await;
    assert!(outcome.text.contains("out of patience"), "{outcome:?}");
    taken_back(3).await;
    hub.shutdown().await;
}

async fn asked_without_a_call(case: Arc<Case>) {
    let (builder, counts) = silent(&case);
    let hub = connect(builder, [case.server("none")]).await;
    let outcome = call_with(&hub, "elicit", json!({ "params": name_and_age(), "unasked": true })).await;
    assert_eq!(outcome.text, "done");
    assert!(soon(|| case.has("told", r#"{"action":"cancel"}"#)).await);
    let [asked, taken_back] = [0, 1].map(|of| counts[of].load(SeqCst));
    assert_eq!(asked, taken_back, "nobody is left with a question");
    hub.shutdown().await;
}

async fn deaf(case: Arc<Case>) {
    let hub = with_a_good_one(patient(case.server("none"), 500), &case, builder()).await;
    assert!(call(&hub, "stop_listening").await.is_result());
    // Longer than a pipe's buffer.
    let long = json!({ "text": "x".repeat(1024 * 1024) });
    let outcomes = futures::future::join_all((0..20).map(|_| call_with(&hub, "echo", long.clone()))).await;
    assert!(outcomes.iter().all(|outcome| outcome.status == Status::TimedOut), "{outcomes:?}");
    good_one_answers(&hub).await;
    hub.shutdown().await;
}

/// The server dies after half an answer, to each kind of request.
async fn dies_in_an_answer(case: Arc<Case>) {
    for (end, status) in [("KILL", "(signal: 9 (SIGKILL))"), ("3", "(exit status: 3)")] {
        for method in ["initialize", "tools/list", "tools/call"] {
            let hub = hub([case.server(&format!("half:{method}:{end}"))]).await;
            let text = match method {
                "tools/call" => call(&hub, "echo").await.text,
                _ => hub.servers()[0].error.clone().unwrap(),
            };
            for part in ["a truncated answer", status, "fatal: out of luck"] {
                assert!(text.contains(part), "{method}, {end}: no {part:?} in {text}");
            }
            let now = hub.servers().remove(0);
            assert!(now.has_failed() && now.error.as_ref().unwrap().contains(status), "{method}, {end}: {now:?}");
            hub.shutdown().await;
        }
    }
}

async fn all_calls_end(case: Arc<Case>) {
    let server = case.server("none").with_max_calls(NonZeroUsize::new(16).unwrap());
    let hub = with_a_good_one(server, &case, builder()).await;
    // More calls than may run at once, so that some are queued.
    let hang = (0..40).map(|_| call(&hub, "hang"));
    let die = async {
        assert!(soon(|| case.count("calls") == 16).await);
        let dies = std::process::Command::new("kill").args(["-9", &case.pid()]).status();
        assert!(dies.unwrap().success());
        good_one_answers(&hub).await;
    };
    let hang = async {
        tokio::select! {
            outcomes = futures::future::join_all(hang) => outcomes,
            () = tokio::time::sleep(Duration::from_secs(60)) => panic!("a call never ends"),
        }
    };
    let (outcomes, ()) = futures::join!(hang, die);
    assert!(outcomes.iter().all(|outcome| outcome.status == Status::ToolError), "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| outcome.text.contains("signal: 9")), "{outcomes:?}");
    hub.shutdown().await;
}

async fn malformed_tool(case: Arc<Case>) {
    let hub = hub([case.server("odd-tools")]).await;
    let status = hub.servers().remove(0);
    assert_eq!(status.state, ServerState::Ready, "{status:?}");
    assert!(status.notes.iter().any(|note| note.contains("\"broken\" is left out")), "{:?}", status.notes);
    assert!(hub.catalog().knows("echo") && !hub.catalog().knows("broken"));
    hub.shutdown().await;
}

async fn schemas(case: Arc<Case>) {
    let hub = hub([case.server("odd-tools")]).await;
    let catalog = hub.catalog();
    let tool = catalog.find(Some("s"), "schema").unwrap().tool;
    assert_eq!(tool.input_schema.as_ref().unwrap().to_string(), toolgraft_testkit::faulty_mcp::SCHEMA);
    hub.shutdown().await;
}

async fn unknown_content(case: Arc<Case>) {
    let hub = hub([case.server("none")]).await;
    let Outcome { text, status, .. } = call(&hub, "hologram").await;
    assert_eq!(status, Status::Result);
    assert!(text.contains("unknown kind \"hologram\"") && text.contains("and text"), "{text}");
    hub.shutdown().await;
}

async fn environment(case: Arc<Case>) {
    let builder = builder().environment([("OPENAI_API_KEY", "s3cret-of-ours"), ("LANG", "ours")]);
    let hub = connect(builder, [case.server("none")]).await;
    let seen = call(&hub, "environment").await;
    assert!(seen.text.contains("PATH=") && !seen.text.contains("s3cret"), "{seen:?}");
    assert!(seen.text.contains("LANG=ours"), "what is given comes before what is inherited: {seen:?}");
    assert_eq!(call(&hub, "stdin").await.text, "pipe", "no terminal and no file of ours");
    hub.shutdown().await;
}

async fn secrets(case: Arc<Case>) {
    let hub = hub([case.server("tells-its-key").with_env("API_KEY", "s3cret-of-theirs")]).await;
    let mut said = vec![format!("{:?}", hub.servers()), format!("{:?}", hub.catalog())];
    for tool in ["environment", "refuse", "die"] {
        said.push(format!("{:?}", call(&hub, tool).await));
    }
    said.push(format!("{:?}", hub.servers()));
    for text in &said {
        assert!(!text.contains("s3cret"), "{text}");
    }
    for (text, expected) in said[2..].iter().zip(["API_KEY=[redacted]", "no: [redacted]", "died of [redacted]"]) {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    hub.shutdown().await;
}

async fn disabled_tool(case: Arc<Case>) {
    let mut server = case.server("none");
    server.disabled_tools = vec!["di?".to_owned(), "pid".to_owned()];
    let hub = hub([server]).await;
    assert!(hub.catalog().knows("echo") && !hub.catalog().knows("pid") && !hub.catalog().knows("die"));
    let outcome = call(&hub, "pid").await;
    assert_eq!((outcome.status, case.count("calls")), (Status::ToolError, 0), "{outcome:?}");
    assert!(hub.servers()[0].notes[0].contains("2 tools are disabled"), "{:?}", hub.servers());
    hub.shutdown().await;
}

async fn banner(case: Arc<Case>) {
    let hub = hub([case.server("banner")]).await;
    let notes = hub.servers().remove(0).notes;
    assert!(notes[0].contains("what is not MCP, 2 times") && notes[0].contains("[INFO] listening"), "{notes:?}");
    hub.shutdown().await;
}
