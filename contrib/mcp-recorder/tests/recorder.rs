//! The program as a process, with servers that are shell scripts.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const RECORDER: &str = env!("CARGO_BIN_EXE_mcp-recorder");

/// A server of 2025-11-25 with the tool `echo`, as a configuration writes it; its entry has a secret, which
/// the tool says.
fn server() -> Value {
    let tools = json!({ "tools": [{ "name": "echo", "description": "Says it", "inputSchema": { "type": "object" } }] });
    let said = json!({ "content": [{ "type": "text", "text": "it is swordfish-234567" }] });
    let script = format!(
        r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        answer() {{ printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$id" "$1"; }}
        case "$line" in
        *notifications/*) ;;
        *'"initialize"'*) answer '"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}' ;;
        *'"tools/list"'*) answer '"result":{tools}' ;;
        *'"tools/call"'*) answer '"result":{said}' ;;
        *) answer '"error":{{"code":-32601,"message":"no"}}' ;;
        esac
        done"#
    );
    json!({ "command": "sh", "args": ["-c", script.replace("${", "$${")], "env": { "API_KEY": "swordfish-234567" } })
}

fn configure(folder: &Path, file: &str, servers: &Value) {
    fs::write(folder.join(file), json!({ "mcpServers": servers }).to_string()).unwrap();
}

/// Runs the program with these lines as its standard input.
fn run(folder: &Path, args: &[&str], lines: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(RECORDER);
    command.args(args).current_dir(folder).env("HOME", folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn commands_are_answered_in_their_order_and_one_that_fails_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "mcp.json", &json!({ "s": server() }));
    let shell = ["shell", "--mcp-config", "mcp.json", "s"];
    let (code, out, err) = run(folder.path(), &shell, "# a remark\n\ntools\ncall echo {}\nquit\ncall nothing\n");
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "echo  Says it\nit is [redacted]\n", ""));
    let (code, out, err) = run(folder.path(), &shell, "fly\ncall nothing\ncall echo\n");
    assert_eq!((code, out.as_str()), (Some(1), "it is [redacted]\n"), "{err}");
    assert!(err.contains("no such command: fly") && err.contains("nothing"), "{err}");
    let (code, _, err) = run(folder.path(), &["shell", "--mcp-config", "mcp.json", "absent"], "");
    assert!(code == Some(2) && err.contains("no server \"absent\"; there are: s"), "{err}");
}

#[test]
fn messages_are_shown_and_recorded_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "mcp.json", &json!({ "s": server() }));
    let args = ["shell", "--mcp-config", "mcp.json", "s", "--record", "r.jsonl"];
    let lines = "wire on\ncall echo\nwire json\ncall echo\nwire off\ncall echo\n";
    let (code, _, err) = run(folder.path(), &args, lines);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(err.matches("Z  s → tools/call #").count(), 2, "{err}");
    assert!(err.contains("[redacted]") && err.contains("\n    \"jsonrpc\": \"2.0\",\n"), "{err}");
    let record = fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    assert!(!record.contains("swordfish") && !err.contains("swordfish"), "{record}\n{err}");
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"]["method"] == "initialize" && line["from"] == "client"), "{record}");
    let answers = lines.iter().filter(|line| line["message"]["result"]["content"].is_array());
    assert!(answers.clone().count() == 3 && answers.clone().all(|line| line["from"] == "server"), "{record}");
}

#[test]
fn a_recorded_server_is_played_and_a_request_that_was_not_recorded_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), "mcp.json", &json!({ "s": server() }));
    let record = ["record", "--mcp-config", "mcp.json", "s", "r.jsonl"];
    let lines = "tools\ncall echo n=1\n";
    let (code, first, err) = run(folder.path(), &record, lines);
    assert!(code == Some(0) && err.contains("recording to r.jsonl"), "{err}");

    // The same command is the server of a client, here of this program; the record is not written over.
    let entry = |args: &[&str]| json!({ "between": { "command": RECORDER, "args": args } });
    let through = |file: &str, lines: &str| run(folder.path(), &["shell", "--mcp-config", file, "between"], lines);
    configure(folder.path(), "between.json", &entry(&record));
    // The client gets what the server says, the record and whoever plays it none of the entry's secrets.
    assert_eq!(through("between.json", lines).1, first.replace("[redacted]", "swordfish-234567"));
    configure(folder.path(), "played.json", &entry(&["play", "r-2.jsonl"]));
    assert_eq!(through("played.json", lines).1, first);
    let (code, _, err) = through("played.json", "call echo n=2\n");
    assert!(code == Some(1) && err.contains("with these parameters is not in the record r-2.jsonl"), "{err}");

    configure(folder.path(), "itself.json", &entry(&["record", "between", "x.jsonl"]));
    let (code, _, err) = run(folder.path(), &["record", "--mcp-config", "itself.json", "between", "x.jsonl"], "");
    assert!(code == Some(2) && err.contains("is this command itself"), "{err}");
    fs::write(folder.path().join("no.jsonl"), "{\"type\":\"session\"}\n").unwrap();
    let (code, _, err) = run(folder.path(), &["play", "no.jsonl"], "");
    assert!(code == Some(2) && err.contains("no.jsonl:1: not a line of a record: "), "{err}");
}

#[test]
fn a_client_gets_what_the_server_writes_as_it_came_and_is_told_what_is_no_mcp() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo welcome; echo trouble swordfish-234567 >&2; read line; echo '{ \"id\":1, \"got\":\"swordfish-234567\" }'; exit 3";
    let env = json!({ "API_KEY": "swordfish-234567" });
    configure(folder.path(), "mcp.json", &json!({ "s": { "command": "sh", "args": ["-c", script], "env": env } }));
    let record = ["record", "--mcp-config", "mcp.json", "s", "r.jsonl"];
    let (_, out, err) = run(folder.path(), &record, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n");
    assert_eq!(out, "welcome\n{ \"id\":1, \"got\":\"swordfish-234567\" }\n");
    assert!(err.contains("trouble [redacted]\n") && err.contains("the last was \"welcome\""), "{err}");
    let told = fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    assert!(told.lines().count() == 2 && told.contains("\"got\":\"[redacted]\""), "{told}");
}
