//! A stderr that takes nothing more, or that is closed, ends no command: what was asked for is done, with the
//! same exit code.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use crate::process::{Place, TOOLGRAFT, demo_server};

/// The program, whose stderr and stdout the shell sends elsewhere.
fn program(place: &Place, redirection: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec \"$0\" \"$@\" {redirection}"), TOOLGRAFT]).args(args);
    command.current_dir(place.path("")).env("HOME", place.path("")).env("NO_PROXY", "127.0.0.1");
    command.stdin(Stdio::null());
    command
}

fn done(place: &Place, redirection: &str, args: &[&str]) -> Output {
    program(place, redirection, args).output().unwrap()
}

#[test]
fn nothing_is_lost_by_a_stderr_that_is_full_or_closed() {
    let answer = |_: &_, number: usize| match number % 2 {
        0 => Reply::text(&mcp_call("demo", "get_weather", &json!({"city": "Oslo"}))),
        _ => Reply::text("It is cold."),
    };
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let url = endpoint.url();
    let cases: [&[&str]; 7] = [
        &["prompt", "--mcp-config", "mcp.json"],
        &["mcp", "tools", "--mcp-config", "mcp.json"],
        &["mcp", "tools", "--mcp-config", "missing.json"],
        &["mcp", "call", "demo.none", "--mcp-config", "mcp.json"],
        &["no-such-command"],
        &["chat", "Weather?", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json", "--yes"],
        &["demo"],
    ];
    for args in cases {
        let usual = done(&place, "", args);
        for redirection in ["2>/dev/full", "2>&-"] {
            let full = done(&place, redirection, args);
            assert_eq!(full.status.code(), usual.status.code(), "{args:?} {redirection}");
            assert_eq!(full.stdout.is_empty(), usual.stdout.is_empty(), "{args:?} {redirection}");
        }
    }
}

#[test]
fn help_that_nobody_can_be_shown_is_no_crash() {
    let place = Place::new();
    for args in [&["--help"][..], &["chat", "--help"], &["chat", "--no-such-flag"], &[]] {
        let code = done(&place, ">/dev/full 2>/dev/full", args).status.code();
        assert!(matches!(code, Some(0 | 2)), "{args:?}: {code:?}");
    }
}

#[tokio::test]
async fn requests_are_answered_though_their_lines_cannot_be_written() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let place = Place::new();
    let url = endpoint.url();
    let args = ["serve", "--listen", "127.0.0.1:0", "--base-url", &url, "--model", "m"];
    let mut child = program(&place, "2>/dev/full", &args).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let client = toolgraft::http::client().build().unwrap();
    for _ in 0..3 {
        let request =
            client.post(format!("{}/chat/completions", url.trim())).header("content-type", "application/json");
        let body = json!({"messages": [{"role": "user", "content": "Hi"}]}).to_string();
        assert_eq!(request.body(body).send().await.unwrap().status(), 200);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
