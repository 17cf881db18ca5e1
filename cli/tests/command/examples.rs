//! Every example, built and run against the scripted endpoint.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;

use crate::process::{Run, TOOLGRAFT};
use assert_cmd::Command;
use futures::StreamExt;
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, thinks};

/// The folder of the built examples. A run of one test alone does not build them.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let profile = Path::new(TOOLGRAFT).parent().unwrap();
        let mut cargo = std::process::Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--examples", "--target-dir"]).arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.current_dir(crate::process::ROOT).status().unwrap().success());
        profile.join("examples")
    })
}

fn example(name: &str) -> Command {
    let mut command = Command::new(built().join(name));
    command.env("NO_PROXY", "127.0.0.1");
    command
}

fn weather(city: &str) -> String {
    mcp_call("demo", "weather_query", &json!({"city": city}))
}

#[test]
fn parser_only() {
    let text = "Let me look. <use_mcp_tool><tool_name>get_weather</tool_name><arguments>{\"city\": \"Oslo\"}</arguments>\
                </use_mcp_tool> <use_mcp_tool><tool_name>get_wether</tool_name><arguments>{}</arguments></use_mcp_tool>";
    let run = Run::of(example("parser_only").write_stdin(format!("<think>Hm.</think>{text}"))).ok();
    assert!(run.out.starts_with("Let me look. "), "{}", run.out);
    assert!(run.out.contains("\ncall: get_weather {\"city\":\"Oslo\"}\n"), "{}", run.out);
    assert!(run.out.contains("\nnot a call (unknown_tool): "), "{}", run.out);
    assert!(run.err.contains("Hm.") && run.err.contains("[a call of get_weather begins]"), "{}", run.err);
}

#[test]
fn agent_functions() {
    let call = |city: &str| mcp_call("weather", "get_weather", &json!({"city": city}));
    let both = format!("{}\n{}", call("Oslo"), call("Bergen"));
    let endpoint = Endpoint::start([Reply::text(&both), Reply::text("Rome is warmer.")]);
    let run = Run::of(example("agent_functions").args([&endpoint.url(), "small-model"])).ok();
    assert!(run.out.contains("> get_weather {\"city\":\"Oslo\"}"), "{}", run.out);
    assert!(run.out.contains("< {") && run.out.contains("no weather of Some(\"Bergen\")"), "{}", run.out);
    assert!(run.out.ends_with("Rome is warmer.\n"), "{}", run.out);

    let endpoint = Endpoint::start([Reply::refused(404, "model \"nope\" not found")]);
    Run::of(example("agent_functions").args([&endpoint.url(), "nope"])).fails_with(1, &["not found"]);
    Run::of(&mut example("agent_functions")).fails_with(1, &["usage: agent_functions BASE_URL MODEL"]);
}

#[test]
fn side_channel() {
    let run = Run::of(&mut example("side_channel")).ok();
    let chart = "Sales rise:\n[Sales]\n### 3\n##### 5\n######## 8\n\nWednesday was the best day.\n> Thanks!\n";
    let expected = format!("[source: {{\"title\":\"Sales database\",\"rows\":3}}]\n{chart}You are welcome.\n");
    assert_eq!(run.out, expected);
}

#[test]
fn structured_output() {
    let run = Run::of(&mut example("structured_output")).ok();
    assert!(run.out.starts_with("calls get_weather\nwrong: missing required property \"pack\""), "{}", run.out);
    assert!(run.out.contains("\nmended: fence, prose, syntax, coerced:/days\n"), "{}", run.out);
    assert!(run.out.ends_with("Trip { city: \"Oslo\", days: 3, pack: [\"umbrella\", \"coat\"] }\n"), "{}", run.out);
}

#[test]
fn agent_mcp() {
    for (answer, expected) in [("y\n", "< Oslo, now: "), ("n\n", "< ")] {
        let endpoint = Endpoint::answer(|request, _| match request.question().as_str() {
            q if q.ends_with("Weather in Oslo?") => {
                Reply::text(&mcp_call("server", "weather_query", &json!({"city": "Oslo"})))
            }
            _ => Reply::text("As the tool says."),
        });
        let url = endpoint.url();
        let args = [url.as_str(), "small-model", "Weather in Oslo?", TOOLGRAFT, "demo-server"];
        let run = Run::of(example("agent_mcp").args(args).write_stdin(answer)).ok();
        assert!(run.out.starts_with("3 tools\n"), "{}", run.out);
        assert!(run.out.contains("run weather_query {\"city\":\"Oslo\"}? [y/N] "), "{}", run.out);
        assert!(run.out.contains(expected) && run.out.ends_with("As the tool says.\n"), "{}", run.out);
        assert_eq!(run.out.contains("Oslo, now: "), answer == "y\n", "{}", run.out);
    }
    let args = ["http://127.0.0.1:9/v1", "m", "q", "toolgraft-no-such-program"];
    Run::of(example("agent_mcp").args(args)).fails_with(1, &["not found in PATH"]);
}

/// The web server, which ends with the test.
struct Web {
    child: Child,
    url: String,
    client: reqwest::Client,
}

impl Web {
    fn start(endpoint: &Endpoint) -> Self {
        let mut command = std::process::Command::new(built().join("axum_sse"));
        command.args([&endpoint.url(), "small-model", "127.0.0.1:0", TOOLGRAFT, "demo-server"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let client = toolgraft::http::client().no_proxy().build().unwrap();
        Web { child, url: url.trim().to_owned(), client }
    }

    async fn post(&self, path: &str, body: Value) -> reqwest::Response {
        let request = self.client.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        request.body(body.to_string()).send().await.unwrap()
    }

    async fn begin(&self) -> String {
        let begun = self.post("/conversations", json!({})).await.text().await.unwrap();
        serde_json::from_str::<Value>(&begun).unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// The events of a turn; `each` is called with every one as it comes.
    async fn ask(&self, id: &str, question: &str, mut each: impl AsyncFnMut(&Value)) -> Vec<Value> {
        let response = self.post(&format!("/conversations/{id}/ask"), json!({"question": question})).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let (mut bytes, mut buffer, mut events) = (response.bytes_stream(), Vec::new(), Vec::new());
        while let Some(piece) = bytes.next().await {
            buffer.extend_from_slice(&piece.unwrap());
            while let Some(end) = buffer.windows(2).position(|w| w == b"\n\n") {
                let block: Vec<u8> = buffer.drain(..end + 2).collect();
                let Some(data) = std::str::from_utf8(&block).unwrap().strip_prefix("data: ") else { continue };
                let event: Value = serde_json::from_str(data).unwrap();
                each(&event).await;
                events.push(event);
            }
        }
        events
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn axum_sse() {
    let mut endpoint = Endpoint::answer(|request, _| match request.question().as_str() {
        q if q.ends_with("Wait") => Reply::events(&[says("One moment")]).end(End::Stall),
        q if q.ends_with("in Oslo?") => {
            let mut reply = Reply::text(&weather("Oslo").replace("<server_name>demo<", "<server_name>server<"));
            reply.pieces.insert(0, format!("data: {}\n\n", thinks("The tool knows.")).into_bytes());
            reply
        }
        _ => Reply::text("As the tool says."),
    });
    let web = Web::start(&endpoint);
    let page = web.client.get(&web.url).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("<!doctype html>") && page.contains("/approvals/"), "{page}");

    let id = web.begin().await;
    let events = web
        .ask(&id, "Weather in Oslo?", async |event| {
            if event["type"] == "approval_asked" {
                let busy = web.post(&format!("/conversations/{id}/ask"), json!({"question": "And?"})).await;
                assert_eq!(busy.status(), 409, "one turn at a time");
                let path = format!("/conversations/{id}/approvals/{}", event["id"].as_str().unwrap());
                assert_eq!(web.post(&path, json!({"answer": "approved"})).await.status(), 204);
                assert_eq!(web.post(&path, json!({"answer": "approved"})).await.status(), 404, "only once");
            }
        })
        .await;
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    for kind in ["reasoning", "approval_asked", "call_running", "outcome", "text"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["answer"]), (&json!("finished"), &json!("As the tool says.")));

    // The conversation goes on; another one asks anew.
    let more = web.ask(&id, "Weather in Oslo?", async |_| {}).await;
    assert!(more.iter().all(|event| event["type"] != "approval_asked"), "approved once: {more:?}");
    assert_eq!(
        more.last().unwrap()["conversation"]["entries"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|e| e["type"] == "user")
            .count(),
        2
    );
    let other = web.begin().await;
    let denied = web
        .ask(&other, "Weather in Oslo?", async |event| {
            if event["type"] == "approval_asked" {
                let answer = json!({"answer": "denied", "reason": "not today"});
                web.post(&format!("/conversations/{other}/approvals/call_1"), answer).await;
            }
        })
        .await;
    let outcome = denied.iter().find(|event| event["type"] == "outcome").unwrap();
    assert_eq!(outcome["outcome"], json!({"status": "denied", "text": "not today"}));

    // Whoever goes away in mid-stream takes the model's stream along.
    let mut left = web.post(&format!("/conversations/{id}/ask"), json!({"question": "Wait"})).await;
    // Not before the model's stream has begun: else there may be none to take along.
    while !String::from_utf8_lossy(&left.chunk().await.unwrap().unwrap()).contains("moment") {}
    drop(left);
    endpoint.gone().await;
    assert_eq!(web.post("/conversations/99/ask", json!({"question": "?"})).await.status(), 404);
}
