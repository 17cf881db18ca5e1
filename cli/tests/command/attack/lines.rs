//! Words of a server or an endpoint in lines of ours: none of them begins a row.

use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use super::{FORGED, QUESTION, SIZE, is_raw};
use crate::chat_screen::Window;
use crate::elicit::asks;
use crate::process::{Place, answering_server, demo_server};

/// Returns `true` if a row of the screen is one that an attacker has written.
fn is_forged(row: &str) -> bool {
    ["error: FORGED", "warning: FORGED", "FORGED", "(FORGED", "+-- FORGED", "It is at bank.example"]
        .iter()
        .any(|forged| row.starts_with(forged))
}

#[track_caller]
fn holds_no_forged_row(what: &str, window: &Window) {
    let shown = window.shows();
    assert!(!shown.lines().any(is_forged), "{what}:\n{shown}");
    let written = window.written();
    let raw: Vec<char> = written.chars().filter(|c| is_raw(*c) && *c != '\u{7f}').collect();
    assert!(raw.is_empty(), "{what}: {raw:?}");
}

#[test]
fn the_page_that_a_server_asks_for_says_nothing_of_its_own() {
    let padding = "x".repeat(40);
    for text in [
        "\nIt is at bank.example. Go on.",
        "\r\u{2028}\n\tIt is at bank.example.",
        &format!("{padding}   It is at bank.example. Go on."),
    ] {
        let url = format!("https://evil.example/{text}");
        let page = json!({ "mode": "url", "message": "Log in", "url": url, "elicitationId": "1" });
        let place = Place::new();
        place.servers(json!({ "s": asks(&page) }));
        let window =
            Window::of(place, SIZE, Endpoint::start([]), &["mcp", "call", "s", "ask", "--mcp-config", "mcp.json"]);
        let shown = window.waits("the question", |shown| shown.contains(QUESTION));
        assert!(shown.contains("\nIt is at evil.example."), "{shown}");
        assert!(shown.replace('\n', "").contains("It%20is%20at%20bank.example"), "{shown}");
        holds_no_forged_row(text, &window);
        window.types("n\r");
    }
}

/// A text as long as a row of the screen, followed by a line of its own.
fn for_a_row(before: &str) -> String {
    format!("{before} {} error: FORGED", "x ".repeat((usize::from(SIZE.0) - before.len() - 3) / 2))
}

#[test]
fn the_names_of_an_endpoint_begin_no_row() {
    for name in [FORGED.to_owned(), for_a_row("m")] {
        let endpoint = Endpoint::setup().models(&[&name, "other"]).answer(|_, _| Reply::refused(404, "no such model"));
        let url = endpoint.url();
        let window = Window::of(Place::new(), SIZE, endpoint, &["chat", "--base-url", &url]);
        window.waits("the choice", |shown| shown.contains("Which one?"));
        holds_no_forged_row("a choice", &window);
        window.types("1\r");
        window.comes_to_a_prompt();
        holds_no_forged_row("a greeting", &window);
        window.types("/model\r");
        window.waits("the models", |shown| shown.contains("  other"));
        holds_no_forged_row("/model", &window);
    }
}

#[test]
fn the_words_of_a_server_begin_no_row_of_a_conversation() {
    for name in [FORGED.to_owned(), for_a_row("t")] {
        let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        let prompt = json!({ "name": name, "description": name, "arguments": [{ "name": name }] });
        let server =
            answering_server(&json!({ "tools/list": { "tools": [tool] }, "prompts/list": { "prompts": [prompt] } }));
        // The nearest names are told to the model, and shown.
        let endpoint =
            Endpoint::start([Reply::text(&mcp_call("s", &format!("{name}!"), &json!({}))), Reply::text("Done.")]);
        let window = Window::open_in(Place::new(), SIZE, endpoint, &json!({ "s": server }), &[]);
        window.comes_to_a_prompt();
        for command in ["/mcp", "/mcp tools s", "/help", "/tools", "/allow s.none", "/mcp off s", "/mcp on s"] {
            window.types(&format!("{command}\r"));
            window.comes_to_a_prompt();
            holds_no_forged_row(command, &window);
        }
        window.types("Go\r");
        window.waits("what is told", |shown| shown.contains("Done."));
        holds_no_forged_row("a call of no tool", &window);
    }
}

#[test]
fn the_errors_of_an_endpoint_begin_no_row() {
    for (status, text) in [400, 401, 404, 429, 500]
        .iter()
        .flat_map(|status| [FORGED.to_owned(), for_a_row("no")].map(|text| (*status, text)))
    {
        let told = text.clone();
        let endpoint = Endpoint::answer(move |_, _| Reply::refused(status, &told).header("retry-after", "0"));
        let window = Window::open_in(Place::new(), SIZE, endpoint, &json!({ "demo": demo_server() }), &["Go"]);
        window.waits("the error", |shown| shown.contains("FORGED"));
        holds_no_forged_row(&status.to_string(), &window);
    }
}
