//! The command lines of the pages, run in a shell as they are written.

use std::fs;

use assert_cmd::Command;
use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::command_lines::{command_lines, pages};
use crate::process::{Place, ROOT, Run, TOOLGRAFT, answering_server};

/// Commands that have no end, or that want a program or a model of somebody's: their lines are only parsed.
const NOT_RUN: [&str; 5] = ["toolgraft serve", "toolgraft up", "toolgraft launch", "toolgraft probe", "--open"];

/// The reasons why a line may fail here: it is about something that only its reader has, or is a part of a line.
const LACKS: [&str; 11] = [
    "standard input is empty",
    "nothing listens there",
    "no conversation \"3f9a\" was kept",
    "There is no terminal to ask on",
    "a server over stdio has no login",
    "the following required arguments were not provided",
    "there is no ./.mcp.json",
    "FILE exists already",
    "invalid value 'SHELL'",
    "no tool \"TOOL\" on server \"SERVER\"",
    "cannot read moon.json",
];

/// Returns a folder with the files that a line names, but for those that it makes.
fn place(line: &str) -> Place {
    let place = Place::new();
    let own = [".config/toolgraft", ".config/Claude", "fixtures/tools"];
    // The page's line before those that write there makes them.
    let completions = [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"];
    for folder in own.into_iter().chain(completions) {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    let server = answering_server(&json!({
        "tools/list": { "tools": [{ "name": "get_current_time", "inputSchema": { "type": "object" } },
            { "name": "send", "inputSchema": { "type": "object" } }] },
        "tools/call": { "content": [{ "type": "text", "text": "done" }] },
    }));
    let servers = json!({ "mcpServers": { "time": server, "files": server, "mail": server, "docs": server } });
    place.write(".config/toolgraft/config.toml", "model = \"m\"\n");
    place.write(".config/Claude/claude_desktop_config.json", servers.to_string());
    place.write("mcp.json", servers.to_string());
    if !line.contains("mcp add") {
        place.write(".config/toolgraft/mcp.json", servers.to_string());
    }
    let recording = fs::read_to_string(format!("{ROOT}/cli/demo/en.jsonl")).unwrap();
    let tools = fs::read_to_string(format!("{ROOT}/fixtures/tools/time.json")).unwrap();
    for (name, text) in [
        ("session.jsonl", recording.as_str()),
        ("FILE", &recording),
        ("tools.json", &tools),
        ("fixtures/tools/time.json", &tools),
        ("answer.txt", "Well."),
        ("notes.md", "Notes."),
        ("notes.txt", "Notes."),
        ("summary.md", "Sum up: {{ file }}"),
        ("my.j2", "{{ listing }}"),
    ] {
        place.write(name, text);
    }
    if !line.contains("-o talk.json") {
        place.write("talk.json", &recording);
    }
    place
}

#[test]
fn every_command_line_of_the_pages_does_what_it_says() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Well."));
    let programs = std::path::Path::new(TOOLGRAFT).parent().unwrap().display();
    let (mut run, mut wrong) = (0, Vec::new());
    for file in pages() {
        for (line, _) in command_lines(&fs::read_to_string(&file).unwrap(), false) {
            if NOT_RUN.iter().any(|part| line.contains(part)) {
                continue;
            }
            let place = place(&line);
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]).current_dir(place.dir.path()).write_stdin("");
            shell.env("HOME", place.dir.path()).env("PATH", format!("{programs}:/usr/bin:/bin"));
            shell.env("OPENAI_BASE_URL", endpoint.url()).env("NO_PROXY", "127.0.0.1,localhost");
            for name in ["OPENAI_API_KEY", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
                shell.env_remove(name);
            }
            run += 1;
            let ended = Run::of(&mut shell);
            if ended.code != Some(0) && !LACKS.iter().any(|lack| ended.err.contains(lack)) {
                wrong.push(format!("{}: {line}: {ended:?}", file.display()));
            }
        }
    }
    assert!(run > 100 && wrong.is_empty(), "{run}:\n{}", wrong.join("\n"));
}
