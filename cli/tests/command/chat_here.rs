//! `/set` and `/allow`: what holds for the conversations in a folder.

use std::fs;

use crate::chat_terminal::Chat;
use crate::process::{Run, demo_server};
use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

/// A model that asks for the weather once, and then says what it got.
fn endpoint() -> Endpoint {
    Endpoint::answer(|request, _| match request.messages() {
        all if all.contains("made-up figures") => Reply::text("It is cold."),
        all if all.contains("declined") || all.contains("not allowed") => Reply::text("So be it."),
        all if all.contains("Weather?") => Reply::text(&mcp_call("demo", "weather_query", &json!({ "city": "Oslo" }))),
        _ => Reply::text("Hello."),
    })
}

fn chat() -> Chat {
    Chat::start_with(endpoint(), demo_server(), &["--model", "small-model"])
}

/// One question in the same folder, where nobody can be asked.
fn asked(chat: &Chat, question: &str) -> Run {
    let url = chat.endpoint.url();
    let args = [
        "chat", "--base-url", &url, "--model", "small-model", "--mcp-config", "mcp.json", "--set", "tools_mode=prompt",
    ];
    chat.place.run(&[&args[..], &[question]].concat())
}

#[test]
fn what_is_allowed_runs_unasked_in_this_folder_until_it_is_forgotten() {
    let mut chat = chat();
    chat.says("/allow");
    chat.sees("nothing is allowed for this folder");
    chat.says("/allow wether_query");
    chat.sees("/allow wether_query: no tool has such a name");
    chat.says("/allow weather_query");
    chat.sees("run without a question in this folder: demo.weather_query");
    chat.says("Weather?");
    let before = chat.sees("It is cold.");
    assert!(!before.contains("[y/a/n]"), "{before}");
    assert!(asked(&chat, "Weather?").ok().out.contains("It is cold."), "the next conversation knows of it");
    chat.says("/allow --forget other");
    chat.sees("other is not allowed for this folder");
    for name in ["demo/weather_query", "weather_query", "demo.weather_query"] {
        chat.says(&format!("/allow --forget {name}"));
        chat.sees(&format!("from the next conversation on: {name}"));
        chat.says("/allow");
        chat.sees("nothing is allowed for this folder");
        chat.says("/allow demo/weather_query");
        chat.sees("run without a question in this folder: demo.weather_query");
    }
    chat.says("/allow --forget demo.weather_query");
    chat.sees("from the next conversation on: demo.weather_query");
    assert!(!asked(&chat, "Weather?").out.contains("It is cold."));
    chat.leave();
}

#[test]
fn what_is_set_holds_at_once_and_for_the_next_conversation_in_this_folder() {
    let mut chat = chat();
    chat.says("/set");
    chat.sees("none of these keys is set");
    for (line, words) in [
        ("/set temperature hot", "temperature: "),
        ("/set temperatur 1", "no key \"temperatur\": "),
        ("/set temperatur 1", "did you mean"),
        ("/set model other", "/model NAME"),
        ("/set base_url http://x", "--base-url VALUE"),
        ("/set untrusted demo", "--untrusted VALUE"),
        ("/set history false", "config set history"),
        ("/set max_time 9", "no conversation has"),
        ("/set stop User:", "stop = [\"User:\"], for this folder"),
        ("/set stop '[\"A\", \"B\"]'", "stop = [\"A\",\"B\"], for this folder"),
        ("/set temperature=0.4", "temperature = 0.4, for this folder"),
        ("/set temperature 0.3", "temperature = 0.3, for this folder"),
        ("/set system 'Be brief.'", "system = \"Be brief.\", for this folder"),
    ] {
        chat.says(line);
        chat.sees(words);
    }
    chat.says("Hi");
    chat.sees("Hello.");
    let last = chat.endpoint.seen().last().unwrap().body.clone();
    assert_eq!(last["stop"], json!(["A", "B"]), "the later value takes the earlier one's place");
    chat.says("/set stop []");
    chat.sees("stop = [], for this folder");
    let seen = |chat: &Chat| {
        let seen = chat.endpoint.seen();
        let last = seen.last().unwrap();
        (last.body["temperature"].clone(), last.messages().contains("Be brief."))
    };
    assert_eq!(seen(&chat), (json!(0.3), true));
    asked(&chat, "Hi").ok();
    assert_eq!(seen(&chat), (json!(0.3), true));
    let shown = chat.place.run(&["config"]).ok().out;
    assert!(shown.contains("# temperature = 0.3  (from: this folder's own, in chat"), "{shown}");
    chat.says("/set --forget system");
    chat.sees("from the next conversation on: system");
    asked(&chat, "Hi").ok();
    assert_eq!(seen(&chat), (json!(0.3), false));
    let kept = fs::read_to_string(chat.place.path(".config/toolgraft/config.toml")).unwrap();
    let table = format!("[folders.\"{}\"]\ntemperature = 0.3\n", chat.place.root().display());
    assert!(kept.ends_with(&table) && kept.matches("[folders.").count() == 1, "{kept}");
    chat.leave();
}
