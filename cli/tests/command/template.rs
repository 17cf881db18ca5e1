//! `toolgraft chat --template`: a template file as one question.

use std::fs;

use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::attack::frames;
use crate::process::{Place, Run, command_in, demo_server};
use crate::up::writing_server;

const TRIP: &str = "+++\nmodel = \"pirate\"\nsystem = \"Speak as a pirate.\"\nservers = [\"demo\"]\ntools = [\"time_query\"]\n\
    [variables]\ndays = \"3\"\n+++\n\nPlan {{ days }} days in {{ city }}.\n";

fn place(template: &str) -> Place {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server(), "files": writing_server() }));
    place.write("trip.md", template);
    place
}

fn runs(place: &Place, endpoint: &Endpoint, args: &[&str]) -> Run {
    let url = endpoint.url();
    let args =
        [&["chat", "--template", "trip.md", "--base-url", url.as_str(), "--mcp-config", "mcp.json"], args].concat();
    Run::of(&mut command_in(place.dir.path(), &args))
}

#[test]
fn a_template_asks_with_its_model_servers_tools_and_values() {
    let (place, endpoint) = (place(TRIP), Endpoint::answer(|_, _| Reply::text("Arr.")));
    assert_eq!(runs(&place, &endpoint, &["city=Oslo"]).ok().out, "Arr.\n");
    let seen = endpoint.take_seen().pop().unwrap();
    assert_eq!((seen.question().as_str(), &seen.body["model"]), ("Plan 3 days in Oslo.", &json!("pirate")));
    let prompt = seen.messages();
    assert!(prompt.contains("Speak as a pirate.") && prompt.contains("time_query"), "{prompt}");
    assert!(!prompt.contains("write_file"), "another server takes no part: {prompt}");

    // What the command line says counts before the file; a pipe and a file's text come along.
    place.write("city.txt", "Bergen");
    let url = endpoint.url();
    let args = [
        "chat", "--template", "trip.md", "--base-url", &url, "city=@city.txt", "days=9", "--model", "parrot",
        "--mcp-config", "mcp.json",
    ];
    place.run_with(&args, |command| command.write_stdin("With rain.")).ok();
    let seen = endpoint.take_seen().pop().unwrap();
    let (files, words) = frames("file", &seen.question());
    assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), "Plan 9 days in .");
    assert_eq!(files.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["Bergen", "With rain."]);
    assert_eq!(seen.body["model"], "parrot");
    assert_eq!(place.run(&["log", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn what_a_template_lacks_or_may_not_say_is_told_before_anything_is_asked() {
    let endpoint = Endpoint::start([]);
    for (template, args, told) in [
        (TRIP, &[][..], "trip.md also needs city=…"),
        (TRIP, &["city=Oslo", "day=3"], "trip.md has no name \"day\"; did you mean days?"),
        ("+++\nservers = [\"none\"]\n+++\nHi", &[], "no server \"none\" in the configuration; there are: demo, files"),
        (
            "+++\nbase_url = \"http://evil.example\"\n+++\nHi",
            &[],
            "trip.md:2: base_url is not accepted here: name it with",
        ),
        ("+++\nallow = [\"*\"]\n+++\nHi", &[], "trip.md:2: allow is not accepted here"),
        (
            "+++\nmodel = \"far\"\n+++\nHi",
            &[],
            "trip.md: model: it names the endpoint router, which a template \
            cannot choose",
        ),
    ] {
        let place = place(template);
        fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
        let names = "[endpoints.router]\nurl = \"http://127.0.0.1:9/v1\"\n[models]\nfar = \"router:m\"\n";
        place.write(".config/toolgraft/config.toml", names);
        runs(&place, &endpoint, args).refuses(2, told);
    }
    assert_eq!(endpoint.requests(), 0);
}
