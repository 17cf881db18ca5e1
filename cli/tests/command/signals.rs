//! Signals to the built program, at any time: it ends, says so, and leaves no process.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Place, TOOLGRAFT, eventually};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says};

/// After this time something that should have happened has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Servers of the program that a signal ends.
const SERVERS: usize = 4;

/// Processes that were started with the variable `CASE` of this place.
fn processes(place: &Place) -> Vec<String> {
    let entry = format!("CASE={}", place.dir.path().display());
    let found = fs::read_dir("/proc").unwrap().flatten().filter(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    });
    let lines = found.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

/// Watchers of servers that this process has started.
fn watchers(pid: u32) -> usize {
    let begin = format!("toolgraft-watcher\0TOOLGRAFT_SERVER={pid}-");
    let lines =
        fs::read_dir("/proc").unwrap().flatten().map(|p| fs::read(p.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&begin)).count()
}

fn kill(signal: &str, process: &Child) {
    let sent = Command::new("kill").args(["-s", signal, &process.id().to_string()]).status().unwrap();
    assert!(sent.success(), "the program had ended before SIG{signal}");
}

/// A program that INT has stopped ends by it, so that a shell's loop ends too; else it has failed.
pub(crate) fn has_ended_by(signal: &str, output: &Output) {
    let expected = if signal == "INT" { (Some(2), None) } else { (None, Some(1)) };
    assert_eq!((output.status.signal(), output.status.code()), expected, "{signal}: {output:?}");
}

/// A shell script that ends as a server, with the program as `$0`.
fn script(place: &Place, script: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", script, TOOLGRAFT], "cwd": place.dir.path(),
        "env": { "CASE": place.dir.path() } })
}

fn servers(place: &Place, count: usize) {
    let names = (0..count).map(|n| format!("s{n}"));
    let servers = names.map(|name| (name, script(place, "exec \"$0\" demo-server")));
    place.servers(Value::Object(servers.collect()));
}

fn start(place: &Place, args: &[&str]) -> Child {
    let mut command = Command::new(TOOLGRAFT);
    command.args(args).args(["--mcp-config", "mcp.json"]);
    command.current_dir(place.dir.path()).env("HOME", place.dir.path()).env("NO_PROXY", "127.0.0.1");
    command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// One question to an endpoint that never comes to an end.
fn ask(place: &Place, endpoint: &Endpoint) -> Child {
    start(place, &["chat", "--base-url", &endpoint.url(), "--model", "m", "--set", "tools_mode=prompt", "Rain?"])
}

fn stalling() -> Endpoint {
    Endpoint::answer(|_, _| Reply::events(&[says("Let me see.")]).end(End::Stall))
}

#[track_caller]
fn ends(mut process: Child, what: &str) -> Output {
    let start = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            process.kill().unwrap();
            panic!("{what}: the signal was lost");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    process.wait_with_output().unwrap()
}

/// Returns `true` if the process that started the tests ignores this signal, as `nohup` and a shell's `&` do; known on
/// Linux only.
fn is_ignored(signal: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn a_signal_at_any_time_ends_a_question_and_leaves_no_process() {
    let place = Place::new();
    servers(&place, SERVERS);
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        // With none of its servers begun, with some, with all, and in the turn. What ignores a
        // signal hands that on: the program knows of none before it listens, as it does for its servers.
        for begun in usize::from(is_ignored(number))..=SERVERS + 1 {
            let endpoint = stalling();
            let process = ask(&place, &endpoint);
            let pid = process.id();
            let what = format!("SIG{signal} after {begun} of {SERVERS} servers have begun");
            eventually(&what, || !endpoint.seen().is_empty() || (begun <= SERVERS && watchers(pid) >= begun));
            kill(signal, &process);
            let output = ends(process, &what);
            // Before it listens a signal ends it as it ends every program.
            assert!(matches!(output.status.code(), None | Some(1)), "{what}: {output:?}");
            assert_eq!(String::from_utf8_lossy(&output.stdout).replace("Let me see.", "").trim(), "", "{what}");
            eventually(&format!("{what}: processes are left"), || processes(&place).is_empty() && watchers(pid) == 0);
        }
    }
}

#[test]
fn a_signal_while_the_servers_end_counts_too() {
    let place = Place::new();
    let slow = script(&place, "\"$0\" demo-server; touch ended; sleep 1");
    for (signal, command) in
        [("TERM", ["mcp", "check"].as_slice()), ("INT", &["mcp", "tools"]), ("HUP", &["mcp", "check"])]
    {
        place.servers(json!({ "slow": slow }));
        let _ = fs::remove_file(place.path("ended"));
        let process = start(&place, command);
        eventually("the server ends", || place.path("ended").exists());
        kill(signal, &process);
        let output = ends(process, signal);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        has_ended_by(signal, &output);
        assert_eq!(output.stdout, b"", "{signal}: {said}");
        assert!(said.contains(&format!("stopped by SIG{signal}")), "{said}");
        eventually("no process is left", || processes(&place).is_empty());
    }
}

#[test]
fn a_server_that_does_not_start_is_ended_by_a_signal() {
    let place = Place::new();
    place.servers(json!({ "mute": script(&place, "sleep 1000 & touch started; wait") }));
    for signal in ["INT", "TERM", "HUP"] {
        let _ = fs::remove_file(place.path("started"));
        let process = start(&place, &["mcp", "check"]);
        eventually("the server starts", || place.path("started").exists());
        kill(signal, &process);
        let output = ends(process, signal);
        has_ended_by(signal, &output);
        eventually("no process is left", || processes(&place).is_empty());
    }
}

#[test]
fn a_killed_program_leaves_no_process() {
    let place = Place::new();
    // One in the server's group that ignores TERM, and one that has left it.
    let family =
        "(trap '' TERM; while :; do sleep 1000; done) & setsid sleep 1000 & touch started; exec \"$0\" demo-server";
    place.servers(json!({
        "ready": script(&place, family),
        "mute": { "connectTimeout": 2, "command": "sh", "args": ["-c", "sleep 1000; true"], "env": { "CASE": place.dir.path() } },
    }));
    for ready in [false, true] {
        let _ = fs::remove_file(place.path("started"));
        let endpoint = stalling();
        let mut process = ask(&place, &endpoint);
        match ready {
            false => eventually("the servers start", || place.path("started").exists()),
            true => eventually("the model is asked", || !endpoint.seen().is_empty()),
        }
        assert!(processes(&place).len() >= 4, "{:?}", processes(&place));
        let pid = process.id();
        process.kill().unwrap();
        process.wait().unwrap();
        eventually("processes are left", || processes(&place).is_empty() && watchers(pid) == 0);
    }
}
