//! `tools`, `call` and `read` against the demonstration server and against
//! servers that misbehave. Needs no network; the misbehaving ones are shell scripts.

use std::fs;

use crate::process::{Place, answering_server, demo_server};
use serde_json::json;

/// With the demonstration server in the user's own configuration.
fn with_demo() -> Place {
    let place = Place::new();
    let config = json!({ "mcpServers": { "demo": demo_server() } }).to_string();
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(".config/toolgraft/mcp.json", config);
    place
}

#[test]
fn tools_are_listed_with_resources_and_templates() {
    let run = with_demo().run(&["mcp", "tools"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for text in [
        "demo  ready in", "MCP 2026-07-28", "weather_query(city, date?)", "tools (3)", "resources (1)",
        "demo://cities", "demo://city/{name}", "prompts (1)", "trip(city, date?)",
    ] {
        assert!(run.out.contains(text), "{text}: {run:?}");
    }
    assert!(!run.out.contains('\u{1b}'), "a pipe gets no colours: {run:?}");
}

#[test]
fn tools_as_json_carry_states_and_schemas() {
    let listed = with_demo().run(&["mcp", "tools", "--json"]).json();
    let server = &listed["servers"][0];
    assert_eq!((&server["name"], &server["state"]), (&json!("demo"), &json!("ready")));
    assert_eq!(server["server_name"], "toolgraft-demo");
    assert!(server["connect_ms"].is_u64());
    assert!(server["instructions"].as_str().unwrap().contains("made up"));
    let weather = server["tools"].as_array().unwrap().iter().find(|t| t["name"] == "weather_query").unwrap();
    assert_eq!(weather["inputSchema"]["required"], json!(["city"]));
    assert_eq!(weather["annotations"]["readOnlyHint"], true);
    assert_eq!(server["resourceTemplates"][0]["uriTemplate"], "demo://city/{name}");
}

#[test]
fn a_check_reports_every_server_as_a_table_and_as_json() {
    let place = Place::new();
    let mut twin = demo_server();
    twin["disabledTools"] = json!(["time_*"]);
    place.servers(json!({ "demo": demo_server(), "twin": twin, "gone": { "command": "toolgraft-no-such-program" } }));
    let run = place.run(&["mcp", "check", "--mcp-config", "mcp.json"]);
    run.fails_with(1, &["server \"gone\" failed", "not found in PATH"]);
    let lines: Vec<&str> = run.out.lines().collect();
    let starts = |n: usize, text: &str| assert!(lines[n].starts_with(text), "{text}: {run:?}");
    starts(0, "server  state   ready in  MCP         tools  schema bytes  prompt tokens");
    starts(1, "demo    ready   ");
    starts(2, "twin    ready   ");
    starts(3, "gone    failed  -         -               -");
    starts(4, "total");
    for warning in
        ["warning: twin: 1 tool is disabled", "warning: demo: weather_query: twin has a tool of this name too"]
    {
        assert!(run.out.contains(warning), "{warning}: {run:?}");
    }
    assert!(!run.out.contains("demo: time_query"), "{run:?}");

    let run = place.run(&["mcp", "check", "--mcp-config", "mcp.json", "--json"]);
    assert_eq!(run.code, Some(1));
    let report = run.json();
    let demo = &report["servers"][0];
    assert_eq!((&demo["state"], &demo["tools"], &demo["prompts"]), (&json!("ready"), &json!(3), &json!(1)));
    assert_eq!((&demo["resources"], &demo["protocol_version"]), (&json!(2), &json!("2026-07-28")));
    assert!(demo["schema_bytes"].as_u64().unwrap() > 300 && demo["prompt_tokens"].as_u64().unwrap() > 50, "{demo}");
    assert!(demo["connect_ms"].is_u64());
    assert_eq!(report["total"]["servers"], json!({ "ready": 2, "failed": 1 }));
    assert_eq!(report["total"]["tools"], 5);

    let run = place.run(&["mcp", "check", "--mcp-config", "mcp.json", "--tools", "demo.weather_*", "--json"]);
    assert_eq!(run.json()["total"]["tools"], 1);
}

#[test]
fn a_tool_is_called_from_every_source_of_arguments() {
    let place = with_demo();
    place.write("args.json", "{ \"city\": \"杭州\", \"date\": \"2026-05-01\" }");
    let expected = "杭州, 2026-05-01: ";
    let inline = place.run(&["mcp", "call", "demo", "weather_query", r#"{ "city": "杭州", "date": "2026-05-01" }"#]);
    assert!(inline.code == Some(0) && inline.out.starts_with(expected), "{inline:?}");
    let file = place.run(&["mcp", "call", "demo", "weather_query", "@args.json"]);
    assert_eq!(file.out, inline.out);
    let piped = place.run_with(&["mcp", "call", "demo", "weather_query", "-"], |c| {
        c.write_stdin(fs::read(place.path("args.json")).unwrap())
    });
    assert_eq!(piped.out, inline.out);
}

#[test]
fn a_call_as_json_has_the_whole_outcome() {
    let place = with_demo();
    let outcome = place.run(&["mcp", "call", "demo", "time_query", r#"{"date":"2026-12-25"}"#, "--json"]).json();
    assert_eq!(
        (&outcome["server"], &outcome["tool"], &outcome["status"]),
        (&json!("demo"), &json!("time_query"), &json!("result"))
    );
    assert_eq!(outcome["structured"]["kind"], "holiday");
    assert_eq!(outcome["structured"]["weekday"], "Friday");
    assert!(outcome["took"].is_number());
}

#[test]
fn a_call_without_arguments_sends_an_empty_object() {
    let run = with_demo().run(&["mcp", "call", "demo", "location_query"]);
    assert!(run.out.starts_with("Hangzhou"), "{run:?}");
}

#[test]
fn an_error_of_the_tool_is_a_failed_job() {
    let place = with_demo();
    place
        .run(&["mcp", "call", "demo", "weather_query", r#"{"city":"Oslo","date":"soon"}"#])
        .fails_with(1, &["YYYY-MM-DD"]);
    place.run(&["mcp", "call", "demo", "weather_query", "{}"]).fails_with(1, &["city"]);
    place.run(&["mcp", "call", "demo", "weather_query"]).refuses(2, "a required parameter is missing: city");
    let run = place.run(&["mcp", "call", "demo", "weather_query", r#"{"city":"Oslo","date":"soon"}"#, "--json"]);
    assert_eq!((run.code, &run.json()["status"]), (Some(1), &json!("tool_error")));
}

#[test]
fn unknown_names_are_answered_with_near_ones() {
    let place = with_demo();
    place.run(&["mcp", "call", "demo", "wether_query"]).fails_with(2, &["wether_query", "nearest: weather_query"]);
    place.run(&["mcp", "call", "dem", "weather_query"]).fails_with(2, &["no server \"dem\"", "there are: demo"]);
    place.run(&["mcp", "call", "demo.weather_query", "city=Oslo"]).fails_with(2, &["apart: demo weather_query"]);
    place.run(&["mcp", "read", "dem", "demo://cities"]).fails_with(2, &["no server \"dem\""]);
}

#[test]
fn arguments_that_are_no_object_are_refused_with_their_place() {
    let place = with_demo();
    place.run(&["mcp", "call", "demo", "time_query", "[1]"]).fails_with(2, &["found an array"]);
    place
        .run(&["mcp", "call", "demo", "time_query", "{\"date\":\n nope}"])
        .fails_with(2, &["the arguments:2:3: this word is not a JSON value"]);
    place.write("bad.json", "{\n  \"a\" 1 }");
    place.run(&["mcp", "call", "demo", "time_query", "@bad.json"]).fails_with(2, &["bad.json:2:7"]);
    place.run(&["mcp", "call", "demo", "time_query", "@none.json"]).fails_with(2, &["cannot read none.json"]);
    let word = "\"today\" is neither NAME=VALUE nor a JSON object: if it is a value, name its parameter (NAME=today)";
    place.run(&["mcp", "call", "demo", "time_query", "today"]).fails_with(2, &[word]);
}

#[test]
fn an_error_of_several_lines_is_one_error() {
    let place = Place::new();
    let result =
        json!({ "isError": true, "content": [{ "type": "text", "text": "1 problem\ntimezone\n  is missing" }] });
    let tools = json!({ "tools": [{ "name": "now", "inputSchema": { "type": "object" } }] });
    place.servers(json!({ "clock": answering_server(&json!({ "tools/list": tools, "tools/call": result })) }));
    let run = place.run(&["mcp", "call", "--mcp-config", "mcp.json", "clock", "now"]);
    assert_eq!((run.code, run.err.as_str()), (Some(1), "error: 1 problem\n  timezone\n    is missing\n"));
}

#[test]
fn resources_and_templates_are_read() {
    let place = with_demo();
    let cities = place.run(&["mcp", "read", "demo", "demo://cities"]);
    assert!(cities.out.contains("New York, United States"), "{cities:?}");
    let city = place.run(&["mcp", "read", "demo", "demo://city/New York", "--json"]).json();
    assert_eq!(city["uri"], "demo://city/New York");
    assert!(city["text"].as_str().unwrap().contains("-74.01"), "{city}");
    place.run(&["mcp", "read", "demo", "demo://nothing"]).fails_with(1, &["demo://cities", "server \"demo\""]);
}

#[test]
fn without_a_configuration_the_places_that_were_looked_at_are_named() {
    Place::new().run(&["mcp", "tools"]).fails_with(2, &[".mcp.json", ".config/toolgraft/mcp.json", "--mcp-config"]);
}

#[test]
fn the_home_configuration_is_used_when_there_is_no_local_one() {
    let place = Place::new();
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(".config/toolgraft/mcp.json", json!({ "servers": { "home": demo_server() } }).to_string());
    assert!(place.run(&["mcp", "tools"]).out.contains("home  ready"));
    place.write(".mcp.json", json!({ "mcpServers": { "local": demo_server() } }).to_string());
    place.run(&["mcp", "trust", "--yes"]).ok();
    let run = place.run(&["mcp", "tools"]);
    assert!(run.out.contains("local  ready") && !run.out.contains("home"), "{run:?}");
}

#[test]
fn several_files_are_merged_in_order_with_a_note() {
    let place = Place::new();
    place.write("a.json", json!({ "mcpServers": { "x": { "command": "nope" }, "y": demo_server() } }).to_string());
    place.write("b.json", json!({ "mcpServers": { "x": demo_server() } }).to_string());
    let run = place.run(&["mcp", "tools", "--mcp-config", "a.json", "--mcp-config", "b.json", "--json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("server \"x\" of a.json:1:") && run.err.contains("b.json"), "{run:?}");
}

#[test]
fn a_file_that_is_no_configuration_is_refused_with_its_place() {
    let place = Place::new();
    for (name, content, expected) in [
        ("syntax.json", &b"{\n  \"mcpServers\": {\n    \"a\" { }\n"[..], "syntax.json:3:9"),
        ("empty.json", b"", "empty.json is empty"),
        ("other.json", b"{ \"a\": 1 }", "mcpServers"),
        ("latin1.json", b"{\n \"\xe9\": 1 }", "latin1.json:2:3"),
    ] {
        place.write(name, content);
        for command in [&["mcp", "tools"][..], &["mcp", "call", "s", "t"], &["mcp", "read", "s", "u"]] {
            place.run(&[command, &["--mcp-config", name]].concat()).fails_with(2, &[expected]);
        }
    }
    fs::create_dir(place.path("folder")).unwrap();
    place.run(&["mcp", "tools", "--mcp-config", "folder"]).fails_with(2, &["folder is a directory"]);
    place.run(&["mcp", "tools", "--mcp-config", "none.json"]).fails_with(2, &["cannot read none.json"]);
}

#[test]
fn comments_and_trailing_commas_are_allowed() {
    let place = Place::new();
    place.write("mcp.json", format!("{{ // mine\n \"mcpServers\": {{ /* one */ \"demo\": {}, }}, }}", demo_server()));
    assert_eq!(place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]).code, Some(0));
}

#[test]
fn an_unset_variable_is_named_with_server_and_key_and_the_others_work() {
    let place = Place::new();
    let mut needs = demo_server();
    needs["env"] = json!({ "API_KEY": "${TOOLGRAFT_TEST_UNSET}" });
    place.servers(json!({ "good": demo_server(), "needs": needs }));
    let config = ["--mcp-config", "mcp.json"];
    let expected = ["mcp.json:1:", "\"needs\"", "env.API_KEY", "TOOLGRAFT_TEST_UNSET is not set"];
    let run = place.run(&[&["mcp", "tools"][..], &config].concat());
    run.fails_with(2, &expected);
    assert!(run.out.contains("good  ready") && run.out.contains("needs  misconfigured"), "{run:?}");
    place.run(&[&["mcp", "call", "needs", "time_query"][..], &config].concat()).fails_with(2, &expected);
    let run = place.run(&[&["mcp", "call", "good", "time_query"][..], &config].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = place.run_with(&[&["mcp", "tools"][..], &config].concat(), |c| c.env("TOOLGRAFT_TEST_UNSET", "1"));
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn a_disabled_server_is_not_started_and_is_no_failure() {
    let place = Place::new();
    place.servers(json!({ "off": { "command": "nope", "disabled": true }, "on": demo_server() }));
    let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]);
    assert!(run.code == Some(0) && run.out.contains("off  disabled"), "{run:?}");
    place.run(&["mcp", "call", "off", "x", "--mcp-config", "mcp.json"]).fails_with(2, &["disabled", "mcp.json:1:"]);
}

#[test]
fn one_broken_server_leaves_the_other_working() {
    let place = Place::new();
    place.servers(json!({ "bad": { "command": "toolgraft-no-such-program" }, "good": demo_server(), "other": { "type": "pigeon", "url": "http://127.0.0.1:9/" } }));
    let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]);
    run.fails_with(2, &["\"bad\"", "not found in PATH", "\"other\"", "not a transport"]);
    assert!(run.out.contains("good  ready"), "{run:?}");
    let run = place.run(&["mcp", "call", "good", "location_query", "--mcp-config", "mcp.json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    place
        .run(&["mcp", "call", "bad", "x", "--mcp-config", "mcp.json"])
        .fails_with(1, &["\"bad\"", "not found in PATH"]);
    place.servers(json!({ "bad": { "command": "toolgraft-no-such-program" } }));
    place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]).fails_with(1, &["not found in PATH"]);
}

#[test]
fn help_shows_an_example() {
    for command in [&["mcp", "tools"][..], &["mcp", "call"], &["mcp", "read"], &["mcp", "check"]] {
        let run = Place::new().run(&[command, &["--help"]].concat());
        assert!(run.code == Some(0) && run.out.contains("Examples:") && run.out.contains("--mcp-config"), "{run:?}");
    }
    assert!(!Place::new().run(&["--help"]).out.contains("demo-server"));
}

/// An HTTP server that gives every request one answer and hands over what it was sent.
fn http_server(answer: impl Into<String>) -> (String, std::sync::mpsc::Receiver<String>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (send, received) = std::sync::mpsc::channel();
    let answer = answer.into();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 8192];
            let read = stream.read(&mut buffer).unwrap_or(0);
            let _ = send.send(String::from_utf8_lossy(&buffer[..read]).into_owned());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (url, received)
}

fn http_answer(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n")
}

#[test]
fn http_failures_name_server_url_and_remedy() {
    let place = Place::new();
    for (status, headers, expected) in [
        (
            "401 Unauthorized",
            "WWW-Authenticate: Bearer realm=\"x\"\r\n",
            "a login is required: run `toolgraft mcp login web`",
        ),
        ("401 Unauthorized", "", "a login is required: run `toolgraft mcp login web`"),
        ("404 Not Found", "", "check the URL's path"),
        ("200 OK", "Content-Type: text/html\r\n", "not MCP (content type text/html)"),
        ("503 Service Unavailable", "", "HTTP 503"),
    ] {
        let (url, _received) = http_server(http_answer(status, headers));
        place.servers(json!({ "web": { "url": format!("{url}?key=s3cret"), "headers": { "X-Key": "s3cret" } } }));
        let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]);
        run.fails_with(1, &["server \"web\"", &url, expected]);
        assert!(!format!("{run:?}").contains("s3cret"), "{run:?}");
    }
    place.servers(json!({ "web": { "url": "http://127.0.0.1:9/mcp" } }));
    place
        .run(&["mcp", "tools", "--mcp-config", "mcp.json"])
        .fails_with(1, &["cannot connect", "http://127.0.0.1:9/mcp"]);
}

#[test]
fn headers_are_sent_and_never_follow_a_redirect_to_a_stranger() {
    let place = Place::new();
    let (stranger, stolen) = http_server(http_answer("404 Not Found", ""));
    let redirect = http_answer("307 Temporary Redirect", &format!("Location: {stranger}\r\n"));
    let (url, received) = http_server(redirect);
    place.servers(json!({ "web": { "url": url, "headers": { "X-Key": "${KEY}" } } }));
    let run = place.run_with(&["mcp", "tools", "--mcp-config", "mcp.json"], |c| c.env("KEY", "s3cret"));
    run.fails_with(1, &["redirects to another origin"]);
    assert!(received.recv().unwrap().contains("x-key: s3cret"));
    assert!(stolen.try_recv().is_err());
}

#[cfg(unix)]
mod misbehaving {
    use std::time::{Duration, Instant};

    use serde_json::Value;
    use toolgraft::outcome::Status;
    use toolgraft::route::{Invocation, Toolbox};
    use toolgraft_mcp::{Config, Hub, ServerConfig, ServerState};

    use super::*;
    use crate::process::{Run, TOOLGRAFT};

    /// A server in shell: answers the handshake and `tools/list`, then does `on_call`.
    fn script(on_start: &str, tools: &str, on_call: &str) -> String {
        format!(
            r#"{on_start}
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
  case "$line" in
    *'"initialize"'*) answer '{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"script","version":"1"}}}}' ;;
    *'"tools/list"'*) answer '{tools}' ;;
    *'"tools/call"'*) {on_call} ;;
    *'"server/discover"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"Method not found"}}}}\n' "$id" ;;
  esac
done"#
        )
    }

    const ONE_TOOL: &str = r#"{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}"#;

    fn sh(script: &str) -> Value {
        json!({ "command": "sh", "args": ["-c", script] })
    }

    fn tools(server: Value) -> Run {
        let place = Place::new();
        place.servers(json!({ "s": server }));
        place.run(&["mcp", "tools", "--mcp-config", "mcp.json"])
    }

    fn call(server: Value) -> Run {
        let place = Place::new();
        place.servers(json!({ "s": server }));
        place.run(&["mcp", "call", "s", "work", "--mcp-config", "mcp.json"])
    }

    #[test]
    fn a_server_that_exits_at_once_shows_its_status_and_the_end_of_its_stderr() {
        let run = tools(sh("echo 'cannot open the database' >&2; exit 3"));
        run.fails_with(1, &["server \"s\"", "exit status: 3", "cannot open the database"]);
    }

    #[test]
    fn only_the_end_of_a_long_stderr_is_kept() {
        let run = tools(sh("i=0; while [ $i -lt 3000 ]; do echo \"line $i of many\" >&2; i=$((i+1)); done; exit 1"));
        run.fails_with(1, &["line 2999 of many"]);
        assert!(!run.err.contains("line 2000 of many") && run.err.len() < 8_000, "{run:?}");
    }

    #[test]
    fn a_server_that_never_answers_is_given_up() {
        let mut server = sh("echo starting >&2; exec sleep 600");
        server["connectTimeout"] = json!(0.5);
        tools(server).fails_with(1, &["no answer to `initialize` within 0.5 s", "starting"]);
    }

    #[test]
    fn a_call_that_is_not_answered_times_out_and_is_cancelled_at_the_server() {
        let place = Place::new();
        let log = place.path("log");
        let mut server =
            sh(&script("", ONE_TOOL, ":").replace("do\n", &format!("do\n  echo \"$line\" >> '{}'\n", log.display())));
        server["timeout"] = json!(0.5);
        place.servers(json!({ "s": server }));
        let run = place.run(&["mcp", "call", "s", "work", "--mcp-config", "mcp.json", "--json"]);
        assert_eq!((run.code, &run.json()["status"]), (Some(1), &json!("timed_out")), "{run:?}");
        let received = fs::read_to_string(log).unwrap();
        assert!(received.contains("notifications/cancelled"), "{received}");
    }

    #[test]
    fn a_server_that_dies_in_a_call_is_an_error_with_its_last_words() {
        let run = call(sh(&script("", ONE_TOOL, "echo 'fatal: out of luck' >&2; exit 7")));
        run.fails_with(1, &["server \"s\"", "\"work\"", "exit status: 7", "fatal: out of luck"]);
    }

    #[test]
    fn a_server_that_is_killed_in_a_call_is_an_error() {
        call(sh(&script("", ONE_TOOL, "kill -9 $$"))).fails_with(1, &["server \"s\"", "signal: 9"]);
    }

    #[test]
    fn a_banner_and_other_noise_on_stdout_do_no_harm() {
        let answer = r#"echo 'thinking...'; answer '{"content":[{"type":"text","text":"fine"}]}'"#;
        let run = call(sh(&script("echo '*** Welcome ***'; echo; printf '\\377\\376\\n'", ONE_TOOL, answer)));
        assert_eq!((run.code, run.out.as_str()), (Some(0), "fine\n"), "{run:?}");
    }

    #[test]
    fn one_malformed_tool_is_left_out_by_name() {
        let tools_answer = r#"{"tools":[{"name":"broken","inputSchema":"none"},{"name":"work"}]}"#;
        let run = tools(sh(&script("", tools_answer, ":")));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.out.contains("tools (1)") && run.out.contains("note: the tool \"broken\" is left out"), "{run:?}");
    }

    #[test]
    fn a_list_without_an_end_is_given_up() {
        let endless = r#"{"tools":[{"name":"work"}],"nextCursor":"again"}"#;
        tools(sh(&script("", endless, ":"))).fails_with(1, &["tools/list", "nextCursor \"again\" came twice"]);
    }

    #[test]
    fn a_server_without_resources_says_so_when_one_is_read() {
        let refuse = r#"*'"resources/read"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id" ;;"#;
        let script = script("", ONE_TOOL, ":").replace("  esac", &format!("    {refuse}\n  esac"));
        let place = Place::new();
        place.servers(json!({ "s": sh(&script) }));
        place
            .run(&["mcp", "read", "s", "a:b", "--mcp-config", "mcp.json"])
            .fails_with(1, &["server \"s\" has no resources"]);
    }

    #[test]
    fn an_unknown_kind_of_content_becomes_a_note() {
        let answer = r#"answer '{"content":[{"type":"hologram","size":3},{"type":"text","text":"and text"}]}'"#;
        let run = call(sh(&script("", ONE_TOOL, answer)));
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.out.contains("unknown kind \"hologram\"") && run.out.contains("and text"), "{run:?}");
    }

    #[test]
    fn a_server_gets_the_allowed_variables_and_its_own() {
        let answer =
            r#"answer "{\"content\":[{\"type\":\"text\",\"text\":\"[$TOOLGRAFT_PRIVATE][$OWN][$${PATH:+path}]\"}]}""#;
        let mut server = sh(&script("", ONE_TOOL, answer));
        server["env"] = json!({ "OWN": "${TOOLGRAFT_PRIVATE}!" });
        let place = Place::new();
        place.servers(json!({ "s": server }));
        let run = place.run_with(&["mcp", "call", "s", "work", "--mcp-config", "mcp.json"], |c| {
            c.env("TOOLGRAFT_PRIVATE", "mine")
        });
        assert_eq!(run.out, "[][mine!][path]\n", "{run:?}");
    }

    #[test]
    fn a_servers_secrets_are_not_in_our_messages() {
        let mut server = sh("exit 1");
        server["env"] = json!({ "KEY": "${KEY}" });
        server["args"].as_array_mut().unwrap().push(json!("--token=${KEY}"));
        let place = Place::new();
        place.servers(json!({ "s": server, "t": { "command": "toolgraft-no-such-program", "args": ["${KEY}"] } }));
        for args in [&["mcp", "tools"][..], &["mcp", "tools", "--json"], &["mcp", "call", "s", "work"]] {
            let run = place.run_with(&[args, &["--mcp-config", "mcp.json"]].concat(), |c| c.env("KEY", "s3cret"));
            assert_eq!(run.code, Some(1), "{run:?}");
            assert!(!format!("{run:?}").contains("s3cret"), "{run:?}");
        }
    }

    #[test]
    fn terminal_commands_in_a_listing_are_not_passed_on() {
        let tools_answer = r#"{"tools":[{"name":"work","description":"red \u001b[31m text"}]}"#;
        let run = tools(sh(&script("", tools_answer, ":").replace("printf '{", "printf '%s' ''; printf '{")));
        assert!(run.code == Some(0) && !run.out.contains('\u{1b}') && run.out.contains("red ␛[31m text"), "{run:?}");
    }

    /// Returns `true` if a process whose command line has this text still runs; its arguments are separated by NUL.
    #[cfg(target_os = "linux")]
    fn is_running(text: &str) -> bool {
        fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit())
                && String::from_utf8_lossy(&command).contains(text)
        })
    }

    #[cfg(target_os = "linux")]
    fn eventually(what: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if what() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// A duration for `sleep` that no other process on this machine sleeps for.
    #[cfg(target_os = "linux")]
    fn unique(number: u32) -> String {
        format!("{}.{number}", 1_000_000 + std::process::id())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_left_after_not_even_a_grandchild_or_one_that_ignores_term() {
        let mark = unique(1);
        let place = Place::new();
        place.servers(json!({
            "grandchild": sh(&script(&format!("sleep {mark} & sh -c 'sleep {mark}; true' &"), ONE_TOOL, ":")),
            "stubborn": sh(&format!("trap '' TERM\n{}\nsleep {mark}; sleep {mark}", script("", ONE_TOOL, ":"))),
            "silent": { "command": "sh", "args": ["-c", format!("sleep {mark}; true")], "connectTimeout": 0.5 },
            "exits": sh(&format!("sleep {mark} & exit 1")),
        }));
        let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]);
        run.fails_with(
            1,
            &["server \"exits\" failed: it closed the connection before the handshake", "exit status: 1"],
        );
        assert!(run.out.contains("grandchild  ready") && run.out.contains("stubborn  ready"), "{run:?}");
        assert!(!is_running(&mark), "right after the command has ended");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn signals_end_the_command_and_its_servers() {
        use std::os::unix::process::ExitStatusExt;

        for (signal, number) in [("TERM", 2), ("INT", 3)] {
            let mark = unique(number);
            let place = Place::new();
            place.servers(json!({ "s": sh(&script("", ONE_TOOL, &format!("sleep {mark}"))) }));
            let mut command = std::process::Command::new(TOOLGRAFT);
            command.args(["mcp", "call", "s", "work", "--mcp-config", "mcp.json"]).current_dir(place.dir.path());
            let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
            // The script of the server holds the mark too, but not as an argument of its own.
            assert!(eventually(|| is_running(&format!("sleep\0{mark}"))), "the call has begun");
            let kill = format!("kill -{signal} {}", child.id());
            assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
            let status = child.wait().unwrap();
            // What INT stops ends by it.
            let expected = if signal == "INT" { (Some(2), None) } else { (None, Some(1)) };
            assert_eq!((status.signal(), status.code()), expected, "SIG{signal}");
            assert!(!is_running(&mark), "SIG{signal}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_signal_during_the_start_ends_the_servers_too() {
        let mark = unique(4);
        let place = Place::new();
        place.servers(json!({ "silent": { "command": "sh", "args": ["-c", format!("sleep {mark}; true")] } }));
        let mut command = std::process::Command::new(TOOLGRAFT);
        command.args(["mcp", "tools", "--mcp-config", "mcp.json"]).current_dir(place.dir.path());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        assert!(eventually(|| is_running(&format!("sleep\0{mark}"))), "the server has begun");
        let kill = format!("kill -TERM {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(1));
        // They were killed, and nobody waited for that.
        assert!(eventually(|| !is_running(&mark)));
    }

    async fn hub(servers: impl IntoIterator<Item = ServerConfig>) -> Hub {
        Hub::builder().config(Config::from_iter(servers)).inherit_env().connect().await.unwrap()
    }

    fn server(name: &str, script: &str) -> ServerConfig {
        ServerConfig::stdio(name, "sh", ["-c", script])
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dropped_call_is_cancelled_at_the_server() {
        let place = Place::new();
        let log = place.path("log");
        let script =
            script("", ONE_TOOL, ":").replace("do\n", &format!("do\n  echo \"$line\" >> '{}'\n", log.display()));
        let hub = hub([server("s", &script)]).await;
        let called = || fs::read_to_string(&log).unwrap_or_default();
        {
            let call = hub.call(Invocation::new("work"));
            tokio::select! {
                outcome = call => panic!("{outcome:?}"),
                () = async { while !called().contains("tools/call") { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
            }
        }
        let start = Instant::now();
        while !called().contains("notifications/cancelled") && start.elapsed() < Duration::from_secs(20) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(called().contains("notifications/cancelled"), "{}", called());
        hub.shutdown().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dead_server_shows_as_such_and_the_other_still_answers() {
        let demo = ServerConfig::stdio("demo", TOOLGRAFT, ["demo-server"]);
        let dies = server("dies", &script("", ONE_TOOL, "exit 1"));
        let hub = hub([dies, demo]).await;
        let states = || hub.servers().iter().map(|s| s.state).collect::<Vec<_>>();
        assert_eq!(states(), [ServerState::Ready, ServerState::Ready]);
        for _ in 0..2 {
            let outcome = hub.call(Invocation::new("work")).await;
            assert_eq!(outcome.status, Status::ToolError, "{outcome:?}");
        }
        assert_eq!(states(), [ServerState::Backoff, ServerState::Ready]);
        assert!(hub.call(Invocation::new("location_query").with_server("demo")).await.is_result());
        hub.shutdown().await;
        assert_eq!(hub.call(Invocation::new("location_query")).await.status, Status::ToolError);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn calls_run_side_by_side_and_all_are_answered() {
        let hub = hub([ServerConfig::stdio("demo", TOOLGRAFT, ["demo-server"])]).await;
        let city = |n: usize| format!("City{n}");
        let calls =
            (0..100).map(|n| hub.call(Invocation::new("weather_query").with_arguments(json!({ "city": city(n) }))));
        let outcomes = futures::future::join_all(calls).await;
        for (n, outcome) in outcomes.iter().enumerate() {
            assert!(outcome.is_result() && outcome.text.starts_with(&format!("{},", city(n))), "{outcome:?}");
        }
        hub.shutdown().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_resource_without_a_server_is_read_from_the_one_that_has_it() {
        let demo = ServerConfig::stdio("demo", TOOLGRAFT, ["demo-server"]);
        let hub = hub([server("plain", &script("", ONE_TOOL, ":")), demo]).await;
        let read = |uri: &str| Invocation::new("access_mcp_resource").with_arguments(json!({ "uri": uri }));
        assert!(hub.call(read("demo://cities")).await.text.contains("Hangzhou"));
        assert!(hub.call(read("demo://city/Oslo").with_server("unknown")).await.text.contains("Norway"));
        let outcome = hub.call(Invocation::new("access_mcp_resource")).await;
        assert!(outcome.text.contains("\"uri\""), "{outcome:?}");
        hub.shutdown().await;
    }
}

#[test]
fn the_demo_server_says_who_starts_it() {
    let run = Place::new().run_with(&["demo-server"], |c| c.write_stdin(""));
    run.fails_with(1, &["started by one"]);
}
