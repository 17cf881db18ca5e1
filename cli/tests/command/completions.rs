//! The completions of a command line that a shell is given.

use crate::process::Place;

/// Returns the completions of the last word, as fish asks for them.
fn completed(place: &Place, words: &[&str]) -> Vec<String> {
    let asked = [&["--", "toolgraft"], words].concat();
    let run = place.run_with(&asked, |command| command.env("TOOLGRAFT_COMPLETE", "fish")).ok();
    run.out.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn names_of_this_machine_are_completed() {
    let place = Place::new();
    for (key, value) in [("endpoints.router.url", "http://127.0.0.1:9/v1"), ("models.r1", "router:deepseek/r1")] {
        place.run(&["config", "set", key, value]).ok();
    }
    let program = env!("CARGO_BIN_EXE_toolgraft");
    let servers = serde_json::json!({"mcpServers": {"weather": {"command": program, "args": ["demo-server"]}}});
    place.write(".config/toolgraft/mcp.json", servers.to_string());
    assert_eq!(completed(&place, &["mcp", "call", "weather", "weather_"]), [""; 0], "it has never run");
    place.run(&["mcp", "tools"]).ok();
    // What a server calls its tool is no command of the shell.
    let known = std::fs::read_to_string(place.path(".local/state/toolgraft/tools.json")).unwrap();
    place.write(
        ".local/state/toolgraft/tools.json",
        known.replace("\"weather_query\"", "\"weather_query\",\"weather_;id\""),
    );
    for (words, wanted) in [
        (&["chat", "-m", "r"][..], &["r1"][..]),
        (&["serve", "--base-url", ""], &["router"]),
        (&["mcp", "call", "wea"], &["weather"]),
        (&["mcp", "login", "wea"], &["weather"]),
        (&["mcp", "call", "weather", "weather_"], &["weather_query"]),
        (&["chat", "--allow", "weather.t"], &["weather.time_query"]),
        (&["config", "set", "base"], &["base_url"]),
        (&["chat", "--set", "way="], &["way=free", "way=measured", "way=auto"]),
        (&["prompt", "--set", "dialect=use"], &["dialect=use_mcp_tool"]),
        (&["comp"], &["completions"]),
    ] {
        assert_eq!(completed(&place, words), wanted, "{words:?}");
    }
}

#[test]
fn each_shell_gets_a_script_that_asks_the_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = Place::new().run(&["completions", shell]).ok();
        assert!(run.out.contains("TOOLGRAFT_COMPLETE") && run.out.contains(shell), "{}", run.out);
    }
    Place::new().run(&["completions", "tcsh"]).refuses(2, "bash, elvish, fish, powershell, zsh");
}
