//! `toolgraft mcp shell`, what it shows and records of the wire, and `toolgraft mcp play`.

use std::fs;

use serde_json::{Value, json};
use toolgraft_testkit::http_mcp::HttpMcp;

use crate::process::{Place, Run, TOOLGRAFT, answering_server, demo_server};

fn with_demo() -> Place {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    place
}

fn shell(place: &Place, args: &[&str], lines: &str) -> Run {
    let args = [&["mcp", "shell", "--mcp-config", "mcp.json"], args].concat();
    place.run_with(&args, |command| command.write_stdin(lines))
}

#[test]
fn commands_of_a_pipe_are_answered_by_one_server_in_their_order() {
    let place = with_demo();
    let lines = "# a remark\n\ntools\ndescribe weather_query\ncall weather_query city=杭州 date=2026-05-01\n\
                 call weather_query {\"city\": \"Oslo\", \"date\": \"2026-05-01\"} --json\n\
                 read demo://cities\nget trip city=Oslo\nstatus\nlogs\nquit\ncall nothing\n";
    let out = shell(&place, &["demo"], lines).quiet().out;
    let mut rest = out.as_str();
    for words in [
        "demo  ready in",
        "weather_query(city, date?)",
        "\"inputSchema\": {",
        "杭州, 2026-05-01: ",
        "{\"server\":\"demo\",\"tool\":\"weather_query\",\"status\":\"result\"",
        "Oslo",
        "3 tools",
        "it has logged nothing",
    ] {
        let at = rest.find(words).unwrap_or_else(|| panic!("{words:?} is not in what follows: {rest}\n\nof {out}"));
        rest = &rest[at + words.len()..];
    }
}

#[test]
fn a_command_that_fails_ends_nothing_but_is_told_by_the_exit_code() {
    let place = with_demo();
    let run = shell(&place, &["demo"], "call weather_qeury\nfly\ncall weather_query ctiy=x\ndescribe trip\n");
    run.fails_with(1, &["weather_query", "no command fly; there are: tools, ", "no parameter ctiy; nearest: city"]);
    assert!(run.out.starts_with("trip(city"), "{run:?}");
    shell(&place, &["absent"], "").refuses(2, "no server \"absent\" in the configuration; there are: demo");
}

/// A server whose entry has a secret, which it says back.
fn with_secret(place: &Place) {
    let tool = json!({ "name": "echo", "description": "Says it", "inputSchema": { "type": "object" } });
    let mut server = answering_server(&json!({
        "tools/list": { "tools": [tool] },
        "tools/call": { "content": [{ "type": "text", "text": "it is swordfish-234567" }] },
    }));
    server["env"]["API_KEY"] = "swordfish-234567".into();
    place.servers(json!({ "s": server }));
}

#[cfg(unix)]
#[test]
fn the_wire_is_shown_and_recorded_without_secrets() {
    let place = Place::new();
    with_secret(&place);
    let run =
        shell(&place, &["s", "--record", "r.jsonl"], "wire on\ncall echo\nwire json\ncall echo\nwire off\ncall echo\n");
    let run = run.ok();
    let lines: Vec<&str> = run.err.lines().collect();
    assert!(lines[0].contains("Z  s → tools/call #") && lines[0].contains("{\"name\":\"echo\""), "{run:?}");
    assert!(lines[1].contains("Z  s ← tools/call #") && lines[1].contains("[redacted]"), "{run:?}");
    assert_eq!(run.err.matches("Z  s → ").count(), 2, "{run:?}");
    assert!(run.err.contains("\n    \"jsonrpc\": \"2.0\",\n"), "{run:?}");
    let record = fs::read_to_string(place.path("r.jsonl")).unwrap();
    assert!(!record.contains("swordfish") && !run.err.contains("swordfish"), "{record}\n{run:?}");
    let lines: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"]["method"] == "initialize" && line["from"] == "client"), "{record}");
    let answers = lines.iter().filter(|line| line["message"]["result"]["content"].is_array());
    assert!(answers.clone().count() == 3 && answers.clone().all(|line| line["from"] == "server"), "{record}");
    shell(&place, &["s", "--record", "r.jsonl"], "").refuses(2, "--record: r.jsonl is there already");
}

#[test]
fn a_recorded_server_is_played_and_what_it_was_not_asked_is_refused() {
    let place = with_demo();
    let lines = "call weather_query city=Oslo date=2026-05-01\nread demo://cities\nget trip city=Oslo\n";
    let first = shell(&place, &["demo", "--record", "r.jsonl"], lines).quiet();
    place.servers(json!({ "demo": { "command": TOOLGRAFT, "args": ["mcp", "play", "r.jsonl"] } }));
    assert_eq!(shell(&place, &["demo"], lines).quiet().out, first.out);
    let run = shell(&place, &["demo"], "call weather_query city=Rome date=2026-05-01\n");
    run.fails_with(1, &["tools/call with these parameters is not in the record r.jsonl"]);
    let listed = place.run(&["tools", "--mcp-config", "mcp.json"]).quiet().out;
    assert!(listed.contains("weather_query(city, date?)") && listed.contains("trip(city"), "{listed}");
    place.write("no.jsonl", "{\"type\":\"session\"}\n");
    place.run(&["mcp", "play", "no.jsonl"]).refuses(2, "no.jsonl:1: not a line of a record: ");
}

#[test]
fn a_record_is_made_by_commands_and_by_a_client_and_none_is_written_over() {
    let place = with_demo();
    let lines = "call weather_query city=Oslo date=2026-05-01\nread demo://cities\nget trip city=Oslo\n";
    let record = ["mcp", "record", "--mcp-config", "mcp.json", "demo", "r.jsonl"];
    let first = place.run_with(&record, |command| command.write_stdin(lines)).ok();
    assert!(first.err.contains("recording to r.jsonl"), "{first:?}");
    // The same command is the server of a client, here of this program.
    let entry = |args: &[&str]| json!({ "mcpServers": { "between": { "command": TOOLGRAFT, "args": args } } });
    place.write("between.json", entry(&record).to_string());
    let through = |file: &str| {
        let args = ["mcp", "shell", "--mcp-config", file, "between"];
        place.run_with(&args, |command| command.write_stdin(lines)).ok().out
    };
    assert_eq!(through("between.json"), first.out);
    place.write("played.json", entry(&["mcp", "play", "r-2.jsonl"]).to_string());
    assert_eq!(through("played.json"), first.out);
    let told = fs::read_to_string(place.path("r-2.jsonl")).unwrap();
    assert!(told.contains("\"server\":\"demo\"") && !told.contains("between"), "{told}");
    let itself = entry(&["mcp", "record", "between", "x.jsonl"]);
    place.write("itself.json", itself.to_string());
    let run = place.run(&["mcp", "record", "--mcp-config", "itself.json", "between", "x.jsonl"]);
    run.refuses(2, "is this command itself");
}

#[cfg(unix)]
#[test]
fn a_client_gets_what_the_server_writes_as_it_came_and_is_told_what_is_no_mcp() {
    let place = Place::new();
    let script = "echo welcome; echo trouble swordfish-234567 >&2; read line; echo '{ \"id\":1, \"got\":\"swordfish-234567\" }'; exit 3";
    let env = json!({ "API_KEY": "swordfish-234567" });
    place.servers(json!({ "s": { "command": "sh", "args": ["-c", script], "env": env } }));
    let run = place.run_with(&["mcp", "record", "--mcp-config", "mcp.json", "s", "r.jsonl"], |command| {
        command.write_stdin("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n")
    });
    assert_eq!(run.out, "welcome\n{ \"id\":1, \"got\":\"swordfish-234567\" }\n");
    assert!(run.err.contains("trouble [redacted]\n") && run.err.contains("the last was \"welcome\""), "{run:?}");
    let told = fs::read_to_string(place.path("r.jsonl")).unwrap();
    assert!(told.lines().count() == 2 && told.contains("\"got\":\"[redacted]\""), "{told}");
    place.servers(json!({ "far": { "url": "http://127.0.0.1:1/mcp" } }));
    let far = place.run_with(&["mcp", "record", "--mcp-config", "mcp.json", "far", "f.jsonl"], |command| {
        command.write_stdin("{}\n")
    });
    far.fails_with(1, &["only one over stdio can stand behind another program"]);
}

#[test]
fn call_and_check_show_and_record_the_wire_too() {
    let place = with_demo();
    let call =
        ["call", "--mcp-config", "mcp.json", "--wire", "--record", "r.jsonl", "demo", "weather_query", "city=Oslo"];
    let run = place.run(&[&call[..], &["date=2026-05-01"]].concat()).ok();
    assert!(run.err.contains("Z  demo → tools/call #") && run.out.starts_with("Oslo, "), "{run:?}");
    assert!(fs::read_to_string(place.path("r.jsonl")).unwrap().contains("\"tools/call\""));
    let run = place.run(&["mcp", "check", "--mcp-config", "mcp.json", "--wire=json"]).ok();
    assert!(run.err.contains("Z  demo ← tools/list #") && run.err.contains("    \"tools\": ["), "{run:?}");
}

#[cfg(unix)]
#[test]
fn at_a_terminal_words_are_completed_and_the_wire_stands_above_the_line() {
    use rexpect::reader::Options;
    use rexpect::session::spawn_with_options;

    let place = with_demo();
    let mut command = std::process::Command::new(TOOLGRAFT);
    command.args(["mcp", "shell", "--mcp-config", "mcp.json", "demo"]).current_dir(place.dir.path());
    command.env("HOME", place.dir.path()).env("TERM", "xterm").env("COLUMNS", "100");
    for name in ["XDG_STATE_HOME", "LC_ALL", "LC_MESSAGES", "LANG"] {
        command.env_remove(name);
    }
    let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(true);
    let mut terminal = spawn_with_options(command, options).unwrap();
    let mut types = |keys: &str, sees: &[&str]| {
        terminal.send(keys).unwrap();
        terminal.flush().unwrap();
        for text in sees {
            // The reader makes a character of each byte.
            let bytes: String = text.bytes().map(char::from).collect();
            terminal.exp_string(&bytes).unwrap_or_else(|e| panic!("{text:?} did not come: {e}"));
        }
    };
    types("", &["demo  ready in", "help lists the commands", "demo> "]);
    types("cal\tweat\tci\tOslo da\t2026-05-01\r", &["call weather_query city=", "Oslo date=", "Oslo, 2026-05-01: "]);
    types("get trip city=B\t\t", &["city=Be", "city=Beijing", "city=Berlin"]);
    types("rl\t\r", &["city=Berlin", "I travel to Berlin today."]);
    types("read demo://city/To\t\r", &["demo://city/Tokyo", "\"Japan\""]);
    types("wire on\r", &["demo> "]);
    types("call weather_query city=Rome date=2026-05-01\r", &["demo → tools/call #", "demo ← tools/call #", "Rome, "]);
    types("call nothing\r", &["error: ", "demo> "]);
    types("quit\r", &[]);
    terminal.exp_eof().unwrap();
    let kept = fs::read_to_string(place.path(".local/state/toolgraft/mcp-history")).unwrap();
    assert!(kept.contains("call weather_query city=Oslo date=2026-05-01\n"), "{kept}");
}

#[test]
fn a_server_over_http_is_shown_recorded_and_played_over_stdio() {
    let (place, server) = (Place::new(), HttpMcp::start());
    place.servers(json!({ "far": { "url": server.url() } }));
    let lines = "tools --json\ncall echo text=Hej\n";
    let first = shell(&place, &["far", "--wire", "--record", "r.jsonl"], lines).ok();
    assert!(first.err.contains("Z  far ← tools/call #") && first.out.ends_with("Hej\n"), "{first:?}");
    drop(server);
    place.servers(json!({ "far": { "command": TOOLGRAFT, "args": ["mcp", "play", "r.jsonl", "--server", "far"] } }));
    let again = shell(&place, &["far"], lines).quiet();
    assert!(again.out.ends_with("Hej\n"), "{again:?}");
}
