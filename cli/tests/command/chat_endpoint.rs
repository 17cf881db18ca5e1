//! `toolgraft chat` against endpoints that misbehave, or behave in their own
//! way: what the user sees, the exit code, and what is kept.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

use crate::endpoint::{End, Endpoint, Reply, call, mcp_call, says, stops, thinks};
use crate::process::{Place, Run, demo_server};
use serde_json::{Value, json};

/// Asks, with the demonstration server at hand, and saves the conversation.
fn chat(place: &Place, endpoint: &Endpoint, more: &[&str]) -> Run {
    place.servers(json!({ "demo": demo_server() }));
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json", "--yes", "--save", "c.json"];
    place.run_with(&[&args, more, &["Weather in Oslo?"]].concat(), |command| {
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").write_stdin("")
    })
}

/// The saved conversation's entries.
fn saved(place: &Place) -> Vec<Value> {
    let text = fs::read_to_string(place.path("c.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["conversation"].as_array().unwrap().clone()
}

fn weather() -> String {
    mcp_call("demo", "weather_query", &json!({"city": "Oslo"}))
}

/// The answer to whatever has results in it, else these.
fn then_answers(first: Reply) -> [Reply; 2] {
    [first, Reply::text("As the tool says.")]
}

#[test]
fn however_a_stream_is_cut_the_user_sees_the_same() {
    let text = "Grüße, 你好 🦀!";
    let reply = Reply::events(&[says("Grüße, 你"), says("好 🦀!"), stops("stop")]).done();
    let slow = reply.clone().delay(Duration::from_millis(20));
    for (name, reply) in [("bytes", reply.clone().bytewise()), ("whole", reply.clone().whole()), ("slow", slow)] {
        let run = chat(&Place::new(), &Endpoint::start([reply]), &[]).ok();
        assert_eq!(run.out, format!("{text}\n"), "{name}");
    }
}

#[test]
fn a_call_that_comes_byte_by_byte_runs() {
    let first = Reply::events(&[thinks("The tool knows."), says(&weather()), stops("stop")]).done().bytewise();
    let place = Place::new();
    let run = chat(&place, &Endpoint::start(then_answers(first)), &[]).ok();
    assert_eq!(run.out, "As the tool says.\n");
    assert!(run.err.contains("Oslo, now: "), "{}", run.err);
    let kinds: Vec<Value> = saved(&place).iter().map(|entry| entry["type"].clone()).collect();
    assert_eq!(kinds, ["user", "assistant", "outcome", "assistant"]);
}

#[test]
fn a_native_call_runs_as_any_other() {
    let first = Reply::events(&[call("weather_query", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done();
    let run = chat(&Place::new(), &Endpoint::start(then_answers(first)), &[]).ok();
    assert_eq!(run.out, "As the tool says.\n");
    assert!(run.err.contains("Oslo, now: "), "{}", run.err);
}

#[test]
fn ollama_and_lm_studio_are_read_in_their_own_ways() {
    for reply in [Reply::ollama("Let me see.", "It rains."), Reply::lm_studio("Let me see.", "It rains.")] {
        let run = chat(&Place::new(), &Endpoint::start([reply]), &["--reasoning-display", "full"]).ok();
        assert_eq!(run.out, "It rains.\n");
        assert!(run.err.contains("Let me see."), "{}", run.err);
    }
}

#[test]
fn a_refusal_for_the_moment_is_waited_out() {
    let busy = Reply::refused(429, "slow down").header("retry-after", "0");
    let endpoint = Endpoint::start([busy, Reply::text("It rains.")]);
    assert_eq!(chat(&Place::new(), &endpoint, &[]).ok().out, "It rains.\n");
    assert_eq!(endpoint.requests(), 2);
}

#[test]
fn a_refusal_that_stays_is_shown_in_the_endpoints_words() {
    let busy = || Reply::refused(429, "slow down").header("retry-after", "0");
    let run = chat(&Place::new(), &Endpoint::start([busy(), busy(), busy()]), &[]);
    run.fails_with(1, &["HTTP 429", "slow down"]);
    assert_eq!(run.out, "");
}

#[test]
fn a_web_page_in_place_of_an_answer_names_the_base_url() {
    let run = chat(&Place::new(), &Endpoint::start([Reply::html("Sign in to the Wi-Fi")]), &[]);
    run.fails_with(1, &["web page", "Sign in to the Wi-Fi", "base URL"]);
    assert_eq!(run.out, "");
}

#[test]
fn an_unknown_model_is_answered_with_the_known_ones() {
    let missing = Reply::refused(404, "model \"m\" not found, try pulling it first");
    let endpoint = Endpoint::setup().models(&["deepseek-r1:14b", "qwen3:8b"]).start([missing]);
    chat(&Place::new(), &endpoint, &[]).fails_with(1, &["try pulling it first", "deepseek-r1:14b, qwen3:8b"]);
}

#[test]
fn what_came_before_a_break_or_an_error_is_shown_and_kept() {
    let half = || Reply::events(&[says("It rains in "), says("Os")]);
    let error = format!("data: {}\n\n", json!({"error": {"message": "out of memory", "code": 500}}));
    for (name, reply, words) in [
        ("break", half().end(End::Break), "broke off"),
        ("end without a reason", half(), "broke off"),
        ("error object", half().raw(&error), "out of memory"),
        ("error event", half().raw("event: error\ndata: {\"message\": \"out of memory\"}\n\n"), "out of memory"),
    ] {
        let place = Place::new();
        let run = chat(&place, &Endpoint::start([reply]), &[]);
        run.fails_with(1, &[words]);
        assert_eq!(run.out, "It rains in Os\n", "{name}");
        let kept = saved(&place);
        assert_eq!(
            (&kept[1]["parts"][0]["text"], &kept[1]["cut_off"]),
            (&json!("It rains in Os"), &json!(true)),
            "{name}"
        );
    }
}

#[test]
fn a_call_that_breaks_off_does_not_run() {
    let call = weather();
    let half = Reply::events(&[says(&call[..call.len() / 2])]).end(End::Break);
    let place = Place::new();
    let run = chat(&place, &Endpoint::start([half]), &[]);
    run.fails_with(1, &["broke off"]);
    assert!(
        !run.err.contains("Oslo, now:") && saved(&place).iter().all(|entry| entry["type"] != "outcome"),
        "{}",
        run.err
    );
}

#[test]
fn a_break_behind_a_call_and_its_result_keeps_both() {
    let place = Place::new();
    let broken = Reply::events(&[says("The tool ")]).end(End::Break);
    let endpoint = Endpoint::start([Reply::text(&weather()), broken, Reply::text("It rains.")]);
    chat(&place, &endpoint, &[]).fails_with(1, &["broke off"]);
    assert_eq!(saved(&place)[2]["outcome"]["status"], "result");
    // The conversation goes on from there.
    let run = chat(&place, &endpoint, &["--resume", "c.json"]).ok();
    assert_eq!(run.out, "It rains.\n");
    assert!(endpoint.seen()[2].messages().contains("Oslo, now:"), "{}", endpoint.seen()[2].messages());
}

#[test]
fn nobody_there_is_told_with_what_to_start() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let run = Place::new().run(&["chat", "--base-url", &url, "--model", "m", "Hi"]);
    run.fails_with(1, &[&url, "refused"]);
}

#[test]
fn an_endpoint_on_ollamas_port_is_found_by_itself() {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    if !(free(1234) && free(11434) && free(8080)) {
        let _ = writeln!(std::io::stderr(), "note: skipped: a local endpoint's port is taken");
        return;
    }
    let endpoint = Endpoint::setup().port(11434).models(&["deepseek-r1:14b"]).start([Reply::ollama("Hm.", "Hello!")]);
    let run = Place::new().run_with(&["chat", "Hi"], |command| {
        command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY").write_stdin("")
    });
    assert_eq!(run.ok().out, "Hello!\n");
    assert!(endpoint.seen().iter().any(|request| request.target() == "POST /v1/chat/completions"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_in_mid_stream_reaches_the_endpoint() {
    use std::io::{BufRead, BufReader};

    let mut endpoint = Endpoint::start([Reply::events(&[says("One moment")]).end(End::Stall)]);
    let place = Place::new();
    let mut command = std::process::Command::new(crate::process::TOOLGRAFT);
    command.args(["chat", "--base-url", &endpoint.url(), "--model", "m", "--json", "Hi"]);
    command.current_dir(place.root()).env("HOME", place.root());
    let mut child = command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    // On a pipe the answer is shown once it is known to be one; events come as they happen.
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert!(events.any(|event| event["type"] == "text"));
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    endpoint.gone_blocking();
    assert_eq!(events.last().unwrap()["reason"]["kind"], "cancelled");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
