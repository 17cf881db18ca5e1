//! Calls that change something, on real git, a shell, a page in a browser and Redis: what ran is read there.

use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::devtools::Page;
use crate::process::{Place, Run};
use crate::serve::{Serving, request};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};
use toolgraft_testkit::http_mcp::HttpMcp;
use toolgraft_testkit::work_mcp;

/// A folder with a server of git and a shell that works in it.
struct Work {
    place: Place,
    server: HttpMcp,
}

impl Work {
    fn new() -> Self {
        let place = Place::new();
        std::fs::create_dir(place.path("work")).unwrap();
        let server = work_mcp::start(&place.path("work"));
        place.servers(json!({"work": {"url": server.url()}}));
        Work { place, server }
    }

    /// The same with a repository that has one commit.
    fn with_git() -> Self {
        let work = Work::new();
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.org"],
            &["commit", "--quiet", "--allow-empty", "--message", "first"],
        ] {
            work.git(args);
        }
        work
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(self.place.path("work")).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path("work").join(name)).unwrap_or_default()
    }

    /// A question on a pipe, where nobody can be asked; all tools are allowed.
    fn chat(&self, endpoint: &Endpoint) -> Run {
        let url = endpoint.url();
        let args = ["chat", "--base-url", &url, "--model", "small-model", "--mcp-config", "mcp.json"];
        self.place.run(&[&args[..], &["--set", "tools_mode=prompt", "--allow", "work.*", "Do it."]].concat())
    }

    /// The same as a request of a client's to `serve`, with tools of the server alone.
    async fn serve(&self, endpoint: &Endpoint) -> (u16, Value) {
        let flags = ["--mcp-config", "mcp.json", "--mcp-always", "--set", "tools_mode=prompt", "--allow", "work.*"];
        let serving = Serving::start(&self.place, endpoint, &flags, &[]);
        serving.chat(&request("m"), None).await
    }
}

fn calls(calls: &[(&str, Value)]) -> String {
    calls.iter().map(|(tool, arguments)| mcp_call("work", tool, arguments) + "\n").collect()
}

/// An endpoint that says these messages, and `Done.` after them.
fn scripted(messages: Vec<String>) -> Endpoint {
    Endpoint::answer(move |_, number| Reply::text(messages.get(number).map_or("Done.", String::as_str)))
}

fn sh(command: &str) -> String {
    calls(&[("sh", json!({ "command": command }))])
}

fn status(command: &str) -> String {
    calls(&[("status", json!({ "command": command }))])
}

/// The branch is never created: its call is rejected, or git refuses the name.
fn onto_a_branch(create: Value) -> String {
    calls(&[
        ("branch_create", create),
        ("checkout", json!({"branch": "feature"})),
        ("commit", json!({"message": "on the feature"})),
        ("status", json!({"command": "git branch --show-current"})),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_after_a_branch_that_was_not_created() {
    for create in [json!({"nam": ["feature"]}), json!({"name": "no..branch"})] {
        for served in [false, true] {
            let work = Work::with_git();
            // It is there, from an earlier try: so `checkout` would work.
            work.git(&["branch", "feature"]);
            let endpoint = scripted(vec![onto_a_branch(create.clone())]);
            if served {
                let (code, whole) = work.serve(&endpoint).await;
                assert_eq!(code, 200, "{whole:#}");
            } else {
                work.chat(&endpoint).ok();
            }
            assert_eq!(work.git(&["log", "--all", "--format=%s"]), "first", "{create} {served}");
            assert_eq!(work.git(&["branch", "--show-current"]), "main", "{create} {served}");
            let told = endpoint.seen()[1].question();
            let after = "the call of branch_create before it in the same message did not succeed";
            assert_eq!(told.matches(after).count(), 2, "{told}");
            assert!(told.contains("\nmain\n"), "what only reads has run: {told}");
        }
    }
    // Where it is created, all of it is done, in its order.
    let work = Work::with_git();
    work.chat(&scripted(vec![onto_a_branch(json!({"name": "feature"}))])).ok();
    assert_eq!(work.git(&["log", "feature", "--format=%s"]), "on the feature\nfirst");
    assert_eq!(work.git(&["log", "main", "--format=%s"]), "first");
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_commands_of_a_shell_run_as_often_as_they_are_given() {
    for served in [false, true] {
        let work = Work::new();
        let endpoint = scripted(vec![sh("echo entry >> list"); 5]);
        match served {
            true => assert_eq!(work.serve(&endpoint).await.0, 200),
            false => assert_eq!(work.chat(&endpoint).ok().out.trim(), "Done."),
        }
        assert_eq!(work.file("list"), "entry\n".repeat(5), "{served}");
    }
    // In one message a few of them, and then it is over.
    let work = Work::new();
    let endpoint = scripted(vec![sh("echo entry >> list").repeat(62)]);
    work.chat(&endpoint).ok();
    assert_eq!(work.file("list"), "entry\n".repeat(5));
    assert!(endpoint.seen()[1].question().contains("the same call more than 5 times"), "{:?}", endpoint.seen()[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_and_edits_in_turn_end_with_the_newest_result() {
    for served in [false, true] {
        let work = Work::new();
        let test = || sh("test \"$(cat answer 2>/dev/null)\" = 42 && echo passed || { echo failed; exit 1; }");
        let endpoint = scripted(vec![test(), sh("echo 41 > answer"), test(), sh("echo 42 > answer"), test()]);
        match served {
            true => assert_eq!(work.serve(&endpoint).await.0, 200),
            false => assert_eq!(work.chat(&endpoint).ok().out.trim(), "Done."),
        }
        let told: Vec<String> = endpoint.seen().iter().map(|seen| seen.question()).collect();
        assert!(told[1].contains("failed") && told[3].contains("failed"), "{told:#?}");
        assert!(told[5].contains("passed") && !told[5].contains("failed"), "{told:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn polling_goes_on_while_something_changes_and_ends_where_nothing_does() {
    let work = Work::new();
    // It counts although it says that it only reads: a job whose state changes by itself.
    let endpoint = scripted(vec![status("echo tick >> ticks; wc -l < ticks"); 10]);
    assert_eq!(work.chat(&endpoint).ok().out.trim(), "Done.");
    assert_eq!(work.file("ticks").lines().count(), 10);
    let work = Work::new();
    let poll = || status("echo tick >> ticks; cat state");
    std::fs::write(work.place.path("work/state"), "waiting").unwrap();
    let endpoint = scripted(vec![poll(); 9]);
    assert_eq!(work.chat(&endpoint).ok().out.trim(), "Done.");
    assert_eq!(work.file("ticks").lines().count(), 8);
    let told = endpoint.seen()[9].question();
    assert!(told.contains("gave the same result 8 times in a row") && !told.contains("waiting"), "{told}");
    // The limit is the caller's.
    let work = Work::new();
    std::fs::write(work.place.path("work/state"), "waiting").unwrap();
    let endpoint = scripted(vec![poll(); 10]);
    let flags = [
        "--mcp-config", "mcp.json", "--mcp-always", "--set", "tools_mode=prompt", "--allow", "work.*", "--set",
        "max_same_results=3",
    ];
    let serving = Serving::start(&work.place, &endpoint, &flags, &[]);
    let (code, whole) = serving.chat(&request("m"), None).await;
    assert_eq!((code, &whole["error"]["code"]), (502, &json!("same_calls")), "{whole:#}");
    assert_eq!(work.file("ticks").lines().count(), 3);
    drop(work.server);
}

/// A server of Redis, where it is installed.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "a skipped test is named")]
async fn equal_pushes_to_redis_are_all_there() {
    if Command::new("redis-server").arg("--version").output().is_err() {
        eprintln!("note: equal_pushes_to_redis_are_all_there skipped: there is no redis-server");
        return;
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut redis =
        Command::new("redis-server").args(["--port", &port, "--save", "", "--daemonize", "no"]).spawn().unwrap();
    let ask = |command: &str| format!("redis-cli -p {port} {command}");
    let work = Work::new();
    let up = format!("until {} | grep -q PONG; do sleep 0.05; done", ask("ping"));
    assert!(Command::new("sh").args(["-c", &up]).status().unwrap().success());
    let endpoint = scripted(vec![sh(&ask("lpush list entry")); 5]);
    let answered = work.chat(&endpoint);
    let length = Command::new("sh").args(["-c", &ask("llen list")]).output().unwrap();
    redis.kill().unwrap();
    redis.wait().unwrap();
    answered.ok();
    assert_eq!(String::from_utf8_lossy(&length.stdout).trim(), "5");
}

/// Tools of a browser with one page.
const BROWSER: [work_mcp::Listed; 2] = [
    ("click", "Clicks on an element of the page", "id", false),
    ("page", "Returns the text of an element of the page", "id", true),
];

/// A counter, a button that counts, and a job whose state changes by itself.
const PAGE: &str = "data:text/html,<b id=count>0</b><button id=more onclick='count.textContent++'>more</button>\
    <i id=job>0</i><script>setInterval(() => job.textContent++, 20)</script>";

#[test]
fn a_real_browser_does_each_click_and_shows_the_newest_page() {
    let Some(browser) = crate::browser::wanted("a_real_browser_does_each_click_and_shows_the_newest_page") else {
        return;
    };
    let page = Arc::new(Mutex::new(Page::open(&browser)));
    page.lock().unwrap().go(PAGE);
    let tab = Arc::clone(&page);
    let server = work_mcp::acting(&BROWSER, move |tool, id| {
        let mut tab = tab.lock().unwrap();
        if tab.find(&format!("document.getElementById({id:?}) === null")) == true {
            return Err(format!("the page has no element {id}"));
        }
        let act = if tool == "click" { "click() || 'clicked'" } else { "textContent" };
        Ok(tab.find(&format!("document.getElementById({id:?}).{act}")).as_str().unwrap().to_owned())
    });
    let place = Place::new();
    place.servers(json!({"work": {"url": server.url()}}));
    let work = Work { place, server };
    let [click, missed, look, job] = [("click", "more"), ("click", "gone"), ("page", "count"), ("page", "job")]
        .map(|(tool, id)| calls(&[(tool, json!({ "id": id }))]));

    // Five equal clicks are five, and each look in between sees the newest page.
    let endpoint = scripted([click.as_str(), &look].repeat(5).into_iter().map(str::to_owned).collect());
    work.chat(&endpoint).ok();
    let told: Vec<String> = endpoint.seen().iter().map(|seen| seen.question()).collect();
    for count in 1..=5 {
        assert!(told[2 * count].contains(&format!("\n{count}\n")), "{count}: {}", told[2 * count]);
    }

    // A page that changes by itself may be looked at for as long as it takes.
    let endpoint = scripted(vec![job; 10]);
    assert_eq!(work.chat(&endpoint).ok().out.trim(), "Done.");
    assert_eq!(endpoint.seen().len(), 11);

    // After a click that failed no other click runs, and the model reads that; a call that only reads runs.
    let endpoint = scripted(vec![[missed.as_str(), &click, &look].concat()]);
    work.chat(&endpoint).ok();
    let told = endpoint.seen()[1].question();
    assert!(told.contains("the page has no element gone") && told.contains("\n5\n"), "{told}");
    assert!(told.contains("the call of click before it in the same message did not succeed"), "{told}");
    assert_eq!(page.lock().unwrap().find("count.textContent"), "5");
}
