//! Commands that wait for MCP servers say so on a terminal, and clear it afterwards.

use std::process::Command;

use crate::chat_screen::{dig, slow_server};
use crate::process::{Place, TOOLGRAFT};
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use serde_json::json;

/// The program on a terminal, with a server that waits for the files `start` and `go`.
fn on_a_terminal(place: &Place, args: &[&str]) -> PtySession {
    place.servers(json!({ "mine": slow_server(&dig(), "gold") }));
    let mut command = Command::new(TOOLGRAFT);
    command.args(args).args(["--mcp-config", "mcp.json"]).current_dir(place.dir.path());
    command.env("HOME", place.dir.path()).env("TERM", "xterm").env("COLUMNS", "100");
    command.env_remove("NO_COLOR");
    let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(true);
    spawn_with_options(command, options).unwrap()
}

#[test]
fn servers_that_start_are_named_while_they_do() {
    for args in [&["mcp", "tools"][..], &["mcp", "check"], &["prompt"]] {
        let place = Place::new();
        let mut terminal = on_a_terminal(&place, args);
        terminal.exp_string("starting 1 server: mine").unwrap();
        terminal.exp_string("mine: Downloading it").unwrap();
        place.write("start", "");
        let rest = terminal.exp_eof().unwrap();
        assert!(rest.contains("dig"), "{args:?}: {rest}");
    }
}

#[test]
fn a_call_that_runs_is_named_with_what_its_server_reports() {
    let place = Place::new();
    place.write("start", "");
    let mut terminal = on_a_terminal(&place, &["mcp", "call", "mine", "dig"]);
    terminal.exp_string("running mine.dig").unwrap();
    terminal.exp_string("running mine.dig: 3 of 8, digging").unwrap();
    place.write("go", "");
    let rest = terminal.exp_eof().unwrap();
    assert!(rest.trim_end().ends_with("gold"), "{rest}");
}

#[test]
fn a_pipe_gets_nothing_of_it() {
    let place = Place::new();
    place.servers(json!({ "mine": slow_server(&dig(), "gold") }));
    ["start", "go"].iter().for_each(|file| drop(place.write(file, "")));
    let run = place.run(&["mcp", "call", "mine", "dig", "--mcp-config", "mcp.json"]).quiet();
    assert_eq!(run.out, "gold\n");
}
