//! From nothing to an answered question, as somebody does it who has another program's servers:
//! what is typed is counted, and stays as little as it is.

use std::fs;
use std::io::{Write, stderr};
use std::process::Command;
use std::time::Instant;

use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use crate::process::{Place, demo_server};

/// A shell, and what was typed into it.
struct Typist {
    terminal: PtySession,
    commands: usize,
    keys: usize,
}

impl Typist {
    /// A shell in this folder, which is the home too, with a server of models at this URL.
    fn at(place: &Place, url: &str) -> Self {
        let folder = std::path::Path::new(crate::process::TOOLGRAFT).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.current_dir(place.dir.path()).env("HOME", place.dir.path()).env("PATH", path).env("PS1", "$ ");
        // Where it listens at its usual port it is found without this.
        command.env("OPENAI_BASE_URL", url).env("TERM", "dumb").env("COLUMNS", "100");
        for name in ["OPENAI_API_KEY", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "ENV"] {
            command.env_remove(name);
        }
        let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(true);
        let mut typist = Typist { terminal: spawn_with_options(command, options).unwrap(), commands: 0, keys: 0 };
        typist.sees("$ ");
        typist
    }

    #[track_caller]
    fn sees(&mut self, text: &str) -> String {
        self.terminal.exp_string(text).unwrap_or_else(|e| panic!("{text:?} did not come: {e}"))
    }

    fn types(&mut self, line: &str) {
        self.keys += line.chars().count() + 1;
        self.terminal.send(&format!("{line}\r")).unwrap();
        self.terminal.flush().unwrap();
    }

    fn runs(&mut self, command: &str) {
        self.commands += 1;
        self.types(command);
    }
}

#[test]
fn two_servers_of_another_program_answer_a_question_after_two_commands() {
    let begun = Instant::now();
    let place = Place::new();
    // As Claude Desktop writes it.
    let desktop = json!({
        "globalShortcut": "Ctrl+Space",
        "mcpServers": { "weather": demo_server(), "places": { "env": { "REGION": "north" }, "command":
            demo_server()["command"], "args": demo_server()["args"] } },
    });
    let applications = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    let file = place.path(applications).join("Claude/claude_desktop_config.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, desktop.to_string()).unwrap();
    let call = |server: &str| mcp_call(server, "weather_query", &json!({ "city": "Oslo" }));
    let replies = [Reply::text(&call("weather")), Reply::text(&call("places")), Reply::text("Take an umbrella.")];
    let endpoint = Endpoint::setup().models(&["small-model"]).start(replies);

    let mut typist = Typist::at(&place, &endpoint.url());
    typist.runs("toolgraft mcp import");
    typist.sees("weather");
    typist.sees("Write 2 servers to ");
    typist.types("y");
    typist.sees("imported 2 servers into ");
    typist.sees("$ ");
    typist.runs("toolgraft chat 'Umbrella in Oslo?'");
    for server in ["weather", "places"] {
        typist.sees(&format!("Run {server}.weather_query {{\"city\":\"Oslo\"}}? [y/a/n] "));
        typist.types("y");
    }
    typist.sees("Take an umbrella.");
    typist.sees("$ ");
    // Two commands, and `y` once for the import and once for each call.
    assert_eq!((typist.commands, typist.keys), (2, 62));
    assert!(endpoint.seen().last().unwrap().question().contains("weather_query"), "the model got the results");
    let took = begun.elapsed();
    // A shell that is left alone does not end by the signal that it gets then.
    typist.terminal.send("exit\r").unwrap();
    typist.terminal.flush().unwrap();
    typist.terminal.exp_eof().unwrap();
    // Past the capture of the test harness.
    let _ = writeln!(stderr(), "note: {} commands, {} keys, {:.1?}", typist.commands, typist.keys, took);
}
