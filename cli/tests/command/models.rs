//! `toolgraft models` against endpoints that say much of themselves, and little.

use std::fs;

use serde_json::json;

use crate::endpoint::{Endpoint, Reply};
use crate::process::Place;

/// What llama.cpp says of itself.
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
        ".config/toolgraft/profiles.toml",
        "[[model]]\nname = \"small\"\nway = \"measured\"\ncall_threshold = -5.34\n",
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
    let run = Place::new().run(&["models", &endpoint.url(), "--lang", "zh"]).ok();
    assert!(run.out.contains("没有说明") && !run.out.contains('\u{1b}'), "{}", run.out);
    Place::new()
        .run(&["models", "http://127.0.0.1:9/v1"])
        .fails_with(2, &["the list of models cannot be had", "127.0.0.1:9"]);
}
