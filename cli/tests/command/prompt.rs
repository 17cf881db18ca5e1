//! `toolgraft prompt` on the built program.

use std::fs;
use std::path::PathBuf;

use crate::process::Run;
use serde_json::json;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/tools/{name}.json", crate::process::ROOT)
}

/// A folder in which `toolgraft prompt` runs.
struct Place(crate::process::Place);

impl Place {
    fn new() -> Self {
        Place(crate::process::Place::new())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.0.write(name, content)
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_with_input(args, "")
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        self.0.run_with(&[&["prompt"], args].concat(), |command| command.write_stdin(input))
    }
}

#[test]
fn each_dialect_and_language_is_printed_with_its_size() {
    let place = Place::new();
    for (dialect, sign) in [
        ("use_mcp_tool", "<tool_name>get_current_time</tool_name>"),
        ("tool_tag", "<get_current_time>\n<timezone>Pacific/Apia</timezone>"),
        ("type_marker", "TYPE: MCP\n{\"tool_name\": \"get_current_time\""),
    ] {
        for (lang, heading) in [("en", "# Rules"), ("zh", "# 规则")] {
            let run = place
                .run(&["--tool-file", &fixture("time"), "--set", &format!("dialect={dialect}"), "--lang", lang])
                .ok();
            assert!(run.out.contains(sign) && run.out.contains(heading), "{run:?}");
            let (tokens, rest) = run.err.split_once(' ').unwrap();
            assert!((300..900).contains(&tokens.parse::<usize>().unwrap()), "{run:?}");
            assert_eq!(rest, "tokens (o200k), 2 tools, style full, goes into the system message (profile default)\n");
        }
    }
}

#[test]
fn a_way_to_calls_in_the_prompt_is_taught_whatever_was_found_for_the_model() {
    let place = Place::new();
    fs::create_dir_all(place.0.path(".config/toolgraft")).unwrap();
    for (settings, is_native) in [("", true), ("way = \"measured\"\n", false), ("dialect = \"tool_tag\"\n", false)] {
        let probed = "[[probed]]\nname = \"m\"\ntools_mode = \"native\"\n";
        place.write(".config/toolgraft/config.toml", format!("{settings}{probed}"));
        let run = place.run(&["--tool-file", &fixture("time"), "--model", "m"]).ok();
        assert_eq!(run.err.contains("and does not send this text"), is_native, "{settings}: {run:?}");
    }
}

#[test]
fn the_models_profile_decides_dialect_and_placement() {
    let place = Place::new();
    let model = |model| place.run(&["--tool-file", &fixture("time"), "--json", "--model", model]).ok().json();
    let r1 = model("deepseek-r1:14b");
    assert_eq!(
        [&r1["profile"], &r1["dialect"], &r1["placement"]],
        [&json!("deepseek-r1"), &json!("type_marker"), &json!("user")]
    );
    assert_eq!(model("MiroThinker-v1.5")["dialect"], "use_mcp_tool");
    let run = place.run(&["--tool-file", &fixture("time"), "--model", "deepseek-r1", "--set", "dialect=tool_tag"]).ok();
    assert!(run.out.contains("<get_current_time>"));
    assert!(run.err.contains("in front of the first user message (profile deepseek-r1)"), "{run:?}");
}

#[test]
fn json_holds_the_prompt_and_its_numbers() {
    let place = Place::new();
    let text = place.run(&["--tool-file", &fixture("git")]).ok().out;
    let object = place.run(&["--tool-file", &fixture("git"), "--json"]).ok().json();
    assert_eq!(object["prompt"].as_str().unwrap(), text.trim_end());
    assert_eq!((object["tools"].as_u64(), object["listing"].as_str()), (Some(12), Some("signature")));
    let schema = place.run(&["--tool-file", &fixture("git"), "--json", "--set", "listing=schema"]).ok().json();
    assert!(schema["tokens"].as_u64() > object["tokens"].as_u64());
}

#[test]
fn a_budget_shortens_the_list_and_says_how() {
    let place = Place::new();
    let files = ["filesystem", "git", "memory"].map(fixture);
    let tools: Vec<&str> = files.iter().flat_map(|file| ["--tool-file", file]).collect();
    let with = |args: &[&str]| place.run(&[&tools, args].concat()).ok();
    let run = with(&["--set", "tool_budget=1000", "--set", "listing=schema"]);
    let line = run.err.lines().nth(1).unwrap();
    let (size, counts) = line.strip_prefix("tools: ").and_then(|l| l.split_once(" of 1000 tokens; ")).unwrap();
    assert!((900..=1000).contains(&size.parse::<usize>().unwrap()), "{run:?}");
    assert!(counts.contains("as index (describe_tool gives the rest)"), "{run:?}");
    assert!(run.out.contains("# Tools listed by name") && run.out.contains("- edit_file: "), "{run:?}");
    let object = with(&["--set", "tool_budget=1000", "--json"]).json();
    let listed = &object["listed"];
    assert_eq!((&listed["budget"], listed["tokens"].as_u64() <= Some(1000)), (&json!(1000), true), "{listed}");
    let counts = ["schema", "signature", "brief", "index"].map(|style| listed[style].as_u64().unwrap());
    assert_eq!((counts.iter().sum::<u64>(), counts[0]), (35, 0), "{listed}");
    let generous = with(&["--set", "tool_budget=100000"]);
    assert_eq!(generous.out, with(&[]).out);
    assert!(generous.err.contains("35 as signature\n"), "{generous:?}");
}

#[test]
fn a_budget_that_cannot_be_kept_is_a_warning() {
    let place = Place::new();
    let run = place.run(&["--tool-file", &fixture("git"), "--set", "tool_budget=10"]).ok();
    assert!(
        run.err.contains("warning: the tools take ") && run.err.contains("raise it with --set tool_budget=N"),
        "{run:?}"
    );
    assert!(run.out.contains("Tools that are not listed: 12 (of git)") && run.out.contains("find_tool"), "{run:?}");
}

#[test]
fn a_long_description_is_shortened_unless_it_may_be_of_any_length() {
    let place = Place::new();
    let tool = json!({"name": "echo", "description": format!("{}to the last word", "Says it again. ".repeat(60))});
    place.write("long.json", json!([tool]).to_string());
    for (set, is_whole) in [(&[][..], false), (&["--set", "describe=0"], true)] {
        let run = place.run(&[&["--tool-file", "long.json"], set].concat()).ok();
        assert!(run.out.contains("Says it again.") && run.out.contains("to the last word") == is_whole, "{run:?}");
    }
}

#[test]
fn a_template_replaces_the_system_text() {
    let place = Place::new();
    place.write(
        "my.j2",
        "{{ own }}\n{% for s in servers %}{% for t in s.tools %}[{{ t.name }}]{% endfor %}{% endfor %}\n",
    );
    let run = place.run(&["--tool-file", &fixture("time"), "--set", "prompt=my.j2", "--system", "Hi."]).ok();
    assert_eq!(run.out, "Hi.\n[get_current_time][convert_time]\n");
    let folder = place.0.path("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("rules.j2"), "# Rules\n\n- {% include \"motto.j2\" %}\n").unwrap();
    fs::write(folder.join("motto.j2"), "Be kind in {{ lang }}.").unwrap();
    let run = place.run(&["--tool-file", &fixture("time"), "--set", "prompt=mine"]).ok();
    assert!(run.out.ends_with("# Rules\n\n- Be kind in en.\n") && run.out.contains("# How to call"), "{run:?}");
}

#[test]
fn a_bad_template_is_named_with_line_and_variable() {
    let place = Place::new();
    let with = |source: &str| {
        place.write("my.j2", source);
        place.run(&["--tool-file", &fixture("time"), "--set", "prompt=my.j2"])
    };
    with("Hi\n\n{{ serverz }}").refuses(
        2,
        "my.j2:3: there is no variable `serverz`; there are ambiguous, apart, choice, describe, dialect, displays, example,",
    );
    with("{% if choice == \"named\" %}\n{{ nam }}\n{% endif %}").refuses(2, "my.j2:2: there is no variable `nam`");
    with("{% for s in servers %}\n{{ s.nme }}\n{% endfor %}").refuses(2, "my.j2:2: `s.nme` is not defined");
    with("{{ own.foo.bar }}").refuses(2, "my.j2:1: `own.foo.bar` is not defined: docs/prompt.md lists the fields");
    with("a\n{% if choice %}\n").refuses(2, "my.j2:");
    with("a\n{{ own | shout }}\n").refuses(2, "my.j2:2: ");
    with("{% include \"lising.j2\" %}").refuses(2, "my.j2:1: ");
    with("").refuses(2, "my.j2 is empty");
    place.run(&["--tool-file", &fixture("time"), "--set", "prompt=gone.j2"]).refuses(2, "cannot read gone.j2");
    let folder = place.0.path("mine");
    fs::create_dir(&folder).unwrap();
    let folder_run = || place.run(&["--tool-file", &fixture("time"), "--set", "prompt=mine"]);
    folder_run().refuses(2, "mine: no template in this folder: expected at least one of system.j2, results.j2");
    // What is filled in the middle of a turn is tried at the start.
    fs::write(folder.join("results.j2"), "{% for c in rejected %}\n{{ c.wrong }}\n{% endfor %}").unwrap();
    folder_run().refuses(2, "results.j2:2: `c.wrong` is not defined");
}

#[test]
fn a_time_out_for_servers_that_are_not_started_is_refused() {
    let place = Place::new();
    let run = place.run(&["--tool-file", &fixture("time"), "--server-timeout", "5"]);
    run.refuses(2, "--server-timeout has no effect: with --tool-file no server is started");
}

#[test]
fn own_text_begins_the_prompt() {
    let place = Place::new();
    place.write("persona.txt", "You are a pirate.\n");
    let run = place.run(&["--tool-file", &fixture("time"), "--system", "@persona.txt"]).ok();
    assert!(run.out.starts_with("You are a pirate.\n"), "{run:?}");
}

#[test]
fn tool_files_come_in_several_shapes() {
    let place = Place::new();
    let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
    for (name, content) in [
        ("answer.json", json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}})),
        ("result.json", json!({"tools": [tool]})),
        ("array.json", json!([tool])),
        ("openai.json", json!([{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}])),
        (
            "request.json",
            json!({"tools": [{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}], "messages": []}),
        ),
        ("servers.json", json!([{"name": "s", "tools": [tool]}])),
        ("listed.json", json!({"servers": [{"name": "s", "state": "ready", "tools": [tool]}]})),
    ] {
        place.write(name, content.to_string());
        let run = place.run(&["--tool-file", name]).ok();
        assert!(run.out.contains("\necho()"), "{name}: {run:?}");
    }
    let run = place.run_with_input(&["--tool-file", "-"], &json!([tool]).to_string()).ok();
    assert!(run.out.contains("\necho()"));
    let both = place.run(&["--tool-file", "array.json", "--tool-file", &fixture("time"), "--json"]).ok().json();
    assert_eq!(both["tools"], 3);
    assert_eq!(place.run_with_input(&["--tool-file", "-"], "[]").ok().out, "\n");
}

#[test]
fn a_bad_file_is_named_with_place_and_remedy() {
    let place = Place::new();
    place.write("empty.json", "");
    place.write("broken.json", "{\n  \"tools\": [1,,]\n}");
    place.write("nameless.json", "[\n  {\"description\": \"x\"}\n]");
    place.write("text.json", "{\n \"tools\": [\"echo\"]}");
    place.write("map.json", "{\"tools\": {\"echo\": {}}}");
    place.write("latin.json", b"{\"tools\":\n [\"\xe9\"]}");
    place.write("other.json", "{\"name\": \"x\"}");
    let file = |name: &str| place.run(&["--tool-file", name]);
    file("missing.json").refuses(2, "cannot read missing.json");
    file(".").refuses(2, ". is a directory: name a file in it");
    file("empty.json").refuses(2, "empty.json is empty");
    file("broken.json").refuses(2, "broken.json:2:15: expected a JSON value: fix the JSON there");
    file("nameless.json").refuses(
        2,
        "nameless.json:2:22: a tool or resource here has no `name`; the file may hold a `tools/list` answer",
    );
    file("text.json")
        .refuses(2, "text.json:2:17: found the string \"echo\", expected an object with the tool's `name`");
    file("map.json").refuses(2, "map.json:1:10: found an object, expected a list");
    file("latin.json").refuses(2, "latin.json:2:4: byte 0xe9 is not valid UTF-8");
    place.run_with_input(&["--tool-file", "-"], "").refuses(2, "standard input is empty");
    place.run_with_input(&["--tool-file", "-"], "{").refuses(2, "standard input:1:1: the text ends inside an object");
    place.run_with_input(&["--tool-file", "-"], "\u{feff}[]").ok();
    file("other.json").refuses(2, "other.json: no tools in it");
    place.run(&["--tool-file", &fixture("time"), "--system", "@missing.txt"]).refuses(2, "cannot read missing.txt");
}

#[test]
fn a_bad_flag_is_named_with_what_it_takes() {
    let place = Place::new();
    let with = |args: &[&str]| place.run(&[&["--tool-file", &fixture("time")], args].concat());
    with(&["--set", "dialect=auto"]).refuses(2, "expected one of use_mcp_tool, tool_tag, type_marker");
    with(&["--lang", "fr"]).refuses(2, "one of en, zh");
    with(&["--set", "listing=long"]).refuses(2, "one of `schema`, `signature`, `brief`, `index`");
    with(&["--set", "tool_budget=0"]).refuses(2, "tool_budget: ");
    place.run(&[]).refuses(2, "no configuration of MCP servers");
}

#[test]
fn tools_of_connected_servers_are_listed() {
    let place = Place::new();
    let servers = json!({"mcpServers": {"demo": crate::process::demo_server()}});
    place.write("mcp.json", servers.to_string());
    let run = place.run(&["--mcp-config", "mcp.json"]).ok();
    assert!(run.out.contains("## Server: demo") && run.out.contains("weather_query("), "{run:?}");
    let joined = place.run(&["--mcp-config", "mcp.json", "--tool-file", &fixture("time")]).ok();
    assert!(joined.out.contains("## Server: time") && joined.out.contains("## Server: demo"), "{joined:?}");
}

#[test]
fn a_failed_server_is_reported_and_the_rest_is_printed() {
    let place = Place::new();
    let servers = json!({"mcpServers": {
        "demo": crate::process::demo_server(), "gone": {"command": "./no-such-program"},
    }});
    place.write("mcp.json", servers.to_string());
    let run = place.run(&["--mcp-config", "mcp.json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.out.contains("weather_query(") && run.err.contains("gone"), "{run:?}");
}
