//! `toolgraft chat` with the real model.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgraft_testkit::real;

use crate::process::{Place, Run, TOOLGRAFT, demo_server};
use crate::server::{PATIENCE, Server, free_port, shared, wanted};

/// Runs a conversation of one question to its end.
fn chat(place: &Place, server: &Server, args: &[&str]) -> Run {
    let url = server.url();
    let all = [&["chat", "--base-url", &url], args].concat();
    place.run_with(&all, |c| c.timeout(PATIENCE))
}

/// Returns the reason of the last event, and checks that the events are complete.
#[track_caller]
fn ended(run: &Run) -> String {
    let last = run.lines().pop().unwrap_or_else(|| panic!("no event: {run:?}"));
    assert_eq!(last["type"], "finished", "{run:?}");
    last["reason"]["kind"].as_str().unwrap().to_owned()
}

/// Checks that the model or a limit ended the turn, and nothing failed.
#[track_caller]
fn ended_well(run: &Run) {
    let reason = ended(run);
    let well = ["answered", "output_limit", "max_rounds", "corrections_used_up", "empty_answer"];
    assert!(well.contains(&reason.as_str()), "{run:?}");
    let calls = run.of_type("call_ended").len() + run.of_type("call_rejected").len();
    assert!(calls <= 64 * run.of_type("round_started").len(), "{run:?}");
}

#[test]
fn the_server_is_found_by_its_port() {
    if !wanted("the_server_is_found_by_its_port") {
        return;
    }
    if !shared().has_usual_port() {
        eprintln!("note: skipped: port 8080 of this machine is taken");
        return;
    }
    let run = Place::new().run_with(&["chat", "Hello", "--set", "max_tokens=4"], |c| {
        c.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY").timeout(PATIENCE)
    });
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    assert!(run.err.contains("llama.cpp at http://localhost:8080/v1"), "{run:?}");
}

#[test]
fn every_dialect_in_both_languages_with_real_servers() {
    if !wanted("every_dialect_in_both_languages_with_real_servers") {
        return;
    }
    let place = Place::new();
    let root = place.root();
    place.write("note.txt", "The lamp costs 12 Euro.");
    place.servers(json!({
        "time": real::python("mcp-server-time", &["--local-timezone", "Etc/UTC"]),
        "demo": demo_server(),
    }));
    for dialect in ["use_mcp_tool", "tool_tag", "type_marker"] {
        for (lang, question) in [("en", "What time is it in Asia/Tokyo?"), ("zh", "东京现在几点？")] {
            let args =
                ["--mcp-config", "mcp.json", "--set", &format!("dialect={dialect}"), "--lang", lang, "--yes", "--json"];
            let limits = ["--set", "max_tokens=40", "--set", "max_rounds=2", "--set", "temperature=0", question];
            let run = chat(&place, shared(), &[&args[..], &limits].concat());
            ended_well(&run);
            assert!(!run.of_type("round_started").is_empty(), "{dialect} {lang}: {run:?}");
        }
    }
    assert_eq!(fs::read_to_string(root.join("note.txt")).unwrap(), "The lamp costs 12 Euro.");
}

#[test]
fn each_task_that_wants_a_call_gets_one_where_the_answer_is_held_to_it() {
    if !wanted("each_task_that_wants_a_call_gets_one_where_the_answer_is_held_to_it") {
        return;
    }
    let url = shared().url();
    let way = "use_mcp_tool, compact, signature, constrained";
    let place = Place::new();
    let mut tasks: Value = serde_json::from_str(include_str!("../../cli/src/probe/tasks.json")).unwrap();
    for (kind, most) in [("call", 4), ("calls", 1), ("none", 2), ("result", 1)] {
        tasks[kind].as_array_mut().unwrap().truncate(most);
    }
    place.write("eight.json", tasks.to_string());
    let args =
        ["probe", "--base-url", &url, "--full", "--tasks", "eight.json", "--only", way, "--set", "max_tokens=128"];
    let run = place.run_with(&[&args[..], &["--json"]].concat(), |c| c.timeout(PATIENCE));
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let row = &report["rows"][0];
    assert_eq!((&row["cell"], &row["tasks"]), (&json!(way), &json!(8)), "{run:?}");
    assert_eq!((&row["wanted"], &row["accepted"]), (&json!(6), &json!(6)), "{run:?}");
}

/// Ten questions whose answers have to match a schema; without the constraint no answer did.
#[test]
fn answers_after_a_schema_are_valid() {
    if !wanted("answers_after_a_schema_are_valid") {
        return;
    }
    let place = Place::new();
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 40},
            "country": {"enum": ["Norway", "France", "Japan", "other"]},
            "inhabitants": {"type": "integer", "minimum": 0},
            "sights": {"type": "array", "items": {"type": "string", "maxLength": 30}, "maxItems": 2},
        },
        "required": ["city", "country", "inhabitants"],
        "additionalProperties": false,
    });
    place.write("schema.json", schema.to_string());
    let checked = toolgraft::validate::OutputSchema::new(schema).unwrap();
    for city in ["Oslo", "Paris", "Tokyo", "Bergen", "Lyon", "Kyoto", "Lima", "Nice", "Osaka", "Rome"] {
        let question = format!("Tell me about {city}.");
        let run = chat(&place, shared(), &["--schema", "schema.json", "--set", "max_tokens=160", &question]).ok();
        let value: Value = run.json();
        assert!(checked.check(&value, &value.to_string()).is_ok(), "{city}: {value}");
    }
}

/// A running program whose events are read one by one.
struct Running {
    child: Child,
    events: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn chat(place: &Place, server: &Server, args: &[&str]) -> Self {
        let mut command = Command::new(TOOLGRAFT);
        command.args(["chat", "--base-url", &server.url(), "--json"]).args(args);
        command.current_dir(place.dir.path()).env("HOME", place.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let events = BufReader::new(child.stdout.take().unwrap());
        Running { child, events }
    }

    /// Reads events up to the first one of this type.
    #[track_caller]
    fn reads(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.events.read_line(&mut line).unwrap() > 0, "no event {kind} came");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["type"] == kind {
                return event;
            }
        }
    }

    fn interrupt(&self) {
        let sent = Command::new("kill").args(["-s", "INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Returns the reason of the last event, the exit code, and standard error.
    #[track_caller]
    fn end(mut self) -> (Value, Option<i32>, String) {
        let finished = self.reads("finished");
        let status = self.child.wait().unwrap();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (finished["reason"].clone(), status.code(), err)
    }
}

/// Checks that the server accepts the next question, unaffected by the previous one.
#[track_caller]
fn goes_on(server: &Server) {
    let run = chat(&Place::new(), server, &["--json", "--set", "max_tokens=4", "Hi"]);
    ended_well(&run);
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn long_question(words: usize) -> String {
    let numbers: Vec<String> = (0..words).map(|n| format!("lamp {n}")).collect();
    format!("Count these: {}", numbers.join(", "))
}

#[test]
fn ctrl_c_while_the_prompt_is_read() {
    if !wanted("ctrl_c_while_the_prompt_is_read") {
        return;
    }
    let place = Place::new();
    let question = long_question(1_200);
    let running = Running::chat(&place, shared(), &["--trace", "trace.jsonl", &question]);
    // The request is in progress, and its thousands of tokens take the server seconds.
    let trace = place.path("trace.jsonl");
    let sent = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text.contains("/chat/completions"));
    eventually("the request goes out", || sent(&trace));
    running.interrupt();
    let (reason, code, _) = running.end();
    assert_eq!((&reason["kind"], code), (&json!("cancelled"), Some(1)));
    goes_on(shared());
}

#[test]
fn ctrl_c_while_text_streams() {
    if !wanted("ctrl_c_while_text_streams") {
        return;
    }
    let mut running = Running::chat(&Place::new(), shared(), &["Tell me a very long story about a lamp."]);
    running.reads("text");
    running.interrupt();
    let (reason, code, _) = running.end();
    assert_eq!((&reason["kind"], code), (&json!("cancelled"), Some(1)));
    goes_on(shared());
}

/// A server with a small context: text that does not fit is reported, and a request in progress
/// when the server dies is an error that allows a retry.
#[test]
fn a_full_context_and_a_server_that_dies() {
    if !wanted("a_full_context_and_a_server_that_dies") {
        return;
    }
    let mut server = Server::start(free_port(), &["--context", "512"]);
    let question = long_question(400);
    let run = chat(&Place::new(), &server, &["--json", &question]);
    assert!(["context_exceeded", "context_too_small"].contains(&ended(&run).as_str()), "{run:?}");
    assert!(run.out.contains("512"), "the size is named: {run:?}");

    let mut running = Running::chat(&Place::new(), &server, &["Tell me a very long story about a lamp."]);
    running.reads("text");
    server.kill();
    let (reason, code, err) = running.end();
    assert_eq!((&reason["kind"], code), (&json!("model_failed"), Some(1)), "{err}");
    assert_eq!((&reason["error"], &reason["retryable"]), (&json!("broke_off"), &json!(true)), "{reason}");
}
