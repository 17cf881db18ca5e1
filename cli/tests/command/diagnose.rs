//! `toolgraft probe --diagnose` against endpoints with and without faults.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, call, says, stops};

use crate::process::Place;

const CALL: &str = "<use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"city\": \"Oslo\"}\n</arguments>\n</use_mcp_tool>";

/// The properties that llama.cpp reports of itself.
fn props() -> Value {
    let caps = json!({"supports_tools": true, "supports_tool_calls": true});
    json!({"chat_template_caps": caps, "build_info": "b9652-6eab47181", "default_generation_settings": {"n_ctx": 4096},
        "chat_template": "{% if tools %}<tool_call>{% endif %}"})
}

/// An endpoint that answers a request with tools so, one whose history holds a result so, and one by
/// prompt with a right call.
fn endpoint(native: Reply, history: Reply) -> Endpoint {
    Endpoint::setup().models(&["m"]).serves("/props", props()).answer(move |request, _| {
        match (request.body.get("tools"), request.messages().contains("\"tool\"")) {
            (Some(_), false) => native.clone(),
            (Some(_), true) => history.clone(),
            (None, _) => Reply::text(CALL),
        }
    })
}

fn calls() -> Reply {
    Reply::events(&[call("get_weather", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done()
}

fn report(endpoint: &Endpoint) -> Value {
    Place::new().run(&["probe", "--diagnose", &endpoint.url(), "--json"]).ok().json()
}

#[test]
fn what_works_and_what_fails_is_told_with_the_remedy() {
    let failed = Reply::refused(500, "Failed to parse input at pos 12: </tool_call>");
    let text = Reply::events(&[
        says("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"),
        stops("stop"),
    ])
    .done();
    let empty = Reply::events(&[stops("tool_calls")]).done();
    for (native, history, outcome, mode, has_fault) in [
        (calls(), Reply::text("Rain."), "called", "auto", false),
        (text, Reply::text("Rain."), "in_text", "prompt", false),
        (calls(), Reply::text("I do not know."), "called", "prompt", false),
        (failed.clone(), failed.clone(), "failed", "prompt", true),
        (calls(), failed, "called", "prompt", true),
        (empty, Reply::text("Rain."), "empty", "prompt", false),
    ] {
        let endpoint = endpoint(native, history);
        let report = report(&endpoint);
        assert_eq!(report["trials"]["native"]["outcome"], outcome, "{report:#}");
        assert_eq!((&report["trials"]["prompt"]["outcome"], &report["tools_mode"]), (&json!("called"), &json!(mode)));
        assert_eq!(report["faults"].as_array().unwrap().len(), usize::from(has_fault), "{report:#}");
        if has_fault {
            assert!(report["faults"][0]["source"].as_str().unwrap().contains("llama.cpp/issues/24644"));
        }
        let said =
            (&report["server"], &report["version"], &report["context"], &report["says_tools"], &report["template"]);
        let props = (json!("llama.cpp"), json!("b9652-6eab47181"), json!(4096), json!(true), json!("hermes"));
        assert_eq!(said, (&props.0, &props.1, &props.2, &props.3, &props.4), "{report:#}");
        assert!(report["advice"].to_string().contains("(-c)"), "the context is short: {report:#}");
        assert_eq!(endpoint.requests() - 1, 3, "and the list of models");
    }
}

#[test]
fn a_person_reads_it_in_lines() {
    let endpoint = endpoint(Reply::refused(500, "XML syntax error on line 7: unexpected EOF"), Reply::text("Rain."));
    let place = Place::new();
    let text = place.run(&["probe", "--diagnose", &endpoint.url()]).ok().out;
    for line in [
        "tools in the request    failed: ",
        "tools in the prompt     a right call",
        "known fault",
        "--set tools_mode=prompt",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn an_endpoint_where_no_call_comes_fails_and_one_that_says_nothing_is_told_of() {
    let endpoint = Endpoint::setup().models(&["m"]).answer(|_, _| Reply::text("I do not know."));
    let done = Place::new().run(&["probe", "--diagnose", &endpoint.url(), "--json"]);
    assert!(done.code == Some(1) && done.err.contains("no call came"), "{}", done.err);

    let endpoint = Endpoint::setup().models(&["m"]).answer(|_, _| Reply::refused(401, "no key"));
    let done = Place::new().run(&["probe", "--diagnose", &endpoint.url()]);
    done.fails_with(1, &["error: the endpoint answered no request"]);
    assert!(done.out.contains("no request was answered: fix what the first failure reports"), "{}", done.out);

    let endpoint = Endpoint::setup()
        .models(&["m"])
        .answer(|request, _| if request.messages().contains("13 degrees") { Reply::text("Rain.") } else { calls() });
    let report = report(&endpoint);
    assert_eq!((&report["says_tools"], &report["tools_mode"]), (&Value::Null, &json!("native")), "{report:#}");
}

#[test]
fn what_the_endpoint_refuses_is_learned() {
    let endpoint =
        Endpoint::setup().models(&["m"]).answer(|request, _| match request.messages().contains("\"system\"") {
            true => Reply::refused(400, "System role not supported"),
            false if request.body.get("tools").is_some() => calls(),
            false => Reply::text(CALL),
        });
    assert_eq!(report(&endpoint)["does_without"], json!(["system_role"]));
}

#[test]
fn what_serve_learned_is_told() {
    let endpoint = endpoint(calls(), Reply::text("Rain."));
    let place = Place::new();
    let entry = |model: &str, url: &str| json!({"endpoint": url, "model": model, "version": "b1", "fault": "failed"});
    let url = endpoint.url().replace("127.0.0.1", "localhost");
    let entries = json!([entry("m", &url), entry("other", &url), entry("m", "http://elsewhere/v1")]);
    std::fs::create_dir_all(place.path(".local/state/toolgraft")).unwrap();
    place.write(".local/state/toolgraft/learned.json", entries.to_string());
    let report = place.run(&["probe", "--diagnose", &endpoint.url(), "--json"]).ok().json();
    assert_eq!(report["learned"], json!([{"model": "m", "version": "b1", "fault": "failed"}]));
    let text = place.run(&["probe", "--diagnose", &endpoint.url()]).ok().out;
    assert!(text.contains("native calls fail at b1 (failed): tools go by prompt"), "{text}");
}
