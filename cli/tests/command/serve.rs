//! `toolgraft serve` as a process: what it says, what it serves, how it ends.

#[cfg(unix)]
use std::io::Read;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
#[cfg(unix)]
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};
#[cfg(unix)]
use toolgraft_testkit::endpoint::{says, stops};
use toolgraft_testkit::http_mcp::HttpMcp;

use crate::process::{Place, TOOLGRAFT, answering_server, demo_server};

/// A running server.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Serving {
    pub(crate) fn start(place: &Place, endpoint: &Endpoint, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Serving::at(place, &endpoint.url(), arguments, variables)
    }

    pub(crate) fn at(place: &Place, base_url: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Serving::launch(place, &[&["--base-url", base_url], arguments].concat(), variables)
    }

    /// In front of what the arguments name, or else of what is found by its port.
    pub(crate) fn launch(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(TOOLGRAFT);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        command.current_dir(place.path("")).env("HOME", place.path(""));
        // What is said is in the language of the locale.
        command.env_remove("OPENAI_BASE_URL");
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        Serving { child, url: url.trim().to_owned() }
    }

    pub(crate) async fn chat(&self, body: &Value, key: Option<&str>) -> (u16, Value) {
        let mut request = toolgraft::http::client().build().unwrap().post(format!("{}/chat/completions", self.url));
        request = request.header("content-type", "application/json").body(body.to_string());
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }
}

impl Serving {
    /// Ends it; what it wrote to stderr.
    #[cfg(unix)]
    pub(crate) fn end(&mut self) -> String {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn request(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "tools": [{"type": "function", "function": {"name": "note", "parameters":
            {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}]})
}

#[tokio::test]
async fn a_client_gets_calls_from_a_model_that_has_none() {
    let endpoint = Endpoint::answer(|_, _| {
        Reply::text(
            "<use_mcp_tool>\n<tool_name>note</tool_name>\n<arguments>\n{\"text\": \"cold\"}\n</arguments>\n</use_mcp_tool>",
        )
    });
    let serving = Serving::start(
        &Place::new(),
        &endpoint,
        &["--model", "real", "--client-key", "door"],
        &[("TOOLGRAFT_UPSTREAM_KEY", "up")],
    );
    assert_eq!(serving.chat(&request("gpt-4o"), Some("wrong")).await.0, 401);
    let (status, whole) = serving.chat(&request("gpt-4o"), Some("door")).await;
    assert_eq!(status, 200, "{whole:#}");
    assert_eq!(whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{\"text\":\"cold\"}");
    let seen = endpoint.seen();
    assert_eq!((&seen[0].body["model"], seen[0].header("authorization")), (&json!("real"), Some("Bearer up")));
}

/// A file of profiles in which two models are kept for this endpoint, and one for another.
fn kept(endpoint: &Endpoint) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    let here = endpoint.url();
    let one = format!(
        "[[probed]]\nname = \"a\"\nendpoint = \"{here}\"\ndialect = \"type_marker\"\nconstrain = \"require\"\n"
    );
    let two = "[[probed]]\nname = \"b\"\ndialect = \"tool_tag\"\nprompt_style = \"compact\"\nlisting = \"schema\"\n";
    let other = "[[probed]]\nname = \"c\"\nendpoint = \"http://elsewhere/v1\"\ndialect = \"tool_tag\"\n";
    place.write(".config/toolgraft/config.toml", format!("{one}\n{two}\n{other}"));
    place
}

#[tokio::test]
async fn what_probe_kept_of_each_model_is_how_it_is_asked_unless_a_flag_says_otherwise() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("It is cold."));
    let place = kept(&endpoint);
    for (flags, model, taught) in [
        ([].as_slice(), "a", "TYPE: MCP"),
        (&[], "b", "<note>"),
        (&[], "c", "<use_mcp_tool>"),
        (&[], "d", "<use_mcp_tool>"),
        (&["--model", "a"], "d", "TYPE: MCP"),
        (&["--set", "dialect=use_mcp_tool"], "a", "<use_mcp_tool>"),
        (&["--mcp-always", "--mcp-config", "mcp.json"], "b", "</weather_query>"),
    ] {
        place.servers(json!({"demo": demo_server()}));
        let (status, answer) = Serving::start(&place, &endpoint, flags, &[]).chat(&request(model), None).await;
        let prompt = endpoint.take_seen().last().unwrap().messages();
        assert!(status == 200 && prompt.contains(taught), "{flags:?} {model}: {prompt} {answer}");
    }
}

#[tokio::test]
async fn what_probe_keeps_counts_without_a_new_start() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("It is cold."));
    let place = kept(&endpoint);
    let serving = Serving::start(&place, &endpoint, &[], &[]);
    let prompt = async || {
        assert_eq!(serving.chat(&request("d"), None).await.0, 200);
        endpoint.take_seen().last().unwrap().messages()
    };
    assert!(prompt().await.contains("<use_mcp_tool>"));
    let new = "[[probed]]\nname = \"d\"\ndialect = \"type_marker\"\n";
    // What cannot be read changes nothing.
    place.write(".config/toolgraft/config.toml", "[[probed");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert!(prompt().await.contains("<use_mcp_tool>"));
    place.write(".config/toolgraft/config.toml", new);
    for _ in 0..100 {
        if prompt().await.contains("TYPE: MCP") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the new profile never counted");
}

#[tokio::test]
async fn style_listing_and_structure_are_those_that_were_kept_of_the_model_that_a_client_names() {
    let endpoint = Endpoint::answer(|request, _| match request.body.get("response_format") {
        Some(_) => Reply::refused(400, "response_format is not supported"),
        None => Reply::text("It is cold."),
    });
    let place = kept(&endpoint);
    let prompt = async |serving: &Serving, model: &str| {
        serving.chat(&request(model), None).await;
        endpoint.take_seen().last().unwrap().body["messages"][0]["content"].as_str().unwrap().to_owned()
    };
    let serving = Serving::start(&place, &endpoint, &[], &[]);
    let (kept, other) = (prompt(&serving, "b").await, prompt(&serving, "other").await);
    assert!(kept.contains("\"properties\"") && !other.contains("\"properties\""), "{kept}\n{other}");
    // Without a profile of its own a model's size decides.
    let (small, large) = (prompt(&serving, "m-1b").await, prompt(&serving, "m-70b").await);
    assert!(small.len() < large.len() && large == other, "{small}\n{large}");
    let full = Serving::start(&place, &endpoint, &["--set", "prompt_style=full"], &[]);
    assert_eq!(prompt(&full, "m-1b").await, large);
    // "require" is kept of one model alone.
    let mut required = request("a");
    required["tool_choice"] = json!("required");
    let (status, refused) = serving.chat(&required, None).await;
    assert_eq!((status, &refused["error"]["code"]), (501, &json!("constraint_refused")), "{refused}");
    required["model"] = json!("d");
    let (_, answer) = serving.chat(&required, None).await;
    assert_eq!(answer["error"]["code"], "tool_call_missing", "{answer}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_base_url_without_v1_is_corrected_where_only_that_lists_models() {
    let endpoint = Endpoint::setup().lists().answer(|seen, _| match seen.target() {
        "GET /v1/models" => Reply::new(200, "{\"data\": [{\"id\": \"m\"}]}"),
        "POST /v1/chat/completions" => Reply::text("It is cold."),
        _ => Reply::new(404, "404 page not found"),
    });
    let base = endpoint.url().trim_end_matches("/v1").to_owned();
    for (given, slash) in [(base.clone(), ""), (base.clone(), "/")] {
        let mut serving = Serving::at(&Place::new(), &format!("{given}{slash}"), &[], &[]);
        let (status, whole) = serving.chat(&request("m"), None).await;
        assert_eq!((status, &whole["choices"][0]["message"]["content"]), (200, &json!("It is cold.")), "{whole:#}");
        let err = serving.end();
        assert!(err.contains("warning:") && err.contains(&format!("{base}/v1 has")), "{err}");
    }
    // Nobody is there to be asked: it starts as it was told, and says so.
    let mut serving = Serving::at(&Place::new(), "http://127.0.0.1:1", &[], &[]);
    let err = serving.end();
    assert!(err.contains("502 until it is reachable") && err.contains("http://127.0.0.1:1 is served"), "{err}");
}

#[tokio::test]
async fn a_name_that_was_given_is_the_servers_and_no_other() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi."));
    let flags = ["--host", "host.docker.internal", "--host", "models.example"];
    let serving = Serving::start(&Place::new(), &endpoint, &flags, &[]);
    for (host, expected) in
        [("host.docker.internal:8787", 200), ("models.example", 200), ("localhost", 200), ("evil.example", 403)]
    {
        let asked = toolgraft::http::client().build().unwrap().post(format!("{}/chat/completions", serving.url));
        let asked = asked.header("host", host).header("content-type", "application/json");
        let answer = asked.body(request("m").to_string()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), expected, "{host}");
    }
    for name in ["", "http://x", "host:8787", "*"] {
        let run = Place::new().run(&["serve", "--base-url", "http://localhost:1/v1", "--host", name]);
        run.refuses(2, "without scheme and port");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_line_on_stderr_tells_of_each_request_without_what_was_said() {
    for quiet in [false, true] {
        let endpoint = Endpoint::answer(|_, _| Reply::text("It is SWORDFISH."));
        let flags = if quiet { ["--quiet"].as_slice() } else { &[] };
        let keys = [("TOOLGRAFT_CLIENT_KEY", "sk-door-key"), ("TOOLGRAFT_UPSTREAM_KEY", "sk-up-key")];
        let mut serving = Serving::start(&Place::new(), &endpoint, flags, &keys);
        serving.chat(&request("gemma3:12b"), Some("sk-door-key")).await;
        serving.chat(&request("a\nb \u{1b}[2J"), Some("sk-door-key")).await;
        serving.chat(&request("gemma3:12b"), Some("sk-wrong-key")).await;
        let err = serving.end();
        for (line, count) in [
            ("chat_completions gemma3:12b 200 rounds=1 calls=0 ", 1),
            ("chat_completions \"a\\nb \\u{1b}[2J\" 200 rounds=1 calls=0 ", 1),
            ("chat_completions - 401 invalid_api_key rounds=0 calls=0 ", 1),
        ] {
            let found = err.lines().filter(|text| text.starts_with(line)).count();
            assert_eq!(found, if quiet { 0 } else { count }, "{line}\n{err}");
        }
        assert!(["SWORDFISH", "Oslo", "sk-"].iter().all(|secret| !err.contains(secret)), "{err}");
    }
}

#[test]
fn a_port_is_one_of_this_machine() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run =
        |more: &[&str]| place.run(&[&["serve", "--base-url", "http://localhost:1/v1", "--port", &port], more].concat());
    run(&[]).refuses(2, &format!("cannot listen on 127.0.0.1:{port}"));
    run(&["--listen", "127.0.0.1:0"]).refuses(2, "cannot be used with '--listen");
    run(&[]).refuses(2, "choose another --port");
    let endpoint = Endpoint::start([]);
    let up = place.run(&["up", "--no-open", "--base-url", &endpoint.url(), "--model", "m", "--port", &port]);
    up.refuses(2, &format!("cannot listen on 127.0.0.1:{port}"));
}

#[test]
fn its_own_address_is_no_endpoint() {
    let place = Place::new();
    for (url, listen) in [
        ("http://localhost:8787/v1", "127.0.0.1:8787"),
        ("http://127.0.0.1:8787", "8787"),
        ("http://[::1]:8787/v1", "0.0.0.0:8787"),
        ("http://0.0.0.0:8787/v1", "localhost:8787"),
        ("http://192.0.2.7:8787/v1", "192.0.2.7:8787"),
    ] {
        let run = place.run(&["serve", "--client-key", "k", "--base-url", url, "--listen", listen]);
        run.refuses(2, "is this server's own address: name the endpoint that has the model");
    }
    place.run(&["config", "set", "base_url", "http://localhost:8787/v1"]).quiet();
    place.run(&["serve"]).refuses(2, "is this server's own address");
    let run = place.run(&["serve", "--base-url", "http://localhost:1/v1", "--host", "0.0.0.0"]);
    run.refuses(2, "--listen 0.0.0.0:8787 listens for other machines");
}

#[cfg(unix)]
#[test]
fn an_endpoint_that_refuses_or_lacks_the_model_is_told_of_at_the_start() {
    let refusing = |answer: &'static str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut socket in listener.incoming().map_while(Result::ok) {
                let _ = socket.read(&mut [0; 4096]);
                let _ = write!(socket, "HTTP/1.1 {answer}");
            }
        });
        url
    };
    let lists = Endpoint::setup().models(&["qwen3:8b", "b"]).start([]);
    for (url, said) in [
        (lists.url(), "the endpoint does not list qwen3:80b; nearest: qwen3:8b"),
        (
            refusing("401 Unauthorized\r\ncontent-length: 0\r\n\r\n"),
            "HTTP 401: set the endpoint's key in TOOLGRAFT_UPSTREAM_KEY, or let each client",
        ),
        (refusing("200 OK\r\ncontent-length: 6\r\n\r\n<html>"), "a web page came instead of a list of models"),
    ] {
        let err = Serving::at(&Place::new(), &url, &["--model", "qwen3:80b"], &[]).end();
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn a_public_address_without_a_key_is_wrong_usage() {
    let place = Place::new();
    let run = place.run(&["serve", "--base-url", "http://localhost:1/v1", "--listen", "0.0.0.0:0"]);
    run.refuses(2, "--client-key");
    let run = place.run(&["serve", "--base-url", "http://localhost:1/v1", "--allow", "x.*"]);
    run.refuses(2, "--mcp-config");
    let run = place.run(&["serve", "--base-url", "http://localhost:1/v1", "--max-calls", "3"]);
    run.refuses(2, "--mcp-config");
    for (limit, wrong) in [
        (["--max-calls", "0"], "above 0"),
        (["--set", "max_time=0"], "max_time: "),
        (["--set", "max_requests=0"], "max_requests: "),
    ] {
        let run = place.run(&[&["serve", "--base-url", "http://localhost:1/v1"][..], &limit].concat());
        run.refuses(2, wrong);
    }
    let run = place.run(&["serve", "--base-url", "localhost:1"]);
    run.refuses(2, "http://HOST:PORT/v1");
}

#[tokio::test]
async fn no_key_goes_to_an_endpoint_that_was_found_by_its_port() {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    if ![1234, 11434, 8080, 9931].into_iter().all(free) {
        let _ = writeln!(std::io::stderr(), "note: skipped: a local endpoint's port is taken");
        return;
    }
    let endpoint = Endpoint::setup().port(1234).models(&["m"]).answer(|request, _| match request.body.get("stream") {
        Some(_) => Reply::text("Hi."),
        // What passes through has the endpoint's own form.
        None => Reply::new(200, "{\"choices\": []}"),
    });
    let keys = [("TOOLGRAFT_UPSTREAM_KEY", "sk-up-stream"), ("OPENAI_API_KEY", "sk-openai")];
    let serving = Serving::launch(&Place::new(), &[], &keys);
    for body in [request("m"), json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})] {
        assert_eq!(serving.chat(&body, Some("sk-client")).await.0, 200);
    }
    let heads: Vec<String> = endpoint.seen().into_iter().map(|seen| seen.head).chain(endpoint.probed()).collect();
    assert!(heads.iter().filter(|head| head.starts_with("POST")).count() >= 2, "{heads:#?}");
    for head in heads {
        assert!(!head.to_lowercase().contains("authorization") && !head.contains("sk-"), "{head}");
    }
}

/// Hands on what comes and goes at an address, and keeps what came.
async fn tapped(to: String) -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = kept.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (to, keeps) = (to.clone(), keeps.clone());
            tokio::spawn(async move {
                let mut server = tokio::net::TcpStream::connect(to).await.unwrap();
                let ((mut from, mut back), (mut answers, mut on)) = (client.split(), server.split());
                let there = async {
                    let mut bytes = [0; 4096];
                    while let Ok(read @ 1..) = from.read(&mut bytes).await {
                        keeps.lock().unwrap().extend_from_slice(&bytes[..read]);
                        on.write_all(&bytes[..read]).await.unwrap();
                    }
                };
                let _ = tokio::join!(there, tokio::io::copy(&mut answers, &mut back));
            });
        }
    });
    (address, kept)
}

// The program waits for the server when it starts, and this test for the program.
#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_server_sees_nothing_of_a_clients_headers() {
    let mcp = HttpMcp::start();
    let (address, kept) = tapped(format!("127.0.0.1:{}", mcp.port())).await;
    let place = Place::new();
    let url = format!("http://{address}/mcp");
    place.servers(json!({"web": {"url": url, "headers": {"x-configured": "by-the-file"}}}));
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("web", "echo", &json!({"text": "called"}))),
        _ => Reply::text("Done."),
    });
    let flags = ["--mcp-config", "mcp.json", "--mcp-always", "--allow", "*"];
    let serving = Serving::start(&place, &endpoint, &flags, &[("TOOLGRAFT_UPSTREAM_KEY", "sk-SECRET-up")]);
    let sent =
        toolgraft::http::client().build().unwrap().post(format!("{}/chat/completions?key=sk-SECRET-url", serving.url));
    let mut sent = sent.header("content-type", "application/json").body(request("m").to_string());
    for (name, value) in [
        ("authorization", "Bearer sk-SECRET-client"),
        ("cookie", "session=SECRET"),
        ("x-api-key", "sk-SECRET-other"),
        ("x-request-id", "SECRET-id"),
        ("x-forwarded-for", "SECRET-place"),
        ("mcp-session-id", "SECRET-session"),
    ] {
        sent = sent.header(name, value);
    }
    assert_eq!(sent.send().await.unwrap().status(), 200);
    let told = String::from_utf8_lossy(&kept.lock().unwrap()).into_owned();
    assert!(told.contains("called") && told.contains("by-the-file"), "{told}");
    assert!(!told.contains("SECRET"), "{told}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_lets_the_answers_end_and_then_the_server() {
    use std::os::unix::process::ExitStatusExt;

    let reply = Reply::events(&[says("Once "), says("upon "), says("a time."), stops("stop")]);
    let reply = reply.delay(Duration::from_millis(300)).done();
    // What INT has ended ends by it, so that a shell's loop stops.
    for (signal, ends) in
        [(rustix::process::Signal::TERM, (Some(0), None)), (rustix::process::Signal::INT, (None, Some(2)))]
    {
        let reply = reply.clone();
        let endpoint = Endpoint::answer(move |_, _| reply.clone());
        let mut serving = Serving::start(&Place::new(), &endpoint, &[], &[]);
        let asked = request("m");
        let answer = serving.chat(&asked, None);
        let end = async {
            while endpoint.requests() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            rustix::process::kill_process(rustix::process::Pid::from_child(&serving.child), signal).unwrap();
        };
        let ((status, whole), ()) = tokio::join!(answer, end);
        assert_eq!((status, &whole["choices"][0]["message"]["content"]), (200, &json!("Once upon a time.")));
        let ended = serving.child.wait().unwrap();
        assert_eq!((ended.code(), ended.signal()), ends, "{signal:?}");
    }
}

#[tokio::test]
async fn tools_of_mcp_servers_run_here_where_they_are_allowed() {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let weather = mcp_call("demo", "weather_query", &json!({"city": "武汉"}));
    let note =
        "<use_mcp_tool>\n<tool_name>note</tool_name>\n<arguments>\n{\"text\": \"rain\"}\n</arguments>\n</use_mcp_tool>";
    let (first, both) = (weather.clone(), format!("{weather}\n{note}"));
    let endpoint = Endpoint::answer(move |request, number| match number {
        0 => Reply::text(&format!("I look it up. {first}")),
        1 => Reply::text(if request.question().contains("武汉") { "It rains." } else { "I do not know." }),
        2 => Reply::text(&both),
        3 => Reply::text(&first),
        _ => Reply::text("Not allowed, it seems."),
    });
    let serving = Serving::start(&place, &endpoint, &["--mcp-config", "mcp.json", "--allow", "demo.weather_*"], &[]);
    let mut asked = request("m+tools");
    let (status, whole) = serving.chat(&asked, None).await;
    assert_eq!(status, 200, "{whole:#}");
    let message = &whole["choices"][0]["message"];
    assert_eq!((&message["content"], message.get("tool_calls")), (&json!("I look it up.\n\nIt rains."), None));
    assert_eq!(endpoint.seen()[0].body["model"], "m");
    // Calls of both kinds in one message: the client's go out.
    let (_, whole) = serving.chat(&asked, None).await;
    let calls = whole["choices"][0]["message"]["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[0]["function"]["name"]), (1, &json!("note")));
    // Without the name the tools are not there, and a call of one is no call.
    asked["model"] = json!("m");
    let (_, whole) = serving.chat(&asked, None).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "Not allowed, it seems.");
    let told = &endpoint.seen()[3].body["messages"];
    assert!(!told[0]["content"].as_str().unwrap().contains("weather_query"), "{told:#}");
}

/// A server whose tool searches the web.
fn searching_server() -> Value {
    let schema = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    answering_server(&json!({
        "tools/list": {"tools": [{"name": "find", "inputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": "Title: One\nURL: https://a.example/1"}]},
    }))
}

#[tokio::test]
async fn a_hosted_search_is_answered_by_the_server_that_was_named() {
    let place = Place::new();
    place.servers(json!({ "web": searching_server() }));
    let endpoint = Endpoint::answer(|_, _| Reply::text("I made it up."));
    let serving = Serving::start(&place, &endpoint, &["--mcp-config", "mcp.json", "--search", "web"], &[]);
    let asked = json!({
        "model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "Who won?"}],
        "tools": [{"type": "web_search_20250305", "name": "web_search"}],
    });
    let request = toolgraft::http::client().build().unwrap().post(format!("{}/messages", serving.url));
    let request = request.header("content-type", "application/json").body(asked.to_string());
    let answer: Value = serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
    assert_eq!(answer["content"][1]["content"][0]["url"], "https://a.example/1", "{answer:#}");
    assert!(endpoint.seen().iter().all(|seen| seen.body.get("messages").is_none()), "the model was asked nothing");
}

#[test]
fn a_search_that_cannot_be_is_refused_at_the_start() {
    let place = Place::new();
    place.servers(json!({ "web": searching_server(), "demo": demo_server() }));
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let url = endpoint.url();
    let start =
        |more: &[&str]| place.run(&[&["serve", "--port", "0", "--base-url", &url, "--model", "m"], more].concat());
    for name in ["demo.get_weather", "nobody", "web.none"] {
        let words = format!("--search {name}: no server of this name has a tool that takes a query");
        start(&["--mcp-config", "mcp.json", "--search", name]).fails_with(2, &[&words]);
    }
    let denied = start(&["--mcp-config", "mcp.json", "--search", "web", "--deny", "web.*"]);
    denied.fails_with(2, &["--search web: --deny forbids web.find"]);
    start(&["--search", "web"]).fails_with(2, &["name their configuration with --mcp-config"]);
}
