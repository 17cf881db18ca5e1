//! Examples of tools that the model makes itself: in a chat, behind a server, as a way of `probe`.

use std::time::Duration;

use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, Seen};

use crate::probe::eight_tasks;
use crate::process::{Place, demo_server};
use crate::serve::{Serving, request};

const QUESTION: &str = "Will it rain in Bergen?";

fn is_asked_for_one(request: &Seen) -> bool {
    request.messages().contains("invent arguments")
}

/// A model that makes an example of what takes a city or a text.
fn makes_examples() -> Endpoint {
    Endpoint::answer(|request, _| match request.question() {
        question if is_asked_for_one(request) && question.contains("city") => {
            Reply::text(&json!({"arguments": {"city": "Bergen"}, "question": QUESTION}).to_string())
        }
        _ if is_asked_for_one(request) => {
            Reply::text(&json!({"arguments": {"text": "Bergen"}, "question": QUESTION}).to_string())
        }
        _ => Reply::text("It rains."),
    })
}

#[test]
fn a_model_makes_them_once_before_the_first_question() {
    let (endpoint, place) = (makes_examples(), Place::new());
    place.servers(json!({ "demo": demo_server() }));
    let url = endpoint.url();
    let chat =
        ["chat", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json", "--set", "prompt_style=compact"];
    let ask = |more: &[&str]| {
        let run = place.run(&[&chat, more, &["Hello?"]].concat()).ok();
        (run.err, endpoint.take_seen())
    };
    let (said, seen) = ask(&["--set", "tools_mode=prompt"]);
    assert!(!said.contains("makes an example") && !seen.iter().any(is_asked_for_one), "nobody wanted any");

    let made = ["--set", "tools_mode=prompt", "--set", "examples=made"];
    let (said, seen) = ask(&made);
    assert!(said.contains("the model makes an example for each of 3 tools, once"), "{said}");
    let (making, asking): (Vec<&Seen>, Vec<&Seen>) = seen.iter().partition(|seen| is_asked_for_one(seen));
    let schema = &making[0].body["response_format"]["json_schema"]["schema"];
    assert!(schema["properties"]["arguments"].is_object(), "{}", making[0].body);
    assert!(asking.len() == 1 && asking[0].messages().contains(QUESTION), "{:?}", asking[0].messages());

    let (said, seen) = ask(&made);
    assert!(!said.contains("makes an example") && seen.len() == 1, "{said}");
    assert!(seen[0].messages().contains(QUESTION), "they are kept");
    let (_, seen) = ask(&["--set", "tools_mode=prompt"]);
    assert!(!seen[0].messages().contains(QUESTION));
}

#[tokio::test]
async fn a_server_makes_them_beside_its_requests() {
    let (endpoint, place) = (makes_examples(), Place::new());
    let flags = ["--model", "m", "--set", "prompt_style=compact", "--set", "examples=made"];
    let serving = Serving::start(&place, &endpoint, &flags, &[]);
    let mut shown = false;
    for _ in 0..100 {
        serving.chat(&request("m"), None).await;
        let seen = endpoint.take_seen();
        shown = seen.iter().any(|seen| !is_asked_for_one(seen) && seen.messages().contains(QUESTION));
        if shown {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(shown, "no prompt shows the example");
}

#[test]
fn they_are_among_the_ways_that_are_tried() {
    // It calls only where it saw an example that sounds like a person.
    let endpoint = Endpoint::answer(|request, _| {
        let call = "<use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"city\": \"Oslo\"}\n</arguments>\n</use_mcp_tool>";
        match request.messages().contains(QUESTION) && request.question().contains("Oslo") {
            _ if is_asked_for_one(request) => {
                Reply::text(&json!({"arguments": {"city": "Bergen"}, "question": QUESTION}).to_string())
            }
            true => Reply::text(call),
            false => Reply::text("I do not know."),
        }
    });
    let (place, url) = (Place::new(), endpoint.url());
    let only = ["--only", "use_mcp_tool, compact, signature"];
    let probe = ["probe", "--json", "--yes", "--base-url", &url, "--model", "m"];
    let report = place.run(&[&probe[..], &only, &eight_tasks(&place)].concat()).ok().json();
    let right = |name: &str| {
        report["rows"].as_array().unwrap().iter().find(|row| row["cell"] == name).unwrap()["fully_right"].clone()
    };
    assert_eq!(right("use_mcp_tool, compact, signature"), 0);
    assert_eq!(right("use_mcp_tool, compact, signature, made examples"), 1);
    let saved = std::fs::read_to_string(place.path(".config/toolgraft/config.toml")).unwrap();
    assert!(saved.contains("examples = \"made\""), "{saved}");
}
