//! Five MCP servers of other people, listed, called and read through the built program.
//!
//! They need Node, Python and git, and are set up by `make set-up`. `make test`
//! sets `TOOLGRAFT_REAL_SERVERS=1`, with which a missing server is a failure;
//! without it these tests say that they were skipped and pass.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgraft_testkit::real::{self, node, python, wanted};

/// The program with one configuration.
struct Place(crate::process::Place);

impl Place {
    fn new(servers: impl FnOnce(&str) -> Value) -> Self {
        let place = crate::process::Place::new();
        place.servers(servers(place.root().to_str().unwrap()));
        Place(place)
    }

    fn path(&self) -> String {
        self.0.root().display().to_string()
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> String {
        self.0.run_with(args, |c| c.args(["--mcp-config", "mcp.json"])).ok().out
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[args, &["--json"]].concat())).unwrap()
    }

    /// Lists the one server and gives its tools' names.
    #[track_caller]
    fn tools(&self) -> Vec<String> {
        let listed = self.json(&["mcp", "tools"]);
        let server = &listed["servers"][0];
        assert_eq!(server["state"], "ready", "{server}");
        assert!(server["notes"].is_null(), "{server}");
        let version = server["protocol_version"].as_str().unwrap();
        assert!(["2025-11-25", "2026-07-28"].contains(&version), "{version}");
        assert!(server["server_name"].is_string() && server["server_version"].is_string());
        let tools = server["tools"].as_array().unwrap();
        assert!(tools.iter().all(|t| t["inputSchema"].is_object()), "{tools:?}");
        tools.iter().map(|t| t["name"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn call(&self, server: &str, tool: &str, arguments: &Value) -> String {
        self.run(&["mcp", "call", server, tool, &arguments.to_string()])
    }
}

#[track_caller]
fn assert_has(names: &[String], expected: &[&str]) {
    for name in expected {
        assert!(names.iter().any(|n| n == name), "no {name} in {names:?}");
    }
}

/// Checks the answers of server-everything, which are the same for every transport.
fn everything_answers(place: &Place) {
    assert_has(&place.tools(), &["echo", "get-sum", "get-tiny-image", "get-structured-content"]);
    assert_eq!(place.call("everything", "echo", &json!({ "message": "héllo 你好" })), "Echo: héllo 你好\n");
    assert!(place.call("everything", "get-sum", &json!({ "a": 2, "b": 3.5 })).contains("5.5"));
    let image = place.call("everything", "get-tiny-image", &json!({}));
    assert!(image.contains("[image image/png, ") && image.contains(" bytes]"), "{image}");
    let links = place.call("everything", "get-resource-links", &json!({ "count": 2 }));
    assert!(links.contains("[resource text/plain, demo://resource/dynamic/"), "{links}");
    let embedded = place.call("everything", "get-resource-reference", &json!({ "resourceType": "Text" }));
    assert!(embedded.contains("This is a plaintext resource"), "{embedded}");
    let arguments = json!({ "location": "Chicago" }).to_string();
    let outcome = place.json(&["mcp", "call", "everything", "get-structured-content", &arguments]);
    assert_eq!(outcome["status"], "result");
    assert!(outcome["structured"]["temperature"].is_number(), "{outcome}");
    let text = place.run(&["mcp", "read", "everything", "demo://resource/dynamic/text/1"]);
    assert!(text.contains("plaintext resource"), "{text}");
    let blob = place.run(&["mcp", "read", "everything", "demo://resource/dynamic/blob/1"]);
    assert!(blob.contains("demo://resource/dynamic/blob/1, ") && blob.contains("bytes]"), "{blob}");
}

#[test]
fn everything_over_stdio() {
    if !wanted("everything_over_stdio") {
        return;
    }
    let place = Place::new(|_| json!({ "everything": node("everything", &[]) }));
    everything_answers(&place);
    let listed = place.json(&["mcp", "tools"]);
    let server = &listed["servers"][0];
    assert!(!server["resources"].as_array().unwrap().is_empty());
    assert_eq!(server["resourceTemplates"].as_array().unwrap().len(), 2);
    let environment = place.call("everything", "get-env", &json!({}));
    let environment: Value = serde_json::from_str(&environment).unwrap();
    assert!(environment["PATH"].is_string() && environment.get("TOOLGRAFT_REAL_SERVERS").is_none(), "{environment}");
}

#[test]
fn progress_starts_a_calls_time_anew() {
    if !wanted("progress_starts_a_calls_time_anew") {
        return;
    }
    let mut server = node("everything", &[]);
    server["timeout"] = json!(2);
    let place = Place::new(|_| json!({ "everything": server }));
    let arguments = json!({ "duration": 4, "steps": 8 });
    let answer = place.call("everything", "trigger-long-running-operation", &arguments);
    assert!(answer.contains("completed"), "{answer}");
}

/// A process that ends with the test.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Background {
    /// Starts a server and waits until it listens.
    fn listening(command: &mut std::process::Command, port: u16) -> Self {
        let server = Background(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(120), "the server does not listen on port {port}");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn everything_over_legacy_sse() {
    if !wanted("everything_over_legacy_sse") {
        return;
    }
    let script = node("everything", &[])["args"][0].as_str().unwrap().to_owned();
    let port = free_port();
    let mut command = std::process::Command::new("node");
    let _server = Background::listening(command.args([&script, "sse"]).env("PORT", port.to_string()), port);
    let url = format!("http://127.0.0.1:{port}/sse");
    everything_answers(&Place::new(|_| json!({ "everything": { "type": "sse", "url": url } })));
    // The same without a type: streamable HTTP is tried first.
    let place = Place::new(|_| json!({ "everything": { "url": url } }));
    assert_eq!(place.call("everything", "echo", &json!({ "message": "hi" })), "Echo: hi\n");
}

#[test]
fn fastmcp_over_http_and_over_sse() {
    if !wanted("fastmcp_over_http_and_over_sse") {
        return;
    }
    for (transport, path) in [("streamable-http", "mcp"), ("sse", "sse")] {
        let port = free_port();
        let mut command = std::process::Command::new(real::program("venv-v1", "python"));
        command.arg(real::servers().join("fast.py")).args([transport, &port.to_string()]);
        let _server = Background::listening(&mut command, port);
        let place = Place::new(|_| json!({ "fast": { "url": format!("http://127.0.0.1:{port}/{path}") } }));
        assert_has(&place.tools(), &["add", "count"]);
        assert_eq!(place.call("fast", "add", &json!({ "a": 2, "b": 3 })), "5\n", "{transport}");
        assert_eq!(place.call("fast", "count", &json!({ "to": 20 })), "counted\n", "{transport}");
        assert_eq!(place.run(&["mcp", "read", "fast", "fast://ada"]), "this is ada\n", "{transport}");
    }
}

#[test]
fn sqlite() {
    if !wanted("sqlite") {
        return;
    }
    let place = Place::new(|dir| {
        let program = real::program("venv-v1", "mcp-server-sqlite");
        json!({ "sqlite": { "command": program, "args": ["--db-path", format!("{dir}/test.db")], "connectTimeout": 120 } })
    });
    assert_has(&place.tools(), &["create_table", "write_query", "read_query"]);
    place.call("sqlite", "create_table", &json!({ "query": "CREATE TABLE lamps (name TEXT)" }));
    place.call("sqlite", "write_query", &json!({ "query": "INSERT INTO lamps VALUES ('Öl')" }));
    assert!(place.call("sqlite", "read_query", &json!({ "query": "SELECT * FROM lamps" })).contains("Öl"));
    assert!(place.run(&["mcp", "read", "sqlite", "memo://insights"]).contains("insights"));
}

#[test]
fn everything_over_streamable_http() {
    if !wanted("everything_over_streamable_http") {
        return;
    }
    let script = node("everything", &[])["args"][0].as_str().unwrap().to_owned();
    let port = free_port();
    let mut command = std::process::Command::new("node");
    let _server = Background::listening(command.args([&script, "streamableHttp"]).env("PORT", port.to_string()), port);
    let url = format!("http://127.0.0.1:{port}/mcp");
    everything_answers(&Place::new(|_| json!({ "everything": { "type": "streamableHttp", "url": url } })));
}

#[test]
fn filesystem() {
    if !wanted("filesystem") {
        return;
    }
    let place = Place::new(|dir| json!({ "files": node("filesystem", &[dir]) }));
    assert_has(&place.tools(), &["read_text_file", "write_file", "list_directory"]);
    let file = format!("{}/note.txt", place.path());
    let content = "line one\n</content> & <b>two</b>\n第三行\n";
    place.call("files", "write_file", &json!({ "path": file, "content": content }));
    assert_eq!(fs::read_to_string(&file).unwrap(), content);
    assert_eq!(place.call("files", "read_text_file", &json!({ "path": file })), content);
    assert!(place.call("files", "list_directory", &json!({ "path": place.path() })).contains("[FILE] note.txt"));
}

#[test]
fn memory() {
    if !wanted("memory") {
        return;
    }
    let place = Place::new(|dir| {
        let mut server = node("memory", &[]);
        server["env"] = json!({ "MEMORY_FILE_PATH": format!("{dir}/memory.json") });
        json!({ "memory": server })
    });
    assert_has(&place.tools(), &["create_entities", "read_graph", "search_nodes"]);
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["wrote programs"] });
    place.call("memory", "create_entities", &json!({ "entities": [entity] }));
    let graph = place.json(&["mcp", "call", "memory", "read_graph"]);
    assert_eq!(graph["structured"]["entities"][0]["name"], "Ada", "{graph}");
    assert!(place.run(&["mcp", "read", "memory", "memory://knowledge-graph"]).contains("wrote programs"));
}

#[test]
fn time() {
    if !wanted("time") {
        return;
    }
    let place = Place::new(|_| json!({ "time": python("mcp-server-time", &["--local-timezone", "Etc/UTC"]) }));
    assert_has(&place.tools(), &["get_current_time", "convert_time"]);
    let arguments = json!({ "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Shanghai" });
    assert!(place.call("time", "convert_time", &arguments).contains("-1.0h"));
}

#[test]
fn git() {
    if !wanted("git") {
        return;
    }
    let place = Place::new(|dir| json!({ "git": python("mcp-server-git", &["--repository", dir]) }));
    let run = |args: &[&str]| {
        let status = std::process::Command::new("git").args(args).current_dir(place.path()).status().unwrap();
        assert!(status.success(), "git {args:?}");
    };
    run(&["init", "--quiet"]);
    let me = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
    run(&[&me[..], &["commit", "--quiet", "--allow-empty", "--message", "first steps"]].concat());
    assert_has(&place.tools(), &["git_status", "git_log"]);
    let log = place.call("git", "git_log", &json!({ "repo_path": place.path() }));
    assert!(log.contains("first steps") && log.contains("Ada"), "{log}");
}

#[test]
fn five_servers_of_one_configuration_connect_side_by_side() {
    if !wanted("five_servers_of_one_configuration_connect_side_by_side") {
        return;
    }
    let place = Place::new(|dir| {
        json!({
            "everything": node("everything", &[]), "files": node("filesystem", &[dir]), "memory": node("memory", &[]),
            "time": python("mcp-server-time", &[]), "git": python("mcp-server-git", &[]),
        })
    });
    let listed = place.json(&["mcp", "tools"]);
    let states: Vec<_> = listed["servers"].as_array().unwrap().iter().map(|s| (&s["name"], &s["state"])).collect();
    let ready = json!("ready");
    let names = ["everything", "files", "memory", "time", "git"].map(|name| json!(name));
    assert_eq!(states, names.iter().map(|name| (name, &ready)).collect::<Vec<_>>());
}
