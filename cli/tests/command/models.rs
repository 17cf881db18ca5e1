//! `toolgraft models` against endpoints that say much of themselves, and little.

use std::fs;

use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::process::Place;

/// An endpoint that describes itself as llama.cpp does.
fn llama_cpp() -> Endpoint {
    let caps = json!({"supports_tools": true, "supports_tool_calls": true});
    let props = json!({"chat_template_caps": caps, "build_info": "b9652", "modalities": {"vision": true},
        "default_generation_settings": {"n_ctx": 4096}, "chat_template": "{% if tools %}<tool_call>{% endif %}"});
    Endpoint::setup().models(&["big", "small"]).serves("/props", props).answer(|_, _| Reply::text("No."))
}

#[test]
fn what_is_known_of_each_model_is_told() {
    let (endpoint, place) = (llama_cpp(), Place::new());
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(
        ".config/toolgraft/config.toml",
        "[[probed]]\nname = \"small\"\nway = \"measured\"\ncall_threshold = -5.34\n",
    );
    let run = place.run(&["models", &endpoint.url()]).ok();
    assert!(run.out.starts_with(&format!("{}\n", endpoint.url())), "{}", run.out);
    assert!(
        run.out.contains("\n  big  4096 tokens, takes tools, reads images, its template writes hermes\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("\n    kept: call_threshold -5.34, way measured\n"), "{}", run.out);
    assert!(endpoint.seen().iter().all(|seen| seen.body.get("messages").is_none()), "no model is asked anything");

    let listed = place.run(&["models", "--base-url", &endpoint.url(), "--json"]).ok().json();
    let one = place.run(&["models", &endpoint.url(), "--model", "small"]).ok();
    assert!(one.out.contains("\n  small  ") && !one.out.contains("  big  "), "{}", one.out);
    let models = &listed[0]["models"];
    assert_eq!(
        (&models[0]["model"], &models[0]["context"], &models[0]["tools"]),
        (&json!("big"), &json!(4096), &json!(true))
    );
    assert_eq!((&models[0]["kept"], &models[1]["kept"]["way"]), (&json!({}), &json!("measured")));
}

#[test]
fn what_says_nothing_is_listed_and_what_is_not_there_is_named() {
    let endpoint = Endpoint::setup().models(&["m\u{1b}[2J"]).answer(|_, _| Reply::text("No."));
    let run = Place::new().run(&["models", &endpoint.url()]).ok();
    assert!(run.out.contains("the endpoint reports nothing about it") && !run.out.contains('\u{1b}'), "{}", run.out);
    Place::new()
        .run(&["models", "http://127.0.0.1:9/v1"])
        .fails_with(1, &["the list of models could not be read", "127.0.0.1:9"]);
}

/// An endpoint that knows who asks.
fn wants_key(key: &'static str, answer: &'static str) -> Endpoint {
    Endpoint::setup().models(&["big", "small"]).answer(move |request, _| match request.header("authorization") {
        Some(sent) if sent == format!("Bearer {key}") => Reply::text(answer),
        _ => Reply::text("A stranger."),
    })
}

#[test]
fn endpoints_and_models_have_names() {
    let (one, two, place) = (wants_key("first", "The first."), wants_key("second", "The second."), Place::new());
    let set = |key: &str, value: &str| place.run(&["config", "set", key, value]).ok();
    set("endpoints.one.url", &one.url());
    set("endpoints.one.key_command", "echo first");
    set("endpoints.one.model", "small");
    set("endpoints.two.url", &two.url());
    set("endpoints.two.key_variable", "SECOND");
    set("models.quick", "two:small");
    set("base_url", "one");

    let ask = |flags: &[&str]| {
        place.run_with(&[&["chat"], flags, &["Who?"]].concat(), |command| command.env("SECOND", "second")).ok().out
    };
    assert_eq!(ask(&[]), "The first.\n");
    assert_eq!(ask(&["-m", "quick"]), "The second.\n");
    assert_eq!(ask(&["-m", "two:big"]), "The second.\n");
    assert_eq!(ask(&["--base-url", "two", "-m", "big"]), "The second.\n");
    assert_eq!(ask(&["--base-url", &two.url(), "-m", "big"]), "A stranger.\n", "the keys are those of the names");
    let models: Vec<String> =
        [&one, &two].iter().filter_map(|at| Some(at.seen().last()?.body["model"].to_string())).collect();
    assert_eq!(models, ["\"small\"", "\"big\""]);

    let listed = place.run_with(&["models"], |command| command.env("SECOND", "second")).ok();
    for line in [format!("one at {}", one.url()), format!("two at {}", two.url()), "  small = quick  ".to_owned()] {
        assert!(listed.out.contains(&line), "{line}: {}", listed.out);
    }
    let shown = place.run(&["config"]).ok().out;
    assert!(shown.contains("[endpoints.two]") && shown.contains("quick = \"two:small\""), "{shown}");
    place.run(&["config", "unset", "models.quick"]).ok();
    let file = std::fs::read_to_string(place.path(".config/toolgraft/config.toml")).unwrap();
    assert!(!file.contains("[models]") && file.contains("[endpoints.one]"), "{file}");

    place
        .run(&["chat", "-m", "two:big", "Who?"])
        .fails_with(2, &["endpoint two: the variable SECOND, which should hold the key, is not set"]);
    place.run(&["chat", "--base-url", "twos", "Who?"]).fails_with(2, &["no endpoint is called \"twos\"", "\"two\""]);
    place.run(&["config", "set", "endpoints.x.key", "secret"]).fails_with(2, &["endpoints.x", "unknown field `key`"]);
}

#[test]
fn a_model_that_is_not_listed_is_asked_with_a_warning() {
    let endpoint = Endpoint::setup().models(&["big", "small"]).answer(|_, _| Reply::text("No."));
    let run = Place::new().run(&["chat", "--base-url", &endpoint.url(), "-m", "smal", "Who?"]).ok();
    assert_eq!(run.out, "No.\n");
    assert!(run.err.contains("the endpoint does not list smal; nearest: small"), "{}", run.err);
}
