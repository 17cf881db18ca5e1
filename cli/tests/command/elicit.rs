//! Servers that ask the person for input: forms and pages at the terminal, and what they are
//! told where there is none.

use std::process::Command;

use crate::chat_terminal::Chat;
use crate::process::{Place, TOOLGRAFT};
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

/// A server whose tool `ask` asks this, and returns what it was told.
pub(crate) fn asks(params: &Value) -> Value {
    let script = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *notifications/*) ;;
        *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id" ;;
        *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
        *'"tools/call"'*)
            printf '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":%s}\n' "$PARAMS"
            while read -r told; do case "$told" in *'"id":"q"'*) break ;; esac; done
            printf '%s' "$told" > told
            printf '%s' "$told" | sed 's/["\\]/\\&/g; s/.*/{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"&"}]}}\n/' ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
        esac
        done"#;
    json!({ "command": "sh", "args": ["-c", script.replace("${", "$${")], "env": { "PARAMS": params.to_string() } })
}

pub(crate) fn form(message: &str, properties: &Value, required: &[&str]) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "mode": "form", "message": message, "requestedSchema": schema })
}

/// Returns the answer that the server received.
fn told(place: &Place) -> Value {
    let told = std::fs::read_to_string(place.path("told")).unwrap();
    serde_json::from_str::<Value>(&told).unwrap()["result"].clone()
}

/// A conversation whose model calls the tool once, up to its call.
fn chat(params: &Value) -> Chat {
    let endpoint = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&mcp_call("demo", "ask", &json!({}))),
        _ => Reply::text("So be it."),
    });
    let mut chat = Chat::start_with(endpoint, asks(params), &["--model", "small-model", "--yes"]);
    chat.says("Ask me.");
    chat
}

/// `toolgraft mcp call demo ask` on a terminal.
fn call(params: &Value, args: &[&str]) -> (Place, PtySession) {
    let place = Place::new();
    place.servers(json!({ "demo": asks(params) }));
    let mut command = Command::new(TOOLGRAFT);
    command.args(["mcp", "call", "demo", "ask", "--mcp-config", "mcp.json"]).args(args);
    command.current_dir(place.dir.path()).env("HOME", place.dir.path()).env("TERM", "xterm").env("COLUMNS", "100");
    let terminal = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    (place, terminal)
}

#[test]
fn a_form_is_filled_in_field_by_field() {
    let fields = json!({
        "name": { "type": "string", "title": "Your name", "description": "As on the ticket", "minLength": 2 },
        "mail": { "type": "string", "format": "email" },
        "age": { "type": "integer", "minimum": 0, "maximum": 120 },
        "weight": { "type": "number", "default": 1.5 },
        "window": { "type": "boolean", "default": true },
        "class": { "type": "string", "oneOf": [{ "const": "e", "title": "Economy" }, { "const": "b", "title": "Business" }] },
        "meals": { "type": "array", "items": { "type": "string", "enum": ["fish", "rice"] }, "minItems": 1 },
        "note": { "type": "string" },
    });
    let required = ["name", "mail", "age", "weight", "class", "meals"];
    let mut chat = chat(&form("Who flies?", &fields, &required));
    let before = chat.sees("Fill this in for demo? [y/n] ");
    for shown in [
        "demo asks for input",
        "Who flies?",
        "Your name: text, at least 2 characters; required",
        "As on the ticket",
        "mail: e-mail address; required",
        "age: whole number, 0 to 120; required",
        "weight: number; required; proposed: 1.5",
        "window: y or n; proposed: y",
        "1 Economy (e)",
        "items of the list, separated by commas, at least 1; required",
        "2 rice",
    ] {
        assert!(before.contains(shown), "{shown}: {before}");
    }
    chat.says("maybe");
    chat.sees("answer y (yes), n (decline)");
    chat.sees("[y/n] ");
    chat.says("y");
    for (prompt, typed, wrong) in [
        ("Your name (text, at least 2 characters; required): ", "A", Some("expected at least 2 characters, found 1")),
        ("Your name (text", "", Some("this must be filled in")),
        ("Your name (text", "Ada", None),
        ("mail (e-mail address; required): ", "ada", Some("expected text of the format email")),
        ("mail (", "ada@example.org", None),
        ("age (whole number, 0 to 120; required): ", "old", Some("expected integer, found string \"old\"")),
        ("age (", "121", Some("expected at most 120")),
        ("age (", "36", None),
        ("weight (number; required) [1.5]: ", "", None),
        ("window (y or n) [y]: ", "n", None),
        ("class (one of the list; required): ", "first", Some("\"first\" is none of: e, b")),
        ("class (", "2", None),
        ("meals (items of the list", "rice, meat", Some("\"meat\" is none of: fish, rice")),
        ("meals (", "rice, fish", None),
        ("note (text): ", "", None),
    ] {
        chat.sees(prompt);
        chat.says(typed);
        if let Some(wrong) = wrong {
            chat.sees(wrong);
        }
    }
    let review = chat.sees("Send this to demo? [y/n/e] ");
    assert!(review.contains("meals: rice, fish") && review.contains("note: (left out)"), "{review}");
    assert!(!chat.place.path("told").exists(), "nothing is sent before it was seen");
    // Once more, with what was filled in before.
    chat.says("e");
    for (prompt, typed) in
        [("[Ada]: ", "Grace"), ("[ada@example.org]: ", ""), ("[36]: ", ""), ("[1.5]: ", ""), ("[n]: ", "")]
    {
        chat.sees(prompt);
        chat.says(typed);
    }
    for prompt in ["[b]: ", "[rice, fish]: ", "note (text): "] {
        chat.sees(prompt);
        chat.says("");
    }
    chat.sees("[y/n/e] ");
    chat.says("y");
    chat.sees("result of demo.ask");
    chat.sees("So be it.");
    let content = json!({ "name": "Grace", "mail": "ada@example.org", "age": 36, "weight": 1.5, "window": false,
        "class": "b", "meals": ["rice", "fish"] });
    assert_eq!(told(&chat.place), json!({ "action": "accept", "content": content }));
    chat.sees("> ");
    chat.leave();
}

#[test]
fn a_form_is_declined_or_put_away() {
    let params = form("Sure?", &json!({ "sure": { "type": "boolean" } }), &["sure"]);
    let mut declined = chat(&params);
    declined.sees("[y/n] ");
    declined.says("n");
    declined.sees("So be it.");
    assert_eq!(told(&declined.place), json!({ "action": "decline" }));
    declined.sees("> ");
    declined.leave();

    // In the middle of it; the turn goes on.
    let mut put_away = chat(&params);
    put_away.sees("[y/n] ");
    put_away.says("y");
    put_away.sees("sure (y or n; required): ");
    put_away.presses_ctrl('d');
    put_away.sees("(demo is told that you dismissed its question)");
    put_away.sees("So be it.");
    assert_eq!(told(&put_away.place), json!({ "action": "cancel" }));
    put_away.sees("> ");
    put_away.leave();

    let mut cancelled = chat(&params);
    cancelled.sees("[y/n] ");
    cancelled.presses_ctrl('c');
    cancelled.sees("the turn was cancelled");
    cancelled.sees("> ");
    cancelled.leave();
}

#[test]
fn a_question_of_a_server_that_has_died_is_taken_back() {
    let mut chat = chat(&form("Sure?", &json!({ "sure": { "type": "boolean" } }), &["sure"]));
    chat.sees("Fill this in for demo? [y/n] ");
    chat.kills_its_servers();
    chat.sees("this answer is not needed any more: press Enter to continue");
    chat.sees("So be it.");
    chat.says("");
    chat.sees("> ");
    chat.says("/quit");
    chat.ends_by_itself();
}

#[test]
fn a_page_is_shown_and_not_opened() {
    let url = "https://bank.example@xn--e1awd7f.example/log/in?state=1234567890";
    let page = json!({ "mode": "url", "message": "Please log in", "url": url, "elicitationId": "1" });
    for (typed, action) in [("y", "accept"), ("n", "decline")] {
        let mut chat = chat(&page);
        let before = chat.sees("Tell demo that you open it? [y/n] ");
        for shown in [
            "demo asks you to open a page",
            "Please log in",
            url,
            "look like other letters",
            "It is at xn--e1awd7f.example.",
        ] {
            assert!(before.contains(shown), "{shown}: {before}");
        }
        chat.says(typed);
        chat.sees("So be it.");
        assert_eq!(told(&chat.place), json!({ "action": action }));
        chat.sees("> ");
        chat.leave();
    }
}

#[test]
fn what_a_server_asks_cannot_steer_the_terminal() {
    let evil = "a\u{1b}]52;c;ZXZpbA==\u{7}b\u{1b}[2J\u{202e}c\nFill this in for you? [y/n]";
    let fields = json!({ "f\u{1b}[2J": { "type": "string", "title": evil, "description": evil, "default": evil },
        "password": { "type": "string", "enum": [evil] } });
    let (place, mut terminal) = call(&form(evil, &fields, &[]), &[]);
    let mut seen = terminal.exp_string("Fill this in for demo? ").unwrap();
    terminal.send_line("y").unwrap();
    seen += &terminal.exp_string("]: ").unwrap();
    terminal.send_line("").unwrap();
    seen += &terminal.exp_string("password (").unwrap();
    seen += &terminal.exp_string("): ").unwrap();
    terminal.send_line("1").unwrap();
    seen += &terminal.exp_string("[y/n/e] ").unwrap();
    terminal.send_line("y").unwrap();
    seen += &terminal.exp_eof().unwrap();
    for steering in ["\u{1b}]52", "\u{1b}[2J", "\u{7}"] {
        assert!(!seen.contains(steering), "{seen:?}");
    }
    assert!(seen.contains("a server must not do"), "{seen}");
    assert_eq!(told(&place)["content"]["password"], evil, "the answer is what the server offered");
}

#[test]
fn a_call_asks_too() {
    let params = form("How many?", &json!({ "n": { "type": "integer", "default": 3 } }), &["n"]);
    let (place, mut terminal) = call(&params, &[]);
    terminal.exp_string("[y/n] ").unwrap();
    terminal.send_line("y").unwrap();
    terminal.exp_string("[3]: ").unwrap();
    terminal.send_line("5").unwrap();
    terminal.exp_string("[y/n/e] ").unwrap();
    terminal.send_line("y").unwrap();
    terminal.exp_eof().unwrap();
    assert_eq!(told(&place), json!({ "action": "accept", "content": { "n": 5 } }));
}

#[test]
fn without_a_terminal_it_is_declined_with_a_line_that_says_so() {
    let place = Place::new();
    let params = form("Who\u{1b}[2J are you?", &json!({ "name": { "type": "string" } }), &["name"]);
    place.servers(json!({ "demo": asks(&params) }));
    let run = place.run(&["mcp", "call", "demo", "ask", "--mcp-config", "mcp.json"]).ok();
    let line = "demo asks for input (\"Who␛[2J are you?\"), and there is no terminal to ask on: it was declined";
    assert!(run.err.contains(line), "{}", run.err);
    assert_eq!(told(&place), json!({ "action": "decline" }));
}
