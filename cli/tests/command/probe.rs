//! `toolgraft probe` against a model that calls in one dialect only.

use std::time::Duration;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen, call, stops, token};

use crate::process::Place;

const CALL: &str = "<use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"city\": \"Oslo\"}\n</arguments>\n</use_mcp_tool>";

fn answer(request: &Seen, _: usize) -> Reply {
    let is_told = request.messages().contains("<use_mcp_tool>");
    Reply::text(if is_told && request.question().contains("Oslo") { CALL } else { "I do not know." })
}

/// Writes eight of the built-in tasks, two of which want no call; each way is put all of them.
pub(crate) fn eight_tasks(place: &Place) -> [&'static str; 3] {
    let mut tasks: Value = serde_json::from_str(include_str!("../../src/probe/tasks.json")).unwrap();
    for (kind, most) in [("call", 4), ("calls", 1), ("none", 2), ("result", 1)] {
        tasks[kind].as_array_mut().unwrap().truncate(most);
    }
    place.write("eight.json", tasks.to_string());
    ["--full", "--tasks", "eight.json"]
}

#[test]
fn an_endpoint_that_refuses_the_key_ends_it_at_once() {
    let endpoint = Endpoint::answer(|_, _| Reply::refused(401, "no key"));
    let run = Place::new().run(&["probe", "--base-url", &endpoint.url(), "--model", "m"]);
    run.refuses(1, "HTTP 401: no key");
    assert!(endpoint.requests() == 1 && run.err.lines().count() == 1, "{}", run.err);
}

#[test]
fn the_keys_of_a_probe_come_from_all_sources() {
    let endpoint = Endpoint::answer(|_, _| Reply::refused(401, "no key"));
    let probe = ["probe", "--base-url", &endpoint.url(), "--model", "m"];
    Place::new().run_with(&probe, |command| command.env("TOOLGRAFT_MAX_TOKENS", "77")).refuses(1, "HTTP 401");
    assert_eq!(endpoint.seen()[0].body["max_tokens"], 77);
}

#[test]
fn the_best_way_becomes_a_profile() {
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    let url = endpoint.url();
    let probe = ["probe", "--json", "--yes", "--base-url", &url, "--model", "m"];
    let probe = [&probe[..], &eight_tasks(&place)].concat();
    let report = place.run(&probe).ok().json();
    assert_eq!((&report["model"], &report["tools"], &report["cut"]), (&json!("m"), &json!(12), &json!(false)));
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
    // Four more are tried for what the endpoint does not give.
    assert_eq!((oslo.len(), oslo.iter().filter(|seen| is_held(seen)).count()), (25 + 4, 8 + 4));
    let unwanted: Value = serde_json::from_str(include_str!("../../src/probe/tasks.json")).unwrap();
    let unwanted = of(unwanted["none"][0]["question"].as_str().unwrap());
    assert!(unwanted.len() == 13 && !unwanted.iter().any(|seen| is_held(seen)), "{}", unwanted.len());
    // What was tried is kept, and what was left out may be there by now.
    place.run(&probe).ok();
    assert_eq!(endpoint.requests(), 4);
    let saved = std::fs::read_to_string(place.path(".config/toolgraft/config.toml")).unwrap();
    assert!(
        saved.contains(
            "tools_mode = \"prompt\"
dialect = \"use_mcp_tool\""
        ),
        "{saved}"
    );
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
    let url = endpoint.url();
    let run = ["probe", "--json", "--yes", "--base-url", &url, "--model", "m"];
    let report = place.run(&[&run[..], &only, &eight_tasks(&place)].concat()).ok().json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows[0]["cell"], "use_mcp_tool, compact, signature, measured", "{report}");
    assert_eq!((&rows[0]["fully_right"], &rows[0]["false_calls"]), (&json!(1), &json!(0)), "{report}");
    let saved = std::fs::read_to_string(place.path(".config/toolgraft/config.toml")).unwrap();
    assert!(saved.contains("way = \"measured\"\ncall_threshold = -"), "{saved}");
}

#[test]
fn half_of_the_time_chooses_a_way_and_the_rest_is_its_own() {
    let endpoint = Endpoint::answer(|request, number| {
        // The second task takes more than half of six seconds.
        std::thread::sleep(Duration::from_millis(if number == 1 { 3_500 } else { 0 }));
        answer(request, number)
    });
    let probe = ["probe", "--json", "--time", "0.1", "--only", "use_mcp_tool", "--model", "m"];
    let run = Place::new().run(&[&probe[..], &["--base-url", &endpoint.url()]].concat()).ok();
    let rows = run.json()["rows"].as_array().unwrap().len();
    assert_eq!(rows, 1, "{}", run.err);
}

#[test]
fn a_way_that_is_constrained_is_left_out_where_the_endpoint_takes_no_form() {
    let endpoint = Endpoint::answer(|request, number| match request.body.get("response_format") {
        Some(_) => Reply::refused(400, "response_format is not known"),
        None => answer(request, number),
    });
    let place = Place::new();
    let url = endpoint.url();
    let probe = ["probe", "--json", "--base-url", &url, "--model", "m"];
    let run = place.run(&[&probe[..], &eight_tasks(&place)].concat()).ok();
    let report = run.json();
    let cells: Vec<&str> = report["rows"].as_array().unwrap().iter().map(|row| row["cell"].as_str().unwrap()).collect();
    assert!(cells.len() == 13 && !cells.iter().any(|cell| cell.contains("constrained")), "{cells:?}");
    assert_eq!(run.err.matches(", constrained is left out: ").count(), 12, "{}", run.err);
    assert!(run.err.contains("cannot be constrained to its structure"), "{}", run.err);
}

#[test]
fn only_the_ways_that_are_named_are_tried() {
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    let url = endpoint.url();
    let probe = |only: &[&str]| {
        let probe = ["probe", "--json", "--base-url", &url, "--model", "m"];
        place.run(&[&probe[..], only, &eight_tasks(&place)].concat())
    };
    let report = probe(&["--only", "tool_tag, compact", "--only", "native"]).json();
    let rows = report["rows"].as_array().unwrap();
    let is_named = |row: &&Value| {
        let cell = row["cell"].as_str().unwrap();
        cell == "native" || cell.starts_with("tool_tag, compact")
    };
    assert_eq!((rows.len(), rows.iter().filter(is_named).count()), (5, 5), "{report}");
    probe(&["--only", "tool-tag"]).refuses(2, "no way contains that text; there are\n  native\n");
}

#[test]
fn the_model_s_mother_tongue_is_tried_too_and_any_other_where_it_is_named() {
    let template = "{%- if tools %}<tool_call>{{ call | tojson }}</tool_call>{%- endif %}";
    let props = json!({"chat_template": template, "build_info": "b9652"});
    let endpoint = Endpoint::setup().models(&["m"]).serves("/props", props).answer(answer);
    let url = endpoint.url();
    let tried = |flags: &[&str]| {
        let place = Place::new();
        let run = place.run(&[&["probe", "--json", "--base-url", &url], flags, &eight_tasks(&place)].concat());
        let report = run.json();
        let rows = report["rows"].as_array().unwrap().iter();
        rows.map(|row| row["cell"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    let tried_free = tried(&["--only", "compact, signature"]);
    assert!(tried_free.contains(&"hermes, compact, signature".to_owned()), "{tried_free:?}");
    assert!(!tried_free.iter().any(|cell| cell.starts_with("glm")), "{tried_free:?}");
    let named = tried(&["--only", "glm, compact"]);
    assert!(!named.is_empty() && named.iter().all(|cell| cell.starts_with("glm, compact")), "{named:?}");
}

#[test]
fn a_model_that_never_calls_has_no_best_way() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("I do not know."));
    let place = Place::new();
    let url = endpoint.url();
    let probe = ["probe", "--base-url", &url, "--model", "m", "--yes", "--only", "compact, signature"];
    let run = place.run(&[&probe[..], &eight_tasks(&place)].concat());
    run.fails_with(1, &["no way to offer tools led to one correct call"]);
    assert!(!place.path(".config/toolgraft/config.toml").exists());
}

#[test]
fn an_endpoint_that_is_gone_ends_the_probe_with_one_error() {
    let place = Place::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let run = place.run(&["probe", "--base-url", &format!("http://127.0.0.1:{port}/v1"), "--model", "m"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains(&port.to_string()) && !run.err.contains("left out"), "{}", run.err);
}

/// One tool and a question of each kind.
const OWN: &str = r#"{
 "tools": [{"name": "light", "description": "Switches a light.",
            "inputSchema": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}}],
 "call": [{"question": "Hall, please.", "tool": "light", "arguments": {"room": "hall"}}],
 "calls": [{"question": "Hall and den.", "calls": [{"tool": "light", "arguments": {"room": "hall"}},
                                                   {"tool": "light", "arguments": {"room": "den"}}]}],
 "none": [{"question": "Hello!"}],
 "result": [{"question": "Den. How many are on?", "tool": "light", "arguments": {"room": "den"},
             "result": "Done: 7 are on.", "value": "7"}]
}"#;

fn light(room: &str) -> String {
    format!(
        "<use_mcp_tool>\n<tool_name>light</tool_name>\n<arguments>\n{{\"room\": \"{room}\"}}\n</arguments>\n</use_mcp_tool>"
    )
}

#[test]
fn tasks_of_a_person_s_own_are_put() {
    let endpoint = Endpoint::answer(|request, _| {
        let question = request.question();
        Reply::text(&match () {
            () if question.contains("Hall and den") => format!("{}\n{}", light("hall"), light("den")),
            () if question.contains("Hall, please") => light("hall"),
            () if question.contains("7 are on") => "There are 7.".to_owned(),
            () if question.contains("How many") => light("den"),
            () => "Hello.".to_owned(),
        })
    });
    let place = Place::new();
    place.write("own.json", OWN);
    let url = endpoint.url();
    let only = "use_mcp_tool, full, signature";
    let probe = ["probe", "--tasks", "own.json", "--only", only, "--full", "--json", "--base-url", &url];
    let run = place.run(&[&probe[..], &["--model", "m"]].concat()).ok();
    let report = run.json();
    let row = |name: &str| {
        let rows = report["rows"].as_array().unwrap();
        rows.iter()
            .find(|row| row["cell"].as_str().unwrap() == name)
            .unwrap_or_else(|| panic!("{name}: {report}"))
            .clone()
    };
    let ours = row(only);
    let figures = |row: &Value, names: [&str; 6]| names.map(|name| row[name].as_u64().unwrap());
    let names = ["wanted", "fully_right", "several_right", "false_calls", "used", "unwanted"];
    assert_eq!(figures(&ours, names), [3, 3, 1, 0, 1, 1], "{ours}");
    assert_eq!(report["best"]["cell"], only, "{report}");
    assert!(run.err.contains("chat, launch and serve use it"), "{}", run.err);
    place.write("own.json", r#"{"tools": [], "none": [{"question": "?"}], "cal": []}"#);
    place.run(&[&probe[..], &["--model", "m"]].concat()).refuses(2, "--tasks own.json: unknown field `cal`");
}

#[test]
fn the_way_is_reported_on_tasks_that_did_not_choose_it() {
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    let url = endpoint.url();
    let only = ["--only", "use_mcp_tool, compact, signature", "--only", "tool_tag, compact, signature"];
    let run = place.run(&[&["probe", "--json", "--base-url", &url, "--model", "m"], &only[..]].concat()).ok();
    let best = &run.json()["best"];
    assert_eq!((&best["cell"], &best["apart"]), (&json!("use_mcp_tool, compact, signature"), &json!(true)), "{best}");
    assert_eq!(best["tasks"], 25, "{best}");
    assert!(run.err.contains("On 25 tasks that were not used to choose it: 0/1"), "{}", run.err);
    assert!(run.err.contains("keep the question before each call"), "{}", run.err);
}

#[test]
fn what_a_correction_brings_is_counted_apart() {
    // The first call lacks its argument; told so, the model writes it.
    let endpoint = Endpoint::answer(|request, _| {
        let messages = request.messages();
        let is_told = messages.contains("<use_mcp_tool>") && request.body.get("response_format").is_none();
        match () {
            () if !is_told || !messages.contains("Oslo") => Reply::text("I do not know."),
            () if request.body["messages"].as_array().unwrap().len() > 2 => Reply::text(CALL),
            () => Reply::text(&CALL.replace("{\"city\": \"Oslo\"}", "{}")),
        }
    });
    let place = Place::new();
    let only = "use_mcp_tool, full, signature";
    let url = endpoint.url();
    let probe = ["probe", "--json", "--only", only, "--base-url", &url, "--model", "m"];
    let report = place.run(&[&probe[..], &eight_tasks(&place)].concat()).ok().json();
    let row = &report["rows"][0];
    let accepted: Vec<&Value> = row["corrected"].as_array().unwrap().iter().map(|after| &after["accepted"]).collect();
    assert_eq!(accepted, [&json!(0), &json!(1), &json!(1)], "{report}");
}

/// Reads the file of one job, natively where the request has tools; writes the one of another as a call in its text.
fn works(request: &Seen, _: usize) -> Reply {
    let (question, is_native) = (request.question(), request.body.get("tools").is_some());
    let in_text = |tool: &str, arguments: Value| {
        let arguments = format!("<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n</arguments>");
        Reply::text(&format!("<use_mcp_tool>\n{arguments}\n</use_mcp_tool>"))
    };
    let path = json!({"path": "/home/kim/notes/door.txt"});
    match () {
        () if request.messages().contains("7741") => Reply::text("The code is 7741."),
        () if request.messages().contains("Successfully wrote") => Reply::text("Done."),
        () if question.contains("tell me the code of the door") && is_native => {
            Reply::events(&[call("read_text_file", &path.to_string()), stops("tool_calls")]).done()
        }
        () if question.contains("tell me the code of the door") => in_text("read_text_file", path),
        () if question.contains("Write a new file") => {
            let path = "/home/kim/notes/call.txt";
            in_text("write_file", json!({"path": path, "content": "Call Anna on Friday."}))
        }
        () => Reply::text("I do not know."),
    }
}

#[test]
fn whole_jobs_run_to_their_end_and_a_server_s_own_calls_can_be_all_that_counts() {
    let endpoint = Endpoint::answer(works);
    let place = Place::new();
    let (url, ours, alone) = (endpoint.url(), "use_mcp_tool, full, signature", "native, tool_calls alone");
    let flags = ["--only", ours, "--only", alone, "--base-url", &url, "--model", "m"];
    let probe = [&["probe", "--jobs", "tune", "--json"], &flags[..]].concat();
    let report = place.run(&probe).ok().json();
    let rows = report["rows"].as_array().unwrap();
    let row = |cell: &str| rows.iter().find(|row| row["cell"] == cell).unwrap_or_else(|| panic!("{cell}: {report}"));
    let trial = |cell: &str, job: &str| {
        let trials = row(cell)["trials"].as_array().unwrap();
        let found = trials.iter().find(|trial| trial["job"] == job).unwrap();
        ["wanted", "right", "calls", "requests", "answered", "state"].map(|key| found[key].clone())
    };
    let done = [json!(1), json!(1), json!(1), json!(2), json!(true), json!(true)];
    assert_eq!((trial(alone, "filesystem-1"), trial(ours, "filesystem-1")), (done.clone(), done.clone()), "{report}");
    assert_eq!(trial(ours, "filesystem-3"), done, "{report}");
    let untouched = [json!(1), json!(0), json!(0), json!(1), json!(false), json!(false)];
    assert_eq!(trial(alone, "filesystem-3"), untouched, "a call in its text is not the server's");
    let scores = row(ours)["scores"].as_array().unwrap();
    let counts = |score: &Value| (score["kind"].clone(), score["jobs"].clone(), score["done"].clone());
    let kinds =
        [(Value::Null, 30), (json!("one"), 10), (json!("two"), 4), (json!("dependent"), 10), (json!("none"), 6)];
    let jobs = scores.iter().map(|score| (score["kind"].clone(), score["jobs"].as_u64().unwrap()));
    assert_eq!(jobs.collect::<Vec<_>>(), kinds, "{report}");
    assert_eq!(counts(&scores[1]), (json!("one"), json!(10), json!(2)), "{report}");
    // What was tried is kept; the table has a line for each kind.
    endpoint.take_seen();
    let table = place.run(&[&["probe", "--jobs", "tune"], &flags[..]].concat()).ok().out;
    assert_eq!(endpoint.requests(), 0);
    assert!(table.contains("dependent steps") && table.matches("one call").count() == rows.len(), "{table}");
}

#[test]
fn without_a_way_that_is_named_jobs_are_put_to_the_best_that_is_known() {
    let endpoint = Endpoint::answer(answer);
    let place = Place::new();
    let url = endpoint.url();
    let run = |flags: &[&str]| place.run(&[&["probe", "--base-url", &url, "--model", "m", "--json"], flags].concat());
    run(&["--jobs"]).refuses(2, "no probe of this model is known here: run `toolgraft probe` first");
    let best = run(&["--only", "compact, signature"]).ok().json()["best"]["cell"].clone();
    let report = run(&["--jobs"]).ok().json();
    assert_eq!((&report["rows"][0]["cell"], &report["half"]), (&best, &json!("report")), "{report}");
    assert_eq!(report["rows"].as_array().unwrap().len(), 1, "{report}");
    run(&["--jobs", "--full"]).refuses(2, "cannot be used with");
    run(&["--jobs", "--only", "constrained"]).refuses(2, "--only: a way with a forced call cannot do jobs");
}
