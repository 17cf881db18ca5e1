//! The demo: a recorded model, a real MCP server over stdio, the whole loop.

use crate::process::Place;
use serde_json::Value;

fn demo(lang: &str, dialect: &str) -> String {
    Place::new().run(&["demo", "--lang", lang, "--dialect", dialect]).quiet().out
}

/// The bodies of the boxes whose title begins so, in order.
fn boxes<'a>(out: &'a str, title: &str) -> Vec<&'a str> {
    let start = format!("+-- {title}");
    out.match_indices(&start)
        .map(|(at, _)| {
            let body = &out[at..];
            let body = &body[body.find('\n').unwrap()..];
            &body[..body.find("\n+--").unwrap()]
        })
        .collect()
}

/// What the server said, from the second line of an outcome's box.
fn structured(out: &str, id: &str) -> Value {
    let bodies = boxes(out, &format!("{id}: result"));
    assert_eq!(bodies.len(), 1, "{id}");
    serde_json::from_str(bodies[0].lines().last().unwrap().trim_start_matches("| ")).unwrap()
}

fn holds(lang: &str, dialect: &str) {
    let out = demo(lang, dialect);

    let drafts = boxes(&out, "draft: weather_query, not run (in_reasoning)");
    assert_eq!(drafts.len(), 1, "{out}");
    let running: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("running ")).collect();
    assert_eq!(running, ["call_1: demo.location_query", "call_2: demo.weather_query"], "the draft does not run");
    assert_eq!(out.matches("its stream was cancelled").count(), 1);
    assert!(!out.contains("London") && !out.contains("伦敦"), "an invented result is not shown");

    let (place, weather) = (structured(&out, "call_1"), structured(&out, "call_2"));
    let city = place[if lang == "zh" { "local_name" } else { "city" }].as_str().unwrap();
    let asked: Value =
        serde_json::from_str(boxes(&out, "call: demo.weather_query")[0].trim_start_matches("\n| ")).unwrap();
    assert_eq!(asked["city"], city, "the second call is made from the first one's result");

    let answer = &out[out.rfind("[answer]\n").unwrap()..];
    let degrees = format!("{} °C", weather["temperature_c"]);
    let humidity = weather["humidity_percent"].to_string();
    for value in [city, &degrees, &humidity, &weather["wind_kmh"].to_string()] {
        assert!(answer.contains(value), "{value} in {answer}");
    }
    assert!(!answer.contains("TYPE:") && !answer.contains("{{"), "{answer}");

    let sizes: Vec<&str> = out.lines().filter(|line| line.contains("tokens (o200k)")).collect();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert!(out.ends_with("the model answered: 3 rounds, 2 calls\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn the_demo_holds_in_english_with_use_mcp_tool() {
    holds("en", "use_mcp_tool");
}

#[test]
fn the_demo_holds_in_english_with_tool_tag() {
    holds("en", "tool_tag");
}

#[test]
fn the_demo_holds_in_english_with_type_marker() {
    holds("en", "type_marker");
}

#[test]
fn the_demo_holds_in_chinese_with_use_mcp_tool() {
    holds("zh", "use_mcp_tool");
}

#[test]
fn the_demo_holds_in_chinese_with_tool_tag() {
    holds("zh", "tool_tag");
}

#[test]
fn the_demo_holds_in_chinese_with_type_marker() {
    holds("zh", "type_marker");
}

#[test]
fn without_flags_the_demo_is_english_with_type_marker() {
    let out = Place::new().run(&["demo"]).ok().out;
    let same = |out: &str| out.lines().filter(|line| !line.contains(" ms")).collect::<Vec<_>>().join("\n");
    assert_eq!(same(&out), same(&demo("en", "type_marker")));
}

#[test]
fn the_recordings_are_whole_and_replay() {
    for lang in ["en", "zh"] {
        for dialect in ["use_mcp_tool", "tool_tag", "type_marker"] {
            let path = format!("{}/cli/demo/{lang}/{dialect}.jsonl", crate::process::ROOT);
            let recording = toolgraft::transcript::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert!(recording.cut.is_none() && recording.notes.is_empty(), "{path}: {:?}", recording.notes);
            assert_eq!(recording.rounds.len(), 3, "{path}");
            assert_eq!(recording.session.dialect.unwrap().to_string(), dialect);
        }
    }
}

#[test]
fn the_help_names_the_command_to_begin_with() {
    assert!(Place::new().run(&["--help"]).ok().out.contains("Start with `toolgraft demo`"));
}

#[test]
fn wrong_flags_are_named_with_what_is_right() {
    for (flag, value, remedy) in
        [("--lang", "de", "en, zh"), ("--dialect", "json", "type_marker"), ("--speed", "0", "a factor above 0")]
    {
        let run = Place::new().run(&["demo", flag, value]);
        run.fails_with(2, &[flag, remedy]);
        assert!(!run.err.contains("auto"), "the demo teaches one dialect: {}", run.err);
    }
}
