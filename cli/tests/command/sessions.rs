//! Conversations that are kept by themselves, defaults in a file, files with a question.

use std::fs;

use serde_json::{Value, json};
use toolgraft::conversation::User;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call, says, stops, usage};

use crate::process::{Place, Run, demo_server};

const FOLDER: &str = ".local/state/toolgraft/sessions";
const CONFIG: &str = ".config/toolgraft/config.toml";

fn chat(place: &Place, args: &[&str]) -> Run {
    place.run_with(&[&["chat"], args].concat(), |command| {
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").write_stdin("")
    })
}

fn ask(place: &Place, endpoint: &Endpoint, args: &[&str]) -> Run {
    chat(place, &[&["--base-url", &endpoint.url(), "--model", "small-model"], args].concat())
}

fn kept(place: &Place) -> Vec<Value> {
    let listed = place.run(&["log", "list", "--json"]).quiet().json();
    listed["sessions"].as_array().unwrap().clone()
}

#[test]
fn a_conversation_is_kept_and_gone_on_with() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three."].map(Reply::text));
    ask(&place, &endpoint, &["First question"]).ok();
    ask(&place, &endpoint, &["Another question"]).ok();
    let id = kept(&place).iter().find(|one| one["title"] == "First question").unwrap()["id"].clone();
    let id = id.as_str().unwrap();

    // With the endpoint and the model of then, though none is named.
    let run = chat(&place, &[&format!("--continue={}", &id[..6]), "And then?"]).ok();
    assert_eq!(run.out, "Three.\n");
    let request = &endpoint.seen()[2].body;
    assert_eq!(request["model"], "small-model");
    let messages = request["messages"].to_string();
    assert!(messages.contains("First question") && messages.contains("One."), "{messages}");
    assert!(!messages.contains("Another question"), "{messages}");

    let sessions = kept(&place);
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    assert_eq!((&sessions[0]["id"], &sessions[0]["questions"]), (&json!(id), &json!(2)), "the latest first");
    let listed = place.run(&["log"]).quiet().out;
    let titles: Vec<_> = listed.lines().map(|line| line.find("First").or(line.find("Another"))).collect();
    assert!(titles[0].is_some() && titles[0] == titles[1], "{listed}");
    let shown = place.run(&["log", "show", id]).quiet().out;
    assert!(
        shown.contains("## User\n\nFirst question\n\n##") && shown.contains("\n\nOne.\n\n## User\n\nAnd then?\n"),
        "{shown}"
    );
    assert!(listed.lines().all(|line| line.contains("  1 KiB  ")), "{listed}");
    assert!(sessions[0]["bytes"].as_u64() > Some(100), "{sessions:?}");
}

#[test]
fn the_latest_conversation_is_the_one_that_goes_on() {
    let place = Place::new();
    chat(&place, &["--continue", "Hi"]).refuses(2, "none was saved");
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    ask(&place, &endpoint, &["First question"]).ok();
    assert_eq!(chat(&place, &["-c", "And then?"]).ok().out, "Two.\n");
    assert_eq!(kept(&place).len(), 1);
    chat(&place, &["--continue=zz", "Hi"]).refuses(2, "no conversation \"zz\" was kept");
}

#[test]
fn a_file_is_continued_with_its_model_only_where_its_endpoint_is_asked_anyway() {
    let place = Place::new();
    let endpoint = Endpoint::setup().models(&["a", "small-model"]).start(["One.", "Two."].map(Reply::text));
    ask(&place, &endpoint, &["Hi"]).ok();
    place.run(&["log", "export", "", "-o", "talk.json"]).ok();
    let url = endpoint.url();
    chat(&place, &["--resume", "talk.json", "--base-url", &url, "And then?"]).ok();
    assert_eq!(endpoint.seen()[1].body["model"], "small-model");
    let elsewhere =
        format!("the conversation was held elsewhere; to continue it there, add --base-url {url} --model small-model");
    place.run(&["config", "set", "base_url", "http://127.0.0.1:9/v1"]).quiet();
    chat(&place, &["--resume", "talk.json", "And then?"]).fails_with(1, &[&elsewhere, "127.0.0.1:9"]);
}

#[test]
fn the_list_is_searched_for_all_words() {
    let place = Place::new();
    let endpoint = Endpoint::start([Reply::text("Rain in Oslo,\nas so often."), Reply::text("Sun.")]);
    ask(&place, &endpoint, &["How is the weather?"]).ok();
    ask(&place, &endpoint, &["How is the weather in Rome?"]).ok();
    let list = |words: &[&str]| place.run(&[&["log", "search"], words].concat()).quiet().out;
    assert_eq!(place.run(&["log", "list"]).quiet().out.lines().count(), 2);
    assert_eq!(place.run(&["log", "list", "--limit", "1"]).quiet().out.lines().count(), 1);
    let found = list(&["oslo", "WEATHER"]);
    assert!(found.contains("How is the weather?") && found.contains("… Rain in Oslo,"), "{found}");
    assert_eq!(list(&["snow"]), "no conversation contains these words\n");
    place
        .run(&["log", "clear"])
        .refuses(2, "Forget 2 conversations, for good? There is no terminal to ask on: add --yes");
    let run = place.run(&["log", "clear", "--yes"]).quiet();
    assert_eq!(run.out, "2 conversations forgotten\n");
    assert_eq!(place.run(&["log"]).quiet().out, "no conversation was kept\n");
}

#[test]
fn what_a_conversation_took_is_kept_with_it() {
    let place = Place::new();
    let answer = |cost: Option<f64>| {
        let mut usage = usage(700, 50);
        usage["usage"]["cost"] = json!(cost);
        Reply::events(&[says("One."), stops("stop"), usage]).done()
    };
    let endpoint = Endpoint::start([answer(Some(0.5)), answer(None), answer(Some(0.25))]);
    ask(&place, &endpoint, &["First question"]).ok();
    ask(&place, &endpoint, &["--continue", "And then?"]).ok();
    ask(&place, &endpoint, &["--continue", "And then?"]).ok();
    let one = kept(&place)[0].clone();
    assert_eq!(one["usage"], json!({"prompt_tokens": 2100, "completion_tokens": 150, "cost": 0.75}));
    let shown = place.run(&["log", "show", one["id"].as_str().unwrap()]).quiet().out;
    assert!(shown.contains("\n- Tokens: 2,100 tokens read, 150 written, cost 0.75\n"), "{shown}");
}

/// A conversation with a call that was answered, one that was denied, and an answer; its id.
fn with_calls(place: &Place) -> String {
    place.servers(json!({ "demo": demo_server() }));
    let call = |city: &str| mcp_call("demo", "weather_query", &json!({ "city": city }));
    let endpoint = Endpoint::start([
        Reply::text(&format!("Let me look.\n{}\n{}", call("Oslo"), call("Rome"))),
        Reply::text("Rain, and ```fog```."),
    ]);
    let args = ["--set", "tools_mode=prompt", "--mcp-config", "mcp.json", "--yes", "Rain in # Oslo?"];
    ask(place, &endpoint, &args).ok();
    kept(place)[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_kept_conversation_is_replayed_without_having_been_recorded() {
    let place = Place::new();
    let id = with_calls(&place);
    place.run(&["log", "export", &id[..5], "-o", "talk.json"]).ok();
    let run = place.run(&["replay", "--check", "talk.json"]).ok();
    for said in ["demo.weather_query", "Oslo", "Rome", "Let me look.", "Rain, and", "as expected"] {
        assert!(run.out.contains(said), "{said}: {}", run.out);
    }
    let events = place.run(&["replay", "--json", "talk.json"]).ok();
    let results: Vec<Value> = events.of_type("outcome");
    assert_eq!(results.len(), 2, "{}", events.out);
    place.run(&["replay", "--html", "talk.html", "talk.json"]).ok();
    let page = fs::read_to_string(place.path("talk.html")).unwrap();
    assert!(page.contains("weather_query") && page.contains("Rain, and"));
    place.run(&["log", "export", "zz"]).refuses(2, "no conversation \"zz\" was kept");
}

#[test]
fn a_conversation_is_exported() {
    let place = Place::new();
    let id = with_calls(&place);
    let text = place.run(&["log", "export", &id]).quiet().out;
    for said in [
        "# Rain in # Oslo?\n",
        "- Model: small-model\n",
        " tokens read, ",
        "\n## User\n\nRain in # Oslo?\n",
        "\n## small-model\n\nLet me look.\n",
        "\n**Call: demo.weather_query**\n\n```json\n{\n  \"city\": \"Oslo\"\n}\n```\n\n**Result**\n\n```text\n",
        "\nRain, and ```fog```.\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // As JSON it is what `chat --resume` reads.
    place.run(&["log", "export", &id, "--output", "talk.json"]).ok();
    let json = place.run(&["log", "export", &id, "--as", "json"]).quiet().out;
    assert_eq!(fs::read_to_string(place.path("talk.json")).unwrap(), json);
    let endpoint = Endpoint::start([Reply::text("Snow.")]);
    assert_eq!(ask(&place, &endpoint, &["--resume", "talk.json", "And then?"]).ok().out, "Snow.\n");
    assert!(endpoint.seen()[0].messages().contains("Rain, and ```fog```."));
    place.run(&["log", "export", &id, "-o", "talk.html"]).ok();
    let page = fs::read_to_string(place.path("talk.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("weather_query") && page.contains("tokens read"));
    place.run(&["log", "export", &id, "-o", "talk.html"]).refuses(2, "is not overwritten");
    let run = place.run(&["log", "export", &id, "-o", "talk.pdf"]);
    run.refuses(2, "talk.pdf: no format has this ending: use .md, .json or .html, or name the format with --as");
    assert!(!place.path("talk.pdf").exists());
}

#[cfg(unix)]
#[test]
fn only_their_owner_can_read_them() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let endpoint = Endpoint::start([Reply::text("One.")]);
    ask(&place, &endpoint, &["Hi"]).ok();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = place.path(FOLDER);
    assert_eq!((mode(&folder), mode(&folder.join("conversations.db"))), (0o700, 0o600));
}

#[test]
fn what_is_not_to_be_kept_is_not() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three.", "Four."].map(Reply::text));
    ask(&place, &endpoint, &["Hi", "--no-session"]).ok();
    place.run(&["config", "set", "sessions", "false"]).quiet();
    ask(&place, &endpoint, &["Hi"]).ok();
    place.run(&["config", "unset", "sessions"]).quiet();
    let arguments = ["chat", "--base-url", &endpoint.url(), "--model", "small-model", "Hi"];
    place.run_with(&arguments, |command| command.env("TOOLGRAFT_SESSIONS", "false").write_stdin("")).ok();
    assert!(kept(&place).is_empty() && !place.path(FOLDER).exists());
    ask(&place, &endpoint, &["Hi"]).ok();
    assert_eq!(kept(&place).len(), 1);
}

#[test]
fn defaults_come_from_the_file_and_flags_before_it() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    for (key, value) in [("base_url", endpoint.url().as_str()), ("model", "filed-model"), ("temperature", "0.5")] {
        place.run(&["config", "set", key, value]).quiet();
    }
    assert_eq!(chat(&place, &["Hi"]).ok().out, "One.\n");
    chat(&place, &["Hi", "--model", "flagged-model", "--set", "temperature=1"]).ok();
    let said = endpoint
        .seen()
        .iter()
        .map(|seen| (seen.body["model"].clone(), seen.body["temperature"].clone()))
        .collect::<Vec<_>>();
    assert_eq!(said, [(json!("filed-model"), json!(0.5)), (json!("flagged-model"), json!(1.0))]);
    let shown = place.run(&["config"]).quiet().out;
    assert!(
        shown.contains("\nmodel = \"filed-model\"\n")
            && shown.contains("\n# lang = \"en\"  (from: the profile default)\n"),
        "{shown}"
    );
}

#[test]
fn the_file_keeps_its_comments_and_wrong_ones_are_refused() {
    let place = Place::new();
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(CONFIG, "# mine\nmodel = \"a\" # the small one\n\n# end\n");
    place.run(&["config", "set", "model", "b"]).quiet();
    place.run(&["config", "set", "allow", "[\"x.*\"]"]).quiet();
    let text = fs::read_to_string(place.path(CONFIG)).unwrap();
    assert!(text.starts_with("# mine\nmodel = \"b\" # the small one\n") && text.contains("# end"), "{text}");
    place.run(&["config", "set", "modell", "b"]).refuses(2, "did you mean \"model\"?");
    place.run(&["config", "set", "temperature", "9"]).refuses(2, "not from 0 to 2");
    place.run(&["config", "set", "lang", "de"]).refuses(2, "lang: ");
    place.run(&["config", "unset", "lang"]).refuses(2, "does not set \"lang\"");
    assert_eq!(fs::read_to_string(place.path(CONFIG)).unwrap(), text);

    place.write(CONFIG, "modle = \"a\"\nsessions = \"no\"\n");
    let run = chat(&place, &["Hi"]);
    run.fails_with(2, &["config.toml:1: no key \"modle\": did you mean \"model\"?", "config.toml:2: sessions: "]);
    place.run(&["config", "set", "model", "b"]).refuses(2, "config.toml:1:");
    place.run(&["config", "unset", "modle"]).quiet();
    place.run(&["config", "unset", "sessions"]).quiet();
    place.run(&["config", "set", "endpoints.a.url", "http://a/v1"]).quiet();
    place.run(&["config", "set", "endpoints.a.model", "m"]).quiet();
    place.run(&["config", "unset", "endpoints.a.url"]).refuses(2, "endpoints.a: missing field `url`");
}

#[test]
fn every_key_stands_in_the_documentation() {
    let page = fs::read_to_string(format!("{}/docs/chat.md", crate::process::ROOT)).unwrap();
    let shown = Place::new().run(&["config", "show", "--json"]).quiet().json();
    for key in shown["keys"].as_array().unwrap() {
        assert!(page.contains(&format!("`{}`", key["key"].as_str().unwrap())), "{key}");
    }
}

/// A question followed by a file, byte for byte.
fn with_file(question: &str, name: &str, text: &str) -> String {
    User::new(question).with_file(name, text).text
}

#[test]
fn files_go_with_the_question_as_text() {
    let place = Place::new();
    let endpoint = Endpoint::start([Reply::text("One.")]);
    place.write("a.md", "# A\n```\ncode\n```\n");
    place.write("b.txt", "second\n");
    place.write("c.pdf", b"%PDF-1.7\n");
    ask(&place, &endpoint, &["-f", "c.pdf", "What?"]).refuses(2, "-f c.pdf: the file is a PDF");
    ask(&place, &endpoint, &["-f", "gone.md", "What?"]).refuses(2, "gone.md");
    ask(&place, &endpoint, &["-f", "a.md", "--file", "b.txt", "What is missing?"]).ok();
    let one = with_file("What is missing?", "a.md", "# A\n```\ncode\n```\n");
    assert_eq!(endpoint.seen()[0].question(), with_file(&one, "b.txt", "second\n"));
}

/// The smallest image there is: 43 bytes.
const DOT: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
const DOT_BASE64: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==";

#[test]
fn an_image_goes_with_the_question_and_stays_in_its_conversation() {
    let place = Place::new();
    let endpoint = Endpoint::start(["A dot.", "Black."].map(Reply::text));
    fs::create_dir(place.path("pictures")).unwrap();
    place.write("pictures/dot.gif", DOT);
    place.write("a.md", "Notes\n");
    let files = ["-f", "pictures/dot.gif", "-f", "a.md"];
    ask(&place, &endpoint, &[&files[..], &["--record", "asked.jsonl", "What is it?"]].concat()).ok();
    let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{DOT_BASE64}")}});
    let said = json!([{"type": "text", "text": with_file("What is it?", "a.md", "Notes\n")}, image]);
    let last = |n: usize| endpoint.seen()[n].body["messages"].as_array().unwrap().clone();
    assert_eq!(last(0).last().unwrap()["content"], said);

    ask(&place, &endpoint, &["--continue", "And its colour?"]).ok();
    assert_eq!(last(1)[last(1).len() - 3]["content"], said, "the image goes again with its question");
    assert_eq!(last(1).last().unwrap()["content"], "And its colour?");

    let id = kept(&place)[0]["id"].as_str().unwrap().to_owned();
    let shown = place.run(&["log", "show", &id]).quiet().out;
    assert!(shown.contains("[image dot.gif, 43 B]\n") && shown.contains("\n\nA dot.\n"), "{shown}");
    assert!(place.run(&["log", "search", "dot.gif"]).quiet().out.contains(&id));
    let replayed = place.run(&["replay", "asked.jsonl"]).ok().out;
    assert!(replayed.contains("[image dot.gif, 43 B]") && !replayed.contains(DOT_BASE64), "{replayed}");
    place.run(&["replay", "--html", "asked.html", "asked.jsonl"]).ok();
    let page = fs::read_to_string(place.path("asked.html")).unwrap();
    assert!(page.contains("[image dot.gif, 43 B]"), "the page shows its name");
}

#[test]
fn an_image_that_is_too_large_is_refused_before_anything_goes_out() {
    let place = Place::new();
    let endpoint = Endpoint::start([]);
    place.write("big.jpg", [&b"\xff\xd8\xff"[..], &vec![0; 20_000_000]].concat());
    ask(&place, &endpoint, &["-f", "big.jpg", "What?"]).refuses(2, "-f big.jpg: the image has 20.0 MB");
    place.write("old.bmp", b"BM\x9a\0\xff\xff");
    ask(&place, &endpoint, &["-f", "old.bmp", "What?"])
        .refuses(2, "the file is a binary file, and only texts and images (PNG");
    assert_eq!(endpoint.requests(), 0);
}

#[test]
fn a_model_that_reads_no_images_is_said_so_in_the_endpoint_s_words_and_asked_once() {
    let place = Place::new();
    let words = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
    let endpoint = Endpoint::start([Reply::refused(500, words), Reply::text("Hello.")]);
    place.write("dot.gif", DOT);
    let failed = ask(&place, &endpoint, &["-f", "dot.gif", "What is it?"]);
    failed.fails_with(1, &[words, "where the model reads no images, ask without them"]);
    assert_eq!(endpoint.requests(), 1, "the same request fails again");
    assert!(kept(&place).is_empty(), "the image does not stand in the way of the next question");
    ask(&place, &endpoint, &["-c", "Hi"]).refuses(2, "none was saved");
}
