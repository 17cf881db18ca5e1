//! The demo: a recorded model, a real MCP server over stdio, the whole loop.

use crate::process::Place;
use serde_json::Value;

fn demo(lang: &str) -> String {
    Place::new().run(&["demo", "--lang", lang]).quiet().out
}

/// The recording's text in this language.
fn said(lang: &str) -> fn(&'static str, &'static str) -> &'static str {
    if lang == "zh" { |_, chinese| chinese } else { |english, _| english }
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

/// Returns the server's result, from the second line of an outcome's box.
fn structured(out: &str, title: &str) -> Value {
    let bodies = boxes(out, title);
    assert_eq!(bodies.len(), 1, "{title}");
    serde_json::from_str(bodies[0].lines().last().unwrap().trim_start_matches("| ")).unwrap()
}

fn holds(lang: &str) {
    let (out, say) = (demo(lang), said(lang));

    let draft = "draft, not run: weather_query (in_reasoning)";
    assert_eq!(boxes(&out, draft).len(), 1, "{out}");
    let running: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("running ")).collect();
    let calls = ["call 1: demo.location_query", "call 2: demo.weather_query"];
    assert_eq!(running, calls, "the draft does not run");
    assert_eq!(out.matches("its stream was cancelled").count(), 1);
    let invented = say("The tool says that you are in London, so", "工具返回：您在伦敦，所以");
    let told: Vec<&str> = out.lines().filter(|line| line.contains("London") || line.contains("伦敦")).collect();
    assert!(told.len() == 1 && told[0].contains(invented), "an invented result is named, and no more: {told:?}");

    let result = |number: u32| structured(&out, &format!("call {number}: result"));
    let (place, weather) = (result(1), result(2));
    let city = place[if lang == "zh" { "local_name" } else { "city" }].as_str().unwrap();
    let asked: Value = serde_json::from_str(boxes(&out, calls[1])[0].trim_start_matches("\n| ")).unwrap();
    assert_eq!(asked["city"], city, "the second call is made from the first one's result");

    let answer = &out[out.rfind("[answer]\n").unwrap()..];
    let degrees = format!("{} °C", weather["temperature_c"]);
    let humidity = weather["humidity_percent"].to_string();
    for value in [city, &degrees, &humidity, &weather["wind_kmh"].to_string()] {
        assert!(answer.contains(value), "{value} in {answer}");
    }
    assert!(!answer.contains("TYPE:") && !answer.contains("{{"), "{answer}");

    let sizes: Vec<&str> = out.lines().filter(|line| line.contains("o200k")).collect();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert!(out.ends_with("the model answered: 3 rounds, 2 calls\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn the_demo_holds_in_english() {
    holds("en");
}

#[test]
fn the_demo_holds_in_chinese() {
    holds("zh");
}

#[test]
fn without_flags_the_demo_is_english() {
    let out = Place::new().run(&["demo"]).ok().out;
    let same = |out: &str| out.lines().filter(|line| !line.contains(" ms")).collect::<Vec<_>>().join("\n");
    assert_eq!(same(&out), same(&demo("en")));
}

#[test]
fn the_locale_changes_nothing() {
    let place = Place::new();
    let chinese = |args: &[&str]| place.run_with(args, |command| command.env("LANG", "zh_CN.UTF-8")).quiet().out;
    assert!(chinese(&["demo"]).contains("user: I am about to go out"));
    assert_eq!(chinese(&["chat", "--help"]), place.run(&["chat", "--help"]).quiet().out);
}

#[test]
fn what_the_demo_keeps_replays_as_what_it_showed() {
    for lang in ["en", "zh"] {
        let place = Place::new();
        let run = place.run(&["demo", "--lang", lang, "--record", "demo.jsonl"]).quiet();
        let city =
            structured(&run.out, "call 1: result")[said(lang)("city", "local_name")].as_str().unwrap().to_owned();
        let shown = place.run(&["replay", "--check", "demo.jsonl"]).quiet().out;
        assert!(!shown.contains("{{") && shown.contains("as expected") && shown.contains(&city), "{shown}");
        assert!(shown.contains(said(lang)("user: I am about to go out", "user: 我马上要出门")), "{shown}");
        let page = place.run(&["replay", "--html", "-", "demo.jsonl"]).quiet().out;
        let page = crate::replay_page::text_of(&page);
        assert!(page.contains(&city) && page.contains(said(lang)("London", "伦敦")), "{page}");
        assert!(page.contains("invented a result"), "{page}");
        place.run(&["demo", "--record", "demo.jsonl"]).refuses(2, "demo.jsonl exists already");
    }
}

/// A browser that writes down what it is to open.
#[cfg(unix)]
pub(crate) fn browser(place: &Place) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = place.dir.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let script = format!("#!/bin/sh\nprintf %s \"$1\" > {0}/new && mv {0}/new {0}/opened\n", folder.display());
    std::fs::write(folder.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(folder.join("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

/// Returns the page that the browser was told to open.
#[cfg(unix)]
pub(crate) fn opened(place: &Place) -> String {
    let file = place.dir.path().join("bin/opened");
    for _ in 0..600 {
        if let Ok(page) = std::fs::read_to_string(&file) {
            return page;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("nothing was opened");
}

#[test]
fn the_recordings_are_whole_and_replay() {
    for lang in ["en", "zh"] {
        let path = format!("{}/cli/demo/{lang}.jsonl", crate::process::ROOT);
        let recording = toolgraft::transcript::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert!(recording.cut.is_none() && recording.notes.is_empty(), "{path}: {:?}", recording.notes);
        assert_eq!(recording.rounds.len(), 3, "{path}");
        assert_eq!(recording.session.dialect.unwrap().to_string(), "type_marker");
    }
}

#[test]
fn the_help_names_the_command_to_begin_with() {
    assert!(Place::new().run(&["--help"]).ok().out.contains("Start with `toolgraft demo`"));
}

#[test]
fn wrong_flags_are_named_with_what_is_right() {
    Place::new().run(&["demo", "--lang", "de"]).fails_with(2, &["--lang", "en, zh"]);
}
