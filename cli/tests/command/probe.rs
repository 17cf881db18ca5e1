//! `toolgraft probe` against a model that calls in one dialect only.

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Reply, Seen, stops, token};
use crate::process::Place;

const CALL: &str = "<use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"city\": \"Oslo\"}\n</arguments>\n</use_mcp_tool>";

fn answer(request: &Seen, _: usize) -> Reply {
    let is_told = request.messages().contains("<use_mcp_tool>");
    Reply::text(if is_told && request.question().contains("Oslo") { CALL } else { "I do not know." })
}

#[test]
fn the_best_way_becomes_a_profile() {
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    let url = endpoint.url();
    let probe = ["probe", "--quick", "--json", "--save", "--base-url", &url, "--model", "m"];
    let report = place.run(&probe).ok().json();
    assert_eq!((&report["model"], &report["tools"], &report["cut"]), (&json!("m"), &json!(3), &json!(false)));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 25);
    // One that is told to call is not told so where no call is wanted.
    let told = |cell: &str| cell.ends_with("constrained");
    for row in rows {
        let cell = row["cell"].as_str().unwrap();
        assert_eq!(row["tasks"], if told(cell) { 6 } else { 8 }, "{row}");
        assert_eq!(row["fully_right"], json!(usize::from(cell.starts_with("use_mcp_tool"))), "{row}");
    }
    // A call is required and held to its form in the constrained ways, where one is wanted.
    let seen = endpoint.take_seen();
    let is_held = |seen: &Seen| seen.body.get("response_format").is_some_and(|format| format["type"] == "json_schema");
    let of = |question: &str| seen.iter().filter(|seen| seen.question().contains(question)).collect::<Vec<_>>();
    let oslo = of("Oslo");
    // Eight more are tried for what the endpoint does not give.
    assert_eq!((oslo.len(), oslo.iter().filter(|seen| is_held(seen)).count()), (25 + 8, 12 + 4));
    let unwanted: Value = serde_json::from_str(include_str!("../../src/probe/tasks.json")).unwrap();
    let unwanted = of(unwanted["none"][0]["question"].as_str().unwrap());
    assert!(unwanted.len() == 13 && !unwanted.iter().any(|seen| is_held(seen)), "{}", unwanted.len());
    // What was tried is kept, and what was left out may be there by now.
    place.run(&probe).ok();
    assert_eq!(endpoint.requests(), 8);
    let saved = std::fs::read_to_string(place.path(".config/toolgraft/profiles.toml")).unwrap();
    assert!(saved.contains("tools = \"prompt\"\ndialect = \"use_mcp_tool\""), "{saved}");
    assert!(!saved.contains("constrain"), "the best way decides by itself: {saved}");
}

/// A model that answers freely and knows better: a call is likely where a city is named.
fn knows(request: &Seen, number: usize) -> Reply {
    let is_due = request.question().contains("Oslo");
    match request.body.get("logprobs") {
        Some(_) => {
            let percent = if is_due { 1.0 } else { 0.01 };
            Reply::events(&[token("I", 90.0, &[("<use", percent)]), stops("stop")]).done()
        }
        None if request.body.get("grammar").is_some() => Reply::text(CALL),
        None => answer(request, number),
    }
}

#[test]
fn the_threshold_of_a_measured_way_is_found_and_kept() {
    let endpoint = Endpoint::setup().models(&["m"]).owner("llamacpp").answer(knows);
    let place = Place::new();
    let only =
        ["--only", "type_marker, compact, signature, measured", "--only", "use_mcp_tool, compact, signature, measured"];
    let run = ["probe", "--quick", "--json", "--save", "--base-url", &endpoint.url(), "--model", "m"];
    let report = place.run(&[&run[..], &only].concat()).ok().json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows[0]["cell"], "use_mcp_tool, compact, signature, measured", "{report}");
    assert_eq!((&rows[0]["fully_right"], &rows[0]["false_calls"]), (&json!(1), &json!(0)), "{report}");
    let saved = std::fs::read_to_string(place.path(".config/toolgraft/profiles.toml")).unwrap();
    assert!(saved.contains("way = \"measured\"\ncall_threshold = -"), "{saved}");
}

#[test]
fn a_way_that_is_constrained_is_left_out_where_the_endpoint_takes_no_form() {
    let endpoint = Endpoint::answer(|request, number| match request.body.get("response_format") {
        Some(_) => Reply::refused(400, "response_format is not known"),
        None => answer(request, number),
    });
    let place = Place::new();
    let run = place.run(&["probe", "--quick", "--json", "--base-url", &endpoint.url(), "--model", "m"]).ok();
    let report = run.json();
    let cells: Vec<&str> = report["rows"].as_array().unwrap().iter().map(|row| row["cell"].as_str().unwrap()).collect();
    assert!(cells.len() == 13 && !cells.iter().any(|cell| cell.contains("constrained")), "{cells:?}");
    assert_eq!(run.err.matches(", constrained is left out: ").count(), 12, "{}", run.err);
    assert!(run.err.contains("response_format is not known"), "{}", run.err);
}

#[test]
fn only_the_ways_that_are_named_are_tried() {
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    let url = endpoint.url();
    let probe = |only: &[&str]| {
        place.run(&[&["probe", "--quick", "--json", "--base-url", &url, "--model", "m"], only].concat())
    };
    let report = probe(&["--only", "tool_tag, compact", "--only", "native"]).json();
    let rows = report["rows"].as_array().unwrap();
    let is_named = |row: &&Value| {
        let cell = row["cell"].as_str().unwrap();
        cell == "native" || cell.starts_with("tool_tag, compact")
    };
    assert_eq!((rows.len(), rows.iter().filter(is_named).count()), (5, 5), "{report}");
    probe(&["--only", "tool-tag"]).refuses(2, "no way holds that text; there are\n  native\n");
}

#[test]
fn a_model_that_never_calls_has_no_best_way() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("I do not know."));
    let place = Place::new();
    let run = place.run(&["probe", "--quick", "--base-url", &endpoint.url(), "--model", "m", "--save"]);
    run.fails_with(1, &["no way to offer tools led to one right call"]);
    assert!(!place.path(".config/toolgraft/profiles.toml").exists());
}

#[test]
fn an_endpoint_that_is_gone_ends_the_probe_with_one_error() {
    let place = Place::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let run = place.run(&["probe", "--quick", "--base-url", &format!("http://127.0.0.1:{port}/v1"), "--model", "m"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains(&port.to_string()) && !run.err.contains("left out"), "{}", run.err);
}
